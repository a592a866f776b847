#include "hw/divergence/stack.hpp"

#include <fmt/format.h>

#include "hw/parameters/cost.hpp"

namespace heddle::hw {

StackDivergence::StackDivergence(const Setup& setup)
    : warp_size_(setup.core.warp_size), stacks_(setup.core.threads / setup.core.warp_size) {}

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
