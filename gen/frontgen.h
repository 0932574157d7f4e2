/* SPDX-License-Identifier: Apache-2.0 */
/* The public API of libfrontgen: layer key -> plan -> LLVM IR -> code object. It emits in-process and runs opt, llc and ld.lld
   as programs; no file but the one asked for is ever made, and that one appears whole or not at all.

   Threads: every function may be called from any thread; options are only read. Errors: a status (also the exit code of a program
   that fails for this reason) and one sentence in `error`: what, why, what to do. After a failure nothing is owed to free(). */
#ifndef FRONTGEN_H
#define FRONTGEN_H

#include "plan.h"

enum frontgen_status {
  FRONTGEN_GOOD = 0,
  FRONTGEN_GATE = 1,        /* the code object breaks a rule that is checked at build time */
  FRONTGEN_USAGE = 2,       /* bad key, bad target, bad file, output that cannot be written */
  FRONTGEN_ENVIRONMENT = 3, /* a tool is missing, fails, or passes its time or memory limit; no memory */
};

enum { FRONTGEN_ERROR_MAX = 640 };

/* Zero-initialise; every 0 or null means the default. Strings are borrowed for the call. */
struct frontgen_options {
  const char *opt, *llc, *lld, *objdump; /* programs. Default: $FRONTGEN_OPT, _LLC, _LLD, _OBJDUMP, else those found at build time */
  uint32_t seconds;                      /* a tool's time limit. Default 60 */
  uint32_t mebibytes;                    /* a tool's memory (address space) limit. Default 4096 */
  bool no_gates;                         /* leave the static gates out: for tests that plant faults */
  const char *save_temps;                /* a folder for NAME.ARCH.{ll,bc,o,note.o}; null: none */
};

/* Parses "tokens=8,tp=4" or a canonical name (front_s8_tp4_r2_w128_t0) and plans it for `arch` ("gfx950").
   FRONTGEN_USAGE for a bad key or target. */
enum frontgen_status frontgen_plan(const char *key, const char *arch, struct plan *plan, char error[FRONTGEN_ERROR_MAX]);

/* The module as LLVM IR text: *text is malloc'd, *bytes long (and null-terminated behind that); the caller frees it. */
enum frontgen_status frontgen_emit(const struct plan *plan, char **text, size_t *bytes, char error[FRONTGEN_ERROR_MAX]);

/* Compiles IR text that is to stand for `plan`'s kernel: opt, llc, our note, ld.lld, the gates. *object is malloc'd, the caller
   frees it. options may be null. The bytes depend on the text, the plan and the LLVM version only. */
enum frontgen_status frontgen_compile_ir(const char *text, size_t bytes, const struct plan *plan, const struct frontgen_options *options,
    void **object, size_t *object_bytes, char error[FRONTGEN_ERROR_MAX]);

/* frontgen_emit() and frontgen_compile_ir(). */
enum frontgen_status frontgen_build(
    const struct plan *plan, const struct frontgen_options *options, void **object, size_t *object_bytes, char error[FRONTGEN_ERROR_MAX]);

/* frontgen_build() to a file. It is written under a temporary name beside `path` and renamed. */
enum frontgen_status frontgen_build_file(
    const struct plan *plan, const struct frontgen_options *options, const char *path, char error[FRONTGEN_ERROR_MAX]);

/* "front_s8_tp4_r2_w128_t0.gfx950.hsaco" */
void frontgen_file_name(const struct plan *plan, char name[KEY_NAME_MAX + 32]);

/* Kills the tools that run and removes the temporary files that there are, of all threads. Async-signal-safe: for a handler of SIGINT
   or SIGTERM, which should then restore the default action and raise the signal again. */
void frontgen_interrupt(void);

#endif
