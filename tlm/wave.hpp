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

#include <cstdint>
#include <optional>
#include <queue>
#include <span>
#include <string>
#include <systemc>
#include <utility>
#include <vector>

#include "tlm/clock.hpp"

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
  [[nodiscard]] inline std::uint64_t value() const;  // the latest that was set
  // The value from the present cycle on. In line: modules set many waves to what they are in nearly every cycle.
  [[gnu::always_inline]] void set(std::uint64_t value) {
    if (log_ != nullptr && (value != value_ || unusual_ != 0)) {
      change(value);
    }
  }
  // 1 in the present cycle, 0 from the next one on.
  inline void pulse();
  // The value in the present cycle, 0 from the next one on.
  inline void pulse(std::uint64_t value);
  // One more of what is counted per cycle: 0 from the next one on.
  inline void count(std::uint64_t events = 1);
  // The value from a cycle on: the present one, or a later one.
  void set_at(Cycle at, std::uint64_t value);
  // Changes the value by a difference (modulo 2^64) in a cycle, the present one or a later one. For a wave that is
  // never set otherwise once it has a value.
  void add_at(Cycle at, std::uint64_t difference);

 private:
  friend class WaveLog;
  friend class WaveSetter;
  inline void change(std::uint64_t value);
  inline void announce_end();
  // The first change of a cycle, or while the log sleeps.
  void change_otherwise(std::uint64_t value);

  std::uint64_t value_ = 0;      // the latest that was set
  std::uint64_t shown_ = 0;      // the latest that the log has passed on
  std::uint64_t due_value_ = 0;  // of an announced change that takes place
  WaveLog* log_ = nullptr;
  std::uint32_t index_ = 0;
  std::uint32_t generation_ = 0;          // of announcements: a set() voids the earlier ones
  std::uint32_t flushed_generation_ = 0;  // as the latest step left it
  bool shown_known_ = false;
  bool dirty_ = false;      // set in this step
  bool collected_ = false;  // in the list of announced changes that take place
  // What a set() may not pass over, though the value is the same.
  static constexpr std::uint8_t kUnknown = 1;    // it has no value yet
  static constexpr std::uint8_t kScheduled = 2;  // something may be announced
  std::uint8_t unusual_ = kUnknown;
  [[nodiscard]] bool known() const { return (unusual_ & kUnknown) == 0; }
  void becomes(std::uint64_t value) {
    value_ = value;
    unusual_ &= kScheduled;
  }
  // It has a value that voids what was announced.
  void settle(std::uint64_t value) {
    value_ = value;
    generation_ += unusual_ / kScheduled;
    unusual_ = 0;
  }
};

// Collects the changes of a time step and passes them on in the order of time.
class WaveLog {
 public:
  struct Change {
    std::uint32_t wave;  // in the order of take()
    std::uint64_t value;
  };
  virtual ~WaveLog();
  WaveLog(const WaveLog&) = delete;
  WaveLog& operator=(const WaveLog&) = delete;

  // Takes a wave: declared under its hierarchical name, `width` bits. Before the first step.
  void take(Wave& wave, const std::string& name, unsigned width);

 protected:
  WaveLog() = default;
  virtual void declare(const std::string& name, unsigned width) = 0;
  // The changes of one cycle; each wave at most once, only real changes. Cycles come in ascending order, the cycle of
  // the latest step possibly more than once.
  virtual void show(Cycle cycle, std::span<const Change> changes) = 0;

  // The end of a time step in cycle `now`: what was announced for cycles up to now, then what was set in this step.
  void flush(Cycle now);
  [[nodiscard]] bool idle() const { return dirty_count_ == 0 && next_count_ == 0; }
  // From now on changes are of the cycles of `clock`, which may run ahead of the kernel (tlm/calendar/calendar.hpp):
  // the first change of a cycle ends the step of the one before. The end of the kernel's step comes by end_step().
  void follow(const Clock& clock) {
    clock_.emplace(clock);
    progress_ = clock.progress();
  }
  // The cycle of the step that ends with the kernel's.
  [[nodiscard]] Cycle end_step() {
    const Cycle step = std::exchange(step_, kNever);
    return step != kNever ? step : present();
  }

