/* SPDX-License-Identifier: Apache-2.0 */
/* Vector loads, stores and atomics through buffer resources and 64-bit addresses: the rows of isa_vmem.def. */
#include "shape_mem.h"
#include "strict_access.h"
#include "valu_math.h"

#define ACTIVE_LANES FOR_LANES if (w->exec_mask.w[l])

/* Where each active lane's access lies, and how many bytes from there on are inside the buffer. */
struct location {
  uint64_t address[LANES_A_WAVE];
  uint64_t inside[LANES_A_WAVE];
  uint64_t offset[LANES_A_WAVE]; /* in the buffer */
  uint64_t size;                 /* of the buffer */
};

LANES static bool locate_buffer(struct wave *w, const struct inst *in, struct location *at) {
  struct buffer b;
  if (!buffer_of(w, in, in->src[1].reg, &b)) return false;
  uint64_t fixed = scalar_bits(w, in, 2) + (uint64_t)(int64_t)in->offset;
  const vgpr *v = &w->v[in->src[0].reg], *index = v;
  if (in->idxen && in->offen) v++;
  at->size = b.size;
  FOR_LANES {
    uint64_t offset = fixed + (in->offen ? v->w[l] : 0);
    at->offset[l] = offset;
    at->address[l] = b.base + offset + (in->idxen ? b.stride * index->w[l] : 0);
    at->inside[l] = offset < b.size ? b.size - offset : 0;
    if (in->idxen && b.stride) at->inside[l] = index->w[l] < b.size ? UINT64_MAX : 0;
  }
  return true;
}

static void locate_global(const struct wave *w, const struct inst *in, struct location *at) {
  const vgpr *v = &w->v[in->src[0].reg];
  bool scalar_base = in->src[1].words == 2;
  uint64_t fixed = (scalar_base ? wave_sreg64(w, in->src[1].reg) : 0) + (uint64_t)(int64_t)in->offset;
  at->size = UINT64_MAX;
  FOR_LANES {
    at->address[l] = fixed + (scalar_base ? v[0].w[l] : v[0].w[l] | (uint64_t)v[1].w[l] << 32);
    at->inside[l] = UINT64_MAX;
  }
}

static bool locate(struct wave *w, const struct inst *in, struct location *at) {
  if (in->space == SPACE_BUFFER) return locate_buffer(w, in, at);
  locate_global(w, in, at);
  return true;
}

/* Bytes of a lane's access that are inside; raw buffers check each dword. A finding if it is not all, unless the buffer is a mask. */
static uint32_t inside_bytes(struct wave *w, const struct inst *in, const struct location *at, int l, uint32_t bytes) {
  if (__builtin_expect(at->inside[l] >= bytes, 1)) return bytes;
  if (at->size) note_out_of_range(w, in, l, at->address[l], at->offset[l], at->size);
  return (uint32_t)at->inside[l] & ~3u;
}

/* A flat address in the LDS or the scratch aperture: its bytes, or null. */
static uint8_t *flat_local(struct wave *w, const struct inst *in, uint64_t address, uint32_t bytes, int lane) {
  uint32_t offset = (uint32_t)address;
  if (address >> 32 == PRIVATE_APERTURE) return scratch_at(w, in, lane, offset, bytes);
  if ((uint64_t)offset + bytes <= w->group->lds_bytes) return w->group->lds + offset;
  note_out_of_range(w, in, lane, 0, offset, w->group->lds_bytes);
  return NULL;
}

static bool is_local(const struct inst *in, uint64_t address) {
  return in->space == SPACE_FLAT && (address >> 32 == SHARED_APERTURE || address >> 32 == PRIVATE_APERTURE);
}

/* --- loads ------------------------------------------------------------------------------------------------------------------ */

