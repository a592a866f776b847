// Graphs as recorded work: nodes with what they wait for, made by hand or by a stream that records. A graph that is
// launched runs its nodes one after the other in its stream, each behind those that it waits for, in the order in which
// they were added. All is called with the runtime's lock held.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "tb/cudart/work.hpp"

namespace heddle::cudart {

using NodeWork = std::function<void(Runtime& runtime, cudaStream_t stream)>;

// The stream's work becomes a node of the graph that it records. False: it records none.
[[nodiscard]] bool record(cudaStream_t stream, cudaGraphNodeType type, NodeWork work);
[[nodiscard]] bool record(cudaStream_t stream, const Launch& launch);
// An event in a recording stream stands for the stream's work up to then; a stream that waits for such an event records
// into the same graph.
[[nodiscard]] bool record_event(cudaEvent_t event, cudaStream_t stream);
[[nodiscard]] bool record_wait(cudaStream_t stream, cudaEvent_t event);
// Throw Failure where a call must not be made while streams record.
void require_no_recording();
void require_not_recording(cudaStream_t stream);

// A call of the host, behind the stream's earlier work.
[[nodiscard]] NodeWork host_work(cudaHostFn_t function, void* data);

}  // namespace heddle::cudart

struct CUgraph_st;

struct CUgraphNode_st {
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  heddle::cudart::NodeWork work;  // empty: nothing, or the launch
  heddle::cudart::Launch launch;  // of a kernel node
  cudaKernelNodeParams kernel{};  // as the program gave them; its arguments are those of `launch`
  std::vector<CUgraphNode_st*> after;
  CUgraph_st* graph = nullptr;
};

struct CUgraph_st {
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;  // in the order in which they were added
  CUgraphNode_st* add(cudaGraphNodeType type, std::vector<CUgraphNode_st*> after);
};
