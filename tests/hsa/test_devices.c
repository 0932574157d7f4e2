/* SPDX-License-Identifier: Apache-2.0 */
/* libfront on every device model, through front.h: which machines take the grid, and how partitions are told apart. */
#include "support.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hsa/hsa.h>

#include "front.h"

/* A kernel with the ABI of front.h that does nothing, for either ISA. */
static const char key[] = "tokens=1,tp=8,ratio=0,window=1";
static const char kernel_ir[] = "target triple = \"amdgcn-amd-amdhsa\"\n"
                                "define amdgpu_kernel void @front_s1_tp8_r0_w1_t0([27 x i64] %block) #0 {\n  ret void\n}\n"
                                "attributes #0 = { nounwind \"amdgpu-flat-work-group-size\"=\"512,512\" \"amdgpu-no-implicitarg-ptr\" "
                                "\"amdgpu-no-hostcall-ptr\" \"amdgpu-no-multigrid-sync-arg\" \"amdgpu-no-heap-ptr\" "
                                "\"amdgpu-no-default-queue\" \"amdgpu-no-completion-action\" \"amdgpu-no-queue-ptr\" }\n"
                                "!llvm.module.flags = !{!0}\n!0 = !{i32 1, !\"amdhsa_code_object_version\", i32 500}\n";

static struct object {
  void *image;
  size_t bytes;
} gfx950, gfx942;

static int make_objects(void **state) {
  (void)state;
  gfx950.image = ir_to_code_object(kernel_ir, "gfx950", false, NULL, &gfx950.bytes);
  gfx942.image = ir_to_code_object(kernel_ir, "gfx942", false, NULL, &gfx942.bytes);
  return 0;
}

static int free_objects(void **state) {
  (void)state;
  free(gfx950.image);
  free(gfx942.image);
  return 0;
}

static front_runtime open_on(const char *device) {
  front_runtime runtime;
  setenv("FRONT_EMU_DEVICE", device, 1);
  struct front_options options = {.size = sizeof options, .hsa_library = built_path("emulator/libhsa-emu.so")};
  if (front_open(&options, &runtime) != FRONT_OK) fail_msg("%s: %s", device, front_error());
  return runtime;
}

static void good(enum front_status status) {
  if (status != FRONT_OK) fail_msg("%s: %s", front_status_name(status), front_error());
}

static void only_machines_with_256_compute_units_take_the_grid(void **state) {
  (void)state;
  static const struct {
    const char *device;
    bool gfx950;
    uint32_t units;
  } machines[] = {
      {"mi300x", false, 304},
      {"mi355x", true, 256},
      {"mi300a", false, 228},
      {"mi308x", false, 80},
      {"mi300x-cpx", false, 38},
      {"mi308x-cpx", false, 20},
      {"mi355x:cus=304", true, 304},
      {"mi355x:cus=255", true, 255},
      {"mi355x-cpx", true, 32},
  };
  for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++) {
    front_runtime runtime = open_on(machines[i].device);
    front_device device;
    front_kernel kernel;
    front_queue queue;
    struct front_device_info info;
    good(front_device_describe(runtime, 0, &info));
    assert_int_equal(info.compute_units, machines[i].units);
    good(front_device_open(runtime, NULL, &device));
    const struct object *o = machines[i].gfx950 ? &gfx950 : &gfx942;
    enum front_status status = front_kernel_load(device, o->image, o->bytes, key, &kernel);
    if (machines[i].units >= 256) {
      good(status);
      good(front_queue_create(device, NULL, &queue));
      good(front_queue_destroy(queue));
      good(front_kernel_destroy(kernel));
    } else {
      char found[32];
      snprintf(found, sizeof found, " %u compute units", machines[i].units);
      assert_int_equal(status, FRONT_ERR_RESIDENCY);
      if (!strstr(front_error(), found) || !strstr(front_error(), "256 workgroups"))
        fail_msg("%s: not both numbers in: %s", machines[i].device, front_error());
    }
    good(front_device_close(device));
    good(front_close(runtime));
  }
}

