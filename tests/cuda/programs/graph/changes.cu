// Graphs that are changed: nodes taken out, given other work, left out, updated from another graph; memory, events and
// graphs within graphs; branches side by side. changes [FILE] writes one as a drawing.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "../common/expect.h"

constexpr int kCount = 64;
constexpr size_t kBytes = kCount * sizeof(int);

__device__ int table[kCount];

__global__ void add(int* v, int value) {
  v[threadIdx.x] += value;
}
__global__ void scale(int* v, int by) {
  v[threadIdx.x] *= by;
}
__global__ void from_table(int* v) {
  v[threadIdx.x] += table[threadIdx.x];
}
__global__ void spin(int* v, int rounds) {
  int x = threadIdx.x;
  for (int i = 0; i < rounds; ++i) x = x * 1664525 + 1013904223;
  v[threadIdx.x] = x;
}

static void count_call(void* data) {
  ++*static_cast<int*>(data);
}

static cudaKernelNodeParams kernel(void (*function)(int*, int), void** arguments) {
  cudaKernelNodeParams parameters = {};
  parameters.func = (void*)function;
  parameters.gridDim = dim3(1);
  parameters.blockDim = dim3(kCount);
  parameters.kernelParams = arguments;
  return parameters;
}

// What the graph leaves in `v`: all numbers the same.
static int launched(cudaGraphExec_t run, const int* v) {
  std::vector<int> result(kCount);
  CHECK(cudaGraphLaunch(run, 0));
  CHECK(cudaMemcpy(result.data(), v, kBytes, cudaMemcpyDeviceToHost));
  for (const int x : result) EXPECT(x == result[0]);
  return result[0];
}

