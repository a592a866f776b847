// Graphs: made by hand, and run.
#include "tb/cudart/graphs.hpp"

#include <algorithm>
#include <map>
#include <set>

struct CUgraphExec_st {
  CUgraph_st graph;                                          // a copy
  std::vector<CUgraphNode_st*> order;                        // each behind what it waits for
  std::map<const CUgraphNode_st*, CUgraphNode_st*> copy_of;  // of the graph's nodes
};

CUgraphNode_st* CUgraph_st::add(cudaGraphNodeType type, std::vector<CUgraphNode_st*> after) {
  nodes.push_back(std::make_unique<CUgraphNode_st>());
  CUgraphNode_st* const node = nodes.back().get();
  node->type = type;
  node->after = std::move(after);
  node->graph = this;
  return node;
}

namespace heddle::cudart {
namespace {

using Copies = std::map<const CUgraphNode_st*, CUgraphNode_st*>;

Copies copy_graph(const CUgraph_st& from, CUgraph_st& to) {
  Copies copies;
  for (const auto& node : from.nodes) {
    CUgraphNode_st* const copy = to.add(node->type, {});
    copy->work = node->work;
    copy->launch = node->launch;
    copy->kernel = node->kernel;
    copies[node.get()] = copy;
  }
  for (const auto& node : from.nodes) {
    for (const CUgraphNode_st* const before : node->after) copies[node.get()]->after.push_back(copies.at(before));
  }
  return copies;
}

// The nodes, each behind those that it waits for; of several that can run, the one that was added first.
std::vector<CUgraphNode_st*> ordered(const CUgraph_st& graph) {
  std::map<const CUgraphNode_st*, std::size_t> waits;
  std::map<const CUgraphNode_st*, std::vector<std::size_t>> followers;
  std::set<std::size_t> ready;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const CUgraphNode_st* const node = graph.nodes[i].get();
    waits[node] = node->after.size();
    for (const CUgraphNode_st* const before : node->after) followers[before].push_back(i);
    if (node->after.empty()) ready.insert(i);
  }
  std::vector<CUgraphNode_st*> order;
  while (!ready.empty()) {
    CUgraphNode_st* const node = graph.nodes[*ready.begin()].get();
    ready.erase(ready.begin());
    order.push_back(node);
    for (const std::size_t follower : followers[node]) {
      if (--waits[graph.nodes[follower].get()] == 0) ready.insert(follower);
    }
  }
  require(order.size() == graph.nodes.size(), cudaErrorInvalidValue,
          "nodes of the graph wait for each other in a ring");
  return order;
}

void run(Runtime& runtime, const std::vector<CUgraphNode_st*>& order, cudaStream_t stream) {
  for (const CUgraphNode_st* const node : order) {
    if (node->work) {
      node->work(runtime, stream);
    } else if (node->type == cudaGraphNodeTypeKernel) {
      launch(runtime, node->launch, stream);
    }
  }
}

std::vector<CUgraphNode_st*> dependencies(const cudaGraphNode_t* nodes, std::size_t count, const CUgraph_st& graph) {
  std::vector<CUgraphNode_st*> after;
  for (std::size_t i = 0; i < count; ++i) {
    require(nodes[i] != nullptr && nodes[i]->graph == &graph, cudaErrorInvalidValue,
            "a node that another is to wait for is not of the graph");
    if (std::find(after.begin(), after.end(), nodes[i]) == after.end()) after.push_back(nodes[i]);
  }
  return after;
}

void set_kernel(Runtime& runtime, CUgraphNode_st& node, const cudaKernelNodeParams& kernel) {
  require(kernel.extra == nullptr, cudaErrorNotSupported, "arguments of a kernel node come by kernelParams");
  node.kernel = kernel;
  const bool cooperative = node.launch.cooperative;
  node.launch = launch_of(runtime.function(kernel.func), kernel.gridDim, kernel.blockDim, kernel.kernelParams,
                          kernel.sharedMemBytes);
  node.launch.cooperative = cooperative;
}

NodeWork work_of(const cudaMemcpy3DParms& box) {
  return [=](Runtime& runtime, cudaStream_t stream) { transfer_3d(runtime, box, stream, true); };
}
NodeWork work_of(const cudaMemsetParams& to) {
  return [=](Runtime& runtime, cudaStream_t stream) {
    fill(runtime, to.dst, to.pitch, to.value, to.elementSize, to.width * to.elementSize, to.height, stream);
  };
}
NodeWork copy_work(void* to, const void* from, std::size_t size, cudaMemcpyKind kind) {
  return [=](Runtime& runtime, cudaStream_t stream) {
    transfer(runtime, {to, size}, {from, size}, size, 1, kind, stream, true);
  };
}

template <class Set>
cudaError_t add(const char* name, cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                std::size_t count, cudaGraphNodeType type, Set&& set) {
  return guarded(name, [&](Runtime& runtime) {
    require(graph != nullptr && node != nullptr, cudaErrorInvalidValue, "the graph or the node's address is null");
    CUgraphNode_st made;
    set(runtime, made);  // before it is in the graph: it may be refused
    CUgraphNode_st* const added = graph->add(type, dependencies(after, count, *graph));
    added->work = std::move(made.work);
    added->launch = std::move(made.launch);
    added->kernel = made.kernel;
    *node = added;
  });
}

// Changes a node of a graph that can be launched.
template <class Set>
cudaError_t change(const char* name, cudaGraphExec_t executable, cudaGraphNode_t node, cudaGraphNodeType type,
                   Set&& set) {
  return guarded(name, [&](Runtime& runtime) {
    require(executable != nullptr, cudaErrorInvalidValue, "the graph is null");
    const auto found = executable->copy_of.find(node);
    require(found != executable->copy_of.end() && node->type == type, cudaErrorInvalidValue,
            "the node is none of this kind in the graph that this one was made of");
    set(runtime, *found->second);
  });
}

// As CUDA lists things: the first *count of them, and how many there are when `list` is null.
template <class T>
void give(const std::vector<T>& all, T* list, std::size_t* count) {
  if (list != nullptr) std::copy_n(all.begin(), std::min(*count, all.size()), list);
  *count = list == nullptr ? all.size() : std::min(*count, all.size());
}

}  // namespace
}  // namespace heddle::cudart

