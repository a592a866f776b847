// Every thread executes every instruction for itself.
#include "hw/scalar/scalarisation.hpp"

namespace heddle::hw {

namespace {

class NoScalars final : public Scalarisation {
 public:
  explicit NoScalars(const Setup&) {}
  [[nodiscard]] bool same_operands(const link::DecodedInstruction&, const WarpOperands&) const override {
    return false;
  }
};

const Register<Scalarisation, NoScalars> no_scalars_entry{"none", "every thread executes for itself"};

}  // namespace

}  // namespace heddle::hw
