/* SPDX-License-Identifier: Apache-2.0 */
/* Objects, SHA256SUMS and manifest.json become the bundle, by one rename. */
#include "bundle_parts.h"
#include "output.h"
#include "sha256.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What is to stand in the bundle. */
struct content {
  struct bundle_file *file;
  size_t files;
  struct text sums, manifest;
};

static enum frontgen_status no_memory(char *error) {
  snprintf(error, FRONTGEN_ERROR_MAX, "out of memory for the bundle: make it in shards (--shard)");
  return FRONTGEN_ENVIRONMENT;
}

static char *read_part(const struct bundle_work *w, const char *folder, const char *file, const char *ending, size_t *bytes, char *error) {
  char part[BUNDLE_PATH_MAX], path[PATH_MAX];
  snprintf(part, sizeof part, "%s/%s%s", folder, file, ending);
  if (!bundle_path(w, part, path, error)) return NULL;
  char *data = bundle_read(path, bytes);
  if (!data) snprintf(error, FRONTGEN_ERROR_MAX, "cannot read %.400s: %s: delete the work folder", path, strerror(errno));
  return data;
}

/* One key's object and its part of the manifest, which must be of these bytes. */
static enum frontgen_status add_file(const struct bundle_work *w, const struct bundle_key *key, struct content *c, char *error) {
  struct bundle_file *f = &c->file[c->files];
  uint8_t digest[SHA256_BYTES];
  size_t entry_bytes;
  char *object = read_part(w, "obj", key->file, "", &f->size, error);
  char *entry = object ? read_part(w, "meta", key->file, ".json", &entry_bytes, error) : NULL;
  if (!entry) {
    free(object);
    return FRONTGEN_USAGE;
  }
  c->files++;
  f->file = key->file;
  f->bytes = (uint8_t *)object;
  sha256(f->bytes, f->size, digest);
  sha256_hex(digest, f->sha256);
  bool same = strstr(entry, f->sha256) != NULL;
  text_print(&c->sums, "%s  %s\n", f->sha256, f->file);
  text_string(&c->manifest, c->files > 1 ? ",\n" : "");
  text_put(&c->manifest, entry, entry_bytes);
  free(entry);
  if (same) return c->sums.failed || c->manifest.failed ? no_memory(error) : FRONTGEN_GOOD;
  snprintf(error, FRONTGEN_ERROR_MAX, "%s is not the object that was checked: delete the work folder %.300s", key->file, w->work);
  return FRONTGEN_USAGE;
}

static enum frontgen_status gather(const struct bundle_options *o, const struct bundle_work *w, struct content *c, char *error) {
  c->file = calloc(o->keys + 1, sizeof *c->file);
  if (!c->file) return no_memory(error);
  text_print(&c->manifest, "{\n  \"format\": 1,\n  \"generator\": \"%s\",\n  \"keys\": [\n", FRONTGEN_VERSION);
  enum frontgen_status status = FRONTGEN_GOOD;
  for (size_t i = 0; i < o->keys && !status; i++) status = add_file(w, &o->key[i], c, error);
  text_string(&c->manifest, "\n  ]\n}\n");
  if (!status && (c->manifest.failed || c->sums.failed)) return no_memory(error);
  return status;
}

static void release(struct content *c) {
  for (size_t i = 0; i < c->files; i++) free((void *)(uintptr_t)c->file[i].bytes);
  free(c->file);
  text_free(&c->sums);
  text_free(&c->manifest);
}

static bool ends(const char *name, const char *with) {
  size_t n = strlen(name), m = strlen(with);
  return n > m && strcmp(name + n - m, with) == 0;
}

/* What a bundle may hold: a signature of its index too, which a new bundle makes void. */
static bool belongs(const char *name) {
  return ends(name, ".hsaco") || strcmp(name, BUNDLE_MANIFEST) == 0 || strncmp(name, BUNDLE_SUMS, strlen(BUNDLE_SUMS)) == 0;
}

/* The C file must not stand in the bundle, which holds code objects alone. */
static enum frontgen_status check_embed(const struct bundle_options *o, const struct bundle_work *w, char *error) {
  char parent[PATH_MAX], real[PATH_MAX];
  const char *slash = o->embed ? strrchr(o->embed, '/') : NULL;
  if (!slash || slash - o->embed >= PATH_MAX - 1) return FRONTGEN_GOOD;
  snprintf(parent, sizeof parent, "%.*s/", (int)(slash - o->embed), o->embed);
  if (!realpath(parent, real) || strcmp(real, w->folder) != 0) return FRONTGEN_GOOD;
  snprintf(
      error, FRONTGEN_ERROR_MAX, "--embed %.300s stands in the bundle, which holds code objects alone: name a file elsewhere", o->embed);
  return FRONTGEN_USAGE;
}

