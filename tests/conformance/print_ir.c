/* SPDX-License-Identifier: Apache-2.0 */
/* Programs as LLVM IR. Placeholders in the texts of ops.def:
   $r the result's name, also of temporaries ($r.x) · $a $b $c $d operands · $t $s types T, S · $e element of T · $i i1 as wide as T
   · $w T with elements twice as wide, $B its constant "bits of T" · $m $n T, S in an intrinsic's name · $l length of T · $1 the largest
   T below 1 · $A alignment of an element · $P $Q pointer types: global, stack · $Y scope of an atomic · $K what an atomic of floats needs
   · $E barrier · $F $G around a bf16 operation · $H $J around an LDS atomic
   · chosen by the node's random bits: $p $q predicates · $O binary operation · $Q another · $S shift · $N minimum or maximum · $U $W unary
   intrinsic and its second argument · $R atomic operation · $X extension
   · {number}, {letter}: a constant of type T · <letter>: a number (immediate_field). */
#include "program.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct printer {
  FILE *f;
  const struct program *p;
  enum print_target target;
  uint32_t function;
};

static const char *elem_name(uint8_t elem) {
  static const char *const names[ELEMS] = {"i1", "i8", "i16", "i32", "i64", "half", "float", "double"};
  return names[elem];
}

static const char *elem_mangled(uint8_t elem) {
  static const char *const names[ELEMS] = {"i1", "i8", "i16", "i32", "i64", "f16", "f32", "f64"};
  return names[elem];
}

static void print_type(FILE *f, struct value_type t, const char *elem) {
  if (t.lanes == 1)
    fputs(elem, f);
  else
    fprintf(f, "<%u x %s>", t.lanes, elem);
}

static double float_value(uint64_t bits, uint8_t elem) {
  double d;
  float s;
  uint32_t word = (uint32_t)bits;
  if (elem == F64) {
    memcpy(&d, &bits, sizeof d);
    return d;
  }
  memcpy(&s, &word, sizeof s);
  return (double)s;
}

static void print_scalar(FILE *f, uint8_t elem, uint64_t bits) {
  uint32_t unused = 64 - elem_bits(elem);
  double d;
  uint64_t as_double;
  switch (elem) {
  case I1:
    fputs(bits & 1 ? "true" : "false", f);
    return;
  case F16:
    fprintf(f, "0xH%04X", (unsigned)(bits & 0xFFFF));
    return;
  case F32:
  case F64:
    d = float_value(bits, elem);
    memcpy(&as_double, &d, sizeof d);
    fprintf(f, "0x%016llX", (unsigned long long)as_double);
    return;
  default:
    fprintf(f, "%lld", (long long)((int64_t)(bits << unused) >> unused));
  }
}

static void print_constant(FILE *f, struct value_type t, uint64_t bits) {
  if (t.lanes > 1) fprintf(f, "splat (%s ", elem_name(t.elem));
  print_scalar(f, t.elem, bits);
  if (t.lanes > 1) fputc(')', f);
}

static struct value_type arg_type(const struct node *n, uint32_t k) {
  struct value_type t = n->type;
  if (n->kind == NODE_IF) return (struct value_type){I1, 1};
  if (n->kind == NODE_LOOP) return (struct value_type){I32, 1};
  if (n->kind != NODE_OP) return t;
  switch (ops[n->op].types[k + 1]) {
  case 'T':
    return n->t;
  case 'S':
    return n->s;
  case 'B':
    return (struct value_type){I1, n->t.lanes};
  case 'E':
    return (struct value_type){n->t.elem, 1};
  default:
    return (struct value_type){I32, 1};
  }
}

static void print_operand(const struct printer *w, const struct node *n, uint32_t k) {
  if (k >= n->args)
    fputc('0', w->f);
  else if (n->arg[k].node < 0)
    print_constant(w->f, arg_type(n, k), n->arg[k].bits);
  else
    fprintf(w->f, "%%v%d", n->arg[k].node);
}

