// What CUDA's releases have different, for programs that NVIDIA's nvcc has compiled against their headers
// (driver_types.h of each). Ours are as release 11 has it.
#include <cstring>

#include "cuda/cudart/work.hpp"

using heddle::cudart::guarded;
using heddle::cudart::Runtime;

namespace {

int release_of_program = 11;

}  // namespace

int heddle::cudart::program_release() {
  return release_of_program;
}

#pragma GCC visibility push(default)
extern "C" {

void heddle_cudart_release(int of_program);
void heddle_cudart_release(int of_program) {
  release_of_program = of_program;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return guarded("cudaGetDeviceProperties", [&](Runtime& runtime) {
    heddle::cudart::require_places(properties);
    heddle::cudart::require_device(device);
    if (release_of_program < 13) {
      *properties = heddle::cudart::device_properties(runtime.machine());
    } else {
      const heddle::cudart::Properties13 theirs = heddle::cudart::device_properties_13(runtime.machine());
      std::memcpy(static_cast<void*>(properties), &theirs, sizeof theirs);
    }
  });
}
cudaError_t cudaGetDeviceProperties_v2(void* properties, int device);
cudaError_t cudaGetDeviceProperties_v2(void* properties, int device) {
  return guarded("cudaGetDeviceProperties", [&](Runtime& runtime) {
    heddle::cudart::require_places(properties);
    heddle::cudart::require_device(device);
    const heddle::cudart::Properties12 theirs = heddle::cudart::device_properties_12(runtime.machine());
    std::memcpy(properties, static_cast<const void*>(&theirs), sizeof theirs);
  });
}

}  // extern "C"
#pragma GCC visibility pop
