/* SPDX-License-Identifier: Apache-2.0 */
/* What the subcommands of the program share: each takes its own arguments (argv[0] is its name) and returns the exit code. */
#ifndef FRONT_CMD_H
#define FRONT_CMD_H

#include "frontgen.h"

#include <argp.h>

int cmd_emit(int argc, char **argv);
int cmd_build(int argc, char **argv);
int cmd_keys(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_bundle(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_verify(int argc, char **argv);
int cmd_bundle_step(int argc, char **argv); /* for ninja */

/* Prints "frontgen: ..." on standard error and returns `status`. */
int cmd_fail(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes to standard output, in one call where the system lets it. FRONTGEN_GOOD, or says why not. */
int cmd_print(const char *data, size_t bytes);

/* What cmd_parse() collects. */
struct cmd_line {
  const char *arch, *output;
  const char **words; /* in argv's order; free() it */
  size_t count;
  struct frontgen_options options;
  bool save_temps, json;
  uint32_t jobs;          /* 0: one a CPU */
  uint32_t shard, shards; /* shard 1 to shards; 0, 0: all */
  const char *embed, *junit;
};

/* Which options a command has; every one has CMD_HELP. */
enum {
  CMD_ARCH = 1,
  CMD_OUTPUT = 2,
  CMD_JSON = 4,
  CMD_LIMITS = 8,
  CMD_HELP = 16,
  CMD_SAVE_TEMPS = 32,
  CMD_JOBS = 64,
  CMD_SHARD = 128,
  CMD_EMBED = 256,
  CMD_JUNIT = 512,
  CMD_LAUNCH_LIMIT = 1024,
  CMD_BUNDLE_ARCH = 2048, /* they have no default */
  CMD_BUNDLE_OUTPUT = 4096
};

/* Parses a command's line; at least one word, at most `most`. Returns -1 to go on, else the exit code (--help, or a message printed). */
int cmd_parse(int argc, char **argv, int options, const char *words, const char *doc, size_t most, struct cmd_line *line);

/* The keys of a word: a key, a canonical name or a pattern. free(*keys). The exit code, after a message if it is not 0. */
int cmd_expand(const char *word, struct front_key **keys, size_t *count);

/* The keys of all words, before anything is made of them. free(*keys), in both cases. The exit code, likewise. */
int cmd_expand_all(const struct cmd_line *line, struct front_key **keys, size_t *count);

/* mkdir -p. The exit code, likewise. */
int cmd_make_folder(const char *path);

struct bundle_options;
/* Makes the bundle of the line's options and the keys in `o`, and says so on standard output. The exit code, after a message. */
int cmd_make_bundle(const struct cmd_line *line, struct bundle_options *o);

/* The whole file, malloc'd. The exit code, after a message if it is not 0. */
int cmd_read_file(const char *path, char **data, size_t *bytes);

/* The target, gfx950 where none was named; null, after a message, for one that is not there. */
const struct target *cmd_target(const struct cmd_line *line);

/* A word on standard error if none was named. Once the keys are known to be good: a bad key is one line. */
void cmd_say_target(const struct cmd_line *line);

#endif
