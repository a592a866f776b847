// The GPU as a component of somebody else's platform: memory is a plain target that knows nothing of Heddle, and a host
// process launches a kernel through registers and waits for the interrupt.
#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstring>
#include <memory>
#include <vector>

#include "hw/gpu/gpu.hpp"
#include "isa/memory_map.hpp"
#include "tests/isa/kernel_builder.hpp"
#include "tlm/protocol_checker.hpp"

namespace heddle {
namespace {

using isa::Op;
using isa::test::Code;

constexpr std::uint64_t kMemoryBytes = 1 << 20;  // addresses from 0
constexpr std::uint64_t kCode = 0x1000;
constexpr std::uint64_t kInput = 0x20000;
constexpr std::uint64_t kOutput = 0x40000;
constexpr unsigned kThreads = 128;
constexpr unsigned kBlocks = 4;

// Blocking transport only: no direct memory, no non-blocking calls, no extensions.
class PlainMemory : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<PlainMemory> socket{"socket"};
  std::vector<unsigned char> bytes = std::vector<unsigned char>(kMemoryBytes);
  std::uint64_t refused_from = kMemoryBytes;  // addresses that the bus has no memory at
  bool silent = false;                        // never answers again
  unsigned reads = 0, writes = 0;

  explicit PlainMemory(const sc_core::sc_module_name& name) : sc_core::sc_module(name) {
    socket.register_b_transport(this, &PlainMemory::transport);
  }

 private:
  void transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    if (silent) {
      wait(never_);
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
  sc_core::sc_event never_;
};

class Host : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(Host);
  tlm_utils::simple_initiator_socket<Host> socket{"socket"};
  sc_core::sc_in<bool> interrupt{"interrupt"};
  std::uint64_t output = kOutput;
  unsigned launches = 1;

  std::uint64_t status = 0, fault_kind = 0, fault_address = 0, fault_block = 0, fault_thread = 0, cycles = 0;
  unsigned interrupts = 0;
  bool refused_while_running = false;

