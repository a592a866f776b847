// The driver API's device, contexts and results.
#include "cuda/cudart/driver.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <set>
#include <string_view>

struct CUctx_st {
  bool primary = false;
};

namespace heddle::cudart {
namespace {

std::atomic<bool> initialised{false};
// The present thread's, the current one last.
std::vector<CUcontext>& contexts() {
  thread_local std::vector<CUcontext> all;
  return all;
}
std::set<CUcontext>& living() {
  static auto* const all = new std::set<CUcontext>;
  return *all;
}
CUcontext primary() {
  static CUctx_st context{true};
  return &context;
}

struct ResultText {
  CUresult result;
  const char* name;
  const char* meaning;
};
constexpr ResultText kResultTexts[] = {
#define HEDDLE_RESULT_(code, value, text) {static_cast<CUresult>(value), #code, text},
#include <heddle_results.h>
#undef HEDDLE_RESULT_
};

// Before cuInit, too.
CUresult text_of(CUresult error, const char** text, const char* ResultText::*which, const char* function) {
  if (text == nullptr) return report(CUDA_ERROR_INVALID_VALUE, "a pointer is null", function);
  const auto* const found = std::find_if(std::begin(kResultTexts), std::end(kResultTexts),
                                         [error](const ResultText& one) { return one.result == error; });
  *text = found != std::end(kResultTexts) ? found->*which : nullptr;
  return *text != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

void require_living(CUcontext context) {
  if (context == primary() || living().count(context) != 0) return;
  throw Result{CUDA_ERROR_INVALID_CONTEXT, "there is no such context"};
}

// Questions about devices make no context. cudaSetDevice does, since release 12.
bool makes_context(std::string_view function) {
  static constexpr std::string_view kQuestions[] = {
      "cudaChooseDevice",          "cudaDeviceCanAccessPeer", "cudaDeviceGetAttribute",  "cudaDeviceGetByPCIBusId",
      "cudaDeviceGetP2PAttribute", "cudaDeviceGetPCIBusId",   "cudaDriverGetVersion",    "cudaGetDevice",
      "cudaGetDeviceCount",        "cudaGetDeviceFlags",      "cudaGetDeviceProperties", "cudaGetDriverEntryPoint",
      "cudaRuntimeGetVersion",     "cudaSetDeviceFlags",      "cudaSetValidDevices"};
  return std::find(std::begin(kQuestions), std::end(kQuestions), function) == std::end(kQuestions);
}

}  // namespace

void note_runtime_call(const char* function) {
  if (!initialised) initialised = true;
  if (contexts().empty() && makes_context(function)) contexts().push_back(primary());
}

CUresult result_of(cudaError_t error) {
  switch (error) {
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidPitchValue:
    case cudaErrorInvalidHostPointer:
    case cudaErrorInvalidDevicePointer:
    case cudaErrorInvalidMemcpyDirection:
      return CUDA_ERROR_INVALID_VALUE;
    case cudaErrorInvalidSymbol:
    case cudaErrorInvalidDeviceFunction:
      return CUDA_ERROR_NOT_FOUND;
    default:
      return static_cast<CUresult>(error);  // the same numbers
  }
}

void require_initialised() {
  if (!initialised) {
    throw Result{CUDA_ERROR_NOT_INITIALIZED, "neither cuInit nor the run-time API has been called"};
  }
}

void require_context() {
  if (!contexts().empty()) return;
  throw Result{CUDA_ERROR_INVALID_CONTEXT,
               "the thread has no context: cuCtxCreate makes one, and so does the first call of the run-time API"};
}

CUresult report(CUresult result, const std::string& text, const char* function) {
  if (!text.empty()) {
    std::fflush(stdout);
    std::fprintf(stderr, "heddle: %s: %s\n", function, text.c_str());
  }
  return result;
}

}  // namespace heddle::cudart

using namespace heddle::cudart;
using heddle::cudart::kAsIs;

#pragma GCC visibility push(default)
extern "C" {

CUresult cuInit(unsigned int flags) {
  if (flags != 0) return report(CUDA_ERROR_INVALID_VALUE, "flags are 0", "cuInit");
  initialised = true;
  return CUDA_SUCCESS;
}
// Before cuInit, too.
CUresult cuDriverGetVersion(int* version) {
  if (version == nullptr) return report(CUDA_ERROR_INVALID_VALUE, "a pointer is null", "cuDriverGetVersion");
  *version = CUDA_VERSION;
  return CUDA_SUCCESS;
}
CUresult cuGetErrorName(CUresult error, const char** name) {
  return text_of(error, name, &ResultText::name, "cuGetErrorName");
}
CUresult cuGetErrorString(CUresult error, const char** string) {
  return text_of(error, string, &ResultText::meaning, "cuGetErrorString");
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  return driver("cuDeviceGet", [&](Runtime&) {
    require_places(device);
    require_device(ordinal);
    *device = 0;
  });
}
CUresult cuDeviceGetCount(int* count) {
  return driver("cuDeviceGetCount", [&](Runtime&) {
    require_places(count);
    *count = 1;
  });
}
CUresult cuDeviceGetName(char* name, int size, CUdevice device) {
  return driver("cuDeviceGetName", [&](Runtime& runtime) {
    require_device(device);
    require_places(name);
    require(size > 0, cudaErrorInvalidValue, "there is no room for the name");
    const std::string_view whole = runtime.machine().name;
    const std::size_t kept = std::min(whole.size(), static_cast<std::size_t>(size) - 1);
    std::memcpy(name, whole.data(), kept);
    name[kept] = 0;
  });
}
CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  return driver("cuDeviceGetUuid", [&](Runtime&) {
    require_places(uuid);
    require_device(device);
    std::memset(uuid, 0, sizeof *uuid);
  });
}
CUresult cuDeviceTotalMem(size_t* bytes, CUdevice device) {
  return driver("cuDeviceTotalMem", [&](Runtime& runtime) {
    require_places(bytes);
    require_device(device);
    *bytes = runtime.machine().memory_bytes;
  });
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  return driver("cuDeviceGetAttribute", [&](Runtime&) {
    const cudaError_t error = cudaDeviceGetAttribute(value, static_cast<cudaDeviceAttr>(attribute), device);
    if (error != cudaSuccess) throw Failure{error, ""};
  });
}
CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
  const CUresult result = cuDeviceGetAttribute(major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
  if (result != CUDA_SUCCESS) return result;
  return cuDeviceGetAttribute(minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
}
CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  return driver("cuDevicePrimaryCtxRetain", [&](Runtime&) {
    require_places(context);
    require_device(device);
    *context = primary();
  });
}
CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  return driver("cuDevicePrimaryCtxRelease", [&](Runtime&) { require_device(device); });
}
CUresult cuDevicePrimaryCtxReset(CUdevice device) {
  return driver("cuDevicePrimaryCtxReset", [&](Runtime&) { require_device(device); });
}

