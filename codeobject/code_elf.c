/* SPDX-License-Identifier: Apache-2.0 */
/* The ELF side of a code object. Only program headers and what they point to are used, as a loader does: section headers may be gone. */
#include "code_parts.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

enum {
  ABI_AMDGPU_HSA = 64,
  MACHINE_AMDGPU = 224,
  NOTE_METADATA = 32,
  RELOC_ABS64 = 3,
  RELOC_RELATIVE64 = 13,
  SPAN_MAX = 1 << 30, /* of address space: more is no code object */
};

/* Dynamic tags that are read; 0 where absent. */
struct dynamic {
  uint64_t symtab, strtab, strsz, hash, gnu_hash, rela, relasz;
};

struct tables {
  const uint8_t *symbol; /* Elf64_Sym each, unaligned */
  uint64_t symbols;
  const char *string;
  uint64_t string_bytes;
};

static const struct {
  uint32_t machine;
  const char *name;
} arches[] = {{0x04f, "gfx950"}, {0x04c, "gfx942"}};

static const struct {
  uint32_t machine;
  const char *name;
} foreign[] = {{0x020, "gfx600"}, {0x022, "gfx700"}, {0x02a, "gfx803"}, {0x02c, "gfx900"}, {0x02f, "gfx906"}, {0x030, "gfx908"},
    {0x033, "gfx1010"}, {0x036, "gfx1030"}, {0x03f, "gfx90a"}, {0x041, "gfx1100"}, {0x048, "gfx1200"}, {0x04e, "gfx1201"}};

static bool read_arch(struct opening *o, uint32_t flags) {
  static const enum code_feature feature[] = {CODE_UNSUPPORTED, CODE_ANY, CODE_OFF, CODE_ON};
  struct code_object *co = o->co;
  uint32_t machine = flags & 0xff;
  co->xnack = feature[flags >> 8 & 3];
  co->sramecc = feature[flags >> 10 & 3];
  for (size_t i = 0; i < sizeof arches / sizeof *arches; i++)
    if (arches[i].machine == machine) snprintf(co->arch, sizeof co->arch, "%s", arches[i].name);
  if (co->arch[0]) return true;
  for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
    if (foreign[i].machine == machine)
      return code_fail(o, "code for %s: only gfx950 and gfx942 are supported; compile it with -mcpu=gfx950", foreign[i].name);
  return code_fail(o, "code for an unknown GPU (ELF flags 0x%x): only gfx950 and gfx942 are supported", flags);
}

static bool read_header(struct opening *o, Elf64_Ehdr *h) {
  const uint8_t *image = o->co->image;
  if (o->co->bytes < sizeof *h) return code_fail(o, "truncated: %zu bytes, an ELF header has %zu", o->co->bytes, sizeof *h);
  memcpy(h, image, sizeof *h);
  if (image[EI_CLASS] != ELFCLASS64 || image[EI_DATA] != ELFDATA2LSB)
    return code_fail(o, "no 64-bit little-endian ELF file: AMDGPU code objects are");
  if (h->e_machine != MACHINE_AMDGPU)
    return code_fail(o,
        "an ELF file for machine %u, not for AMDGPU (%d): from a host program, extract the code object (section .hip_fatbin, "
        "then clang-offload-bundler --unbundle)",
        h->e_machine, MACHINE_AMDGPU);
  if (image[EI_OSABI] != ABI_AMDGPU_HSA)
    return code_fail(o, "OS ABI %u, not AMDGPU HSA (%d): compile for amdgcn-amd-amdhsa", image[EI_OSABI], ABI_AMDGPU_HSA);
  if (image[EI_ABIVERSION] < 2 || image[EI_ABIVERSION] > 4)
    return code_fail(o, "code object version %d: 4, 5 and 6 are supported; compile with -mcode-object-version=5", image[EI_ABIVERSION] + 2);
  o->co->version = image[EI_ABIVERSION] + 2u;
  if (h->e_type == ET_REL) return code_fail(o, "a relocatable object: link it with ld.lld -shared");
  if (h->e_type != ET_DYN) return code_fail(o, "ELF type %u, not a shared object (%d): link it with ld.lld -shared", h->e_type, ET_DYN);
  if (h->e_phentsize != sizeof(Elf64_Phdr) || h->e_phnum == 0)
    return code_fail(o, "no program headers of %zu bytes: not a linked code object", sizeof(Elf64_Phdr));
  if (h->e_phoff > o->co->bytes || h->e_phnum * sizeof(Elf64_Phdr) > o->co->bytes - h->e_phoff)
    return code_fail(o, "truncated: program headers reach beyond the %zu bytes", o->co->bytes);
  if (h->e_shoff && (h->e_shoff > o->co->bytes || h->e_shnum * sizeof(Elf64_Shdr) > o->co->bytes - h->e_shoff))
    return code_fail(o, "truncated: section headers reach beyond the %zu bytes", o->co->bytes);
  return read_arch(o, h->e_flags);
}

