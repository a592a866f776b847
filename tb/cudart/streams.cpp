// The run-time API's streams and events, whose times are the simulator's.
#include <cstring>

#include "tb/cudart/runtime.hpp"

using heddle::cudart::Answer;
using heddle::cudart::Call;
using heddle::cudart::guarded;
using heddle::cudart::number_of;
using heddle::cudart::require;
using heddle::cudart::Runtime;

namespace {

std::uint64_t number(cudaStream_t stream) {
  return stream == cudaStreamLegacy || stream == cudaStreamPerThread ? 0 : number_of(stream);
}

cudaError_t make_stream(const char* name, cudaStream_t* stream, unsigned int flags) {
  return guarded(name, [&](Runtime& runtime) {
    require(stream != nullptr && (flags & ~unsigned{cudaStreamNonBlocking}) == 0, cudaErrorInvalidValue, "");
    const Answer answer = runtime.ask({Call::stream_create, 0, {flags & cudaStreamNonBlocking}, 0});
    *stream = reinterpret_cast<cudaStream_t>(answer.words[0]);
  });
}

cudaError_t on_event(const char* name, Call call, cudaEvent_t event) {
  return guarded(name, [&](Runtime& runtime) {
    require(event != nullptr, cudaErrorInvalidResourceHandle, "the event is null");
    runtime.ask({call, 0, {number_of(event)}, 0});
    if (call == Call::event_synchronize) runtime.show_prints();
  });
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return make_stream("cudaStreamCreate", stream, cudaStreamDefault);
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
  return make_stream("cudaStreamCreateWithFlags", stream, flags);
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int) {
  return make_stream("cudaStreamCreateWithPriority", stream, flags);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return guarded("cudaStreamDestroy", [&](Runtime& runtime) {
    require(number(stream) != 0, cudaErrorInvalidResourceHandle, "stream 0 is not the program's");
    runtime.ask({Call::stream_destroy, 0, {number(stream)}, 0});
  });
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return guarded("cudaStreamSynchronize", [&](Runtime& runtime) {
    runtime.ask({Call::stream_synchronize, 0, {number(stream)}, 0});
    runtime.show_prints();
  });
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return guarded("cudaStreamQuery", [&](Runtime& runtime) {
    runtime.ask({Call::stream_query, 0, {number(stream)}, 0});
  });
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int) {
  return guarded("cudaStreamWaitEvent", [&](Runtime& runtime) {
    runtime.ask({Call::stream_wait, 0, {number(stream), number_of(event)}, 0});
  });
}
// Everything before it has been done when this is called: work is simulated as it is asked for.
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data, unsigned int) {
  const cudaError_t error = cudaStreamSynchronize(stream);
  callback(stream, error, data);
  return error;
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  const cudaError_t error = cudaStreamSynchronize(stream);
  if (error == cudaSuccess) function(data);
  return error;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int) {
  return guarded("cudaEventCreate", [&](Runtime& runtime) {
    require(event != nullptr, cudaErrorInvalidValue, "");
    *event = reinterpret_cast<cudaEvent_t>(runtime.ask({Call::event_create, 0, {}, 0}).words[0]);
  });
}
cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return on_event("cudaEventDestroy", Call::event_destroy, event);
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return on_event("cudaEventSynchronize", Call::event_synchronize, event);
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  return on_event("cudaEventQuery", Call::event_query, event);
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return guarded("cudaEventRecord", [&](Runtime& runtime) {
    require(event != nullptr, cudaErrorInvalidResourceHandle, "the event is null");
    runtime.ask({Call::event_record, 0, {number_of(event), number(stream)}, 0});
  });
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return guarded("cudaEventElapsedTime", [&](Runtime& runtime) {
    const Answer answer = runtime.ask({Call::event_elapsed, 0, {number_of(start), number_of(end)}, 0});
    double nanoseconds = 0;
    std::memcpy(&nanoseconds, &answer.words[0], sizeof nanoseconds);
    *milliseconds = static_cast<float>(nanoseconds / 1e6);
  });
}

}  // extern "C"
#pragma GCC visibility pop