static void a_process_with_fewer_units_gets_no_queue(void **state) {
  (void)state;
  front_runtime runtime = open_on("mi355x");
  front_device device;
  front_queue queue;
  good(front_device_open(runtime, NULL, &device));
  setenv("HSA_CU_MASK", "0:0-254", 1);
  assert_int_equal(front_queue_create(device, NULL, &queue), FRONT_ERR_RESIDENCY);
  if (!strstr(front_error(), "255") || !strstr(front_error(), "256")) fail_msg("not both numbers in: %s", front_error());
  unsetenv("HSA_CU_MASK");
  good(front_queue_create(device, NULL, &queue));
  good(front_queue_destroy(queue));
  good(front_device_close(device));
  good(front_close(runtime));
}

static void an_object_for_the_other_isa_is_refused_with_both_sides(void **state) {
  (void)state;
  front_runtime runtime = open_on("mi300x");
  front_device device;
  front_kernel kernel;
  good(front_device_open(runtime, NULL, &device));
  assert_int_equal(front_kernel_load(device, gfx950.image, gfx950.bytes, key, &kernel), FRONT_ERR_ISA);
  assert_non_null(strstr(front_error(), "gfx950"));
  assert_non_null(strstr(front_error(), "gfx942"));
  good(front_device_close(device));
  good(front_close(runtime));
}

static void partitions_are_told_apart(void **state) {
  (void)state;
  front_runtime runtime = open_on("mi355x-cpx");
  struct front_device_info info[8], opened;
  uint32_t count = 0;
  good(front_device_count(runtime, &count));
  assert_int_equal(count, 8);
  for (uint32_t i = 0; i < count; i++) {
    good(front_device_describe(runtime, i, &info[i]));
    assert_int_equal(info[i].memory_bytes, (uint64_t)36 << 30);
    for (uint32_t k = 0; k < i; k++) {
      assert_string_not_equal(info[i].uuid, info[k].uuid);
      assert_string_not_equal(info[i].pci, info[k].pci);
    }
  }
  front_device device;
  good(front_device_open(runtime, info[5].uuid, &device));
  good(front_device_describe(runtime, 5, &opened));
  assert_string_equal(opened.pci, "0000:01:00.5");
  good(front_device_close(device));
  good(front_close(runtime));
}

static void memory_is_freed_on_the_device_that_gave_it(void **state) {
  (void)state;
  front_runtime runtime = open_on("mi355x-cpx");
  front_device first, second;
  void *memory = NULL;
  good(front_device_open(runtime, "0", &first));
  good(front_device_open(runtime, "1", &second));
  good(front_memory_allocate(first, 4096, &memory));
  assert_int_equal(front_memory_free(second, memory), FRONT_ERR_ARGUMENT);
  assert_non_null(strstr(front_error(), "another device's"));
  good(front_device_close(second));
  assert_int_equal(front_device_close(first), FRONT_ERR_BUSY); /* it still counts it */
  good(front_memory_free(first, memory));
  good(front_device_close(first));
  good(front_close(runtime));
}

static void visible_devices_are_obeyed_in_their_order(void **state) {
  (void)state;
  static const struct {
    const char *list;
    uint32_t count, first, second; /* PCI functions */
  } lists[] = {
      {"0", 1, 0, 0},
      {"6,1", 2, 6, 1},
      {"GPU-656d756c61746f33, 2", 2, 3, 2},
      {"5,9,1", 1, 5, 0}, /* ends at the first that is none */
      {"5,1,5,2", 2, 5, 1},
      {"", 0, 0, 0},
      {"-1", 0, 0, 0},
  };
  for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
    setenv("ROCR_VISIBLE_DEVICES", lists[i].list, 1);
    front_runtime runtime = open_on("mi355x-cpx");
    struct front_device_info info;
    uint32_t count = 99, wanted[2] = {lists[i].first, lists[i].second};
    good(front_device_count(runtime, &count));
    assert_int_equal(count, lists[i].count);
    for (uint32_t k = 0; k < count; k++) {
      char pci[16];
      snprintf(pci, sizeof pci, "0000:01:00.%u", wanted[k]);
      good(front_device_describe(runtime, k, &info));
      assert_string_equal(info.pci, pci);
    }
    good(front_close(runtime));
  }
  unsetenv("ROCR_VISIBLE_DEVICES");
}

