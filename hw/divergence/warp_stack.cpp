#include "hw/divergence/warp_stack.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace heddle::hw {

bool no_lanes(std::span<const LaneMask> masks) {
  return std::all_of(masks.begin(), masks.end(), [](LaneMask mask) { return mask == 0; });
}

void take_out(std::vector<LaneMask>& masks, std::span<const LaneMask> lanes) {
  for (std::size_t row = 0; row < masks.size(); ++row) {
    masks[row] &= ~lanes[row];
  }
}

bool parts_at(Group& group, const Outcome& branch) {
  bool any_taken = false;
  bool any_not_taken = false;
  for (unsigned row = 0; row < group.rows(); ++row) {
    any_taken = any_taken || branch.taken[row] != 0;
    any_not_taken = any_not_taken || (group.active[row] & ~branch.taken[row]) != 0;
  }
  if (any_taken && any_not_taken) {
    return true;
  }
  group.pc = any_taken ? branch.instruction.target : group.pc + 1;
  return false;
}

WarpStack::Entry& WarpStack::push() {
  if (depth_ == entries_.size()) {
    entries_.emplace_back();
  }
  return entries_[depth_++];
}

void WarpStack::diverge(Group& group, const Outcome& branch) {
  const std::uint32_t fall_through = group.pc + 1;
  const std::uint32_t target = branch.instruction.target;
  const std::uint32_t reconvergence = branch.instruction.reconvergence;
  // A loop's exit branch diverges at the same merge point every time round: the join entry is there already.
  const bool joined = depth_ != 0 && entries_[depth_ - 1].reconvergence_pc == reconvergence &&
                      entries_[depth_ - 1].execute_pc == reconvergence;
  if (reconvergence != isa::kNoReconvergence && !joined) {
    Entry& join = push();
    join.reconvergence_pc = reconvergence;
    join.execute_pc = reconvergence;
    join.active = group.active;
  }
  const bool first = taken_first(group, branch.instruction);
  if (!first && target != reconvergence) {
    Entry& waiting = push();
    waiting.reconvergence_pc = reconvergence;
    waiting.execute_pc = target;
    waiting.active.assign(branch.taken.begin(), branch.taken.end());
  }
  for (unsigned row = 0; row < group.rows(); ++row) {
    const LaneMask undecided = branch.undecided.empty() ? 0 : branch.undecided[row];
    group.active[row] &= first ? branch.taken[row] | undecided : ~branch.taken[row];
  }
  group.pc = first ? target : fall_through;
}

void WarpStack::exited(std::span<const LaneMask> lanes) {
  for (std::size_t level = 0; level < depth_; ++level) {
    take_out(entries_[level].active, lanes);
  }
}

void WarpStack::pop_reached(Group& group, bool exited) {
  while (depth_ != 0) {
    const Entry& top = entries_[depth_ - 1];
    if (group.pc != top.reconvergence_pc && !(exited && no_lanes(group.active))) {
      return;
    }
    group.active = top.active;
    group.pc = top.execute_pc;
    --depth_;
    exited = true;  // an entry whose threads have all exited meanwhile leaves the mask empty: the loop pops on
  }
}

// An entry that waits has threads apart from the running ones, or, as the join of a branch, all of theirs.
std::string WarpStack::inconsistency(const Group& running) const {
  for (const Entry& entry : entries()) {
    bool meets = false;
    bool misses = false;
    for (unsigned row = 0; row < running.rows(); ++row) {
      meets = meets || (entry.active[row] & running.active[row]) != 0;
      misses = misses || (running.active[row] & ~entry.active[row]) != 0;
    }
    if (meets && misses) {
      return fmt::format("group {}: the entry for PC {} holds some of the running threads", running.id,
                         entry.execute_pc);
    }
  }
  return {};
}

Divergence::StackView WarpStack::view() const {
  if (empty()) {
    return {};
  }
  const Entry& top = entries_[depth_ - 1];
  return {depth_, top.reconvergence_pc, top.execute_pc, top.active};
}

std::string WarpStack::describe() const {
  std::string text = fmt::format("{} stack entries", depth_);
  for (std::size_t level = depth_; level-- > 0;) {
    const Entry& entry = entries_[level];
    const std::string merge =
        entry.reconvergence_pc == isa::kNoReconvergence ? "exit" : fmt::format("{}", entry.reconvergence_pc);
    text += fmt::format("; PC {} until {} lanes", entry.execute_pc, merge);
    for (const LaneMask mask : entry.active) {
      text += fmt::format(" {:08x}", mask);
    }
  }
  return text;
}

}  // namespace heddle::hw
