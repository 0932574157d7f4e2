/* SPDX-License-Identifier: Apache-2.0 */
/* Bundles: which code objects there are, and their bytes once the hash is right. */
#include "bundle_open.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "inspect.h"
#include "layer.h"
#include "log.h"
#include "read_file.h"
#include "status.h"
#include "sums.h"

enum { LIST_BYTES = 6000, FOLDER_NONE = -1 };

struct item {
  struct front_bundle_entry entry;
  struct layer layer;
  uint8_t sha256[SHA256_BYTES];
  const void *bytes; /* null: a file of the folder */
  size_t size;
};

struct bundle {
  char *path; /* for messages */
  int folder; /* open, or FOLDER_NONE */
  struct sums sums;
  void *owned; /* a single file's bytes */
  struct item *item;
  size_t items;
};

void bundle_arch(const char *isa, char arch[32]) {
  const char *bare = strstr(isa, "--");
  if (bare) isa = bare + 2;
  snprintf(arch, 32, "%.*s", (int)strcspn(isa, ":"), isa);
}

static struct bundle *new_bundle(const char *path, size_t items) {
  struct bundle *made = calloc(1, sizeof *made);
  if (!made) return NULL;
  made->folder = FOLDER_NONE;
  made->path = strdup(path);
  made->item = calloc(items ? items : 1, sizeof *made->item);
  if (made->path && made->item) return made;
  free(made->path);
  free(made->item);
  free(made);
  return NULL;
}

static void release(struct bundle *bundle) {
  if (bundle->folder != FOLDER_NONE) close(bundle->folder);
  sums_free(&bundle->sums);
  free(bundle->owned);
  free(bundle->item);
  free(bundle->path);
  free(bundle);
}

/* A new item for that file, or null with a line to the log if it is none of ours. */
static struct item *add_item(struct bundle *bundle, const char *file, const uint8_t sha256[SHA256_BYTES]) {
  struct item *item = &bundle->item[bundle->items];
  if (!sums_split(file, item->entry.name, sizeof item->entry.name, item->entry.arch)) {
    log_line("bundle %s: %s is not named like a code object: passed over", bundle->path, file);
    return NULL;
  }
  if (layer_parse(item->entry.name, &item->layer) != FRONT_OK) {
    log_line("bundle %s: %s: %s: passed over", bundle->path, file, front_error());
    return NULL;
  }
  item->entry.file = file;
  sha256_hex(sha256, item->entry.sha256);
  memcpy(item->sha256, sha256, SHA256_BYTES);
  bundle->items++;
  return item;
}

static enum front_status finish(struct bundle *bundle, front_bundle *out) {
  if (!bundle->items) {
    enum front_status status = status_fail(
        FRONT_ERR_NOT_FOUND, "%s: no code object of a front kernel (front_s8_tp4_r2_w128_t0.gfx950.hsaco) is in it", bundle->path);
    release(bundle);
    return status;
  }
  log_line("bundle %s: %zu code objects", bundle->path, bundle->items);
  out->impl = bundle;
  return FRONT_OK;
}

/* ---- three kinds ---- */

static enum front_status read_index(int folder, const char *path, struct sums *sums) {
  char shown[1200], error[CODE_ERROR_MAX];
  void *text;
  size_t bytes;
  snprintf(shown, sizeof shown, "%.1100s/%s", path, SUMS_FILE_NAME);
  enum front_status status = file_read(folder, SUMS_FILE_NAME, shown, true, SUMS_BYTES_MAX, &text, &bytes);
  if (status != FRONT_OK) return status_fail(status, "%s: a bundle's index is needed", front_error());
  bool good = sums_read(text, bytes, sums, error);
  free(text);
  return good ? FRONT_OK : status_fail(FRONT_ERR_CODE_OBJECT, "%s: %s", shown, error);
}

/* Takes `folder`. */
static enum front_status open_folder(int folder, const char *path, front_bundle *bundle) {
  struct sums sums;
  enum front_status status = read_index(folder, path, &sums);
  struct bundle *made = status == FRONT_OK ? new_bundle(path, sums.entries) : NULL;
  if (!made) {
    close(folder);
    if (status != FRONT_OK) return status;
    sums_free(&sums);
    return status_fail(FRONT_ERR_MEMORY, "front_bundle_open: no host memory");
  }
  made->folder = folder;
  made->sums = sums;
  for (size_t i = 0; i < sums.entries; i++) (void)add_item(made, sums.entry[i].file, sums.entry[i].sha256);
  return finish(made, bundle);
}

