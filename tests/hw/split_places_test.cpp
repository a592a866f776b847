// Entries of the warp-split table and slots of the scheduler alone: who has which, up to the last one, and who comes
// first of those that wait.
#include "hw/divergence/split_places.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace heddle::hw {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr GroupId kFreePlace = OwnedPlaces::kNobody;

// Those for whom `serve` is called, in order; of them `gone` leave.
std::vector<GroupId> served(SplitPlaces& places, const std::vector<GroupId>& gone = {}) {
  std::vector<GroupId> asked;
  places.serve([&](GroupId group) {
    asked.push_back(group);
    return std::find(gone.begin(), gone.end(), group) != gone.end();
  });
  return asked;
}

TEST(SplitPlaces, EntriesAreTakenFromTheLowestNumberUp) {
  SplitPlaces places(3, 1, 8);
  EXPECT_TRUE(places.entries_left(3));
  EXPECT_FALSE(places.entries_left(4));
  EXPECT_THAT(places.view().entries, ElementsAre(kFreePlace, kFreePlace, kFreePlace));
  for (const GroupId group : {GroupId{5}, GroupId{2}, GroupId{7}}) {
    EXPECT_FALSE(places.has_entry(group));
    places.take_entry(group);
    EXPECT_TRUE(places.has_entry(group));
    EXPECT_FALSE(places.has_slot(group));
  }
  EXPECT_THAT(places.view().entries, ElementsAre(5, 2, 7));
  EXPECT_TRUE(places.entries_left(0));
  EXPECT_FALSE(places.entries_left(1));
  places.drop_entry(2);
  EXPECT_FALSE(places.has_entry(2));
  EXPECT_TRUE(places.entries_left(1));
  EXPECT_FALSE(places.entries_left(2));
  places.drop_entry(5);
  EXPECT_TRUE(places.entries_left(2));
  places.take_entry(0);
  EXPECT_THAT(places.view().entries, ElementsAre(0, kFreePlace, 7));
  EXPECT_EQ(places.inconsistency(), "");
}

TEST(SplitPlaces, SlotsAreCountedApart) {
  SplitPlaces places(1, 2, 4);
  places.take_slot(3);
  EXPECT_FALSE(places.slots_full());
  EXPECT_TRUE(places.has_slot(3));
  EXPECT_FALSE(places.has_entry(3));
  places.take_slot(1);
  EXPECT_TRUE(places.slots_full());
  EXPECT_TRUE(places.entries_left(1));
  EXPECT_THAT(places.view().slots, ElementsAre(3, 1));
  places.drop_slot(3);
  EXPECT_FALSE(places.slots_full());
  EXPECT_FALSE(places.has_slot(3));
  EXPECT_THAT(places.view().slots, ElementsAre(kFreePlace, 1));
  EXPECT_EQ(places.inconsistency(), "");
}

TEST(SplitPlaces, AGroupIsGivenWhatItLacks) {
  SplitPlaces places(1, 2, 8);
  EXPECT_TRUE(places.equip(0, false)) << "an undivided warp wants a slot alone";
  EXPECT_TRUE(places.has_slot(0));
  EXPECT_FALSE(places.has_entry(0));
  EXPECT_TRUE(places.equip(1, true));
  EXPECT_TRUE(places.has_slot(1));
  EXPECT_TRUE(places.has_entry(1));
  EXPECT_TRUE(places.equip(1, true)) << "it has all, and takes nothing";
  EXPECT_THAT(places.view().entries, ElementsAre(1));
  EXPECT_THAT(places.view().slots, ElementsAre(0, 1));
  EXPECT_FALSE(places.equip(2, false)) << "no slot is left";
  EXPECT_FALSE(places.equip(2, true)) << "nor an entry";
  EXPECT_FALSE(places.has_entry(2));
  places.drop_entry(1);
  EXPECT_FALSE(places.equip(2, true));
  EXPECT_TRUE(places.has_entry(2)) << "it keeps what there is";
  places.drop_slot(0);
  EXPECT_TRUE(places.equip(2, true));
  EXPECT_THAT(places.view().slots, ElementsAre(2, 1));
}

