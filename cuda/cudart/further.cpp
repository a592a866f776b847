// The run-time API's calls that have one answer for one device, and calls that only say how fast something is to be.
#include <dlfcn.h>

#include <cstdio>
#include <cstring>
#include <set>

#include "cuda/cudart/graphs.hpp"
#include "cuda/cudart/work.hpp"

using namespace heddle::cudart;

namespace {

constexpr char kBusId[] = "0000:00:00.0";  // domain, bus and device, as its properties have them

// A function of the driver API by its name; null: there is none.
void* driver_function(const char* name) {
  static void* const library = [] {
    Dl_info info{};
    const bool found = ::dladdr(reinterpret_cast<const void*>(&driver_function), &info) != 0;
    return found ? ::dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD) : nullptr;
  }();
  if (library == nullptr || std::strncmp(name, "cu", 2) != 0 || std::strncmp(name, "cuda", 4) == 0) return nullptr;
  void* const second = ::dlsym(library, (std::string(name) + "_v2").c_str());
  return second != nullptr ? second : ::dlsym(library, name);
}

// What a launch is told besides its shape must be nothing, or something that is done or changes no result. True: the
// launch is cooperative.
bool is_cooperative(const cudaLaunchConfig_t& config) {
  if (config.numAttrs != 0) require_places(config.attrs);
  bool cooperative = false;
  for (unsigned int i = 0; i < config.numAttrs; ++i) {
    const cudaLaunchAttributeID id = config.attrs[i].id;
    if (id == cudaLaunchAttributeCooperative) cooperative = config.attrs[i].val.cooperative != 0;
    if (id == cudaLaunchAttributeClusterDimension) {
      const auto& of = config.attrs[i].val.clusterDim;
      require(of.x == 1 && of.y == 1 && of.z == 1, cudaErrorNotSupported, "a cluster is one block");
      continue;
    }
    // One after the other is what programmatic launches allow, too.
    require(id == cudaLaunchAttributeIgnore || id == cudaLaunchAttributeAccessPolicyWindow ||
                id == cudaLaunchAttributePriority || id == cudaLaunchAttributeCooperative ||
                id == cudaLaunchAttributeClusterSchedulingPolicyPreference ||
                id == cudaLaunchAttributeProgrammaticStreamSerialization,
            cudaErrorNotSupported, "kernels wait for no events of other kernels");
  }
  return cooperative;
}

void require_attribute(cudaLaunchAttributeID id) {
  require(id == cudaLaunchAttributeAccessPolicyWindow || id == cudaLaunchAttributePriority ||
              id == cudaLaunchAttributeSynchronizationPolicy,
          cudaErrorInvalidValue, "streams have no such attribute");
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

cudaError_t cudaDeviceGetPCIBusId(char* text, int size, int device) {
  return guarded("cudaDeviceGetPCIBusId", [&](Runtime&) {
    require_device(device);
    require_places(text);
    require(size > 0, cudaErrorInvalidValue, "there is no room for the text");
    std::snprintf(text, static_cast<std::size_t>(size), "%s", kBusId);
  });
}
cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* text) {
  return guarded("cudaDeviceGetByPCIBusId", [&](Runtime&) {
    require_places(device, text);
    unsigned domain = 0;
    unsigned bus = 0;
    unsigned number = 0;
    const bool whole = std::sscanf(text, "%x:%x:%x", &domain, &bus, &number) == 3;
    const bool part = !whole && std::sscanf(text, "%x:%x", &bus, &number) == 2;
    require((whole || part) && domain + bus + number == 0, cudaErrorInvalidDevice,
            "there is one device, at 0000:00:00.0");
    *device = 0;
  });
}
cudaError_t cudaInitDevice(int device, unsigned int, unsigned int) {
  return guarded("cudaInitDevice", [&](Runtime& runtime) {
    require_device(device);
    static_cast<void>(runtime.machine());
  });
}
cudaError_t cudaSetValidDevices(int* devices, int count) {
  return guarded("cudaSetValidDevices", [&](Runtime&) {
    require(count >= 0 && count <= 1, cudaErrorInvalidValue, "there is one device");
    if (count > 0) require_places(devices);
    for (int i = 0; i < count; ++i) require_device(devices[i]);
  });
}
cudaError_t cudaDeviceGetP2PAttribute(int*, cudaDeviceP2PAttr, int, int) {
  return guarded("cudaDeviceGetP2PAttribute",
                 [](Runtime&) { require(false, cudaErrorInvalidDevice, "there is one device"); });
}
cudaError_t cudaCtxResetPersistingL2Cache(void) {
  return cudaSuccess;
}
cudaError_t cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long,
                                    cudaDriverEntryPointQueryResult* result) {
  return guarded("cudaGetDriverEntryPoint", [&](Runtime&) {
    require_places(name, function);
    *function = driver_function(name);
    if (result != nullptr) {
      *result = *function != nullptr ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
    } else {
      require(*function != nullptr, cudaErrorSymbolNotFound, "the driver API here has no function of this name");
    }
  });
}

