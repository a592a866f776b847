// Graphs that can be launched: in which streams their nodes run, and what may change in them.
#include <algorithm>
#include <set>

#include "cuda/cudart/graphs.hpp"

namespace heddle::cudart {
namespace {

constexpr std::size_t kMostLanes = 32;

// Streams and events that plans have given back.
std::vector<cudaStream_t>& idle_streams() {
  static auto* const all = new std::vector<cudaStream_t>;
  return *all;
}
std::vector<cudaEvent_t>& idle_events() {
  static auto* const all = new std::vector<cudaEvent_t>;
  return *all;
}
template <class T>
T taken(Runtime& runtime, std::vector<T>& idle, const Question& question) {
  if (idle.empty()) return reinterpret_cast<T>(runtime.ask(question).words[0]);
  const T last = idle.back();
  idle.pop_back();
  return last;
}
template <class T>
void give_back(std::vector<T>& from, std::vector<T>& idle) {
  idle.insert(idle.end(), from.begin(), from.end());
  from.clear();
}

}  // namespace

Plan::Plan(const CUgraph_st& graph) {
  order(graph);
  deal_lanes();
}

Plan::~Plan() {
  give_back(streams_, idle_streams());
  give_back(events_, idle_events());
}

// The nodes, each behind the nodes that it waits for; of several that can run, the one that was added first.
void Plan::order(const CUgraph_st& graph) {
  std::map<const CUgraphNode_st*, std::size_t> waits;
  std::map<const CUgraphNode_st*, std::vector<std::size_t>> followers;
  std::set<std::size_t> ready;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const CUgraphNode_st* const node = graph.nodes[i].get();
    waits[node] = node->after.size();
    for (const CUgraphNode_st* const before : node->after) followers[before].push_back(i);
    if (node->after.empty()) ready.insert(i);
  }
  while (!ready.empty()) {
    const CUgraphNode_st* const node = graph.nodes[*ready.begin()].get();
    ready.erase(ready.begin());
    Step step;
    step.node = node;
    if (node->content.child) {
      step.child_graph = node->content.child.get();
      step.child = std::make_unique<Plan>(*step.child_graph);
    }
    steps_.push_back(std::move(step));
    for (const std::size_t follower : followers[node]) {
      if (--waits[graph.nodes[follower].get()] == 0) ready.insert(follower);
    }
  }
  require(steps_.size() == graph.nodes.size(), cudaErrorInvalidValue,
          "nodes of the graph wait for each other in a ring");
}

void Plan::deal_lanes() {
  std::map<const CUgraphNode_st*, std::size_t> places;
  std::vector<std::size_t> last;  // step of each lane
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    Step& step = steps_[i];
    places[step.node] = i;
    std::size_t lane = last.size();
    for (const CUgraphNode_st* const before : step.node->after) {
      const std::size_t place = places.at(before);
      if (last[steps_[place].lane] != place) continue;  // another node follows it already
      lane = steps_[place].lane;
      break;
    }
    if (lane == last.size()) {
      if (last.size() < kMostLanes) {
        last.push_back(i);
      } else {
        lane = i % kMostLanes;
      }
    }
    last[lane] = i;
    step.lane = lane;
    for (const CUgraphNode_st* const before : step.node->after) {
      const std::size_t place = places.at(before);
      if (steps_[place].lane == lane) continue;
      step.after.push_back(place);
      steps_[place].awaited = true;
    }
  }
  lanes_ = last.size();
}

