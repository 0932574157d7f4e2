/* SPDX-License-Identifier: Apache-2.0 */
/* frontgen check FILE...: the gates of section 9 on code objects. */
#include "cmd.h"

int cmd_check(int argc, char **argv) {
  (void)argc, (void)argv;
  return cmd_fail(FRONTGEN_ENVIRONMENT, "check comes with the gates");
}