/* The number of files in the folder; -1: it is not there. Refuses a folder that is no bundle: it would be replaced. */
static enum frontgen_status look(const struct bundle_work *w, long *there, char *error) {
  DIR *folder = opendir(w->folder);
  *there = -1;
  if (!folder && errno == ENOENT) return FRONTGEN_GOOD;
  if (!folder) {
    snprintf(error, FRONTGEN_ERROR_MAX, "cannot read the folder %.400s: %s: name another with -o", w->folder, strerror(errno));
    return FRONTGEN_USAGE;
  }
  enum frontgen_status status = FRONTGEN_GOOD;
  bool index = false; /* without it the files are somebody's own */
  *there = 0;
  for (struct dirent *entry; (entry = readdir(folder)) && !status;) {
    const char *name = entry->d_name;
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) continue;
    (*there)++;
    index |= strcmp(name, BUNDLE_SUMS) == 0;
    if (belongs(name)) continue;
    snprintf(error, FRONTGEN_ERROR_MAX, "the folder %.300s holds \"%.100s\", which is no part of a bundle: name another with -o", w->folder,
        name);
    status = FRONTGEN_USAGE;
  }
  if (!status && *there && !index) {
    snprintf(error, FRONTGEN_ERROR_MAX, "the folder %.300s holds files and no %s, so it is no bundle: name another with -o", w->folder,
        BUNDLE_SUMS);
    status = FRONTGEN_USAGE;
  }
  closedir(folder);
  return status;
}

static bool same_file(const char *folder, const char *name, const void *bytes, size_t size) {
  char path[PATH_MAX + 300];
  size_t there;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  char *data = bundle_read(path, &there);
  bool same = data && there == size && memcmp(data, bytes, size) == 0;
  free(data);
  return same;
}

static bool stands(const struct bundle_work *w, const struct content *c, long there) {
  if (there != (long)c->files + 2) return false;
  if (!same_file(w->folder, BUNDLE_SUMS, c->sums.data, c->sums.bytes)) return false;
  if (!same_file(w->folder, BUNDLE_MANIFEST, c->manifest.data, c->manifest.bytes)) return false;
  for (size_t i = 0; i < c->files; i++)
    if (!same_file(w->folder, c->file[i].file, c->file[i].bytes, c->file[i].size)) return false;
  return true;
}

static enum frontgen_status put(const char *folder, const char *name, const void *data, size_t bytes, char *error) {
  char path[PATH_MAX + 300];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return output_write(path, data, bytes, error);
}

/* The new bundle takes the old one's place, and the old one the new one's, in one step where the file system can. */
static int exchange(const struct bundle_work *w, const char *fresh, bool there) {
  char old[PATH_MAX + 32];
  if (!there) return rename(fresh, w->folder) == 0 ? 0 : errno;
  if (renameat2(AT_FDCWD, fresh, AT_FDCWD, w->folder, RENAME_EXCHANGE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return errno;
  snprintf(old, sizeof old, "%s/old.%ld", w->work, (long)getpid());
  if (rename(w->folder, old) != 0) return errno;
  if (rename(fresh, w->folder) == 0) return 0;
  int why = errno;
  return rename(old, w->folder) == 0 ? why : EIO;
}

static enum frontgen_status stage(const struct bundle_work *w, const struct content *c, bool there, char *error) {
  char fresh[PATH_MAX + 32];
  snprintf(fresh, sizeof fresh, "%s/new.%ld", w->work, (long)getpid());
  enum frontgen_status status = FRONTGEN_GOOD;
  if (mkdir(fresh, 0777) != 0) {
    snprintf(error, FRONTGEN_ERROR_MAX, "cannot make the folder %.400s: %s: make room, or name another with -o", fresh, strerror(errno));
    return FRONTGEN_USAGE;
  }
  for (size_t i = 0; i < c->files && !status; i++) status = put(fresh, c->file[i].file, c->file[i].bytes, c->file[i].size, error);
  if (!status) status = put(fresh, BUNDLE_MANIFEST, c->manifest.data, c->manifest.bytes, error);
  if (!status) status = put(fresh, BUNDLE_SUMS, c->sums.data, c->sums.bytes, error);
  int why = status ? 0 : exchange(w, fresh, there);
  if (why) {
    snprintf(error, FRONTGEN_ERROR_MAX, "cannot put the bundle at %.400s: %s: name another with -o", w->folder, strerror(why));
    status = FRONTGEN_USAGE;
  }
  bundle_delete(fresh); /* the old bundle, or what could not be put in place */
  snprintf(fresh, sizeof fresh, "%s/old.%ld", w->work, (long)getpid());
  bundle_delete(fresh);
  return status;
}

static enum frontgen_status write_embedded(const struct bundle_options *o, const struct content *c, char *error) {
  struct text out = {0};
  bundle_embed(o->embed, c->file, c->files, &out);
  enum frontgen_status status = out.failed ? no_memory(error) : bundle_write(o->embed, out.data, out.bytes, NULL, error);
  text_free(&out);
  return status;
}

enum frontgen_status bundle_may_publish(const struct bundle_options *o, const struct bundle_work *w, char error[FRONTGEN_ERROR_MAX]) {
  long there;
  enum frontgen_status status = check_embed(o, w, error);
  return status ? status : look(w, &there, error);
}

enum frontgen_status bundle_publish(
    const struct bundle_options *o, const struct bundle_work *w, struct bundle_result *result, char error[FRONTGEN_ERROR_MAX]) {
  struct content c = {0};
  long there;
  enum frontgen_status status = look(w, &there, error); /* again: it may have changed meanwhile */
  if (!status) status = gather(o, w, &c, error);
  if (!status && !stands(w, &c, there)) {
    result->changed = true;
    status = stage(w, &c, there >= 0, error);
  }
  if (!status && o->embed) status = write_embedded(o, &c, error);
  snprintf(result->folder, sizeof result->folder, "%s", w->folder);
  result->files = c.files;
  for (size_t i = 0; i < c.files; i++) result->bytes += c.file[i].size;
  release(&c);
  return status;
}
