/* SPDX-License-Identifier: Apache-2.0 */
/* bench_emulator FRONTRUN: the time of a launch on the emulator against the limits that are promised, and its speed. The best of three
   runs a key; exit code 1 if one is over its limit or its results are wrong. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "support.h"

static const struct {
  const char *key;
  double limit; /* seconds */
} keys[] = {{"tokens=8,tp=4", 1.0}, {"tokens=16,tp=4", 1.0}, {"tokens=16,tp=4,tuned=1", 1.0}, {"tokens=48,tp=4", 2.5},
    {"tokens=48,tp=4,tuned=1", 2.5}};

enum { RUNS = 3 };

struct speed {
  double seconds, instructions, per_second;
};

static bool run_once(const char *frontrun, const char *key, struct speed *speed) {
  struct outcome o = run(frontrun, key, "--device", "emulator", "--json");
  json_t *root = o.code == 0 ? json_loadb(o.out, o.out_bytes, 0, NULL) : NULL;
  json_t *launch = json_array_get(json_object_get(root, "launches"), 0), *emulator = json_object_get(launch, "emulator");
  bool good = launch && emulator;
  if (good) {
    speed->seconds = json_number_value(json_object_get(launch, "seconds"));
    speed->instructions = json_number_value(json_object_get(emulator, "wave_instructions"));
    speed->per_second = json_number_value(json_object_get(emulator, "wave_instructions_per_second"));
  } else {
    fprintf(stderr, "%s: exit code %d: %s\n", key, o.code, o.err);
  }
  json_decref(root);
  outcome_free(&o);
  return good;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: bench_emulator FRONTRUN\n");
    return 2;
  }
  bool good = true;
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    struct speed best = {0}, one = {0};
    for (int run_number = 0; run_number < RUNS; run_number++) {
      if (!run_once(argv[1], keys[i].key, &one)) return 1;
      if (run_number == 0 || one.seconds < best.seconds) best = one;
    }
    bool slow = best.seconds > keys[i].limit;
    printf("%-24s launch %.3f s, limit %.1f; %.2f M wave-instructions, %.1f M a second%s\n", keys[i].key, best.seconds, keys[i].limit,
        best.instructions * 1e-6, best.per_second * 1e-6, slow ? ": TOO SLOW" : "");
    good = good && !slow;
  }
  return good ? 0 : 1;
}
