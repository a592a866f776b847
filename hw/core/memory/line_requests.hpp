// What an access asks the L1 for, and what it makes of the answers.
//
//   make      of a checked access with the addresses of its lanes: one request for each distinct line, as the coalescer
//             orders them (hw/coalesce), with the bytes of stores and their enables, or the operands of atomics in lane
//             order; which banks the line's lanes want (l1d.bank_bytes), and whether its stores wait (core.stores)
//   take      of a line that has come, to each lane that it serves: bytes, texels, the old value of an atomic. A line
//             that comes with an error is a bus error of its lowest lane
//   counts    line_requests
// Requests grow to the largest access that there has been, and are used again: usually nothing is allocated.
#pragma once

#include <memory>

#include "hw/core/memory/memory_access.hpp"

namespace heddle::hw {

class LineRequests {
 public:
  // `mimd_lanes`: lanes execute each an instruction of its own (Divergence::Traits).
  LineRequests(CoreState& state, std::unique_ptr<Coalescer> coalescer, bool mimd_lanes)
      : state_(state),
        coalescer_(std::move(coalescer)),
        mimd_lanes_(mimd_lanes),
        stores_wait_(state.core.stores == "waited"),
        by_bytes_(state.machine.l1d.banks != 0 && state.machine.l1d.bank_bytes != 0),
        sectors_(state.machine.l1d.sector_bytes != 0) {}
  void make(MemoryAccess& access);
  void take(MemoryAccess& access, const link::LineRequest& request);

 private:
  template <class Visit>
  void each_piece(const MemoryAccess& access, const AccessLine& line, Visit visit) const;
  [[nodiscard]] std::uint64_t banks_of(const MemoryAccess& access, const AccessLine& line) const;
  [[nodiscard]] std::uint8_t parts_of(const MemoryAccess& access, const AccessLine& line) const;
  void fill_store(const MemoryAccess& access, AccessLine& line) const;
  void fill_atomic(const MemoryAccess& access, AccessLine& line) const;
  [[nodiscard]] std::uint64_t line_bytes() const { return state_.machine.l1d.line_bytes; }

  CoreState& state_;
  const std::unique_ptr<Coalescer> coalescer_;
  const bool mimd_lanes_;
  const bool stores_wait_;  // core.stores
  const bool by_bytes_;     // l1d.bank_bytes
  const bool sectors_;
};

}  // namespace heddle::hw
