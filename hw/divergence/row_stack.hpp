// The re-convergence stack of a warp of one register row, for mechanisms in which groups are not warps: as in
// hw/divergence/warp_stack.hpp, whose groups keep theirs by rows. Plain C++.
#pragma once

#include <optional>
#include <vector>

#include "hw/divergence/divergence.hpp"

namespace heddle::hw {

class RowStack {
 public:
  struct Entry {
    std::uint32_t reconvergence_pc;
    std::uint32_t execute_pc;
    LaneMask active;
  };
  // Threads of the warp that run, and where they stand.
  struct Path {
    LaneMask lanes;
    std::uint32_t pc;
  };

  [[nodiscard]] bool empty() const { return entries_.empty(); }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  // The threads that run wait for others at this PC.
  [[nodiscard]] bool ends_at(std::uint32_t pc) const { return !empty() && entries_.back().reconvergence_pc == pc; }
  // The execute PC of an entry that has some of the threads of `running`, neither all nor none; nullopt: no such entry.
  [[nodiscard]] std::optional<std::uint32_t> tears(LaneMask running) const;
  [[nodiscard]] Divergence::StackView view() const;

  void clear() { entries_.clear(); }
  void exit(LaneMask exited) {
    for (Entry& entry : entries_) {
      entry.active &= ~exited;
    }
  }
  // The running threads part at a branch at `pc`: `taken` are the threads that take it, some but not all. The path that
  // runs.
  [[nodiscard]] Path branch(std::uint32_t pc, const isa::Instruction& branch, LaneMask running, LaneMask taken);
  // The path that ran has ended, at its re-convergence point or with its threads: the one that runs now. Without
  // threads when there is none.
  [[nodiscard]] Path pop(Path ended);

 private:
  std::vector<Entry> entries_;  // bottom first
};

}  // namespace heddle::hw
