#include "cuda/cublas/library.hpp"

#include <cstdio>
#include <memory>
#include <set>
#include <string_view>

#include "cuda/cudart/host_memory.hpp"
#include "cuda/libraries/embedded_kernels.hpp"

namespace heddle::cublas {
namespace {

struct Handles {
  std::mutex lock;
  std::set<cublasHandle_t> live;
};
Handles& handles() {
  static Handles* const all = new Handles;
  return *all;
}

}  // namespace

void require_done(cudaError_t error, cublasStatus_t otherwise) {
  if (error == cudaSuccess) return;
  throw Refusal{error == cudaErrorMemoryAllocation ? CUBLAS_STATUS_ALLOC_FAILED : otherwise};
}

bool is_handle(cublasHandle_t handle) {
  const std::lock_guard<std::mutex> held(handles().lock);
  return handles().live.count(handle) != 0;
}

Factor<float> Call::half_factor(const void* from) {
  require(from != nullptr);
  if (context_.pointers == CUBLAS_POINTER_MODE_DEVICE) return {0, from, kHalf};
  __half value;
  read(&value, from, sizeof value);
  return {__half2float(value), nullptr, kAsItIs};
}

void Call::read(void* into, const void* from, std::size_t bytes) const {
  if (cudart::read_host(into, from, {bytes, bytes, 1})) return;
  std::fprintf(stderr,
               "heddle: %s: a factor at %p is in no memory of the host; cublasSetPointerMode takes factors in device "
               "memory\n",
               function_, from);
  throw Refusal{CUBLAS_STATUS_INVALID_VALUE};
}

void Call::start(const char* file, const char* kernel, const char* letter, dim3 grid, void** arguments) {
  const void* const stub = cuda_libraries::EmbeddedKernels::all().find(std::string(file) + "." + letter,
                                                                       std::string("cublas_") + letter + kernel);
  require(stub != nullptr, CUBLAS_STATUS_INTERNAL_ERROR);
  require_done(cudaLaunchKernel(stub, grid, dim3(64), arguments, 0, context_.stream));
}

void* Call::space() {
  void*& at = context_.spaces[context_.stream];
  if (at == nullptr) require_done(cudaMalloc(&at, kSpace), CUBLAS_STATUS_ALLOC_FAILED);
  return at;
}

void* Call::place_of(void* result) {
  require(result != nullptr);
  return context_.pointers == CUBLAS_POINTER_MODE_DEVICE ? result : static_cast<char*>(space()) + kResult;
}

void Call::bring(void* result, std::size_t bytes) {
  if (context_.pointers == CUBLAS_POINTER_MODE_DEVICE) return;
  require_done(
      cudaMemcpyAsync(result, static_cast<char*>(space()) + kResult, bytes, cudaMemcpyDeviceToHost, context_.stream));
  require_done(cudaStreamSynchronize(context_.stream));
}

Scratch::Scratch(Call& call, std::size_t bytes) : stream_(call.context().stream) {
  if (bytes != 0) require_done(cudaMallocAsync(&at_, bytes, stream_), CUBLAS_STATUS_ALLOC_FAILED);
}
Scratch::~Scratch() {
  if (at_ != nullptr) static_cast<void>(cudaFreeAsync(at_, stream_));
}

}  // namespace heddle::cublas

using heddle::cublas::Call;
using heddle::cublas::guarded;
using heddle::cublas::require;
using heddle::cublas::require_done;

extern "C" {

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  if (handle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  try {
    auto context = std::make_unique<cublasContext>();
    require_done(cudaFree(nullptr), CUBLAS_STATUS_NOT_INITIALIZED);  // the device must be there
    static_cast<void>(Call(*context, "cublasCreate").space());
    const std::lock_guard<std::mutex> held(heddle::cublas::handles().lock);
    heddle::cublas::handles().live.insert(context.get());
    *handle = context.release();
    return CUBLAS_STATUS_SUCCESS;
  } catch (const heddle::cublas::Refusal& refusal) {
    return refusal.status;
  } catch (...) {
    return CUBLAS_STATUS_ALLOC_FAILED;
  }
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  {
    const std::lock_guard<std::mutex> held(heddle::cublas::handles().lock);
    if (heddle::cublas::handles().live.erase(handle) == 0) return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  // It waits for the device, as CUDA's does.
  static_cast<void>(cudaDeviceSynchronize());
  for (const auto& [stream, space] : handle->spaces) static_cast<void>(cudaFree(space));
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetVersion_v2(cublasHandle_t handle, int* version) {
  return guarded(handle, "cublasGetVersion", [&](Call&) {
    require(version != nullptr);
    *version = CUBLAS_VERSION;
  });
}

cublasStatus_t cublasGetProperty(libraryPropertyType type, int* value) {
  if (value == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  switch (type) {
    case MAJOR_VERSION:
      *value = CUBLAS_VER_MAJOR;
      return CUBLAS_STATUS_SUCCESS;
    case MINOR_VERSION:
      *value = CUBLAS_VER_MINOR;
      return CUBLAS_STATUS_SUCCESS;
    case PATCH_LEVEL:
      *value = CUBLAS_VER_PATCH;
      return CUBLAS_STATUS_SUCCESS;
  }
  return CUBLAS_STATUS_INVALID_VALUE;
}

size_t cublasGetCudartVersion(void) {
  return CUDART_VERSION;
}

// A workspace of the program's own is not needed: the handle keeps a small one for each stream.
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void* workspace, size_t) {
  return guarded(handle, "cublasSetWorkspace",
                 [&](Call&) { require(reinterpret_cast<std::uintptr_t>(workspace) % 256 == 0); });
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  return guarded(handle, "cublasSetStream", [&](Call& call) {
    handle->stream = stream;
    static_cast<void>(call.space());  // now, since a stream that records a graph must not allocate
  });
}
cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t* stream) {
  return guarded(handle, "cublasGetStream", [&](Call&) {
    require(stream != nullptr);
    *stream = handle->stream;
  });
}

cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t mode) {
  return guarded(handle, "cublasSetPointerMode", [&](Call&) {
    require(mode == CUBLAS_POINTER_MODE_HOST || mode == CUBLAS_POINTER_MODE_DEVICE);
    handle->pointers = mode;
  });
}
cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t* mode) {
  return guarded(handle, "cublasGetPointerMode", [&](Call&) {
    require(mode != nullptr);
    *mode = handle->pointers;
  });
}

cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode) {
  return guarded(handle, "cublasSetAtomicsMode", [&](Call&) {
    require(mode == CUBLAS_ATOMICS_NOT_ALLOWED || mode == CUBLAS_ATOMICS_ALLOWED);
    handle->atomics = mode;
  });
}
cublasStatus_t cublasGetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t* mode) {
  return guarded(handle, "cublasGetAtomicsMode", [&](Call&) {
    require(mode != nullptr);
    *mode = handle->atomics;
  });
}

// Sums are of the precision that their type says, whatever the mode allows besides.
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  return guarded(handle, "cublasSetMathMode", [&](Call&) {
    const int kind = mode & ~CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION;
    require(kind >= CUBLAS_DEFAULT_MATH && kind <= CUBLAS_TF32_TENSOR_OP_MATH);
    handle->mathematics = mode;
  });
}
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode) {
  return guarded(handle, "cublasGetMathMode", [&](Call&) {
    require(mode != nullptr);
    *mode = handle->mathematics;
  });
}

cublasStatus_t cublasSetSmCountTarget(cublasHandle_t handle, int count) {
  return guarded(handle, "cublasSetSmCountTarget", [&](Call&) {
    int most = 0;
    require_done(cudaDeviceGetAttribute(&most, cudaDevAttrMultiProcessorCount, 0));
    require(count >= 0 && count <= most);
    handle->cores = count;
  });
}
cublasStatus_t cublasGetSmCountTarget(cublasHandle_t handle, int* count) {
  return guarded(handle, "cublasGetSmCountTarget", [&](Call&) {
    require(count != nullptr);
    *count = handle->cores;
  });
}

const char* cublasGetStatusName(cublasStatus_t status) {
#define HEDDLE_NAME_OF(name) \
  case name:                 \
    return #name
  switch (status) {
    HEDDLE_NAME_OF(CUBLAS_STATUS_SUCCESS);
    HEDDLE_NAME_OF(CUBLAS_STATUS_NOT_INITIALIZED);
    HEDDLE_NAME_OF(CUBLAS_STATUS_ALLOC_FAILED);
    HEDDLE_NAME_OF(CUBLAS_STATUS_INVALID_VALUE);
    HEDDLE_NAME_OF(CUBLAS_STATUS_ARCH_MISMATCH);
    HEDDLE_NAME_OF(CUBLAS_STATUS_MAPPING_ERROR);
    HEDDLE_NAME_OF(CUBLAS_STATUS_EXECUTION_FAILED);
    HEDDLE_NAME_OF(CUBLAS_STATUS_INTERNAL_ERROR);
    HEDDLE_NAME_OF(CUBLAS_STATUS_NOT_SUPPORTED);
    HEDDLE_NAME_OF(CUBLAS_STATUS_LICENSE_ERROR);
  }
#undef HEDDLE_NAME_OF
  return "not a status of cuBLAS";
}

const char* cublasGetStatusString(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS:
      return "success";
    case CUBLAS_STATUS_NOT_INITIALIZED:
      return "the handle is none, or none any more";
    case CUBLAS_STATUS_ALLOC_FAILED:
      return "there is no memory left";
    case CUBLAS_STATUS_INVALID_VALUE:
      return "a parameter has a value that the function does not allow";
    case CUBLAS_STATUS_ARCH_MISMATCH:
      return "the device lacks what the function needs";
    case CUBLAS_STATUS_MAPPING_ERROR:
      return "memory cannot be reached";
    case CUBLAS_STATUS_EXECUTION_FAILED:
      return "a kernel could not be launched, or has failed";
    case CUBLAS_STATUS_INTERNAL_ERROR:
      return "the library has a fault";
    case CUBLAS_STATUS_NOT_SUPPORTED:
      return "that is not supported";
    case CUBLAS_STATUS_LICENSE_ERROR:
      return "the licence does not allow it";
  }
  return "not a status of cuBLAS";
}

}  // extern "C"
