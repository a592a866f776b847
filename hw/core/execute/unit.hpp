// A functional unit beside the lanes' own execute stages, as a row of the stage's table (execute.cpp): which operations
// it takes, for how long, how often, and how many may wait before it. Plain C++.
//
//   takes      operations, by their instruction
//   latency    cycles from the one in which an operation begins to the one in which it can leave, both counted
//   interval   cycles between two that begin; 0: several lanes' operations may begin in one cycle, apart. An operation
//              that takes the unit for longer (DecodedInstruction::occupies) is in it for so much longer too
//   room       operations in the unit at once. When its results find no way out, it takes no more
//   queue      operations that find the unit busy and wait before it, in order of arrival; instructions of other warps
//              pass them. Where there is no place left, an operation holds the stage
//   joins      sub-warps beside each other pass it as one operation
//   forwards   what its results are is known when they leave it, as the lanes' own stages' are
//   waits      the group of an operation is in GroupState::complex until the result of its last sub-warp has left
#pragma once

#include <algorithm>
#include <boost/circular_buffer.hpp>
#include <cstdint>

#include "tlm/cycle.hpp"
#include "tlm/sub_warp.hpp"

namespace heddle::hw {

struct UnitTraits {
  bool (*takes)(const link::DecodedInstruction& decoded) = nullptr;
  unsigned latency = 1;
  unsigned interval = 1;
  unsigned room = 1;
  unsigned queue = 0;
  bool joins = false;
  bool waits = false;
  bool forwards = false;
};

// What is counted of its queue; null: nothing.
struct UnitCounters {
  std::uint64_t* queued = nullptr;       // operations that waited in it
  std::uint64_t* queue_full = nullptr;   // that found no place, once each
  std::uint64_t* wait_cycles = nullptr;  // of all in it
};

class Unit {
 public:
  struct Waiting {
    link::SubWarp* sub_warp;
    link::Cycle since;
  };

  Unit(const UnitTraits& unit_traits, const UnitCounters& unit_counters)
      : traits(unit_traits), counters(unit_counters), queue_(unit_traits.queue) {}
  const UnitTraits traits;
  const UnitCounters counters;

  // An operation can begin in this cycle.
  [[nodiscard]] bool free(link::Cycle now) const { return now >= free_at_ && within_ < traits.room; }
  // It is full, and stays so until a result has left.
  [[nodiscard]] bool blocked(link::Cycle now) const { return now >= free_at_ && within_ == traits.room; }
  // An operation can come, to the unit or its queue.
  [[nodiscard]] bool has_room(link::Cycle now) const { return !queue_.full() || (queue_.empty() && free(now)); }
  // An operation that has room comes. Returns the last cycle in which it is in the unit; kNever: it waits.
  [[nodiscard]] link::Cycle comes(link::SubWarp& sub_warp, link::Cycle now) {
    found_full_ = nullptr;
    if (queue_.empty() && free(now)) {
      return begins(sub_warp, now);
    }
    queue_.push_back({&sub_warp, now});
    if (counters.queued != nullptr) {
      ++*counters.queued;
    }
    return link::kNever;
  }
  // An operation finds no room, in one of possibly several cycles.
  void found_full(const link::SubWarp& sub_warp) {
    if (counters.queue_full != nullptr && found_full_ != &sub_warp) {
      found_full_ = &sub_warp;
      ++*counters.queue_full;
    }
  }
  // The head of the queue begins, when the unit takes it: null: none does. `last`: as comes().
  [[nodiscard]] link::SubWarp* next(link::Cycle now, link::Cycle& last) {
    if (queue_.empty() || !free(now)) {
      return nullptr;
    }
    const Waiting head = queue_.front();
    queue_.pop_front();
    if (counters.wait_cycles != nullptr) {
      *counters.wait_cycles += now - head.since;
    }
    last = begins(*head.sub_warp, now);
    return head.sub_warp;
  }
  void leaves() { --within_; }
  [[nodiscard]] const boost::circular_buffer<Waiting>& waiting() const { return queue_; }
  void reset() {
    queue_.clear();
    within_ = 0;
    free_at_ = 0;
    found_full_ = nullptr;
  }

 private:
  [[nodiscard]] link::Cycle begins(const link::SubWarp& sub_warp, link::Cycle now) {
    const unsigned occupies = sub_warp.decoded->occupies;
    ++within_;
    free_at_ = now + std::max(traits.interval, occupies);
    return now + traits.latency + occupies - 1;
  }

  boost::circular_buffer<Waiting> queue_;
  unsigned within_ = 0;
  link::Cycle free_at_ = 0;                    // it takes another operation from this cycle on
  const link::SubWarp* found_full_ = nullptr;  // counted
};

}  // namespace heddle::hw
