// Device memory as a TLM-2.0 memory: what the GPU's outward channel sockets are bound to when no other platform
// provides a memory. Untimed: the DRAM controller in front of it does the timing. Knows nothing of MemoryExtension.
//
//   MemoryTarget(name, device_memory, channels)
//   channel[c]  tlm_target_socket<32>, base protocol: non-blocking (completes at once), blocking, debug, and direct
//               memory, granted page by page (isa::DeviceMemory::kPageBytes) because storage is made on touch
//
// Several host threads may call it at once by different channels (Gpu::share_among): they take turns. Bytes that are
// accessed by direct memory are the callers' business; two channels never have the same ones.
//
// Errors: TLM_COMMAND_ERROR_RESPONSE for a command that is neither read nor write nor ignore, TLM_BURST_ERROR_RESPONSE
// for a streaming width below the length, TLM_ADDRESS_ERROR_RESPONSE for a range that wraps around.
#pragma once

#include <memory>
#include <mutex>
#include <systemc>
#include <tlm>
#include <vector>

#include "isa/device_memory.hpp"

namespace heddle::hw {

class MemoryTarget final : public sc_core::sc_module, private ::tlm::tlm_fw_transport_if<> {
 public:
  using Socket = ::tlm::tlm_target_socket<32, ::tlm::tlm_base_protocol_types, 1, sc_core::SC_ZERO_OR_MORE_BOUND>;

  // The memory outlives it, and tells it which pages are there no longer: pointers to such pages are taken back.
  MemoryTarget(const sc_core::sc_module_name& name, isa::DeviceMemory& memory, unsigned channels);
  ~MemoryTarget() override;

  sc_core::sc_vector<Socket> channel;

  // Takes direct memory pointers back: all of them, or pointers to some bytes.
  void invalidate_direct_memory() { invalidate_direct_memory_to(0, ~sc_dt::uint64{0}); }
  void invalidate_direct_memory(std::uint64_t address, std::uint64_t bytes) {
    invalidate_direct_memory_to(address, address + (bytes - 1));
  }

 private:
  void invalidate_direct_memory_to(sc_dt::uint64 first, sc_dt::uint64 last);
  ::tlm::tlm_sync_enum nb_transport_fw(::tlm::tlm_generic_payload& payload, ::tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
  void b_transport(::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override;
  bool get_direct_mem_ptr(::tlm::tlm_generic_payload& payload, ::tlm::tlm_dmi& dmi) override;
  unsigned transport_dbg(::tlm::tlm_generic_payload& payload) override;

  isa::DeviceMemory& memory_;
  std::mutex calls_;  // makes pages, and remembers the latest
};

}  // namespace heddle::hw
