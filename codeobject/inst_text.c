/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes LLVM's AMDGPU instruction text: mnemonic, operands between commas, then modifiers. Every character must be consumed. */
#include "inst_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct cursor {
  const char *at, *end;
};

enum mod_kind { FLAG, NUMBER, LIST, SELECT };

static const struct {
  const char *spelling;
  enum mod_kind kind;
} mods[TEXT_MODS] = {
#define MOD(name, spelling, kind) {spelling, kind},
    TEXT_MODIFIERS(MOD)
#undef MOD
};

static const char *const sel_names[] = {"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD"};
static const char *const unused_names[] = {"UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"};

/* 1 / (2 pi) is printed rounded, differently for each type: its full value stands for all. */
static const struct {
  const char *spelling;
  double value;
} floats[] = {{"0.5", 0.5}, {"1.0", 1.0}, {"2.0", 2.0}, {"4.0", 4.0}, {"0.15915494309189532", 0.15915494309189532},
    {"0.15915494", 0.15915494309189532}};

static const struct {
  const char *spelling;
  enum text_kind kind;
  uint16_t reg, count;
} named[] = {
    {"vcc", TEXT_SREG, TEXT_REG_VCC, 2},
    {"vcc_lo", TEXT_SREG, TEXT_REG_VCC, 1},
    {"vcc_hi", TEXT_SREG, TEXT_REG_VCC + 1, 1},
    {"exec", TEXT_SREG, TEXT_REG_EXEC, 2},
    {"exec_lo", TEXT_SREG, TEXT_REG_EXEC, 1},
    {"exec_hi", TEXT_SREG, TEXT_REG_EXEC + 1, 1},
    {"m0", TEXT_SREG, TEXT_REG_M0, 1},
    {"flat_scratch", TEXT_SREG, TEXT_REG_FLAT_SCRATCH, 2},
    {"flat_scratch_lo", TEXT_SREG, TEXT_REG_FLAT_SCRATCH, 1},
    {"flat_scratch_hi", TEXT_SREG, TEXT_REG_FLAT_SCRATCH + 1, 1},
    {"xnack_mask", TEXT_SREG, TEXT_REG_XNACK_MASK, 2},
    {"xnack_mask_lo", TEXT_SREG, TEXT_REG_XNACK_MASK, 1},
    {"xnack_mask_hi", TEXT_SREG, TEXT_REG_XNACK_MASK + 1, 1},
    {"src_shared_base", TEXT_SOURCE, TEXT_SRC_SHARED_BASE, 1},
    {"src_shared_limit", TEXT_SOURCE, TEXT_SRC_SHARED_LIMIT, 1},
    {"src_private_base", TEXT_SOURCE, TEXT_SRC_PRIVATE_BASE, 1},
    {"src_private_limit", TEXT_SOURCE, TEXT_SRC_PRIVATE_LIMIT, 1},
    {"src_pops_exiting_wave_id", TEXT_SOURCE, TEXT_SRC_POPS_EXITING_WAVE_ID, 1},
    {"src_vccz", TEXT_SOURCE, TEXT_SRC_VCCZ, 1},
    {"src_execz", TEXT_SOURCE, TEXT_SRC_EXECZ, 1},
    {"src_scc", TEXT_SOURCE, TEXT_SRC_SCC, 1},
    {"off", TEXT_OFF, 0, 0},
};

