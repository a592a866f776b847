// What programs for NVIDIA's compiler have in them that clang alone does not take; each part prints what it found.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdio>

#if !defined(__DRIVER_TYPES_H__) || !defined(__CUDA_RUNTIME_H__) || !defined(__CUDA_RUNTIME_API_H__) || \
    !defined(__VECTOR_TYPES_H__) || !defined(__VECTOR_FUNCTIONS_H__) || !defined(__DEVICE_TYPES_H__) || \
    !defined(__cuda_cuda_h__) || !defined(CUDA_H) || !defined(__HOST_DEFINES_H__) || !defined(__TEXTURE_TYPES_H__)
#error "an include guard of CUDA's headers is missing"
#endif
#if CUDART_VERSION != 11050 || CUDA_VERSION != 11050 || __CUDA_API_VERSION != 11050 || __CUDACC_VER_MAJOR__ != 11
#error "another release"
#endif

__global__ void twice(int* p) {
  p[threadIdx.x] *= 2;
}
#include "spaced.cuh"

// An overload that is never called decides.
struct yes {
  char c;
};
struct no {
  char c[2];
};
template <class T>
__host__ __device__ yes probe(typename T::type*);
template <class T>
__host__ __device__ no probe(...) {
  return {};
}
struct has_type {
  using type = int;
};

#define UNIT " cells"
texture<unsigned short, 2, cudaReadModeElementType> of_shorts;
texture<uchar4, 1, cudaReadModeNormalizedFloat> of_pixels;

__device__ __managed__ int total = 3;
static __managed__ float weights[4] = {0.5f, 1, 2, 4}, *cursor;
__managed__ unsigned long long untouched{7};

__global__ void everything(int* p, const unsigned short* narrow, uchar4* wide, const __grid_constant__ int number) {
  register int v = p[threadIdx.x];
  unsigned lane;
  asm volatile("mov.u32 %0, %laneid;" : "=r"(lane));
  uchar4 c = {narrow[0], narrow[1], narrow[2], narrow[3]};
  wide[threadIdx.x] = c;
  p[threadIdx.x] = v + static_cast<int>(lane) + number + static_cast<int>(sizeof(probe<has_type>(nullptr))) * 100 +
                   static_cast<int>(sizeof(probe<int>(nullptr))) * 1000;
}
__global__ void weigh(const float* from) {
  if (threadIdx.x == 0) total += static_cast<int>(from[3]);
  if (threadIdx.x < 4) weights[threadIdx.x] *= 10;
}
__global__ void scale(int* p) {
  p[threadIdx.x] *= 3;
}
__constant__ int factor[3];  // host code has it as a text alone
__global__ void by_factor(int* p) {
  p[threadIdx.x] = threadIdx.x == 5 ? p[4] * factor[0] : p[threadIdx.x];
}
__global__ void never(float* p, cudaTextureObject_t o, cudaSurfaceObject_t s) {  // names that are there, and refused
  p[0] = tex2DLayered<float>(o, 1, 2, 3) + texCubemap<float>(o, 1, 2, 3) + tex3D<float>(o, 1, 2, 3);
  surf3Dwrite(1.0f, s, 0, 0, 0);
}

