// The run-time API's streams and events, whose times are the simulator's.
#include <cstring>
#include <set>

#include "tb/cudart/graphs.hpp"
#include "tb/cudart/work.hpp"

namespace heddle::cudart {

cudaEvent_t known_event(cudaEvent_t event) {
  require(event != nullptr, cudaErrorInvalidResourceHandle, "the event is null");
  require(Runtime::instance().has_event(number_of(event)), cudaErrorInvalidResourceHandle, "there is no such event");
  return event;
}

void synchronize(Runtime& runtime) {
  require_no_recording();
  runtime.ask({Call::synchronize, 0, {}, 0});
  runtime.show_prints();
}

void synchronize(Runtime& runtime, cudaStream_t stream) {
  require_not_recording(stream);
  runtime.ask({Call::stream_synchronize, 0, {stream_number(stream)}, 0});
  runtime.show_prints();
}

void record(Runtime& runtime, cudaEvent_t event, cudaStream_t stream) {
  runtime.ask({Call::event_record, 0, {number_of(event), stream_number(stream)}, 0});
}

void wait_for(Runtime& runtime, cudaStream_t stream, cudaEvent_t event) {
  runtime.ask({Call::stream_wait, 0, {stream_number(stream), number_of(event)}, 0});
}

}  // namespace heddle::cudart

using namespace heddle::cudart;

namespace {

// Streams of cudaStreamNonBlocking.
std::set<std::uint64_t>& non_blocking() {
  static auto* const all = new std::set<std::uint64_t>;
  return *all;
}

cudaError_t make_stream(const char* name, cudaStream_t* stream, unsigned int flags) {
  return guarded(name, [&](Runtime& runtime) {
    require_places(stream);
    require((flags & ~unsigned{cudaStreamNonBlocking}) == 0, cudaErrorInvalidValue, "");
    const Answer answer = runtime.ask({Call::stream_create, 0, {flags & cudaStreamNonBlocking}, 0});
    *stream = reinterpret_cast<cudaStream_t>(answer.words[0]);
    if ((flags & cudaStreamNonBlocking) != 0) non_blocking().insert(answer.words[0]);
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
    require(number_of(stream) > number_of(cudaStreamPerThread), cudaErrorInvalidResourceHandle,
            "default streams are not the program's to destroy");
    runtime.ask({Call::stream_destroy, 0, {stream_number(stream)}, 0});
  });
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return guarded("cudaStreamSynchronize", [&](Runtime& runtime) { synchronize(runtime, stream); });
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return guarded("cudaStreamQuery", [&](Runtime& runtime) {
    require_not_recording(stream);
    runtime.ask({Call::stream_query, 0, {stream_number(stream)}, 0});
  });
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
  return guarded("cudaStreamWaitEvent", [&](Runtime& runtime) {
    if ((flags & cudaEventWaitExternal) != 0 && records(stream)) {
      static_cast<void>(record(stream, event_content(cudaGraphNodeTypeWaitEvent, event)));
      return;
    }
    if (record_wait(stream, event)) return;
    wait_for(runtime, stream, event);
  });
}
// Everything before it has been done when this is called: work is simulated as it is asked for.
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data, unsigned int) {
  const cudaError_t given = guarded("cudaStreamAddCallback", [&](Runtime&) {
    require(callback != nullptr, cudaErrorInvalidValue, "the function is null");
    require_stream(stream);
  });
  if (given != cudaSuccess) return given;
  const cudaError_t error = cudaStreamSynchronize(stream);
  callback(stream, error, data);
  return error;
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  bool recorded = false;
  const cudaError_t error = guarded("cudaLaunchHostFunc", [&](Runtime& runtime) {
    recorded = record(stream, host_content({function, data}));
    if (!recorded) synchronize(runtime, stream);
  });
  if (error == cudaSuccess && !recorded) function(data);
  return error;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int) {
  return guarded("cudaEventCreate", [&](Runtime& runtime) {
    require_places(event);
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
    static_cast<void>(known_event(event));
    if (record_event(event, stream)) return;
    record(runtime, event, stream);
  });
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return guarded("cudaEventElapsedTime", [&](Runtime& runtime) {
    require_places(milliseconds);
    const Answer answer = runtime.ask({Call::event_elapsed, 0, {number_of(start), number_of(end)}, 0});
    double nanoseconds = 0;
    std::memcpy(&nanoseconds, &answer.words[0], sizeof nanoseconds);
    *milliseconds = static_cast<float>(nanoseconds / 1e6);
  });
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags) {
  if ((flags & cudaEventRecordExternal) == 0) return cudaEventRecord(event, stream);
  bool recorded = false;
  const cudaError_t error = guarded("cudaEventRecordWithFlags", [&](Runtime&) {
    recorded = record(stream, event_content(cudaGraphNodeTypeEventRecord, event));
  });
  return error != cudaSuccess || recorded ? error : cudaEventRecord(event, stream);
}
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int* flags) {
  return guarded("cudaStreamGetFlags", [&](Runtime&) {
    require_places(flags);
    *flags = non_blocking().count(stream_number(stream)) != 0 ? cudaStreamNonBlocking : cudaStreamDefault;
  });
}
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return guarded("cudaStreamGetPriority", [&](Runtime&) {
    require_places(priority);
    require_stream(stream);
    *priority = 0;
  });
}

}  // extern "C"
#pragma GCC visibility pop