void Plan::run(Runtime& runtime, Step& step, cudaStream_t stream) {
  const NodeContent& content = step.node->content;
  if (!content.enabled) return;
  switch (content.type) {
    case cudaGraphNodeTypeKernel:
      return launch(runtime, content.launch, stream);
    case cudaGraphNodeTypeMemcpy:
      return transfer_3d(runtime, content.copy, stream, true);
    case cudaGraphNodeTypeMemset: {
      const cudaMemsetParams& to = content.fill;
      return fill(runtime, to.dst, to.pitch, to.value, to.elementSize, to.width * to.elementSize, to.height, stream);
    }
    case cudaGraphNodeTypeHost: {
      synchronize(runtime, stream);
      const cudaHostNodeParams host = content.host;
      const Unlocked unlocked(runtime);
      host.fn(host.userData);
      return;
    }
    case cudaGraphNodeTypeGraph:
      if (step.child_graph != content.child.get()) {
        step.child_graph = content.child.get();
        step.child = std::make_unique<Plan>(*step.child_graph);
      }
      return step.child->run(runtime, stream);
    case cudaGraphNodeTypeWaitEvent:
      return wait_for(runtime, stream, content.event);
    case cudaGraphNodeTypeEventRecord:
      return record(runtime, content.event, stream);
    case cudaGraphNodeTypeMemAlloc:
    case cudaGraphNodeTypeMemFree:
    case cudaGraphNodeTypeEmpty:
    case cudaGraphNodeTypeConditional:  // is in no graph
      return;
  }
}

void Plan::run(Runtime& runtime, cudaStream_t stream) {
  if (lanes_ > 1) return run_lanes(runtime, stream);
  for (Step& step : steps_) run(runtime, step, stream);
}

void Plan::run_lanes(Runtime& runtime, cudaStream_t stream) {
  while (streams_.size() < lanes_) {
    streams_.push_back(taken(runtime, idle_streams(), {Call::stream_create, 0, {cudaStreamNonBlocking}, 0}));
  }
  while (events_.size() < steps_.size() + 1) {
    events_.push_back(taken(runtime, idle_events(), {Call::event_create, 0, {}, 0}));
  }
  const cudaEvent_t fork = events_.back();
  record(runtime, fork, stream);
  for (const cudaStream_t lane : streams_) wait_for(runtime, lane, fork);
  std::vector<std::size_t> last(lanes_);
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    Step& step = steps_[i];
    for (const std::size_t before : step.after) wait_for(runtime, streams_[step.lane], events_[before]);
    run(runtime, step, streams_[step.lane]);
    if (step.awaited) record(runtime, events_[i], streams_[step.lane]);
    last[step.lane] = i;
  }
  for (std::size_t lane = 0; lane < lanes_; ++lane) {
    if (!steps_[last[lane]].awaited) {
      record(runtime, events_[last[lane]], streams_[lane]);
      wait_for(runtime, stream, events_[last[lane]]);
    }
  }
}

namespace {

cudaGraphExecUpdateResult difference(const CUgraph_st& a, const CUgraph_st& b, const CUgraphNode_st*& at) {
  const auto place = [](const CUgraph_st& graph, const CUgraphNode_st* node) {
    return std::find_if(graph.nodes.begin(), graph.nodes.end(), [&](const auto& one) { return one.get() == node; }) -
           graph.nodes.begin();
  };
  if (a.nodes.size() != b.nodes.size()) return cudaGraphExecUpdateErrorTopologyChanged;
  for (std::size_t i = 0; i < a.nodes.size(); ++i) {
    const CUgraphNode_st& was = *a.nodes[i];
    const CUgraphNode_st& is = *b.nodes[i];
    at = &is;
    if (was.content.type != is.content.type) return cudaGraphExecUpdateErrorNodeTypeChanged;
    if (was.after.size() != is.after.size()) return cudaGraphExecUpdateErrorTopologyChanged;
    for (std::size_t k = 0; k < is.after.size(); ++k) {
      if (place(a, was.after[k]) != place(b, is.after[k])) return cudaGraphExecUpdateErrorTopologyChanged;
    }
    if (is.content.child) {
      const CUgraphNode_st* within = nullptr;
      const auto result = difference(*was.content.child, *is.content.child, within);
      if (result != cudaGraphExecUpdateSuccess) return result;
    }
    if (is.content.memory) return cudaGraphExecUpdateErrorNotSupported;
  }
  at = nullptr;
  return cudaGraphExecUpdateSuccess;
}

cudaGraphExecUpdateResult update(CUgraphExec_st& executable, const CUgraph_st& graph, const CUgraphNode_st*& at) {
  const cudaGraphExecUpdateResult result = difference(executable.graph, graph, at);
  if (result != cudaGraphExecUpdateSuccess) return result;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    CUgraphNode_st* const node = executable.graph.nodes[i].get();
    const bool enabled = node->content.enabled;
    node->content = graph.nodes[i]->content;
    node->content.enabled = enabled;
    executable.copies[graph.nodes[i].get()] = node;
  }
  return result;
}

