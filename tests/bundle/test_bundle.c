/* SPDX-License-Identifier: Apache-2.0 */
/* Making bundles: what is in them, what is made anew, what failures and interruptions leave. */
#include "bundle_rig.h"
#include "front.h"
#include "toolchain_config.h"

#include <dlfcn.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void test_shippable(void **state) {
  (void)state;
  struct outcome sums = run_argv((const char *const[]){"sha256sum", "-c", "SHA256SUMS", NULL}, &(struct run_options){.dir = whole});
  assert_code(&sums, 0);
  assert_string_equal(sums.out, FILE_OF(ONE) ": OK\n" FILE_OF(OTHER) ": OK\n");
  outcome_free(&sums);
  assert_int_equal(count_files(whole), 4); /* no litter */
  for (int i = 0; i < 2; i++) {            /* the gates hold on what ships, by the command for it */
    const char *name = i ? OTHER : ONE;
    char file[128];
    snprintf(file, sizeof file, "%s.gfx950.hsaco", name);
    struct outcome o = run(FRONTGEN, "check", path_in(whole, file));
    assert_code(&o, 0);
    size_t gates = 0;
    for (const char *line = o.out; (line = strstr(line, "\n  good  ")); line++, gates++) {
      const char *why = strchr(line + 1, '\n'); /* and each says why it is there */
      assert_int_equal(strncmp(why, "\n        ", 9), 0);
    }
    assert_true(gates > 30);
    assert_non_null(strstr(o.out, ", at most 256; 1 of 1 kernels"));
    outcome_free(&o);
  }
}

static void test_manifest(void **state) {
  (void)state;
  json_error_t why;
  json_t *root = json_load_file(path_in(whole, "manifest.json"), 0, &why), *keys = json_object_get(root, "keys");
  if (!root) fail_msg("manifest.json: %s", why.text);
  assert_int_equal(json_array_size(keys), 2);
  for (size_t i = 0; i < 2; i++) {
    static const char *const strings[] = {"key", "arch", "symbol", "file", "sha256", "llvm", "generator"};
    static const char *const numbers[] = {"size", "vgprs", "sgprs", "lds_bytes", "scratch_bytes", "private_bytes", "kernarg_abi"};
    json_t *key = json_array_get(keys, i), *gates = json_object_get(key, "gates");
    for (size_t k = 0; k < 7; k++) assert_true(json_is_string(json_object_get(key, strings[k])));
    for (size_t k = 0; k < 7; k++) assert_true(json_is_integer(json_object_get(key, numbers[k])));
    assert_string_equal(json_string_value(json_object_get(key, "key")), i ? OTHER : ONE);
    assert_string_equal(json_string_value(json_object_get(key, "symbol")), i ? OTHER : ONE);
    assert_int_equal(json_integer_value(json_object_get(key, "scratch_bytes")), 36864);
    assert_int_equal(json_integer_value(json_object_get(key, "kernarg_bytes")), 216);
    struct stat st;
    assert_int_equal(stat(path_in(whole, json_string_value(json_object_get(key, "file"))), &st), 0);
    assert_int_equal(json_integer_value(json_object_get(key, "size")), st.st_size);
    assert_true(json_array_size(gates) > 25);
    for (size_t g = 0; g < json_array_size(gates); g++) {
      json_t *gate = json_array_get(gates, g);
      assert_true(json_is_true(json_object_get(gate, "good")));
      assert_true(json_is_integer(json_object_get(gate, "examined")));
    }
  }
  json_decref(root);
}

/* The shard's one object and its list say that another LLVM made it. */
static void make_foreign(const char *shard) {
  static const char edit[] = "set -e; export LC_ALL=C; cd \"$1\"; f=$(ls *.hsaco); was=$(sha256sum \"$f\" | cut -c1-64)\n"
                             "v=$(sed -n 's/.*\"llvm\": \"\\([0-9.]*\\)\".*/\\1/p' manifest.json); [ -n \"$v\" ]\n"
                             "sed -i \"s/$v/${v%?}x/g\" \"$f\" manifest.json; is=$(sha256sum \"$f\" | cut -c1-64)\n"
                             "sed -i \"s/$was/$is/\" manifest.json SHA256SUMS; [ $was != $is ]";
  struct outcome o = run("sh", "-c", edit, "sh", shard);
  assert_code(&o, 0);
  outcome_free(&o);
}

