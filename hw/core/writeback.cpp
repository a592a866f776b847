#include "hw/core/writeback.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "hw/core/each_row.hpp"

namespace heddle::hw {

WriteBackStage::WriteBackStage(const sc_core::sc_module_name& name, CoreState& state,
                               std::unique_ptr<Divergence> divergence, std::unique_ptr<IssueDiscipline> issue)
    : ReceivingStage(name, state, 1, CoreStage::write_back),
      returns("returns", state),
      registers("registers"),
      divergence_(std::move(divergence)),
      issue_(std::move(issue)),
      overlaps_(about<IssueDiscipline>(state.core.issue).traits.overlaps),
      barriers_(state.machine.core.blocks, state.groups.size()) {
  registers.bind(*this);
}

void WriteBackStage::diverge_by(std::unique_ptr<Divergence> divergence, std::unique_ptr<IssueDiscipline> issue) {
  divergence_ = std::move(divergence);
  issue_ = std::move(issue);
  barriers_ = BarrierUnit(state_.machine.core.blocks, state_.groups.size());
}

void WriteBackStage::tick(Cycle now) {
  if (link::SubWarp* const sub_warp = returns.take(now)) {
    retire(*sub_warp);
  }
  if (link::SubWarp* const sub_warp = latch_.front(now)) {
    latch_.pop();
    retire(*sub_warp);
  }
}

void WriteBackStage::start(Group& group) {
  divergence_->start(group);
}

void WriteBackStage::retire(link::SubWarp& sub_warp) {
  if (state_.fault) {
    return;
  }
  state_.moved();
  const link::DecodedInstruction& decoded = *sub_warp.decoded;
  Group& group = state_.groups[sub_warp.group];
  const bool barrier = decoded.unit == isa::Unit::barrier && sub_warp.executing != 0;
  bool keep = false;
  // Arriving may leave the payload with the threads of one block only.
  const std::vector<unsigned> blocks = barrier && group.dynamic ? blocks_of(sub_warp) : std::vector<unsigned>{};
  if (barrier) {
    if (!arrive(sub_warp)) {
      return;
    }
    keep = decoded.instruction.op != isa::Op::BAR_ARRIVE;
  }
  if (!keep) {
    write(sub_warp, sub_warp.executing);
    hash(sub_warp, sub_warp.executing);
  }
  record(sub_warp);
  if constexpr (kCheckInvariants) {
    state_.invariants.retired(sub_warp);
  }
  ++group.flights[sub_warp.flight].completed;
  if (overlaps_) {
    each_row(group, sub_warp, sub_warp.lanes, [&](unsigned row, LaneMask lanes) {
      group.busy[row] &= ~lanes;
      if (!late_jumps_.empty()) {
        retire_late_jumps(group, row, lanes);
      }
    });
  }
  const unsigned block_slot = group.block_slot;
  // The payload goes back before the group goes on: a barrier's stays until the release.
  if (!keep) {
    state_.pool.give_back(sub_warp);
  }
  InFlight& latest = group.flight();
  if (!latest.released && group.decoded != nullptr && issue_->release(group, group.decoded->instruction) &&
      group.has_free_flight()) {
    latest.released = true;
    complete(group, *group.decoded);
  }
  if (barrier) {
    if (blocks.empty()) {
      release(block_slot);
    }
    for (const unsigned slot : blocks) {
      release(slot);
    }
  }
}

// The blocks whose threads execute in a sub-warp, in the order of their slots.
std::vector<unsigned> WriteBackStage::blocks_of(const link::SubWarp& sub_warp) const {
  std::vector<unsigned> blocks;
  for (LaneMask left = sub_warp.executing; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    blocks.push_back(block_of(sub_warp.row_of(lane)));
  }
  std::sort(blocks.begin(), blocks.end());
  blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
  return blocks;
}

// Threads arrive at their blocks' barriers. A sub-warp of several blocks (dynamic warps) waits as one payload per
// block, so that each block's barrier releases its own threads.
bool WriteBackStage::arrive(link::SubWarp& sub_warp) {
  Group& group = state_.groups[sub_warp.group];
  const bool waits = sub_warp.decoded->instruction.op != isa::Op::BAR_ARRIVE;
  if (waits) {
    each_row(group, sub_warp, sub_warp.executing, [&](unsigned row, LaneMask lanes) { group.arrivals[row] |= lanes; });
  }
  if (!group.dynamic) {
    return barriers_.arrive(state_, sub_warp, group.block_slot);
  }
  const std::vector<unsigned> blocks = blocks_of(sub_warp);
  const LaneMask all = sub_warp.executing;
  for (const unsigned block : blocks) {
    LaneMask lanes = 0;
    for (LaneMask left = all; left != 0; left &= left - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(left));
      lanes |= block_of(sub_warp.row_of(lane)) == block ? LaneMask{1} << lane : 0;
    }
    link::SubWarp* part = &sub_warp;
    if (block != blocks.back()) {
      part = &state_.pool.take();
      *part = sub_warp;
    }
    part->executing = lanes;
    if (!barriers_.arrive(state_, *part, block)) {
      return false;
    }
    if (!waits && part != &sub_warp) {
      write(*part, lanes);
      hash(*part, lanes);
      state_.pool.give_back(*part);
    }
  }
  return true;
}

