// When the modules of one GPU run: a calendar of their next cycles, behind one process of the SystemC kernel.
//
// A kernel event per module and cycle costs more than most modules' work. The calendar advances all modules that are
// due in a cycle within one activation of its process, and goes on to the next due cycle at once ("runs ahead") as long
// as no module could tell the difference:
//
//   - no other event of the kernel is due before that cycle or in it, and nothing is left to do at the present time;
//   - the cycle begins before the horizon, which whoever calls sc_start gives: the end of that call. Without a horizon
//     (the default) each cycle is one activation, and the kernel's time is never behind.
//
// A module that is due alone has its turns one after the other, without a look at the others or the kernel, until the
// next of the others is due, or it tells another module anything.
//
// While it runs ahead, Clock::now is the modules' time, and Clock::ahead what the kernel's lacks. Whatever a module
// does to the kernel or to modules outside the calendar adds that to its delays; the event that comes of it then ends
// the running ahead by itself.
//
// Within a cycle the modules have their turns in the order in which they were made; nothing may depend on it, which
// `shuffle` shows. In its turn a module changes only what is its own: itself, and the payloads that it holds. What it
// does to others (a request, an answer, a credit, a wake-up) it tells the calendar (Clock::tell). All of that counts
// from the next cycle on, so that no module could tell whether it is done at once or when all turns of the cycle are
// over. With turns one after the other it is done at once. Where host threads share out the turns (`share_among`), and
// where they are shuffled, it is done at the cycle's end, by the number of the module whose turn it was, and of each in
// the order in which it told: nothing that can change is shared by two turns of a cycle then.
//
// Modules may run on: have their turns of several cycles one after the other before others have had theirs, which saves
// the host from fetching a module's memory anew for each. That is conservative lookahead (Chandy and Misra,
// Asynchronous distributed simulation via a sequence of parallel computations, CACM 24(4), 1981): who knows the modules
// says up to which cycle nothing can come to one from outside (Foresight), and a module that tells anything stops
// behind that cycle. What it has told is done in its cycle, in its place among the others' turns: the order of all that
// one module sees is as if none ran on.
//
// Host threads have parts of the modules, in the order of their numbers, which are cut anew now and then so that each
// takes equally long (turns are timed in one of many cycles). Which thread takes which turn shows nowhere. Cycles that
// are likely to be over so soon that handing out is not worth it are the calling thread's alone. How many threads make
// the run fastest can be found by trial (`try_threads`, tlm/calendar/thread_trial.hpp). A module that
// calls what is not of the calendar (the SystemC kernel above all) says so, ClockedModule::stay, and has its turns in
// the thread that calls sc_start.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <systemc>
#include <type_traits>
#include <vector>

#include "tlm/calendar/thread_trial.hpp"
#include "tlm/calendar/turn_check.hpp"
#include "tlm/calendar/turn_team.hpp"
#include "tlm/clock.hpp"

namespace heddle::link {

class ClockedModule;

// Knows how far modules may run on.
class Foresight {
 public:
  virtual ~Foresight() = default;
  // Cycle `now` is about to begin; what modules that have run on have told comes to others in cycle `told` at the
  // earliest (kNever: they have told nothing that is not done).
  virtual void look(Cycle now, Cycle told) = 0;
  // Since look(): the first cycle in which anything can come to the runner from outside, if it told others
  // nothing and each of the others told at most once. A cycle that is not beyond the present one: it does not run on.
  [[nodiscard]] virtual Cycle undisturbed_until(unsigned runner) const = 0;
};

class Calendar {
 public:
  // No module is further ahead of another one.
  static constexpr Cycle kMostAhead = 16;