/* Shards made elsewhere, with nothing in the environment and a tight umask, are the same bits when they are merged. */
static void test_shards(void **state) {
  (void)state;
  char command[9000], shard[2][512], merged[512];
  const char *dir = temp_dir();
  snprintf(merged, sizeof merged, "%s/merged", dir);
  for (int i = 0; i < 2; i++) {
    snprintf(shard[i], sizeof shard[i], "%s/deep/er/shard%d", dir, i);
    snprintf(command, sizeof command, "umask 0077; cd /; exec env -i PATH=/usr/bin:/bin %s bundle '%s' -o %s --arch gfx950 --shard %d/2",
        FRONTGEN, PATTERN, shard[i], i + 1);
    struct outcome o = run("sh", "-c", command);
    assert_code(&o, 0);
    assert_int_equal(count_files(shard[i]), 3);
    outcome_free(&o);
  }
  struct outcome o = run(FRONTGEN, "merge", shard[1], shard[0], shard[1], "-o", merged);
  assert_code(&o, 0);
  outcome_free(&o);
  assert_same(whole, merged);
  make_foreign(shard[0]);
  o = run(FRONTGEN, "merge", shard[1], shard[0], "-o", merged);
  assert_code(&o, 2);
  assert_non_null(strstr(o.err, "make all shards with one frontgen and one LLVM"));
  outcome_free(&o);
  /* One kernel, two objects: which is right? */
  write_file(path_in(shard[0], "SHA256SUMS"), "", 0);
  o = run(FRONTGEN, "merge", shard[1], shard[0], "-o", merged);
  assert_code(&o, 2);
  outcome_free(&o);
  assert_same(whole, merged);
}

static void test_nothing_to_do(void **state) {
  (void)state;
  struct stat before, after;
  assert_int_equal(stat(path_in(whole, FILE_OF(ONE)), &before), 0);
  struct outcome o = bundle(PATTERN, whole, NULL, NULL);
  assert_code(&o, 0);
  assert_non_null(strstr(o.err, "no work to do"));
  assert_non_null(strstr(o.out, "as before"));
  assert_int_equal(stat(path_in(whole, FILE_OF(ONE)), &after), 0);
  assert_int_equal(before.st_ino, after.st_ino);
  outcome_free(&o);
}

/* Another build of the generator that emits the same IR: emitted again, nothing compiled, nothing checked. */
static void test_same_ir(void **state) {
  (void)state;
  const char *folder = strdup(copy_of(whole)), *program = path_in(temp_dir(), "frontgen");
  struct outcome o = run("cp", FRONTGEN, program);
  assert_code(&o, 0);
  outcome_free(&o);
  o = run(program, "bundle", PATTERN, "-o", folder, "--arch", "gfx950");
  assert_code(&o, 0);
  assert_non_null(strstr(o.err, "] emit"));
  assert_null(strstr(o.err, "] object"));
  assert_null(strstr(o.err, "] check"));
  assert_same(whole, folder);
  outcome_free(&o);
  free((void *)(uintptr_t)folder);
}

/* One kernel's IR changes: that object alone is made anew. */
static void test_one_changes(void **state) {
  (void)state;
  const char *folder = strdup(copy_of(whole));
  size_t bytes;
  char path[4096];
  snprintf(path, sizeof path, "%s", work_of(folder, "ir/" ONE ".gfx950.ll"));
  char *ir = read_file(path, &bytes);
  ir = realloc(ir, bytes + 32);
  assert_non_null(ir);
  strcpy(ir + bytes, "; changed\n");
  write_file(path, ir, strlen(ir));
  free(ir);
  struct outcome o = bundle(PATTERN, folder, NULL, NULL);
  assert_code(&o, 0);
  assert_non_null(strstr(o.err, "] object " ONE));
  assert_null(strstr(o.err, "] object " OTHER));
  outcome_free(&o);
  o = run(FRONTGEN, "diff", whole, folder);
  assert_code(&o, 1); /* the hash in its note */
  assert_non_null(strstr(o.out, "1 the same bytes, 1 other bytes with the same figures, 0 other figures"));
  outcome_free(&o);
  free((void *)(uintptr_t)folder);
}

