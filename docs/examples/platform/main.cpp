// A little virtual platform around Heddle's GPU module: a memory and a host of our own, both plain TLM-2.0.
#include <cstdint>
#include <systemc>
#include <vector>

#include <tlm_utils/simple_target_socket.h>
#include <tlm>

#include "host.hpp"
#include "hw/gpu/gpu.hpp"

namespace {

// Memory with blocking transport: all that the GPU needs. Byte enables are as in the standard.
class Memory : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<Memory> gpu{"gpu"};
  tlm_utils::simple_target_socket<Memory> host{"host"};

  explicit Memory(const sc_core::sc_module_name& name) : sc_core::sc_module(name) {
    gpu.register_b_transport(this, &Memory::transport);
    host.register_b_transport(this, &Memory::transport);
  }

 private:
  void transport(tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
    const std::uint64_t address = payload.get_address();
    const unsigned length = payload.get_data_length();
    if (address >= kMemoryBytes || length > kMemoryBytes - address) {
      payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
      return;
    }
    unsigned char* const data = payload.get_data_ptr();
    const unsigned char* const enable = payload.get_byte_enable_ptr();
    for (unsigned i = 0; i < length; ++i) {
      if (enable != nullptr && enable[i % payload.get_byte_enable_length()] != TLM_BYTE_ENABLED) {
        continue;
      }
      if (payload.is_write()) {
        bytes_[address + i] = data[i];
      } else {
        data[i] = bytes_[address + i];
      }
    }
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }

  std::vector<unsigned char> bytes_ = std::vector<unsigned char>(kMemoryBytes);
};

}  // namespace

int sc_main(int, char**) {
  heddle::hw::Machine machine;  // the baseline; change what you like before the GPU is made
  heddle::hw::Gpu gpu("gpu", machine);
  Memory memory("memory");
  Host host("host");
  sc_core::sc_signal<bool> interrupt("interrupt");
  gpu.memory[0].bind(memory.gpu);
  host.memory.bind(memory.host);
  host.registers.bind(gpu.control);
  gpu.interrupt(interrupt);
  host.interrupt(interrupt);
  sc_core::sc_start();
  return host.passed ? 0 : 1;
}
