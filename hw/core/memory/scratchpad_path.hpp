// The way of scratchpad accesses: how long they occupy the banks, and their data.
//
//   socket    initiator, ScratchpadProtocol: timing by b_transport, data by direct memory
//   is told   a checked access; `shared` are its lanes, each at an offset into the part of its thread's block
//   answers   the last cycle in which the banks serve it: bank conflicts take further cycles (hw/scratchpad). Data is
//             read and written at once: loads have their bytes, atomics their old values, in lane order. Lanes that
//             arrive at one barrier object take one turn ("If the invoking warp is fully converged, then the barrier is
//             updated once", CUDA C++ Programming Guide, warp entanglement)
//   together  where lanes execute each an instruction of its own (Divergence::Traits::mimd_lanes), sub-warps beside
//             each other share cycles of the banks, as lanes of one instruction do: the later one's lanes join those
//             that have been served, until the last one has left (row_leaves)
#pragma once

#include "hw/core/memory/memory_access.hpp"
#include "hw/scratchpad/scratchpad.hpp"

namespace heddle::hw {

class ScratchpadPath {
 public:
  ScratchpadPath(const CoreState& state, ScratchpadInitiatorSocket& socket, link::Clock clock, bool mimd_lanes)
      : state_(state), port_(socket, clock), mimd_lanes_(mimd_lanes) {}
  [[nodiscard]] Cycle serve(MemoryAccess& access, Cycle now);
  // What a copy has read comes, and zeros behind it.
  void take(const MemoryAccess& access);
  void row_leaves() { together_ = 0; }

 private:
  [[nodiscard]] std::uint32_t base_of(const BlockHome& block) const;
  void move_data(MemoryAccess& access);
  // The lanes that the banks see.
  [[nodiscard]] static LaneMask turns_of(const MemoryAccess& access);

  const CoreState& state_;
  link::OnChipPort<Scratchpad, ScratchpadProtocol> port_;
  const bool mimd_lanes_;
  ScratchpadAccess request_;  // what the banks are asked for, with the lanes that the access joins
  ScratchpadAccess copied_;   // likewise, of a copy
  LaneMask together_ = 0;     // of the sub-warps beside each other: lanes that have been served
  Cycle since_ = 0;           // the cycle in which the first of them were
};

}  // namespace heddle::hw
