// The run-time API's streams and events, whose times are the simulator's.
#include <cstring>
#include <map>

#include "cuda/cudart/graphs.hpp"
#include "cuda/cudart/work.hpp"

namespace heddle::cudart {

namespace {

// A stream that the program has made; null: this is none.
const Runtime::Stream* made_by_program(std::uint64_t stream) {
  const Runtime::Stream* const found = Runtime::instance().stream(stream);
  return found != nullptr && found->of_program ? found : nullptr;
}

struct Event {
  bool timed = true;
  bool recorded = false;
};
std::map<cudaEvent_t, Event>& events() {
  static auto* const all = new std::map<cudaEvent_t, Event>;
  return *all;
}

Event& known(cudaEvent_t event) {
  const auto found = events().find(event);
  require(found != events().end(), cudaErrorInvalidResourceHandle,
          event == nullptr ? "the event is null" : "there is no such event");
  return found->second;
}

bool is_default(cudaStream_t stream) {
  return stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
}

}  // namespace

void require_stream(cudaStream_t stream) {
  require(is_default(stream) || made_by_program(number_of(stream)) != nullptr, cudaErrorInvalidResourceHandle,
          "there is no such stream");
}

bool waits_for_default(std::uint64_t stream) {
  const Runtime::Stream* const found = made_by_program(stream);
  return found == nullptr || (found->flags & cudaStreamNonBlocking) == 0;  // others are each thread's own
}

bool was_recorded(cudaEvent_t event) {
  return known(event).recorded;
}

cudaEvent_t known_event(cudaEvent_t event) {
  static_cast<void>(known(event));
  return event;
}

void synchronize(Runtime& runtime) {
  runtime.ask({Call::synchronize, 0, {}, 0});
  runtime.show_prints();
}

void synchronize(Runtime& runtime, cudaStream_t stream) {
  runtime.ask({Call::stream_synchronize, 0, {stream_number(stream)}, 0});
  runtime.show_prints();
}

void record(Runtime& runtime, cudaEvent_t event, cudaStream_t stream) {
  runtime.ask({Call::event_record, 0, {number_of(event), stream_number(stream)}, 0});
  if (const auto found = events().find(event); found != events().end()) found->second.recorded = true;
}

void wait_for(Runtime& runtime, cudaStream_t stream, cudaEvent_t event) {
  runtime.ask({Call::stream_wait, 0, {stream_number(stream), number_of(event)}, 0});
}

}  // namespace heddle::cudart

using namespace heddle::cudart;

