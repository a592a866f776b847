#include "hw/divergence/global_warps.hpp"

#include <fmt/format.h>

#include <bit>

#include "base/set_bits.hpp"
#include "hw/parameters/cost.hpp"

namespace heddle::hw {

namespace {
constexpr Cycle kWindow = 1024;  // cycles, of odgs.moves_per_1024
constexpr std::uint64_t kCountBits = 16;
constexpr std::uint64_t kSumBits = 32;
}  // namespace

GlobalWarps::GlobalWarps(const Setup& setup)
    : groups_(setup.groups),
      statistics_(setup.statistics),
      parameters_(setup.core.policies.of<Parameters>()),
      width_(setup.core.simd_width),
      ranking_(parameters_.rank_after, parameters_.rank_loss) {
  stacks_.resize(groups(setup.core.threads));
  parted_.resize(stacks_.size());
  threads_.resize(setup.core.threads / width_);
}

std::uint64_t longest_travel_of_warps(const CoreParameters& core) {
  const OdgsParameters& own = core.policies.of<OdgsParameters>();
  const std::uint64_t bytes = std::uint64_t{core.threads} * context_bytes(core.registers_per_thread);
  return own.handling_latency + (own.local_paths == 0 ? 0 : own.local_wait) +
         (own.link_bytes == 0 ? 0 : 2 * (bytes / own.link_bytes + core.threads));
}

// A warp per register row, the paths that wait, and two more while a warp parts and its paths fill others.
unsigned GlobalWarps::groups(unsigned threads) const {
  return threads / width_ + (parameters_.local_paths == 0 ? 1 : parameters_.local_paths + 3);
}

void GlobalWarps::begin_launch(bool global) {
  global_ = global;
  left_.clear();
  local_.clear();
  ranking_.clear();
  threads_.assign(threads_.size(), 0);
  for (GroupId id = 0; id < stacks_.size(); ++id) {
    stacks_[id].clear();
    parted_[id].clear();
  }
}

void GlobalWarps::start(Group& group) {
  group.pc = 0;
  stacks_[group.id].clear();
}

void GlobalWarps::arrived(Group& group, GroupMoves& moves) {
  stacks_[group.id].clear();
  parted_[group.id].clear();
  for (const unsigned lane : set_bits(group.active[0])) {
    ++threads_[group.lane_row[lane]];
  }
  moves.run(group);
}

bool GlobalWarps::complete(Group& group, const Outcome& outcome, GroupMoves& moves) {
  bool diverged = false;
  step(group, outcome, moves, diverged);
  if (!local_.empty()) {
    bound_waiting(moves);
  }
  return diverged;
}

void GlobalWarps::step(Group& group, const Outcome& outcome, GroupMoves& moves, bool& diverged) {
  if (!parted_[group.id].empty()) {
    count_those_who_wait(group);
  }
  if (group.bound && past_scratchpad(group, outcome.instruction)) {
    moves.threads().unbind(group);
  }
  unsigned emptied = 0;
  if (outcome.instruction.op == isa::Op::BRA) {
    const LaneMask taken = outcome.taken[0];
    const std::uint32_t fall_through = group.pc + 1;
    const std::uint32_t target = outcome.instruction.target;
    diverged = taken != 0 && taken != group.active[0];
    if (!diverged) {
      group.pc = taken != 0 ? target : fall_through;
    } else if (leaves_core(group, outcome.instruction, moves)) {
      Group& path = part_of(group, taken, target, moves);
      group.pc = fall_through;
      leave_or_wait(path, moves);
      leave_or_wait(group, moves);
      return;
    } else {
      push(group, outcome);
    }
  } else {
    if (outcome.instruction.op == isa::Op::EXIT) {
      emptied = emptied_rows(group, outcome.exited[0]);
      exit(group, outcome.exited[0]);
    }
    ++group.pc;
  }
  if (global_ && !group.bound && outcome.arrivals[0] != 0) {
    wait(group, outcome.arrivals[0], moves);
    return;
  }
  pop_reached(group);
  if (outcome.arrivals[0] != 0) {
    moves.wait(group);
  } else if (group.active[0] != 0) {
    moves.run(group);
  } else {
    if (group.bound) {
      moves.threads().unbind(group);
    }
    moves.free(group);
  }
  for (; emptied != 0; --emptied) {
    moves.threads().give_place();
  }
}

bool GlobalWarps::waits_in_core(const Group& group, const isa::Instruction& barrier) const {
  return group.bound && !past_scratchpad(group, barrier);
}

void GlobalWarps::exit(Group& group, LaneMask exited) {
  group.active[0] &= ~exited;
  for (Entry& entry : stacks_[group.id]) {
    entry.active &= ~exited;
  }
}

// Threads of the group go: how many register rows have no thread left.
unsigned GlobalWarps::emptied_rows(const Group& group, LaneMask lanes) {
  unsigned emptied = 0;
  for (const unsigned lane : set_bits(global_ ? lanes : 0)) {
    emptied += --threads_[group.lane_row[lane]] == 0 ? 1 : 0;
  }
  return emptied;
}

// Within a branch that is the stack's, all are.
bool GlobalWarps::leaves_core(const Group& group, const isa::Instruction& branch, GroupMoves& moves) {
  if (!global_ || group.bound || !stacks_[group.id].empty()) {
    return false;
  }
  const bool meets =
      branch.reconvergence != isa::kNoReconvergence && branch.target > group.pc && branch.reconvergence > group.pc;
  if (meets && branch.reconvergence - group.pc <= parameters_.short_branch) {
    return false;
  }
  if (!ranking_.leaves(group.pc)) {
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

// As WarpStack does, for one row.
void GlobalWarps::push(Group& group, const Outcome& outcome) {
  Stack& stack = stacks_[group.id];
  const std::uint32_t fall_through = group.pc + 1;
  const std::uint32_t target = outcome.instruction.target;
  const std::uint32_t reconvergence = outcome.instruction.reconvergence;
  const bool joined =
      !stack.empty() && stack.back().reconvergence_pc == reconvergence && stack.back().execute_pc == reconvergence;
  if (reconvergence != isa::kNoReconvergence && !joined) {
    if (ranking_.active() && global_) {
      parted_[group.id].push_back({group.pc, stack.size()});
    }
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
  std::vector<Parted>& parted = parted_[group.id];
  while (!parted.empty() && parted.back().level >= stack.size()) {
    ranking_.resolved(parted.back().pc, parted.back().waited);
    parted.pop_back();
  }
}

// Of the instruction that completes.
void GlobalWarps::count_those_who_wait(const Group& group) {
  const Stack& stack = stacks_[group.id];
  for (Parted& parted : parted_[group.id]) {
    parted.waited += static_cast<unsigned>(std::popcount(stack[parted.level].active & ~group.active[0]));
  }
}

// Some of the group's threads, as a group of their own.
Group& GlobalWarps::part_of(Group& group, LaneMask lanes, std::uint32_t pc, GroupMoves& moves) {
  Group& path = moves.allocate(group);
  stacks_[path.id].clear();
  parted_[path.id].clear();
  path.lane_row = group.lane_row;
  path.lane_home = group.lane_home;
  path.pc = pc;
  path.active[0] = lanes;
  path.look_at_lanes();
  group.active[0] &= ~lanes;
  group.look_at_lanes();
  return path;
}

// For the pool; `waits`: at the barrier that has completed.
void GlobalWarps::leave(Group& group, bool waits, GroupMoves& moves) {
  const unsigned emptied = emptied_rows(group, group.active[0]);
  moves.threads().recall(group, waits, emptied);
}

// The group's PC is behind the barrier. Threads that have arrived leave, and threads that wait on the stack for the
// warp to come back: their paths do not meet here any more.
void GlobalWarps::wait(Group& group, LaneMask waiting, GroupMoves& moves) {
  Stack& stack = stacks_[group.id];
  const LaneMask running = group.active[0];
  LaneMask done = running;
  for (auto entry = stack.rbegin(); entry != stack.rend(); ++entry) {
    const LaneMask lanes = entry->active & ~done;
    done |= lanes;
    if (lanes != 0) {
      group.active[0] |= lanes;
      leave(part_of(group, lanes, entry->execute_pc, moves), false, moves);
    }
  }
  stack.clear();
  parted_[group.id].clear();
  if (running == waiting) {
    leave(group, true, moves);
    return;
  }
  leave(part_of(group, waiting, group.pc, moves), true, moves);
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

void GlobalWarps::in_vain(const Machine& machine, std::vector<WithoutEffect>& found) {
  const Parameters& own = machine.core.policies.of<Parameters>();
  if (own.rank_after == 0) {
    found.push_back({{"odgs.rank_loss"}, "odgs.rank_after is 0"});
  }
  if (own.local_paths == 0) {
    found.push_back({{"odgs.local_wait"}, "odgs.local_paths is 0"});
  }
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
  if (own.rank_after != 0) {
    lines.add(CostLine::Kind::estimated, "branch ranking",
              fmt::format("{} branches x ({} PC + 2 x {} count + {} sum)", BranchRanking::kBranches, kPcBits,
                          kCountBits, kSumBits),
              BranchRanking::kBranches * (kPcBits + 2 * kCountBits + kSumBits),
              "ODGS paper 3.8: statistics gathered at run time; own estimate");
  }
  if (own.after_last_access()) {
    const unsigned warps = shape.machine.core.threads / shape.machine.core.simd_width;
    lines.add(CostLine::Kind::estimated, "warps bound to the core",
              fmt::format("{} warps x 1 + core.blocks {} x {} count", warps, shape.machine.core.blocks,
                          std::bit_width(warps)),
              warps + std::uint64_t{shape.machine.core.blocks} * std::bit_width(warps),
              "ODGS paper 3.8: after the last shared memory access; own estimate");
  }
  if (own.local_paths != 0) {
    const unsigned width = shape.machine.core.simd_width;
    const auto row = static_cast<std::uint64_t>(std::bit_width(shape.machine.core.threads / width - 1));
    lines.add(CostLine::Kind::estimated, "paths that wait in the core",
              fmt::format("odgs.local_paths {} x ({} PC + {} lanes x (1 + {} register row) + {} since)",
                          own.local_paths, kPcBits, width, row, kCountBits),
              own.local_paths * (kPcBits + width * (1 + row) + kCountBits),
              "ODGS paper 3.8: local re-formation first; own estimate");
  }
}

namespace {
const Register<Divergence, GlobalWarps> global_warps_entry{
    "odgs", "global warp re-formation: warps that diverge go back to a pool of the whole grid (ODGS)"};
}

}  // namespace heddle::hw
