// What the nodes of graphs do: made of what programs say of them, told and changed.
#include <algorithm>
#include <cstring>

#include "cuda/cudart/graphs.hpp"

namespace heddle::cudart {
namespace {

std::size_t graph_memory_now = 0;
std::size_t graph_memory_most = 0;

CUgraphNode_st& node_of(cudaGraphNode_t node, cudaGraphNodeType type) {
  require(known(node).content.type == type, cudaErrorInvalidValue, "the node is none of this kind");
  return *node;
}

// Of the graph that can be launched: the copy of a node.
CUgraphNode_st& node_of(cudaGraphExec_t executable, cudaGraphNode_t node) {
  const auto found = known(executable).copies.find(node);
  require(found != executable->copies.end(), cudaErrorInvalidValue,
          "the node is not of the graph that this one was made of");
  return *found->second;
}

void set(CUgraphNode_st& node, NodeContent content) {
  require(node.content.type == content.type, cudaErrorInvalidValue, "the node is none of this kind");
  content.enabled = node.content.enabled;
  content.launch.cooperative = node.content.launch.cooperative;
  node.content = std::move(content);
}

template <class Content>
cudaError_t set(const char* name, cudaGraphNode_t node, Content&& content) {
  return guarded(name, [&](Runtime& runtime) { set(known(node), content(runtime)); });
}
template <class Content>
cudaError_t set(const char* name, cudaGraphExec_t executable, cudaGraphNode_t node, Content&& content) {
  return guarded(name, [&](Runtime& runtime) { set(node_of(executable, node), content(runtime)); });
}
template <class Get>
cudaError_t get(const char* name, cudaGraphNode_t node, cudaGraphNodeType type, const void* place, Get&& get_from) {
  return guarded(name, [&](Runtime&) {
    require_places(place);
    get_from(node_of(node, type));
  });
}

}  // namespace

GraphMemory::GraphMemory(std::size_t bytes) : pointer(Runtime::instance().allocate(bytes, false)), size(bytes) {
  Runtime::instance().own(pointer, this);
  graph_memory_now += size;
  graph_memory_most = std::max(graph_memory_most, graph_memory_now);
}

GraphMemory::~GraphMemory() {
  Runtime& runtime = Runtime::instance();
  runtime.own(pointer, nullptr);  // if the program has not freed it, it is its own from now on
  graph_memory_now -= size;
  if (!freed) return;
  try {
    runtime.release(pointer);
  } catch (const Failure&) {  // the device is lost
  }
}

NodeContent launch_content(const Launch& launch) {
  require_launchable(Runtime::instance(), launch);
  NodeContent content;
  content.type = cudaGraphNodeTypeKernel;
  content.launch = launch;
  return content;
}
NodeContent copy_content(Runtime& runtime, const cudaMemcpy3DParms& box) {
  require_node(runtime, box);
  NodeContent content;
  content.type = cudaGraphNodeTypeMemcpy;
  content.copy = box;
  return content;
}
NodeContent copy_content(Runtime& runtime, Rows to, Rows from, std::size_t width, std::size_t height,
                         cudaMemcpyKind kind) {
  cudaMemcpy3DParms box{};
  box.srcPtr = {const_cast<void*>(from.at), from.pitch, width, height};
  box.dstPtr = {const_cast<void*>(to.at), to.pitch, width, height};
  box.extent = {width, height, 1};
  box.kind = kind;
  return copy_content(runtime, box);
}
NodeContent fill_content(Runtime& runtime, const cudaMemsetParams& to) {
  require_node(runtime, to);
  NodeContent content;
  content.type = cudaGraphNodeTypeMemset;
  content.fill = to;
  return content;
}
NodeContent host_content(const cudaHostNodeParams& host) {
  require(host.fn != nullptr, cudaErrorInvalidValue, "the function is null");
  NodeContent content;
  content.type = cudaGraphNodeTypeHost;
  content.host = host;
  return content;
}
NodeContent event_content(cudaGraphNodeType type, cudaEvent_t event) {
  NodeContent content;
  content.type = type;
  require(event != nullptr, cudaErrorInvalidValue, "the event is null");
  content.event = known_event(event);
  return content;
}
NodeContent child_content(const CUgraph_st& child) {
  NodeContent content;
  content.type = cudaGraphNodeTypeGraph;
  content.child = std::make_shared<CUgraph_st>();
  content.child->within = true;
  copy_graph(child, *content.child);
  static_cast<void>(Plan(*content.child));  // it has no ring
  return content;
}
NodeContent allocation_content(std::size_t size) {
  require(size != 0, cudaErrorInvalidValue, "an allocation has at least one byte");
  NodeContent content;
  content.type = cudaGraphNodeTypeMemAlloc;
  content.memory = std::make_shared<GraphMemory>(size);
  return content;
}
NodeContent allocation_content(cudaMemAllocNodeParams& memory) {
  require(memory.poolProps.allocType == cudaMemAllocationTypePinned &&
              memory.poolProps.location.type == cudaMemLocationTypeDevice && memory.poolProps.location.id == 0,
          cudaErrorInvalidValue, "memory of graphs is the device's");
  require(memory.accessDescCount == 0 || memory.accessDescs != nullptr, cudaErrorInvalidValue,
          "the descriptions of access are null");
  NodeContent made = allocation_content(memory.bytesize);
  memory.dptr = made.memory->pointer;
  return made;
}
NodeContent free_content(void* pointer) {
  const Runtime::Region* const region = Runtime::instance().region(pointer);
  require(region != nullptr && region->owner != nullptr, cudaErrorInvalidValue,
          "graphs free what graphs have allocated");
  require(pointer == region->owner->pointer, cudaErrorInvalidValue, "nothing was allocated at this address");
  region->owner->freed = true;
  NodeContent content;
  content.type = cudaGraphNodeTypeMemFree;
  content.freed = pointer;
  return content;
}
NodeContent content_of(Runtime& runtime, const cudaKernelNodeParams& kernel) {
  require(kernel.extra == nullptr, cudaErrorNotSupported, "arguments of a kernel node come by kernelParams");
  Launch launch = launch_of(runtime.function(kernel.func), kernel.gridDim, kernel.blockDim, kernel.kernelParams,
                            kernel.sharedMemBytes);
  launch.name = kernel.func;
  return launch_content(launch);
}
NodeContent content_of(Runtime& runtime, cudaGraphNodeParams& parameters) {
  switch (parameters.type) {
    case cudaGraphNodeTypeKernel:
      return content_of(runtime, parameters.kernel);
    case cudaGraphNodeTypeMemcpy:
      return copy_content(runtime, parameters.memcpy.copyParams);
    case cudaGraphNodeTypeMemset:
      return fill_content(runtime, parameters.memset);
    case cudaGraphNodeTypeHost:
      return host_content(parameters.host);
    case cudaGraphNodeTypeGraph:
      return child_content(known(parameters.graph.graph));
    case cudaGraphNodeTypeWaitEvent:
      return event_content(parameters.type, parameters.eventWait.event);
    case cudaGraphNodeTypeEventRecord:
      return event_content(parameters.type, parameters.eventRecord.event);
    case cudaGraphNodeTypeMemAlloc:
      return allocation_content(parameters.alloc);
    case cudaGraphNodeTypeMemFree:
      return free_content(parameters.free.dptr);
    case cudaGraphNodeTypeEmpty:
      return {};
    case cudaGraphNodeTypeConditional:
      break;
  }
  throw Failure{cudaErrorNotSupported, "nodes of this type are not supported"};
}

}  // namespace heddle::cudart

