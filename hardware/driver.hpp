// The CUDA driver, by dlopen: the types and names are those of Heddle's own cuda.h, the library is whatever the host
// has as libcuda.so.1, a GPU's driver or (under `heddle exec`) the simulator.
#pragma once

#include <cuda.h>

#include <stdexcept>
#include <string>

namespace heddle::hardware {

// No driver, no device, or one that does not start.
struct NoDevice : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A call that failed. After a fault of a kernel every further call fails (sticky), until the process ends.
struct DriverError : std::runtime_error {
  DriverError(const std::string& text, CUresult result) : std::runtime_error(text), code(result) {}
  CUresult code;
};

// Functions that the library exports under the names that cuda.h maps them to (cuMemAlloc_v2).
// clang-format off
#define HEDDLE_DRIVER_FUNCTIONS(X) \
  X(cuInit) X(cuDriverGetVersion) X(cuGetErrorName) X(cuGetErrorString) X(cuDeviceGet) X(cuDeviceGetCount) \
  X(cuDeviceGetName) X(cuDeviceTotalMem) X(cuDeviceGetAttribute) X(cuDevicePrimaryCtxRetain) \
  X(cuCtxSetCurrent) X(cuCtxSynchronize) X(cuModuleLoadDataEx) X(cuModuleUnload) X(cuModuleGetFunction) \
  X(cuModuleGetGlobal) X(cuLaunchKernel) X(cuFuncGetAttribute) X(cuFuncSetAttribute) \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessor) X(cuMemAlloc) X(cuMemFree) X(cuMemcpyHtoD) X(cuMemcpyDtoH) \
  X(cuMemsetD8) X(cuEventCreate) X(cuEventDestroy) X(cuEventRecord) X(cuEventSynchronize) \
  X(cuEventElapsedTime)
// clang-format on

struct Driver {
#define HEDDLE_DRIVER_POINTER(name) decltype(&::name) name = nullptr;
  HEDDLE_DRIVER_FUNCTIONS(HEDDLE_DRIVER_POINTER)
#undef HEDDLE_DRIVER_POINTER

  // Loads the library. Throws NoDevice with what is missing.
  Driver();
  // Throws DriverError with the call, the error's name and its meaning.
  void check(CUresult result, const char* call) const;
  // The first device with a context that is current. Throws NoDevice.
  [[nodiscard]] CUdevice start() const;
  [[nodiscard]] int attribute(CUdevice device, CUdevice_attribute attribute) const;
};

}  // namespace heddle::hardware
