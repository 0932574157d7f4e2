/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of the subcommands, by argp. Errors become our one line and exit code. */
#include "cmd.h"
#include "conduct.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OPT_ARCH = 256, OPT_SAVE_TEMPS, OPT_JSON, OPT_SECONDS, OPT_MEBIBYTES, OPT_SHARD, OPT_EMBED, OPT_JUNIT, OPT_HELP };

struct request {
  struct cmd_line *line;
  int status; /* >= 0: stop with it */
  bool help;
  int stopped; /* where argp gave up */
  size_t most;
  const char *words;
};

static const struct argp_option all_options[] = {
    {"arch", OPT_ARCH, "ARCH", 0, "the GPU: gfx950 (the default)", 0},
    {"arch", OPT_ARCH, "ARCH", 0, "the GPU: gfx950; has to be given", 0},
    {"output", 'o', "DIR", 0, "the folder to write to (made if it is missing; default: here)", 0},
    {"output", 'o', "DIR", 0, "the bundle's folder: made, or replaced if it is a bundle; has to be given", 0},
    {"save-temps", OPT_SAVE_TEMPS, NULL, 0, "keep the IR and what opt and llc made, beside the output", 0},
    {"time-limit", OPT_SECONDS, "SECONDS", 0, "a tool's time limit (default 60)", 0},
    {"time-limit", OPT_SECONDS, "SECONDS", 0, "a launch's time limit (default 600)", 0},
    {"memory-limit", OPT_MEBIBYTES, "MIB", 0, "a tool's memory limit (default 4096)", 0},
    {"json", OPT_JSON, NULL, 0, "as JSON", 0},
    {"jobs", 'j', "N", 0, "how many at once (default: one a CPU)", 0},
    {"shard", OPT_SHARD, "I/N", 0, "only every N-th key, from the I-th on: for build farms; frontgen merge puts shards together", 0},
    {"embed", OPT_EMBED, "FILE.c", 0, "a C file with all code objects, too", 0},
    {"junit", OPT_JUNIT, "FILE.xml", 0, "a JUnit report, too", 0},
    {"help", OPT_HELP, NULL, 0, "this text", 0},
};
static const int needs[] = {CMD_ARCH, CMD_BUNDLE_ARCH, CMD_OUTPUT, CMD_BUNDLE_OUTPUT, CMD_SAVE_TEMPS, CMD_LIMITS, CMD_LAUNCH_LIMIT,
    CMD_LIMITS, CMD_JSON, CMD_JOBS, CMD_SHARD, CMD_EMBED, CMD_JUNIT, CMD_HELP};
enum { OPTIONS = sizeof needs / sizeof *needs };

static bool limit_value(const char *text, uint32_t *value) {
  char *end;
  errno = 0;
  unsigned long v = strtoul(text, &end, 10);
  if (text[0] < '0' || text[0] > '9' || *end || errno || v == 0 || v > 1000000) return false;
  *value = (uint32_t)v;
  return true;
}

static void take_number(struct request *r, const char *name, const char *text, uint32_t *value) {
  if (!limit_value(text, value)) r->status = cmd_fail(FRONTGEN_USAGE, "--%s=%.40s is not a whole number from 1 to 1000000", name, text);
}

static void take_shard(struct request *r, const char *text) {
  char first[16];
  const char *slash = strchr(text, '/');
  size_t length = slash ? (size_t)(slash - text) : sizeof first;
  if (length < sizeof first) snprintf(first, sizeof first, "%.*s", (int)length, text);
  if (length >= sizeof first || !limit_value(first, &r->line->shard) || !limit_value(slash + 1, &r->line->shards) ||
      r->line->shard > r->line->shards)
    r->status = cmd_fail(FRONTGEN_USAGE, "--shard=%.40s is not I/N with I from 1 to N: write, for example, --shard 1/4", text);
}

static void add_word(struct request *r, const char *word) {
  if (r->line->count == r->most) {
    r->status = cmd_fail(FRONTGEN_USAGE, "one argument too many, \"%.80s\": this command takes %s", word, r->words);
    return;
  }
  r->line->words[r->line->count++] = word;
}

