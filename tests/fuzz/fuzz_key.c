/* SPDX-License-Identifier: Apache-2.0 */
/* Key text, names and patterns from anybody: no fault, an error is a sentence, and what parses survives its own name. */
#include <stdlib.h>
#include <string.h>

#include "key.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition) {
  if (!condition) abort();
}

static void one_key(const char *text) {
  struct front_key key, again;
  char error[KEY_ERROR_MAX] = "", name[KEY_NAME_MAX];
  if (!key_parse(text, &key, error)) {
    require(error[0] && memchr(error, 0, sizeof error));
    return;
  }
  key_name(&key, name);
  require(strlen(name) < KEY_NAME_MAX);
  require(key_from_name(name, &again, error) && memcmp(&key, &again, sizeof key) == 0);
}

static void one_pattern(const char *text) {
  struct front_key *keys = NULL;
  size_t count = 0;
  char error[KEY_ERROR_MAX] = "";
  if (!key_expand(text, &keys, &count, error)) {
    require(!keys && error[0]);
    return;
  }
  require(count > 0 && count <= KEYS_MAX);
  for (size_t i = 0; i < count; i += 1 + count / 8) require(key_validate(&keys[i], error));
  free(keys);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct front_key key;
  char error[KEY_ERROR_MAX] = "";
  char *text = malloc(size + 1);
  if (!text) return 0;
  if (size) memcpy(text, data, size);
  text[size] = 0;
  one_key(text);
  if (!key_from_name(text, &key, error)) require(error[0]);
  one_pattern(text);
  free(text);
  return 0;
}