int main() {
  // Launches and shifts.
  int h[32];
  const int* read_only = nullptr;
  cudaMalloc(&read_only, sizeof h);
  int* d = const_cast<int*>(read_only);
  for (int i = 0; i < 32; ++i) h[i] = i;
  cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
  // clang-format off
  twice << <1, 64 >> 1 >> >(d);
  add<int, 2> << <dim3(1), 32, sizeof(int) << 2>> > (d, 100);
  TWICE(d, 32);
  cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
  std::printf("launches " "<< <1>> >" ": %d" UNIT "\n", h[5]);  // 420
  std::puts("a"UNIT);
  // clang-format on

  unsigned short* narrow = nullptr;
  uchar4* wide = nullptr;
  const unsigned short narrow_of[4] = {1, 2, 3, 4};
  cudaMalloc(&narrow, sizeof narrow_of);
  cudaMemcpy(narrow, narrow_of, sizeof narrow_of, cudaMemcpyHostToDevice);
  cudaMalloc(&wide, 32 * sizeof(uchar4));
  cudaMemset(d, 0, sizeof h);
  everything<<<1, 32>>>(d, narrow, wide, 40000);
  cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
  std::printf("kernel: %d\n", h[7]);  // 42107

  // Managed variables: a pointer to one is good on both sides.
  total += 1;
  weigh<<<1, 32>>>(weights);
  cudaDeviceSynchronize();
  cursor = weights + 1;
  std::printf("managed: %d %g %g %llu\n", total, *cursor, weights[3], untouched);  // 8 10 40 7
  const int fresh = 100;
  cudaMemcpyToSymbol(total, &fresh, sizeof fresh);
  weigh<<<1, 32>>>(weights);
  cudaDeviceSynchronize();
  std::printf("by symbol: %d\n", total);  // 140

  // Symbols by their names as texts, as CUDA took them before release 5.
  const int factor = 7;
  const char* const none = "no_factor";
  const char* const sentence = "a factor";
  cudaMemcpyToSymbol("factor", &factor, sizeof factor);
  twice<<<1, 32>>>(d);
  by_factor<<<1, 32>>>(d);
  cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
  size_t bytes = 0;
  std::printf("by text: %d", h[5] / h[4]);  // 7
  std::printf(" %s", cudaGetErrorName(cudaGetSymbolSize(&bytes, "factor")));
  std::printf(" %zu %s", bytes, cudaGetErrorName(cudaGetSymbolSize(&bytes, static_cast<const void*>(none))));
  std::printf(" %s\n", cudaGetErrorName(cudaGetSymbolSize(&bytes, static_cast<const void*>(sentence))));

  // A texture reference has its type's format from the start.
  std::printf("channels: %d %d %d\n", of_shorts.channelDesc.x, of_shorts.channelDesc.y, of_pixels.channelDesc.w);
  cudaArray_t array = nullptr;
  std::printf("array: %s\n", cudaGetErrorName(cudaMallocArray(&array, &of_shorts.channelDesc, 8, 4)));

  // Host memory that kernels reach by a pointer of their own.
  static int own[40];
  for (int i = 0; i < 40; ++i) own[i] = i;
  int* there = nullptr;
  cudaHostRegister(own, sizeof own, cudaHostRegisterMapped);
  cudaHostGetDevicePointer(&there, own + 8, 0);
  scale<<<1, 32>>>(there);
  cudaDeviceSynchronize();
  std::printf("registered: %d %d %s\n", own[7], own[8], cudaGetErrorName(cudaHostUnregister(own)));  // 7 24
  own[0] = 5;
  scale<<<1, 32>>>(d);
  std::printf("unregistered: %s\n", cudaGetErrorName(cudaHostGetDevicePointer(&there, own, 0)));

  // What is refused by code.
  cudaGraph_t graph = nullptr;
  cudaGraphConditionalHandle handle = 0;
  cudaGraphNodeParams conditional = {cudaGraphNodeTypeConditional};
  conditional.conditional.type = cudaGraphCondTypeWhile;
  cudaGraphNode_t node = nullptr;
  cudaGraphCreate(&graph, 0);
  std::printf("conditional: %s", cudaGetErrorName(cudaGraphConditionalHandleCreate(&handle, graph)));
  std::printf(" %s\n", cudaGetErrorName(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &conditional)));
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusActive;
  const cudaGraphEdgeData* edges = nullptr;
  size_t count = 0;
  const cudaGraphNode_t* nodes = nullptr;
  cudaStreamGetCaptureInfo(cudaStreamPerThread, &status, nullptr, &graph, &nodes, &edges, &count);
  std::printf("capture: %d\n", status);
  cudaMemLocation host = {cudaMemLocationTypeHost, 0};
  std::printf("release 13: %s %s\n", cudaGetErrorName(cudaMemPrefetchAsync(&total, sizeof total, host, 0)),
              cudaGetErrorName(cudaMemAdvise(weights, sizeof weights, cudaMemAdviseSetReadMostly, host)));
  cudaIpcMemHandle_t shared_with_others;
  std::printf("other processes: %s\n", cudaGetErrorName(cudaIpcGetMemHandle(&shared_with_others, d)));
  size_t limit = 0;
  CUctxCreateParams parameters = {};
  CUcontext context = nullptr;
  cuInit(0);
  std::printf("names: %d %d %d\n", cuCtxCreate(&context, &parameters, 0, 0), CU_COMPUTEMODE_PROHIBITED,
              cudaDeviceGetLimit(&limit, cudaLimitPersistingL2CacheSize) == cudaSuccess);
}