cudaError_t cudaFuncGetName(const char** name, const void* kernel) {
  return guarded("cudaFuncGetName", [&](Runtime& runtime) {
    require_places(name);
    *name = runtime.function(kernel).name.c_str();
  });
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* kernel, void** arguments) {
  return guarded("kernel launch", [&](Runtime& runtime) {
    require_places(config);
    const bool cooperative = is_cooperative(*config);
    Launch wanted =
        launch_of(runtime.function(kernel), config->gridDim, config->blockDim, arguments, config->dynamicSmemBytes);
    wanted.name = kernel;
    wanted.cooperative = cooperative;
    launch(runtime, wanted, config->stream);
  });
}

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  return guarded("cudaStreamGetId", [&](Runtime&) {
    require_places(id);
    require_stream(stream);
    *id = stream_number(stream);
  });
}
cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
  return guarded("cudaStreamGetDevice", [&](Runtime&) {
    require_places(device);
    require_stream(stream);
    *device = 0;
  });
}
// Managed memory goes to the device and back with every launch, whichever stream it is attached to.
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* pointer, size_t size, unsigned int flags) {
  return guarded("cudaStreamAttachMemAsync", [&](Runtime& runtime) {
    require_stream(stream);
    require_not_recording(stream);
    const Runtime::Region* const region = runtime.region(pointer);
    require(region != nullptr && region->managed, cudaErrorInvalidValue, "this is no managed memory");
    require(size == 0 || (size == region->size && runtime.bytes_behind(pointer) == size), cudaErrorInvalidValue,
            "managed memory is attached as a whole");
    require(flags == cudaMemAttachGlobal || flags == cudaMemAttachHost || flags == cudaMemAttachSingle,
            cudaErrorInvalidValue, "there is no such flag");
    require(flags != cudaMemAttachSingle || stream_number(stream) != 0, cudaErrorInvalidValue,
            "memory is not attached to the default stream alone");
  });
}
cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaLaunchAttributeID id,
                                   const cudaLaunchAttributeValue* value) {
  return guarded("cudaStreamSetAttribute", [&](Runtime&) {
    require_places(value);
    require_stream(stream);
    require_attribute(id);
  });
}
cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaLaunchAttributeID id, cudaLaunchAttributeValue* value) {
  return guarded("cudaStreamGetAttribute", [&](Runtime&) {
    require_places(value);
    require_stream(stream);
    require_attribute(id);
    std::memset(value, 0, sizeof *value);
  });
}
cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
  return guarded("cudaStreamCopyAttributes", [&](Runtime&) {
    require_stream(to);
    require_stream(from);
  });
}

cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* box) {
  return guarded("cudaMemcpy3DPeer", [&](Runtime& runtime) {
    require_places(box);
    require_device(box->srcDevice);
    require_device(box->dstDevice);
    transfer_3d(runtime,
                {box->srcArray, box->srcPos, box->srcPtr, box->dstArray, box->dstPos, box->dstPtr, box->extent,
                 cudaMemcpyDeviceToDevice},
                nullptr, false);
  });
}
cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* box, cudaStream_t stream) {
  return guarded("cudaMemcpy3DPeerAsync", [&](Runtime& runtime) {
    require_places(box);
    require_device(box->srcDevice);
    require_device(box->dstDevice);
    transfer_3d(runtime,
                {box->srcArray, box->srcPos, box->srcPtr, box->dstArray, box->dstPos, box->dstPtr, box->extent,
                 cudaMemcpyDeviceToDevice},
                stream, true);
  });
}

}  // extern "C"
#pragma GCC visibility pop