static Elf64_Phdr program_header(const struct opening *o, const Elf64_Ehdr *h, uint32_t i) {
  Elf64_Phdr p;
  memcpy(&p, o->co->image + h->e_phoff + i * sizeof p, sizeof p);
  return p;
}

static bool within_file(const struct opening *o, const Elf64_Phdr *p) {
  return p->p_offset <= o->co->bytes && p->p_filesz <= o->co->bytes - p->p_offset;
}

static bool read_segment(struct opening *o, const Elf64_Phdr *p) {
  struct code_object *co = o->co;
  uint32_t n = co->segments;
  if (!within_file(o, p))
    return code_fail(
        o, "truncated: segment %u wants bytes up to %llu, there are %zu", n, (unsigned long long)(p->p_offset + p->p_filesz), co->bytes);
  if (p->p_memsz < p->p_filesz || p->p_vaddr > SPAN_MAX || p->p_memsz > SPAN_MAX - p->p_vaddr)
    return code_fail(o, "segment %u has an impossible size or address (0x%llx bytes at 0x%llx)", n, (unsigned long long)p->p_memsz,
        (unsigned long long)p->p_vaddr);
  if (p->p_vaddr < co->span) return code_fail(o, "segment %u overlaps the one before it, or stands before it", n);
  co->segment[n] = (struct code_segment){.vaddr = p->p_vaddr,
      .offset = p->p_offset,
      .filesz = p->p_filesz,
      .memsz = p->p_memsz,
      .align = p->p_align,
      .read = (p->p_flags & PF_R) != 0,
      .write = (p->p_flags & PF_W) != 0,
      .execute = (p->p_flags & PF_X) != 0};
  co->span = p->p_vaddr + p->p_memsz;
  co->segments++;
  return true;
}

static bool read_segments(struct opening *o, const Elf64_Ehdr *h) {
  o->co->segment = code_alloc(o, h->e_phnum, sizeof *o->co->segment);
  if (!o->co->segment) return false;
  for (uint32_t i = 0; i < h->e_phnum; i++) {
    Elf64_Phdr p = program_header(o, h, i);
    if (p.p_type == PT_LOAD && p.p_memsz && !read_segment(o, &p)) return false;
    if (p.p_type == PT_INTERP || p.p_type == PT_TLS) return code_fail(o, "a program header of type %u: a code object has none", p.p_type);
  }
  return o->co->segments || code_fail(o, "no segment to load: not a linked code object");
}

static bool read_dynamic(struct opening *o, const Elf64_Phdr *p, struct dynamic *d) {
  const uint8_t *at = code_object_at(o->co, p->p_vaddr, p->p_filesz);
  if (!at) return code_fail(o, "the dynamic section is not in a loaded segment");
  for (uint64_t i = 0; i + sizeof(Elf64_Dyn) <= p->p_filesz; i += sizeof(Elf64_Dyn)) {
    Elf64_Dyn e;
    memcpy(&e, at + i, sizeof e);
    switch (e.d_tag) {
    case DT_NULL:
      return true;
    case DT_SYMTAB:
      d->symtab = e.d_un.d_ptr;
      break;
    case DT_STRTAB:
      d->strtab = e.d_un.d_ptr;
      break;
    case DT_STRSZ:
      d->strsz = e.d_un.d_val;
      break;
    case DT_HASH:
      d->hash = e.d_un.d_ptr;
      break;
    case DT_GNU_HASH:
      d->gnu_hash = e.d_un.d_ptr;
      break;
    case DT_RELA:
      d->rela = e.d_un.d_ptr;
      break;
    case DT_RELASZ:
      d->relasz = e.d_un.d_val;
      break;
    case DT_RELAENT:
      if (e.d_un.d_val != sizeof(Elf64_Rela))
        return code_fail(o, "relocations of %llu bytes: they have 24", (unsigned long long)e.d_un.d_val);
      break;
    case DT_SYMENT:
      if (e.d_un.d_val != sizeof(Elf64_Sym)) return code_fail(o, "symbols of %llu bytes: they have 24", (unsigned long long)e.d_un.d_val);
      break;
    case DT_REL:
    case DT_JMPREL:
    case DT_RELR:
    case DT_NEEDED:
      return code_fail(o, "dynamic tag %lld: such relocations, and other libraries, are not modelled", (long long)e.d_tag);
    default:
      break;
    }
  }
  return true;
}

