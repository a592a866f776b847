// A platform around the GPU in a test: a memory that knows nothing of Heddle, and a host process that launches a kernel
// through registers and waits for the interrupt.
#pragma once

#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstring>
#include <memory>
#include <vector>

#include "hw/gpu/gpu.hpp"
#include "isa/launch_image.hpp"
#include "isa/memory_map.hpp"
#include "tests/isa/kernel_builder.hpp"
#include "tlm/bind.hpp"
#include "tlm/protocol_checker.hpp"

namespace heddle::test::platform {

using isa::Op;
using isa::test::Code;

inline constexpr std::uint64_t kMemoryBytes = 1 << 20;  // addresses from 0
inline constexpr std::uint64_t kCode = 0x1000;
inline constexpr std::uint64_t kInput = 0x20000;
inline constexpr std::uint64_t kOutput = 0x40000;
inline constexpr unsigned kThreads = 128;
inline constexpr unsigned kBlocks = 4;

// Blocking transport only: no direct memory, no non-blocking calls, no extensions.
template <unsigned kWidth>
class PlainMemoryOf : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<PlainMemoryOf, kWidth> socket{"socket"};
  std::vector<unsigned char> bytes = std::vector<unsigned char>(kMemoryBytes);
  std::uint64_t refused_from = kMemoryBytes;  // addresses that the bus has no memory at
  bool silent = false;                        // never answers again
  unsigned reads = 0, writes = 0;

  explicit PlainMemoryOf(const sc_core::sc_module_name& name) : sc_core::sc_module(name) {
    socket.register_b_transport(this, &PlainMemoryOf::transport);
  }
  // The silent one answers after all.
  void wake_up() {
    silent = false;
    woken_.notify(sc_core::SC_ZERO_TIME);
  }

 private:
  void transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    if (silent) {
      wait(woken_);
    }
    const std::uint64_t address = payload.get_address();
    const unsigned length = payload.get_data_length();
    if (address + length > refused_from) {
      payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
      return;
    }
    const unsigned char* const enable = payload.get_byte_enable_ptr();
    for (unsigned i = 0; i < length; ++i) {
      if (enable != nullptr && enable[i % payload.get_byte_enable_length()] == 0) {
        continue;
      }
      if (payload.is_write()) {
        bytes[address + i] = payload.get_data_ptr()[i];
      } else {
        payload.get_data_ptr()[i] = bytes[address + i];
      }
    }
    ++(payload.is_write() ? writes : reads);
    delay += sc_core::sc_time(3, sc_core::SC_NS);
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }
  sc_core::sc_event woken_;
};

