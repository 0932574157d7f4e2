/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's disassembly: llvm-objdump's text to instructions. Each line carries its address and its words, so that nothing can be
   left out unseen. */
#include "check_gates.h"
#include "tool.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { INSTS_MAX = 1 << 17 };

static enum frontgen_status no_memory(char error[FRONTGEN_ERROR_MAX]) {
  snprintf(error, FRONTGEN_ERROR_MAX, "no memory to check the code object: %s", strerror(errno));
  return FRONTGEN_ENVIRONMENT;
}

static bool starts(const char *text, const char *with) { return strncmp(text, with, strlen(with)) == 0; }

static bool is_access(const char *name) {
  return starts(name, "buffer_") || starts(name, "global_") || starts(name, "flat_") || starts(name, "scratch_") ||
         starts(name, "tbuffer_") || starts(name, "image_");
}

/* "// 000000001E00: C0060200 00000030 <symbol>": the address, and how many bytes the words are. */
static bool read_comment(const char *line, const char *end, uint64_t *address, uint32_t *bytes) {
  const char *at = line;
  char *stop;
  while (at + 2 < end && !(at[0] == '/' && at[1] == '/' && at[2] == ' ')) at++;
  if (at + 2 >= end) return false;
  *address = strtoull(at + 3, &stop, 16);
  if (stop == at + 3 || *stop != ':') return false;
  *bytes = 0;
  for (at = stop + 1; at + 8 < end + 1 && *at == ' '; at += 9) {
    if (strspn(at + 1, "0123456789ABCDEF") != 8) break;
    *bytes += 4;
  }
  return *bytes > 0;
}

static struct check_inst *add_inst(struct check_code *code) {
  if (code->insts == code->room) {
    uint32_t room = code->room ? 2 * code->room : 4096;
    struct check_inst *grown = realloc(code->inst, room * sizeof *grown);
    if (!grown) return NULL;
    code->inst = grown;
    code->room = room;
  }
  return &code->inst[code->insts++];
}

/* One line of the kernel's, which starts at the byte where the one before it ended. */
static enum frontgen_status read_line(struct check *c, const char *line, const char *end, uint64_t address, uint32_t bytes, char *error) {
  struct check_code *code = &c->code;
  char text[TEXT_LINE_MAX], why[TEXT_ERROR_MAX];
  const struct check_inst *last = code->insts ? &code->inst[code->insts - 1] : NULL;
  uint64_t offset = address - c->kernel->entry, wanted = last ? last->offset + last->bytes : 0;
  snprintf(text, sizeof text, "%.*s", (int)(end - line < TEXT_LINE_MAX ? end - line : TEXT_LINE_MAX - 1), line);
  if (offset != wanted || offset + bytes > c->kernel->code_bytes || code->insts == INSTS_MAX) {
    snprintf(error, FRONTGEN_ERROR_MAX, "the disassembly has a gap or no end at +0x%" PRIx64 ": %.100s", wanted, text);
    return FRONTGEN_GATE;
  }
  struct check_inst *inst = add_inst(code);
  if (!inst) return no_memory(error);
  if (!inst_text_parse(text, &inst->text, why)) {
    snprintf(error, FRONTGEN_ERROR_MAX, "at +0x%" PRIx64 ": %s", offset, why);
    return FRONTGEN_GATE;
  }
  inst->offset = (uint32_t)offset;
  inst->bytes = bytes;
  inst->block = 0;
  inst->access = is_access(inst->text.name);
  inst->row = (uint16_t)(inst->access && c->has_note ? front_note_row(&c->note, inst->offset) : FRONT_EVENT_NONE);
  return FRONTGEN_GOOD;
}

