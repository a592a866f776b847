// Graphs as recorded work: nodes with what they wait for, made by hand or by a stream that records, and plans of how a
// graph runs. All is called with the runtime's lock held.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "cuda/cudart/handles.hpp"
#include "cuda/cudart/work.hpp"

namespace heddle::cudart {

// Memory of an allocation node: there from when the node is made until the last graph with it is gone, if it has been
// freed by then.
class GraphMemory {
 public:
  explicit GraphMemory(std::size_t size);
  ~GraphMemory();
  GraphMemory(const GraphMemory&) = delete;
  GraphMemory& operator=(const GraphMemory&) = delete;
  void* pointer = nullptr;
  std::size_t size = 0;
  bool freed = false;  // by a node of any graph, or a call
};

// What a node does.
struct NodeContent {
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  bool enabled = true;
  Launch launch;  // of a kernel node
  cudaMemcpy3DParms copy{};
  cudaMemsetParams fill{};
  cudaHostNodeParams host{};
  cudaEvent_t event = nullptr;
  std::shared_ptr<CUgraph_st> child;
  std::shared_ptr<GraphMemory> memory;  // of an allocation node
  void* freed = nullptr;                // by a node that frees
};

// The stream's work becomes a node of the graph that it records. False: it records none.
[[nodiscard]] bool record(cudaStream_t stream, NodeContent content);
[[nodiscard]] bool records(cudaStream_t stream);
// An event in a recording stream stands for the stream's work up to then; a stream that waits for such an event records
// into the same graph.
[[nodiscard]] bool record_event(cudaEvent_t event, cudaStream_t stream);
[[nodiscard]] bool record_wait(cudaStream_t stream, cudaEvent_t event);
[[nodiscard]] bool any_recording();
// Throw Failure where a call must not be made while streams record, and spoil what they record.
void require_no_recording();
void require_not_recording(cudaStream_t stream);  // the stream, and the default stream if it waits for one that does
void require_not_recorded(cudaEvent_t event);     // where the host waits for it or asks about it
void require_safe();                              // as the mode of the thread says
// Throws Failure while a stream records this graph.
void require_not_recorded_into(const CUgraph_st& graph);
void forget_event(cudaEvent_t event);  // that is destroyed
void forget_stream(cudaStream_t stream);

// Contents of nodes.
[[nodiscard]] NodeContent launch_content(const Launch& launch);
[[nodiscard]] NodeContent copy_content(Runtime& runtime, const cudaMemcpy3DParms& box);
[[nodiscard]] NodeContent copy_content(Runtime& runtime, Rows to, Rows from, std::size_t width, std::size_t height,
                                       cudaMemcpyKind kind);
[[nodiscard]] NodeContent fill_content(Runtime& runtime, const cudaMemsetParams& to);
[[nodiscard]] NodeContent host_content(const cudaHostNodeParams& host);
[[nodiscard]] NodeContent event_content(cudaGraphNodeType type, cudaEvent_t event);
[[nodiscard]] NodeContent child_content(const CUgraph_st& child);  // a copy of it
// As the parameters say that a program gives for nodes of any type.
[[nodiscard]] NodeContent content_of(Runtime& runtime, cudaGraphNodeParams& parameters);
[[nodiscard]] NodeContent content_of(Runtime& runtime, const cudaKernelNodeParams& kernel);
[[nodiscard]] NodeContent allocation_content(std::size_t size);
[[nodiscard]] NodeContent allocation_content(cudaMemAllocNodeParams& memory);  // which gets the pointer
[[nodiscard]] NodeContent free_content(void* pointer);

// What a program gives as a handle; of anything else InvalidValue is thrown.
[[nodiscard]] CUgraph_st& known(cudaGraph_t graph);
[[nodiscard]] CUgraphNode_st& known(cudaGraphNode_t node);
[[nodiscard]] CUgraphExec_st& known(cudaGraphExec_t executable);
[[nodiscard]] cudaEvent_t known_event(cudaEvent_t event);  // InvalidResourceHandle
// Throw Failure for what no node can do (cuda/cudart/copy_rules.cpp).
void require_node(Runtime& runtime, const cudaMemcpy3DParms& box);
void require_node(Runtime& runtime, const cudaMemsetParams& to);

using NodeCopies = std::map<const CUgraphNode_st*, CUgraphNode_st*>;
NodeCopies copy_graph(const CUgraph_st& from, CUgraph_st& to);

// How a graph runs. Each node follows one that it waits for in that node's stream; of several that wait for one
// node one does, and the others get streams of their own, which wait by events. A graph without branches is run in the
// stream that it is launched in.
class Plan {
 public:
  // Of a graph that lives longer. Throws Failure where nodes wait for each other in a ring.
  explicit Plan(const CUgraph_st& graph);
  ~Plan();
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
  void run(Runtime& runtime, cudaStream_t stream);

 private:
  struct Step {
    const CUgraphNode_st* node = nullptr;
    std::size_t lane = 0;
    std::vector<std::size_t> after;  // steps of other lanes that it waits for
    bool awaited = false;            // by another lane
    std::unique_ptr<Plan> child;
    const CUgraph_st* child_graph = nullptr;
  };
  void run(Runtime& runtime, Step& step, cudaStream_t stream);
  void order(const CUgraph_st& graph);
  void deal_lanes();
  void run_lanes(Runtime& runtime, cudaStream_t stream);

  std::vector<Step> steps_;
  std::size_t lanes_ = 0;
  std::vector<cudaStream_t> streams_;  // of the lanes
  std::vector<cudaEvent_t> events_;    // one for each step, where there are lanes, and one more
};

}  // namespace heddle::cudart

struct CUgraphNode_st {
  heddle::cudart::NodeContent content;
  std::vector<CUgraphNode_st*> after;
  CUgraph_st* graph = nullptr;
  std::vector<void*> arguments;              // of a kernel, where the program asks for them
  const CUgraphNode_st* original = nullptr;  // of a clone's node
  heddle::cudart::Living<CUgraphNode_st> living{this};
};

struct CUgraph_st {
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;                     // in the order in which they were added
  std::shared_ptr<unsigned> executables = std::make_shared<unsigned>(0);  // that it was made into, and are still there
  CUgraphNode_st* add(heddle::cudart::NodeContent content, std::vector<CUgraphNode_st*> after);
  bool within = false;  // a node, which alone destroys it
  heddle::cudart::Living<CUgraph_st> living{this};
  [[nodiscard]] bool has_memory() const;  // nodes that allocate or free some
};

struct CUgraphExec_st {
  explicit CUgraphExec_st(const CUgraph_st& of, unsigned long long with)
      : flags(with), copies(heddle::cudart::copy_graph(of, graph)), plan(graph), counted(of.executables) {
    ++*counted;
  }
  ~CUgraphExec_st() { --*counted; }
  CUgraphExec_st(const CUgraphExec_st&) = delete;
  CUgraphExec_st& operator=(const CUgraphExec_st&) = delete;
  unsigned long long flags;           // in front, so that this object's address is not the graph's
  CUgraph_st graph;                   // a copy
  heddle::cudart::NodeCopies copies;  // of the graph's nodes
  heddle::cudart::Plan plan;
  std::shared_ptr<unsigned> counted;
  heddle::cudart::Living<CUgraphExec_st> living{this};
};
