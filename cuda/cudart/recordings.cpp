#include "cuda/cudart/recordings.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace heddle::cudart {
namespace {

std::vector<std::unique_ptr<Recording>>& recordings() {
  static auto* const all = new std::vector<std::unique_ptr<Recording>>;
  return *all;
}

// An event that was last recorded in a stream that records.
struct Mark {
  Recording* recording = nullptr;  // null: it has ended
  Nodes nodes;
};
std::map<cudaEvent_t, Mark>& marks() {
  static auto* const all = new std::map<cudaEvent_t, Mark>;
  return *all;
}

std::vector<Recording*> recordings_where(bool (*holds)(const Recording&)) {
  std::vector<Recording*> found;
  for (const auto& one : recordings()) {
    if (holds(*one)) found.push_back(one.get());
  }
  return found;
}

// The default stream waits for one of its streams.
bool blocks_default_stream(const Recording& recording) {
  return std::any_of(recording.last.begin(), recording.last.end(),
                     [](const auto& one) { return waits_for_default(one.first); });
}

// Of recordings that were begun as global every thread is to hear, unless it says otherwise; of others their own thread
// is, or none.
bool forbids_unsafe_calls(const Recording& recording) {
  if (recording.mode == cudaStreamCaptureModeRelaxed || present_mode() == cudaStreamCaptureModeRelaxed) return false;
  if (recording.thread == std::this_thread::get_id()) return true;
  return recording.mode == cudaStreamCaptureModeGlobal && present_mode() == cudaStreamCaptureModeGlobal;
}

constexpr char kImplicit[] = "a stream records a graph that the default stream waits for";

}  // namespace

cudaStreamCaptureMode& present_mode() {
  thread_local cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  return mode;
}

void spoil(const std::vector<Recording*>& recordings, cudaError_t error, const char* text) {
  for (Recording* const one : recordings) one->spoilt = true;
  throw Failure{error, text};
}

Recording* recording_of(cudaStream_t stream) {
  if (recordings().empty()) return nullptr;
  const std::uint64_t number = stream_number(stream);
  for (const auto& one : recordings()) {
    if (one->last.count(number) != 0) return one.get();
  }
  return nullptr;
}

Recording* recording_for(cudaStream_t stream) {
  if (recordings().empty()) return nullptr;
  if (stream_number(stream) == 0) {
    if (const auto blocked = recordings_where(blocks_default_stream); !blocked.empty()) {
      spoil(blocked, cudaErrorStreamCaptureImplicit, kImplicit);
    }
  }
  Recording* const recording = recording_of(stream);
  require(recording == nullptr || !recording->spoilt, cudaErrorStreamCaptureInvalidated,
          "an earlier call has spoilt the graph that the stream records; cudaStreamEndCapture ends it");
  return recording;
}

void require_default_stream_apart(cudaStream_t stream) {
  if (recordings().empty() || stream_number(stream) != 0) return;
  require(recordings_where(blocks_default_stream).empty(), cudaErrorStreamCaptureImplicit, kImplicit);
}

Recording& begin_recording(std::unique_ptr<Recording> recording) {
  static unsigned long long number = 0;
  recording->number = ++number;
  recordings().push_back(std::move(recording));
  return *recordings().back();
}

std::unique_ptr<CUgraph_st> end_recording(Recording& recording) {
  std::unique_ptr<CUgraph_st> made = std::move(recording.made);
  for (auto& [event, mark] : marks()) {
    if (mark.recording == &recording) mark = {};
  }
  recordings().erase(
      std::find_if(recordings().begin(), recordings().end(), [&](const auto& one) { return one.get() == &recording; }));
  return made;
}

bool waits_for(const Nodes& last, const Nodes& nodes) {
  std::set<const CUgraphNode_st*> reached;
  Nodes open = last;
  while (!open.empty()) {
    const CUgraphNode_st* const node = open.back();
    open.pop_back();
    if (reached.insert(node).second) open.insert(open.end(), node->after.begin(), node->after.end());
  }
  return std::all_of(nodes.begin(), nodes.end(), [&](const auto* node) { return reached.count(node) != 0; });
}

bool any_recording() {
  return !recordings().empty();
}

