/* SPDX-License-Identifier: Apache-2.0 */
/* Keys and patterns: what is accepted, what is refused and with which words. The expected values are written by hand from the design. */
#include "key.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

static struct front_key parsed(const char *text) {
  struct front_key key = {0};
  char error[KEY_ERROR_MAX] = "";
  if (!key_parse(text, &key, error)) fail_msg("%s: %s", text, error);
  return key;
}

static void test_defaults(void **state) {
  (void)state;
  struct front_key key = parsed("tokens=8");
  assert_int_equal(key.tokens, 8);
  assert_int_equal(key.tp, 4);
  assert_int_equal(key.ratio, 2);
  assert_int_equal(key.window, 128);
  assert_int_equal(key.tuned, 0);
  assert_int_equal(key.index, 0);
  assert_int_equal(key.x8_given, 0);
  assert_int_equal(key.dev, 0);
  assert_int_equal(key.timeline, 0);
  assert_int_equal(key.embed, 0);
  assert_int_equal(key.guard, 1);
}

static void test_any_order(void **state) {
  (void)state;
  struct front_key a = parsed("tokens=48,tp=1,ratio=128,window=4096,tuned=1"), b = parsed("tuned=1,window=4096,ratio=128,tp=1,tokens=48");
  assert_memory_equal(&a, &b, sizeof a);
  assert_int_equal(a.tokens, 48);
  assert_int_equal(a.tp, 1);
  assert_int_equal(a.ratio, 128);
  assert_int_equal(a.window, 4096);
  assert_int_equal(a.tuned, 1);
}

static void test_edges(void **state) {
  (void)state;
  static const char *const good[] = {"tokens=1", "tokens=48", "tokens=1,tp=8", "tokens=1,ratio=0", "tokens=1,window=1",
      "tokens=1,index=0,x8_given=0,dev=0,timeline=0,embed=0,guard=0", "tokens=1,guard=1"};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) parsed(good[i]);
}

/* A bad key, and what its message must name: the field, the value as written, what is allowed. */
static const struct {
  const char *text, *names[3];
} bad_keys[] = {
    {"", {"tokens"}},
    {"tp=4", {"tokens", "missing", "1..48"}},
    {"tokens", {"tokens", "no value", "1..48"}},
    {"tokens=", {"tokens=", "missing", "1..48"}},
    {"tokens=0", {"tokens=0", "1..48"}},
    {"tokens=49", {"tokens=49", "1..48"}},
    {"tokens=4294967297", {"tokens=4294967297", "1..48"}},
    {"tokens=99999999999999999999999", {"tokens=99999999999999999999999", "1..48"}},
    {"tokens=-1", {"tokens=-1", "whole number", "1..48"}},
    {"tokens=+8", {"tokens=+8", "whole number"}},
    {"tokens= 8", {"tokens= 8", "whole number"}},
    {"tokens=8 ", {"tokens=8 ", "whole number"}},
    {"tokens=08", {"tokens=08", "whole number"}},
    {"tokens=0x8", {"tokens=0x8", "whole number"}},
    {"tokens=8.0", {"tokens=8.0", "whole number"}},
    {"tokens=1e1", {"tokens=1e1", "whole number"}},
    {"tokens=eight", {"tokens=eight", "whole number"}},
    {"tokens==8", {"tokens==8", "whole number"}},
    {"tokens=8,", {"comma"}},
    {",tokens=8", {"comma"}},
    {"tokens=8,,tp=4", {"comma"}},
    {"tokens=8,tokens=8", {"tokens", "twice"}},
    {"tokens=8,tp=4,tokens=9", {"tokens=9", "twice"}},
    {"tokens=8,tp=3", {"tp=3", "1, 2, 4 or 8"}},
    {"tokens=8,tp=0", {"tp=0", "1, 2, 4 or 8"}},
    {"tokens=8,tp=16", {"tp=16", "1, 2, 4 or 8"}},
    {"tokens=8,ratio=129", {"ratio=129", "0..128"}},
    {"tokens=8,window=0", {"window=0", "1..4096"}},
    {"tokens=8,window=4097", {"window=4097", "1..4096"}},
    {"tokens=8,tuned=2", {"tuned=2", "0 or 1"}},
    {"tokens=8,Tp=4", {"\"Tp\"", "tokens, tp, ratio, window, tuned, index"}},
    {"tokens=8, tp=4", {"\" tp\"", "unknown"}},
    {"tokens=8;tp=4", {"tokens=8;tp=4", "whole number"}},
    {"batch=8", {"\"batch\"", "tokens, tp"}},
    {"=8", {"unknown"}},
    {"tokens=8,index=1", {"index=1", "not in this version", "index=0"}},
    {"tokens=8,x8_given=1", {"x8_given=1", "not in this version"}},
    {"tokens=8,dev=1", {"dev=1", "not in this version"}},
    {"tokens=8,timeline=1", {"timeline=1", "not in this version"}},
    {"tokens=8,embed=1", {"embed=1", "not in this version"}},
    {"tokens=8,guard=2", {"guard=2", "0 or 1"}},
    {"tokens=1-8", {"tokens=1-8", "one value"}},
    {"tokens=1|8", {"tokens=1|8", "one value"}},
    {"tokens=1/8", {"tokens=1/8", "one value"}},
};

