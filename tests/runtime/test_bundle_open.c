/* SPDX-License-Identifier: Apache-2.0 */
/* Bundles through front.h: what is found in one, and what is not believed of one. */
#include "stub_setup.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sha256.h"

static char *noted; /* a code object with its note, front_s1_tp8_r0_w1_t0 for gfx950 */
static size_t noted_bytes;

#define NOTED "front_s1_tp8_r0_w1_t0"

static const char *hash_of(const void *data, size_t bytes) {
  static char hex[SHA256_HEX];
  uint8_t digest[SHA256_BYTES];
  sha256(data, bytes, digest);
  sha256_hex(digest, hex);
  return hex;
}

/* A bundle being written: a folder, and its index. */
struct writing {
  const char *dir;
  char index[16384];
  size_t used;
};

static void list(struct writing *w, const char *file, const void *data, size_t bytes) {
  int n = snprintf(w->index + w->used, sizeof w->index - w->used, "%s  %s\n", hash_of(data, bytes), file);
  w->used += (size_t)n;
  assert_true(w->used < sizeof w->index);
}

static void put(struct writing *w, const char *file, const void *data, size_t bytes) {
  write_file(path_in(w->dir, file), data, bytes);
  list(w, file, data, bytes);
}

static void finish(struct writing *w) { write_file(path_in(w->dir, "SHA256SUMS"), w->index, w->used); }

/* Objects without notes under these names, and one with its note. */
static struct writing three_sizes(void) {
  static const char *const names[] = {
      "front_s4_tp4_r2_w128_t0", "front_s8_tp4_r2_w128_t0", "front_s16_tp4_r2_w128_t0", "front_s12_tp4_r2_w128_t1"};
  struct writing w = {.dir = temp_dir()};
  size_t bytes;
  char file[200];
  const void *image = make_object("gfx950", 216, 0, 512, &bytes);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    snprintf(file, sizeof file, "%s.gfx950.hsaco", names[i]);
    put(&w, file, image, bytes);
  }
  put(&w, NOTED ".gfx950.hsaco", noted, noted_bytes);
  image = make_object("gfx942", 216, 0, 512, &bytes);
  put(&w, "front_s6_tp4_r2_w128_t0.gfx942.hsaco", image, bytes);
  put(&w, "manifest.json", "{}\n", 3);
  finish(&w);
  return w;
}

static front_bundle open_bundle(const char *path) {
  front_bundle bundle;
  if (front_bundle_open(path, &bundle) != FRONT_OK) fail_msg("%s", front_error());
  return bundle;
}

static void expect_words(const char *const words[]) {
  for (; *words; words++)
    if (!strstr(front_error(), *words)) fail_msg("no \"%s\" in: %s", *words, front_error());
}

#define EXPECT(...) expect_words((const char *const[]){__VA_ARGS__, NULL})

/* The bundle of three_sizes(), and a device for it. */
struct both {
  front_bundle bundle;
  front_runtime runtime;
  front_device device;
};

static struct both open_both(void) {
  struct both b;
  b.bundle = open_bundle(three_sizes().dir);
  b.device = open_stub(&b.runtime);
  return b;
}

static void close_both(struct both *b) {
  assert_int_equal(front_bundle_close(b->bundle), FRONT_OK);
  close_stub(b->runtime, b->device);
}

static void a_kernel_is_found_by_its_key_and_is_the_devices(void **context) {
  (void)context;
  struct both b = open_both();
  front_kernel kernel;
  struct front_kernel_info info;
  static const char *const keys[] = {"front_s8_tp4_r2_w128_t0", "window=128,tokens=8", NOTED};
  for (int i = 0; i < 3; i++) {
    assert_int_equal(front_kernel_load_bundle(b.device, b.bundle, keys[i], &kernel), FRONT_OK);
    assert_int_equal(front_kernel_describe(kernel, &info), FRONT_OK);
    assert_string_equal(info.name, i < 2 ? keys[0] : NOTED);
    assert_int_equal(front_kernel_destroy(kernel), FRONT_OK);
  }
  close_both(&b);
}

