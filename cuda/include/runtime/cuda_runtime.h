/* What a CUDA file compiled by `heddle nvcc` sees before everything else, and what host code includes: the device
   header in CUDA files, the run-time API, and its C++ forms. */
#ifndef __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_H__

#ifdef __CUDA__
#define HEDDLE_WITH_HOST 1
#include "heddle/cuda.h"
/* nvcc's files see these without asking. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef __cplusplus
#include <initializer_list> /* what a loop over {1, 2} needs */
#include <new>
#include <utility>
#endif
#define __noinline__ __attribute__((noinline)) /* bits/shared_ptr_base.h goes with it */
#endif

#include "cuda_runtime_api.h"

/* Programs ask for the include guards of the headers that this header stands in for. */
#define __BUILTIN_TYPES_H__
#define __CHANNEL_DESCRIPTOR_H__
#define __COMMON_FUNCTIONS_H__
#define __DEVICE_FUNCTIONS_H__
#define __DEVICE_LAUNCH_PARAMETERS_H__
#define __DEVICE_TYPES_H__
#define __DRIVER_FUNCTIONS_H__
#define __MATH_FUNCTIONS_H__
#define __SURFACE_TYPES_H__
#define __VECTOR_FUNCTIONS_H__

#ifdef __cplusplus
#ifdef __CUDACC__
#include "heddle_host_math.h"
#endif
extern "C" {
/* Where host code has a __managed__ variable that its own file declares, by the variable on the host that the device's
   is registered by. */
void* __heddle_managed(const void* shadow);
/* What clang makes of kernel<<<grid, block, shared, stream>>>(...). */
unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0, void* stream = nullptr);
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream);
}

