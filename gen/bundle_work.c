/* SPDX-License-Identifier: Apache-2.0 */
/* The work folder: where it is, its lock, files that are written only when they change. */
#include "bundle_parts.h"
#include "output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_MAX = 64 << 20 };

static enum frontgen_status bad_folder(const char *folder, const char *why, const char *cure, char *error) {
  snprintf(error, FRONTGEN_ERROR_MAX, "cannot make a bundle at %.300s: %.120s: %s", folder, why, cure);
  return FRONTGEN_USAGE;
}

/* The absolute path of a folder that may not be there yet; its parent must. */
static enum frontgen_status resolve(const char *folder, char path[PATH_MAX], char *error) {
  char head[PATH_MAX], parent[PATH_MAX];
  struct stat st;
  if (stat(folder, &st) == 0) {
    if (!S_ISDIR(st.st_mode)) return bad_folder(folder, "not a folder", "name another with -o", error);
    return realpath(folder, path) ? FRONTGEN_GOOD : bad_folder(folder, strerror(errno), "name another with -o", error);
  }
  size_t length = strlen(folder);
  if (length == 0 || length >= sizeof head) return bad_folder(folder, "not a path", "name another with -o", error);
  memcpy(head, folder, length + 1);
  while (length > 1 && head[length - 1] == '/') head[--length] = 0;
  char *slash = strrchr(head, '/');
  const char *name = slash ? slash + 1 : head;
  if (!*name || !strcmp(name, ".") || !strcmp(name, "..")) return bad_folder(folder, "not a new folder's name", "name one", error);
  if (slash) *slash = 0;
  if (!realpath(slash ? (slash == head ? "/" : head) : ".", parent))
    return bad_folder(folder, strerror(errno), "make the folder above it first", error);
  int n = snprintf(path, PATH_MAX, "%s/%s", strcmp(parent, "/") ? parent : "", name);
  return n < PATH_MAX ? FRONTGEN_GOOD : bad_folder(folder, strerror(ENAMETOOLONG), "name another with -o", error);
}

static enum frontgen_status place(const char *folder, struct bundle_work *w, char *error) {
  char here[PATH_MAX];
  enum frontgen_status status = resolve(folder, w->folder, error);
  if (status) return status;
  char *slash = strrchr(w->folder, '/');
  if (!slash[1]) return bad_folder(folder, "the root folder", "name a folder of its own", error);
  if (getcwd(here, sizeof here) && !strcmp(here, w->folder))
    return bad_folder(folder, "the working folder, which a bundle would replace", "name a folder of its own, such as -o kernels", error);
  int n = snprintf(w->work, sizeof w->work, "%.*s.%s.frontgen", (int)(slash + 1 - w->folder), w->folder, slash + 1);
  if (n + BUNDLE_PATH_MAX >= PATH_MAX) return bad_folder(folder, strerror(ENAMETOOLONG), "name another with -o", error);
  return FRONTGEN_GOOD;
}

/* Held through an open file, that ninja and its steps inherit: it is free when the last of them is gone, however they went. */
static enum frontgen_status take_lock(struct bundle_work *w, char *error) {
  char path[PATH_MAX + 8];
  snprintf(path, sizeof path, "%s/lock", w->work);
  w->lock = open(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0666);
  if (w->lock < 0) return bad_folder(w->work, strerror(errno), "make it writable, or delete it", error);
  if (flock(w->lock, LOCK_EX | LOCK_NB) == 0) return FRONTGEN_GOOD;
  if (errno == EWOULDBLOCK) fprintf(stderr, "frontgen: another build of %s is running: waiting for it\n", w->folder);
  while (flock(w->lock, LOCK_EX) != 0)
    if (errno != EINTR) {
      enum frontgen_status status = bad_folder(w->work, strerror(errno), "its file system must have flock", error);
      close(w->lock);
      return status;
    }
  return FRONTGEN_GOOD;
}

/* A build that was killed between the two renames that stand for an exchange: the old bundle is still the bundle. With the old one alone,
   the new one had taken its place, and the old one may be half deleted. */