static void a_missing_key_is_an_error_that_lists_the_keys_there_are(void **context) {
  (void)context;
  struct both b = open_both();
  front_kernel kernel;
  assert_int_equal(front_kernel_load_bundle(b.device, b.bundle, "tokens=6", &kernel), FRONT_ERR_NOT_FOUND);
  EXPECT("no front_s6_tp4_r2_w128_t0 for gfx950", "front_s4_tp4_r2_w128_t0, front_s8_tp4_r2_w128_t0", "front_s12_tp4_r2_w128_t1", NOTED,
      "1 code objects for another GPU");
  assert_null(strstr(front_error(), "gfx942"));
  assert_int_equal(front_kernel_load_bundle(b.device, b.bundle, "tokens=49", &kernel), FRONT_ERR_ARGUMENT);
  close_both(&b);
}

static void the_list_of_keys_says_how_many_it_leaves_out(void **context) {
  (void)context;
  struct writing w = {.dir = temp_dir()};
  char *index = malloc(1 << 20), file[200];
  size_t used = 0;
  for (int i = 0; i < 1000; i++) {
    snprintf(file, sizeof file, "front_s%d_tp%d_r%d_w%d_t%d.gfx950.hsaco", 1 + i % 48, 4, i / 48, 128, 0);
    used += (size_t)sprintf(index + used, "%s  %s\n", hash_of("", 0), file);
  }
  write_file(path_in(w.dir, "SHA256SUMS"), index, used);
  free(index);
  front_bundle bundle = open_bundle(w.dir);
  void *image;
  size_t bytes, count;
  assert_int_equal(front_bundle_count(bundle, &count), FRONT_OK);
  assert_int_equal(count, 1000);
  assert_int_equal(front_bundle_read(bundle, "tokens=1,tp=1", "gfx950", &image, &bytes), FRONT_ERR_NOT_FOUND);
  const char *more = strstr(front_error(), " and "), *name = front_error();
  unsigned listed = 0, left = 0;
  assert_non_null(more);
  assert_int_equal(sscanf(more, " and %u more", &left), 1);
  while ((name = strstr(name, "front_s")) && name < more) listed++, name++;
  assert_int_equal(listed - 1 + left, 1000); /* the first is the one that was asked for */
  assert_int_equal(front_bundle_close(bundle), FRONT_OK);
}

static void a_step_takes_the_smallest_kernel_that_holds_it(void **context) {
  (void)context;
  static const struct { uint32_t tokens, rows; } steps[] = {{1, 4}, {4, 4}, {5, 8}, {8, 8}, {9, 16}, {16, 16}};
  struct writing w = three_sizes();
  front_bundle bundle = open_bundle(w.dir);
  struct front_pick pick;
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
    char name[64];
    assert_int_equal(front_pick(bundle, "gfx950", "tp=4,ratio=2,window=128,tuned=0", steps[i].tokens, &pick), FRONT_OK);
    snprintf(name, sizeof name, "front_s%u_tp4_r2_w128_t0", steps[i].rows);
    assert_string_equal(pick.name, name);
    assert_int_equal(pick.tokens, steps[i].rows);
    assert_int_equal(pick.first_pad, steps[i].tokens);
    assert_int_equal(pick.pads, steps[i].rows - steps[i].tokens);
  }
  assert_int_equal(front_pick(bundle, "gfx950", "tuned=1", 9, &pick), FRONT_OK);
  assert_string_equal(pick.name, "front_s12_tp4_r2_w128_t1");
  assert_int_equal(front_pick(bundle, "gfx942", "tp=4", 5, &pick), FRONT_OK);
  assert_int_equal(pick.tokens, 6);
  assert_int_equal(front_pick(bundle, "gfx950", "tp=4", 17, &pick), FRONT_ERR_NOT_FOUND);
  EXPECT("17 tokens", "4, 8, 16");
  assert_int_equal(front_pick(bundle, "gfx950", "tp=2", 1, &pick), FRONT_ERR_NOT_FOUND);
  EXPECT("tp=2", NOTED);
  assert_int_equal(front_pick(bundle, "gfx950", "tp=3", 1, &pick), FRONT_ERR_ARGUMENT);
  assert_int_equal(front_pick(bundle, "gfx950", "tp=4", 0, &pick), FRONT_ERR_ARGUMENT);
  assert_int_equal(front_pick(bundle, "gfx950", "tokens=4,tp=4", 1, &pick), FRONT_ERR_ARGUMENT);
  EXPECT("tokens=4,tp=4", "leave them out");
  assert_int_equal(front_pick(bundle, "gfx950", "front_s4_tp4_r2_w128_t0", 1, &pick), FRONT_ERR_ARGUMENT);
  assert_int_equal(front_bundle_close(bundle), FRONT_OK);
}

