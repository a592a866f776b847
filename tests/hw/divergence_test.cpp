// The re-convergence stack alone, entry by entry, without a SystemC kernel (LWM report 2.3 and figure 3, thesis 2.1.3.3
// and figure 2.2).
#include <gtest/gtest.h>

#include <vector>

#include "hw/divergence/stack.hpp"

namespace heddle::hw {
namespace {

using isa::Op;

class Stack : public ::testing::Test {
 protected:
  static constexpr unsigned kRows = 2;
  // What the mechanism decides, as text: "run", "wait"...
  struct Moves final : GroupMoves {
    std::string last;
    void run(Group&, unsigned) override { last = "run"; }
    void wait(Group&) override { last = "wait"; }
    void park(Group&) override { last = "park"; }
    void free(Group&) override { last = "free"; }
    Group& allocate(const Group&) override { throw InternalError("a stack makes no groups"); }
    void hand_over(const Group&, unsigned, const Group&) override { last = "hand over"; }
    [[nodiscard]] unsigned block_of(const Place&) const override { return 0; }
    [[nodiscard]] Cycle now() const override { return 0; }
    void merge(Group&, Group&) override { last = "merge"; }
    [[nodiscard]] LaneMask answered(const Group&) const override { return 0; }
    Group* part(Group&) override { return nullptr; }
  };
  static CoreParameters core() {
    CoreParameters parameters;
    parameters.warp_size = 64;
    parameters.threads = 256;
    return parameters;
  }
  const CoreParameters core_ = core();
  GroupTable groups_{4, kRows};
  StackDivergence stack_{{groups_, core_}};
  Group& group_ = groups_[1];
  Moves moves_;
  const std::vector<LaneMask> none_ = std::vector<LaneMask>(kRows, 0);

