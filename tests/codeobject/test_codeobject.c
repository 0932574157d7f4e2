/* SPDX-License-Identifier: Apache-2.0 */
/* Code objects that llvm-mc and lld made from values of ours must read back as these values. */
#include "codeobject.h"

#include "code_samples.h"
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *image;
static struct code_object co;

static void open_assembly(const char *assembly) {
  size_t bytes;
  char error[CODE_ERROR_MAX];
  image = assembly_to_code_object(assembly, "gfx950", &bytes);
  if (!code_object_open(image, bytes, &co, error)) fail_msg("%s", error);
}

static void close_object(void) {
  code_object_close(&co);
  free(image);
  image = NULL;
}

static void test_descriptor(void **state) {
  (void)state;
  open_assembly(SAMPLE);
  const struct code_descriptor *d = &code_object_kernel(&co, "k")->descriptor;
  assert_int_equal(d->group_segment_bytes, 4096);
  assert_int_equal(d->private_segment_bytes, 32);
  assert_int_equal(d->kernarg_bytes, 24);
  assert_int_equal(d->granulated_vgprs, 12); /* 100 VGPRs in eights, less one */
  assert_int_equal(d->vgprs, 104);
  assert_int_equal(d->sgprs, 48); /* 40, VCC, flat scratch and xnack mask: 46 in sixteens */
  assert_int_equal(d->accum_offset, 52);
  assert_int_equal(d->round_f32, 1);
  assert_int_equal(d->round_f16_f64, 3);
  assert_int_equal(d->denorm_f32, 2);
  assert_int_equal(d->denorm_f16_f64, 1);
  assert_false(d->ieee || d->dx10_clamp || d->fp16_overflow);
  assert_true(d->tg_split && d->enable_private_segment && d->uses_dynamic_stack);
  assert_int_equal(d->user_sgprs, 7); /* dispatch pointer, kernarg pointer, 3 preloaded */
  assert_true(d->workgroup_id_x && d->workgroup_id_y && !d->workgroup_id_z && !d->workgroup_info);
  assert_int_equal(d->workitem_ids, 2);
  assert_true(d->sgpr_kernarg_ptr && d->sgpr_dispatch_ptr);
  assert_false(d->sgpr_queue_ptr || d->sgpr_dispatch_id || d->sgpr_private_segment_size);
  assert_int_equal(d->preload_dwords, 3);
  assert_int_equal(d->preload_offset, 2);
  assert_int_equal(d->wave_size, 64);
  close_object();
}

static void test_metadata(void **state) {
  (void)state;
  open_assembly(SAMPLE);
  const struct code_kernel *k = code_object_kernel(&co, NULL);
  assert_string_equal(k->name, "k");
  assert_string_equal(k->symbol, "k.kd");
  assert_true(k->has_metadata && k->uses_dynamic_stack);
  assert_int_equal(k->vgpr_count, 97);
  assert_int_equal(k->sgpr_count, 41);
  assert_int_equal(k->agpr_count, 45);
  assert_int_equal(k->vgpr_spill_count, 3);
  assert_int_equal(k->sgpr_spill_count, 2);
  assert_int_equal(k->kernarg_segment_size, 24);
  assert_int_equal(k->kernarg_segment_align, 16);
  assert_int_equal(k->max_flat_workgroup_size, 256);
  assert_int_equal(k->reqd_workgroup_size[0], 64);
  assert_int_equal(k->reqd_workgroup_size[1], 2);
  assert_int_equal(k->reqd_workgroup_size[2], 2);
  assert_int_equal(k->args, 3);
  assert_int_equal(k->hidden_args, 1);
  assert_string_equal(k->arg[0].name, "p");
  assert_string_equal(k->arg[0].value_kind, "global_buffer");
  assert_int_equal(k->arg[1].offset, 8);
  assert_int_equal(k->arg[1].size, 4);
  assert_string_equal(k->arg[1].name, "");
  assert_true(k->arg[2].hidden);
  assert_string_equal(co.target, "amdgcn-amd-amdhsa--gfx950");
  assert_int_equal(co.metadata_version[0], 1);
  assert_int_equal(co.metadata_version[1], 2);
  close_object();
}

static void test_no_metadata(void **state) {
  (void)state;
  open_assembly(SAMPLE_CODE SAMPLE_DESCRIPTOR);
  const struct code_kernel *k = code_object_kernel(&co, NULL);
  assert_non_null(k);
  assert_false(k->has_metadata);
  assert_int_equal(k->kernarg_segment_size, 24);
  assert_int_equal(k->group_segment_fixed_size, 4096);
  assert_true(k->vgpr_spill_count == CODE_UNKNOWN && k->agpr_count == CODE_UNKNOWN);
  assert_string_equal(co.target, "");
  close_object();
}

static void test_code(void **state) {
  (void)state;
  static const uint8_t code[] = {0x00, 0x00, 0x80, 0xbf, 0x00, 0x00, 0x81, 0xbf}; /* s_nop 0; s_endpgm */
  open_assembly(SAMPLE);
  const struct code_kernel *k = code_object_kernel(&co, "k.kd");
  assert_int_equal(k->code_bytes, sizeof code);
  assert_memory_equal(code_object_at(&co, k->entry, sizeof code), code, sizeof code);
  assert_true(k->entry == k->descriptor_vaddr + (uint64_t)k->descriptor.entry_offset);
  assert_true(code_object_symbol(&co, "k")->vaddr == k->entry && code_object_symbol(&co, "k")->function);
  assert_null(code_object_symbol(&co, "nobody"));
  assert_null(code_object_kernel(&co, "nobody"));
  const struct code_segment *last = &co.segment[co.segments - 1];
  assert_null(code_object_at(&co, last->vaddr, last->filesz + 1));
  assert_null(code_object_at(&co, UINT64_MAX, 1));
  assert_null(code_object_at(&co, k->entry, UINT64_MAX));
  assert_true(co.span == last->vaddr + last->memsz);
  close_object();
}