static void what_is_read_has_the_hash_of_the_index_and_the_key_of_its_name(void **context) {
  (void)context;
  struct writing w = three_sizes();
  void *image;
  size_t bytes;
  front_bundle bundle = open_bundle(w.dir);
  assert_int_equal(front_bundle_read(bundle, NOTED, "gfx950", &image, &bytes), FRONT_OK);
  assert_int_equal(bytes, noted_bytes);
  assert_memory_equal(image, noted, bytes);
  free(image);

  write_file(path_in(w.dir, NOTED ".gfx950.hsaco"), noted, noted_bytes - 1); /* cut short behind our back */
  assert_int_equal(front_bundle_read(bundle, NOTED, "gfx950", &image, &bytes), FRONT_ERR_CODE_OBJECT);
  EXPECT(NOTED ".gfx950.hsaco", "cut short", hash_of(noted, noted_bytes));
  noted[noted_bytes / 2] ^= 1;
  write_file(path_in(w.dir, NOTED ".gfx950.hsaco"), noted, noted_bytes);
  noted[noted_bytes / 2] ^= 1;
  assert_int_equal(front_bundle_read(bundle, NOTED, "gfx950", &image, &bytes), FRONT_ERR_CODE_OBJECT);
  EXPECT("SHA-256", "damaged");
  assert_int_equal(front_bundle_close(bundle), FRONT_OK);

  struct writing other = {.dir = temp_dir()}; /* with a good hash, but another kernel, or for another GPU */
  put(&other, "front_s2_tp8_r0_w1_t0.gfx950.hsaco", noted, noted_bytes);
  put(&other, NOTED ".gfx942.hsaco", noted, noted_bytes);
  finish(&other);
  bundle = open_bundle(other.dir);
  assert_int_equal(front_bundle_read(bundle, "front_s2_tp8_r0_w1_t0", "gfx950", &image, &bytes), FRONT_ERR_NOT_FOUND);
  EXPECT("is " NOTED, "front_s2_tp8_r0_w1_t0 was asked for");
  assert_int_equal(front_bundle_read(bundle, NOTED, "gfx942", &image, &bytes), FRONT_ERR_ISA);
  EXPECT("is for gfx950", "gfx942");
  assert_int_equal(front_bundle_close(bundle), FRONT_OK);
}

