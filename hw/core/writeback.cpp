#include "hw/core/writeback.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "isa/retire.hpp"

namespace heddle::hw {

WriteBackStage::WriteBackStage(const sc_core::sc_module_name& name, CoreState& state,
                               std::unique_ptr<Divergence> divergence, std::unique_ptr<IssueDiscipline> issue)
    : ReceivingStage(name, state, 1),
      returns("returns", state),
      registers("registers"),
      divergence_(std::move(divergence)),
      issue_(std::move(issue)),
      barriers_(state.machine.core.blocks) {
  registers.bind(*this);
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
  const link::DecodedInstruction& decoded = *sub_warp.decoded;
  const isa::Op op = decoded.instruction.op;
  Group& group = state_.groups[sub_warp.group];
  const bool barrier = decoded.unit == isa::Unit::barrier && sub_warp.executing != 0;
  bool keep = false;
  if (barrier) {
    if (!barriers_.arrive(state_, sub_warp)) {
      return;
    }
    keep = op != isa::Op::BAR_ARRIVE;
  }
  if (!keep) {
    write(sub_warp, sub_warp.executing);
    hash(sub_warp, sub_warp.executing);
  }
  record(sub_warp);
  ++group.flight.completed;
  // The payload goes back before the group goes on: a barrier's stays until the release.
  if (!keep) {
    state_.pool.give_back(sub_warp);
  }
  if (issue_->release(group, decoded.instruction)) {
    complete(group, decoded);
  }
  if (barrier) {
    release(group.block_slot);
  }
}

void WriteBackStage::record(const link::SubWarp& sub_warp) {
  const isa::Op op = sub_warp.decoded->instruction.op;
  CoreStatistics& statistics = state_.statistics;
  ++statistics.warp_instructions;
  const LaneMask working = op == isa::Op::BRA ? sub_warp.lanes : sub_warp.executing;
  statistics.thread_instructions += static_cast<unsigned>(std::popcount(working));
  state_.last_retirement = state_.now;
  if (op != isa::Op::BRA && op != isa::Op::EXIT) {
    return;
  }
  Group& group = state_.groups[sub_warp.group];
  std::vector<LaneMask>& masks = op == isa::Op::BRA ? group.taken : group.exited;
  if (sub_warp.uniform) {
    masks[sub_warp.first_row - group.first_row] |= sub_warp.executing;
    return;
  }
  for (LaneMask left = sub_warp.executing; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    for (unsigned row = 0; row < group.rows(); ++row) {
      if (group.row_of(row, lane) == sub_warp.row[lane]) {
        masks[row] |= LaneMask{1} << lane;
      }
    }
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
    const unsigned row = sub_warp.row[lane];
    for (unsigned word = 0; word < form.words; ++word) {
      array_->word(row, form.dst + word)[lane] = values.result[word][lane];
    }
    if (form.p != isa::kPT) {
      blend(array_->predicate(row, form.p), values.p, LaneMask{1} << lane);
    }
    if (form.q != isa::kPT) {
      blend(array_->predicate(row, form.q), values.q, LaneMask{1} << lane);
    }
  }
}

void WriteBackStage::hash(const link::SubWarp& sub_warp, LaneMask lanes) {
  if (state_.launch->hashes == nullptr || lanes == 0) {
    return;
  }
  alignas(64) isa::LaneWord hashes;
  if (sub_warp.uniform) {
    const RowState& row = state_.rows[sub_warp.first_row];
    const std::size_t bytes = row.threads * sizeof(std::uint32_t);
    std::memcpy(hashes.data(), row.hashes, bytes);
    isa::retire(sub_warp.decoded->form, sub_warp.pc, lanes, sub_warp.values, sub_warp.address_low, hashes);
    std::memcpy(row.hashes, hashes.data(), bytes);
    return;
  }
  for (LaneMask left = lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    hashes[lane] = state_.rows[sub_warp.row[lane]].hashes[lane];
  }
  isa::retire(sub_warp.decoded->form, sub_warp.pc, lanes, sub_warp.values, sub_warp.address_low, hashes);
  for (LaneMask left = lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    state_.rows[sub_warp.row[lane]].hashes[lane] = hashes[lane];
  }
}

void WriteBackStage::complete(Group& group, const link::DecodedInstruction& decoded) {
  const std::uint32_t pc = group.pc;
  const isa::Op op = decoded.instruction.op;
  const bool diverged = divergence_->complete(group, {decoded.instruction, group.taken, group.exited});
  ++group.loop_instructions;
  if (decoded.conditional_branch) {
    ++state_.statistics.branches;
    state_.statistics.divergent_branches += diverged ? 1 : 0;
  }
  if (op == isa::Op::BRA) {
    watch_loop(group, pc, decoded.instruction);
    std::fill(group.taken.begin(), group.taken.end(), 0);
  }
  if (op == isa::Op::EXIT) {
    exit_threads(group);
    return;
  }
  if (decoded.unit == isa::Unit::barrier && op != isa::Op::BAR_ARRIVE) {
    // A group none of whose threads arrived (guard false) goes on at once; the release wakes the others.
    state_.groups.set_state(group, GroupState::barrier);
    if (!barriers_.waits(group)) {
      state_.make_ready(group);
    }
    return;
  }
  state_.make_ready(group);
}

void WriteBackStage::exit_threads(Group& group) {
  BlockSlot& block = state_.blocks[group.block_slot];
  for (LaneMask& mask : group.exited) {
    block.live_threads -= static_cast<unsigned>(std::popcount(mask));
    mask = 0;
  }
  if (group.active_threads() == 0) {
    state_.groups.set_state(group, GroupState::free);
  } else {
    state_.make_ready(group);
  }
  if (block.live_threads == 0) {
    ++state_.statistics.blocks;
    block_finished(group.block_slot);
  } else {
    release(group.block_slot);  // an exit can complete a barrier
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
      Group& group = state_.groups[sub_warp->group];
      // A group of several sub-warps goes on when the last one is released, and not before its instruction completed.
      if (group.state == GroupState::barrier && !barriers_.waits(group)) {
        state_.make_ready(group);
      }
      state_.pool.give_back(*sub_warp);
    }
  }
}

