// Rows as they are, the highest first.
#include <fmt/format.h>

#include "hw/parameters/cost.hpp"
#include "hw/subwarp/former.hpp"

namespace heddle::hw {

namespace {

class HighestRow final : public SubWarpFormer {
 public:
  static constexpr Traits traits{.packs = false, .displaces = false};
  static void cost(const CostShape& shape, CostLines& lines) {
    lines.add(CostLine::Kind::estimated, "row being issued", fmt::format("log2({} rows)", shape.rows),
              index_bits(shape.rows), "own estimate");
  }
  explicit HighestRow(const Setup&) {}

  [[nodiscard]] bool form(const isa::Instruction&, std::span<LaneMask> candidates, std::span<const LaneMask> pending,
                          SubWarpShape& shape) const override {
    for (std::size_t row = candidates.size(); row-- > 0;) {
      if (candidates[row] != 0 && pending[row] == 0) {
        shape.uniform = true;
        shape.displaced = false;
        shape.first_row = static_cast<std::uint16_t>(row);
        shape.lanes = std::exchange(candidates[row], 0);
        return true;
      }
    }
    return false;
  }
};

const Register<SubWarpFormer, HighestRow> highest_row_entry{"highest-row", "one row per cycle, the highest first"};

}  // namespace

}  // namespace heddle::hw
