// Which accesses part a warp-split, alone: each rule in each state of the core's other groups, and which group is
// revived.
#include "hw/divergence/parting_rule.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/error.hpp"

namespace heddle::hw {
namespace {

using Memory = PartingRule::Memory;

constexpr Memory kEveryRule[] = {Memory::none,   Memory::aggressive, Memory::lazy,
                                 Memory::revive, Memory::predict,    Memory::slip};

// What a rule asks of its core; nothing else is to be called.
class AskedMoves : public GroupMoves {
 public:
  Cycle cycle = 0;
  std::map<GroupId, LaneMask> answers;

  [[nodiscard]] Cycle now() const override { return cycle; }
  [[nodiscard]] LaneMask answered(const Group& group) const override {
    const auto found = answers.find(group.id);
    return found == answers.end() ? 0 : found->second;
  }
  void run(Group&, unsigned) override { fail(); }
  void wait(Group&) override { fail(); }
  void park(Group&) override { fail(); }
  void free(Group&) override { fail(); }
  Group& allocate(const Group&) override { fail(); }
  void hand_over(const Group&, unsigned, const Group&) override { fail(); }
  [[nodiscard]] unsigned block_of(const Place&) const override { fail(); }
  void merge(Group&, Group&) override { fail(); }
  Group* part(Group&) override { fail(); }

 private:
  [[noreturn]] static void fail() { throw InternalError("a rule moves no group"); }
};

// Four groups, all free at first; the predictor trusts samples as they come.
struct Ruled {
  explicit Ruled(Memory memory) : rule(memory, {64, 10, 100, 4}, groups, statistics) {
    for (GroupId id = 0; id != 4; ++id) {
      groups[id].age = groups.next_age();
    }
  }
  void set(GroupId id, GroupState state) { groups.set_state(groups[id], state); }
  // The group waits for memory, and lanes of it have been answered.
  void waits(GroupId id, LaneMask answered = 1) {
    set(id, GroupState::memory);
    moves.answers[id] = answered;
  }
  // An access at the group's PC is put aside in one cycle and complete in another.
  void access(GroupId id, Cycle misses, Cycle completes) {
    rule.accesses(groups[id]);
    moves.cycle = misses;
    rule.misses(groups[id], moves);
    moves.cycle = completes;
    rule.completed(groups[id], moves);
  }
  // What the predictor learns at PC 5: accesses take 100 cycles, and the next miss comes after 400, so that those who
  // run ahead would gain nothing.
  void learn_that_it_never_pays() {
    groups[3].pc = 5;
    access(3, 100, 200);
    access(3, 600, 700);
    rule.gone(groups[3], false);
  }
  // The group misses at PC 5, or at PC 6, of which nothing is known.
  void miss(GroupId id, std::uint32_t pc, Cycle at) {
    groups[id].pc = pc;
    rule.accesses(groups[id]);
    moves.cycle = at;
    rule.misses(groups[id], moves);
    waits(id);
  }
  [[nodiscard]] const Group* revived(const std::set<GroupId>& no_room = {}) {
    return rule.revives(moves, [&](const Group& group) { return no_room.count(group.id) == 0; });
  }

