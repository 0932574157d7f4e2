/* SPDX-License-Identifier: Apache-2.0 */
/* What a program is told of the system, its agents, instruction sets, caches, pools and regions. */
#include "emu_support.h"

#include <stdlib.h>
#include <string.h>

#include <hsa/hsa_ven_amd_loader.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

enum { AGENTS_MAX = 16 };

struct agents {
  hsa_agent_t agent[AGENTS_MAX];
  uint32_t count, stop_at;
};

static hsa_status_t keep_agent(hsa_agent_t agent, void *data) {
  struct agents *a = data;
  a->agent[a->count++] = agent;
  return a->count == a->stop_at ? HSA_STATUS_ERROR_FATAL : HSA_STATUS_SUCCESS;
}

/* Agent 0 is the CPU. */
static struct agents all_agents(void) {
  struct agents a = {.count = 0};
  assert_int_equal(hsa_iterate_agents(keep_agent, &a), 0);
  return a;
}

static void a_traversal_ends_with_its_callbacks_status(void **state) {
  (void)state;
  struct agents a = {.stop_at = 1};
  assert_int_equal(hsa_iterate_agents(keep_agent, &a), HSA_STATUS_ERROR_FATAL);
  assert_int_equal(a.count, 1);
}

/* Bytes that an attribute must set and no more: what lies behind stays. */
static const struct {
  int attribute;
  size_t bytes;
} agent_attributes[] = {
    {HSA_AGENT_INFO_NAME, 64},
    {HSA_AGENT_INFO_VENDOR_NAME, 64},
    {HSA_AGENT_INFO_FEATURE, 4},
    {HSA_AGENT_INFO_MACHINE_MODEL, 4},
    {HSA_AGENT_INFO_PROFILE, 4},
    {HSA_AGENT_INFO_DEFAULT_FLOAT_ROUNDING_MODE, 4},
    {HSA_AGENT_INFO_FAST_F16_OPERATION, 1},
    {HSA_AGENT_INFO_WAVEFRONT_SIZE, 4},
    {HSA_AGENT_INFO_WORKGROUP_MAX_DIM, 6},
    {HSA_AGENT_INFO_WORKGROUP_MAX_SIZE, 4},
    {HSA_AGENT_INFO_GRID_MAX_DIM, 12},
    {HSA_AGENT_INFO_GRID_MAX_SIZE, 4},
    {HSA_AGENT_INFO_FBARRIER_MAX_SIZE, 4},
    {HSA_AGENT_INFO_QUEUES_MAX, 4},
    {HSA_AGENT_INFO_QUEUE_MIN_SIZE, 4},
    {HSA_AGENT_INFO_QUEUE_MAX_SIZE, 4},
    {HSA_AGENT_INFO_QUEUE_TYPE, 4},
    {HSA_AGENT_INFO_NODE, 4},
    {HSA_AGENT_INFO_DEVICE, 4},
    {HSA_AGENT_INFO_CACHE_SIZE, 16},
    {HSA_AGENT_INFO_ISA, 8},
    {HSA_AGENT_INFO_EXTENSIONS, 128},
    {HSA_AGENT_INFO_VERSION_MAJOR, 2},
    {HSA_AGENT_INFO_VERSION_MINOR, 2},
    {HSA_AMD_AGENT_INFO_CHIP_ID, 4},
    {HSA_AMD_AGENT_INFO_CACHELINE_SIZE, 4},
    {HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT, 4},
    {HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY, 4},
    {HSA_AMD_AGENT_INFO_DRIVER_NODE_ID, 4},
    {HSA_AMD_AGENT_INFO_MAX_ADDRESS_WATCH_POINTS, 4},
    {HSA_AMD_AGENT_INFO_BDFID, 4},
    {HSA_AMD_AGENT_INFO_MEMORY_WIDTH, 4},
    {HSA_AMD_AGENT_INFO_MEMORY_MAX_FREQUENCY, 4},
    {HSA_AMD_AGENT_INFO_PRODUCT_NAME, 64},
    {HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU, 4},
    {HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU, 4},
    {HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES, 4},
    {HSA_AMD_AGENT_INFO_NUM_SHADER_ARRAYS_PER_SE, 4},
    {HSA_AMD_AGENT_INFO_HDP_FLUSH, 16},
    {HSA_AMD_AGENT_INFO_DOMAIN, 4},
    {HSA_AMD_AGENT_INFO_COOPERATIVE_QUEUES, 1},
    {HSA_AMD_AGENT_INFO_UUID, 21},
    {HSA_AMD_AGENT_INFO_ASIC_REVISION, 4},
    {HSA_AMD_AGENT_INFO_SVM_DIRECT_HOST_ACCESS, 1},
    {HSA_AMD_AGENT_INFO_COOPERATIVE_COMPUTE_UNIT_COUNT, 4},
};