uint32_t immediate_field(const struct node *n, char letter) {
  static const uint32_t dpp_starts[] = {0x100, 0x110, 0x120, 0x150};
  static const uint32_t dpp_others[] = {0x130, 0x134, 0x138, 0x13C, 0x140, 0x141, 0x142, 0x143};
  uint32_t i = n->immediate, mix = i * 2654435761u;
  switch (letter) {
  case 'b':
    return i >> 4 & 1;
  case 'c': { /* quiet and signalling NaNs together */
    uint32_t mask = i & 0x3FC;
    return i >> 11 & 1 ? mask | 3 : mask;
  }
  case 'd':
    if (i % 3 == 0) return i >> 8 & 0xFF;
    if (i % 3 == 1) return dpp_others[i >> 8 & 7];
    return dpp_starts[i >> 8 & 3] + ((i >> 8 & 3) == 3 ? i >> 12 & 15 : (i >> 12) % 15 + 1);
  case 'f':
    return i & 63;
  case 'g':
    return mix >> 8 & 0xFF;
  case 'h':
    return (i >> 3) % 31 + 1;
  case 'j':
    return mix | 1;
  case 'k':
    return mix;
  case 'l':
    return n->t.lanes ? i % n->t.lanes : 0;
  case 'L':
    return n->t.lanes - 1u;
  case 'm':
    return mix >> (i & 31);
  case 'q':
    return i & 0x100000 ? i >> 12 & 15 : 15;
  case 'r':
    return i & 0x200000 ? i >> 16 & 15 : 15;
  case 's': /* bit masks, four lanes' order, rotation */
    return i % 3 == 0   ? i >> 8 & 0x7FFF
           : i % 3 == 1 ? 0x8000 | (i >> 8 & 0xFF)
                        : 0xC000 | (i >> 8 & 0x7E0); /* LLVM's text drops a rotation's mask */
  case 'x':
    return i & 0xFF;
  case 'y':
    return 8 * (i & 3);
  case 'z':
    return i & 3;
  case 'Z':
    return i >> 2 & 3;
  default:
    return 0;
  }
}

/* {...}: a constant of type T. */
static void print_t_constant(const struct printer *w, const struct node *n, const char *what) {
  uint32_t bits = elem_bits(n->t.elem);
  uint64_t value = (uint64_t)immediate_field(n, 'k') * 0x9E3779B97F4A7C15u, mix = n->immediate;
  if (isdigit((unsigned char)what[0]) || what[0] == '-') {
    if (n->t.lanes > 1) fprintf(w->f, "splat (%s ", elem_name(n->t.elem));
    fprintf(w->f, "%.*s", (int)strcspn(what, "}"), what);
    if (n->t.lanes > 1) fputc(')', w->f);
    return;
  }
  switch (what[0]) {
  case 'w':
    value = bits - 1;
    break;
  case 'h':
    value = mix % bits;
    break;
  case 'g':
    value = mix / 64 % bits;
    break;
  case 'o':
    value = (n->immediate & 1 ? value >> (bits / 2) : value) | 1;
    break;
  case 'm':
    value = (UINT64_C(1) << (mix / 64 % bits)) - 1;
    break;
  default:
    if (n->immediate & 4) value = (value & 127) - 64;
  }
  /* -1 divides into an overflow. */
  if (what[0] == 'o' && (value & ((bits == 64 ? 0 : UINT64_C(1) << bits) - 1)) == (bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1))
    value = 5;
  print_constant(w->f, n->t, value);
}

