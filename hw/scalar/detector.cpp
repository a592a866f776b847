// A detector compares the operands of all threads of a warp. The model compares the values when the instruction is
// decoded; hardware would keep a bit for each register of a warp, set by comparing results as they are written. So this
// finds all that such a detector could find, and more where threads have written equal values one after the other.

#include <fmt/format.h>

#include "base/set_bits.hpp"
#include "hw/parameters/cost.hpp"
#include "hw/parameters/machine.hpp"
#include "hw/scalar/scalarisation.hpp"

namespace heddle::hw {

namespace {

class Detector final : public Scalarisation {
 public:
  static constexpr Traits traits{.finds = true, .needs_marks = false};
  static void cost(const CostShape& shape, CostLines& lines) {
    const std::uint64_t registers = shape.machine.core.registers_per_thread;
    cost_of_wide_registers(shape, lines);
    lines.add(CostLine::Kind::estimated, "registers that are equal",
              fmt::format("{} warps x core.registers_per_thread {}", shape.warps, registers), shape.warps * registers,
              "own estimate: a bit for each register of each warp");
    lines.logic("comparison of results", fmt::format("core.simd_width {} comparators of 32 bits", shape.lanes),
                "own estimate: neighbouring lanes, and with the sub-warp before");
  }
  explicit Detector(const Setup&) {}
  [[nodiscard]] bool same_operands(const link::DecodedInstruction& decoded,
                                   const WarpOperands& operands) const override {
    bool same = true;
    decoded.use.read.each([&](unsigned reg) { same = same && operands.same_word(reg); });
    if (!same) {
      return false;
    }
    for (const unsigned predicate : set_bits(decoded.use.predicates_read)) {
      if (!operands.same_predicate(predicate)) {
        return false;
      }
    }
    return true;
  }
};

const Register<Scalarisation, Detector> detector_entry{
    "detector", "those whose operands turn out to be equal in all threads of the warp"};

}  // namespace

}  // namespace heddle::hw