template <unsigned kWidth>
class HostOf : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(HostOf);
  tlm_utils::simple_initiator_socket<HostOf, kWidth> socket{"socket"};
  sc_core::sc_in<bool> interrupt{"interrupt"};
  std::uint64_t output = kOutput;
  unsigned launches = 1;

  std::uint64_t status = 0, fault_kind = 0, fault_address = 0, fault_block = 0, fault_thread = 0, cycles = 0;
  unsigned interrupts = 0;
  bool refused_while_running = false;

  explicit HostOf(const sc_core::sc_module_name& name) : sc_core::sc_module(name) { SC_THREAD(run); }

  tlm::tlm_response_status access(std::uint64_t address, void* data, unsigned length, bool write) {
    tlm::tlm_generic_payload payload;
    payload.set_command(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
    payload.set_address(address);
    payload.set_data_ptr(static_cast<unsigned char*>(data));
    payload.set_data_length(length);
    payload.set_streaming_width(length);
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    socket->b_transport(payload, delay);
    return payload.get_response_status();
  }

 private:
  using Offset = hw::RegisterOffset;
  tlm::tlm_response_status write(Offset offset, std::uint64_t value) {
    return access(static_cast<std::uint64_t>(offset), &value, sizeof value, true);
  }
  std::uint64_t read(Offset offset) {
    std::uint64_t value = 0;
    EXPECT_EQ(access(static_cast<std::uint64_t>(offset), &value, sizeof value, false), tlm::TLM_OK_RESPONSE);
    return value;
  }

  void run() {
    wait(100, sc_core::SC_NS);
    const std::uint32_t parameters[] = {static_cast<std::uint32_t>(kInput), static_cast<std::uint32_t>(output)};
    const std::pair<Offset, std::uint64_t> registers[] = {
        {Offset::code_address, kCode}, {Offset::code_words, code_words},
        {Offset::grid_x, kBlocks},     {Offset::grid_y, 1},
        {Offset::grid_z, 1},           {Offset::block_x, kThreads},
        {Offset::block_y, 1},          {Offset::block_z, 1},
        {Offset::registers, 8},        {Offset::shared_bytes, 0},
        {Offset::parameter_bytes, 8}};
    for (const auto& [offset, value] : registers) {
      EXPECT_EQ(write(offset, value), tlm::TLM_OK_RESPONSE);
    }
    std::uint32_t window[2] = {parameters[0], parameters[1]};
    EXPECT_EQ(access(hw::kParameterWindow, window, sizeof window, true), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(write(Offset::warp_size, 48), tlm::TLM_OK_RESPONSE);
    EXPECT_NE(write(Offset::control, 1), tlm::TLM_OK_RESPONSE) << "no multiple of the SIMD width";
    EXPECT_EQ(write(Offset::warp_size, 0), tlm::TLM_OK_RESPONSE);
    for (unsigned i = 0; i < launches; ++i) {
      EXPECT_EQ(write(Offset::control, 1), tlm::TLM_OK_RESPONSE);
      EXPECT_EQ(read(Offset::status), 1U);
      refused_while_running = write(Offset::control, 1) != tlm::TLM_OK_RESPONSE;
      wait(interrupt.posedge_event());
      ++interrupts;
      status = read(Offset::status);
      fault_kind = read(Offset::fault_kind);
      fault_address = read(Offset::fault_address);
      fault_block = read(Offset::fault_block);
      fault_thread = read(Offset::fault_thread);
      cycles = read(Offset::cycles);
    }
  }

 public:
  std::uint64_t code_words = 0;
};

// output[i] = 3 * input[i] + i, 32-bit words.
inline Code kernel() {
  Code code;
  code.s2r(0, isa::Special::ctaid_x);
  code.rri(Op::MUL_LO, 0, 0, kThreads);
  code.s2r(1, isa::Special::tid_x);
  code.rrr(Op::ADD, 0, 0, 1);
  code.rri(Op::SHL, 1, 0, 2);
  code.param(2, 0);
  code.rrr(Op::ADD, 2, 2, 1);
  code.load(Op::LD_GLOBAL, 3, 2);
  code.rri(Op::MUL_LO, 3, 3, 3);
  code.rrr(Op::ADD, 3, 3, 0);
  code.param(2, 4);
  code.rrr(Op::ADD, 2, 2, 1);
  code.store(Op::ST_GLOBAL, 2, 3);
  code.exit();
  return code;
}

inline hw::Machine with_kernels(hw::Machine machine, unsigned kernels) {
  machine.gpu.kernels = kernels;
  return machine;
}

// kWidth: BUSWIDTH of the sockets of memory and host. kernels: gpu.kernels.
template <unsigned kWidth>
struct PlatformOf {
  explicit PlatformOf(bool checked = false, const hw::Machine& machine = {}, unsigned kernels = 1)
      : gpu("gpu", with_kernels(machine, kernels)) {
    if constexpr (kWidth == 32) {
      host.socket.bind(gpu.control);
    } else {
      link::bind_any_width(host.socket, gpu.control);
    }
    host.interrupt(interrupt);
    gpu.interrupt(interrupt);
    if (checked) {
      checker = std::make_unique<link::ProtocolChecker>("checker");
      gpu.memory[0].bind(checker->target);
      bind(checker->initiator);
    } else {
      bind(gpu.memory[0]);
    }
    const isa::Module module = kernel().module(8);
    const std::vector<std::uint64_t> image = isa::code_image(module.kernels.front().words, 8);
    std::memcpy(&memory.bytes[kCode], image.data(), 8 * image.size());
    host.code_words = image.size();
    for (std::uint32_t i = 0; i < kThreads * kBlocks; ++i) {
      const std::uint32_t value = i * i + 7;
      std::memcpy(&memory.bytes[kInput + 4 * i], &value, 4);
    }
  }
  void bind(tlm::tlm_initiator_socket<>& initiator) {
    if constexpr (kWidth == 32) {
      initiator.bind(memory.socket);
    } else {
      link::bind_any_width(initiator, memory.socket);
    }
  }
  void expect_results() const {
    for (std::uint32_t i = 0; i < kThreads * kBlocks; ++i) {
      std::uint32_t value = 0;
      std::memcpy(&value, &memory.bytes[kOutput + 4 * i], 4);
      ASSERT_EQ(value, 3 * (i * i + 7) + i) << i;
    }
  }

  PlainMemoryOf<kWidth> memory{"memory"};
  hw::Gpu gpu;
  HostOf<kWidth> host{"host"};
  sc_core::sc_signal<bool> interrupt{"interrupt"};
  std::unique_ptr<link::ProtocolChecker> checker;
};
using Platform = PlatformOf<32>;
using Host = HostOf<32>;

}  // namespace heddle::test::platform
