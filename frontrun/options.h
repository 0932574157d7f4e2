/* SPDX-License-Identifier: Apache-2.0 */
/* frontrun's command line. */
#ifndef FRONT_RUN_OPTIONS_H
#define FRONT_RUN_OPTIONS_H

#include "session.h"
#include "strict_launch.h"

struct run_options {
  const char *what; /* KEY or FILE */
  const char *key;  /* --key */
  const char *arch; /* --arch; null: gfx950, and say so */
  enum run_device device;
  uint64_t seed;
  uint32_t rank;
  enum input_case which;
  const char *input, *dump;
  uint32_t repeat;
  bool has_epoch;
  uint32_t epoch;
  bool prefill_tag;
  bool traffic;
  bool json;
  bool strict;
  uint64_t schedule;  /* the first one */
  uint32_t schedules; /* 0: not said, one */
  enum hsa_emu_l2 l2;
  bool timing;        /* tables of stages and workgroups */
  bool workgroups;    /* all of them in its table */
  const char *trace;  /* --trace */
  uint32_t threads;   /* of the comparison; 0: one a CPU */
  bool accept;        /* --accept: micro-tests and every kernel of the bundle */
  const char *report; /* --report; null: acceptance.json */
  const char *micro;  /* --micro, for tests: a code object with other micro-kernels */
  double timeout;     /* seconds; 0: the device's default */
};

/* Parses; on a usage error prints one line and ends the program with RUN_USAGE. */
struct run_options options_parse(int argc, char **argv);

#endif
