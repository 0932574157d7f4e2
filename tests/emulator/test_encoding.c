/* SPDX-License-Identifier: Apache-2.0 */
/* Random encodings: what the decoder takes must come back from llvm-mc with every modifier that the bytes had, what LLVM's text loses
   must be refused, and what LLVM crashes on must not reach it. */
#include <stdio.h>
#include <stdlib.h>

#include "encoding.h"
#include "isa_rig.h"
#include "toolchain_config.h"

enum { CODES = 16000, LINE_MAX_BYTES = TEXT_LINE_MAX + 1 };

/* Encoding families that have modifiers: bits that are fixed, their value, bytes. */
static const struct family {
  uint32_t mask, value;
} families[] = {{0x800001FF, 0x000000F9}, {0x800001FF, 0x000000FA}, {0xFE0001FF, 0x7E0000F9}, {0xFE0001FF, 0x7E0000FA},
    {0xFE0001FF, 0x7C0000F9}, {0xFC000000, 0xD0000000}, {0xFF800000, 0xD3800000}, {0xFC000000, 0xD8000000}, {0xFC000000, 0xDC000000},
    {0xFC000000, 0xE0000000}, {0xFFFF0000, 0xD87A0000}};
enum { FAMILIES = sizeof families / sizeof families[0] };

static void random_code(uint32_t code[2 * CODES]) {
  for (uint32_t i = 0; i < CODES; i++) {
    const struct family *f = &families[i % FAMILIES];
    uint64_t r = rig_value(T_u64, 1000 + 3 * i) * 0x9E3779B97F4A7C15u;
    code[2 * i] = ((uint32_t)(r >> 32) & ~f->mask) | f->value;
    code[2 * i + 1] = (uint32_t)(rig_value(T_u64, 1001 + 3 * i) * 0xBF58476D1CE4E5B9u >> 32);
    for (uint32_t b = 0; b < 4 && i % FAMILIES > 6; b++) /* memory: a field that an instruction has not must be 0 */
      if (r >> b & 1) code[2 * i + 1] &= ~(0xFFu << (8 * b));
    if (i % FAMILIES == 9) code[2 * i] &= ~0x2000u; /* indexed buffers are not modelled */
  }
}

/* Bits that name no modifier: reserved ones, fields of operands that the instruction does not have, the low bit of a scalar pair. */
static void without_meaning(const uint32_t w[2], const struct inst_text *t, uint32_t mask[2]) {
  uint32_t sources = t->operands - 1, prefix = w[0] >> 26;
  mask[0] = mask[1] = 0;
  for (uint32_t i = 0; i < t->operands; i++)
    if (t->operand[i].kind == TEXT_SREG && t->operand[i].count == 2) {
      mask[0] |= 0x101;
      mask[1] |= 1 | 1u << 9 | 1u << 18 | 1u << 8;
      sources -= prefix == 0x34 && i == 1;
    }
  if (prefix == 0x34) mask[1] |= sources < 2 ? 0x07FFFE00 : sources < 3 ? 0x07FC0000 : 0;
  if (w[0] >> 23 == 0x1A7 && sources < 3) mask[0] |= 0x4000;          /* op_sel_hi of a third source */
  if (!(w[0] >> 31) && (w[0] & 0x1FF) == 0xFF) mask[1] |= 0xFFFF0000; /* of a literal of 16 bits */
  if (!(w[0] >> 31)) mask[1] |= (w[0] & 0x1FF) == 0xFA ? 0x60000 : 0x40400000 | (w[0] >> 25 == 0x3E ? 0x7F00u : 0);
  if (prefix == 0x37) mask[1] = UINT32_MAX; /* registers alone */
  if (prefix == 0x38) {
    mask[0] |= 0x02000000;
    mask[1] |= 0x00600000 | (inst_text_has(t, TEXT_MOD_OFFEN) ? 0 : 0xFFu) | (inst_text_has(t, TEXT_MOD_LDS) ? 0xFF00u : 0);
  }
}

