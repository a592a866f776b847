// The re-convergence stack of one register row.
#include "hw/divergence/row_stack.hpp"

#include <gtest/gtest.h>

namespace heddle::hw {
namespace {

isa::Instruction to(std::uint32_t target, std::uint32_t reconvergence) {
  isa::Instruction branch;
  branch.op = isa::Op::BRA;
  branch.target = target;
  branch.reconvergence = reconvergence;
  return branch;
}

void expect_path(RowStack::Path path, LaneMask lanes, std::uint32_t pc) {
  EXPECT_EQ(path.lanes, lanes);
  EXPECT_EQ(path.pc, pc);
}

TEST(RowStack, RunsOnePathAfterTheOther) {
  RowStack stack;
  expect_path(stack.branch(3, to(10, 20), 0b1111, 0b0011), 0b1100, 4);
  EXPECT_EQ(stack.size(), 2U);
  EXPECT_TRUE(stack.ends_at(20));
  EXPECT_FALSE(stack.ends_at(10));
  expect_path(stack.pop({0b1100, 20}), 0b0011, 10);
  expect_path(stack.pop({0b0011, 20}), 0b1111, 20);
  EXPECT_TRUE(stack.empty());
  expect_path(stack.pop({0, isa::kNoReconvergence}), 0, isa::kNoReconvergence);
}

TEST(RowStack, APathWithoutInstructionsHasNoEntry) {
  RowStack stack;
  expect_path(stack.branch(3, to(10, 10), 0b1111, 0b0011), 0b1100, 4);
  EXPECT_EQ(stack.size(), 1U) << "those who jump are there";
  stack.clear();
  expect_path(stack.branch(3, to(1, 4), 0b1111, 0b0011), 0b0011, 1);
  EXPECT_EQ(stack.size(), 1U) << "those who leave a loop are there";
  // The next round's branch meets at the same place.
  expect_path(stack.branch(3, to(1, 4), 0b0011, 0b0001), 0b0001, 1);
  EXPECT_EQ(stack.size(), 1U);
  expect_path(stack.pop({0b0001, 4}), 0b1111, 4);
}

TEST(RowStack, WhoExitsIsNotWaitedFor) {
  RowStack stack;
  (void)stack.branch(3, to(10, isa::kNoReconvergence), 0b1111, 0b0011);
  EXPECT_EQ(stack.size(), 1U) << "nobody meets";
  (void)stack.branch(4, to(12, 20), 0b1100, 0b0100);
  stack.exit(0b1111);
  EXPECT_EQ(stack.size(), 3U);
  expect_path(stack.pop({0, 9}), 0, 10);
  EXPECT_TRUE(stack.empty());
}

TEST(RowStack, TellsWhichEntryTearsTheRunningThreads) {
  RowStack stack;
  (void)stack.branch(3, to(10, 20), 0b1111, 0b0011);
  EXPECT_FALSE(stack.tears(0b1100));
  EXPECT_EQ(stack.tears(0b0110), 10U);
  const Divergence::StackView view = stack.view();
  EXPECT_EQ(view.depth, 2U);
  EXPECT_EQ(view.reconvergence_pc, 20U);
  EXPECT_EQ(view.execute_pc, 10U);
  ASSERT_EQ(view.active.size(), 1U);
  EXPECT_EQ(view.active[0], 0b0011U);
}

}  // namespace
}  // namespace heddle::hw
