// What calls on graphs say of nodes that cannot be, of other graphs, of kinds that do not fit and of memory of graphs.
#include <cstdint>

#include "rows.h"

__global__ void add(int* p) {
  *p += 1;
}
__device__ int variable[4];

constexpr cudaError_t kValue = cudaErrorInvalidValue, kDirection = cudaErrorInvalidMemcpyDirection,
                      kPitch = cudaErrorInvalidPitchValue, kNotSupported = cudaErrorNotSupported;
constexpr size_t kBytes = 1024;
static char* d;
static char host[2048];
static cudaGraph_t graph, other;
static cudaGraphNode_t empty, foreign, kernel, copy, fill, call, child, recorded, waited;
static cudaEvent_t event;
static cudaStream_t s, gone;
static void* arguments[] = {&d};
static cudaKernelNodeParams kernel_is;
static cudaMemsetParams fill_is;
static cudaMemcpy3DParms copy_is;
static const cudaHostNodeParams call_is = {[](void*) {}, nullptr};

template <class Add>
static void added(int line, Add add_node) {
  cudaGraphNode_t node;
  const cudaGraphNode_t twice[] = {empty, empty};
  const cudaGraphNode_t none = nullptr;
  row("node is null", line, add_node(nullptr, graph, nullptr, 0), kValue);
  row("graph is null", line, add_node(&node, nullptr, nullptr, 0), kValue);
  row("no dependencies, but one", line, add_node(&node, graph, nullptr, 1), kValue);
  row("of another graph", line, add_node(&node, graph, &foreign, 1), kValue);
  row("a null node", line, add_node(&node, graph, &none, 1), kValue);
  row("the same twice", line, add_node(&node, graph, twice, 2), kValue);
}

static void nodes() {
  using Node = cudaGraphNode_t;
  added(__LINE__, [](Node* n, cudaGraph_t g, const Node* a, size_t c) { return cudaGraphAddEmptyNode(n, g, a, c); });
  added(__LINE__,
        [](Node* n, cudaGraph_t g, const Node* a, size_t c) { return cudaGraphAddKernelNode(n, g, a, c, &kernel_is); });
  added(__LINE__,
        [](Node* n, cudaGraph_t g, const Node* a, size_t c) { return cudaGraphAddMemcpyNode(n, g, a, c, &copy_is); });
  added(__LINE__, [](Node* n, cudaGraph_t g, const Node* a, size_t c) {
    return cudaGraphAddMemcpyNode1D(n, g, a, c, d, host, 8, cudaMemcpyHostToDevice);
  });
  added(__LINE__,
        [](Node* n, cudaGraph_t g, const Node* a, size_t c) { return cudaGraphAddMemsetNode(n, g, a, c, &fill_is); });
  added(__LINE__,
        [](Node* n, cudaGraph_t g, const Node* a, size_t c) { return cudaGraphAddHostNode(n, g, a, c, &call_is); });
  added(__LINE__,
        [](Node* n, cudaGraph_t g, const Node* a, size_t c) { return cudaGraphAddChildGraphNode(n, g, a, c, other); });
  added(__LINE__,
        [](Node* n, cudaGraph_t g, const Node* a, size_t c) { return cudaGraphAddEventRecordNode(n, g, a, c, event); });
  added(__LINE__,
        [](Node* n, cudaGraph_t g, const Node* a, size_t c) { return cudaGraphAddEventWaitNode(n, g, a, c, event); });
  Node node;
  ROW(kValue, cudaGraphCreate(&other, 1));
  ROW(kValue, cudaGraphAddChildGraphNode(&node, graph, nullptr, 0, graph));
  ROW(kValue, cudaGraphAddChildGraphNode(&node, graph, nullptr, 0, nullptr));
  ROW(kValue, cudaGraphAddEventRecordNode(&node, graph, nullptr, 0, nullptr));
  ROW(kValue, cudaGraphAddEventWaitNode(&node, graph, nullptr, 0, nullptr));
  const cudaHostNodeParams no_function = {nullptr, nullptr};
  ROW(kValue, cudaGraphAddHostNode(&node, graph, nullptr, 0, &no_function));
  ROW(kValue, cudaGraphHostNodeSetParams(call, &no_function));
  cudaGraphNodeParams any = {};
  any.type = static_cast<cudaGraphNodeType>(77);
  ROW(kNotSupported, cudaGraphAddNode(&node, graph, nullptr, 0, &any));
  cudaKernelNodeParams no_kernel = kernel_is;
  no_kernel.func = nullptr;
  ROW(cudaErrorInvalidDeviceFunction, cudaGraphAddKernelNode(&node, graph, nullptr, 0, &no_kernel));
  ROW(cudaErrorInvalidDeviceFunction, cudaGraphKernelNodeSetParams(kernel, &no_kernel));
}

