#include "hw/waves/core_waves.hpp"

#include <algorithm>
#include <bit>

#include "base/set_bits.hpp"
#include "hw/core/core.hpp"
#include "hw/effects/each_row.hpp"

namespace heddle::hw {

namespace {

std::uint64_t operation(const link::SubWarp& sub_warp) {
  return static_cast<std::uint64_t>(sub_warp.decoded->instruction.op);
}

// Rows that a launch with smaller warps does not have are empty.
void set_rows(link::WaveSetter& to, std::vector<link::Wave>& waves, std::span<const LaneMask> masks) {
  for (std::size_t row = 0; row < waves.size(); ++row) {
    to.set(waves[row], row < masks.size() ? masks[row] : 0);
  }
}

}  // namespace

CoreWaves::CoreWaves(const Machine& machine)
    : widths_(machine),
      masks_by_completion_(widths_.stack == Divergence::StackKind::per_group && !widths_.dynamic &&
                           !widths_.independent && widths_.split_entries == 0),
      former_(widths_),
      read_(widths_),
      execute_(widths_),
      splits_(widths_),
      icache_(link::SignalGroup::l1, InstructionCache::as_cache(machine.icache)),
      l1d_(link::SignalGroup::l1, machine.l1d, widths_.mimd_lanes ? widths_.lanes : 0),
      texture_(link::SignalGroup::l1, machine.texture.cache(machine.l1d.line_bytes),
               widths_.mimd_lanes ? widths_.lanes : 0),
      constant_cache_(machine.constant_cache.bytes == 0
                          ? nullptr
                          : std::make_unique<CacheWaves>(link::SignalGroup::l1, machine.constant_cache.cache(),
                                                         widths_.mimd_lanes ? widths_.lanes : 0)),
      bulk_copies_(machine.bulk_copy.queue == 0 ? nullptr : std::make_unique<BulkCopyWaves>(machine.bulk_copy)) {
  fetch_.widths = decode_.widths = memory_.widths = scheduler_.widths = &widths_;
  retire_[0].widths = retire_[1].widths = &widths_;
  retire_[1].returns = true;
  for (unsigned warp = 0; warp < widths_.groups; ++warp) {
    warps_.push_back(std::make_unique<WarpWaves>(widths_, widths_.rows_of(warp, machine)));
  }
  if (widths_.stack == Divergence::StackKind::per_block) {
    for (unsigned block = 0; block < widths_.blocks * widths_.stacks_per_block; ++block) {
      blocks_.push_back(std::make_unique<BlockWaves>(widths_));
    }
  }
}

void CoreWaves::describe(link::SignalCatalogue& catalogue, const std::string& core) {
  catalogue.add(core + ".fetch", fetch_);
  catalogue.add(core + ".decode", decode_);
  catalogue.add(core + ".decode.former", former_);
  catalogue.add(core + ".register_read", read_);
  catalogue.add(core + ".execute", execute_);
  catalogue.add(core + ".memory", memory_);
  catalogue.add(core + ".writeback", retire_[0]);
  catalogue.add(core + ".writeback.returns", retire_[1]);
  catalogue.add(core + ".scheduler", scheduler_);
  for (std::size_t warp = 0; warp < warps_.size(); ++warp) {
    catalogue.add(core + ".warp" + std::to_string(warp), *warps_[warp]);
  }
  for (std::size_t block = 0; block < blocks_.size(); ++block) {
    const unsigned parts = widths_.stacks_per_block;
    const std::string part = parts == 1 ? "" : ".part" + std::to_string(block % parts);
    catalogue.add(core + ".block" + std::to_string(block / parts) + part, *blocks_[block]);
  }
  if (widths_.split_entries != 0) {
    catalogue.add(core + ".splits", splits_);
  }
}

void CoreWaves::attach(SubCore& core) {
  core_ = &core;
  for (link::Wave* const wave :
       {&fetch_.stage.valid,   &fetch_.missed,          &fetch_.blocked,          &decode_.stage.valid,
        &former_.valid,        &former_.stall,          &former_.interlock,       &read_.stage.valid,
        &execute_.stage.valid, &execute_.active,        &execute_.complex_starts, &execute_.complex_waiting,
        &memory_.stage.valid,  &memory_.lines,          &memory_.put_aside,       &memory_.gathered,
        &memory_.queue,        &retire_[0].stage.valid, &retire_[1].stage.valid,  &scheduler_.blocks}) {
    wave->set(0);
  }
  for (link::Wave& count : scheduler_.states) {
    count.set(0);
  }
  for (link::Wave& made : splits_.made) {
    made.set(0);
  }
  for (link::Wave& ended : splits_.ended) {
    ended.set(0);
  }
  for (SplitWaves::Entry& entry : splits_.entries) {
    entry.valid.set(0);
  }
  for (OwnerWaves& slot : splits_.slots) {
    slot.valid.set(0);
  }
  for (const auto& warp : warps_) {
    warp->state.set(static_cast<std::uint64_t>(GroupState::free));
    for (link::Wave& row : warp->active) {
      row.set(0);
    }
    for (std::size_t row = 0; row < warp->taken.size(); ++row) {
      warp->taken[row].set(0);
      warp->not_taken[row].set(0);
    }
  }
  launch_ended();
}

void CoreWaves::joined(const CoreState& core) {
  // Those that have begun here: of the first sub-core, whose first places are theirs.
  const std::span<const BlockSlot> own(core.blocks.data(), core.sub_core == 0 ? widths_.blocks : 0);
  blocks_resident_ = static_cast<unsigned>(std::ranges::count_if(own, &BlockSlot::used));
  scheduler_.blocks.set(blocks_resident_);
  if (link::WaveSetter to(scheduler_.blocks); to) {
    for (std::size_t state = 1; state < kGroupStates; ++state) {
      count_groups(to, core, static_cast<GroupState>(state));
    }
  }
  for (const Group& group : core.groups.all()) {
    if (group.state != GroupState::free) {
      show(group);
    }
  }
  show_scheduler();
  if (core.statistics.bank_stalls != 0) {
    read_.bank_stall.set(0);  // that there have been some says so, however long nothing waits from now on
  }
}

void CoreWaves::count_groups(link::WaveSetter& to, const CoreState& core, GroupState state) {
  to.set(scheduler_.states[static_cast<std::size_t>(state)], core.groups.count(state));
}

void CoreWaves::group_changed(const CoreState& core, const Group& group, GroupState before) {
  if (link::WaveSetter to(scheduler_.blocks); to) {
    count_groups(to, core, before);
    count_groups(to, core, group.state);
  }
  const bool only_state = masks_by_completion_ && before != GroupState::free && group.state != GroupState::free;
  if (!only_state) {
    changed(group);
    return;
  }
  show_scheduler();
  if (group.id < warps_.size() && warps_[group.id]->state.traced()) {
    WarpWaves& warp = *warps_[group.id];
    link::WaveSetter to(warp.state);
    to.set(warp.state, static_cast<std::uint64_t>(group.state));
    show_position(to, warp, group);
  }
}

void CoreWaves::changed(const Group& group) {
  show_scheduler();
  show(group);
}

void CoreWaves::show_scheduler() {
  if (!scheduler_.blocks.traced()) {
    return;
  }
  if (widths_.fetch_groups != 0) {
    if (const std::optional<unsigned> first = core_->scheduler().first_fetch_group()) {
      scheduler_.fetch_group.set(*first);
    }
  }
  if (widths_.candidates != 0) {
    scheduler_.candidate.set(core_->scheduler().candidate());
  }
}

void CoreWaves::show_position(link::WaveSetter& to, WarpWaves& warp, const Group& group) {
  to.set(warp.pc, group.pc);
  to.set(warp.block, group.block_slot);
  to.set(warp.progress, group.progress);
}

void CoreWaves::show(const Group& group) {
  if (group.id >= warps_.size() || !warps_[group.id]->state.traced()) {
    return;
  }
  WarpWaves& warp = *warps_[group.id];
  {
    link::WaveSetter to(warp.state);
    to.set(warp.state, static_cast<std::uint64_t>(group.state));
    if (group.state == GroupState::free) {
      set_rows(to, warp.active, {});
      if (widths_.stack == Divergence::StackKind::per_group) {
        to.set(warp.stack.depth, 0);
      }
    } else {
      show_position(to, warp, group);
      set_rows(to, warp.active, group.active);
    }
    if (widths_.stack != Divergence::StackKind::none) {
      show_stack(to, group);
    }
  }
  if (widths_.independent) {
    show_threads(group, warp.threads);
  }
}

void CoreWaves::show_threads(const Group& group, ThreadsWaves& threads) const {
  const Divergence::ThreadsView view =
      group.state == GroupState::free ? Divergence::ThreadsView{} : core_->warps().divergence().threads_view(group);
  threads.barriers.set(view.barriers);
  threads.ready.set(view.ready);
  threads.meeting.set(view.meeting);
  threads.syncing.set(view.syncing);
  threads.at_barrier.set(view.at_barrier);
}

void CoreWaves::show_stack(link::WaveSetter& to, const Group& group) {
  const bool per_block = widths_.stack == Divergence::StackKind::per_block;
  if (!per_block && group.state == GroupState::free) {
    return;
  }
  const Divergence::StackView view = core_->warps().divergence().stack_view(group);
  const std::size_t of_block = std::size_t{group.block_slot} * widths_.stacks_per_block + view.part;
  StackWaves& stack = per_block ? blocks_[of_block]->stack : warps_[group.id]->stack;
  to.set(stack.depth, view.depth);
  if (view.depth != 0) {
    to.set(stack.merge_pc, view.reconvergence_pc);
    to.set(stack.execute_pc, view.execute_pc);
  }
  if (!per_block) {
    set_rows(to, warps_[group.id]->waiting, view.active);
    return;
  }
  BlockWaves& block = *blocks_[of_block];
  unsigned threads = 0;
  for (const LaneMask mask : view.active) {
    threads += static_cast<unsigned>(std::popcount(mask));
  }
  to.set(block.mask_threads, threads);
  set_rows(to, block.mask, view.active);
  for (std::size_t row = view.active.size(); row < block.mask.size(); ++row) {
    to.set(block.mask[row], 0);  // of a smaller block, or of none
  }
  to.set(block.warps, view.warps);
  to.set(block.at_branch, view.at_branch);
  to.set(block.at_merge, view.at_merge);
}

void CoreWaves::fetched(const CoreState& core, const link::SubWarp& sub_warp) {
  fetched_at_ = core.now;
  if (link::WaveSetter to(fetch_.stage.valid); to) {
    fetch_.stage.show(to, sub_warp.group, sub_warp.pc,
                      sub_warp.decoded != nullptr ? operation(sub_warp) : opcode_of(sub_warp.word));
  }
}

void CoreWaves::former_worked(const CoreState& core, const link::SubWarp& instruction, const FormerWork& work) {
  if (link::WaveSetter to(decode_.stage.valid); to) {
    decode_.stage.show(to, instruction.group, instruction.pc, static_cast<std::uint64_t>(work.decoded.instruction.op));
  }
  link::WaveSetter to(former_.valid);
  if (!to) {
    return;
  }
  set_rows(to, former_.candidates, work.left);
  set_rows(to, former_.pending, work.pending);
  if (!work.formed) {
    to.pulse(former_.interlock);
  }
  if (formed_last_at_ != core.now) {
    to.pulse(former_.stall);
  }
}

void CoreWaves::formed(const CoreState& core, const link::SubWarp& sub_warp) {
  if (sub_warp.last) {
    formed_last_at_ = core.now;
  }
  link::WaveSetter to(former_.valid);
  if (!to) {
    return;
  }
  to.pulse(former_.valid);
  to.set(former_.lanes, sub_warp.lanes);
  to.set(former_.number, core.groups[sub_warp.group].flights[sub_warp.flight].formed + 1);
  to.set(former_.last, sub_warp.last ? 1 : 0);
  to.set(former_.whole, sub_warp.whole ? 1 : 0);
  to.set(former_.scalar, sub_warp.scalar ? 1 : 0);
  former_.lanes_of.show(to, sub_warp);
}

void CoreWaves::read(const link::SubWarp& sub_warp) {
  link::WaveSetter to(read_.stage.valid);
  if (!to) {
    return;
  }
  read_.stage.show(to, sub_warp.group, sub_warp.pc, operation(sub_warp));
  to.set(read_.lanes, sub_warp.lanes);
  to.set(read_.executing, sub_warp.executing);
  read_.lanes_of.show(to, sub_warp);
}

void CoreWaves::issued(const link::SubWarp& sub_warp, Cycle last) {
  const Cycle now = core_->state().now;
  const LaneMask before = issued_at_ == now ? issued_lanes_ : 0;
  const LaneMask own = working_lanes(sub_warp);
  const LaneMask lanes = before | own;
  issued_at_ = now;
  issued_lanes_ = lanes;
  link::WaveSetter to(execute_.stage.valid);
  if (!to) {
    return;
  }
  execute_.stage.show(to, sub_warp.group, sub_warp.pc, operation(sub_warp));
  for (const unsigned bit : set_bits(execute_.by_lane.empty() ? 0 : own)) {
    ExecuteWaves::Lane& lane = execute_.by_lane[bit];
    to.set(lane.warp, sub_warp.group);
    to.set(lane.pc, sub_warp.pc);
    to.set(lane.opcode, operation(sub_warp));
  }
  to.set(execute_.lanes, lanes);
  to.pulse(execute_.active, static_cast<unsigned>(std::popcount(lanes)));
  to.set(execute_.state, lanes != 0 ? kStageBusy : static_cast<std::uint64_t>(IdleCause::predicated_off));
  if (sub_warp.decoded->unit == isa::Unit::complex && last != link::kNever) {
    to.pulse(execute_.complex_starts);
  }
}

void CoreWaves::in_memory(const link::SubWarp& sub_warp) {
  in_memory_at_ = core_->state().now;
  link::WaveSetter to(memory_.stage.valid);
  if (!to) {
    return;
  }
  memory_.stage.show(to, sub_warp.group, sub_warp.pc, operation(sub_warp));
  to.set(memory_.lanes, working_lanes(sub_warp));
}

// A sub-warp that decode cannot hand on keeps the next instruction waiting, but not in the cycle that formed it.
void CoreWaves::held(const CoreState& core, CoreStage stage, IdleCause cause) {
  if (rests_) {
    return;  // of the rest, which has been shown
  }
  if (stage == CoreStage::decode && formed_last_at_ != core.now) {
    decode_held_at_ = core.now;
    former_.stall.pulse();
  } else if (stage == CoreStage::register_read && cause == IdleCause::register_banks) {
    read_.bank_stall.pulse();
  } else if (stage == CoreStage::memory) {
    memory_.stall.set(static_cast<std::uint64_t>(cause));
    stalled_at_ = core.now;
  }
}

void CoreWaves::retired(const CoreState& core, const link::SubWarp& sub_warp) {
  const auto back = std::find(returning_.begin(), returning_.end(), &sub_warp);
  const bool returned = back != returning_.end();
  if (returned) {
    returning_.erase(back);
  }
  RetireWaves& waves = retire_[returned ? 1 : 0];
  if (link::WaveSetter to(waves.stage.valid); to) {
    waves.stage.show(to, sub_warp.group, sub_warp.pc, operation(sub_warp));
    to.set(waves.lanes, working_lanes(sub_warp));
    to.set(waves.last, sub_warp.last ? 1 : 0);
  }
  if (sub_warp.decoded->conditional_branch) {
    branch(sub_warp, core.groups[sub_warp.group]);
  }
}

// The two buffers of thesis 4.2.3, in which the outcome of a large warp's branch waits until its last sub-warp
// completes. What retires when the group has gone on at the branch already is shown in that cycle alone.
void CoreWaves::branch(const link::SubWarp& sub_warp, const Group& group) {
  if (group.dynamic || group.id >= warps_.size()) {
    return;
  }
  const auto collect = [&](std::vector<link::Wave>& buffer, LaneMask lanes) {
    each_row(group, sub_warp, lanes, [&](unsigned row, LaneMask of_row) {
      if (row < buffer.size()) {
        buffer[row].merge(of_row);
      }
    });
  };
  collect(warps_[group.id]->taken, sub_warp.executing);
  collect(warps_[group.id]->not_taken, sub_warp.lanes & ~sub_warp.executing);
  if (group.flights[sub_warp.flight].released) {
    empty_branch_buffers(*warps_[group.id]);
  }
}

// From the next cycle on.
void CoreWaves::empty_branch_buffers(WarpWaves& warp) {
  const Cycle next = core_->state().now + 1;
  for (std::size_t row = 0; row < warp.taken.size(); ++row) {
    warp.taken[row].set_at(next, 0);
    warp.not_taken[row].set_at(next, 0);
  }
}

void CoreWaves::completed(const Group& group, bool conditional_branch) {
  changed(group);
  if (conditional_branch && !group.dynamic && group.id < warps_.size()) {
    empty_branch_buffers(*warps_[group.id]);
  }
}

void CoreWaves::cycle_ended(const CoreState& core, const CycleEnd& end) {
  if (link::WaveSetter to(fetch_.stage.valid); to) {
    to.set(fetch_.state, fetched_at_ == core.now ? kStageBusy : static_cast<std::uint64_t>(end.fetch));
    to.set(fetch_.blocked, end.fetch_waits ? 1 : 0);
  }
  if (link::WaveSetter to(memory_.stage.valid); to) {
    if (stalled_at_ != core.now) {
      to.set(memory_.stall, kNoStall);
    }
    to.set(memory_.put_aside, end.put_aside);
    if (widths_.gathers) {
      to.set(memory_.gathered, end.gathered);
    }
    if (widths_.queue_places != 0) {
      to.set(memory_.queue, end.queue_places);
    }
  }
  if (widths_.split_entries != 0) {
    splits_.show(core.groups, core_->warps().divergence().split_table());
  }
  execute_.complex_waiting.set(end.complex_waiting);
}

void CoreWaves::rests(const CoreState& core) {
  rests_ = true;
  memory_.stage.valid.set(in_memory_at_ == core.now ? 1 : 0);
  former_.stall.set(decode_held_at_ == core.now ? 1 : 0);
}

void CoreWaves::rested() {
  rests_ = false;
  memory_.stage.valid.set(0);
  former_.stall.set(0);
}

void CoreWaves::sleeps(Cycle from, std::span<const IdleCause> first, IdleCause cause) {
  fetch_.state.set_at(from, static_cast<std::uint64_t>(cause));
  for (const IdleCause earlier : first) {
    execute_.state.set_at(from++, static_cast<std::uint64_t>(earlier));
  }
  execute_.state.set_at(from, static_cast<std::uint64_t>(cause));
}

void CoreWaves::launch_ended() {
  fetch_.state.set(kStageNoLaunch);
  execute_.state.set(kStageNoLaunch);
  returning_.clear();
  blocks_resident_ = 0;
  scheduler_.blocks.set(0);
}

}  // namespace heddle::hw