/* A reviewer's figures: of two kernels that differ, of bundles that do not have the same keys, and for a script. */
static void test_diff(void **state) {
  (void)state;
  struct outcome o = run(FRONTGEN, "diff", path_in(whole, FILE_OF(ONE)), path_in(whole, FILE_OF(OTHER)));
  assert_code(&o, 1);
  assert_non_null(strstr(o.out, FILE_OF(ONE) ":  "));
  assert_non_null(strstr(o.out, "instructions "));
  assert_non_null(strstr(o.out, "1 other figures, 0 only in A, 0 only in B\n"));
  outcome_free(&o);
  o = run(FRONTGEN, "diff", whole, path_in(whole, FILE_OF(OTHER)));
  assert_code(&o, 1);
  assert_non_null(strstr(o.out, FILE_OF(ONE) ": only in A\n1 the same bytes, 0 other bytes"));
  outcome_free(&o);
  o = run(FRONTGEN, "diff", whole, whole, "--json");
  assert_code(&o, 0);
  json_t *rows = json_loads(o.out, 0, NULL), *loads = json_object_get(json_array_get(rows, 1), "loads");
  assert_int_equal(json_array_size(rows), 2);
  assert_true(json_is_true(json_object_get(json_array_get(rows, 0), "same_bytes")));
  assert_int_equal(json_array_size(loads), 2);
  /* as many loads as llvm-objdump shows */
  struct outcome listing = run(OBJDUMP_PATH, "-d", path_in(whole, FILE_OF(OTHER)));
  assert_code(&listing, 0);
  json_int_t seen = 0;
  for (const char *at = listing.out; (at = strstr(at, "\n\tbuffer_load")); at++) seen++;
  assert_true(seen > 50);
  assert_int_equal(json_integer_value(json_array_get(loads, 0)), seen);
  json_decref(rows);
  outcome_free(&listing);
  outcome_free(&o);
}

/* Nothing but code objects and their index ships. */
static void test_embedded_elsewhere(void **state) {
  (void)state;
  struct outcome o = bundle(PATTERN, whole, NULL, (const char *const[3]){"--embed", path_in(whole, "kernels.c"), NULL});
  assert_code(&o, 2);
  assert_non_null(strstr(o.err, "kernels.c stands in the bundle"));
  assert_int_equal(count_files(whole), 4);
  outcome_free(&o);
}

/* A C compiler and the linker take the table, and libfront opens it. */
static void test_embedded(void **state) {
  (void)state;
  const char *folder = strdup(copy_of(whole));
  char source[512], library[512];
  const char *dir = temp_dir();
  snprintf(source, sizeof source, "%s/my-kernels.c", dir);
  snprintf(library, sizeof library, "%s/my-kernels.so", dir);
  struct outcome o = bundle(PATTERN, folder, NULL, (const char *const[3]){"--embed", source, NULL});
  assert_code(&o, 0);
  outcome_free(&o);
  o = run("cc", "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-shared", "-fPIC", "-I", RUNTIME_FOLDER, source, "-o", library);
  assert_code(&o, 0);
  outcome_free(&o);
  void *opened = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  assert_non_null(opened);
  const struct front_embedded *table = dlsym(opened, "my_kernels");
  const size_t *count = dlsym(opened, "my_kernels_count");
  assert_non_null(table);
  assert_int_equal(*count, 2);
  front_bundle embedded;
  assert_int_equal(front_bundle_open_embedded(table, *count, &embedded), FRONT_OK);
  void *image;
  size_t bytes, file_bytes;
  assert_int_equal(front_bundle_read(embedded, OTHER, "gfx950", &image, &bytes), FRONT_OK);
  char *file = read_file(path_in(whole, FILE_OF(OTHER)), &file_bytes);
  assert_int_equal(bytes, file_bytes);
  assert_memory_equal(image, file, bytes);
  free(file);
  free(image);
  assert_int_equal(front_bundle_close(embedded), FRONT_OK);
  dlclose(opened);
  char word[512]; /* a file may have this name, a table may not */
  snprintf(word, sizeof word, "%s/int.c", dir);
  o = bundle(PATTERN, folder, NULL, (const char *const[3]){"--embed", word, NULL});
  assert_code(&o, 0);
  outcome_free(&o);
  o = run("cc", "-fsyntax-only", "-I", RUNTIME_FOLDER, word);
  assert_code(&o, 0);
  outcome_free(&o);
  free((void *)(uintptr_t)folder);
}