// A copy, a fill: by the calls that add nodes, change them, and change them in a graph that can be launched.
template <class Change>
static cudaError_t copied(cudaGraphExec_t run, Change change) {
  cudaMemcpy3DParms box = copy_is;
  change(box);
  cudaGraphNode_t node;
  const cudaError_t by[] = {cudaGraphAddMemcpyNode(&node, graph, nullptr, 0, &box),
                            cudaGraphMemcpyNodeSetParams(copy, &box),
                            cudaGraphExecMemcpyNodeSetParams(run, copy, &box)};
  return by[0] == by[1] && by[1] == by[2] ? by[0] : cudaErrorUnknown;
}
template <class Change>
static cudaError_t filled(cudaGraphExec_t run, Change change) {
  cudaMemsetParams to = fill_is;
  change(to);
  cudaGraphNode_t node;
  const cudaError_t by[] = {cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &to),
                            cudaGraphMemsetNodeSetParams(fill, &to), cudaGraphExecMemsetNodeSetParams(run, fill, &to)};
  return by[0] == by[1] && by[1] == by[2] ? by[0] : cudaErrorUnknown;
}

static void contents() {
  cudaGraphExec_t run;
  cudaGraphNode_t node;
  OK(cudaGraphInstantiate(&run, graph, 0));
  using Copy = cudaMemcpy3DParms;
  using Fill = cudaMemsetParams;
  const auto gives = [&](int line, cudaError_t is, cudaError_t expected) {
    if (expected == cudaSuccess || is == cudaErrorUnknown) cudaGetLastError();
    row("a node", line, is, expected);
  };
  gives(__LINE__, copied(run, [](Copy&) {}), cudaSuccess);
  gives(__LINE__, copied(run, [](Copy& b) { b.dstPtr.ptr = nullptr; }), kValue);
  gives(__LINE__, copied(run, [](Copy& b) { b.srcPtr.ptr = nullptr; }), kValue);
  gives(__LINE__, copied(run, [](Copy& b) { b.dstPtr.pitch = 15; }), kPitch);
  gives(__LINE__, copied(run, [](Copy& b) { b.srcPtr.pitch = 15; }), kPitch);
  gives(__LINE__, copied(run, [](Copy& b) { b.dstPtr.pitch = size_t{1} << 31; }), kValue);
  gives(__LINE__, copied(run, [](Copy& b) { b.dstPos.x = 1; }), kValue);
  gives(__LINE__, copied(run, [](Copy& b) { b.srcPos.y = 1; }), kValue);
  gives(__LINE__, copied(run, [](Copy& b) { b.dstPos.z = 100; }), kValue);
  gives(__LINE__, copied(run, [](Copy& b) { b.extent.depth = 100; }), kValue);
  gives(__LINE__, copied(run, [](Copy& b) { b.extent.width = 0; }), kValue);
  gives(__LINE__, copied(run, [](Copy& b) { b.kind = static_cast<cudaMemcpyKind>(-1); }), kDirection);
  gives(__LINE__, copied(run, [](Copy& b) { b.kind = cudaMemcpyDeviceToHost; }), kValue);
  gives(__LINE__, filled(run, [](Fill&) {}), cudaSuccess);
  gives(__LINE__, filled(run, [](Fill& f) { f.dst = nullptr; }), kValue);
  gives(__LINE__, filled(run, [](Fill& f) { f.dst = host; }), kValue);
  gives(__LINE__, filled(run, [](Fill& f) { f.elementSize = 0; }), kValue);
  gives(__LINE__, filled(run, [](Fill& f) { f.elementSize = 3; }), kValue);
  gives(__LINE__, filled(run, [](Fill& f) { f.elementSize = 8; }), kValue);
  gives(__LINE__, filled(run, [](Fill& f) { f.width = 0; }), kValue);
  gives(__LINE__, filled(run, [](Fill& f) { f.height = 0; }), kValue);
  gives(__LINE__, filled(run, [](Fill& f) { f.width = kBytes; }), kValue);
  gives(__LINE__, filled(run, [](Fill& f) { f.width = SIZE_MAX; }), kValue);
  gives(__LINE__, filled(run, [](Fill& f) { f.pitch = 4, f.height = 2; }), kValue);
  gives(__LINE__, filled(run, [](Fill& f) { f.pitch = 64, f.height = 17; }), kValue);
  gives(__LINE__, filled(run, [](Fill& f) { f.pitch = 64, f.height = SIZE_MAX; }), kValue);
  gives(__LINE__, filled(run, [](Fill& f) { f.pitch = 64, f.height = 16; }), cudaSuccess);
  const auto to_device = cudaMemcpyHostToDevice;
  ROW(kValue, cudaGraphAddMemcpyNode1D(&node, graph, nullptr, 0, d, host, 0, to_device));
  ROW(kValue, cudaGraphAddMemcpyNode1D(&node, graph, nullptr, 0, d, host, kBytes + 1, to_device));
  ROW(kValue, cudaGraphAddMemcpyNode1D(&node, graph, nullptr, 0, host, d + 8, kBytes, cudaMemcpyDeviceToHost));
  ROW(kValue, cudaGraphMemcpyNodeSetParams1D(copy, d, nullptr, 8, to_device));
  ROW(kValue, cudaGraphExecMemcpyNodeSetParams1D(run, copy, d, host, kBytes + 1, to_device));
  ROW(kValue, cudaGraphAddMemcpyNodeToSymbol(&node, graph, nullptr, 0, variable, host, 17, 0, to_device));
  ROW(kValue,
      cudaGraphAddMemcpyNodeFromSymbol(&node, graph, nullptr, 0, host, variable, 8, 12, cudaMemcpyDeviceToHost));
  ROW(cudaErrorInvalidSymbol, cudaGraphAddMemcpyNodeToSymbol(&node, graph, nullptr, 0, host, host, 8, 0, to_device));
  ROW(kValue, cudaGraphMemcpyNodeSetParamsToSymbol(copy, variable, host, 17, 0, to_device));
  ROW(kValue, cudaGraphMemcpyNodeSetParamsFromSymbol(copy, host, variable, 17, 0, cudaMemcpyDeviceToHost));
  ROW(kValue, cudaGraphExecMemcpyNodeSetParamsToSymbol(run, copy, variable, host, 17, 0, to_device));
  ROW(kValue, cudaGraphExecMemcpyNodeSetParamsFromSymbol(run, copy, host, variable, 17, 0, cudaMemcpyDeviceToHost));
  // Of another kind, of another graph, made later.
  cudaGraphNode_t later;
  cudaEvent_t is;
  unsigned enabled;
  cudaGraph_t within;
  void* pointer;
  cudaMemAllocNodeParams memory;
  cudaHostNodeParams host_is;
  cudaGraphNodeParams any = {};
  any.type = cudaGraphNodeTypeMemset;
  any.memset = fill_is;
  OK(cudaGraphAddEmptyNode(&later, graph, nullptr, 0));
  ROW(kValue, cudaGraphKernelNodeGetParams(fill, &kernel_is));
  ROW(kValue, cudaGraphMemcpyNodeGetParams(fill, &copy_is));
  ROW(kValue, cudaGraphMemsetNodeGetParams(copy, &fill_is));
  ROW(kValue, cudaGraphHostNodeGetParams(copy, &host_is));
  ROW(kValue, cudaGraphChildGraphNodeGetGraph(copy, &within));
  ROW(kValue, cudaGraphEventRecordNodeGetEvent(waited, &is));
  ROW(kValue, cudaGraphEventWaitNodeGetEvent(recorded, &is));
  ROW(kValue, cudaGraphMemAllocNodeGetParams(copy, &memory));
  ROW(kValue, cudaGraphMemFreeNodeGetParams(copy, &pointer));
  ROW(kValue, cudaGraphKernelNodeSetParams(fill, &kernel_is));
  ROW(kValue, cudaGraphMemcpyNodeSetParams(fill, &copy_is));
  ROW(kValue, cudaGraphMemsetNodeSetParams(copy, &fill_is));
  ROW(kValue, cudaGraphHostNodeSetParams(copy, &call_is));
  ROW(kValue, cudaGraphEventRecordNodeSetEvent(waited, event));
  ROW(kValue, cudaGraphEventWaitNodeSetEvent(recorded, event));
  ROW(kValue, cudaGraphNodeSetParams(copy, &any));
  ROW(kValue, cudaGraphExecNodeSetParams(run, copy, &any));
  ROW(kValue, cudaGraphExecKernelNodeSetParams(run, fill, &kernel_is));
  ROW(kValue, cudaGraphExecHostNodeSetParams(run, fill, &call_is));
  ROW(kValue, cudaGraphExecChildGraphNodeSetParams(run, fill, other));
  ROW(kValue, cudaGraphExecEventRecordNodeSetEvent(run, waited, event));
  ROW(kValue, cudaGraphExecEventWaitNodeSetEvent(run, recorded, event));
  ROW(kValue, cudaGraphNodeSetEnabled(run, later, 0));
  ROW(kValue, cudaGraphNodeGetEnabled(run, foreign, &enabled));
  const cudaGraphNode_t kAlways[] = {empty, call, child, recorded, waited};
  for (const cudaGraphNode_t always : kAlways) ROW(kValue, cudaGraphNodeSetEnabled(run, always, 0));
  OK(cudaGraphNodeSetEnabled(run, kernel, 0));
  ROW(cudaErrorInvalidResourceHandle, cudaGraphLaunch(run, gone));
  ROW(cudaErrorInvalidResourceHandle, cudaGraphUpload(run, gone));
  ROW(cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdate(run, graph, nullptr, nullptr));
  OK(cudaGraphExecDestroy(run));
}