static const char *chosen(const struct node *n, char letter) {
  uint32_t mix = n->immediate * 2246822519u;
#define ONE_OF(shift, count, ...) ((const char *const[]){__VA_ARGS__})[(mix >> (shift)&0xFF) % (count)]
  switch (letter) {
  case 'p':
    return ONE_OF(8, 10, "eq", "ne", "ugt", "uge", "ult", "ule", "sgt", "sge", "slt", "sle");
  case 'q':
    return ONE_OF(8, 16, "false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true");
  case 'O':
    return ONE_OF(12, 6, "add", "sub", "mul", "and", "or", "xor");
  case 'Q':
    return ONE_OF(20, 5, "add", "sub", "and", "or", "xor");
  case 'S':
    return ONE_OF(16, 3, "shl", "lshr", "ashr");
  case 'N':
    return ONE_OF(9, 4, "umin", "umax", "smin", "smax");
  case 'U':
    return ONE_OF(15, 6, "ctpop", "bitreverse", "bswap", "ctlz", "cttz", "abs");
  case 'W':
    return ONE_OF(15, 6, "", "", "", ", i1 false", ", i1 false", ", i1 false");
  case 'R':
    return ONE_OF(11, 13, "add", "sub", "and", "or", "xor", "nand", "max", "min", "umax", "umin", "xchg", "uinc_wrap", "udec_wrap");
  case 'X':
    return ONE_OF(13, 2, "zext", "sext");
  case 'Y':
    return ONE_OF(14, 3, "syncscope(\"agent\")", "syncscope(\"workgroup\")", "");
  default:
    return "";
  }
#undef ONE_OF
}

static const char barrier_text[] = "fence syncscope(\"workgroup\") release\ncall void @llvm.amdgcn.s.barrier()\n"
                                   "fence syncscope(\"workgroup\") acquire";

/* Longer texts that stand for a letter; they have placeholders themselves. */
static const char *text_of(const struct printer *w, char letter) {
  bool host = w->target == PRINT_HOST;
  switch (letter) {
  case 'E':
    return barrier_text;
  case 'F':
    return "$r.p = call i16 @quiet_bf16(i16 $a)\n$r.q = call i16 @quiet_bf16(i16 $b)\n$r.x = bitcast i16 $r.p to bfloat\n"
           "$r.y = bitcast i16 $r.q to bfloat\n$r.f = ";
  case 'G':
    return "\n$r.b = bitcast bfloat $r.f to i16\n$r = call i16 @quiet_bf16(i16 $r.b)";
  case 'H':
    return "$r.p = getelementptr i32, ptr addrspace(3) @lds, i32 %item\nstore i32 <x>, ptr addrspace(3) $r.p, align 4\n$E\n"
           "$r.i = and i32 $b, 127\n$r.q = getelementptr i32, ptr addrspace(3) @lds, i32 $r.i\n$r.o = ";
  case 'J':
    return " ptr addrspace(3) $r.q, i32 $a syncscope(\"workgroup\") monotonic, align 4\n$E\n"
           "$r = load i32, ptr addrspace(3) $r.p, align 4\n$E";
  case 'K':
    return host ? "" : ", !amdgpu.no.fine.grained.memory !0, !amdgpu.no.remote.memory !0, !amdgpu.ignore.denormal.mode !0";
  case 'P':
    return host || w->p->flat ? "ptr" : "ptr addrspace(1)";
  default:
    return NULL;
  }
}

static void print_mangled(FILE *f, struct value_type t) {
  if (t.lanes > 1) fprintf(f, "v%u", t.lanes);
  fputs(elem_mangled(t.elem), f);
}

static void print_double_width(FILE *f, struct value_type t) {
  char elem[8];
  snprintf(elem, sizeof elem, "i%u", 2 * elem_bits(t.elem));
  print_type(f, t, elem);
}

static void print_text(const struct printer *w, uint32_t index, const struct node *n, const char *text);

