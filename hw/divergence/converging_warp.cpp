#include "hw/divergence/converging_warp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/set_bits.hpp"

namespace heddle::hw {

void ConvergingWarp::begin(LaneMask threads) {
  live_ = threads;
  sets_.clear();
  barriers_.clear();
  moves_ = 0;
  idle_ = false;
  gets_on();
}

// ------------------------------------------------------------------------------------------- the running set

ConvergingWarp::Path ConvergingWarp::step(Path running, ConvergenceStatistics& count) {
  ++running.pc;
  return settle(running, count);
}

ConvergingWarp::Path ConvergingWarp::branch(Path running, const isa::Instruction& branch, LaneMask taken,
                                            const Rules& rules, ConvergenceStatistics& count) {
  const std::uint32_t pc = running.pc;
  const Path jumps{running.lanes & taken, branch.target};
  const Path falls{running.lanes & ~taken, pc + 1};
  const bool yields = jumps.lanes != 0 && branch.yields && goes_round(pc, branch, rules);
  if (jumps.lanes == 0 || falls.lanes == 0) {
    const Path next = jumps.lanes != 0 ? jumps : falls;
    if (yields) {
      ++count.yields;
      put({next.lanes, next.pc, State::yielded, 0});
      return settle({}, count);
    }
    return settle(next, count);
  }
  if (branch.reconvergence != isa::kNoReconvergence) {
    set_barrier(branch.reconvergence, running.lanes, rules, count);
  }
  // Threads that are where the paths meet wait there, whichever are first.
  const bool jump_first =
      !yields && (rules.taken_first || falls.pc == branch.reconvergence) && jumps.pc != branch.reconvergence;
  const Path first = jump_first ? jumps : falls;
  Path second = jump_first ? falls : jumps;
  (void)arrives(second, count);
  count.yields += yields ? 1 : 0;
  if (second.lanes != 0) {
    put({second.lanes, second.pc, yields ? State::yielded : State::ready, 0});
  }
  return settle(first, count);
}

ConvergingWarp::Path ConvergingWarp::exit(Path running, LaneMask exited, ConvergenceStatistics& count) {
  live_ &= ~exited;
  running.lanes &= ~exited;
  ++running.pc;
  gets_on();
  for (std::size_t i = barriers_.size(); i-- > 0;) {
    Barrier& barrier = barriers_[i];
    barrier.threads &= ~exited;
    if (barrier.threads == 0) {
      barriers_.erase(barriers_.begin() + static_cast<std::ptrdiff_t>(i));
    } else if (barrier.threads == meeting_at(barrier.pc)) {
      const std::uint32_t pc = barrier.pc;
      ++count.completed;
      put({open(i, count), pc, State::ready, 0});
    }
  }
  release_syncs();
  return settle(running, count);
}

ConvergingWarp::Path ConvergingWarp::wait(Path running, LaneMask arrivals, ConvergenceStatistics& count) {
  ++running.pc;
  comes_to(running.pc);
  put({arrivals, running.pc, State::at_barrier, 0});
  running.lanes &= ~arrivals;
  return settle(running, count);
}

ConvergingWarp::Path ConvergingWarp::sync(Path running, LaneMask lanes, const isa::LaneWord& members,
                                          ConvergenceStatistics& count) {
  ++count.warp_syncs;
  const std::uint32_t pc = running.pc++;
  comes_to(pc);
  LaneMask waiting = 0;
  for (LaneMask left = lanes; left != 0;) {
    const LaneMask named = members[static_cast<unsigned>(std::countr_zero(left))];
    LaneMask alike = 0;  // threads that name the same lanes
    for (const unsigned lane : set_bits(left)) {
      alike |= members[lane] == named ? LaneMask{1} << lane : 0;
    }
    left &= ~alike;
    if ((named & live_ & ~alike) != 0) {
      waiting |= alike;
      put({alike, running.pc, State::syncing, named});
    }
  }
  if (waiting == 0) {
    return settle(running, count);
  }
  ++count.warp_sync_waits;
  // Threads for which nothing is left to wait go on with those that do not wait.
  running.lanes &= ~waiting;
  release_syncs();
  if (running.lanes != 0) {
    const auto beside = std::find_if(sets_.begin(), sets_.end(),
                                     [&](const Set& set) { return set.state == State::ready && set.pc == running.pc; });
    if (beside != sets_.end()) {
      running.lanes |= beside->lanes;
      sets_.erase(beside);
    }
  }
  return settle(running, count);
}

// ------------------------------------------------------------------------------------------- sets

// Threads in one state at one PC are one set, which has begun to wait with the last of them.
void ConvergingWarp::put(Set set) {
  for (std::size_t i = 0; i != sets_.size(); ++i) {
    const Set& other = sets_[i];
    if (other.pc == set.pc && other.state == set.state && other.members == set.members) {
      set.lanes |= other.lanes;
      sets_.erase(sets_.begin() + static_cast<std::ptrdiff_t>(i));
      break;
    }
  }
  sets_.push_back(set);
}

void ConvergingWarp::take(std::size_t set, LaneMask lanes) {
  sets_[set].lanes &= ~lanes;
  if (sets_[set].lanes == 0) {
    sets_.erase(sets_.begin() + static_cast<std::ptrdiff_t>(set));
  }
}

void ConvergingWarp::release(LaneMask lanes) {
  for (std::size_t i = sets_.size(); i-- > 0;) {
    const Set set = sets_[i];
    if (set.state == State::at_barrier && (set.lanes & lanes) != 0) {
      take(i, lanes);
      put({set.lanes & lanes, set.pc, State::ready, 0});
    }
  }
  gets_on();
}

void ConvergingWarp::release_syncs() {
  for (std::size_t i = sets_.size(); i-- > 0;) {
    if (sets_[i].state != State::syncing) {
      continue;
    }
    const LaneMask members = sets_[i].members;
    LaneMask there = 0;
    for (const Set& set : sets_) {
      there |= set.state == State::syncing && set.members == members ? set.lanes : 0;
    }
    if ((members & live_ & ~there) != 0) {
      continue;
    }
    for (std::size_t j = sets_.size(); j-- > 0;) {
      if (const Set set = sets_[j]; set.state == State::syncing && set.members == members) {
        sets_.erase(sets_.begin() + static_cast<std::ptrdiff_t>(j));
        put({set.lanes, set.pc, State::ready, 0});
      }
    }
    gets_on();
    i = sets_.size();  // from the beginning
  }
}

ConvergingWarp::Path ConvergingWarp::pick(ConvergenceStatistics& count) {
  return settle({}, count);
}

ConvergingWarp::Path ConvergingWarp::pick_again(Path picked, ConvergenceStatistics& count) {
  put({picked.lanes, picked.pc, State::ready, 0});
  return settle({}, count);
}

ConvergingWarp::Path ConvergingWarp::settle(Path running, ConvergenceStatistics& count) {
  while (true) {
    if (running.lanes == 0) {
      running = pick_set(count);
      if (running.lanes == 0) {
        idle_ = true;
        return running;
      }
    }
    if (!arrives(running, count)) {
      idle_ = false;
      return running;
    }
  }
}

ConvergingWarp::Path ConvergingWarp::pick_set(ConvergenceStatistics& count) {
  const auto take_out = [this](auto at) {
    const Path path{at->lanes, at->pc};
    sets_.erase(at);
    return path;
  };
  while (true) {
    const auto is = [](State state) { return [state](const Set& set) { return set.state == state; }; };
    const auto last = std::find_if(sets_.rbegin(), sets_.rend(), is(State::ready));
    if (last != sets_.rend()) {
      return take_out(std::next(last).base());
    }
    if (open_without(State::yielded, count.left_behind)) {
      continue;
    }
    const auto first = std::find_if(sets_.begin(), sets_.end(), is(State::yielded));
    if (first != sets_.end()) {
      return take_out(first);
    }
    if (waits_at_block() || !open_without(State::syncing, count.given_up)) {
      return {};
    }
  }
}

// A barrier that waits for threads in `state` alone goes on without them, the one that was set last first.
bool ConvergingWarp::open_without(State state, std::uint64_t& counter) {
  const LaneMask missing = in(state);
  for (std::size_t i = barriers_.size(); missing != 0 && i-- > 0;) {
    const LaneMask there = meeting_at(barriers_[i].pc);
    const LaneMask absent = barriers_[i].threads & ~there;
    if (there == 0 || (absent & ~missing) != 0) {
      continue;
    }
    const std::uint32_t pc = barriers_[i].pc;
    ++counter;
    ConvergenceStatistics unseen;
    put({open(i, unseen), pc, State::ready, 0});
    gets_on();
    return true;
  }
  return false;
}

// ------------------------------------------------------------------------------------------- convergence barriers

LaneMask ConvergingWarp::meeting_at(std::uint32_t pc) const {
  for (const Set& set : sets_) {
    if (set.state == State::meeting && set.pc == pc) {
      return set.lanes;
    }
  }
  return 0;
}

// Threads of it that have met run; it is no more.
LaneMask ConvergingWarp::open(std::size_t barrier, ConvergenceStatistics& count) {
  const std::uint32_t pc = barriers_[barrier].pc;
  take_back(barriers_[barrier], count);
  barriers_.erase(barriers_.begin() + static_cast<std::ptrdiff_t>(barrier));
  for (std::size_t i = 0; i != sets_.size(); ++i) {
    if (sets_[i].state == State::meeting && sets_[i].pc == pc) {
      const LaneMask lanes = sets_[i].lanes;
      take(i, lanes);
      return lanes;
    }
  }
  return 0;
}

// Threads that stand at the PC of a barrier of theirs wait there (true), but for those that are its last: then all of
// its threads run.
bool ConvergingWarp::arrives(Path& running, ConvergenceStatistics& count) {
  for (std::size_t i = 0; i != barriers_.size(); ++i) {
    const Barrier& barrier = barriers_[i];
    const LaneMask arriving = barrier.threads & running.lanes;
    if (barrier.pc != running.pc || arriving == 0) {
      continue;
    }
    comes_to(running.pc);
    if ((barrier.threads & ~(arriving | meeting_at(barrier.pc))) == 0) {
      ++count.completed;
      running.lanes |= open(i, count);
      return false;
    }
    put({arriving, running.pc, State::meeting, 0});
    running.lanes &= ~arriving;
    return true;
  }
  return false;
}

void ConvergingWarp::set_barrier(std::uint32_t pc, LaneMask lanes, const Rules& rules, ConvergenceStatistics& count) {
  registers_ = rules.registers;
  for (Barrier& barrier : barriers_) {
    if (barrier.pc == pc) {
      barrier.threads |= lanes;
      ++count.joined;
      return;
    }
  }
  ++count.set;
  put_aside_one(nullptr, count);
  barriers_.push_back({pc, lanes, true});
}

void ConvergingWarp::take_back(Barrier& barrier, ConvergenceStatistics& count) {
  if (!barrier.in_register) {
    put_aside_one(&barrier, count);
    barrier.in_register = true;
    ++moves_;
    ++count.spills;
  }
}

// Puts a barrier aside, so that a register is free.
void ConvergingWarp::put_aside_one(const Barrier* but, ConvergenceStatistics& count) {
  const auto held = std::count_if(barriers_.begin(), barriers_.end(), [](const Barrier& b) { return b.in_register; });
  if (held < static_cast<std::ptrdiff_t>(registers_)) {
    return;
  }
  const auto first = std::find_if(barriers_.begin(), barriers_.end(),
                                  [but](const Barrier& barrier) { return barrier.in_register && &barrier != but; });
  first->in_register = false;
  ++moves_;
  ++count.spills;
}

// ------------------------------------------------------------------------------------------- going round

// The threads that take the branch let others run now.
bool ConvergingWarp::goes_round(std::uint32_t pc, const isa::Instruction& branch, const Rules& rules) {
  if (sets_.empty()) {
    return false;
  }
  first_ = std::min(first_, branch.target);
  last_ = std::max(last_, pc);
  if (++rounds_ < rules.yield_after) {
    return false;
  }
  rounds_ = 0;
  return true;
}

void ConvergingWarp::comes_to(std::uint32_t pc) {
  if (pc < first_ || pc > last_) {
    gets_on();
  }
}

void ConvergingWarp::gets_on() {
  rounds_ = 0;
  first_ = ~std::uint32_t{0};
  last_ = 0;
  for (std::size_t i = 0; i != sets_.size();) {
    const Set set = sets_[i];
    if (set.state != State::yielded) {
      ++i;
      continue;
    }
    sets_.erase(sets_.begin() + static_cast<std::ptrdiff_t>(i));
    const auto beside = std::find_if(sets_.begin(), sets_.end(), [&](const Set& other) {
      return other.state == State::ready && other.pc == set.pc;
    });
    if (beside != sets_.end()) {
      beside->lanes |= set.lanes;
    } else {
      // Its turn comes after all others'.
      sets_.insert(sets_.begin(), {set.lanes, set.pc, State::ready, 0});
      ++i;
    }
  }
}

// ------------------------------------------------------------------------------------------- views

std::uint32_t ConvergingWarp::next_stop(Path running) const {
  std::uint32_t stop = isa::kNoReconvergence;
  for (const Barrier& barrier : barriers_) {
    if ((barrier.threads & running.lanes) != 0 && barrier.pc > running.pc) {
      stop = std::min(stop, barrier.pc);
    }
  }
  return stop;
}

LaneMask ConvergingWarp::in(State state) const {
  LaneMask lanes = 0;
  for (const Set& set : sets_) {
    lanes |= set.state == state ? set.lanes : 0;
  }
  return lanes;
}

std::string ConvergingWarp::inconsistency(LaneMask running) const {
  LaneMask held = running;
  for (const Set& set : sets_) {
    if ((held & set.lanes) != 0) {
      return fmt::format("threads {:08x} are in two sets", held & set.lanes);
    }
    held |= set.lanes;
  }
  if (held != live_) {
    return fmt::format("its sets hold {:08x} of the threads {:08x}", held, live_);
  }
  for (const Barrier& barrier : barriers_) {
    if ((barrier.threads & ~live_) != 0 || (meeting_at(barrier.pc) & ~barrier.threads) != 0) {
      return fmt::format("the convergence barrier at PC {} is for threads {:08x} of {:08x}, and {:08x} wait there",
                         barrier.pc, barrier.threads, live_, meeting_at(barrier.pc));
    }
  }
  return {};
}

std::string ConvergingWarp::describe() const {
  std::string text = fmt::format("{} convergence barriers", barriers_.size());
  for (const Barrier& barrier : barriers_) {
    text += fmt::format("; at PC {} of lanes {:08x}{}", barrier.pc, barrier.threads,
                        barrier.in_register ? "" : ", in no register");
  }
  for (const Set& set : sets_) {
    text += fmt::format("; PC {} lanes {:08x} ", set.pc, set.lanes);
    switch (set.state) {
      case State::ready:
        text += "may run";
        break;
      case State::yielded:
        text += "let others run";
        break;
      case State::meeting:
        text += "wait to meet";
        break;
      case State::syncing:
        text += fmt::format("wait for lanes {:08x}", set.members);
        break;
      case State::at_barrier:
        text += "wait at a barrier";
        break;
    }
  }
  return text;
}

}  // namespace heddle::hw
