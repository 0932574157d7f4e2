/* SPDX-License-Identifier: Apache-2.0 */
#include "ir_reader.h"

#include <stdlib.h>
#include <string.h>

#include "support.h"

/* ---- DESIGN's tables */

static const struct {
  uint32_t offset;
  const char *name;
  bool scalar;
} arguments[] = {
    {0, "x", 0},
    {8, "wqkv", 0},
    {16, "wqkv_s", 0},
    {24, "wqb", 0},
    {32, "wqb_s", 0},
    {40, "scratch", 0},
    {48, "epoch", 0},
    {56, "x_stride", 1},
    {60, "bt_stride", 1},
    {64, "pos", 0},
    {72, "slot", 0},
    {80, "swa_idx", 0},
    {88, "swa_lens", 0},
    {96, "topk", 0},
    {104, "t2r", 0},
    {112, "comp_bt", 0},
    {120, "cos_sin", 0},
    {128, "qn_w", 0},
    {136, "kvn_w", 0},
    {144, "swa", 0},
    {152, "swa_stride", 1},
    {160, "swa_block", 1},
    {164, "comp_block", 1},
    {168, "q", 0},
    {176, "kt", 0},
    {184, "klen", 0},
    {192, "qr_out", 0},
    {200, "tl", 0},
    {208, "guard", 0},
};

static uint32_t up(uint32_t v, uint32_t to) { return (v + to - 1) / to * to; }

/* Flags: one array of pairs, or, tuned, 8 copies on lines of their own. */
static uint32_t flag_bytes(uint32_t pairs, bool tuned) { return 8 * (tuned ? 8 * up(pairs, 16) : pairs); }

static const char *const regions[] = {"x8", "x8s", "xrdy", "qkvp", "qx8", "qx8s", "qrdy", "done"};
enum { REGION_COUNT = sizeof regions / sizeof *regions };

static uint32_t region_bytes(size_t region, const struct ir_sizes *z) {
  const uint32_t s = z->tokens;
  const uint32_t bytes[REGION_COUNT] = {
      s * 5120, 2 * up(s * 320, 128), flag_bytes(2 * s, z->tuned), 2 * s * 1792 * 8, s * 1280, s * 40 * 4, flag_bytes(s, z->tuned), 4};
  return bytes[region];
}

static const char *region_at(uint64_t offset, const struct ir_sizes *z) {
  uint64_t at = 0;
  for (size_t i = 0; i < REGION_COUNT; at += up(region_bytes(i++, z), 256))
    if (at == offset) return regions[i];
  fail_msg("scratch has no region at byte %llu", (unsigned long long)offset);
  return NULL;
}

uint32_t design_scratch_bytes(const struct ir_sizes *z) {
  uint32_t bytes = 0;
  for (size_t i = 0; i < REGION_COUNT; i++) bytes += up(region_bytes(i, z), 256);
  return bytes;
}

uint32_t design_bytes(const char *what, const struct ir_sizes *z) {
  const uint32_t s = z->tokens;
  const struct {
    const char *name;
    uint32_t bytes;
  } sizes[] = {{"wqkv", 1792 * 5120}, {"wqkv_s", 56 * 160}, {"wqb", z->q_rows * 1280}, {"wqb_s", z->q_rows / 32 * 40}, {"epoch", 4},
      {"pos", 8 * s}, {"slot", 8 * s}, {"swa_idx", 4 * s * z->window}, {"swa_lens", 4 * s}, {"topk", 4 * s * 512}, {"t2r", 4 * s},
      {"qn_w", 2 * 1280}, {"kvn_w", 2 * 512}, {"q", 2 * s * z->q_rows}, {"kt", 4 * s * z->keys}, {"klen", 4 * 2 * s}, {"guard", 4 * 32},
      {"scratch", design_scratch_bytes(z)}};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    if (strcmp(what, sizes[i].name) == 0) return sizes[i].bytes;
  for (size_t i = 0; i < REGION_COUNT; i++)
    if (strcmp(what, regions[i]) == 0) return region_bytes(i, z);
  return IR_UNKNOWN_BYTES;
}

/* ---- LLVM's syntax */

struct parse {
  const struct ir_sizes *sizes;
  const char **definition; /* line of value %name.id, by id */
  size_t values;
  struct ir_reader *out;
  size_t room;
};

static const char *line_end(const char *text) { return text + strcspn(text, "\n"); }

static const char *in_line(const char *text, const char *string) {
  return memmem(text, (size_t)(line_end(text) - text), string, strlen(string));
}

bool line_has(const char *text, const char *string) { return in_line(text, string) != NULL; }