static void expect_error(const char *text, const char *error, const char *const names[3]) {
  for (int n = 0; n < 3 && names[n]; n++)
    if (!strstr(error, names[n])) fail_msg("the message for \"%s\" does not name \"%s\": %s", text, names[n], error);
  assert_null(strchr(error, '\n'));
}

static void test_bad_keys(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof bad_keys / sizeof *bad_keys; i++) {
    struct front_key key;
    char error[KEY_ERROR_MAX] = "";
    if (key_parse(bad_keys[i].text, &key, error)) fail_msg("\"%s\" was accepted", bad_keys[i].text);
    expect_error(bad_keys[i].text, error, bad_keys[i].names);
  }
}

static void test_hostile_text(void **state) {
  (void)state;
  struct front_key key = {0};
  char error[KEY_ERROR_MAX] = "", text[5000];
  memset(text, 'x', sizeof text - 1);
  text[sizeof text - 1] = 0;
  assert_false(key_parse(text, &key, error));
  assert_true(strlen(error) < KEY_ERROR_MAX);
  memcpy(text, "tokens=", 7);
  assert_false(key_parse(text, &key, error));
  assert_true(strlen(error) < KEY_ERROR_MAX);
  assert_false(key_parse("tok\nens\x1b[31m=8", &key, error));
  assert_null(strpbrk(error, "\n\x1b"));
}

static void test_names(void **state) {
  (void)state;
  static const char *const pairs[][2] = {
      {"tokens=8", "front_s8_tp4_r2_w128_t0"},
      {"tokens=48,tp=1,ratio=128,window=4096,tuned=1", "front_s48_tp1_r128_w4096_t1"},
      {"tokens=1,tp=8,ratio=0,window=1,guard=0", "front_s1_tp8_r0_w1_t0_g0"},
      {"tokens=1,tp=8,ratio=0,window=1,guard=1", "front_s1_tp8_r0_w1_t0"},
  };
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    struct front_key key = parsed(pairs[i][0]), again;
    char name[KEY_NAME_MAX], error[KEY_ERROR_MAX];
    key_name(&key, name);
    assert_string_equal(name, pairs[i][1]);
    assert_true(key_from_name(name, &again, error));
    assert_memory_equal(&key, &again, sizeof key);
  }
}

/* The suffixes of later versions' switches, on a struct that no parser lets through yet. */
static void test_suffixes(void **state) {
  (void)state;
  struct front_key key = {
      .tokens = 8, .tp = 4, .ratio = 2, .window = 128, .index = 1, .x8_given = 1, .dev = 1, .timeline = 1, .embed = 1, .guard = 1};
  char name[KEY_NAME_MAX], error[KEY_ERROR_MAX];
  key_name(&key, name);
  assert_string_equal(name, "front_s8_tp4_r2_w128_t0_index_x8_dev_tl_embed");
  assert_false(key_validate(&key, error));
  assert_non_null(strstr(error, "index=1 is not in this version"));
}

static void test_bad_names(void **state) {
  (void)state;
  static const char *const bad[] = {"", "front", "front_s8", "front_s8_tp4_r2_w128", "front_s8_tp4_r2_w128_t", "front_s08_tp4_r2_w128_t0",
      "front_s8_tp4_r2_w128_t0_", "front_s8_tp4_r2_w128_t0.gfx950.hsaco", "front_s8_tp3_r2_w128_t0", "front_s49_tp4_r2_w128_t0",
      "front_s8_tp4_r2_w128_t0_g1", "front_s8_tp4_r2_w128_t0_g0_g0", "front_s8_tp4_r2_w128_t0_g0_index", "front_s8_tp4_r2_w128_t0_index",
      "front_s8_r2_tp4_w128_t0", "Front_s8_tp4_r2_w128_t0", "front_s-8_tp4_r2_w128_t0", "front_s99999999999999999999_tp4_r2_w128_t0"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    struct front_key key;
    char error[KEY_ERROR_MAX] = "";
    if (key_from_name(bad[i], &key, error)) fail_msg("\"%s\" was accepted", bad[i]);
    assert_true(error[0] != 0);
  }
}

static size_t expanded(const char *pattern, struct front_key **keys) {
  size_t count;
  char error[KEY_ERROR_MAX] = "";
  if (!key_expand(pattern, keys, &count, error)) fail_msg("%s: %s", pattern, error);
  return count;
}

