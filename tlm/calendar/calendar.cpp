// Long: one class: turns alone, one after the other and in threads must agree, and are read side by side.
#include "tlm/calendar/calendar.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "tlm/calendar/present_turn.hpp"

namespace heddle::link {

namespace {

// In nanoseconds. To hand out and gather takes a fraction of a microsecond when everybody is awake, but what one thread
// has written the other must fetch.
constexpr std::uint64_t kWorthSharing = 8000;
// Of so many cycles one is timed, and of so many such cycles the times decide how the parts are cut.
constexpr unsigned kUntimedCycles = 63;
constexpr unsigned kTimings = 16;
// No turn takes longer: the host has given the processor to others meanwhile.
constexpr std::uint64_t kLongestTurn = 20'000;
// Averages go back so many cycles, roughly.
constexpr std::uint64_t kLately = 8;

// A trial is told of the turns when there are so many, since asking for the time takes about as long as a short turn.
constexpr std::uint64_t kTurnsBetweenLooks = 512;

std::uint64_t nanoseconds() {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
}

}  // namespace

constinit thread_local void* present_member = nullptr;
constinit thread_local Moment present_moment;

Calendar::Calendar(const sc_core::sc_time& period)
    : period_(period),
      event_("advance_event"),
      clock_(period, *this, progress_),
      host_time_(nanoseconds),
      worth_sharing_(kWorthSharing) {
  sc_core::sc_spawn_options options;
  options.spawn_method();
  options.set_sensitivity(&event_);
  options.dont_initialize();
  sc_core::sc_spawn([this] { run(); }, "advance", &options);
}

Calendar::~Calendar() = default;

unsigned Calendar::add(ClockedModule& module) {
  entries_.push_back({&module});
  order_.clear();
  return static_cast<unsigned>(entries_.size() - 1);
}

sc_core::sc_time Clock::ahead() const {
  if (!running()) {
    return sc_core::SC_ZERO_TIME;
  }
  calendar_->turn_to_kernel();
  return sc_core::sc_time::from_value(moment().value - kernel());
}

// ------------------------------------------------------------------------------------------------------- waking

// Whether a module that is woken for a cycle, the first possible one from it, is to run before it would have.
bool Calendar::enter(unsigned module, Cycle& at) {
  Entry& entry = entries_[module];
  if (entry.last != kNever && at <= entry.last) {
    at = entry.last + 1;  // a cycle runs once
  }
  if (at >= entry.due) {
    // A module that has run in this cycle would now be due at `at`. One that will yet run must be, too: it may have
    // what it is woken for, but not see it before then.
    if (progress_->running && entry.due == clock_.now() && at != entry.due) {
      entry.later = std::min(entry.later, at);
    }
    return false;
  }
  entry.due = at;
  return true;
}

void Calendar::wake(unsigned module, Cycle at) {
  if (progress_->turns) {
    wake_in_turn(module, at);
    return;
  }
  disturbed_ = true;
  if (enter(module, at) && at < earliest_) {
    earliest_ = at;
    if (!progress_->running) {
      notify();
    }
  }
}

// Itself: looked at when its turn is over.
void Calendar::wake_in_turn(unsigned module, Cycle at) {
  if (const unsigned turn = present().module; module != turn) {
    throw InternalError(std::string(entries_[turn].module->name()) + " has woken " + entries_[module].module->name() +
                        " within its turn instead of telling the calendar");
  }
  static_cast<void>(enter(module, at));
}

void Calendar::notify() {
  if (earliest_ < notified_) {
    notified_ = earliest_;
    event_.notify(clock_.until(earliest_));
  }
}

// ------------------------------------------------------------------------------------------------------- cycles

// The first cycle that does not begin before the horizon and before every event of the kernel. Within run() the kernel
// is asked again only when it may have been told of another event: by who has asked how far ahead of it the calendar
// is, by a module that stays, or in a turn of another host thread's.
Cycle Calendar::before_events() {
  if (!events_known_) {
    // With work at the present time it is zero away; without any event as far as time goes.
    const std::uint64_t pending = sc_core::sc_time_to_pending_activity().value();
    const std::uint64_t present = sc_core::sc_time_stamp().value();
    const std::uint64_t event = pending > ~present ? ~std::uint64_t{0} : present + pending;
    const std::uint64_t end = std::min<std::uint64_t>(horizon_.value(), event);
    const std::uint64_t period = period_.value();
    before_events_ = end / period + (end % period != 0 ? 1 : 0);
    events_known_ = true;
  }
  return before_events_;
}

// Of the one module that is due before all others. Returns the latest cycle that it has had.
Cycle Calendar::run_alone(Cycle now) {
  Entry& entry = *next_;
  const Cycle until = std::min({second_, before_events(), next_told()});
  disturbed_ = false;
  while (entry.due < until && !disturbed_) {
    now = entry.due;
    progress_->moment = moment_of(now);
    entry.due = entry.later;
    entry.later = kNever;
    entry.last = now;
    ++cycles_ahead_;
    const Cycle next = entry.module->advance(now);
    if (next != kNever) {
      entry.due = std::min(entry.due, std::max(next, now + 1));
    }
  }
  if (!ends_.empty()) {
    do_told();
  }
  next_ = nullptr;
  earliest_ = std::min(second_, entry.due);
  if (disturbed_) {
    for (const Entry& each : entries_) {
      earliest_ = std::min(earliest_, each.due);
    }
    if (earliest_ <= now) {
      run_cycle(now);
    }
  }
  return now;
}

void Calendar::run() {
  notified_ = kNever;
  Cycle now = clock_.now();
  progress_->running = true;
  events_known_ = false;
  if (trial_ != nullptr) {
    trial_->resumes(host_time_());
  }
  for (;;) {
    const std::uint64_t turns_before = turns_on_ + cycles_ahead_;  // but for those of run_cycle()
    progress_->moment = moment_of(now);
    if (foresight_ != nullptr) {
      run_on(now);
    }
    run_cycle(now);
    if (next_ != nullptr) {
      now = run_alone(now);
    }
    if (trial_ != nullptr) {
      untried_ += turns_ + (turns_on_ + cycles_ahead_ - turns_before);
      if (untried_ >= kTurnsBetweenLooks) {
        go_on_with_trial();
      }
    }
    earliest_ = std::min(earliest_, next_told());
    if (earliest_ == kNever || earliest_ >= before_events()) {
      break;
    }
    now = earliest_;
    ++cycles_ahead_;
  }
  progress_->running = false;
  if (trial_ != nullptr) {
    trial_->pauses(host_time_());
  }
  if (earliest_ != kNever) {
    notify();
  }
}

// Who is woken for this very cycle by another one runs in it as well.
void Calendar::run_cycle(Cycle now) {
  do {
    if ((team_ != nullptr && !alone_) || shuffle_ != 0) {
      share_turns(now);
    } else {
      take_turns(now);
    }
    if (!ends_.empty()) {
      do_told();
    }
  } while (earliest_ <= now);
}

// Turns one after the other: what modules tell is done at once.
void Calendar::take_turns(Cycle now) {
  earliest_ = kNever;  // for modules that are told something; what is found here stays in registers
  disturbed_ = false;
  Cycle earliest = kNever;
  Cycle second = kNever;
  Entry* next_entry = nullptr;
  unsigned turns = 0;
  const bool told = next_told() == now;
  for (Entry& entry : entries_) {
    if (told) {
      do_told_by(static_cast<unsigned>(&entry - entries_.data()), now);
    }
    if (entry.due <= now) {
      entry.due = entry.later;
      entry.later = kNever;
      entry.last = now;
      ++turns;
      events_known_ = events_known_ && !entry.module->stays_;
      const Cycle next = entry.module->advance(now);
      if (next != kNever) {  // wake(), as far as it is to be done here
        entry.due = std::min(entry.due, std::max(next, now + 1));
      }
    }
    const Cycle due = entry.due;
    if (due < earliest) {
      second = earliest;
      earliest = due;
      next_entry = &entry;
    } else if (due < second) {
      second = due;
    }
  }
  turns_ = turns;
  second_ = second;
  // Who has been told something may be due earlier than when it was looked at, and who stays calls the kernel.
  const bool alone = !disturbed_ && earliest != second && !next_entry->module->stays_;
  next_ = alone ? next_entry : nullptr;
  earliest_ = std::min(earliest_, earliest);
}

// ------------------------------------------------------------------------------------------- turns kept apart

Calendar::Member& Calendar::present() {
  return *static_cast<Member*>(present_member);
}

Calendar::Told& Calendar::add_told(Told::Run run) {
  if (!progress_->turns) {
    return ends_.emplace_back(run, 0U);
  }
  Member& member = present();
  return member.told.emplace_back(run, member.module);
}

void Calendar::share_among(unsigned threads) {
  trial_.reset();
  alone_ = false;
  make_team(std::max(threads, 1U));
}

void Calendar::try_threads(unsigned most) {
  share_among(1);
  if (most > 1) {
    trial_ = std::make_unique<ThreadTrial>(most);
  }
}

// Between two cycles. While one thread and several are compared, the team rests instead of being made anew.
void Calendar::go_on_with_trial() {
  const bool changes = trial_->look(untried_, host_time_());
  untried_ = 0;
  if (!changes) {
    return;
  }
  alone_ = trial_->threads() == 1;
  if (alone_ && !trial_->found()) {
    return;
  }
  try {
    make_team(trial_->threads());
  } catch (const InputError&) {  // nobody has asked for so many
    trial_->give_up();
    make_team(1);
    alone_ = true;
  }
}

void Calendar::make_team(unsigned threads) {
  if (threads == members_.size()) {
    return;
  }
  team_.reset();
  members_ = std::vector<Member>(threads);
  order_.clear();
  if (threads > 1) {
    progress_->checks = false;
    team_ = std::make_unique<TurnTeam>(threads, [this](unsigned number) {
      Member& member = members_[number];
      if (progress_->apart) {
        run_on(member);
      } else {
        have_turns(member, progress_->moment.cycle);
      }
    });
  }
}

// At first all turns count alike.
void Calendar::make_order() {
  nanoseconds_.assign(entries_.size(), 1);
  order_.resize(entries_.size());
  cut_evenly();
}

// Parts that take equally long, one behind the other. Modules that stay are the first thread's. Within a part modules
// are in the order of their numbers, as do_told() wants them.
void Calendar::cut_evenly() {
  std::iota(order_.begin(), order_.end(), 0U);
  const auto stays = [this](unsigned number) { return entries_[number].module->stays_; };
  staying_ = static_cast<std::size_t>(std::stable_partition(order_.begin(), order_.end(), stays) - order_.begin());
  timings_ = 0;
  const std::uint64_t all = std::accumulate(nanoseconds_.begin(), nanoseconds_.end(), std::uint64_t{0});
  std::uint64_t before = 0;  // of the modules in front of `at`
  std::size_t at = 0;
  for (std::size_t number = 0; number != members_.size() && all != 0; ++number) {
    Member& member = members_[number];
    member.begin = at;
    const std::uint64_t until = all * (number + 1) / members_.size();
    // A module that lies across the cut belongs where more of it lies.
    while (at != order_.size() && (at < staying_ || before + nanoseconds_[order_[at]] / 2 < until)) {
      before += nanoseconds_[order_[at]];
      ++at;
    }
    member.end = at;
  }
  members_.back().end = order_.size();
  std::sort(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(members_.front().end));
  for (std::uint64_t& time : nanoseconds_) {
    time /= 2;  // what was long ago counts less
  }
}

bool Calendar::worth_sharing() const {
  return turns_lately_ * per_turn_ >= worth_sharing_ * kLately;
}

void Calendar::took(std::uint64_t nanoseconds, unsigned turns) {
  const std::uint64_t per_turn = std::min(nanoseconds / std::max(turns, 1U), kLongestTurn);
  per_turn_ = per_turn_ == 0 ? per_turn : (per_turn_ * (kLately - 1) + per_turn) / kLately;
}

void Calendar::share_turns(Cycle now) {
  timed_ = shuffle_ == 0 && untimed_++ >= kUntimedCycles;
  untimed_ = timed_ ? 0 : untimed_;
  if (shuffle_ == 0 && (!worth_sharing() || next_told() == now)) {
    const std::uint64_t began = timed_ ? nanoseconds() : 0;
    take_turns(now);
    if (timed_) {
      took(nanoseconds() - began, turns_);
    }
    turns_lately_ += turns_ - turns_lately_ / kLately;
    return;
  }
  if (order_.empty()) {
    make_order();
  }
  if (shuffle_ != 0) {
    reorder();
  }
  const std::uint64_t before = timed_ ? std::accumulate(nanoseconds_.begin(), nanoseconds_.end(), std::uint64_t{0}) : 0;
  next_ = nullptr;
  progress_->turns = true;
  if (team_ != nullptr) {
    team_->run();
    ++cycles_shared_;
  } else {
    have_turns(members_.front(), now);
  }
  progress_->turns = false;
  events_known_ = false;
  earliest_ = kNever;
  turns_ = 0;
  for (const Member& member : members_) {
    earliest_ = std::min(earliest_, member.earliest);
    turns_ += member.turns;
  }
  look_for_errors();
  do_told();
  turns_lately_ += turns_ - turns_lately_ / kLately;
  if (timed_) {
    took(std::accumulate(nanoseconds_.begin(), nanoseconds_.end(), std::uint64_t{0}) - before, turns_);
    if (++timings_ == kTimings) {
      cut_evenly();
    }
  }
}

void Calendar::have_turns(Member& member, Cycle now) {
  present_member = &member;
  Cycle earliest = kNever;
  unsigned turns = 0;
  try {
    for (std::size_t i = member.begin; i != member.end; ++i) {
      const unsigned number = order_[i];
      Entry& entry = entries_[number];
      if (entry.due > now) {
        earliest = std::min(earliest, entry.due);
        continue;
      }
      entry.due = entry.later;
      entry.later = kNever;
      entry.last = now;
      member.module = number;
      ++turns;
      const std::uint64_t began = timed_ ? nanoseconds() : 0;
      const Cycle next = entry.module->advance(now);
      if (timed_) {
        nanoseconds_[number] += std::min(nanoseconds() - began, kLongestTurn);
      }
      if (next != kNever) {  // wake(), as far as it is to be done here
        entry.due = std::min(entry.due, std::max(next, now + 1));
      }
      earliest = std::min(earliest, entry.due);
    }
  } catch (...) {
    member.error = std::current_exception();
  }
  member.earliest = earliest;
  member.turns = turns;
  present_member = nullptr;
}

// Of several modules that threw in a cycle the first, by number, is told, as with turns one after the other.
void Calendar::look_for_errors() {
  Member* first = nullptr;
  for (Member& member : members_) {
    if (member.error && (first == nullptr || member.module < first->module)) {
      first = &member;
    }
  }
  if (first != nullptr) {
    const std::exception_ptr error = first->error;
    for (Member& member : members_) {
      member.error = nullptr;
      member.told.clear();
    }
    std::rethrow_exception(error);
  }
}

// What was told is not done within a turn, so that what it tells itself is done at once, and what it wants done at the
// cycle's end comes behind all that was told.
void Calendar::do_told() {
  if (shuffle_ != 0) {
    for (Member& member : members_) {
      std::stable_sort(member.told.begin(), member.told.end(),
                       [](const Told& one, const Told& other) { return one.by < other.by; });
    }
  }
  for (;;) {
    Member* first = nullptr;  // whose list has the module with the lowest number in front
    for (Member& member : members_) {
      if (member.next_told != member.told.size() &&
          (first == nullptr || member.told[member.next_told].by < first->told[first->next_told].by)) {
        first = &member;
      }
    }
    if (first == nullptr) {
      break;
    }
    const unsigned by = first->told[first->next_told].by;
    for (; first->next_told != first->told.size() && first->told[first->next_told].by == by; ++first->next_told) {
      const Told& told = first->told[first->next_told];
      told.run(told.task);
    }
  }
  for (Member& member : members_) {
    member.told.clear();
    member.next_told = 0;
  }
  for (std::size_t i = 0; i != ends_.size(); ++i) {
    const Told told = ends_[i];  // it may have something kept for the cycle's end, and the list may move
    told.run(told.task);
  }
  ends_.clear();
}

// ------------------------------------------------------------------------------------------------------ for tests

void Calendar::shuffle(std::uint64_t seed) {
  shuffle_ = seed | 1U;
  order_.clear();
  progress_->checks = team_ == nullptr;
}

void Calendar::touch(const void* thing, const char* what) {
  if (progress_->turns) {
    check_.touch(thing, what, entries_[present().module].module->name(), progress_->moment.cycle);
  }
}

void Clock::touch_checked(const void* thing, const char* what) const {
  calendar_->touch(thing, what);
}

// A linear congruential generator (Knuth's constants) will do: any order is as good as any other, and so are any parts.
void Calendar::reorder() {
  const auto below = [this](std::size_t limit) {
    shuffle_ = shuffle_ * 6364136223846793005U + 1442695040888963407U;
    return (shuffle_ >> 33U) % limit;
  };
  const auto stays = [this](unsigned number) { return entries_[number].module->stays_; };
  std::stable_partition(order_.begin(), order_.end(), stays);
  for (std::size_t left = order_.size(); left > staying_ + 1; --left) {
    std::swap(order_[left - 1], order_[staying_ + below(left - staying_)]);
  }
  for (std::size_t left = staying_; left > 1; --left) {
    std::swap(order_[left - 1], order_[below(left)]);
  }
  std::vector<std::size_t> cuts{0, order_.size()};
  for (std::size_t number = 1; number != members_.size(); ++number) {
    cuts.push_back(staying_ + below(order_.size() - staying_ + 1));
  }
  std::sort(cuts.begin(), cuts.end());
  for (std::size_t number = 0; number != members_.size(); ++number) {
    members_[number].begin = cuts[number];
    members_[number].end = cuts[number + 1];
  }
  shuffle_ |= 1U;
}

ClockedModule::ClockedModule(const sc_core::sc_module_name& name, Clock clock)
    : sc_core::sc_module(name),
      own_(clock.calendar() == nullptr ? std::make_unique<Calendar>(clock.period()) : nullptr),
      calendar_(own_ ? own_.get() : clock.calendar()),
      clock_(own_ ? own_->clock() : clock),
      number_(calendar_->add(*this)) {}

void ClockedModule::stay(bool stays) {
  stays_ = stays;
  calendar_->order_.clear();
}

}  // namespace heddle::link
