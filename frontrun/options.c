/* SPDX-License-Identifier: Apache-2.0 */
/* frontrun's command line, by argp. */
#include "options.h"
#include "conduct.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  OPTION_KEY = 256,
  OPTION_ARCH,
  OPTION_DEVICE,
  OPTION_SEED,
  OPTION_RANK,
  OPTION_CASE,
  OPTION_INPUT,
  OPTION_DUMP,
  OPTION_REPEAT,
  OPTION_EPOCH,
  OPTION_PREFILL,
  OPTION_NO_TRAFFIC,
  OPTION_TIMING,
  OPTION_WORKGROUPS,
  OPTION_TRACE,
  OPTION_STRICT,
  OPTION_SEEDS,
  OPTION_SCHEDULE,
  OPTION_L2,
  OPTION_JSON,
  OPTION_THREADS,
  OPTION_TIMEOUT,
  OPTION_ACCEPT,
  OPTION_REPORT,
  OPTION_MICRO,
  OPTION_HELP,
  OPTION_VERSION
};

static const struct argp_option options[] = {
    {"key", OPTION_KEY, "KEY", 0, "what a FILE without frontgen's note is", 0},
    {"arch", OPTION_ARCH, "ARCH", 0, "gfx950 (the default)", 0},
    {"device", OPTION_DEVICE, "WHICH", 0, "auto (the default: a GPU if there is one, else the emulator), gpu or emulator", 0},
    {"seed", OPTION_SEED, "N", 0, "of the inputs; default 1", 0},
    {"rank", OPTION_RANK, "R", 0, "the tensor-parallel rank whose weights are drawn, 0 to tp - 1; default 0", 0},
    {"case", OPTION_CASE, "NAME", 0, "default, zero, largest, denormal, nan, inf, allpad, nopad or far: what the inputs drawn are like", 0},
    {"input", OPTION_INPUT, "FILE", 0, "safetensors: arguments that are not drawn", 0},
    {"dump", OPTION_DUMP, "FILE", 0, "writes inputs, outputs and scratch of the last launch as safetensors", 0},
    {"repeat", OPTION_REPEAT, "N", 0, "N launches on the same scratch, each with the next seed; default 1", 0},
    {"epoch", OPTION_EPOCH, "N", 0, "the scratch's first epoch; default: from the seed", 0},
    {"prefill-tag", OPTION_PREFILL, NULL, 0, "fills the scratch with wrong values under the previous launch's tag", 0},
    {"no-traffic", OPTION_NO_TRAFFIC, NULL, 0, "does not count traffic by argument (emulator)", 0},
    {"timing", OPTION_TIMING, NULL, 0, "shows instructions, bytes and waits by stage and by workgroup (emulator)", 0},
    {"workgroups", OPTION_WORKGROUPS, NULL, 0, "timing: a row for every workgroup, not only for the busiest and those that waited most", 0},
    {"trace", OPTION_TRACE, "FILE", 0, "writes them as a trace for ui.perfetto.dev or chrome://tracing (emulator)", 0},
    {"strict", OPTION_STRICT, NULL, 0,
        "the emulator's strict mode: stores as late, caches as stale, schedules as odd as may be; findings: exit code 4", 0},
    {"seeds", OPTION_SEEDS, "N", 0, "strict: each launch under N schedules; default 1", 0},
    {"schedule", OPTION_SCHEDULE, "N", 0, "strict: the first schedule's number, on which all else depends but inputs; default 0", 0},
    {"l2", OPTION_L2, "POLICY", 0, "strict: noncoherent (the default) or probed", 0},
    {"threads", OPTION_THREADS, "N", 0, "of the comparison; default: one a CPU", 0},
    {"timeout", OPTION_TIMEOUT, "SECONDS", 0, "of a launch; default 10 on a GPU, 600 on the emulator", 0},
    {"json", OPTION_JSON, NULL, 0, "prints JSON instead of tables", 0},
    {"accept", OPTION_ACCEPT, NULL, 0, "tests what the kernels take for granted of the hardware, then every kernel of a BUNDLE", 0},
    {"report", OPTION_REPORT, "FILE", 0, "accept: where the report goes, as JSON; default acceptance.json", 0},
    {"micro", OPTION_MICRO, "FILE", OPTION_HIDDEN, NULL, 0},
    {"help", OPTION_HELP, NULL, 0, "this text", 0},
    {"version", OPTION_VERSION, NULL, 0, "the version", 0},
    {0},
};