static bool put_back(const struct bundle_work *w, const char *old, const char *name) {
  char fresh[PATH_MAX + 280];
  snprintf(fresh, sizeof fresh, "%s/new.%s", w->work, name + 4);
  return strncmp(name, "old.", 4) == 0 && access(fresh, F_OK) == 0 && access(w->folder, F_OK) != 0 && rename(old, w->folder) == 0;
}

/* What an earlier build that was killed while it published left. */
static void clean(const struct bundle_work *w) {
  static const char *const kinds[] = {"old.", "new."}; /* in this order, for put_back() */
  char path[PATH_MAX + 280];
  for (int i = 0; i < 2; i++) {
    DIR *folder = opendir(w->work);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
      if (strncmp(entry->d_name, kinds[i], 4) != 0) continue;
      snprintf(path, sizeof path, "%s/%s", w->work, entry->d_name);
      if (!put_back(w, path, entry->d_name)) bundle_delete(path);
    }
    if (folder) closedir(folder);
  }
  snprintf(path, sizeof path, "%s/failed", w->work);
  bundle_delete(path);
}

enum frontgen_status bundle_work_open(const char *folder, struct bundle_work *w, char error[FRONTGEN_ERROR_MAX]) {
  static const char *const parts[] = {"ir", "obj", "meta", "groups", "failed"};
  char path[PATH_MAX];
  enum frontgen_status status = place(folder, w, error);
  if (status) return status;
  if (mkdir(w->work, 0777) != 0 && errno != EEXIST)
    return bad_folder(folder, strerror(errno), "the folder above it must be writable, for the work folder", error);
  status = take_lock(w, error);
  if (status) return status;
  clean(w);
  for (size_t i = 0; i < sizeof parts / sizeof *parts && !status; i++) {
    if (!bundle_path(w, parts[i], path, error))
      status = FRONTGEN_USAGE;
    else if (mkdir(path, 0777) != 0 && errno != EEXIST)
      status = bad_folder(path, strerror(errno), "delete the work folder", error);
  }
  if (status) bundle_work_close(w);
  return status;
}

void bundle_work_close(struct bundle_work *w) { close(w->lock); }

bool bundle_path(const struct bundle_work *w, const char *part, char path[PATH_MAX], char error[FRONTGEN_ERROR_MAX]) {
  if (snprintf(path, PATH_MAX, "%s/%s", w->work, part) < PATH_MAX) return true;
  snprintf(error, FRONTGEN_ERROR_MAX, "the path %.300s is too long: name another folder with -o", w->work);
  return false;
}

char *bundle_read(const char *path, size_t *bytes) {
  struct stat st;
  *bytes = 0;
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return NULL;
  char *data = fstat(file, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= FILE_MAX ? malloc((size_t)st.st_size + 1) : NULL;
  for (ssize_t n = 1; data && n > 0 && *bytes < (size_t)st.st_size; *bytes += (size_t)(n > 0 ? n : 0))
    n = read(file, data + *bytes, (size_t)st.st_size - *bytes);
  close(file);
  if (data) data[*bytes] = 0;
  return data;
}

enum frontgen_status bundle_write(const char *path, const void *data, size_t bytes, bool *wrote, char error[FRONTGEN_ERROR_MAX]) {
  size_t there;
  char *old = bundle_read(path, &there);
  bool same = old && there == bytes && memcmp(old, data, bytes) == 0;
  free(old);
  if (wrote) *wrote = !same;
  return same ? FRONTGEN_GOOD : output_write(path, data, bytes, error);
}

static void delete_in(int parent, const char *name, int depth) {
  if (unlinkat(parent, name, 0) == 0 || errno == ENOENT || depth > 8) return;
  int file = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  DIR *folder = file >= 0 ? fdopendir(file) : NULL;
  if (!folder) {
    if (file >= 0) close(file);
    return;
  }
  for (struct dirent *entry; (entry = readdir(folder));)
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) delete_in(file, entry->d_name, depth + 1);
  closedir(folder);
  unlinkat(parent, name, AT_REMOVEDIR);
}

void bundle_delete(const char *path) { delete_in(AT_FDCWD, path, 0); }
