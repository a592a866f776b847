// The perfect register file that the papers compare with (thesis 5.2.2, id lwm-perfect-rf): any simd_width threads of
// the mask fill the lanes, whatever their column, in the order of their numbers. A thread keeps its own lane where that
// is free, so that a full row stays as it is.
#include <fmt/format.h>

#include <bit>

#include "base/set_bits.hpp"
#include "hw/parameters/cost.hpp"
#include "hw/subwarp/former.hpp"
#include "hw/subwarp/packing.hpp"

namespace heddle::hw {

namespace {

class PackedFreely final : public SubWarpFormer {
 public:
  using Parameters = PackingParameters;
  static constexpr Traits traits{.packs = true, .displaces = true, .keeps_row = true};
  static void cost(const CostShape& shape, CostLines& lines) {
    if (shape.rows > 1) {
      lines.add(CostLine::Kind::estimated, "thread per lane in the pipeline",
                fmt::format("{} stages x {} lanes x log2(core.warp_size {})", shape.stages, shape.lanes, shape.warp),
                shape.stages * shape.lanes * index_bits(shape.warp), "own estimate: the stages' latches");
      if (shape.complex_queue != 0) {
        lines.add(CostLine::Kind::estimated, "thread per lane before the complex unit",
                  fmt::format("core.complex_queue {} x {} lanes x log2(core.warp_size {})", shape.complex_queue,
                              shape.lanes, shape.warp),
                  shape.complex_queue * shape.lanes * index_bits(shape.warp), "own estimate; as in the pipeline");
      }
      cost_of_free_lanes(shape, lines);
    }
  }

  explicit PackedFreely(const Setup& setup)
      : all_lanes_(~LaneMask{0} >> (isa::kLanes - setup.simd_width)), own_(setup.core.policies.of<Parameters>()) {}

  [[nodiscard]] bool forms_one(const isa::Instruction& instruction) const override {
    return own_.forms_one(instruction);
  }

  [[nodiscard]] bool form(const isa::Instruction& instruction, std::span<LaneMask> candidates,
                          std::span<const LaneMask> pending, SubWarpShape& shape) const override {
    if (own_.memory_by_rows && accesses_global_memory(instruction)) {
      return form_row(candidates, pending, shape);
    }
    shape.lanes = 0;
    shape.uniform = false;
    shape.displaced = false;
    shape.row_count = 0;
    unsigned rows = 0;
    for (std::size_t row = 0; row < candidates.size() && shape.lanes != all_lanes_; ++row) {
      const LaneMask before = candidates[row];
      const LaneMask at_home = before & ~shape.lanes;
      take(shape, row, at_home);
      candidates[row] &= ~at_home;
      while (candidates[row] != 0 && shape.lanes != all_lanes_) {
        const auto column = static_cast<unsigned>(std::countr_zero(candidates[row]));
        const auto lane = static_cast<unsigned>(std::countr_zero(static_cast<LaneMask>(all_lanes_ & ~shape.lanes)));
        shape.row[lane] = static_cast<std::uint16_t>(row);
        shape.home[lane] = static_cast<std::uint8_t>(column);
        shape.lanes |= LaneMask{1} << lane;
        shape.displaced = true;
        candidates[row] &= candidates[row] - 1;
      }
      if (candidates[row] != before) {
        ++rows;
        shape.first_row = static_cast<std::uint16_t>(row);
      }
    }
    shape.uniform = rows == 1 && !shape.displaced;
    return shape.lanes != 0;
  }

 private:
  static void take(SubWarpShape& shape, std::size_t row, LaneMask lanes) {
    for (const unsigned lane : set_bits(lanes)) {
      shape.row[lane] = static_cast<std::uint16_t>(row);
      shape.home[lane] = static_cast<std::uint8_t>(lane);
    }
    shape.lanes |= lanes;
  }

  LaneMask all_lanes_;
  const PackingParameters own_;
};

const Register<SubWarpFormer, PackedFreely> packed_freely_entry{
    "packed-freely", "any threads of the warp in any lane (perfect register file)"};

}  // namespace

}  // namespace heddle::hw
