#include "hw/core/memory/private_path.hpp"

#include <algorithm>
#include <span>

#include "base/set_bits.hpp"

namespace heddle::hw {

PrivatePath::PrivatePath(const CoreState& state, link::Clock clock, bool mimd_lanes)
    : socket("private_memory"),
      state_(state),
      port_(socket, clock),
      mimd_lanes_(mimd_lanes),
      bytes_(state.machine.private_memory.bytes) {}

LaneMask PrivatePath::holds(const MemoryAccess& access) const {
  LaneMask held = 0;
  for (const unsigned lane : set_bits(access.local)) {
    held |= LaneMask{access.sub_warp->address[lane] < bytes_ ? 1U : 0U} << lane;
  }
  return held;
}

Cycle PrivatePath::serve(MemoryAccess& access, Cycle now) {
  const std::uint64_t first = std::uint64_t{state_.in_core} * state_.threads_of_core();
  const LaneMask together = mimd_lanes_ ? together_ & ~access.on_chip : 0;
  request_.joins = together != 0;
  if (!request_.joins) {
    since_ = now;
    request_.bytes = 0;
    request_.conflicts = 0;
  }
  request_.lanes = access.on_chip | together;
  request_.bytes = std::max(request_.bytes, access.lane_bytes);
  for (const unsigned lane : set_bits(access.on_chip)) {
    const HomeThread thread = state_.thread_at(*access.sub_warp, lane);
    request_.bank[lane] = thread.lane;
    request_.from[lane] =
        static_cast<std::uint32_t>((thread.local() - first) * bytes_ + access.sub_warp->address[lane]);
  }
  const Cycle taken = port_.cycles(request_);
  together_ = request_.lanes;
  move_data(access);
  return std::max<Cycle>(now, since_ + taken - 1);
}

// Bytes that the thread has not written read as zero, whoever had its place before (hw/state/local_memory.hpp).
void PrivatePath::move_data(MemoryAccess& access) {
  const link::SubWarp& sub_warp = *access.sub_warp;
  for (const unsigned lane : set_bits(access.on_chip)) {
    const HomeThread thread = state_.thread_at(sub_warp, lane);
    LocalWritten& written = thread.home->written;
    std::byte* const place = port_.data() + request_.from[lane];
    if (access.kind == MemoryAccess::Kind::load) {
      copy_lane(access.loaded[lane].data(), place, access.lane_bytes);
      written.blank(thread.lane, sub_warp.address[lane], std::span(access.loaded[lane]).first(access.lane_bytes));
      continue;
    }
    written.write(thread.lane, sub_warp.address[lane], access.lane_bytes);
    for (unsigned element = 0; element < access.elements; ++element) {
      const std::uint64_t value = access.stored(lane, element);
      copy_lane(place + element * access.element_bytes, &value, access.element_bytes);
    }
  }
}

}  // namespace heddle::hw
