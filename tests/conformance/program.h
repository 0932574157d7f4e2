/* SPDX-License-Identifier: Apache-2.0 */
/* A random function of one lane, as a list of operations that can be printed as LLVM IR for the GPU and for this machine, and cut down.
   A node's value is named by its index. Regions are bracketed by nodes: IF .. ELSE .. JOIN PHI*, LOOP CARRY* .. NEXT. */
#ifndef CONFORMANCE_PROGRAM_H
#define CONFORMANCE_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum elem { I1, I8, I16, I32, I64, F16, F32, F64, ELEMS };

struct value_type {
  uint8_t elem; /* enum elem */
  uint8_t lanes;
};

enum {
  NODES_MAX = 400,
  OPERANDS = 4,
  OUTPUTS = 24,
  OUTPUT_BYTES = 32, /* <4 x i64> */
  MEMORY_BYTES = 64, /* a lane's own memory in front of its outputs */
  RECORD_BYTES = MEMORY_BYTES + OUTPUTS * OUTPUT_BYTES,
  LANES = 128, /* of a workgroup: two waves */
  GROUPS = 2
};

/* Where an op may be used. */
enum op_need { ANY = 0, GFX950 = 1, TOP = 2 /* not under a condition */ };

/* Operations between lanes: what the host's model is asked for. NO_LANES: none. */
enum lane_op {
  NO_LANES,
  LANE_BPERMUTE,
  LANE_PERMUTE,
  LANE_SWIZZLE,
  LANE_DPP,
  LANE_DPP_ZERO, /* every row and bank, 0 where there is no source */
  LANE_READ,
  LANE_READ_FIRST,
  LANE_WRITE,
  LANE_BALLOT_LO,
  LANE_BALLOT_HI,
  LANE_BELOW, /* mbcnt */
  LANE_SWAP16,
  LANE_SWAP32,
  LANE_LDS,     /* value through LDS, from any lane of the workgroup */
  LANE_LDS_ADD, /* sum of what lanes sent to a slot */
  LANE_LDS_MAX,
  LANE_LDS_XOR
};

/* A row of ops.def. */
struct op {
  const char *name;
  const char *types;       /* result and operands: T, S; B: i1 as wide as T; I: i32; E: T's element */
  uint32_t t_mask, s_mask; /* 1 << enum elem */
  uint8_t lanes_mask;      /* bit n: n elements are fine */
  uint8_t weight, need;
  uint8_t lane_op;
  const char *device, *host; /* IR with placeholders (print_ir.c); host null: the same */
};

extern const struct op ops[];
extern const uint32_t op_count;

enum node_kind { NODE_INPUT, NODE_OP, NODE_IF, NODE_ELSE, NODE_JOIN, NODE_PHI, NODE_LOOP, NODE_CARRY, NODE_NEXT };

/* A node's value, or (node < 0) a constant: `bits` in every element. */
struct operand {
  int32_t node;
  uint64_t bits;
};

struct node {
  uint8_t kind;
  uint16_t op;                  /* NODE_OP */
  struct value_type type;       /* of the value */
  struct value_type t, s;       /* OP: what $t and $s are */
  struct operand arg[OPERANDS]; /* IF: condition; PHI: then, else; LOOP: trip count; CARRY: first, next */
  uint32_t args;
  uint32_t immediate; /* random bits for the op's placeholders */
  uint32_t input_at;  /* INPUT: byte offset in the lane's inputs */
  int32_t region;     /* ELSE, JOIN, PHI: the IF; CARRY, NEXT: the LOOP */
  bool live;
};

struct program {
  uint64_t seed;
  uint32_t count;
  struct node node[NODES_MAX];
  struct operand output[OUTPUTS];
  struct value_type output_type[OUTPUTS];
  uint32_t outputs;
  bool flat; /* the GPU's pointers are generic */
};

/* The inputs of a lane: every elem, scalars and vectors; the rest is padding. */
enum { INPUT_BYTES = 256 };

/* Any program of a seed, for a target; nodes' `live` is set. */
void program_random(struct program *p, uint64_t seed, bool gfx950);

/* Marks what the outputs need. Returns how many nodes of kind OP, IF and LOOP do. */
uint32_t program_live(struct program *p);

/* The inputs of one lane. No float is a signalling NaN: what LLVM makes of one is open. */
void program_inputs(uint64_t seed, uint32_t lane, uint8_t in[INPUT_BYTES]);

/* Random numbers: splitmix64. */
uint64_t random_next(uint64_t *state);

static inline bool is_float(uint8_t elem) { return elem >= F16; }
uint32_t elem_bits(uint8_t elem); /* I1: 1 */
/* The field of a node's random bits that a placeholder <letter> stands for. */
uint32_t immediate_field(const struct node *n, char letter);

/* --- print_ir.c ------------------------------------------------------------------------------------------------------------- */

/* Functions `program[i]` named f0, f1, .. as one module. For the GPU each with a kernel k0, k1, .. (in, out). */
enum print_target { PRINT_HOST, PRINT_GFX942, PRINT_GFX950 };
/* `like`: for the host, the GPU whose fp8 it is. `calls`: the kernels call their functions instead of having them inlined. */
void print_module(
    FILE *f, const struct program *const program[], uint32_t count, enum print_target target, enum print_target like, bool calls);
/* Without what the functions call: for a human reader. */
void print_functions(FILE *f, const struct program *const program[], uint32_t count, enum print_target target, bool calls);

#endif