/* A gate that fails: the key and the gate are named, the exit code is 1, and what stood there stands. */
static void test_gate(void **state) {
  (void)state;
  const char *folder = strdup(copy_of(whole));
  const char *setting = script("FRONTGEN_OBJDUMP",
      "#!/bin/sh\n\"$REAL_OBJDUMP\" \"$@\" | sed '0,/buffer_load_dwordx4/s/buffer_load_dwordx4\\(.*\\)/buffer_load_dwordx4\\1/;"
      "s/buffer_store_dword \\(.*\\) sc1 /buffer_store_dword \\1 nt sc1 /'\n");
  char real[4096];
  snprintf(real, sizeof real, "REAL_OBJDUMP=%s", OBJDUMP_PATH);
  struct outcome o = run_argv((const char *const[]){FRONTGEN, "bundle", PATTERN, "-o", folder, "--arch", "gfx950", NULL},
      &(struct run_options){.env = (const char *const[]){setting, real, NULL}});
  assert_code(&o, 1);
  const char *line = strstr(o.err, "frontgen: front_s1_tp8_");
  if (!line || !strstr(line, "gate \"")) fail_msg("neither key nor gate is named: %s", o.err);
  outcome_free(&o);
  assert_same(whole, folder);
  free((void *)(uintptr_t)folder);
}

static void test_limits(void **state) {
  (void)state;
  const char *folder = path_in(temp_dir(), "late");
  struct outcome o = bundle("tokens=1,tp=8,ratio=0", folder, script("FRONTGEN_OPT", "#!/bin/sh\nexec sleep 60\n"),
      (const char *const[3]){"--time-limit", "1", NULL});
  assert_code(&o, 3);
  assert_non_null(strstr(o.err, "frontgen: " ONE ": opt took longer than its limit of 1 s"));
  assert_false(file_exists(folder));
  outcome_free(&o);
}

/* Killed while it compiles: the old bundle stands, no process is left, and the next build goes on. */
static void test_killed(void **state) {
  (void)state;
  static const int signals[] = {SIGTERM, SIGKILL};
  const char *folder = strdup(copy_of(whole)), *mark = strdup(path_in(temp_dir(), "mark"));
  char text[4096];
  snprintf(text, sizeof text, "#!/bin/sh\necho $$ >'%s.new'; mv '%s.new' '%s'; exec sleep 1000\n", mark, mark, mark);
  for (size_t i = 0; i < 2; i++) {
    const char *setting = script("FRONTGEN_OPT", text);
    const char *const argv[] = {FRONTGEN, "bundle", PATTERN, "-o", folder, "--arch", "gfx950", NULL};
    pid_t pid = start(argv, setting);
    while (!file_exists(mark)) usleep(10000);
    kill(pid, signals[i]);
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), signals[i]);
    char *tool = read_file(mark, NULL);
    assert_gone(atoi(tool));
    free(tool);
    unlink(mark);
    assert_same(whole, folder);
  }
  make(PATTERN, folder);
  assert_same(whole, folder);
  free((void *)(uintptr_t)mark);
  free((void *)(uintptr_t)folder);
}

/* Where a file system has no exchange of two folders, the bundle is away for a moment: a build that is killed then has not lost it. */
static void test_between_renames(void **state) {
  (void)state;
  const char *folder = strdup(copy_of(whole));
  for (int begun = 1; begun >= 0; begun--) {
    assert_int_equal(rename(folder, work_of(folder, "old.77")), 0);
    if (begun) assert_int_equal(mkdir(work_of(folder, "new.77"), 0777), 0);
    struct outcome o = bundle(PATTERN, folder, "FRONTGEN_NINJA=/nowhere/ninja", NULL);
    assert_code(&o, 3);
    outcome_free(&o);
    if (begun) assert_same(whole, folder);
    assert_int_equal(file_exists(folder), begun); /* else the old one may be half deleted */
    assert_false(file_exists(work_of(folder, "new.77")));
    assert_false(file_exists(work_of(folder, "old.77")));
  }
  free((void *)(uintptr_t)folder);
}

/* A power cut may lose what was written last: the work folder mends itself. */
static void test_lost(void **state) {
  (void)state;
  const char *folder = strdup(copy_of(whole));
  assert_int_equal(truncate(work_of(folder, "obj/" FILE_OF(ONE)), 100), 0);
  struct outcome o = bundle(PATTERN, folder, NULL, NULL);
  assert_code(&o, 2);
  assert_non_null(strstr(o.err, ONE ".gfx950: truncated: "));
  assert_non_null(strstr(o.err, "run this again"));
  outcome_free(&o);
  assert_same(whole, folder);
  make(PATTERN, folder);
  assert_same(whole, folder);
  free((void *)(uintptr_t)folder);
}