static void every_attribute_of_an_agent_has_its_size(void **state) {
  (void)state;
  struct agents a = all_agents();
  assert_int_equal(a.count, 2);
  for (uint32_t k = 0; k < a.count; k++)
    for (size_t i = 0; i < sizeof agent_attributes / sizeof agent_attributes[0]; i++) {
      uint8_t value[256];
      memset(value, 0xA5, sizeof value);
      assert_int_equal(hsa_agent_get_info(a.agent[k], (hsa_agent_info_t)agent_attributes[i].attribute, value), 0);
      for (size_t b = agent_attributes[i].bytes; b < sizeof value; b++)
        if (value[b] != 0xA5) fail_msg("attribute 0x%x writes byte %zu", agent_attributes[i].attribute, b);
    }
  assert_int_equal(hsa_agent_get_info(gpu.agent, (hsa_agent_info_t)0x7777, &a), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_agent_get_info(gpu.agent, (hsa_agent_info_t)0xAFFF, &a), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_agent_get_info(gpu.agent, HSA_AGENT_INFO_NAME, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

static hsa_status_t count_one(void *data) {
  ++*(uint32_t *)data;
  return HSA_STATUS_SUCCESS;
}

static hsa_status_t see_cache(hsa_cache_t cache, void *data) {
  char name[16] = "";
  uint32_t length = 0, bytes = 0;
  uint8_t level = 0;
  assert_int_equal(hsa_cache_get_info(cache, HSA_CACHE_INFO_NAME_LENGTH, &length), 0);
  assert_int_equal(hsa_cache_get_info(cache, HSA_CACHE_INFO_NAME, name), 0);
  assert_int_equal(hsa_cache_get_info(cache, HSA_CACHE_INFO_LEVEL, &level), 0);
  assert_int_equal(hsa_cache_get_info(cache, HSA_CACHE_INFO_SIZE, &bytes), 0);
  assert_int_equal(strlen(name), length);
  assert_int_equal(level, *(uint32_t *)data + 1);
  static const uint32_t wanted[] = {32 << 10, 4 << 20, 256 << 20}; /* CDNA 3 and 4: white papers */
  assert_int_equal(bytes, wanted[level - 1]);
  assert_int_equal(hsa_cache_get_info(cache, (hsa_cache_info_t)9, name), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  return count_one(data);
}

static void caches_have_levels_and_sizes(void **state) {
  (void)state;
  uint32_t count = 0;
  assert_int_equal(hsa_agent_iterate_caches(gpu.agent, see_cache, &count), 0);
  assert_int_equal(count, 3);
  assert_int_equal(hsa_agent_iterate_caches(all_agents().agent[0], see_cache, &count), 0);
  assert_int_equal(count, 3);
}

static hsa_status_t see_wavefront(hsa_wavefront_t wavefront, void *data) {
  assert_int_equal(hsa_wavefront_get_info(wavefront, HSA_WAVEFRONT_INFO_SIZE, data), 0);
  assert_int_equal(hsa_wavefront_get_info(wavefront, (hsa_wavefront_info_t)1, data), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  return HSA_STATUS_SUCCESS;
}

static void an_isa_is_found_by_name_and_says_what_it_can(void **state) {
  (void)state;
  hsa_isa_t isa = {0}, own = {0};
  uint32_t size = 0, count = 0;
  uint16_t mask = 1;
  hsa_round_method_t method;
  assert_int_equal(hsa_isa_from_name("amdgcn-amd-amdhsa--gfx950:sramecc+:xnack-", &isa), 0);
  assert_int_equal(hsa_agent_get_info(gpu.agent, HSA_AGENT_INFO_ISA, &own), 0);
  assert_int_equal(isa.handle, own.handle);
  assert_int_equal(hsa_isa_from_name("amdgcn-amd-amdhsa--gfx1100", &isa), HSA_STATUS_ERROR_INVALID_ISA_NAME);
  assert_int_equal(hsa_isa_from_name("gfx950", &isa), HSA_STATUS_ERROR_INVALID_ISA_NAME);
  assert_int_equal(hsa_isa_iterate_wavefronts(own, see_wavefront, &size), 0);
  assert_int_equal(size, 64);
  assert_int_equal(hsa_isa_iterate_wavefronts(own, NULL, &size), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_isa_get_info(own, HSA_ISA_INFO_CALL_CONVENTION_COUNT, 0, &count), 0);
  assert_int_equal(count, 1);
  assert_int_equal(hsa_isa_get_info(own, HSA_ISA_INFO_CALL_CONVENTION_INFO_WAVEFRONT_SIZE, 0, &size), 0);
  assert_int_equal(size, 64);
  assert_int_equal(hsa_isa_get_info(own, HSA_ISA_INFO_CALL_CONVENTION_INFO_WAVEFRONTS_PER_COMPUTE_UNIT, 0, &size), 0);
  assert_int_equal(size, 32);
  assert_int_equal(hsa_isa_get_info(own, HSA_ISA_INFO_CALL_CONVENTION_INFO_WAVEFRONT_SIZE, 1, &size), HSA_STATUS_ERROR_INVALID_INDEX);
  assert_int_equal(hsa_isa_get_info_alt(own, (hsa_isa_info_t)99, &size), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_isa_get_info_alt(own, HSA_ISA_INFO_WORKGROUP_MAX_SIZE, &size), 0);
  assert_int_equal(size, 1024);
  assert_int_equal(hsa_isa_get_exception_policies(own, HSA_PROFILE_BASE, &mask), 0);
  assert_int_equal(mask, 0);
  assert_int_equal(hsa_isa_get_exception_policies(own, (hsa_profile_t)7, &mask), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_agent_get_exception_policies(gpu.agent, HSA_PROFILE_FULL, &mask), 0);
  assert_int_equal(hsa_isa_get_round_method(own, HSA_FP_TYPE_32, HSA_FLUSH_MODE_NON_FTZ, &method), 0);
  assert_int_equal(method, HSA_ROUND_METHOD_SINGLE);
  assert_int_equal(hsa_isa_get_round_method(own, (hsa_fp_type_t)3, HSA_FLUSH_MODE_FTZ, &method), HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

static bool compatible(const char *code, const char *agent) {
  hsa_isa_t a, b;
  bool result = false;
  assert_int_equal(hsa_isa_from_name(code, &a), 0);
  assert_int_equal(hsa_isa_from_name(agent, &b), 0);
  assert_int_equal(hsa_isa_compatible(a, b, &result), 0);
  return result;
}

#define TRIPLE "amdgcn-amd-amdhsa--"
static void code_fits_an_agent_if_the_features_it_fixes_do(void **state) {
  (void)state;
  assert_true(compatible(TRIPLE "gfx950", TRIPLE "gfx950:sramecc+:xnack-"));
  assert_true(compatible(TRIPLE "gfx950:xnack-", TRIPLE "gfx950:sramecc+:xnack-"));
  assert_true(compatible(TRIPLE "gfx950:sramecc+:xnack-", TRIPLE "gfx950:sramecc+:xnack-"));
  assert_false(compatible(TRIPLE "gfx950:xnack+", TRIPLE "gfx950:sramecc+:xnack-"));
  assert_false(compatible(TRIPLE "gfx950:sramecc-", TRIPLE "gfx950:sramecc+:xnack-"));
  assert_false(compatible(TRIPLE "gfx942", TRIPLE "gfx950:sramecc+:xnack-"));
}

static void the_system_has_a_clock_and_its_limits(void **state) {
  (void)state;
  uint16_t major = 0;
  uint64_t first = 0, second = 0, hertz = 0, wait = 0;
  uint8_t extensions[128];
  bool flag = true;
  const char *build = NULL;
  assert_int_equal(hsa_system_get_info(HSA_SYSTEM_INFO_VERSION_MAJOR, &major), 0);
  assert_int_equal(major, 1);
  assert_int_equal(hsa_system_get_info(HSA_SYSTEM_INFO_VERSION_MINOR, &major), 0);
  assert_int_equal(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &first), 0);
  assert_int_equal(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &second), 0);
  assert_true(first <= second);
  assert_int_equal(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &hertz), 0);
  assert_int_equal(hertz, 1000000000);
  assert_int_equal(hsa_system_get_info(HSA_SYSTEM_INFO_SIGNAL_MAX_WAIT, &wait), 0);
  assert_true(wait > hertz);
  hsa_endianness_t endianness = HSA_ENDIANNESS_BIG;
  hsa_machine_model_t model = HSA_MACHINE_MODEL_SMALL;
  assert_int_equal(hsa_system_get_info(HSA_SYSTEM_INFO_ENDIANNESS, &endianness), 0);
  assert_int_equal(endianness, HSA_ENDIANNESS_LITTLE);
  assert_int_equal(hsa_system_get_info(HSA_SYSTEM_INFO_MACHINE_MODEL, &model), 0);
  assert_int_equal(model, HSA_MACHINE_MODEL_LARGE);
  assert_int_equal(hsa_system_get_info(HSA_SYSTEM_INFO_EXTENSIONS, extensions), 0);
  for (int i = 0; i < 1024; i++) assert_int_equal(extensions[i / 8] >> i % 8 & 1, i == HSA_EXTENSION_AMD_LOADER);
  assert_int_equal(hsa_system_get_info((hsa_system_info_t)HSA_AMD_SYSTEM_INFO_BUILD_VERSION, &build), 0);
  assert_non_null(build);
  assert_int_equal(hsa_system_get_info((hsa_system_info_t)HSA_AMD_SYSTEM_INFO_SVM_SUPPORTED, &flag), 0);
  assert_false(flag);
  assert_int_equal(hsa_system_get_info((hsa_system_info_t)HSA_AMD_SYSTEM_INFO_SVM_ACCESSIBLE_BY_DEFAULT, &flag), 0);
  assert_int_equal(hsa_system_get_info((hsa_system_info_t)999, &first), HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

static void extensions_are_those_that_are_there(void **state) {
  (void)state;
  bool has = false;
  uint16_t minor = 9;
  const char *name = NULL;
  hsa_ven_amd_loader_1_03_pfn_t table = {0};
  assert_int_equal(hsa_extension_get_name(HSA_EXTENSION_AMD_LOADER, &name), 0);
  assert_string_equal(name, "HSA_EXTENSION_AMD_LOADER");
  assert_int_equal(hsa_extension_get_name(77, &name), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_system_extension_supported(HSA_EXTENSION_AMD_LOADER, 1, 0, &has), 0);
  assert_true(has);
  assert_int_equal(hsa_system_extension_supported(HSA_EXTENSION_AMD_LOADER, 1, 4, &has), 0);
  assert_false(has);
  assert_int_equal(hsa_system_extension_supported(HSA_EXTENSION_IMAGES, 1, 0, &has), 0);
  assert_false(has);
  assert_int_equal(hsa_system_major_extension_supported(HSA_EXTENSION_AMD_LOADER, 1, &minor, &has), 0);
  assert_true(has && minor == 3);
  assert_int_equal(hsa_system_major_extension_supported(HSA_EXTENSION_FINALIZER, 1, &minor, &has), 0);
  assert_false(has);
  assert_int_equal(hsa_agent_extension_supported(HSA_EXTENSION_IMAGES, gpu.agent, 1, 0, &has), 0);
  assert_false(has);
  assert_int_equal(hsa_agent_major_extension_supported(HSA_EXTENSION_IMAGES, gpu.agent, 1, &minor, &has), 0);
  assert_false(has);
  assert_int_equal(hsa_agent_major_extension_supported(HSA_EXTENSION_IMAGES, gpu.agent, 1, NULL, &has), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_system_get_extension_table(HSA_EXTENSION_IMAGES, 1, 0, &table), HSA_STATUS_ERROR);
  assert_int_equal(hsa_system_get_extension_table(HSA_EXTENSION_AMD_LOADER, 1, 0, &table), 0);
  assert_non_null(table.hsa_ven_amd_loader_query_executable);
  assert_null(table.hsa_ven_amd_loader_loaded_code_object_get_info); /* 1.00 has no more */
  assert_int_equal(hsa_system_get_major_extension_table(HSA_EXTENSION_AMD_LOADER, 1, sizeof table, &table), 0);
  assert_non_null(table.hsa_ven_amd_loader_iterate_executables);
  assert_int_equal(hsa_system_get_major_extension_table(HSA_EXTENSION_AMD_LOADER, 2, sizeof table, &table), HSA_STATUS_ERROR);
}

struct pools {
  uint32_t global, group, kernarg, coarse, fine;
};

static hsa_status_t see_pool(hsa_amd_memory_pool_t pool, void *data) {
  struct pools *seen = data;
  hsa_amd_segment_t segment;
  hsa_amd_memory_pool_access_t access;
  uint32_t flags = 0;
  size_t bytes = 0, most = 0, granule = 0, alignment = 0;
  bool allowed = false, by_all = false;
  assert_int_equal(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment), 0);
  assert_int_equal(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags), 0);
  assert_int_equal(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SIZE, &bytes), 0);
  assert_int_equal(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_ALLOC_MAX_SIZE, &most), 0);
  assert_int_equal(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED, &allowed), 0);
  assert_int_equal(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_GRANULE, &granule), 0);
  assert_int_equal(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALIGNMENT, &alignment), 0);
  assert_int_equal(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_ACCESSIBLE_BY_ALL, &by_all), 0);
  assert_int_equal(hsa_amd_memory_pool_get_info(pool, (hsa_amd_memory_pool_info_t)99, &bytes), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_amd_agent_memory_pool_get_info(gpu.agent, pool, HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS, &access), 0);
  bool global = segment == HSA_AMD_SEGMENT_GLOBAL;
  assert_int_equal(allowed, global);
  assert_true(bytes > 0 && (!global || (most == bytes && granule && !(alignment & (alignment - 1)))));
  assert_int_equal(access == HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED, !global);
  if (global)
    assert_int_equal(!(flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED), !!(flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED));
  seen->global += global;
  seen->group += segment == HSA_AMD_SEGMENT_GROUP;
  seen->kernarg += (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT) != 0;
  seen->coarse += (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED) != 0;
  seen->fine += (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED) != 0;
  return HSA_STATUS_SUCCESS;
}

