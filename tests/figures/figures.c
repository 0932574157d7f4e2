/* SPDX-License-Identifier: Apache-2.0 */
/* figures --check FILE | --update FILE: builds a sample of keys and compares their registers, LDS and instruction counts with the file
   that people review, so that a compiler upgrade or an edit of the emitter is seen in a diff. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "measure.h"
#include "tool.h"

/* Every tile count, tp, schedule, with and without compressed keys, narrow and wide windows; what the guard costs. */
static const char *const sample[] = {
    "tokens=1,tp=4,ratio=0,window=1",
    "tokens=1,tp=8,ratio=2,window=128,tuned=1",
    "tokens=2,tp=2,ratio=1,window=128",
    "tokens=8,tp=4,ratio=2,window=128",
    "tokens=8,tp=4,ratio=2,window=128,guard=0",
    "tokens=8,tp=4,ratio=2,window=128,tuned=1",
    "tokens=8,tp=4,ratio=2,window=128,tuned=1,guard=0",
    "tokens=15,tp=2,ratio=0,window=4096,tuned=1",
    "tokens=16,tp=1,ratio=2,window=256",
    "tokens=16,tp=4,ratio=2,window=128",
    "tokens=17,tp=2,ratio=1,window=1000",
    "tokens=17,tp=8,ratio=0,window=128,tuned=1",
    "tokens=32,tp=4,ratio=128,window=129",
    "tokens=33,tp=2,ratio=2,window=128,tuned=1",
    "tokens=33,tp=8,ratio=7,window=128",
    "tokens=48,tp=1,ratio=2,window=128",
    "tokens=48,tp=1,ratio=2,window=128,guard=0",
    "tokens=48,tp=1,ratio=3,window=4096,tuned=1",
    "tokens=48,tp=4,ratio=2,window=128",
};
enum { SAMPLE = sizeof sample / sizeof *sample, LINE_MAX_BYTES = 256 };

static char lines[SAMPLE][LINE_MAX_BYTES];
static char errors[SAMPLE][FRONTGEN_ERROR_MAX];

static void measure_key(const char *text, char line[LINE_MAX_BYTES], char error[FRONTGEN_ERROR_MAX]) {
  struct plan plan;
  struct measured m;
  void *object = NULL;
  size_t bytes;
  bool good = frontgen_plan(text, "gfx950", &plan, error) == FRONTGEN_GOOD &&
              frontgen_build(&plan, NULL, &object, &bytes, error) == FRONTGEN_GOOD && measure_object(object, bytes, &m, error);
  if (good)
    snprintf(line, LINE_MAX_BYTES, "%s\t%u\t%u\t%u\t%u\t%u\t%u\n", plan.name, m.vgprs, m.sgprs, m.lds_bytes, m.instructions, m.waits,
        m.readfirstlanes);
  free(object);
}

static void *work(void *next) {
  for (unsigned i; (i = __atomic_fetch_add((unsigned *)next, 1, __ATOMIC_RELAXED)) < SAMPLE;) measure_key(sample[i], lines[i], errors[i]);
  return NULL;
}

static bool measure_all(void) {
  enum { THREADS_MAX = 16 };
  pthread_t thread[THREADS_MAX];
  long cpus = sysconf(_SC_NPROCESSORS_ONLN);
  unsigned next = 0, started = 0;
  while (started < THREADS_MAX && (long)started < cpus && pthread_create(&thread[started], NULL, work, &next) == 0) started++;
  if (!started) work(&next);
  for (unsigned i = 0; i < started; i++) pthread_join(thread[i], NULL);
  bool good = true;
  for (unsigned i = 0; i < SAMPLE; i++) {
    if (lines[i][0]) continue;
    fprintf(stderr, "figures: %s: %s\n", sample[i], errors[i]);
    good = false;
  }
  return good;
}

/* The whole file as it should be; null, with a message, if there is none. */
static char *make_text(size_t *bytes) {
  char *text = NULL, version[32], error[FRONTGEN_ERROR_MAX];
  if (tool_llvm_version(NULL, version, error) != FRONTGEN_GOOD) {
    fprintf(stderr, "figures: %s\n", error);
    return NULL;
  }
  FILE *f = measure_all() ? open_memstream(&text, bytes) : NULL;
  if (!f) return NULL;
  fprintf(f, "# gfx950, LLVM %s. Made by ./bootstrap figures; review the diff.\n", version);
  fprintf(f, "key\tvgpr\tsgpr\tlds\tinstructions\twaits\treadfirstlane\n");
  for (unsigned i = 0; i < SAMPLE; i++) fputs(lines[i], f);
  return fclose(f) == 0 ? text : NULL;
}

static int update(const char *path, const char *text, size_t bytes) {
  char temporary[4096];
  snprintf(temporary, sizeof temporary, "%s.new", path);
  FILE *f = fopen(temporary, "w");
  bool good = f && fwrite(text, 1, bytes, f) == bytes;
  if (f) good = fclose(f) == 0 && good;
  if (good) good = rename(temporary, path) == 0;
  if (!good) perror(path);
  return good ? 0 : 1;
}

/* Prints the lines that differ: "-" as reviewed, "+" as measured. */
static int check(const char *path, char *text) {
  FILE *f = fopen(path, "r");
  char reviewed[LINE_MAX_BYTES];
  unsigned different = 0;
  char *at = text, *state = NULL;
  if (!f) perror(path);
  for (char *line = strtok_r(at, "\n", &state); line; line = strtok_r(NULL, "\n", &state)) {
    if (!f || !fgets(reviewed, sizeof reviewed, f)) reviewed[0] = 0;
    reviewed[strcspn(reviewed, "\n")] = 0;
    if (strcmp(line, reviewed) == 0) continue;
    printf("- %s\n+ %s\n", reviewed, line);
    different++;
  }
  while (f && fgets(reviewed, sizeof reviewed, f)) {
    printf("- %s", reviewed);
    different++;
  }
  if (f) fclose(f);
  if (!different)
    printf("%d keys are as reviewed\n", (int)SAMPLE);
  else
    printf("%u lines differ. If that is meant, run: ./bootstrap figures, and commit tests/figures.tsv\n", different);
  return different ? 1 : 0;
}

int main(int argc, char **argv) {
  bool updates = argc == 3 && strcmp(argv[1], "--update") == 0;
  if (!updates && (argc != 3 || strcmp(argv[1], "--check") != 0)) {
    fprintf(stderr, "usage: figures --check FILE | --update FILE\n");
    return 2;
  }
  size_t bytes;
  char *text = make_text(&bytes);
  if (!text) return 1;
  int code = updates ? update(argv[2], text, bytes) : check(argv[2], text);
  free(text);
  return code;
}
