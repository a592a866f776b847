// The driver API's memory.
#include "cuda/cudart/driver.hpp"
#include "cuda/cudart/graphs.hpp"

using namespace heddle::cudart;

namespace {

void* pointer_of(CUdeviceptr address) {
  return reinterpret_cast<void*>(address);
}

CUresult copy(const char* name, void* to, const void* from, size_t size, cudaMemcpyKind kind, CUstream stream,
              bool asynchronous) {
  return in_context(name, [&](Runtime& runtime) {
    transfer(runtime, {to, size}, {from, size}, size, 1, kind, stream, asynchronous);
  });
}

CUresult set(const char* name, CUdeviceptr to, unsigned value, unsigned element, size_t count, CUstream stream) {
  return in_context(name, [&](Runtime& runtime) {
    fill(runtime, pointer_of(to), count * element, value, element, count * element, 1, stream);
  });
}

CUresult set_rows(const char* name, CUdeviceptr to, size_t pitch, unsigned value, unsigned element, size_t width,
                  size_t height) {
  return in_context(name, [&](Runtime& runtime) {
    fill(runtime, pointer_of(to), pitch, value, element, width * element, height, nullptr);
  });
}

// One side of a two-dimensional copy.
Rows rows_of(CUmemorytype type, const void* host, CUdeviceptr device, size_t pitch, size_t x, size_t y) {
  require(type != CU_MEMORYTYPE_ARRAY, cudaErrorNotSupported, "there are no arrays (textures)");
  const void* const base = type == CU_MEMORYTYPE_HOST ? host : pointer_of(device);
  return {static_cast<const char*>(base) + y * pitch + x, pitch};
}

CUresult copy_rows(const char* name, const CUDA_MEMCPY2D* given, CUstream stream, bool asynchronous) {
  return in_context(name, [&](Runtime& runtime) {
    require_places(given);
    const CUDA_MEMCPY2D& rows = *given;
    transfer(runtime,
             rows_of(rows.dstMemoryType, rows.dstHost, rows.dstDevice, rows.dstPitch, rows.dstXInBytes, rows.dstY),
             rows_of(rows.srcMemoryType, rows.srcHost, rows.srcDevice, rows.srcPitch, rows.srcXInBytes, rows.srcY),
             rows.WidthInBytes, rows.Height, cudaMemcpyDefault, stream, asynchronous);
  });
}

CUresult allocate(const char* name, CUdeviceptr* pointer, size_t size, bool managed) {
  return in_context(name, [&](Runtime& runtime) {
    require_places(pointer);
    require(size != 0, cudaErrorInvalidValue, "an allocation has at least one byte");
    *pointer = number_of(runtime.allocate(size, managed));
  });
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

CUresult cuMemGetInfo(size_t* free, size_t* total) {
  return in_context("cuMemGetInfo", [&](Runtime& runtime) {
    require_places(free, total);
    const Answer answer = runtime.ask({Call::memory, 0, {}, 0});
    *free = answer.words[0];
    *total = answer.words[1];
  });
}
CUresult cuMemAlloc(CUdeviceptr* pointer, size_t size) {
  return allocate("cuMemAlloc", pointer, size, false);
}
CUresult cuMemAllocManaged(CUdeviceptr* pointer, size_t size, unsigned int) {
  return allocate("cuMemAllocManaged", pointer, size, true);
}
CUresult cuMemAllocPitch(CUdeviceptr* pointer, size_t* pitch, size_t width, size_t height, unsigned int) {
  return in_context("cuMemAllocPitch", [&](Runtime&) {
    require_places(pointer, pitch);
    void* made = nullptr;
    const cudaError_t error = cudaMallocPitch(&made, pitch, width, height);
    if (error != cudaSuccess) throw Failure{error, ""};
    *pointer = number_of(made);
  });
}
CUresult cuMemFree(CUdeviceptr pointer) {
  return in_context("cuMemFree", [&](Runtime& runtime) {
    require_safe();
    release(runtime, pointer_of(pointer));
  });
}
CUresult cuMemAllocHost(void** pointer, size_t size) {
  return in_context("cuMemAllocHost", [&](Runtime& runtime) {
    require_places(pointer);
    *pointer = allocate_pinned(runtime, size, cudaHostAllocDefault);
  });
}
CUresult cuMemHostAlloc(void** pointer, size_t size, unsigned int flags) {
  return in_context("cuMemHostAlloc", [&](Runtime& runtime) {
    require_places(pointer);
    *pointer = allocate_pinned(runtime, size, flags);  // of the same values
  });
}
CUresult cuMemHostGetDevicePointer(CUdeviceptr* device, void* host, unsigned int) {
  return in_context("cuMemHostGetDevicePointer", [&](Runtime& runtime) {
    require_places(device);
    *device = number_of(reached_by_kernels(runtime, host));
  });
}
CUresult cuMemFreeHost(void* pointer) {
  return in_context("cuMemFreeHost", [&](Runtime& runtime) {
    require_safe();
    release_pinned(runtime, pointer);
  });
}

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t size) {
  return copy("cuMemcpy", pointer_of(to), pointer_of(from), size, cudaMemcpyDefault, nullptr, false);
}
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream) {
  return copy("cuMemcpyAsync", pointer_of(to), pointer_of(from), size, cudaMemcpyDefault, stream, true);
}
CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, size_t size) {
  return copy("cuMemcpyHtoD", pointer_of(to), from, size, cudaMemcpyHostToDevice, nullptr, false);
}
CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, size_t size) {
  return copy("cuMemcpyDtoH", to, pointer_of(from), size, cudaMemcpyDeviceToHost, nullptr, false);
}
CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t size) {
  return copy("cuMemcpyDtoD", pointer_of(to), pointer_of(from), size, cudaMemcpyDeviceToDevice, nullptr, false);
}
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, size_t size, CUstream stream) {
  return copy("cuMemcpyHtoDAsync", pointer_of(to), from, size, cudaMemcpyHostToDevice, stream, true);
}
CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, size_t size, CUstream stream) {
  return copy("cuMemcpyDtoHAsync", to, pointer_of(from), size, cudaMemcpyDeviceToHost, stream, true);
}
CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream) {
  return copy("cuMemcpyDtoDAsync", pointer_of(to), pointer_of(from), size, cudaMemcpyDeviceToDevice, stream, true);
}
CUresult cuMemcpy2D(const CUDA_MEMCPY2D* rows) {
  return copy_rows("cuMemcpy2D", rows, nullptr, false);
}
CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D* rows, CUstream stream) {
  return copy_rows("cuMemcpy2DAsync", rows, stream, true);
}
CUresult cuMemsetD8(CUdeviceptr to, unsigned char value, size_t count) {
  return set("cuMemsetD8", to, value, 1, count, nullptr);
}
CUresult cuMemsetD16(CUdeviceptr to, unsigned short value, size_t count) {
  return set("cuMemsetD16", to, value, 2, count, nullptr);
}
CUresult cuMemsetD32(CUdeviceptr to, unsigned int value, size_t count) {
  return set("cuMemsetD32", to, value, 4, count, nullptr);
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
  return set("cuMemsetD8Async", to, value, 1, count, stream);
}
CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream) {
  return set("cuMemsetD16Async", to, value, 2, count, stream);
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned int value, size_t count, CUstream stream) {
  return set("cuMemsetD32Async", to, value, 4, count, stream);
}
CUresult cuMemsetD2D8(CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height) {
  return set_rows("cuMemsetD2D8", to, pitch, value, 1, width, height);
}
CUresult cuMemsetD2D32(CUdeviceptr to, size_t pitch, unsigned int value, size_t width, size_t height) {
  return set_rows("cuMemsetD2D32", to, pitch, value, 4, width, height);
}

}  // extern "C"
#pragma GCC visibility pop
