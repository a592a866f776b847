// Signals that modules show in waveforms, reported change by change: a module says which value is new, and only that
// costs anything. Nothing looks over all signals in every cycle.
//
// A Wave is one signal of up to 64 bits. It belongs to no log until a WaveLog (a trace file, traces/vcd_file.hpp) takes
// it; until then every call returns at once. A module holds a pointer to its waves that is null without a log, and
// asks for it at points which it passes anyway.
//
// Time is in cycles. set() and pulse() mean the present cycle, whichever of several values comes last in it. set_at()
// and add_at() mean a later one: a data bus whose slot is known when its access starts, a value that holds for one
// cycle only. A set() takes back what set_at() and pulse() had announced for its own and later cycles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <systemc>
#include <utility>
#include <vector>

#include "tlm/clock.hpp"
#include "tlm/wave_steps.hpp"

namespace heddle::link {

class WaveLog;
class WaveSetter;

class Wave {
 public:
  Wave() = default;
  ~Wave();  // its log forgets it
  Wave(const Wave&) = delete;
  Wave& operator=(const Wave&) = delete;

  [[nodiscard]] bool traced() const { return log_ != nullptr; }
  // The latest that was set or pulsed.
  [[nodiscard]] std::uint64_t value() const { return value_; }
  // The value from the present cycle on. In line: modules set many waves to what they are in nearly every cycle.
  [[gnu::always_inline]] void set(std::uint64_t value) {
    if (log_ != nullptr && (value != value_ || !settled_)) {
      settle(value);
      tell(WaveOp::Kind::set, value);
    }
  }
  // The value in the present cycle, 0 from the next one on.
  [[gnu::always_inline]] void pulse(std::uint64_t value = 1) {
    if (log_ != nullptr) {
      value_ = value;
      settled_ = false;
      tell(WaveOp::Kind::pulse, value);
    }
  }
  // One more of what is counted per cycle: 0 from the next one on.
  void count(std::uint64_t events = 1) {
    if (log_ != nullptr) {
      settled_ = false;
      tell(WaveOp::Kind::count, events);
    }
  }
  // These bits beside those that it has in the present cycle.
  void merge(std::uint64_t bits);
  // The value from a cycle on: the present one, or a later one.
  void set_at(Cycle at, std::uint64_t value);
  // Changes the value by a difference (modulo 2^64) in a cycle, the present one or a later one. For a wave that is
  // never set otherwise once it has a value.
  void add_at(Cycle at, std::uint64_t difference);

 private:
  friend class WaveLog;
  friend class WaveSetter;
  inline void tell(WaveOp::Kind kind, std::uint64_t value);
  void settle(std::uint64_t value) {
    value_ = value;
    settled_ = true;
  }

  std::uint64_t value_ = 0;
  WaveLog* log_ = nullptr;
  std::uint32_t index_ = 0;
  bool settled_ = false;  // it has value_ and nothing is announced: a set() to that value may be passed over
};

// Takes down what waves are told, step by step. Its heir has it put into the order of time (tlm/wave_steps.hpp).
class WaveLog {
 public:
  virtual ~WaveLog();
  WaveLog(const WaveLog&) = delete;
  WaveLog& operator=(const WaveLog&) = delete;

  // Takes a wave: declared under its hierarchical name, `width` bits. Before the first step.
  void take(Wave& wave, const std::string& name, unsigned width);

 protected:
  // `batch`: ops of whole steps are passed on when there are as many, or those of each step (0).
  explicit WaveLog(std::size_t batch = 0) : batch_(batch) {}
  virtual void declare(const std::string& name, unsigned width) = 0;
  // Ops of whole steps, behind those of the call before: the first `count`. The heir may leave another vector.
  virtual void pass(std::vector<WaveOp>& ops, std::size_t count) = 0;

  // The end of a time step in cycle `now`.
  void flush(Cycle now);
  // What has been told of whole steps is passed on.
  void pass_on();
  // There is no batch any more. Before the first step.
  void pass_each_step() { batch_ = 0; }
  // Nothing has been set in this step. What was announced can wait for the next change.
  [[nodiscard]] bool idle() const { return count_ == idle_count_; }
  // From now on changes are of the cycles of `clock`, which may run ahead of the kernel (tlm/calendar/calendar.hpp):
  // the first change of a cycle ends the step of the one before. The end of the kernel's step comes by end_step().
  void follow(const Clock& clock) {
    clock_.emplace(clock);
    progress_ = clock.progress();
  }
  // The cycle of the step that ends with the kernel's.
  [[nodiscard]] Cycle end_step() { return present_of(std::exchange(step_, kNever)); }

  // Until wake(), which comes in cycle `until` or later, changes are kept and not passed on, and no step has to end in
  // flush(): of each wave only the value counts that it has then. Before the first step. Where the simulation ends
  // earlier and wakes it, waves have what was announced for cycles before `until`.
  void sleep(Cycle until) {
    asleep_ = true;
    until_ = until;
  }
  [[nodiscard]] bool asleep() const { return asleep_; }
  // Cycle `now` is about to begin: what waves have by then is passed on as changes of the cycle before.
  void wake(Cycle now);
  // No wave belongs to it any more.
  void leave();
  // The present cycle, asked for where no clock says it.
  [[nodiscard]] virtual Cycle present() const = 0;

 private:
  friend class Wave;
  friend class WaveSetter;
  // Of a wave while the log sleeps.
  struct Sleeping {
    Cycle at = 0;                  // of the announcement that its value is of; 0: it was set
    std::uint32_t generation = 0;  // of announcements: what sets the wave voids the earlier ones
    bool known = false;            // it has a value
  };
  struct Announced {
    Wave* wave;
    WaveOp::Kind kind;
    std::uint32_t generation;
    std::uint64_t value;
    Cycle at;
  };

