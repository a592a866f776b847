// Functions that programs name and that are refused by code, so that the programs compile, and go on where they ask for
// the code.
#include "cuda/cudart/runtime.hpp"

namespace {

cudaError_t refuse(const char* function, const char* why) {
  return heddle::cudart::guarded(function, [&](heddle::cudart::Runtime&) {
    throw heddle::cudart::Failure{cudaErrorNotSupported, why};
  });
}

constexpr const char* kNoMipmaps = "there are no mipmapped arrays";
constexpr const char* kOneProcess = "the device has one process";

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle*, cudaGraph_t, unsigned int, unsigned int) {
  return refuse("cudaGraphConditionalHandleCreate", "there are no conditional nodes");
}
cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t*, const cudaChannelFormatDesc*, cudaExtent, unsigned int,
                                     unsigned int) {
  return refuse("cudaMallocMipmappedArray", kNoMipmaps);
}
cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t*, cudaMipmappedArray_const_t, unsigned int) {
  return refuse("cudaGetMipmappedArrayLevel", kNoMipmaps);
}
cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t) {
  return refuse("cudaFreeMipmappedArray", kNoMipmaps);
}

cudaError_t cudaMemPoolExportToShareableHandle(void*, cudaMemPool_t, cudaMemAllocationHandleType, unsigned int) {
  return refuse("cudaMemPoolExportToShareableHandle", kOneProcess);
}
cudaError_t cudaMemPoolImportFromShareableHandle(cudaMemPool_t*, void*, cudaMemAllocationHandleType, unsigned int) {
  return refuse("cudaMemPoolImportFromShareableHandle", kOneProcess);
}
cudaError_t cudaMemPoolExportPointer(cudaMemPoolPtrExportData*, void*) {
  return refuse("cudaMemPoolExportPointer", kOneProcess);
}
cudaError_t cudaMemPoolImportPointer(void**, cudaMemPool_t, cudaMemPoolPtrExportData*) {
  return refuse("cudaMemPoolImportPointer", kOneProcess);
}
cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t*, void*) {
  return refuse("cudaIpcGetMemHandle", kOneProcess);
}
cudaError_t cudaIpcOpenMemHandle(void**, cudaIpcMemHandle_t, unsigned int) {
  return refuse("cudaIpcOpenMemHandle", kOneProcess);
}
cudaError_t cudaIpcCloseMemHandle(void*) {
  return refuse("cudaIpcCloseMemHandle", kOneProcess);
}
cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t*, cudaEvent_t) {
  return refuse("cudaIpcGetEventHandle", kOneProcess);
}
cudaError_t cudaIpcOpenEventHandle(cudaEvent_t*, cudaIpcEventHandle_t) {
  return refuse("cudaIpcOpenEventHandle", kOneProcess);
}

}  // extern "C"
#pragma GCC visibility pop
