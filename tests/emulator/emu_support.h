/* SPDX-License-Identifier: Apache-2.0 */
/* A launch in a few lines, through the emulator's HSA API. A call that fails fails the running test. One thread. */
#ifndef TESTS_EMU_SUPPORT_H
#define TESTS_EMU_SUPPORT_H

#include "support.h"

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include "hsa_emu.h"

struct emu_gpu {
  hsa_agent_t agent;
  hsa_amd_memory_pool_t device, kernarg;
  hsa_queue_t *queue;
  hsa_signal_t signal;
  void *args;             /* kernarg memory, a part for each of the queue's slots */
  int error;              /* the queue's, 0: none. Atomic */
  uint64_t fault_address; /* of the last memory fault event. Atomic */
};

struct emu_kernel {
  hsa_executable_t executable;
  uint64_t object;
  uint32_t kernarg_bytes, lds_bytes, private_bytes;
};

/* hsa_init, the GPU agent, a queue of 64 packets. */
void gpu_open(struct emu_gpu *g);
void gpu_close(struct emu_gpu *g);

/* A test that finds `gpu` open. If FRONT_EMU_STRICT=1 is in the environment it fails if strict mode has found anything. */
extern struct emu_gpu gpu;
int gpu_setup(void **state);
int gpu_teardown(void **state);
#define GPU_TEST(f) cmocka_unit_test_setup_teardown(f, gpu_setup, gpu_teardown)

/* Device memory, zeros (beyond 16 MB: as the emulator gives it); freed by gpu_close. */
void *gpu_memory(struct emu_gpu *g, size_t bytes);
void *gpu_memory_unwritten(struct emu_gpu *g, size_t bytes); /* as the emulator gives it */

/* The kernel "k" of an IR module (or of assembly); the module's triple is amdgcn-amd-amdhsa. `ir` stays as it is: it is compiled once. */
struct emu_kernel kernel_of_ir(struct emu_gpu *g, const char *ir);
struct emu_kernel kernel_of_assembly(struct emu_gpu *g, const char *assembly);
void kernel_free(struct emu_kernel *k);

/* Assembly of a kernel "k" with these lines as its body: s[0:1] is the kernarg address, s2 the workgroup id, v0 the work-item id. */
const char *assembly_of(const char *body);

/* Writes a dispatch packet into the queue's next slot, without its header; returns the packet's index. `args` are copied. */
uint64_t gpu_write_packet(
    struct emu_gpu *g, const struct emu_kernel *k, uint32_t groups, uint32_t size, const void *args, size_t bytes, hsa_signal_t done);
void gpu_publish_packet(struct emu_gpu *g, uint64_t index); /* stores its header, with the barrier bit */
void gpu_ring(struct emu_gpu *g, uint64_t index);

/* A launch of `groups` workgroups of `size` work-items, for gpu_await(g, g->signal). */
void gpu_begin(struct emu_gpu *g, const struct emu_kernel *k, uint32_t groups, uint32_t size, const void *args, size_t bytes);

/* One launch of `groups` workgroups of `size` work-items, waited for. 0, or the error that the queue's callback got. */
int gpu_launch(struct emu_gpu *g, const struct emu_kernel *k, uint32_t groups, uint32_t size, const void *args, size_t bytes);

/* Until the signal is 0 or the queue has an error. */
int gpu_await(struct emu_gpu *g, hsa_signal_t signal);

/* The last report (of hsa_emu_report). Static storage, until the next call. */
const char *gpu_report(void);

#endif
