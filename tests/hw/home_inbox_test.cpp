// What cores tell each other: no trace of who had its turn first.
#include "hw/core/warps/home_inbox.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace heddle::hw {
namespace {

HomeMessage told_by(unsigned core, unsigned count) {
  HomeMessage message;
  message.kind = HomeMessage::Kind::exit;
  message.from = core;
  message.exited = count;
  return message;
}

struct Told {
  unsigned core;
  unsigned count;
  friend bool operator==(const Told&, const Told&) = default;
};

std::vector<Told> taken(HomeInbox& inbox, Cycle now) {
  std::vector<Told> out;
  inbox.take(now, [&](HomeMessage& message) { out.push_back({message.from, message.exited}); });
  return out;
}

TEST(HomeInbox, MessagesOfACycleAreTakenInTheOrderOfTheirSenders) {
  const std::vector<Told> expected{{0, 5}, {1, 1}, {1, 2}, {2, 4}};
  HomeInbox forwards;
  forwards.put(7, told_by(0, 5));
  forwards.put(7, told_by(1, 1));
  forwards.put(7, told_by(1, 2));
  forwards.put(7, told_by(2, 4));
  EXPECT_EQ(taken(forwards, 8), expected);
  HomeInbox backwards;
  backwards.put(7, told_by(2, 4));
  backwards.put(7, told_by(1, 1));
  backwards.put(7, told_by(0, 5));
  backwards.put(7, told_by(1, 2));
  EXPECT_EQ(taken(backwards, 8), expected);
  EXPECT_TRUE(backwards.empty());
}

TEST(HomeInbox, NothingIsTakenInTheCycleInWhichItWasTold) {
  HomeInbox inbox;
  inbox.put(7, told_by(2, 1));
  inbox.put(8, told_by(1, 1));
  EXPECT_EQ(taken(inbox, 7), std::vector<Told>{});
  EXPECT_EQ(taken(inbox, 8), (std::vector<Told>{{2, 1}}));
  EXPECT_FALSE(inbox.empty());
  EXPECT_EQ(taken(inbox, 9), (std::vector<Told>{{1, 1}}));
  inbox.put(9, told_by(0, 1));
  inbox.clear();
  EXPECT_TRUE(inbox.empty());
}

}  // namespace
}  // namespace heddle::hw
