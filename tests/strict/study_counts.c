/* SPDX-License-Identifier: Apache-2.0 */
/* LLVM counts what is in flight exactly: each count of each s_waitcnt of the machine code, larger by one, leaves something unwaited for on
   a path that it knows. Strict mode finds it, but on paths that no launch takes: at least FOUND_PERCENT of them. study_counts [EVERY
   FIRST]. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel_rig.h"
#include "planted.h"

enum { FOUND_PERCENT = 75, SCHEDULES = 2 };

static const char key[] = "tokens=1,tp=8,tuned=1";
static uint32_t every = 1, first_count;

/* Larger by one, in the line at `line`, behind its name. */
static bool relax(struct planted *p, size_t line, const char *counter) {
  size_t end = planted_next_line(p, line);
  const char *at = memmem(p->text + line, end - line, counter, strlen(counter));
  if (!at) return false;
  char from[32], to[32];
  uint32_t n = (uint32_t)strtoul(at + strlen(counter), NULL, 10);
  snprintf(from, sizeof from, "%s%u)", counter, n);
  snprintf(to, sizeof to, "%s%u)", counter, n + 1);
  planted_edit_from(p, line, from, to);
  return true;
}

static bool is_found(const struct planted *p, char text[RUN_ERROR_MAX]) {
  size_t bytes;
  void *object = planted_object(p, &bytes);
  struct rig r;
  bool found = false;
  rig_open(&r, key, object, bytes);
  for (uint64_t schedule = 0; schedule < SCHEDULES && !found && !r.broken; schedule++) {
    struct shown shown;
    rig_launch(&r, schedule, &shown);
    found = shown.findings.count || shown.code != RUN_GOOD;
    if (found) snprintf(text, RUN_ERROR_MAX, "%.2000s", shown.findings.count ? shown.findings.finding[0].text : shown.error);
    shown_free(&shown);
  }
  rig_close(&r);
  free(object);
  return found;
}

static void counts_that_are_larger_by_one_are_found(void **state) {
  (void)state;
  static const char *const counters[] = {"vmcnt(", "lgkmcnt("};
  struct planted whole = planted_kernel(key);
  char text[RUN_ERROR_MAX] = "";
  uint32_t seen = 0, tried = 0, found = 0;
  assert_false(is_found(&whole, text));
  for (size_t line = 0; whole.text[line]; line = planted_next_line(&whole, line)) {
    if (strncmp(whole.text + line, "\ts_waitcnt ", 11) != 0) continue;
    for (int i = 0; i < 2; i++) {
      struct planted p = planted_kernel(key);
      if (relax(&p, line, counters[i]) && seen++ % every == first_count) {
        bool told = is_found(&p, text);
        tried++;
        found += told;
        print_message("%u\t%.*s\t%.*s + 1\t%s\t%.200s\n", seen - 1, (int)strcspn(whole.text + line + 1, "\n;"), whole.text + line + 1,
            (int)strcspn(counters[i], "("), counters[i], told ? "found" : "not found", told ? text : "");
      }
      planted_free(&p);
    }
  }
  planted_free(&whole);
  print_message("%u of %u counts found\n", found, tried);
  assert_true(tried > 0 && found * 100 >= tried * FOUND_PERCENT);
}

int main(int argc, char **argv) {
  if (argc > 2) {
    every = (uint32_t)strtoul(argv[1], NULL, 10);
    first_count = (uint32_t)strtoul(argv[2], NULL, 10);
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(counts_that_are_larger_by_one_are_found)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
