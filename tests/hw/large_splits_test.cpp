// Large warps that part at branches (hw/divergence/large_splits.hpp), without a SystemC kernel.
#include "hw/divergence/large_splits.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "hw/check/machine.hpp"

namespace heddle::hw {
namespace {

using isa::Op;

// A core of two warps of 64 threads, whose warp-splits are groups 2 and more.
class LargeSplitsAlone : public ::testing::Test, protected GroupMoves {
 protected:
  explicit LargeSplitsAlone(unsigned entries = 4) {
    core_.warp_size = 64;
    core_.threads = 128;
    core_.policies.of<DwsParameters>().entries = entries;
    splits_ = std::make_unique<LargeSplits>(Divergence::Setup{groups_, core_, &count_});
    groups_.resize(splits_->groups(core_.threads), 2);
    splits_->begin_launch(false);
    begin(groups_[0], 0xff, 0xf);
  }
  void begin(Group& group, LaneMask low, LaneMask high) {
    group.active = {low, high};
    groups_.set_state(group, GroupState::ready);
    splits_->start(group);
  }

  // ---- what it decides
  void run(Group& group, unsigned) override {
    groups_.set_state(group, group.any_active() ? GroupState::ready : GroupState::free);
  }
  void wait(Group& group) override { groups_.set_state(group, GroupState::barrier); }
  void park(Group&) override { throw InternalError("nobody waits for others but at a join"); }
  void free(Group& group) override {
    group.active.assign(2, 0);
    groups_.set_state(group, GroupState::free);
  }
  Group& allocate(const Group&) override { throw InternalError("its groups have several rows"); }
  Group& twin(const Group& like) override {
    Group& group = *groups_.find_free(2);
    group.active.assign(like.rows(), 0);
    groups_.set_state(group, GroupState::in_flight);
    return group;
  }
  void hand_over(const Group&, unsigned, const Group&) override { throw InternalError("no threads change groups"); }
  [[nodiscard]] unsigned block_of(const Place&) const override { return 0; }
  [[nodiscard]] Cycle now() const override { return 0; }
  void merge(Group&, Group&) override { throw InternalError("groups of several rows do not merge"); }
  [[nodiscard]] LaneMask answered(const Group&) const override { return 0; }
  Group* part(Group&) override { return nullptr; }

  // ---- what happens
  bool branch(GroupId id, std::uint32_t target, std::uint32_t reconvergence, LaneMask low, LaneMask high,
              bool marked = true) {
    isa::Instruction instruction;
    instruction.op = Op::BRA;
    instruction.guard.reg = 0;
    instruction.target = target;
    instruction.reconvergence = reconvergence;
    instruction.subdivides = marked;
    const std::vector<LaneMask> taken = {low, high};
    const bool diverged = splits_->complete(groups_[id], {instruction, taken, none_, none_}, *this);
    EXPECT_EQ(splits_->inconsistency(groups_[id]), "");
    return diverged;
  }
  void plain(GroupId id, unsigned count = 1) {
    const isa::Instruction instruction;
    for (; count != 0; --count) {
      EXPECT_FALSE(splits_->complete(groups_[id], {instruction, none_, none_, none_}, *this));
    }
  }
  void jump(GroupId id, std::uint32_t to) {
    isa::Instruction instruction;
    instruction.op = Op::BRA;
    instruction.target = to;
    EXPECT_FALSE(splits_->complete(groups_[id], {instruction, groups_[id].active, none_, none_}, *this));
  }
  void exit(GroupId id, LaneMask low, LaneMask high) {
    isa::Instruction instruction;
    instruction.op = Op::EXIT;
    const std::vector<LaneMask> exited = {low, high};
    EXPECT_FALSE(splits_->complete(groups_[id], {instruction, none_, exited, none_}, *this));
  }
  void expect(GroupId id, std::uint32_t pc, LaneMask low, LaneMask high) const {
    EXPECT_EQ(groups_[id].state, GroupState::ready);
    EXPECT_EQ(groups_[id].pc, pc);
    EXPECT_EQ(groups_[id].active, (std::vector<LaneMask>{low, high}));
  }
  void expect_none(GroupId id) const { EXPECT_EQ(groups_[id].state, GroupState::free); }