using namespace heddle::cudart;

#pragma GCC visibility push(default)
extern "C" {

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned int) {
  *graph = new CUgraph_st;
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return guarded("cudaGraphDestroy", [&](Runtime&) {
    require(graph != nullptr, cudaErrorInvalidValue, "the graph is null");
    delete graph;
  });
}
cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t graph) {
  return guarded("cudaGraphClone", [&](Runtime&) {
    auto made = std::make_unique<CUgraph_st>();
    copy_graph(*graph, *made);
    *clone = made.release();
  });
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                                   const cudaKernelNodeParams* kernel) {
  return add("cudaGraphAddKernelNode", node, graph, after, count, cudaGraphNodeTypeKernel,
             [&](Runtime& runtime, CUgraphNode_st& made) { set_kernel(runtime, made, *kernel); });
}
cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                                   const cudaMemcpy3DParms* box) {
  return add("cudaGraphAddMemcpyNode", node, graph, after, count, cudaGraphNodeTypeMemcpy,
             [&](Runtime&, CUgraphNode_st& made) { made.work = work_of(*box); });
}
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                     size_t count, void* to, const void* from, size_t size, cudaMemcpyKind kind) {
  return add("cudaGraphAddMemcpyNode1D", node, graph, after, count, cudaGraphNodeTypeMemcpy,
             [&](Runtime&, CUgraphNode_st& made) { made.work = copy_work(to, from, size, kind); });
}
cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                                   const cudaMemsetParams* to) {
  return add("cudaGraphAddMemsetNode", node, graph, after, count, cudaGraphNodeTypeMemset,
             [&](Runtime&, CUgraphNode_st& made) {
               require(to->elementSize == 1 || to->elementSize == 2 || to->elementSize == 4, cudaErrorInvalidValue,
                       "elements have 1, 2 or 4 bytes");
               made.work = work_of(*to);
             });
}
cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                                 const cudaHostNodeParams* host) {
  return add("cudaGraphAddHostNode", node, graph, after, count, cudaGraphNodeTypeHost,
             [&](Runtime&, CUgraphNode_st& made) { made.work = host_work(host->fn, host->userData); });
}
cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                  size_t count) {
  return add("cudaGraphAddEmptyNode", node, graph, after, count, cudaGraphNodeTypeEmpty,
             [](Runtime&, CUgraphNode_st&) {});
}
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                       size_t count, cudaGraph_t child) {
  return add("cudaGraphAddChildGraphNode", node, graph, after, count, cudaGraphNodeTypeGraph,
             [&](Runtime&, CUgraphNode_st& made) {
               require(child != nullptr, cudaErrorInvalidValue, "the graph within is null");
               const auto copy = std::make_shared<CUgraph_st>();
               copy_graph(*child, *copy);
               made.work = [copy, order = ordered(*copy)](Runtime& runtime, cudaStream_t stream) {
                 run(runtime, order, stream);
               };
             });
}
cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                     size_t count) {
  return guarded("cudaGraphAddDependencies", [&](Runtime&) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::vector<CUgraphNode_st*> before = dependencies(from + i, 1, *graph);
      std::vector<CUgraphNode_st*>& after = dependencies(to + i, 1, *graph).front()->after;
      if (std::find(after.begin(), after.end(), before.front()) == after.end()) after.push_back(before.front());
    }
  });
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  return guarded("cudaGraphGetNodes", [&](Runtime&) {
    std::vector<cudaGraphNode_t> all;
    for (const auto& node : graph->nodes) all.push_back(node.get());
    give(all, nodes, count);
  });
}
cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  return guarded("cudaGraphGetRootNodes", [&](Runtime&) {
    std::vector<cudaGraphNode_t> all;
    for (const auto& node : graph->nodes) {
      if (node->after.empty()) all.push_back(node.get());
    }
    give(all, nodes, count);
  });
}
cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, size_t* count) {
  return guarded("cudaGraphGetEdges", [&](Runtime&) {
    std::vector<cudaGraphNode_t> begins;
    std::vector<cudaGraphNode_t> ends;
    for (const auto& node : graph->nodes) {
      begins.insert(begins.end(), node->after.begin(), node->after.end());
      ends.insert(ends.end(), node->after.size(), node.get());
    }
    std::size_t again = *count;
    give(begins, from, count);
    give(ends, to, &again);
  });
}
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  *type = node->type;
  return cudaSuccess;
}
cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* nodes, size_t* count) {
  give(node->after, nodes, count);
  return cudaSuccess;
}
cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* kernel) {
  return guarded("cudaGraphKernelNodeGetParams", [&](Runtime&) {
    require(node->type == cudaGraphNodeTypeKernel, cudaErrorInvalidValue, "the node is no kernel");
    require(node->kernel.func != nullptr, cudaErrorNotSupported,
            "the arguments of a kernel that a stream has recorded are not kept one by one");
    *kernel = node->kernel;
  });
}
cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* kernel) {
  return guarded("cudaGraphKernelNodeSetParams", [&](Runtime& runtime) {
    require(node->type == cudaGraphNodeTypeKernel, cudaErrorInvalidValue, "the node is no kernel");
    set_kernel(runtime, *node, *kernel);
  });
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long) {
  return guarded("cudaGraphInstantiate", [&](Runtime&) {
    require(graph != nullptr && executable != nullptr, cudaErrorInvalidValue, "the graph is null");
    auto made = std::make_unique<CUgraphExec_st>();
    made->copy_of = copy_graph(*graph, made->graph);
    made->order = ordered(made->graph);
    *executable = made.release();
  });
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, cudaGraphNode_t*, char*, size_t) {
  return cudaGraphInstantiateWithFlags(executable, graph, 0);
}
cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) {
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  return guarded("cudaGraphLaunch", [&](Runtime& runtime) {
    require(executable != nullptr, cudaErrorInvalidValue, "the graph is null");
    run(runtime, executable->order, stream);
  });
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  return guarded("cudaGraphExecDestroy", [&](Runtime&) {
    require(executable != nullptr, cudaErrorInvalidValue, "the graph is null");
    delete executable;
  });
}
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* kernel) {
  return change("cudaGraphExecKernelNodeSetParams", executable, node, cudaGraphNodeTypeKernel,
                [&](Runtime& runtime, CUgraphNode_st& copy) { set_kernel(runtime, copy, *kernel); });
}
cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t executable, cudaGraphNode_t node, void* to,
                                               const void* from, size_t size, cudaMemcpyKind kind) {
  return change("cudaGraphExecMemcpyNodeSetParams1D", executable, node, cudaGraphNodeTypeMemcpy,
                [&](Runtime&, CUgraphNode_st& copy) { copy.work = copy_work(to, from, size, kind); });
}
cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaMemsetParams* to) {
  return change("cudaGraphExecMemsetNodeSetParams", executable, node, cudaGraphNodeTypeMemset,
                [&](Runtime&, CUgraphNode_st& copy) { copy.work = work_of(*to); });
}
cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                           const cudaHostNodeParams* host) {
  return change("cudaGraphExecHostNodeSetParams", executable, node, cudaGraphNodeTypeHost,
                [&](Runtime&, CUgraphNode_st& copy) { copy.work = host_work(host->fn, host->userData); });
}

}  // extern "C"
#pragma GCC visibility pop
