// Null pointers, pointers to nothing and handles that are none, in each argument of each function: what the function
// says. A row has a function, a letter for each of its pointers and handles, and arguments with which it would succeed.
// Long: one table of rows by group of functions, each of which uses what the groups before have made.
#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <set>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "device.hpp"
#include "rows.hpp"

// Counts as tried the functions that have no pointer and no handle, or are tried elsewhere below.
static void others() {
  for (const char* const name : {"cudaSetDevice",
                                 "cudaDeviceSynchronize",
                                 "cudaThreadSynchronize",
                                 "cudaDeviceReset",
                                 "cudaThreadExit",
                                 "cudaSetDeviceFlags",
                                 "cudaDeviceSetCacheConfig",
                                 "cudaDeviceSetSharedMemConfig",
                                 "cudaDeviceSetLimit",
                                 "cudaDeviceEnablePeerAccess",
                                 "cudaDeviceDisablePeerAccess",
                                 "cudaProfilerStart",
                                 "cudaProfilerStop",
                                 "cudaGetLastError",
                                 "cudaPeekAtLastError",
                                 "cudaGetErrorString",
                                 "cudaGetErrorName",
                                 "cudaInitDevice",
                                 "cudaCtxResetPersistingL2Cache",
                                 "cudaCreateChannelDesc",
                                 "cudaDeviceGraphMemTrim",
                                 "cudaMemset3D",
                                 "cudaMemset3DAsync",
                                 "cudaDestroyTextureObject",
                                 "cudaDestroySurfaceObject"}) {
    names.insert(name);
  }
}

static cudaStream_t stream;
static cudaEvent_t event, recorded;
static char* device;
static char host[4096];
static cudaArray_t array;
static cudaGraph_t graph;
static cudaGraphExec_t executable;
static cudaGraphNode_t kernel_node, copy_node, fill_node, host_node, child_node, record_node, wait_node, alloc_node,
    free_node, empty_node;
static cudaKernelNodeParams kernel_parameters;
static int* kernel_pointer;
static int kernel_index;
static void* kernel_arguments[2] = {&kernel_pointer, &kernel_index};

static void made(cudaError_t error, const char* what) {
  expect(error, cudaSuccess, what);
}
static void nothing(void*) {}
static void nothing_back(cudaStream_t, cudaError_t, void*) {}

static void devices() {
  int number = 0;
  int least = 0;
  unsigned flags = 0;
  size_t size = 0;
  char text[32] = "0000:00:00.0";
  cudaDeviceProp properties{};
  cudaFuncCache cache{};
  cudaSharedMemConfig banks{};
  void* function = nullptr;
  cudaDriverEntryPointQueryResult result{};
  ROW(cudaGetDeviceCount, "v", &number);
  ROW(cudaGetDevice, "v", &number);
  ROW(cudaGetDeviceProperties, "v", &properties, 0);
  ROW(cudaDeviceGetAttribute, "v", &number, cudaDevAttrWarpSize, 0);
  ROW(cudaDeviceGetPCIBusId, "v", text, 32, 0);
  ROW(cudaDeviceGetByPCIBusId, "vv", &number, "0000:00:00.0");
  ROW(cudaSetValidDevices, "v", &number, 1);
  ROW(cudaDeviceGetP2PAttribute, "d", &number, cudaDevP2PAttrPerformanceRank, 0, 0);
  ROW(cudaGetDriverEntryPoint, "vvo", "cuInit", &function, 0, &result);
  ROW(cudaChooseDevice, "vv", &number, &properties);
  ROW(cudaGetDeviceFlags, "v", &flags);
  ROW(cudaDeviceGetCacheConfig, "v", &cache);
  ROW(cudaDeviceGetSharedMemConfig, "v", &banks);
  ROW(cudaDeviceGetLimit, "v", &size, cudaLimitMallocHeapSize);
  ROW(cudaDeviceGetStreamPriorityRange, "oo", &number, &least);
  ROW(cudaDeviceCanAccessPeer, "v", &number, 0, 0);
  ROW(cudaDriverGetVersion, "v", &number);
  ROW(cudaRuntimeGetVersion, "v", &number);
}