static void print_dollar(const struct printer *w, uint32_t index, const struct node *n, char letter) {
  FILE *f = w->f;
  bool host = w->target == PRINT_HOST;
  switch (letter) {
  case 'r':
    fprintf(f, "%%v%u", index);
    break;
  case 'a':
  case 'b':
  case 'c':
  case 'd':
    print_operand(w, n, (uint32_t)(letter - 'a'));
    break;
  case 't':
    print_type(f, n->t, elem_name(n->t.elem));
    break;
  case 's':
    print_type(f, n->s, elem_name(n->s.elem));
    break;
  case 'e':
    fputs(elem_name(n->t.elem), f);
    break;
  case 'i':
    print_type(f, n->t, "i1");
    break;
  case 'w':
    print_double_width(f, n->t);
    break;
  case 'B':
    if (n->t.lanes > 1) fprintf(f, "splat (i%u ", 2 * elem_bits(n->t.elem));
    fprintf(f, "%u%s", elem_bits(n->t.elem), n->t.lanes > 1 ? ")" : "");
    break;
  case 'm':
    print_mangled(f, n->t);
    break;
  case 'n':
    print_mangled(f, n->s);
    break;
  case 'l':
    fprintf(f, "%u", n->t.lanes);
    break;
  case '1':
    fputs(n->t.elem == F32 ? "0x3FEFFFFFE0000000" : "0x3FEFFFFFFFFFFFFF", f);
    break;
  case 'A':
    fprintf(f, "%u", elem_bits(n->t.elem) / 8);
    break;
  case 'V':
    fputs(host ? "ptr" : "ptr addrspace(5)", f);
    break;
  case 'Y':
    if (!host) fputs(chosen(n, letter), f);
    break;
  default:
    if (text_of(w, letter))
      print_text(w, index, n, text_of(w, letter));
    else
      fputs(chosen(n, letter), f);
  }
}

static bool is_braced(const char *s) {
  size_t n = strcspn(s, "},$ ");
  return s[n] == '}' && n;
}

static void print_text(const struct printer *w, uint32_t index, const struct node *n, const char *text) {
  for (const char *s = text; *s; s++) {
    if (*s == '$') {
      print_dollar(w, index, n, *++s);
    } else if (*s == '{' && is_braced(s + 1)) {
      print_t_constant(w, n, s + 1);
      s += strcspn(s, "}");
    } else if (*s == '<' && isalpha((unsigned char)s[1]) && s[2] == '>') {
      fprintf(w->f, "%d", (int32_t)immediate_field(n, s[1]));
      s += 2;
    } else {
      fputc(*s, w->f);
    }
  }
}

static void print_op(const struct printer *w, uint32_t index, const struct node *n) {
  const struct op *o = &ops[n->op];
  if (w->target == PRINT_HOST && o->lane_op) {
    fprintf(w->f, "%%v%u = call i32 @model_lanes(i32 %u, i32 ", index, index);
    print_operand(w, n, 0);
    fputs(", i32 ", w->f);
    print_operand(w, n, 1);
    fputs(")\n", w->f);
    return;
  }
  print_text(w, index, n, w->target == PRINT_HOST && o->host ? o->host : o->device);
  fputc('\n', w->f);
}

static void print_phi(const struct printer *w, uint32_t i, const struct node *n, const char *from0, const char *from1) {
  fprintf(w->f, "%%v%u = phi ", i);
  print_type(w->f, n->type, elem_name(n->type.elem));
  fputs(" [ ", w->f);
  print_operand(w, n, 0);
  fprintf(w->f, ", %%%s%d ], [ ", from0, n->region);
  print_operand(w, n, 1);
  fprintf(w->f, ", %%%s%d ]\n", from1, n->region);
}

static void print_input(const struct printer *w, uint32_t i, const struct node *n) {
  const char *pointer = text_of(w, 'P');
  fprintf(w->f, "%%v%u.p = getelementptr i8, %s %%in, i32 %u\n%%v%u = load ", i, pointer, n->input_at, i);
  print_type(w->f, n->type, elem_name(n->type.elem));
  fprintf(w->f, ", %s %%v%u.p, align %u\n", pointer, i, elem_bits(n->type.elem) / 8);
}

