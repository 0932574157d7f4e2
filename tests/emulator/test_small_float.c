/* SPDX-License-Identifier: Apache-2.0 */
/* Small floats: every code's value against its definition, every conversion against a search for the nearest value. */
#include "small_float.h"

#include <stdio.h>

#include "host_math.h"
#include "isa_rig.h"

struct format_case {
  const char *name;
  const struct small_float *format;
  bool e5m2, fnuz;
};

static const struct format_case fp8s[] = {{"e4m3", &float_e4m3, false, false}, {"e5m2", &float_e5m2, true, false},
    {"e4m3 FNUZ", &float_e4m3_fnuz, false, true}, {"e5m2 FNUZ", &float_e5m2_fnuz, true, true}};

/* A FNUZ code has half the value of the OCP one, all exponents are numbers, 0x80 is the NaN. */
static double value_of(const struct format_case *c, uint32_t code) {
  if (!c->fnuz) return fp8_value(code, c->e5m2);
  if (code == 0x80) return (double)NAN;
  uint32_t m_bits = c->e5m2 ? 2 : 3, e = (code & 0x7F) >> m_bits, m = code & ((1u << m_bits) - 1);
  double size = e ? ldexp((1u << m_bits) + m, (int)e - (c->e5m2 ? 16 : 8) - (int)m_bits) : ldexp(m, 1 - (c->e5m2 ? 16 : 8) - (int)m_bits);
  return code & 0x80 ? -size : size;
}

static void every_code_has_its_value(void **state) {
  (void)state;
  for (size_t c = 0; c < 4; c++)
    for (uint32_t code = 0; code < 256; code++) {
      double got = small_to_f64(fp8s[c].format, code), want = value_of(&fp8s[c], code);
      if (isnan(want) ? !isnan(got) : db(got) != db(want)) fail_msg("%s %02x: wanted %g, got %g", fp8s[c].name, code, want, got);
      got = fp8_table(fp8s[c].fnuz, fp8s[c].e5m2)[code];
      if (isnan(want) ? !isnan(got) : db(got) != db(want)) fail_msg("%s %02x: the table has %g", fp8s[c].name, code, got);
    }
}

/* What rounding to nearest even must give: by search over all finite codes, then by the distance to one step beyond the largest. */
static uint32_t nearest(const struct format_case *c, float v, bool saturate) {
  uint32_t top = c->fnuz ? 0x7F : c->e5m2 ? 0x7B : 0x7E, best = 0, sign = signbit(v) ? 0x80 : 0;
  uint32_t nan = c->fnuz ? 0x80 : sign | (c->e5m2 ? 0x7E : 0x7F);
  if (isnan(v)) return nan;
  double size = fabs((double)v), largest = value_of(c, top), step = largest - value_of(c, top - 1);
  bool over = size > largest + step / 2 || (!(size < largest + step / 2) && (top & 1));
  if (over && !saturate) return !c->fnuz && c->e5m2 ? sign | 0x7C : nan;
  if (over || size > largest) return sign | top;
  for (uint32_t code = 1; code <= top; code++) {
    double now = fabs(size - value_of(c, code)), before = fabs(size - value_of(c, best));
    if (now < before || (!(now > before) && !(code & 1))) best = code;
  }
  return c->fnuz && best == 0 ? 0 : sign | best;
}

static void check_conversion(const struct format_case *c, float v) {
  for (int saturate = 0; saturate < 2; saturate++) {
    uint32_t want = nearest(c, v, saturate);
    uint32_t got[] = {fp8_from_f32(v, c->e5m2, c->fnuz, saturate), small_from_f64(c->format, (double)v, saturate)};
    if (got[0] != want || got[1] != want)
      fail_msg("%s of %a (saturate %d): wanted %02x, got %02x and %02x", c->name, (double)v, saturate, want, got[0], got[1]);
  }
}

