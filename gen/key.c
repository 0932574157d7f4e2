/* SPDX-License-Identifier: Apache-2.0 */
/* Key text, canonical names and patterns. One parser for both forms: a key is a pattern whose every field has one value. */
#include "key.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum key_field {
#define FIELD(name, lowest, highest, fallback, suffix, ready) FIELD_##name,
#include "key_fields.def"
#undef FIELD
  FIELDS
};

enum { VALUE_MAX = WINDOW_MAX, SET_WORDS = VALUE_MAX / 64 + 1, QUOTE_MAX = 40 };

static const struct field {
  const char *name, *suffix;
  int lowest, highest, fallback;
  size_t offset;
  bool ready;
} fields[FIELDS] = {
#define FIELD(name, lowest, highest, fallback, suffix, ready)                                                                              \
  {#name, suffix, lowest, highest, fallback, offsetof(struct front_key, name), ready},
#include "key_fields.def"
#undef FIELD
};

#define FIELD(name, lowest, highest, fallback, suffix, ready) _Static_assert((lowest) >= 0 && (int)(highest) <= (int)VALUE_MAX, #name);
#include "key_fields.def"
#undef FIELD

/* The values a pattern gives one field, as bits: sorted and without duplicates by construction. */
struct value_set {
  uint64_t bits[SET_WORDS];
  int last; /* the largest */
  bool given;
};

struct span {
  const char *at;
  size_t length;
};

static bool fail(char error[KEY_ERROR_MAX], const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool fail(char error[KEY_ERROR_MAX], const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(error, KEY_ERROR_MAX, format, args);
  va_end(args);
  return false;
}

/* User text for a message: one line, printable, clipped. */
static const char *quote(struct span text, char out[QUOTE_MAX + 4]) {
  size_t n = text.length < QUOTE_MAX ? text.length : QUOTE_MAX;
  for (size_t i = 0; i < n; i++) out[i] = text.at[i] >= ' ' && text.at[i] <= '~' ? text.at[i] : '?';
  strcpy(out + n, text.length > QUOTE_MAX ? "..." : "");
  return out;
}

static int value_of(const struct front_key *key, enum key_field f) {
  int value;
  memcpy(&value, (const char *)key + fields[f].offset, sizeof value);
  return value;
}

static void set_value(struct front_key *key, enum key_field f, int value) { memcpy((char *)key + fields[f].offset, &value, sizeof value); }

static const char *allowed(enum key_field f, char out[32]) {
  if (f == FIELD_tp) return "1, 2, 4 or 8";
  if (fields[f].highest - fields[f].lowest == 1)
    snprintf(out, 32, "%d or %d", fields[f].lowest, fields[f].highest);
  else
    snprintf(out, 32, "%d..%d", fields[f].lowest, fields[f].highest);
  return out;
}

static bool check_value(enum key_field f, int value, char error[KEY_ERROR_MAX]) {
  char range[32];
  bool power = (value & (value - 1)) == 0;
  if (value < fields[f].lowest || value > fields[f].highest || (f == FIELD_tp && !power))
    return fail(error, "%s=%d: not allowed: %s is %s", fields[f].name, value, fields[f].name, allowed(f, range));
  if (!fields[f].ready && value != fields[f].fallback)
    return fail(error, "%s=%d is not in this version: only %s=%d is", fields[f].name, value, fields[f].name, fields[f].fallback);
  return true;
}

bool key_validate(const struct front_key *key, char error[KEY_ERROR_MAX]) {
  for (enum key_field f = 0; f < FIELDS; f++)
    if (!check_value(f, value_of(key, f), error)) return false;
  return true;
}

/* Decimal digits without sign, space or leading zero. A number too large for any field saturates, so that it is named as out of range. */
static bool parse_number(struct span text, int *value) {
  if (text.length == 0 || (text.length > 1 && text.at[0] == '0')) return false;
  int v = 0;
  for (size_t i = 0; i < text.length; i++) {
    if (text.at[i] < '0' || text.at[i] > '9') return false;
    if (v < 100000000) v = v * 10 + (text.at[i] - '0');
  }
  *value = v;
  return true;
}

static bool bad_number(enum key_field f, struct span text, const char *what, char error[KEY_ERROR_MAX]) {
  char shown[QUOTE_MAX + 4], range[32];
  return fail(error, "%s=%s: %s: %s is %s", fields[f].name, quote(text, shown), what, fields[f].name, allowed(f, range));
}

/* One value, or a range first-last. */
static bool add_item(enum key_field f, struct span item, struct value_set *set, char error[KEY_ERROR_MAX]) {
  const char *dash = item.length ? memchr(item.at, '-', item.length) : NULL;
  struct span low = item, high = item;
  if (dash) {
    low.length = (size_t)(dash - item.at);
    high = (struct span){dash + 1, item.length - low.length - 1};
  }
  int first, last;
  if (item.length == 0) return bad_number(f, item, "a value is missing", error);
  if (!parse_number(low, &first) || !parse_number(high, &last))
    return bad_number(f, item, dash && dash > item.at ? "not a range of whole numbers" : "not a whole number", error);
  if (first > VALUE_MAX || last > VALUE_MAX) return bad_number(f, item, "not allowed", error);
  if (first > last) return bad_number(f, item, "the range is reversed", error);
  if (!check_value(f, first, error) || !check_value(f, last, error)) return false;
  for (int v = first; v <= last; v++) {
    if (!check_value(f, v, error)) return false;
    set->bits[v / 64] |= UINT64_C(1) << v % 64;
  }
  if (last > set->last) set->last = last;
  return true;
}

static bool parse_values(enum key_field f, struct span text, bool pattern, struct value_set *set, char error[KEY_ERROR_MAX]) {
  if (!pattern) {
    int ignored;
    for (size_t i = 0; i < text.length; i++)
      if (strchr("-|/", text.at[i]) && i > 0 && parse_number((struct span){text.at, i}, &ignored))
        return bad_number(f, text, "a key has one value a field", error);
    if (text.length > 0 && text.at[0] == '-') return bad_number(f, text, "not a whole number", error);
    return add_item(f, text, set, error);
  }
  for (size_t start = 0, i = 0; i <= text.length; i++) {
    if (i < text.length && text.at[i] != '|' && text.at[i] != '/') continue;
    if (!add_item(f, (struct span){text.at + start, i - start}, set, error)) return false;
    start = i + 1;
  }
  return true;
}

static bool unknown_field(struct span name, char error[KEY_ERROR_MAX]) {
  char shown[QUOTE_MAX + 4], list[128] = "";
  for (enum key_field f = 0; f < FIELDS; f++) {
    if (f) strncat(list, ", ", sizeof list - strlen(list) - 1);
    strncat(list, fields[f].name, sizeof list - strlen(list) - 1);
  }
  return fail(error, "unknown field \"%s\": the fields are %s", quote(name, shown), list);
}

/* "name=values" */
static bool parse_field(struct span text, bool pattern, struct value_set sets[FIELDS], char error[KEY_ERROR_MAX]) {
  const char *equals = text.length ? memchr(text.at, '=', text.length) : NULL;
  char shown[QUOTE_MAX + 4], range[32];
  if (text.length == 0) return fail(error, "a field is missing beside a comma: write field=value,field=value");
  struct span name = {text.at, equals ? (size_t)(equals - text.at) : text.length};
  enum key_field f = 0;
  while (f < FIELDS && (strlen(fields[f].name) != name.length || memcmp(fields[f].name, name.at, name.length) != 0)) f++;
  if (f == FIELDS) return unknown_field(name, error);
  if (!equals) return fail(error, "%s has no value: write %s=N, N is %s", quote(name, shown), fields[f].name, allowed(f, range));
  if (sets[f].given) return fail(error, "%s is given twice (\"%s\"): give it once", fields[f].name, quote(text, shown));
  sets[f].given = true;
  return parse_values(f, (struct span){equals + 1, text.length - name.length - 1}, pattern, &sets[f], error);
}

static bool parse(const char *text, bool pattern, struct value_set sets[FIELDS], char error[KEY_ERROR_MAX]) {
  memset(sets, 0, FIELDS * sizeof *sets);
  if (!*text) return fail(error, "the key is empty: write, for example, tokens=8,tp=4");
  for (const char *at = text;; at++) {
    size_t length = strcspn(at, ",");
    if (!parse_field((struct span){at, length}, pattern, sets, error)) return false;
    at += length;
    if (!*at) break;
  }
  for (enum key_field f = 0; f < FIELDS; f++) {
    int fallback = fields[f].fallback;
    char range[32];
    if (sets[f].given) continue;
    if (fallback < 0) return fail(error, "%s is missing: write %s=N, N is %s", fields[f].name, fields[f].name, allowed(f, range));
    sets[f].bits[fallback / 64] |= UINT64_C(1) << fallback % 64;
    sets[f].last = fallback;
  }
  return true;
}

/* The smallest value >= from, or -1. */
static int next_value(const struct value_set *set, int from) {
  for (int w = from / 64; w <= set->last / 64; w++) {
    uint64_t bits = w == from / 64 ? set->bits[w] >> from % 64 << from % 64 : set->bits[w];
    if (bits) return w * 64 + __builtin_ctzll(bits);
  }
  return -1;
}

bool key_parse(const char *text, struct front_key *key, char error[KEY_ERROR_MAX]) {
  struct value_set sets[FIELDS];
  if (!parse(text, false, sets, error)) return false;
  for (enum key_field f = 0; f < FIELDS; f++) set_value(key, f, next_value(&sets[f], 0));
  return true;
}

static size_t count_keys(const struct value_set sets[FIELDS]) {
  size_t count = 1;
  for (enum key_field f = 0; f < FIELDS; f++) {
    size_t values = 0;
    for (size_t w = 0; w < SET_WORDS; w++) values += (size_t)__builtin_popcountll(sets[f].bits[w]);
    count *= values; /* at most 48 * 4 * 129 * 4097 * 2^7: no overflow */
  }
  return count;
}

bool key_expand(const char *pattern, struct front_key **keys, size_t *count, char error[KEY_ERROR_MAX]) {
  struct value_set sets[FIELDS];
  *keys = NULL;
  *count = 0;
  if (!parse(pattern, true, sets, error)) return false;
  size_t total = count_keys(sets);
  if (total > KEYS_MAX) return fail(error, "the pattern gives %zu keys, more than %d: narrow a range", total, KEYS_MAX);
  struct front_key *list = malloc(total * sizeof *list);
  if (!list) return fail(error, "out of memory for %zu keys: narrow a range", total);
  struct front_key key;
  for (enum key_field f = 0; f < FIELDS; f++) set_value(&key, f, next_value(&sets[f], 0));
  for (size_t i = 0; i < total; i++) {
    list[i] = key;
    /* An odometer: the last field turns fastest. */
    for (enum key_field f = FIELDS; f-- > 0;) {
      int next = next_value(&sets[f], value_of(&key, f) + 1);
      set_value(&key, f, next >= 0 ? next : next_value(&sets[f], 0));
      if (next >= 0) break;
    }
  }
  *keys = list;
  *count = total;
  return true;
}

/* The one switch that is named when it is off. */
static const char no_guard[] = "_g0";

void key_name(const struct front_key *key, char name[KEY_NAME_MAX]) {
  snprintf(name, KEY_NAME_MAX, "front_s%d_tp%d_r%d_w%d_t%d", key->tokens, key->tp, key->ratio, key->window, key->tuned);
  for (enum key_field f = 0; f < FIELDS; f++)
    if (fields[f].suffix && value_of(key, f)) strncat(name, fields[f].suffix, KEY_NAME_MAX - strlen(name) - 1);
  if (!key->guard) strncat(name, no_guard, KEY_NAME_MAX - strlen(name) - 1);
}

bool key_from_name(const char *name, struct front_key *key, char error[KEY_ERROR_MAX]) {
  static const struct {
    const char *mark;
    enum key_field field;
  } parts[] = {{"front_s", FIELD_tokens}, {"_tp", FIELD_tp}, {"_r", FIELD_ratio}, {"_w", FIELD_window}, {"_t", FIELD_tuned}};
  char shown[QUOTE_MAX + 4];
  struct span whole = {name, strlen(name)};
  const char *at = name;
  for (enum key_field f = 0; f < FIELDS; f++) set_value(key, f, fields[f].fallback);
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    int value;
    size_t mark = strlen(parts[i].mark), digits;
    if (strncmp(at, parts[i].mark, mark) != 0 ||
        (at += mark, digits = strspn(at, "0123456789"), !parse_number((struct span){at, digits}, &value)))
      return fail(error, "\"%s\" is not a key's name: one looks like front_s8_tp4_r2_w128_t0", quote(whole, shown));
    set_value(key, parts[i].field, value);
    at += digits;
  }
  for (enum key_field f = 0; f < FIELDS; f++) {
    size_t length = fields[f].suffix ? strlen(fields[f].suffix) : 0;
    if (length == 0 || strncmp(at, fields[f].suffix, length) != 0) continue;
    set_value(key, f, 1);
    at += length;
  }
  if (strncmp(at, no_guard, sizeof no_guard - 1) == 0) {
    key->guard = 0;
    at += sizeof no_guard - 1;
  }
  if (*at) return fail(error, "\"%s\" is not a key's name: \"%.16s\" is left over", quote(whole, shown), at);
  return key_validate(key, error);
}
