// One transaction per warp and line, however many sub-warps the warp takes over the lanes (warp-size study 2, after
// compute capability 2.0): the lines of a sub-warp are found as by `per-sub-warp`, and lines that an earlier sub-warp
// of the same instruction asks for already go with its request. A segment is a line.
#include <fmt/format.h>

#include "hw/coalesce/by_line.hpp"
#include "hw/parameters/cost.hpp"

namespace heddle::hw {

namespace {

class WholeWarp final : public Coalescer {
 public:
  static constexpr Traits traits{.gathers = true};
  static void cost(const CostShape& shape, CostLines& lines) {
    if (shape.warp == shape.lanes) {
      return;  // a sub-warp waits for no other
    }
    lines.mechanism("coalescing over whole warps");
    lines.add(CostLine::Kind::estimated, "addresses of the sub-warps that wait for the last",
              fmt::format("(core.warp_size {} - core.simd_width {}) x 64", shape.warp, shape.lanes),
              (shape.warp - shape.lanes) * 64, "own estimate: of the one instruction that is gathered");
    lines.add(CostLine::Kind::estimated, "data of those that store",
              fmt::format("(core.warp_size {} - core.simd_width {}) x 32", shape.warp, shape.lanes),
              (shape.warp - shape.lanes) * 32, "own estimate");
  }

  explicit WholeWarp(const Setup& setup) : line_mask_(~(std::uint64_t{setup.line_bytes} - 1)) {}

  void coalesce(const LaneAddresses& addresses, std::vector<LineAccess>& lines) const override {
    coalesce_by_line(line_mask_, addresses, lines);
  }

 private:
  std::uint64_t line_mask_;
};

const Register<Coalescer, WholeWarp> whole_warp_entry{
    "whole-warp", "one transaction per distinct line of all sub-warps of an instruction"};

}  // namespace

}  // namespace heddle::hw
