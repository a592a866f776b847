// As relaxed issue (thesis 4.2.2), but only simple arithmetic lets the warp go on before all its sub-warps are done.
#include <fmt/format.h>

#include "hw/issue/discipline.hpp"
#include "hw/parameters/cost.hpp"

namespace heddle::hw {

namespace {

class RelaxedAlu final : public IssueDiscipline {
 public:
  static constexpr Traits traits{.overlaps = true};
  static void cost(const CostShape& shape, CostLines& lines) {
    lines.add(CostLine::Kind::counted, "interlock bits", fmt::format("core.threads {} x 1", shape.threads),
              shape.threads, "thesis 4.2.2, 4.5");
  }
  explicit RelaxedAlu(const Setup&) {}

  [[nodiscard]] bool release(const Group& group, const isa::Instruction& instruction) const override {
    const bool simple = isa::info(instruction.op).unit == isa::Unit::alu;
    return group.flight().done() || (simple && group.flight().completed != 0);
  }
};

const Register<IssueDiscipline, RelaxedAlu> relaxed_alu_entry{"relaxed-alu", "overlaps simple arithmetic only"};

}  // namespace

}  // namespace heddle::hw
