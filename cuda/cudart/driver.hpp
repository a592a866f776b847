// What the driver API's functions share.
#pragma once

#include <cuda.h>
#include "cuda/cudart/handles.hpp"
#include "cuda/cudart/work.hpp"

namespace heddle::cudart {

[[nodiscard]] CUresult result_of(cudaError_t error);
// Throw Failure before cuInit, or where the present thread has no context.
void require_initialised();
void require_context();
// A result that is no failure of the run-time API's kind.
struct Result {
  CUresult value;
  std::string text;
};

CUresult report(CUresult result, const std::string& text, const char* function);

// Runs the body of a function of the driver API: locked. Errors are its result, not the run-time API's last error.
template <class Body>
CUresult driver(const char* function, Body&& body) {
  Runtime& runtime = Runtime::instance();
  try {
    const Entry entry(runtime);
    require_initialised();
    require_permitted(function);
    body(runtime);
    return CUDA_SUCCESS;
  } catch (const Failure& failure) {
    const CUresult result = report(result_of(failure.error), failure.text, function);
    if (failure.ends) runtime.leave();
    return result;
  } catch (const Result& result) {
    return report(result.value, result.text, function);
  }
}
template <class Body>
CUresult in_context(const char* function, Body&& body) {
  return driver(function, [&](Runtime& runtime) {
    require_context();
    body(runtime);
  });
}

// The PTX of what a program loads on a GPU of that architecture: a text, or a fat binary with or without what stands
// before it in an object file.
[[nodiscard]] std::string ptx_of(const void* image, std::uint32_t architecture);
// As ptx_of(), for an image whose size is known.
[[nodiscard]] std::string ptx_in(const std::string& image, std::uint32_t architecture);
[[nodiscard]] std::string file_of_code(const char* file);
// Where the caller wants to read what is said of its PTX, by the options that name such a buffer and its size.
void tell(unsigned int count, const CUjit_option* options, void** values, CUjit_option buffer, CUjit_option size,
          const std::string& text);

}  // namespace heddle::cudart

struct CUfunc_st {
  heddle::cudart::Function function;
  CUmodule module = nullptr;
  heddle::cudart::Living<CUfunc_st> living{this};
};