static bool word_at(const struct opening *o, uint64_t vaddr, uint32_t *word) {
  const uint8_t *at = code_object_at(o->co, vaddr, 4);
  if (at) memcpy(word, at, 4);
  return at != NULL;
}

/* The number of symbols behind a GNU hash table: the end of the chain with the highest start. */
static bool gnu_hash_symbols(const struct opening *o, uint64_t at, uint64_t *count) {
  uint32_t head[3], last = 0, word;
  for (uint32_t i = 0; i < 3; i++)
    if (!word_at(o, at + 4 * i, &head[i])) return false;
  uint64_t buckets = at + 16 + 8 * (uint64_t)head[2], chains = buckets + 4 * (uint64_t)head[0];
  for (uint32_t i = 0; i < head[0]; i++) {
    if (!word_at(o, buckets + 4 * (uint64_t)i, &word)) return false;
    if (word > last) last = word;
  }
  *count = head[1];
  if (last < head[1]) return true;
  do {
    if (!word_at(o, chains + 4 * (uint64_t)(last - head[1]), &word)) return false;
    last++;
  } while (!(word & 1) && last);
  *count = last;
  return true;
}

static bool find_tables(struct opening *o, const struct dynamic *d, struct tables *t) {
  uint32_t chains;
  if (!d->symtab || !d->strtab) return code_fail(o, "no dynamic symbols: link it with ld.lld -shared");
  if (d->hash && word_at(o, d->hash + 4, &chains))
    t->symbols = chains;
  else if (!d->gnu_hash || !gnu_hash_symbols(o, d->gnu_hash, &t->symbols))
    return code_fail(o, "no symbol hash table says how many symbols there are");
  t->symbol = code_object_at(o->co, d->symtab, t->symbols * sizeof(Elf64_Sym));
  t->string = (const char *)code_object_at(o->co, d->strtab, d->strsz);
  t->string_bytes = d->strsz;
  if (!t->symbol) return code_fail(o, "truncated: %llu dynamic symbols are not all there", (unsigned long long)t->symbols);
  if (!t->string || !d->strsz || t->string[d->strsz - 1])
    return code_fail(o, "the dynamic strings are not all there, or do not end with a zero");
  return true;
}

static Elf64_Sym symbol_at(const struct tables *t, uint64_t i) {
  Elf64_Sym s;
  memcpy(&s, t->symbol + i * sizeof s, sizeof s);
  return s;
}

static bool read_symbols(struct opening *o, const struct tables *t) {
  struct code_object *co = o->co;
  co->symbol = code_alloc(o, t->symbols, sizeof *co->symbol);
  if (!co->symbol) return false;
  for (uint64_t i = 1; i < t->symbols; i++) {
    Elf64_Sym s = symbol_at(t, i);
    if (s.st_name >= t->string_bytes) return code_fail(o, "symbol %llu has its name outside the strings", (unsigned long long)i);
    if (s.st_shndx == SHN_UNDEF) return code_fail(o, "undefined symbol %.80s: link what defines it", t->string + s.st_name);
    if (s.st_shndx == SHN_ABS) continue;
    if (s.st_value > co->span || s.st_size > co->span - s.st_value)
      return code_fail(o, "symbol %.80s lies outside the segments", t->string + s.st_name);
    unsigned type = ELF64_ST_TYPE(s.st_info);
    co->symbol[co->symbols++] = (struct code_symbol){
        .name = t->string + s.st_name, .vaddr = s.st_value, .size = s.st_size, .function = type == STT_FUNC, .object = type == STT_OBJECT};
  }
  return true;
}

static const char *reloc_name(uint32_t type) {
  static const char *const names[] = {"R_AMDGPU_NONE", "R_AMDGPU_ABS32_LO", "R_AMDGPU_ABS32_HI", "R_AMDGPU_ABS64", "R_AMDGPU_REL32",
      "R_AMDGPU_REL64", "R_AMDGPU_ABS32", "R_AMDGPU_GOTPCREL", "R_AMDGPU_GOTPCREL32_LO", "R_AMDGPU_GOTPCREL32_HI", "R_AMDGPU_REL32_LO",
      "R_AMDGPU_REL32_HI", "no relocation", "R_AMDGPU_RELATIVE64", "R_AMDGPU_REL16"};
  return type < sizeof names / sizeof *names ? names[type] : "no relocation that is known";
}

static bool in_memory(const struct code_object *co, uint64_t vaddr, uint64_t bytes) {
  for (uint32_t i = 0; i < co->segments; i++) {
    const struct code_segment *s = &co->segment[i];
    if (vaddr >= s->vaddr && vaddr - s->vaddr <= s->memsz && bytes <= s->memsz - (vaddr - s->vaddr)) return true;
  }
  return false;
}

