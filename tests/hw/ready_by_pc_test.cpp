// The groups that may be fetched, by PC: against a search through all of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "hw/state/group.hpp"

namespace heddle::hw {
namespace {

constexpr unsigned kGroups = 130;
constexpr std::uint32_t kPcs = 7;

std::vector<const Group*> standing_at(const GroupTable& groups, std::uint32_t pc) {
  std::vector<const Group*> found;
  for (const Group& group : groups.all()) {
    if (group.state == GroupState::ready && group.pc == pc) {
      found.push_back(&group);
    }
  }
  std::sort(found.begin(), found.end(), [](const Group* a, const Group* b) { return a->age < b->age; });
  return found;
}

void expect_as_found(const GroupTable& groups) {
  std::map<std::uint32_t, unsigned> threads, count;
  groups.ready_by_pc().each_pc([&](std::uint32_t pc, unsigned of_it, unsigned groups_there) {
    EXPECT_TRUE(threads.emplace(pc, of_it).second);
    count[pc] = groups_there;
  });
  for (std::uint32_t pc = 0; pc != kPcs + 2; ++pc) {
    const std::vector<const Group*> found = standing_at(groups, pc);
    const MaybeGroup oldest = groups.ready_by_pc().oldest(pc);
    const MaybeGroup youngest = groups.ready_by_pc().youngest(pc);
    EXPECT_EQ(oldest, found.empty() ? MaybeGroup() : MaybeGroup(found.front()->id));
    EXPECT_EQ(youngest, found.empty() ? MaybeGroup() : MaybeGroup(found.back()->id));
    EXPECT_EQ(threads.count(pc), found.empty() ? 0U : 1U);
    EXPECT_EQ(found.size(), count.count(pc) != 0 ? count[pc] : 0);
    unsigned sum = 0;
    std::size_t place = 0;
    groups.ready_by_pc().each_at(pc, [&](GroupId id, unsigned of_it) {
      EXPECT_LT(place, found.size());
      EXPECT_EQ(id, place < found.size() ? found[place++]->id : kGroups);
      EXPECT_EQ(of_it, groups[id].active_threads());
      sum += of_it;
      return true;
    });
    EXPECT_EQ(place, found.size());
    EXPECT_EQ(sum, threads.count(pc) != 0 ? threads[pc] : 0);
  }
}

// Groups come and go, with ages in any order, and some grow while they may be fetched; the first question comes when
// some are ready already.
TEST(ReadyByPc, KnowsWhatASearchFinds) {
  for (unsigned seed = 1; seed != 6; ++seed) {
    std::mt19937 random(seed);
    GroupTable groups(kGroups, 1);
    std::vector<std::uint64_t> ages(kGroups);
    for (unsigned i = 0; i != kGroups; ++i) {
      ages[i] = i * 3;
    }
    std::shuffle(ages.begin(), ages.end(), random);
    for (unsigned step = 0; step != 3000; ++step) {
      Group& group = groups[random() % kGroups];
      if (group.state != GroupState::ready) {
        group.age = ages[group.id];
        group.pc = random() % kPcs;
        group.active[0] = static_cast<LaneMask>(random()) | 1U;
        groups.set_state(group, GroupState::ready);
      } else if (random() % 4 == 0) {
        group.active[0] |= static_cast<LaneMask>(random());
        groups.grown(group);
      } else {
        groups.set_state(group, random() % 2 == 0 ? GroupState::in_flight : GroupState::free);
      }
      if (step >= 200 && step % 16 == 0) {
        expect_as_found(groups);
      }
    }
  }
}

TEST(ReadyByPc, IsForgottenWithTheGroups) {
  GroupTable groups(3, 1);
  groups[1].active[0] = 7;
  groups.set_state(groups[1], GroupState::ready);
  EXPECT_EQ(groups.ready_by_pc().oldest(0), MaybeGroup(1));
  groups.resize(2, 1);
  EXPECT_FALSE(groups.ready_by_pc().oldest(0));
  expect_as_found(groups);
}

}  // namespace
}  // namespace heddle::hw
