/* SPDX-License-Identifier: Apache-2.0 */
/* What tests of every part need: programs run without a shell, files, temporary folders, IR and assembly made into code objects.
   A call that cannot do its work fails the running cmocka test with the reason; nothing here returns an error. Not for threads. */
#ifndef FRONT_TESTS_SUPPORT_H
#define FRONT_TESTS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* cmocka does not say that fail() comes back no more. */
void _fail(const char *const file, const int line) __attribute__((noreturn));

/* What a program did. `out` and `err` have a 0 behind their last byte. Free with outcome_free(). */
struct outcome {
  int code; /* exit code, or 128 + signal */
  char *out, *err;
  size_t out_bytes, err_bytes;
};

struct run_options {
  const char *dir;        /* working directory; null: the test's */
  const char *const *env; /* null-terminated "NAME=value" (or "NAME" to unset), on top of the test's environment; may be null */
  const void *input;      /* the program's stdin; null: empty */
  size_t input_bytes;
};

/* Runs argv (null-terminated; argv[0] is a path, or a name looked up in PATH) to its end. `options` may be null. */
struct outcome run_argv(const char *const argv[], const struct run_options *options);

/* run("frontgen path", "emit", "tokens=8"): the same with arguments in place. */
#define run(...) run_argv((const char *const[]){__VA_ARGS__, NULL}, NULL)

void outcome_free(struct outcome *o);

/* Fails the test, showing stderr, unless the program ended with `code`. */
void assert_code(const struct outcome *o, int code);

/* The path of a program of this build, by its folder and name: built_path("gen/frontgen"). Static storage, until the 8th next call. */
const char *built_path(const char *folder_and_name);

/* The path of a file of the source tree, likewise: source_path("tests/figures.tsv"). */
const char *source_path(const char *name);

/* A fresh empty folder, removed with all that is in it when the test program ends. Static storage for the program's life. */
const char *temp_dir(void);

/* dir/name. Static storage, until the 8th next call of any function here that returns a path. */
const char *path_in(const char *dir, const char *name);

/* The whole file, malloc'd, with a 0 behind its last byte. `bytes` may be null. */
char *read_file(const char *path, size_t *bytes);
void write_file(const char *path, const void *data, size_t bytes);
bool file_exists(const char *path);

/* Number of entries of a folder, "." and ".." excluded. */
size_t count_files(const char *dir);

/* LLVM IR text -> linked code object for `cpu` ("gfx950"), by the build's llc and ld.lld: malloc'd bytes. `optimise`: through opt -O3
   first. Extra llc flags may follow in `llc_flags` (null-terminated, may be null). */
void *ir_to_code_object(const char *ir, const char *cpu, bool optimise, const char *const *llc_flags, size_t *bytes);

/* AMDGPU assembly text (with its .amdhsa_kernel block) -> linked code object, by llvm-mc and ld.lld: malloc'd bytes. */
void *assembly_to_code_object(const char *assembly, const char *cpu, size_t *bytes);

/* LLVM IR text -> the path of a shared library for this machine, by clang -O1, -ffp-contract=off: for dlopen(). Static storage, until the
 * 8th next call. */
const char *ir_to_host_library(const char *ir);

#endif