namespace {

cudaError_t make_stream(const char* name, cudaStream_t* stream, unsigned int flags) {
  return guarded(name, [&](Runtime& runtime) {
    require_places(stream);
    require((flags & ~unsigned{cudaStreamNonBlocking}) == 0, cudaErrorInvalidValue, "streams have no such flag");
    const Answer answer = runtime.ask({Call::stream_create, 0, {flags & cudaStreamNonBlocking}, 0});
    *stream = reinterpret_cast<cudaStream_t>(answer.words[0]);
    runtime.give_stream(answer.words[0]);
  });
}

// What asks about an event or waits for it.
cudaError_t on_event(const char* name, Call call, cudaEvent_t event) {
  return guarded(name, [&](Runtime& runtime) {
    static_cast<void>(known(event));
    require_not_recorded(event);
    require_safe();
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
    require_stream(stream);
    forget_stream(stream);
    runtime.ask({Call::stream_destroy, 0, {stream_number(stream)}, 0});
  });
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return guarded("cudaStreamSynchronize", [&](Runtime& runtime) {
    require_stream(stream);
    require_not_recording(stream);
    require_safe();
    synchronize(runtime, stream);
  });
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return guarded("cudaStreamQuery", [&](Runtime& runtime) {
    require_stream(stream);
    require_not_recording(stream);
    require_safe();
    runtime.ask({Call::stream_query, 0, {stream_number(stream)}, 0});
  });
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
  return guarded("cudaStreamWaitEvent", [&](Runtime& runtime) {
    require((flags & ~unsigned{cudaEventWaitExternal}) == 0, cudaErrorInvalidValue, "there is no such flag");
    require_stream(stream);
    static_cast<void>(known(event));
    if ((flags & cudaEventWaitExternal) != 0 && records(stream)) {
      static_cast<void>(record(stream, event_content(cudaGraphNodeTypeWaitEvent, event)));
      return;
    }
    if (record_wait(stream, event)) return;
    wait_for(runtime, stream, event);
  });
}
// Everything before it has been done when this is called: work is simulated as it is asked for.
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data, unsigned int flags) {
  bool added = false;
  const cudaError_t error = guarded("cudaStreamAddCallback", [&](Runtime& runtime) {
    require(callback != nullptr && flags == 0, cudaErrorInvalidValue, "the function is null, or the flags are not 0");
    require_stream(stream);
    require_not_recording(stream);
    added = true;
    synchronize(runtime, stream);
  });
  if (added) callback(stream, error, data);
  return error;
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  bool recorded = false;
  const cudaError_t error = guarded("cudaLaunchHostFunc", [&](Runtime& runtime) {
    require(function != nullptr, cudaErrorInvalidValue, "the function is null");
    require_stream(stream);
    recorded = record(stream, host_content({function, data}));
    if (!recorded) synchronize(runtime, stream);
  });
  if (error == cudaSuccess && !recorded) function(data);
  return error;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
  return guarded("cudaEventCreate", [&](Runtime& runtime) {
    constexpr unsigned kFlags = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
    require_places(event);
    require((flags & ~kFlags) == 0, cudaErrorInvalidValue, "events have no such flag");
    require((flags & cudaEventInterprocess) == 0 || (flags & cudaEventDisableTiming) != 0, cudaErrorInvalidValue,
            "an event of several processes takes no times: cudaEventDisableTiming");
    *event = reinterpret_cast<cudaEvent_t>(runtime.ask({Call::event_create, 0, {}, 0}).words[0]);
    heddle::cudart::events()[*event].timed = (flags & cudaEventDisableTiming) == 0;
  });
}
cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return guarded("cudaEventDestroy", [&](Runtime& runtime) {
    static_cast<void>(known(event));
    runtime.ask({Call::event_destroy, 0, {number_of(event)}, 0});
    forget_event(event);
    heddle::cudart::events().erase(event);
  });
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return on_event("cudaEventSynchronize", Call::event_synchronize, event);
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  return on_event("cudaEventQuery", Call::event_query, event);
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault);
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags) {
  return guarded("cudaEventRecord", [&](Runtime& runtime) {
    require((flags & ~unsigned{cudaEventRecordExternal}) == 0, cudaErrorInvalidValue, "there is no such flag");
    require_stream(stream);
    static_cast<void>(known(event));
    const bool external = (flags & cudaEventRecordExternal) != 0 && records(stream);
    const bool recorded =
        external ? record(stream, event_content(cudaGraphNodeTypeEventRecord, event)) : record_event(event, stream);
    if (!recorded) record(runtime, event, stream);
  });
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return guarded("cudaEventElapsedTime", [&](Runtime& runtime) {
    require_places(milliseconds);
    const bool timed = known(start).timed && known(end).timed;
    require(timed, cudaErrorInvalidResourceHandle, "an event of cudaEventDisableTiming takes no times");
    require_not_recorded(start);
    require_not_recorded(end);
    const Answer answer = runtime.ask({Call::event_elapsed, 0, {number_of(start), number_of(end)}, 0});
    double nanoseconds = 0;
    std::memcpy(&nanoseconds, &answer.words[0], sizeof nanoseconds);
    *milliseconds = static_cast<float>(nanoseconds / 1e6);
  });
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int* flags) {
  return guarded("cudaStreamGetFlags", [&](Runtime&) {
    require_places(flags);
    require_stream(stream);
    *flags = waits_for_default(number_of(stream)) ? cudaStreamDefault : cudaStreamNonBlocking;
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