static void memory() {
  void* pointer = nullptr;
  size_t size = 0;
  unsigned flags = 0;
  cudaPitchedPtr pitched{};
  cudaPointerAttributes attributes{};
  cudaMemcpy3DPeerParms peers{};
  cudaMemcpy3DParms box{};
  const auto to = cudaMemcpyHostToDevice;
  const auto from = cudaMemcpyDeviceToHost;
  char* const managed = static_cast<char*>([] {
    void* made_here = nullptr;
    made(cudaMallocManaged(&made_here, 64, cudaMemAttachGlobal), "managed memory");
    return made_here;
  }());
  ROW(cudaMalloc, "v", &pointer, 64);
  ROW(cudaMallocPitch, "vv", &pointer, &size, 64, 4);
  ROW(cudaMalloc3D, "v", &pitched, cudaExtent{64, 4, 1});
  ROW(cudaMallocAsync, "vs", &pointer, 64, stream);
  ROW(cudaFree, "f", nullptr);
  ROW(cudaFreeAsync, "vs", nullptr, nullptr);
  ROW(cudaMallocHost, "v", &pointer, 64);
  ROW(cudaHostAlloc, "v", &pointer, 64, 0);
  ROW(cudaFreeHost, "f", nullptr);
  ROW(cudaHostRegister, "v", host, 64, 0);
  cudaHostUnregister(host);
  cudaGetLastError();
  names.insert("cudaHostUnregister");
  expect(cudaHostUnregister(nullptr), cudaErrorInvalidValue, "cudaHostUnregister of null");
  ROW(cudaHostGetDevicePointer, "vv", &pointer, managed, 0);
  ROW(cudaMallocManaged, "v", &pointer, 64, cudaMemAttachGlobal);
  ROW(cudaMemPrefetchAsync, "vs", managed, 64, 0, stream);
  ROW(cudaMemAdvise, "v", managed, 64, cudaMemAdviseSetReadMostly, 0);
  ROW(cudaMemGetInfo, "vv", &size, &size);
  ROW(cudaPointerGetAttributes, "vo", &attributes, device);
  ROW(cudaMemcpy, "vv", device, host, 64, to);
  ROW(cudaMemcpyAsync, "vvs", device, host, 64, to, stream);
  row("cudaMemcpy back", cudaMemcpy, "vv", host, device, 64, from);
  ROW(cudaMemcpyPeer, "vv", device, 0, device + 256, 0, 64);
  ROW(cudaMemcpyPeerAsync, "vvs", device, 0, device + 256, 0, 64, stream);
  ROW(cudaMemcpy2D, "vv", device, 64, host, 64, 32, 4, to);
  ROW(cudaMemcpy2DAsync, "vvs", device, 64, host, 64, 32, 4, to, stream);
  ROW(cudaMemcpyToSymbol, "yv", symbol(), host, 16, 0, to);
  ROW(cudaMemcpyToSymbolAsync, "yvs", symbol(), host, 16, 0, to, stream);
  ROW(cudaMemcpyFromSymbol, "vy", host, symbol(), 16, 0, from);
  ROW(cudaMemcpyFromSymbolAsync, "vys", host, symbol(), 16, 0, from, stream);
  ROW(cudaGetSymbolAddress, "vy", &pointer, symbol());
  ROW(cudaGetSymbolSize, "vy", &size, symbol());
  box.srcPtr = {host, 64, 64, 4};
  box.dstPtr = {device, 64, 64, 4};
  box.extent = {64, 4, 1};
  box.kind = to;
  ROW(cudaMemcpy3D, "v", &box);
  ROW(cudaMemcpy3DAsync, "vs", &box, stream);
  peers.srcPtr = peers.dstPtr = {device, 64, 64, 1};
  peers.extent = {64, 1, 1};
  ROW(cudaMemcpy3DPeer, "v", &peers);
  ROW(cudaMemcpy3DPeerAsync, "vs", &peers, stream);
  for (cudaPitchedPtr* const side : {&box.srcPtr, &box.dstPtr}) {
    const cudaPitchedPtr kept = *side;
    side->ptr = nullptr;
    expect(cudaMemcpy3D(&box), cudaErrorInvalidValue, "cudaMemcpy3D with a null side");
    *side = kept;
  }
  box.srcArray = reinterpret_cast<cudaArray_t>(0x99);
  expect(cudaMemcpy3D(&box), cudaErrorInvalidValue, "cudaMemcpy3D of no array");
  ROW(cudaHostGetFlags, "vv", &flags, managed);
  ROW(cudaMemset, "v", device, 0, 64);
  ROW(cudaMemsetAsync, "vs", device, 0, 64, stream);
  ROW(cudaMemset2D, "v", device, 64, 0, 64, 4);
  ROW(cudaMemset2DAsync, "vs", device, 64, 0, 64, 4, stream);
  expect(cudaMemset3D({nullptr, 64, 64, 4}, 0, {64, 4, 1}), cudaErrorInvalidValue, "cudaMemset3D of null");
  expect(cudaMemset3DAsync({device, 64, 64, 4}, 0, {64, 4, 1}, reinterpret_cast<cudaStream_t>(0x99)),
         cudaErrorInvalidResourceHandle, "cudaMemset3DAsync in no stream");
}

