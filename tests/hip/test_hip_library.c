/* SPDX-License-Identifier: Apache-2.0 */
/* How libfront finds a HIP library. Each case in a process of its own: a library stays loaded. */
#include "support.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "front_hip.h"

static char fake_path[512], old_path[512];

/* What front_hip_open() did in a child that loads `loaded` first and has FRONT_HIP_LIBRARY as `environment` (both may be null). */
struct opened {
  enum front_status status;
  char text[2048]; /* the library's path, or the error */
};

static void open_here(const char *loaded, const char *environment, const char *option, struct opened *o) {
  const struct front_hip_options options = {sizeof options, option};
  front_hip hip;
  const char *path = "";
  if (loaded && !dlopen(loaded, RTLD_NOW | RTLD_LOCAL)) {
    snprintf(o->text, sizeof o->text, "%s", dlerror());
    o->status = FRONT_ERR_FAULT;
    return;
  }
  if (environment) setenv("FRONT_HIP_LIBRARY", environment, 1);
  o->status = front_hip_open(&options, &hip);
  if (o->status == FRONT_OK) {
    front_hip_library_path(hip, &path);
    snprintf(o->text, sizeof o->text, "%s", path);
    front_hip_close(hip);
  } else {
    snprintf(o->text, sizeof o->text, "%s", front_error());
  }
}

static struct opened open_apart(const char *loaded, const char *environment, const char *option) {
  struct opened o;
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  fflush(NULL);
  pid_t child = fork();
  assert_true(child >= 0);
  if (!child) {
    memset(&o, 0, sizeof o);
    unsetenv("FRONT_HIP_LIBRARY");
    open_here(loaded, environment, option, &o);
    _exit(write(ends[1], &o, sizeof o) == (ssize_t)sizeof o ? 0 : 1);
  }
  close(ends[1]);
  size_t got = 0;
  ssize_t n;
  while ((n = read(ends[0], (char *)&o + got, sizeof o - got)) > 0) got += (size_t)n;
  close(ends[0]);
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  assert_int_equal(got, sizeof o);
  return o;
}

static void says(const struct opened *o, const char *words) {
  if (!strstr(o->text, words)) fail_msg("\"%s\" is not in \"%s\"", words, o->text);
}

static bool same_file(const char *path, const char *other) {
  char *a = realpath(path, NULL), *b = realpath(other, NULL);
  bool same = a && b && !strcmp(a, b);
  free(a);
  free(b);
  return same;
}

static void a_library_that_is_named_is_the_only_one_tried(void **context) {
  (void)context;
  struct opened o = open_apart(NULL, "/no/such/libamdhip64.so.7", NULL);
  assert_int_equal(o.status, FRONT_ERR_LIBRARY);
  says(&o, "/no/such/libamdhip64.so.7: ");
  says(&o, "FRONT_HIP_LIBRARY");
  assert_null(strstr(o.text, "/opt/rocm"));
  assert_null(strchr(o.text, '\n'));
  o = open_apart(NULL, fake_path, NULL);
  assert_int_equal(o.status, FRONT_OK);
  assert_true(same_file(o.text, fake_path));
  o = open_apart(NULL, fake_path, "/no/such/library"); /* the option before the environment */
  assert_int_equal(o.status, FRONT_ERR_LIBRARY);
  says(&o, "/no/such/library: ");
  o = open_apart(fake_path, "", NULL); /* an empty name is none */
  assert_int_equal(o.status, FRONT_OK);
}

static void no_library_is_an_error_that_lists_every_try(void **context) {
  (void)context;
  static const char *const names[] = {"libamdhip64.so.7", "libamdhip64.so.6", "/opt/rocm/lib/libamdhip64.so"};
  struct opened o = open_apart(NULL, NULL, NULL);
  if (o.status == FRONT_OK || o.status == FRONT_ERR_NO_DEVICE || o.status == FRONT_ERR_HIP) return; /* this machine has a HIP */
  assert_int_equal(o.status, FRONT_ERR_LIBRARY);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) says(&o, names[i]);
  assert_null(strchr(o.text, '\n'));
}

static void a_library_of_before_hip_6_is_refused_by_the_function_that_is_missing(void **context) {
  (void)context;
  struct opened o = open_apart(NULL, NULL, old_path);
  assert_int_equal(o.status, FRONT_ERR_LIBRARY);
  says(&o, "has no function hipGetDevicePropertiesR0600");
  says(&o, "HIP 6.0");
}

static void a_copy_that_the_process_has_loaded_is_used_whatever_its_folder(void **context) {
  (void)context;
  struct opened o = open_apart(fake_path, NULL, NULL);
  assert_int_equal(o.status, FRONT_OK);
  assert_true(same_file(o.text, fake_path));
}

static void a_loaded_copy_that_does_not_do_is_not_replaced_by_another(void **context) {
  (void)context;
  const char *copy = path_in(temp_dir(), "libamdhip64.so.5");
  size_t bytes;
  char *image = read_file(old_path, &bytes);
  write_file(copy, image, bytes);
  free(image);
  struct opened o = open_apart(copy, NULL, NULL);
  assert_int_equal(o.status, FRONT_ERR_LIBRARY);
  says(&o, "libamdhip64.so.5: has no function");
  assert_null(strstr(o.text, "so.7"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_library_that_is_named_is_the_only_one_tried),
      cmocka_unit_test(no_library_is_an_error_that_lists_every_try),
      cmocka_unit_test(a_library_of_before_hip_6_is_refused_by_the_function_that_is_missing),
      cmocka_unit_test(a_copy_that_the_process_has_loaded_is_used_whatever_its_folder),
      cmocka_unit_test(a_loaded_copy_that_does_not_do_is_not_replaced_by_another),
  };
  snprintf(fake_path, sizeof fake_path, "%s", built_path("tests/hip/libamdhip64.so.7"));
  snprintf(old_path, sizeof old_path, "%s", built_path("tests/hip/libold_hip.so"));
  return cmocka_run_group_tests(tests, NULL, NULL);
}
