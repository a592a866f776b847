// Graphs that streams are recording, and what must not be done meanwhile (CUDA Programming Guide, stream capture). A
// call that breaks a rule spoils the recording: the stream that began it can only end it, and gets no graph. All is
// called with the runtime's lock held; what throws, throws Failure.
#pragma once

#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "cuda/cudart/graphs.hpp"

namespace heddle::cudart {

using Nodes = std::vector<CUgraphNode_st*>;

// One graph that is being recorded, by the stream that began it and streams that joined.
struct Recording {
  std::uint64_t origin = 0;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::thread::id thread = std::this_thread::get_id();  // that began it
  std::unique_ptr<CUgraph_st> made;                     // null: the program's own graph is added to
  CUgraph_st* graph = nullptr;
  unsigned long long number = 0;        // different from all others'
  std::map<std::uint64_t, Nodes> last;  // by stream: what its next node waits for
  bool spoilt = false;                  // by a call that broke a rule
};

// The recording that the stream takes part in, spoilt or not; null: none.
[[nodiscard]] Recording* recording_of(cudaStream_t stream);
// Likewise, for a stream that is to be told of or given work: the default stream waits for others, and so must not be
// used while one of the others records; a spoilt recording takes nothing any more.
[[nodiscard]] Recording* recording_for(cudaStream_t stream);
// The default stream, as what `recording_for` says of it, without spoiling anything.
void require_default_stream_apart(cudaStream_t stream);
[[nodiscard]] Recording& begin_recording(std::unique_ptr<Recording> recording);
// Gives the graph; null: it was the program's.
std::unique_ptr<CUgraph_st> end_recording(Recording& recording);
// Whether what comes behind all of `last` comes behind all of `nodes`, too.
[[nodiscard]] bool waits_for(const Nodes& last, const Nodes& nodes);
[[noreturn]] void spoil(const std::vector<Recording*>& recordings, cudaError_t error, const char* text);

// What the present thread says of its calls that might not be safe while streams record.
[[nodiscard]] cudaStreamCaptureMode& present_mode();

}  // namespace heddle::cudart