  // Until wake(), changes are kept and not passed on, and no step has to end in flush(): of each wave only the value
  // counts that it has then. Before the first step.
  void sleep() { asleep_ = true; }
  [[nodiscard]] bool asleep() const { return asleep_; }
  // Cycle `now` is about to begin: what waves have by then is passed on as changes of the cycle before.
  void wake(Cycle now);
  // No wave belongs to it any more.
  void leave();
  // The present cycle, asked for while it sleeps.
  [[nodiscard]] virtual Cycle present() const = 0;

 private:
  friend class Wave;
  friend class WaveSetter;
  struct Announced {
    Wave* wave;
    std::uint64_t value;
    std::uint32_t generation;
    bool difference;
  };
  // Of a pulse: 0 again.
  struct PulseEnd {
    Wave* wave;
    std::uint32_t generation;
  };
  struct Later {
    Cycle at;
    std::uint64_t order;
    Announced change;
    friend bool operator>(const Later& a, const Later& b) { return a.at != b.at ? a.at > b.at : a.order > b.order; }
  };

  // Before a wave changes.
  void change_comes() {
    if (!in_step()) {
      begin_step();
    }
  }
  // For certain in the cycle that it collects changes of; nothing is to be done before another one.
  [[nodiscard]] bool in_step() const {
    return progress_ != nullptr && progress_->running && !progress_->apart && progress_->moment.cycle == step_;
  }
  // And all that was announced for cycles before this one has taken place.
  [[nodiscard]] bool follows_step() const { return in_step() && latest_ + 1 == step_; }
  void begin_step();
  void forget(Wave& wave);
  void announce(Cycle at, const Announced& change);
  void take_place(Cycle before);
  void collect(const Announced& announced, bool at_present);
  void collect_pulses(bool at_present);
  void pass_on(Cycle cycle);
  // Without a branch on whether it is a change, which is hard to foresee.
  void add(Wave& wave, std::uint64_t value) {
    changes_[changes_count_] = {wave.index_, value};
    changes_count_ += value != wave.shown_ || !wave.shown_known_ ? 1 : 0;
    wave.shown_ = value;
    wave.shown_known_ = true;
  }
  void mark_dirty(Wave& wave) {
    if (!wave.dirty_) {
      wave.dirty_ = true;
      dirty_[dirty_count_++] = &wave;
    }
  }
  void show_changes(Cycle cycle) {
    if (changes_count_ != 0) {
      show(cycle, {changes_.data(), changes_count_});
      changes_count_ = 0;
    }
  }

  std::vector<Wave*> waves_;  // null: gone
  std::vector<Wave*> dirty_;  // set in this step: the first `dirty_count_`; there is room for all and one more
  std::size_t dirty_count_ = 0;
  std::vector<PulseEnd> next_;  // for the cycle after this step's: the first `next_count_`, with room for more
  std::vector<PulseEnd> due_;   // for cycle due_at_, likewise
  std::size_t next_count_ = 0, due_count_ = 0;
  Cycle due_at_ = 0;
  std::priority_queue<Later, std::vector<Later>, std::greater<>> later_;
  std::uint64_t order_ = 0;
  std::vector<Wave*> collected_;
  std::vector<Change> changes_;  // with room for all and one more: the first `changes_count_`
  std::size_t changes_count_ = 0;
  Cycle latest_ = 0;  // of the steps so far
  std::optional<Clock> clock_;
  const Progress* progress_ = nullptr;  // of the calendar that made the clock; null: none did, or it follows no clock
  Cycle step_ = kNever;                 // of the present changes, by clock_; kNever: they are of the kernel's step
  bool asleep_ = false;
  std::size_t most_later_ = kFewLater;  // while it sleeps: of later_, before it looks which of them are over
  static constexpr std::size_t kFewLater = 1024;
};

