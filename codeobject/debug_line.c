/* SPDX-License-Identifier: Apache-2.0 */
/* DWARF line programs, versions 4 and 5, as far as one unit of one kernel needs them: addresses and lines. */
#include "debug_line.h"

#include <elf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MACHINE_AMDGPU = 224, RELOC_ABS64 = 3, EVENTS_MAX = 1 << 20 };

enum { LNS_EXTENDED, LNS_COPY, LNS_ADVANCE_PC, LNS_ADVANCE_LINE, LNS_CONST_ADD_PC = 8, LNS_FIXED_ADVANCE_PC };
enum { LNE_END_SEQUENCE = 1, LNE_SET_ADDRESS };

struct span {
  const uint8_t *at;
  size_t bytes;
};

struct object {
  struct span image;
  Elf64_Ehdr head;
  struct span lines, relocs, symbols;
  uint64_t kernel; /* its offset in its section */
  char *error;
};

struct table {
  struct front_event *event;
  uint32_t events, room;
};

struct cursor {
  const uint8_t *start, *at, *end;
  bool bad; /* read beyond the end */
};

struct program {
  struct cursor c;
  uint32_t min_length, line_range, opcode_base;
  int32_t line_base;
  uint8_t lengths[256];
  uint64_t address, line;
};

static bool fail(const struct object *o, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool fail(const struct object *o, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(o->error, CODE_ERROR_MAX, format, args);
  va_end(args);
  return false;
}

static bool section_at(const struct object *o, uint32_t i, Elf64_Shdr *s, struct span *contents) {
  memcpy(s, o->image.at + o->head.e_shoff + i * sizeof *s, sizeof *s);
  if (s->sh_type == SHT_NOBITS) return false;
  if (s->sh_offset > o->image.bytes || s->sh_size > o->image.bytes - s->sh_offset) return false;
  *contents = (struct span){o->image.at + s->sh_offset, s->sh_size};
  return true;
}

static bool find_sections(struct object *o) {
  Elf64_Shdr s;
  struct span names = {0}, contents;
  if (o->image.bytes < sizeof o->head) return fail(o, "llc's object is truncated");
  memcpy(&o->head, o->image.at, sizeof o->head);
  const Elf64_Ehdr *h = &o->head;
  if (memcmp(h->e_ident, ELFMAG, SELFMAG) != 0 || h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_machine != MACHINE_AMDGPU ||
      h->e_type != ET_REL)
    return fail(o, "llc made no relocatable AMDGPU object");
  if (h->e_shentsize != sizeof s || h->e_shoff > o->image.bytes || h->e_shnum * sizeof s > o->image.bytes - h->e_shoff ||
      h->e_shstrndx >= h->e_shnum || !section_at(o, h->e_shstrndx, &s, &names))
    return fail(o, "llc's object is truncated: its sections are not all there");
  for (uint32_t i = 0; i < h->e_shnum; i++) {
    if (!section_at(o, i, &s, &contents) || s.sh_name >= names.bytes) continue;
    const char *name = (const char *)names.at + s.sh_name;
    size_t room = names.bytes - s.sh_name;
    if (room > 11 && strncmp(name, ".debug_line", 12) == 0) o->lines = contents;
    if (room > 16 && strncmp(name, ".rela.debug_line", 17) == 0) o->relocs = contents;
    if (s.sh_type == SHT_SYMTAB) o->symbols = contents;
  }
  if (!o->lines.at || !o->relocs.at || !o->symbols.at)
    return fail(o, "llc's object has no line table: the IR must name each access's line");
  return true;
}

/* The object has one kernel: its one function of external linkage. */
static bool find_kernel(struct object *o) {
  uint32_t found = 0;
  for (size_t at = 0; at + sizeof(Elf64_Sym) <= o->symbols.bytes; at += sizeof(Elf64_Sym)) {
    Elf64_Sym s;
    memcpy(&s, o->symbols.at + at, sizeof s);
    if (ELF64_ST_TYPE(s.st_info) != STT_FUNC || s.st_shndx == SHN_UNDEF) continue;
    o->kernel = s.st_value;
    found++;
  }
  return found == 1 || fail(o, "llc's object has %u functions: a kernel and nothing else is expected", found);
}

/* The address that the linker would put at byte `at` of the line table: sections of the object start at 0. */
static bool relocated(const struct object *o, uint64_t at, uint64_t *address) {
  for (size_t i = 0; i + sizeof(Elf64_Rela) <= o->relocs.bytes; i += sizeof(Elf64_Rela)) {
    Elf64_Rela r;
    Elf64_Sym s;
    memcpy(&r, o->relocs.at + i, sizeof r);
    uint64_t index = ELF64_R_SYM(r.r_info);
    if (r.r_offset != at || ELF64_R_TYPE(r.r_info) != RELOC_ABS64 || index >= o->symbols.bytes / sizeof s) continue;
    memcpy(&s, o->symbols.at + index * sizeof s, sizeof s);
    *address = s.st_value + (uint64_t)r.r_addend;
    return true;
  }
  return false;
}

static uint64_t take(struct cursor *c, size_t bytes) {
  uint64_t v = 0;
  if ((size_t)(c->end - c->at) < bytes) {
    c->bad = true;
    c->at = c->end;
    return 0;
  }
  for (size_t i = 0; i < bytes && i < 8; i++) v |= (uint64_t)c->at[i] << (8 * i);
  c->at += bytes;
  return v;
}

static uint64_t take_leb(struct cursor *c, bool with_sign) {
  uint64_t v = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    uint64_t byte = take(c, 1);
    v |= (byte & 127) << shift;
    if (byte & 128) continue;
    if (with_sign && (byte & 64) && shift + 7 < 64) v |= ~UINT64_C(0) << (shift + 7);
    return v;
  }
  c->bad = true;
  return 0;
}

