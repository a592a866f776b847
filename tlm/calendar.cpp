#include "tlm/calendar.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "base/error.hpp"

namespace heddle::link {

Calendar::Calendar(const sc_core::sc_time& period)
    : period_(period), event_("advance_event"), clock_(period, *this, progress_) {
  sc_core::sc_spawn_options options;
  options.spawn_method();
  options.set_sensitivity(&event_);
  options.dont_initialize();
  sc_core::sc_spawn([this] { run(); }, "advance", &options);
}

unsigned Calendar::add(ClockedModule& module) {
  entries_.push_back({&module});
  return static_cast<unsigned>(entries_.size() - 1);
}

void Calendar::refuse_wake(unsigned module) const {
  throw InternalError(std::string(entries_[turn_].module->name()) + " has woken " + entries_[module].module->name() +
                      " within its turn instead of telling the calendar");
}

void Calendar::wake(unsigned module, Cycle at) {
  if (shuffle_ != 0 && progress_->turns && module != turn_) {
    refuse_wake(module);
  }
  Entry& entry = entries_[module];
  if (entry.last != kNever && at <= entry.last) {
    at = entry.last + 1;  // a cycle runs once
  }
  if (at >= entry.due) {
    // A module that has run in this cycle would now be due at `at`. One that will yet run must be, too: it may have
    // what it is woken for, but not see it before then.
    if (progress_->running && entry.due == progress_->cycle && at != entry.due) {
      entry.later = std::min(entry.later, at);
    }
    return;
  }
  entry.due = at;
  if (progress_->turns && module == turn_) {
    return;  // looked at when its turn is over
  }
  if (at < earliest_) {
    earliest_ = at;
    if (!progress_->running) {
      notify();
    }
  }
}

void Calendar::notify() {
  if (earliest_ < notified_) {
    notified_ = earliest_;
    event_.notify(clock_.until(earliest_));
  }
}

bool Calendar::may_run_ahead(Cycle to) const {
  const std::uint64_t start = to * period_.value();
  if (start >= horizon_.value()) {
    return false;
  }
  // The time of the next event; none: as far away as time goes. With work at the present time it is zero away.
  const std::uint64_t pending = sc_core::sc_time_to_pending_activity().value();
  return start - sc_core::sc_time_stamp().value() < pending;
}

void Calendar::run() {
  notified_ = kNever;
  Cycle now = clock_.now();
  progress_->running = true;
  for (;;) {
    progress_->cycle = now;
    progress_->value = now * period_.value();
    run_cycle(now);
    if (earliest_ == kNever || !may_run_ahead(earliest_)) {
      break;
    }
    now = earliest_;
    ++cycles_ahead_;
  }
  progress_->running = false;
  if (earliest_ != kNever) {
    notify();
  }
}

// Who is woken for this very cycle by another one runs in it as well.
void Calendar::run_cycle(Cycle now) {
  do {
    earliest_ = kNever;
    if (shuffle_ != 0) {
      reorder();
    }
    for (unsigned i = 0; i < entries_.size(); ++i) {
      const unsigned number = shuffle_ != 0 ? order_[i] : i;
      Entry& entry = entries_[number];
      if (entry.due > now) {
        earliest_ = std::min(earliest_, entry.due);
        continue;
      }
      entry.due = entry.later;
      entry.later = kNever;
      entry.last = now;
      if (shuffle_ != 0) {
        turn_ = number;
        progress_->turns = true;
      }
      const Cycle next = entry.module->advance(now);
      progress_->turns = false;
      if (next != kNever) {  // wake(), as far as it is to be done here
        entry.due = std::min(entry.due, std::max(next, now + 1));
      }
      earliest_ = std::min(earliest_, entry.due);
    }
    if (!told_.empty()) {
      do_told();
    }
  } while (earliest_ <= now);
}

// None of it is done within a turn, so that what it tells itself is done at once.
void Calendar::do_told() {
  if (shuffle_ != 0) {
    std::stable_sort(told_.begin(), told_.end(), [](const Told& one, const Told& other) { return one.by < other.by; });
  }
  for (std::size_t i = 0; i != told_.size(); ++i) {
    const Told told = told_[i];  // it may have something kept for the cycle's end, and the list may move
    told.run(told.task);
  }
  told_.clear();
}

void Calendar::shuffle(std::uint64_t seed) {
  shuffle_ = seed | 1U;
  order_.clear();
  progress_->checks = true;
}

void Calendar::touch(const void* thing, const char* what) {
  if (progress_->turns) {
    check_.touch(thing, what, entries_[turn_].module->name(), progress_->cycle);
  }
}

void Clock::touch_checked(const void* thing, const char* what) const {
  calendar_->touch(thing, what);
}

// A linear congruential generator (Knuth's constants) will do: any order is as good as any other.
void Calendar::reorder() {
  if (order_.size() != entries_.size()) {
    order_.resize(entries_.size());
    std::iota(order_.begin(), order_.end(), 0U);
  }
  for (std::size_t left = order_.size(); left > 1; --left) {
    shuffle_ = shuffle_ * 6364136223846793005U + 1442695040888963407U;
    std::swap(order_[left - 1], order_[(shuffle_ >> 33U) % left]);
  }
  shuffle_ |= 1U;
}

ClockedModule::ClockedModule(const sc_core::sc_module_name& name, Clock clock)
    : sc_core::sc_module(name),
      own_(clock.calendar() == nullptr ? std::make_unique<Calendar>(clock.period()) : nullptr),
      calendar_(own_ ? own_.get() : clock.calendar()),
      clock_(own_ ? own_->clock() : clock),
      number_(calendar_->add(*this)) {}

}  // namespace heddle::link
