// What a core has for warps and warp-splits beside their threads (DWS report 5.6), and which group has it: entries of
// the warp-split table and slots of the scheduler. A group has at most one of each. Groups that must wait for one
// stand in a queue: first come, first served.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "hw/divergence/divergence.hpp"
#include "hw/divergence/owned_places.hpp"

namespace heddle::hw {

class SplitPlaces {
 public:
  // Numbers of groups lie below `groups`.
  SplitPlaces(unsigned entries, unsigned slots, unsigned groups)
      : entries_(entries), slots_(slots), all_entries_(entries), of_(groups) {}

  [[nodiscard]] bool has_entry(GroupId group) const { return of_[group].has_entry; }
  [[nodiscard]] bool has_slot(GroupId group) const { return of_[group].has_slot; }
  // Whether `more` entries are free.
  [[nodiscard]] bool entries_left(unsigned more) const { return entries_.used() + more <= all_entries_; }
  [[nodiscard]] bool slots_full() const { return slots_.full(); }

  // There is a free one, and the group has none.
  void take_entry(GroupId group) {
    of_[group].has_entry = true;
    of_[group].entry = static_cast<std::uint16_t>(entries_.take(group));
  }
  void take_slot(GroupId group) {
    of_[group].has_slot = true;
    of_[group].slot = static_cast<std::uint16_t>(slots_.take(group));
  }
  // Takes what the group has not and there is of: with `entry` an entry, and then a slot, but none while it lacks that
  // entry. True: it has all.
  [[nodiscard]] bool equip(GroupId group, bool entry) {
    if (entry && !has_entry(group) && entries_left(1)) {
      take_entry(group);
    }
    const bool enough = !entry || has_entry(group);
    if (enough && !has_slot(group) && !slots_full()) {
      take_slot(group);
    }
    return enough && has_slot(group);
  }
  // Threads leave a group, whose instruction is in flight, as a new one: both have entries, of which so many are left.
  // When only one slot is left, the threads that go on have it.
  void part(GroupId group, GroupId ahead) {
    if (!has_entry(group)) {
      take_entry(group);
    }
    take_entry(ahead);
    if (slots_full()) {
      drop_slot(group);
    }
    if (!slots_full()) {
      take_slot(ahead);
    }
  }
  void drop_entry(GroupId group) {
    if (of_[group].has_entry) {
      entries_.give_back(of_[group].entry);
      of_[group].has_entry = false;
      freed_ = true;
    }
  }
  void drop_slot(GroupId group) {
    if (of_[group].has_slot) {
      slots_.give_back(of_[group].slot);
      of_[group].has_slot = false;
      freed_ = true;
    }
  }

  // ---- the queue
  void queue(GroupId group) { queue_.push_back(group); }
  void leave_queue(GroupId group) { std::erase(queue_, group); }
  [[nodiscard]] std::span<const GroupId> waiting() const { return queue_; }
  // A group in the queue may need less than before.
  void look_again() { freed_ = true; }
  // If anything has been freed since the last call: groups for which serve(group) is true leave, in the order in which
  // they came.
  template <class Serve>
  void serve(Serve serve) {
    if (freed_) {
      freed_ = false;
      std::erase_if(queue_, serve);
    }
  }

  [[nodiscard]] Divergence::SplitTableView view() const { return {entries_.owners(), slots_.owners()}; }
  // Where what the groups have and what the table and the scheduler say differ; empty: nowhere.
  [[nodiscard]] std::string inconsistency() const;

 private:
  struct Held {
    bool has_entry = false;
    bool has_slot = false;
    std::uint16_t entry = 0;  // its number
    std::uint16_t slot = 0;
  };
  OwnedPlaces entries_;
  OwnedPlaces slots_;
  unsigned all_entries_;
  bool freed_ = false;
  std::vector<Held> of_;        // by group
  std::vector<GroupId> queue_;  // first come first
};

}  // namespace heddle::hw
