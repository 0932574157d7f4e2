/* SPDX-License-Identifier: Apache-2.0 */
/* Initial registers: user SGPRs, workgroup ids, work-item ids. */
#include "start.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "quantum.h"

enum {
  GROUP_ITEMS_MAX = 1024,
  SCRATCH_BYTES_MAX = 1 << 18,
  DYNAMIC_STACK_BYTES = 1 << 14,
  LEFT_OVER = 0xAA,
  LDS_PADDING = 16,
  USER_SGPRS_MAX = 16
};

__attribute__((format(printf, 2, 3))) static bool refuse(char error[START_ERROR_MAX], const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(error, START_ERROR_MAX, format, args);
  va_end(args);
  return false;
}

static uint32_t div_up(uint32_t a, uint32_t b) { return (uint32_t)(((uint64_t)a + b - 1) / b); }

static bool plan_size(struct start *s, char error[START_ERROR_MAX]) {
  const struct code_kernel *k = s->kernel->code;
  uint64_t items = 1, groups = 1;
  for (int i = 0; i < 3; i++) {
    if (!s->size[i] || !s->grid[i]) return refuse(error, "%s: the packet's grid or workgroup size is 0 in dimension %d", k->name, i);
    uint32_t required = k->reqd_workgroup_size[i];
    if (required && s->size[i] != required)
      return refuse(error, "%s: the packet's workgroup size is %u, the kernel requires %u", k->name, s->size[i], required);
    s->groups[i] = div_up(s->grid[i], s->size[i]);
    items *= s->size[i];
    groups *= s->groups[i];
    if (items > GROUP_ITEMS_MAX) return refuse(error, "%s: a workgroup has over %d work-items", k->name, GROUP_ITEMS_MAX);
    if (groups > UINT32_MAX) return refuse(error, "%s: the launch has over 2^32 workgroups", k->name);
  }
  if (k->max_flat_workgroup_size && items > k->max_flat_workgroup_size)
    return refuse(error, "%s: a workgroup has %u work-items, the kernel allows %u", k->name, (uint32_t)items, k->max_flat_workgroup_size);
  s->workgroups = (uint32_t)groups;
  s->waves = div_up((uint32_t)items, LANES_A_WAVE);
  return true;
}

bool start_plan(struct start *s, char error[START_ERROR_MAX]) {
  const struct code_kernel *k = s->kernel->code;
  const struct code_descriptor *d = &k->descriptor;
  if (!plan_size(s, error)) return false;
  if (d->private_segment_bytes > SCRATCH_BYTES_MAX)
    return refuse(
        error, "%s: %u bytes of scratch memory a work-item are more than %d", k->name, d->private_segment_bytes, SCRATCH_BYTES_MAX);
  s->scratch_bytes = (d->private_segment_bytes + (d->uses_dynamic_stack ? DYNAMIC_STACK_BYTES : 0) + 15) / 16 * 16;
  if (d->wave_size == 32) return refuse(error, "%s: waves of 32 lanes are not modelled", k->name);
  if (s->lds_bytes < d->group_segment_bytes)
    return refuse(error, "%s: the packet gives %u bytes of LDS, the kernel needs %u", k->name, s->lds_bytes, d->group_segment_bytes);
  if (s->private_bytes < d->private_segment_bytes)
    return refuse(error, "%s: the packet gives a work-item %u bytes of private memory, the kernel needs %u", k->name, s->private_bytes,
        d->private_segment_bytes);
  if (d->kernarg_bytes && !s->kernarg)
    return refuse(error, "%s: the packet has no kernarg address, the kernel reads %u bytes of it", k->name, d->kernarg_bytes);
  s->vgprs = d->accum_offset && d->accum_offset < d->vgprs ? d->accum_offset : d->vgprs;
  s->agprs = d->vgprs - s->vgprs;
  if (s->vgprs > VGPRS) s->vgprs = VGPRS;
  if (s->agprs > VGPRS) s->agprs = VGPRS;
  if (s->kernel->vgprs > s->vgprs || s->kernel->agprs > s->agprs)
    return refuse(error, "%s: its code uses %u VGPRs and %u AGPRs, its descriptor allocates %u and %u", k->name, s->kernel->vgprs,
        s->kernel->agprs, s->vgprs, s->agprs);
  return true;
}

