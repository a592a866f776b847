#include "hw/divergence/tbc.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "base/set_bits.hpp"
#include "hw/parameters/cost.hpp"
#include "isa/launch_check.hpp"

namespace heddle::hw {

namespace {

bool no_lanes(const std::vector<LaneMask>& masks) {
  return std::all_of(masks.begin(), masks.end(), [](LaneMask mask) { return mask == 0; });
}

}  // namespace

void BlockCompaction::check(const Machine& machine, std::vector<Contradiction>& found) {
  const unsigned width = machine.core.policies.of<Parameters>().width;
  if (width % machine.core.simd_width != 0) {
    found.push_back({"tbc.width", fmt::format("tbc.width ({}) is no multiple of core.simd_width ({}): compacted "
                                              "threads are whole warps",
                                              width, machine.core.simd_width)});
  }
}

BlockCompaction::BlockCompaction(const Setup& setup)
    : groups_(setup.groups), width_(setup.core.simd_width), warps_(isa::kMaxBlockThreads), parts_(1) {
  if (const unsigned together = setup.core.policies.of<Parameters>().width; together != 0) {
    warps_ = together / width_;
    parts_ = (std::min(setup.core.threads, isa::kMaxBlockThreads) + together - 1) / together;
  }
  blocks_.resize(std::size_t{setup.core.blocks} * parts_);
}

void BlockCompaction::start(Group& group) {
  group.part = group.warp_here / warps_;
  Block& block = block_of(group);
  if (group.warp_here % warps_ == 0) {
    block = {};
    block.first_row = group.first_row;
  }
  group.pc = 0;
  group.merge_pc = isa::kNoReconvergence;
  block.running.push_back(group.active[0]);
  block.taken.push_back(0);
  block.warps.push_back(group.id);
}

bool BlockCompaction::complete(Group& group, const Outcome& outcome, GroupMoves& moves) {
  Block& block = block_of(group);
  const auto each = [&](LaneMask lanes, auto visit) {
    for (const unsigned lane : set_bits(lanes)) {
      visit(group.lane_row[lane] - block.first_row, LaneMask{1} << lane);
    }
  };
  const isa::Instruction& instruction = outcome.instruction;
  if (instruction.op == isa::Op::EXIT) {
    each(outcome.exited[0], [&](unsigned row, LaneMask lane) {
      block.running[row] &= ~lane;
      for (Entry& entry : block.stack) {
        entry.active[row] &= ~lane;
      }
    });
    group.active[0] &= ~outcome.exited[0];
    group.look_at_lanes();
  }
  if (instruction.op == isa::Op::BRA && !instruction.guard.always()) {
    each(outcome.taken[0], [&](unsigned row, LaneMask lane) { block.taken[row] |= lane; });
    moves.park(group);
    ++block.at_branch;
    block.branch = instruction;
    return settle(block, moves);
  }
  group.pc = instruction.op == isa::Op::BRA ? instruction.target : group.pc + 1;
  if (outcome.arrivals[0] != 0) {
    moves.wait(group);
  } else {
    go_on(group, block, moves);
  }
  return false;
}

void BlockCompaction::released(Group& group, unsigned, LaneMask, bool last, GroupMoves& moves) {
  if (last && group.state == GroupState::barrier) {
    go_on(group, block_of(group), moves);
  }
}

// A warp whose PC is known goes on, waits at the re-convergence point, or is finished.
void BlockCompaction::go_on(Group& group, Block& block, GroupMoves& moves) {
  if (group.active[0] == 0) {
    finish(group, block, moves);
  } else if (!block.stack.empty() && group.pc == merge_pc(block)) {
    moves.park(group);
    ++block.at_merge;
    settle(block, moves);
  } else {
    moves.run(group);
  }
}

void BlockCompaction::finish(Group& group, Block& block, GroupMoves& moves) {
  block.warps.erase(std::find(block.warps.begin(), block.warps.end(), group.id));
  block.progress = group.progress;
  block.progress_before = group.progress_before;
  moves.free(group);
  settle(block, moves);
}

// What follows once every warp of the running path waits. Returns true when a branch diverged.
bool BlockCompaction::settle(Block& block, GroupMoves& moves) {
  if (block.at_merge == block.warps.size() && (block.at_merge != 0 || !block.stack.empty())) {
    // All have reached the re-convergence point, or none is left.
    pop(block, block.at_merge == 0 ? isa::kNoReconvergence : block.stack.back().reconvergence_pc, moves);
    return false;
  }
  return block.at_branch != 0 && block.at_branch == block.warps.size() && branch(block, moves);
}

bool BlockCompaction::branch(Block& block, GroupMoves& moves) {
  const std::uint32_t fall_through = groups_[block.warps.front()].pc + 1;
  const std::uint32_t target = block.branch.target;
  const std::uint32_t reconvergence = block.branch.reconvergence;
  bool any_taken = false;
  bool any_not_taken = false;
  for (std::size_t row = 0; row < block.running.size(); ++row) {
    any_taken = any_taken || block.taken[row] != 0;
    any_not_taken = any_not_taken || (block.running[row] & ~block.taken[row]) != 0;
  }
  block.at_branch = 0;
  if (!any_taken || !any_not_taken) {
    std::fill(block.taken.begin(), block.taken.end(), 0);
    const std::vector<GroupId> warps = block.warps;  // going on may change the block's
    for (const GroupId id : warps) {
      groups_[id].pc = any_taken ? target : fall_through;
      go_on(groups_[id], block, moves);
    }
    return false;
  }
  // As WarpStack::diverge, with the block's masks.
  const bool joined = !block.stack.empty() && block.stack.back().reconvergence_pc == reconvergence &&
                      block.stack.back().execute_pc == reconvergence;
  if (reconvergence != isa::kNoReconvergence && !joined) {
    block.stack.push_back({reconvergence, reconvergence, block.running});
  }
  const bool taken_first = fall_through == reconvergence;
  if (!taken_first && target != reconvergence) {
    block.stack.push_back({reconvergence, target, block.taken});
  }
  for (std::size_t row = 0; row < block.running.size(); ++row) {
    block.running[row] &= taken_first ? block.taken[row] : ~block.taken[row];
    block.taken[row] = 0;
  }
  compact(block, taken_first ? target : fall_through, moves);
  return true;
}

// The running path has ended at `pc`: the entries that wait for it, and entries whose threads have all exited, pop.
void BlockCompaction::pop(Block& block, std::uint32_t pc, GroupMoves& moves) {
  bool ended = true;
  while (!block.stack.empty() && (ended || pc == block.stack.back().reconvergence_pc || no_lanes(block.running))) {
    ended = false;
    block.running = std::move(block.stack.back().active);
    pc = block.stack.back().execute_pc;
    block.stack.pop_back();
  }
  compact(block, pc, moves);
}

void BlockCompaction::compact(Block& block, std::uint32_t pc, GroupMoves& moves) {
  block.at_merge = 0;
  if (block.warps.empty() && no_lanes(block.running)) {
    return;  // the block has finished
  }
  // The slots of the old warps are taken again; one of the warps stays until the new warps have been made like it.
  Group like = groups_[block.warps.empty() ? 0 : block.warps.front()];
  if (block.warps.empty()) {
    like.progress = block.progress;
    like.progress_before = block.progress_before;
  }
  for (const GroupId id : block.warps) {
    like.falls_back_to(groups_[id]);
    moves.free(groups_[id]);
  }
  block.warps.clear();
  std::vector<Group*> warps;
  std::array<unsigned, isa::kLanes> height{};  // per lane: warps that have a thread there
  for (std::size_t row = 0; row < block.running.size(); ++row) {
    for (const unsigned lane : set_bits(block.running[row])) {
      const unsigned warp = height[lane]++;
      if (warp == warps.size()) {
        Group& made = moves.allocate(like);
        const auto number = static_cast<unsigned>(&block - blocks_.data());
        made.block_slot = number / parts_;
        made.part = number % parts_;
        made.warp_in_block = made.part * warps_ + warp;
        made.pc = pc;
        made.merge_pc = merge_pc(block);
        warps.push_back(&made);
      }
      warps[warp]->lane_row[lane] = static_cast<std::uint16_t>(block.first_row + row);
      warps[warp]->lane_home[lane] = static_cast<std::uint8_t>(lane);
      warps[warp]->active[0] |= LaneMask{1} << lane;
    }
  }
  for (unsigned warp = 0; warp < warps.size(); ++warp) {
    block.warps.push_back(warps[warp]->id);
    warps[warp]->look_at_lanes();
    moves.run(*warps[warp], warp);
  }
}

// The warps of the running path hold each of its threads once; a path that waits has none of them, a join all.
std::string BlockCompaction::inconsistency(const Group& group) const {
  const Block& block = block_of(group);
  std::vector<LaneMask> held(block.running.size(), 0);
  for (const GroupId id : block.warps) {
    const Group& warp = groups_[id];
    for (const unsigned lane : set_bits(warp.active[0])) {
      LaneMask& row = held[warp.lane_row[lane] - block.first_row];
      if (((row >> lane) & 1U) != 0) {
        return fmt::format("block {}: the thread of row {}, lane {} is in two warps", group.block_slot,
                           warp.lane_row[lane], lane);
      }
      row |= LaneMask{1} << lane;
    }
  }
  if (held != block.running) {
    return fmt::format("block {}: the warps do not hold the threads of the path that runs", group.block_slot);
  }
  for (const Entry& entry : block.stack) {
    bool meets = false;
    bool misses = false;
    for (std::size_t row = 0; row < held.size(); ++row) {
      meets = meets || (entry.active[row] & held[row]) != 0;
      misses = misses || (held[row] & ~entry.active[row]) != 0;
    }
    if (meets && misses) {
      return fmt::format("block {}: the entry for PC {} holds some of the running threads", group.block_slot,
                         entry.execute_pc);
    }
  }
  return {};
}

Divergence::StackView BlockCompaction::stack_view(const Group& group) const {
  const Block& block = block_of(group);
  StackView view;
  view.warps = block.warps.size();
  view.at_branch = block.at_branch;
  view.at_merge = block.at_merge;
  view.part = group.part;
  if (!block.stack.empty()) {
    const Entry& top = block.stack.back();
    view.depth = block.stack.size();
    view.reconvergence_pc = top.reconvergence_pc;
    view.execute_pc = top.execute_pc;
    view.active = top.active;
  }
  return view;
}

std::string BlockCompaction::describe(const Group& group) const {
  const Block& block = block_of(group);
  std::string text = fmt::format("block-wide: {} stack entries; {} warps, {} at the branch, {} at the merge point",
                                 block.stack.size(), block.warps.size(), block.at_branch, block.at_merge);
  for (auto entry = block.stack.rbegin(); entry != block.stack.rend(); ++entry) {
    unsigned threads = 0;
    for (const LaneMask mask : entry->active) {
      threads += static_cast<unsigned>(std::popcount(mask));
    }
    const std::string merge =
        entry->reconvergence_pc == isa::kNoReconvergence ? "exit" : fmt::format("{}", entry->reconvergence_pc);
    text += fmt::format("; PC {} until {}: {} threads", entry->execute_pc, merge, threads);
  }
  return text;
}

void BlockCompaction::cost(const CostShape& shape, CostLines& lines) {
  lines.mechanism("thread block compaction");
  const std::uint64_t width = shape.machine.core.policies.of<Parameters>().width;
  const std::uint64_t block = std::min(width == 0 ? kBlockThreads : width, shape.threads);
  const std::uint64_t blocks = width == 0 ? shape.blocks() : std::max(shape.blocks(), shape.threads / block);
  const std::uint64_t rows = std::max<std::uint64_t>(1, block / shape.lanes);
  lines.add(
      CostLine::Kind::estimated, "block-wide stacks",
      fmt::format("{} blocks x {} entries x (2 x {} + {} threads)", blocks, kStackEntries, kPcBits, block),
      blocks * kStackEntries * (2 * kPcBits + block),
      fmt::format("thesis 5.2: blocks of 256; own estimate: {} entries, instead of the warps' stacks", kStackEntries));
  lines.accessed("group_instructions", kPcBits);    // is this where the top entry re-converges?
  lines.accessed("branches", 2 * kPcBits + block);  // at most: the warps of a block share the entry that they change
  lines.add(CostLine::Kind::estimated, "warps that wait, per block",
            fmt::format("{} blocks x log2({} warps + 1)", blocks, rows), blocks * index_bits(rows + 1),
            "own estimate; thesis 5.2: warps synchronise at every branch");
  lines.add(CostLine::Kind::estimated, "branch outcome of a block",
            fmt::format("{} blocks x {} threads", blocks, block), blocks * block, "own estimate");
  lines.accessed("branches", 2 * shape.lanes);  // a warp's threads, written and compacted
  lines.add(CostLine::Kind::estimated, "rows of compacted warps",
            fmt::format("{} warps x {} lanes x log2({} rows)", shape.all_rows, shape.lanes, rows),
            shape.all_rows * shape.lanes * index_bits(rows), "own estimate");
  lines.accessed("warp_instructions", shape.lanes * index_bits(rows));
  lines.accessed("branches", shape.lanes * index_bits(rows));  // written by the compactor
  cost_of_rows_per_lane(shape, rows, false, lines);
  lines.logic("compactor", fmt::format("{} lanes x priority encoder over {} rows", shape.lanes, rows), "thesis 5.2");
}

namespace {
const Register<Divergence, BlockCompaction> block_compaction_entry{
    "tbc", "thread block compaction: a block-wide re-convergence stack"};
}

}  // namespace heddle::hw
