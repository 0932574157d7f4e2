/* SPDX-License-Identifier: Apache-2.0 */
/* wqkv and wqb: the kernel's sums against f64, within section 13's tolerance. Work is cut into tasks of 32 weight rows, which share
   their codes; threads take tasks in any order, and the merge makes the result the same for any number of them. */
#include "compare_gemv.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TASK_ROWS = MX_GROUP, THREADS_MAX = 64 };

/* One thread's row. The places are kept by the order of the values, so that "first" does not depend on who was faster. */
struct partial {
  struct compare_row row;
  uint64_t first_place, worst_place;
};

struct gemv_job {
  const struct comparison *c;
  const double *panels[K_HALVES]; /* wqb: only [0] */
  const uint8_t *token_codes;     /* E8M0 [tokens][code_stride] */
  size_t code_stride;
  uint32_t tasks;
  atomic_uint next;
  void (*judge)(const struct gemv_job *job, struct partial *partial, uint32_t task);
};

struct worker {
  struct gemv_job *job;
  struct partial partial;
};

static void *work(void *argument) {
  struct worker *worker = argument;
  for (uint32_t task; (task = atomic_fetch_add(&worker->job->next, 1)) < worker->job->tasks;)
    worker->job->judge(worker->job, &worker->partial, task);
  return NULL;
}

static void merge(struct compare_row *row, uint64_t *first_place, uint64_t *worst_place, const struct partial *p) {
  row->values += p->row.values;
  row->exact += p->row.exact;
  if (p->row.wrong && (row->wrong == 0 || p->first_place < *first_place)) {
    memcpy(row->first, p->row.first, sizeof row->first);
    *first_place = p->first_place;
  }
  row->wrong += p->row.wrong;
  if (p->row.worst > row->worst || (p->row.worst == row->worst && p->worst_place < *worst_place)) {
    row->worst = p->row.worst;
    memcpy(row->worst_at, p->row.worst_at, sizeof row->worst_at);
    *worst_place = p->worst_place;
  }
}

static void run_job(struct gemv_job *job, struct compare_row *row) {
  static const struct worker idle;
  struct worker worker[THREADS_MAX];
  pthread_t thread[THREADS_MAX];
  unsigned threads = job->c->threads < THREADS_MAX ? job->c->threads : THREADS_MAX, started = 0;
  for (unsigned i = 0; i < threads; i++) {
    worker[i] = idle;
    worker[i].job = job;
  }
  while (started + 1 < threads && pthread_create(&thread[started], NULL, work, &worker[started + 1]) == 0) started++;
  work(&worker[0]); /* if no thread could be had, all of it */
  for (unsigned i = 0; i < started; i++) pthread_join(thread[i], NULL);

  uint64_t first_place = 0, worst_place = 0;
  row->has_worst = true;
  for (unsigned i = 0; i <= started; i++) merge(row, &first_place, &worst_place, &worker[i].partial);
}

/* Counts a value; true if the caller is to describe it. */
static bool count_sum(struct partial *p, uint64_t place, bool exact, bool allowed) {
  bool first = compare_count(&p->row, exact, allowed);
  /* A thread takes tasks in rising order, and a task its values: the first it meets is its first. */
  if (first) p->first_place = place;
  return first;
}

static bool is_worst(struct partial *p, uint64_t place, double error) {
  if (!(error > p->row.worst)) return false;
  p->row.worst = error;
  p->worst_place = place;
  return true;
}

/* gfx942 drops a group whose factor's exponent is below the float's range: code_w + 1 (repacked) + code_x - 127 <= 0. */
static bool factor_is_zero(const uint8_t *weight_codes, const uint8_t *token_codes, uint32_t groups) {
  for (uint32_t g = 0; g < groups; g++)
    if (weight_codes[g] + token_codes[g] <= 126) return true;
  return false;
}

static double tolerance(
    const struct comparison *c, double magnitude, const uint8_t *weight_codes, const uint8_t *token_codes, uint32_t groups) {
  double slack = 0x1p-144;
  if (c->fp8.fnuz && factor_is_zero(weight_codes, token_codes, groups)) slack += 0x1p-105;
  return c->gemv_tolerance * magnitude + slack;
}

bool compare_sum_overflows(const struct sum_range *s) { return s->magnitude + s->tolerance >= 0x1.ffffffp127; }

bool compare_sum_allows(const struct sum_range *s, float found, double *error) {
  *error = 0.0;
  if (isnan(s->sum)) return isnan(found);
  if (!isfinite(found)) {
    bool allowed = compare_sum_overflows(s);
    if (!allowed) *error = NO_NUMBER;
    return allowed;
  }
  *error = fabs((double)found - s->sum) / s->tolerance;
  return *error <= 1.0;
}

