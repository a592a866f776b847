// Who finds scalar instructions, which registers lie in lanes, and what scalarisation does not go with.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hw/check/machine.hpp"
#include "hw/scalar/scalarisation.hpp"
#include "hw/scalar/wide_registers.hpp"

namespace heddle::hw {
namespace {

// Operands of which these differ between threads.
class Differing final : public WarpOperands {
 public:
  Differing(std::uint64_t words, unsigned predicates) : words_(words), predicates_(predicates) {}
  [[nodiscard]] bool same_word(unsigned reg) const override { return ((words_ >> reg) & 1U) == 0; }
  [[nodiscard]] bool same_predicate(unsigned reg) const override { return ((predicates_ >> reg) & 1U) == 0; }

 private:
  std::uint64_t words_;
  unsigned predicates_;
};

link::DecodedInstruction decoded(const char* text) {
  link::DecodedInstruction result;
  result.instruction = isa::assemble(text);
  result.use = isa::register_use(result.instruction);
  return result;
}

bool found(const char* policy, const char* text, std::uint64_t words, unsigned predicates) {
  return Registry<Scalarisation>::instance()
      .make(policy, {})
      ->same_operands(decoded(text), Differing(words, predicates));
}

TEST(Scalarisation, TheDetectorLooksAtEveryOperand) {
  EXPECT_TRUE(found("detector", "add r0, r1, r2", 0b001, 0b1));  // the old value of the result is no operand
  EXPECT_FALSE(found("detector", "add r0, r1, r2", 0b010, 0));
  EXPECT_FALSE(found("detector", "add r0, r1, r2", 0b100, 0));
  EXPECT_FALSE(found("detector", "@p3 add r0, r1, r2", 0, 0b1000));
  EXPECT_FALSE(found("detector", "sel r0, r1, r2, p1", 0, 0b10));
  EXPECT_TRUE(found("detector", "mov r0, 5", ~0ULL, 0x7F));
}

TEST(Scalarisation, TheCompilersWordIsTaken) {
  EXPECT_TRUE(found("compiler", "{uniform} add r0, r1, r2", 0, 0));
  EXPECT_FALSE(found("compiler", "add r0, r1, r2", 0, 0));
  EXPECT_FALSE(found("none", "{uniform} add r0, r1, r2", 0, 0));
}

TEST(Scalarisation, ARegisterIsInLanesUntilItsWarpWritesIt) {
  WideRegisters registers(2);
  EXPECT_EQ(registers.in_lanes(1, 3), 0U);
  registers.write_lanes(1, 3, 0b0110);
  registers.write_lanes(1, 3, 0b1000);
  EXPECT_EQ(registers.in_lanes(1, 3), 0b1110U);
  EXPECT_EQ(registers.in_lanes(0, 3), 0U);
  EXPECT_EQ(registers.in_lanes(1, 4), 0U);
  registers.write_wide(1, 3, 0b0111);
  EXPECT_EQ(registers.in_lanes(1, 3), 0b1000U);
  registers.clear_row(1);
  EXPECT_EQ(registers.in_lanes(1, 3), 0U);
}

TEST(Scalarisation, WarpsMustKeepTheirThreads) {
  for (const char* mechanism : {"dwf", "tbc", "per-thread-pc", "memory-split", "dws", "slip"}) {
    Machine machine;
    machine.core.divergence = mechanism;
    machine.core.scalar = "detector";
    const std::vector<Contradiction> wrong = check(machine);
    ASSERT_FALSE(wrong.empty()) << mechanism;
    EXPECT_EQ(wrong.front().key, "core.scalar");
    EXPECT_THAT(wrong.front().message, ::testing::HasSubstr(mechanism));
  }
  Machine machine;
  machine.core.issue = "scoreboard";
  machine.core.scalar = "compiler";
  const std::vector<Contradiction> wrong = check(machine);
  ASSERT_EQ(wrong.size(), 1U);
  EXPECT_THAT(wrong.front().message, ::testing::HasSubstr("earlier instructions"));
}

}  // namespace
}  // namespace heddle::hw