// fill 10 -> add 5 -> scale 3, and what becomes of it.
static void parameters(int* v, const char* file) {
  cudaGraph_t graph;
  cudaGraphNode_t fill, plus, times, copy;
  cudaMemsetParams to = {v, 0, 10, 4, kCount, 1};
  int five = 5, three = 3;
  void* plus_arguments[] = {&v, &five};
  void* times_arguments[] = {&v, &three};
  cudaKernelNodeParams plus_is = kernel(add, plus_arguments), times_is = kernel(scale, times_arguments);
  CHECK(cudaGraphCreate(&graph, 0));
  CHECK(cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &to));
  CHECK(cudaGraphAddKernelNode(&plus, graph, &fill, 1, &plus_is));
  CHECK(cudaGraphAddKernelNode(&times, graph, &plus, 1, &times_is));
  cudaGraphExec_t run;
  CHECK(cudaGraphInstantiateWithFlags(&run, graph, cudaGraphInstantiateFlagAutoFreeOnLaunch));
  unsigned long long flags = 0;
  CHECK(cudaGraphExecGetFlags(run, &flags));
  EXPECT(flags == cudaGraphInstantiateFlagAutoFreeOnLaunch);
  EXPECT(launched(run, v) == 45);
  // What they are.
  cudaKernelNodeParams is = {};
  CHECK(cudaGraphKernelNodeGetParams(plus, &is));
  five = 1000;  // the graph has a copy of it
  EXPECT(is.func == (void*)add && is.blockDim.x == kCount && *static_cast<int*>(is.kernelParams[1]) == 5);
  cudaMemsetParams filled = {};
  CHECK(cudaGraphMemsetNodeGetParams(fill, &filled));
  EXPECT(filled.dst == v && filled.value == 10 && filled.width == kCount);
  // The graph that can be launched alone.
  unsigned int enabled = 0;
  CHECK(cudaGraphNodeSetEnabled(run, plus, 0));
  CHECK(cudaGraphNodeGetEnabled(run, plus, &enabled));
  EXPECT(enabled == 0 && launched(run, v) == 30);
  CHECK(cudaGraphNodeSetEnabled(run, plus, 1));
  to.value = 20;
  CHECK(cudaGraphExecMemsetNodeSetParams(run, fill, &to));
  EXPECT(launched(run, v) == 75);
  // The graph is changed, too; what runs follows when it is updated.
  int seven = 7;
  plus_arguments[1] = &seven;
  CHECK(cudaGraphKernelNodeSetParams(plus, &plus_is));
  EXPECT(launched(run, v) == 75);
  cudaGraphExecUpdateResultInfo info = {};
  CHECK(cudaGraphExecUpdate(run, graph, &info));
  EXPECT(info.result == cudaGraphExecUpdateSuccess && launched(run, v) == 51);
  // Not like the first any more.
  cudaGraph_t clone;
  cudaGraphNode_t cloned, last, bad;
  CHECK(cudaGraphClone(&clone, graph));
  CHECK(cudaGraphNodeFindInClone(&cloned, plus, clone));
  CHECK(cudaGraphNodeFindInClone(&last, times, clone));
  CHECK(cudaGraphRemoveDependencies(clone, &cloned, &last, 1));
  cudaGraphExecUpdateResult result = cudaGraphExecUpdateSuccess;
  EXPECT(cudaGraphExecUpdate(run, clone, &bad, &result) == cudaErrorGraphExecUpdateFailure);
  EXPECT(result == cudaGraphExecUpdateErrorTopologyChanged && cudaGetLastError() == cudaErrorGraphExecUpdateFailure);
  CHECK(cudaGraphDestroyNode(cloned));
  size_t nodes = 0, followers = 0;
  CHECK(cudaGraphGetNodes(clone, nullptr, &nodes));
  EXPECT(nodes == 2 && cudaGraphNodeFindInClone(&cloned, plus, clone) == cudaErrorInvalidValue);
  cudaGetLastError();
  CHECK(cudaGraphNodeGetDependentNodes(fill, nullptr, &followers));
  EXPECT(followers == 1);
  CHECK(cudaGraphExecDestroy(run));
  // Copies: to and from the host and a variable.
  std::vector<int> in(kCount, 4), out(kCount), ones(kCount, 1);
  CHECK(cudaGraphAddMemcpyNode1D(&copy, clone, nullptr, 0, v, in.data(), kBytes, cudaMemcpyHostToDevice));
  cudaMemcpy3DParms box = {};
  CHECK(cudaGraphMemcpyNodeGetParams(copy, &box));
  EXPECT(box.srcPtr.ptr == in.data() && box.extent.width == kBytes && box.kind == cudaMemcpyHostToDevice);
  CHECK(cudaGraphMemcpyNodeSetParams1D(copy, v, ones.data(), kBytes, cudaMemcpyHostToDevice));
  cudaGraph_t copies;
  cudaGraphNode_t write, use, read;
  CHECK(cudaGraphCreate(&copies, 0));
  CHECK(
      cudaGraphAddMemcpyNodeToSymbol(&write, copies, nullptr, 0, table, in.data(), kBytes, 0, cudaMemcpyHostToDevice));
  void* use_arguments[] = {&v};
  cudaKernelNodeParams uses = {};
  uses.func = (void*)from_table;
  uses.gridDim = dim3(1);
  uses.blockDim = dim3(kCount);
  uses.kernelParams = use_arguments;
  CHECK(cudaMemset(v, 0, kBytes));
  CHECK(cudaGraphAddKernelNode(&use, copies, &write, 1, &uses));
  CHECK(cudaGraphAddMemcpyNodeFromSymbol(&read, copies, &use, 1, out.data(), table, kBytes, 0, cudaMemcpyDeviceToHost));
  CHECK(cudaGraphInstantiate(&run, copies, 0));
  EXPECT(launched(run, v) == 4 && out[kCount - 1] == 4);
  CHECK(cudaGraphExecMemcpyNodeSetParamsToSymbol(run, write, table, ones.data(), kBytes, 0, cudaMemcpyHostToDevice));
  EXPECT(launched(run, v) == 5 && out[0] == 1);
  if (file != nullptr) CHECK(cudaGraphDebugDotPrint(copies, file, 0));
}