// As SystemC's own sc_trace functions do it for their types. The file must be a WaveLog: others would have to poll.
void sc_trace(sc_core::sc_trace_file* file, Wave& wave, const std::string& name, int width);

inline std::uint64_t Wave::value() const {
  if (log_ != nullptr) {
    log_->change_comes();
  }
  return value_;
}

inline void Wave::count(std::uint64_t events) {
  if (log_ != nullptr) {
    log_->change_comes();
    pulse(dirty_ ? value_ + events : events);
  }
}

inline void Wave::change(std::uint64_t value) {
  if (!log_->in_step()) [[unlikely]] {
    change_otherwise(value);
    return;
  }
  settle(value);
  log_->mark_dirty(*this);
}

inline void Wave::announce_end() {
  unusual_ |= kScheduled;
  if (log_->next_count_ == log_->next_.size()) [[unlikely]] {
    log_->next_.resize(2 * log_->next_.size() + 64);
  }
  log_->next_[log_->next_count_++] = {this, generation_};
}

inline void Wave::pulse(std::uint64_t value) {
  if (log_ != nullptr) {
    if (log_->asleep_) {
      change(0);  // which it has from the next cycle on
      return;
    }
    change(value);
    announce_end();
  }
}

inline void Wave::pulse() {
  // One more cycle of what it shows already, usual for stages: the end alone is announced anew.
  if (log_ != nullptr && value_ == 1 && shown_ == 1 && shown_known_ && !dirty_ && log_->follows_step()) {
    flushed_generation_ = ++generation_;
    announce_end();
    return;
  }
  pulse(1);
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
      next_ = log_->dirty_.data() + log_->dirty_count_;
    }
  }
  [[gnu::always_inline]] ~WaveSetter() {
    if (log_ != nullptr) {
      log_->dirty_count_ = static_cast<std::size_t>(next_ - log_->dirty_.data());
    }
  }
  WaveSetter(const WaveSetter&) = delete;
  WaveSetter& operator=(const WaveSetter&) = delete;
  // False: no log has taken `one`, and nothing may be set.
  [[nodiscard]] explicit operator bool() const { return log_ != nullptr; }

  // As Wave::set().
  [[gnu::always_inline]] void set(Wave& wave, std::uint64_t value) {
    if (value != wave.value_ || wave.unusual_ != 0) {
      if (wave.log_ != log_) [[unlikely]] {
        wave.set(value);
        return;
      }
      wave.settle(value);
      if (!wave.dirty_) {
        wave.dirty_ = awake_;
        *next_ = &wave;
        next_ += awake_ ? 1 : 0;
      }
    }
  }
  // As Wave::pulse().
  [[gnu::always_inline]] void pulse(Wave& wave, std::uint64_t value = 1) {
    if (wave.log_ != log_) [[unlikely]] {
      wave.pulse(value);
      return;
    }
    // One more cycle of what it shows already, usual for stages: the end alone is announced anew.
    if (value == wave.value_ && value == wave.shown_ && wave.shown_known_ && !wave.dirty_ && log_->follows_step()) {
      wave.flushed_generation_ = ++wave.generation_;
      wave.announce_end();
      return;
    }
    set(wave, awake_ ? value : 0);  // asleep: what it has from the next cycle on
    if (awake_) {
      wave.announce_end();
    }
  }
  // As Wave::count().
  void count(Wave& wave, std::uint64_t events) {
    if (wave.log_ != log_) [[unlikely]] {
      wave.count(events);
      return;
    }
    set(wave, !awake_ ? 0 : wave.dirty_ ? wave.value_ + events : events);
    if (awake_) {
      wave.announce_end();
    }
  }

 private:
  WaveLog* const log_;
  bool awake_ = false;
  Wave** next_ = nullptr;  // what is set next goes here, in the log's dirty_
};

}  // namespace heddle::link