static void a_file_that_is_no_plain_file_of_the_folder_is_not_followed(void **context) {
  (void)context;
  struct writing w = {.dir = temp_dir()};
  void *image;
  size_t bytes;
  write_file(path_in(w.dir, "elsewhere"), noted, noted_bytes);
  list(&w, NOTED ".gfx950.hsaco", noted, noted_bytes);
  list(&w, "front_s2_tp8_r0_w1_t0.gfx950.hsaco", noted, noted_bytes);
  list(&w, "front_s3_tp8_r0_w1_t0.gfx950.hsaco", noted, noted_bytes);
  list(&w, "front_s4_tp8_r0_w1_t0.gfx950.hsaco", noted, noted_bytes);
  list(&w, "front_s5_tp8_r0_w1_t0.gfx950.hsaco", noted, noted_bytes);
  list(&w, "front_s6_tp8_r0_w1_t0.gfx950.hsaco", noted, noted_bytes);
  finish(&w);
  assert_int_equal(symlink("elsewhere", path_in(w.dir, NOTED ".gfx950.hsaco")), 0);
  assert_int_equal(mkdir(path_in(w.dir, "front_s2_tp8_r0_w1_t0.gfx950.hsaco"), 0755), 0);
  assert_int_equal(mkfifo(path_in(w.dir, "front_s3_tp8_r0_w1_t0.gfx950.hsaco"), 0644), 0);
  int huge = open(path_in(w.dir, "front_s4_tp8_r0_w1_t0.gfx950.hsaco"), O_CREAT | O_WRONLY, 0644);
  assert_true(huge >= 0 && ftruncate(huge, (off_t)1 << 40) == 0 && close(huge) == 0);
  write_file(path_in(w.dir, "front_s6_tp8_r0_w1_t0.gfx950.hsaco"), "", 0);
  front_bundle bundle = open_bundle(w.dir);
  static const struct {
    const char *key, *says;
    enum front_status status;
  } cases[] = {
      {NOTED, "symbolic link", FRONT_ERR_CODE_OBJECT},
      {"front_s2_tp8_r0_w1_t0", "not a regular file", FRONT_ERR_CODE_OBJECT},
      {"front_s3_tp8_r0_w1_t0", "not a regular file", FRONT_ERR_CODE_OBJECT},
      {"front_s4_tp8_r0_w1_t0", "1099511627776 bytes", FRONT_ERR_CODE_OBJECT},
      {"front_s5_tp8_r0_w1_t0", "No such file or directory: the index names it", FRONT_ERR_NOT_FOUND},
      {"front_s6_tp8_r0_w1_t0", "empty", FRONT_ERR_CODE_OBJECT},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_int_equal(front_bundle_read(bundle, cases[i].key, "gfx950", &image, &bytes), cases[i].status);
    EXPECT(cases[i].says, cases[i].key);
  }
  assert_int_equal(front_bundle_close(bundle), FRONT_OK);
}

#define HASH "0123456789abcdef0123456789abcdef0123456789abcdef0123456789ABCDEF"
#define GOOD HASH "  front_s8_tp4_r2_w128_t0.gfx950.hsaco\n"

