/* SPDX-License-Identifier: Apache-2.0 */
/* The kernarg block: its layout against front_args.def, and what a binding may hold. */
#ifndef FRONT_KERNARG_H
#define FRONT_KERNARG_H

#include "layer.h"

/* Refuses, by name, an argument that the kernel of this layer needs and that is null, misaligned or impossible. ARGUMENT. */
enum front_status kernarg_check(const struct layer *layer, const struct front_args *args);

struct kernarg_argument {
  const char *name;
  uint32_t offset, align;
  enum front_argument_use use;
};

enum {
#define ARG(name, type, align, dtype, use, bytes) KERNARG_##name,
#include "front_args.def"
#undef ARG
  KERNARG_ARGUMENTS
};
extern const struct kernarg_argument kernarg_arguments[KERNARG_ARGUMENTS];

/* Does a kernel of this layer use the argument? */
bool kernarg_needed(const struct layer *layer, uint32_t argument);

/* Bytes that it points to; 0: the key does not say. */
uint64_t kernarg_bytes(const struct layer *layer, uint32_t argument);

/* Bytes that a launch uses at least: of x S rows, of swa a block, of cos_sin a position, of comp_bt an entry. */
uint64_t kernarg_span(const struct layer *layer, const struct front_args *args, uint32_t argument);

/* Bytes from an address to its allocation's end; UINT64_MAX: not known. */
typedef uint64_t kernarg_memory(const void *context, const void *address);

/* Refuses, by name, a buffer that ends before what a kernel of this layer reads or writes there. Null pointers are not looked at, all else
   is good. ARGUMENT. */
enum front_status kernarg_check_sizes(
    const struct layer *layer, const struct front_args *args, kernarg_memory *behind, const void *context);

#endif
