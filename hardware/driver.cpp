#include "hardware/driver.hpp"

#include <dlfcn.h>

namespace heddle::hardware {

#define HEDDLE_NAME_OF_(name) #name
#define HEDDLE_NAME_OF(name) HEDDLE_NAME_OF_(name)

Driver::Driver() {
  void* const library = ::dlopen("libcuda.so.1", RTLD_NOW);
  if (library == nullptr) {
    const char* const why = ::dlerror();
    throw NoDevice(std::string("no CUDA driver: ") + (why == nullptr ? "libcuda.so.1 cannot be loaded" : why));
  }
#define HEDDLE_LOAD(name)                                                                       \
  name = reinterpret_cast<decltype(name)>(::dlsym(library, HEDDLE_NAME_OF(name)));              \
  if (name == nullptr) throw NoDevice("the CUDA driver has no function " HEDDLE_NAME_OF(name)); \
  // clang-format off
  HEDDLE_DRIVER_FUNCTIONS(HEDDLE_LOAD)
  // clang-format on
#undef HEDDLE_LOAD
}

void Driver::check(CUresult result, const char* call) const {
  if (result == CUDA_SUCCESS) return;
  const char* name = nullptr;
  const char* text = nullptr;
  cuGetErrorName(result, &name);
  cuGetErrorString(result, &text);
  throw DriverError(std::string(call) + ": " + (name == nullptr ? std::to_string(result) : name) +
                        (text == nullptr ? "" : std::string(", ") + text),
                    result);
}

CUdevice Driver::start() const {
  CUdevice device = 0;
  CUcontext context = nullptr;
  int count = 0;
  try {
    check(cuInit(0), "cuInit");
    check(cuDeviceGetCount(&count), "cuDeviceGetCount");
    if (count == 0) throw NoDevice("the CUDA driver has no device");
    check(cuDeviceGet(&device, 0), "cuDeviceGet");
    check(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
    check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
  } catch (const DriverError& error) {
    throw NoDevice(std::string("no CUDA device: ") + error.what());
  }
  return device;
}

int Driver::attribute(CUdevice device, CUdevice_attribute attribute) const {
  int value = 0;
  return cuDeviceGetAttribute(&value, attribute, device) == CUDA_SUCCESS ? value : -1;
}

}  // namespace heddle::hardware