static void structure() {
  cudaGraphExec_t run;
  cudaGraph_t clone;
  cudaGraphNode_t a, b, found, list[8];
  size_t count = 8;
  OK(cudaGraphCreate(&clone, 0));
  OK(cudaGraphAddEmptyNode(&a, clone, nullptr, 0));
  OK(cudaGraphAddEmptyNode(&b, clone, &a, 1));
  ROW(kValue, cudaGraphAddDependencies(clone, &a, &b, 1));
  ROW(kValue, cudaGraphAddDependencies(clone, &a, &a, 1));
  ROW(kValue, cudaGraphAddDependencies(clone, &foreign, &b, 1));
  ROW(kValue, cudaGraphAddDependencies(clone, &a, &foreign, 1));
  ROW(kValue, cudaGraphAddDependencies(clone, nullptr, &b, 1));
  ROW(kValue, cudaGraphAddDependencies(nullptr, &a, &b, 1));
  OK(cudaGraphAddDependencies(clone, nullptr, nullptr, 0));
  ROW(kValue, cudaGraphRemoveDependencies(clone, &b, &a, 1));
  OK(cudaGraphRemoveDependencies(clone, &a, &b, 1));
  ROW(kValue, cudaGraphRemoveDependencies(clone, &a, &b, 1));
  ROW(kValue, cudaGraphGetEdges(clone, nullptr, list, &count));
  ROW(kValue, cudaGraphGetEdges(clone, list, nullptr, &count));
  OK(cudaGraphAddDependencies(clone, &a, &b, 1));
  OK(cudaGraphAddDependencies(clone, &b, &a, 1));
  ROW(kValue, cudaGraphInstantiate(&run, clone, 0));
  ROW(kValue, cudaGraphInstantiateWithFlags(&run, clone, 0));
  OK(cudaGraphGetNodes(clone, list, &count));
  OK(cudaGraphGetRootNodes(clone, list, &count));
  OK(cudaGraphNodeGetDependencies(a, nullptr, &count));
  OK(cudaGraphNodeGetDependentNodes(a, nullptr, &count));
  cudaGraphNodeType type;
  OK(cudaGraphNodeGetType(a, &type));
  ROW(kValue, cudaGraphNodeFindInClone(&found, empty, clone));
  OK(cudaGraphDestroyNode(b));
  OK(cudaGraphDestroy(clone));
  OK(cudaGraphClone(&clone, graph));
  OK(cudaGraphNodeFindInClone(&found, empty, clone));
  OK(cudaGraphDestroy(clone));
  cudaGraphInstantiateParams with = {};
  unsigned long long flags;
  with.flags = 64;
  ROW(kValue, cudaGraphInstantiateWithFlags(&run, graph, 16));
  ROW(kValue, cudaGraphInstantiateWithParams(&run, graph, &with));
  ROW(kNotSupported, cudaGraphInstantiateWithFlags(&run, graph, 4));
  OK(cudaGraphInstantiateWithFlags(&run, graph, cudaGraphInstantiateFlagUseNodePriority));
  OK(cudaGraphExecGetFlags(run, &flags));
  OK(cudaGraphExecDestroy(run));
  ROW(kValue, cudaGraphDebugDotPrint(graph, "/nowhere/at/all", 0));
}