static bool add_event(const struct object *o, struct table *t, uint32_t offset, uint16_t row) {
  struct front_event *last = t->events ? &t->event[t->events - 1] : NULL;
  if (last && last->offset > offset) return fail(o, "llc's line table runs backwards at byte %u of the code", offset);
  if (last && last->offset == offset) t->events--; /* the later line counts */
  if (t->events && t->event[t->events - 1].row == row) return true;
  if (t->events == t->room) {
    uint32_t room = t->room ? 2 * t->room : 256;
    struct front_event *grown = room <= EVENTS_MAX ? realloc(t->event, room * sizeof *grown) : NULL;
    if (!grown) return fail(o, "no memory for the event table (%u events)", room);
    t->event = grown;
    t->room = room;
  }
  t->event[t->events++] = (struct front_event){offset, row};
  return true;
}

static bool emit_row(const struct object *o, const struct program *p, struct table *t, bool ends) {
  uint64_t offset = p->address - o->kernel;
  if (offset > UINT32_MAX || p->line > FRONT_EVENT_NONE)
    return fail(o, "llc's line table names line %llu at address 0x%llx: out of the kernel", (unsigned long long)p->line,
        (unsigned long long)p->address);
  return add_event(o, t, (uint32_t)offset, ends || p->line == 0 ? (uint16_t)FRONT_EVENT_NONE : (uint16_t)(p->line - 1));
}

static bool extended(const struct object *o, struct program *p, struct table *t) {
  uint64_t length = take_leb(&p->c, false);
  if (length == 0 || length > (uint64_t)(p->c.end - p->c.at)) return fail(o, "llc's line table is cut off");
  const uint8_t *next = p->c.at + length;
  uint64_t code = take(&p->c, 1);
  if (code == LNE_END_SEQUENCE) {
    if (!emit_row(o, p, t, true)) return false;
    p->address = 0;
    p->line = 1;
  } else if (code == LNE_SET_ADDRESS) {
    uint64_t at = (uint64_t)(p->c.at - o->lines.at);
    if (length != 9 || !relocated(o, at, &p->address)) return fail(o, "llc's line table has an address without its relocation");
  }
  p->c.at = next;
  return true;
}

