// The way of accesses to local memory that is on the chip (private.bytes): how long they occupy the banks, and their
// data.
//
//   socket    initiator, PrivateProtocol: timing by b_transport, data by direct memory
//   answers   the last cycle in which the banks serve an access. Data is read and written at once
//   together  sub-warps beside each other (Divergence::Traits::mimd_lanes) share cycles of the banks, as in
//             scratchpad_path.hpp
#pragma once

#include "hw/core/memory/memory_access.hpp"
#include "hw/private_memory/private_memory.hpp"

namespace heddle::hw {

class PrivatePath {
 public:
  PrivatePath(const CoreState& state, link::Clock clock, bool mimd_lanes);
  PrivateInitiatorSocket socket;
  // The lanes of an access to local memory whose bytes are on the chip.
  [[nodiscard]] LaneMask holds(const MemoryAccess& access) const;
  // Serves access.on_chip, which the address check has passed.
  [[nodiscard]] Cycle serve(MemoryAccess& access, Cycle now);
  void row_leaves() { together_ = 0; }

 private:
  void move_data(MemoryAccess& access);

  const CoreState& state_;
  link::OnChipPort<PrivateMemory, PrivateProtocol> port_;
  const bool mimd_lanes_;
  const std::uint32_t bytes_;  // of each thread
  PrivateAccess request_;      // what the banks are asked for, with the lanes that the access joins
  LaneMask together_ = 0;      // of the sub-warps beside each other: lanes that have been served
  Cycle since_ = 0;            // the cycle in which the first of them were
};

}  // namespace heddle::hw
