/* SPDX-License-Identifier: Apache-2.0 */
/* HIP's visible-device list. ROCR_VISIBLE_DEVICES is HSA's own: what it hides is not among the agents. */
#include "visible.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

const char *visible_list(void) {
  const char *list = getenv("HIP_VISIBLE_DEVICES");
  if (!list || !*list) list = getenv("CUDA_VISIBLE_DEVICES");
  return list && *list ? list : NULL;
}

/* The device that a word of the list means, or `count`. */
static uint32_t find(const char *word, size_t length, const char (*uuid)[VISIBLE_UUID_BYTES], uint32_t count) {
  uint64_t number = 0;
  bool digits = length > 0 && length < 10;
  for (size_t i = 0; i < length && digits; i++) {
    digits = word[i] >= '0' && word[i] <= '9';
    number = number * 10 + (uint64_t)(word[i] - '0');
  }
  if (digits) return number < count ? (uint32_t)number : count;
  uint32_t i = 0;
  while (i < count && (strlen(uuid[i]) != length || strncmp(uuid[i], word, length) != 0)) i++;
  return length ? i : count;
}

uint32_t visible_devices(const char *list, const char (*uuid)[VISIBLE_UUID_BYTES], uint32_t count, uint32_t *index) {
  uint32_t shown = 0;
  for (uint32_t i = 0; i < count && !list; i++) index[shown++] = i;
  while (list && *list) {
    size_t length = strcspn(list, ",");
    uint32_t device = find(list, length, uuid, count), seen = 0;
    if (device == count) break;
    while (seen < shown && index[seen] != device) seen++;
    if (seen == shown) index[shown++] = device;
    list += length;
    list += *list == ',';
  }
  return shown;
}
