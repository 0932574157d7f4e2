/* SPDX-License-Identifier: Apache-2.0 */
/* An ordinary HSA program: hsa.h alone, the library by its soname. It adds vectors on two queues, the second queue's launch behind the
   first's, and says how many sums are wrong. usage: vector_add CODE-OBJECT */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <hsa/hsa.h>

enum { COUNT = 1000, GROUP = 64, PACKETS = 8 };

#define FUNCTIONS(X)                                                                                                                       \
  X(hsa_init)                                                                                                                              \
  X(hsa_shut_down)                                                                                                                         \
  X(hsa_status_string)                                                                                                                     \
  X(hsa_iterate_agents)                                                                                                                    \
  X(hsa_agent_get_info)                                                                                                                    \
  X(hsa_agent_iterate_regions)                                                                                                             \
  X(hsa_region_get_info)                                                                                                                   \
  X(hsa_memory_allocate)                                                                                                                   \
  X(hsa_memory_free)                                                                                                                       \
  X(hsa_queue_create)                                                                                                                      \
  X(hsa_queue_destroy)                                                                                                                     \
  X(hsa_queue_load_write_index_relaxed)                                                                                                    \
  X(hsa_queue_store_write_index_screlease)                                                                                                 \
  X(hsa_signal_create)                                                                                                                     \
  X(hsa_signal_destroy)                                                                                                                    \
  X(hsa_signal_store_screlease)                                                                                                            \
  X(hsa_signal_wait_scacquire)                                                                                                             \
  X(hsa_code_object_reader_create_from_file)                                                                                               \
  X(hsa_code_object_reader_destroy)                                                                                                        \
  X(hsa_executable_create_alt)                                                                                                             \
  X(hsa_executable_load_agent_code_object)                                                                                                 \
  X(hsa_executable_freeze)                                                                                                                 \
  X(hsa_executable_get_symbol_by_name)                                                                                                     \
  X(hsa_executable_symbol_get_info)                                                                                                        \
  X(hsa_executable_destroy)

#define X(f) static __typeof__(f) *p_##f;
FUNCTIONS(X)
#undef X

struct machine {
  hsa_agent_t gpu;
  hsa_region_t global, kernarg;
  hsa_executable_t executable;
  uint64_t object;
  uint32_t kernarg_bytes, group_bytes, private_bytes;
};

static int failed(const char *what, hsa_status_t status) {
  if (status == HSA_STATUS_SUCCESS || status == HSA_STATUS_INFO_BREAK) return 0;
  const char *text = "?";
  p_hsa_status_string(status, &text);
  fprintf(stderr, "%s: %s\n", what, text);
  return 1;
}
#define TRY(call)                                                                                                                          \
  if (failed(#call, p_##call)) return 1

static int bind(void) {
  void *library = dlopen("libhsa-runtime64.so.1", RTLD_NOW);
  if (!library) return fprintf(stderr, "%s\n", dlerror()), 1;
#define X(f)                                                                                                                               \
  {                                                                                                                                        \
    void *address = dlsym(library, #f);                                                                                                    \
    if (!address) return fprintf(stderr, "%s\n", dlerror()), 1;                                                                            \
    memcpy(&p_##f, &address, sizeof address);                                                                                              \
  }
  FUNCTIONS(X)
#undef X
  return 0;
}

static hsa_status_t take_gpu(hsa_agent_t agent, void *data) {
  hsa_device_type_t type;
  hsa_status_t status = p_hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
  if (status != HSA_STATUS_SUCCESS || type != HSA_DEVICE_TYPE_GPU) return status;
  ((struct machine *)data)->gpu = agent;
  return HSA_STATUS_INFO_BREAK;
}

static hsa_status_t take_region(hsa_region_t region, void *data) {
  struct machine *m = data;
  hsa_region_segment_t segment;
  uint32_t flags = 0;
  p_hsa_region_get_info(region, HSA_REGION_INFO_SEGMENT, &segment);
  if (segment != HSA_REGION_SEGMENT_GLOBAL) return HSA_STATUS_SUCCESS;
  p_hsa_region_get_info(region, HSA_REGION_INFO_GLOBAL_FLAGS, &flags);
  if (flags & HSA_REGION_GLOBAL_FLAG_KERNARG) m->kernarg = region;
  if (flags & HSA_REGION_GLOBAL_FLAG_FINE_GRAINED && !m->global.handle) m->global = region;
  return HSA_STATUS_SUCCESS;
}

static int load(struct machine *m, const char *path) {
  hsa_code_object_reader_t reader;
  hsa_executable_symbol_t symbol;
  int file = open(path, O_RDONLY);
  TRY(hsa_code_object_reader_create_from_file(file, &reader));
  TRY(hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL, &m->executable));
  TRY(hsa_executable_load_agent_code_object(m->executable, m->gpu, reader, NULL, NULL));
  TRY(hsa_executable_freeze(m->executable, NULL));
  TRY(hsa_code_object_reader_destroy(reader));
  close(file);
  TRY(hsa_executable_get_symbol_by_name(m->executable, "vector_add.kd", &m->gpu, &symbol));
  TRY(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &m->object));
  TRY(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE, &m->kernarg_bytes));
  TRY(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE, &m->group_bytes));
  TRY(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE, &m->private_bytes));
  return 0;
}

