/* SPDX-License-Identifier: Apache-2.0 */
/* What a linked AMDGPU code object (ELF64, one GPU) says: segments, symbols, relocations, kernel descriptors and metadata, as structs.
   The image is untrusted: every offset and size is checked before it is used. libc only; no state, thread safe. */
#ifndef CODEOBJECT_H
#define CODEOBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CODE_ERROR_MAX = 256, CODE_ARCH_MAX = 24 };

#define CODE_UNKNOWN UINT32_MAX

/* A target feature of the code: `any` runs with it on or off, and says nothing in the target's name. */
enum code_feature { CODE_UNSUPPORTED, CODE_ANY, CODE_OFF, CODE_ON };

/* A PT_LOAD segment. `filesz` bytes of the image from `offset` go to `vaddr`; the rest up to `memsz` is zero. */
struct code_segment {
  uint64_t vaddr, offset, filesz, memsz, align;
  bool read, write, execute;
};

/* A dynamic symbol that is defined in the object. */
struct code_symbol {
  const char *name; /* in the image */
  uint64_t vaddr, size;
  bool function, object;
};

/* The 8 bytes at `vaddr` become the load address + `value`. (R_AMDGPU_RELATIVE64, R_AMDGPU_ABS64 of a symbol defined here.) */
struct code_reloc {
  uint64_t vaddr, value;
};

/* The 64-byte kernel descriptor, decoded. Rounding modes: 0 to nearest even, 1 up, 2 down, 3 to zero. Denormal modes: bit 0 keeps source
   denormals, bit 1 keeps result denormals (3: both, 0: flush both). */
struct code_descriptor {
  uint32_t group_segment_bytes, private_segment_bytes, kernarg_bytes;
  int64_t entry_offset; /* of the code, from the descriptor */
  uint32_t rsrc1, rsrc2, rsrc3;
  uint16_t properties;
  uint32_t granulated_vgprs; /* the field; vgprs = (it + 1) * 8 */
  uint32_t vgprs;            /* allocated to a wave: VGPRs and AGPRs together */
  uint32_t sgprs;            /* (granulated field / 2 + 1) * 16 */
  uint32_t accum_offset;     /* the first AGPR's place in the allocation */
  uint32_t round_f32, round_f16_f64, denorm_f32, denorm_f16_f64;
  bool dx10_clamp, ieee, fp16_overflow, tg_split;
  bool enable_private_segment;
  uint32_t user_sgprs;
  bool workgroup_id_x, workgroup_id_y, workgroup_id_z, workgroup_info;
  uint32_t workitem_ids; /* 0: x, 1: x y, 2: x y z, packed into v0: x | y << 10 | z << 20 */
  bool sgpr_private_segment_buffer, sgpr_dispatch_ptr, sgpr_queue_ptr, sgpr_kernarg_ptr, sgpr_dispatch_id, sgpr_flat_scratch_init,
      sgpr_private_segment_size;
  bool uses_dynamic_stack;
  uint32_t preload_dwords, preload_offset; /* kernarg preload: count and first, in dwords */
  uint32_t wave_size;                      /* 64, or 32 */
};

/* An argument, from the metadata. */
struct code_arg {
  const char *value_kind; /* "global_buffer", "by_value", "hidden_..." */
  const char *name;       /* "" if the compiler gave none */
  uint32_t offset, size;  /* bytes, in the kernarg segment */
  bool hidden;
};

struct code_kernel {
  const char *name;           /* of the code's symbol */
  const char *symbol;         /* of the descriptor's: name + ".kd" */
  uint64_t entry, code_bytes; /* vaddr and size of the code */
  uint64_t descriptor_vaddr;
  struct code_descriptor descriptor;
  /* The metadata; without any, sizes are the descriptor's and the rest is 0. The four counts that a compiler may leave out are
     CODE_UNKNOWN then. */
  bool has_metadata;
  uint32_t vgpr_count, sgpr_count, agpr_count, vgpr_spill_count, sgpr_spill_count;
  uint32_t kernarg_segment_size, kernarg_segment_align, group_segment_fixed_size, private_segment_fixed_size;
  uint32_t max_flat_workgroup_size, reqd_workgroup_size[3]; /* 0, 0, 0: not required */
  uint32_t wavefront_size;
  bool uses_dynamic_stack;
  struct code_arg *arg;
  uint32_t args, hidden_args; /* args counts the hidden ones too */
};

struct code_object {
  const uint8_t *image; /* borrowed until code_object_close() */
  size_t bytes;
  uint32_t version;         /* code object version: 4, 5, 6 */
  char arch[CODE_ARCH_MAX]; /* "gfx950" */
  enum code_feature xnack, sramecc;
  const char *target;           /* metadata's amdhsa.target: "amdgcn-amd-amdhsa--gfx950" (features behind it, if any) */
  uint32_t metadata_version[2]; /* amdhsa.version */
  uint64_t span;                /* bytes of address space that the segments take, from vaddr 0 */
  struct code_segment *segment;
  uint32_t segments;
  struct code_symbol *symbol;
  uint32_t symbols;
  struct code_reloc *reloc;
  uint32_t relocs;
  struct code_kernel *kernel;
  uint32_t kernels;
  const uint8_t *front_note; /* our note's contents (note.h reads them), null if there is none; in the image */
  size_t front_note_bytes;
  void *storage; /* what code_object_close() frees */
};

/* Reads and checks the image of a bare code object for gfx950 or gfx942. The image is borrowed until code_object_close(). On failure:
   false, one sentence in `error` (a bundled or compressed container is named, with what extracts it), and nothing to close. */
bool code_object_open(const void *image, size_t bytes, struct code_object *co, char error[CODE_ERROR_MAX]);

/* Frees what open allocated. The image stays the caller's. */
void code_object_close(struct code_object *co);

/* The kernel with this name (with or without ".kd"), or null. A null name: the only kernel, null if there are more. */
const struct code_kernel *code_object_kernel(const struct code_object *co, const char *name);

/* The symbol with this name, or null. */
const struct code_symbol *code_object_symbol(const struct code_object *co, const char *name);

/* `bytes` bytes of the image that are loaded at vaddr, or null if they are not all there (zero-filled parts are not). */
const uint8_t *code_object_at(const struct code_object *co, uint64_t vaddr, uint64_t bytes);

/* "gfx950", "gfx950:sramecc+:xnack-": arch and the features that are on or off. */
enum { CODE_TARGET_MAX = 64 };
void code_object_target(const struct code_object *co, char name[CODE_TARGET_MAX]);

#endif
