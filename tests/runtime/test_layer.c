/* SPDX-License-Identifier: Apache-2.0 */
/* Keys and canonical names as libfront reads them, against the generator's parser, which shares no code with it. */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "key.h"
#include "layer.h"
#include "scratch.h"

static void both_parsers_read_the_same_from_names_and_from_keys(void **context) {
  (void)context;
  struct front_key *keys;
  size_t count;
  char error[KEY_ERROR_MAX];
  assert_true(key_expand("tokens=1-48,tp=1|2|4|8,ratio=0|1|128,window=1|4096,tuned=0|1", &keys, &count, error));
  assert_int_equal(count, 48 * 4 * 3 * 2 * 2);
  for (size_t i = 0; i < count; i++) {
    char name[KEY_NAME_MAX], again[LAYER_NAME_MAX], text[128];
    struct layer from_name, from_key;
    key_name(&keys[i], name);
    assert_int_equal(layer_parse(name, &from_name), FRONT_OK);
    snprintf(text, sizeof text, "window=%d,ratio=%d,tuned=%d,tp=%d,tokens=%d", keys[i].window, keys[i].ratio, keys[i].tuned, keys[i].tp,
        keys[i].tokens);
    assert_int_equal(layer_parse(text, &from_key), FRONT_OK);
    assert_memory_equal(&from_name, &from_key, sizeof from_key);
    assert_memory_equal(&from_name, &keys[i], sizeof from_key); /* the same table makes both structs */
    layer_name(&from_key, again);
    assert_string_equal(again, name);
    assert_int_equal(layer_scratch_bytes(&from_key), scratch_layout((uint32_t)keys[i].tokens, keys[i].tuned).bytes);
  }
  free(keys);
}

static void a_bad_key_is_refused_with_the_field(void **context) {
  (void)context;
  static const char *const bad[][2] = {{"", "\"\""}, {"tokens=49", "49"}, {"tp=4", "tokens"}, {"tokens=8,tp=6", "tp"},
      {"tokens=8,tokens=8", "twice"}, {"tokens=8,", "\"\""}, {"tokens=8x", "tokens=8x"}, {"token=8", "token=8"},
      {"front_s8_tp4_r2_w128", "canonical"}, {"front_s8_tp4_r2_w128_t0_zz", "_zz"}, {"front_s08_tp4_r2_w128_t0", "front_s8"},
      {"front_s8_tp4_r2_w128_t2", "tuned"}};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    struct layer layer;
    assert_int_equal(layer_parse(bad[i][0], &layer), FRONT_ERR_ARGUMENT);
    if (!strstr(front_error(), bad[i][1])) fail_msg("\"%s\": %s", bad[i][0], front_error());
  }
}

static void switches_are_suffixes_of_the_name_in_the_tables_order(void **context) {
  (void)context;
  struct layer layer, again;
  char name[LAYER_NAME_MAX];
  assert_int_equal(layer_parse("tokens=8,embed=1,index=1,timeline=1", &layer), FRONT_OK);
  layer_name(&layer, name);
  assert_non_null(strstr(name, "front_s8_tp4_r2_w128_t0_index_tl_embed"));
  assert_int_equal(layer_parse(name, &again), FRONT_OK);
  assert_memory_equal(&layer, &again, sizeof layer);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(both_parsers_read_the_same_from_names_and_from_keys),
      cmocka_unit_test(a_bad_key_is_refused_with_the_field),
      cmocka_unit_test(switches_are_suffixes_of_the_name_in_the_tables_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
