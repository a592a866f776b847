// The way of constants and kernel parameters through constant caches (section [constant_cache]). Without them the
// memory stage reads the launch's banks itself, which takes no time.
//
//   socket    initiator, LineProtocol: to the sub-core's L0 of constants, or to the core's constant cache
//   make      of a checked access: one request for each distinct address of its lanes ("split into as many separate
//             requests as there are different memory addresses", CUDA C++ Programming Guide, constant memory), in the
//             order of their lowest lanes
//   send      one address per cycle and sub-core, or as many as constant_cache.ports where there is no L0; of addresses
//             in registers one every constant_cache.interval cycles from all sub-cores of the core. Lanes that
//             execute each an instruction of its own (Divergence::Traits::mimd_lanes) share a cycle for one address, as
//             lanes of one instruction do
//   latency   of hits of the L0: constant_cache.l0_latency, 1 at an address that the instruction names
//   counts    constant_accesses, constant_serialised
// Generic loads of the constant window are loads of global memory at the copy of the bank (globalise), as on GPUs,
// whose generic addresses go to the L1.
#pragma once

#include "hw/core/memory/memory_access.hpp"
#include "hw/core/share/shared_rate.hpp"

namespace heddle::hw {

class ConstantPath {
 public:
  ConstantPath(CoreState& state, bool mimd_lanes)
      : socket("constants"),
        state_(state),
        line_mask_(~(std::uint64_t{state.machine.constant_cache.line_bytes} - 1)),
        l0_latency_(state.machine.constant_cache.l0_bytes != 0 ? state.machine.constant_cache.l0_latency : 1),
        per_cycle_(state.machine.constant_cache.l0_bytes != 0 ? 1 : state.machine.constant_cache.ports),
        mimd_lanes_(mimd_lanes) {}
  link::LineInitiatorSocket socket;
  // What the core's sub-cores share for addresses in registers; null: it has a cycle for each.
  SharedRate* indexed = nullptr;

  // Instructions that go by here.
  [[nodiscard]] static bool takes(isa::Op op) {
    const isa::Space space = isa::space_of(op);
    return isa::is_load(op) && (space == isa::Space::constant || space == isa::Space::param);
  }
  // The lanes whose generic addresses are those of constants become lanes of global memory.
  void globalise(MemoryAccess& access) const;
  void make(MemoryAccess& access) const;
  // True: all requests have been sent. False: the core's block_cause says what the next one waits for.
  [[nodiscard]] bool send(MemoryAccess& access);
  // Cycles from the last address's to its value, both counted, where it is in the L0.
  [[nodiscard]] unsigned latency(const MemoryAccess& access) const { return in_register(access) ? l0_latency_ : 1; }
  // A line that was under way is there.
  void came(AccessLine& line);

 private:
  [[nodiscard]] static bool in_register(const MemoryAccess& access) {
    return access.sub_warp->decoded->instruction.a != isa::kRZ;
  }
  [[nodiscard]] std::uint64_t address_of(const MemoryAccess& access, unsigned lane) const;
  void take(MemoryAccess& access, const link::LineRequest& request);

  CoreState& state_;
  const std::uint64_t line_mask_;
  const unsigned l0_latency_;
  const unsigned per_cycle_;
  const bool mimd_lanes_;
  Cycle sent_at_ = link::kNever;  // the latest cycle in which an address was taken
  unsigned sent_now_ = 0;         // in that cycle
  std::uint64_t last_ = 0;        // the latest address taken
};

}  // namespace heddle::hw
