// The compiler has marked scalar instructions (ptx/uniformity.hpp); the core takes its word.
#include "hw/scalar/scalarisation.hpp"

namespace heddle::hw {

namespace {

class MarkedByCompiler final : public Scalarisation {
 public:
  static constexpr Traits traits{.finds = true, .needs_marks = true};
  static void cost(const CostShape& shape, CostLines& lines) { cost_of_wide_registers(shape, lines); }
  explicit MarkedByCompiler(const Setup&) {}
  [[nodiscard]] bool same_operands(const link::DecodedInstruction& decoded, const WarpOperands&) const override {
    return decoded.instruction.uniform;
  }
};

const Register<Scalarisation, MarkedByCompiler> marked_by_compiler_entry{
    "compiler", "those that the compiler has marked as uniform over the block"};

}  // namespace

}  // namespace heddle::hw