  // Within the constructor of a module, whose process it makes.
  explicit Calendar(const sc_core::sc_time& period);
  ~Calendar();
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
      disturbed_ = true;
      task();
    }
  }
  template <class Task>
  void at_cycle_end(const Task& task) {
    disturb();
    if (progress_->running) {
      keep(task, true);
    } else {
      task();
    }
  }
  // From the next cycle on so many host threads, the calling one among them, share out the turns of a cycle; 1: it has
  // all turns. When no cycle is under way. InputError: the host does not let the process have them.
  void share_among(unsigned threads);
  // Shares turns among as many threads, up to `most`, as have them fastest, which is measured during the run.
  void try_threads(unsigned most);
  // At present.
  [[nodiscard]] unsigned threads() const { return alone_ ? 1 : static_cast<unsigned>(members_.size()); }
  // For tests: the host's time, in nanoseconds, as trials see it.
  void time_trials_by(std::function<std::uint64_t()> host_time) { host_time_ = std::move(host_time); }
  // For tests: all cycles are worth sharing out.
  void share_every_cycle() { worth_sharing_ = 0; }
  // Cycles whose turns were shared out.
  [[nodiscard]] std::uint64_t cycles_shared() const { return cycles_shared_; }
  // For tests: from now on the modules that are due in a cycle run in an order that changes from cycle to cycle, what
  // they tell is done when all have had their turns, and one that wakes another within its turn, or touches
  // (Clock::touch) what another one has touched in the same cycle, is an InternalError. With several host threads every
  // cycle is shared out, each module to another one, and touches are not looked at.
  void shuffle(std::uint64_t seed);
  // For tests: what they have touched since.
  [[nodiscard]] std::uint64_t touches() const { return check_.touches(); }
  // For tests: cycles that were computed while the kernel's time stood.
  [[nodiscard]] std::uint64_t cycles_ahead() const { return cycles_ahead_; }
  // `runners` may run on from now on, as `foresight` says, which outlives the calendar's use. When no cycle is under
  // way.
  void let_run_on(const std::vector<ClockedModule*>& runners, Foresight& foresight);
  // No module runs on any more.
  void run_on_no_more() { foresight_ = nullptr; }
  // For tests: turns that were had beyond the present cycle.
  [[nodiscard]] std::uint64_t turns_on() const { return turns_on_; }

 private:
  friend class ClockedModule;
  friend class Clock;
  struct Member;
  void disturb() {
    if (!progress_->turns) {
      disturbed_ = true;
    }
  }
  // A module is about to tell the kernel something.
  void turn_to_kernel() {
    disturb();
    events_known_ = events_known_ && progress_->turns;
  }
  [[nodiscard]] unsigned add(ClockedModule& module);
  void wake(unsigned module, Cycle at);
  [[noreturn]] void refuse_wake(unsigned module) const;
  void run();
  void run_cycle(Cycle now);
  [[nodiscard]] Cycle run_alone(Cycle now);
  void run_on(Cycle now);
  void plan_to_run_on(Cycle now, Cycle most);
  void run_on(Member& member);
  void run_on(Member& member, unsigned number, Cycle until);
  [[nodiscard]] Cycle may_run_on_until(Cycle now);
  void do_told_by(unsigned module, Cycle now);
  [[nodiscard]] Cycle next_told() const { return told_done_ == told_on_.size() ? kNever : told_on_[told_done_].at; }
  void take_turns(Cycle now);
  void share_turns(Cycle now);
  void make_team(unsigned threads);
  void go_on_with_trial();
  void notify();
  [[nodiscard]] Cycle before_events();
  void make_order();
  void cut_evenly();
  void reorder();
  void do_told();
  void touch(const void* thing, const char* what);
  void wake_in_turn(unsigned module, Cycle at);
  bool enter(unsigned module, Cycle& at);

  static constexpr std::size_t kTaskBytes = 64;
  struct Told {
    using Run = void (*)(const std::byte* task);
    Told(Run run, unsigned by) : run(run), by(by) {}
    Run run;
    unsigned by;          // the module whose turn it was
    bool at_end = false;  // to be done at the cycle's end
    Cycle at = kNever;    // by one that has run on: in this cycle
    alignas(std::uint64_t) std::byte task[kTaskBytes];
  };
  template <class Task>
  void keep(const Task& task, bool at_end = false) {
    static_assert(sizeof(Task) <= kTaskBytes && alignof(Task) <= alignof(std::uint64_t));
    static_assert(std::is_trivially_copyable_v<Task> && std::is_trivially_destructible_v<Task>);
    Told& told = add_told([](const std::byte* bytes) { (*std::launder(reinterpret_cast<const Task*>(bytes)))(); });
    new (static_cast<void*>(told.task)) Task(task);
    told.at_end = at_end;
  }
  Told& add_told(Told::Run run);
  struct Entry {
    ClockedModule* module = nullptr;
    Cycle due = kNever;
    Cycle later = kNever;  // woken for this cycle too, before it ran in the present cycle
    Cycle last = kNever;   // the latest cycle that was advanced
  };
  // Who runs on, and up to which cycle.
  struct Plan {
    unsigned module;
    Cycle until;
  };
  // A part of the modules, whose turns in a cycle one host thread has: order_[begin, end).
  struct alignas(64) Member {
    std::size_t begin = 0;
    std::size_t end = 0;
    unsigned module = 0;      // that has its turn
    Cycle earliest = kNever;  // of the part's `due`
    unsigned turns = 0;       // that modules of it have had in the cycle
    std::vector<Told> told;   // in them
    std::size_t next_told = 0;
    std::exception_ptr error;    // thrown in the turn of `module`, after which no other of the part has one
    std::vector<Plan> plans;     // who of the part runs on, and up to which cycle
    std::uint64_t turns_on = 0;  // that modules have had in the member's thread
    // The plans that no thread has begun, [low half, high half): the member's thread takes them from the front, threads
    // that have none left from the back, so that modules stay with one thread as far as the parts take equally long.
    std::atomic<std::uint64_t> plans_left{0};
  };
  void have_turns(Member& member, Cycle now);
  [[nodiscard]] static const Plan* take_plan(Member& member, bool own);
  [[nodiscard]] const Plan* next_plan(Member& member);
  void look_for_errors();
  [[nodiscard]] Member& present();
  [[nodiscard]] bool worth_sharing() const;
  // Of a cycle that was timed.
  void took(std::uint64_t nanoseconds, unsigned turns);
  [[nodiscard]] Moment moment_of(Cycle cycle) const { return {cycle, cycle * period_.value()}; }

  const sc_core::sc_time period_;
  sc_core::sc_event event_;
  const std::shared_ptr<Progress> progress_ = std::make_shared<Progress>();
  Clock clock_;
  std::vector<Entry> entries_;
  Cycle earliest_ = kNever;  // of all entries' `due`, or earlier
  Cycle second_ = kNever;    // the earliest of the other modules, where one alone is next
  Entry* next_ = nullptr;    // the module that is next; null: there are several, or it is not known
  bool disturbed_ = false;   // since last cleared: a module has been told something or woken, or the kernel notified
  Cycle notified_ = kNever;  // the cycle for which `event_` is notified
  sc_core::sc_time horizon_ = sc_core::SC_ZERO_TIME;
  Cycle before_events_ = 0;    // see before_events()
  bool events_known_ = false;  // it holds: the kernel has been told nothing since
  std::uint64_t cycles_ahead_ = 0;
  std::vector<Told> ends_;  // told in the present cycle when no turns are kept apart: Clock::at_cycle_end
  unsigned turns_ = 0;      // that modules had in the latest cycle

  // Where modules run on.
  Foresight* foresight_ = nullptr;  // null: none does
  std::vector<unsigned> runners_;   // their numbers
  std::vector<Told> told_on_;       // by modules that have run on, by cycle and module; done up to told_done_
  std::size_t told_done_ = 0;
  std::vector<Plan> plans_;  // of the present window
  std::uint64_t turns_on_ = 0;
  unsigned pause_ = 0;  // cycles in which none is asked to run on, after some in which hardly any could
  unsigned rest_ = 0;   // of these cycles are left
  static constexpr unsigned kLongestPause = 15;

  // Where turns are shared out or shuffled.
  std::vector<Member> members_ = std::vector<Member>(1);  // one per host thread
  std::unique_ptr<TurnTeam> team_;                        // null: there is one
  bool alone_ = false;                                    // it rests: the calling thread has all turns just now
  std::unique_ptr<ThreadTrial> trial_;                    // null: the number of threads is given
  std::uint64_t untried_ = 0;                             // turns that the trial has not been told of
  std::function<std::uint64_t()> host_time_;              // for trials
  std::vector<unsigned> order_;                           // the modules, first those that stay
  std::size_t staying_ = 0;                               // so many
  std::vector<std::uint64_t> nanoseconds_;                // that the modules' turns have taken, where they were timed
  bool timed_ = false;                                    // the turns of the present cycle are
  unsigned untimed_ = 0;                                  // cycles since any were
  unsigned timings_ = 0;                                  // cycles since the parts were cut
  std::uint64_t per_turn_ = 0;                            // what one has taken lately, in nanoseconds
  std::uint64_t turns_lately_ = 0;                        // of one cycle, times kLately
  std::uint64_t worth_sharing_;                           // what a cycle takes at least for that, in nanoseconds
  std::uint64_t cycles_shared_ = 0;
  std::uint64_t shuffle_ = 0;  // 0: not
  TurnCheck check_;            // with shuffle
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
  // The cycle of its next turn; kNever: it waits to be woken.
  [[nodiscard]] Cycle due() const { return calendar_->entries_[number_].due; }
  // Its turns are had in the thread that calls sc_start: it calls what is not of the calendar. When no cycle is under
  // way.
  void stay(bool stays);

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
  bool stays_ = false;
};

}  // namespace heddle::link
