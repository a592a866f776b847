// Graphs: recorded by two streams, made by hand, changed when they can be launched.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "../common/expect.h"

constexpr int kCount = 96;

__global__ void add(int* v, int value) {
  v[threadIdx.x] += value;
}
__global__ void sum(const int* a, const int* b, int* out) {
  out[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];
}

static void count_call(void* data) {
  ++*static_cast<int*>(data);
}

static int recorded() {
  int *a, *b, *out;
  std::vector<int> in(kCount, 5), result(kCount);
  const size_t bytes = kCount * sizeof(int);
  CHECK(cudaMalloc(&a, bytes));
  CHECK(cudaMalloc(&b, bytes));
  CHECK(cudaMalloc(&out, bytes));
  cudaStream_t first, second;
  cudaEvent_t fork, join;
  CHECK(cudaStreamCreate(&first));
  CHECK(cudaStreamCreate(&second));
  CHECK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
  CHECK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
  CHECK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
  CHECK(cudaEventRecord(fork, first));
  CHECK(cudaStreamWaitEvent(second, fork, 0));
  CHECK(cudaMemcpyAsync(a, in.data(), bytes, cudaMemcpyHostToDevice, first));
  CHECK(cudaMemsetAsync(b, 0, bytes, second));
  add<<<1, kCount, 0, second>>>(b, 2);
  CHECK(cudaEventRecord(join, second));
  CHECK(cudaStreamWaitEvent(first, join, 0));
  sum<<<1, kCount, 0, first>>>(a, b, out);
  CHECK(cudaMemcpyAsync(result.data(), out, bytes, cudaMemcpyDeviceToHost, first));
  cudaStreamCaptureStatus status;
  CHECK(cudaStreamIsCapturing(second, &status));
  EXPECT(status == cudaStreamCaptureStatusActive);
  cudaGraph_t graph;
  CHECK(cudaStreamEndCapture(first, &graph));
  size_t nodes = 0, roots = 0, edges = 0;
  CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
  CHECK(cudaGraphGetRootNodes(graph, nullptr, &roots));
  CHECK(cudaGraphGetEdges(graph, nullptr, nullptr, &edges));
  EXPECT(nodes == 5 && roots == 2 && edges == 4);
  EXPECT(result[0] == 0);  // nothing has run
  cudaGraphExec_t run;
  CHECK(cudaGraphInstantiate(&run, graph, nullptr, nullptr, 0));
  CHECK(cudaGraphDestroy(graph));
  for (int round = 0; round < 3; ++round) {
    in.assign(kCount, round);  // copied when the graph runs
    CHECK(cudaGraphLaunch(run, second));
    CHECK(cudaStreamSynchronize(second));
    for (const int value : result) EXPECT(value == round + 2);
  }
  CHECK(cudaGraphExecDestroy(run));
  return 0;
}

static int made() {
  int *v, calls = 0;
  const size_t bytes = kCount * sizeof(int);
  std::vector<int> result(kCount);
  CHECK(cudaMalloc(&v, bytes));
  cudaGraph_t graph;
  CHECK(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t fill, kernel, copy, host, empty;
  cudaMemsetParams to = {};
  to.dst = v;
  to.value = 100;
  to.elementSize = 4;
  to.width = kCount;
  to.height = 1;
  // Added backwards: what waits for what is told afterwards.
  CHECK(cudaGraphAddMemcpyNode1D(&copy, graph, nullptr, 0, result.data(), v, bytes, cudaMemcpyDeviceToHost));
  int value = 11;
  void* arguments[] = {&v, &value};
  cudaKernelNodeParams parameters = {};
  parameters.func = (void*)add;
  parameters.gridDim = dim3(1);
  parameters.blockDim = dim3(kCount);
  parameters.kernelParams = arguments;
  CHECK(cudaGraphAddKernelNode(&kernel, graph, nullptr, 0, &parameters));
  CHECK(cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &to));
  CHECK(cudaGraphAddDependencies(graph, &fill, &kernel, 1));
  CHECK(cudaGraphAddDependencies(graph, &kernel, &copy, 1));
  cudaHostNodeParams call = {count_call, &calls};
  CHECK(cudaGraphAddHostNode(&host, graph, &copy, 1, &call));
  CHECK(cudaGraphAddEmptyNode(&empty, graph, &host, 1));
  cudaGraphNodeType type;
  CHECK(cudaGraphNodeGetType(host, &type));
  EXPECT(type == cudaGraphNodeTypeHost);
  cudaGraphExec_t run;
  CHECK(cudaGraphInstantiate(&run, graph, 0));
  CHECK(cudaGraphLaunch(run, 0));
  CHECK(cudaDeviceSynchronize());
  for (const int x : result) EXPECT(x == 111);
  value = 20;
  CHECK(cudaGraphExecKernelNodeSetParams(run, kernel, &parameters));
  CHECK(cudaGraphLaunch(run, 0));
  CHECK(cudaDeviceSynchronize());
  for (const int x : result) EXPECT(x == 120);
  EXPECT(calls == 2);
  CHECK(cudaGraphAddDependencies(graph, &empty, &fill, 1));  // a ring
  EXPECT(cudaGraphInstantiate(&run, graph, 0) == cudaErrorInvalidValue);
  return 0;
}

int main() {
  if (recorded() != 0 || made() != 0) return 1;
  std::printf("PASSED\n");
}
