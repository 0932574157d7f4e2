/* SPDX-License-Identifier: Apache-2.0 */
/* The safetensors reader against files that lie, and the writer against the reader. The lies are written byte by byte, not by the writer.
 */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "safetensors.h"

/* A file of this header and `bytes` bytes of data; exact malloc'd size, so that a sanitizer sees a read beyond it. */
static char *make_file(const char *header, uint64_t claimed, size_t bytes, size_t *size) {
  size_t length = strlen(header);
  *size = 8 + length + bytes;
  char *file = malloc(*size);
  for (int i = 0; i < 8; i++) file[i] = (char)(claimed >> (8 * i));
  memcpy(file + 8, header, length);
  for (size_t i = 0; i < bytes; i++) file[8 + length + i] = (char)i;
  return file;
}

static void expect_refusal(const char *header, uint64_t claimed, size_t bytes, const char *says) {
  struct tensor_file parsed;
  char error[TENSOR_ERROR_MAX] = "";
  size_t size;
  char *file = make_file(header, claimed, bytes, &size);
  if (tensor_file_parse(file, size, &parsed, error)) fail_msg("accepted: %s", header);
  if (!strstr(error, says)) fail_msg("\"%s\" is not in \"%s\" (%s)", says, error, header);
  assert_null(parsed.tensor);
  free(file);
}

static void a_file_that_lies_is_refused_with_what_is_wrong(void **context) {
  (void)context;
  static const struct {
    const char *header, *says;
    size_t bytes;
  } lies[] = {
      {"{\"x\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,8]}}", "shape and dtype need 4", 8},
      {"{\"x\":{\"dtype\":\"U8\",\"shape\":[9],\"data_offsets\":[0,9]}}", "of 8", 8},
      {"{\"x\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[4,2]}}", "lies at bytes", 4},
      {"{\"x\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[-2,0]}}", "lies at bytes", 4},
      {"{\"x\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]},\"y\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[2,6]}}",
          "overlaps", 6},
      {"{\"x\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]},\"y\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]}}",
          "overlaps", 4},
      {"{\"x\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[2,4]}}", "belong to no tensor", 4},
      {"{\"x\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]}}", "end at byte 4 of 5", 5},
      {"{\"x\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},\"x\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,2]}}",
          "JSON", 2},
      {"{\"x\":{\"dtype\":\"F7\",\"shape\":[1],\"data_offsets\":[0,1]}}", "unknown dtype", 1},
      {"{\"x\":{\"shape\":[1],\"data_offsets\":[0,1]}}", "no dtype", 1},
      {"{\"x\":{\"dtype\":\"U8\",\"data_offsets\":[0,1]}}", "no shape", 1},
      {"{\"x\":{\"dtype\":\"U8\",\"shape\":[1]}}", "data_offsets", 1},
      {"{\"x\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1,1]}}", "data_offsets", 1},
      {"{\"x\":{\"dtype\":\"U8\",\"shape\":[1.0],\"data_offsets\":[0,1]}}", "not a count", 1},
      {"{\"x\":{\"dtype\":\"U8\",\"shape\":[-1],\"data_offsets\":[0,1]}}", "not a count", 1},
      {"{\"x\":{\"dtype\":\"U8\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,0]}}", "larger than any memory", 0},
      {"{\"x\":{\"dtype\":\"I64\",\"shape\":[4611686018427387904],\"data_offsets\":[0,0]}}", "larger than any memory", 0},
      {"{\"x\":{\"dtype\":\"U8\",\"shape\":[1,1,1,1,1,1,1,1,1],\"data_offsets\":[0,1]}}", "9 dimensions", 1},
      {"{\"x\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1],\"extra\":1}}", "extra", 1},
      {"{\"x\":[]}", "object", 0},
      {"{\"__metadata__\":{\"a\":1}}", "not a string", 0},
      {"{\"__metadata__\":[]}", "not an object", 0},
      {"[]", "begin with {", 0},
      {" {}", "begin with {", 0},
      {"{", "JSON", 0},
      {"{}x", "JSON", 0},
      {"{\"x\":{\"dtype\":\"U8\",\"shape\":[99999999999999999999],\"data_offsets\":[0,1]}}", "JSON", 1},
  };
  for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++)
    expect_refusal(lies[i].header, strlen(lies[i].header), lies[i].bytes, lies[i].says);
}