static void a_bad_index_is_refused_with_its_line(void **context) {
  (void)context;
  static const struct {
    const char *text, *says;
  } cases[] = {
      {"", "empty"},
      {GOOD HASH "  x", "cut short"},
      {GOOD "0123  x\n", "line 2: a SHA-256 of 64"},
      {HASH "0  x\n", "here are 65"},
      {"-" HASH "  x\n", "here are 0"},
      {"\\" HASH "  x\n", "here are 0"},
      {HASH "\n", "line 1: two blanks"},
      {HASH " x\n", "two blanks"},
      {HASH "  \n", "letters, digits"},
      {GOOD HASH "  ../x.gfx950.hsaco\n", "line 2: the file's name leaves the folder"},
      {HASH "  /etc/passwd\n", "leaves the folder"},
      {HASH "  sub/x.gfx950.hsaco\n", "leaves the folder"},
      {HASH "  ..\n", "no dot first"},
      {HASH "  .hidden\n", "no dot first"},
      {HASH "  a\\b\n", "letters, digits"},
      {HASH "  a b\n", "letters, digits"},
      {HASH "  x.hsaco\r\n", "line 1: it ends in CR LF"},
      {HASH "  x.hs\raco\n", "letters, digits"},
      {GOOD HASH " *front_s8_tp4_r2_w128_t0.gfx950.hsaco\n", "is there twice"},
      {HASH "  manifest.json\n", "no code object of a front kernel"},
      {HASH "  front_s8_tp4_r2_w128_t0.hsaco\n", "no code object of a front kernel"},
      {HASH "  front_s99_tp4_r2_w128_t0.gfx950.hsaco\n", "no code object of a front kernel"},
      {HASH "  front_s08_tp4_r2_w128_t0.gfx950.hsaco\n", "no code object of a front kernel"},
  };
  const char *dir = temp_dir();
  front_bundle bundle;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    write_file(path_in(dir, "SHA256SUMS"), cases[i].text, strlen(cases[i].text));
    if (front_bundle_open(dir, &bundle) == FRONT_OK) fail_msg("%s", cases[i].text);
    EXPECT(cases[i].says, dir);
  }
  write_file(path_in(dir, "SHA256SUMS"), HASH "  a\0b\n", 70);
  assert_int_equal(front_bundle_open(dir, &bundle), FRONT_ERR_CODE_OBJECT);
  assert_int_equal(truncate(path_in(dir, "SHA256SUMS"), (off_t)1 << 40), 0);
  assert_int_equal(front_bundle_open(dir, &bundle), FRONT_ERR_CODE_OBJECT);
  EXPECT("1099511627776 bytes");
  assert_int_equal(unlink(path_in(dir, "SHA256SUMS")), 0);
  assert_int_equal(front_bundle_open(dir, &bundle), FRONT_ERR_NOT_FOUND);
  EXPECT("SHA256SUMS", "No such file", "index is needed");
  assert_int_equal(front_bundle_open(path_in(dir, "none"), &bundle), FRONT_ERR_NOT_FOUND);
  EXPECT("No such file");
}

static void a_folder_may_be_read_only_and_may_move(void **context) {
  (void)context;
  struct writing w = three_sizes();
  const char *elsewhere = path_in(temp_dir(), "moved");
  void *image;
  size_t bytes;
  front_bundle bundle = open_bundle(w.dir);
  assert_int_equal(rename(w.dir, elsewhere), 0);
  assert_int_equal(chmod(elsewhere, 0555), 0);
  assert_int_equal(front_bundle_read(bundle, NOTED, "gfx950", &image, &bytes), FRONT_OK);
  free(image);
  assert_int_equal(front_bundle_close(bundle), FRONT_OK);
  bundle = open_bundle(elsewhere);
  assert_int_equal(front_bundle_read(bundle, NOTED, "gfx950", &image, &bytes), FRONT_OK);
  free(image);
  assert_int_equal(front_bundle_close(bundle), FRONT_OK);
  assert_int_equal(chmod(elsewhere, 0755), 0);
  assert_int_equal(mkdir(w.dir, 0755), 0); /* for who cleans up */
}

static void a_file_an_image_and_a_table_are_bundles_too(void **context) {
  (void)context;
  const char *path = path_in(temp_dir(), "any.name");
  write_file(path, noted, noted_bytes);
  char hash[SHA256_HEX];
  strcpy(hash, hash_of(noted, noted_bytes));
  const struct front_embedded table[] = {{NOTED ".gfx950.hsaco", noted, noted_bytes, hash}};
  for (int kind = 0; kind < 3; kind++) {
    front_bundle bundle;
    struct front_bundle_entry entry;
    void *image;
    size_t bytes;
    if (kind == 0) bundle = open_bundle(path);
    if (kind == 1) assert_int_equal(front_bundle_open_image(noted, noted_bytes, &bundle), FRONT_OK);
    if (kind == 2) assert_int_equal(front_bundle_open_embedded(table, 1, &bundle), FRONT_OK);
    assert_int_equal(front_bundle_describe(bundle, 0, &entry), FRONT_OK);
    assert_string_equal(entry.name, NOTED);
    assert_string_equal(entry.arch, "gfx950");
    assert_string_equal(entry.file, NOTED ".gfx950.hsaco");
    assert_string_equal(entry.sha256, hash);
    assert_int_equal(front_bundle_describe(bundle, 1, &entry), FRONT_ERR_NOT_FOUND);
    assert_int_equal(front_bundle_read(bundle, NOTED, "gfx950", &image, &bytes), FRONT_OK);
    assert_memory_equal(image, noted, bytes);
    free(image);
    assert_int_equal(front_bundle_close(bundle), FRONT_OK);
  }
}