// A graph within, memory of its own, events between it and a stream.
static void others(int* v) {
  cudaGraph_t inner, outer;
  cudaGraphNode_t node, child, host, allocated, filled, copied, freed, recorded, waited;
  int calls = 0, one = 1;
  void* arguments[] = {&v, &one};
  cudaKernelNodeParams plus = kernel(add, arguments);
  CHECK(cudaGraphCreate(&inner, 0));
  CHECK(cudaGraphAddKernelNode(&node, inner, nullptr, 0, &plus));
  cudaEvent_t done, go;
  CHECK(cudaEventCreate(&done));
  CHECK(cudaEventCreate(&go));
  CHECK(cudaGraphCreate(&outer, 0));
  CHECK(cudaGraphAddEventWaitNode(&waited, outer, nullptr, 0, go));
  CHECK(cudaGraphAddChildGraphNode(&child, outer, &waited, 1, inner));
  cudaHostNodeParams call = {count_call, &calls};
  CHECK(cudaGraphAddHostNode(&host, outer, &child, 1, &call));
  cudaMemAllocNodeParams memory = {};
  memory.poolProps.allocType = cudaMemAllocationTypePinned;
  memory.poolProps.location = {cudaMemLocationTypeDevice, 0};
  memory.bytesize = kBytes;
  CHECK(cudaGraphAddMemAllocNode(&allocated, outer, &host, 1, &memory));
  cudaGraphNodeParams any = {};
  any.type = cudaGraphNodeTypeMemset;
  any.memset.dst = memory.dptr;
  any.memset.value = 9;
  any.memset.elementSize = 4;
  any.memset.width = kCount;
  any.memset.height = 1;
  CHECK(cudaGraphAddNode(&filled, outer, &allocated, 1, &any));
  CHECK(cudaGraphAddMemcpyNode1D(&copied, outer, &filled, 1, v, memory.dptr, kBytes / 2, cudaMemcpyDeviceToDevice));
  CHECK(cudaGraphAddMemFreeNode(&freed, outer, &copied, 1, memory.dptr));
  CHECK(cudaGraphAddEventRecordNode(&recorded, outer, &freed, 1, done));
  cudaEvent_t is;
  CHECK(cudaGraphEventRecordNodeGetEvent(recorded, &is));
  EXPECT(is == done);
  cudaGraphInstantiateParams with = {};
  cudaGraphExec_t run;
  CHECK(cudaGraphInstantiateWithParams(&run, outer, &with));
  EXPECT(with.result_out == cudaGraphInstantiateSuccess);
  CHECK(cudaMemset(v, 0, kBytes));
  CHECK(cudaEventRecord(go, 0));
  std::vector<int> result(kCount);
  for (int i = 1; i <= 2; ++i) {
    CHECK(cudaGraphLaunch(run, 0));
    CHECK(cudaEventSynchronize(done));
    CHECK(cudaMemcpy(result.data(), v, kBytes, cudaMemcpyDeviceToHost));
    EXPECT(result[0] == 9 && result[kCount - 1] == i && calls == i);
  }
  one = 100;
  CHECK(cudaGraphKernelNodeSetParams(node, &plus));
  CHECK(cudaGraphExecChildGraphNodeSetParams(run, child, inner));
  CHECK(cudaGraphLaunch(run, 0));
  CHECK(cudaMemcpy(result.data(), v, kBytes, cudaMemcpyDeviceToHost));
  EXPECT(result[kCount - 1] == 102 && calls == 3);
  cudaGraph_t within;
  CHECK(cudaGraphChildGraphNodeGetGraph(child, &within));
  EXPECT(within != inner);
  size_t free_before = 0, free_after = 0, total = 0;
  CHECK(cudaMemGetInfo(&free_before, &total));
  CHECK(cudaGraphExecDestroy(run));
  CHECK(cudaGraphDestroy(outer));
  CHECK(cudaMemGetInfo(&free_after, &total));
  EXPECT(free_after == free_before + kBytes);
}

