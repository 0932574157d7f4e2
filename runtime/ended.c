/* SPDX-License-Identifier: Apache-2.0 */
/* Calls back. */
#include "ended.h"

#include "instance_guard.h"
#include "status.h"

void ended_fire(struct ended *ended, enum front_status status) {
  uint32_t armed = ENDED_ARMED;
  if (!atomic_compare_exchange_strong(&ended->state, &armed, ENDED_RUNNING)) return;
  ended->call(ended->user, status);
  ended->state = ENDED_NONE;
}

/* HSA's thread. The launch is in flight until `handler` is 0, so all it points to is there. */
static bool on_signal(hsa_signal_value_t value, void *data) {
  struct ended *ended = data;
  uint32_t record[GUARD_RECORD_WORDS];
  (void)value;
  if (ended->state == ENDED_ARMED) ended_fire(ended, instance_guard_read(ended->instance, record) ? FRONT_ERR_TIMEOUT : FRONT_OK);
  ended->handler = 0;
  return false; /* once */
}

enum front_status ended_arm(struct ended *ended, hsa_signal_t done) {
  const struct hsa_table *hsa = ended->instance->kernel->device->hsa;
  if (!hsa->hsa_amd_signal_async_handler)
    return status_fail(FRONT_ERR_LIBRARY, "front_launch_with: ended: the HSA library has no hsa_amd_signal_async_handler: wait instead");
  ended->state = ENDED_ARMED;
  ended->handler = 1;
  hsa_status_t code = hsa->hsa_amd_signal_async_handler(done, HSA_SIGNAL_CONDITION_LT, 1, on_signal, ended);
  if (code == HSA_STATUS_SUCCESS) return FRONT_OK;
  ended->state = ENDED_NONE;
  ended->handler = 0;
  return hsa_fail(hsa, FRONT_ERR_HSA, "hsa_amd_signal_async_handler", code);
}
