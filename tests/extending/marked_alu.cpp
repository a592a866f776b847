// Simple arithmetic that the compiler has marked: only the simple ALUs have a port to the warp-wide register file.
#include "hw/scalar/scalarisation.hpp"

namespace heddle::hw {

namespace {

class MarkedAlu final : public Scalarisation {
 public:
  static constexpr Traits traits{.finds = true, .needs_marks = true};
  static void cost(const CostShape& shape, CostLines& lines) { cost_of_wide_registers(shape, lines); }
  explicit MarkedAlu(const Setup&) {}
  [[nodiscard]] bool same_operands(const link::DecodedInstruction& decoded, const WarpOperands&) const override {
    return decoded.instruction.uniform && isa::info(decoded.instruction.op).unit == isa::Unit::alu;
  }
};

const Register<Scalarisation, MarkedAlu> marked_alu_entry{"marked-alu",
                                                          "simple arithmetic that the compiler has marked"};

}  // namespace

}  // namespace heddle::hw
