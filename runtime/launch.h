/* SPDX-License-Identifier: Apache-2.0 */
/* Packets. */
#ifndef FRONT_LAUNCH_H
#define FRONT_LAUNCH_H

#include "queue.h"

/* Fills a packet for one launch of the binding, all but its header, and returns the header (with its setup half), without fences. */
uint32_t launch_packet(const struct binding *binding, hsa_signal_t completion, hsa_kernel_dispatch_packet_t *packet);

#endif