/* llvm-mc's encodings of the lines: 0 where it refuses. */
static uint64_t *assembled(const char *cpu, const char *text, uint32_t lines) {
  const char *source = path_in(temp_dir(), "lines.s");
  char mcpu[32];
  snprintf(mcpu, sizeof mcpu, "-mcpu=%s", cpu);
  write_file(source, text, strlen(text));
  struct outcome o = run(LLVM_MC_PATH, "-triple=amdgcn-amd-amdhsa", mcpu, "--show-encoding", source);
  uint64_t *code = calloc(lines, sizeof *code);
  bool *bad = calloc(lines + 1, 1);
  assert_true(code && bad);
  for (const char *p = o.err; (p = strstr(p, "lines.s:")); p++)
    if (strstr(p, ": error") && strtoul(p + 8, NULL, 10) <= lines) bad[strtoul(p + 8, NULL, 10)] = true;
  const char *p = o.out;
  for (uint32_t i = 0; i < lines; i++) {
    if (bad[i + 1] || !(p = strstr(p, "encoding: ["))) continue;
    p += strlen("encoding: [");
    for (uint32_t k = 0; k < 8 && strncmp(p, "0x", 2) == 0; k++) {
      code[i] |= (uint64_t)strtoul(p, NULL, 16) << (8 * k);
      p += p[4] == ',' ? 5 : 4;
    }
  }
  free(bad);
  outcome_free(&o);
  return code;
}

static uint32_t print_known(const struct program *p, char *text, uint32_t *which) {
  uint32_t lines = 0;
  char error[TEXT_ERROR_MAX];
  for (uint32_t i = 0; i < p->count; i++) {
    struct inst_text t;
    if (p->inst[i].refusal || p->inst[i].bytes != 8 || strncmp(p->inst[i].text, "buffer_inv", 10) == 0 ||
        strncmp(p->inst[i].text, "buffer_wbl2", 11) == 0 || strncmp(p->inst[i].text, "s_", 2) == 0)
      continue;
    if (!inst_text_parse(p->inst[i].text, &t, error)) fail_msg("%s", error);
    assert_true(inst_text_print(&t, text, TEXT_LINE_MAX));
    if (strncmp(text, "ds_swizzle", 10) == 0)
      sprintf(strstr(text, "offset:") ? strstr(text, "offset:") : text + strlen(text), "offset:%u", p->inst[i].imm);
    strcat(text, "\n");
    text += strlen(text);
    which[lines++] = i;
  }
  return lines;
}

static void check_cpu(const char *cpu) {
  static uint32_t code[2 * CODES], which[2 * CODES];
  char error[DECODE_ERROR_MAX], *text = calloc(CODES, LINE_MAX_BYTES);
  random_code(code);
  struct program *p = program_decode(code, sizeof code, 0x1000, cpu, error);
  assert_true(p && text);
  uint32_t lines = print_known(p, text, which), same = 0, refused = 0;
  uint64_t *again = assembled(cpu, text, lines);
  for (uint32_t i = 0; i < lines; i++) {
    const struct inst *in = &p->inst[which[i]];
    uint32_t w[2], mask[2];
    struct inst_text t;
    memcpy(w, (const uint8_t *)code + (in->address - 0x1000), sizeof w);
    inst_text_parse(in->text, &t, error);
    without_meaning(w, &t, mask);
    if (!again[i])
      refused++;
    else if (((w[0] ^ (uint32_t)again[i]) & ~mask[0]) || ((w[1] ^ (uint32_t)(again[i] >> 32)) & ~mask[1]))
      fail_msg("%s: %s: %08x %08x comes back as %08x %08x", cpu, in->text, w[0], w[1], (uint32_t)again[i], (uint32_t)(again[i] >> 32));
    else
      same++;
  }
  if (same < CODES / 16 || refused > same / 4) fail_msg("%s: of %u lines only %u came back, %u were refused", cpu, lines, same, refused);
  free(again);
  free(text);
  program_free(p);
}