static void memory() {
  cudaGraph_t with, twice;
  cudaGraphNode_t allocated, freed, node;
  cudaGraphExec_t run, second;
  cudaMemAllocNodeParams is = {};
  unsigned long long value = 1;
  OK(cudaGraphCreate(&with, 0));
  is.bytesize = 64;
  ROW(kValue, cudaGraphAddMemAllocNode(&allocated, with, nullptr, 0, &is));
  is.poolProps.allocType = cudaMemAllocationTypePinned;
  ROW(kValue, cudaGraphAddMemAllocNode(&allocated, with, nullptr, 0, &is));
  is.poolProps.location = {cudaMemLocationTypeDevice, 1};
  ROW(kValue, cudaGraphAddMemAllocNode(&allocated, with, nullptr, 0, &is));
  is.poolProps.location.id = 0;
  is.accessDescCount = 1;
  ROW(kValue, cudaGraphAddMemAllocNode(&allocated, with, nullptr, 0, &is));
  is.accessDescCount = 0;
  is.bytesize = SIZE_MAX;
  ROW(cudaErrorMemoryAllocation, cudaGraphAddMemAllocNode(&allocated, with, nullptr, 0, &is));
  is.bytesize = 64;
  OK(cudaGraphAddMemAllocNode(&allocated, with, nullptr, 0, &is));
  ROW(kValue, cudaGraphAddMemFreeNode(&freed, with, &allocated, 1, nullptr));
  ROW(kValue, cudaGraphAddMemFreeNode(&freed, with, &allocated, 1, d));
  ROW(kValue, cudaGraphAddMemFreeNode(&freed, with, &allocated, 1, host));
  OK(cudaGraphAddMemFreeNode(&freed, with, &allocated, 1, is.dptr));
  ROW(kValue, cudaGraphAddMemFreeNode(&node, with, &allocated, 1, is.dptr));
  // Another graph may free it too, and a call has freed it between two launches.
  OK(cudaGraphCreate(&twice, 0));
  ROW(kValue, cudaGraphAddMemFreeNode(&node, twice, nullptr, 0, static_cast<char*>(is.dptr) + 16));
  OK(cudaGraphAddMemFreeNode(&node, twice, nullptr, 0, is.dptr));
  ROW(kValue, cudaGraphAddMemFreeNode(&node, twice, nullptr, 0, is.dptr));
  OK(cudaGraphDestroy(twice));
  ROW(kNotSupported, cudaGraphClone(&twice, with));
  ROW(kNotSupported, cudaGraphAddChildGraphNode(&node, graph, nullptr, 0, with));
  ROW(kNotSupported, cudaGraphRemoveDependencies(with, &allocated, &freed, 1));
  ROW(kNotSupported, cudaGraphDestroyNode(freed));
  OK(cudaGraphInstantiate(&run, with, 0));
  ROW(kNotSupported, cudaGraphInstantiate(&second, with, 0));
  OK(cudaGraphLaunch(run, s));
  OK(cudaGraphExecDestroy(run));
  OK(cudaGraphInstantiate(&run, with, 0));
  OK(cudaGraphExecDestroy(run));
  OK(cudaGraphDestroy(with));
  ROW(kValue, cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &value));
  ROW(kValue, cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &value));
  ROW(cudaErrorInvalidDevice, cudaDeviceSetGraphMemAttribute(1, cudaGraphMemAttrUsedMemHigh, &value));
  ROW(kValue, cudaDeviceGetGraphMemAttribute(0, static_cast<cudaGraphMemAttributeType>(4), &value));
  value = 0;
  OK(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrReservedMemHigh, &value));
}

