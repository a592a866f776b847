// Streams that record graphs.
#include <algorithm>
#include <map>
#include <set>

#include "tb/cudart/graphs.hpp"

namespace heddle::cudart {
namespace {

using Nodes = std::vector<CUgraphNode_st*>;

// One graph that is being recorded, by the stream that began it and those that joined.
struct Recording {
  std::uint64_t origin = 0;
  std::unique_ptr<CUgraph_st> graph = std::make_unique<CUgraph_st>();
  std::map<std::uint64_t, Nodes> last;  // by stream: what its next node waits for
};

std::vector<std::unique_ptr<Recording>>& recordings() {
  static auto* const all = new std::vector<std::unique_ptr<Recording>>;
  return *all;
}

struct Mark {
  Recording* recording = nullptr;
  Nodes nodes;
};
std::map<cudaEvent_t, Mark>& marks() {
  static auto* const all = new std::map<cudaEvent_t, Mark>;
  return *all;
}

Recording* recording_of(cudaStream_t stream) {
  for (const auto& one : recordings()) {
    if (one->last.count(stream_number(stream)) != 0) return one.get();
  }
  return nullptr;
}

CUgraphNode_st* append(cudaStream_t stream, cudaGraphNodeType type) {
  Recording* const recording = recording_of(stream);
  if (recording == nullptr) return nullptr;
  Nodes& last = recording->last[stream_number(stream)];
  CUgraphNode_st* const node = recording->graph->add(type, last);
  last = {node};
  return node;
}

}  // namespace

bool record(cudaStream_t stream, cudaGraphNodeType type, NodeWork work) {
  CUgraphNode_st* const node = append(stream, type);
  if (node == nullptr) return false;
  node->work = std::move(work);
  return true;
}

bool record(cudaStream_t stream, const Launch& launch) {
  CUgraphNode_st* const node = append(stream, cudaGraphNodeTypeKernel);
  if (node == nullptr) return false;
  node->launch = launch;
  node->kernel.gridDim = launch.grid;
  node->kernel.blockDim = launch.block;
  node->kernel.sharedMemBytes = static_cast<unsigned int>(launch.shared);
  return true;
}

bool record_event(cudaEvent_t event, cudaStream_t stream) {
  Recording* const recording = recording_of(stream);
  if (recording == nullptr) {
    marks().erase(event);
    return false;
  }
  marks()[event] = {recording, recording->last[stream_number(stream)]};
  return true;
}

bool record_wait(cudaStream_t stream, cudaEvent_t event) {
  const auto found = marks().find(event);
  Recording* const own = recording_of(stream);
  if (found == marks().end()) {
    require(own == nullptr, cudaErrorStreamCaptureIsolation,
            "a stream that records a graph waits for an event of none that does");
    return false;
  }
  const Mark& mark = found->second;
  require(own == nullptr || own == mark.recording, cudaErrorStreamCaptureMerge,
          "a stream that records a graph waits for an event of another graph's");
  Nodes& last = mark.recording->last[stream_number(stream)];
  for (CUgraphNode_st* const node : mark.nodes) {
    if (std::find(last.begin(), last.end(), node) == last.end()) last.push_back(node);
  }
  return true;
}

void require_no_recording() {
  require(recordings().empty(), cudaErrorStreamCaptureUnsupported,
          "a stream records a graph: the host cannot wait for work meanwhile");
}

void require_not_recording(cudaStream_t stream) {
  require(recording_of(stream) == nullptr, cudaErrorStreamCaptureUnsupported,
          "the stream records a graph: the host cannot wait for it meanwhile");
}

NodeWork host_work(cudaHostFn_t function, void* data) {
  return [=](Runtime& runtime, cudaStream_t stream) {
    synchronize(runtime, stream);
    function(data);
  };
}

}  // namespace heddle::cudart

using namespace heddle::cudart;

#pragma GCC visibility push(default)
extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  return guarded("cudaStreamBeginCapture", [&](Runtime&) {
    require(stream_number(stream) != 0, cudaErrorStreamCaptureImplicit, "the default stream cannot record a graph");
    require(recording_of(stream) == nullptr, cudaErrorIllegalState, "the stream records a graph already");
    auto recording = std::make_unique<Recording>();
    recording->origin = stream_number(stream);
    recording->last[recording->origin];
    recordings().push_back(std::move(recording));
  });
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return guarded("cudaStreamEndCapture", [&](Runtime&) {
    Recording* const recording = recording_of(stream);
    *graph = nullptr;
    require(recording != nullptr, cudaErrorIllegalState, "the stream records no graph");
    require(recording->origin == stream_number(stream), cudaErrorStreamCaptureUnmatched,
            "another stream has begun the graph, and ends it");
    // What another stream recorded, the first one must wait for in the end.
    std::set<const CUgraphNode_st*> reached;
    Nodes open = recording->last[recording->origin];
    while (!open.empty()) {
      const CUgraphNode_st* const node = open.back();
      open.pop_back();
      if (reached.insert(node).second) open.insert(open.end(), node->after.begin(), node->after.end());
    }
    bool joined = true;
    for (const auto& [other, last] : recording->last) {
      for (const CUgraphNode_st* const node : last) joined = joined && reached.count(node) != 0;
    }
    std::unique_ptr<CUgraph_st> made = std::move(recording->graph);
    for (auto mark = marks().begin(); mark != marks().end();) {
      mark = mark->second.recording == recording ? marks().erase(mark) : std::next(mark);
    }
    recordings().erase(std::find_if(recordings().begin(), recordings().end(),
                                    [&](const auto& one) { return one.get() == recording; }));
    require(joined, cudaErrorStreamCaptureUnjoined,
            "a stream that joined has work that the first one does not wait for");
    *graph = made.release();
  });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return guarded("cudaStreamIsCapturing", [&](Runtime&) {
    *status = recording_of(stream) == nullptr ? cudaStreamCaptureStatusNone : cudaStreamCaptureStatusActive;
  });
}
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  thread_local cudaStreamCaptureMode present = cudaStreamCaptureModeGlobal;
  std::swap(*mode, present);
  return cudaSuccess;
}

}  // extern "C"
#pragma GCC visibility pop
