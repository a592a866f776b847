// The GPU as a component of another platform: memory is a plain target that knows nothing of Heddle, and a host
// process launches a kernel through registers and waits for the interrupt.
#include "tests/hw/platform.hpp"

namespace heddle {
namespace {

using namespace test::platform;  // NOLINT(google-build-using-namespace): the bench of these tests

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

TEST(ForeignPlatform, ASecondKernelJoinsTheFirst) {
  Platform platform(false, {}, 2);
  sc_core::sc_start(1, sc_core::SC_MS);
  EXPECT_FALSE(platform.host.refused_while_running);
  EXPECT_EQ(platform.host.interrupts, 1U);  // when both have ended
  EXPECT_EQ(platform.host.status, 2U);
  EXPECT_EQ(platform.gpu.totals().dispatcher.launches, 2U);
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

// The store has long been answered when the L2 writes its line: the launch ends with a fault even so, and the GPU
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

// A memory that never answers: the platform ends the launch before the GPU does, which refuses another launch.
TEST(ForeignPlatform, SilentMemoryLeavesTheGpuUnusable) {
  hw::Machine machine;
  machine.watchdog.deadlock_cycles = 2'000'000;
  Platform platform(false, machine);
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
