// The memory behind the GPU's sockets as its perfect caches see it (gpu.perfect_memory): by debug transport, which
// takes no time, each line through the socket of its channel.
#pragma once

#include <systemc>
#include <tlm>

#include "hw/cache/perfect_memory.hpp"
#include "hw/map/address_map.hpp"
#include "hw/parameters/machine.hpp"

namespace heddle::hw {

class MemoryBehind final : public PerfectMemory {
 public:
  using Sockets = sc_core::sc_vector<::tlm::tlm_initiator_socket<>>;
  // `sockets`: one per channel; they outlive this.
  MemoryBehind(const Machine& machine, Sockets& sockets)
      : map_(machine.dram, memory_line_bytes(machine)), sockets_(sockets) {}

  [[nodiscard]] bool read(std::uint64_t address, std::byte* to, unsigned bytes) override;
  [[nodiscard]] bool write(std::uint64_t address, const std::byte* from, const std::uint8_t* enable,
                           unsigned bytes) override;

 private:
  [[nodiscard]] bool transfer(::tlm::tlm_command command, std::uint64_t address, std::byte* data, unsigned bytes);

  const AddressMap map_;
  Sockets& sockets_;
};

}  // namespace heddle::hw