static bool read_reloc(struct opening *o, const struct tables *t, const Elf64_Rela *r, struct code_reloc *out) {
  uint32_t type = (uint32_t)ELF64_R_TYPE(r->r_info), index = (uint32_t)ELF64_R_SYM(r->r_info);
  uint64_t base = 0;
  if (type != RELOC_ABS64 && type != RELOC_RELATIVE64)
    return code_fail(o, "relocation type %u (%s) is not modelled: R_AMDGPU_RELATIVE64 and R_AMDGPU_ABS64 are", type, reloc_name(type));
  if (!in_memory(o->co, r->r_offset, 8))
    return code_fail(o, "a relocation at 0x%llx, outside the segments", (unsigned long long)r->r_offset);
  if (type == RELOC_ABS64) {
    if (index == 0 || index >= t->symbols)
      return code_fail(o, "a relocation of symbol %u: there are %llu", index, (unsigned long long)t->symbols);
    Elf64_Sym s = symbol_at(t, index);
    if (s.st_shndx == SHN_ABS) return code_fail(o, "a relocation of an absolute symbol is not modelled");
    base = s.st_value;
  }
  *out = (struct code_reloc){.vaddr = r->r_offset, .value = base + (uint64_t)r->r_addend};
  return true;
}

static bool read_relocs(struct opening *o, const struct dynamic *d, const struct tables *t) {
  uint64_t count = d->relasz / sizeof(Elf64_Rela);
  if (count == 0) return true;
  const uint8_t *at = code_object_at(o->co, d->rela, d->relasz);
  if (!at) return code_fail(o, "truncated: the relocations are not all there");
  o->co->reloc = code_alloc(o, count, sizeof *o->co->reloc);
  if (!o->co->reloc) return false;
  for (uint64_t i = 0; i < count; i++) {
    Elf64_Rela r;
    memcpy(&r, at + i * sizeof r, sizeof r);
    if (!read_reloc(o, t, &r, &o->co->reloc[o->co->relocs++])) return false;
  }
  return true;
}

bool code_find_note(const uint8_t *notes, size_t bytes, const char *owner, uint32_t type, const uint8_t **contents, size_t *contents_bytes,
    uint32_t *count) {
  size_t owner_bytes = strlen(owner) + 1;
  for (size_t at = 0; bytes - at >= 12;) {
    uint32_t head[3];
    memcpy(head, notes + at, sizeof head);
    at += sizeof head;
    uint64_t name = ((uint64_t)head[0] + 3) & ~UINT64_C(3), body = ((uint64_t)head[1] + 3) & ~UINT64_C(3);
    if (name > bytes - at || head[1] > bytes - at - name) return false;
    if (head[2] == type && head[0] == owner_bytes && memcmp(notes + at, owner, owner_bytes) == 0) {
      *contents = notes + at + name;
      *contents_bytes = head[1];
      ++*count;
    }
    if (body > bytes - at - name) return true; /* the last one, without padding */
    at += name + body;
  }
  return true;
}

static bool read_notes(struct opening *o, const Elf64_Phdr *p, uint32_t count[2]) {
  struct code_object *co = o->co;
  if (!within_file(o, p)) return code_fail(o, "truncated: the notes are not all there");
  const uint8_t *notes = co->image + p->p_offset;
  if (!code_find_note(notes, p->p_filesz, "AMDGPU", NOTE_METADATA, &o->metadata, &o->metadata_bytes, &count[0]) ||
      !code_find_note(notes, p->p_filesz, "frontgen", 1, &co->front_note, &co->front_note_bytes, &count[1]))
    return code_fail(o, "malformed notes: a note reaches beyond its segment");
  if (count[0] > 1 || count[1] > 1) return code_fail(o, "two notes of one kind: one of metadata and one of frontgen are allowed");
  return true;
}

bool code_read_elf(struct opening *o) {
  Elf64_Ehdr h;
  struct dynamic d = {0};
  struct tables t = {0};
  uint32_t notes[2] = {0};
  if (!read_header(o, &h) || !read_segments(o, &h)) return false;
  for (uint32_t i = 0; i < h.e_phnum; i++) {
    Elf64_Phdr p = program_header(o, &h, i);
    if (p.p_type == PT_DYNAMIC && !read_dynamic(o, &p, &d)) return false;
    if (p.p_type == PT_NOTE && !read_notes(o, &p, notes)) return false;
  }
  return find_tables(o, &d, &t) && read_symbols(o, &t) && read_relocs(o, &d, &t);
}