/* `owned` is null, or the image itself, which is then freed with the bundle, or now. */
static enum front_status open_image(const char *path, const void *image, size_t bytes, void *owned, front_bundle *bundle) {
  char name[LAYER_NAME_MAX], arch[SUMS_ARCH_MAX], *file = NULL;
  uint8_t digest[SHA256_BYTES];
  enum front_status status = inspect_name(image, bytes, name, arch);
  if (status != FRONT_OK) status = status_fail(status, "%s: %s", path, front_error());
  struct bundle *made = status == FRONT_OK ? new_bundle(path, 1) : NULL;
  if (made && asprintf(&file, "%s.%s.hsaco", name, arch) < 0) file = NULL;
  if (!made || !file) {
    free(owned);
    if (made) release(made);
    return status == FRONT_OK ? status_fail(FRONT_ERR_MEMORY, "front_bundle_open: no host memory") : status;
  }
  made->sums.text = file; /* freed with it */
  made->owned = owned;
  sha256(image, bytes, digest);
  struct item *item = add_item(made, file, digest);
  if (item) {
    item->bytes = image;
    item->size = bytes;
  }
  return finish(made, bundle);
}

enum front_status front_bundle_open(const char *path, front_bundle *bundle) {
  if (!path || !*path || !bundle) return status_fail(FRONT_ERR_ARGUMENT, "front_bundle_open: null argument");
  int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) return open_folder(folder, path, bundle);
  if (errno != ENOTDIR) return status_fail(FRONT_ERR_NOT_FOUND, "%s: %s", path, strerror(errno));
  void *image;
  size_t bytes;
  enum front_status status = file_read(AT_FDCWD, path, path, false, IMAGE_BYTES_MAX, &image, &bytes);
  return status == FRONT_OK ? open_image(path, image, bytes, image, bundle) : status;
}

enum front_status front_bundle_open_image(const void *image, size_t bytes, front_bundle *bundle) {
  if (!image || !bytes || !bundle) return status_fail(FRONT_ERR_ARGUMENT, "front_bundle_open_image: null argument, or no bytes");
  return open_image("an image in memory", image, bytes, NULL, bundle);
}

/* What SHA256SUMS may not hold, a table may not either. */
static enum front_status check_row(const struct front_embedded *table, size_t row, uint8_t sha256[SHA256_BYTES]) {
  const struct front_embedded *e = &table[row];
  if (!e->file || !sums_is_name(e->file, strlen(e->file)))
    return status_fail(FRONT_ERR_CODE_OBJECT, "an embedded bundle: row %zu has no good file name", row);
  if (!e->bytes || !e->size || e->size > IMAGE_BYTES_MAX)
    return status_fail(
        FRONT_ERR_CODE_OBJECT, "an embedded bundle: %s has %zu bytes: 1 to %d are needed", e->file, e->size, IMAGE_BYTES_MAX);
  if (!e->sha256 || !sums_hash(e->sha256, strlen(e->sha256), sha256))
    return status_fail(FRONT_ERR_CODE_OBJECT, "an embedded bundle: %s has no SHA-256 of 64 hexadecimal digits", e->file);
  for (size_t i = 0; i < row; i++)
    if (!strcmp(table[i].file, e->file)) return status_fail(FRONT_ERR_CODE_OBJECT, "an embedded bundle: %s is there twice", e->file);
  return FRONT_OK;
}

enum front_status front_bundle_open_embedded(const struct front_embedded *table, size_t count, front_bundle *bundle) {
  if (!table || !count || !bundle) return status_fail(FRONT_ERR_ARGUMENT, "front_bundle_open_embedded: null argument, or an empty table");
  struct bundle *made = count <= SUMS_BYTES_MAX ? new_bundle("an embedded bundle", count) : NULL;
  if (!made) return status_fail(FRONT_ERR_MEMORY, "front_bundle_open_embedded: no host memory for %zu rows", count);
  for (size_t i = 0; i < count; i++) {
    uint8_t digest[SHA256_BYTES];
    enum front_status status = check_row(table, i, digest);
    if (status != FRONT_OK) {
      release(made);
      return status;
    }
    struct item *item = add_item(made, table[i].file, digest);
    if (!item) continue;
    item->bytes = table[i].bytes;
    item->size = table[i].size;
  }
  return finish(made, bundle);
}