/* The last phi of a loop's head is followed by its condition. */
static bool heads_end(const struct program *p, uint32_t i) {
  for (uint32_t k = i + 1; k < p->count && p->node[k].kind == NODE_CARRY; k++)
    if (p->node[k].live) return false;
  return true;
}

static void print_loop_test(const struct printer *w, int32_t region) {
  fprintf(w->f, "%%c%d = icmp ult i32 %%v%d, %%trips%d\nbr i1 %%c%d, label %%body%d, label %%exit%d\nbody%d:\n", region, region, region,
      region, region, region, region);
}

static void print_node(const struct printer *w, uint32_t i) {
  const struct node *n = &w->p->node[i];
  FILE *f = w->f;
  int32_t r = n->region;
  switch (n->kind) {
  case NODE_INPUT:
    print_input(w, i, n);
    break;
  case NODE_OP:
    print_op(w, i, n);
    break;
  case NODE_IF:
    fputs("br i1 ", f);
    print_operand(w, n, 0);
    fprintf(f, ", label %%then%u, label %%else%u\nthen%u:\n", i, i, i);
    break;
  case NODE_ELSE:
    fprintf(f, "br label %%thenend%d\nthenend%d:\nbr label %%join%d\nelse%d:\n", r, r, r, r);
    break;
  case NODE_JOIN:
    fprintf(f, "br label %%elseend%d\nelseend%d:\nbr label %%join%d\njoin%d:\n", r, r, r, r);
    break;
  case NODE_PHI:
    print_phi(w, i, n, "thenend", "elseend");
    break;
  case NODE_LOOP:
    fprintf(f, "%%trips%u = and i32 ", i);
    print_operand(w, n, 0);
    fprintf(f, ", 7\nbr label %%before%u\nbefore%u:\nbr label %%head%u\nhead%u:\n", i, i, i, i);
    fprintf(f, "%%v%u = phi i32 [ 0, %%before%u ], [ %%next%u, %%latch%u ]\n", i, i, i, i);
    if (heads_end(w->p, i)) print_loop_test(w, (int32_t)i);
    break;
  case NODE_CARRY:
    print_phi(w, i, n, "before", "latch");
    if (heads_end(w->p, i)) print_loop_test(w, r);
    break;
  default: /* NODE_NEXT */
    fprintf(f, "br label %%latch%d\nlatch%d:\n%%next%d = add i32 %%v%d, 1\nbr label %%head%d\nexit%d:\n", r, r, r, r, r, r);
  }
}

/* --- functions, modules ------------------------------------------------------------------------------------------------------ */

static void print_outputs(const struct printer *w) {
  const char *pointer = text_of(w, 'P');
  for (uint32_t i = 0; i < w->p->outputs; i++) {
    struct value_type t = w->p->output_type[i];
    uint8_t stored = t.elem == I1 ? I8 : t.elem;
    fprintf(w->f, "%%out%u = getelementptr i8, %s %%mem, i32 %u\n", i, pointer, MEMORY_BYTES + i * OUTPUT_BYTES);
    if (t.elem == I1) {
      fprintf(w->f, "%%wide%u = zext ", i);
      print_type(w->f, t, "i1");
      fputc(' ', w->f);
      if (w->p->output[i].node < 0)
        print_constant(w->f, t, w->p->output[i].bits);
      else
        fprintf(w->f, "%%v%d", w->p->output[i].node);
      fputs(" to ", w->f);
      print_type(w->f, t, "i8");
      fputc('\n', w->f);
    }
    fputs("store ", w->f);
    print_type(w->f, t, elem_name(stored));
    fputc(' ', w->f);
    if (t.elem == I1)
      fprintf(w->f, "%%wide%u", i);
    else if (w->p->output[i].node < 0)
      print_constant(w->f, t, w->p->output[i].bits);
    else
      fprintf(w->f, "%%v%d", w->p->output[i].node);
    fprintf(w->f, ", %s %%out%u, align %u\n", pointer, i, elem_bits(stored) / 8);
  }
}