void WriteBackStage::record(const link::SubWarp& sub_warp) {
  const isa::Instruction& instruction = sub_warp.decoded->instruction;
  const isa::Op op = instruction.op;
  CoreStatistics& statistics = state_.statistics;
  Group& group = state_.groups[sub_warp.group];
  ++statistics.warp_instructions;
  const LaneMask working = op == isa::Op::BRA ? sub_warp.lanes : sub_warp.executing;
  statistics.lane_instructions += static_cast<unsigned>(std::popcount(working));
  statistics.thread_instructions +=
      sub_warp.whole ? group.active_threads() : static_cast<unsigned>(std::popcount(working));
  state_.last_retirement = state_.now;
  if (state_.observer != nullptr) {
    state_.observer->retired(state_, sub_warp);
  }
  if (op == isa::Op::EXIT || (op == isa::Op::BRA && !instruction.guard.always())) {
    std::vector<LaneMask>& masks = op == isa::Op::BRA ? group.taken : group.exited;
    each_row(group, sub_warp, sub_warp.executing, [&](unsigned row, LaneMask lanes) { masks[row] |= lanes; });
  }
}

void WriteBackStage::write(const link::SubWarp& sub_warp, LaneMask lanes) {
  const isa::ResultForm& form = sub_warp.decoded->form;
  if (lanes == 0 || (form.words == 0 && !form.predicates())) {
    return;
  }
  RegisterAccess access{&sub_warp, form.words, true};
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  registers->b_transport(access, delay);
  if (state_.replay != nullptr) {
    return;  // there are no values
  }
  if (array_ == nullptr) {
    ::tlm::tlm_dmi dmi;
    if (!registers->get_direct_mem_ptr(access, dmi)) {
      throw InternalError("the register file grants no direct memory access");
    }
    array_ = reinterpret_cast<RegisterArray*>(dmi.get_dmi_ptr());
  }
  const isa::LaneValues& values = sub_warp.values;
  const auto blend = [](LaneMask& into, LaneMask from, LaneMask where) { into = (from & where) | (into & ~where); };
  if (sub_warp.uniform) {
    for (unsigned word = 0; word < form.words; ++word) {
      isa::LaneWord& row = array_->word(sub_warp.first_row, form.dst + word);
      const isa::LaneWord& from = values.result[word];
      for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
        const std::uint32_t take = 0U - ((lanes >> lane) & 1U);
        row[lane] = (from[lane] & take) | (row[lane] & ~take);
      }
    }
    if (form.p != isa::kPT) {
      blend(array_->predicate(sub_warp.first_row, form.p), values.p, lanes);
    }
    if (form.q != isa::kPT) {
      blend(array_->predicate(sub_warp.first_row, form.q), values.q, lanes);
    }
    return;
  }
  for (LaneMask left = lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    const unsigned home = sub_warp.home_of(lane);
    const unsigned row = sub_warp.row[lane];
    for (unsigned word = 0; word < form.words; ++word) {
      array_->word(row, form.dst + word)[home] = values.result[word][lane];
    }
    if (form.p != isa::kPT) {
      blend(array_->predicate(row, form.p), ((values.p >> lane) & 1U) << home, LaneMask{1} << home);
    }
    if (form.q != isa::kPT) {
      blend(array_->predicate(row, form.q), ((values.q >> lane) & 1U) << home, LaneMask{1} << home);
    }
  }
}