static void pools() {
  cudaMemPool_t pool = nullptr;
  void* pointer = nullptr;
  std::uint64_t value = 0;
  cudaMemAccessFlags flags{};
  cudaMemLocation location{cudaMemLocationTypeDevice, 0};
  const cudaMemAccessDesc access{{cudaMemLocationTypeDevice, 0}, cudaMemAccessFlagsProtReadWrite};
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = location;
  made(cudaMemPoolCreate(&pool, &properties), "a pool");
  cudaMemPool_t out = nullptr;
  ROW(cudaMemPoolCreate, "vv", &out, &properties);
  ROW(cudaMallocFromPoolAsync, "v-s", &pointer, 64, pool, stream);
  expect(cudaMallocFromPoolAsync(&pointer, 64, reinterpret_cast<cudaMemPool_t>(0x99), stream), cudaErrorInvalidValue,
         "cudaMallocFromPoolAsync of no pool");
  ROW(cudaDeviceGetDefaultMemPool, "v", &out, 0);
  ROW(cudaDeviceGetMemPool, "v", &out, 0);
  ROW(cudaDeviceSetMemPool, "v", 0, pool);
  ROW(cudaMemPoolTrimTo, "v", pool, 0);
  ROW(cudaMemPoolSetAttribute, "vv", pool, cudaMemPoolAttrReleaseThreshold, &value);
  ROW(cudaMemPoolGetAttribute, "vv", pool, cudaMemPoolAttrReleaseThreshold, &value);
  ROW(cudaMemPoolSetAccess, "vv", pool, &access, 1);
  ROW(cudaMemPoolGetAccess, "vvv", &flags, pool, &location);
  made(cudaMemPoolDestroy(pool), "cudaMemPoolDestroy");
  ROW(cudaMemPoolDestroy, "v", pool);
  expect(cudaMemPoolDestroy(pool), cudaErrorInvalidValue, "cudaMemPoolDestroy a second time");
  expect(cudaMemPoolTrimTo(pool, 0), cudaErrorInvalidValue, "a pool that is gone");
}

static void arrays_and_textures() {
  cudaArray_t other = nullptr;
  cudaChannelFormatDesc format = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindSigned);
  cudaExtent extent{};
  unsigned flags = 0;
  size_t offset = 0;
  const auto to = cudaMemcpyHostToDevice;
  const auto from = cudaMemcpyDeviceToHost;
  made(cudaMallocArray(&array, &format, 16, 4, cudaArraySurfaceLoadStore), "an array");
  ROW(cudaMallocArray, "vc", &other, &format, 16, 4, 0);
  ROW(cudaMalloc3DArray, "vc", &other, &format, cudaExtent{16, 4, 0}, 0);
  ROW(cudaArrayGetInfo, "ooov", &format, &extent, &flags, array);
  ROW(cudaGetChannelDesc, "vv", &format, array);
  ROW(cudaMemcpyToArray, "vv", array, 0, 0, host, 64, to);
  ROW(cudaMemcpyFromArray, "vv", host, array, 0, 0, 64, from);
  ROW(cudaMemcpyToArrayAsync, "vvs", array, 0, 0, host, 64, to, stream);
  ROW(cudaMemcpyFromArrayAsync, "vvs", host, array, 0, 0, 64, from, stream);
  ROW(cudaMemcpy2DToArray, "vv", array, 0, 0, host, 64, 64, 4, to);
  ROW(cudaMemcpy2DFromArray, "vv", host, 64, array, 0, 0, 64, 4, from);
  ROW(cudaMemcpy2DToArrayAsync, "vvs", array, 0, 0, host, 64, 64, 4, to, stream);
  ROW(cudaMemcpy2DFromArrayAsync, "vvs", host, 64, array, 0, 0, 64, 4, from, stream);
  ROW(cudaMemcpy2DArrayToArray, "vv", array, 0, 0, array, 0, 2, 64, 2, cudaMemcpyDeviceToDevice);
  const textureReference* texture = texture_reference();
  const surfaceReference* surface = surface_reference();
  ROW(cudaBindTexture, "otvc", &offset, texture, device, &format, 64);
  ROW(cudaBindTexture2D, "otvc", &offset, texture, device, &format, 16, 4, 64);
  ROW(cudaBindTextureToArray, "tvo", texture, array, &format);
  made(cudaBindTexture(&offset, texture, device, &format, 64), "a texture");
  ROW(cudaGetTextureAlignmentOffset, "vt", &offset, texture);
  ROW(cudaUnbindTexture, "t", texture);
  ROW(cudaGetTextureReference, "vt", &texture, texture);
  ROW(cudaBindSurfaceToArray, "tvo", surface, array, &format);
  ROW(cudaGetSurfaceReference, "vt", &surface, surface);
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc sampling{};
  cudaTextureObject_t sampled = 0;
  cudaTextureObject_t out = 0;
  cudaSurfaceObject_t stored = 0;
  made(cudaCreateTextureObject(&sampled, &resource, &sampling, nullptr), "a texture object");
  made(cudaCreateSurfaceObject(&stored, &resource), "a surface object");
  ROW(cudaCreateTextureObject, "vvvo", &out, &resource, &sampling, nullptr);
  ROW(cudaCreateSurfaceObject, "vv", &out, &resource);
  ROW(cudaGetTextureObjectResourceDesc, "v", &resource, sampled);
  ROW(cudaGetTextureObjectTextureDesc, "v", &sampling, sampled);
  ROW(cudaGetSurfaceObjectResourceDesc, "v", &resource, stored);
  for (const cudaTextureObject_t none :
       {cudaTextureObject_t{0}, cudaTextureObject_t{0x99}, cudaTextureObject_t{stored}}) {
    expect(cudaDestroyTextureObject(none), cudaErrorInvalidValue, "cudaDestroyTextureObject of none");
    expect(cudaGetTextureObjectResourceDesc(&resource, none), cudaErrorInvalidValue, "of no texture");
    expect(cudaGetTextureObjectTextureDesc(&sampling, none), cudaErrorInvalidValue, "of no texture");
  }
  for (const cudaSurfaceObject_t none :
       {cudaSurfaceObject_t{0}, cudaSurfaceObject_t{0x99}, cudaSurfaceObject_t{sampled}}) {
    expect(cudaDestroySurfaceObject(none), cudaErrorInvalidValue, "cudaDestroySurfaceObject of none");
    expect(cudaGetSurfaceObjectResourceDesc(&resource, none), cudaErrorInvalidValue, "of no surface");
  }
  made(cudaDestroyTextureObject(sampled), "cudaDestroyTextureObject");
  expect(cudaDestroyTextureObject(sampled), cudaErrorInvalidValue, "cudaDestroyTextureObject a second time");
  made(cudaDestroySurfaceObject(stored), "cudaDestroySurfaceObject");
  expect(cudaDestroySurfaceObject(stored), cudaErrorInvalidValue, "cudaDestroySurfaceObject a second time");
  cudaArray_t gone = nullptr;
  made(cudaMallocArray(&gone, &format, 16, 4, 0), "an array");
  made(cudaFreeArray(gone), "cudaFreeArray");
  ROW(cudaFreeArray, "f", nullptr);
  expect(cudaFreeArray(gone), cudaErrorInvalidValue, "cudaFreeArray a second time");
  resource.res.array.array = gone;
  expect(cudaCreateTextureObject(&out, &resource, &sampling, nullptr), cudaErrorInvalidValue,
         "of an array that is gone");
}