enum front_status front_bundle_close(front_bundle bundle) {
  if (!bundle.impl) return status_fail(FRONT_ERR_ARGUMENT, "front_bundle_close: the bundle is null");
  release(bundle.impl);
  return FRONT_OK;
}

/* ---- what is in it ---- */

enum front_status front_bundle_count(front_bundle bundle, size_t *count) {
  if (!bundle.impl || !count) return status_fail(FRONT_ERR_ARGUMENT, "front_bundle_count: null argument");
  *count = bundle.impl->items;
  return FRONT_OK;
}

enum front_status front_bundle_describe(front_bundle bundle, size_t index, struct front_bundle_entry *entry) {
  if (!bundle.impl || !entry) return status_fail(FRONT_ERR_ARGUMENT, "front_bundle_describe: null argument");
  if (index >= bundle.impl->items)
    return status_fail(
        FRONT_ERR_NOT_FOUND, "front_bundle_describe: index %zu: %s has %zu code objects", index, bundle.impl->path, bundle.impl->items);
  *entry = bundle.impl->item[index].entry;
  return FRONT_OK;
}

struct list {
  char text[LIST_BYTES];
  size_t used, more;
};

__attribute__((format(printf, 2, 3))) static void list_add(struct list *list, const char *format, ...) {
  va_list args;
  size_t room = sizeof list->text - list->used;
  va_start(args, format);
  int n = vsnprintf(list->text + list->used, room, format, args);
  va_end(args);
  if (n < 0 || (size_t)n >= room) {
    list->text[list->used] = 0;
    list->more++;
  } else {
    list->used += (size_t)n;
  }
}

static enum front_status no_kernel(const struct bundle *bundle, const char *name, const char *arch) {
  struct list *list = calloc(1, sizeof *list);
  if (!list) return status_fail(FRONT_ERR_NOT_FOUND, "%s has no %s for %s", bundle->path, name, arch);
  size_t others = 0;
  for (size_t i = 0; i < bundle->items; i++) {
    if (strcmp(bundle->item[i].entry.arch, arch) != 0)
      others++;
    else
      list_add(list, "%s%s", list->used ? ", " : "", bundle->item[i].entry.name);
  }
  char more[48] = "", foreign[96] = "";
  if (list->more) snprintf(more, sizeof more, " and %zu more", list->more);
  if (others) snprintf(foreign, sizeof foreign, "; %zu code objects for another GPU are passed over", others);
  enum front_status status = status_fail(FRONT_ERR_NOT_FOUND, "%s has no %s for %s: there %s%s%s%s", bundle->path, name, arch,
      list->used ? "are " : "is none for it", list->text, more, foreign);
  free(list);
  return status;
}

static enum front_status read_item(const struct bundle *bundle, const struct item *item, void **image, size_t *bytes) {
  char shown[1400];
  uint8_t digest[SHA256_BYTES];
  snprintf(shown, sizeof shown, "%.1100s/%s", bundle->path, item->entry.file);
  if (item->bytes) {
    *image = malloc(item->size);
    if (!*image) return status_fail(FRONT_ERR_MEMORY, "%s: no host memory for its %zu bytes", shown, item->size);
    memcpy(*image, item->bytes, item->size);
    *bytes = item->size;
  } else {
    enum front_status status = file_read(bundle->folder, item->entry.file, shown, true, IMAGE_BYTES_MAX, image, bytes);
    if (status == FRONT_ERR_NOT_FOUND && faccessat(bundle->folder, item->entry.file, F_OK, 0) != 0 && errno == ENOENT)
      return status_fail(status, "%s: the index names it: the bundle is incomplete, or was replaced: open it again", front_error());
    if (status != FRONT_OK) return status;
  }
  sha256(*image, *bytes, digest);
  if (!memcmp(digest, item->sha256, sizeof digest)) return FRONT_OK;
  char found[SHA256_HEX];
  sha256_hex(digest, found);
  free(*image);
  return status_fail(FRONT_ERR_CODE_OBJECT,
      "%s: its %zu bytes have SHA-256 %s, the index says %s: it is damaged, cut short or of another bundle: copy it anew", shown, *bytes,
      found, item->entry.sha256);
}