TEST(SplitPlaces, WithoutAnEntryAGroupTakesNoSlotFromOthers) {
  SplitPlaces places(1, 2, 8);
  places.take_entry(0);
  EXPECT_FALSE(places.equip(1, true));
  EXPECT_FALSE(places.has_slot(1));
  EXPECT_THAT(places.view().slots, ElementsAre(kFreePlace, kFreePlace));
  EXPECT_TRUE(places.equip(1, false));
}

TEST(SplitPlaces, ThoseWhoGoOnHaveTheSlotWhenOnlyOneIsLeft) {
  SplitPlaces room(2, 2, 8);
  room.take_slot(3);
  room.part(3, 4);
  EXPECT_THAT(room.view().entries, ElementsAre(3, 4));
  EXPECT_THAT(room.view().slots, ElementsAre(3, 4));
  // All slots are taken: the group's own goes to those who leave it.
  SplitPlaces tight(3, 2, 8);
  tight.take_slot(3);
  tight.take_slot(5);
  tight.part(3, 4);
  EXPECT_THAT(tight.view().entries, ElementsAre(3, 4, kFreePlace));
  EXPECT_THAT(tight.view().slots, ElementsAre(4, 5));
  EXPECT_FALSE(tight.has_slot(3));
  // A group that has an entry keeps it, and one without a slot has none to give.
  tight.part(3, 6);
  EXPECT_THAT(tight.view().entries, ElementsAre(3, 4, 6));
  EXPECT_THAT(tight.view().slots, ElementsAre(4, 5));
  EXPECT_FALSE(tight.has_slot(6));
  EXPECT_EQ(tight.inconsistency(), "");
}

TEST(SplitPlaces, TheQueueIsServedInTheOrderOfComingWhenSomethingHasBeenFreed) {
  SplitPlaces places(2, 1, 8);
  places.take_entry(0);
  places.take_slot(0);
  for (const GroupId group : {GroupId{4}, GroupId{1}, GroupId{6}, GroupId{2}}) {
    places.queue(group);
  }
  EXPECT_THAT(places.waiting(), ElementsAre(4, 1, 6, 2));
  EXPECT_THAT(served(places), IsEmpty()) << "nothing has been freed yet";
  places.drop_entry(0);
  EXPECT_THAT(served(places, {1, 2}), ElementsAre(4, 1, 6, 2));
  EXPECT_THAT(places.waiting(), ElementsAre(4, 6));
  EXPECT_THAT(served(places), IsEmpty()) << "nothing since";
  places.drop_slot(0);
  EXPECT_THAT(served(places), ElementsAre(4, 6));
  places.drop_slot(0);
  places.drop_entry(0);
  EXPECT_THAT(served(places), IsEmpty()) << "it had none";
  places.look_again();
  EXPECT_THAT(served(places, {4}), ElementsAre(4, 6));
  places.queue(4);
  EXPECT_THAT(places.waiting(), ElementsAre(6, 4)) << "who comes anew stands behind";
  places.leave_queue(6);
  places.leave_queue(7);
  EXPECT_THAT(places.waiting(), ElementsAre(4));
}

TEST(SplitPlaces, WhatIsFreedWhileTheQueueIsServedIsSeenNextTime) {
  SplitPlaces places(1, 1, 8);
  places.take_slot(0);
  places.queue(1);
  places.look_again();
  places.serve([&](GroupId) {
    places.drop_slot(0);
    return false;
  });
  EXPECT_THAT(served(places, {1}), ElementsAre(1));
  EXPECT_THAT(places.waiting(), IsEmpty());
}

TEST(SplitPlaces, SaysWhatDoesNotAgree) {
  SplitPlaces places(3, 2, 4);
  places.take_entry(1);
  places.take_entry(1);
  places.take_slot(2);
  EXPECT_EQ(places.inconsistency(), "2 entries and 1 slots are taken, 1 and 1 are held");
  SplitPlaces slots(3, 2, 4);
  slots.take_slot(2);
  slots.take_slot(2);
  slots.drop_slot(2);
  EXPECT_EQ(slots.inconsistency(), "0 entries and 1 slots are taken, 0 and 0 are held");
}

}  // namespace
}  // namespace heddle::hw