static void streams_and_events() {
  cudaStream_t other = nullptr;
  cudaEvent_t another = nullptr;
  int number = 0;
  unsigned flags = 0;
  unsigned long long id = 0;
  float time = 0;
  cudaLaunchAttributeValue value{};
  ROW(cudaStreamCreate, "v", &other);
  ROW(cudaStreamCreateWithFlags, "v", &other, 0);
  ROW(cudaStreamCreateWithPriority, "v", &other, 0, 0);
  ROW(cudaStreamSynchronize, "s", stream);
  ROW(cudaStreamQuery, "s", stream);
  ROW(cudaStreamWaitEvent, "sh", stream, recorded, 0);
  ROW(cudaStreamAddCallback, "s-o", stream, nothing_back, nullptr, 0);
  expect(cudaStreamAddCallback(stream, nullptr, nullptr, 0), cudaErrorInvalidValue, "cudaStreamAddCallback of none");
  ROW(cudaLaunchHostFunc, "s-o", stream, nothing, nullptr);
  expect(cudaLaunchHostFunc(stream, nullptr, nullptr), cudaErrorInvalidValue, "cudaLaunchHostFunc of no function");
  ROW(cudaStreamGetFlags, "sv", stream, &flags);
  ROW(cudaStreamGetPriority, "sv", stream, &number);
  ROW(cudaStreamGetId, "sv", stream, &id);
  ROW(cudaStreamGetDevice, "sv", stream, &number);
  void* managed = nullptr;
  made(cudaMallocManaged(&managed, 64, cudaMemAttachGlobal), "managed memory");
  ROW(cudaStreamAttachMemAsync, "sv", stream, managed, 0, cudaMemAttachSingle);
  ROW(cudaStreamSetAttribute, "sv", stream, cudaLaunchAttributePriority, &value);
  ROW(cudaStreamGetAttribute, "sv", stream, cudaLaunchAttributePriority, &value);
  ROW(cudaStreamCopyAttributes, "ss", stream, stream);
  ROW(cudaEventCreate, "v", &another);
  ROW(cudaEventCreateWithFlags, "v", &another, 0);
  ROW(cudaEventRecord, "hs", event, stream);
  ROW(cudaEventRecordWithFlags, "hs", event, stream, 0);
  ROW(cudaEventSynchronize, "h", recorded);
  ROW(cudaEventQuery, "h", recorded);
  ROW(cudaEventElapsedTime, "vhh", &time, recorded, recorded);
  ROW(cudaStreamDestroy, "h", stream);
  ROW(cudaEventDestroy, "h", event);
}

