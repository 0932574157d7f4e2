/* SPDX-License-Identifier: Apache-2.0 */
/* A fuzz target's main() where libFuzzer is not: gives it every file of the folders named, once as it is, and again with the 1st,
   2nd, ... allocation failing. Linked with --wrap for malloc, calloc and realloc. */
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *p, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *p, size_t size);

enum { FAILING_MAX = 200 };

static uint64_t allocations, failing; /* the allocation to fail, counted from 1; 0: none */

static bool fails(void) {
  if (++allocations != failing) return false;
  errno = ENOMEM;
  return true;
}

void *__wrap_malloc(size_t size) { return fails() ? NULL : __real_malloc(size); }
void *__wrap_calloc(size_t count, size_t size) { return fails() ? NULL : __real_calloc(count, size); }
void *__wrap_realloc(void *p, size_t size) { return fails() ? NULL : __real_realloc(p, size); }

static void give(const uint8_t *data, size_t size, uint64_t fail_at) {
  allocations = 0;
  failing = fail_at;
  LLVMFuzzerTestOneInput(data, size);
  failing = 0;
}

static bool replay(const char *path) {
  FILE *f = fopen(path, "rb");
  if (!f || fseek(f, 0, SEEK_END) != 0) return false;
  long size = ftell(f);
  uint8_t *data = __real_malloc((size_t)size + 1);
  rewind(f);
  bool good = data && fread(data, 1, (size_t)size, f) == (size_t)size;
  fclose(f);
  if (good) {
    give(data, (size_t)size, 0);
    uint64_t needed = allocations;
    for (uint64_t n = 1; n <= needed && n <= FAILING_MAX; n++) give(data, (size_t)size, n);
  }
  free(data);
  return good;
}

int main(int argc, char **argv) {
  unsigned files = 0;
  for (int i = 1; i < argc; i++) {
    DIR *dir = opendir(argv[i]);
    if (!dir) continue; /* a folder that only some targets have */
    for (struct dirent *e; (e = readdir(dir));) {
      char path[4096];
      snprintf(path, sizeof path, "%s/%s", argv[i], e->d_name);
      if (e->d_name[0] == '.') continue;
      if (!replay(path)) {
        fprintf(stderr, "%s: cannot be read\n", path);
        return 1;
      }
      files++;
    }
    closedir(dir);
  }
  printf("%u inputs\n", files);
  return files ? 0 : 1;
}