/* One lane's bytes into `to`, which is zeroed. False: a fault. */
static bool load_lane(struct wave *w, const struct inst *in, const struct location *at, int l, uint32_t bytes, void *to) {
  uint8_t room[MEMORY_ACCESS_MAX];
  uint32_t inside = inside_bytes(w, in, at, l, bytes);
  const void *from = NULL;
  if (!inside) return true;
  if (is_local(in, at->address[l])) {
    from = flat_local(w, in, at->address[l], inside, l);
    if (from) memcpy(to, from, inside);
    return true;
  }
  w->group->view->lane = (uint8_t)l;
  from = view_read(w->group->view, at->address[l], inside, room);
  if (!from) {
    memory_fault(w, in);
    return false;
  }
  memcpy(to, from, inside);
  return true;
}

/* Lanes that lie one behind another are one load. */
static bool count_all(struct view *v, const struct location *at, uint32_t bytes) {
  for (int l = 0, end; v->hit.ranges && l < LANES_A_WAVE; l = end) {
    for (end = l + 1; end < LANES_A_WAVE && at->address[end] == at->address[end - 1] + bytes;) end++;
    if (!view_count(v, at->address[l], (uint32_t)(end - l) * bytes)) return false;
  }
  return true;
}

/* All lanes at once, where no lane needs a look of its own: all active, inside, in memory of one kind, which the workgroup has not stored
   to in this quantum. */
LANES static bool load_all(struct wave *w, const struct location *at, uint32_t bytes, uint32_t got[LANES_A_WAVE][4]) {
  struct view *v = w->group->view;
  uint64_t low = UINT64_MAX, high = 0, inside = UINT64_MAX;
  if (!w->exec_full || bytes % 4) return false;
  FOR_LANES {
    low = at->address[l] < low ? at->address[l] : low;
    high = at->address[l] > high ? at->address[l] : high;
    inside = at->inside[l] < inside ? at->inside[l] : inside;
  }
  if (inside < bytes || !view_holds(v, low, high + bytes)) return false;
  if (v->line_count)
    FOR_LANES if (store_filter_hit(v, at->address[l] >> 6) || store_filter_hit(v, (at->address[l] + bytes - 1) >> 6)) return false;
  if (!count_all(v, at, bytes)) return false; /* the lanes one by one meet the fault again */
  v->load_bytes += bytes * LANES_A_WAVE;
  if (bytes == 16)
    FOR_LANES memcpy(got[l], (const void *)(uintptr_t)at->address[l], 16);
  else
    FOR_LANES for (uint32_t k = 0; k < bytes / 4; k++) memcpy(&got[l][k], (const uint8_t *)(uintptr_t)at->address[l] + 4 * k, 4);
  return true;
}

/* Strict mode: how many lanes from l on lie one behind another in the host's memory, up to the next multiple of 128 bytes. */
static int run_length(const struct wave *w, const struct inst *in, const struct location *at, int l, uint32_t bytes) {
  uint64_t first = at->address[l];
  int n = 1, most = (int)((128 - first % 128) / bytes);
  if (!w->strict || in->space == SPACE_FLAT || at->inside[l] < bytes || !w->exec_mask.w[l]) return 1;
  while (n < most && l + n < LANES_A_WAVE && w->exec_mask.w[l + n] && at->inside[l + n] >= bytes &&
         at->address[l + n] == first + (uint32_t)n * bytes)
    n++;
  return n;
}

/* False: a fault. */
static bool load_lanes(struct wave *w, const struct inst *in, const struct location *at, uint32_t bytes, uint32_t got[LANES_A_WAVE][4]) {
  for (int l = 0, end; l < LANES_A_WAVE; l = end) {
    end = l + run_length(w, in, at, l, bytes);
    w->group->view->lane = (uint8_t)l;
    bool together = end > l + 1 && strict_read_run(w->group->view, at->address[l], (uint32_t)(end - l) * bytes);
    for (int i = l; i < end; i++) {
      memset(got[i], 0, sizeof got[i]);
      if (together)
        memcpy(got[i], (const void *)(uintptr_t)at->address[i], bytes);
      else if (w->exec_mask.w[i] && !load_lane(w, in, at, i, bytes, got[i]))
        return false;
    }
  }
  return true;
}