static void expect_names(const char *pattern, const char *const *names, size_t count) {
  struct front_key *keys;
  assert_int_equal(expanded(pattern, &keys), count);
  for (size_t i = 0; i < count; i++) {
    char name[KEY_NAME_MAX];
    key_name(&keys[i], name);
    assert_string_equal(name, names[i]);
  }
  free(keys);
}

static void test_patterns(void **state) {
  (void)state;
  static const char *const names[] = {"front_s1_tp2_r2_w128_t0", "front_s1_tp2_r2_w128_t1", "front_s1_tp4_r2_w128_t0",
      "front_s1_tp4_r2_w128_t1", "front_s2_tp2_r2_w128_t0", "front_s2_tp2_r2_w128_t1", "front_s2_tp4_r2_w128_t0",
      "front_s2_tp4_r2_w128_t1"};
  expect_names("tokens=1-2,tp=2|4,tuned=0|1", names, 8);
  expect_names("tuned=0/1,tp=2/4,tokens=1/2", names, 8);         /* the shell's form, any order of fields */
  expect_names("tuned=1|0,tp=4|2,tokens=2|1", names, 8);         /* any order of values: the keys are in canonical order */
  expect_names("tokens=1-2|1|2-2,tp=2|4|2,tuned=0-1", names, 8); /* a key once, however often it was named */
  expect_names("tokens=1,tp=2,tuned=0", names, 1);
}

static void test_pattern_sizes(void **state) {
  (void)state;
  struct front_key *keys;
  assert_int_equal(expanded("tokens=1-48,tp=1|2|4|8,tuned=0|1", &keys), 384);
  free(keys);
  assert_int_equal(expanded("tokens=1-48,tp=1|2|4|8,tuned=0|1,ratio=0|1|2|3|7|128,window=1|128|129|4096", &keys), 9216);
  free(keys);
  assert_int_equal(expanded("tokens=1,window=1-4096", &keys), 4096);
  assert_int_equal(keys[4095].window, 4096);
  free(keys);
}

static const struct {
  const char *text, *names[3];
} bad_patterns[] = {
    {"", {"tokens"}},
    {"tp=1|2", {"tokens", "missing"}},
    {"tokens=4-1", {"tokens=4-1", "reversed", "1..48"}},
    {"tokens=1-", {"tokens=1-", "range", "1..48"}},
    {"tokens=-4", {"tokens=-4", "whole number"}},
    {"tokens=-", {"tokens=-"}},
    {"tokens=1--4", {"tokens=1--4", "range"}},
    {"tokens=1-2-3", {"tokens=1-2-3", "range"}},
    {"tokens=1|", {"tokens=", "missing"}},
    {"tokens=|1", {"tokens=", "missing"}},
    {"tokens=1||2", {"tokens=", "missing"}},
    {"tokens=1-49", {"tokens=49", "1..48"}},
    {"tokens=0-4", {"tokens=0", "1..48"}},
    {"tokens=1-99999999999999999999", {"99999999999999999999", "1..48"}},
    {"tokens=1|x", {"tokens=x", "whole number"}},
    {"tokens=1,tp=1-8", {"tp=3", "1, 2, 4 or 8"}},
    {"tokens=1,index=0|1", {"index=1", "not in this version"}},
    {"tokens=1,guard=0|2", {"guard=2", "0 or 1"}},
    {"tokens=1|2,tokens=3", {"tokens", "twice"}},
    {"tokens=1-48,tp=1|2|4|8,ratio=0-128,window=1-4096,tuned=0|1", {"202899456", "narrow"}},
};

static void test_bad_patterns(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof bad_patterns / sizeof *bad_patterns; i++) {
    struct front_key *keys = (struct front_key *)state;
    size_t count = 1;
    char error[KEY_ERROR_MAX] = "";
    if (key_expand(bad_patterns[i].text, &keys, &count, error)) fail_msg("\"%s\" was accepted", bad_patterns[i].text);
    expect_error(bad_patterns[i].text, error, bad_patterns[i].names);
    assert_null(keys);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      {"only tokens must be given, the rest has the design's defaults", test_defaults, NULL, NULL, NULL},
      {"fields may come in any order", test_any_order, NULL, NULL, NULL},
      {"the ends of every range are accepted", test_edges, NULL, NULL, NULL},
      {"a bad key's message names the field, the value and what is allowed", test_bad_keys, NULL, NULL, NULL},
      {"a message stays one printable line whatever the key's text is", test_hostile_text, NULL, NULL, NULL},
      {"names are canonical and read back as the same key", test_names, NULL, NULL, NULL},
      {"switches of later versions have their suffix and are refused", test_suffixes, NULL, NULL, NULL},
      {"a name that is not canonical is refused", test_bad_names, NULL, NULL, NULL},
      {"a pattern gives each key once, in canonical order", test_patterns, NULL, NULL, NULL},
      {"a pattern gives as many keys as its values multiply to", test_pattern_sizes, NULL, NULL, NULL},
      {"a bad pattern's message names what is wrong", test_bad_patterns, NULL, NULL, NULL},
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
