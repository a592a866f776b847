// The re-convergence stack of one warp, after thesis section 2.1.3.3 and figure 2.2: on a divergent branch a join entry
// (execute PC and re-convergence PC at the merge point, the mask of the whole) and a divergent entry (the path that
// waits) are pushed; when the next PC equals the re-convergence PC on top, the entry is popped and becomes the warp's
// PC and mask.
//
// Choices that the thesis leaves open: the fall-through path goes first, the taken path waits. Paths that never merge
// (kNoReconvergence) have no join entry and run until their threads exit. Threads that exit leave every mask; an entry
// whose mask becomes empty is dropped.
#pragma once

#include <cstdint>
#include <vector>

#include "isa/instruction.hpp"

namespace heddle::isa::reference {

class Stack {
 public:
  struct Entry {
    std::uint32_t reconvergence = kNoReconvergence;
    std::uint32_t pc = 0;
    LaneMask mask = 0;
    friend bool operator==(const Entry&, const Entry&) = default;
  };

  void start(LaneMask threads);
  [[nodiscard]] std::uint32_t pc() const { return pc_; }
  [[nodiscard]] LaneMask active() const { return active_; }  // 0: every thread has exited
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }

  void advance() { go_to(pc_ + 1); }
  // The lanes `taken`, a subset of the active ones, branch to the target; the others fall through.
  void branch(LaneMask taken, std::uint32_t target, std::uint32_t reconvergence);
  // These active lanes end; the others go on to the next PC.
  void exit(LaneMask lanes);

 private:
  void go_to(std::uint32_t next);
  void pop();

  std::uint32_t pc_ = 0;
  LaneMask active_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace heddle::isa::reference
