// Functions that programs name and that are refused by code, so that the programs compile, and go on where they ask for
// the code.
#include "tb/cudart/runtime.hpp"

namespace {

cudaError_t refuse(const char* function, const char* why) {
  return heddle::cudart::guarded(function, [&](heddle::cudart::Runtime&) {
    throw heddle::cudart::Failure{cudaErrorNotSupported, why};
  });
}

constexpr const char* kNoMipmaps = "there are no mipmapped arrays";

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

}  // extern "C"
#pragma GCC visibility pop
