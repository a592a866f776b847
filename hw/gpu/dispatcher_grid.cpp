// Cooperative launches: whether they are possible, and the barrier of their grid.
#include <fmt/format.h>

#include <algorithm>

#include "hw/divergence/divergence.hpp"
#include "hw/gpu/dispatcher.hpp"

namespace heddle::hw {

isa::Dim3 block_index(const isa::Dim3& grid, std::uint64_t block) {
  return {static_cast<std::uint32_t>(block % grid.x), static_cast<std::uint32_t>(block / grid.x % grid.y),
          static_cast<std::uint32_t>(block / grid.x / grid.y)};
}

std::string why_no_cooperation(const Machine& machine) {
  return machine.gpu.cores > 1 && about<Divergence>(machine.core.divergence).traits.changes_cores
             ? fmt::format(
                   "core.divergence = \"{}\" moves threads between cores, where a block's core does not know "
                   "whether others can see what they have stored",
                   machine.core.divergence)
             : std::string();
}

std::string why_not_resident(const Machine& machine, const Launch& launch) {
  const Residency room = residency(machine, launch);
  const std::uint64_t most = std::uint64_t{room.blocks} * machine.gpu.cores;
  return launch.grid.count() <= most
             ? std::string()
             : fmt::format(
                   "the {} blocks of a cooperative launch must be resident at once; there is room for {}: {} on "
                   "each of {} cores ({})",
                   launch.grid.count(), most, room.blocks, machine.gpu.cores, room.limit);
}

void Dispatcher::arrives_at_grid(const BlockCommand& message, Cycle now) {
  const LaunchTable::Index index = table_.owner(message.core);
  Running& running = running_[index];
  if (running.at_grid++ == 0) {
    running.first_at_grid = now;
    running.first_waiting = message;
  } else if (message.linear < running.first_waiting.linear) {
    running.first_waiting = message;
  }
  running.last_at_grid = now;
  ++statistics_.grid_barrier_messages;
  look_at_grid(index);
}

// Whether all blocks of a launch that have not ended are at its barrier.
void Dispatcher::look_at_grid(LaunchTable::Index index) {
  Running& running = running_[index];
  const std::uint64_t ended = table_.finished(index);
  if (running.at_grid == 0 || running.at_grid + ended != table_.blocks(index)) {
    return;
  }
  if (ended == 0) {
    // Heard of a cycle after it was said; it came gpu.grid_barrier_latency cycles after that.
    running.release_at = running.last_at_grid + 2 * (Cycle{machine_.gpu.grid_barrier_latency} - 1);
  } else if (!fault_) {
    const BlockCommand& first = running.first_waiting;
    const isa::Dim3& grid = running.launch->grid;
    isa::Fault fault;
    fault.kind = isa::Fault::Kind::barrier_mismatch;
    fault.launch = running.launch->id;
    fault.pc = first.pc;
    fault.block = block_index(grid, first.linear);
    fault.thread = first.index;
    fault.detail = isa::reference::grid_stuck(running.at_grid, ended);
    fault_ = std::move(fault);
  }
}

bool Dispatcher::releases_grid() const {
  return std::any_of(running_.begin(), running_.end(),
                     [](const Running& running) { return running.release_at != link::kNever; });
}

void Dispatcher::release_grids(Cycle now) {
  for (LaunchTable::Index index = 0; index != running_.size(); ++index) {
    Running& running = running_[index];
    if (now < running.release_at) {
      if (running.release_at != link::kNever) {
        wake(running.release_at);
      }
      continue;
    }
    running.release_at = link::kNever;
    running.at_grid = 0;
    ++statistics_.grid_barriers;
    statistics_.grid_barrier_imbalance += running.last_at_grid - running.first_at_grid;
    for (unsigned i = 0; i != cores_->count(); ++i) {
      if (table_.owner(i) == index && table_.holds_blocks(i)) {
        BlockCommand command{BlockCommand::Kind::leave_grid, i, 0, {}, 0, {}, 0};
        if (!send(i, command)) {
          throw InternalError("a core refused to let blocks go on");
        }
        ++statistics_.grid_barrier_messages;
      }
    }
  }
}

}  // namespace heddle::hw
