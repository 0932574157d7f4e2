/* SPDX-License-Identifier: Apache-2.0 */
/* The whole acceptance run, and its report. A kernel of the bundle runs in a process of its own: a fault is that kernel's alone. */
#include "accept.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "accept_object.h"
#include "conduct.h"
#include "front.h"
#include "output.h"
#include "sha256.h"
#include "tool.h"

struct acceptance {
  const struct run_options *options;
  json_t *root, *facts, *kernels;
  uint32_t wrong, runs;    /* runs: facts and kernels */
  bool answered, hardware; /* answered: some device took a micro-test */
  enum run_code worst;
  char *error; /* the first */
};

static void note_fault(struct acceptance *a, enum run_code code, const char *text) {
  if (a->worst == RUN_GOOD) snprintf(a->error, RUN_ERROR_MAX, "%.2000s", text);
  if (code > a->worst) a->worst = code;
  a->wrong++;
}

static void add_fact(struct acceptance *a, const struct accept_fact *f, enum run_code code, const char *error) {
  const char *verdict = code == RUN_ENVIRONMENT ? "not run"
                        : code != RUN_GOOD      ? "FAULT"
                        : !f->good              ? "WRONG"
                        : a->hardware           ? "good"
                                                : "as modelled";
  a->runs++;
  a->answered |= code != RUN_ENVIRONMENT;
  printf("  %-20s %10llu %8llu  %-12s %s\n", f->name, (unsigned long long)f->examined, (unsigned long long)f->wrong, verdict,
      code != RUN_GOOD ? error : f->detail);
  json_array_append_new(
      a->facts, json_pack("{s:s, s:s, s:I, s:I, s:b, s:s, s:s, s:b}", "fact", f->name, "question", f->question, "examined",
                    (json_int_t)f->examined, "wrong", (json_int_t)f->wrong, "good", code == RUN_GOOD && f->good, "detail", f->detail,
                    "fault", code == RUN_GOOD ? "" : error, "hardware", a->hardware));
  char text[RUN_ERROR_MAX];
  snprintf(text, sizeof text, "%s: %.1000s", f->name, code != RUN_GOOD ? error : f->detail);
  if (code != RUN_GOOD || !f->good) note_fault(a, code == RUN_GOOD ? RUN_DIFFERS : code, text);
}

static const char *kind(const struct acceptance *a, const char *hardware) {
  return !a->answered ? "nothing" : a->hardware ? hardware : "emulator";
}

/* The micro-kernels: those of this program, or a file's (for tests). */
static enum run_code run_facts(struct acceptance *a) {
  const void *object = accept_object;
  size_t bytes = accept_object_bytes;
  void *owned = NULL;
  struct front_device_info device = {0};
  if (a->options->micro) {
    FILE *in = fopen(a->options->micro, "rb");
    owned = malloc(1 << 20);
    bytes = in && owned ? fread(owned, 1, 1 << 20, in) : 0;
    if (in) fclose(in);
    object = owned;
  }
  printf("facts                    examined    wrong  verdict\n");
  for (unsigned i = 0; i < ACCEPT_FACTS; i++) {
    struct accept_fact found;
    char error[RUN_ERROR_MAX] = "";
    enum run_code code = accept_fact_run(a->options, object, bytes, i, &found, &a->hardware, &device, error);
    add_fact(a, &found, code, error);
    if (code == RUN_ENVIRONMENT) break; /* no device: nothing else will run */
    fflush(stdout);
  }
  free(owned);
  json_object_set_new(a->root, "device",
      json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:s}", "name", device.name, "isa", device.isa, "product", device.product, "uuid",
          device.uuid, "pci", device.pci, "compute_units", (json_int_t)device.compute_units, "kind", kind(a, "gpu")));
  return a->worst == RUN_ENVIRONMENT ? RUN_ENVIRONMENT : RUN_GOOD;
}

static _Atomic pid_t kernel_process; /* 0: none */

/* An interrupt leaves no kernel on the GPU. */
static void end_kernel(void) {
  pid_t pid = atomic_load(&kernel_process);
  if (pid > 0) kill(pid, SIGKILL);
}

/* This program on one kernel; its JSON, or null, and the last line of what it complained of. */
static json_t *run_kernel(const struct acceptance *a, const struct front_bundle_entry *entry, int *code, char complaint[RUN_ERROR_MAX]) {
  static const char *const devices[] = {"auto", "gpu", "emulator"};
  const char *argv[] = {
      "frontrun", a->options->what, "--key", entry->name, "--arch", entry->arch, "--device", devices[a->options->device], "--json", NULL};
  int out = tool_file(NULL, 0), complaints = tool_file(NULL, 0), status = -1, why = ENOMEM;
  posix_spawn_file_actions_t actions;
  *code = RUN_ENVIRONMENT;
  *complaint = 0;
  if (out >= 0 && complaints >= 0 && posix_spawn_file_actions_init(&actions) == 0) {
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, complaints, STDERR_FILENO);
    why = tool_spawn_noted("/proc/self/exe", &actions, argv, &kernel_process);
    posix_spawn_file_actions_destroy(&actions);
  }
  while (!why && waitpid(kernel_process, &status, 0) < 0 && errno == EINTR) continue;
  atomic_store(&kernel_process, 0);
  size_t bytes;
  char *text = why ? NULL : tool_file_read(out, &bytes);
  if (!why) tool_file_last_line(complaints, "frontrun: ", complaint, RUN_ERROR_MAX);
  if (out >= 0) close(out);
  if (complaints >= 0) close(complaints);
  if (!why) *code = WIFEXITED(status) ? WEXITSTATUS(status) : RUN_FAULT;
  json_t *json = text ? json_loads(text, 0, NULL) : NULL;
  free(text);
  return json;
}

