#include "hw/state/core_state.hpp"

#include <algorithm>
#include <bit>
#include <span>
#include <utility>

#include "base/error.hpp"
#include "isa/device_heap.hpp"

namespace heddle::hw {

void CoreState::vacate() {
  for (RowThreads& row : rows) {
    row.exited(~LaneMask{0});
  }
  blocks.resize(homes.size());
  for (BlockSlot& slot : blocks) {
    slot.used = false;
    slot.threads = 0;
    slot.moved = false;
  }
}

void CoreState::begin_home(unsigned slot, const isa::Dim3& block_index, std::uint64_t linear) {
  BlockHome& home = homes[slot];
  const std::uint32_t threads = launch->threads_per_block();
  const std::uint32_t warps = (threads + core.warp_size - 1) / core.warp_size;
  home.begin(*launch, core, block_index, linear,
             in_core * threads_of_core() + std::uint64_t{slot} * warps * core.warp_size);
  home.scratchpad_core = in_core;
  home.scratchpad_base = slot * launch->shared_bytes;
  blocks[slot].used = true;
  blocks[slot].threads = 0;
}

void CoreState::hold(BlockHome& home, unsigned warp, unsigned place_of_warp) {
  for (unsigned i = 0; i != rows_per_warp; ++i) {
    RowThreads& row = rows[std::size_t{place_of_warp} * rows_per_warp + i];
    if (row.present() != 0) {
      throw InternalError("a block begins where threads of another one are");
    }
    ThreadHome& of_row = home.threads[std::size_t{warp} * rows_per_warp + i];
    row.hold(of_row);
    if (of_row.threads != 0) {
      joins(home, of_row.threads);
    }
  }
}

void CoreState::joins(BlockHome& home, unsigned threads) {
  if (home.core == index) {
    blocks[home.slot].threads += threads;
    return;
  }
  const auto guests = blocks.begin() + static_cast<std::ptrdiff_t>(homes.size());
  auto slot = std::find_if(guests, blocks.end(),
                           [&](const BlockSlot& candidate) { return candidate.used && candidate.home == &home; });
  if (slot == blocks.end()) {
    slot = std::find_if(guests, blocks.end(), [](const BlockSlot& candidate) { return !candidate.used; });
    if (slot == blocks.end()) {
      slot = blocks.insert(slot, BlockSlot{});
    }
    *slot = {true, &home, 0, false};
  }
  slot->threads += threads;
}

void CoreState::leaves(const BlockHome& home, unsigned threads) {
  BlockSlot& slot = blocks[slot_of(home)];
  slot.threads -= threads;
  slot.used = slot.threads != 0 || home.core == index;
}

void CoreState::departs(const BlockHome& home) {
  blocks[slot_of(home)].moved = true;
  leaves(home, 1);
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

std::uint64_t CoreState::heap_thread(const link::SubWarp& sub_warp, unsigned lane) const {
  if (launch->heap == nullptr) {
    return isa::DeviceHeap::kNobody;
  }
  const HomeThread thread = thread_at(sub_warp, lane);
  return thread.home->block->linear * launch->threads_per_block() + thread.number();
}

isa::Fault CoreState::fault_of(isa::Fault::Kind kind, const link::SubWarp& sub_warp, unsigned lane,
                               std::uint64_t address, std::uint32_t size, std::string detail) const {
  const HomeThread thread = thread_at(sub_warp, lane);
  isa::Fault out;
  out.kind = kind;
  out.launch = launch->id;
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
  fault->launch = launch->id;
  fault->pc = group.pc;
  fault->block = block(group.block_slot).index;
  fault->thread = {0, 0, 0};
  for (unsigned row = 0; row < group.rows(); ++row) {
    if (group.active[row] != 0) {
      const auto lane = static_cast<unsigned>(std::countr_zero(group.active[row]));
      const HomeThread thread = thread_at(group.row_of(row, lane), group.home_of(lane));
      fault->block = thread.home->block->index;
      fault->thread = thread.index();
      break;
    }
  }
  fault->detail = std::move(detail);
}

void CoreState::raise(isa::Fault::Kind kind, const HomeThread& thread, std::uint32_t pc, std::string detail) {
  if (!fault) {
    fault.emplace();
    fault->kind = kind;
    fault->launch = launch->id;
    fault->pc = pc;
    fault->block = thread.home->block->index;
    fault->thread = thread.index();
    fault->detail = std::move(detail);
  }
}

}  // namespace heddle::hw
