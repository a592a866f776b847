#include "hw/gpu/memory_target.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

namespace heddle::hw {

using ::tlm::tlm_phase;
using ::tlm::tlm_sync_enum;
using Payload = ::tlm::tlm_generic_payload;

MemoryTarget::MemoryTarget(const sc_core::sc_module_name& name, isa::DeviceMemory& memory, unsigned channels)
    : sc_core::sc_module(name), channel("channel", channels), memory_(memory) {
  // By number: iterators of sc_vector compare ambiguously in C++20.
  for (std::size_t i = 0; i < channel.size(); ++i) {
    channel[i].bind(*this);
  }
  memory_.set_forget([this](std::uint64_t address, std::uint64_t bytes) { invalidate_direct_memory(address, bytes); });
}

MemoryTarget::~MemoryTarget() {
  memory_.set_forget(nullptr);
}

void MemoryTarget::invalidate_direct_memory_to(sc_dt::uint64 first, sc_dt::uint64 last) {
  for (std::size_t i = 0; i < channel.size(); ++i) {
    Socket& socket = channel[i];
    if (socket.get_base_port().size() != 0) {
      socket->invalidate_direct_mem_ptr(first, last);
    }
  }
}

void MemoryTarget::b_transport(Payload& payload, sc_core::sc_time& /*delay*/) {
  const std::lock_guard one_at_a_time(calls_);
  const std::uint64_t address = payload.get_address();
  const unsigned length = payload.get_data_length();
  if (payload.get_command() == ::tlm::TLM_IGNORE_COMMAND) {
    payload.set_response_status(::tlm::TLM_OK_RESPONSE);
    return;
  }
  if (!payload.is_read() && !payload.is_write()) {
    payload.set_response_status(::tlm::TLM_COMMAND_ERROR_RESPONSE);
    return;
  }
  if (payload.get_streaming_width() < length) {
    payload.set_response_status(::tlm::TLM_BURST_ERROR_RESPONSE);
    return;
  }
  if (length == 0 || address + (length - 1) < address) {
    payload.set_response_status(::tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return;
  }
  auto* const data = reinterpret_cast<std::byte*>(payload.get_data_ptr());
  const unsigned char* const enable = payload.get_byte_enable_ptr();
  const unsigned repeat = payload.get_byte_enable_length();
  if (enable == nullptr) {
    if (payload.is_read()) {
      memory_.read(address, {data, length});
    } else {
      memory_.write(address, {data, length});
    }
  } else {
    for (unsigned i = 0; i != length; ++i) {
      if (enable[i % repeat] == 0) {
        continue;
      }
      if (payload.is_read()) {
        memory_.read(address + i, {data + i, 1});
      } else {
        memory_.write(address + i, {data + i, 1});
      }
    }
  }
  payload.set_dmi_allowed(true);
  payload.set_response_status(::tlm::TLM_OK_RESPONSE);
}

tlm_sync_enum MemoryTarget::nb_transport_fw(Payload& payload, tlm_phase& phase, sc_core::sc_time& delay) {
  if (phase != ::tlm::BEGIN_REQ) {
    SC_REPORT_ERROR("heddle/memory", "a memory that completes at once expects no phase but BEGIN_REQ");
    return ::tlm::TLM_ACCEPTED;
  }
  b_transport(payload, delay);
  return ::tlm::TLM_COMPLETED;
}

bool MemoryTarget::get_direct_mem_ptr(Payload& payload, ::tlm::tlm_dmi& dmi) {
  const std::lock_guard one_at_a_time(calls_);
  const std::uint64_t page = payload.get_address() / isa::DeviceMemory::kPageBytes * isa::DeviceMemory::kPageBytes;
  // By transport only: what is computed, and what nobody has, which would get storage.
  if (memory_.computed(page, isa::DeviceMemory::kPageBytes) || !memory_.in_use(page)) {
    dmi.set_start_address(page);
    dmi.set_end_address(page + (isa::DeviceMemory::kPageBytes - 1));
    dmi.allow_none();
    return false;
  }
  std::size_t length = 0;
  std::byte* const pointer = memory_.direct(page, length);
  dmi.set_dmi_ptr(reinterpret_cast<unsigned char*>(pointer));
  dmi.set_start_address(page);
  dmi.set_end_address(page + (length - 1));
  dmi.allow_read_write();
  return true;
}

unsigned MemoryTarget::transport_dbg(Payload& payload) {
  const std::lock_guard one_at_a_time(calls_);
  const unsigned length = payload.get_data_length();
  if (length == 0 || payload.get_address() + (length - 1) < payload.get_address()) {
    return 0;
  }
  const auto bytes = std::span(reinterpret_cast<std::byte*>(payload.get_data_ptr()), length);
  if (payload.is_read()) {
    memory_.read(payload.get_address(), bytes);
  } else if (payload.is_write()) {
    memory_.write(payload.get_address(), bytes);
  } else {
    return 0;
  }
  return length;
}

}  // namespace heddle::hw
