// Write-back L1s of several cores that meet when a launch ends: which bytes they must not share, and what becomes of
// launches whose cores do and do not.
#include "hw/state/launch_bytes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hw/check/machine.hpp"
#include "tests/hw/gpu_bench.hpp"

namespace heddle::test {
namespace {

using hw::LaunchBytes;
using enum hw::LaunchBytes::Access;

struct BytesOfCores {
  std::array<LaunchBytes, 3> cores;
  [[nodiscard]] std::optional<LaunchBytes::Shared> shared() const {
    return LaunchBytes::shared_byte(3, [this](unsigned core) -> const LaunchBytes& { return cores[core]; });
  }
};

TEST(LaunchBytes, AreSharedByteForByte) {
  BytesOfCores bytes;
  bytes.cores[0].add(store, 1000, 4);
  bytes.cores[1].add(load, 1004, 4);
  bytes.cores[2].add(load, 996, 4);
  bytes.cores[0].add(load, 1000, 4);
  EXPECT_FALSE(bytes.shared()) << "its own, and neighbours of one line";
  bytes.cores[2].add(load, 1002, 2);
  ASSERT_TRUE(bytes.shared());
  EXPECT_EQ(bytes.shared()->address, 1002U);
  EXPECT_EQ(bytes.shared()->writer, 0U);
  EXPECT_EQ(bytes.shared()->other, 2U);
  bytes.cores[1].add(store, 100, 16);
  bytes.cores[2].add(load, 116, 4);
  EXPECT_EQ(bytes.shared()->address, 1002U);
  bytes.cores[2].add(load, 115, 1);
  bytes.cores[0].add(load, 104, 8);
  EXPECT_EQ(bytes.shared()->address, 104U) << "the lowest";
  bytes.cores[1].begin_launch();
  EXPECT_EQ(bytes.shared()->address, 1002U);
}

TEST(LaunchBytes, StoresAloneHaveNoOrderAndAtomicsAloneMeet) {
  using Access = LaunchBytes::Access;
  for (const Access one : {load, store, update}) {
    for (const Access other : {load, store, update}) {
      BytesOfCores bytes;
      bytes.cores[0].add(one, 64, 4);
      bytes.cores[1].add(other, 64, 4);
      EXPECT_EQ(bytes.shared().has_value(), one != other) << static_cast<int>(one) << static_cast<int>(other);
    }
  }
}

hw::Machine two_cores() {
  hw::Machine machine;
  machine.gpu.cores = 2;
  machine.gpu.coherence = "launch";
  return machine;
}

// Thread i stores i to word i, and half of a block's words lie in a line of the other block, which is on the other
// core.
TEST(MeetsAtEnd, CoresMayStoreDifferentBytesOfOneLine) {
  GpuBench bench(two_cores());
  Code code;
  code.param(9, 0);
  code.s2r(0, Special::ctaid_x);
  code.s2r(1, Special::tid_x);
  code.rri(Op::MUL_LO, 2, 0, 16);
  code.rrr(Op::ADD, 1, 1, 2);
  code.rri(Op::MUL_LO, 2, 1, 4);
  code.rrr(Op::ADD, 9, 9, 2);
  code.store(Op::ST_GLOBAL, 9, 1);
  code.load(Op::LD_GLOBAL, 3, 9);
  code.rri(Op::ADD, 3, 3, 100);
  code.store(Op::ST_GLOBAL, 9, 3);
  code.exit();
  LaunchShape shape;
  shape.grid = {2, 1, 1};
  shape.block = {16, 1, 1};
  const hw::Totals totals = bench.run(code, shape);
  for (unsigned i = 0; i < 32; ++i) {
    EXPECT_EQ(bench.word(i), 100 + i) << i;
  }
  EXPECT_EQ(totals.l1d.write_backs, 2U) << "one line, by two cores, when all is done";
}

// Each block stores its word and loads the first.
TEST(MeetsAtEnd, ALaunchWhoseCoresShareBytesIsAFault) {
  GpuBench bench(two_cores());
  Code code;
  code.param(9, 0);
  code.s2r(0, Special::ctaid_x);
  code.rri(Op::MUL_LO, 2, 0, 256);
  code.rrr(Op::ADD, 1, 9, 2);
  code.store(Op::ST_GLOBAL, 1, 0);
  code.load(Op::LD_GLOBAL, 3, 9);
  code.exit();
  LaunchShape shape;
  shape.grid = {2, 1, 1};
  shape.block = {1, 1, 1};
  bench.start(code, shape);
  while (bench.step(1000)) {
  }
  ASSERT_TRUE(bench.gpu.fault());
  EXPECT_EQ(
      isa::describe(*bench.gpu.fault(), isa::Module{}),
      "bytes shared between cores in kernel '': 1 byte at address 0x10000000: core 0 stores it and core 1 loads it "
      "in one launch; with gpu.coherence = \"launch\" cores see each other's stores when the launch has ended: use "
      "l1d.write_policy = \"write-through\"");
}

std::vector<std::string> faults_of(const hw::Machine& machine) {
  std::vector<std::string> texts;
  for (const hw::Contradiction& one : hw::check(machine)) {
    texts.push_back(one.key + ": " + one.message);
  }
  return texts;
}

TEST(MeetsAtEnd, ThreadsStayInTheirCore) {
  EXPECT_THAT(faults_of(two_cores()), ::testing::IsEmpty());
  hw::Machine machine = two_cores();
  machine.core.divergence = "odgs";
  machine.core.scheduler = "oldest";
  EXPECT_THAT(
      faults_of(machine),
      ::testing::Contains("gpu.coherence: gpu.coherence = \"launch\" keeps what a thread has stored in its core; "
                          "with core.divergence = \"odgs\" threads change cores"));
}

}  // namespace
}  // namespace heddle::test