static void kernels() {
  cudaFuncAttributes attributes{};
  int number = 0;
  size_t size = 0;
  const char* name = nullptr;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(1);
  config.blockDim = dim3(1);
  config.stream = stream;
  ROW(cudaLaunchKernel, "kvs", kernel(), dim3(1), dim3(1), kernel_arguments, 0, stream);
  ROW(cudaLaunchCooperativeKernel, "kvs", kernel(), dim3(1), dim3(1), kernel_arguments, 0, stream);
  ROW(cudaLaunchKernelExC, "vkv", &config, kernel(), kernel_arguments);
  void* half[] = {&kernel_pointer, nullptr};
  expect(cudaLaunchKernel(kernel(), dim3(1), dim3(1), half, 0, nullptr), cudaErrorInvalidValue, "an argument of null");
  config.numAttrs = 1;
  expect(cudaLaunchKernelExC(&config, kernel(), kernel_arguments), cudaErrorInvalidValue, "attributes of null");
  ROW(cudaFuncGetName, "vk", &name, kernel());
  ROW(cudaFuncGetAttributes, "vk", &attributes, kernel());
  ROW(cudaFuncSetAttribute, "k", kernel(), cudaFuncAttributePreferredSharedMemoryCarveout, 0);
  ROW(cudaFuncSetCacheConfig, "k", kernel(), cudaFuncCachePreferL1);
  ROW(cudaFuncSetSharedMemConfig, "k", kernel(), cudaSharedMemBankSizeFourByte);
  ROW(cudaOccupancyMaxActiveBlocksPerMultiprocessor, "vk", &number, kernel(), 32, 0);
  ROW(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, "vk", &number, kernel(), 32, 0, 0);
  ROW(cudaOccupancyAvailableDynamicSMemPerBlock, "vk", &size, kernel(), 1, 32);
}

static cudaGraphNodeParams any_node() {
  cudaGraphNodeParams parameters{};
  parameters.type = cudaGraphNodeTypeHost;
  parameters.host = {nothing, nullptr};
  return parameters;
}

