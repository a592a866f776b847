#include "hw/divergence/stack.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "hw/parameters/cost.hpp"

namespace heddle::hw {

namespace {

bool no_lanes(std::span<const LaneMask> masks) {
  return std::all_of(masks.begin(), masks.end(), [](LaneMask mask) { return mask == 0; });
}

}  // namespace

StackDivergence::StackDivergence(const Setup& setup)
    : warp_size_(setup.core.warp_size), stacks_(setup.core.threads / setup.core.warp_size) {}

unsigned StackDivergence::groups(unsigned threads) const {
  return threads / warp_size_;
}

StackDivergence::Entry& StackDivergence::Stack::push() {
  if (depth == entries.size()) {
    entries.emplace_back();
  }
  return entries[depth++];
}

void StackDivergence::start(Group& group) {
  group.pc = 0;
  stacks_[group.id].depth = 0;
  note_merge_pc(group);
}

bool StackDivergence::complete(Group& group, const Outcome& outcome, GroupMoves& moves) {
  bool diverged = false;
  Stack& stack = stacks_[group.id];
  switch (outcome.instruction.op) {
    case isa::Op::BRA:
      diverged = branch(group, outcome);
      break;
    case isa::Op::EXIT:
      for (unsigned row = 0; row < group.rows(); ++row) {
        group.active[row] &= ~outcome.exited[row];
        for (std::size_t level = 0; level < stack.depth; ++level) {
          stack.entries[level].active[row] &= ~outcome.exited[row];
        }
      }
      ++group.pc;
      break;
    default:
      ++group.pc;
      break;
  }
  pop_reached(group, outcome.instruction.op == isa::Op::EXIT);
  note_merge_pc(group);
  if (no_lanes(outcome.arrivals)) {
    moves.run(group);
  } else {
    moves.wait(group);
  }
  return diverged;
}

void StackDivergence::note_merge_pc(Group& group) const {
  const Stack& stack = stacks_[group.id];
  group.merge_pc = stack.depth != 0 ? stack.entries[stack.depth - 1].reconvergence_pc : isa::kNoReconvergence;
}

bool StackDivergence::branch(Group& group, const Outcome& outcome) {
  const std::uint32_t fall_through = group.pc + 1;
  const std::uint32_t target = outcome.instruction.target;
  const std::uint32_t reconvergence = outcome.instruction.reconvergence;
  bool any_taken = false;
  bool any_not_taken = false;
  for (unsigned row = 0; row < group.rows(); ++row) {
    any_taken = any_taken || outcome.taken[row] != 0;
    any_not_taken = any_not_taken || (group.active[row] & ~outcome.taken[row]) != 0;
  }
  if (!any_taken || !any_not_taken) {
    group.pc = any_taken ? target : fall_through;
    return false;
  }
  Stack& stack = stacks_[group.id];
  // A loop's exit branch diverges at the same merge point every time round: the join entry is there already.
  const bool joined =
      stack.depth != 0 && stack.top().reconvergence_pc == reconvergence && stack.top().execute_pc == reconvergence;
  if (reconvergence != isa::kNoReconvergence && !joined) {
    Entry& join = stack.push();
    join.reconvergence_pc = reconvergence;
    join.execute_pc = reconvergence;
    join.active = group.active;
  }
  const bool taken_first = fall_through == reconvergence;
  if (!taken_first && target != reconvergence) {
    Entry& waiting = stack.push();
    waiting.reconvergence_pc = reconvergence;
    waiting.execute_pc = target;
    waiting.active.assign(outcome.taken.begin(), outcome.taken.end());
  }
  for (unsigned row = 0; row < group.rows(); ++row) {
    group.active[row] &= taken_first ? outcome.taken[row] : ~outcome.taken[row];
  }
  group.pc = taken_first ? target : fall_through;
  return true;
}

void StackDivergence::pop_reached(Group& group, bool exited) {
  Stack& stack = stacks_[group.id];
  while (stack.depth != 0) {
    Entry& top = stack.top();
    const bool reached = group.pc == top.reconvergence_pc;
    if (!reached && !(exited && no_lanes(group.active))) {
      return;
    }
    group.active = top.active;
    group.pc = top.execute_pc;
    --stack.depth;
    exited = true;  // an entry whose threads have all exited meanwhile leaves the mask empty: the loop pops on
  }
}

// An entry that waits has threads apart from the running ones, or, as the join of a branch, all of theirs.
std::string StackDivergence::inconsistency(const Group& group) const {
  for (const Entry& entry : stack(group.id)) {
    bool meets = false;
    bool misses = false;
    for (unsigned row = 0; row < group.rows(); ++row) {
      meets = meets || (entry.active[row] & group.active[row]) != 0;
      misses = misses || (group.active[row] & ~entry.active[row]) != 0;
    }
    if (meets && misses) {
      return fmt::format("group {}: the entry for PC {} holds some of the running threads", group.id, entry.execute_pc);
    }
  }
  return {};
}

Divergence::StackView StackDivergence::stack_view(const Group& group) const {
  const std::span<const Entry> stack = this->stack(group.id);
  if (stack.empty()) {
    return {};
  }
  return {stack.size(), stack.back().reconvergence_pc, stack.back().execute_pc, stack.back().active};
}

std::string StackDivergence::describe(const Group& group) const {
  const std::span<const Entry> stack = this->stack(group.id);
  std::string text = fmt::format("{} stack entries", stack.size());
  for (auto entry = stack.rbegin(); entry != stack.rend(); ++entry) {
    const std::string merge =
        entry->reconvergence_pc == isa::kNoReconvergence ? "exit" : fmt::format("{}", entry->reconvergence_pc);
    text += fmt::format("; PC {} until {} lanes", entry->execute_pc, merge);
    for (const LaneMask mask : entry->active) {
      text += fmt::format(" {:08x}", mask);
    }
  }
  return text;
}

// A core without any of the mechanisms has re-convergence stacks.
void StackDivergence::cost(const CostShape& shape, CostLines& lines) {
  lines.present("re-convergence stacks",
                fmt::format("{} warps x {} entries x (2 x {} + core.warp_size {})", shape.warps, kStackEntries, kPcBits,
                            shape.warp),
                shape.warps * kStackEntries * (2 * kPcBits + shape.warp),
                fmt::format("fields: LWM report 2.3; own estimate: {} entries", kStackEntries));
  lines.accessed("group_instructions", kPcBits);                         // is this where the top entry re-converges?
  lines.accessed("branches", 2 * kPcBits + shape.warp);                  // the top entry's new PC and lanes
  lines.accessed("divergent_branches", 2 * (2 * kPcBits + shape.warp));  // an entry for the other path, and back
}

namespace {
const Register<Divergence, StackDivergence> stack_divergence_entry{
    "stack", "re-convergence stack at the immediate post-dominator"};
}

}  // namespace heddle::hw
