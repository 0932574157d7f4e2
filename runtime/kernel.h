/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel of a code object, loaded on a device. */
#ifndef FRONT_KERNEL_H
#define FRONT_KERNEL_H

#include "device.h"
#include "layer.h"

struct kernel {
  struct device *device;
  struct layer layer;
  struct front_kernel_info info;
  hsa_executable_t executable;
  uint64_t object;    /* address of the kernel descriptor, as a packet wants it */
  uint32_t lds_bytes; /* group segment of a packet */
  void *image;        /* HSA's reader borrows it */
  size_t image_bytes;
  _Atomic uint32_t users; /* instances */
};

#endif
