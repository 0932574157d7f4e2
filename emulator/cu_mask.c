/* SPDX-License-Identifier: Apache-2.0 */
/* Reads lists of numbers and ranges. */
#include "cu_mask.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* "3" or "3-7" at *at, which moves behind it. */
static bool read_range(const char **at, unsigned long *first, unsigned long *last) {
  char *end;
  if (**at < '0' || **at > '9') return false;
  *first = *last = strtoul(*at, &end, 10);
  if (*end == '-') {
    const char *second = end + 1;
    if (*second < '0' || *second > '9') return false;
    *last = strtoul(second, &end, 10);
  }
  *at = end;
  return *first <= *last;
}

/* A list that ends at one of `ends`; its numbers below CU_MASK_BITS into the mask. */
static bool read_list(const char **at, const char *ends, uint32_t mask[CU_MASK_WORDS]) {
  memset(mask, 0, CU_MASK_WORDS * sizeof *mask);
  for (;;) {
    unsigned long first, last;
    if (!read_range(at, &first, &last)) return false;
    for (unsigned long i = first; i <= last && i < CU_MASK_BITS; i++) mask[i / 32] |= 1u << i % 32;
    if (strchr(ends, **at)) return true; /* the end of the text too, if ends is followed by it */
    if (*(*at)++ != ',') return false;
  }
}

void cu_mask_read(const char *text, uint32_t agent, uint32_t mask[CU_MASK_WORDS]) {
  uint32_t agents[CU_MASK_WORDS], units[CU_MASK_WORDS], found[CU_MASK_WORDS];
  bool named = false, good = text && *text;
  for (const char *at = text; good && *at;) {
    good = read_list(&at, ":", agents) && *at++ == ':' && read_list(&at, ";", units);
    if (!good) break;
    at += *at == ';';
    if (agent >= CU_MASK_BITS || !(agents[agent / 32] >> agent % 32 & 1)) continue;
    memcpy(found, units, sizeof found);
    named = true;
  }
  if (good && named)
    memcpy(mask, found, sizeof found);
  else
    memset(mask, 0xFF, CU_MASK_WORDS * sizeof *mask);
}
