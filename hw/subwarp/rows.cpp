// The baseline: a sub-warp is one row of the active mask, threads whose guard is false included (their lanes stay
// idle), so nothing is packed. A warp wider than the SIMD unit takes one cycle per row that has an active thread.
#include <fmt/format.h>

#include "hw/parameters/cost.hpp"
#include "hw/subwarp/former.hpp"

namespace heddle::hw {

namespace {

class Rows final : public SubWarpFormer {
 public:
  static constexpr Traits traits{.packs = false, .displaces = false, .keeps_row = true};
  static void cost(const CostShape& shape, CostLines& lines) {
    if (shape.rows > 1) {
      lines.add(CostLine::Kind::estimated, "row being issued", fmt::format("log2({} rows)", shape.rows),
                index_bits(shape.rows), "own estimate");
    }
  }

  explicit Rows(const Setup&) {}
  [[nodiscard]] bool form(const isa::Instruction&, std::span<LaneMask> candidates, std::span<const LaneMask> pending,
                          SubWarpShape& shape) const override {
    return form_row(candidates, pending, shape);
  }
};

const Register<SubWarpFormer, Rows> rows_entry{"rows", "one row of the active mask per cycle; no packing"};

}  // namespace

}  // namespace heddle::hw
