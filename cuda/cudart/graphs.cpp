// Graphs made by hand: nodes and what they wait for.
#include "cuda/cudart/graphs.hpp"

#include <algorithm>
#include <cstdio>
#include <string>

CUgraphNode_st* CUgraph_st::add(heddle::cudart::NodeContent content, std::vector<CUgraphNode_st*> after) {
  const bool frees_again =
      content.type == cudaGraphNodeTypeMemFree && std::any_of(nodes.begin(), nodes.end(), [&](const auto& other) {
        return other->content.type == cudaGraphNodeTypeMemFree && other->content.freed == content.freed;
      });
  heddle::cudart::require(!frees_again, cudaErrorInvalidValue, "the graph frees this memory already");
  nodes.push_back(std::make_unique<CUgraphNode_st>());
  CUgraphNode_st* const node = nodes.back().get();
  node->content = std::move(content);
  node->after = std::move(after);
  node->graph = this;
  return node;
}

bool CUgraph_st::has_memory() const {
  return std::any_of(nodes.begin(), nodes.end(), [](const auto& node) {
    return node->content.type == cudaGraphNodeTypeMemAlloc || node->content.type == cudaGraphNodeTypeMemFree ||
           (node->content.child && node->content.child->has_memory());
  });
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

CUgraph_st& known(cudaGraph_t graph) {
  require(graph != nullptr, cudaErrorInvalidValue, "the graph is null");
  require(Living<CUgraph_st>::has(graph), cudaErrorInvalidValue, "there is no such graph");
  return *graph;
}
CUgraphNode_st& known(cudaGraphNode_t node) {
  require(node != nullptr, cudaErrorInvalidValue, "the node is null");
  require(Living<CUgraphNode_st>::has(node), cudaErrorInvalidValue, "there is no such node");
  return *node;
}
CUgraphExec_st& known(cudaGraphExec_t executable) {
  require(executable != nullptr, cudaErrorInvalidValue, "the graph is null");
  require(Living<CUgraphExec_st>::has(executable), cudaErrorInvalidValue, "there is no such graph to be launched");
  return *executable;
}

namespace {

std::vector<CUgraphNode_st*> dependencies(const cudaGraphNode_t* nodes, std::size_t count, const CUgraph_st& graph) {
  std::vector<CUgraphNode_st*> after;
  require(count <= graph.nodes.size(), cudaErrorInvalidValue, "more nodes are named than the graph has");
  if (count != 0) require_places(nodes);
  for (std::size_t i = 0; i < count; ++i) {
    require(Living<CUgraphNode_st>::has(nodes[i]) && nodes[i]->graph == &graph, cudaErrorInvalidValue,
            "a node that another is to wait for is not of the graph");
    require(std::find(after.begin(), after.end(), nodes[i]) == after.end(), cudaErrorInvalidValue,
            "a node is named twice");
    after.push_back(nodes[i]);
  }
  return after;
}

// Memory of a graph is one graph's: CUDA does not copy such graphs, or take anything out of them.
void require_no_memory(const CUgraph_st& graph) {
  require(!graph.has_memory(), cudaErrorNotSupported, "the graph has nodes that allocate or free memory");
}

// `content(runtime)` makes what the node does, before it is in the graph: it may be refused.
template <class Content>
cudaError_t add(const char* name, cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                std::size_t count, Content&& content) {
  return guarded(name, [&](Runtime& runtime) {
    require_places(node);
    std::vector<CUgraphNode_st*> before = dependencies(after, count, known(graph));
    *node = graph->add(content(runtime), std::move(before));
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

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned int flags) {
  return guarded("cudaGraphCreate", [&](Runtime&) {
    require_places(graph);
    require(flags == 0, cudaErrorInvalidValue, "the flags are not 0");
    *graph = new CUgraph_st;
  });
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return guarded("cudaGraphDestroy", [&](Runtime&) {
    require(!known(graph).within, cudaErrorInvalidValue, "the graph is of a node, which alone destroys it");
    require_not_recorded_into(known(graph));
    delete graph;
  });
}
cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t graph) {
  return guarded("cudaGraphClone", [&](Runtime&) {
    require_places(clone);
    auto made = std::make_unique<CUgraph_st>();
    require_no_memory(known(graph));
    copy_graph(*graph, *made);
    *clone = made.release();
  });
}
cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* node, cudaGraphNode_t original, cudaGraph_t clone) {
  return guarded("cudaGraphNodeFindInClone", [&](Runtime&) {
    require_places(node);
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
  return add("cudaGraphAddNode", node, graph, after, count_of(fourth, fifth), [&](Runtime& runtime) {
    require_places(parameters);
    return content_of(runtime, *parameters);
  });
}
cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                                   const cudaKernelNodeParams* kernel) {
  return add("cudaGraphAddKernelNode", node, graph, after, count, [&](Runtime& runtime) {
    require_places(kernel);
    return content_of(runtime, *kernel);
  });
}
cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                                   const cudaMemcpy3DParms* box) {
  return add("cudaGraphAddMemcpyNode", node, graph, after, count, [&](Runtime& runtime) {
    require_places(box);
    return copy_content(runtime, *box);
  });
}
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                     size_t count, void* to, const void* from, size_t size, cudaMemcpyKind kind) {
  return add("cudaGraphAddMemcpyNode1D", node, graph, after, count, [&](Runtime& runtime) {
    return copy_content(runtime, {to, size}, {from, size}, size, 1, kind);
  });
}
cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                           size_t count, const void* symbol, const void* from, size_t size,
                                           size_t offset, cudaMemcpyKind kind) {
  return add("cudaGraphAddMemcpyNodeToSymbol", node, graph, after, count, [&](Runtime& runtime) {
    return copy_content(runtime, {address_of(runtime, symbol, size, offset), size}, {from, size}, size, 1, kind);
  });
}
cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                             size_t count, void* to, const void* symbol, size_t size, size_t offset,
                                             cudaMemcpyKind kind) {
  return add("cudaGraphAddMemcpyNodeFromSymbol", node, graph, after, count, [&](Runtime& runtime) {
    return copy_content(runtime, {to, size}, {address_of(runtime, symbol, size, offset), size}, size, 1, kind);
  });
}
cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                                   const cudaMemsetParams* to) {
  return add("cudaGraphAddMemsetNode", node, graph, after, count, [&](Runtime& runtime) {
    require_places(to);
    return fill_content(runtime, *to);
  });
}
cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                                 const cudaHostNodeParams* host) {
  return add("cudaGraphAddHostNode", node, graph, after, count, [&](Runtime&) {
    require_places(host);
    return host_content(*host);
  });
}
cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                  size_t count) {
  return add("cudaGraphAddEmptyNode", node, graph, after, count, [](Runtime&) { return NodeContent{}; });
}
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                       size_t count, cudaGraph_t child) {
  return add("cudaGraphAddChildGraphNode", node, graph, after, count, [&](Runtime&) {
    require(child != graph, cudaErrorInvalidValue, "a graph is not within itself");
    require_no_memory(known(child));
    return child_content(*child);
  });
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
    require_places(memory);
    return allocation_content(*memory);
  });
}
cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                    size_t count, void* pointer) {
  return add("cudaGraphAddMemFreeNode", node, graph, after, count, [&](Runtime&) { return free_content(pointer); });
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
  return guarded("cudaGraphDestroyNode", [&](Runtime&) {
    auto& nodes = known(known(node).graph).nodes;
    require_not_recorded_into(*node->graph);
    require_no_memory(*node->graph);
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
    if (count != 0) require_places(from, to);
    for (std::size_t i = 0; i < count; ++i) {
      CUgraphNode_st* const before = dependencies(from + i, 1, known(graph)).front();
      CUgraphNode_st* const node = dependencies(to + i, 1, *graph).front();
      require(node != before, cudaErrorInvalidValue, "a node waits for itself");
      require(std::find(node->after.begin(), node->after.end(), before) == node->after.end(), cudaErrorInvalidValue,
              "the node waits for the other one already");
      node->after.push_back(before);
    }
  });
}
cudaError_t graph_remove_dependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                      std::uintptr_t fourth, std::size_t fifth) __asm__("cudaGraphRemoveDependencies");
cudaError_t graph_remove_dependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                      std::uintptr_t fourth, std::size_t fifth) {
  return guarded("cudaGraphRemoveDependencies", [&](Runtime&) {
    const std::size_t count = count_of(fourth, fifth);
    static_cast<void>(known(graph));
    if (count != 0) {
      require_places(from, to);
      require_no_memory(*graph);
    }
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
    require_places(count);
    std::vector<cudaGraphNode_t> all;
    for (const auto& node : known(graph).nodes) all.push_back(node.get());
    give(all, nodes, count);
  });
}
cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  return guarded("cudaGraphGetRootNodes", [&](Runtime&) {
    require_places(count);
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
    require((from == nullptr) == (to == nullptr), cudaErrorInvalidValue, "one of two lists is null");
    require_places(count);
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
  return guarded("cudaGraphNodeGetType", [&](Runtime&) {
    require_places(type);
    *type = known(node).content.type;
  });
}
cudaError_t node_get_dependencies(cudaGraphNode_t node, cudaGraphNode_t* nodes, void* third,
                                  std::size_t* fourth) __asm__("cudaGraphNodeGetDependencies");
cudaError_t node_get_dependencies(cudaGraphNode_t node, cudaGraphNode_t* nodes, void* third, std::size_t* fourth) {
  return guarded("cudaGraphNodeGetDependencies", [&](Runtime&) {
    require_places(place_of_count(third, fourth));
    give(known(node).after, nodes, place_of_count(third, fourth));
  });
}
cudaError_t node_get_dependent_nodes(cudaGraphNode_t node, cudaGraphNode_t* nodes, void* third,
                                     std::size_t* fourth) __asm__("cudaGraphNodeGetDependentNodes");
cudaError_t node_get_dependent_nodes(cudaGraphNode_t node, cudaGraphNode_t* nodes, void* third, std::size_t* fourth) {
  return guarded("cudaGraphNodeGetDependentNodes", [&](Runtime&) {
    require_places(place_of_count(third, fourth));
    std::vector<cudaGraphNode_t> all;
    for (const auto& other : known(known(node).graph).nodes) {
      if (std::find(other->after.begin(), other->after.end(), node) != other->after.end()) all.push_back(other.get());
    }
    give(all, nodes, place_of_count(third, fourth));
  });
}
cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned int) {
  return guarded("cudaGraphDebugDotPrint", [&](Runtime&) {
    require_places(path);
    const std::string text = dot_text(known(graph));
    std::FILE* const file = std::fopen(path, "w");
    require(file != nullptr, cudaErrorInvalidValue, "the file cannot be written");
    const bool whole = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    require(std::fclose(file) == 0 && whole, cudaErrorInvalidValue, "the file cannot be written");
  });
}

}  // extern "C"
#pragma GCC visibility pop
