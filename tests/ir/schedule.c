/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

struct words {
  char text[SCHEDULE_MAX];
  size_t length;
};

static void say(struct words *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(struct words *w, const char *format, ...) {
  va_list list;
  va_start(list, format);
  w->length += (size_t)vsnprintf(w->text + w->length, sizeof w->text - w->length, format, list);
  va_end(list);
  if (w->length >= sizeof w->text) fail_msg("the schedule has more than %d characters", SCHEDULE_MAX);
}

/* ---- the design */

/* Loads of 16 bytes a thread that 512 threads need. */
static uint32_t loads(uint32_t items) { return (items + 511) / 512; }

struct key_numbers {
  uint32_t tasks, rounds, tiles, count[3]; /* tokens of each tile */
  uint32_t keys, reach;                    /* kt's row, and how much of it can be a key */
};

static struct key_numbers numbers(const struct schedule_key *k) {
  struct key_numbers n = {.tasks = 64 / k->tp * 512 / 4096, .tiles = (k->tokens + 15) / 16};
  n.rounds = n.tasks > 4 ? 2 : 1;
  n.tasks /= n.rounds;
  for (uint32_t i = 0; i < n.tiles; i++) n.count[i] = i + 1 < n.tiles ? 16 : k->tokens - 16 * i;
  n.reach = (k->ratio ? 512 : 0) + k->window;
  n.keys = n.reach <= 640 ? 640 : (n.reach + 127) / 128 * 128;
  return n;
}

static void say_kt(struct words *w, const struct schedule_key *k) {
  struct key_numbers n = numbers(k);
  for (uint32_t token = 0; token < k->tokens; token += 32) { /* 32 free workgroups */
    say(w, "( slot swa_lens %s ", k->ratio ? "pos t2r topk" : "");
    for (uint32_t first = 0; first < n.keys; first += 512) {
      if (first < n.reach) say(w, "swa_idx ");
      if (first == 0 && k->ratio) say(w, "comp_bt ");
      say(w, first + 512 <= n.keys ? "kt= " : "( kt= ) ");
    }
    say(w, "( klen= klen= ) ) ");
  }
}

/* A poll, and what stands behind its barrier: left out where a wave of the workgroup gave up. */
static void say_poll(struct words *w, const struct schedule_key *k, const char *loads) {
  say(w, "< %s z %s> ", loads, k->guard ? "( guard^ ) " : "");
}

static void say_unless_stopped(struct words *w, const struct schedule_key *k) { say(w, "%s", k->guard ? "( " : ""); }
static void say_end_unless_stopped(struct words *w, const struct schedule_key *k) { say(w, "%s", k->guard ? ") " : ""); }

static void say_rows(struct words *w, uint32_t tokens, const char *words, uint32_t word_items, const char *codes, uint32_t code_items) {
  say(w, "%u*[ %s ] %u*[ %s ] ", loads(tokens * word_items), words, loads(tokens * code_items), codes);
}

static void say_wqb_weights(struct words *w, const struct schedule_key *k) { say(w, "%u*[ wqb wqb wqb_s ] ", 2 * numbers(k).tasks); }

static const char WQKV_TILE[] = "3*[ M ] | ( qkvp=^ ) ";

/* S <= 16: each workgroup with a part quantises its half itself. */
static void say_wqkv_in_workgroup(struct words *w, const struct schedule_key *k) {
  say(w, "( %u*[ Q ] | ) ", loads(k->tokens * 320));
  say_wqb_weights(w, k);
  say(w, "( %s) ", WQKV_TILE);
}

static void say_wqkv_tiles(struct words *w, const struct schedule_key *k) {
  struct key_numbers n = numbers(k);
  say(w, k->tuned ? "( ( " : "( ");
  say_poll(w, k, "xrdy^");
  say(w, ") | ");
  say_unless_stopped(w, k);
  say_rows(w, n.count[0], "x8", 160, "x8s", 20);
  for (uint32_t i = 0; i < n.tiles; i++) {
    say(w, "| ");
    if (i + 1 < n.tiles) say_rows(w, n.count[i + 1], "x8", 160, "x8s", 20);
    if (!k->tuned && i + 2 == n.tiles) say_wqb_weights(w, k);
    say(w, k->tuned && i + 1 < n.tiles ? "3*[ M ] w | ( qkvp=^ ) " : WQKV_TILE);
  }
  if (!k->tuned) return;
  say_end_unless_stopped(w, k);
  say(w, ") ");
  say_wqb_weights(w, k);
}

static void say_qkv(struct words *w, const struct schedule_key *k) {
  static const char qx8[] = "Q ( qx8=^ ( qx8s=^ ) ) ", flag[] = "w | ( qrdy=^ ) ", record[] = "Q | ( ( *swa= ) ( *swa= ) ) ";
  say(w, "( 8*[ qn_w ] 2*[ kvn_w ] pos slot cos_sin cos_sin ");
  say_poll(w, k, k->tuned ? "10*[ qkvp^ ]" : "12*[ qkvp^ ]");
  if (!k->tuned) say_poll(w, k, "8*[ qkvp^ ]");
  say(w, "| ");
  say_unless_stopped(w, k);
  say(w, "%s%s%s", qx8, k->tuned ? flag : record, k->tuned ? record : flag);
  say_end_unless_stopped(w, k);
  say(w, ") ");
}

static void say_wqb(struct words *w, const struct schedule_key *k) {
  struct key_numbers n = numbers(k);
  say(w, "%u*[ cos_sin cos_sin ] ( ", n.tiles);
  say_poll(w, k, "qrdy^");
  say(w, ") | ");
  say_unless_stopped(w, k);
  say_rows(w, n.count[0], "qx8", 80, "qx8s", 10);
  for (uint32_t round = 0; round < n.rounds; round++)
    for (uint32_t i = 0; i < n.tiles; i++) {
      bool last = i + 1 == n.tiles;
      say(w, "| ");
      if (!last) say_rows(w, n.count[i + 1], "qx8", 80, "qx8s", 10);
      say(w, "%u*[ M ] ", 2 * n.tasks);
      if (last && round + 1 < n.rounds) {
        say_wqb_weights(w, k);
        say_rows(w, n.count[0], "qx8", 80, "qx8s", 10);
      }
      say(w, "%s| ( q= ) ", k->tuned && !last ? "w " : "");
    }
  say_end_unless_stopped(w, k);
}

const char *schedule_wanted(const struct schedule_key *k) {
  static struct words w;
  uint32_t units = (2 * k->tokens + 31) / 32; /* a free workgroup's, of (token, half) */
  w.length = 0;
  say(&w, "epoch^ %u*[ x ] 3*[ wqkv wqkv wqkv_s ] ", k->tokens <= 16 ? loads(k->tokens * 320) : units);
  if (k->tokens > 16) say(&w, "( %u*[ Q ( x8=^ ( x8s=^ ) ) ] w | ( xrdy=^ ) ) ", units);
  say_kt(&w, k);
  say(&w, "%u*[ pos ] ", numbers(k).tiles);
  if (k->tokens <= 16)
    say_wqkv_in_workgroup(&w, k);
  else
    say_wqkv_tiles(&w, k);
  say_qkv(&w, k);
  say_wqb(&w, k);
  if (k->tokens > 16 && !k->tuned) say_end_unless_stopped(&w, k);
  if (k->guard) say(&w, "( < scratch^ > ( guard@ ( guard=^ guard=^ ) ) ) ");
  say(&w, "( done@ ( epoch=^ ) ) ");
  return w.text;
}

/* ---- the IR */

static void say_event(struct words *w, const struct ir_event *e) {
  static const char *const marks[] = {[IR_BARRIER] = "|",
      [IR_WAIT] = "w",
      [IR_SLEEP] = "z",
      [IR_MFMA] = "M",
      [IR_QUANTISE] = "Q",
      [IR_BRANCH] = "(",
      [IR_BRANCH_END] = ")",
      [IR_LOOP] = "<",
      [IR_LOOP_END] = ">"};
  const char *scope = e->aux == 16 ? "^" : e->aux == 0 ? "" : "?";
  switch (e->kind) {
  case IR_LOAD:
    say(w, "%s%s ", e->what, scope);
    break;
  case IR_STORE:
    say(w, "%s=%s ", e->what, scope);
    break;
  case IR_ATOMIC:
    say(w, "%s@%s ", e->what, scope);
    break;
  case IR_GLOBAL_STORE:
    say(w, "*%s= ", e->what);
    break;
  case IR_SCALAR:
    break;
  case IR_BARRIER:
  case IR_WAIT:
  case IR_SLEEP:
  case IR_MFMA:
  case IR_QUANTISE:
  case IR_BRANCH:
  case IR_BRANCH_END:
  case IR_LOOP:
  case IR_LOOP_END:
    say(w, "%s ", marks[e->kind]);
    break;
  }
}

const char *schedule_found(const struct ir_reader *r) {
  static struct words w;
  w.length = 0;
  w.text[0] = 0;
  for (size_t i = 0; i < r->events; i++) {
    bool empty = r->event[i].kind == IR_BRANCH_END && w.length >= 2 && memcmp(w.text + w.length - 2, "( ", 2) == 0;
    if (empty)
      w.length -= 2;
    else
      say_event(&w, &r->event[i]);
  }
  w.text[w.length] = 0;
  return w.text;
}

/* ---- words */

static const char *next_word(const char *text, size_t *length) {
  text += strspn(text, " ");
  *length = strcspn(text, " ");
  return text;
}

/* No repetition within a repetition but for ones that are written out already. */
const char *schedule_expanded(const char *words) {
  static struct words w;
  size_t length;
  w.length = 0;
  w.text[0] = 0;
  for (const char *at = next_word(words, &length); length; at = next_word(at + length, &length)) {
    size_t digits = strspn(at, "0123456789");
    if (!digits || strncmp(at + digits, "*[", 2) != 0) {
      say(&w, "%.*s ", (int)length, at);
      continue;
    }
    const char *within = at + length, *close = strstr(within, " ]");
    assert_non_null(close);
    for (unsigned long n = strtoul(at, NULL, 10); n; n--)
      for (const char *word = next_word(within, &length); word < close; word = next_word(word + length, &length))
        say(&w, "%.*s ", (int)length, word);
    at = close + 1;
    length = 1;
  }
  return w.text;
}

void assert_same_schedule(const char *name, const char *wanted, const char *found) {
  size_t a, b, n = 0;
  const char *x = next_word(wanted, &a), *y = next_word(found, &b);
  for (; a || b; x = next_word(x + a, &a), y = next_word(y + b, &b), n++)
    if (a != b || strncmp(x, y, a) != 0) {
      const char *from = y - found > 120 ? y - 120 : found;
      fail_msg("%s: word %zu of the schedule: wanted: %.*s, found: %.*s; before it: ...%.*s", name, n, (int)a, x, (int)b, y,
          (int)(y - from), from);
    }
  assert_true(n > 100);
}