static void a_bad_file_image_or_table_is_refused(void **context) {
  (void)context;
  front_bundle bundle;
  size_t bytes;
  const void *without = make_object("gfx950", 216, 0, 512, &bytes);
  const char *hash = HASH, *name = NOTED ".gfx950.hsaco";
  assert_int_equal(front_bundle_open_image(without, bytes, &bundle), FRONT_ERR_CODE_OBJECT);
  EXPECT("give the key");
  assert_int_equal(front_bundle_open_image("CCOB....", 8, &bundle), FRONT_ERR_CODE_OBJECT);
  EXPECT("clang-offload-bundler");
  for (size_t keep = 1; keep < noted_bytes; keep += noted_bytes / 5)
    assert_int_equal(front_bundle_open_image(noted, keep, &bundle), FRONT_ERR_CODE_OBJECT);
  const struct front_embedded bad[] = {
      {"../" NOTED ".gfx950.hsaco", noted, noted_bytes, hash},
      {NULL, noted, noted_bytes, hash},
      {name, NULL, noted_bytes, hash},
      {name, noted, 0, hash},
      {name, noted, SIZE_MAX, hash},
      {name, noted, noted_bytes, HASH "0"},
      {name, noted, noted_bytes, NULL},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    assert_int_equal(front_bundle_open_embedded(&bad[i], 1, &bundle), FRONT_ERR_CODE_OBJECT);
  const struct front_embedded twice[] = {{name, noted, noted_bytes, hash}, {name, noted, noted_bytes, hash}};
  assert_int_equal(front_bundle_open_embedded(twice, 2, &bundle), FRONT_ERR_CODE_OBJECT);
  EXPECT("there twice");
  void *image;
  assert_int_equal(front_bundle_open_embedded(twice, 1, &bundle), FRONT_OK); /* a wrong hash shows at first use */
  assert_int_equal(front_bundle_read(bundle, NOTED, "gfx950", &image, &bytes), FRONT_ERR_CODE_OBJECT);
  assert_int_equal(front_bundle_close(bundle), FRONT_OK);
}

/* The head of the note in a code object: u32 format, u32 kernarg ABI. */
static char *note_head(void) {
  static const char owner[12] = "frontgen", type[4] = {1, 0, 0, 0};
  for (size_t i = sizeof type; i + 20 < noted_bytes; i++)
    if (!memcmp(noted + i, owner, sizeof owner) && !memcmp(noted + i - 4, type, 4)) return noted + i + sizeof owner;
  fail_msg("no note");
  return NULL;
}

static void a_code_object_of_an_older_or_newer_abi_is_refused_with_both_numbers(void **context) {
  (void)context;
  static const struct {
    int offset;
    uint32_t value;
    const char *says[2];
  } cases[] = {
      {4, 0, {"kernarg ABI 0, this library has 1", "build one for the other"}},
      {4, 2, {"kernarg ABI 2, this library has 1", "build one for the other"}},
      {0, 2, {"format 2", "reads 1"}},
  };
  front_runtime runtime;
  front_device device = open_stub(&runtime);
  char *head = note_head();
  assert_int_equal(front_kernarg_abi(), 1);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    front_kernel kernel;
    front_bundle bundle;
    const uint32_t before = 1;
    memcpy(head + cases[i].offset, &cases[i].value, 4);
    assert_int_equal(front_kernel_load(device, noted, noted_bytes, NULL, &kernel), FRONT_ERR_CODE_OBJECT);
    EXPECT(cases[i].says[0], cases[i].says[1]);
    assert_int_equal(
        front_kernel_load(device, noted, noted_bytes, NOTED, &kernel), FRONT_ERR_CODE_OBJECT); /* naming the key is no way round */
    assert_int_equal(front_bundle_open_image(noted, noted_bytes, &bundle), FRONT_ERR_CODE_OBJECT);
    EXPECT(cases[i].says[0], cases[i].says[1]);
    memcpy(head + cases[i].offset, &before, 4);
  }
  close_stub(runtime, device);
}

