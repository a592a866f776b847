// Gathering: the sub-warps of one instruction that wait for each other, so that lines are asked for once which several
// of them want (Coalescer::Traits::gathers; warp-size study 2).
//
//   is told   each sub-warp that comes to the stage's head, and its access. Loads and plain stores are gathered;
//             atomics and texture fetches keep the requests of their sub-warp
//   answers   with an instruction's last sub-warp: its accesses, until all their lines have been sent; which lines go
//             with a line of an earlier one (AccessLine::with). Of stores that one has the bytes of both, the later
//             sub-warp's on top
//   counts    joined_lines
// A sub-warp that waits for the others takes none of the places of waiting accesses, so that the last one always comes;
// when it has, there must be places for all of them, or no access in any (MemoryStage::send_gathered). Sub-warps whose
// lanes execute different instructions (Divergence::Traits::mimd_lanes) share what the sub-warps of one instruction ask
// for.
#pragma once

#include <vector>

#include "hw/core/memory/memory_access.hpp"

namespace heddle::hw {

class Gathering {
 public:
  Gathering(CoreState& state, bool mimd_lanes) : state_(state), mimd_lanes_(mimd_lanes) {}

  // Counts the sub-warp at the stage's head, once, until it leaves.
  void arrive(const link::SubWarp& sub_warp);
  void head_leaves() { arrived_ = false; }
  // The access of the sub-warp at the stage's head begins.
  void add(MemoryAccess& access);
  // The last sub-warp of an instruction is at the stage's head, and earlier ones have waited for it.
  [[nodiscard]] bool complete() const { return !whole_.accesses.empty(); }
  [[nodiscard]] const std::vector<MemoryAccess*>& accesses() const { return whole_.accesses; }
  [[nodiscard]] bool joined() const { return whole_.joined; }
  void join();
  void all_sent() { whole_ = {}; }
  // Accesses that wait for other sub-warps, or for the lines of all of them to be sent.
  [[nodiscard]] unsigned waiting() const;
  void reset();

 private:
  struct Instruction {
    GroupId group = 0;
    unsigned flight = 0;
    unsigned arrived = 0;  // sub-warps of the instruction, also those that access nothing
    bool joined = false;   // which lines go with which is known
    std::vector<MemoryAccess*> accesses;
  };
  [[nodiscard]] std::vector<Instruction>::iterator find(const link::SubWarp& sub_warp);
  [[nodiscard]] AccessLine* lead_of(const AccessLine& line);
  void go_with(AccessLine& lead, AccessLine& line) const;

  CoreState& state_;
  const bool mimd_lanes_;
  std::vector<Instruction> parts_;  // instructions whose last sub-warp has not arrived
  Instruction whole_;               // that whose last one is at the stage's head; accesses: empty: none
  bool arrived_ = false;            // the sub-warp at the stage's head has been counted
  bool alone_ = true;               // it is its instruction's only one
};

}  // namespace heddle::hw
