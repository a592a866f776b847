// Graphs made by hand: nodes and what they wait for.
#include "tb/cudart/graphs.hpp"

#include <algorithm>
#include <cstdio>
#include <string>

CUgraphNode_st* CUgraph_st::add(heddle::cudart::NodeContent content, std::vector<CUgraphNode_st*> after) {
  nodes.push_back(std::make_unique<CUgraphNode_st>());
  CUgraphNode_st* const node = nodes.back().get();
  node->content = std::move(content);
  node->after = std::move(after);
  node->graph = this;
  return node;
}

namespace heddle::cudart {

NodeCopies copy_graph(const CUgraph_st& from, CUgraph_st& to) {
  NodeCopies copies;
  for (const auto& node : from.nodes) {
    CUgraphNode_st* const copy = to.add(node->content, {});
    copy->original = node.get();
    copies[node.get()] = copy;
  }
  for (const auto& node : from.nodes) {
    for (const CUgraphNode_st* const before : node->after) copies[node.get()]->after.push_back(copies.at(before));
  }
  return copies;
}

namespace {

std::vector<CUgraphNode_st*> dependencies(const cudaGraphNode_t* nodes, std::size_t count, const CUgraph_st& graph) {
  std::vector<CUgraphNode_st*> after;
  for (std::size_t i = 0; i < count; ++i) {
    require(nodes[i] != nullptr && nodes[i]->graph == &graph, cudaErrorInvalidValue,
            "a node that another is to wait for is not of the graph");
    if (std::find(after.begin(), after.end(), nodes[i]) == after.end()) after.push_back(nodes[i]);
  }
  return after;
}

CUgraph_st& known(cudaGraph_t graph) {
  require(graph != nullptr, cudaErrorInvalidValue, "the graph is null");
  return *graph;
}
CUgraphNode_st& known(cudaGraphNode_t node) {
  require(node != nullptr, cudaErrorInvalidValue, "the node is null");
  return *node;
}

// `content(runtime)` makes what the node does, before it is in the graph: it may be refused.
template <class Content>
cudaError_t add(const char* name, cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                std::size_t count, Content&& content) {
  return guarded(name, [&](Runtime& runtime) {
    require(node != nullptr, cudaErrorInvalidValue, "the node's address is null");
    NodeContent made = content(runtime);
    *node = known(graph).add(std::move(made), dependencies(after, count, *graph));
  });
}

// Release 13's functions have what edges carry in front of the number of nodes. Nothing: the default.
bool has_edges() {
  return program_release() >= 13;
}
std::size_t count_of(std::uintptr_t edges_or_count, std::size_t count) {
  if (!has_edges()) return edges_or_count;
  require(edges_or_count == 0, cudaErrorNotSupported, "edges carry nothing but that one node waits for the other");
  return count;
}
std::size_t* place_of_count(void* edges_or_count, std::size_t* count) {
  return has_edges() ? count : static_cast<std::size_t*>(edges_or_count);
}

// As CUDA lists things: the first *count of them, and how many there are when `list` is null.
template <class T>
void give(const std::vector<T>& all, T* list, std::size_t* count) {
  if (list != nullptr) std::copy_n(all.begin(), std::min(*count, all.size()), list);
  *count = list == nullptr ? all.size() : std::min(*count, all.size());
}

const char* word_for(cudaGraphNodeType type) {
  switch (type) {
    case cudaGraphNodeTypeKernel:
      return "kernel";
    case cudaGraphNodeTypeMemcpy:
      return "copy";
    case cudaGraphNodeTypeMemset:
      return "fill";
    case cudaGraphNodeTypeHost:
      return "host";
    case cudaGraphNodeTypeGraph:
      return "graph";
    case cudaGraphNodeTypeWaitEvent:
      return "wait";
    case cudaGraphNodeTypeEventRecord:
      return "record";
    case cudaGraphNodeTypeMemAlloc:
      return "allocate";
    case cudaGraphNodeTypeMemFree:
      return "free";
    case cudaGraphNodeTypeConditional:
    case cudaGraphNodeTypeEmpty:
      break;
  }
  return "empty";
}

std::string dot_text(const CUgraph_st& graph) {
  std::string text = "digraph graph_of_cuda {\n";
  std::map<const CUgraphNode_st*, std::size_t> numbers;
  for (const auto& node : graph.nodes) {
    const std::size_t number = numbers.size();
    numbers[node.get()] = number;
    text += "  n" + std::to_string(number) + " [label=\"" + std::to_string(number) + " " + word_for(node->content.type);
    if (node->content.launch.function != nullptr) text += " " + node->content.launch.function->name;
    text += "\"];\n";
  }
  for (const auto& node : graph.nodes) {
    for (const CUgraphNode_st* const before : node->after) {
      text += "  n" + std::to_string(numbers[before]) + " -> n" + std::to_string(numbers[node.get()]) + ";\n";
    }
  }
  return text + "}\n";
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
  return guarded("cudaGraphDestroy", [&](Runtime&) { delete &known(graph); });
}
cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t graph) {
  return guarded("cudaGraphClone", [&](Runtime&) {
    auto made = std::make_unique<CUgraph_st>();
    copy_graph(known(graph), *made);
    *clone = made.release();
  });
}
cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* node, cudaGraphNode_t original, cudaGraph_t clone) {
  return guarded("cudaGraphNodeFindInClone", [&](Runtime&) {
    const auto& all = known(clone).nodes;
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one->original == original; });
    require(original != nullptr && found != all.end(), cudaErrorInvalidValue, "the graph is no clone of the node's");
    *node = found->get();
  });
}

