// Speculates whether a warp or warp-split should part, now that its access to memory has been answered for some threads
// and keeps the others waiting. The DWS report leaves that for future work (sections 5.2 and 8) and says what it takes:
// "how soon a run-ahead warp-split will encounter another cache miss and how soon outgoing requests will complete". It
// pays to part if the threads that run ahead miss again while the others still wait (figure 10 is the other case).
//
// A table per core, by the PC of the access modulo its entries, without tags. An entry has two moving averages, each a
// number of cycles that saturates at its width:
//
//   latency   from the cycle in which an access there is put aside until its last line has come
//   distance  from the end of an access there to the next miss of the same group: the inverse of how often it misses.
//             An access that misses nothing passes on what its own PC says (distance = cycles to it + its distance)
//
// A sample moves an average by a quarter of the difference, and by one cycle at least; the first one sets it. Groups
// are trained whether they part or not. Prediction: to part, if distance x 100 <= threshold x (latency - cycles waited
// so far); with nothing known of the PC, or of an access that is overdue (latency < cycles waited), to part, as
// ReviveSplit would.
//
// Later it is known whether that was right. To part: the threads that ran ahead have missed before the access that
// they left completed. Not to part: the group's next miss came later after the access than the access had still to
// wait. Neither, if the group has joined another one before. Own choices, all of it, as the report gives no design.
#pragma once

#include <cstdint>
#include <vector>

#include "hw/state/core_statistics.hpp"
#include "hw/state/group.hpp"

namespace heddle::hw {

// A number of cycles, learnt from samples.
class MovingCycles {
 public:
  void learn(std::uint64_t sample, std::uint64_t most);
  [[nodiscard]] bool known() const { return known_; }
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0;
  bool known_ = false;
};

class SplitPredictor {
 public:
  struct Setup {
    unsigned entries = 64;     // of the table
    unsigned bits = 10;        // of each average
    unsigned threshold = 100;  // %
    unsigned groups = 0;       // numbers of groups lie below
  };
  // Counts predictions, and which were right and wrong, in `count`.
  SplitPredictor(const Setup& setup, CoreStatistics& count);

  // ---- what groups do
  // An access to memory beyond the core begins.
  void accesses(GroupId group) { groups_[group].accesses = true; }
  // The group waits for lines.
  void misses(GroupId group, std::uint32_t pc, Cycle now);
  // An instruction of the group has completed: if it was such an access, with all its lines.
  void completed(GroupId group, std::uint32_t pc, Cycle now);
  // The group begins anew, or is none any more. `exited`: with its threads, who will miss no more.
  void gone(GroupId group, bool exited);

  // ---- the prediction
  // Whether the group, whose access at `pc` waits, should part. Asked once: a group that should not is declined() until
  // that access has completed.
  [[nodiscard]] bool predict(GroupId group, std::uint32_t pc, Cycle now);
  [[nodiscard]] bool declined(GroupId group) const { return groups_[group].declined; }
  // The group has parted: `ahead` has the threads that have been answered.
  void parted(GroupId group, GroupId ahead);

  // What is known of a PC.
  [[nodiscard]] const MovingCycles& latency(std::uint32_t pc) const { return table_[index(pc)].latency; }
  [[nodiscard]] const MovingCycles& distance(std::uint32_t pc) const { return table_[index(pc)].distance; }

 private:
  struct Entry {
    MovingCycles latency, distance;
  };
  struct Known {
    bool accesses = false;   // an access is under way
    bool waits = false;      // and has been put aside,
    Cycle waits_since = 0;   // in this cycle
    bool declined = false;   // and the group is not to part on its account
    bool after = false;      // it has completed an access before:
    std::uint32_t last = 0;  // that of this entry,
    Cycle since = 0;         // in this cycle
    // For the statistics alone.
    std::uint64_t access = 0;         // the number of its latest access
    unsigned ahead = 0;               // groups that have left it during this access and have not missed yet
    bool left = false;                // it is such a group: of
    GroupId behind = 0;               // this group, during its
    std::uint64_t behind_access = 0;  // access of this number
    Cycle declined_at = 0;
    bool judged_by_next = false;  // it did not part, and the next miss will say whether that was right:
    Cycle judged_since = 0;       // cycles since then
    Cycle judged_wait = 0;        // against the cycles that it has waited
  };
  [[nodiscard]] std::size_t index(std::uint32_t pc) const { return pc % table_.size(); }
  void right(bool was) { ++(was ? count_.predictions_right : count_.predictions_wrong); }

  const std::uint64_t most_;
  const std::uint64_t threshold_;
  CoreStatistics& count_;
  std::vector<Entry> table_;
  std::vector<Known> groups_;
};

}  // namespace heddle::hw