template <class T>
inline cudaError_t cudaMalloc(T** pointer, size_t size) {
  return cudaMalloc((void**)(void*)pointer, size);
}
template <class T>
inline cudaError_t cudaMallocPitch(T** pointer, size_t* pitch, size_t width, size_t height) {
  return cudaMallocPitch((void**)(void*)pointer, pitch, width, height);
}
template <class T>
inline cudaError_t cudaMallocAsync(T** pointer, size_t size, cudaStream_t stream) {
  return cudaMallocAsync((void**)(void*)pointer, size, stream);
}
template <class T>
inline cudaError_t cudaMallocAsync(T** pointer, size_t size, cudaMemPool_t pool, cudaStream_t stream) {
  return cudaMallocFromPoolAsync((void**)(void*)pointer, size, pool, stream);
}
template <class T>
inline cudaError_t cudaMallocFromPoolAsync(T** pointer, size_t size, cudaMemPool_t pool, cudaStream_t stream) {
  return cudaMallocFromPoolAsync((void**)(void*)pointer, size, pool, stream);
}
template <class T>
inline cudaError_t cudaMallocHost(T** pointer, size_t size, unsigned int = 0) {
  return cudaMallocHost((void**)(void*)pointer, size);
}
template <class T>
inline cudaError_t cudaHostAlloc(T** pointer, size_t size, unsigned int flags) {
  return cudaHostAlloc((void**)(void*)pointer, size, flags);
}
template <class T>
inline cudaError_t cudaHostGetDevicePointer(T** device, void* host, unsigned int flags) {
  return cudaHostGetDevicePointer((void**)(void*)device, host, flags);
}
template <class T>
inline cudaError_t cudaMallocManaged(T** pointer, size_t size, unsigned int flags = cudaMemAttachGlobal) {
  return cudaMallocManaged((void**)(void*)pointer, size, flags);
}
template <class T>
inline cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* from, size_t size, size_t offset = 0,
                                      cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  return cudaMemcpyToSymbol((const void*)&symbol, from, size, offset, kind);
}
template <class T>
inline cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* from, size_t size, size_t offset,
                                           cudaMemcpyKind kind, cudaStream_t stream = nullptr) {
  return cudaMemcpyToSymbolAsync((const void*)&symbol, from, size, offset, kind, stream);
}
template <class T>
inline cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, size_t size, size_t offset = 0,
                                        cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  return cudaMemcpyFromSymbol(to, (const void*)&symbol, size, offset, kind);
}
template <class T>
inline cudaError_t cudaMemcpyFromSymbolAsync(void* to, const T& symbol, size_t size, size_t offset, cudaMemcpyKind kind,
                                             cudaStream_t stream = nullptr) {
  return cudaMemcpyFromSymbolAsync(to, (const void*)&symbol, size, offset, kind, stream);
}
template <class T>
inline cudaError_t cudaGetSymbolAddress(void** pointer, const T& symbol) {
  return cudaGetSymbolAddress(pointer, (const void*)&symbol);
}
template <class T>
inline cudaError_t cudaGetSymbolSize(size_t* size, const T& symbol) {
  return cudaGetSymbolSize(size, (const void*)&symbol);
}
template <class T>
inline cudaError_t cudaLaunchKernel(T* kernel, dim3 grid, dim3 block, void** arguments, size_t shared = 0,
                                    cudaStream_t stream = nullptr) {
  return cudaLaunchKernel(reinterpret_cast<const void*>(kernel), grid, block, arguments, shared, stream);
}
template <class T>
inline cudaError_t cudaLaunchCooperativeKernel(T* kernel, dim3 grid, dim3 block, void** arguments, size_t shared = 0,
                                               cudaStream_t stream = nullptr) {
  return cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel), grid, block, arguments, shared, stream);
}
template <class T>
inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, T* kernel) {
  return cudaFuncGetAttributes(attributes, reinterpret_cast<const void*>(kernel));
}
template <class T>
inline cudaError_t cudaFuncSetAttribute(T* kernel, cudaFuncAttribute attribute, int value) {
  return cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), attribute, value);
}
template <class T>
inline cudaError_t cudaFuncSetCacheConfig(T* kernel, cudaFuncCache config) {
  return cudaFuncSetCacheConfig(reinterpret_cast<const void*>(kernel), config);
}
template <class T>
inline cudaError_t cudaFuncSetSharedMemConfig(T* kernel, cudaSharedMemConfig config) {
  return cudaFuncSetSharedMemConfig(reinterpret_cast<const void*>(kernel), config);
}
template <class T>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, T kernel, int block, size_t shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, reinterpret_cast<const void*>(kernel), block, shared);
}
/* The format of texels of a type: channels of 8, 16 or 32 bits. */
template <class T>
inline cudaChannelFormatDesc cudaCreateChannelDesc() {
  return cudaCreateChannelDesc(0, 0, 0, 0, cudaChannelFormatKindNone);
}
#define HEDDLE_FORMAT_(type, bits, count, kind)                                                          \
  template <>                                                                                            \
  inline cudaChannelFormatDesc cudaCreateChannelDesc<type>() {                                           \
    return cudaCreateChannelDesc(bits, count > 1 ? bits : 0, count > 2 ? bits : 0, count > 2 ? bits : 0, \
                                 cudaChannelFormatKind##kind);                                           \
  }
#define HEDDLE_FORMATS_(scalar, vector, bits, kind) \
  HEDDLE_FORMAT_(scalar, bits, 1, kind)             \
  HEDDLE_FORMAT_(vector##1, bits, 1, kind)          \
  HEDDLE_FORMAT_(vector##2, bits, 2, kind)          \
  HEDDLE_FORMAT_(vector##4, bits, 4, kind)
HEDDLE_FORMAT_(char, 8, 1, Signed)
HEDDLE_FORMATS_(signed char, char, 8, Signed)
HEDDLE_FORMATS_(unsigned char, uchar, 8, Unsigned)
HEDDLE_FORMATS_(short, short, 16, Signed)
HEDDLE_FORMATS_(unsigned short, ushort, 16, Unsigned)
HEDDLE_FORMATS_(int, int, 32, Signed)
HEDDLE_FORMATS_(unsigned int, uint, 32, Unsigned)
HEDDLE_FORMATS_(float, float, 32, Float)
#undef HEDDLE_FORMAT_
#undef HEDDLE_FORMATS_

#ifdef __CUDA__
#ifdef HEDDLE_REGISTERED_FILE_
/* Of a file's host code alone, so that its device code is registered. */
static __device__ __attribute__((used)) char __heddle_registered_file;
#endif

/* A __managed__ variable (cuda/compiler/source_pass.hpp) is one of the device. Host code has it at its address there,
   which is known when it is first used: each thread's reference is bound then. */
#ifdef __CUDA_ARCH__
#define HEDDLE_MANAGED_(name) using heddle_managed::name;
#define HEDDLE_MANAGED_STATIC_(name) using heddle_managed::name;
#define HEDDLE_MANAGED_EXTERN_(name) using heddle_managed::name;
#else
template <class T>
inline T& __heddle_managed_variable(T& shadow) {
  return *(T*)__heddle_managed((const void*)&shadow);
}
#define HEDDLE_MANAGED_(name) \
  thread_local decltype(heddle_managed::name)& name = __heddle_managed_variable(heddle_managed::name);
#define HEDDLE_MANAGED_STATIC_(name) static HEDDLE_MANAGED_(name)
#define HEDDLE_MANAGED_EXTERN_(name) extern thread_local decltype(heddle_managed::name)& name;
#endif

template <class T, int type, cudaTextureReadMode mode>
inline cudaError_t cudaBindTexture(size_t* offset, const texture<T, type, mode>& to, const void* pointer,
                                   const cudaChannelFormatDesc& format, size_t size = 0xffffffffU) {
  return cudaBindTexture(offset, static_cast<const textureReference*>(&to), pointer, &format, size);
}
template <class T, int type, cudaTextureReadMode mode>
inline cudaError_t cudaBindTexture(size_t* offset, const texture<T, type, mode>& to, const void* pointer,
                                   size_t size = 0xffffffffU) {
  return cudaBindTexture(offset, to, pointer, cudaCreateChannelDesc<T>(), size);
}
template <class T, int type, cudaTextureReadMode mode>
inline cudaError_t cudaBindTexture2D(size_t* offset, const texture<T, type, mode>& to, const void* pointer,
                                     const cudaChannelFormatDesc& format, size_t width, size_t height, size_t pitch) {
  return cudaBindTexture2D(offset, static_cast<const textureReference*>(&to), pointer, &format, width, height, pitch);
}
template <class T, int type, cudaTextureReadMode mode>
inline cudaError_t cudaBindTexture2D(size_t* offset, const texture<T, type, mode>& to, const void* pointer,
                                     size_t width, size_t height, size_t pitch) {
  return cudaBindTexture2D(offset, to, pointer, cudaCreateChannelDesc<T>(), width, height, pitch);
}
template <class T, int type, cudaTextureReadMode mode>
inline cudaError_t cudaBindTextureToArray(const texture<T, type, mode>& to, cudaArray_const_t array,
                                          const cudaChannelFormatDesc& format) {
  return cudaBindTextureToArray(static_cast<const textureReference*>(&to), array, &format);
}
template <class T, int type, cudaTextureReadMode mode>
inline cudaError_t cudaBindTextureToArray(const texture<T, type, mode>& to, cudaArray_const_t array) {
  return cudaBindTextureToArray(to, array, cudaCreateChannelDesc<T>());
}
template <class T, int type, cudaTextureReadMode mode>
inline cudaError_t cudaUnbindTexture(const texture<T, type, mode>& from) {
  return cudaUnbindTexture(static_cast<const textureReference*>(&from));
}
template <class T, int type, cudaTextureReadMode mode>
inline cudaError_t cudaGetTextureAlignmentOffset(size_t* offset, const texture<T, type, mode>& of) {
  return cudaGetTextureAlignmentOffset(offset, static_cast<const textureReference*>(&of));
}
template <int type>
inline cudaError_t cudaBindSurfaceToArray(const surface<void, type>& to, cudaArray_const_t array) {
  cudaChannelFormatDesc format;
  const cudaError_t error = cudaGetChannelDesc(&format, array);
  return error != cudaSuccess ? error
                              : cudaBindSurfaceToArray(static_cast<const surfaceReference*>(&to), array, &format);
}
template <int type>
inline cudaError_t cudaBindSurfaceToArray(const surface<void, type>& to, cudaArray_const_t array,
                                          const cudaChannelFormatDesc& format) {
  return cudaBindSurfaceToArray(static_cast<const surfaceReference*>(&to), array, &format);
}
#endif

/* The block size, a multiple of the warp's, of which most threads are resident; the smallest of several. */
template <class T, class Shared>
inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* grid, int* block, T kernel, Shared shared_of,
                                                                  int limit = 0) {
  cudaFuncAttributes attributes;
  int cores = 0;
  int warp = 0;
  cudaError_t error = cudaFuncGetAttributes(&attributes, kernel);
  if (error == cudaSuccess) error = cudaDeviceGetAttribute(&cores, cudaDevAttrMultiProcessorCount, 0);
  if (error == cudaSuccess) error = cudaDeviceGetAttribute(&warp, cudaDevAttrWarpSize, 0);
  if (error != cudaSuccess) return error;
  const int most = limit == 0 || limit > attributes.maxThreadsPerBlock ? attributes.maxThreadsPerBlock : limit;
  int best = 0;
  for (int size = most - most % warp; size >= warp; size -= warp) {
    int blocks = 0;
    error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, size, shared_of(size));
    if (error != cudaSuccess) return error;
    if (blocks * size > best) {
      best = blocks * size;
      *block = size;
      *grid = blocks * cores;
    }
  }
  return best == 0 ? cudaErrorInvalidConfiguration : cudaSuccess;
}
template <class T>
inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* block, T kernel, size_t shared = 0,
                                                      int limit = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMem(
      grid, block, kernel, [shared](int) { return shared; }, limit);
}
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags = 0) {
  return cudaGraphInstantiateWithFlags(executable, graph, flags);
}
template <class T>
inline cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, T* pointer, size_t size = 0,
                                            unsigned int flags = cudaMemAttachSingle) {
  return cudaStreamAttachMemAsync(stream, const_cast<void*>(static_cast<const void*>(pointer)), size, flags);
}
template <class... Parameters, class... Arguments>
inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                                      Arguments&&... arguments) {
  return [&](Parameters... as_declared) {
    void* pointers[] = {const_cast<void*>(static_cast<const void*>(&as_declared))..., nullptr};
    return cudaLaunchKernelExC(config, reinterpret_cast<const void*>(kernel), pointers);
  }(static_cast<Arguments&&>(arguments)...);
}
/* As release 13 has them. */
inline cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                    const cudaGraphEdgeData* edges, size_t count, cudaGraphNodeParams* parameters) {
  return edges != nullptr ? cudaErrorNotSupported : cudaGraphAddNode(node, graph, after, count, parameters);
}
inline cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                            unsigned long long* id, cudaGraph_t* graph, const cudaGraphNode_t** nodes,
                                            const cudaGraphEdgeData** edges, size_t* count) {
  if (edges != nullptr) *edges = nullptr;
  return cudaStreamGetCaptureInfo_v2(stream, status, id, graph, nodes, count);
}
/* A literal zero is release 11's count of nodes rather than release 13's edges, which take a conversion more. */
struct heddle_edges_ {
  const cudaGraphEdgeData* edges;
  heddle_edges_(const cudaGraphEdgeData* given) : edges(given) {}
};
inline cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* nodes, heddle_edges_ edges,
                                                       size_t count, unsigned int flags = 0) {
  return edges.edges != nullptr ? cudaErrorNotSupported
                                : cudaStreamUpdateCaptureDependencies(stream, nodes, count, flags);
}
inline cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t size, cudaMemLocation to, unsigned int,
                                        cudaStream_t stream = nullptr) {
  return cudaMemPrefetchAsync(pointer, size, to.type == cudaMemLocationTypeDevice ? to.id : cudaCpuDeviceId, stream);
}
inline cudaError_t cudaMemAdvise(const void* pointer, size_t size, cudaMemoryAdvise advice, cudaMemLocation to) {
  return cudaMemAdvise(pointer, size, advice, to.type == cudaMemLocationTypeDevice ? to.id : cudaCpuDeviceId);
}
template <class T>
inline cudaError_t cudaFuncGetName(const char** name, T* kernel) {
  return cudaFuncGetName(name, reinterpret_cast<const void*>(kernel));
}
inline cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                            unsigned long long* id, cudaGraph_t* graph,
                                            const cudaGraphNode_t** nodes = nullptr, size_t* count = nullptr) {
  return cudaStreamGetCaptureInfo_v2(stream, status, id, graph, nodes, count);
}
/* As release 12 has it. */
inline cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph,
                                       cudaGraphExecUpdateResultInfo* info) {
  info->errorFromNode = nullptr;
  return cudaGraphExecUpdate(executable, graph, &info->errorNode, &info->result);
}
inline cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned int flags) {
  return cudaEventCreateWithFlags(event, flags);
}
#endif

static __inline__ __attribute__((unused)) struct cudaExtent make_cudaExtent(size_t width, size_t height, size_t depth) {
  const struct cudaExtent extent = {width, height, depth};
  return extent;
}
static __inline__ __attribute__((unused)) struct cudaPos make_cudaPos(size_t x, size_t y, size_t z) {
  const struct cudaPos position = {x, y, z};
  return position;
}
static __inline__ __attribute__((unused)) struct cudaPitchedPtr make_cudaPitchedPtr(void* pointer, size_t pitch,
                                                                                    size_t width, size_t height) {
  const struct cudaPitchedPtr pitched = {pointer, pitch, width, height};
  return pitched;
}
#endif

#include "cuda_device_runtime_api.h"
