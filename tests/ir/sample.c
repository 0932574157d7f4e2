/* SPDX-License-Identifier: Apache-2.0 */
#include "sample.h"

#include <stdio.h>
#include <stdlib.h>

#include "frontgen.h"
#include "support.h"

static const uint32_t tokens[] = {1, 2, 7, 8, 15, 16, 17, 31, 32, 33, 48};
static const uint32_t tps[] = {1, 2, 4, 8};
static const uint32_t ratios[] = {0, 1, 2};
static const uint32_t windows[] = {1, 128, 256, 1000, 4096};

/* Width of a kt row, worked out by hand: [ratio > 0][window]. */
static const uint32_t kt_widths[2][5] = {{640, 640, 640, 1024, 4096}, {640, 640, 768, 1536, 4608}};

#define COUNT(array) (uint32_t)(sizeof(array) / sizeof *(array))

static void emit_sample(struct sample *s, void (*check)(const struct sample *s)) {
  char error[FRONTGEN_ERROR_MAX], *text;
  struct plan plan;
  snprintf(s->key, sizeof s->key, "tokens=%u,tp=%u,ratio=%u,window=%u,tuned=%d%s", s->tokens, s->tp, s->ratio, s->window, s->tuned,
      s->guard ? "" : ",guard=0");
  if (frontgen_plan(s->key, "gfx950", &plan, error)) fail_msg("%s: %s", s->key, error);
  if (frontgen_emit(&plan, &text, &s->text_bytes, error)) fail_msg("%s: %s", s->key, error);
  s->text = text;
  check(s);
  free(text);
}

void for_each_sample(uint32_t every, void (*check)(const struct sample *s)) {
  const uint32_t inner = COUNT(ratios) * COUNT(windows) * 2, all = COUNT(tokens) * COUNT(tps) * inner;
  assert_int_equal(all, SAMPLE_KEYS);
  for (uint32_t n = 0; n < all; n += every) {
    uint32_t window = n / 2 % COUNT(windows), ratio = n / 2 / COUNT(windows) % COUNT(ratios);
    struct sample s = {.tokens = tokens[n / inner / COUNT(tps)],
        .tp = tps[n / inner % COUNT(tps)],
        .ratio = ratios[ratio],
        .window = windows[window],
        .tuned = n % 2 == 1,
        .guard = n % 9 < 5,
        .number = n};
    s.sizes = (struct ir_sizes){
        .tokens = s.tokens, .q_rows = 32768 / s.tp, .keys = kt_widths[s.ratio > 0][window], .window = s.window, .tuned = s.tuned};
    emit_sample(&s, check);
  }
}