  // Before a wave changes.
  [[gnu::always_inline]] void change_comes() {
    if (!in_step()) [[unlikely]] {
      begin_step();
    }
  }
  // For certain in the cycle that it collects changes of; nothing is to be done before another one.
  [[nodiscard]] bool in_step() const {
    return progress_ != nullptr && progress_->running && !progress_->apart && progress_->moment.cycle == step_;
  }
  void begin_step();
  [[nodiscard]] Cycle present_of(Cycle step) const { return step != kNever ? step : present(); }
  [[gnu::always_inline]] void add(const WaveOp& op) {
    if (count_ == ops_.size()) [[unlikely]] {
      more_room();
    }
    ops_[count_++] = op;
  }
  // Of an op that sets nothing in this step.
  void add_aside(const WaveOp& op) {
    add(op);
    ++idle_count_;
  }
  void more_room();
  void forget(Wave& wave);
  void announce(Wave& wave, WaveOp::Kind kind, Cycle at, std::uint64_t value);
  // While it sleeps.
  void set_sleeping(Wave& wave, std::uint64_t value);
  void announce_sleeping(const Announced& announced);

  std::vector<Wave*> waves_;  // null: gone
  std::vector<WaveOp> ops_;   // the first `count_`, with room for more
  std::size_t count_ = 0;
  std::size_t idle_count_ = 0;  // what it is where nothing is set in this step
  std::size_t batch_;
  std::optional<Clock> clock_;
  const Progress* progress_ = nullptr;  // of the calendar that made the clock; null: none did, or it follows no clock
  Cycle step_ = kNever;                 // of the present changes, by clock_; kNever: they are of the kernel's step
  bool asleep_ = false;
  Cycle until_ = 0;
  std::vector<Sleeping> sleeping_;  // by the wave's index
  std::vector<Announced> later_;    // while it sleeps: for cycles that it may be awake in
};

// As SystemC's own sc_trace functions do it for their types. The file must be a WaveLog: others would have to poll.
void sc_trace(sc_core::sc_trace_file* file, Wave& wave, const std::string& name, int width);

[[gnu::always_inline]] inline void Wave::tell(WaveOp::Kind kind, std::uint64_t value) {
  log_->change_comes();
  if (log_->asleep_) [[unlikely]] {
    log_->set_sleeping(*this, kind == WaveOp::Kind::set ? value : 0);  // which it has from the next cycle on
    return;
  }
  log_->add({index_, kind, value});
}

// Sets several waves in the present cycle, all or most of which one log has taken: it is asked once which cycle it is.
// While there is one, nobody else sets or announces anything of that log.
class WaveSetter {
 public:
  // By the log of this one.
  [[gnu::always_inline]] explicit WaveSetter(const Wave& one) : log_(one.log_) {
    if (log_ != nullptr) {
      log_->change_comes();
      awake_ = !log_->asleep_;
      next_ = log_->ops_.data() + log_->count_;
      end_ = awake_ ? log_->ops_.data() + log_->ops_.size() : next_;
    }
  }
  [[gnu::always_inline]] ~WaveSetter() {
    if (log_ != nullptr) {
      log_->count_ = static_cast<std::size_t>(next_ - log_->ops_.data());
    }
  }
  WaveSetter(const WaveSetter&) = delete;
  WaveSetter& operator=(const WaveSetter&) = delete;
  // False: no log has taken `one`, and nothing may be set.
  [[nodiscard]] explicit operator bool() const { return log_ != nullptr; }

  // As Wave::set(). Without a branch on whether the value is another one, which is hard to foresee.
  [[gnu::always_inline]] void set(Wave& wave, std::uint64_t value) {
    if (next_ == end_ || wave.log_ != log_) [[unlikely]] {
      set_otherwise(wave, value);
      return;
    }
    const bool tells = (value != wave.value_) | !wave.settled_;
    *next_ = {wave.index_, WaveOp::Kind::set, value};
    wave.settle(value);
    next_ += tells ? 1 : 0;
  }
  // As Wave::pulse().
  [[gnu::always_inline]] void pulse(Wave& wave, std::uint64_t value = 1) {
    if (wave.log_ == log_) [[likely]] {
      wave.value_ = value;
      wave.settled_ = false;
      tell(wave, WaveOp::Kind::pulse, value);
    } else {
      wave.pulse(value);
    }
  }
  // As Wave::count().
  void count(Wave& wave, std::uint64_t events) {
    if (wave.log_ == log_) [[likely]] {
      wave.settled_ = false;
      tell(wave, WaveOp::Kind::count, events);
    } else {
      wave.count(events);
    }
  }

 private:
  [[gnu::always_inline]] void tell(Wave& wave, WaveOp::Kind kind, std::uint64_t value) {
    if (next_ == end_) [[unlikely]] {
      tell_otherwise(wave, kind, value);
      return;
    }
    *next_++ = {wave.index_, kind, value};
  }
  void set_otherwise(Wave& wave, std::uint64_t value);
  void tell_otherwise(Wave& wave, WaveOp::Kind kind, std::uint64_t value);

  WaveLog* const log_;
  bool awake_ = false;
  WaveOp* next_ = nullptr;  // what is told next goes here, in the log's ops_
  WaveOp* end_ = nullptr;   // of their room; next_ itself while the log sleeps
};

}  // namespace heddle::link