  explicit Host(const sc_core::sc_module_name& name) : sc_core::sc_module(name) { SC_THREAD(run); }

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
Code kernel() {
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

struct Platform {
  explicit Platform(bool checked = false, const hw::Machine& machine = {}) : gpu("gpu", machine) {
    host.socket.bind(gpu.control);
    host.interrupt(interrupt);
    gpu.interrupt(interrupt);
    if (checked) {
      checker = std::make_unique<link::ProtocolChecker>("checker");
      gpu.memory[0].bind(checker->target);
      checker->initiator.bind(memory.socket);
    } else {
      gpu.memory[0].bind(memory.socket);
    }
    const isa::Module module = kernel().module(8);
    const std::vector<std::uint64_t>& words = module.kernels.front().words;
    std::memcpy(&memory.bytes[kCode], words.data(), words.size() * 8);
    host.code_words = words.size();
    for (std::uint32_t i = 0; i < kThreads * kBlocks; ++i) {
      const std::uint32_t value = i * i + 7;
      std::memcpy(&memory.bytes[kInput + 4 * i], &value, 4);
    }
  }
  void expect_results() const {
    for (std::uint32_t i = 0; i < kThreads * kBlocks; ++i) {
      std::uint32_t value = 0;
      std::memcpy(&value, &memory.bytes[kOutput + 4 * i], 4);
      ASSERT_EQ(value, 3 * (i * i + 7) + i) << i;
    }
  }

  PlainMemory memory{"memory"};
  hw::Gpu gpu;
  Host host{"host"};
  sc_core::sc_signal<bool> interrupt{"interrupt"};
  std::unique_ptr<link::ProtocolChecker> checker;
};

TEST(ForeignPlatform, RunsAKernelAndRaisesTheInterrupt) {
  Platform platform;
  platform.host.launches = 2;
  sc_core::sc_start(1, sc_core::SC_MS);
  EXPECT_EQ(platform.host.interrupts, 2U);
  EXPECT_EQ(platform.host.status, 2U);
  EXPECT_EQ(platform.host.fault_kind, 0U);
  EXPECT_GT(platform.host.cycles, 300U);
  EXPECT_TRUE(platform.host.refused_while_running);
  EXPECT_TRUE(platform.interrupt.read());
  // Each launch: one line of code (14 instructions), 16 lines read, 16 written whole.
  EXPECT_GE(platform.memory.reads, 2 * 17U);
  EXPECT_EQ(platform.memory.writes, 2 * 16U);
  platform.expect_results();
}

TEST(ForeignPlatform, KeepsTheRulesOfTheProtocol) {
  Platform platform(true);
  sc_core::sc_start(1, sc_core::SC_MS);
  EXPECT_EQ(platform.host.status, 2U);
  EXPECT_EQ(platform.checker->violations(), 0U);
  EXPECT_EQ(platform.checker->outstanding(), 0U);
  platform.expect_results();
}

TEST(ForeignPlatform, ABusErrorOnAWriteIsAFault) {
  Platform platform(true);
  platform.host.output = kMemoryBytes - 512;  // the last four blocks' lines lie beyond
  platform.memory.refused_from = kMemoryBytes;
  sc_core::sc_start(1, sc_core::SC_MS);
  EXPECT_EQ(platform.host.interrupts, 1U);
  EXPECT_EQ(platform.host.status, 3U);
  EXPECT_EQ(platform.host.fault_kind, static_cast<std::uint64_t>(isa::Fault::Kind::bus_error) + 1);
  EXPECT_GE(platform.host.fault_address, kMemoryBytes);
}

hw::Machine with_l2(const char* write_policy) {
  hw::Machine machine;
  machine.l2.enabled = true;
  machine.l2.write_policy = write_policy;
  return machine;
}

TEST(ForeignPlatform, AnL2LeavesNothingBehind) {
  Platform platform(true, with_l2("write-back"));
  platform.host.launches = 2;
  sc_core::sc_start(1, sc_core::SC_MS);
  EXPECT_EQ(platform.host.interrupts, 2U);
  EXPECT_EQ(platform.host.status, 2U);
  EXPECT_TRUE(platform.gpu.quiet());
  EXPECT_EQ(platform.memory.writes, 2 * 16U);  // each launch's results, at its end at the latest
  EXPECT_GE(platform.memory.reads, 2 * 17U);   // the second launch finds nothing of the first
  EXPECT_EQ(platform.checker->violations(), 0U);
  platform.expect_results();
}

// The store has long been answered when the L2 writes its line: the launch ends with a fault all the same, and the GPU
// can be used again.
class L2BusError : public ::testing::TestWithParam<const char*> {};

TEST_P(L2BusError, OnAWriteIsAFault) {
  Platform platform(true, with_l2(GetParam()));
  platform.host.output = kMemoryBytes - 512;
  platform.memory.refused_from = kMemoryBytes;
  platform.host.launches = 2;
  sc_core::sc_start(1, sc_core::SC_MS);
  EXPECT_EQ(platform.host.interrupts, 2U);
  EXPECT_EQ(platform.host.status, 3U);
  EXPECT_EQ(platform.host.fault_kind, static_cast<std::uint64_t>(isa::Fault::Kind::bus_error) + 1);
  EXPECT_GE(platform.host.fault_address, kMemoryBytes);
  EXPECT_TRUE(platform.gpu.quiet());
}

INSTANTIATE_TEST_SUITE_P(ForeignPlatform, L2BusError, ::testing::Values("write-back", "write-through"),
                         [](const auto& info) { return std::string(info.param).replace(5, 1, "_"); });

TEST(ForeignPlatform, ABusErrorOnAReadIsAFaultOfItsThread) {
  Platform platform;
  platform.memory.refused_from = kInput + 4 * 200 / 128 * 128;  // the line of thread 192: block 1, thread 64
  platform.host.launches = 2;                                   // and the GPU can be used again: the same happens
  sc_core::sc_start(1, sc_core::SC_MS);
  EXPECT_EQ(platform.host.interrupts, 2U);
  EXPECT_EQ(platform.host.status, 3U);
  EXPECT_EQ(platform.host.fault_kind, static_cast<std::uint64_t>(isa::Fault::Kind::bus_error) + 1);
  EXPECT_EQ(platform.host.fault_address, kInput + 4 * 192);
  EXPECT_EQ(platform.host.fault_block, 1U);
  EXPECT_EQ(platform.host.fault_thread, 64U);
}

TEST(ForeignPlatform, ACodeFetchThatFailsIsAFault) {
  Platform platform;
  platform.memory.refused_from = kCode;
  sc_core::sc_start(1, sc_core::SC_MS);
  EXPECT_EQ(platform.host.status, 3U);
  EXPECT_EQ(platform.host.fault_kind, static_cast<std::uint64_t>(isa::Fault::Kind::bus_error) + 1);
}

// A memory that never answers: the watchdog of the bench ends the launch, and the GPU refuses another one.
TEST(ForeignPlatform, SilentMemoryLeavesTheGpuUnusable) {
  Platform platform;
  platform.memory.silent = true;
  sc_core::sc_start(1, sc_core::SC_MS);
  EXPECT_EQ(platform.host.interrupts, 0U);
  EXPECT_EQ(platform.gpu.status(), hw::LaunchStatus::running);
  EXPECT_NE(platform.gpu.describe_waiting().find("waits for its instruction"), std::string::npos);
  isa::Fault fault;
  fault.kind = isa::Fault::Kind::deadlock;
  platform.gpu.stop(fault);
  sc_core::sc_start(1, sc_core::SC_US);
  EXPECT_EQ(platform.host.status, 3U);
  EXPECT_EQ(platform.host.fault_kind, static_cast<std::uint64_t>(isa::Fault::Kind::deadlock) + 1);
  EXPECT_FALSE(platform.gpu.quiet());
  std::uint64_t one = 1;
  EXPECT_NE(platform.host.access(0, &one, 8, true), tlm::TLM_OK_RESPONSE);
}

TEST(Registers, RefuseWhatMakesNoSense) {
  Platform platform;
  platform.host.launches = 0;
  sc_core::sc_start(1, sc_core::SC_US);  // registers are written, nothing has been started
  Host& host = platform.host;
  const auto write = [&](std::uint64_t offset, std::uint64_t value, unsigned length = 8) {
    return host.access(offset, &value, length, true) == tlm::TLM_OK_RESPONSE;
  };
  const auto at = [](hw::RegisterOffset offset) { return static_cast<std::uint64_t>(offset); };
  const auto starts = [&] { return write(at(hw::RegisterOffset::control), 1); };
  EXPECT_FALSE(write(at(hw::RegisterOffset::status), 1)) << "read-only";
  EXPECT_FALSE(write(hw::kRegisterBytes, 1)) << "no register";
  EXPECT_FALSE(write(hw::kControlBytes, 1)) << "behind the windows";
  EXPECT_FALSE(write(hw::kControlBytes - 4, 1)) << "over the end";
  EXPECT_FALSE(write(~std::uint64_t{0} - 3, 1)) << "wraps around";
  EXPECT_FALSE(write(at(hw::RegisterOffset::grid_x) + 4, 1)) << "over two registers";
  EXPECT_TRUE(write(at(hw::RegisterOffset::grid_x), kBlocks, 4)) << "a half is fine";
  const struct {
    hw::RegisterOffset offset;
    std::uint64_t bad, good;
  } values[] = {{hw::RegisterOffset::grid_x, 0, kBlocks},
                {hw::RegisterOffset::grid_y, std::uint64_t{1} << 32U, 1},
                {hw::RegisterOffset::block_x, 1025, kThreads},
                {hw::RegisterOffset::block_y, std::uint64_t{1} << 33U, 1},
                {hw::RegisterOffset::code_words, 0, host.code_words},
                {hw::RegisterOffset::code_address, kCode + 4, kCode},
                {hw::RegisterOffset::registers, 65, 8},
                {hw::RegisterOffset::parameter_bytes, hw::kParameterWindowBytes + 1, 8}};
  for (const auto& [offset, bad, good] : values) {
    EXPECT_TRUE(write(at(offset), bad));
    EXPECT_FALSE(starts()) << at(offset);
    EXPECT_TRUE(write(at(offset), good));
  }
  EXPECT_TRUE(starts());
}

}  // namespace
}  // namespace heddle
