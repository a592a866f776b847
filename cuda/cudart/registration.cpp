// What compiled CUDA files call before main() and at the end: they bring their device code, kernels and variables.
// Names and arguments are what clang and nvcc write (clang/lib/CodeGen/CGCUDANV.cpp).
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "cuda/cudart/device_code.hpp"
#include "cuda/cudart/work.hpp"

namespace {

using heddle::cudart::Runtime;

struct Wrapper {
  std::uint32_t magic;
  std::uint32_t version;
  const void* data;
  void* further;
};

// What a registering file is known by: a pointer to the number of its unit.
std::size_t unit_of(void** handle) {
  return reinterpret_cast<std::uintptr_t>(handle) - 1;
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) void** __cudaRegisterFatBinary(void* fat) {
  const Wrapper& wrapper = *static_cast<const Wrapper*>(fat);
  heddle::cudart::DeviceCode code;
  if (wrapper.magic != heddle::cudart::kWrapperMagic) {
    code.refusal = "its device code is in no form that is known here";
  } else {
    code = heddle::cudart::device_code(wrapper.data);
  }
  Runtime& runtime = Runtime::instance();
  const std::lock_guard<std::recursive_mutex> held(runtime.lock);
  return reinterpret_cast<void**>(runtime.add_unit(std::move(code)) + 1);
}

__attribute__((visibility("default"))) void __cudaRegisterFatBinaryEnd(void**) {}
__attribute__((visibility("default"))) void __cudaUnregisterFatBinary(void**) {}

__attribute__((visibility("default"))) void __cudaRegisterFunction(void** handle, const char* stub, char*,
                                                                   const char* name, int, void*, void*, void*, void*,
                                                                   int*) {
  heddle::cudart::Function function;
  function.unit = unit_of(handle);
  function.name = name;
  Runtime& runtime = Runtime::instance();
  const std::lock_guard<std::recursive_mutex> held(runtime.lock);
  runtime.add_function(stub, std::move(function));
}

__attribute__((visibility("default"))) void __cudaRegisterVar(void** handle, char* variable, char*, const char* name,
                                                              int, std::size_t, int, int) {
  heddle::cudart::Symbol symbol;
  symbol.unit = unit_of(handle);
  symbol.name = name;
  Runtime& runtime = Runtime::instance();
  const std::lock_guard<std::recursive_mutex> held(runtime.lock);
  runtime.add_symbol(variable, std::move(symbol));
}

// A texture reference of the program's: a variable of the device that holds its handle, and what it is sampled by on
// the host. `fractions`: integers are read as such.
__attribute__((visibility("default"))) void __cudaRegisterTexture(void** handle, const void* variable, const void**,
                                                                  const char* name, int, int fractions, int) {
  heddle::cudart::Symbol symbol;
  symbol.unit = unit_of(handle);
  symbol.name = name;
  Runtime& runtime = Runtime::instance();
  const std::lock_guard<std::recursive_mutex> held(runtime.lock);
  runtime.add_symbol(variable, std::move(symbol));
  heddle::cudart::add_reference(variable, fractions != 0);
}

__attribute__((visibility("default"))) void __cudaRegisterSurface(void** handle, const void* variable, const void**,
                                                                  const char* name, int, int) {
  __cudaRegisterTexture(handle, variable, nullptr, name, 0, 0, 0);
}

// nvcc's programs call it before their first use of a file's managed variables: their pointers lead somewhere then.
__attribute__((visibility("default"))) char __cudaInitModule(void**) {
  const cudaError_t error = heddle::cudart::guarded("__managed__ variables", [](Runtime& runtime) {
    static_cast<void>(runtime.ask({heddle::cudart::Call::memory, 0, {}, 0}));
  });
  return error == cudaSuccess ? 1 : 0;
}

__attribute__((visibility("default"))) void __cudaRegisterManagedVar(void** handle, void** pointer, char*,
                                                                     const char* name, int, std::size_t, int, int) {
  heddle::cudart::ManagedVariable variable;
  variable.symbol.unit = unit_of(handle);
  variable.symbol.name = name;
  variable.pointer = pointer;
  Runtime& runtime = Runtime::instance();
  const std::lock_guard<std::recursive_mutex> held(runtime.lock);
  runtime.add_symbol(pointer, variable.symbol);
  runtime.add_managed(std::move(variable));
}

// Programs of heddle nvcc call it when host code first uses a managed variable (cuda/include/runtime/cuda_runtime.h),
// whose place cannot be null.
__attribute__((visibility("default"))) void* __heddle_managed(const void* shadow) {
  void* place = nullptr;
  const cudaError_t error = heddle::cudart::guarded(
      "a __managed__ variable", [&](Runtime& runtime) { place = runtime.managed_variable(shadow); });
  if (error == cudaSuccess) return place;
  std::fflush(stdout);
  ::_exit(3);  // as after a fault
}

}  // extern "C"
