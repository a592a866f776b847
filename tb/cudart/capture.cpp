// Streams that record graphs.
#include <algorithm>
#include <map>
#include <set>
#include <thread>

#include "tb/cudart/graphs.hpp"

namespace heddle::cudart {
namespace {

using Nodes = std::vector<CUgraphNode_st*>;

// One graph that is being recorded, by the stream that began it and those that joined.
struct Recording {
  std::uint64_t origin = 0;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::thread::id thread = std::this_thread::get_id();  // that began it
  std::unique_ptr<CUgraph_st> made;                     // null: the program's own graph is added to
  CUgraph_st* graph = nullptr;
  unsigned long long number = 0;        // different from all others'
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

// What the present thread says of its calls that must not be made while streams record.
cudaStreamCaptureMode& present_mode() {
  thread_local cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  return mode;
}

Recording* recording_of(cudaStream_t stream) {
  require_stream(stream);
  for (const auto& one : recordings()) {
    if (one->last.count(stream_number(stream)) != 0) return one.get();
  }
  return nullptr;
}

}  // namespace

bool records(cudaStream_t stream) {
  return recording_of(stream) != nullptr;
}

bool record(cudaStream_t stream, NodeContent content) {
  Recording* const recording = recording_of(stream);
  if (recording == nullptr) return false;
  Nodes& last = recording->last[stream_number(stream)];
  last = {recording->graph->add(std::move(content), last)};
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

// Of recordings that were begun as global every thread is to hear, unless it says otherwise; of others their own thread
// is, or none.
void require_no_recording() {
  for (const auto& one : recordings()) {
    const bool own = one->thread == std::this_thread::get_id();
    const bool heeded =
        one->mode != cudaStreamCaptureModeRelaxed && present_mode() != cudaStreamCaptureModeRelaxed &&
        (own || (one->mode == cudaStreamCaptureModeGlobal && present_mode() == cudaStreamCaptureModeGlobal));
    require(!heeded, cudaErrorStreamCaptureUnsupported,
            "a stream records a graph: the host cannot wait for work meanwhile");
  }
}

void require_not_recording(cudaStream_t stream) {
  require(recording_of(stream) == nullptr, cudaErrorStreamCaptureUnsupported,
          "the stream records a graph: the host cannot wait for it meanwhile");
}

}  // namespace heddle::cudart

using namespace heddle::cudart;

namespace {

void begin(std::unique_ptr<Recording> recording, cudaStream_t stream, cudaStreamCaptureMode mode, Nodes after) {
  static unsigned long long number = 0;
  recording->origin = stream_number(stream);
  require(recording->origin != 0, cudaErrorStreamCaptureImplicit, "the default stream cannot record a graph");
  require(recording_of(stream) == nullptr, cudaErrorIllegalState, "the stream records a graph already");
  recording->mode = mode;
  recording->number = ++number;
  recording->last[recording->origin] = std::move(after);
  recordings().push_back(std::move(recording));
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return guarded("cudaStreamBeginCapture", [&](Runtime&) {
    auto recording = std::make_unique<Recording>();
    recording->made = std::make_unique<CUgraph_st>();
    recording->graph = recording->made.get();
    begin(std::move(recording), stream, mode, {});
  });
}
cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t* after,
                                          const void*, size_t count, cudaStreamCaptureMode mode) {
  return guarded("cudaStreamBeginCaptureToGraph", [&](Runtime&) {
    static_cast<void>(known(graph));
    if (count != 0) require_places(after);
    for (std::size_t i = 0; i < count; ++i) {
      require(known(after[i]).graph == graph, cudaErrorInvalidValue, "a node is not of the graph");
    }
    auto recording = std::make_unique<Recording>();
    recording->graph = graph;
    begin(std::move(recording), stream, mode, {after, after + count});
  });
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return guarded("cudaStreamEndCapture", [&](Runtime&) {
    require_places(graph);
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
    std::unique_ptr<CUgraph_st> made = std::move(recording->made);
    CUgraph_st* const whole = recording->graph;
    for (auto mark = marks().begin(); mark != marks().end();) {
      mark = mark->second.recording == recording ? marks().erase(mark) : std::next(mark);
    }
    recordings().erase(std::find_if(recordings().begin(), recordings().end(),
                                    [&](const auto& one) { return one.get() == recording; }));
    require(joined, cudaErrorStreamCaptureUnjoined,
            "a stream that joined has work that the first one does not wait for");
    *graph = whole;
    static_cast<void>(made.release());
  });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return guarded("cudaStreamIsCapturing", [&](Runtime&) {
    require_places(status);
    *status = recording_of(stream) == nullptr ? cudaStreamCaptureStatusNone : cudaStreamCaptureStatusActive;
  });
}
// Release 11 has the first three, release 13 all, with what edges carry.
cudaError_t stream_capture_info(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                                cudaGraph_t* graph, const cudaGraphNode_t** nodes, const void** edges,
                                std::size_t* count) __asm__("cudaStreamGetCaptureInfo");
cudaError_t stream_capture_info(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                                cudaGraph_t* graph, const cudaGraphNode_t** nodes, const void** edges,
                                std::size_t* count) {
  if (program_release() < 13) return cudaStreamGetCaptureInfo_v2(stream, status, id, nullptr, nullptr, nullptr);
  if (edges != nullptr) *edges = nullptr;
  return cudaStreamGetCaptureInfo_v2(stream, status, id, graph, nodes, count);
}
cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                                        cudaGraph_t* graph, const cudaGraphNode_t** nodes, size_t* count) {
  return guarded("cudaStreamGetCaptureInfo", [&](Runtime&) {
    require_places(status);
    Recording* const recording = recording_of(stream);
    *status = recording == nullptr ? cudaStreamCaptureStatusNone : cudaStreamCaptureStatusActive;
    if (recording == nullptr) return;
    const Nodes& last = recording->last.at(stream_number(stream));
    if (id != nullptr) *id = recording->number;
    if (graph != nullptr) *graph = recording->graph;
    if (nodes != nullptr) *nodes = last.data();
    if (count != nullptr) *count = last.size();
  });
}
cudaError_t stream_update_dependencies(cudaStream_t stream, cudaGraphNode_t* nodes, std::uintptr_t third,
                                       std::size_t fourth,
                                       unsigned int fifth) __asm__("cudaStreamUpdateCaptureDependencies");
cudaError_t stream_update_dependencies(cudaStream_t stream, cudaGraphNode_t* nodes, std::uintptr_t third,
                                       std::size_t fourth, unsigned int fifth) {
  return guarded("cudaStreamUpdateCaptureDependencies", [&](Runtime&) {
    const bool edges = program_release() >= 13;
    const std::size_t count = edges ? fourth : third;
    const unsigned int flags = edges ? fifth : static_cast<unsigned int>(fourth);
    Recording* const recording = recording_of(stream);
    require(recording != nullptr, cudaErrorIllegalState, "the stream records no graph");
    if (count != 0) require_places(nodes);
    for (std::size_t i = 0; i < count; ++i) {
      require(known(nodes[i]).graph == recording->graph, cudaErrorInvalidValue, "a node is not of the graph");
    }
    Nodes& last = recording->last.at(stream_number(stream));
    if (flags == cudaStreamSetCaptureDependencies) last.clear();
    for (std::size_t i = 0; i < count; ++i) {
      if (std::find(last.begin(), last.end(), nodes[i]) == last.end()) last.push_back(nodes[i]);
    }
  });
}
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return guarded("cudaThreadExchangeStreamCaptureMode", [&](Runtime&) {
    require_places(mode);
    std::swap(*mode, present_mode());
  });
}

}  // extern "C"
#pragma GCC visibility pop