static const struct {
  const char *spelling;
  uint16_t id;
} hwregs[] = {{"HW_REG_MODE", 1}, {"HW_REG_STATUS", 2}, {"HW_REG_TRAPSTS", 3}, {"HW_REG_HW_ID", 4}, {"HW_REG_GPR_ALLOC", 5},
    {"HW_REG_LDS_ALLOC", 6}, {"HW_REG_IB_STS", 7}, {"HW_REG_SH_MEM_BASES", 15}, {"HW_REG_TBA_LO", 16}, {"HW_REG_TBA_HI", 17},
    {"HW_REG_TMA_LO", 18}, {"HW_REG_TMA_HI", 19}, {"HW_REG_XCC_ID", 20}, {"HW_REG_SQ_PERF_SNAPSHOT_DATA", 21},
    {"HW_REG_SQ_PERF_SNAPSHOT_DATA1", 22}, {"HW_REG_SQ_PERF_SNAPSHOT_PC_LO", 23}, {"HW_REG_SQ_PERF_SNAPSHOT_PC_HI", 24}};

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_word(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static char peek(const struct cursor *c) { return c->at < c->end ? *c->at : '\0'; }

static void skip_blanks(struct cursor *c) {
  while (peek(c) == ' ' || peek(c) == '\t') c->at++;
}

static bool take(struct cursor *c, char wanted) {
  if (c->at == c->end || *c->at != wanted) return false;
  c->at++;
  return true;
}

/* The identifier at the cursor, not consumed. */
static size_t word_length(const struct cursor *c) {
  const char *p = c->at;
  while (p < c->end && is_word(*p)) p++;
  return (size_t)(p - c->at);
}

static bool word_is(const struct cursor *c, size_t length, const char *wanted) {
  return strlen(wanted) == length && memcmp(c->at, wanted, length) == 0;
}

static bool take_word(struct cursor *c, const char *wanted) {
  size_t length = word_length(c);
  if (!word_is(c, length, wanted)) return false;
  c->at += length;
  return true;
}

/* Decimal or 0x hexadecimal, at most 64 bits; `hex` may be null. */
static bool take_unsigned(struct cursor *c, uint64_t *value, bool *hex) {
  const char *start = c->at;
  bool is_hex = c->end - c->at > 2 && c->at[0] == '0' && c->at[1] == 'x';
  unsigned base = is_hex ? 16 : 10;
  uint64_t v = 0;
  if (is_hex) c->at += 2;
  const char *digits = c->at;
  for (; c->at < c->end; c->at++) {
    char ch = *c->at;
    unsigned d;
    if (is_digit(ch))
      d = (unsigned)(ch - '0');
    else if (is_hex && ch >= 'a' && ch <= 'f')
      d = (unsigned)(ch - 'a') + 10;
    else if (is_hex && ch >= 'A' && ch <= 'F')
      d = (unsigned)(ch - 'A') + 10;
    else
      break;
    if (v > (UINT64_MAX - d) / base) break;
    v = v * base + d;
  }
  if (c->at == digits || is_word(peek(c))) {
    c->at = start;
    return false;
  }
  *value = v;
  if (hex) *hex = is_hex;
  return true;
}

static bool take_signed(struct cursor *c, int64_t *value, bool *hex) {
  const char *start = c->at;
  bool minus = take(c, '-');
  uint64_t v;
  if (!take_unsigned(c, &v, hex) || (minus && v > (uint64_t)INT64_MAX)) {
    c->at = start;
    return false;
  }
  *value = minus ? -(int64_t)v : (int64_t)v;
  return true;
}

/* A number below `limit`. */
static bool take_small(struct cursor *c, uint64_t limit, uint16_t *value) {
  const char *start = c->at;
  uint64_t v;
  if (!take_unsigned(c, &v, NULL) || v >= limit) {
    c->at = start;
    return false;
  }
  *value = (uint16_t)v;
  return true;
}

/* v5 or v[4:7], given the letters before the number. */
static bool take_register(
    struct cursor *c, const char *letters, enum text_kind kind, uint16_t base, uint16_t limit, struct text_operand *op) {
  const char *start = c->at;
  size_t n = strlen(letters);
  uint16_t first = 0, last = 0;
  if ((size_t)(c->end - c->at) <= n || memcmp(c->at, letters, n) != 0) return false;
  c->at += n;
  if (take(c, '[')) {
    if (!take_small(c, limit, &first) || !take(c, ':') || !take_small(c, limit, &last) || !take(c, ']') || last < first) goto no;
  } else {
    if (!is_digit(peek(c)) || !take_small(c, limit, &first)) goto no;
    last = first;
  }
  op->kind = kind;
  op->reg = (uint16_t)(base + first);
  op->count = (uint16_t)(last - first + 1);
  return true;
no:
  c->at = start;
  return false;
}

static bool take_named(struct cursor *c, struct text_operand *op) {
  size_t length = word_length(c);
  for (size_t i = 0; i < COUNT_OF(named); i++) {
    if (!word_is(c, length, named[i].spelling)) continue;
    op->kind = named[i].kind;
    op->reg = named[i].reg;
    op->count = named[i].count;
    c->at += length;
    return true;
  }
  return false;
}

static bool take_float(struct cursor *c, struct text_operand *op) {
  const char *start = c->at;
  bool minus = take(c, '-');
  const char *p = c->at;
  while (p < c->end && (is_digit(*p) || *p == '.')) p++;
  size_t length = (size_t)(p - c->at);
  for (size_t i = 0; i < COUNT_OF(floats); i++) {
    if (!word_is(c, length, floats[i].spelling) || (p < c->end && is_word(*p))) continue;
    op->kind = TEXT_FLOAT;
    op->real = minus ? -floats[i].value : floats[i].value;
    c->at = p;
    return true;
  }
  c->at = start;
  return false;
}

/* ", 5" */
static bool take_next(struct cursor *c, uint64_t limit, uint16_t *value) {
  if (!take(c, ',')) return false;
  skip_blanks(c);
  return take_small(c, limit, value);
}

/* hwreg(NAME), hwreg(NAME, offset, size), hwreg(number, ...) */
static bool take_hwreg(struct cursor *c, struct text_operand *op) {
  uint16_t id = 0, offset = 0, size = 32;
  if (!take_word(c, "hwreg") || !take(c, '(')) return false;
  bool known = take_small(c, 64, &id);
  for (size_t i = 0; !known && i < COUNT_OF(hwregs); i++) {
    known = take_word(c, hwregs[i].spelling);
    id = hwregs[i].id;
  }
  if (!known || (peek(c) == ',' && (!take_next(c, 32, &offset) || !take_next(c, 33, &size) || size == 0))) return false;
  op->kind = TEXT_HWREG;
  op->value = id | offset << 6 | (size - 1) << 11;
  return take(c, ')');
}

/* name(anything but parentheses) */
static bool take_call(struct cursor *c, struct text_operand *op) {
  const char *start = c->at;
  size_t length = word_length(c);
  if (length == 0 || is_digit(*c->at) || word_is(c, length, "hwreg")) return false;
  c->at += length;
  if (!take(c, '(')) goto no;
  while (peek(c) != '\0' && *c->at != '(' && *c->at != ')') c->at++;
  if (!take(c, ')') || (size_t)(c->at - start) >= sizeof op->word) goto no;
  op->kind = TEXT_WORD;
  memcpy(op->word, start, (size_t)(c->at - start));
  op->word[c->at - start] = '\0';
  return true;
no:
  c->at = start;
  return false;
}

static bool take_number(struct cursor *c, struct text_operand *op) {
  bool hex = false;
  if (take_float(c, op)) return true;
  if (!take_signed(c, &op->value, &hex)) return false;
  op->kind = hex ? TEXT_LITERAL : TEXT_INT;
  return peek(c) != '.';
}

/* An operand without neg, abs or sext around it. */
static bool take_bare(struct cursor *c, struct text_operand *op) {
  const char *start = c->at;
  if (take_word(c, "lit")) {
    if (take(c, '(') && take_number(c, op) && op->kind != TEXT_FLOAT && take(c, ')')) {
      op->kind = TEXT_LITERAL;
      return true;
    }
    c->at = start;
    return false;
  }
  if (take_register(c, "v", TEXT_VGPR, 0, 256, op) || take_register(c, "a", TEXT_AGPR, 0, 256, op) ||
      take_register(c, "s", TEXT_SREG, 0, 102, op) || take_register(c, "ttmp", TEXT_SREG, TEXT_REG_TTMP, 16, op) || take_named(c, op) ||
      take_number(c, op) || take_hwreg(c, op))
    return true;
  c->at = start;
  return take_call(c, op);
}

static bool take_operand(struct cursor *c, struct text_operand *op) {
  memset(op, 0, sizeof *op);
  const char *start = c->at;
  bool closing = false, bar;
  if (peek(c) == '-' && c->end - c->at > 1 && !is_digit(c->at[1])) op->neg = take(c, '-');
  if (word_is(c, word_length(c), "neg") && c->end - c->at > 3 && c->at[3] == '(') {
    c->at += 4;
    op->neg = closing = true;
  }
  if (word_is(c, word_length(c), "sext") && c->end - c->at > 4 && c->at[4] == '(') {
    if (op->neg) return false;
    c->at += 5;
    op->sext = closing = true;
  }
  bar = op->abs = take(c, '|');
  if (!take_bare(c, op) || (bar && !take(c, '|')) || (closing && !take(c, ')'))) {
    c->at = start;
    return false;
  }
  return true;
}

/* swizzle(MODE, ...) -> the 16-bit pattern. */
static bool take_swizzle(struct cursor *c, int32_t *value) {
  uint16_t n[4] = {0};
  if (!take_word(c, "swizzle") || !take(c, '(')) return false;
  size_t length = word_length(c);
  struct cursor mode = *c;
  c->at += length;
  if (!take(c, ',')) return false;
  skip_blanks(c);
  if (word_is(&mode, length, "BITMASK_PERM")) {
    uint32_t and = 0, or = 0, xor = 0;
    if (!take(c, '"')) return false;
    for (uint32_t bit = 16; bit; bit >>= 1) {
      if (take(c, '0')) continue;
      if (take(c, '1'))
        or |= bit;
      else if (take(c, 'p'))
        and |= bit;
      else if (take(c, 'i'))
        and |= bit, xor |= bit;
      else
        return false;
    }
    *value = (int32_t)(and | or << 5 | xor << 10);
    return take(c, '"') && take(c, ')');
  }
  uint32_t count = 0;
  do {
    skip_blanks(c);
    if (count == 4 || !take_small(c, 64, &n[count++])) return false;
  } while (take(c, ','));
  if (word_is(&mode, length, "QUAD_PERM") && count == 4)
    *value = 0x8000 | n[0] | n[1] << 2 | n[2] << 4 | n[3] << 6;
  else if (word_is(&mode, length, "BROADCAST") && count == 2)
    *value = ((32 - n[0]) & 31) | (n[1] & 31) << 5;
  else if (word_is(&mode, length, "SWAP") && count == 1)
    *value = 31 | (n[0] & 31) << 10;
  else if (word_is(&mode, length, "REVERSE") && count == 1)
    *value = 31 | ((n[0] - 1) & 31) << 10;
  else if (word_is(&mode, length, "ROTATE") && count == 2)
    *value = 0xC000 | (n[0] & 1) << 10 | (n[1] & 31) << 5;
  else if (word_is(&mode, length, "FFT") && count == 1)
    *value = 0xE000 | (n[0] & 31);
  else
    return false;
  return take(c, ')');
}

static bool take_list(struct cursor *c, struct inst_text *inst, enum text_mod m) {
  uint8_t n = 0;
  if (!take(c, '[')) return false;
  do {
    uint16_t v;
    if (n == TEXT_LIST_MAX || !take_small(c, 256, &v)) return false;
    inst->list[m][n++] = (uint8_t)v;
  } while (take(c, ','));
  inst->list_count[m] = n;
  inst->mod[m] = n;
  return take(c, ']');
}

static bool take_select(struct cursor *c, int32_t *value, enum text_mod m) {
  bool unused = m == TEXT_MOD_DST_UNUSED;
  size_t count = unused ? COUNT_OF(unused_names) : COUNT_OF(sel_names);
  for (size_t i = 0; i < count; i++) {
    if (!take_word(c, unused ? unused_names[i] : sel_names[i])) continue;
    *value = (int32_t)i;
    return true;
  }
  return false;
}

static bool take_mod_value(struct cursor *c, struct inst_text *inst, enum text_mod m) {
  int64_t v;
  if (mods[m].kind == FLAG) {
    inst->mod[m] = 1;
    return true;
  }
  if (!take(c, ':')) return false;
  if (mods[m].kind == LIST) return take_list(c, inst, m);
  if (mods[m].kind == SELECT) return take_select(c, &inst->mod[m], m);
  if (m == TEXT_MOD_OFFSET && word_is(c, word_length(c), "swizzle")) return take_swizzle(c, &inst->mod[m]);
  if (!take_signed(c, &v, NULL) || v < INT32_MIN || v > INT32_MAX) return false;
  inst->mod[m] = (int32_t)v;
  return true;
}

static bool take_wait(struct cursor *c, struct inst_text *inst) {
  struct {
    const char *name;
    int16_t *value;
  } waits[] = {{"vmcnt", &inst->wait_vm}, {"expcnt", &inst->wait_exp}, {"lgkmcnt", &inst->wait_lgkm}};
  for (size_t i = 0; i < COUNT_OF(waits); i++) {
    uint16_t v;
    if (!take_word(c, waits[i].name)) continue;
    if (*waits[i].value >= 0 || !take(c, '(') || !take_small(c, 64, &v) || !take(c, ')')) return false;
    *waits[i].value = (int16_t)v;
    return true;
  }
  return false;
}

/* The modifier whose word is at the cursor, or TEXT_MODS. */
static enum text_mod find_mod(const struct cursor *c) {
  size_t length = word_length(c);
  uint32_t m = 0;
  while (m < TEXT_MODS && !word_is(c, length, mods[m].spelling)) m++;
  return (enum text_mod)m;
}

static bool take_mod(struct cursor *c, struct inst_text *inst) {
  enum text_mod m = find_mod(c);
  if (m == TEXT_MODS) return take_wait(c, inst);
  if (inst_text_has(inst, m)) return false;
  c->at += strlen(mods[m].spelling);
  inst->mods |= UINT64_C(1) << m;
  return take_mod_value(c, inst, m);
}

static bool take_name(struct cursor *c, struct inst_text *inst) {
  static const struct {
    const char *spelling;
    enum text_suffix suffix;
  } suffixes[] = {{"_e32", TEXT_E32}, {"_e64", TEXT_E64}, {"_dpp", TEXT_DPP}, {"_sdwa", TEXT_SDWA}};
  size_t length = word_length(c);
  if (length == 0 || length >= TEXT_NAME_MAX || is_digit(*c->at)) return false;
  memcpy(inst->name, c->at, length);
  c->at += length;
  for (size_t i = 0; i < COUNT_OF(suffixes); i++) {
    size_t n = strlen(suffixes[i].spelling);
    if (length <= n || memcmp(inst->name + length - n, suffixes[i].spelling, n) != 0) continue;
    inst->name[length - n] = '\0';
    inst->suffix = suffixes[i].suffix;
    break;
  }
  return true;
}

static bool take_operands(struct cursor *c, struct inst_text *inst) {
  skip_blanks(c);
  const char *behind = c->at + word_length(c);
  bool call = behind < c->end && *behind == '('; /* neg(4) is an operand, neg:[...] a modifier */
  if (c->at == c->end || (!call && find_mod(c) != TEXT_MODS)) return true;
  struct cursor start = *c;
  if (take_wait(c, inst)) { /* s_waitcnt has no operand */
    *c = start;
    inst->wait_vm = inst->wait_exp = inst->wait_lgkm = -1;
    return true;
  }
  if (c->at != start.at) return false; /* a wait, malformed */
  do {
    skip_blanks(c);
    if (inst->operands == TEXT_OPERANDS_MAX || !take_operand(c, &inst->operand[inst->operands])) return false;
    inst->operands++;
    skip_blanks(c);
  } while (take(c, ','));
  return true;
}

/* Where the comment or the string ends. */
static const char *line_end(const char *line) {
  const char *p = line;
  while (*p != '\0' && *p != ';' && *p != '\n' && *p != '\r' && !(p[0] == '/' && p[1] == '/')) p++;
  while (p > line && (p[-1] == ' ' || p[-1] == '\t')) p--;
  return p;
}

bool inst_text_parse(const char *line, struct inst_text *inst, char error[TEXT_ERROR_MAX]) {
  struct cursor c = {line, line_end(line)};
  memset(inst, 0, sizeof *inst);
  inst->wait_vm = inst->wait_exp = inst->wait_lgkm = -1;
  skip_blanks(&c);
  bool good = take_name(&c, inst) && (c.at == c.end || *c.at == ' ' || *c.at == '\t') && take_operands(&c, inst);
  while (good) {
    skip_blanks(&c);
    if (take(&c, '&')) skip_blanks(&c);
    if (c.at == c.end) return true;
    good = c.at > line && !is_word(c.at[-1]) && take_mod(&c, inst);
  }
  snprintf(error, TEXT_ERROR_MAX, "\"%.60s\" is not understood in the instruction \"%.*s\"", c.at,
      c.end - line < 64 ? (int)(c.end - line) : 64, line);
  return false;
}

struct printer {
  char *at;
  size_t left;
  bool full;
};

__attribute__((format(printf, 2, 3))) static void put(struct printer *p, const char *format, ...) {
  va_list args;
  va_start(args, format);
  int n = vsnprintf(p->at, p->left, format, args);
  va_end(args);
  if (n < 0 || (size_t)n >= p->left) {
    p->full = true;
    return;
  }
  p->at += n;
  p->left -= (size_t)n;
}

static void put_register(struct printer *p, const char *letters, unsigned first, unsigned count) {
  if (count == 1)
    put(p, "%s%u", letters, first);
  else
    put(p, "%s[%u:%u]", letters, first, first + count - 1);
}

static void put_scalar(struct printer *p, const struct text_operand *op) {
  for (size_t i = 0; i < COUNT_OF(named); i++) {
    if (named[i].kind != op->kind || named[i].reg != op->reg || named[i].count != op->count) continue;
    put(p, "%s", named[i].spelling);
    return;
  }
  if (op->reg >= TEXT_REG_TTMP)
    put_register(p, "ttmp", op->reg - (unsigned)TEXT_REG_TTMP, op->count);
  else
    put_register(p, "s", op->reg, op->count);
}

static void put_float(struct printer *p, double value) {
  double size = value < 0 ? -value : value;
  for (size_t i = 0; i < COUNT_OF(floats); i++) {
    if (floats[i].value < size || floats[i].value > size) continue;
    put(p, "%s%s", value < 0 ? "-" : "", floats[i].spelling);
    return;
  }
}

static void put_hwreg(struct printer *p, int64_t value) {
  put(p, "hwreg(%d, %d, %d)", (int)(value & 63), (int)(value >> 6 & 31), (int)(value >> 11 & 31) + 1);
}

static void put_operand(struct printer *p, const struct text_operand *op) {
  bool number = op->kind == TEXT_INT || op->kind == TEXT_FLOAT || op->kind == TEXT_LITERAL;
  if (op->neg) put(p, number ? "neg(" : "-");
  if (op->sext) put(p, "sext(");
  if (op->abs) put(p, "|");
  switch (op->kind) {
  case TEXT_VGPR:
    put_register(p, "v", op->reg, op->count);
    break;
  case TEXT_AGPR:
    put_register(p, "a", op->reg, op->count);
    break;
  case TEXT_SREG:
  case TEXT_SOURCE:
    put_scalar(p, op);
    break;
  case TEXT_INT:
    put(p, "%lld", (long long)op->value);
    break;
  case TEXT_FLOAT:
    put_float(p, op->real);
    break;
  case TEXT_LITERAL:
    put(p, op->value < 0 ? "-0x%llx" : "0x%llx", (unsigned long long)(op->value < 0 ? -op->value : op->value));
    break;
  case TEXT_OFF:
    put(p, "off");
    break;
  case TEXT_HWREG:
    put_hwreg(p, op->value);
    break;
  case TEXT_WORD:
    put(p, "%s", op->word);
    break;
  }
  if (op->abs) put(p, "|");
  if (op->sext || (op->neg && number)) put(p, ")");
}

static void put_mod(struct printer *p, const struct inst_text *inst, enum text_mod m) {
  put(p, " %s", mods[m].spelling);
  if (mods[m].kind == FLAG) return;
  if (mods[m].kind == NUMBER) put(p, ":%d", inst->mod[m]);
  if (mods[m].kind == SELECT) put(p, ":%s", m == TEXT_MOD_DST_UNUSED ? unused_names[inst->mod[m]] : sel_names[inst->mod[m]]);
  for (uint8_t i = 0; mods[m].kind == LIST && i < inst->list_count[m]; i++) put(p, "%s%u", i ? "," : ":[", inst->list[m][i]);
  if (mods[m].kind == LIST) put(p, "]");
}

bool inst_text_print(const struct inst_text *inst, char *out, size_t size) {
  static const char *const suffixes[] = {"", "_e32", "_e64", "_dpp", "_sdwa"};
  struct printer p = {out, size, size == 0};
  if (p.full) return false;
  put(&p, "%s%s", inst->name, suffixes[inst->suffix]);
  for (uint32_t i = 0; i < inst->operands; i++) {
    put(&p, i ? ", " : " ");
    put_operand(&p, &inst->operand[i]);
  }
  for (uint32_t m = 0; m < TEXT_MODS; m++)
    if (inst_text_has(inst, (enum text_mod)m)) put_mod(&p, inst, (enum text_mod)m);
  if (inst->wait_vm >= 0) put(&p, " vmcnt(%d)", inst->wait_vm);
  if (inst->wait_exp >= 0) put(&p, " expcnt(%d)", inst->wait_exp);
  if (inst->wait_lgkm >= 0) put(&p, " lgkmcnt(%d)", inst->wait_lgkm);
  return !p.full;
}