static bool standard(const struct object *o, struct program *p, uint32_t opcode, struct table *t) {
  switch (opcode) {
  case LNS_EXTENDED:
    return extended(o, p, t);
  case LNS_COPY:
    return emit_row(o, p, t, false);
  case LNS_ADVANCE_PC:
    p->address += take_leb(&p->c, false) * p->min_length;
    return true;
  case LNS_ADVANCE_LINE:
    p->line += take_leb(&p->c, true);
    return true;
  case LNS_CONST_ADD_PC:
    p->address += (255 - p->opcode_base) / p->line_range * p->min_length;
    return true;
  case LNS_FIXED_ADVANCE_PC:
    p->address += take(&p->c, 2);
    return true;
  default:
    for (uint32_t i = 0; i < p->lengths[opcode]; i++) take_leb(&p->c, false);
    return true;
  }
}

static bool run(const struct object *o, struct program *p, struct table *t) {
  while (p->c.at < p->c.end && !p->c.bad) {
    uint32_t opcode = (uint32_t)take(&p->c, 1);
    if (opcode < p->opcode_base) {
      if (!standard(o, p, opcode, t)) return false;
      continue;
    }
    uint32_t step = opcode - p->opcode_base;
    p->address += step / p->line_range * p->min_length;
    p->line += (uint64_t)(int64_t)(p->line_base + (int32_t)(step % p->line_range));
    if (!emit_row(o, p, t, false)) return false;
  }
  return !p->c.bad || fail(o, "llc's line table is cut off");
}

/* A unit's head; p->c is then its program. False if there is none such. */
static bool read_head(struct program *p) {
  struct cursor *c = &p->c;
  uint64_t version = take(c, 2);
  if (version == 5 && take(c, 2) != 8) return false; /* address and segment selector sizes */
  uint64_t head = take(c, 4);
  if (c->bad || head > (uint64_t)(c->end - c->at) || version < 4 || version > 5) return false;
  const uint8_t *start = c->at + head;
  p->min_length = (uint32_t)take(c, 1);
  take(c, 2); /* operations an instruction, default is_stmt */
  p->line_base = (int8_t)take(c, 1);
  p->line_range = (uint32_t)take(c, 1);
  p->opcode_base = (uint32_t)take(c, 1);
  for (uint32_t i = 1; i < p->opcode_base; i++) p->lengths[i] = (uint8_t)take(c, 1);
  if (c->bad || p->line_range == 0 || p->opcode_base == 0 || c->at > start) return false;
  c->at = start;
  return true;
}

static bool read_units(const struct object *o, struct table *t) {
  struct cursor all = {o->lines.at, o->lines.at, o->lines.at + o->lines.bytes, false};
  while (all.at < all.end) {
    uint64_t length = take(&all, 4);
    if (all.bad || length > (uint64_t)(all.end - all.at)) return fail(o, "llc's line table is cut off");
    struct program p = {.c = {all.at, all.at, all.at + length, false}, .line = 1};
    if (!read_head(&p)) return fail(o, "llc's line table has a head that is not DWARF 4 or 5");
    if (!run(o, &p, t)) return false;
    all.at += length;
  }
  return t->events > 0 || fail(o, "llc's line table is empty");
}

bool debug_line_events(const void *object, size_t bytes, struct front_event **event, uint32_t *events, char error[CODE_ERROR_MAX]) {
  struct object o = {.image = {object, bytes}, .error = error};
  struct table t = {0};
  *event = NULL;
  *events = 0;
  if (!find_sections(&o) || !find_kernel(&o) || !read_units(&o, &t)) {
    free(t.event);
    return false;
  }
  *event = t.event;
  *events = t.events;
  return true;
}
