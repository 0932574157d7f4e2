/* SPDX-License-Identifier: Apache-2.0 */
/* The program frontgen: finds the subcommand and hands over. */
#include "cmd.h"
#include "conduct.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct {
  const char *name, *arguments, *does;
  int (*run)(int argc, char **argv);
} commands[] = {
    {"emit", "KEY", "the kernel's LLVM IR, to standard output", cmd_emit},
    {"build", "KEY|PATTERN...", "code objects, into a folder", cmd_build},
    {"keys", "PATTERN...", "the canonical names of a pattern's keys", cmd_keys},
    {"check", "FILE...", "the static gates on code objects", cmd_check},
    {"info", "KEY|FILE", "geometry, LDS, scratch, registers, bytes moved", cmd_info},
    {"bundle", "PATTERN...", "many keys' code objects as one folder, incremental and parallel", cmd_bundle},
    {"merge", "BUNDLE...", "shards of a bundle into one", cmd_merge},
    {"diff", "A B", "registers, code size, loads and waits of two files or bundles", cmd_diff},
    {"verify", "BUNDLE", "a bundle's kernels on the emulator, against the reference", cmd_verify},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

int cmd_fail(int status, const char *format, ...) {
  char line[FRONTGEN_ERROR_MAX + 128];
  va_list args;
  va_start(args, format);
  vsnprintf(line, sizeof line, format, args);
  va_end(args);
  conduct_complain("frontgen", line);
  return status;
}

int cmd_print(const char *data, size_t bytes) {
  for (size_t done = 0; done < bytes;) {
    ssize_t n = write(STDOUT_FILENO, data + done, bytes - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return cmd_fail(FRONTGEN_ENVIRONMENT, "cannot write to standard output: %s: give it a place with room", strerror(errno));
    done += (size_t)n;
  }
  return FRONTGEN_GOOD;
}

static int help(void) {
  char text[2048];
  int n = snprintf(
      text, sizeof text, "Usage: frontgen COMMAND ...\n\nMakes GPU code objects of the fused attention front kernel, offline.\n\n");
  for (size_t i = 0; i < COMMANDS; i++)
    n += snprintf(text + n, sizeof text - (size_t)n, "  %-6s %-16s %s\n", commands[i].name, commands[i].arguments, commands[i].does);
  n += snprintf(text + n, sizeof text - (size_t)n,
      "\n      --help             this text\n      --version          the version\n"
      "\nA KEY is tokens=8,tp=4,ratio=2,window=128,tuned=0 (only tokens is required) or its canonical name,\n"
      "front_s8_tp4_r2_w128_t0. A PATTERN has lists and ranges: tokens=1-48,tp=2|4,tuned=0/1.\n"
      "Exit codes: 0 good, 1 a gate fails, 2 usage, bad key or bad file, 3 environment (no llc, full disk).\n"
      "`frontgen COMMAND --help` says more.\n");
  return cmd_print(text, (size_t)n);
}

static int unknown(const char *name) {
  char list[128] = "";
  for (size_t i = 0; i < COMMANDS; i++) {
    if (i) strcat(list, ", ");
    strcat(list, commands[i].name);
  }
  if (!name) return cmd_fail(FRONTGEN_USAGE, "no command: it is one of %s (see frontgen --help)", list);
  return cmd_fail(FRONTGEN_USAGE, "unknown command \"%.40s\": it is one of %s (see frontgen --help)", name, list);
}

int main(int argc, char **argv) {
  if (!conduct_begin()) return FRONTGEN_ENVIRONMENT;
  if (argc < 2) return unknown(NULL);
  if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) return help();
  if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)
    return cmd_print("frontgen " FRONTGEN_VERSION "\n", strlen("frontgen " FRONTGEN_VERSION "\n"));
  for (size_t i = 0; i < COMMANDS; i++)
    if (strcmp(argv[1], commands[i].name) == 0) return commands[i].run(argc - 1, argv + 1);
  if (strcmp(argv[1], "bundle-step") == 0) return cmd_bundle_step(argc - 1, argv + 1);
  return unknown(argv[1]);
}
