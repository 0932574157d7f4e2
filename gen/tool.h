/* SPDX-License-Identifier: Apache-2.0 */
/* Runs one of LLVM's programs: no shell, files in memory, limits on time and memory, its complaint in our error. */
#ifndef FRONT_TOOL_H
#define FRONT_TOOL_H

#include <spawn.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "frontgen.h"

enum tool { TOOL_OPT, TOOL_LLC, TOOL_LLD, TOOL_OBJDUMP, TOOLS };

/* A file in memory that tools can open as tool_file_path(): -1 if there can be none. Close it. `data` may be null: an empty file. */
int tool_file(const void *data, size_t bytes);

enum { TOOL_PATH_MAX = 32 };
/* The name under which a tool that was given `file` in `files` opens it. */
void tool_file_path(int file, char path[TOOL_PATH_MAX]);

/* The whole contents, malloc'd, with a zero byte behind; null without memory. */
char *tool_file_read(int file, size_t *bytes);

/* Its last line, cut to `room`, without the newline and without `prefix`; "" if there is none. */
void tool_file_last_line(int file, const char *prefix, char *line, size_t room);

/* Runs the tool with arguments (null-terminated, without argv[0]), standard input `input` (from its start; -1: none), standard output
   `output` (-1: thrown away), and `files` (`count` of them) open for it by path. Waits for it.
   FRONTGEN_ENVIRONMENT if it is missing, fails, or passes a limit. Thread safe. */
enum frontgen_status tool_run(enum tool tool, const char *const *arguments, int input, int output, const int *files, size_t count,
    const struct frontgen_options *options, char error[FRONTGEN_ERROR_MAX]);

/* LLVM's version as llc prints it, e.g. "22.1.8"; asked once a process and llc. FRONTGEN_ENVIRONMENT below version 22. */
enum frontgen_status tool_llvm_version(const struct frontgen_options *options, char version[32], char error[FRONTGEN_ERROR_MAX]);

/* The same from bitcode that opt has just made, which costs no process: opt and llc as they were found at build time are of one LLVM.
   Where the user named another, llc is asked. */
enum frontgen_status tool_bitcode_version(
    const void *bitcode, size_t bytes, const struct frontgen_options *options, char version[32], char error[FRONTGEN_ERROR_MAX]);

/* The program that is run: as named by the options or the environment, else as found at build time. */
const char *tool_program(enum tool tool, const struct frontgen_options *options);

/* The name that the user gave it, or null; and the environment variable that gives it. */
const char *tool_named(enum tool tool, const struct frontgen_options *options);
const char *tool_variable(enum tool tool);

/* Starts a program of ours and notes it in *noted for its caller's interrupt, which finds it noted, or not started. 0, or an errno. */
int tool_spawn_noted(const char *path, const posix_spawn_file_actions_t *actions, const char *const *argv, _Atomic pid_t *noted);

/* Kills what tool_run() runs. Async-signal-safe. */
void tool_interrupt(void);

#endif
