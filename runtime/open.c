/* SPDX-License-Identifier: Apache-2.0 */
/* Opens and closes HSA. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "extensible.h"
#include "fault.h"
#include "hsa_table.h"
#include "kfd.h"
#include "log.h"
#include "process.h"
#include "status.h"

enum { LIBRARIES = 8, LISTENS_MAX = 64 };

/* What the process has done with an HSA library. */
struct library {
  __typeof__(hsa_init) *init;
  uint32_t users, listens;  /* runtimes of ours; event handlers that it may have of ours */
  enum front_status failed; /* its initialisation, once: HSA keeps what it had built up by then */
  char text[512];
};

/* Behind PROCESS_LOCK_OPEN. */
static struct {
  struct library library[LIBRARIES];
  bool opened;    /* once in this process or one that it was forked from, */
  uint32_t forks; /* when process_forks was this */
} history;

/* With the lock. Null: there are too many. */
static struct library *find_library(const struct hsa_table *hsa) {
  for (uint32_t i = 0; i < LIBRARIES; i++) {
    struct library *library = &history.library[i];
    if (!library->init) library->init = hsa->hsa_init;
    if (library->init == hsa->hsa_init) return library;
  }
  return NULL;
}

static enum front_status init_failed(const struct runtime *runtime, hsa_status_t code) {
  char kfd[700];
  /* ROCr says OUT_OF_RESOURCES when there is no usable driver. */
  if (code != HSA_STATUS_ERROR_OUT_OF_RESOURCES) return hsa_fail(&runtime->hsa, FRONT_ERR_HSA, "hsa_init", code);
  kfd_describe(kfd, sizeof kfd);
  return status_fail(FRONT_ERR_NO_DEVICE, "%s finds no usable GPU driver: %s", runtime->path, kfd);
}

/* HSA forgets its handlers when its last user shuts it down, and does not say whether it did: while others use it too, ours may be there
   already. Twice is no harm. */
static void listen(struct library *library, const struct hsa_table *hsa, bool fresh) {
  if (fresh) library->listens = 0;
  if (library->users || library->listens == LISTENS_MAX) return;
  fault_listen(hsa);
  library->listens++;
}

/* With the lock. */
static enum front_status initialise(struct runtime *runtime) {
  struct library *library = find_library(&runtime->hsa);
  uint16_t major;
  if (!library) return status_fail(FRONT_ERR_LIBRARY, "front_open: %d HSA libraries in one process are too many", LIBRARIES);
  if (library->failed != FRONT_OK)
    return status_fail(library->failed, "%s (it failed before: HSA cannot be tried twice in a process)", library->text);
  if (history.opened && !process_is(history.forks)) return process_forked("front_open");
  bool fresh = runtime->hsa.hsa_system_get_info(HSA_SYSTEM_INFO_VERSION_MAJOR, &major) != HSA_STATUS_SUCCESS;
  hsa_status_t code = runtime->hsa.hsa_init();
  runtime->forks = process_forks;
  if (code == HSA_STATUS_SUCCESS) {
    listen(library, &runtime->hsa, fresh);
    library->users++;
    history.opened = true;
    history.forks = process_forks;
    return FRONT_OK;
  }
  library->failed = init_failed(runtime, code);
  snprintf(library->text, sizeof library->text, "%.511s", front_error());
  return library->failed;
}

enum front_status front_open(const struct front_options *options, front_runtime *runtime) {
  struct front_options o;
  if (!runtime) return status_fail(FRONT_ERR_ARGUMENT, "front_open: runtime is null");
  enum front_status status = options_take(&o, sizeof o, options, "front_open");
  if (status != FRONT_OK) return status;
  struct runtime *made = calloc(1, sizeof *made);
  if (!made) return status_fail(FRONT_ERR_MEMORY, "front_open: no host memory");
  process_watch();
  status = hsa_table_load(o.hsa_library, &made->hsa, made->path, sizeof made->path);
  if (status == FRONT_OK) {
    pthread_mutex_lock(&process_lock[PROCESS_LOCK_OPEN]);
    status = initialise(made);
    pthread_mutex_unlock(&process_lock[PROCESS_LOCK_OPEN]);
  }
  if (status != FRONT_OK) {
    free(made);
    return status;
  }
  log_line("HSA library: %s", made->path);
  runtime->impl = made;
  return FRONT_OK;
}

enum front_status front_close(front_runtime runtime) {
  if (!runtime.impl) return status_fail(FRONT_ERR_ARGUMENT, "front_close: the runtime is null");
  if (!process_is(runtime.impl->forks)) return process_forked("front_close");
  uint32_t users = runtime.impl->users;
  if (users) return status_fail(FRONT_ERR_BUSY, "front_close: %u devices are open: close them first", users);
  const struct hsa_table *hsa = &runtime.impl->hsa;
  pthread_mutex_lock(&process_lock[PROCESS_LOCK_OPEN]);
  struct library *library = find_library(hsa);
  if (library) library->users--;
  hsa_status_t code = hsa->hsa_shut_down();
  pthread_mutex_unlock(&process_lock[PROCESS_LOCK_OPEN]);
  enum front_status status = code == HSA_STATUS_SUCCESS ? FRONT_OK : hsa_fail(hsa, FRONT_ERR_HSA, "hsa_shut_down", code);
  free(runtime.impl);
  return status;
}

enum front_status front_library_path(front_runtime runtime, const char **path) {
  if (!runtime.impl || !path) return status_fail(FRONT_ERR_ARGUMENT, "front_library_path: null argument");
  *path = runtime.impl->path;
  return FRONT_OK;
}
