// The accesses under way in a memory stage: which places they take, who waits, and what waiting means to the group.
//
//   places    core.pending_accesses, for those at the stage's head and those put aside. An access that waits for late
//             hits alone, or for the other sub-warps of its instruction, takes none
//   is told   that an access begins and ends, and what it waits for meanwhile
//   answers   whether there is a place; which accesses there are; which threads wait no longer, and parts them off
//   tells     the group (InFlight::waiting, late): whose instruction waits for lines with all its sub-warps is in
//             GroupState::memory. Late hits keep it from that no more than hits in time would
//   counts    put_aside
// Accesses are used again, and made when they are first wanted: a machine may have thousands of places that no program
// fills.
#pragma once

#include <memory>
#include <vector>

#include "hw/core/memory/memory_access.hpp"

namespace heddle::hw {

class PendingAccesses {
 public:
  explicit PendingAccesses(CoreState& state);

  [[nodiscard]] std::size_t places_taken() const { return accesses_.size() - free_.size() - late_; }
  [[nodiscard]] bool full() const { return places_taken() >= state_.machine.core.pending_accesses; }
  // The one that begin() takes; it has no place before.
  [[nodiscard]] MemoryAccess& next() {
    if (free_.empty()) {
      accesses_.push_back(std::make_unique<MemoryAccess>());
      free_.push_back(accesses_.back().get());
    }
    return *free_.back();
  }
  void begin() { free_.pop_back(); }
  void end(MemoryAccess& access) {
    access.sub_warp = nullptr;
    free_.push_back(&access);
  }
  template <class Visit>
  void each(Visit visit) const {
    for (const auto& access : accesses_) {
      if (access->sub_warp != nullptr) {
        visit(*access);
      }
    }
  }
  void reset();

  // ---- away from the stage's head: an access waits for lines (it is put aside), or for late hits or other sub-warps
  void wait_for_lines(MemoryAccess& access);
  void wait_for_hits(const MemoryAccess& access);
  void wait_no_longer_for_hits(const MemoryAccess& access);  // but for lines
  void came(const MemoryAccess& access);                     // the last line that it has waited for
  [[nodiscard]] unsigned put_aside() const { return put_aside_; }
  // A sub-warp waits for memory: with its access, or at a fence.
  void set_waiting(const link::SubWarp& sub_warp);
  void clear_waiting(const link::SubWarp& sub_warp);

  // ---- parting (AccessesAside)
  // The group's access that is put aside; null: there is none.
  [[nodiscard]] MemoryAccess* aside_of(const Group& group) const;
  [[nodiscard]] LaneMask answered(const Group& group) const;
  // Those lanes leave, with the results that the sub-warp has: as one of group `to`'s instruction in flight.
  [[nodiscard]] link::SubWarp& part(MemoryAccess& access, LaneMask lanes, const Group& to);

 private:
  [[nodiscard]] InFlight& flight_of(const MemoryAccess& access) {
    return state_.groups[access.sub_warp->group].flights[access.sub_warp->flight];
  }

  CoreState& state_;
  const bool groups_go_on_;  // while they wait (IssueDiscipline::Traits::stalls_on_use)
  std::vector<std::unique_ptr<MemoryAccess>> accesses_;
  std::vector<MemoryAccess*> free_;
  unsigned put_aside_ = 0;
  unsigned late_ = 0;  // those that take no place
};

}  // namespace heddle::hw