CUresult cuCtxCreate(CUcontext* context, unsigned int, CUdevice device) {
  return driver("cuCtxCreate", [&](Runtime&) {
    require_places(context);
    require_device(device);
    *context = *living().insert(new CUctx_st).first;
    contexts().push_back(*context);
  });
}
// Memory stays until the program ends, so that its statistics are of one run.
CUresult cuCtxDestroy(CUcontext context) {
  return driver("cuCtxDestroy", [&](Runtime&) {
    require_living(context);
    std::vector<CUcontext>& mine = contexts();
    mine.erase(std::remove(mine.begin(), mine.end(), context), mine.end());
    if (living().erase(context) != 0) delete context;
  });
}
CUresult cuCtxPushCurrent(CUcontext context) {
  return driver("cuCtxPushCurrent", [&](Runtime&) {
    require_living(context);
    contexts().push_back(context);
  });
}
CUresult cuCtxPopCurrent(CUcontext* context) {
  return driver("cuCtxPopCurrent", [&](Runtime&) {
    if (contexts().empty()) throw Result{CUDA_ERROR_INVALID_CONTEXT, "the thread has no context"};
    if (context != nullptr) *context = contexts().back();
    contexts().pop_back();
  });
}
CUresult cuCtxSetCurrent(CUcontext context) {
  return driver("cuCtxSetCurrent", [&](Runtime&) {
    if (context != nullptr) require_living(context);
    if (!contexts().empty()) contexts().pop_back();
    if (context != nullptr) contexts().push_back(context);
  });
}
CUresult cuCtxGetCurrent(CUcontext* context) {
  return driver("cuCtxGetCurrent", [&](Runtime&) {
    require_places(context);
    *context = contexts().empty() ? nullptr : contexts().back();
  });
}
CUresult cuCtxGetDevice(CUdevice* device) {
  return in_context("cuCtxGetDevice", [&](Runtime&) {
    require_places(device);
    *device = 0;
  });
}
CUresult cuCtxGetApiVersion(CUcontext context, unsigned int* version) {
  return driver("cuCtxGetApiVersion", [&](Runtime&) {
    require_places(version);
    if (context != nullptr) require_living(context);
    *version = CUDA_VERSION;
  });
}
CUresult cuCtxSynchronize(void) {
  return in_context("cuCtxSynchronize", [](Runtime& runtime) { synchronize(runtime); });
}
CUresult cuCtxSetCacheConfig(CUfunc_cache) {
  return in_context("cuCtxSetCacheConfig", [](Runtime&) {});
}
CUresult cuCtxGetLimit(size_t* value, CUlimit limit) {
  return in_context("cuCtxGetLimit", [&](Runtime& runtime) {
    require_places(value);
    if (limit == CU_LIMIT_MALLOC_HEAP_SIZE) {
      *value = runtime.ask({Call::heap, 0, {heddle::cudart::kAsIs}, 0}).words[0];
    } else {
      static_cast<void>(cudaDeviceGetLimit(value, static_cast<cudaLimit>(limit)));
    }
  });
}
CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
  return in_context("cuCtxSetLimit", [&](Runtime& runtime) {
    if (limit == CU_LIMIT_MALLOC_HEAP_SIZE) set_heap_limit(runtime, value);
    if (limit == CU_LIMIT_STACK_SIZE) static_cast<void>(runtime.ask({Call::stack, 0, {value}, 0}));
  });
}
CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return in_context("cuCtxGetStreamPriorityRange", [&](Runtime&) {
    if (least != nullptr) *least = 0;
    if (greatest != nullptr) *greatest = 0;
  });
}

