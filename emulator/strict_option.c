/* SPDX-License-Identifier: Apache-2.0 */
/* FRONT_EMU_STRICT, FRONT_EMU_SEED, FRONT_EMU_L2. */
#include "strict_option.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const l2_names[] = {[HSA_EMU_L2_NONCOHERENT] = "noncoherent", [HSA_EMU_L2_PROBED] = "probed"};

static bool refuse(char error[STRICT_ERROR_MAX], const char *name, const char *text, const char *allowed) {
  snprintf(error, STRICT_ERROR_MAX, "%s is \"%.40s\": it must be %s", name, text, allowed);
  return false;
}

static const char *value_of(const char *name) {
  const char *text = getenv(name);
  return text && *text ? text : NULL;
}

bool strict_from_environment(struct hsa_emu_strict *options, char error[STRICT_ERROR_MAX]) {
  const char *on = value_of("FRONT_EMU_STRICT"), *seed = value_of("FRONT_EMU_SEED"), *l2 = value_of("FRONT_EMU_L2");
  *options = (struct hsa_emu_strict){.l2 = HSA_EMU_L2_NONCOHERENT};
  if (on && strcmp(on, "0") != 0 && strcmp(on, "1") != 0) return refuse(error, "FRONT_EMU_STRICT", on, "0 or 1");
  options->on = on && *on == '1';
  if (seed) {
    char *end;
    errno = 0;
    options->seed = strtoull(seed, &end, 0);
    if (*end || errno || *seed == '-') return refuse(error, "FRONT_EMU_SEED", seed, "a number of 64 bits");
  }
  if (l2 && strcmp(l2, l2_names[HSA_EMU_L2_PROBED]) == 0)
    options->l2 = HSA_EMU_L2_PROBED;
  else if (l2 && strcmp(l2, l2_names[HSA_EMU_L2_NONCOHERENT]) != 0)
    return refuse(error, "FRONT_EMU_L2", l2, "noncoherent or probed");
  return true;
}

bool strict_option_good(const struct hsa_emu_strict *options) {
  return options->on <= 1 && (options->l2 == HSA_EMU_L2_NONCOHERENT || options->l2 == HSA_EMU_L2_PROBED);
}
