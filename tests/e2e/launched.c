/* SPDX-License-Identifier: Apache-2.0 */
#include "launched.h"

#include <stdlib.h>
#include <string.h>

#include "support.h"

struct launched launch(const char *what, const char *const options[]) {
  static const char *const environment[] = {"FRONT_EMU_THREADS=1", NULL};
  const struct run_options how = {.env = environment};
  const char *argv[LAUNCH_OPTIONS_MAX + 8] = {built_path("frontrun/frontrun"), what, "--device", "emulator", "--json", "--threads", "1"};
  for (size_t n = 7; options && *options; n++) {
    assert_true(n < LAUNCH_OPTIONS_MAX + 7);
    argv[n] = *options++;
  }
  struct outcome o = run_argv(argv, &how);
  json_error_t why;
  struct launched l = {.code = o.code, .json = json_loads(o.out, 0, &why), .error = strdup(o.err)};
  if (!l.json) fail_msg("%s: exit code %d, no JSON (%s): %.500s %.1000s", what, o.code, why.text, o.out, o.err);
  outcome_free(&o);
  return l;
}

void launched_free(struct launched *l) {
  json_decref(l->json);
  free(l->error);
  *l = (struct launched){0};
}

const char *bad_stages(const struct launched *l, size_t n) {
  static char names[256];
  const json_t *stages = json_object_get(json_array_get(json_object_get(l->json, "launches"), n), "stages");
  names[0] = 0;
  for (size_t i = 0; i < json_array_size(stages); i++) {
    const json_t *stage = json_array_get(stages, i);
    if (json_is_true(json_object_get(stage, "good"))) continue;
    if (names[0]) strcat(names, " ");
    strncat(names, json_string_value(json_object_get(stage, "stage")), 32);
  }
  return names;
}

static json_int_t figure(const json_t *object, const char *name) {
  const json_t *value = json_object_get(object, name);
  if (!json_is_integer(value)) fail_msg("no figure %s", name);
  return json_integer_value(value);
}

static void assert_traffic(const char *name, const json_t *traffic) {
  static const struct {
    const char *argument;
    json_int_t fetches;
  } weights[] = {{"wqkv", 1}, {"wqb", 1}, {"wqkv_s", 2}, {"wqb_s", 2}};
  for (size_t i = 0; i < sizeof weights / sizeof *weights; i++) {
    const json_t *t = json_object_get(traffic, weights[i].argument);
    json_int_t least = figure(t, "min_fetches"), most = figure(t, "max_fetches");
    if (least != weights[i].fetches || most != weights[i].fetches)
      fail_msg("%s: a word of %s is fetched %lld to %lld times", name, weights[i].argument, (long long)least, (long long)most);
  }
  const char *argument;
  json_t *one;
  json_object_foreach((json_t *)(uintptr_t)traffic, argument, one) {
    json_int_t unique = figure(one, "unique_bytes"), minimum = figure(one, "minimum_bytes");
    if (unique < minimum)
      fail_msg("%s: of %s %lld bytes are loaded, %lld are needed", name, argument, (long long)unique, (long long)minimum);
  }
}

void assert_good_launches(const char *name, struct launched *l, size_t launches) {
  const json_t *all = json_object_get(l->json, "launches");
  if (l->code != 0) fail_msg("%s: exit code %d; bad stages: %s; %s", name, l->code, bad_stages(l, 0), l->error);
  assert_int_equal(json_array_size(all), launches);
  for (size_t i = 0; i < launches; i++) {
    const json_t *one = json_array_get(all, i), *remarks = json_object_get(one, "remarks");
    assert_true(json_is_true(json_object_get(one, "good")));
    assert_string_equal(bad_stages(l, i), "");
    assert_true(json_array_size(json_object_get(one, "stages")) >= 6);
    if (figure(json_object_get(one, "emulator"), "out_of_range") != 0 || remarks)
      fail_msg("%s: accesses out of range: %s", name, remarks ? json_string_value(remarks) : "");
    assert_traffic(name, json_object_get(one, "traffic"));
  }
  launched_free(l);
}
