// An example of docs/extending.md: an order of fetch groups.
#include <gtest/gtest.h>

#include "hw/schedule/fetch_groups.hpp"

namespace heddle::hw {
namespace {

TEST(Backwards, TakesTheLiveFetchGroupBefore) {
  GroupTable groups(6, 1);
  const FetchGroups fetch_groups(groups, 2);
  const CoreParameters core;
  const auto order = Registry<FetchGroupOrder>::instance().make("backwards", {fetch_groups, core});
  for (const GroupId id : {0U, 2U, 4U}) {  // one in each
    groups.set_state(groups[id], GroupState::ready);
  }
  EXPECT_EQ(order->next(0), 2U);
  EXPECT_EQ(order->next(2), 1U);
  groups.set_state(groups[2], GroupState::free);
  EXPECT_EQ(order->next(2), 0U) << "1 has no warp left";
}

}  // namespace
}  // namespace heddle::hw
