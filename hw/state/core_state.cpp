#include "hw/state/core_state.hpp"

#include <bit>
#include <utility>

#include "base/error.hpp"

namespace heddle::hw {

void CoreState::empty() {
  for (RowThreads& row : rows) {
    row.exited(~LaneMask{0});
  }
  blocks.resize(homes.size());
  for (BlockSlot& slot : blocks) {
    slot.used = false;
    slot.threads = 0;
  }
}

void CoreState::begin_block(unsigned slot, const isa::Dim3& block_index, std::uint64_t linear) {
  BlockHome& home = homes[slot];
  const std::uint32_t threads = launch->threads_per_block();
  const std::uint32_t warps = (threads + core.warp_size - 1) / core.warp_size;
  home.begin(*launch, core, block_index, linear,
             std::uint64_t{index} * machine.core.threads + std::uint64_t{slot} * warps * core.warp_size);
  home.scratchpad_base = slot * launch->shared_bytes;
  blocks[slot].used = true;
  blocks[slot].threads = threads;
  unsigned row = first_row(slot);
  for (ThreadHome& of_row : home.threads) {
    if (rows[row].present() != 0) {
      throw InternalError("a block begins where threads of another one are");
    }
    rows[row++].hold(of_row);
  }
}

unsigned CoreState::slot_of(const BlockHome& home) const {
  if (home.core == index) {
    return home.slot;
  }
  for (std::size_t slot = homes.size(); slot < blocks.size(); ++slot) {
    if (blocks[slot].used && blocks[slot].home == &home) {
      return static_cast<unsigned>(slot);
    }
  }
  throw InternalError("a block without a slot on the core");
}

isa::Fault CoreState::fault_of(isa::Fault::Kind kind, const link::SubWarp& sub_warp, unsigned lane,
                               std::uint64_t address, std::uint32_t size, std::string detail) const {
  const HomeLane thread = thread_at(sub_warp, lane);
  isa::Fault out;
  out.kind = kind;
  out.pc = sub_warp.pc;
  out.block = thread.home->block->index;
  out.thread = thread.index();
  out.address = address;
  out.size = size;
  out.detail = std::move(detail);
  return out;
}

void CoreState::raise(isa::Fault::Kind kind, const link::SubWarp& sub_warp, unsigned lane, std::uint64_t address,
                      std::uint32_t size, std::string detail) {
  if (!fault) {
    fault = fault_of(kind, sub_warp, lane, address, size, std::move(detail));
  }
}

void CoreState::raise(isa::Fault::Kind kind, const Group& group, std::string detail) {
  if (fault) {
    return;
  }
  fault.emplace();
  fault->kind = kind;
  fault->pc = group.pc;
  fault->block = block(group.block_slot).index;
  fault->thread = {0, 0, 0};
  for (unsigned row = 0; row < group.rows(); ++row) {
    if (group.active[row] != 0) {
      const auto lane = static_cast<unsigned>(std::countr_zero(group.active[row]));
      const HomeLane thread = thread_at(group.row_of(row, lane), group.home_of(lane));
      fault->block = thread.home->block->index;
      fault->thread = thread.index();
      break;
    }
  }
  fault->detail = std::move(detail);
}

}  // namespace heddle::hw