static void kernels_of_a_newer_frontgen_in_a_bundle_are_passed_over(void **context) {
  (void)context;
  struct writing w = three_sizes();
  put(&w, "front_s8_tp4_r2_w128_t0_later.gfx950.hsaco", "x", 1);
  finish(&w);
  front_bundle bundle = open_bundle(w.dir);
  size_t count;
  assert_int_equal(front_bundle_count(bundle, &count), FRONT_OK);
  assert_int_equal(count, 6);
  assert_int_equal(front_bundle_close(bundle), FRONT_OK);
}

static void keep_line(void *user, const char *line) {
  char *lines = user;
  strncat(lines, line, 4000 - strlen(lines));
  strncat(lines, "\n", 4000 - strlen(lines));
}

static void what_is_passed_over_is_in_the_log(void **context) {
  (void)context;
  char lines[4096] = "";
  struct writing w = three_sizes();
  put(&w, "front_s8_tp4_r2_w128_t0.gfx942.hsaco", "x", 1);
  finish(&w);
  front_log(keep_line, lines);
  front_bundle bundle = open_bundle(w.dir);
  front_runtime runtime;
  front_kernel kernel;
  front_device device = open_stub(&runtime);
  assert_int_equal(front_kernel_load_bundle(device, bundle, "tokens=8", &kernel), FRONT_OK);
  front_log(NULL, NULL);
  static const char *const words[] = {"manifest.json is not named", "front_s8_tp4_r2_w128_t0.gfx942.hsaco is for another GPU than gfx950"};
  for (int i = 0; i < 2; i++)
    if (!strstr(lines, words[i])) fail_msg("no \"%s\" in: %s", words[i], lines);
  assert_int_equal(front_kernel_destroy(kernel), FRONT_OK);
  assert_int_equal(front_bundle_close(bundle), FRONT_OK);
  close_stub(runtime, device);
}

int main(int argc, char **argv) {
  if (argc != 2 || !stub_load()) return 1;
  noted = read_file(argv[1], &noted_bytes);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(a_kernel_is_found_by_its_key_and_is_the_devices, stub_before_each),
      cmocka_unit_test_setup(a_missing_key_is_an_error_that_lists_the_keys_there_are, stub_before_each),
      cmocka_unit_test(the_list_of_keys_says_how_many_it_leaves_out),
      cmocka_unit_test(a_step_takes_the_smallest_kernel_that_holds_it),
      cmocka_unit_test(what_is_read_has_the_hash_of_the_index_and_the_key_of_its_name),
      cmocka_unit_test(a_file_that_is_no_plain_file_of_the_folder_is_not_followed),
      cmocka_unit_test(a_bad_index_is_refused_with_its_line),
      cmocka_unit_test(a_folder_may_be_read_only_and_may_move),
      cmocka_unit_test(a_file_an_image_and_a_table_are_bundles_too),
      cmocka_unit_test(a_bad_file_image_or_table_is_refused),
      cmocka_unit_test_setup(a_code_object_of_an_older_or_newer_abi_is_refused_with_both_numbers, stub_before_each),
      cmocka_unit_test(kernels_of_a_newer_frontgen_in_a_bundle_are_passed_over),
      cmocka_unit_test_setup(what_is_passed_over_is_in_the_log, stub_before_each),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  free(noted);
  return failed;
}