/* ---- wqkv ---- */

static void judge_wqkv_value(
    const struct comparison *c, struct partial *p, uint32_t half, uint32_t row, uint32_t t, const struct sum_range *s) {
  const uint64_t place = ((uint64_t)half * QKV_ROWS + row) * c->tokens + t;
  uint32_t bits = compare_u32(compare_region(c, SCRATCH_qkvp), 2 * (((size_t)half * c->tokens + t) * QKV_ROWS + row));
  float found = ref_float(bits), rounded = (float)s->sum;
  double error;
  bool allowed = compare_sum_allows(s, found, &error);
  bool exact = bits == ref_bits(rounded) || (isnan(found) && isnan(rounded));
  if (count_sum(p, place, exact, allowed))
    snprintf(p->row.first, sizeof p->row.first, "half %u token %u row %u: wanted %.9g ± %.3g, found %.9g (0x%08x)", half, t, row, s->sum,
        s->tolerance, (double)found, bits);
  if (is_worst(p, place, error)) snprintf(p->row.worst_at, sizeof p->row.worst_at, "half %u token %u row %u", half, t, row);
}

static void judge_wqkv(const struct gemv_job *job, struct partial *p, uint32_t task) {
  const struct comparison *c = job->c;
  const uint32_t groups = HIDDEN_GROUPS / K_HALVES, tiles = QKV_ROWS / TASK_ROWS;
  const uint32_t half = task / tiles, first = task % tiles * TASK_ROWS;
  const uint8_t *weight_codes = c->in->wqkv_s + (size_t)(first / MX_GROUP) * HIDDEN_GROUPS + (size_t)half * groups;
  for (uint32_t row = first; row < first + TASK_ROWS; row++) {
    double sum[TOKENS_MAX], magnitude[TOKENS_MAX];
    ref_wqkv_row(c->in->wqkv, c->in->wqkv_s, half, row, job->panels[half], c->tokens, sum, magnitude);
    for (uint32_t t = 0; t < c->tokens; t++) {
      const uint8_t *token_codes = job->token_codes + t * job->code_stride + (size_t)half * groups;
      const struct sum_range s = {sum[t], magnitude[t], tolerance(c, magnitude[t], weight_codes, token_codes, groups)};
      judge_wqkv_value(c, p, half, row, t, &s);
    }
  }
}

bool compare_wqkv(struct comparison *c) {
  const size_t doubles = ref_panel_doubles(c->tokens, K_HALF);
  double *panels = malloc(K_HALVES * doubles * sizeof *panels);
  if (!panels) return false;
  for (uint32_t half = 0; half < K_HALVES; half++) {
    const struct ref_rows rows = {.value = c->kernel_rows.x8 + (size_t)half * K_HALF,
        .value_stride = HIDDEN,
        .code = c->kernel_rows.codes + (size_t)half * (HIDDEN_GROUPS / K_HALVES),
        .code_stride = HIDDEN_GROUPS,
        .tokens = c->tokens,
        .k = K_HALF};
    ref_panels(&rows, &c->fp8, panels + half * doubles);
  }
  struct gemv_job job = {.c = c,
      .panels = {panels, panels + doubles},
      .token_codes = c->kernel_rows.codes,
      .code_stride = HIDDEN_GROUPS,
      .tasks = K_HALVES * (QKV_ROWS / TASK_ROWS),
      .judge = judge_wqkv};
  struct compare_row *row = compare_row_begin(c, "wqkv");
  run_job(&job, row);
  compare_row_end(c, row);
  free(panels);
  return true;
}

/* ---- wqb ---- */

/* Values in the order in which they are judged: rows two by two, of each two rows the tokens. */
static uint64_t wqb_place(const struct comparison *c, uint32_t t, uint32_t row) {
  return ((uint64_t)(row / 2) * c->tokens + t) * 2 + row % 2;
}

static void judge_plain(const struct comparison *c, struct partial *p, uint32_t t, uint32_t row, const struct sum_range *s) {
  const uint64_t place = wqb_place(c, t, row);
  const uint16_t found = c->out->q[(size_t)t * c->q_rows + row], wanted = ref_bf16_of_double(s->sum);
  double error;
  bool allowed = compare_bf16_allows(s, found, &error);
  if (count_sum(p, place, compare_same_bf16(wanted, found), allowed))
    snprintf(p->row.first, sizeof p->row.first, "token %u row %u (head %u dim %u): wanted 0x%04x (%.6g ± %.3g), found 0x%04x (%.6g)", t,
        row, row / HEAD_DIM, row % HEAD_DIM, wanted, s->sum, s->tolerance, found, (double)ref_bf16_value(found));
  if (is_worst(p, place, error))
    snprintf(p->row.worst_at, sizeof p->row.worst_at, "token %u row %u (head %u dim %u)", t, row, row / HEAD_DIM, row % HEAD_DIM);
}

