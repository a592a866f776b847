#include "tb/measure/profile/profile.hpp"

#include <algorithm>
#include <bit>

#include "base/set_bits.hpp"
#include "hw/core/memory/memory_access.hpp"
#include "hw/divergence/divergence.hpp"
#include "hw/gpu/gpu.hpp"
#include "hw/parameters/execution_time.hpp"
#include "hw/state/core_state.hpp"

namespace heddle::tb {

using hw::GroupState;
using link::Cycle;

Profile::Profile(const hw::Machine& machine)
    : cores_(hw::all_sub_cores(machine)),
      lanes_(machine.core.simd_width),
      buckets_(band_row(kThreadBands)),
      of_core_(cores_),
      groups_(cores_),
      core_warps_(std::size_t{cores_} * kWarpRows),
      core_lanes_(std::size_t{cores_} * lanes_),
      lanes_apart_(hw::about<hw::Divergence>(machine.core.divergence).traits.mimd_lanes),
      blocks_(cores_) {
  // A map is pointed to while its launch runs.
  thread_maps_.reserve(kThreadMaps);
}

void Profile::launching(const LaunchInfo& launch) {
  const auto same = [&](const KernelProfile& known) {
    return known.kernel.name == launch.kernel.name && known.kernel.words == launch.kernel.words;
  };
  const auto found = std::find_if(kernels_.begin(), kernels_.end(), same);
  if (running_++ == 0) {
    present_.clear();
    began_ = ended_ = false;
    first_ = end_ = launch.cycle;
  }
  Present& present = present_[launch.id];
  present.kernel = static_cast<std::size_t>(found - kernels_.begin());
  present.first = launch.cycle;
  if (found == kernels_.end()) {
    kernels_.push_back({launch.kernel, launch.module.name, launch.module.source_files, 0, 0,
                        std::vector<InstructionCounters>(launch.kernel.words.size() + 1)});
  }
  ++kernels_[present.kernel].launches;
  if (launch_count_++ < kLaunches) {
    present.listed = launches_.size();
    const Cycle now = in_run(launch.cycle);
    launches_.push_back(
        {launch.kernel.name, launch.request.grid, launch.request.block, launch.warp_size, now, now, false});
  }
  widen_bands(launch.warp_size);
  present.threads = map_of(launch);
  if (present.threads != nullptr) {
    present.threads->launched();
  }
}

ThreadMap* Profile::map_of(const LaunchInfo& launch) {
  const std::string& kernel = launch.kernel.name;
  const isa::Dim3& grid = launch.request.grid;
  const isa::Dim3& block = launch.request.block;
  const auto found = std::find_if(thread_maps_.begin(), thread_maps_.end(),
                                  [&](const ThreadMap& map) { return map.is_of(kernel, grid, block); });
  if (found != thread_maps_.end()) {
    return &*found;
  }
  return ThreadMap::is_plane(grid, block) && thread_maps_.size() < kThreadMaps
             ? &thread_maps_.emplace_back(kernel, grid, block)
             : nullptr;
}

void Profile::shown(const Picture& picture) {
  if (pictures_.size() < kPictures) {
    pictures_.push_back(reduced(picture, kLongestPicture));
  }
}

void Profile::launch_began(const hw::CoreState& core, Cycle first) {
  if (!began_) {
    began_ = true;
    first_ = end_ = first;
  }
  Present& present = present_.at(core.launch->id);
  of_core_[core.index] = &present;
  if (!present.began) {
    present.began = true;
    present.first = first;
    if (present.listed) {
      launches_[*present.listed].begin = in_run(first);
    }
  }
  groups_[core.index].assign(core.groups.size(), {});
  blocks_[core.index] = {};
}

void Profile::launch_ended(const hw::CoreState& core, Cycle end) {
  ended_ = true;
  end_ = std::max(end_, end);
  end_groups(core.index, end);
  settle_blocks(core.index, end);
}

void Profile::end_groups(unsigned core, Cycle end) {
  for (Tracked& group : groups_[core]) {
    settle(core, group, end);
    group.state = GroupState::free;
  }
}

void Profile::launched(const LaunchInfo& launch, bool complete) {
  const bool last = --running_ == 0;
  if (last && began_ && !ended_ && gpu_ != nullptr) {
    // Stopped in the middle. Asking for the totals accounts what the cores sleep through, as idle().
    end_ = first_ + (gpu_->totals().cycles - elapsed_);
    for (unsigned core = 0; core != cores_; ++core) {
      end_groups(core, end_);
      settle_blocks(core, end_);
    }
  }
  const Present& present = present_.at(launch.id);
  const Cycle end = last || gpu_ == nullptr ? end_ : gpu_->clock().now();
  if (present.began || !began_) {
    kernels_[present.kernel].cycles += end - present.first;
  }
  if (present.listed) {
    launches_[*present.listed].end = in_run(end);
    launches_[*present.listed].complete = complete;
  }
  if (last) {
    elapsed_ += end_ - first_;
  }
}

void Profile::settle_blocks(unsigned core, Cycle until) {
  Blocks& blocks = blocks_[core];
  if (blocks.count != 0 && until > blocks.since) {
    buckets_.add_span(block_row(core), in_run(blocks.since), in_run(until), blocks.count);
  }
  blocks.since = until;
}

void Profile::block_started(const hw::CoreState& core, unsigned /*block_slot*/) {
  settle_blocks(core.index, core.now);
  ++blocks_[core.index].count;
}

void Profile::block_finished(const hw::CoreState& core, unsigned /*block_slot*/) {
  settle_blocks(core.index, core.now);
  --blocks_[core.index].count;
}

Profile::Tracked& Profile::tracked(const hw::CoreState& core, hw::GroupId group) {
  std::vector<Tracked>& groups = groups_[core.index];
  if (group >= groups.size()) {
    groups.resize(group + std::size_t{1});
  }
  return groups[group];
}

void Profile::settle(unsigned core, Tracked& group, Cycle until) {
  if (group.state == GroupState::free || until <= group.since) {
    return;
  }
  const auto state = static_cast<std::size_t>(group.state);
  at(core, group.pc).warp_cycles[state] += until - group.since;
  buckets_.add_span(state_row(state), in_run(group.since), in_run(until));
}

void Profile::group_changed(const hw::CoreState& core, const hw::Group& group, GroupState before) {
  Tracked& known = tracked(core, group.id);
  settle(core.index, known, core.now);
  known.since = core.now;
  known.state = group.state;
  if (before == GroupState::free) {
    known.latest_pc = known.waiting_pc = group.pc;
  }
  switch (group.state) {
    case GroupState::free:
      return;
    case GroupState::ready:
    case GroupState::fetching:
    case GroupState::throttled:
    case GroupState::queueing:
      known.pc = group.pc;
      return;
    case GroupState::in_flight:
      known.pc = known.latest_pc = group.pc;
      return;
    case GroupState::memory:
      known.pc = known.waiting_pc;
      return;
    default:
      known.pc = known.latest_pc;
  }
}

void Profile::widen_bands(unsigned threads) {
  while ((threads - 1) >> band_shift_ >= kThreadBands) {
    ++band_shift_;
    buckets_.join_neighbours(band_row(0), kThreadBands);
  }
}

void Profile::fetched(const hw::CoreState& core, const link::SubWarp& sub_warp) {
  // Before its sub-warps are formed an instruction is every active thread's of its group.
  const unsigned threads = lanes_apart_ ? static_cast<unsigned>(std::popcount(sub_warp.lanes))
                                        : core.groups[sub_warp.group].active_threads();
  if (threads != 0) {
    widen_bands(threads);
    buckets_.add(band_row((threads - 1) >> band_shift_), in_run(core.now));
  }
}

void Profile::put_aside(const hw::CoreState& core, const link::SubWarp& sub_warp) {
  tracked(core, sub_warp.group).waiting_pc = sub_warp.pc;
}

void Profile::held(const hw::CoreState& core, const link::SubWarp& sub_warp, hw::CoreStage stage, hw::IdleCause cause,
                   Cycle /*first*/, Cycle cycles) {
  if (stage == hw::CoreStage::memory && hw::is_want_of_room(cause)) {
    at(core.index, sub_warp.pc).held_cycles[static_cast<std::size_t>(cause)] += cycles;
  }
}

unsigned Profile::warp_row_of(hw::GroupId group) {
  while (group >> group_shift_ >= kWarpRows) {
    ++group_shift_;
    const auto halve = [](auto&& row) {
      for (unsigned i = 0; i != kWarpRows; ++i) {
        row(i) = i < kWarpRows / 2 ? row(2 * i) + row(2 * i + 1) : 0;
      }
    };
    for (unsigned core = 0; core != cores_; ++core) {
      halve([&](unsigned i) -> std::uint64_t& { return core_warps_[core * kWarpRows + i]; });
    }
    buckets_.join_neighbours(warp_row(0), kWarpRows);
    warp_rows_ = (warp_rows_ + 1) / 2;
  }
  const unsigned row = group >> group_shift_;
  warp_rows_ = std::max(warp_rows_, row + 1);
  return row;
}

void Profile::issued(const hw::CoreState& core, const link::SubWarp& sub_warp, Cycle /*last*/) {
  const Cycle now = in_run(core.now);
  // Which of them go which way is known when the instruction completes; where they are may have changed by then.
  ThreadMap* const threads = of_core_[core.index]->threads;
  if (threads != nullptr && sub_warp.decoded->conditional_branch && !sub_warp.whole) {
    std::vector<ThreadMap::Cell>& cells = tracked(core, sub_warp.group).at_branch;
    for (const unsigned lane : set_bits(sub_warp.lanes)) {
      cells.push_back(threads->cell_of(core.thread_at(sub_warp, lane)));
    }
  }
  const unsigned row = warp_row_of(sub_warp.group);
  buckets_.add(warp_row(row), now);
  ++core_warps_[core.index * kWarpRows + row];
  const isa::LaneMask working = hw::working_lanes(sub_warp);
  if (working == 0) {
    return;  // an idle cycle
  }
  const auto active = static_cast<unsigned>(std::popcount(working));
  InstructionCounters& counters = at(core.index, sub_warp.pc);
  ++counters.cycles;
  counters.lane_cycles += active;
  buckets_.add(kBusyCycles, now);
  buckets_.add(kLaneCycles, now, active);
  buckets_.add(core_row(core.index), now);
  for (const unsigned lane : set_bits(working)) {
    buckets_.add(lane_row(lane), now);
    ++core_lanes_[core.index * std::size_t{lanes_} + lane];
  }
}

void Profile::retired(const hw::CoreState& core, const link::SubWarp& sub_warp) {
  const auto lanes = static_cast<unsigned>(std::popcount(hw::working_lanes(sub_warp)));
  const unsigned threads = sub_warp.whole && lanes != 0 ? core.groups[sub_warp.group].active_threads() : lanes;
  InstructionCounters& counters = at(core.index, sub_warp.pc);
  ++counters.instructions;
  counters.lane_instructions += lanes;
  const link::DecodedInstruction& decoded = *sub_warp.decoded;
  const auto rows = static_cast<unsigned>(std::popcount(sub_warp.lanes));
  counters.float_lane_instructions += decoded.floating_point ? lanes : 0;
  if (decoded.unit == isa::Unit::tensor && lanes != 0) {
    counters.tensor_multiply_adds += hw::tensor_multiply_adds(decoded.instruction);
  }
  counters.register_reads +=
      rows * (decoded.a_words + decoded.b_words + decoded.c_words + decoded.d_words + decoded.stored_words + 0U);
  counters.register_writes += sub_warp.executing == 0 ? 0U : rows * decoded.form.words;
  counters.thread_instructions += threads;
  const Cycle now = in_run(core.now);
  buckets_.add(kWarpInstructions, now);
  buckets_.add(kThreadInstructions, now, threads);
  buckets_.add(instruction_row(core.index), now, threads);
  if (of_core_[core.index]->threads != nullptr) {
    map_retired(core, sub_warp);
  }
}

// Counts it to the threads that thread_instructions counts.
void Profile::map_retired(const hw::CoreState& core, const link::SubWarp& sub_warp) {
  const isa::LaneMask working = hw::working_lanes(sub_warp);
  ThreadMap& map = *of_core_[core.index]->threads;
  const auto executed = [&](const hw::HomeThread& thread) { map.executed(map.cell_of(thread)); };
  if (!sub_warp.whole) {
    for (const unsigned lane : set_bits(working)) {
      executed(core.thread_at(sub_warp, lane));
    }
    return;
  }
  const hw::Group& group = core.groups[sub_warp.group];
  for (unsigned row = 0; working != 0 && row != group.rows(); ++row) {
    for (const unsigned lane : set_bits(group.active[row])) {
      executed(core.thread_at(group.row_of(row, lane), group.home_of(lane)));
    }
  }
}

void Profile::completed(const hw::CoreState& core, const hw::Group& group, const hw::Completion& completion) {
  if (ThreadMap* const threads = of_core_[core.index]->threads; threads != nullptr) {
    std::vector<ThreadMap::Cell>& cells = tracked(core, group.id).at_branch;
    if (completion.diverged) {
      for (const ThreadMap::Cell cell : cells) {
        threads->diverged(cell);
      }
    }
    cells.clear();
  }
  if (!completion.conditional) {
    return;
  }
  InstructionCounters& counters = at(core.index, completion.pc);
  ++counters.branches;
  buckets_.add(kBranches, in_run(core.now));
  if (completion.diverged) {
    ++counters.divergent_branches;
    buckets_.add(kDivergentBranches, in_run(core.now));
  }
}

void Profile::accessed(const hw::CoreState& core, const hw::MemoryAccess& access, Cycle scratchpad_last) {
  InstructionCounters& counters = at(core.index, access.sub_warp->pc);
  counters.scratchpad_accesses += access.shared != 0 ? 1 : 0;
  counters.private_memory_accesses += access.on_chip != 0 ? 1 : 0;
  counters.scratchpad_extra_cycles += scratchpad_last - core.now;
  if ((access.global | access.local) != 0) {
    ++counters.memory_instructions;
    counters.line_requests += access.count;
    counters.store_lines += access.kind == hw::MemoryAccess::Kind::store ? access.count : 0;
    buckets_.add(kMemoryInstructions, in_run(core.now));
    buckets_.add(kLineRequests, in_run(core.now), access.count);
  }
}

void Profile::line(const hw::CoreState& core, const hw::MemoryAccess& access, unsigned /*line*/,
                   hw::LineOutcome outcome) {
  if (outcome == hw::LineOutcome::missed) {
    ++at(core.index, access.sub_warp->pc).late_lines;
    buckets_.add(kLateLines, in_run(core.now));
  }
}

void Profile::idle(const hw::CoreState& /*core*/, Cycle first, Cycle cycles, hw::IdleCause cause) {
  buckets_.add_span(idle_row(static_cast<std::size_t>(cause)), in_run(first), in_run(first + cycles));
}

}  // namespace heddle::tb
