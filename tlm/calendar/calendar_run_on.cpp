// Modules that have the turns of several cycles one after the other.
#include <algorithm>
#include <iterator>

#include "tlm/calendar/calendar.hpp"
#include "tlm/calendar/present_turn.hpp"

namespace heddle::link {

void Calendar::let_run_on(const std::vector<ClockedModule*>& runners, Foresight& foresight) {
  runners_.clear();
  for (const ClockedModule* const runner : runners) {
    runners_.push_back(runner->number_);
  }
  foresight_ = &foresight;
}

// All cycles before it begin before the horizon, and before any event of the kernel.
Cycle Calendar::may_run_on_until(Cycle now) {
  return std::min(now + kMostAhead, before_events());
}

// Each host thread has neighbours, as many turns as the others at first.
void Calendar::plan_to_run_on(Cycle now, Cycle most) {
  for (Member& member : members_) {
    member.plans.clear();
    member.turns_on = 0;
  }
  const Cycle told = next_told();
  foresight_->look(now, told == kNever ? kNever : told + 1);
  plans_.clear();
  Cycle planned = 0;  // turns
  for (unsigned runner = 0; runner != runners_.size(); ++runner) {
    if (entries_[runners_[runner]].due > now) {
      continue;
    }
    if (const Cycle until = std::min(most, foresight_->undisturbed_until(runner)); until > now + 1) {
      plans_.push_back({runners_[runner], until});
      planned += until - now;
    }
  }
  Cycle before = 0;
  for (const Plan& plan : plans_) {
    members_[before * members_.size() / planned].plans.push_back(plan);
    before += plan.until - now;
  }
  for (Member& member : members_) {
    member.plans_left.store(std::uint64_t{member.plans.size()} << 32U, std::memory_order_relaxed);
  }
}

// Null: all have been begun.
const Calendar::Plan* Calendar::take_plan(Member& member, bool own) {
  std::uint64_t left = member.plans_left.load(std::memory_order_relaxed);
  for (;;) {
    const auto begin = static_cast<std::uint32_t>(left);
    const auto end = static_cast<std::uint32_t>(left >> 32U);
    if (begin == end) {
      return nullptr;
    }
    const std::uint64_t rest = own ? left + 1 : left - (std::uint64_t{1} << 32U);
    if (member.plans_left.compare_exchange_weak(left, rest, std::memory_order_relaxed)) {
      return &member.plans[own ? begin : end - 1];
    }
  }
}

// A plan of the member's own, or of the nearest neighbour that has any.
const Calendar::Plan* Calendar::next_plan(Member& member) {
  if (const Plan* const own = take_plan(member, true); own != nullptr || members_.size() == 1) {
    return own;
  }
  const auto number = static_cast<std::size_t>(&member - members_.data());
  for (std::size_t step = 1; step != members_.size(); ++step) {
    if (const Plan* const other = take_plan(members_[(number + step) % members_.size()], false)) {
      return other;
    }
  }
  return nullptr;
}

void Calendar::run_on(Cycle now) {
  if (shuffle_ != 0) {
    return;
  }
  if (rest_ != 0) {
    --rest_;
    return;
  }
  // One module that is due alone has its memory at hand more often than not.
  if (std::count_if(runners_.begin(), runners_.end(), [&](unsigned number) { return entries_[number].due <= now; }) <
      2) {
    return;
  }
  const Cycle most = may_run_on_until(now);
  if (most <= now + 1) {
    return;
  }
  plan_to_run_on(now, most);
  std::uint64_t runners = 0;
  std::uint64_t planned = 0;  // turns
  for (const Member& member : members_) {
    runners += member.plans.size();
    for (const Plan& plan : member.plans) {
      planned += plan.until - now;
    }
  }
  progress_->turns = true;
  progress_->apart = true;
  if (team_ != nullptr && !alone_ && runners > 1 && planned * per_turn_ >= worth_sharing_) {
    team_->run();
    ++cycles_shared_;
  } else {
    for (Member& member : members_) {
      run_on(member);
    }
  }
  progress_->turns = false;
  progress_->apart = false;
  events_known_ = false;
  look_for_errors();
  std::uint64_t turns = 0;
  const std::size_t before = told_on_.size();
  for (Member& member : members_) {
    turns += member.turns_on;
    std::move(member.told.begin(), member.told.end(), std::back_inserter(told_on_));
    member.told.clear();
  }
  if (told_on_.size() != before) {
    std::stable_sort(
        told_on_.begin() + static_cast<std::ptrdiff_t>(told_done_), told_on_.end(),
        [](const Told& one, const Told& other) { return one.at != other.at ? one.at < other.at : one.by < other.by; });
  }
  // Asking costs about as much as is saved by one turn right after the module's turn before.
  turns_on_ += turns;
  pause_ = turns > runners + 1 ? 0 : std::min(2 * pause_ + 1, kLongestPause);
  rest_ = pause_;
}

void Calendar::run_on(Member& member) {
  present_member = &member;
  try {
    while (const Plan* const plan = next_plan(member)) {
      run_on(member, plan->module, plan->until);
    }
  } catch (...) {
    member.error = std::current_exception();
  }
  present_member = nullptr;
}

// Has a module's turns up to a cycle, or to the one in which it has told another module something.
void Calendar::run_on(Member& member, unsigned number, Cycle until) {
  Entry& entry = entries_[number];
  member.module = number;
  const std::size_t before = member.told.size();
  while (entry.due < until) {
    const Cycle now = entry.due;
    present_moment = moment_of(now);
    entry.due = entry.later;
    entry.later = kNever;
    entry.last = now;
    ++member.turns_on;
    const Cycle next = entry.module->advance(now);
    if (next != kNever) {
      entry.due = std::min(entry.due, std::max(next, now + 1));
    }
    if (member.told.size() != before) {
      for (std::size_t i = before; i != member.told.size(); ++i) {
        member.told[i].at = now;
      }
      return;
    }
  }
}

// What the module has told in cycle `now`, when it ran on.
void Calendar::do_told_by(unsigned module, Cycle now) {
  while (told_done_ != told_on_.size() && told_on_[told_done_].at == now && told_on_[told_done_].by == module) {
    const Told told = told_on_[told_done_++];
    if (told.at_end) {
      ends_.push_back(told);
    } else {
      told.run(told.task);
    }
  }
  if (told_done_ == told_on_.size()) {
    told_on_.clear();
    told_done_ = 0;
  }
}

}  // namespace heddle::link