/* What each active lane loaded goes to LDS, lane after lane from M0 on: a dword each, or four places of which three may be used. */
static void put_lds(struct wave *w, const struct inst *in, uint32_t got[LANES_A_WAVE][4], uint32_t bytes, enum part part) {
  uint32_t m0 = w->sreg[SREG_M0] & (in->space == SPACE_GLOBAL ? 0x3FFFCu
                                       : w->program->gfx950   ? 0x3FFFFu
                                                              : 0xFFFFu),
           put = bytes < 4 ? 4 : bytes;
  ACTIVE_LANES {
    uint64_t to = (uint64_t)m0 + (uint32_t)in->offset + (put == 4 ? 4u : 16u) * (uint32_t)l;
    if (bytes < 4) got[l][0] = part_in(0, got[l][0], bytes, part);
    if (to + put <= w->group->lds_bytes)
      memcpy(w->group->lds + to, got[l], put);
    else
      note_out_of_range(w, in, l, 0, to, w->group->lds_bytes);
  }
}

/* All lanes are read before a register is written: the address may be one of them. */
static void run_load(struct wave *w, const struct inst *in) {
  uint32_t bytes = in->row->extra & MEM_BYTES;
  enum part part = (enum part)(in->row->extra >> MEM_PART_SHIFT & MEM_PART);
  uint32_t got[LANES_A_WAVE][4];
  struct location at;
  if (!locate(w, in, &at)) return;
  if (!load_all(w, &at, bytes, got) && !load_lanes(w, in, &at, bytes, got)) return;
  if (in->lds) {
    put_lds(w, in, got, bytes, part);
    return;
  }
  vgpr *d = &w->v[in->dst.reg];
  if (bytes >= 4) put_dwords(w, in->dst.reg, in->dst.words, got);
  if (bytes < 4) ACTIVE_LANES d->w[l] = part_in(d->w[l], got[l][0], bytes, part);
}

/* --- stores ----------------------------------------------------------------------------------------------------------------- */

static bool store_lane(struct wave *w, const struct inst *in, const struct location *at, int l, uint32_t bytes, const void *from) {
  uint32_t inside = inside_bytes(w, in, at, l, bytes);
  if (!inside) return true;
  if (is_local(in, at->address[l])) {
    uint8_t *to = flat_local(w, in, at->address[l], inside, l);
    if (to) memcpy(to, from, inside);
    return true;
  }
  w->group->view->lane = (uint8_t)l;
  if (view_write(w->group->view, at->address[l], from, inside)) return true;
  memory_fault(w, in);
  return false;
}

static void run_store(struct wave *w, const struct inst *in) {
  uint32_t bytes = in->row->extra & MEM_BYTES;
  uint32_t shift = (in->row->extra >> MEM_PART_SHIFT & MEM_PART) == PART_HIGH ? 16 : 0;
  const vgpr *data = &w->v[in->src[3].reg];
  struct location at;
  if (!locate(w, in, &at)) return;
  ACTIVE_LANES {
    uint32_t words[4] = {data[0].w[l] >> shift};
    for (uint32_t k = 1; k < in->src[3].words; k++) words[k] = data[k].w[l];
    if (!store_lane(w, in, &at, l, bytes, words)) return;
  }
}

/* --- atomics: done by the engine at the quantum's end ------------------------------------------------------------------------- */

static uint64_t group_bits(const vgpr *v, uint32_t words, int l) { return words == 2 ? v[0].w[l] | (uint64_t)v[1].w[l] << 32 : v[0].w[l]; }

