#include "hw/coalesce/by_line.hpp"

#include <bit>

namespace heddle::hw {

namespace {

void merge_line(std::vector<LineAccess>& lines, std::uint64_t line, LaneMask lanes) {
  for (LineAccess& known : lines) {
    if (known.line == line) {
      known.lanes |= lanes;
      return;
    }
  }
  lines.push_back({line, lanes});
}

}  // namespace

void coalesce_by_line(std::uint64_t line_mask, const LaneAddresses& addresses, std::vector<LineAccess>& lines) {
  lines.clear();
  for (unsigned piece = 0; piece < addresses.pieces; ++piece) {
    const LaneAddresses::Piece& address = addresses.address[piece];
    for (LaneMask left = addresses.lanes; left != 0;) {
      // The lowest lane's line, then every other lane of it at once.
      const std::uint64_t line = address[static_cast<unsigned>(std::countr_zero(left))] & line_mask;
      LaneMask same = 0;
      for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
        same |= static_cast<LaneMask>((address[lane] & line_mask) == line) << lane;
      }
      same &= left;
      left &= ~same;
      merge_line(lines, line, same);
    }
  }
}

}  // namespace heddle::hw
