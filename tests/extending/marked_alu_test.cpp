// An example of docs/extending.md: a finder of scalar instructions.
#include <gtest/gtest.h>

#include "hw/scalar/scalarisation.hpp"

namespace heddle::hw {
namespace {

struct NoOperands final : WarpOperands {
  [[nodiscard]] bool same_word(unsigned) const override { return false; }
  [[nodiscard]] bool same_predicate(unsigned) const override { return false; }
};

bool found(const char* text) {
  link::DecodedInstruction decoded;
  decoded.instruction = isa::assemble(text);
  return Registry<Scalarisation>::instance().make("marked-alu", {})->same_operands(decoded, NoOperands());
}

TEST(MarkedAlu, TakesMarkedArithmeticOnly) {
  EXPECT_TRUE(found("{uniform} add r0, r1, r2"));
  EXPECT_FALSE(found("add r0, r1, r2"));
  EXPECT_FALSE(found("{uniform} div.u32 r0, r1, r2"));
}

}  // namespace
}  // namespace heddle::hw