/* A lane of a flat atomic whose address is LDS or scratch: nobody else's business, done at once. */
static void atomic_local(struct wave *w, const struct inst *in, const struct atomic *a, int l) {
  uint8_t *p = flat_local(w, in, a->addr[l], a->bytes, l);
  uint64_t old = 0;
  if (p) {
    memcpy(&old, p, a->bytes);
    uint64_t value = a->fn(old, a->data[l], a->compare[l]);
    memcpy(p, &value, a->bytes);
  }
  for (uint32_t k = 0; a->returns && k < a->bytes / 4; k++) w->v[in->dst.reg + k].w[l] = (uint32_t)(old >> (32 * k));
}

static void run_atomic(struct wave *w, const struct inst *in, atomic_fn *fn) {
  uint32_t bytes = in->row->extra & MEM_BYTES, words = bytes / 4;
  const vgpr *data = &w->v[in->src[3].reg];
  uint64_t lanes = 0;
  struct location at;
  if (!locate(w, in, &at)) return;
  struct atomic *a = view_atomic(w->group->view);
  if (!a) {
    memory_fault(w, in);
    return;
  }
  a->wave = w;
  a->fn = fn;
  a->bytes = bytes;
  a->returns = in->dst.words != 0;
  a->dst = in->dst.reg;
  ACTIVE_LANES {
    a->addr[l] = at.address[l];
    a->data[l] = group_bits(data, words, l);
    a->compare[l] = in->row->extra & MEM_COMPARES ? group_bits(data + words, words, l) : 0;
    if (is_local(in, at.address[l]))
      atomic_local(w, in, a, l);
    else if (inside_bytes(w, in, &at, l, bytes) == bytes)
      lanes |= UINT64_C(1) << l;
    else if (a->returns)
      for (uint32_t k = 0; k < words; k++) w->v[in->dst.reg + k].w[l] = 0;
  }
  a->lanes = lanes;
  w->stop = WAVE_ATOMIC;
}

static void run_nothing(struct wave *w, const struct inst *in) { (void)w, (void)in; }

#define MEM_LOAD(name, bytes, part)
#define MEM_STORE(name, bytes, part)
#define VMEM_ROW(name, shape, run)
#define MEM_TO_LDS(name, bytes, part)
#define MEM_ATOMIC(name, bytes, expr)                                                                                                      \
  ATOMIC_FN(name, expr)                                                                                                                    \
  static void run_##name(struct wave *w, const struct inst *in) { run_atomic(w, in, atomic_##name); }
#define MEM_COMPARE(name, bytes, expr) MEM_ATOMIC(name, bytes, expr)
#include "isa_vmem.def"
#undef MEM_LOAD
#undef MEM_STORE
#undef VMEM_ROW
#undef MEM_TO_LDS
#undef MEM_ATOMIC
#undef MEM_COMPARE

#define ROW(text, shape, run, extra) {text, shape, run, CLASS_VMEM, EXACT, {T_NONE}, (uint16_t)(extra)},
#define THREE(kind, name, run, extra)                                                                                                      \
  ROW("buffer_" #kind "_" #name, read_buffer_##kind, run, extra)                                                                           \
  ROW("global_" #kind "_" #name, read_global_##kind, run, extra) ROW("flat_" #kind "_" #name, read_global_##kind, run, extra)
#define MEM_LOAD(name, bytes, part)    THREE(load, name, run_load, (bytes) | (part) << MEM_PART_SHIFT)
#define MEM_STORE(name, bytes, part)   THREE(store, name, run_store, (bytes) | (part) << MEM_PART_SHIFT)
#define MEM_ATOMIC(name, bytes, expr)  THREE(atomic, name, run_##name, bytes)
#define MEM_COMPARE(name, bytes, expr) THREE(atomic, name, run_##name, (bytes) | MEM_COMPARES)
#define MEM_TO_LDS(name, bytes, part)  ROW("global_load_lds_" #name, read_global_load_lds, run_load, (bytes) | (part) << MEM_PART_SHIFT)
#define VMEM_ROW(name, shape, run)     ROW(#name, shape, run, 0)
static const struct isa_row rows[] = {
#include "isa_vmem.def"
};

const struct isa_table isa_vmem = {"vmem", rows, sizeof rows / sizeof rows[0]};
