// Calls that must not be made: any after a fault; some, or not by every thread, while streams record graphs. Calls that
// name a stream or an event look at that themselves (cuda/cudart/recordings.cpp).
#include <string_view>

#include "cuda/cudart/recordings.hpp"

namespace heddle::cudart {
namespace {

enum class Rule {
  unsafe,           // no stream would record it, though recorded work may depend on it: as the thread's mode says
  of_all,           // waits for all streams
  in_default,       // is work in the default stream
  waits_in_default  // is, and the host waits for it
};

struct Ruled {
  std::string_view function;
  Rule rule;
};

constexpr Ruled kRuled[] = {
    {"cudaMalloc", Rule::unsafe},
    {"cudaMallocManaged", Rule::unsafe},
    {"cudaMallocPitch", Rule::unsafe},
    {"cudaMalloc3D", Rule::unsafe},
    {"cudaMallocArray", Rule::unsafe},
    {"cudaMalloc3DArray", Rule::unsafe},
    {"cudaMallocHost", Rule::unsafe},
    {"cudaHostAlloc", Rule::unsafe},
    {"cudaHostRegister", Rule::unsafe},
    {"cudaHostUnregister", Rule::unsafe},
    {"cudaMemPoolSetAttribute", Rule::unsafe},
    {"cudaMemPoolGetAttribute", Rule::unsafe},
    {"cudaMemPoolTrimTo", Rule::unsafe},
    {"cuMemAlloc", Rule::unsafe},
    {"cuMemAllocManaged", Rule::unsafe},
    {"cuMemAllocPitch", Rule::unsafe},
    {"cuMemAllocHost", Rule::unsafe},
    {"cuMemHostAlloc", Rule::unsafe},
    {"cuModuleLoad", Rule::unsafe},
    {"cuModuleLoadData", Rule::unsafe},
    {"cuModuleLoadDataEx", Rule::unsafe},
    {"cuModuleUnload", Rule::unsafe},

    {"cudaDeviceSynchronize", Rule::of_all},
    {"cudaThreadSynchronize", Rule::of_all},
    {"cudaDeviceReset", Rule::of_all},
    {"cudaThreadExit", Rule::of_all},
    {"cuCtxSynchronize", Rule::of_all},
    {"cuDevicePrimaryCtxReset", Rule::of_all},

    {"cudaMemset", Rule::in_default},
    {"cudaMemset2D", Rule::in_default},
    {"cudaMemset3D", Rule::in_default},
    {"cuMemsetD8", Rule::in_default},
    {"cuMemsetD16", Rule::in_default},
    {"cuMemsetD32", Rule::in_default},
    {"cuMemsetD2D8", Rule::in_default},
    {"cuMemsetD2D32", Rule::in_default},

    {"cudaMemcpy", Rule::waits_in_default},
    {"cudaMemcpy2D", Rule::waits_in_default},
    {"cudaMemcpy3D", Rule::waits_in_default},
    {"cudaMemcpyPeer", Rule::waits_in_default},
    {"cudaMemcpy3DPeer", Rule::waits_in_default},
    {"cudaMemcpyToSymbol", Rule::waits_in_default},
    {"cudaMemcpyFromSymbol", Rule::waits_in_default},
    {"cudaMemcpyToArray", Rule::waits_in_default},
    {"cudaMemcpyFromArray", Rule::waits_in_default},
    {"cudaMemcpy2DToArray", Rule::waits_in_default},
    {"cudaMemcpy2DFromArray", Rule::waits_in_default},
    {"cudaMemcpy2DArrayToArray", Rule::waits_in_default},
    {"cuMemcpy", Rule::waits_in_default},
    {"cuMemcpyHtoD", Rule::waits_in_default},
    {"cuMemcpyDtoH", Rule::waits_in_default},
    {"cuMemcpyDtoD", Rule::waits_in_default},
    {"cuMemcpy2D", Rule::waits_in_default},
};

}  // namespace

void require_permitted(const char* function) {
  Runtime::instance().require_sound();
  if (!any_recording()) return;
  for (const Ruled& ruled : kRuled) {
    if (ruled.function != function) continue;
    if (ruled.rule == Rule::of_all) require_no_recording();
    if (ruled.rule == Rule::in_default || ruled.rule == Rule::waits_in_default) require_not_recording(nullptr);
    if (ruled.rule == Rule::unsafe || ruled.rule == Rule::waits_in_default) require_safe();
  }
}

}  // namespace heddle::cudart
