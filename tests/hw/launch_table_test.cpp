// Which core a launch gets and when, by hand.
#include "hw/gpu/launch_table.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <utility>
#include <vector>

namespace heddle::hw {
namespace {

using Index = LaunchTable::Index;

std::vector<std::pair<unsigned, Index>> hand_out_all(LaunchTable& table) {
  std::vector<std::pair<unsigned, Index>> out;
  while (const auto block = table.next()) {
    out.emplace_back(block->place, block->launch);
  }
  return out;
}

TEST(LaunchTable, OneLaunchGoesToCoresInTurn) {
  LaunchTable table;
  table.begin(5, {2, 2, 2}, 3);
  for (const unsigned place : {0U, 1U, 2U, 0U, 1U}) {
    const auto block = table.next();
    ASSERT_TRUE(block);
    EXPECT_EQ(block->place, place);
  }
  EXPECT_FALSE(table.blocks_left());
  EXPECT_FALSE(table.leaving());  // no launch waits for a core
  EXPECT_EQ(table.finish(1, 1), 4U);
  EXPECT_FALSE(table.over());
  for (const auto& [place, slot] : {std::pair{0U, 0U}, {0U, 1U}, {1U, 0U}, {2U, 0U}}) {
    table.finish(place, slot);
  }
  EXPECT_TRUE(table.over());
  EXPECT_EQ(table.remaining(), (std::vector<unsigned>{0, 1, 2}));
  EXPECT_FALSE(table.all_written_back());
  for (const unsigned core : {0U, 1U, 2U}) {
    table.written_back(core);
  }
  EXPECT_TRUE(table.all_written_back());
  EXPECT_FALSE(table.ended());  // the last one ends with everything
}

TEST(LaunchTable, ALaterLaunchGetsCoresThatAreLeftAndOnlyWhatItHasBlocksFor) {
  LaunchTable table;
  table.begin(2, {1, 1, 1, 1, 1}, 5);
  EXPECT_EQ(hand_out_all(table).size(), 2U);  // cores 0 and 1
  const Index second = table.join(2, 4);
  EXPECT_FALSE(table.next());
  EXPECT_EQ(table.leaving(), 2U);
  EXPECT_EQ(table.leaving(), 3U);
  EXPECT_FALSE(table.leaving());  // two blocks take two cores, and the fifth stays
  EXPECT_FALSE(table.hand_over());
  table.written_back(3);
  const auto change = table.hand_over();
  ASSERT_TRUE(change);
  EXPECT_EQ(change->core, 3U);
  EXPECT_EQ(change->from, 0U);
  EXPECT_EQ(change->to, second);
  EXPECT_FALSE(table.next());  // not yet
  table.take(3);
  const auto block = table.next();
  ASSERT_TRUE(block);
  EXPECT_EQ(block->place, 3U);
  EXPECT_EQ(block->launch, second);
  EXPECT_EQ(block->number, 0U);
}

TEST(LaunchTable, ACoreStaysWithALaunchThatHasBlocksForIt) {
  LaunchTable table;
  table.begin(6, {1, 1}, 2);
  hand_out_all(table);
  table.join(3, 1);
  table.finish(0, 0);
  EXPECT_FALSE(table.leaving());
  EXPECT_EQ(hand_out_all(table), (std::vector<std::pair<unsigned, Index>>{{0, 0}}));
  for (unsigned left = 3; left != 0; --left) {
    table.finish(1, 0);
    EXPECT_EQ(hand_out_all(table).size(), 1U);
  }
  table.finish(0, 0);
  EXPECT_EQ(table.leaving(), 0U);
}

TEST(LaunchTable, ALaunchThatIsOverEndsOnceItsCoresHaveWrittenBack) {
  LaunchTable table;
  table.begin(1, {1, 1}, 2);
  hand_out_all(table);
  const Index second = table.join(1, 1);
  EXPECT_EQ(table.leaving(), 1U);
  table.written_back(1);
  ASSERT_TRUE(table.hand_over());
  table.take(1);
  hand_out_all(table);
  table.finish(0, 0);
  EXPECT_FALSE(table.ended());
  EXPECT_EQ(table.leaving(), 0U);
  EXPECT_FALSE(table.ended());
  table.written_back(0);
  EXPECT_EQ(table.ended(), 0U);
  EXPECT_FALSE(table.ended());  // once
  table.finish(1, 0);
  EXPECT_TRUE(table.over());
  EXPECT_TRUE(table.over(second));
  EXPECT_EQ(table.remaining(), std::vector<unsigned>{1});
}

// Whatever order things happen in: every block once, in a core of its launch's, no core for two, and all comes to an
// end.
TEST(LaunchTable, EveryBlockRunsOnceWhateverHappensWhen) {
  for (unsigned seed = 0; seed != 200; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](unsigned bound) { return static_cast<unsigned>(random() % bound); };
    const unsigned cores = 1 + below(6);
    LaunchTable table;
    std::vector<std::uint64_t> blocks{1 + below(20)};
    table.begin(blocks[0], std::vector<unsigned>(cores, 1 + below(3)), cores);
    std::set<std::pair<Index, std::uint64_t>> seen;
    std::vector<LaunchTable::Block> inside;
    std::vector<unsigned> writing;
    std::vector<unsigned> changing;
    unsigned steps = 0;
    while (!table.over() || blocks.size() < 5) {
      ASSERT_LT(++steps, 10000U) << "seed " << seed;
      if (blocks.size() < 5 && (table.over() || below(20) == 0)) {
        blocks.push_back(1 + below(20));
        table.join(blocks.back(), 1 + below(3));
      }
      if (const auto block = table.next()) {
        EXPECT_TRUE(seen.insert({block->launch, block->number}).second);
        EXPECT_EQ(table.owner(block->place), block->launch);
        for (const LaunchTable::Block& other : inside) {
          EXPECT_TRUE(other.place != block->place || (other.launch == block->launch && other.slot != block->slot));
        }
        inside.push_back(*block);
      }
      if (!inside.empty() && below(2) == 0) {
        const unsigned which = below(static_cast<unsigned>(inside.size()));
        EXPECT_EQ(table.finish(inside[which].place, inside[which].slot), inside[which].number);
        inside.erase(inside.begin() + which);
      }
      if (const auto core = table.leaving()) {
        for (const LaunchTable::Block& other : inside) EXPECT_NE(other.place, *core);
        writing.push_back(*core);
      }
      if (!writing.empty() && below(2) == 0) {
        table.written_back(writing.back());
        writing.pop_back();
      }
      if (const auto change = table.hand_over()) changing.push_back(change->core);
      if (!changing.empty() && below(2) == 0) {
        table.take(changing.back());
        changing.pop_back();
      }
    }
    std::uint64_t all = 0;
    for (const std::uint64_t of_one : blocks) all += of_one;
    EXPECT_EQ(seen.size(), all);
    EXPECT_EQ(table.finished(), all);
  }
}

}  // namespace
}  // namespace heddle::hw