static void refuse_value(const struct argp_state *state, const char *what, const char *value, const char *allowed) {
  char text[512];
  snprintf(text, sizeof text, "%s \"%.200s\": %s", what, value, allowed);
  conduct_complain("frontrun", text);
  (void)state;
  exit(RUN_USAGE);
}

/* What was asked for is on standard output, and there is nothing else to do. */
static void end_printed(void) {
  if (fflush(stdout) == 0 && !ferror(stdout)) exit(RUN_GOOD);
  conduct_complain("frontrun", "cannot write to standard output: give it a place with room");
  exit(RUN_ENVIRONMENT);
}

static void print_help(const struct argp_state *state) {
  argp_help(state->root_argp, stdout, ARGP_HELP_SHORT_USAGE | ARGP_HELP_LONG | ARGP_HELP_DOC, state->name);
  end_printed();
}

static uint64_t parse_number(const struct argp_state *state, const char *what, const char *text, uint64_t lowest, uint64_t highest) {
  char *end, allowed[96];
  errno = 0;
  unsigned long long value = strtoull(text, &end, strncmp(text, "0x", 2) == 0 ? 16 : 10);
  snprintf(allowed, sizeof allowed, "a number from %llu to %llu is needed", (unsigned long long)lowest, (unsigned long long)highest);
  if (*text < '0' || *text > '9' || *end || errno || value < lowest || value > highest) refuse_value(state, what, text, allowed);
  return value;
}

static double parse_seconds(const struct argp_state *state, const char *text) {
  char *end;
  double value = strtod(text, &end);
  if (end == text || *end || !(value > 0) || value > 1e6)
    refuse_value(state, "--timeout", text, "seconds above 0, up to 1000000, are needed");
  return value;
}

static enum run_device parse_device(const struct argp_state *state, const char *text) {
  static const char *const names[] = {"auto", "gpu", "emulator"};
  for (unsigned i = 0; i < 3; i++)
    if (!strcmp(text, names[i])) return (enum run_device)i;
  refuse_value(state, "--device", text, "auto, gpu or emulator is needed");
  return DEVICE_AUTO;
}

static enum hsa_emu_l2 parse_l2(const struct argp_state *state, const char *text) {
  if (!strcmp(text, "noncoherent")) return HSA_EMU_L2_NONCOHERENT;
  if (strcmp(text, "probed") != 0) refuse_value(state, "--l2", text, "noncoherent or probed is needed");
  return HSA_EMU_L2_PROBED;
}

static enum input_case parse_case(const struct argp_state *state, const char *text) {
  enum input_case which = input_case_by_name(text);
  if (which == INPUT_CASES)
    refuse_value(state, "--case", text, "default, zero, largest, denormal, nan, inf, allpad, nopad or far is needed");
  return which;
}