cudaError_t graph_add_node(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                           std::uintptr_t fourth, std::uintptr_t fifth,
                           cudaGraphNodeParams* sixth) __asm__("cudaGraphAddNode");
cudaError_t graph_add_node(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                           std::uintptr_t fourth, std::uintptr_t fifth, cudaGraphNodeParams* sixth) {
  auto* const parameters = has_edges() ? sixth : reinterpret_cast<cudaGraphNodeParams*>(fifth);
  return add("cudaGraphAddNode", node, graph, after, count_of(fourth, fifth),
             [&](Runtime& runtime) { return content_of(runtime, *parameters); });
}
cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                                   const cudaKernelNodeParams* kernel) {
  return add("cudaGraphAddKernelNode", node, graph, after, count,
             [&](Runtime& runtime) { return content_of(runtime, *kernel); });
}
cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                                   const cudaMemcpy3DParms* box) {
  return add("cudaGraphAddMemcpyNode", node, graph, after, count, [&](Runtime&) { return copy_content(*box); });
}
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                     size_t count, void* to, const void* from, size_t size, cudaMemcpyKind kind) {
  return add("cudaGraphAddMemcpyNode1D", node, graph, after, count, [&](Runtime&) {
    return copy_content({to, size}, {from, size}, size, 1, kind);
  });
}
cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                           size_t count, const void* symbol, const void* from, size_t size,
                                           size_t offset, cudaMemcpyKind kind) {
  return add("cudaGraphAddMemcpyNodeToSymbol", node, graph, after, count, [&](Runtime& runtime) {
    return copy_content({address_of(runtime, symbol, size, offset), size}, {from, size}, size, 1, kind);
  });
}
cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                             size_t count, void* to, const void* symbol, size_t size, size_t offset,
                                             cudaMemcpyKind kind) {
  return add("cudaGraphAddMemcpyNodeFromSymbol", node, graph, after, count, [&](Runtime& runtime) {
    return copy_content({to, size}, {address_of(runtime, symbol, size, offset), size}, size, 1, kind);
  });
}
cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                                   const cudaMemsetParams* to) {
  return add("cudaGraphAddMemsetNode", node, graph, after, count, [&](Runtime&) { return fill_content(*to); });
}
cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                                 const cudaHostNodeParams* host) {
  return add("cudaGraphAddHostNode", node, graph, after, count, [&](Runtime&) { return host_content(*host); });
}
cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                  size_t count) {
  return add("cudaGraphAddEmptyNode", node, graph, after, count, [](Runtime&) { return NodeContent{}; });
}
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                       size_t count, cudaGraph_t child) {
  return add("cudaGraphAddChildGraphNode", node, graph, after, count,
             [&](Runtime&) { return child_content(known(child)); });
}
cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                        size_t count, cudaEvent_t event) {
  return add("cudaGraphAddEventRecordNode", node, graph, after, count,
             [&](Runtime&) { return event_content(cudaGraphNodeTypeEventRecord, event); });
}
cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                      size_t count, cudaEvent_t event) {
  return add("cudaGraphAddEventWaitNode", node, graph, after, count,
             [&](Runtime&) { return event_content(cudaGraphNodeTypeWaitEvent, event); });
}
cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                     size_t count, cudaMemAllocNodeParams* memory) {
  return add("cudaGraphAddMemAllocNode", node, graph, after, count, [&](Runtime&) {
    NodeContent made = allocation_content(memory->bytesize);
    memory->dptr = made.memory->pointer;
    return made;
  });
}
cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                    size_t count, void* pointer) {
  return add("cudaGraphAddMemFreeNode", node, graph, after, count, [&](Runtime&) { return free_content(pointer); });
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
  return guarded("cudaGraphDestroyNode", [&](Runtime&) {
    auto& nodes = known(known(node).graph).nodes;
    for (const auto& other : nodes) {
      other->after.erase(std::remove(other->after.begin(), other->after.end(), node), other->after.end());
    }
    nodes.erase(std::find_if(nodes.begin(), nodes.end(), [&](const auto& one) { return one.get() == node; }));
  });
}
// Release 13 has what edges carry in front of the number of them; here they carry nothing.
cudaError_t graph_add_dependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                   std::uintptr_t fourth, std::size_t fifth) __asm__("cudaGraphAddDependencies");
cudaError_t graph_add_dependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                   std::uintptr_t fourth, std::size_t fifth) {
  return guarded("cudaGraphAddDependencies", [&](Runtime&) {
    const std::size_t count = count_of(fourth, fifth);
    for (std::size_t i = 0; i < count; ++i) {
      const std::vector<CUgraphNode_st*> before = dependencies(from + i, 1, known(graph));
      std::vector<CUgraphNode_st*>& after = dependencies(to + i, 1, *graph).front()->after;
      if (std::find(after.begin(), after.end(), before.front()) == after.end()) after.push_back(before.front());
    }
  });
}
cudaError_t graph_remove_dependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                      std::uintptr_t fourth, std::size_t fifth) __asm__("cudaGraphRemoveDependencies");
cudaError_t graph_remove_dependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                      std::uintptr_t fourth, std::size_t fifth) {
  return guarded("cudaGraphRemoveDependencies", [&](Runtime&) {
    const std::size_t count = count_of(fourth, fifth);
    for (std::size_t i = 0; i < count; ++i) {
      std::vector<CUgraphNode_st*>& after = dependencies(to + i, 1, known(graph)).front()->after;
      const auto found = std::find(after.begin(), after.end(), from[i]);
      require(found != after.end(), cudaErrorInvalidValue, "a node does not wait for the one that is named");
      after.erase(found);
    }
  });
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  return guarded("cudaGraphGetNodes", [&](Runtime&) {
    std::vector<cudaGraphNode_t> all;
    for (const auto& node : known(graph).nodes) all.push_back(node.get());
    give(all, nodes, count);
  });
}
cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  return guarded("cudaGraphGetRootNodes", [&](Runtime&) {
    std::vector<cudaGraphNode_t> all;
    for (const auto& node : known(graph).nodes) {
      if (node->after.empty()) all.push_back(node.get());
    }
    give(all, nodes, count);
  });
}
cudaError_t graph_get_edges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, void* fourth,
                            std::size_t* fifth) __asm__("cudaGraphGetEdges");
