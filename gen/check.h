/* SPDX-License-Identifier: Apache-2.0 */
/* The static gates of section 9, on a code object: what its ELF and metadata say, and what its disassembly does. A gate says how much it
   examined and how much there must be: one that finds nothing fails. */
#ifndef FRONT_CHECK_H
#define FRONT_CHECK_H

#include "frontgen.h"

#include <stdio.h>

enum { CHECK_SOME = UINT32_MAX }; /* as an expected count: the plan does not say, but at least one */

enum { CHECK_GATES_MAX = 40, CHECK_MESSAGE_MAX = 240, CHECK_FIGURE_MAX = 64 };

struct check_gate {
  const char *name; /* "issue order" */
  const char *unit; /* what is counted: "accesses" */
  bool good;
  uint32_t examined, expected;
  char figure[CHECK_FIGURE_MAX];   /* what was found: "118 VGPRs, 256 allowed"; "" where the count says it */
  char message[CHECK_MESSAGE_MAX]; /* what is wrong and where; "" if good */
};

struct check_report {
  char kernel[KEY_NAME_MAX]; /* the key's canonical name */
  struct check_gate gate[CHECK_GATES_MAX];
  uint32_t gates, failed;
};

/* Runs every gate on the image of a code object; llvm-objdump (options->objdump, limits; options may be null) disassembles it.
   FRONTGEN_GOOD: all hold. FRONTGEN_GATE: some fail; the report says which, `error` has the first. FRONTGEN_USAGE: no code object of
   ours (see `error`). FRONTGEN_ENVIRONMENT: llvm-objdump fails, or no memory. The report is filled in the first two cases. Thread safe. */
enum frontgen_status check_code_object(
    const void *image, size_t bytes, const struct frontgen_options *options, struct check_report *report, char error[FRONTGEN_ERROR_MAX]);

/* The same of several images with one run of llvm-objdump: each has its own status and error. Not FRONTGEN_GOOD: nothing was checked. */
struct check_image {
  const void *bytes;
  size_t size;
  enum frontgen_status status;
  char error[FRONTGEN_ERROR_MAX];
};
enum { CHECK_IMAGES_MAX = 16 };
enum frontgen_status check_code_objects(struct check_image *image, struct check_report *report, size_t count,
    const struct frontgen_options *options, char error[FRONTGEN_ERROR_MAX]);

/* Why a gate is there: a sentence; null for a name that is none. */
const char *check_why(const char *gate);

/* A gate's verdict, name, figure and examined of expected, the message of a failed one; and below why the gate is there. */
void check_print(const struct check_report *report, FILE *out);

#endif