static void an_unknown_machine_is_an_error_that_names_those_there_are(void **state) {
  (void)state;
  front_runtime runtime;
  setenv("FRONT_EMU_DEVICE", "mi455x", 1);
  struct front_options options = {.size = sizeof options, .hsa_library = built_path("emulator/libhsa-emu.so")};
  assert_int_equal(front_open(&options, &runtime), FRONT_ERR_HSA);
  if (!strstr(front_error(), "FRONT_EMU_DEVICE=mi455x: no such device: there are mi355x")) fail_msg("%s", front_error());
}

/* Somebody else in the process, with HSA of the same library. */
static struct {
  void *library;
  __typeof__(hsa_init) *init, *shut_down;
  __typeof__(hsa_signal_create) *signal_create;
  __typeof__(hsa_signal_store_screlease) *store;
  __typeof__(hsa_signal_load_scacquire) *load;
  __typeof__(hsa_signal_destroy) *signal_destroy;
} other;

static void find(const char *name, void *function) {
  void *address = dlsym(other.library, name);
  if (!address) fail_msg("%s", dlerror());
  memcpy(function, &address, sizeof address);
}

static void a_second_user_of_hsa_is_undisturbed(void **state) {
  (void)state;
  setenv("FRONT_EMU_DEVICE", "mi355x", 1);
  other.library = dlopen(built_path("emulator/libhsa-emu.so"), RTLD_NOW | RTLD_LOCAL);
  if (!other.library) fail_msg("%s", dlerror());
  find("hsa_init", &other.init);
  find("hsa_shut_down", &other.shut_down);
  find("hsa_signal_create", &other.signal_create);
  find("hsa_signal_store_screlease", &other.store);
  find("hsa_signal_load_scacquire", &other.load);
  find("hsa_signal_destroy", &other.signal_destroy);
  hsa_signal_t signal;
  assert_int_equal(other.init(), HSA_STATUS_SUCCESS);
  assert_int_equal(other.signal_create(7, 0, NULL, &signal), HSA_STATUS_SUCCESS);
  for (int i = 0; i < 3; i++) {
    front_runtime runtime = open_on("mi355x");
    front_device device;
    front_kernel kernel;
    good(front_device_open(runtime, NULL, &device));
    good(front_kernel_load(device, gfx950.image, gfx950.bytes, key, &kernel));
    good(front_kernel_destroy(kernel));
    good(front_device_close(device));
    good(front_close(runtime));
    assert_int_equal(other.load(signal), 7 + i);
    other.store(signal, 8 + i);
  }
  assert_int_equal(other.signal_destroy(signal), HSA_STATUS_SUCCESS);
  assert_int_equal(other.shut_down(), HSA_STATUS_SUCCESS);
  assert_int_equal(other.shut_down(), HSA_STATUS_ERROR_NOT_INITIALIZED);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(only_machines_with_256_compute_units_take_the_grid), cmocka_unit_test(a_process_with_fewer_units_gets_no_queue),
      cmocka_unit_test(an_object_for_the_other_isa_is_refused_with_both_sides), cmocka_unit_test(partitions_are_told_apart),
      cmocka_unit_test(memory_is_freed_on_the_device_that_gave_it), cmocka_unit_test(visible_devices_are_obeyed_in_their_order),
      cmocka_unit_test(a_second_user_of_hsa_is_undisturbed),
      cmocka_unit_test(an_unknown_machine_is_an_error_that_names_those_there_are), /* the last: a failed library is not tried again */
  };
  return cmocka_run_group_tests_name("devices", tests, make_objects, free_objects);
}