// ---- streams and events are the run-time API's

// The last error of the run-time API is not theirs.
#define HEDDLE_AS_RUNTIME_(name, parameters, call)             \
  CUresult name parameters {                                   \
    const CUresult ready = in_context(#name, [](Runtime&) {}); \
    if (ready != CUDA_SUCCESS) return ready;                   \
    const cudaError_t last = last_error();                     \
    const CUresult result = result_of(call);                   \
    last_error() = last;                                       \
    return result;                                             \
  }
HEDDLE_AS_RUNTIME_(cuMemHostRegister_v2, (void* pointer, size_t size, unsigned int flags),
                   cudaHostRegister(pointer, size, flags))
HEDDLE_AS_RUNTIME_(cuMemHostUnregister, (void* pointer), cudaHostUnregister(pointer))
HEDDLE_AS_RUNTIME_(cuStreamCreate, (CUstream * stream, unsigned int flags), cudaStreamCreateWithFlags(stream, flags))
HEDDLE_AS_RUNTIME_(cuStreamCreateWithPriority, (CUstream * stream, unsigned int flags, int priority),
                   cudaStreamCreateWithPriority(stream, flags, priority))
HEDDLE_AS_RUNTIME_(cuStreamDestroy_v2, (CUstream stream), cudaStreamDestroy(stream))
HEDDLE_AS_RUNTIME_(cuStreamSynchronize, (CUstream stream), cudaStreamSynchronize(stream))
HEDDLE_AS_RUNTIME_(cuStreamQuery, (CUstream stream), cudaStreamQuery(stream))
HEDDLE_AS_RUNTIME_(cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned int flags),
                   cudaStreamWaitEvent(stream, event, flags))
HEDDLE_AS_RUNTIME_(cuEventCreate, (CUevent * event, unsigned int flags), cudaEventCreateWithFlags(event, flags))
HEDDLE_AS_RUNTIME_(cuEventDestroy_v2, (CUevent event), cudaEventDestroy(event))
HEDDLE_AS_RUNTIME_(cuEventRecord, (CUevent event, CUstream stream), cudaEventRecord(event, stream))
HEDDLE_AS_RUNTIME_(cuEventSynchronize, (CUevent event), cudaEventSynchronize(event))
HEDDLE_AS_RUNTIME_(cuEventQuery, (CUevent event), cudaEventQuery(event))
HEDDLE_AS_RUNTIME_(cuEventElapsedTime, (float* milliseconds, CUevent start, CUevent end),
                   cudaEventElapsedTime(milliseconds, start, end))
HEDDLE_AS_RUNTIME_(cuLaunchHostFunc, (CUstream stream, CUhostFn function, void* data),
                   cudaLaunchHostFunc(stream, function, data))
HEDDLE_AS_RUNTIME_(cuStreamAddCallback, (CUstream stream, CUstreamCallback callback, void* data, unsigned int flags),
                   cudaStreamAddCallback(stream, reinterpret_cast<cudaStreamCallback_t>(callback), data, flags))
#undef HEDDLE_AS_RUNTIME_

}  // extern "C"
#pragma GCC visibility pop
