#include "hw/divergence/large_splits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "hw/parameters/cost.hpp"

namespace heddle::hw {

namespace {

unsigned threads_in(std::span<const LaneMask> masks) {
  unsigned threads = 0;
  for (const LaneMask mask : masks) {
    threads += static_cast<unsigned>(std::popcount(mask));
  }
  return threads;
}

}  // namespace

LargeSplits::LargeSplits(const Setup& setup)
    : warp_size_(setup.core.warp_size),
      entries_(setup.core.policies.of<DwsParameters>().entries),
      count_(setup.statistics != nullptr ? *setup.statistics : nobodys_),
      splits_(groups(setup.core.threads)) {}

// A fault may have ended the launch before this one anywhere.
void LargeSplits::begin_launch(bool) {
  used_ = 0;
  joins_.clear();
  free_joins_.clear();
}

// The warp of a block that begins: alone in its rows, whose last warp has ended.
void LargeSplits::start(Group& group) {
  group.pc = 0;
  split_of(group).stack.clear();
  split_of(group).join.reset();
  note_merge_pc(group);
}

void LargeSplits::note_merge_pc(Group& group) const {
  const Split& split = splits_[group.id];
  group.merge_pc = split.stack.empty() && split.join ? joins_[*split.join].pc : split.stack.reconvergence_pc();
}

bool LargeSplits::complete(Group& group, const Outcome& outcome, GroupMoves& moves) {
  const bool exits = outcome.instruction.op == isa::Op::EXIT;
  bool diverged = false;
  if (outcome.instruction.op == isa::Op::BRA) {
    diverged = branch(group, outcome, moves);
  } else {
    if (exits) {
      exit(group, outcome.exited);
    }
    ++group.pc;
  }
  split_of(group).stack.pop_reached(group, exits);
  while (split_of(group).stack.empty() && split_of(group).join &&
         (group.pc == joins_[*split_of(group).join].pc || !group.any_active())) {
    if (!meets(group, exits, moves)) {
      return diverged;
    }
  }
  note_merge_pc(group);
  if (no_lanes(outcome.arrivals)) {
    moves.run(group);
  } else {
    moves.wait(group);
  }
  return diverged;
}

bool LargeSplits::branch(Group& group, const Outcome& outcome, GroupMoves& moves) {
  if (!parts_at(group, outcome)) {
    return false;
  }
  const isa::Instruction& instruction = outcome.instruction;
  if (instruction.subdivides && instruction.reconvergence != isa::kNoReconvergence &&
      instruction.target != instruction.reconvergence && group.pc + 1 != instruction.reconvergence) {
    if (used_ + (split_of(group).join ? 1 : 2) <= entries_) {
      part(group, outcome, moves);
      return true;
    }
    ++count_.split_table_full;
  }
  split_of(group).stack.diverge(group, outcome);
  return true;
}

// The threads that take the branch become another split.
void LargeSplits::part(Group& group, const Outcome& outcome, GroupMoves& moves) {
  Split& split = split_of(group);
  used_ += split.join ? 1 : 2;
  // Who parts again on the way to one re-convergence point meets the others there.
  const bool meets_there =
      split.stack.empty() && split.join && joins_[*split.join].pc == outcome.instruction.reconvergence;
  if (!meets_there) {
    if (free_joins_.empty()) {
      free_joins_.push_back(static_cast<unsigned>(joins_.size()));
      joins_.emplace_back();
    }
    const unsigned number = free_joins_.back();
    free_joins_.pop_back();
    Join& join = joins_[number];
    join.pc = outcome.instruction.reconvergence;
    join.outer = split.join;
    join.stack.clear();
    std::swap(join.stack, split.stack);
    join.come.assign(group.rows(), 0);
    join.missing = group.active_threads();
    join.progress = join.progress_before = ~std::uint32_t{0};
    split.join = number;
  }
  Group& made = moves.twin(group);
  made.pc = outcome.instruction.target;
  made.active.assign(outcome.taken.begin(), outcome.taken.end());
  split_of(made).stack.clear();
  split_of(made).join = split.join;
  take_out(group.active, made.active);
  ++group.pc;
  ++count_.splits_branch;
  moves.split_made(made, group, SplitCause::branch);
  note_merge_pc(made);
  moves.run(made);
}

// Wherever its threads are remembered.
void LargeSplits::exit(Group& group, std::span<const LaneMask> exited) {
  take_out(group.active, exited);
  split_of(group).stack.exited(exited);
  for (std::optional<unsigned> at = split_of(group).join; at; at = joins_[*at].outer) {
    joins_[*at].missing -= threads_in(exited);
    joins_[*at].stack.exited(exited);
  }
}

bool LargeSplits::meets(Group& group, bool exited, GroupMoves& moves) {
  Split& split = split_of(group);
  const unsigned number = split.join.value();
  Join& join = joins_[number];
  join.missing -= group.active_threads();
  for (unsigned row = 0; row < group.rows(); ++row) {
    join.come[row] |= group.active[row];
  }
  if (group.any_active()) {
    join.progress = std::min(join.progress, group.progress);
    join.progress_before = std::min(join.progress_before, group.progress_before);
  }
  if (join.missing != 0) {
    count_.merges_stack += group.any_active() ? 1 : 0;
    moves.split_ended(group, group, group.any_active() ? SplitEnd::reconvergence : SplitEnd::exit);
    --used_;
    split.join.reset();
    moves.free(group);
    return false;
  }
  // It is the last one, and goes on with all.
  group.active = join.come;
  group.pc = join.pc;
  if (group.any_active()) {
    group.progress = join.progress;
    group.progress_before = join.progress_before;
  }
  std::swap(split.stack, join.stack);
  split.join = join.outer;
  free_joins_.push_back(number);
  if (!split.join) {
    --used_;
    moves.split_ended(group, group, SplitEnd::alone);
  }
  split.stack.pop_reached(group, exited || !group.any_active());
  return true;
}

// Threads that wait at a join are apart from the running ones.
std::string LargeSplits::inconsistency(const Group& group) const {
  const Split& split = splits_[group.id];
  if (const std::string wrong = split.stack.inconsistency(group); !wrong.empty()) {
    return wrong;
  }
  for (std::optional<unsigned> at = split.join; at; at = joins_[*at].outer) {
    for (unsigned row = 0; row < group.rows(); ++row) {
      if ((joins_[*at].come[row] & group.active[row]) != 0) {
        return fmt::format("group {}: running threads wait at PC {}", group.id, joins_[*at].pc);
      }
    }
  }
  return used_ <= entries_ ? "" : "more warp-splits than entries";
}

std::string LargeSplits::describe(const Group& group) const {
  const Split& split = splits_[group.id];
  std::string text = split.stack.describe();
  for (std::optional<unsigned> at = split.join; at; at = joins_[*at].outer) {
    text += fmt::format("; a warp-split, of which {} threads wait at PC {} for {} others", threads_in(joins_[*at].come),
                        joins_[*at].pc, joins_[*at].missing);
  }
  return text;
}

void LargeSplits::in_vain(const Machine&, std::vector<WithoutEffect>& found) {
  found.push_back({{"dws.branches", "dws.memory", "dws.reconvergence", "dws.meet", "dws.slots", "dws.predictor_entries",
                    "dws.predictor_bits", "dws.predictor_threshold"},
                   "core.divergence is dws-large"});
}

void LargeSplits::cost(const CostShape& shape, CostLines& lines) {
  cost_of_warp_splits(shape, lines);
}

namespace {
const Register<Divergence, LargeSplits> large_splits_entry{
    "dws-large", "large warps that part at branches: dynamic warp subdivision on top of them (LWM report 7.1)"};
}

}  // namespace heddle::hw
