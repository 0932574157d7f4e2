/* SPDX-License-Identifier: Apache-2.0 */
/* Debian's rocminfo, a program that knows nothing of us, with the emulator as its libhsa-runtime64.so.1. It first asks lsmod for the driver
   and opens /dev/kfd: both are shims. */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *dir;

static int make_shims(void **state) {
  static const char lsmod[] = "#!/bin/sh\necho 'amdgpu 12345678 0'\n";
  (void)state;
  dir = temp_dir();
  write_file(path_in(dir, "lsmod"), lsmod, sizeof lsmod - 1);
  assert_int_equal(chmod(path_in(dir, "lsmod"), 0755), 0);
  assert_int_equal(symlink(built_path("emulator/libhsa-emu.so"), path_in(dir, "libhsa-runtime64.so.1")), 0);
  return 0;
}

static struct outcome rocminfo(const char *device) {
  static char library[1024], path[8192], preload[1024], model[128];
  snprintf(library, sizeof library, "LD_LIBRARY_PATH=%s", dir);
  snprintf(path, sizeof path, "PATH=%s:%s", dir, getenv("PATH"));
  snprintf(preload, sizeof preload, "LD_PRELOAD=%s", built_path("tests/runtime/libkfd_shim.so"));
  snprintf(model, sizeof model, "FRONT_EMU_DEVICE=%s", device);
  const char *env[] = {library, path, preload, model, "FRONT_KFD=there", NULL};
  return run_argv((const char *const[]){"rocminfo", NULL}, &(struct run_options){.env = env});
}

/* How often a line of `out` has this word and, behind blanks, this value. */
static int lines(const char *out, const char *word, const char *value) {
  int count = 0;
  for (const char *at = strstr(out, word); at; at = strstr(at + 1, word)) {
    const char *v = at + strlen(word);
    v += strspn(v, " ");
    count += !strncmp(v, value, strlen(value)) && strchr(" (\n", v[strlen(value)]);
  }
  return count;
}

static void rocminfo_lists_a_cpu_and_a_gfx950_with_256_compute_units(void **state) {
  (void)state;
  struct outcome o = rocminfo("");
  assert_code(&o, 0);
  assert_int_equal(lines(o.out, "Device Type:", "CPU"), 1);
  assert_int_equal(lines(o.out, "Device Type:", "GPU"), 1);
  const char *gpu = strstr(o.out, "Agent 2");
  assert_non_null(gpu);
  assert_int_equal(lines(gpu, "Name:", "gfx950"), 1);
  assert_int_equal(lines(gpu, "Compute Unit:", "256"), 1);
  assert_int_equal(lines(gpu, "Name:", "amdgcn-amd-amdhsa--gfx950:sramecc+:xnack-"), 1);
  assert_int_equal(lines(gpu, "Wavefront Size:", "64"), 1);
  assert_int_equal(lines(o.out, "*** Done ***", ""), 1);
  outcome_free(&o);
}

static void a_partitioned_device_shows_as_several_agents(void **state) {
  (void)state;
  struct outcome o = rocminfo("mi300x-cpx");
  assert_code(&o, 0);
  assert_int_equal(lines(o.out, "Device Type:", "GPU"), 8);
  assert_int_equal(lines(o.out, "Compute Unit:", "38"), 8);
  assert_int_equal(lines(o.out, "Name:", "gfx942"), 8);
  outcome_free(&o);
}

static void an_unknown_device_is_an_error_that_names_those_there_are(void **state) {
  (void)state;
  struct outcome o = rocminfo("mi999x");
  assert_int_not_equal(o.code, 0);
  assert_non_null(strstr(o.out, "FRONT_EMU_DEVICE=mi999x: no such device: there are mi355x"));
  outcome_free(&o);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rocminfo_lists_a_cpu_and_a_gfx950_with_256_compute_units),
      cmocka_unit_test(a_partitioned_device_shows_as_several_agents),
      cmocka_unit_test(an_unknown_device_is_an_error_that_names_those_there_are),
  };
  return cmocka_run_group_tests_name("rocminfo", tests, make_shims, NULL);
}