static void graphs() {
  cudaGraphNode_t node = nullptr;
  cudaGraph_t other = nullptr;
  cudaMemcpy3DParms box{};
  box.srcPtr = {host, 64, 64, 1};
  box.dstPtr = {device, 64, 64, 1};
  box.extent = {64, 1, 1};
  box.kind = cudaMemcpyHostToDevice;
  cudaMemsetParams fill{device, 64, 0, 1, 64, 1};
  cudaHostNodeParams calls{nothing, nullptr};
  cudaMemAllocNodeParams memory{};
  memory.bytesize = 64;
  memory.poolProps.allocType = cudaMemAllocationTypePinned;
  memory.poolProps.location = {cudaMemLocationTypeDevice, 0};
  cudaMemAllocNodeParams further = memory;
  cudaGraph_t with_memory = nullptr;  // which cannot be cloned
  kernel_parameters = {const_cast<void*>(kernel()), dim3(1), dim3(1), 0, kernel_arguments, nullptr};
  cudaGraphNodeParams parameters = any_node();
  cudaGraph_t child = nullptr;
  const auto to = cudaMemcpyHostToDevice;
  made(cudaGraphCreate(&graph, 0), "a graph");
  made(cudaGraphCreate(&child, 0), "a graph");
  made(cudaGraphAddEmptyNode(&empty_node, graph, nullptr, 0), "a node");
  made(cudaGraphAddKernelNode(&kernel_node, graph, nullptr, 0, &kernel_parameters), "a node");
  made(cudaGraphAddMemcpyNode(&copy_node, graph, nullptr, 0, &box), "a node");
  made(cudaGraphAddMemsetNode(&fill_node, graph, nullptr, 0, &fill), "a node");
  made(cudaGraphAddHostNode(&host_node, graph, nullptr, 0, &calls), "a node");
  made(cudaGraphAddChildGraphNode(&child_node, graph, nullptr, 0, child), "a node");
  made(cudaGraphAddEventRecordNode(&record_node, graph, nullptr, 0, event), "a node");
  made(cudaGraphAddEventWaitNode(&wait_node, graph, nullptr, 0, event), "a node");
  made(cudaGraphCreate(&with_memory, 0), "a graph");
  made(cudaGraphAddMemAllocNode(&alloc_node, with_memory, nullptr, 0, &memory), "a node");
  made(cudaGraphAddMemFreeNode(&free_node, with_memory, &alloc_node, 1, memory.dptr), "a node");
  made(cudaGraphAddMemAllocNode(&node, with_memory, nullptr, 0, &further), "a node");
  made(cudaGraphInstantiate(&executable, graph, nullptr, nullptr, 0), "a graph to be launched");

  ROW(cudaGraphCreate, "v", &other, 0);
  ROW(cudaGraphClone, "vv", &other, graph);
  made(cudaGraphClone(&other, graph), "a clone");
  ROW(cudaGraphNodeFindInClone, "vvv", &node, empty_node, other);
  ROW(cudaGraphAddNode, "vvov", &node, graph, nullptr, 0, &parameters);
  ROW(cudaGraphAddKernelNode, "vvov", &node, graph, nullptr, 0, &kernel_parameters);
  ROW(cudaGraphAddMemcpyNode, "vvov", &node, graph, nullptr, 0, &box);
  ROW(cudaGraphAddMemcpyNode1D, "vvo--", &node, graph, nullptr, 0, device, host, 64, to);
  ROW(cudaGraphAddMemcpyNodeToSymbol, "vvoy-", &node, graph, nullptr, 0, symbol(), host, 16, 0, to);
  ROW(cudaGraphAddMemcpyNodeFromSymbol, "vvo-y", &node, graph, nullptr, 0, host, symbol(), 16, 0,
      cudaMemcpyDeviceToHost);
  expect(cudaGraphAddMemcpyNode1D(&node, graph, nullptr, 0, nullptr, host, 64, to), cudaErrorInvalidValue, "to null");
  expect(cudaGraphAddMemcpyNode1D(&node, graph, nullptr, 0, device, nullptr, 64, to), cudaErrorInvalidValue, "of null");
  ROW(cudaGraphAddMemsetNode, "vvov", &node, graph, nullptr, 0, &fill);
  ROW(cudaGraphAddHostNode, "vvov", &node, graph, nullptr, 0, &calls);
  ROW(cudaGraphAddEmptyNode, "vvo", &node, graph, nullptr, 0);
  ROW(cudaGraphAddChildGraphNode, "vvov", &node, graph, nullptr, 0, child);
  ROW(cudaGraphAddEventRecordNode, "vvoe", &node, graph, nullptr, 0, event);
  ROW(cudaGraphAddEventWaitNode, "vvoe", &node, graph, nullptr, 0, event);
  ROW(cudaGraphAddMemAllocNode, "vvov", &node, with_memory, nullptr, 0, &memory);
  ROW(cudaGraphAddMemFreeNode, "vvov", &node, with_memory, nullptr, 0, further.dptr);
  row("cudaGraphAddEmptyNode behind one", cudaGraphAddEmptyNode, "vvv", &node, graph, &empty_node, 1);
  const cudaGraphNode_t none = reinterpret_cast<cudaGraphNode_t>(0x99);
  const cudaGraphNode_t stranger = [&] {
    cudaGraphNode_t out = nullptr;
    made(cudaGraphAddEmptyNode(&out, child, nullptr, 0), "a node");
    return out;
  }();
  for (const cudaGraphNode_t bad : {cudaGraphNode_t{}, none, stranger, reinterpret_cast<cudaGraphNode_t>(graph)}) {
    expect(cudaGraphAddEmptyNode(&node, graph, &bad, 1), cudaErrorInvalidValue, "behind no node of the graph");
    expect(cudaGraphAddDependencies(graph, &bad, &empty_node, 1), cudaErrorInvalidValue, "from no node");
    expect(cudaGraphAddDependencies(graph, &empty_node, &bad, 1), cudaErrorInvalidValue, "to no node");
    expect(cudaGraphRemoveDependencies(graph, &bad, &empty_node, 1), cudaErrorInvalidValue, "from no node");
    expect(cudaGraphRemoveDependencies(graph, &empty_node, &bad, 1), cudaErrorInvalidValue, "to no node");
  }
  size_t count = 0;
  cudaGraphNodeType type{};
  cudaEvent_t taken = nullptr;
  unsigned enabled = 0;
  unsigned long long flags = 0;
  void* freed = nullptr;
  std::uint64_t value = 0;
  ROW(cudaGraphAddDependencies, "vvv", graph, &empty_node, &kernel_node, 1);
  ROW(cudaGraphRemoveDependencies, "vvv", graph, &empty_node, &copy_node, 1);
  ROW(cudaGraphGetNodes, "vov", graph, nullptr, &count);
  ROW(cudaGraphGetRootNodes, "vov", graph, nullptr, &count);
  ROW(cudaGraphGetEdges, "voov", graph, nullptr, nullptr, &count);
  ROW(cudaGraphNodeGetType, "vv", empty_node, &type);
  ROW(cudaGraphNodeGetDependencies, "vov", free_node, nullptr, &count);
  ROW(cudaGraphNodeGetDependentNodes, "vov", alloc_node, nullptr, &count);
  ROW(cudaGraphDebugDotPrint, "vv", graph, "/dev/null", 0);
  ROW(cudaGraphNodeSetParams, "vv", host_node, &parameters);
  cudaKernelNodeParams got_kernel{};
  ROW(cudaGraphKernelNodeGetParams, "vv", kernel_node, &got_kernel);
  ROW(cudaGraphKernelNodeSetParams, "vv", kernel_node, &kernel_parameters);
  ROW(cudaGraphMemcpyNodeGetParams, "vv", copy_node, &box);
  ROW(cudaGraphMemcpyNodeSetParams, "vv", copy_node, &box);
  ROW(cudaGraphMemcpyNodeSetParams1D, "v--", copy_node, device, host, 64, to);
  ROW(cudaGraphMemcpyNodeSetParamsToSymbol, "vy-", copy_node, symbol(), host, 16, 0, to);
  ROW(cudaGraphMemcpyNodeSetParamsFromSymbol, "v-y", copy_node, host, symbol(), 16, 0, cudaMemcpyDeviceToHost);
  ROW(cudaGraphMemsetNodeGetParams, "vv", fill_node, &fill);
  ROW(cudaGraphMemsetNodeSetParams, "vv", fill_node, &fill);
  ROW(cudaGraphHostNodeGetParams, "vv", host_node, &calls);
  ROW(cudaGraphHostNodeSetParams, "vv", host_node, &calls);
  ROW(cudaGraphChildGraphNodeGetGraph, "vv", child_node, &other);
  ROW(cudaGraphEventRecordNodeGetEvent, "vv", record_node, &taken);
  ROW(cudaGraphEventRecordNodeSetEvent, "ve", record_node, event);
  ROW(cudaGraphEventWaitNodeGetEvent, "vv", wait_node, &taken);
  ROW(cudaGraphEventWaitNodeSetEvent, "ve", wait_node, event);
  ROW(cudaGraphMemAllocNodeGetParams, "vv", alloc_node, &memory);
  ROW(cudaGraphMemFreeNodeGetParams, "vv", free_node, &freed);
  ROW(cudaDeviceGetGraphMemAttribute, "v", 0, cudaGraphMemAttrUsedMemHigh, &value);
  ROW(cudaDeviceSetGraphMemAttribute, "v", 0, cudaGraphMemAttrUsedMemHigh, &value);
  // A node of another kind.
  expect(cudaGraphKernelNodeGetParams(copy_node, &got_kernel), cudaErrorInvalidValue, "a copy is no kernel");
  expect(cudaGraphMemsetNodeSetParams(host_node, &fill), cudaErrorInvalidValue, "a call is no fill");

  cudaGraphExec_t launched = nullptr;
  cudaGraphInstantiateParams how{};
  cudaGraphNode_t bad = nullptr;
  cudaGraphExecUpdateResult result{};
  ROW(cudaGraphInstantiate, "vvooo", &launched, graph, nullptr, nullptr, 0);
  ROW(cudaGraphInstantiateWithFlags, "vv", &launched, graph, 0);
  ROW(cudaGraphInstantiateWithParams, "vvv", &launched, graph, &how);
  ROW(cudaGraphExecGetFlags, "vv", executable, &flags);
  ROW(cudaGraphUpload, "vs", executable, stream);
  ROW(cudaGraphLaunch, "vs", executable, stream);
  ROW(cudaGraphExecUpdate, "vv--", executable, graph, &bad, &result);
  ROW(cudaGraphExecNodeSetParams, "vvv", executable, host_node, &parameters);
  ROW(cudaGraphExecKernelNodeSetParams, "vvv", executable, kernel_node, &kernel_parameters);
  ROW(cudaGraphExecMemcpyNodeSetParams, "vvv", executable, copy_node, &box);
  ROW(cudaGraphExecMemcpyNodeSetParams1D, "vv--", executable, copy_node, device, host, 64, to);
  ROW(cudaGraphExecMemcpyNodeSetParamsToSymbol, "vvy-", executable, copy_node, symbol(), host, 16, 0, to);
  ROW(cudaGraphExecMemcpyNodeSetParamsFromSymbol, "vv-y", executable, copy_node, host, symbol(), 16, 0,
      cudaMemcpyDeviceToHost);
  ROW(cudaGraphExecMemsetNodeSetParams, "vvv", executable, fill_node, &fill);
  ROW(cudaGraphExecHostNodeSetParams, "vvv", executable, host_node, &calls);
  ROW(cudaGraphExecChildGraphNodeSetParams, "vvv", executable, child_node, child);
  ROW(cudaGraphExecEventRecordNodeSetEvent, "vve", executable, record_node, event);
  ROW(cudaGraphExecEventWaitNodeSetEvent, "vve", executable, wait_node, event);
  ROW(cudaGraphNodeSetEnabled, "vv", executable, kernel_node, 1);
  ROW(cudaGraphNodeGetEnabled, "vvv", executable, kernel_node, &enabled);

  // Streams that record.
  cudaStreamCaptureStatus status{};
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  cudaStream_t records = nullptr;
  made(cudaStreamCreate(&records), "a stream");
  ROW(cudaStreamIsCapturing, "sv", records, &status);
  ROW(cudaStreamGetCaptureInfo, "svo", records, &status, nullptr);
  ROW(cudaStreamGetCaptureInfo_v2, "svoooo", records, &status, nullptr, nullptr, nullptr, nullptr);
  names.insert({"cudaStreamBeginCapture", "cudaStreamEndCapture", "cudaStreamUpdateCaptureDependencies"});
  const auto no_stream = reinterpret_cast<cudaStream_t>(0x99);
  expect(cudaStreamBeginCapture(no_stream, mode), cudaErrorInvalidResourceHandle, "cudaStreamBeginCapture");
  expect(cudaStreamEndCapture(no_stream, &other), cudaErrorInvalidResourceHandle, "cudaStreamEndCapture");
  ROW(cudaStreamBeginCaptureToGraph, "-vv-", records, graph, &none, nullptr, 1, mode);
  expect(cudaStreamBeginCaptureToGraph(records, graph, &stranger, nullptr, 1, mode), cudaErrorInvalidValue, "stranger");
  expect(cudaStreamUpdateCaptureDependencies(no_stream, nullptr, 0, 0), cudaErrorInvalidResourceHandle, "no stream");
  made(cudaStreamBeginCapture(records, mode), "cudaStreamBeginCapture");
  cudaGraphNode_t given[] = {none};
  expect(cudaStreamUpdateCaptureDependencies(records, nullptr, 1, 0), cudaErrorInvalidValue, "null nodes");
  expect(cudaStreamUpdateCaptureDependencies(records, given, 1, 0), cudaErrorInvalidValue, "no nodes");
  expect(cudaStreamEndCapture(records, nullptr), cudaErrorInvalidValue, "cudaStreamEndCapture into null");
  made(cudaStreamEndCapture(records, &other), "cudaStreamEndCapture");
  ROW(cudaThreadExchangeStreamCaptureMode, "v", &mode);

  // Objects of other kinds, and what is gone.
  const auto as_exec = reinterpret_cast<cudaGraphExec_t>(graph);
  const auto as_graph = reinterpret_cast<cudaGraph_t>(executable);
  expect(cudaGraphLaunch(as_exec, stream), cudaErrorInvalidValue, "a graph is not to be launched");
  expect(cudaGraphExecDestroy(as_exec), cudaErrorInvalidValue, "cudaGraphExecDestroy of a graph");
  expect(cudaGraphDestroy(as_graph), cudaErrorInvalidValue, "cudaGraphDestroy of a graph to be launched");
  expect(cudaGraphDestroy(reinterpret_cast<cudaGraph_t>(empty_node)), cudaErrorInvalidValue, "of a node");
  expect(cudaGraphDestroyNode(reinterpret_cast<cudaGraphNode_t>(graph)), cudaErrorInvalidValue, "of a graph");
  expect(cudaEventRecord(reinterpret_cast<cudaEvent_t>(stream), nullptr), cudaErrorInvalidResourceHandle, "a stream");
  expect(cudaStreamSynchronize(reinterpret_cast<cudaStream_t>(event)), cudaErrorInvalidResourceHandle, "an event");
  cudaGraph_t within = nullptr;
  made(cudaGraphChildGraphNodeGetGraph(child_node, &within), "a child");
  expect(cudaGraphDestroy(within), cudaErrorInvalidValue, "cudaGraphDestroy of a node's own graph");
  ROW(cudaGraphDestroyNode, "v", empty_node);
  made(cudaGraphDestroyNode(empty_node), "cudaGraphDestroyNode");
  expect(cudaGraphDestroyNode(empty_node), cudaErrorInvalidValue, "cudaGraphDestroyNode a second time");
  expect(cudaGraphNodeGetType(empty_node, &type), cudaErrorInvalidValue, "a node that is gone");
  ROW(cudaGraphDestroy, "v", graph);
  made(cudaGraphDestroy(graph), "cudaGraphDestroy");
  expect(cudaGraphDestroy(graph), cudaErrorInvalidValue, "cudaGraphDestroy a second time");
  expect(cudaGraphNodeGetType(kernel_node, &type), cudaErrorInvalidValue, "a node of a graph that is gone");
  expect(cudaGraphInstantiate(&launched, graph, nullptr, nullptr, 0), cudaErrorInvalidValue, "a graph that is gone");
  ROW(cudaGraphExecDestroy, "v", executable);
  made(cudaGraphExecDestroy(executable), "cudaGraphExecDestroy");
  expect(cudaGraphExecDestroy(executable), cudaErrorInvalidValue, "cudaGraphExecDestroy a second time");
  expect(cudaGraphLaunch(executable, stream), cudaErrorInvalidValue, "a graph to be launched that is gone");
}