/* Two builds of one bundle at once. */
static void test_at_once(void **state) {
  (void)state;
  const char *folder = strdup(path_in(temp_dir(), "both"));
  const char *const argv[] = {FRONTGEN, "bundle", "tokens=1,tp=8,ratio=0", "-o", folder, "--arch", "gfx950", NULL};
  pid_t first = start(argv, "FRONT_UNUSED=1"), second = start(argv, "FRONT_UNUSED=1");
  int a, b;
  assert_int_equal(waitpid(first, &a, 0), first);
  assert_int_equal(waitpid(second, &b, 0), second);
  assert_int_equal(a, 0);
  assert_int_equal(b, 0);
  assert_int_equal(count_files(folder), 3);
  struct outcome o = run("cmp", path_in(folder, FILE_OF(ONE)), path_in(whole, FILE_OF(ONE)));
  assert_code(&o, 0);
  outcome_free(&o);
  free((void *)(uintptr_t)folder);
}

/* Nor one with code objects alone: some other build's. */
static void test_no_index(void **state) {
  (void)state;
  const char *folder = strdup(copy_of(whole));
  assert_int_equal(unlink(path_in(folder, "SHA256SUMS")), 0);
  struct outcome o = bundle("tokens=1,tp=8,ratio=0", folder, NULL, NULL);
  assert_code(&o, 2);
  assert_non_null(strstr(o.err, "no SHA256SUMS"));
  assert_true(file_exists(path_in(folder, FILE_OF(OTHER))));
  outcome_free(&o);
  free((void *)(uintptr_t)folder);
}

/* A folder with a user's files is not replaced. */
static void test_foreign(void **state) {
  (void)state;
  const char *folder = strdup(copy_of(whole));
  write_file(path_in(folder, "notes.txt"), "mine", 4);
  struct outcome o = bundle("tokens=1,tp=8,ratio=0", folder, NULL, NULL);
  assert_code(&o, 2);
  assert_non_null(strstr(o.err, "notes.txt"));
  assert_true(file_exists(path_in(folder, "notes.txt")));
  assert_true(file_exists(path_in(folder, FILE_OF(OTHER))));
  outcome_free(&o);
  free((void *)(uintptr_t)folder);
}

static void test_no_ninja(void **state) {
  (void)state;
  struct outcome o = bundle(PATTERN, path_in(temp_dir(), "b"), "FRONTGEN_NINJA=/nowhere/ninja", NULL);
  assert_code(&o, 3);
  assert_non_null(strstr(o.err, "cannot run ninja (No such file or directory): install ninja-build"));
  outcome_free(&o);
}

int main(int argc, char **argv) {
  const struct CMUnitTest made[] = {
      {"what ships is code objects, an index that sha256sum takes, and no litter; check explains each gate", test_shippable, NULL, NULL,
          NULL},
      {"manifest.json has what builds and people ask for", test_manifest, NULL, NULL, NULL},
      {"shards made elsewhere, in a bare environment, merge to the same bits", test_shards, NULL, NULL, NULL},
      {"a build with nothing to do touches nothing", test_nothing_to_do, NULL, NULL, NULL},
      {"another generator that emits the same IR compiles and checks nothing", test_same_ir, NULL, NULL, NULL},
      {"one changed kernel is made anew, and it alone", test_one_changes, NULL, NULL, NULL},
      {"a C compiler takes the embedded table, and libfront opens it without a file", test_embedded, NULL, NULL, NULL},
      {"the embedded table cannot litter the bundle", test_embedded_elsewhere, NULL, NULL, NULL},
      {"diff counts what llvm-objdump shows", test_diff, NULL, NULL, NULL},
  };
  const struct CMUnitTest safe[] = {
      {"a failing gate fails the bundle, names key and gate, and leaves the old bundle", test_gate, NULL, NULL, NULL},
      {"a compiler that passes its limit is ended, and the key named", test_limits, NULL, NULL, NULL},
      {"a killed build leaves the old bundle, no process, and goes on the next time", test_killed, NULL, NULL, NULL},
      {"a build killed between two renames has not lost the old bundle", test_between_renames, NULL, NULL, NULL},
      {"an object that the disk lost is made again", test_lost, NULL, NULL, NULL},
      {"two builds of one bundle at once both end well", test_at_once, NULL, NULL, NULL},
      {"a folder with other files is not replaced", test_foreign, NULL, NULL, NULL},
      {"a folder of code objects without an index is not replaced", test_no_index, NULL, NULL, NULL},
      {"a missing ninja is named", test_no_ninja, NULL, NULL, NULL},
  };
  if (argc != 2) return 2;
  if (strcmp(argv[1], "make") == 0) return cmocka_run_group_tests_name("make", made, make_whole, NULL);
  return cmocka_run_group_tests_name("safe", safe, make_whole, NULL);
}