static void print_function(const struct printer *w, bool calls) {
  const char *pointer = text_of(w, 'P');
  bool host = w->target == PRINT_HOST;
  fprintf(w->f, "define %svoid @f%u(%s %%in, %s %%mem, i32 %s%%uniform) %s{\n", host ? "" : "internal ", w->function, pointer, pointer,
      host ? "" : "inreg ",
      host    ? ""
      : calls ? "#1 "
              : "#2 ");
  fprintf(w->f, "%%stack = alloca [64 x i8], align 16%s\n", host ? "" : ", addrspace(5)");
  if (!host) fputs("%item = call i32 @llvm.amdgcn.workitem.id.x()\n%lane = and i32 %item, 63\n", w->f);
  for (uint32_t i = 0; i < w->p->count; i++)
    if (w->p->node[i].live) print_node(w, i);
  print_outputs(w);
  fputs("ret void\n}\n", w->f);
}

static void print_kernel(const struct printer *w) {
  const char *cast =
      w->p->flat ? "%%in.f = addrspacecast ptr addrspace(1) %%in.l to ptr\n%%out.f = addrspacecast ptr addrspace(1) %%out.l to ptr\n"
                   "call void @f%u(ptr %%in.f, ptr %%out.f, i32 inreg %%uniform)\n"
                 : "call void @f%u(ptr addrspace(1) %%in.l, ptr addrspace(1) %%out.l, i32 inreg %%uniform)\n";
  fprintf(w->f,
      "define amdgpu_kernel void @k%u(ptr addrspace(1) %%in, ptr addrspace(1) %%out, i32 %%uniform) #0 {\n"
      "%%x = call i32 @llvm.amdgcn.workitem.id.x()\n%%g = call i32 @llvm.amdgcn.workgroup.id.x()\n%%b = mul i32 %%g, %u\n"
      "%%i = add i32 %%b, %%x\n%%ib = mul i32 %%i, %u\n%%ob = mul i32 %%i, %u\n"
      "%%in.l = getelementptr i8, ptr addrspace(1) %%in, i32 %%ib\n%%out.l = getelementptr i8, ptr addrspace(1) %%out, i32 %%ob\n",
      w->function, LANES, INPUT_BYTES, RECORD_BYTES);
  fprintf(w->f, cast, w->function);
  fputs("ret void\n}\n", w->f);
}

/* NaNs with one sign and payload, before bits are looked at. */
static void print_quiet(FILE *f, const char *name, uint32_t bits, const char *top, const char *infinity, const char *quiet) {
  fprintf(f,
      "define internal i%u @%s(i%u %%x) alwaysinline {\n%%m = and i%u %%x, %s\n%%n = icmp ugt i%u %%m, %s\n"
      "%%r = select i1 %%n, i%u %s, i%u %%x\nret i%u %%r\n}\n",
      bits, name, bits, bits, top, bits, infinity, bits, quiet, bits, bits);
}

static void print_quiet_pair(FILE *f, const char *name, const char *half) {
  fprintf(f,
      "define internal i32 @%s(i32 %%x) alwaysinline {\n%%l = trunc i32 %%x to i16\n%%s = lshr i32 %%x, 16\n%%h = trunc i32 %%s to i16\n"
      "%%lq = call i16 @%s(i16 %%l)\n%%hq = call i16 @%s(i16 %%h)\n%%lz = zext i16 %%lq to i32\n%%hz = zext i16 %%hq to i32\n"
      "%%t = shl i32 %%hz, 16\n%%r = or i32 %%lz, %%t\nret i32 %%r\n}\n",
      name, half, half);
}

