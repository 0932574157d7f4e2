/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel descriptor of gfx90a and later gfx9 targets. */
#include "code_parts.h"

#include <string.h>

enum { PRELOAD_MAX = 16, USER_SGPRS_MAX = 16 };

static uint32_t field(uint32_t word, unsigned low, unsigned bits) { return word >> low & ((1u << bits) - 1); }

static bool bit(uint32_t word, unsigned at) { return word >> at & 1; }

static void read_rsrc(struct code_descriptor *d) {
  d->granulated_vgprs = field(d->rsrc1, 0, 6);
  d->vgprs = (d->granulated_vgprs + 1) * 8;
  d->sgprs = (field(d->rsrc1, 6, 4) / 2 + 1) * 16;
  d->round_f32 = field(d->rsrc1, 12, 2);
  d->round_f16_f64 = field(d->rsrc1, 14, 2);
  d->denorm_f32 = field(d->rsrc1, 16, 2);
  d->denorm_f16_f64 = field(d->rsrc1, 18, 2);
  d->dx10_clamp = bit(d->rsrc1, 21);
  d->ieee = bit(d->rsrc1, 23);
  d->fp16_overflow = bit(d->rsrc1, 26);
  d->enable_private_segment = bit(d->rsrc2, 0);
  d->user_sgprs = field(d->rsrc2, 1, 5);
  d->workgroup_id_x = bit(d->rsrc2, 7);
  d->workgroup_id_y = bit(d->rsrc2, 8);
  d->workgroup_id_z = bit(d->rsrc2, 9);
  d->workgroup_info = bit(d->rsrc2, 10);
  d->workitem_ids = field(d->rsrc2, 11, 2);
  d->accum_offset = (field(d->rsrc3, 0, 6) + 1) * 4;
  d->tg_split = bit(d->rsrc3, 16);
}

static void read_properties(struct code_descriptor *d, uint16_t preload) {
  d->sgpr_private_segment_buffer = bit(d->properties, 0);
  d->sgpr_dispatch_ptr = bit(d->properties, 1);
  d->sgpr_queue_ptr = bit(d->properties, 2);
  d->sgpr_kernarg_ptr = bit(d->properties, 3);
  d->sgpr_dispatch_id = bit(d->properties, 4);
  d->sgpr_flat_scratch_init = bit(d->properties, 5);
  d->sgpr_private_segment_size = bit(d->properties, 6);
  d->wave_size = bit(d->properties, 10) ? 32 : 64;
  d->uses_dynamic_stack = bit(d->properties, 11);
  d->preload_dwords = field(preload, 0, 7);
  d->preload_offset = field(preload, 7, 9);
}

bool code_read_descriptor(struct opening *o, const char *name, const uint8_t bytes[64], struct code_descriptor *d) {
  uint16_t preload;
  memset(d, 0, sizeof *d);
  memcpy(&d->group_segment_bytes, bytes, 4);
  memcpy(&d->private_segment_bytes, bytes + 4, 4);
  memcpy(&d->kernarg_bytes, bytes + 8, 4);
  memcpy(&d->entry_offset, bytes + 16, 8);
  memcpy(&d->rsrc3, bytes + 44, 4);
  memcpy(&d->rsrc1, bytes + 48, 4);
  memcpy(&d->rsrc2, bytes + 52, 4);
  memcpy(&d->properties, bytes + 56, 2);
  memcpy(&preload, bytes + 58, 2);
  for (unsigned i = 12; i < 64; i++) {
    bool reserved = i < 16 || (i >= 24 && i < 44) || i >= 60;
    if (reserved && bytes[i])
      return code_fail(o, "the descriptor of %.80s: reserved byte %u is %u, not 0: built by a newer compiler?", name, i, bytes[i]);
  }
  read_rsrc(d);
  read_properties(d, preload);
  if (d->wave_size != 64) return code_fail(o, "the descriptor of %.80s asks for waves of 32: gfx9 has only waves of 64", name);
  if (d->user_sgprs > USER_SGPRS_MAX || d->preload_dwords > PRELOAD_MAX || d->accum_offset > 256)
    return code_fail(o, "the descriptor of %.80s: %u user SGPRs, %u preloaded dwords, accum_offset %u: more than a gfx9 wave has", name,
        d->user_sgprs, d->preload_dwords, d->accum_offset);
  return true;
}
