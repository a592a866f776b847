// The large warp's sub-warp logic: one thread per column and cycle, the lowest row first, out of the two-dimensional
// active mask (LWM report 3.1.1 and figure 7; thesis 4.2.1 and figure 4.5). A thread stays in its column, so that it
// reads its own lane's register bank, at a row of its own. With packing.memory_by_rows an access to global memory is
// formed by rows, without packing, so that neighbouring threads coalesce as in the baseline (report 3.1.2,
// thesis 4.2.5).
#include "hw/parameters/cost.hpp"
#include "hw/subwarp/former.hpp"
#include "hw/subwarp/packing.hpp"
#include "isa/lane_vectors.hpp"

namespace heddle::hw {

namespace {

class Packed final : public SubWarpFormer {
 public:
  using Parameters = PackingParameters;
  static constexpr Traits traits{.packs = true, .displaces = false, .keeps_row = true};
  static void cost(const CostShape& shape, CostLines& lines) {
    if (shape.rows > 1) {
      cost_of_rows_per_lane(shape, shape.rows, shape.machine.core.policies.of<Parameters>().memory_by_rows, lines);
    }
  }

  explicit Packed(const Setup& setup) : own_(setup.core.policies.of<Parameters>()) {}

  [[nodiscard]] bool forms_one(const isa::Instruction& instruction) const override {
    return own_.forms_one(instruction);
  }

  [[nodiscard]] bool form(const isa::Instruction& instruction, std::span<LaneMask> candidates,
                          std::span<const LaneMask> pending, SubWarpShape& shape) const override {
    if (own_.memory_by_rows && accesses_global_memory(instruction)) {
      return form_row(candidates, pending, shape);
    }
    shape.lanes = 0;
    shape.row_count = 0;
    shape.uniform = true;
    shape.displaced = false;
    for (std::size_t row = 0; row < candidates.size(); ++row) {
      const LaneMask take = candidates[row] & ~shape.lanes;
      if (take == 0) {
        continue;
      }
      const auto number = static_cast<std::uint16_t>(row);
      if (shape.lanes == 0) {
        shape.first_row = number;
        shape.row.fill(number);
      } else {
        shape.uniform = false;
        isa::vectors::fill(shape.row.data(), number, take);
      }
      shape.add_row(number, take);
      shape.lanes |= take;
      candidates[row] &= ~take;
    }
    shape.end_rows();
    return shape.lanes != 0;
  }

 private:
  const PackingParameters own_;
};

const Register<SubWarpFormer, Packed> packed_entry{"packed",
                                                   "one thread per column and cycle, lowest row first (large warps)"};

}  // namespace

}  // namespace heddle::hw