static error_t parse_scale(int key, char *arg, struct request *r) {
  switch (key) {
  case OPT_SECONDS:
    take_number(r, "time-limit", arg, &r->line->options.seconds);
    return 0;
  case OPT_MEBIBYTES:
    take_number(r, "memory-limit", arg, &r->line->options.mebibytes);
    return 0;
  case 'j':
    take_number(r, "jobs", arg, &r->line->jobs);
    return 0;
  case OPT_SHARD:
    take_shard(r, arg);
    return 0;
  case OPT_EMBED:
    r->line->embed = arg;
    return 0;
  case OPT_JUNIT:
    r->line->junit = arg;
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

static error_t parse_option(int key, char *arg, struct argp_state *state) {
  struct request *r = state->input;
  if (key == ARGP_KEY_ERROR) r->stopped = state->next;
  if (r->status >= 0) return 0;
  switch (key) {
  case OPT_ARCH:
    r->line->arch = arg;
    return 0;
  case 'o':
    r->line->output = arg;
    return 0;
  case OPT_SAVE_TEMPS:
    r->line->save_temps = true;
    return 0;
  case OPT_JSON:
    r->line->json = true;
    return 0;
  case OPT_HELP:
    r->help = true;
    return 0;
  case ARGP_KEY_ARG:
    add_word(r, arg);
    return 0;
  default:
    return parse_scale(key, arg, r);
  }
}

static int print_help(const struct argp *argp, char *name) {
  argp_help(argp, stdout, ARGP_HELP_SHORT_USAGE | ARGP_HELP_LONG | ARGP_HELP_DOC, name);
  if (fflush(stdout) == 0 && !ferror(stdout)) return FRONTGEN_GOOD;
  return cmd_fail(FRONTGEN_ENVIRONMENT, "cannot write to standard output: %s: give it a place with room", strerror(errno));
}

/* argp's own messages are two lines. */
static int bad_option(int argc, char **argv, int stopped) {
  return cmd_fail(FRONTGEN_USAGE, "\"%.80s\" is no option of this command, or lacks its value: see %s --help",
      conduct_bad_option(argc, argv, stopped), argv[0]);
}

int cmd_parse(int argc, char **argv, int options, const char *words, const char *doc, size_t most, struct cmd_line *line) {
  struct argp_option mine[OPTIONS + 1] = {0};
  struct argp argp = {.options = mine, .parser = parse_option, .args_doc = words, .doc = doc};
  struct request r = {.line = line, .status = -1, .most = most, .words = words};
  char name[32], *own_name = argv[0];
  for (size_t i = 0, n = 0; i < OPTIONS; i++)
    if (needs[i] & (options | CMD_HELP)) mine[n++] = all_options[i];
  memset(line, 0, sizeof *line);
  line->words = calloc((size_t)argc, sizeof *line->words);
  if (!line->words) return cmd_fail(FRONTGEN_ENVIRONMENT, "out of memory");
  snprintf(name, sizeof name, "frontgen %s", argv[0]);
  argv[0] = name;
  if (argp_parse(&argp, argc, argv, ARGP_NO_HELP | ARGP_NO_ERRS, NULL, &r) != 0)
    r.status = bad_option(argc, argv, r.stopped);
  else if (r.help)
    r.status = print_help(&argp, name);
  else if (r.status < 0 && line->count == 0)
    r.status = cmd_fail(FRONTGEN_USAGE, "an argument is missing: %s takes %s", name, words);
  argv[0] = own_name;
  if (r.status >= 0) free(line->words);
  return r.status;
}

const struct target *cmd_target(const struct cmd_line *line) {
  if (!line->arch) return &target_gfx950;
  const struct target *target = target_by_name(line->arch);
  if (!target) cmd_fail(FRONTGEN_USAGE, "--arch %.40s is not in this version: gfx950 is", line->arch);
  return target;
}

void cmd_say_target(const struct cmd_line *line) {
  if (!line->arch) fprintf(stderr, "frontgen: for gfx950 (no --arch)\n");
}