int main() {
  OK(cudaMalloc(&d, kBytes));
  OK(cudaStreamCreate(&s));
  OK(cudaStreamCreate(&gone));
  OK(cudaStreamDestroy(gone));
  OK(cudaEventCreate(&event));
  kernel_is = {(void*)add, dim3(1), dim3(1), 0, arguments, nullptr};
  fill_is = {d, 0, 7, 4, 16, 1};
  copy_is.srcPtr = make_cudaPitchedPtr(host, 16, 16, 4);
  copy_is.dstPtr = make_cudaPitchedPtr(d, 16, 16, 4);
  copy_is.extent = make_cudaExtent(16, 4, 2);
  copy_is.kind = cudaMemcpyHostToDevice;
  OK(cudaGraphCreate(&other, 0));
  OK(cudaGraphAddEmptyNode(&foreign, other, nullptr, 0));
  OK(cudaGraphCreate(&graph, 0));
  OK(cudaGraphAddEmptyNode(&empty, graph, nullptr, 0));
  OK(cudaGraphAddKernelNode(&kernel, graph, nullptr, 0, &kernel_is));
  OK(cudaGraphAddMemcpyNode(&copy, graph, nullptr, 0, &copy_is));
  OK(cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &fill_is));
  OK(cudaGraphAddHostNode(&call, graph, nullptr, 0, &call_is));
  OK(cudaGraphAddChildGraphNode(&child, graph, nullptr, 0, other));
  OK(cudaGraphAddEventRecordNode(&recorded, graph, nullptr, 0, event));
  OK(cudaGraphAddEventWaitNode(&waited, graph, nullptr, 0, event));
  nodes();
  contents();
  structure();
  memory();
  OK(cudaGraphDestroy(graph));
  OK(cudaGraphDestroy(other));
  OK(cudaDeviceSynchronize());
  return finish();
}
