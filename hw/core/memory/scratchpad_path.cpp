#include "hw/core/memory/scratchpad_path.hpp"

#include <algorithm>
#include <bit>

#include "base/set_bits.hpp"

namespace heddle::hw {

// Where the block's part of the scratchpad begins.
std::uint32_t ScratchpadPath::base_of(const BlockHome& block) const {
  if (block.scratchpad_core != state_.in_core) {
    throw InternalError("a thread accesses the scratchpad of its block from another core, or when the block has none");
  }
  return block.scratchpad_base;
}

LaneMask ScratchpadPath::turns_of(const MemoryAccess& access) {
  const link::SubWarp& sub_warp = *access.sub_warp;
  const isa::Instruction& instruction = sub_warp.decoded->instruction;
  if (access.kind != MemoryAccess::Kind::atomic || !isa::is_of_barrier_object(instruction.atomic_op())) {
    return access.shared;
  }
  LaneMask first = 0;
  for (LaneMask left = access.shared; left != 0;) {
    const auto lowest = static_cast<unsigned>(std::countr_zero(left));
    first |= LaneMask{1} << lowest;
    left &= ~lanes_at(sub_warp, left, sub_warp.address[lowest]);
  }
  return first;
}

Cycle ScratchpadPath::serve(MemoryAccess& access, Cycle now) {
  const link::SubWarp& sub_warp = *access.sub_warp;
  const LaneMask together = mimd_lanes_ ? together_ & ~access.shared : 0;
  if (together == 0) {
    since_ = now;
    request_.bytes = 0;
    request_.atomic = false;
    request_.conflicts = 0;
  }
  request_.lanes = turns_of(access) | together;
  request_.joins = together != 0;
  request_.bytes = std::max(request_.bytes, access.lane_bytes);
  request_.atomic = request_.atomic || access.kind == MemoryAccess::Kind::atomic;
  const ThreadHome* const whole = sub_warp.uniform ? state_.rows[sub_warp.first_row].whole() : nullptr;
  const std::uint32_t base = whole != nullptr ? base_of(*whole->block) : 0;
  if (whole != nullptr && together == 0) {
    for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
      request_.address[lane] = base + static_cast<std::uint32_t>(sub_warp.address[lane]);
    }
  } else {
    for (const unsigned lane : set_bits(access.shared)) {
      request_.address[lane] = (whole != nullptr ? base : base_of(*state_.thread_at(sub_warp, lane).home->block)) +
                               static_cast<std::uint32_t>(sub_warp.address[lane]);
    }
  }
  const Cycle taken = port_.cycles(request_);
  together_ = request_.lanes;
  move_data(access);
  return std::max<Cycle>(now, since_ + taken - 1);
}

void ScratchpadPath::take(const MemoryAccess& access) {
  const link::SubWarp& sub_warp = *access.sub_warp;
  if (state_.replay != nullptr) {
    return;  // where it goes is not known
  }
  copied_.lanes = sub_warp.executing;
  copied_.bytes = access.lane_bytes;
  for (const unsigned lane : set_bits(sub_warp.executing)) {
    copied_.address[lane] = base_of(*state_.thread_at(sub_warp, lane).home->block) + sub_warp.values.result[0][lane];
  }
  static_cast<void>(port_.cycles(copied_));  // nobody waits for it, but others for the banks
  for (const unsigned lane : set_bits(sub_warp.executing)) {
    std::byte* const to = port_.data() + copied_.address[lane];
    const unsigned read = ((access.lanes >> lane) & 1U) != 0 ? access.bytes_of(lane) : 0;
    std::copy_n(access.loaded[lane].begin(), read, to);
    std::fill(to + read, to + access.lane_bytes, std::byte{0});
  }
}

void ScratchpadPath::move_data(MemoryAccess& access) {
  link::SubWarp& sub_warp = *access.sub_warp;
  const isa::Instruction& instruction = sub_warp.decoded->instruction;
  const unsigned bytes = access.element_bytes;
  if (access.kind == MemoryAccess::Kind::load) {
    for (const unsigned lane : set_bits(access.shared)) {
      copy_lane(access.loaded[lane].data(), port_.data() + request_.address[lane], access.lane_bytes);
    }
    return;
  }
  for (const unsigned lane : set_bits(access.shared)) {
    std::byte* const place = port_.data() + request_.address[lane];
    if (access.kind == MemoryAccess::Kind::store) {
      for (unsigned element = 0; element < access.elements; ++element) {
        const std::uint64_t value = access.stored(lane, element);
        copy_lane(place + element * bytes, &value, bytes);
      }
      continue;
    }
    std::uint64_t old = 0;
    std::memcpy(&old, place, bytes);
    const std::uint64_t next =
        isa::atomic_step(instruction.atomic_op(), instruction.atomic_type(), old,
                         lane_operand(sub_warp.values.b, lane, bytes), lane_operand(sub_warp.values.c, lane, bytes));
    std::memcpy(place, &next, bytes);
    sub_warp.values.result[0][lane] = static_cast<std::uint32_t>(old);
    sub_warp.values.result[1][lane] = static_cast<std::uint32_t>(old >> 32U);
  }
}

}  // namespace heddle::hw