static void judge_pair(const struct comparison *c, struct partial *p, uint32_t t, uint32_t row, const struct sum_range s[2]) {
  const uint64_t place = wqb_place(c, t, row);
  const uint16_t *found = c->out->q + (size_t)t * c->q_rows + row;
  const uint32_t dim = row % HEAD_DIM, pair = (dim - NOPE) / 2;
  const float *cos_sin = c->in->cos_sin + (size_t)c->in->pos[t] * ROPE;
  const uint16_t v[2] = {ref_bf16_of_double(s[0].sum), ref_bf16_of_double(s[1].sum)};
  uint16_t wanted[2];
  ref_wqb_pair(dim, cos_sin, v, wanted);
  const bool exact0 = compare_same_bf16(wanted[0], found[0]), exact1 = compare_same_bf16(wanted[1], found[1]);
  /* Many wrong ones settle the verdict: no long search then, even if their number comes out too high. */
  const bool search = p->row.wrong < 100;
  const bool allowed = (exact0 && exact1) || compare_pair_allows(s, cos_sin[pair], cos_sin[ROPE_PAIRS + pair], found, search);
  const bool first = count_sum(p, place, exact0, allowed);
  count_sum(p, place + 1, exact1, allowed);
  if (!first) return;
  snprintf(p->row.first, sizeof p->row.first,
      "token %u rows %u, %u (head %u dims %u, %u, rotated): wanted 0x%04x 0x%04x of sums %.6g ± %.3g, %.6g ± %.3g, found 0x%04x 0x%04x", t,
      row, row + 1, row / HEAD_DIM, dim, dim + 1, wanted[0], wanted[1], s[0].sum, s[0].tolerance, s[1].sum, s[1].tolerance, found[0],
      found[1]);
}

static void judge_wqb(const struct gemv_job *job, struct partial *p, uint32_t task) {
  const struct comparison *c = job->c;
  const uint8_t *weight_codes = c->in->wqb_s + (size_t)task * Q_GROUPS;
  for (uint32_t row = task * TASK_ROWS; row < (task + 1) * TASK_ROWS; row += 2) {
    double sum[2][TOKENS_MAX], magnitude[2][TOKENS_MAX];
    for (uint32_t i = 0; i < 2; i++) ref_wqb_row(c->in->wqb, c->in->wqb_s, row + i, job->panels[0], c->tokens, sum[i], magnitude[i]);
    for (uint32_t t = 0; t < c->tokens; t++) {
      struct sum_range s[2];
      const uint8_t *token_codes = job->token_codes + t * job->code_stride;
      for (uint32_t i = 0; i < 2; i++)
        s[i] = (struct sum_range){sum[i][t], magnitude[i][t], tolerance(c, magnitude[i][t], weight_codes, token_codes, Q_GROUPS)};
      if (row % HEAD_DIM >= NOPE) {
        judge_pair(c, p, t, row, s);
      } else {
        judge_plain(c, p, t, row, &s[0]);
        judge_plain(c, p, t, row + 1, &s[1]);
      }
    }
  }
}

bool compare_wqb(struct comparison *c) {
  double *panels = malloc(ref_panel_doubles(c->tokens, Q_RANK) * sizeof *panels);
  uint8_t *codes = malloc((size_t)c->tokens * Q_GROUPS);
  if (!panels || !codes) {
    free(panels);
    free(codes);
    return false;
  }
  for (uint32_t i = 0; i < c->tokens * Q_GROUPS; i++) codes[i] = (uint8_t)compare_u32(compare_region(c, SCRATCH_qx8s), i);
  const struct ref_rows rows = {.value = compare_region(c, SCRATCH_qx8),
      .value_stride = Q_RANK,
      .code = codes,
      .code_stride = Q_GROUPS,
      .tokens = c->tokens,
      .k = Q_RANK};
  ref_panels(&rows, &c->fp8, panels);
  struct gemv_job job = {
      .c = c, .panels = {panels, NULL}, .token_codes = codes, .code_stride = Q_GROUPS, .tasks = c->q_rows / TASK_ROWS, .judge = judge_wqb};
  struct compare_row *row = compare_row_begin(c, "wqb");
  run_job(&job, row);
  compare_row_end(c, row);
  free(codes);
  free(panels);
  return true;
}