/* The flags of the ELF header, as LLVM's user guide for AMDGPU has them. */
static void test_targets(void **state) {
  (void)state;
  static const struct {
    unsigned char low, high;
    const char *target;
  } flags[] = {
      {0x4f, 0x05, "gfx950"},
      {0x4f, 0x06, "gfx950:xnack-"},
      {0x4f, 0x07, "gfx950:xnack+"},
      {0x4f, 0x0a, "gfx950:sramecc-:xnack-"},
      {0x4f, 0x0f, "gfx950:sramecc+:xnack+"},
      {0x4c, 0x05, "gfx942"},
  };
  char error[CODE_ERROR_MAX], target[CODE_TARGET_MAX];
  size_t bytes;
  unsigned char *object = assembly_to_code_object(SAMPLE, "gfx950", &bytes);
  for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
    object[0x30] = flags[i].low;
    object[0x31] = flags[i].high;
    if (!code_object_open(object, bytes, &co, error)) fail_msg("%s", error);
    code_object_target(&co, target);
    assert_string_equal(target, flags[i].target);
    assert_int_equal(co.version, 5);
    code_object_close(&co);
  }
  free(object);
}

static void test_relocations(void **state) {
  (void)state;
  open_assembly(SAMPLE "  .data\n  .p2align 3\n  .globl table\n  .type table,@object\ntable:\n  .quad k\n  .quad .Llocal + 4\n.Llocal:\n"
                       "  .quad 0\n  .size table, 24\n");
  const struct code_symbol *table = code_object_symbol(&co, "table");
  assert_true(table && table->object && table->size == 24);
  assert_int_equal(co.relocs, 2);
  for (uint32_t i = 0; i < 2; i++) {
    uint64_t wanted = co.reloc[i].vaddr == table->vaddr ? code_object_kernel(&co, "k")->entry : table->vaddr + 16 + 4;
    assert_true(co.reloc[i].vaddr == table->vaddr || co.reloc[i].vaddr == table->vaddr + 8);
    assert_true(co.reloc[i].value == wanted);
  }
  close_object();
}

static void test_two_kernels(void **state) {
  (void)state;
  static const char second[] =
      "  .text\n  .globl k2\n  .p2align 8\n  .type k2,@function\nk2:\n  s_endpgm\n.Lend2:\n  .size k2, .Lend2-k2\n"
      "  .section .rodata,\"a\",@progbits\n  .p2align 6\n  .amdhsa_kernel k2\n  .amdhsa_next_free_vgpr 8\n  .amdhsa_next_free_sgpr 8\n"
      "  .amdhsa_accum_offset 4\n  .end_amdhsa_kernel\n";
  char text[8192];
  snprintf(text, sizeof text, "%s%s", SAMPLE, second);
  open_assembly(text);
  assert_int_equal(co.kernels, 2);
  assert_null(code_object_kernel(&co, NULL));
  assert_int_equal(code_object_kernel(&co, "k2")->descriptor.vgprs, 8);
  assert_int_equal(code_object_kernel(&co, "k")->descriptor.vgprs, 104);
  assert_true(code_object_kernel(&co, "k")->has_metadata && !code_object_kernel(&co, "k2")->has_metadata);
  close_object();
}

/* A kernel that llc compiled with all its hidden arguments: 272 bytes for 12 of its own. */
static void test_hidden_arguments(void **state) {
  (void)state;
  static const char ir[] =
      "define amdgpu_kernel void @plain(ptr addrspace(1) %p, i32 %n) {\n  store i32 %n, ptr addrspace(1) %p\n  ret void\n}\n"
      "!llvm.module.flags = !{!0}\n!0 = !{i32 1, !\"amdhsa_code_object_version\", i32 500}\n";
  size_t bytes;
  char error[CODE_ERROR_MAX];
  image = ir_to_code_object(ir, "gfx950", false, NULL, &bytes);
  if (!code_object_open(image, bytes, &co, error)) fail_msg("%s", error);
  const struct code_kernel *k = code_object_kernel(&co, "plain");
  assert_int_equal(k->kernarg_segment_size, 272);
  assert_int_equal(k->args - k->hidden_args, 2);
  assert_true(k->hidden_args >= 13);
  assert_int_equal(k->reqd_workgroup_size[0], 0);
  assert_int_equal(k->max_flat_workgroup_size, 1024);
  assert_int_equal(k->descriptor.denorm_f32, 3);
  close_object();
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      {"every field of a descriptor is what the assembler was told", test_descriptor, NULL, NULL, NULL},
      {"every field of the metadata is what the assembler was told", test_metadata, NULL, NULL, NULL},
      {"a hand-written object without metadata still has its kernel", test_no_metadata, NULL, NULL, NULL},
      {"code, symbols and segments are found by address and name", test_code, NULL, NULL, NULL},
      {"the target's features are those of the ELF flags", test_targets, NULL, NULL, NULL},
      {"relocations say what goes where", test_relocations, NULL, NULL, NULL},
      {"two kernels are told apart", test_two_kernels, NULL, NULL, NULL},
      {"hidden arguments are counted", test_hidden_arguments, NULL, NULL, NULL},
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