cudaError_t graph_get_edges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, void* fourth,
                            std::size_t* fifth) {
  return guarded("cudaGraphGetEdges", [&](Runtime&) {
    std::size_t* const count = place_of_count(fourth, fifth);
    std::vector<cudaGraphNode_t> begins;
    std::vector<cudaGraphNode_t> ends;
    for (const auto& node : known(graph).nodes) {
      begins.insert(begins.end(), node->after.begin(), node->after.end());
      ends.insert(ends.end(), node->after.size(), node.get());
    }
    std::size_t again = *count;
    give(begins, from, count);
    give(ends, to, &again);
  });
}
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  return guarded("cudaGraphNodeGetType", [&](Runtime&) { *type = known(node).content.type; });
}
cudaError_t node_get_dependencies(cudaGraphNode_t node, cudaGraphNode_t* nodes, void* third,
                                  std::size_t* fourth) __asm__("cudaGraphNodeGetDependencies");
cudaError_t node_get_dependencies(cudaGraphNode_t node, cudaGraphNode_t* nodes, void* third, std::size_t* fourth) {
  return guarded("cudaGraphNodeGetDependencies",
                 [&](Runtime&) { give(known(node).after, nodes, place_of_count(third, fourth)); });
}
cudaError_t node_get_dependent_nodes(cudaGraphNode_t node, cudaGraphNode_t* nodes, void* third,
                                     std::size_t* fourth) __asm__("cudaGraphNodeGetDependentNodes");
cudaError_t node_get_dependent_nodes(cudaGraphNode_t node, cudaGraphNode_t* nodes, void* third, std::size_t* fourth) {
  return guarded("cudaGraphNodeGetDependentNodes", [&](Runtime&) {
    std::vector<cudaGraphNode_t> all;
    for (const auto& other : known(known(node).graph).nodes) {
      if (std::find(other->after.begin(), other->after.end(), node) != other->after.end()) all.push_back(other.get());
    }
    give(all, nodes, place_of_count(third, fourth));
  });
}
cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned int) {
  return guarded("cudaGraphDebugDotPrint", [&](Runtime&) {
    const std::string text = dot_text(known(graph));
    std::FILE* const file = std::fopen(path, "w");
    require(file != nullptr, cudaErrorInvalidValue, "the file cannot be written");
    const bool whole = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    require(std::fclose(file) == 0 && whole, cudaErrorInvalidValue, "the file cannot be written");
  });
}

}  // extern "C"
#pragma GCC visibility pop