using namespace heddle::cudart;

#pragma GCC visibility push(default)
extern "C" {

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* kernel) {
  return get("cudaGraphKernelNodeGetParams", node, cudaGraphNodeTypeKernel, kernel, [&](CUgraphNode_st& of) {
    Launch& launch = of.content.launch;
    require(launch.name != nullptr, cudaErrorNotSupported,
            "a kernel that the driver API has launched has no name in the run-time API");
    of.arguments.clear();
    for (const Parameter& each : launch.function->parameters) {
      of.arguments.push_back(launch.arguments.data() + each.offset);
    }
    *kernel = {const_cast<void*>(launch.name), launch.grid, launch.block, 0, of.arguments.data(), nullptr};
    kernel->sharedMemBytes = static_cast<unsigned int>(launch.shared);
  });
}
cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms* box) {
  return get("cudaGraphMemcpyNodeGetParams", node, cudaGraphNodeTypeMemcpy, box,
             [&](CUgraphNode_st& of) { *box = of.content.copy; });
}
cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams* to) {
  return get("cudaGraphMemsetNodeGetParams", node, cudaGraphNodeTypeMemset, to,
             [&](CUgraphNode_st& of) { *to = of.content.fill; });
}
cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams* host) {
  return get("cudaGraphHostNodeGetParams", node, cudaGraphNodeTypeHost, host,
             [&](CUgraphNode_st& of) { *host = of.content.host; });
}
cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* child) {
  return get("cudaGraphChildGraphNodeGetGraph", node, cudaGraphNodeTypeGraph, child,
             [&](CUgraphNode_st& of) { *child = of.content.child.get(); });
}
cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return get("cudaGraphEventRecordNodeGetEvent", node, cudaGraphNodeTypeEventRecord, event,
             [&](CUgraphNode_st& of) { *event = of.content.event; });
}
cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return get("cudaGraphEventWaitNodeGetEvent", node, cudaGraphNodeTypeWaitEvent, event,
             [&](CUgraphNode_st& of) { *event = of.content.event; });
}
cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, cudaMemAllocNodeParams* memory) {
  return get("cudaGraphMemAllocNodeGetParams", node, cudaGraphNodeTypeMemAlloc, memory, [&](CUgraphNode_st& of) {
    *memory = {};
    memory->poolProps.allocType = cudaMemAllocationTypePinned;
    memory->poolProps.location = {cudaMemLocationTypeDevice, 0};
    memory->bytesize = of.content.memory->size;
    memory->dptr = of.content.memory->pointer;
  });
}
cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* pointer) {
  return get("cudaGraphMemFreeNodeGetParams", node, cudaGraphNodeTypeMemFree, pointer,
             [&](CUgraphNode_st& of) { std::memcpy(pointer, &of.content.freed, sizeof of.content.freed); });
}

cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, cudaGraphNodeParams* parameters) {
  return set("cudaGraphNodeSetParams", node, [&](Runtime& runtime) {
    require_places(parameters);
    return content_of(runtime, *parameters);
  });
}
cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* kernel) {
  return set("cudaGraphKernelNodeSetParams", node, [&](Runtime& runtime) {
    require_places(kernel);
    return content_of(runtime, *kernel);
  });
}
cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms* box) {
  return set("cudaGraphMemcpyNodeSetParams", node, [&](Runtime& runtime) {
    require_places(box);
    return copy_content(runtime, *box);
  });
}
cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to, const void* from, size_t size,
                                           cudaMemcpyKind kind) {
  return set("cudaGraphMemcpyNodeSetParams1D", node, [&](Runtime& runtime) {
    return copy_content(runtime, {to, size}, {from, size}, size, 1, kind);
  });
}
cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void* symbol, const void* from,
                                                 size_t size, size_t offset, cudaMemcpyKind kind) {
  return set("cudaGraphMemcpyNodeSetParamsToSymbol", node, [&](Runtime& runtime) {
    return copy_content(runtime, {address_of(runtime, symbol, size, offset), size}, {from, size}, size, 1, kind);
  });
}
cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void* to, const void* symbol, size_t size,
                                                   size_t offset, cudaMemcpyKind kind) {
  return set("cudaGraphMemcpyNodeSetParamsFromSymbol", node, [&](Runtime& runtime) {
    return copy_content(runtime, {to, size}, {address_of(runtime, symbol, size, offset), size}, size, 1, kind);
  });
}
cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* to) {
  return set("cudaGraphMemsetNodeSetParams", node, [&](Runtime& runtime) {
    require_places(to);
    return fill_content(runtime, *to);
  });
}
cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* host) {
  return set("cudaGraphHostNodeSetParams", node, [&](Runtime&) {
    require_places(host);
    return host_content(*host);
  });
}
cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return set("cudaGraphEventRecordNodeSetEvent", node,
             [&](Runtime&) { return event_content(cudaGraphNodeTypeEventRecord, event); });
}
cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return set("cudaGraphEventWaitNodeSetEvent", node,
             [&](Runtime&) { return event_content(cudaGraphNodeTypeWaitEvent, event); });
}

cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                       cudaGraphNodeParams* parameters) {
  return set("cudaGraphExecNodeSetParams", executable, node, [&](Runtime& runtime) {
    require_places(parameters);
    return content_of(runtime, *parameters);
  });
}
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* kernel) {
  return set("cudaGraphExecKernelNodeSetParams", executable, node, [&](Runtime& runtime) {
    require_places(kernel);
    return content_of(runtime, *kernel);
  });
}
cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaMemcpy3DParms* box) {
  return set("cudaGraphExecMemcpyNodeSetParams", executable, node, [&](Runtime& runtime) {
    require_places(box);
    return copy_content(runtime, *box);
  });
}
cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t executable, cudaGraphNode_t node, void* to,
                                               const void* from, size_t size, cudaMemcpyKind kind) {
  return set("cudaGraphExecMemcpyNodeSetParams1D", executable, node, [&](Runtime& runtime) {
    return copy_content(runtime, {to, size}, {from, size}, size, 1, kind);
  });
}
cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                     const void* symbol, const void* from, size_t size, size_t offset,
                                                     cudaMemcpyKind kind) {
  return set("cudaGraphExecMemcpyNodeSetParamsToSymbol", executable, node, [&](Runtime& runtime) {
    return copy_content(runtime, {address_of(runtime, symbol, size, offset), size}, {from, size}, size, 1, kind);
  });
}
cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t executable, cudaGraphNode_t node, void* to,
                                                       const void* symbol, size_t size, size_t offset,
                                                       cudaMemcpyKind kind) {
  return set("cudaGraphExecMemcpyNodeSetParamsFromSymbol", executable, node, [&](Runtime& runtime) {
    return copy_content(runtime, {to, size}, {address_of(runtime, symbol, size, offset), size}, size, 1, kind);
  });
}
cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaMemsetParams* to) {
  return set("cudaGraphExecMemsetNodeSetParams", executable, node, [&](Runtime& runtime) {
    require_places(to);
    return fill_content(runtime, *to);
  });
}
cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                           const cudaHostNodeParams* host) {
  return set("cudaGraphExecHostNodeSetParams", executable, node, [&](Runtime&) {
    require_places(host);
    return host_content(*host);
  });
}
cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node, cudaGraph_t child) {
  return set("cudaGraphExecChildGraphNodeSetParams", executable, node,
             [&](Runtime&) { return child_content(known(child)); });
}
cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t executable, cudaGraphNode_t node, cudaEvent_t event) {
  return set("cudaGraphExecEventRecordNodeSetEvent", executable, node,
             [&](Runtime&) { return event_content(cudaGraphNodeTypeEventRecord, event); });
}
cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t executable, cudaGraphNode_t node, cudaEvent_t event) {
  return set("cudaGraphExecEventWaitNodeSetEvent", executable, node,
             [&](Runtime&) { return event_content(cudaGraphNodeTypeWaitEvent, event); });
}
cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t executable, cudaGraphNode_t node, unsigned int enabled) {
  return guarded("cudaGraphNodeSetEnabled", [&](Runtime&) {
    NodeContent& content = node_of(executable, node).content;
    require(content.type == cudaGraphNodeTypeKernel || content.type == cudaGraphNodeTypeMemcpy ||
                content.type == cudaGraphNodeTypeMemset,
            cudaErrorInvalidValue, "kernels, copies and fills alone can be left out");
    content.enabled = enabled != 0;
  });
}
cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t executable, cudaGraphNode_t node, unsigned int* enabled) {
  return guarded("cudaGraphNodeGetEnabled", [&](Runtime&) {
    require_places(enabled);
    *enabled = node_of(executable, node).content.enabled ? 1 : 0;
  });
}

cudaError_t cudaDeviceGraphMemTrim(int device) {
  return guarded("cudaDeviceGraphMemTrim", [&](Runtime&) { require_device(device); });
}
cudaError_t cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute, void* value) {
  return guarded("cudaDeviceGetGraphMemAttribute", [&](Runtime&) {
    require_device(device);
    require(attribute >= cudaGraphMemAttrUsedMemCurrent && attribute <= cudaGraphMemAttrReservedMemHigh,
            cudaErrorInvalidValue, "this attribute is not known");
    require_places(value);
    const bool most = attribute == cudaGraphMemAttrUsedMemHigh || attribute == cudaGraphMemAttrReservedMemHigh;
    const std::uint64_t bytes = most ? graph_memory_most : graph_memory_now;
    std::memcpy(value, &bytes, sizeof bytes);
  });
}
cudaError_t cudaDeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute, void* value) {
  return guarded("cudaDeviceSetGraphMemAttribute", [&](Runtime&) {
    require_device(device);
    require(attribute == cudaGraphMemAttrUsedMemHigh || attribute == cudaGraphMemAttrReservedMemHigh,
            cudaErrorInvalidValue, "marks of the most memory alone can be set, to 0");
    require_places(value);
    require_zero(value);
    graph_memory_most = graph_memory_now;
  });
}

}  // extern "C"
#pragma GCC visibility pop
