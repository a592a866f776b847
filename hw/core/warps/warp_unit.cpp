// How groups go on: instructions that retire, barriers, exits.
#include "hw/core/warps/warp_unit.hpp"
#include "hw/effects/commit.hpp"
#include "hw/effects/each_row.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>

#include "base/set_bits.hpp"

namespace heddle::hw {

WarpUnit::WarpUnit(CoreState& state, RegisterArray& registers, std::unique_ptr<Divergence> divergence,
                   std::unique_ptr<IssueDiscipline> issue)
    : state_(state),
      registers_(registers),
      divergence_(std::move(divergence)),
      issue_(std::move(issue)),
      overlaps_(about<IssueDiscipline>(state.core.issue).traits.overlaps),
      early_next_pc_(about<IssueDiscipline>(state.core.issue).traits.early_next_pc),
      stalls_on_use_(hw::stalls_on_use(state.core)),
      by_control_bits_(hw::by_control_bits(state.core)),
      refetch_(issue_->refetch()),
      releases_diverged_(issue_->releases_diverged()),
      parts_in_flight_(about<Divergence>(state.core.divergence).traits.parts_in_flight),
      mimd_lanes_(about<Divergence>(state.core.divergence).traits.mimd_lanes),
      independent_(about<Divergence>(state.core.divergence).traits.independent_threads),
      shared_home_(state.machine.core.sub_cores > 1),
      steps_plainly_(about<Divergence>(state.core.divergence).traits.steps_plainly && !overlaps_ && !early_next_pc_),
      places_(state, registers),
      barriers_(state.groups.size()) {
  decide_nothing();
}

void WarpUnit::diverge_by(std::unique_ptr<Divergence> divergence, std::unique_ptr<IssueDiscipline> issue) {
  divergence_ = std::move(divergence);
  issue_ = std::move(issue);
  barriers_ = BarrierUnit(state_.groups.size());
  decide_nothing();
}

// ------------------------------------------------------------------------------------------- instructions

void WarpUnit::retired(link::SubWarp& sub_warp, Arrival arrival, BarrierResults& results) {
  const link::DecodedInstruction& decoded = *sub_warp.decoded;
  const isa::Op op = decoded.instruction.op;
  Group& group = state_.groups[sub_warp.group];
  if (decoded.plain && steps_plainly(group)) {
    retired_plainly(group, sub_warp);
    return;
  }
  const bool branch = decoded.conditional_branch && !sub_warp.resolved;
  if (branch && releases_diverged_) [[unlikely]] {
    decide(group, sub_warp);
  }
  if (op == isa::Op::EXIT || (branch && !group.flights[sub_warp.flight].released)) {
    std::vector<LaneMask>& masks = op == isa::Op::BRA ? group.taken : group.exited;
    each_row(group, sub_warp, sub_warp.executing, [&](unsigned row, LaneMask lanes) { masks[row] |= lanes; });
    if (sub_warp.scalar && sub_warp.executing != 0) {
      masks = group.active;  // one lane has decided for all
    }
  }
  if (op == isa::Op::WARP_SYNC && sub_warp.executing != 0) {
    tell_members(group, sub_warp);
  }
  if constexpr (kCheckInvariants) {
    state_.invariants.retired(sub_warp);
  }
  if (mimd_lanes_) [[unlikely]] {
    executed(group, sub_warp);
  }
  InFlight& flight = group.flights[sub_warp.flight];
  group.sub_warp_completed(sub_warp.flight);
  if (op == isa::Op::PROGRESS && sub_warp.executing != 0 && !flight.progressed) [[unlikely]] {
    flight.progressed = true;
    ++group.progress;
    ++state_.statistics.progress;
  }
  if (early_next_pc_ && flight.done()) {
    instruction_completed(group, sub_warp.flight);
  }
  if (overlaps_) {
    each_row(group, sub_warp, sub_warp.lanes, [&](unsigned row, LaneMask lanes) { group.busy[row] &= ~lanes; });
  }
  const bool barrier = decoded.unit == isa::Unit::barrier && sub_warp.executing != 0;
  const unsigned block_slot = group.block_slot;
  // The payload goes back before the group goes on: a barrier's stays until the release.
  if (arrival != Arrival::waits) {
    state_.pool.give_back(sub_warp);
  }
  InFlight& latest = group.flight();
  if (!latest.released && group.decoded != nullptr && group.has_free_flight() && !is_deciding(group) &&
      (issue_->release(group, group.decoded->instruction) || (early_next_pc_ && goes_on_early(group)) ||
       (branch && &flight == &latest && known_to_part(group)))) {
    latest.released = true;
    if (!latest.done() && branch && &flight == &latest) {
      deciding_[group.id].flight = group.latest;
    }
    if (stalls_on_use_) {
      issue_->formed(group, *group.decoded);  // it had found no record for the next instruction when it was formed
    }
    complete(group, *group.decoded, results);
    undecided_.clear();
  }
  if (barrier) {
    if (arrived_blocks_.empty()) {
      release(state_.block(block_slot), results);
    }
    for (const unsigned slot : arrived_blocks_) {
      release(state_.block(slot), results);
    }
  }
}

void WarpUnit::retired_plainly(Group& group, link::SubWarp& sub_warp) {
  const link::DecodedInstruction& decoded = *sub_warp.decoded;
  if constexpr (kCheckInvariants) {
    state_.invariants.retired(sub_warp);
  }
  state_.pool.give_back(sub_warp);
  InFlight& flight = group.flight();
  group.sub_warp_completed(group.latest);
  if (!flight.done()) {
    return;
  }
  flight.released = true;
  step(group, decoded);
  if constexpr (kCheckInvariants) {
    if (const std::string wrong = divergence_->inconsistency(group); !wrong.empty()) {
      throw InternalError(fmt::format("before PC {}: {}", group.pc, wrong));
    }
  }
}

// With an early next PC: the latest instruction is one whose next PC is known before it completes.
bool WarpUnit::goes_on_early(const Group& group) const {
  const InFlight& latest = group.flight();
  return latest.all_formed && !latest.whole && group.decoded->issue.early && divergence_->goes_on(group);
}

void WarpUnit::formed(Group& group, bool whole) {
  InFlight& latest = group.flight();
  latest.whole = whole;
  if (!latest.released && group.has_free_flight() && goes_on_early(group)) {
    latest.released = true;
    if (stalls_on_use_) {
      issue_->formed(group, *group.decoded);
    }
    at_decode_ = true;
    go_on(group, *group.decoded);
    at_decode_ = false;
  }
}

bool WarpUnit::holds_back(Group& group, const link::DecodedInstruction& next) {
  const IssueDiscipline::Waits waits = issue_->waits_for(group, next);
  if (waits == IssueDiscipline::Waits::no) {
    return false;
  }
  if (group.held_back == nullptr) {
    ++state_.statistics.dependence_waits;
    if (held_since_.size() < state_.groups.size()) {
      held_since_.resize(state_.groups.size());
    }
    held_since_[group.id] = state_.now;
  }
  group.held_back = &next;
  state_.groups.set_state(group,
                          waits == IssueDiscipline::Waits::for_memory ? GroupState::memory : GroupState::complex);
  return true;
}

void WarpUnit::instruction_completed(Group& group, unsigned flight) {
  issue_->completed(group, flight);
  look_again(group);
}

// What reads the register from now on comes after this instruction, and the discipline has it wait until the result can
// have been forwarded: so the result can be written here.
void WarpUnit::computed(link::SubWarp& sub_warp, Cycle last) {
  sub_warp.forwarded = issue_->computed(sub_warp, last);
  if (sub_warp.forwarded && state_.replay == nullptr) {
    write_results(registers_, sub_warp, sub_warp.executing);
  }
}

void WarpUnit::complete(Group& group, const link::DecodedInstruction& decoded, BarrierResults& results) {
  const bool exits =
      mimd_lanes_ ? std::any_of(group.exited.begin(), group.exited.end(), [](LaneMask lanes) { return lanes != 0; })
                  : decoded.instruction.op == isa::Op::EXIT;
  // Where dynamic groups are split, the outcome's masks must outlive the group's own.
  if (exits) {
    note_exits(group);
  }
  go_on(group, decoded);
  if (exits) {
    leave_blocks(results);
    std::fill(group.exited.begin(), group.exited.end(), 0);
  }
}

void WarpUnit::go_on(Group& group, const link::DecodedInstruction& decoded) {
  const std::uint32_t pc = group.pc;
  const unsigned sub_warps = group.flight().formed;
  const isa::Op op = decoded.instruction.op;
  const bool jump = !mimd_lanes_ && op == isa::Op::BRA && decoded.instruction.guard.always();
  ++group.loop_instructions;
  ++state_.statistics.group_instructions;
  const bool diverged = divergence_->complete(
      group, {decoded.instruction, jump ? group.active : group.taken, group.exited, group.arrivals, undecided_}, *this);
  if constexpr (kCheckInvariants) {
    if (const std::string wrong = divergence_->inconsistency(group); !wrong.empty()) {
      throw InternalError(fmt::format("after PC {}: {}", pc, wrong));
    }
  }
  const bool conditional = mimd_lanes_ ? group.flight().conditional : decoded.conditional_branch;
  if (conditional) {
    ++state_.statistics.branches;
    state_.statistics.divergent_branches += diverged ? 1 : 0;
  }
  if (state_.observer != nullptr) {
    state_.observer->completed(state_, group, {pc, &decoded, sub_warps, conditional, conditional && diverged});
  }
  if (op == isa::Op::BRA) {
    watch_loop(group, pc, decoded.instruction);
  }
  if (op == isa::Op::BRA || mimd_lanes_) {
    std::fill(group.taken.begin(), group.taken.end(), 0);
  }
  if (releases_diverged_ && decoded.conditional_branch) {
    std::fill(deciding_[group.id].decided.begin(), deciding_[group.id].decided.end(), 0);
  }
  if (decoded.unit == isa::Unit::barrier || mimd_lanes_) {
    std::fill(group.arrivals.begin(), group.arrivals.end(), 0);
  }
}

// ------------------------------------------------------------------------------------------- barriers

WarpUnit::Arrival WarpUnit::arrive_at_barrier(link::SubWarp& sub_warp) {
  Group& group = state_.groups[sub_warp.group];
  const bool waits = sub_warp.decoded->instruction.op != isa::Op::BAR_ARRIVE;
  if (waits) {
    each_row(group, sub_warp, sub_warp.executing, [&](unsigned row, LaneMask lanes) { group.arrivals[row] |= lanes; });
  }
  arrived_blocks_.clear();
  if (waits && state_.global_warps && !divergence_->waits_in_core(group, sub_warp.decoded->instruction)) {
    return arrive_globally(sub_warp);
  }
  if (group.dynamic) {
    return arrive_by_block(sub_warp, waits);
  }
  if (!arrive_in(group.block_slot, sub_warp)) {
    return Arrival::faulted;
  }
  return waits ? Arrival::waits : Arrival::goes_on;
}

// The threads leave for the global scheduler, which counts them and has them until the barrier completes; the operation
// retires where they go on.
WarpUnit::Arrival WarpUnit::arrive_globally(link::SubWarp& sub_warp) {
  std::optional<BarrierArrival> arrival = BarrierUnit::arrival(state_, sub_warp);
  if (!arrival) {
    return Arrival::faulted;
  }
  arrival->sub_warp = nullptr;
  recalled_ = Recalled{*arrival, sub_warp.decoded, sub_warp.pc, sub_warp.values.predicate_a & sub_warp.executing};
  return Arrival::parted;
}

// False after raising a fault.
bool WarpUnit::arrive_in(unsigned block_slot, link::SubWarp& sub_warp) {
  const std::optional<BarrierArrival> arrival = BarrierUnit::arrival(state_, sub_warp);
  if (!arrival) {
    return false;
  }
  const auto first = static_cast<unsigned>(std::countr_zero(sub_warp.executing));
  BlockHome& block = state_.block(block_slot);
  if (tells_home(block)) {
    HomeMessage message;
    message.kind = HomeMessage::Kind::arrival;
    message.to = block.core;
    message.pc = sub_warp.pc;
    message.block = &block;
    message.arrival = *arrival;
    message.thread = state_.thread_at(sub_warp, first);
    // Who goes on behind the barrier in another core sees what has been stored before it.
    if (state_.global_warps && (state_.blocks[block_slot].moved || !state_.groups[sub_warp.group].bound)) {
      departing_.push_back(std::move(message));
    } else {
      send(message);
    }
  } else if (const std::string wrong = block.arrive(*arrival, state_.now); !wrong.empty()) {
    state_.raise(isa::Fault::Kind::barrier_mismatch, sub_warp, first, 0, 0, wrong);
    return false;
  }
  if (arrival->waits()) {
    barriers_.wait(sub_warp);
  }
  return true;
}

LaneMask WarpUnit::lanes_of_block(const link::SubWarp& sub_warp, unsigned block_slot) const {
  const BlockHome* const block = &state_.block(block_slot);
  LaneMask lanes = 0;
  LaneMask left = sub_warp.executing;
  for (unsigned index = 0; index != sub_warp.row_count; ++index) {
    const link::RowLanes& row = sub_warp.rows[index];
    if (const ThreadHome* const whole = state_.rows[row.row].whole()) {
      lanes |= whole->block == block ? row.lanes & left : 0;
      left &= ~row.lanes;
    }
  }
  for (const unsigned lane : set_bits(left)) {
    lanes |= block == state_.thread_at(sub_warp, lane).home->block ? LaneMask{1} << lane : 0;
  }
  return lanes;
}

// A sub-warp of several blocks (dynamic warps) waits as one payload per block, so that each block's barrier releases
// its own threads. The blocks in the order of their slots.
WarpUnit::Arrival WarpUnit::arrive_by_block(link::SubWarp& sub_warp, bool waits) {
  for (LaneMask left = sub_warp.executing; left != 0;) {
    const unsigned block =
        state_.slot_of(*state_.thread_at(sub_warp, static_cast<unsigned>(std::countr_zero(left))).home->block);
    arrived_blocks_.push_back(block);
    left &= ~lanes_of_block(sub_warp, block);
  }
  std::sort(arrived_blocks_.begin(), arrived_blocks_.end());
  const bool parts = waits && arrived_blocks_.size() > 1;
  const LaneMask all = sub_warp.executing;
  for (const unsigned block : arrived_blocks_) {
    const LaneMask lanes = lanes_of_block(sub_warp, block);
    link::SubWarp* arriving = &sub_warp;
    if (parts) {
      arriving = &state_.pool.take();
      *arriving = sub_warp;
    }
    arriving->executing = lanes;
    const bool right = arrive_in(block, *arriving);
    sub_warp.executing = all;
    if (!right) {
      return Arrival::faulted;
    }
  }
  if (!waits) {
    return Arrival::goes_on;
  }
  return parts ? Arrival::parted : Arrival::waits;
}

// Barriers complete in the block's own sub-core, which tells the others.
void WarpUnit::release(BlockHome& block, BarrierResults& results) {
  BlockHome::Release release;
  while (block.core == state_.index && !state_.fault && block.complete(release)) {
    ++state_.statistics.barriers;
    state_.statistics.barrier_imbalance += state_.now - release.first_arrival;
    let_go_everywhere(block, release, results);
  }
  if (block.core == state_.index && !state_.fault && block.comes_to_grid()) {
    ++at_grid_;
    grid_arrivals_.push_back(block.slot);
  }
}

void WarpUnit::let_go_everywhere(BlockHome& block, BlockHome::Release& release, BarrierResults& results) {
  const auto elsewhere = [this](const BlockHome::Waiter& waiter) { return waiter.core != state_.index; };
  while (tell && std::any_of(release.waiting.begin(), release.waiting.end(), elsewhere)) {
    const unsigned core = std::find_if(release.waiting.begin(), release.waiting.end(), elsewhere)->core;
    const auto there = [&](const BlockHome::Waiter& waiter) { return waiter.core == core; };
    HomeMessage message;
    message.kind = HomeMessage::Kind::release;
    message.to = core;
    message.block = &block;
    message.release.value = release.value;
    std::copy_if(release.waiting.begin(), release.waiting.end(), std::back_inserter(message.release.waiting), there);
    std::erase_if(release.waiting, there);
    send(message);
  }
  let_go(release, results);
}

void WarpUnit::leave_grid(BarrierResults& results) {
  BlockHome::Release release;
  for (BlockHome& block : state_.homes) {
    if (state_.blocks[block.slot].used && block.waits_at_grid()) {
      block.leave_grid(release);
      let_go_everywhere(block, release, results);
    }
  }
  at_grid_ = 0;
}

std::optional<WarpUnit::Waiting> WarpUnit::first_waiting(const BlockHome& block) const {
  const link::SubWarp* const first = barriers_.first_waiting(state_, block);
  if (first == nullptr) {
    return std::nullopt;
  }
  const HomeThread thread = state_.thread_at(*first, static_cast<unsigned>(std::countr_zero(first->executing)));
  return Waiting{state_.groups[first->group].warp_in_block, thread.index(), first->pc};
}

// The sub-warps that a barrier has released are written, and their groups go on.
void WarpUnit::let_go(const BlockHome::Release& release, BarrierResults& results) {
  for (const BlockHome::Waiter& waiter : release.waiting) {
    link::SubWarp& sub_warp = *waiter.sub_warp;
    sub_warp.values.result[0].fill(release.value);
    sub_warp.values.p = release.value != 0 ? ~LaneMask{0} : 0;
    sub_warp.values.q = 0;
    results.write_released(sub_warp);
  }
  // A group of several sub-warps goes on when the last one is released.
  for (const BlockHome::Waiter& waiter : release.waiting) {
    link::SubWarp& sub_warp = *waiter.sub_warp;
    Group& group = state_.groups[sub_warp.group];
    barriers_.released(sub_warp);
    const bool last = !barriers_.waits(group);
    group.progress_before = group.progress;
    // Others of its block, which it has waited for, may have stored in other cores.
    group.reads_memory = group.reads_memory ||
                         (state_.moved_read_memory && state_.global_warps && state_.blocks[group.block_slot].moved);
    unsigned parts = 0;
    each_row(group, sub_warp, sub_warp.executing, [&](unsigned, LaneMask) { ++parts; });
    each_row(group, sub_warp, sub_warp.executing, [&](unsigned row, LaneMask lanes) {
      divergence_->released(group, row, lanes, last && --parts == 0, *this);
    });
    state_.pool.give_back(sub_warp);
  }
}

// ------------------------------------------------------------------------------------------- exits

// Notes how many threads of which block exit, and that their places are empty; the masks and register rows are as
// before the group changes.
void WarpUnit::note_exits(const Group& group) {
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
    for (unsigned row = 0; row < group.rows(); ++row) {
      state_.rows[group.first_row + row].exited(group.exited[row]);
      threads += static_cast<unsigned>(std::popcount(group.exited[row]));
    }
    note(group.block_slot, threads);
    return;
  }
  for (const unsigned lane : set_bits(group.exited[0])) {
    const Place place = group.place_of(lane);
    state_.rows[place.row].exited(LaneMask{1} << place.lane);
    note(block_of(place), 1);
  }
}

void WarpUnit::leave_blocks(BarrierResults& results) {
  for (const Leaving& entry : leaving_) {
    BlockHome& block = state_.block(entry.block_slot);
    state_.leaves(block, entry.threads);
    if (!tells_home(block)) {
      threads_exited(block, entry.threads, results);
      continue;
    }
    HomeMessage message;
    message.kind = HomeMessage::Kind::exit;
    message.to = block.core;
    message.block = &block;
    message.exited = entry.threads;
    send(message);
  }
}

// Of a block of this core.
void WarpUnit::threads_exited(BlockHome& block, unsigned threads, BarrierResults& results) {
  if (block.exit(threads)) {
    ++state_.statistics.blocks;
    block_finished(block.slot);
  } else {
    release(block, results);  // an exit can complete a barrier
  }
}

}  // namespace heddle::hw