void WriteBackStage::complete(Group& group, const link::DecodedInstruction& decoded) {
  const std::uint32_t pc = group.pc;
  const unsigned sub_warps = group.flight().formed;
  const isa::Op op = decoded.instruction.op;
  const bool jump = op == isa::Op::BRA && decoded.instruction.guard.always();
  // Where dynamic groups are split, the outcome's masks must outlive the group's own.
  if (op == isa::Op::EXIT) {
    exit_threads(group);
  }
  ++group.loop_instructions;
  const bool diverged = divergence_->complete(
      group, {decoded.instruction, jump ? group.active : group.taken, group.exited, group.arrivals}, *this);
  if constexpr (kCheckInvariants) {
    if (const std::string wrong = divergence_->inconsistency(group); !wrong.empty()) {
      throw InternalError(fmt::format("after PC {}: {}", pc, wrong));
    }
  }
  if (decoded.conditional_branch) {
    ++state_.statistics.branches;
    state_.statistics.divergent_branches += diverged ? 1 : 0;
  }
  if (state_.observer != nullptr) {
    state_.observer->completed(
        state_, group, {pc, &decoded, sub_warps, decoded.conditional_branch, decoded.conditional_branch && diverged});
  }
  if (op == isa::Op::BRA) {
    watch_loop(group, pc, decoded.instruction);
    std::fill(group.taken.begin(), group.taken.end(), 0);
  }
  if (decoded.unit == isa::Unit::barrier) {
    std::fill(group.arrivals.begin(), group.arrivals.end(), 0);
  }
  if (op == isa::Op::EXIT) {
    leave_blocks();
    std::fill(group.exited.begin(), group.exited.end(), 0);
  }
}

// Notes how many threads of which block exit; the masks and register rows are those before the group changes.
void WriteBackStage::exit_threads(const Group& group) {
  leaving_.clear();
  const auto note = [this](unsigned block_slot, unsigned threads) {
    for (Leaving& entry : leaving_) {
      if (entry.block_slot == block_slot) {
        entry.threads += threads;
        return;
      }
    }
    leaving_.push_back({block_slot, threads});
  };
  if (!group.dynamic) {
    unsigned threads = 0;
    for (const LaneMask mask : group.exited) {
      threads += static_cast<unsigned>(std::popcount(mask));
    }
    note(group.block_slot, threads);
    return;
  }
  for (LaneMask left = group.exited[0]; left != 0; left &= left - 1) {
    note(block_of(group.lane_row[static_cast<unsigned>(std::countr_zero(left))]), 1);
  }
}

void WriteBackStage::leave_blocks() {
  for (const Leaving& entry : leaving_) {
    BlockSlot& block = state_.blocks[entry.block_slot];
    block.live_threads -= entry.threads;
    if (block.live_threads == 0) {
      ++state_.statistics.blocks;
      block_finished(entry.block_slot);
    } else {
      release(entry.block_slot);  // an exit can complete a barrier
    }
  }
}

void WriteBackStage::release(unsigned block_slot) {
  BarrierUnit::Release release;
  while (!state_.fault && barriers_.complete(block_slot, state_.blocks[block_slot].live_threads, release)) {
    ++state_.statistics.barriers;
    for (link::SubWarp* const sub_warp : release.waiting) {
      sub_warp->values.result[0].fill(release.value);
      sub_warp->values.p = release.value != 0 ? ~LaneMask{0} : 0;
      sub_warp->values.q = 0;
      write(*sub_warp, sub_warp->executing);
      hash(*sub_warp, sub_warp->executing);
    }
    // A group of several sub-warps goes on when the last one is released.
    for (std::size_t i = 0; i < release.waiting.size(); ++i) {
      link::SubWarp& sub_warp = *release.waiting[i];
      Group& group = state_.groups[sub_warp.group];
      const auto same = [&](const link::SubWarp* other) { return other->group == sub_warp.group; };
      const bool last =
          !barriers_.waits(group) &&
          std::none_of(release.waiting.begin() + static_cast<std::ptrdiff_t>(i) + 1, release.waiting.end(), same);
      unsigned parts = 0;
      each_row(group, sub_warp, sub_warp.executing, [&](unsigned, LaneMask) { ++parts; });
      each_row(group, sub_warp, sub_warp.executing, [&](unsigned row, LaneMask lanes) {
        divergence_->released(group, row, lanes, last && --parts == 0, *this);
      });
      state_.pool.give_back(sub_warp);
    }
  }
}

void WriteBackStage::reset() {
  late_jumps_.clear();
  drop_all();
  returns.drop_all();
}

}  // namespace heddle::hw