/* The queue's next packet: a[i] + b[i] into c[i] once `after` is 0 (if there is one), then `done` goes down. */
static void launch(const struct machine *m, hsa_queue_t *queue, void *kernarg, hsa_signal_t after, hsa_signal_t done) {
  uint64_t index = p_hsa_queue_load_write_index_relaxed(queue);
  if (after.handle) {
    hsa_barrier_and_packet_t *b = (hsa_barrier_and_packet_t *)queue->base_address + index++ % queue->size;
    memset((uint8_t *)b + 2, 0, sizeof *b - 2);
    b->dep_signal[0] = after;
    __atomic_store_n(&b->header, (uint16_t)(HSA_PACKET_TYPE_BARRIER_AND | 1 << HSA_PACKET_HEADER_BARRIER), __ATOMIC_RELEASE);
  }
  hsa_kernel_dispatch_packet_t *p = (hsa_kernel_dispatch_packet_t *)queue->base_address + index % queue->size;
  memset((uint8_t *)p + 2, 0, sizeof *p - 2);
  p->setup = 1 << HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS;
  p->workgroup_size_x = GROUP;
  p->workgroup_size_y = p->workgroup_size_z = 1;
  p->grid_size_x = COUNT; /* the last workgroup is not full */
  p->grid_size_y = p->grid_size_z = 1;
  p->private_segment_size = m->private_bytes;
  p->group_segment_size = m->group_bytes;
  p->kernel_object = m->object;
  p->kernarg_address = kernarg;
  p->completion_signal = done;
  uint16_t header = HSA_PACKET_TYPE_KERNEL_DISPATCH << HSA_PACKET_HEADER_TYPE | 1 << HSA_PACKET_HEADER_BARRIER |
                    HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                    HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE;
  __atomic_store_n(&p->header, header, __ATOMIC_RELEASE);
  p_hsa_queue_store_write_index_screlease(queue, index + 1);
  p_hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
}

static int add(const struct machine *m) {
  float *a, *b, *c, *d;
  void **args[2];
  hsa_queue_t *queue[2];
  hsa_signal_t done[2];
  TRY(hsa_memory_allocate(m->global, 4 * COUNT * sizeof *a, (void **)&a));
  b = a + COUNT, c = b + COUNT, d = c + COUNT;
  for (int i = 0; i < COUNT; i++) a[i] = (float)i, b[i] = 0.5f * (float)i, d[i] = -1;
  for (int q = 0; q < 2; q++) {
    TRY(hsa_queue_create(m->gpu, PACKETS, HSA_QUEUE_TYPE_SINGLE, NULL, NULL, UINT32_MAX, UINT32_MAX, &queue[q]));
    TRY(hsa_signal_create(1, 0, NULL, &done[q]));
    TRY(hsa_memory_allocate(m->kernarg, m->kernarg_bytes, (void **)&args[q]));
  }
  memcpy(args[0], (void *[]){a, b, c}, 3 * sizeof(void *));
  memcpy(args[1], (void *[]){c, b, d}, 3 * sizeof(void *));
  launch(m, queue[1], args[1], done[0], done[1]); /* d = c + b, once c is there */
  launch(m, queue[0], args[0], (hsa_signal_t){0}, done[0]);
  while (p_hsa_signal_wait_scacquire(done[1], HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) > 0) {
  }
  int wrong = 0;
  for (int i = 0; i < COUNT; i++) wrong += c[i] != 1.5f * (float)i || d[i] != 2.0f * (float)i;
  printf("%d of %d sums are wrong\n", wrong, COUNT);
  for (int q = 0; q < 2; q++) {
    TRY(hsa_queue_destroy(queue[q]));
    TRY(hsa_signal_destroy(done[q]));
    TRY(hsa_memory_free(args[q]));
  }
  TRY(hsa_memory_free(a));
  return wrong != 0;
}

int main(int argc, char **argv) {
  struct machine m = {{0}, {0}, {0}, {0}, 0, 0, 0, 0};
  if (argc != 2 || bind()) return 2;
  TRY(hsa_init());
  TRY(hsa_iterate_agents(take_gpu, &m));
  TRY(hsa_agent_iterate_regions(m.gpu, take_region, &m));
  if (load(&m, argv[1]) || add(&m)) return 1;
  TRY(hsa_executable_destroy(m.executable));
  TRY(hsa_shut_down());
  return 0;
}
