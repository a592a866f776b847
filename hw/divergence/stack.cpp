#include "hw/divergence/stack.hpp"

#include <fmt/format.h>

#include "hw/parameters/cost.hpp"

namespace heddle::hw {

StackDivergence::StackDivergence(const Setup& setup)
    : warp_size_(setup.core.warp_size), stacks_(setup.core.threads / setup.core.warp_size), deciding_(stacks_.size()) {}

unsigned StackDivergence::groups(unsigned threads) const {
  return threads / warp_size_;
}

void StackDivergence::start(Group& group) {
  group.pc = 0;
  stacks_[group.id].clear();
  note_merge_pc(group);
}

bool StackDivergence::complete(Group& group, const Outcome& outcome, GroupMoves& moves) {
  WarpStack& stack = stacks_[group.id];
  const isa::Op op = outcome.instruction.op;
  const bool diverged = op == isa::Op::BRA && parts_at(group, outcome);
  if (diverged) {
    if (!outcome.undecided.empty()) {
      const bool taken_first = WarpStack::taken_first(group, outcome.instruction);
      deciding_[group.id] = {!taken_first,
                             !taken_first && outcome.instruction.target != outcome.instruction.reconvergence};
    }
    stack.diverge(group, outcome);
  } else if (op != isa::Op::BRA) {
    if (op == isa::Op::EXIT) {
      take_out(group.active, outcome.exited);
      stack.exited(outcome.exited);
    }
    ++group.pc;
  }
  stack.pop_reached(group, op == isa::Op::EXIT);
  note_merge_pc(group);
  if (no_lanes(outcome.arrivals)) {
    moves.run(group);
  } else {
    moves.wait(group);
  }
  return diverged;
}

// The path that runs first must not be over before it has begun: then the branch would have to be complete.
bool StackDivergence::parts_at_once(const Group& group, const isa::Instruction& branch) const {
  return !WarpStack::taken_first(group, branch) || branch.target != branch.reconvergence;
}

LaneMask StackDivergence::decided(Group& group, unsigned row, LaneMask lanes, bool taken) {
  const Deciding& branch = deciding_[group.id];
  if (taken != branch.taken_leave) {
    return 0;
  }
  group.active[row] &= ~lanes;
  if (branch.wait) {
    stacks_[group.id].joins_top(row, lanes);
  }
  return lanes;
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
