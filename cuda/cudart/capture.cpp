// The run-time API's calls by which streams record graphs.
#include <algorithm>

#include "cuda/cudart/recordings.hpp"

using namespace heddle::cudart;

namespace {

bool is_mode(cudaStreamCaptureMode mode) {
  return mode == cudaStreamCaptureModeGlobal || mode == cudaStreamCaptureModeThreadLocal ||
         mode == cudaStreamCaptureModeRelaxed;
}

void begin(std::unique_ptr<Recording> recording, cudaStream_t stream, cudaStreamCaptureMode mode, Nodes after) {
  require_stream(stream);
  recording->origin = stream_number(stream);
  require(is_mode(mode), cudaErrorInvalidValue, "there is no such mode of recording");
  require(recording->origin != 0, cudaErrorStreamCaptureUnsupported, "the default stream cannot record a graph");
  require(recording_of(stream) == nullptr, cudaErrorIllegalState, "the stream records a graph already");
  recording->mode = mode;
  recording->last[recording->origin] = std::move(after);
  static_cast<void>(begin_recording(std::move(recording)));
}

// What another stream recorded, the first one must wait for in the end.
bool is_joined(const Recording& recording) {
  const Nodes& first = recording.last.at(recording.origin);
  return std::all_of(recording.last.begin(), recording.last.end(),
                     [&](const auto& other) { return waits_for(first, other.second); });
}

void require_nodes(const cudaGraphNode_t* nodes, std::size_t count, const CUgraph_st& graph) {
  if (count != 0) require_places(nodes);
  for (std::size_t i = 0; i < count; ++i) {
    const bool known =
        std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const auto& one) { return one.get() == nodes[i]; });
    require(known, cudaErrorInvalidValue, "a node is not of the graph that the stream records");
  }
}

cudaStreamCaptureStatus status_of(const Recording* recording) {
  return recording == nullptr ? cudaStreamCaptureStatusNone
         : recording->spoilt  ? cudaStreamCaptureStatusInvalidated
                              : cudaStreamCaptureStatusActive;
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
    require_nodes(after, count, *graph);
    auto recording = std::make_unique<Recording>();
    recording->graph = graph;
    begin(std::move(recording), stream, mode, {after, after + count});
  });
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return guarded("cudaStreamEndCapture", [&](Runtime&) {
    require_places(graph);
    *graph = nullptr;
    require_stream(stream);
    Recording* const recording = recording_of(stream);
    require(recording != nullptr, cudaErrorIllegalState, "the stream records no graph");
    if (recording->origin != stream_number(stream)) {
      spoil({recording}, cudaErrorStreamCaptureUnmatched, "another stream has begun the graph, and ends it");
    }
    if (recording->mode != cudaStreamCaptureModeRelaxed && recording->thread != std::this_thread::get_id()) {
      spoil({recording}, cudaErrorStreamCaptureWrongThread,
            "another thread has begun the graph, and ends it, unless its mode is cudaStreamCaptureModeRelaxed");
    }
    const bool spoilt = recording->spoilt;
    const bool joined = spoilt || is_joined(*recording);
    CUgraph_st* const whole = recording->graph;
    std::unique_ptr<CUgraph_st> made = end_recording(*recording);
    require(!spoilt, cudaErrorStreamCaptureInvalidated, "an earlier call has spoilt the graph");
    require(joined, cudaErrorStreamCaptureUnjoined,
            "a stream that joined has work that the first one does not wait for");
    *graph = whole;
    static_cast<void>(made.release());
  });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return guarded("cudaStreamIsCapturing", [&](Runtime&) {
    require_places(status);
    require_stream(stream);
    require_default_stream_apart(stream);
    *status = status_of(recording_of(stream));
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
    require_stream(stream);
    require_default_stream_apart(stream);
    const Recording* const recording = recording_of(stream);
    *status = status_of(recording);
    if (*status != cudaStreamCaptureStatusActive) return;
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
    require_stream(stream);
    Recording* const recording = recording_for(stream);
    require(recording != nullptr, cudaErrorIllegalState, "the stream records no graph");
    require(flags == cudaStreamAddCaptureDependencies || flags == cudaStreamSetCaptureDependencies,
            cudaErrorInvalidValue, "nodes are added to what the stream waits for, or set as that");
    require_nodes(nodes, count, *recording->graph);
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
    require(is_mode(*mode), cudaErrorInvalidValue, "there is no such mode");
    std::swap(*mode, present_mode());
  });
}

}  // extern "C"
#pragma GCC visibility pop