static void every_value_between_two_codes_goes_to_the_nearer_and_a_tie_to_the_even_one(void **state) {
  (void)state;
  for (size_t c = 0; c < 4; c++) {
    for (uint32_t code = 0; code < 256; code++) {
      double here = value_of(&fp8s[c], code), next = value_of(&fp8s[c], (code & 0x80) | ((code + 1) & 0x7F));
      if (!isfinite(here) || !isfinite(next)) continue;
      const float points[] = {(float)here, (float)((here + next) / 2), (float)(here + (next - here) / 4)};
      for (size_t p = 0; p < 3; p++) {
        check_conversion(&fp8s[c], points[p]);
        check_conversion(&fp8s[c], nextafterf(points[p], INFINITY));
        check_conversion(&fp8s[c], nextafterf(points[p], -INFINITY));
      }
    }
    for (uint32_t i = 0; i < 4000; i++) check_conversion(&fp8s[c], f(rig_value(T_f32, i)));
  }
}

static void f16_and_bf16_convert_like_the_compiler(void **state) {
  (void)state;
  for (uint32_t code = 0; code < 65536; code++) {
    double v = h(code);
    if (isnan(v)) {
      assert_true(isnan((double)f16_to_f32(code)));
      continue;
    }
    assert_int_equal(db((double)f16_to_f32(code)), db(v));
    assert_int_equal(db(small_to_f64(&float_f16, code)), db(v));
    float halfway = (float)((v + h(code + 1)) / 2); /* infinite at the top: then 65520, the tie */
    const float points[] = {(float)v, isinf(h(code + 1)) ? (signbit(v) ? -65520.0f : 65520.0f) : halfway};
    for (int p = 0; p < 6; p++) {
      float x = nextafterf(points[p % 2], p < 2 ? points[p % 2] : p < 4 ? INFINITY : -INFINITY);
      if (isnan(x)) continue;
      assert_int_equal(f16_from_f32(x), hb((double)x));
      assert_int_equal(small_from_f64(&float_f16, (double)x, false), hb((double)x));
      assert_int_equal(f16_from_f64_rtz((double)x), hb_rtz(x));
    }
  }
  for (uint32_t i = 0; i < 200000; i++) {
    float v = f(rig_value(T_f32, i));
    assert_int_equal(bf16_from_f32(v), bf16_code(v));
  }
}

static void a_half_fma_rounds_once(void **state) {
  (void)state;
  for (uint32_t i = 0; i < 200000; i++) {
    u64 a = rig_value(T_f16, i % 61) & 0xFFFF, b = rig_value(T_f16, i / 61 % 59) & 0xFFFF, c = rig_value(T_f16, i % 127) & 0xFFFF;
    u64 want = hb_fma(h(a), h(b), h(c)), got = f16_fma((uint32_t)a, (uint32_t)b, (uint32_t)c);
    if (got != want && !(isnan(h(got)) && isnan(h(want))))
      fail_msg("%llx * %llx + %llx: wanted %llx, got %llx", (unsigned long long)a, (unsigned long long)b, (unsigned long long)c,
          (unsigned long long)want, (unsigned long long)got);
  }
}

static void scale_codes_are_powers_of_two(void **state) {
  (void)state;
  for (uint32_t code = 0; code < 255; code++) assert_int_equal(db(e8m0_to_f64(code)), db(ldexp(1, (int)code - 127)));
  assert_true(isnan(e8m0_to_f64(255)));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_code_has_its_value),
      cmocka_unit_test(every_value_between_two_codes_goes_to_the_nearer_and_a_tie_to_the_even_one),
      cmocka_unit_test(f16_and_bf16_convert_like_the_compiler),
      cmocka_unit_test(a_half_fma_rounds_once),
      cmocka_unit_test(scale_codes_are_powers_of_two),
  };
  return cmocka_run_group_tests_name("small floats are what their formats say", tests, NULL, NULL);
}
