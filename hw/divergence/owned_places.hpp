// The places of a table, each owned by a group or by none: a group that comes takes the free one with the lowest
// number.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "hw/state/group.hpp"

namespace heddle::hw {

class OwnedPlaces {
 public:
  static constexpr GroupId kNobody = std::numeric_limits<GroupId>::max();

  explicit OwnedPlaces(unsigned places) : owners_(places, kNobody) {}

  [[nodiscard]] unsigned used() const { return used_; }
  [[nodiscard]] bool full() const { return used_ == owners_.size(); }
  // By number: who owns it.
  [[nodiscard]] std::span<const GroupId> owners() const { return owners_; }

  // There is a free one. Returns its number.
  unsigned take(GroupId owner) {
    while (owners_[lowest_] != kNobody) {
      ++lowest_;
    }
    owners_[lowest_] = owner;
    ++used_;
    return lowest_;
  }
  void give_back(unsigned place) {
    owners_[place] = kNobody;
    --used_;
    lowest_ = place < lowest_ ? place : lowest_;
  }

 private:
  std::vector<GroupId> owners_;
  unsigned used_ = 0;
  unsigned lowest_ = 0;  // below it none is free
};

}  // namespace heddle::hw