static enum run_code code_of(int code) { return code >= RUN_GOOD && code <= RUN_FAULT ? (enum run_code)code : RUN_FAULT; }

static void add_kernel(struct acceptance *a, const struct front_bundle_entry *entry) {
  int code;
  char text[RUN_ERROR_MAX], complaint[RUN_ERROR_MAX];
  json_t *json = run_kernel(a, entry, &code, complaint);
  const char *error = json_string_value(json_object_get(json, "error"));
  a->runs++;
  if (!error) error = *complaint ? complaint : "it ended without a report";
  snprintf(text, sizeof text, "%s: %.1500s", entry->name, error);
  printf("  %-44s %s%s\n", entry->name, code == 0 ? "good" : "WRONG: ", code == 0 ? "" : text);
  fflush(stdout);
  json_t *row = json_pack(
      "{s:s, s:s, s:s, s:b, s:i}", "key", entry->name, "arch", entry->arch, "sha256", entry->sha256, "good", code == 0, "code", code);
  if (json) json_object_set_new(row, "run", json);
  if (code) json_object_set_new(row, "error", json_string(error));
  json_array_append_new(a->kernels, row);
  if (code) note_fault(a, code_of(code), text);
}

static enum run_code run_bundle(struct acceptance *a) {
  front_bundle bundle;
  size_t count = 0;
  enum front_status status = front_bundle_open(a->options->what, &bundle);
  if (status != FRONT_OK) {
    char text[RUN_ERROR_MAX];
    snprintf(text, sizeof text, "%.1000s: --accept takes a bundle, as frontgen bundle makes it", front_error());
    printf("kernels\n  %s\n", text);
    a->runs++;
    note_fault(a, session_code(status), text);
    return a->worst;
  }
  (void)front_bundle_count(bundle, &count);
  printf("kernels\n");
  for (size_t i = 0; i < count; i++) {
    struct front_bundle_entry entry;
    if (front_bundle_describe(bundle, i, &entry) == FRONT_OK) add_kernel(a, &entry);
  }
  (void)front_bundle_close(bundle);
  return a->worst;
}

static void describe_host(struct acceptance *a) {
  struct utsname u = {0};
  char driver[64] = "", rocm[64] = "";
  static const char *const files[] = {"/sys/module/amdgpu/version", "/opt/rocm/.info/version"};
  for (int i = 0; i < 2; i++) {
    FILE *in = fopen(files[i], "r");
    char *to = i ? rocm : driver;
    if (in && fgets(to, 64, in)) to[strcspn(to, "\n")] = 0;
    if (in) fclose(in);
  }
  (void)uname(&u);
  json_object_set_new(
      a->root, "host", json_pack("{s:s, s:s, s:s, s:s}", "system", u.sysname, "release", u.release, "amdgpu", driver, "rocm", rocm));
}

static enum run_code write_report(const struct acceptance *a) {
  char error[FRONTGEN_ERROR_MAX], *text = json_dumps(a->root, JSON_INDENT(1));
  const char *path = a->options->report ? a->options->report : "acceptance.json";
  enum run_code code = text ? (enum run_code)output_write(path, text, strlen(text), error) : RUN_ENVIRONMENT;
  if (code == RUN_GOOD)
    printf("report: %s: %s\n", path, a->answered ? "send it back, it holds all of the above" : "no device has run anything");
  else
    snprintf(a->error, RUN_ERROR_MAX, "%s", text ? error : "no memory for the report");
  free(text);
  return code;
}

enum run_code accept_run(const struct run_options *options, char error[RUN_ERROR_MAX]) {
  struct acceptance a = {.options = options, .root = json_object(), .facts = json_array(), .kernels = json_array(), .error = error};
  json_object_set_new(a.root, "format", json_integer(1));
  json_object_set_new(a.root, "generator", json_string(FRONTGEN_VERSION));
  json_object_set_new(a.root, "facts", a.facts);
  json_object_set_new(a.root, "kernels", a.kernels);
  describe_host(&a);
  conduct_on_interrupt(end_kernel);
  if (run_facts(&a) == RUN_GOOD) (void)run_bundle(&a);
  json_object_set_new(a.root, "good", json_boolean(a.wrong == 0));
  json_object_set_new(a.root, "answered_by", json_string(kind(&a, "hardware")));
  if (a.answered && !a.hardware)
    printf("The emulator ran this: of the facts it says only what it models. That the hardware is so, only the hardware can answer.\n");
  printf("%u of %u good\n", a.runs - (a.wrong < a.runs ? a.wrong : a.runs), a.runs);
  enum run_code code = write_report(&a);
  json_decref(a.root);
  return a.worst > code ? a.worst : code;
}
