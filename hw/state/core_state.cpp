#include "hw/state/core_state.hpp"

#include <bit>
#include <utility>

namespace heddle::hw {

isa::Dim3 CoreState::thread_of(unsigned row, unsigned lane) const {
  const isa::ThreadContext& context = rows[row].context;
  return {context.tid_x[lane], context.tid_y[lane], context.tid_z[lane]};
}

isa::Fault CoreState::fault_of(isa::Fault::Kind kind, const link::SubWarp& sub_warp, unsigned lane,
                               std::uint64_t address, std::uint32_t size, std::string detail) const {
  const unsigned row = sub_warp.row_of(lane);
  isa::Fault out;
  out.kind = kind;
  out.pc = sub_warp.pc;
  out.block = rows[row].context.block_index;
  out.thread = thread_of(row, sub_warp.home_of(lane));
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
  fault->block = blocks[group.block_slot].index;
  fault->thread = {0, 0, 0};
  for (unsigned row = 0; row < group.rows(); ++row) {
    if (group.active[row] != 0) {
      const auto lane = static_cast<unsigned>(std::countr_zero(group.active[row]));
      fault->block = rows[group.row_of(row, lane)].context.block_index;
      fault->thread = thread_of(group.row_of(row, lane), group.home_of(lane));
      break;
    }
  }
  fault->detail = std::move(detail);
}

}  // namespace heddle::hw
