// One transaction per sub-warp and line (thesis 2.1.2): lanes that fall into the same line share it; lines are sent in
// the order of their lowest lane.
#include "hw/coalesce/coalescer.hpp"

#include <bit>

namespace heddle::hw {

namespace {

class PerSubWarp final : public Coalescer {
 public:
  explicit PerSubWarp(const Setup& setup) : line_mask_(~(std::uint64_t{setup.line_bytes} - 1)) {}

  void coalesce(const LaneAddresses& addresses, std::vector<LineAccess>& lines) const override {
    lines.clear();
    for (unsigned piece = 0; piece < addresses.pieces; ++piece) {
      const LaneAddresses::Piece& address = addresses.address[piece];
      for (LaneMask left = addresses.lanes; left != 0;) {
        // The lowest lane's line, then every other lane of it at once.
        const std::uint64_t line = address[static_cast<unsigned>(std::countr_zero(left))] & line_mask_;
        LaneMask same = 0;
        for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
          same |= static_cast<LaneMask>((address[lane] & line_mask_) == line) << lane;
        }
        same &= left;
        left &= ~same;
        merge(lines, line, same);
      }
    }
  }

 private:
  static void merge(std::vector<LineAccess>& lines, std::uint64_t line, LaneMask lanes) {
    for (LineAccess& known : lines) {
      if (known.line == line) {
        known.lanes |= lanes;
        return;
      }
    }
    lines.push_back({line, lanes});
  }

  std::uint64_t line_mask_;
};

const Register<Coalescer, PerSubWarp> per_sub_warp_entry{"per-sub-warp",
                                                         "one transaction per distinct line of a sub-warp"};

}  // namespace

}  // namespace heddle::hw
