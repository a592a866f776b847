// Kernels of a program's streams that have been asked for and not simulated yet, so that kernels of different streams
// can run side by side; and what streams do between them that takes no time: events.
//
// A launch in a stream of its own is put off until the program asks for something that depends on it. Then all that was
// put off happens together, in simulated time: a kernel begins when its stream's earlier work has ended, what the
// stream waits for has happened, and the GPU takes it (hw/gpu/dispatcher.hpp). Of several that can begin at once, the
// one that was asked for first does. So what happens when depends on the order of the calls, and on nothing else.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "tb/session/stream_clock.hpp"

namespace heddle::tb::session {

// The GPU that kernels run on. Times are cycles of its own clock, which stands still while nothing runs.
class KernelEngine {
 public:
  using Time = StreamClock::Time;
  virtual ~KernelEngine() = default;
  // In which a kernel would begin that is begun now.
  [[nodiscard]] virtual Time now() const = 0;
  [[nodiscard]] virtual bool running() const = 0;
  // A kernel can begin beside the kernels that run.
  [[nodiscard]] virtual bool can_begin() const = 0;
  virtual void begin(std::size_t work) = 0;
  struct Ended {
    std::size_t work = 0;
    Time begin = 0, end = 0;
  };
  // Until some have ended, or now() is `until`.
  virtual std::vector<Ended> proceed(Time until) = 0;
};

class StreamWork {
 public:
  using Time = StreamClock::Time;
  using Id = StreamClock::Id;

  explicit StreamWork(StreamClock& clock) : clock_(clock) {}

  // ---- puts off, in the order of the program's calls
  // A kernel; `work` names it to the engine. The default stream's cannot be put off.
  // `in_turn`: it begins when all such launches that were asked for before it have ended.
  void launch(Id stream, std::size_t work, bool in_turn = false);
  void record(Id event, Id stream);
  void hold(Id stream, Id event);

  [[nodiscard]] bool empty() const { return steps_.empty(); }
  [[nodiscard]] std::size_t size() const { return steps_.size(); }  // kernels and others
  // Something of the stream has been put off.
  [[nodiscard]] bool waits(Id stream) const;
  [[nodiscard]] bool will_record(Id event) const { return records_.count(event) != 0; }

  // Does all that was put off. `done(work, span)` is told of each kernel, in the program's time, as it ends. What the
  // engine throws ends it, and what is left is forgotten.
  template <class Done>
  void settle(KernelEngine& engine, Done done) {
    Time ahead = 0;    // of the engine's clock
    Time reached = 0;  // what has been simulated
    while (!steps_.empty()) {
      pass();
      Step* const next = first_ready();
      if (next == nullptr && !engine.running()) break;  // only what takes no time was left
      std::vector<KernelEngine::Ended> ended;
      if (next != nullptr && !engine.running()) {
        ahead = std::max(ready(*next), reached) - engine.now();
        start(*next, engine);
      } else if (next != nullptr && engine.now() + ahead >= ready(*next) && engine.can_begin()) {
        start(*next, engine);
      } else {
        const Time until = next != nullptr && engine.can_begin() ? ready(*next) - ahead : kNever;
        ended = engine.proceed(until);
        reached = engine.now() + ahead;
      }
      for (const KernelEngine::Ended& one : ended) {
        const StreamClock::Span span{one.begin + ahead, one.end + ahead};
        end(one.work, span);
        done(one.work, span);
      }
    }
    clock_.occupy(Engine::kernels, latest_);
    forget();
  }
  void forget() {
    steps_.clear();
    records_.clear();
    recorded_.clear();
  }

 private:
  static constexpr Time kNever = ~Time{0};
  struct Step {
    enum class Kind { launch, record, hold } kind = Kind::launch;
    Id stream = 0;
    Time asked = 0;          // by the host
    std::size_t work = 0;    // launch
    bool begun = false;      // launch
    bool in_turn = false;    // launch
    Id event = 0;            // record, hold
    std::uint64_t mark = 0;  // record: its number; hold: that of the record it waits for, 0: of none that was put off
    Time until = 0;          // hold: when that was, if it was not put off
  };
  [[nodiscard]] Time ready(const Step& step) const;
  void pass();
  [[nodiscard]] Step* first_ready();
  static void start(Step& step, KernelEngine& engine);
  void end(std::size_t work, const StreamClock::Span& span);

  StreamClock& clock_;
  std::deque<Step> steps_;                  // in the order of the calls
  std::map<Id, std::uint64_t> records_;     // of events: the latest that was put off
  std::map<std::uint64_t, Time> recorded_;  // when the events were that have happened
  std::uint64_t marks_ = 0;
  Time latest_ = 0;  // end of any kernel
};

}  // namespace heddle::tb::session