static uint32_t put_address(struct wave *w, uint32_t at, bool wanted, uint64_t value) {
  if (!wanted) return at;
  wave_put_sreg64(w, at, value);
  return at + 2;
}

/* User SGPRs, then the workgroup's ids: in the order of the ABI. */
static void start_scalars(const struct start *s, struct wave *w) {
  const struct code_descriptor *d = &s->kernel->code->descriptor;
  uint32_t at = d->sgpr_private_segment_buffer ? 4 : 0;
  at = put_address(w, at, d->sgpr_dispatch_ptr, s->packet);
  at = put_address(w, at, d->sgpr_queue_ptr, s->queue);
  at = put_address(w, at, d->sgpr_kernarg_ptr, s->kernarg);
  at = put_address(w, at, d->sgpr_dispatch_id, s->dispatch_id);
  at = put_address(w, at, d->sgpr_flat_scratch_init, 0);
  if (d->sgpr_private_segment_size) w->sreg[at++] = 0;
  for (uint32_t i = 0; i < d->preload_dwords && at < USER_SGPRS_MAX; i++)
    memcpy(&w->sreg[at++], (const void *)(uintptr_t)(s->kernarg + 4 * (d->preload_offset + i)), 4);
  at = d->user_sgprs;
  if (d->workgroup_id_x) w->sreg[at++] = w->group->id[0];
  if (d->workgroup_id_y) w->sreg[at++] = w->group->id[1];
  if (d->workgroup_id_z) w->sreg[at++] = w->group->id[2];
  if (d->workgroup_info) w->sreg[at++] = (w->index == 0 ? 1u << 31 : 0) | w->group->waves;
}

/* Packed work-item ids in v0; EXEC has the lanes that are work-items. `size` is the workgroup's, at the grid's edge a smaller one. */
static void start_lanes(const struct start *s, struct wave *w, const uint32_t size[3]) {
  uint32_t ids = s->kernel->code->descriptor.workitem_ids, items = size[0] * size[1] * size[2];
  uint64_t exec = 0;
  for (uint32_t l = 0; l < LANES_A_WAVE; l++) {
    uint32_t item = w->index * LANES_A_WAVE + l;
    if (item >= items) break;
    exec |= (uint64_t)1 << l;
    uint32_t x = item % size[0], y = item / size[0] % size[1], z = item / size[0] / size[1];
    w->v[0].w[l] = x | (ids > 0 ? y << 10 : 0) | (ids > 1 ? z << 20 : 0);
  }
  wave_set_exec(w, exec);
}

static uint32_t mode_of(const struct code_descriptor *d) {
  return d->round_f32 | d->round_f16_f64 << 2 | d->denorm_f32 << 4 | d->denorm_f16_f64 << 6 | (d->dx10_clamp ? MODE_DX10_CLAMP : 0) |
         (d->ieee ? MODE_IEEE : 0);
}

void start_workgroup(const struct start *s, struct workgroup *group) {
  uint32_t size[3], rest = group->index, items = 1;
  for (int i = 0; i < 3; i++) {
    group->id[i] = rest % s->groups[i];
    rest /= s->groups[i];
    uint32_t left = s->grid[i] - group->id[i] * s->size[i];
    size[i] = left < s->size[i] ? left : s->size[i];
    items *= size[i];
  }
  group->waves = div_up(items, LANES_A_WAVE);
  group->arrived = 0;
  group->out_of_range = 0;
  group->out_of_range_text[0] = 0;
  group->lds_bytes = s->lds_bytes;
  memset(group->lds, LEFT_OVER, s->lds_bytes + LDS_PADDING);
  group->scratch_bytes = s->scratch_bytes;
  memset(group->scratch, LEFT_OVER, (size_t)s->waves * LANES_A_WAVE * s->scratch_bytes);
  for (uint32_t i = 0; i < group->waves; i++) {
    struct wave *w = group->wave[i];
    wave_init(w, s->kernel->program, group, i, s->kernel->pc, mode_of(&s->kernel->code->descriptor));
    memset(w->v, LEFT_OVER, s->vgprs * sizeof(vgpr));
    if (s->agprs) memset(&w->v[VGPRS], LEFT_OVER, s->agprs * sizeof(vgpr));
    memset(w->sreg, LEFT_OVER, SREG_VCC * sizeof w->sreg[0]);
    start_scalars(s, w);
    start_lanes(s, w, size);
  }
}