/* The text behind `string` in the line, which must have it. */
static const char *behind(const char *text, const char *string) {
  const char *at = in_line(text, string);
  if (!at) fail_msg("a line without \"%s\": %.*s", string, (int)(line_end(text) - text), text);
  return at + strlen(string);
}

/* The id of the value that starts at `text`: %name.id. */
static size_t value_id(const char *text) {
  if (*text != '%') fail_msg("a value wanted: %.40s", text);
  size_t length = strcspn(text, " ,)=\n");
  const char *at = text + length;
  while (at > text && at[-1] != '.') at--;
  return (size_t)strtoul(at, NULL, 10);
}

static const char *definition_of(const struct parse *p, const char *value) {
  size_t id = value_id(value);
  if (id >= p->values || !p->definition[id]) fail_msg("a value without a definition: %.40s", value);
  return p->definition[id];
}

static void find_definitions(struct parse *p) {
  size_t room = 65536;
  p->definition = calloc(room, sizeof *p->definition);
  assert_non_null(p->definition);
  for (const char *line = p->out->body; line < p->out->end; line = line_end(line) + 1) {
    if (strncmp(line, "  %", 3) != 0) continue;
    size_t id = value_id(line + 2);
    if (id >= room || p->definition[id]) fail_msg("value %zu is defined twice, or there are too many", id);
    p->definition[id] = line;
    if (id >= p->values) p->values = id + 1;
  }
}

/* The argument that an address in the kernarg segment is of. */
static const char *argument_of(const struct parse *p, const char *address, bool *scalar) {
  const char *line = definition_of(p, address);
  uint32_t offset = (uint32_t)strtoul(behind(line, "getelementptr i8, ptr addrspace(4) %kernarg.0, i32 "), NULL, 10);
  for (size_t i = 0; i < sizeof arguments / sizeof *arguments; i++)
    if (arguments[i].offset == offset) {
      if (scalar) *scalar = arguments[i].scalar;
      return arguments[i].name;
    }
  fail_msg("the kernarg block has no argument at byte %u", offset);
  return NULL;
}

/* Where a global pointer points: an argument, or a region of scratch. */
static const char *target_of(const struct parse *p, const char *pointer) {
  const char *line = definition_of(p, pointer);
  if (line_has(line, " = load volatile ptr addrspace(1), ptr addrspace(4) "))
    return argument_of(p, behind(line, "ptr addrspace(4) "), NULL);
  const char *base = behind(line, "getelementptr i8, ptr addrspace(1) ");
  const char *what = target_of(p, base);
  if (strcmp(what, "scratch") != 0) return what;
  return region_at(strtoull(behind(base, ", i64 "), NULL, 10), p->sizes);
}

static void read_size(const struct parse *p, const char *size, struct ir_event *e) {
  if (*size != '%') {
    e->records = strtoull(size, NULL, 10);
    return;
  }
  const char *line = definition_of(p, size);
  if (line_has(line, " = zext i32 ")) line = definition_of(p, behind(line, " = zext i32 "));
  const char *live = strchr(behind(line, " = select i1 "), ',') + 2; /* "i64 N, i64 0" */
  live = strchr(live, ' ') + 1;
  e->masked = true;
  e->computed = *live == '%';
  e->records = e->computed ? 0 : strtoull(live, NULL, 10);
  if (strncmp(line_end(line) - 2, " 0", 2) != 0) fail_msg("a size that is not masked by 0: %.*s", (int)(line_end(line) - line), line);
}

static void read_resource(const struct parse *p, const char *resource, struct ir_event *e) {
  const char *line = definition_of(p, resource);
  const char *base = behind(line, "@llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1) ");
  e->what = target_of(p, base);
  read_size(p, behind(base, ", i16 0, i64 "), e);
  const char *size = behind(base, ", i16 0, i64 ");
  e->flags = (uint32_t)strtoul(behind(size, ", i32 "), NULL, 10);
}

static uint32_t type_bytes(const char *type) {
  static const struct {
    const char *text;
    uint32_t bytes;
  } types[] = {{"<4 x i32>", 16}, {"<2 x i32>", 8}, {"i32", 4}, {"float", 4}, {"i16", 2}};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (strncmp(type, types[i].text, strlen(types[i].text)) == 0) return types[i].bytes;
  fail_msg("a type of an access: %.40s", type);
  return 0;
}

static struct ir_event *append(struct parse *p, enum ir_event_kind kind, const char *line) {
  struct ir_reader *r = p->out;
  if (r->events == p->room) {
    p->room = p->room ? 2 * p->room : 512;
    r->event = realloc(r->event, p->room * sizeof *r->event);
    assert_non_null(r->event);
  }
  struct ir_event *e = &r->event[r->events++];
  *e = (struct ir_event){.kind = kind, .text = line};
  const char *debug = in_line(line, ", !dbg !");
  if (debug) e->debug = (uint32_t)strtoul(debug + 8, NULL, 10);
  return e;
}