static void print_quiet_bytes(FILE *f, const char *name, int limit) {
  fprintf(f, "define internal i32 @%s(i32 %%x) alwaysinline {\n", name);
  if (limit)
    fprintf(f,
        "%%v = bitcast i32 %%x to <4 x i8>\n%%m = and <4 x i8> %%v, splat (i8 127)\n%%n = icmp ugt <4 x i8> %%m, splat (i8 %d)\n"
        "%%s = select <4 x i1> %%n, <4 x i8> splat (i8 127), <4 x i8> %%v\n%%r = bitcast <4 x i8> %%s to i32\nret i32 %%r\n}\n",
        limit);
  else
    fputs("ret i32 %x\n}\n", f);
}

static void print_prelude(FILE *f, enum print_target target, bool ocp) {
  if (target != PRINT_HOST) {
    fputs("target triple = \"amdgcn-amd-amdhsa\"\n@lds = internal addrspace(3) global [2048 x i8] poison, align 16\n", f);
    fprintf(f, "attributes #0 = { \"amdgpu-flat-work-group-size\"=\"%d,%d\" }\n", LANES, LANES);
    fputs("attributes #1 = { noinline }\nattributes #2 = { alwaysinline }\n!0 = !{}\n!llvm.module.flags = !{!1}\n"
          "!1 = !{i32 1, !\"amdhsa_code_object_version\", i32 500}\n",
        f);
  } else {
    fputs("declare i32 @model_lanes(i32, i32, i32)\ndeclare i32 @model_dot4(i32, i32, i32, i32)\ndeclare i32 @model_dot2(i32, i32, i32, "
          "i32)\n"
          "declare i32 @model_perm(i32, i32, i32)\ndeclare i32 @model_sad8(i32, i32, i32)\ndeclare i16 @model_f16_of_f64(double)\n"
          "declare i32 @model_pkrtz(float, float)\ndeclare i16 @model_f16_fma(i16, i16, i16)\ndeclare i32 @model_f16x2_fma(i32, i32, i32)\n"
          "declare float @model_med3(float, float, float)\ndeclare i16 @model_bf16_of_f32(float)\ndeclare i16 @model_bf16_of_f64(double)\n"
          "declare i16 @model_bf16_op(i16, i16, i32)\ndeclare i32 @model_pk_fp8(float, float, i32, i32, i32)\n"
          "declare float @model_f32_fp8(i32, i32, i32)\n",
        f);
  }
  print_quiet(f, "quiet16", 16, "32767", "31744", "32256");
  print_quiet(f, "quiet_bf16", 16, "32767", "32640", "32704");
  print_quiet(f, "quiet32", 32, "2147483647", "2139095040", "2143289344");
  print_quiet(f, "quiet64", 64, "9223372036854775807", "9218868437227405312", "9221120237041090560");
  print_quiet_pair(f, "quiet_pair", "quiet16");
  print_quiet_pair(f, "quiet_bf16_pair", "quiet_bf16");
  print_quiet_bytes(f, "quiet_fp8", ocp ? 126 : 0);
  print_quiet_bytes(f, "quiet_bf8", ocp ? 124 : 0);
  fputs("define internal float @quiet_zero(float %x) alwaysinline {\n%n = fcmp uno float %x, %x\n"
        "%r = select i1 %n, float 1.0, float %x\nret float %r\n}\n",
      f);
}

void print_functions(FILE *f, const struct program *const program[], uint32_t count, enum print_target target, bool calls) {
  for (uint32_t i = 0; i < count; i++) {
    struct printer w = {f, program[i], target, i};
    print_function(&w, calls);
  }
}

void print_module(
    FILE *f, const struct program *const program[], uint32_t count, enum print_target target, enum print_target like, bool calls) {
  bool host = target == PRINT_HOST;
  print_prelude(f, target, (host ? like : target) == PRINT_GFX950);
  print_functions(f, program, count, target, calls);
  for (uint32_t i = 0; i < count && !host; i++) {
    struct printer w = {f, program[i], target, i};
    print_kernel(&w);
  }
}