bool records(cudaStream_t stream) {
  return recording_for(stream) != nullptr;
}

bool record(cudaStream_t stream, NodeContent content) {
  Recording* const recording = recording_for(stream);
  if (recording == nullptr) return false;
  Nodes& last = recording->last[stream_number(stream)];
  last = {recording->graph->add(std::move(content), last)};
  return true;
}

bool record_event(cudaEvent_t event, cudaStream_t stream) {
  Recording* const recording = recording_for(stream);
  if (recording == nullptr) {
    marks().erase(event);
    return false;
  }
  marks()[event] = {recording, recording->last[stream_number(stream)]};
  return true;
}

bool record_wait(cudaStream_t stream, cudaEvent_t event) {
  Recording* const own = recording_for(stream);
  const auto found = marks().find(event);
  if (found == marks().end()) {
    if (own == nullptr) return false;
    if (!was_recorded(event)) return true;  // it stands for no work
    spoil({own}, cudaErrorStreamCaptureIsolation,
          "a stream that records a graph waits for an event of a stream that does not");
  }
  Recording* const other = found->second.recording;
  if (other == nullptr) {
    spoil(own != nullptr ? std::vector{own} : std::vector<Recording*>{}, cudaErrorCapturedEvent,
          "the event was recorded into a graph, which has been ended");
  }
  if (own != nullptr && own != other) {
    spoil({own, other}, cudaErrorStreamCaptureMerge,
          "a stream that records a graph waits for an event of another graph's");
  }
  require(!other->spoilt, cudaErrorStreamCaptureInvalidated,
          "an earlier call has spoilt the graph that the event was recorded into");
  if (stream_number(stream) == 0) {
    spoil({other}, cudaErrorStreamCaptureUnsupported, "the default stream cannot record a graph");
  }
  Nodes& last = other->last[stream_number(stream)];
  for (CUgraphNode_st* const node : found->second.nodes) {
    if (std::find(last.begin(), last.end(), node) == last.end()) last.push_back(node);
  }
  return true;
}

void require_no_recording() {
  if (const auto all = recordings_where([](const Recording&) { return true; }); !all.empty()) {
    spoil(all, cudaErrorStreamCaptureUnsupported,
          "a stream records a graph: the host cannot wait for all work meanwhile");
  }
}

void require_not_recording(cudaStream_t stream) {
  Recording* const recording = recording_for(stream);
  if (recording == nullptr) return;
  spoil({recording}, cudaErrorStreamCaptureUnsupported, "the stream records a graph, which cannot hold this call");
}

void require_not_recorded(cudaEvent_t event) {
  const auto found = marks().find(event);
  if (found == marks().end()) return;
  Recording* const recording = found->second.recording;
  spoil(recording != nullptr ? std::vector{recording} : std::vector<Recording*>{}, cudaErrorCapturedEvent,
        "the event was recorded into a graph, and stands for no work of its own");
}

void require_safe() {
  if (const auto all = recordings_where(forbids_unsafe_calls); !all.empty()) {
    spoil(all, cudaErrorStreamCaptureUnsupported,
          "a stream records a graph, which would not hold this call (cudaThreadExchangeStreamCaptureMode allows it)");
  }
}

void require_not_recorded_into(const CUgraph_st& graph) {
  for (const auto& one : recordings()) {
    require(one->graph != &graph, cudaErrorInvalidValue, "a stream records this graph");
  }
}

void forget_event(cudaEvent_t event) {
  marks().erase(event);
}

void forget_stream(cudaStream_t stream) {
  Recording* const recording = recording_of(stream);
  if (recording == nullptr) return;
  const std::uint64_t number = stream_number(stream);
  if (recording->origin == number) {
    static_cast<void>(end_recording(*recording));
    return;
  }
  // What it recorded stays in the graph, where the stream was joined before.
  const Nodes gone = std::move(recording->last[number]);
  recording->last.erase(number);
  Nodes others;
  for (const auto& [other, last] : recording->last) others.insert(others.end(), last.begin(), last.end());
  recording->spoilt = recording->spoilt || !waits_for(others, gone);
}

}  // namespace heddle::cudart