enum front_status bundle_take(front_bundle bundle, const char *key, const char *arch, char name[96], void **image, size_t *bytes) {
  struct layer layer;
  enum front_status status = layer_parse(key, &layer);
  if (status != FRONT_OK) return status;
  layer_name(&layer, name);
  const struct item *found = NULL;
  for (size_t i = 0; i < bundle.impl->items; i++) {
    const struct item *item = &bundle.impl->item[i];
    if (strcmp(item->entry.name, name) != 0) continue;
    if (!strcmp(item->entry.arch, arch))
      found = item;
    else
      log_line("bundle %s: %s is for another GPU than %s: passed over", bundle.impl->path, item->entry.file, arch);
  }
  return found ? read_item(bundle.impl, found, image, bytes) : no_kernel(bundle.impl, name, arch);
}

enum front_status front_bundle_read(front_bundle bundle, const char *key, const char *arch, void **image, size_t *bytes) {
  if (!bundle.impl || !key || !arch || !image || !bytes) return status_fail(FRONT_ERR_ARGUMENT, "front_bundle_read: null argument");
  char name[LAYER_NAME_MAX];
  void *made;
  size_t size;
  enum front_status status = bundle_take(bundle, key, arch, name, &made, &size);
  if (status != FRONT_OK) return status;
  struct layer layer;
  struct front_kernel_info info;
  status = inspect_object(made, size, name, arch, &layer, &info);
  if (status != FRONT_OK) {
    free(made);
    return status_fail(status, "%s/%s.%s.hsaco: %s", bundle.impl->path, name, arch, front_error());
  }
  *image = made;
  *bytes = size;
  return FRONT_OK;
}

/* ---- which of them ---- */

static bool is_layer(const struct layer *a, const struct layer *b) {
  struct layer same_tokens = *a;
  same_tokens.tokens = b->tokens;
  return !memcmp(&same_tokens, b, sizeof *b);
}

static enum front_status no_size(
    const struct bundle *bundle, const char *arch, const struct layer *wanted, const char *layer, uint32_t tokens) {
  struct list *list = calloc(1, sizeof *list);
  if (!list) return status_fail(FRONT_ERR_NOT_FOUND, "%s has no kernel of %s for %u tokens", bundle->path, layer, tokens);
  for (size_t i = 0; i < bundle->items; i++)
    if (!strcmp(bundle->item[i].entry.arch, arch) && is_layer(&bundle->item[i].layer, wanted))
      list_add(list, "%s%d", list->used ? ", " : "", bundle->item[i].layer.tokens);
  enum front_status status = list->used ? status_fail(FRONT_ERR_NOT_FOUND, "%s has no kernel of %s on %s for %u tokens: its tokens are %s",
                                              bundle->path, layer, arch, tokens, list->text)
                                        : FRONT_OK;
  free(list);
  if (status != FRONT_OK) return status;
  return no_kernel(bundle, layer, arch);
}

enum front_status front_pick(front_bundle bundle, const char *arch, const char *layer, uint32_t tokens, struct front_pick *pick) {
  if (!bundle.impl || !arch || !layer || !pick || !tokens)
    return status_fail(FRONT_ERR_ARGUMENT, "front_pick: null argument, or no tokens");
  struct layer wanted;
  const struct item *best = NULL;
  if (!strncmp(layer, "front_", 6) || strstr(layer, "tokens="))
    return status_fail(
        FRONT_ERR_ARGUMENT, "front_pick: the layer \"%s\" has tokens: they are an argument of their own, leave them out", layer);
  enum front_status status = layer_parse_sized(layer, 1, &wanted);
  if (status != FRONT_OK) return status;
  for (size_t i = 0; i < bundle.impl->items; i++) {
    const struct item *item = &bundle.impl->item[i];
    bool fits = (uint32_t)item->layer.tokens >= tokens && !strcmp(item->entry.arch, arch) && is_layer(&item->layer, &wanted);
    if (fits && (!best || item->layer.tokens < best->layer.tokens)) best = item;
  }
  if (!best) return no_size(bundle.impl, arch, &wanted, layer, tokens);
  uint32_t rows = (uint32_t)best->layer.tokens;
  *pick = (struct front_pick){.tokens = rows, .first_pad = tokens, .pads = rows - tokens};
  memcpy(pick->name, best->entry.name, sizeof pick->name);
  return FRONT_OK;
}
