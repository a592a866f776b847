#include "tb/session/stream_clock.hpp"

#include <algorithm>

namespace heddle::tb::session {

StreamClock::Id StreamClock::make_stream(bool waits_for_default) {
  // 1 and 2 are names of CUDA's own streams.
  next_ = std::max<Id>(next_, 3);
  streams_[next_] = {host_, waits_for_default};
  return next_++;
}

StreamClock::Time StreamClock::end_of(Id stream) const {
  return stream == 0 ? default_.ready : streams_.at(stream).ready;
}

StreamClock::Time StreamClock::begin_of(Id stream) const {
  Time time = std::max(host_, end_of(stream));
  if (stream != 0) return streams_.at(stream).waits_for_default ? std::max(time, default_.ready) : time;
  for (const auto& [id, other] : streams_) {
    if (other.waits_for_default) time = std::max(time, other.ready);
  }
  return time;
}

void StreamClock::reach(Id stream, Time time) {
  Time& ready = stream == 0 ? default_.ready : streams_.at(stream).ready;
  ready = std::max(ready, time);
}

StreamClock::Span StreamClock::run(Id stream, Engine engine, Time duration) {
  Time& free = engine_free_.at(static_cast<std::size_t>(engine));
  Span span;
  span.begin = std::max(begin_of(stream), free);
  span.end = span.begin + duration;
  free = span.end;
  reach(stream, span.end);
  return span;
}

void StreamClock::wait_for(Id stream) {
  host_ = std::max(host_, stream == 0 ? begin_of(0) : end_of(stream));
}

void StreamClock::wait_for_all() {
  host_ = std::max(host_, default_.ready);
  for (const auto& [id, stream] : streams_) host_ = std::max(host_, stream.ready);
}

bool StreamClock::poll_time(Time time) {
  if (time <= host_) return true;
  host_ += poll_cycles_;
  return false;
}

bool StreamClock::poll(Id stream) {
  return poll_time(stream == 0 ? begin_of(0) : end_of(stream));
}

void StreamClock::hold(Id stream, Id event) {
  const Event& waited = events_.at(event);
  if (waited.recorded) reach(stream, waited.time);
}

StreamClock::Id StreamClock::make_event() {
  next_ = std::max<Id>(next_, 3);
  events_[next_] = {};
  return next_++;
}

void StreamClock::record(Id event, Id stream) {
  events_.at(event) = {begin_of(stream), true};
}

void StreamClock::wait_for_event(Id event) {
  host_ = std::max(host_, events_.at(event).time);
}

bool StreamClock::poll_event(Id event) {
  return poll_time(events_.at(event).time);
}

}  // namespace heddle::tb::session
