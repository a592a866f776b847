#include "hw/core/memory/local_path.hpp"

#include <algorithm>
#include <span>

#include "base/set_bits.hpp"

namespace heddle::hw {

void LocalPath::translate(MemoryAccess& access) const {
  const link::SubWarp& sub_warp = *access.sub_warp;
  LaneAddresses& addresses = access.addresses;
  addresses.lanes = access.global | access.local;
  addresses.pieces = 1;
  addresses.piece_bytes = access.lane_bytes;
  addresses.address[0] = sub_warp.address;
  if (access.local == 0) {
    return;
  }
  const LocalPlaces places = state_.local_places();
  const unsigned pieces = std::max(access.lane_bytes / 4, 1U);
  addresses.pieces = pieces;
  addresses.piece_bytes = std::min(access.lane_bytes, 4U);
  for (const unsigned lane : set_bits(addresses.lanes)) {
    const std::uint64_t offset = sub_warp.address[lane];
    const bool is_local = ((access.local >> lane) & 1U) != 0;
    const std::uint64_t number = is_local ? state_.thread_at(sub_warp, lane).local() : 0;
    for (unsigned piece = 0; piece < pieces; ++piece) {
      const std::uint64_t at = offset + piece * 4;
      addresses.address[piece][lane] = is_local ? places.address(number, at) : at;
    }
  }
}

void LocalPath::follow(MemoryAccess& access) const {
  const link::SubWarp& sub_warp = *access.sub_warp;
  for (const unsigned lane : set_bits(access.local)) {
    const HomeThread thread = state_.thread_at(sub_warp, lane);
    LocalWritten& written = thread.home->written;
    if (access.kind == MemoryAccess::Kind::store) {
      written.write(thread.lane, sub_warp.address[lane], access.lane_bytes);
    } else {
      written.blank(thread.lane, sub_warp.address[lane], std::span(access.loaded[lane]).first(access.lane_bytes));
    }
  }
}

}  // namespace heddle::hw