static void a_header_length_that_lies_is_refused_before_anything_is_allocated(void **context) {
  (void)context;
  expect_refusal("{}", 3, 0, "claims a header of 3 bytes, and has 2");
  expect_refusal("{}", UINT64_MAX, 0, "at most");
  expect_refusal("{}", UINT64_MAX - 7, 0, "at most");
  expect_refusal("{}", 0, 0, "begin with {");
  struct tensor_file parsed;
  char error[TENSOR_ERROR_MAX];
  for (size_t size = 0; size < 8; size++) {
    char *bytes = calloc(1, size + 1);
    assert_false(tensor_file_parse(bytes, size, &parsed, error));
    free(bytes);
  }
}

static void what_is_written_is_read_back_with_metadata_and_shapes(void **context) {
  (void)context;
  static const uint8_t bytes[6] = {1, 2, 3, 4, 5, 6};
  static const int64_t words[2] = {-1, INT64_MAX};
  static const float one = 1.5f;
  const struct tensor tensors[] = {{"small", DTYPE_F8_E8M0, 2, {2, 3}, bytes, 6}, {"scalar", DTYPE_F32, 1, {1}, &one, 4},
      {"wide", DTYPE_I64, 1, {2}, words, 16}, {"empty", DTYPE_BF16, 2, {0, 7}, bytes, 0}};
  const struct tensor_metadata metadata[] = {{"key", "tokens=8"}, {"odd \"name\"", "line\nbreak \xc3\xa9"}};
  char error[FRONTGEN_ERROR_MAX];
  const char *dir = temp_dir(), *path = path_in(dir, "a.safetensors");
  assert_int_equal(tensor_file_write(path, tensors, 4, metadata, 2, error), FRONTGEN_GOOD);
  assert_int_equal(count_files(dir), 1);
  struct tensor_file file;
  if (!tensor_file_read(path, &file, error)) fail_msg("%s", error);
  assert_int_equal(file.count, 4);
  for (int i = 0; i < 4; i++) {
    const struct tensor *t = tensor_file_find(&file, tensors[i].name);
    assert_non_null(t);
    assert_int_equal(t->dtype, tensors[i].dtype);
    assert_int_equal(t->rank, tensors[i].rank);
    assert_memory_equal(t->shape, tensors[i].shape, 8 * t->rank);
    assert_int_equal(t->bytes, tensors[i].bytes);
    if (t->bytes) assert_memory_equal(t->data, tensors[i].data, t->bytes);
    assert_int_equal((uintptr_t)t->data % tensor_dtype_bytes(t->dtype), 0);
  }
  assert_int_equal(file.metadata_count, 2);
  assert_null(tensor_file_find(&file, "smal"));
  tensor_file_free(&file);
}

static void a_file_that_cannot_be_written_leaves_nothing_behind(void **context) {
  (void)context;
  static const uint8_t byte = 7;
  const struct tensor tensor = {"x", DTYPE_U8, 1, {1}, &byte, 1}, wrong = {"x", DTYPE_U8, 1, {2}, &byte, 1};
  char error[FRONTGEN_ERROR_MAX];
  const char *dir = temp_dir();
  assert_int_equal(tensor_file_write(path_in(dir, "no/such/folder"), &tensor, 1, NULL, 0, error), FRONTGEN_USAGE);
  assert_non_null(strstr(error, "No such file"));
  assert_int_equal(tensor_file_write(path_in(dir, "wrong"), &wrong, 1, NULL, 0, error), FRONTGEN_USAGE);
  assert_int_equal(count_files(dir), 0);
}

/* ---- Python's package ---- */

