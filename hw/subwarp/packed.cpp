// The large warp's sub-warp logic: one thread per column and cycle, the lowest row first, out of the two-dimensional
// active mask (LWM report 3.1.1 and figure 7; thesis 4.2.1 and figure 4.5). A thread stays in its column, so that it
// reads its own lane's register bank, at a row of its own. With core.memory_by_rows an access to global memory is
// formed by rows, without packing, so that neighbouring threads coalesce as in the baseline (report 3.1.2,
// thesis 4.2.5).
#include "hw/subwarp/former.hpp"

namespace heddle::hw {

namespace {

class Packed final : public SubWarpFormer {
 public:
  explicit Packed(const Setup& setup) : memory_by_rows_(setup.memory_by_rows) {}
  [[nodiscard]] bool packs() const override { return true; }

  [[nodiscard]] bool form(const isa::Instruction& instruction, std::span<LaneMask> candidates,
                          std::span<const LaneMask> pending, SubWarpShape& shape) const override {
    if (memory_by_rows_ && accesses_global_memory(instruction)) {
      return form_row(candidates, pending, shape);
    }
    shape.lanes = 0;
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
        for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
          shape.row[lane] = ((take >> lane) & 1U) != 0 ? number : shape.row[lane];
        }
      }
      shape.lanes |= take;
      candidates[row] &= ~take;
    }
    return shape.lanes != 0;
  }

 private:
  bool memory_by_rows_;
};

const Register<SubWarpFormer, Packed> packed_entry{"packed",
                                                   "one thread per column and cycle, lowest row first (large warps)"};

}  // namespace

}  // namespace heddle::hw