int main() {
  others();
  made(cudaMalloc(reinterpret_cast<void**>(&device), 4096), "memory");
  made(cudaMalloc(reinterpret_cast<void**>(&kernel_pointer), 4096), "memory");
  made(cudaStreamCreate(&stream), "a stream");
  made(cudaEventCreate(&event), "an event");
  made(cudaEventCreate(&recorded), "an event");
  made(cudaEventRecord(recorded, nullptr), "a record");
  devices();
  memory();
  pools();
  arrays_and_textures();
  kernels();
  streams_and_events();
  graphs();
  // What is destroyed twice.
  made(cudaStreamDestroy(stream), "cudaStreamDestroy");
  expect(cudaStreamDestroy(stream), cudaErrorInvalidResourceHandle, "cudaStreamDestroy a second time");
  expect(cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle, "a stream that is gone");
  made(cudaEventDestroy(event), "cudaEventDestroy");
  expect(cudaEventDestroy(event), cudaErrorInvalidResourceHandle, "cudaEventDestroy a second time");
  expect(cudaEventRecord(event, nullptr), cudaErrorInvalidResourceHandle, "an event that is gone");
  made(cudaFree(device), "cudaFree");
  expect(cudaFree(device), cudaErrorInvalidValue, "cudaFree a second time");
  made(cudaDeviceSynchronize(), "the end");
  for (const std::string& name : names) std::printf("%s\n", name.c_str());
  std::printf(failures == 0 ? "PASSED\n" : "FAILED\n");
}