static const char python_writes[] = "import sys, struct, safetensors\n"
                                    "t = {'x': {'dtype': 'bfloat16', 'shape': [2, 3], 'data': bytes(range(12))},\n"
                                    "     'wqkv': {'dtype': 'float8_e4m3fn', 'shape': [4], 'data': bytes([0, 1, 128, 254])},\n"
                                    "     'wqkv_s': {'dtype': 'float8_e8m0fnu', 'shape': [2, 1], 'data': bytes([127, 130])},\n"
                                    "     'pos': {'dtype': 'int64', 'shape': [1], 'data': struct.pack('<q', 131073)},\n"
                                    "     'kt': {'dtype': 'int32', 'shape': [1], 'data': struct.pack('<i', -2)},\n"
                                    "     'cos_sin': {'dtype': 'float32', 'shape': [1], 'data': struct.pack('<f', 0.5)},\n"
                                    "     'swa': {'dtype': 'uint8', 'shape': [3], 'data': b'abc'}}\n"
                                    "open(sys.argv[1], 'wb').write(safetensors.serialize(t, {'key': 'tokens=2'}))\n";

static const char python_reads[] =
    "import sys, struct, safetensors\n"
    "d = dict(safetensors.deserialize(open(sys.argv[1], 'rb').read()))\n"
    "want = {'x': ('BF16', [2, 3], bytes(range(12))), 'wqkv': ('F8_E4M3', [4], bytes([0, 1, 128, 254])),\n"
    "        'wqkv_s': ('F8_E8M0', [2, 1], bytes([127, 130])), 'pos': ('I64', [1], struct.pack('<q', 131073)),\n"
    "        'kt': ('I32', [1], struct.pack('<i', -2)), 'cos_sin': ('F32', [1], struct.pack('<f', 0.5)), 'swa': ('U8', [3], b'abc')}\n"
    "assert set(d) == set(want), set(d) ^ set(want)\n"
    "for name, (dtype, shape, data) in want.items():\n"
    "    t = d[name]\n"
    "    assert (t['dtype'], t['shape'], bytes(t['data'])) == (dtype, shape, data), (name, t)\n"
    "with safetensors.safe_open(sys.argv[1], 'numpy') as f:\n"
    "    assert f.metadata() == {'key': 'tokens=2'}, f.metadata()\n";

static void run_python(const char *script, const char *path) {
  struct outcome o = run(source_path(".venv/bin/python"), "-c", script, path);
  assert_code(&o, 0);
  outcome_free(&o);
}

static void pythons_package_reads_what_we_write_and_writes_what_we_read(void **context) {
  (void)context;
  char error[FRONTGEN_ERROR_MAX];
  struct tensor_file file;
  const char *dir = temp_dir();
  run_python(python_writes, path_in(dir, "python"));
  if (!tensor_file_read(path_in(dir, "python"), &file, error)) fail_msg("%s", error);
  assert_int_equal(file.count, 7);
  static const char *const names[] = {"x", "wqkv", "wqkv_s", "pos", "kt", "cos_sin", "swa"};
  static const enum tensor_dtype types[] = {DTYPE_BF16, DTYPE_F8_E4M3, DTYPE_F8_E8M0, DTYPE_I64, DTYPE_I32, DTYPE_F32, DTYPE_U8};
  for (int i = 0; i < 7; i++) assert_int_equal(tensor_file_find(&file, names[i])->dtype, types[i]);
  assert_string_equal(file.metadata[0].value, "tokens=2");
  int64_t pos;
  memcpy(&pos, tensor_file_find(&file, "pos")->data, 8);
  assert_int_equal(pos, 131073);
  assert_int_equal(
      tensor_file_write(path_in(dir, "ours"), file.tensor, file.count, file.metadata, file.metadata_count, error), FRONTGEN_GOOD);
  tensor_file_free(&file);
  run_python(python_reads, path_in(dir, "ours"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_file_that_lies_is_refused_with_what_is_wrong),
      cmocka_unit_test(a_header_length_that_lies_is_refused_before_anything_is_allocated),
      cmocka_unit_test(what_is_written_is_read_back_with_metadata_and_shapes),
      cmocka_unit_test(a_file_that_cannot_be_written_leaves_nothing_behind),
      cmocka_unit_test(pythons_package_reads_what_we_write_and_writes_what_we_read),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
