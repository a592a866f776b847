// The driver API's links of device code. One text is linked with nothing: what comes out is that text.
#include <cstring>
#include <memory>
#include <optional>

#include "cuda/cudart/driver.hpp"

struct CUlinkState_st {
  std::optional<std::string> ptx;
  heddle::cudart::Living<CUlinkState_st> living{this};
};

using namespace heddle::cudart;

namespace {

CUlinkState_st& known_link(CUlinkState state) {
  require(state != nullptr, cudaErrorInvalidResourceHandle, "the link is null");
  require(Living<CUlinkState_st>::has(state), cudaErrorInvalidResourceHandle, "there is no such link");
  return *state;
}

void add_to_link(Runtime& runtime, CUlinkState_st& link, CUjitInputType type, const std::string& image) {
  if (type != CU_JIT_INPUT_PTX && type != CU_JIT_INPUT_FATBINARY) {
    throw Result{CUDA_ERROR_NOT_SUPPORTED, "a link takes PTX, as a text or in a fat binary"};
  }
  if (link.ptx) {
    throw Result{CUDA_ERROR_NOT_SUPPORTED,
                 "a link takes one text: load each as a module of its own, or link them by heddle nvcc -rdc=true"};
  }
  link.ptx = ptx_in(image, runtime.machine().architecture);
}

CUresult refuse_mapping(const char* name) {
  return driver(name, [](Runtime&) {
    throw Result{CUDA_ERROR_NOT_SUPPORTED,
                 "programs cannot map memory themselves here: cuMemAlloc gives it with its address"};
  });
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

CUresult cuLinkCreate(unsigned int count, CUjit_option* options, void** values, CUlinkState* state) {
  return in_context("cuLinkCreate", [&](Runtime&) {
    require_places(state);
    tell(count, options, values, CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, "");
    tell(count, options, values, CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, "");
    *state = std::make_unique<CUlinkState_st>().release();
  });
}
CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void* data, size_t size, const char*, unsigned int,
                       CUjit_option*, void**) {
  return in_context("cuLinkAddData", [&](Runtime& runtime) {
    CUlinkState_st& link = known_link(state);
    require_places(data);
    require(size != 0, cudaErrorInvalidValue, "the data are empty");
    add_to_link(runtime, link, type, std::string(static_cast<const char*>(data), size));
  });
}
CUresult cuLinkAddFile(CUlinkState state, CUjitInputType type, const char* file, unsigned int, CUjit_option*, void**) {
  return in_context("cuLinkAddFile", [&](Runtime& runtime) {
    CUlinkState_st& link = known_link(state);
    require_places(file);
    add_to_link(runtime, link, type, file_of_code(file));
  });
}
// The image lives as long as the link.
CUresult cuLinkComplete(CUlinkState state, void** image, size_t* size) {
  return in_context("cuLinkComplete", [&](Runtime&) {
    CUlinkState_st& link = known_link(state);
    require_places(image);
    require(link.ptx.has_value(), cudaErrorInvalidValue, "nothing was added to the link");
    *image = link.ptx->data();
    if (size != nullptr) *size = link.ptx->size() + 1;
  });
}
CUresult cuLinkDestroy(CUlinkState state) {
  return in_context("cuLinkDestroy", [&](Runtime&) { delete &known_link(state); });
}

CUresult cuMemAddressReserve(CUdeviceptr*, size_t, size_t, CUdeviceptr, unsigned long long) {
  return refuse_mapping("cuMemAddressReserve");
}
CUresult cuMemAddressFree(CUdeviceptr, size_t) {
  return refuse_mapping("cuMemAddressFree");
}
CUresult cuMemCreate(CUmemGenericAllocationHandle*, size_t, const CUmemAllocationProp*, unsigned long long) {
  return refuse_mapping("cuMemCreate");
}
CUresult cuMemRelease(CUmemGenericAllocationHandle) {
  return refuse_mapping("cuMemRelease");
}
CUresult cuMemMap(CUdeviceptr, size_t, size_t, CUmemGenericAllocationHandle, unsigned long long) {
  return refuse_mapping("cuMemMap");
}
CUresult cuMemUnmap(CUdeviceptr, size_t) {
  return refuse_mapping("cuMemUnmap");
}
CUresult cuMemSetAccess(CUdeviceptr, size_t, const CUmemAccessDesc*, size_t) {
  return refuse_mapping("cuMemSetAccess");
}
CUresult cuMemGetAllocationGranularity(size_t*, const CUmemAllocationProp*, CUmemAllocationGranularity_flags) {
  return refuse_mapping("cuMemGetAllocationGranularity");
}
CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp*, CUmemGenericAllocationHandle) {
  return refuse_mapping("cuMemGetAllocationPropertiesFromHandle");
}
CUresult cuMemExportToShareableHandle(void*, CUmemGenericAllocationHandle, CUmemAllocationHandleType,
                                      unsigned long long) {
  return refuse_mapping("cuMemExportToShareableHandle");
}
CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle*, void*, CUmemAllocationHandleType) {
  return refuse_mapping("cuMemImportFromShareableHandle");
}

}  // extern "C"
#pragma GCC visibility pop
