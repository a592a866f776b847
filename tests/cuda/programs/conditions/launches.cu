// Shapes of launches, by every way to launch: the limits in each dimension, and one beyond them. launches fault: what a
// fault leaves behind. launches driver IMAGE: by the driver API.
#include <cuda.h>

#include <cstring>

#include "rows.h"

__global__ void add(int* p) {
  if (threadIdx.x + threadIdx.y + threadIdx.z == 0) atomicAdd(p, 1);
}
__global__ void __launch_bounds__(64) bounded(int* p) {
  if (threadIdx.x == 0) atomicAdd(p, 1);
}
__global__ void stray(int* p) {
  p[1 << 20] = 1;
}
extern __shared__ int dynamic[];
__global__ void shares(int* p) {
  __shared__ int own[64];
  own[threadIdx.x] = dynamic[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(p, own[0] + dynamic[0] + 1);
}

static int* d;
static cudaStream_t s, gone;
static unsigned room;  // bytes of shared memory

struct Shape {
  int line;
  dim3 grid, block;
  size_t shared;
  cudaError_t expected;
};
constexpr cudaError_t kConfiguration = cudaErrorInvalidConfiguration;

static void each_way(const void* kernel, const Shape& shape) {
  void* arguments[] = {&d};
  const auto told = [&](const char* way, cudaError_t is, cudaError_t expected) { row(way, shape.line, is, expected); };
  int before = 0, after = 0;
  OK(cudaMemcpy(&before, d, 4, cudaMemcpyDeviceToHost));
  told("cudaLaunchKernel", cudaLaunchKernel(kernel, shape.grid, shape.block, arguments, shape.shared, s),
       shape.expected);
  told("cudaLaunchKernel", cudaLaunchKernel(kernel, shape.grid, shape.block, arguments, shape.shared, nullptr),
       shape.expected);
  cudaLaunchConfig_t config = {};
  config.gridDim = shape.grid;
  config.blockDim = shape.block;
  config.dynamicSmemBytes = shape.shared;
  config.stream = s;
  told("cudaLaunchKernelExC", cudaLaunchKernelExC(&config, kernel, arguments), shape.expected);
  OK(cudaMemcpy(&after, d, 4, cudaMemcpyDeviceToHost));
  HOLDS(shape.expected == cudaSuccess || after == before);  // none ran
  if (shape.expected != cudaSuccess) {
    const bool shared = shape.expected == cudaErrorInvalidValue;
    told("cudaLaunchCooperativeKernel",
         cudaLaunchCooperativeKernel(kernel, shape.grid, shape.block, arguments, shape.shared, s),
         shared ? cudaErrorCooperativeLaunchTooLarge : shape.expected);
  }
  cudaKernelNodeParams node = {const_cast<void*>(kernel), shape.grid, shape.block, 0, arguments, nullptr};
  node.sharedMemBytes = static_cast<unsigned>(shape.shared);
  cudaGraph_t graph;
  cudaGraphNode_t added, small;
  cudaGraphExec_t run;
  OK(cudaGraphCreate(&graph, 0));
  told("cudaGraphAddKernelNode", cudaGraphAddKernelNode(&added, graph, nullptr, 0, &node), shape.expected);
  cudaGraphNodeParams any = {};
  any.type = cudaGraphNodeTypeKernel;
  any.kernel = node;
  told("cudaGraphAddNode", cudaGraphAddNode(&added, graph, nullptr, 0, &any), shape.expected);
  cudaKernelNodeParams one = {const_cast<void*>(kernel), dim3(1), dim3(1), 0, arguments, nullptr};
  OK(cudaGraphAddKernelNode(&small, graph, nullptr, 0, &one));
  OK(cudaGraphInstantiateWithFlags(&run, graph, 0));
  told("cudaGraphExecKernelNodeSetParams", cudaGraphExecKernelNodeSetParams(run, small, &node), shape.expected);
  told("cudaGraphKernelNodeSetParams", cudaGraphKernelNodeSetParams(small, &node), shape.expected);
  OK(cudaGraphExecDestroy(run));
  OK(cudaGraphDestroy(graph));
  OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  told("launch into a graph", cudaLaunchKernel(kernel, shape.grid, shape.block, arguments, shape.shared, s),
       shape.expected);
  OK(cudaStreamEndCapture(s, &graph));
  OK(cudaGraphDestroy(graph));
  OK(cudaDeviceSynchronize());
}

static void shapes() {
  constexpr unsigned kX = 0x7fffffff, kYZ = 65535, kWhole = 0xffffffff;
  const Shape all[] = {
      {__LINE__, dim3(1), dim3(1), 0, cudaSuccess},
      {__LINE__, dim3(0), dim3(1), 0, kConfiguration},
      {__LINE__, dim3(1, 0), dim3(1), 0, kConfiguration},
      {__LINE__, dim3(1, 1, 0), dim3(1), 0, kConfiguration},
      {__LINE__, dim3(1), dim3(0), 0, kConfiguration},
      {__LINE__, dim3(1), dim3(1, 0), 0, kConfiguration},
      {__LINE__, dim3(1), dim3(1, 1, 0), 0, kConfiguration},
      {__LINE__, dim3(1), dim3(1024), 0, cudaSuccess},
      {__LINE__, dim3(1), dim3(1025), 0, kConfiguration},
      {__LINE__, dim3(1), dim3(1, 1024), 0, cudaSuccess},
      {__LINE__, dim3(1), dim3(1, 1025), 0, kConfiguration},
      {__LINE__, dim3(1), dim3(1, 1, 64), 0, cudaSuccess},
      {__LINE__, dim3(1), dim3(1, 1, 65), 0, kConfiguration},
      {__LINE__, dim3(1), dim3(16, 1, 64), 0, cudaSuccess},
      {__LINE__, dim3(1), dim3(17, 1, 64), 0, kConfiguration},
      {__LINE__, dim3(1), dim3(32, 33), 0, kConfiguration},
      {__LINE__, dim3(1), dim3(65536, 65536, 65536), 0, kConfiguration},  // in 32 bits: 0
      {__LINE__, dim3(1), dim3(kWhole, kWhole, kWhole), 0, kConfiguration},
      {__LINE__, dim3(1, 300), dim3(1), 0, cudaSuccess},
      {__LINE__, dim3(kX + 1), dim3(1), 0, kConfiguration},
      {__LINE__, dim3(kWhole), dim3(1), 0, kConfiguration},
      {__LINE__, dim3(1, kYZ + 1), dim3(1), 0, kConfiguration},
      {__LINE__, dim3(1, 1, kYZ + 1), dim3(1), 0, kConfiguration},
      {__LINE__, dim3(1), dim3(1), room, cudaSuccess},
      {__LINE__, dim3(1), dim3(1), room + 1, cudaErrorInvalidValue},
      {__LINE__, dim3(1), dim3(1), 1U << 31, cudaErrorInvalidValue},
  };
  for (const Shape& shape : all) each_way((const void*)add, shape);
  each_way((const void*)shares, {__LINE__, dim3(1), dim3(64), room - 256, cudaSuccess});
  each_way((const void*)shares, {__LINE__, dim3(1), dim3(64), room - 255, cudaErrorInvalidValue});
  each_way((const void*)bounded, {__LINE__, dim3(1), dim3(64), 0, cudaSuccess});
  each_way((const void*)bounded, {__LINE__, dim3(1), dim3(65), 0, cudaErrorLaunchOutOfResources});
}

static void kernels() {
  void* arguments[] = {&d};
  const void* const none = &rows;
  const char* name = nullptr;
  int blocks = 0;
  size_t bytes = 0;
  cudaFuncAttributes attributes;
  const cudaError_t kFunction = cudaErrorInvalidDeviceFunction, kValue = cudaErrorInvalidValue;
  ROW(kFunction, cudaLaunchKernel(none, dim3(1), dim3(1), arguments, 0, s));
  ROW(kFunction, cudaLaunchKernel(nullptr, dim3(1), dim3(1), arguments, 0, s));
  ROW(kFunction, cudaLaunchCooperativeKernel(none, dim3(1), dim3(1), arguments, 0, s));
  ROW(kFunction, cudaFuncGetAttributes(&attributes, none));
  ROW(kFunction, cudaFuncGetName(&name, none));
  ROW(kFunction, cudaFuncSetAttribute(none, cudaFuncAttributeMaxDynamicSharedMemorySize, 8));
  ROW(kFunction, cudaFuncSetCacheConfig(none, cudaFuncCachePreferL1));
  ROW(kFunction, cudaFuncSetSharedMemConfig(none, cudaSharedMemBankSizeFourByte));
  ROW(kFunction, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, none, 32, 0));
  ROW(kFunction, cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, none, 1, 32));
  ROW(cudaErrorInvalidResourceHandle, cudaLaunchKernel((const void*)add, dim3(1), dim3(1), arguments, 0, gone));
  ROW(cudaErrorInvalidResourceHandle,
      cudaLaunchCooperativeKernel((const void*)add, dim3(1), dim3(1), arguments, 0, gone));
  const auto set = [](int attribute, int value) {
    return cudaFuncSetAttribute((const void*)shares, static_cast<cudaFuncAttribute>(attribute), value);
  };
  ROW(kValue, set(-1, 1));
  ROW(kValue, set(cudaFuncAttributeMaxDynamicSharedMemorySize, -1));
  ROW(kValue, set(cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(room - 255)));
  OK(set(cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(room - 256)));
  ROW(kValue, set(cudaFuncAttributePreferredSharedMemoryCarveout, -2));
  ROW(kValue, set(cudaFuncAttributePreferredSharedMemoryCarveout, 101));
  OK(cudaFuncGetAttributes(&attributes, (const void*)shares));
  HOLDS(attributes.preferredShmemCarveout == -1);
  OK(set(cudaFuncAttributePreferredSharedMemoryCarveout, 50));
  OK(cudaFuncGetAttributes(&attributes, (const void*)shares));
  HOLDS(attributes.preferredShmemCarveout == 50);
  OK(set(cudaFuncAttributeMaxDynamicSharedMemorySize, 256));
  OK(cudaFuncGetAttributes(&attributes, (const void*)shares));
  HOLDS(attributes.maxDynamicSharedSizeBytes == 256);
  OK(cudaLaunchKernel((const void*)shares, dim3(1), dim3(64), arguments, 256, s));
  ROW(kValue, cudaLaunchKernel((const void*)shares, dim3(1), dim3(64), arguments, 257, s));
  OK(set(cudaFuncAttributeMaxDynamicSharedMemorySize, 512));
  OK(cudaLaunchKernel((const void*)shares, dim3(1), dim3(64), arguments, 512, s));
  ROW(kValue, cudaFuncSetCacheConfig((const void*)add, static_cast<cudaFuncCache>(4)));
  ROW(kValue, cudaFuncSetSharedMemConfig((const void*)add, static_cast<cudaSharedMemConfig>(-1)));
  OK(cudaFuncSetCacheConfig((const void*)add, cudaFuncCachePreferShared));
  ROW(kValue, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (const void*)add, 0, 0));
  ROW(kValue, cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, (const void*)add, 32, 0, 2));
  ROW(kValue, cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, (const void*)add, 0, 32));
  ROW(kValue, cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, (const void*)add, 1, 0));
  // As many blocks as are resident at once, and one more.
  cudaDeviceProp properties;
  OK(cudaGetDeviceProperties(&properties, 0));
  HOLDS(properties.maxThreadsDim[2] == 64 && properties.maxGridSize[0] == 0x7fffffff &&
        properties.maxGridSize[1] == 65535);
  if (properties.cooperativeLaunch != 0) {
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (const void*)add, 1024, 0));
    const unsigned most = blocks * properties.multiProcessorCount;
    OK(cudaLaunchCooperativeKernel((const void*)add, dim3(most), dim3(1024), arguments, 0, s));
    ROW(cudaErrorCooperativeLaunchTooLarge,
        cudaLaunchCooperativeKernel((const void*)add, dim3(most + 1), dim3(1024), arguments, 0, s));
    cudaLaunchAttribute cooperative = {};
    cooperative.id = cudaLaunchAttributeCooperative;
    cooperative.val.cooperative = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(most + 1);
    config.blockDim = dim3(1024);
    config.attrs = &cooperative;
    config.numAttrs = 1;
    ROW(cudaErrorCooperativeLaunchTooLarge, cudaLaunchKernelExC(&config, (const void*)add, arguments));
  }
  OK(cudaDeviceSynchronize());
}

