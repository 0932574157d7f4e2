/* SPDX-License-Identifier: Apache-2.0 */
#include "strict_log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool same(const struct hsa_emu_finding *a, const struct hsa_emu_finding *b) {
  return a->kind == b->kind && a->at.offset == b->at.offset && a->has_other == b->has_other &&
         (!a->has_other || a->other.offset == b->other.offset);
}

static struct strict_entry *find(const struct strict_log *log, const struct hsa_emu_finding *f) {
  for (size_t i = 0; i < log->entries; i++)
    if (same(&log->entry[i].finding.found, f)) return &log->entry[i];
  return NULL;
}

static bool add_entry(struct strict_log *log, struct strict_entry entry) {
  if (log->entries == log->room) {
    size_t room = log->room ? 2 * log->room : 16;
    struct strict_entry *grown = realloc(log->entry, room * sizeof *grown);
    if (!grown) return false;
    log->entry = grown;
    log->room = room;
  }
  entry.finding.text = strdup(entry.finding.text);
  if (!entry.finding.text) return false;
  log->entry[log->entries++] = entry;
  return true;
}

bool strict_log_add(struct strict_log *log, const struct strict_findings *findings, uint64_t schedule, uint32_t launch) {
  log->launches++;
  log->bad += findings->count > 0;
  for (size_t i = 0; i < findings->count; i++) {
    struct strict_entry *known = find(log, &findings->finding[i].found);
    if (known) {
      known->launches++;
      known->finding.found.times += findings->finding[i].found.times;
    } else if (!add_entry(log, (struct strict_entry){findings->finding[i], schedule, launch, 1})) {
      return false;
    }
  }
  return true;
}

void strict_log_free(struct strict_log *log) {
  for (size_t i = 0; i < log->entries; i++) free(log->entry[i].finding.text);
  free(log->entry);
  *log = (struct strict_log){0};
}

void strict_log_print(const struct strict_log *log, size_t first) {
  for (size_t i = first; i < log->entries; i++)
    printf("  finding under schedule %llu: %s\n", (unsigned long long)log->entry[i].schedule, log->entry[i].finding.text);
}

static json_t *describe_party(const struct hsa_emu_party *p) {
  json_t *party =
      json_pack("{s:I, s:I, s:I}", "offset", (json_int_t)p->offset, "workgroup", (json_int_t)p->group, "wave", (json_int_t)p->wave);
  if (p->lane != UINT32_MAX) json_object_set_new(party, "lane", json_integer((json_int_t)p->lane));
  return party;
}

static json_t *describe_entry(const struct strict_entry *e) {
  const struct hsa_emu_finding *f = &e->finding.found;
  json_t *entry = json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:o}", "kind", strict_kind_name(f->kind), "text", e->finding.text, "schedule",
      (json_int_t)e->schedule, "launch", (json_int_t)e->launch, "launches", (json_int_t)e->launches, "times", (json_int_t)f->times, "at",
      describe_party(&f->at));
  if (f->address || f->kind == HSA_EMU_LDS_RACE || f->kind == HSA_EMU_OUT_OF_RANGE) { /* of LDS: a byte, from 0 */
    char address[24];
    snprintf(address, sizeof address, "0x%llx", (unsigned long long)f->address);
    json_object_set_new(entry, "address", json_string(address));
  }
  if (f->has_other) json_object_set_new(entry, "other", describe_party(&f->other));
  return entry;
}

json_t *strict_log_describe(const struct strict_log *log) {
  json_t *findings = json_array();
  for (size_t i = 0; i < log->entries; i++) json_array_append_new(findings, describe_entry(&log->entry[i]));
  return json_pack("{s:I, s:I, s:o}", "launches", (json_int_t)log->launches, "bad_launches", (json_int_t)log->bad, "findings", findings);
}
