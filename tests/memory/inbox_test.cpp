// What is told in a cycle counts from the next one on, in the order in which it was told.
#include "tlm/inbox.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

namespace heddle::link {
namespace {

using Taken = std::vector<std::pair<int, Cycle>>;

Taken take_all(Inbox<int>& inbox, Cycle now) {
  Taken out;
  inbox.take(now, [&](int value, Cycle at) { out.emplace_back(value, at); });
  return out;
}

TEST(Inbox, GivesInALaterCycleWhatWasPutInOrder) {
  Inbox<int> inbox;
  EXPECT_TRUE(inbox.empty());
  inbox.put(4, 1);
  inbox.put(4, 2);
  inbox.put(5, 3);
  EXPECT_EQ(take_all(inbox, 4), Taken{}) << "not in the cycle in which it was told";
  EXPECT_EQ(take_all(inbox, 5), (Taken{{1, 4}, {2, 4}}));
  EXPECT_EQ(take_all(inbox, 5), Taken{});
  EXPECT_FALSE(inbox.empty());
  EXPECT_EQ(take_all(inbox, 9), (Taken{{3, 5}}));
  EXPECT_TRUE(inbox.empty());
}

TEST(Inbox, KeepsWhatWasPutForLater) {
  Inbox<int> inbox;
  inbox.put(7, 1);
  inbox.put(3, 2);
  inbox.put(8, 3);
  inbox.put(3, 4);
  EXPECT_EQ(take_all(inbox, 4), (Taken{{2, 3}, {4, 3}}));
  EXPECT_EQ(take_all(inbox, 100), (Taken{{1, 7}, {3, 8}})) << "the rest in its order";
}

TEST(Inbox, CanBePutIntoWhileItIsRead) {
  Inbox<int> inbox;
  inbox.put(1, 0);
  inbox.put(9, 100);
  Taken out;
  inbox.take(2, [&](int value, Cycle at) {
    out.emplace_back(value, at);
    for (int more = 1; more != 50; ++more) {
      inbox.put(1, more);  // its place may move
    }
  });
  EXPECT_EQ(out, (Taken{{0, 1}})) << "what came meanwhile is for another time";
  const Taken rest = take_all(inbox, 2);
  ASSERT_EQ(rest.size(), 49U);
  EXPECT_EQ(rest.front(), std::make_pair(1, Cycle{1}));
  EXPECT_EQ(take_all(inbox, 10), (Taken{{100, 9}}));
}

TEST(Inbox, MovesAndForgets) {
  Inbox<std::unique_ptr<int>> inbox;
  inbox.put(1, std::make_unique<int>(5));
  std::unique_ptr<int> got;
  inbox.take(2, [&](std::unique_ptr<int> value, Cycle) { got = std::move(value); });
  ASSERT_NE(got, nullptr);
  EXPECT_EQ(*got, 5);
  inbox.put(3, nullptr);
  inbox.clear();
  EXPECT_TRUE(inbox.empty());
}

}  // namespace
}  // namespace heddle::link
