/* SPDX-License-Identifier: Apache-2.0 */
/* hip_api.def and hip_table.h against a HIP header: ours always, the real one where it is installed. Compiling is the test. */
#include <hip/hip_runtime_api.h>

#include "hip_table.h"

#if HIP_VERSION_MAJOR >= 6
/* Its struct has several names, from version to version; the fields are looked at below. */
unsigned any_properties(struct hip_properties *properties, int device);
#undef hipGetDevicePropertiesR0600
#define hipGetDevicePropertiesR0600 any_properties
#define X(result, name, parameters)                                                                                                        \
  _Static_assert(__builtin_types_compatible_p(__typeof__(&name), result(*) parameters), #name " has another type in HIP's header");
#include "hip_api.def"
#undef X
_Static_assert(offsetof(hipDeviceProp_t, gcnArchName) == HIP_PROPERTIES_ISA, "gcnArchName's place");
_Static_assert(sizeof(((hipDeviceProp_t *)0)->gcnArchName) == HIP_NAME_BYTES, "gcnArchName's size");
_Static_assert(offsetof(hipDeviceProp_t, name) == 0 && sizeof(((hipDeviceProp_t *)0)->name) == HIP_NAME_BYTES, "the name");
_Static_assert(sizeof(hipDeviceProp_t) == HIP_PROPERTIES_BYTES, "the properties' size");
#endif

_Static_assert((int)hipDeviceAttributeMultiprocessorCount == HIP_ATTRIBUTE_COMPUTE_UNITS, "the attribute of the compute units");
_Static_assert((int)hipSuccess == HIP_GOOD && (int)hipErrorOutOfMemory == HIP_OUT_OF_MEMORY && (int)hipErrorNoDevice == HIP_NO_DEVICE &&
                   (int)hipErrorInvalidDevice == HIP_INVALID_DEVICE,
    "errors");
static const struct {
  void *pointer, *size, *end;
} launch_words = {HIP_LAUNCH_PARAM_BUFFER_POINTER, HIP_LAUNCH_PARAM_BUFFER_SIZE, HIP_LAUNCH_PARAM_END};

/* Are the words of hipModuleLaunchKernel's `extra` those that libfront passes? test_hip asks. */
int launch_words_match(void);
int launch_words_match(void) {
  return (uintptr_t)launch_words.pointer == HIP_PARAM_POINTER && (uintptr_t)launch_words.size == HIP_PARAM_SIZE &&
         (uintptr_t)launch_words.end == HIP_PARAM_END;
}
