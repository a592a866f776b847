// Which accesses to memory part a warp or warp-split, once they have been answered for some of its threads (DWS report
// 5.2): the choice that every mechanism of warp-splits makes, whatever becomes of the splits.
//
//   none        none
//   aggressive  each (AggressSplit)
//   lazy        while no other group of the core has work (LazySplit)
//   revive      then, and also later, one at a time, the oldest that waits when the core has nothing to do
//               (ReviveSplit)
//   predict     as revive, but only where a predictor says that it pays (hw/divergence/split_predictor.hpp)
//   slip        while few enough threads have fallen behind (5.7): the mechanism's own affair
#pragma once

#include <optional>

#include "hw/divergence/divergence.hpp"
#include "hw/divergence/split_predictor.hpp"

namespace heddle::hw {

class PartingRule {
 public:
  enum class Memory : std::uint8_t { none, aggressive, lazy, revive, predict, slip };

  // `predictor`: read for `predict` alone.
  PartingRule(Memory memory, const SplitPredictor::Setup& predictor, GroupTable& groups, CoreStatistics& count);

  // What groups do, and what becomes of them. Of use to the predictor alone.
  void accesses(const Group& group) {
    if (predictor_) {
      predictor_->accesses(group.id);
    }
  }
  void misses(const Group& group, const GroupMoves& moves) {
    if (predictor_) {
      predictor_->misses(group.id, group.pc, moves.now());
    }
  }
  // Its instruction has completed; its PC is still there.
  void completed(const Group& group, const GroupMoves& moves) {
    if (predictor_) {
      predictor_->completed(group.id, group.pc, moves.now());
    }
  }
  void parted(const Group& group, const Group& ahead) {
    if (predictor_) {
      predictor_->parted(group.id, ahead.id);
    }
  }
  void gone(const Group& group, bool exited) {
    if (predictor_) {
      predictor_->gone(group.id, exited);
    }
  }

  // Whether the core has work but for groups that wait for memory, at barriers, for other splits or for the load
  // limiter.
  [[nodiscard]] bool others_work() const;
  // The group's access has been answered for some of its threads now: whether that is an occasion to part, and, asked
  // once there is room for another split, whether it is to be taken.
  [[nodiscard]] bool occasion(const Group& group) const;
  [[nodiscard]] bool takes(const Group& group, const GroupMoves& moves) {
    return !predictor_ || predictor_->predict(group.id, group.pc, moves.now());
  }
  // No group of the core can be fetched: the one that is to part for that, if any. `room`: the groups that could.
  template <class Room>
  [[nodiscard]] Group* revives(GroupMoves& moves, Room room) {
    if ((memory_ != Memory::revive && memory_ != Memory::predict) || others_work()) {
      return nullptr;
    }
    while (true) {
      Group* oldest = nullptr;
      for (const Group& waiting : groups_.all()) {
        if (waiting.state == GroupState::memory && (oldest == nullptr || waiting.age < oldest->age) &&
            !(predictor_ && predictor_->declined(waiting.id)) && room(waiting) && moves.answered(waiting) != 0) {
          oldest = &groups_[waiting.id];
        }
      }
      if (oldest == nullptr || takes(*oldest, moves)) {
        return oldest;
      }
    }
  }

 private:
  const Memory memory_;
  GroupTable& groups_;
  std::optional<SplitPredictor> predictor_;
};

}  // namespace heddle::hw