static enum frontgen_status read_lines(struct check *c, const char *text, char error[FRONTGEN_ERROR_MAX]) {
  const struct check_code *code = &c->code;
  for (const char *line = text, *end; *line; line = *end ? end + 1 : end) {
    uint64_t address;
    uint32_t bytes;
    end = line + strcspn(line, "\n");
    if (*line != '\t' || !read_comment(line, end, &address, &bytes)) continue;
    if (address < c->kernel->entry || address >= c->kernel->entry + c->kernel->code_bytes) continue;
    enum frontgen_status status = read_line(c, line, end, address, bytes, error);
    if (status) return status;
  }
  uint64_t decoded = code->insts ? code->inst[code->insts - 1].offset + code->inst[code->insts - 1].bytes : 0;
  if (decoded == c->kernel->code_bytes) return FRONTGEN_GOOD;
  snprintf(error, FRONTGEN_ERROR_MAX, "the disassembly ends at +0x%" PRIx64 ", the kernel has 0x%" PRIx64 " bytes", decoded,
      c->kernel->code_bytes);
  return FRONTGEN_GATE;
}

/* Cuts the listing where each file's begins: "PATH:\tfile format ...". */
static bool split(const char *listing, char paths[][TOOL_PATH_MAX], size_t count, char *text[CHECK_IMAGES_MAX]) {
  const char *start[CHECK_IMAGES_MAX + 1];
  for (size_t i = 0; i < count; i++) {
    char head[TOOL_PATH_MAX + 16];
    snprintf(head, sizeof head, "\n%s:\tfile format", paths[i]);
    start[i] = strstr(i ? start[i - 1] : listing, head);
    if (!start[i]) return false;
    start[i]++;
  }
  start[count] = listing + strlen(listing);
  for (size_t i = 0; i < count; i++)
    if (!(text[i] = strndup(start[i], (size_t)(start[i + 1] - start[i])))) return false;
  return true;
}

/* What llvm-objdump says of the one file that it was given is that file's fault, and not the machine's. */
static enum frontgen_status blame_file(const char *path, enum frontgen_status status, char error[FRONTGEN_ERROR_MAX]) {
  char head[TOOL_PATH_MAX + 32], why[FRONTGEN_ERROR_MAX];
  snprintf(head, sizeof head, "llvm-objdump: error: '%s': ", path);
  const char *at = status == FRONTGEN_ENVIRONMENT ? strstr(error, head) : NULL;
  if (!at) return status;
  snprintf(why, sizeof why, "%s", at + strlen(head));
  snprintf(error, FRONTGEN_ERROR_MAX, "llvm-objdump cannot read it: %.400s: it is damaged: make or copy it anew", why);
  return FRONTGEN_USAGE;
}

enum frontgen_status check_disassemble(const struct check_image *image, size_t count, const struct frontgen_options *options,
    char *text[CHECK_IMAGES_MAX], char error[FRONTGEN_ERROR_MAX]) {
  int files[CHECK_IMAGES_MAX], output = tool_file(NULL, 0);
  char paths[CHECK_IMAGES_MAX][TOOL_PATH_MAX], *listing = NULL;
  const char *arguments[CHECK_IMAGES_MAX + 2] = {"-d"};
  size_t bytes, made = 0;
  for (size_t i = 0; i < count; i++) text[i] = NULL;
  for (; made < count && (files[made] = tool_file(image[made].bytes, image[made].size)) >= 0; made++) {
    tool_file_path(files[made], paths[made]);
    arguments[made + 1] = paths[made];
  }
  enum frontgen_status status = no_memory(error);
  if (made == count && output >= 0) {
    status = tool_run(TOOL_OBJDUMP, arguments, -1, output, files, count, options, error);
    if (count == 1) status = blame_file(paths[0], status, error);
    if (!status && !(listing = tool_file_read(output, &bytes))) status = no_memory(error);
  }
  if (!status && !split(listing, paths, count, text)) {
    snprintf(error, FRONTGEN_ERROR_MAX, "llvm-objdump's text has not every file's head: is it LLVM's?");
    status = FRONTGEN_ENVIRONMENT;
  }
  for (size_t i = 0; status && i < count; i++) {
    free(text[i]);
    text[i] = NULL;
  }
  free(listing);
  while (made) close(files[--made]);
  if (output >= 0) close(output);
  return status;
}

enum frontgen_status check_read_code(struct check *c, const char *text, char error[FRONTGEN_ERROR_MAX]) {
  enum frontgen_status status = read_lines(c, text, error);
  return status ? status : check_find_blocks(&c->code, error);
}

void check_free_code(struct check_code *code) {
  free(code->inst);
  free(code->block);
  free(code->reach);
  memset(code, 0, sizeof *code);
}
