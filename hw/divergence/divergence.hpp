// Question 1 of a core: which threads share a PC now, and what happens to them at a branch, a barrier, an exit, a merge
// point? One file per answer, registered by name in Registry<Divergence>.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/registry.hpp"
#include "hw/core/group.hpp"
#include "isa/instruction.hpp"

namespace heddle::hw {

// A group's instruction has completed in all its sub-warps.
struct Outcome {
  const isa::Instruction& instruction;
  std::span<const LaneMask> taken;   // bra: per row, the lanes that take it
  std::span<const LaneMask> exited;  // exit: per row, the lanes that leave
};

class Divergence {
 public:
  struct Setup {
    GroupTable& groups;
    unsigned warp_size;
    unsigned simd_width;
  };
  virtual ~Divergence() = default;

  // Groups that a core with so many threads needs at most.
  [[nodiscard]] virtual unsigned groups(unsigned threads) const = 0;
  // A warp's threads start at PC 0: `group` has its rows, block and active masks set.
  virtual void start(Group& group) = 0;
  // Updates the group's PC and active masks after an instruction. Threads that exited are gone from the masks; a group
  // without threads afterwards is finished (the core frees it). Returns true when a conditional branch diverged.
  virtual bool complete(Group& group, const Outcome& outcome) = 0;
  // What the mechanism holds for a group, for deadlock messages, waves and tests: "2 entries: ...".
  [[nodiscard]] virtual std::string describe(const Group& group) const = 0;
};

}  // namespace heddle::hw