  CoreParameters core_;
  CoreStatistics count_;
  GroupTable groups_{2, 2};
  std::unique_ptr<LargeSplits> splits_;
  const std::vector<LaneMask> none_ = {0, 0};
};
class FewLargeSplits : public LargeSplitsAlone {
 protected:
  FewLargeSplits() : LargeSplitsAlone(2) {}
};

// if (...) { 1, 2 } else { 10, 11 } 20: ...
TEST_F(LargeSplitsAlone, BothSidesRunAndMeet) {
  EXPECT_TRUE(branch(0, 10, 20, 0x0f, 0x3));
  expect(0, 1, 0xf0, 0xc);
  expect(2, 10, 0x0f, 0x3);
  EXPECT_EQ(groups_[2].merge_pc, 20U);
  EXPECT_EQ(count_.splits_branch, 1U);
  plain(2);
  plain(0);
  jump(0, 20);
  expect_none(0);
  EXPECT_EQ(count_.merges_stack, 1U);
  plain(2, 8);
  expect(2, 19, 0x0f, 0x3);
  plain(2);
  expect(2, 20, 0xff, 0xf);
  EXPECT_EQ(groups_[2].merge_pc, isa::kNoReconvergence) << "a whole warp";
}

TEST_F(LargeSplitsAlone, PartAgainAndMeetFromTheInsideOut) {
  branch(0, 10, 20, 0x0f, 0);
  branch(0, 5, 8, 0x10, 0);  // of the path that fell through
  expect(0, 2, 0xe0, 0xf);
  expect(3, 5, 0x10, 0);
  plain(3, 3);
  expect_none(3);
  plain(0, 6);
  expect(0, 8, 0xf0, 0xf);
  jump(0, 20);
  expect_none(0);
  plain(2, 10);
  expect(2, 20, 0xff, 0xf);
}

// switch: each of several branches leads to one point behind them.
TEST_F(LargeSplitsAlone, WhoPartsOnTheWayToOnePointMeetsAllThere) {
  branch(0, 10, 20, 0x0f, 0);
  branch(0, 15, 20, 0xf0, 0x1);
  expect(0, 2, 0, 0xe);
  plain(3, 5);
  expect_none(3);
  plain(2, 10);
  expect_none(2);
  jump(0, 20);
  expect(0, 20, 0xff, 0xf);
}

TEST_F(LargeSplitsAlone, ThoseWhoExitAreNotWaitedFor) {
  branch(0, 10, 20, 0x0f, 0);
  plain(2, 10);
  expect_none(2);
  exit(0, 0x30, 0x1);
  expect(0, 2, 0xc0, 0xe);
  exit(0, 0xc0, 0xe);
  expect(0, 20, 0x0f, 0);
  exit(0, 0x0f, 0);
  expect_none(0);
}

TEST_F(FewLargeSplits, AllMayExitApart) {
  branch(0, 10, 20, 0x0f, 0);
  exit(0, 0xf0, 0xf);
  expect_none(0);
  exit(2, 0x0f, 0);
  expect_none(2);
  begin(groups_[0], 0xff, 0xf);  // the next block's warp, which finds both entries of the table free
  branch(0, 10, 20, 0x0f, 0);
  expect(2, 10, 0x0f, 0);
  EXPECT_EQ(count_.split_table_full, 0U);
}

TEST_F(LargeSplitsAlone, ASideWithoutWorkAndAnUnmarkedBranchAreTheStacks) {
  EXPECT_TRUE(branch(0, 20, 20, 0x0f, 0));  // if (...) { 1 .. 19 }
  expect(0, 1, 0xf0, 0xf);
  expect_none(2);
  EXPECT_TRUE(branch(0, 10, 15, 0x10, 0, false));
  expect(0, 2, 0xe0, 0xf);
  expect_none(2);
  EXPECT_TRUE(branch(0, 8, 9, 0x20, 0));  // a split within that
  expect(0, 3, 0xc0, 0xf);
  expect(2, 8, 0x20, 0);
  plain(2);
  expect_none(2);
  plain(0, 6);
  expect(0, 9, 0xe0, 0xf);
  plain(0, 6);
  expect(0, 10, 0x10, 0);
  plain(0, 5);
  expect(0, 15, 0xf0, 0xf);
  plain(0, 5);
  expect(0, 20, 0xff, 0xf);
}

TEST_F(FewLargeSplits, GoOnOneAfterTheOtherWhereTheTableIsFull) {
  branch(0, 10, 20, 0x0f, 0);
  EXPECT_TRUE(branch(0, 5, 8, 0x10, 0));
  EXPECT_EQ(count_.split_table_full, 1U);
  expect(0, 2, 0xe0, 0xf);
  expect_none(3);
  plain(0, 6);
  expect(0, 5, 0x10, 0);
  plain(0, 3);
  expect(0, 8, 0xf0, 0xf);
  jump(0, 20);
  plain(2, 10);
  expect(2, 20, 0xff, 0xf);
  EXPECT_TRUE(branch(2, 30, 40, 0x0f, 0)) << "both entries are free again";
  expect(3, 30, 0x0f, 0);
}

TEST(LargeSplits, LetNoInstructionsOfAWarpOverlap) {
  Machine machine;
  machine.core.warp_size = 256;
  machine.core.former = "packed";
  machine.core.divergence = "dws-large";
  EXPECT_TRUE(check(machine).empty());
  machine.core.issue = "relaxed";
  ASSERT_EQ(check(machine).size(), 1U);
  EXPECT_EQ(
      check(machine).front().message,
      "core.issue = \"relaxed\" lets instructions of one warp overlap, which core.divergence = \"dws-large\" does "
      "not allow; use \"strict\"");
}

}  // namespace
}  // namespace heddle::hw
