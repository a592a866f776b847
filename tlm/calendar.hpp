// When the modules of one GPU run: a calendar of their next cycles, behind one process of the SystemC kernel.
//
// A kernel event per module and cycle costs more than most modules' work. The calendar advances all modules that are
// due in a cycle within one activation of its process, and goes on to the next due cycle at once ("runs ahead") as long
// as nobody could tell the difference:
//
//   - no other event of the kernel is due before that cycle or in it, and nothing is left to do at the present time;
//   - the cycle begins before the horizon, which whoever calls sc_start gives: the end of that call. Without a horizon
//     (the default) each cycle is one activation, and the kernel's time is never behind.
//
// While it runs ahead, Clock::now is the modules' time, and Clock::ahead what the kernel's lacks. Whatever a module
// does to the kernel or to modules outside the calendar adds that to its delays; the event that comes of it then ends
// the running ahead by itself.
//
// Within a cycle the modules have their turns in the order in which they were made; nothing may depend on it, which
// `shuffle` shows. In its turn a module changes only what is its own: itself, and the payloads that it holds. What it
// does to others (a request, an answer, a credit, a wake-up) it tells the calendar (Clock::tell). All of that counts
// from the next cycle on, so that nobody could tell whether it is done at once or when all turns of the cycle are over.
// With turns one after the other it is done at once. A shuffled calendar does it at the cycle's end, by the number of
// the module whose turn it was, and of each in the order in which it told: nothing that can change is shared by two
// turns of a cycle then, as it must be where host threads share out the turns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <systemc>
#include <type_traits>
#include <vector>

#include "tlm/clock.hpp"
#include "tlm/turn_check.hpp"

namespace heddle::link {

class ClockedModule;

class Calendar {
 public:
  // Within the constructor of a module, whose process it makes.
  explicit Calendar(const sc_core::sc_time& period);
  Calendar(const Calendar&) = delete;
  Calendar& operator=(const Calendar&) = delete;

  // The clock of the modules. Others may keep copies of it beyond the calendar's life: they tell the kernel's time
  // then.
  [[nodiscard]] Clock clock() { return Clock(period_, *this, progress_); }
  // Cycles that begin before `horizon` (a point of simulated time) may be computed while the kernel's time stands.
  void run_ahead_until(const sc_core::sc_time& horizon) { horizon_ = horizon; }
  // Clock::tell and Clock::at_cycle_end.
  template <class Task>
  void tell(const Task& task) {
    if (progress_->turns) {
      keep(task);
    } else {
      task();
    }
  }
  template <class Task>
  void at_cycle_end(const Task& task) {
    if (progress_->running) {
      keep(task);
    } else {
      task();
    }
  }
  // For tests: from now on the modules that are due in a cycle run in an order that changes from cycle to cycle, what
  // they tell is done when all have had their turns, and one that wakes another within its turn, or touches
  // (Clock::touch) what another one has touched in the same cycle, is an InternalError.
  void shuffle(std::uint64_t seed);
  // For tests: what they have touched since.
  [[nodiscard]] std::uint64_t touches() const { return check_.touches(); }
  // For tests: cycles that were computed while the kernel's time stood.
  [[nodiscard]] std::uint64_t cycles_ahead() const { return cycles_ahead_; }

 private:
  friend class ClockedModule;
  friend class Clock;
  [[nodiscard]] unsigned add(ClockedModule& module);
  void wake(unsigned module, Cycle at);
  [[noreturn]] void refuse_wake(unsigned module) const;
  void run();
  void run_cycle(Cycle now);
  void notify();
  [[nodiscard]] bool may_run_ahead(Cycle to) const;
  void reorder();
  void do_told();
  void touch(const void* thing, const char* what);

  static constexpr std::size_t kTaskBytes = 64;
  struct Told {
    using Run = void (*)(const std::byte* task);
    Told(Run run, unsigned by) : run(run), by(by) {}
    Run run;
    unsigned by;  // the module whose turn it was
    alignas(std::uint64_t) std::byte task[kTaskBytes];
  };
  template <class Task>
  void keep(const Task& task) {
    static_assert(sizeof(Task) <= kTaskBytes && alignof(Task) <= alignof(std::uint64_t));
    static_assert(std::is_trivially_copyable_v<Task> && std::is_trivially_destructible_v<Task>);
    Told& told = told_.emplace_back(
        [](const std::byte* bytes) { (*std::launder(reinterpret_cast<const Task*>(bytes)))(); }, turn_);
    new (static_cast<void*>(told.task)) Task(task);
  }
  struct Entry {
    ClockedModule* module = nullptr;
    Cycle due = kNever;
    Cycle later = kNever;  // woken for this one too, before it ran in the present cycle
    Cycle last = kNever;   // the latest cycle that was advanced
  };

  const sc_core::sc_time period_;
  sc_core::sc_event event_;
  const std::shared_ptr<Progress> progress_ = std::make_shared<Progress>();
  Clock clock_;
  std::vector<Entry> entries_;
  unsigned turn_ = 0;        // with shuffle: the module that has its turn, while Progress::turns
  std::vector<Told> told_;   // in the present cycle
  Cycle earliest_ = kNever;  // of all entries' `due`, or earlier
  Cycle notified_ = kNever;  // the cycle for which `event_` is notified
  sc_core::sc_time horizon_ = sc_core::SC_ZERO_TIME;
  std::uint64_t cycles_ahead_ = 0;
  std::uint64_t shuffle_ = 0;    // 0: in the order of `entries_`
  std::vector<unsigned> order_;  // with shuffle
  TurnCheck check_;              // with shuffle
};

template <class Task>
void Clock::tell(const Task& task) const {
  if (calendar_ != nullptr) {
    calendar_->tell(task);
  } else {
    task();
  }
}

template <class Task>
void Clock::at_cycle_end(const Task& task) const {
  if (calendar_ != nullptr) {
    calendar_->at_cycle_end(task);
  } else {
    task();
  }
}

// A module that runs only in cycles in which it has work. `advance` does the work of one cycle and returns the next
// cycle in which it wants to run (kNever: only when woken).
class ClockedModule : public sc_core::sc_module, public Waker {
 public:
  // At the earliest in the present cycle, if it has not run in it.
  void wake(Cycle at) final { calendar_->wake(number_, at); }
  [[nodiscard]] const Clock& clock() const { return clock_; }

 protected:
  // In the clock's calendar, or in one of its own when the clock has none.
  ClockedModule(const sc_core::sc_module_name& name, Clock clock);
  virtual Cycle advance(Cycle now) = 0;

 private:
  friend class Calendar;
  const std::unique_ptr<Calendar> own_;
  Calendar* const calendar_;
  const Clock clock_;
  const unsigned number_;
};

}  // namespace heddle::link
