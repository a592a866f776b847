// When a program's work on the GPU happens, in simulated time: streams, events, and the three engines that do the work.
// Copies and fills happen as the program asks for them, one piece at a time; this says when each would have begun and
// ended had the engines worked side by side. Kernels that run side by side tell when they have (stream_work.hpp).
// Depends on nothing but the order of the calls.
//
// A piece of work begins when its stream's earlier work has ended, its engine is free, and the host has asked for it.
// The host's own time between calls counts as none, so a program's time is the time of its GPU work and of its waits.
// Stream 0 waits for all other streams and they for it, except streams made with cudaStreamNonBlocking (CUDA C++
// Programming Guide, "Implicit Synchronization").
#pragma once

#include <array>
#include <cstdint>
#include <map>

namespace heddle::tb::session {

enum class Engine : std::uint8_t { kernels, to_device, to_host };

class StreamClock {
 public:
  using Time = std::uint64_t;  // cycles of the GPU's clock
  using Id = std::uint64_t;

  // A poll takes the host so long: a loop that polls comes to an end.
  explicit StreamClock(Time poll_cycles) : poll_cycles_(poll_cycles) {}

  Id make_stream(bool waits_for_default);
  void drop_stream(Id stream) { streams_.erase(stream); }
  [[nodiscard]] bool knows_stream(Id stream) const { return stream == 0 || streams_.count(stream) != 0; }

  struct Span {
    Time begin = 0, end = 0;
  };
  Span run(Id stream, Engine engine, Time duration);
  // For work whose time is known otherwise: when the stream's next work can begin, and the engine's; and that they
  // were at work until a time.
  [[nodiscard]] Time ready(Id stream) const { return begin_of(stream); }
  [[nodiscard]] Time free(Engine engine) const { return engine_free_.at(static_cast<std::size_t>(engine)); }
  void reach(Id stream, Time time);
  void occupy(Engine engine, Time until) {
    Time& free = engine_free_.at(static_cast<std::size_t>(engine));
    free = free < until ? until : free;
  }
  void wait_for(Id stream);  // the host does
  void wait_for_all();
  [[nodiscard]] bool poll(Id stream);
  void hold(Id stream, Id event);  // the stream waits for the event

  Id make_event();
  void drop_event(Id event) { events_.erase(event); }
  [[nodiscard]] bool knows_event(Id event) const { return events_.count(event) != 0; }
  void record(Id event, Id stream);
  void record_at(Id event, Time time) { events_.at(event) = {time, true}; }
  [[nodiscard]] bool recorded(Id event) const { return events_.at(event).recorded; }
  [[nodiscard]] Time time(Id event) const { return events_.at(event).time; }
  void wait_for_event(Id event);
  [[nodiscard]] bool poll_event(Id event);

  [[nodiscard]] Time host() const { return host_; }

 private:
  struct Stream {
    Time ready = 0;
    bool waits_for_default = true;
  };
  struct Event {
    Time time = 0;
    bool recorded = false;
  };
  [[nodiscard]] Time begin_of(Id stream) const;  // of work that is asked for at this moment
  [[nodiscard]] Time end_of(Id stream) const;    // of what has been asked for
  [[nodiscard]] bool poll_time(Time time);

  Time poll_cycles_;
  Time host_ = 0;
  std::array<Time, 3> engine_free_{};
  Stream default_;
  std::map<Id, Stream> streams_;
  std::map<Id, Event> events_;
  Id next_ = 1;
};

}  // namespace heddle::tb::session
