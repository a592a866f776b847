// The lines of a sub-warp in the order of their addresses.
#include <algorithm>

#include "hw/coalesce/coalescer.hpp"
#include "hw/parameters/cost.hpp"

namespace heddle::hw {

namespace {

class Ascending final : public Coalescer {
 public:
  static void cost(const CostShape&, CostLines& lines) {
    lines.logic("line sorter", "one network over core.simd_width addresses", "own estimate");
  }
  explicit Ascending(const Setup& setup) : line_mask_(~(std::uint64_t{setup.line_bytes} - 1)) {}

  void coalesce(const LaneAddresses& addresses, std::vector<LineAccess>& lines) const override {
    lines.clear();
    for (unsigned piece = 0; piece < addresses.pieces; ++piece) {
      for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
        const LaneMask bit = addresses.lanes & (LaneMask{1} << lane);
        const std::uint64_t line = addresses.address[piece][lane] & line_mask_;
        const auto place =
            std::lower_bound(lines.begin(), lines.end(), line,
                             [](const LineAccess& access, std::uint64_t at) { return access.line < at; });
        if (bit != 0 && (place == lines.end() || place->line != line)) {
          lines.insert(place, {line, bit});
        } else if (bit != 0) {
          place->lanes |= bit;
        }
      }
    }
  }

 private:
  std::uint64_t line_mask_;
};

const Register<Coalescer, Ascending> ascending_entry{"ascending", "the lines of a sub-warp by address"};

}  // namespace

}  // namespace heddle::hw
