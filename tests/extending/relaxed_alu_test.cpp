// An example of docs/extending.md: an issue discipline.
#include <gtest/gtest.h>

#include "hw/issue/discipline.hpp"

namespace heddle::hw {
namespace {

TEST(RelaxedAlu, ReleasesAfterTheFirstSubWarpOfSimpleArithmetic) {
  const CoreParameters core;
  const auto discipline = Registry<IssueDiscipline>::instance().make("relaxed-alu", {core});
  isa::Instruction move;
  move.op = isa::Op::MOV;
  isa::Instruction load;
  load.op = isa::Op::LD_GLOBAL;
  Group group;
  group.flight() = {.formed = 8, .completed = 0, .all_formed = true};
  EXPECT_FALSE(discipline->release(group, move));
  group.flight().completed = 1;
  EXPECT_TRUE(discipline->release(group, move));
  EXPECT_FALSE(discipline->release(group, load));
  group.flight().completed = 8;
  EXPECT_TRUE(discipline->release(group, load));
}

}  // namespace
}  // namespace heddle::hw
