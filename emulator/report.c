/* SPDX-License-Identifier: Apache-2.0 */
/* Reports. Waves that stand at the same place in the same state share a line. */
#include "report.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loader.h"
#include "quantum.h"

void report_add(struct report *r, const char *format, ...) {
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  int n = vsnprintf(NULL, 0, format, args);
  va_end(args);
  if (n > 0 && r->length + (size_t)n + 1 > r->capacity) {
    size_t capacity = 2 * (r->length + (size_t)n + 128);
    char *text = realloc(r->text, capacity);
    if (text) {
      r->text = text;
      r->capacity = capacity;
    }
  }
  if (n > 0 && r->length + (size_t)n + 1 <= r->capacity) {
    vsnprintf(r->text + r->length, r->capacity - r->length, format, again);
    r->length += (size_t)n;
  }
  va_end(again);
}

void report_clear(struct report *r) {
  free(r->text);
  *r = (struct report){0};
}

size_t report_copy(const struct report *r, char *out, size_t size) {
  if (size) {
    size_t n = r->length < size - 1 ? r->length : size - 1;
    if (n) memcpy(out, r->text, n);
    out[n] = 0;
  }
  return r->length;
}

/* Where a wave stands: the instruction it is at, or has just executed and waits behind. */
static uint32_t place_of(const struct slot *s, uint32_t wave) {
  uint32_t pc = s->wave[wave]->pc;
  enum wave_stop state = s->state[wave];
  bool behind = state == WAVE_BARRIER || state == WAVE_SLEEPS || state == WAVE_ATOMIC || state == WAVE_ENDED;
  return behind && pc ? pc - 1 : pc;
}

static const char *state_name(enum wave_stop state) {
  static const char *const names[] = {[WAVE_RUNS] = "running",
      [WAVE_BARRIER] = "at a barrier",
      [WAVE_ATOMIC] = "at an atomic",
      [WAVE_SLEEPS] = "asleep",
      [WAVE_ENDED] = "ended",
      [WAVE_FAULT] = "faulted"};
  return names[state];
}

struct standing {
  uint32_t place;
  enum wave_stop state;
  uint32_t workgroup, wave;
};

static int compare_standing(const void *a, const void *b) {
  const struct standing *x = a, *y = b;
  if (x->state != y->state) return x->state < y->state ? -1 : 1;
  if (x->place != y->place) return x->place < y->place ? -1 : 1;
  if (x->workgroup != y->workgroup) return x->workgroup < y->workgroup ? -1 : 1;
  return x->wave < y->wave ? -1 : x->wave > y->wave;
}

/* The waves of at[0].workgroup among the `n`, as a set of bits; *used is how many there are. */
static uint32_t wave_set(const struct standing *at, uint32_t n, uint32_t *used) {
  uint32_t set = 0, i = 0;
  for (; i < n && at[i].workgroup == at->workgroup; i++) set |= 1u << at[i].wave;
  *used = i;
  return set;
}

static void add_set(struct report *r, uint32_t set) {
  const char *comma = "";
  for (uint32_t i = 0; set >> i; i++) {
    if (!(set >> i & 1)) continue;
    uint32_t end = i;
    while (set >> end >> 1 & 1) end++;
    report_add(r, end > i ? "%s%u-%u" : "%s%u", comma, i, end);
    comma = ",";
    i = end;
  }
}

/* "workgroups 0-223 waves 0-7; workgroup 255 waves 1,3" */
static void add_who(struct report *r, const struct standing *at, uint32_t n) {
  const char *between = "";
  for (uint32_t i = 0, used; i < n; i += used) {
    uint32_t set = wave_set(at + i, n - i, &used), first = at[i].workgroup, last = first;
    for (uint32_t more; i + used < n && at[i + used].workgroup == last + 1; used += more) {
      if (wave_set(at + i + used, n - i - used, &more) != set) break;
      last++;
    }
    report_add(r, last > first ? "%sworkgroups %u-%u waves " : "%sworkgroup %u waves ", between, first, last);
    add_set(r, set);
    between = "; ";
  }
}

static void add_place(struct report *r, const struct loaded_kernel *kernel, const struct standing *at, uint32_t n) {
  const struct program *program = kernel->program;
  if (at->place < program->count) {
    const struct inst *in = &program->inst[at->place];
    report_add(r, "  %s+0x%" PRIx64 " (0x%" PRIx64 ") \"%s\", %s: %u %s: ", kernel->code->name, in->address - kernel->entry, in->address,
        in->text, state_name(at->state), n, n == 1 ? "wave" : "waves");
  } else {
    report_add(r, "  past the code, %s: %u waves: ", state_name(at->state), n);
  }
  add_who(r, at, n);
  report_add(r, "\n");
}

void report_waves(struct report *r, const struct loaded_kernel *kernel, struct slot *const *live, uint32_t count) {
  struct standing *all = calloc((size_t)count * GROUP_WAVES_MAX + 1, sizeof *all);
  if (!all) return;
  uint32_t n = 0;
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t w = 0; w < live[i]->group.waves; w++)
      all[n++] = (struct standing){place_of(live[i], w), live[i]->state[w], live[i]->group.index, w};
  qsort(all, n, sizeof *all, compare_standing);
  for (uint32_t i = 0, end; i < n; i = end) {
    for (end = i + 1; end < n && all[end].place == all[i].place && all[end].state == all[i].state;) end++;
    add_place(r, kernel, all + i, end - i);
  }
  free(all);
}