static int driver(const char* image) {
  CUmodule module;
  CUfunction function;
  int* p = d;
  void* arguments[] = {&p};
  const auto is = [](int line, CUresult result, CUresult expected) {
    ++rows;
    if (result == expected && cudaPeekAtLastError() == cudaSuccess) return;
    ++wrong;
    std::printf("line %d: %d, expected %d; last error %d\n", line, result, expected, cudaGetLastError());
  };
  is(__LINE__, cuInit(0), CUDA_SUCCESS);
  is(__LINE__, cuModuleLoad(&module, image), CUDA_SUCCESS);
  is(__LINE__, cuModuleGetFunction(&function, module, "_Z3addPi"), CUDA_SUCCESS);
  const unsigned beyond[][7] = {{0, 1, 1, 1, 1, 1, 0},     {1, 0, 1, 1, 1, 1, 0},           {1, 1, 0, 1, 1, 1, 0},
                                {1, 1, 1, 0, 1, 1, 0},     {1, 1, 1, 1, 0, 1, 0},           {1, 1, 1, 1, 1, 0, 0},
                                {1, 1, 1, 1025, 1, 1, 0},  {1, 1, 1, 1, 1025, 1, 0},        {1, 1, 1, 1, 1, 65, 0},
                                {1, 1, 1, 17, 1, 64, 0},   {0x80000000U, 1, 1, 1, 1, 1, 0}, {1, 65536, 1, 1, 1, 1, 0},
                                {1, 1, 65536, 1, 1, 1, 0}, {1, 1, 1, 1, 1, 1, room + 1}};
  for (const auto& b : beyond) {
    is(__LINE__, cuLaunchKernel(function, b[0], b[1], b[2], b[3], b[4], b[5], b[6], s, arguments, nullptr),
       CUDA_ERROR_INVALID_VALUE);
  }
  is(__LINE__, cuLaunchKernel(function, 1, 1, 1, 1, 1, 64, 0, s, arguments, nullptr), CUDA_SUCCESS);
  is(__LINE__, cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, gone, arguments, nullptr), CUDA_ERROR_INVALID_HANDLE);
  is(__LINE__, cuStreamSynchronize(gone), CUDA_ERROR_INVALID_HANDLE);
  // While a stream records.
  cudaGraph_t graph;
  CUdeviceptr made;
  OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  is(__LINE__, cuMemAlloc(&made, 4), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  is(__LINE__, cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, s, arguments, nullptr),
     CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  is(__LINE__, cuMemsetD8(reinterpret_cast<CUdeviceptr>(d), 0, 4), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  is(__LINE__, cuCtxSynchronize(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  ROW(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(s, &graph));
  return finish();
}

// After a fault every call tells of it, and cudaGetLastError does not take it away.
static int fault() {
  stray<<<1, 1, 0, s>>>(d);
  OK(cudaGetLastError());
  const auto tells = [](int line, cudaError_t is) {
    ++rows;
    if (is == cudaErrorIllegalAddress) return;
    ++wrong;
    std::printf("line %d: %d\n", line, is);
  };
  void* made;
  cudaGraph_t graph;
  cudaEvent_t event;
  tells(__LINE__, cudaDeviceSynchronize());
  tells(__LINE__, cudaGetLastError());
  tells(__LINE__, cudaGetLastError());
  tells(__LINE__, cudaPeekAtLastError());
  tells(__LINE__, cudaMalloc(&made, 4));
  tells(__LINE__, cudaMallocHost(&made, 4));
  tells(__LINE__, cudaFree(d));
  tells(__LINE__, cudaMemcpy(d, &made, 4, cudaMemcpyHostToDevice));
  tells(__LINE__, cudaStreamSynchronize(s));
  tells(__LINE__, cudaStreamQuery(s));
  tells(__LINE__, cudaGraphCreate(&graph, 0));
  tells(__LINE__, cudaEventCreate(&event));
  tells(__LINE__, cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  tells(__LINE__, cudaDeviceReset());
  add<<<1, 1>>>(d);
  tells(__LINE__, cudaGetLastError());
  return finish();
}

int main(int words, char** word) {
  OK(cudaMalloc(&d, 4));
  OK(cudaMemset(d, 0, 4));
  OK(cudaStreamCreate(&s));
  OK(cudaStreamCreate(&gone));
  OK(cudaStreamDestroy(gone));
  int bytes = 0;
  OK(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlock, 0));
  room = static_cast<unsigned>(bytes);
  if (words > 1 && std::strcmp(word[1], "fault") == 0) return fault();
  if (words > 2) return driver(word[2]);
  shapes();
  kernels();
  return finish();
}