/* A buffer access: the cache bits are its last operand. */
static void read_buffer_access(struct parse *p, const char *line, const char *name) {
  bool store = strncmp(name, "store", 5) == 0, atomic = strncmp(name, "atomic", 6) == 0;
  struct ir_event *e = append(p, atomic ? IR_ATOMIC : store ? IR_STORE : IR_LOAD, line);
  const char *operands = strchr(name, '(') + 1, *close = operands;
  while (*close != ')' || (close[1] != '\n' && close[1] != ',')) close++; /* not that of addrspace(8) */
  const char *last = close;
  while (last[-1] != ' ') last--;
  e->aux = (uint32_t)strtoul(last, NULL, 10);
  e->bytes = store || atomic ? type_bytes(operands) : type_bytes(behind(line, " = call "));
  read_resource(p, behind(operands, "ptr addrspace(8) "), e);
}

static void read_call(struct parse *p, const char *line, const char *function) {
  static const char buffer[] = "llvm.amdgcn.raw.ptr.buffer.";
  if (strncmp(function, buffer, sizeof buffer - 1) == 0)
    read_buffer_access(p, line, function + sizeof buffer - 1);
  else if (strncmp(function, "llvm.amdgcn.s.barrier(", 22) == 0)
    append(p, IR_BARRIER, line);
  else if (strncmp(function, "llvm.amdgcn.s.waitcnt(i32 3952)", 31) == 0) /* vmcnt 0, no other */
    append(p, IR_WAIT, line);
  else if (strncmp(function, "llvm.amdgcn.s.sleep(", 20) == 0)
    append(p, IR_SLEEP, line);
  else if (strncmp(function, "llvm.amdgcn.mfma", 16) == 0)
    append(p, IR_MFMA, line);
  else if (strncmp(function, "front.mx_code(", 14) == 0)
    append(p, IR_QUANTISE, line);
}

/* Plain loads and stores: of the kernarg block, LDS (not listed), or global memory. */
static void read_memory(struct parse *p, const char *line) {
  bool scalar = false;
  if (line_has(line, " = load i32, ptr addrspace(4) %addrspacecast.")) { /* of a pointer that an argument holds */
    const char *cast = definition_of(p, behind(line, "ptr addrspace(4) "));
    append(p, IR_SCALAR, line)->what = target_of(p, behind(cast, "addrspacecast ptr addrspace(1) "));
  } else if (line_has(line, "load volatile ") && line_has(line, "ptr addrspace(4) ")) {
    const char *what = argument_of(p, behind(line, "ptr addrspace(4) "), &scalar);
    if (scalar) append(p, IR_SCALAR, line)->what = what;
  } else if (strncmp(line, "  store ", 8) == 0 && line_has(line, ", ptr addrspace(1) ")) {
    struct ir_event *e = append(p, IR_GLOBAL_STORE, line);
    e->what = target_of(p, behind(line, ", ptr addrspace(1) "));
    e->bytes = type_bytes(line + 8);
  } else if (!line_has(line, "ptr addrspace(3) ")) {
    fail_msg("an access of unknown memory: %.*s", (int)(line_end(line) - line), line);
  }
}

static void read_line(struct parse *p, const char *line) {
  const char *call = in_line(line, "call ");
  if (strncmp(line, "then.", 5) == 0)
    append(p, IR_BRANCH, line)->what = behind(line, "; ");
  else if (strncmp(line, "end.", 4) == 0)
    append(p, IR_BRANCH_END, line);
  else if (strncmp(line, "loop.", 5) == 0)
    append(p, IR_LOOP, line)->what = behind(line, "; ");
  else if (strncmp(line, "leave.", 6) == 0)
    append(p, IR_LOOP_END, line);
  else if (call)
    read_call(p, line, behind(call, "@"));
  else if (line_has(line, " = load ") || strncmp(line, "  store ", 8) == 0)
    read_memory(p, line);
}

struct ir_reader ir_read(const char *text, const struct ir_sizes *sizes) {
  struct ir_reader r = {0};
  struct parse p = {.sizes = sizes, .out = &r};
  const char *head = strstr(text, "define amdgpu_kernel void @");
  assert_non_null(head);
  r.body = line_end(head) + 1;
  r.end = strstr(r.body, "\n}\n");
  assert_non_null(r.end);
  find_definitions(&p);
  for (const char *line = r.body; line < r.end; line = line_end(line) + 1) read_line(&p, line);
  free(p.definition);
  return r;
}

void ir_reader_free(struct ir_reader *r) {
  free(r->event);
  r->event = NULL;
}