// Follows the innermost loop that a group runs in: a taken backward branch from pc to its target.
void WriteBackStage::watch_loop(Group& group, std::uint32_t pc, const isa::Instruction& instruction) {
  if (group.pc < group.loop_first || group.pc > group.loop_last) {
    group.leave_loop();
  }
  if (group.pc > pc || group.pc != instruction.target) {
    return;
  }
  if (group.pc < group.loop_first || pc > group.loop_last) {
    group.leave_loop();
    group.loop_first = group.pc;
    group.loop_last = pc;
    return;
  }
  // Looking at all registers costs as much as some instructions: now and then is enough.
  constexpr std::uint32_t kRoundsBetweenLooks = 64;
  if (++group.loop_rounds % kRoundsBetweenLooks != 0) {
    return;
  }
  const std::uint64_t now = fingerprint(group);
  if (now != group.loop_fingerprint) {
    group.loop_fingerprint = now;
    group.loop_changed = group.loop_instructions;
  }
}

// A hash of the registers and predicates of a group's threads.
std::uint64_t WriteBackStage::fingerprint(const Group& group) const {
  if (array_ == nullptr) {
    return 0;
  }
  std::uint64_t hash = group.pc;
  const auto mix = [&hash](std::uint64_t value) { hash = (hash ^ value) * 0x9e37'79b9'7f4a'7c15ULL; };
  for (unsigned row = 0; row < group.rows(); ++row) {
    for (LaneMask left = group.active[row]; left != 0; left &= left - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(left));
      const unsigned at = group.row_of(row, lane);
      for (unsigned reg = 0; reg < state_.launch->registers; ++reg) {
        mix(array_->word(at, reg)[lane]);
      }
      for (unsigned reg = 0; reg < isa::kPredicates; ++reg) {
        mix((array_->predicate(at, reg) >> lane) & 1U);
      }
    }
  }
  return hash;
}

bool WriteBackStage::livelocked() const {
  const std::uint64_t limit = state_.machine.watchdog.livelock_instructions;
  bool any = false;
  for (const Group& group : state_.groups.all()) {
    if (group.state == GroupState::free) {
      continue;
    }
    const bool spins = group.spins(limit);
    if (!spins && group.state != GroupState::barrier) {
      return false;
    }
    any = any || spins;
  }
  return any;
}

std::string WriteBackStage::describe_waiting() const {
  static constexpr const char* kStates[] = {"free",         "is ready",         "waits for its instruction",
                                            "is in flight", "waits for memory", "waits at a barrier"};
  std::string text;
  unsigned listed = 0;
  unsigned live = 0;
  for (const Group& group : state_.groups.all()) {
    if (group.state == GroupState::free) {
      continue;
    }
    ++live;
    if (listed == 8) {
      continue;
    }
    ++listed;
    const isa::Dim3& index = state_.blocks[group.block_slot].index;
    text += fmt::format("{}warp {} of block ({},{},{}) at PC {} {}", text.empty() ? "" : "; ", group.warp_in_block,
                        index.x, index.y, index.z, group.pc, kStates[static_cast<unsigned>(group.state)]);
    if (group.in_loop()) {
      text += fmt::format(" (loop PC {} to {})", group.loop_first, group.loop_last);
    }
  }
  if (live > listed) {
    text += fmt::format("; and {} more warps", live - listed);
  }
  return text;
}

void WriteBackStage::reset() {
  drop_all();
  returns.drop_all();
}

}  // namespace heddle::hw