static void gfx950_modifiers_come_back(void **state) {
  (void)state;
  check_cpu("gfx950");
}

static void gfx942_modifiers_come_back(void **state) {
  (void)state;
  check_cpu("gfx942");
}

static struct inst decode_words(uint32_t first, uint32_t second, char why[DECODE_ERROR_MAX]) {
  const uint32_t code[2] = {first, second};
  struct program *p = program_decode(code, sizeof code, 0x1000, "gfx950", why);
  assert_non_null(p);
  struct inst in = p->inst[0];
  snprintf(why, DECODE_ERROR_MAX, "%s", in.refusal ? in.refusal : "");
  if (in.refusal) in.refusal = why;
  program_free(p);
  return in;
}

static void a_rotation_keeps_its_mask(void **state) {
  (void)state;
  char why[DECODE_ERROR_MAX];
  for (uint32_t pattern = 0xC000; pattern < 0xE000; pattern += 7) {
    struct inst in = decode_words(0xD87A0000 | pattern, 0x00000001, why);
    assert_string_equal(why, "");
    assert_int_equal(in.imm, pattern);
  }
}

static void lost_modifiers_are_refused(void **state) {
  (void)state;
  static const struct {
    uint32_t first, second;
    const char *why;
  } lost[] = {{0xD1DD0005, 0x840E0501, "negates"},   /* v_cvt_pk_u8_f32 v5, v1, v2, v3 with a minus on v3 */
      {0xD1DD0205, 0x040E0501, "magnitude"},         /* |v2| */
      {0xD1010805, 0x00020501, "halves"},            /* v_add_f32_e64 with op_sel */
      {0xD861D828, 0xFC2029AD, "global data share"}, /* ds_cmpst_rtn_b32 gds */
      {0x720A04FA, 0xFF10E401, "sign or magnitude"}, /* v_dot4c_i32_i8_dpp with a minus */
      {0xD2850005, 0x20020501, "not an instruction"}};
  char why[DECODE_ERROR_MAX];
  for (size_t i = 0; i < sizeof lost / sizeof lost[0]; i++) {
    decode_words(lost[i].first, lost[i].second, why);
    if (!strstr(why, lost[i].why)) fail_msg("%08x %08x: \"%s\", not \"%s\"", lost[i].first, lost[i].second, why, lost[i].why);
  }
}

static void what_llvm_crashes_on_is_refused(void **state) {
  (void)state;
  static const uint32_t codes[][2] = {{0x7CAD4AF9, 0xF702660F}, {0x0A5A4AF9, 0xE207953C}, {0xD3A0F870, 0xFBFC230A},
      {0xD3AD0451, 0x7944E7BB}, {0xD3AD8777, 0x521FBEF4}, {0xE3344033, 0xFF7E0BD8}, {0xE09A9388, 0xFFD683C8}, {0xD0F670FF, 0x00000000},
      {0xD28906F0, 0x00000501}};
  char why[DECODE_ERROR_MAX];
  for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
    decode_words(codes[i][0], codes[i][1], why);
    assert_string_equal(why, "not an instruction of this GPU");
  }
  uint32_t cut = 0x0FDCAEFF; /* its literal lies behind the code */
  struct program *p = program_decode(&cut, sizeof cut, 0x1000, "gfx950", why);
  assert_non_null(p);
  assert_int_equal(p->unknown, 1);
  program_free(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(gfx950_modifiers_come_back), cmocka_unit_test(gfx942_modifiers_come_back),
      cmocka_unit_test(a_rotation_keeps_its_mask), cmocka_unit_test(lost_modifiers_are_refused),
      cmocka_unit_test(what_llvm_crashes_on_is_refused)};
  return cmocka_run_group_tests_name("no modifier of an encoding is lost on the way", tests, NULL, NULL);
}