// A stream that records takes memory, graphs and what others have to wait for.
static void recorded(int* v) {
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  int* own = nullptr;
  CHECK(cudaMallocAsync(&own, kBytes, stream));
  CHECK(cudaMemsetAsync(own, 0, kBytes, stream));
  add<<<1, kCount, 0, stream>>>(own, 6);
  cudaStreamCaptureStatus status;
  unsigned long long id = 0;
  cudaGraph_t graph, same;
  const cudaGraphNode_t* last;
  size_t count = 0;
  CHECK(cudaStreamGetCaptureInfo(stream, &status, &id, &graph, &last, &count));
  EXPECT(status == cudaStreamCaptureStatusActive && id != 0 && count == 1);
  cudaGraphNodeType type;
  CHECK(cudaGraphNodeGetType(last[0], &type));
  EXPECT(type == cudaGraphNodeTypeKernel);
  cudaKernelNodeParams is = {};
  CHECK(cudaGraphKernelNodeGetParams(last[0], &is));
  EXPECT(is.func == (void*)add && *static_cast<int*>(is.kernelParams[1]) == 6);
  CHECK(cudaMemcpyAsync(v, own, kBytes, cudaMemcpyDeviceToDevice, stream));
  CHECK(cudaFreeAsync(own, stream));
  CHECK(cudaStreamEndCapture(stream, &same));
  EXPECT(same == graph);
  cudaGraphExec_t run, twice;
  CHECK(cudaGraphInstantiate(&run, graph, 0));
  EXPECT(launched(run, v) == 6 && launched(run, v) == 6);
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  CHECK(cudaGraphLaunch(run, stream));
  add<<<1, kCount, 0, stream>>>(v, 1);
  CHECK(cudaStreamEndCapture(stream, &same));
  size_t nodes = 0;
  CHECK(cudaGraphGetNodes(same, nullptr, &nodes));
  EXPECT(nodes == 2);
  CHECK(cudaGraphInstantiate(&twice, same, 0));
  EXPECT(launched(twice, v) == 7);
  CHECK(cudaStreamDestroy(stream));
}

// `width` kernels that do not wait for each other between two that all wait for: milliseconds.
static float time_of(int width, int* v, int rounds) {
  cudaGraph_t graph;
  CHECK(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t first, last;
  std::vector<cudaGraphNode_t> middle(width);
  CHECK(cudaGraphAddEmptyNode(&first, graph, nullptr, 0));
  for (int i = 0; i < width; ++i) {
    int* at = v + i * kCount;
    void* arguments[] = {&at, &rounds};
    const cudaKernelNodeParams spins = kernel(spin, arguments);
    CHECK(cudaGraphAddKernelNode(&middle[i], graph, &first, 1, &spins));
  }
  CHECK(cudaGraphAddEmptyNode(&last, graph, middle.data(), width));
  cudaGraphExec_t run;
  CHECK(cudaGraphInstantiate(&run, graph, 0));
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  CHECK(cudaMemset(v, 0, width * kBytes));
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  for (const cudaStream_t in : {stream, cudaStream_t(nullptr)}) {
    CHECK(cudaEventRecord(begin, in));
    CHECK(cudaGraphLaunch(run, in));
    CHECK(cudaEventRecord(end, in));
    CHECK(cudaEventSynchronize(end));
  }
  float ms = 0;
  CHECK(cudaEventElapsedTime(&ms, begin, end));
  std::vector<int> result(width * kCount);
  CHECK(cudaMemcpy(result.data(), v, width * kBytes, cudaMemcpyDeviceToHost));
  for (int i = 0; i < width * kCount; ++i) {
    int x = i % kCount;
    for (int round = 0; round < rounds; ++round) x = x * 1664525 + 1013904223;
    EXPECT(result[i] == x);
  }
  return ms;
}

int main(int words, char** word) {
  int* v = nullptr;
  CHECK(cudaMalloc(&v, 40 * kBytes));
  parameters(v, words > 1 ? word[1] : nullptr);
  others(v);
  recorded(v);
  EXPECT(time_of(40, v, 2) > 0);  // more than there are streams for
  const float one = time_of(1, v, 400), four = time_of(4, v, 400);
  cudaDeviceProp properties;
  CHECK(cudaGetDeviceProperties(&properties, 0));
  if (properties.multiProcessorCount >= 4) {
    EXPECT(four < 1.5f * one);
  } else {
    EXPECT(four > one);
  }
  std::printf("PASSED\n");
}