static hsa_status_t see_region(hsa_region_t region, void *data) {
  struct pools *seen = data;
  hsa_region_segment_t segment;
  uint32_t flags = 0, group = 1;
  size_t bytes = 0, most = 0, granule = 0, alignment = 0;
  bool allowed = false, host = false;
  assert_int_equal(hsa_region_get_info(region, HSA_REGION_INFO_SEGMENT, &segment), 0);
  assert_int_equal(hsa_region_get_info(region, HSA_REGION_INFO_GLOBAL_FLAGS, &flags), 0);
  assert_int_equal(hsa_region_get_info(region, HSA_REGION_INFO_SIZE, &bytes), 0);
  assert_int_equal(hsa_region_get_info(region, HSA_REGION_INFO_ALLOC_MAX_SIZE, &most), 0);
  assert_int_equal(hsa_region_get_info(region, HSA_REGION_INFO_ALLOC_MAX_PRIVATE_WORKGROUP_SIZE, &group), 0);
  assert_int_equal(hsa_region_get_info(region, HSA_REGION_INFO_RUNTIME_ALLOC_ALLOWED, &allowed), 0);
  assert_int_equal(hsa_region_get_info(region, HSA_REGION_INFO_RUNTIME_ALLOC_GRANULE, &granule), 0);
  assert_int_equal(hsa_region_get_info(region, HSA_REGION_INFO_RUNTIME_ALLOC_ALIGNMENT, &alignment), 0);
  assert_int_equal(hsa_region_get_info(region, (hsa_region_info_t)HSA_AMD_REGION_INFO_HOST_ACCESSIBLE, &host), 0);
  assert_int_equal(hsa_region_get_info(region, (hsa_region_info_t)99, &bytes), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(host, segment == HSA_REGION_SEGMENT_GLOBAL);
  void *p = NULL;
  assert_int_equal(hsa_memory_allocate(region, 100, &p), allowed ? 0 : HSA_STATUS_ERROR_INVALID_ALLOCATION);
  if (allowed) {
    assert_int_equal((uintptr_t)p % alignment, 0);
    assert_int_equal(hsa_memory_allocate(region, most + 1, &p), HSA_STATUS_ERROR_INVALID_ALLOCATION);
    assert_int_equal(hsa_memory_allocate(region, 0, &p), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    assert_int_equal(hsa_memory_free(p), 0);
  }
  seen->global += segment == HSA_REGION_SEGMENT_GLOBAL;
  seen->group += segment == HSA_REGION_SEGMENT_GROUP;
  seen->kernarg += (flags & HSA_REGION_GLOBAL_FLAG_KERNARG) != 0;
  return HSA_STATUS_SUCCESS;
}

static void pools_and_regions_are_what_programs_look_for(void **state) {
  (void)state;
  struct pools cpu = {0}, device = {0}, regions = {0};
  assert_int_equal(hsa_amd_agent_iterate_memory_pools(all_agents().agent[0], see_pool, &cpu), 0);
  assert_int_equal(hsa_amd_agent_iterate_memory_pools(gpu.agent, see_pool, &device), 0);
  assert_int_equal(cpu.kernarg, 1);
  assert_true(cpu.fine >= 2 && cpu.coarse >= 1 && !cpu.group);
  assert_true(device.coarse >= 1 && device.fine >= 1 && device.group == 1 && !device.kernarg);
  assert_int_equal(hsa_agent_iterate_regions(gpu.agent, see_region, &regions), 0);
  assert_true(regions.kernarg == 1 && regions.group == 1 && regions.global == cpu.global + device.global);
  hsa_amd_memory_pool_link_info_t link = {0};
  uint32_t hops = 9;
  assert_int_equal(hsa_amd_agent_memory_pool_get_info(gpu.agent, gpu.kernarg, HSA_AMD_AGENT_MEMORY_POOL_INFO_NUM_LINK_HOPS, &hops), 0);
  assert_int_equal(hops, 1);
  assert_int_equal(hsa_amd_agent_memory_pool_get_info(gpu.agent, gpu.kernarg, HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO, &link), 0);
  assert_int_equal(link.link_type, HSA_AMD_LINK_INFO_TYPE_PCIE);
  assert_int_equal(hsa_amd_agent_memory_pool_get_info(gpu.agent, gpu.device, HSA_AMD_AGENT_MEMORY_POOL_INFO_NUM_LINK_HOPS, &hops), 0);
  assert_int_equal(hops, 0);
}

static void every_status_has_words(void **state) {
  (void)state;
  const char *text, *seen[64];
  int count = 0;
  for (int status = 0; status < 0x1030; status++) {
    bool known =
        status <= 1 || (status >= 40 && status <= 44) || (status >= 0x1000 && status <= 0x1019) || (status >= 0x1020 && status <= 0x1026);
    text = NULL;
    int wanted = known ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if ((int)hsa_status_string((hsa_status_t)status, &text) != wanted) fail_msg("status 0x%x", status);
    if (!known) continue;
    for (int i = 0; i < count; i++) assert_string_not_equal(seen[i], text);
    seen[count++] = text;
  }
  assert_int_equal(count, 2 + 5 + 26 + 7);
}

static void queues_have_the_sizes_and_types_that_hsa_allows(void **state) {
  (void)state;
  hsa_queue_t *q = NULL;
#define CREATE(agent, size, type) hsa_queue_create(agent, size, type, NULL, NULL, UINT32_MAX, UINT32_MAX, &q)
  for (uint32_t size = 1; size <= 131072; size *= 8) {
    assert_int_equal(CREATE(gpu.agent, size, HSA_QUEUE_TYPE_SINGLE), 0);
    assert_int_equal(q->size, size);
    assert_int_equal(q->features, HSA_QUEUE_FEATURE_KERNEL_DISPATCH);
    assert_int_equal(hsa_queue_destroy(q), 0);
  }
  assert_int_equal(CREATE(gpu.agent, 262144, HSA_QUEUE_TYPE_MULTI), HSA_STATUS_ERROR_INVALID_QUEUE_CREATION);
  assert_int_equal(CREATE(gpu.agent, 0, HSA_QUEUE_TYPE_MULTI), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(CREATE(gpu.agent, 48, HSA_QUEUE_TYPE_MULTI), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(CREATE(gpu.agent, 64, 9), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(CREATE(all_agents().agent[0], 64, HSA_QUEUE_TYPE_MULTI), HSA_STATUS_ERROR_INVALID_QUEUE_CREATION);
  assert_int_equal(hsa_amd_queue_set_priority(gpu.queue, HSA_AMD_QUEUE_PRIORITY_HIGH), 0);
  assert_int_equal(hsa_amd_queue_set_priority(gpu.queue, (hsa_amd_queue_priority_t)5), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_queue_inactivate(gpu.queue), 0);
}

static hsa_status_t take_global(hsa_region_t region, void *data) {
  *(hsa_region_t *)data = region;
  return HSA_STATUS_INFO_BREAK;
}

static void a_soft_queue_is_the_programs_own(void **state) {
  (void)state;
  hsa_region_t region = {0};
  hsa_queue_t *q = NULL;
  assert_int_equal(hsa_agent_iterate_regions(gpu.agent, take_global, &region), HSA_STATUS_INFO_BREAK);
#define SOFT(where, size, type, features, bell) hsa_soft_queue_create(where, size, type, features, bell, &q)
  const uint32_t agent = HSA_QUEUE_FEATURE_AGENT_DISPATCH;
  assert_int_equal(SOFT((hsa_region_t){3}, 16, HSA_QUEUE_TYPE_MULTI, agent, gpu.signal), HSA_STATUS_ERROR_INVALID_REGION);
  assert_int_equal(SOFT(region, 12, HSA_QUEUE_TYPE_MULTI, agent, gpu.signal), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(SOFT(region, 16, 7, agent, gpu.signal), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(SOFT(region, 16, HSA_QUEUE_TYPE_MULTI, 0, gpu.signal), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(SOFT(region, 16, HSA_QUEUE_TYPE_MULTI, 8, gpu.signal), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(SOFT(region, 16, HSA_QUEUE_TYPE_MULTI, agent, (hsa_signal_t){0}), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(SOFT(region, 16, HSA_QUEUE_TYPE_MULTI, agent, gpu.signal), 0);
  assert_int_equal(q->doorbell_signal.handle, gpu.signal.handle);
  assert_int_equal(q->features, agent);
  const hsa_agent_dispatch_packet_t *p = q->base_address;
  assert_int_equal(p[15].header, HSA_PACKET_TYPE_INVALID);
  assert_int_equal(hsa_queue_add_write_index_relaxed(q, 3), 0);
  assert_int_equal(hsa_queue_add_write_index_scacquire(q, 1), 3);
  assert_int_equal(hsa_queue_add_write_index_screlease(q, 1), 4);
  assert_int_equal(hsa_queue_add_write_index_scacq_screl(q, 1), 5);
  assert_int_equal(hsa_queue_add_write_index_acquire(q, 1), 6);
  assert_int_equal(hsa_queue_add_write_index_release(q, 1), 7);
  assert_int_equal(hsa_queue_add_write_index_acq_rel(q, 1), 8);
  assert_int_equal(hsa_queue_cas_write_index_relaxed(q, 8, 1), 9);
  assert_int_equal(hsa_queue_cas_write_index_scacquire(q, 9, 10), 9);
  assert_int_equal(hsa_queue_cas_write_index_screlease(q, 10, 11), 10);
  assert_int_equal(hsa_queue_cas_write_index_scacq_screl(q, 11, 12), 11);
  assert_int_equal(hsa_queue_cas_write_index_acquire(q, 12, 13), 12);
  assert_int_equal(hsa_queue_cas_write_index_release(q, 13, 14), 13);
  assert_int_equal(hsa_queue_cas_write_index_acq_rel(q, 14, 15), 14);
  assert_int_equal(hsa_queue_load_write_index_relaxed(q), 15);
  hsa_queue_store_write_index_relaxed(q, 20);
  assert_int_equal(hsa_queue_load_write_index_scacquire(q), 20);
  hsa_queue_store_write_index_screlease(q, 21);
  assert_int_equal(hsa_queue_load_write_index_acquire(q), 21);
  hsa_queue_store_write_index_release(q, 22);
  assert_int_equal(hsa_queue_load_write_index_relaxed(q), 22);
  hsa_queue_store_read_index_relaxed(q, 5);
  assert_int_equal(hsa_queue_load_read_index_relaxed(q), 5);
  hsa_queue_store_read_index_screlease(q, 6);
  assert_int_equal(hsa_queue_load_read_index_scacquire(q), 6);
  hsa_queue_store_read_index_release(q, 7);
  assert_int_equal(hsa_queue_load_read_index_acquire(q), 7);
  assert_int_equal(hsa_amd_queue_cu_set_mask(q, 0, NULL), HSA_STATUS_ERROR_INVALID_QUEUE);
  assert_int_equal(hsa_queue_inactivate(q), 0);
  assert_int_equal(hsa_queue_destroy(q), 0);
  assert_int_equal(hsa_queue_destroy(q), HSA_STATUS_ERROR_INVALID_QUEUE);
}

static void small_settings_are_taken_or_refused(void **state) {
  (void)state;
  hsa_amd_coherency_type_t type;
  hsa_amd_profiling_dispatch_time_t time;
  uint64_t ns = 0;
  assert_int_equal(hsa_amd_coherency_get_type(gpu.agent, &type), 0);
  assert_int_equal(type, HSA_AMD_COHERENCY_TYPE_COHERENT);
  assert_int_equal(hsa_amd_coherency_set_type(gpu.agent, HSA_AMD_COHERENCY_TYPE_NONCOHERENT), 0);
  assert_int_equal(hsa_amd_coherency_set_type(gpu.agent, (hsa_amd_coherency_type_t)2), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  assert_int_equal(hsa_amd_profiling_convert_tick_to_system_domain(gpu.agent, 100000000, &ns), 0);
  assert_int_equal(ns, 1000000000); /* a second */
  assert_int_equal(hsa_amd_profiling_get_dispatch_time((hsa_agent_t){4}, gpu.signal, &time), HSA_STATUS_ERROR_INVALID_AGENT);
  assert_int_equal(hsa_amd_profiling_get_dispatch_time(gpu.agent, (hsa_signal_t){0}, &time), HSA_STATUS_ERROR_INVALID_SIGNAL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      GPU_TEST(a_traversal_ends_with_its_callbacks_status),
      GPU_TEST(every_attribute_of_an_agent_has_its_size),
      GPU_TEST(caches_have_levels_and_sizes),
      GPU_TEST(an_isa_is_found_by_name_and_says_what_it_can),
      GPU_TEST(code_fits_an_agent_if_the_features_it_fixes_do),
      GPU_TEST(the_system_has_a_clock_and_its_limits),
      GPU_TEST(extensions_are_those_that_are_there),
      GPU_TEST(pools_and_regions_are_what_programs_look_for),
      cmocka_unit_test(every_status_has_words),
      GPU_TEST(queues_have_the_sizes_and_types_that_hsa_allows),
      GPU_TEST(a_soft_queue_is_the_programs_own),
      GPU_TEST(small_settings_are_taken_or_refused),
  };
  return cmocka_run_group_tests_name("hsa_machine", tests, NULL, NULL);
}
