#include "hw/divergence/global_warps.hpp"

#include <fmt/format.h>

#include <bit>

#include "hw/parameters/cost.hpp"

namespace heddle::hw {

namespace {
constexpr Cycle kWindow = 1024;  // cycles, of odgs.moves_per_1024
}

GlobalWarps::GlobalWarps(const Setup& setup)
    : parameters_(setup.core.policies.of<Parameters>()), width_(setup.core.simd_width) {
  stacks_.resize(groups(setup.core.threads));
}

std::uint64_t longest_travel_of_warps(const CoreParameters& core) {
  const OdgsParameters& own = core.policies.of<OdgsParameters>();
  const std::uint64_t bytes = std::uint64_t{core.threads} * context_bytes(core.registers_per_thread);
  return own.handling_latency + (own.link_bytes == 0 ? 0 : 2 * (bytes / own.link_bytes + core.threads));
}

// A warp per register row, and one for the other path while a warp parts.
unsigned GlobalWarps::groups(unsigned threads) const {
  return threads / width_ + 1;
}

void GlobalWarps::begin_launch(bool global) {
  global_ = global;
  left_.clear();
  for (Stack& stack : stacks_) {
    stack.clear();
  }
}

void GlobalWarps::start(Group& group) {
  group.pc = 0;
  stacks_[group.id].clear();
}

void GlobalWarps::arrived(Group& group, GroupMoves& moves) {
  stacks_[group.id].clear();
  moves.run(group);
}

bool GlobalWarps::complete(Group& group, const Outcome& outcome, GroupMoves& moves) {
  Stack& stack = stacks_[group.id];
  bool diverged = false;
  if (outcome.instruction.op == isa::Op::BRA) {
    const LaneMask taken = outcome.taken[0];
    const std::uint32_t fall_through = group.pc + 1;
    const std::uint32_t target = outcome.instruction.target;
    diverged = taken != 0 && taken != group.active[0];
    if (!diverged) {
      group.pc = taken != 0 ? target : fall_through;
    } else if (leaves_core(group, outcome.instruction, moves)) {
      leave_for_paths(group, taken, target, false, moves);
      group.pc = fall_through;
      moves.threads().recall(group, false, true);
      return true;
    } else {
      push(group, outcome);
    }
  } else {
    if (outcome.instruction.op == isa::Op::EXIT) {
      group.active[0] &= ~outcome.exited[0];
      for (Entry& entry : stack) {
        entry.active &= ~outcome.exited[0];
      }
    }
    ++group.pc;
  }
  if (global_ && outcome.arrivals[0] != 0) {
    wait(group, outcome.arrivals[0], moves);
    return diverged;
  }
  pop_reached(group);
  if (outcome.arrivals[0] != 0) {
    moves.wait(group);
  } else if (group.active[0] != 0) {
    moves.run(group);
  } else {
    moves.free(group);
    if (global_) {
      moves.threads().give_place();
    }
  }
  return diverged;
}

// Within a branch that is the stack's, all are.
bool GlobalWarps::leaves_core(const Group& group, const isa::Instruction& branch, GroupMoves& moves) {
  if (!global_ || !stacks_[group.id].empty()) {
    return false;
  }
  const bool meets =
      branch.reconvergence != isa::kNoReconvergence && branch.target > group.pc && branch.reconvergence > group.pc;
  if (meets && branch.reconvergence - group.pc <= parameters_.short_branch) {
    return false;
  }
  if (parameters_.moves_per_1024 == 0) {
    return true;
  }
  while (!left_.empty() && left_.front() + kWindow <= moves.now()) {
    left_.pop_front();
  }
  if (left_.size() >= parameters_.moves_per_1024) {
    return false;
  }
  left_.push_back(moves.now());
  return true;
}

// As StackDivergence does, for one row.
void GlobalWarps::push(Group& group, const Outcome& outcome) {
  Stack& stack = stacks_[group.id];
  const std::uint32_t fall_through = group.pc + 1;
  const std::uint32_t target = outcome.instruction.target;
  const std::uint32_t reconvergence = outcome.instruction.reconvergence;
  const bool joined =
      !stack.empty() && stack.back().reconvergence_pc == reconvergence && stack.back().execute_pc == reconvergence;
  if (reconvergence != isa::kNoReconvergence && !joined) {
    stack.push_back({reconvergence, reconvergence, group.active[0]});
  }
  const bool taken_first = fall_through == reconvergence;
  if (!taken_first && target != reconvergence) {
    stack.push_back({reconvergence, target, outcome.taken[0]});
  }
  group.active[0] &= taken_first ? outcome.taken[0] : ~outcome.taken[0];
  group.pc = taken_first ? target : fall_through;
}

void GlobalWarps::pop_reached(Group& group) {
  Stack& stack = stacks_[group.id];
  while (!stack.empty() && (group.pc == stack.back().reconvergence_pc || group.active[0] == 0)) {
    group.active[0] = stack.back().active;
    group.pc = stack.back().execute_pc;
    stack.pop_back();
  }
}

// Some of the group's threads leave by themselves.
void GlobalWarps::leave_for_paths(Group& group, LaneMask lanes, std::uint32_t pc, bool waits, GroupMoves& moves) {
  Group& path = moves.allocate(group);
  path.lane_row = group.lane_row;
  path.lane_home = group.lane_home;
  path.pc = pc;
  path.active[0] = lanes;
  path.look_at_lanes();
  group.active[0] &= ~lanes;
  moves.threads().recall(path, waits, false);
}

// The group's PC is behind the barrier. Those that have arrived leave, and whoever waits on the stack for the warp to
// come back: their paths do not meet here any more.
void GlobalWarps::wait(Group& group, LaneMask waiting, GroupMoves& moves) {
  Stack& stack = stacks_[group.id];
  const LaneMask running = group.active[0];
  LaneMask done = running;
  for (auto entry = stack.rbegin(); entry != stack.rend(); ++entry) {
    const LaneMask lanes = entry->active & ~done;
    done |= lanes;
    if (lanes != 0) {
      group.active[0] |= lanes;
      leave_for_paths(group, lanes, entry->execute_pc, false, moves);
    }
  }
  stack.clear();
  if (running == waiting) {
    moves.threads().recall(group, true, true);
    return;
  }
  leave_for_paths(group, waiting, group.pc, true, moves);
  moves.run(group);
}

std::string GlobalWarps::inconsistency(const Group& group) const {
  for (const Entry& entry : stacks_[group.id]) {
    if ((entry.active & group.active[0]) != 0 && (group.active[0] & ~entry.active) != 0) {
      return fmt::format("group {}: the entry for PC {} holds some of the running threads", group.id, entry.execute_pc);
    }
  }
  return {};
}

std::string GlobalWarps::describe(const Group& group) const {
  return fmt::format("{} threads, {} stack entries", group.active_threads(), stacks_[group.id].size());
}

void GlobalWarps::cost(const CostShape& shape, CostLines& lines) {
  lines.mechanism("global warp re-formation");
  const Parameters& own = shape.machine.core.policies.of<Parameters>();
  const std::uint64_t thread = kPcBits + isa::kPredicates + std::uint64_t{32} * shape.machine.core.registers_per_thread;
  lines.add(CostLine::Kind::estimated, "global pool",
            fmt::format(
                "odgs.pool {} threads x ({} + {} predicates + 32 x core.registers_per_thread {}) / gpu.cores {}",
                own.pool, kPcBits, isa::kPredicates, shape.machine.core.registers_per_thread, shape.machine.gpu.cores),
            own.pool * thread / shape.machine.gpu.cores,
            "ODGS paper 3.5 and 3.8: contexts of threads that are in no core; own estimate");
}

namespace {
const Register<Divergence, GlobalWarps> global_warps_entry{
    "odgs", "global warp re-formation: warps that diverge go back to a pool of the whole grid (ODGS)"};
}

}  // namespace heddle::hw