  CoreStatistics statistics{4, 0};
  GroupTable groups{4, 1};
  AskedMoves moves;
  PartingRule rule;
};

TEST(PartingRule, GroupsWorkUnlessTheyWaitForSomething) {
  Ruled ruled(Memory::lazy);
  EXPECT_FALSE(ruled.rule.others_work()) << "all are free";
  for (const GroupState working :
       {GroupState::ready, GroupState::fetching, GroupState::in_flight, GroupState::complex}) {
    ruled.set(2, working);
    EXPECT_TRUE(ruled.rule.others_work()) << static_cast<unsigned>(working);
  }
  for (const GroupState waiting :
       {GroupState::memory, GroupState::barrier, GroupState::parked, GroupState::throttled, GroupState::free}) {
    ruled.set(2, waiting);
    EXPECT_FALSE(ruled.rule.others_work()) << static_cast<unsigned>(waiting);
  }
}

TEST(PartingRule, WhichAccessesAreAnOccasion) {
  const std::map<Memory, std::pair<bool, bool>> expected = {
      // while another group works; while none does
      {Memory::none, {false, false}},  {Memory::aggressive, {true, true}}, {Memory::lazy, {false, true}},
      {Memory::revive, {false, true}}, {Memory::predict, {false, true}},   {Memory::slip, {false, false}}};
  for (const Memory memory : kEveryRule) {
    Ruled ruled(memory);
    ruled.waits(0);
    ruled.set(1, GroupState::ready);
    EXPECT_EQ(ruled.rule.occasion(ruled.groups[0]), expected.at(memory).first) << static_cast<unsigned>(memory);
    ruled.set(1, GroupState::barrier);
    EXPECT_EQ(ruled.rule.occasion(ruled.groups[0]), expected.at(memory).second) << static_cast<unsigned>(memory);
    EXPECT_TRUE(ruled.rule.takes(ruled.groups[0], ruled.moves)) << "nothing is known that speaks against it";
  }
}

TEST(PartingRule, OnlyTwoRulesReviveAndOnlyWhenTheCoreHasNothingToDo) {
  for (const Memory memory : kEveryRule) {
    Ruled ruled(memory);
    ruled.waits(0);
    ruled.set(1, GroupState::in_flight);
    EXPECT_EQ(ruled.revived(), nullptr) << static_cast<unsigned>(memory);
    ruled.set(1, GroupState::parked);
    const bool revives = memory == Memory::revive || memory == Memory::predict;
    EXPECT_EQ(ruled.revived(), revives ? &ruled.groups[0] : nullptr) << static_cast<unsigned>(memory);
  }
}

TEST(PartingRule, TheOldestThatCouldPartIsRevived) {
  Ruled ruled(Memory::revive);
  EXPECT_EQ(ruled.revived(), nullptr) << "nobody waits";
  ruled.groups[0].age = 10;
  ruled.groups[1].age = 7;
  ruled.groups[2].age = 8;
  ruled.groups[3].age = 9;
  for (GroupId id = 0; id != 4; ++id) {
    ruled.waits(id);
  }
  EXPECT_EQ(ruled.revived(), &ruled.groups[1]);
  EXPECT_EQ(ruled.revived({1}), &ruled.groups[2]) << "no room for it";
  ruled.moves.answers[2] = 0;
  EXPECT_EQ(ruled.revived({1}), &ruled.groups[3]) << "all of its threads still wait";
  ruled.set(3, GroupState::barrier);
  EXPECT_EQ(ruled.revived({1}), &ruled.groups[0]) << "it does not wait for memory";
  EXPECT_EQ(ruled.revived({0, 1}), nullptr);
}

TEST(PartingRule, ThePredictorDeclinesWhatDoesNotPayUntilThatAccessIsOver) {
  Ruled ruled(Memory::predict);
  ruled.learn_that_it_never_pays();
  ruled.miss(0, 5, 1000);
  ruled.groups[1].pc = 6;
  EXPECT_TRUE(ruled.rule.occasion(ruled.groups[0]));
  EXPECT_TRUE(ruled.rule.takes(ruled.groups[1], ruled.moves)) << "of PC 6 nothing is known";
  EXPECT_FALSE(ruled.rule.takes(ruled.groups[0], ruled.moves));
  EXPECT_FALSE(ruled.rule.occasion(ruled.groups[0]));
  EXPECT_EQ(ruled.revived(), nullptr);
  EXPECT_EQ(ruled.statistics.predictions, 2U) << "a declined one is not asked about again";
  ruled.moves.cycle = 1100;
  ruled.rule.completed(ruled.groups[0], ruled.moves);
  EXPECT_TRUE(ruled.rule.occasion(ruled.groups[0]));
  // Not taken when it was asked about, 100 cycles before its access ended; the next miss comes 99 or 100 after that.
  ruled.miss(0, 5, 1200);
  EXPECT_EQ(ruled.statistics.predictions_right, 1U);
  EXPECT_EQ(ruled.statistics.predictions_wrong, 0U);
}

TEST(PartingRule, TheOldestThatIsNotDeclinedIsRevived) {
  Ruled ruled(Memory::predict);
  ruled.learn_that_it_never_pays();
  ruled.miss(0, 5, 1000);
  ruled.miss(1, 5, 1000);
  ruled.miss(2, 6, 1000);
  EXPECT_EQ(ruled.revived(), &ruled.groups[2]);
  EXPECT_EQ(ruled.statistics.predictions, 3U);
  ruled.set(2, GroupState::parked);
  EXPECT_EQ(ruled.revived(), nullptr);
  EXPECT_EQ(ruled.statistics.predictions, 3U);
}

TEST(PartingRule, PartingWasRightWhenThoseAheadMissFirst) {
  Ruled ruled(Memory::predict);
  ruled.miss(0, 6, 100);
  EXPECT_TRUE(ruled.rule.takes(ruled.groups[0], ruled.moves));
  ruled.rule.parted(ruled.groups[0], ruled.groups[1]);
  ruled.groups[1].pc = 6;
  ruled.rule.completed(ruled.groups[1], ruled.moves);
  ruled.miss(1, 9, 150);
  EXPECT_EQ(ruled.statistics.predictions_right, 1U);
  // The other way round: they have exited, or gone, before.
  ruled.miss(2, 6, 200);
  EXPECT_TRUE(ruled.rule.takes(ruled.groups[2], ruled.moves));
  ruled.rule.parted(ruled.groups[2], ruled.groups[3]);
  ruled.rule.gone(ruled.groups[3], true);
  ruled.moves.cycle = 300;
  ruled.rule.completed(ruled.groups[2], ruled.moves);
  EXPECT_EQ(ruled.statistics.predictions_right, 1U);
  EXPECT_EQ(ruled.statistics.predictions_wrong, 1U);
}

TEST(PartingRule, StayingWasRightWhenTheGroupExitsWithoutAnotherMiss) {
  for (const bool exits : {true, false}) {
    Ruled ruled(Memory::predict);
    ruled.learn_that_it_never_pays();
    ruled.miss(0, 5, 1000);
    EXPECT_FALSE(ruled.rule.takes(ruled.groups[0], ruled.moves));
    ruled.moves.cycle = 1100;
    ruled.rule.completed(ruled.groups[0], ruled.moves);
    ruled.rule.gone(ruled.groups[0], exits);
    ruled.miss(0, 6, 1110);  // another group by then
    EXPECT_EQ(ruled.statistics.predictions_right, exits ? 1U : 0U);
    EXPECT_EQ(ruled.statistics.predictions_wrong, 0U);
  }
}

TEST(PartingRule, WithoutAPredictorNothingIsCounted) {
  for (const Memory memory : kEveryRule) {
    if (memory != Memory::predict) {
      Ruled ruled(memory);
      ruled.learn_that_it_never_pays();
      ruled.miss(0, 5, 1000);
      EXPECT_TRUE(ruled.rule.takes(ruled.groups[0], ruled.moves));
      EXPECT_EQ(ruled.statistics.predictions, 0U);
    }
  }
}

}  // namespace
}  // namespace heddle::hw
