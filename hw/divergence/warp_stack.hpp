// The re-convergence stack of a warp of one or several register rows (LWM report 2.3 and figure 3; thesis 2.1.3.3 and
// figure 2.2), for mechanisms whose groups are warps, or parts of large ones: a divergent branch pushes a join entry
// (re-convergence PC and execute PC: the merge point; mask: the present one) and a divergent entry (the path that
// waits); an instruction whose next PC is the top entry's re-convergence PC pops it. Plain C++.
//
// The fall-through path runs first (the papers leave the choice open), as in the reference interpreter. A branch to a
// path that begins at the re-convergence point itself has nothing to run there: its entry would be popped at once, so
// only the join entry is pushed. Where the paths never meet before the threads' exit, the re-convergence PC is
// kNoReconvergence: entries pop when the running path has no threads left.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hw/divergence/divergence.hpp"

namespace heddle::hw {

// Of masks of rows.
[[nodiscard]] bool no_lanes(std::span<const LaneMask> masks);
// Takes lanes out of masks, row by row.
void take_out(std::vector<LaneMask>& masks, std::span<const LaneMask> lanes);

// Whether a branch parts the threads of a group. If not, the group goes where they all go.
[[nodiscard]] bool parts_at(Group& group, const Outcome& branch);

class WarpStack {
 public:
  struct Entry {
    std::uint32_t reconvergence_pc;
    std::uint32_t execute_pc;
    std::vector<LaneMask> active;
  };
  [[nodiscard]] bool empty() const { return depth_ == 0; }
  [[nodiscard]] std::span<const Entry> entries() const { return {entries_.data(), depth_}; }  // bottom first
  [[nodiscard]] std::uint32_t reconvergence_pc() const {
    return empty() ? isa::kNoReconvergence : entries_[depth_ - 1].reconvergence_pc;
  }

  void clear() { depth_ = 0; }
  // Whether the path of those that take the branch at the group's PC runs first: the other one begins where both meet.
  [[nodiscard]] static bool taken_first(const Group& group, const isa::Instruction& branch) {
    return group.pc + 1 == branch.reconvergence;
  }
  // A branch has parted the group's threads: one path of it goes on, with the undecided lanes, the other one waits
  // here.
  void diverge(Group& group, const Outcome& branch);
  // Lanes of a row wait with the path on top.
  void joins_top(unsigned row, LaneMask lanes) { entries_[depth_ - 1].active[row] |= lanes; }
  // Threads of the warp leave for ever.
  void exited(std::span<const LaneMask> lanes);
  // The group has come to its PC; `exited`: threads of it have exited, so that perhaps none is left.
  void pop_reached(Group& group, bool exited);

  // Why an entry does not fit the threads that run; empty: all do.
  [[nodiscard]] std::string inconsistency(const Group& running) const;
  [[nodiscard]] Divergence::StackView view() const;
  [[nodiscard]] std::string describe() const;

 private:
  Entry& push();

  // Entries above `depth_` keep their storage, so that pushing allocates nothing once a depth has been reached.
  std::vector<Entry> entries_;
  std::size_t depth_ = 0;
};

}  // namespace heddle::hw