cudaError_t instantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags) {
  return guarded("cudaGraphInstantiate", [&](Runtime&) {
    require_places(executable);
    static_cast<void>(known(graph));
    constexpr unsigned long long kDeviceLaunch = 4;
    constexpr unsigned long long kFlags = cudaGraphInstantiateFlagAutoFreeOnLaunch | cudaGraphInstantiateFlagUpload |
                                          kDeviceLaunch | cudaGraphInstantiateFlagUseNodePriority;
    require((flags & ~kFlags) == 0, cudaErrorInvalidValue, "there is no such flag");
    require((flags & kDeviceLaunch) == 0, cudaErrorNotSupported, "kernels do not launch graphs");
    require(*graph->executables == 0 || !graph->has_memory(), cudaErrorNotSupported,
            "the graph has memory of its own, which one that can be launched uses already");
    *executable = std::make_unique<CUgraphExec_st>(*graph, flags).release();
  });
}

}  // namespace
}  // namespace heddle::cudart

using namespace heddle::cudart;

#pragma GCC visibility push(default)
extern "C" {

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags) {
  return instantiate(executable, graph, flags);
}
// Release 11 has a node, a text and its size behind the graph, later ones flags: nothing that matters here.
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, cudaGraphNode_t*, char*, size_t) {
  return instantiate(executable, graph, 0);
}
cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* executable, cudaGraph_t graph,
                                           cudaGraphInstantiateParams* parameters) {
  const cudaError_t given = guarded("cudaGraphInstantiateWithParams", [&](Runtime&) { require_places(parameters); });
  if (given != cudaSuccess) return given;
  const cudaError_t error = instantiate(executable, graph, parameters->flags);
  parameters->errNode_out = nullptr;
  parameters->result_out = error == cudaSuccess ? cudaGraphInstantiateSuccess : cudaGraphInstantiateInvalidStructure;
  return error;
}
cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t executable, unsigned long long* flags) {
  return guarded("cudaGraphExecGetFlags", [&](Runtime&) {
    require_places(flags);
    *flags = known(executable).flags;
  });
}
cudaError_t cudaGraphUpload(cudaGraphExec_t executable, cudaStream_t stream) {
  return guarded("cudaGraphUpload", [&](Runtime&) {
    static_cast<void>(known(executable));
    require_stream(stream);
  });
}
// A stream that records takes it as a graph within.
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  return guarded("cudaGraphLaunch", [&](Runtime& runtime) {
    static_cast<void>(known(executable));
    require_stream(stream);
    if (records(stream)) {
      static_cast<void>(record(stream, child_content(executable->graph)));
      return;
    }
    executable->plan.run(runtime, stream);
  });
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  return guarded("cudaGraphExecDestroy", [&](Runtime&) { delete &known(executable); });
}
// Release 11 gives the node and the result of its own, later ones in one structure in the node's place.
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph, cudaGraphNode_t* bad,
                                cudaGraphExecUpdateResult* result) {
  return guarded("cudaGraphExecUpdate", [&](Runtime&) {
    const CUgraphNode_st* at = nullptr;
    const cudaGraphExecUpdateResult found = update(known(executable), known(graph), at);
    auto* const node = const_cast<CUgraphNode_st*>(at);
    if (program_release() >= 12) {
      auto* const info = reinterpret_cast<cudaGraphExecUpdateResultInfo*>(bad);
      if (info != nullptr) *info = {found, node, nullptr};
    } else {
      if (bad != nullptr) *bad = node;
      if (result != nullptr) *result = found;
    }
    require(found == cudaGraphExecUpdateSuccess, cudaErrorGraphExecUpdateFailure, "");
  });
}

}  // extern "C"
#pragma GCC visibility pop