  void start(LaneMask low, LaneMask high = 0) {
    group_.active = {low, high};
    stack_.start(group_);
  }
  bool branch(std::uint32_t target, std::uint32_t reconvergence, LaneMask low, LaneMask high = 0) {
    isa::Instruction instruction;
    instruction.op = Op::BRA;
    instruction.guard.reg = 0;
    instruction.target = target;
    instruction.reconvergence = reconvergence;
    const std::vector<LaneMask> taken = {low, high};
    return stack_.complete(group_, {instruction, taken, none_, none_}, moves_);
  }
  // Before the lanes of `undecided` have said where they go.
  bool branch_early(std::uint32_t target, std::uint32_t reconvergence, LaneMask taken, LaneMask undecided) {
    isa::Instruction instruction;
    instruction.op = Op::BRA;
    instruction.guard.reg = 0;
    instruction.target = target;
    instruction.reconvergence = reconvergence;
    EXPECT_TRUE(stack_.parts_at_once(group_, instruction));
    const std::vector<LaneMask> takes = {taken, 0};
    const std::vector<LaneMask> open = {undecided, 0};
    return stack_.complete(group_, {instruction, takes, none_, none_, open}, moves_);
  }
  void plain(unsigned count = 1) {
    const isa::Instruction instruction;
    for (; count != 0; --count) {
      EXPECT_FALSE(stack_.complete(group_, {instruction, none_, none_, none_}, moves_));
      EXPECT_EQ(moves_.last, "run");
    }
  }
  void exit(LaneMask low, LaneMask high = 0) {
    isa::Instruction instruction;
    instruction.op = Op::EXIT;
    const std::vector<LaneMask> exited = {low, high};
    EXPECT_FALSE(stack_.complete(group_, {instruction, none_, exited, none_}, moves_));
  }
  void expect_running(std::uint32_t pc, LaneMask low, LaneMask high = 0) const {
    EXPECT_EQ(group_.pc, pc);
    EXPECT_EQ(group_.active, (std::vector<LaneMask>{low, high}));
  }
  // Bottom first.
  struct Expected {
    std::uint32_t reconvergence, execute;
    LaneMask low, high = 0;
  };
  void expect_stack(const std::vector<Expected>& expected) const {
    const auto entries = stack_.stack(group_.id);
    ASSERT_EQ(entries.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(entries[i].reconvergence_pc, expected[i].reconvergence) << i;
      EXPECT_EQ(entries[i].execute_pc, expected[i].execute) << i;
      EXPECT_EQ(entries[i].active, (std::vector<LaneMask>{expected[i].low, expected[i].high})) << i;
    }
  }
};

// Thesis 4.2.2, footnote 2: lanes 0 and 1 have gone both ways. The others are with the path that runs until they turn
// out to take the branch; in the end all is as if they had been waited for.
TEST_F(Stack, PartsBeforeAllLanesHaveSaidWhereTheyGo) {
  start(0b1111);
  EXPECT_TRUE(branch_early(3, 5, 0b0010, 0b1100));
  expect_running(1, 0b1101);
  expect_stack({{5, 5, 0b1111}, {5, 3, 0b0010}});
  EXPECT_EQ(stack_.decided(group_, 0, 0b0100, true), 0b0100U);
  EXPECT_EQ(stack_.decided(group_, 0, 0b1000, false), 0U);
  expect_running(1, 0b1001);
  expect_stack({{5, 5, 0b1111}, {5, 3, 0b0110}});
  EXPECT_EQ(stack_.inconsistency(group_), "");
}

// The path of those that do not take it is empty: they wait for the join alone, and so do lanes that turn out not to.
TEST_F(Stack, LanesThatSkipAPathLeaveItForTheJoin) {
  start(0b1111);
  EXPECT_TRUE(branch_early(3, 1, 0b0001, 0b1100));
  expect_running(3, 0b1101);
  expect_stack({{1, 1, 0b1111}});
  EXPECT_EQ(stack_.decided(group_, 0, 0b1000, true), 0U);
  EXPECT_EQ(stack_.decided(group_, 0, 0b0100, false), 0b0100U);
  expect_running(3, 0b1001);
  // And the other way round: those that take it go to where both meet.
  start(0b1111);
  EXPECT_TRUE(branch_early(4, 4, 0b0001, 0b1100));
  expect_running(1, 0b1110);
  EXPECT_EQ(stack_.decided(group_, 0, 0b1000, true), 0b1000U);
  expect_running(1, 0b0110);
  expect_stack({{4, 4, 0b1111}});
}

// Both ways lead to the next instruction: the branch must be over before it.
TEST_F(Stack, DoesNotPartEarlyWhereNoPathIsBetween) {
  start(0b1111);
  isa::Instruction instruction;
  instruction.op = Op::BRA;
  instruction.guard.reg = 0;
  instruction.target = instruction.reconvergence = 1;
  EXPECT_FALSE(stack_.parts_at_once(group_, instruction));
}

TEST_F(Stack, ThreadsThatArriveAtABarrierWait) {
  start(0b11);
  isa::Instruction barrier;
  barrier.op = Op::BAR_SYNC;
  const std::vector<LaneMask> arrived = {0b11, 0};
  EXPECT_FALSE(stack_.complete(group_, {barrier, none_, none_, arrived}, moves_));
  EXPECT_EQ(moves_.last, "wait");
  expect_running(1, 0b11);
  EXPECT_FALSE(stack_.complete(group_, {barrier, none_, none_, none_}, moves_));
  EXPECT_EQ(moves_.last, "run") << "nobody's guard was true";
}

// Figure 2.2: four threads; A (PC 0) ends in a branch, B (1..2) for threads 1011, C (3..4) for 0100, D (5) for all. The
// branch jumps over B: the thread that takes it goes to C.
TEST_F(Stack, GoesThroughTheStatesOfFigure22) {
  start(0b1111);
  expect_running(0, 0b1111);
  expect_stack({});
  // After A: the join entry (re-convergence D, execute D, 1111), above it the divergent one (re-convergence D, execute
  // C, 0100); B runs.
  EXPECT_TRUE(branch(3, 5, 0b0100));
  expect_running(1, 0b1011);
  expect_stack({{5, 5, 0b1111}, {5, 3, 0b0100}});
  plain();
  expect_running(2, 0b1011);
  // B's last instruction jumps to D: the divergent entry is popped, C runs.
  EXPECT_FALSE(branch(5, isa::kNoReconvergence, 0b1011));
  expect_running(3, 0b0100);
  expect_stack({{5, 5, 0b1111}});
  // C runs into D: the join entry is popped, all run again.
  plain(2);
  expect_running(5, 0b1111);
  expect_stack({});
}

TEST_F(Stack, UniformBranchesPushNothing) {
  start(0b1111);
  EXPECT_FALSE(branch(7, 9, 0b1111));
  expect_running(7, 0b1111);
  EXPECT_FALSE(branch(3, 9, 0));
  expect_running(8, 0b1111);
  expect_stack({});
}

TEST_F(Stack, IfWithoutElseHasNothingToRunOnTheOtherPath) {
  start(0b1111);
  EXPECT_TRUE(branch(4, 4, 0b0011));  // over 1..3
  expect_running(1, 0b1100);
  expect_stack({{4, 4, 0b1111}});
  plain(3);
  expect_running(4, 0b1111);
  expect_stack({});
}

// The fall-through path begins at the merge point: the taken one runs first.
TEST_F(Stack, EmptyFallThroughPathRunsTheOther) {
  start(0b1111);
  EXPECT_TRUE(branch(8, 1, 0b0011));
  expect_running(8, 0b0011);
  expect_stack({{1, 1, 0b1111}});
  EXPECT_FALSE(branch(1, isa::kNoReconvergence, 0b0011));
  expect_running(1, 0b1111);
}

TEST_F(Stack, NestsBranches) {
  start(0xff);
  EXPECT_TRUE(branch(10, 20, 0x0f));
  EXPECT_TRUE(branch(5, 8, 0x30));  // at 1, inside the fall-through path
  expect_running(2, 0xc0);
  expect_stack({{20, 20, 0xff}, {20, 10, 0x0f}, {8, 8, 0xf0}, {8, 5, 0x30}});
  EXPECT_FALSE(branch(8, isa::kNoReconvergence, 0xc0));
  expect_running(5, 0x30);
  plain(3);
  expect_running(8, 0xf0);
  expect_stack({{20, 20, 0xff}, {20, 10, 0x0f}});
  EXPECT_FALSE(branch(20, isa::kNoReconvergence, 0xf0));
  expect_running(10, 0x0f);
  plain(10);
  expect_running(20, 0xff);
  expect_stack({});
}

// An inner merge point that is the outer one as well: one arrival pops all its entries in turn.
TEST_F(Stack, OneArrivalPopsSeveralEntries) {
  start(0b111);
  EXPECT_TRUE(branch(5, 9, 0b001));
  EXPECT_TRUE(branch(9, 9, 0b010));  // the second path begins at the merge point
  expect_running(2, 0b100);
  EXPECT_FALSE(branch(9, isa::kNoReconvergence, 0b100));
  expect_running(5, 0b001);
  expect_stack({{9, 9, 0b111}});
  plain(4);
  expect_running(9, 0b111);
  expect_stack({});
}

// Threads leave a loop one by one: its exit branch diverges every time round at the same merge point, and the stack
// does not grow.
TEST_F(Stack, LoopExitsShareOneJoinEntry) {
  start(0b1111);
  plain();
  for (const LaneMask leaving : {0b0001U, 0b0010U, 0b0100U}) {
    const LaneMask running = group_.active[0];
    EXPECT_TRUE(branch(3, 3, leaving));  // at 1: leave to 3; 2: back edge
    expect_running(2, running & ~leaving);
    expect_stack({{3, 3, 0b1111}});
    EXPECT_FALSE(branch(1, isa::kNoReconvergence, running & ~leaving));
    expect_running(1, running & ~leaving);
  }
  EXPECT_FALSE(branch(3, 3, 0b1000));
  expect_running(3, 0b1111);
  expect_stack({});
}

// The loop's test below: the branch goes back, and falling through is the merge point.
TEST_F(Stack, LoopsTestedBelowRunOnWithThoseThatStay) {
  start(0b1111);
  plain(2);
  EXPECT_TRUE(branch(1, 3, 0b0111));
  expect_running(1, 0b0111);
  expect_stack({{3, 3, 0b1111}});
  plain();
  EXPECT_TRUE(branch(1, 3, 0b0001));
  expect_running(1, 0b0001);
  expect_stack({{3, 3, 0b1111}});
  plain();
  EXPECT_FALSE(branch(1, 3, 0));
  expect_running(3, 0b1111);
}

TEST_F(Stack, ExitsInsideDivergenceLeaveEveryEntry) {
  start(0b1111);
  EXPECT_TRUE(branch(5, 9, 0b0011));
  exit(0b0100);
  expect_running(2, 0b1000);
  expect_stack({{9, 9, 0b1011}, {9, 5, 0b0011}});
  exit(0b1000);  // the whole path: the waiting one runs
  expect_running(5, 0b0011);
  expect_stack({{9, 9, 0b0011}});
  exit(0b0011);  // no thread is left: the join entry pops with an empty mask
  EXPECT_EQ(group_.active_threads(), 0U);
  expect_stack({});
}

TEST_F(Stack, PathsThatNeverMeetRunOneAfterTheOther) {
  start(0b1111);
  EXPECT_TRUE(branch(5, isa::kNoReconvergence, 0b0110));
  expect_running(1, 0b1001);
  expect_stack({{isa::kNoReconvergence, 5, 0b0110}});
  plain(4);  // passing PC 5 merges nothing
  expect_running(5, 0b1001);
  exit(0b1001);
  expect_running(5, 0b0110);
  expect_stack({});
  exit(0b0110);
  EXPECT_EQ(group_.active_threads(), 0U);
}

// A warp wider than the SIMD unit has one stack for all its rows.
TEST_F(Stack, WideWarpsDivergeAsOne) {
  start(~0U, 0xffff);
  EXPECT_TRUE(branch(4, 6, ~0U, 0));  // row 0 takes it, row 1 does not
  expect_running(1, 0, 0xffff);
  expect_stack({{6, 6, ~0U, 0xffff}, {6, 4, ~0U, 0}});
  exit(0, 0x00ff);
  expect_stack({{6, 6, ~0U, 0xff00}, {6, 4, ~0U, 0}});
  EXPECT_FALSE(branch(6, isa::kNoReconvergence, 0, 0xff00));
  expect_running(4, ~0U, 0);
  plain(2);
  expect_running(6, ~0U, 0xff00);
}

TEST_F(Stack, GroupsHaveStacksOfTheirOwnAndStartEmpty) {
  start(0b11);
  EXPECT_TRUE(branch(4, 6, 0b01));
  EXPECT_EQ(stack_.stack(0).size(), 0U);
  start(0b11);
  expect_stack({});
  expect_running(0, 0b11);
  EXPECT_EQ(stack_.groups(1024), 16U);
}

}  // namespace
}  // namespace heddle::hw