/* What the other takers leave. */
static error_t take_rest(int key, char *arg, struct run_options *run) {
  switch (key) {
  case OPTION_TIMING:
    run->timing = true;
    return 0;
  case OPTION_WORKGROUPS:
    run->workgroups = true;
    return 0;
  case OPTION_TRACE:
    run->trace = arg;
    return 0;
  case OPTION_ACCEPT:
    run->accept = true;
    return 0;
  case OPTION_REPORT:
    run->report = arg;
    return 0;
  case OPTION_MICRO:
    run->micro = arg;
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

static error_t take_number(int key, char *arg, struct argp_state *state, struct run_options *run) {
  switch (key) {
  case OPTION_SEED:
    run->seed = parse_number(state, "--seed", arg, 0, UINT64_MAX);
    break;
  case OPTION_RANK:
    run->rank = (uint32_t)parse_number(state, "--rank", arg, 0, 7);
    break;
  case OPTION_REPEAT:
    run->repeat = (uint32_t)parse_number(state, "--repeat", arg, 1, 1000000);
    break;
  case OPTION_SEEDS:
    run->schedules = (uint32_t)parse_number(state, "--seeds", arg, 1, 1000000);
    break;
  case OPTION_SCHEDULE:
    run->schedule = parse_number(state, "--schedule", arg, 0, UINT64_MAX);
    break;
  case OPTION_THREADS:
    run->threads = (uint32_t)parse_number(state, "--threads", arg, 1, 1024);
    break;
  case OPTION_TIMEOUT:
    run->timeout = parse_seconds(state, arg);
    break;
  case OPTION_EPOCH:
    run->epoch = (uint32_t)parse_number(state, "--epoch", arg, 0, UINT32_MAX);
    run->has_epoch = true;
    break;
  default:
    return take_rest(key, arg, run);
  }
  return 0;
}

static void end(const char *why) {
  conduct_complain("frontrun", why);
  exit(RUN_USAGE);
}

/* An acceptance run makes each kernel's options itself. */
static bool has_launch_option(const struct run_options *run) {
  return run->key || run->arch || run->seed != 1 || run->rank || run->which != CASE_DEFAULT || run->input || run->dump ||
         run->repeat != 1 || run->has_epoch || run->prefill_tag || !run->traffic || run->json || run->strict || run->timing || run->trace ||
         run->threads || run->timeout > 0;
}

/* What is wrong only beside something else. */
static void check_together(const struct run_options *run) {
  if (!run->what) end("no KEY or FILE: name a kernel, such as tokens=8,tp=4 (--help lists the options)");
  if (!run->strict && (run->schedules || run->schedule || run->l2)) end("--seeds, --schedule and --l2 are strict mode's: say --strict too");
  if (run->workgroups && !run->timing) end("--workgroups are rows of --timing's table: say --timing too");
  if (run->accept && has_launch_option(run)) end("--accept decides on the rest itself: leave all but --device and --report out");
  if (run->report && !run->accept) end("--report is where --accept writes: say --accept too, or --json for one kernel");
  if (run->strict && (run->timing || run->trace)) end("--timing and --trace show no strict launch: leave --strict out");
  if (run->strict && run->device == DEVICE_GPU) end("--strict is the emulator's: leave --device gpu out");
}

static error_t take(int key, char *arg, struct argp_state *state) {
  struct run_options *run = state->input;
  switch (key) {
  case OPTION_KEY:
    run->key = arg;
    return 0;
  case OPTION_ARCH:
    run->arch = arg;
    return 0;
  case OPTION_DEVICE:
    run->device = parse_device(state, arg);
    return 0;
  case OPTION_CASE:
    run->which = parse_case(state, arg);
    return 0;
  case OPTION_INPUT:
    run->input = arg;
    return 0;
  case OPTION_DUMP:
    run->dump = arg;
    return 0;
  case OPTION_PREFILL:
    run->prefill_tag = true;
    return 0;
  case OPTION_NO_TRAFFIC:
    run->traffic = false;
    return 0;
  case OPTION_JSON:
    run->json = true;
    return 0;
  case OPTION_STRICT:
    run->strict = true;
    return 0;
  case OPTION_HELP:
    print_help(state);
    return 0;
  case OPTION_VERSION:
    puts("frontrun " FRONTGEN_VERSION);
    end_printed();
    return 0;
  case OPTION_L2:
    run->l2 = parse_l2(state, arg);
    return 0;
  case ARGP_KEY_ARG:
    if (run->what) refuse_value(state, "argument", arg, "one KEY or FILE is enough");
    run->what = arg;
    return 0;
  case ARGP_KEY_END:
    check_together(run);
    return 0;
  case ARGP_KEY_ERROR: /* argp's own message would be two lines */
    refuse_value(
        state, "argument", conduct_bad_option(state->argc, state->argv, state->next), "no option, or it lacks its value (see --help)");
    return 0;
  default:
    return take_number(key, arg, state, run);
  }
}

struct run_options options_parse(int argc, char **argv) {
  struct run_options run = {.seed = 1, .repeat = 1, .traffic = true, .which = CASE_DEFAULT};
  static const struct argp argp = {options, take, "KEY|FILE|BUNDLE",
      "Runs a front kernel on a GPU or the emulator and compares every stage with the reference.\v"
      "KEY is tokens=8,tp=4,ratio=2,window=128,tuned=0 or a canonical name; FILE is a code object, BUNDLE a folder of them. Exit codes: 0 "
      "good, 1 "
      "results differ or a gate fails, 2 usage, bad key or bad file, 3 environment (no llc, no device), 4 fault or timeout.",
      NULL, NULL, NULL};
  if (argp_parse(&argp, argc, argv, ARGP_NO_HELP | ARGP_NO_ERRS, NULL, &run) != 0) exit(RUN_USAGE);
  return run;
}
