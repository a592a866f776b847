// Where threads meet again: every branch of every workload against a separate analysis, and what it costs a kernel when
// they meet too late.
#include <gtest/gtest.h>

#include <string>

#include "isa/memory_map.hpp"
#include "ptx/compile.hpp"
#include "ptx/last_access.hpp"
#include "tb/device/device.hpp"
#include "tests/model/workload_cases.hpp"
#include "tests/ptx/last_access.hpp"
#include "tests/ptx/post_dominators.hpp"
#include "tests/support/marks.hpp"

HEDDLE_SAMPLED_SANITIZED("Workloads/ReConvergenceOf.*")

namespace heddle {
namespace {

class ReConvergenceOf : public ::testing::TestWithParam<std::string> {};

TEST_P(ReConvergenceOf, EveryBranchIsAtItsImmediatePostDominator) {
  hw::Machine machine;
  for (const unsigned bits : {32U, 64U}) {
    for (const unsigned registers : {16U, 63U}) {
      for (const unsigned if_conversion : {0U, 8U}) {
        machine.core.registers_per_thread = registers;
        machine.core.if_conversion = if_conversion;
        const isa::Module module = test::make_workload(GetParam(), machine, 1, bits)->compile();
        for (const isa::Kernel& kernel : module.kernels) {
          EXPECT_EQ(test::check_re_convergence(kernel).wrong, "")
              << bits << " bits, " << registers << " registers, if-conversion of " << if_conversion;
        }
      }
    }
  }
}

TEST_P(ReConvergenceOf, EveryMarkIsPastTheLastAccessToTheScratchpad) {
  hw::Machine machine;
  for (const unsigned bits : {32U, 64U}) {
    isa::Module module = test::make_workload(GetParam(), machine, 1, bits)->compile();
    ptx::mark_past_scratchpad(module);
    for (const isa::Kernel& kernel : module.kernels) {
      EXPECT_EQ(test::check_last_access(kernel).wrong, "") << bits << " bits";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Workloads, ReConvergenceOf, ::testing::ValuesIn(test::workload_names()),
                         [](const auto& info) { return test::case_name(info.param, "itself"); });

constexpr std::uint64_t kCounter = isa::kGlobalBase;

// if (blockIdx.x >= n) return; if (threadIdx.x < 10) { ... } and then a hundred steps that all threads do.
isa::Module early_return(const std::string& for_ten, const std::string& behind) {
  return ptx::compile(
      ".version 7.0\n.target sm_60\n.address_size 32\n"
      ".visible .entry k(.param .u32 counter, .param .u32 n) {\n"
      ".reg .pred %p<9>; .reg .b32 %r<9>; ld.param.u32 %r0, [counter]; ld.param.u32 %r1, [n];\n"
      "mov.u32 %r2, %ctaid.x; setp.ge.u32 %p0, %r2, %r1; @%p0 bra LEAVE;\n"
      "mov.u32 %r3, %tid.x; setp.gt.u32 %p1, %r3, 9; @%p1 bra MEET;\n" +
          for_ten + "\nMEET:\n" + behind +
          "\nmov.u32 %r4, 0;\nLOOP: add.u32 %r4, %r4, 1; setp.lt.u32 %p2, %r4, 100; @%p2 bra LOOP;\n"
          "LEAVE: ret;\n}\n",
      "k.ptx");
}

struct Ran {
  std::string fault;
  std::uint32_t counter = 0;
  std::uint64_t warp_instructions = 0;
};

Ran ran(tb::Device& device, const isa::Module& module, std::uint32_t threads) {
  const std::uint64_t before = device.totals().core.warp_instructions;
  device.load(module);
  device.memory().release(kCounter);
  device.memory().place("counter", kCounter, 4);
  isa::LaunchRequest request{"k", {5}, {threads}, 0, {}};
  for (const std::uint32_t argument : {static_cast<std::uint32_t>(kCounter), 3U}) {
    for (unsigned byte = 0; byte < 4; ++byte) request.parameters.push_back((argument >> (8 * byte)) & 255U);
  }
  Ran result;
  try {
    device.launch(request);
  } catch (const SimulatedFault& fault) {
    result.fault = fault.what();
  }
  result.counter = device.memory().get<std::uint32_t>(kCounter);
  result.warp_instructions = device.totals().core.warp_instructions - before;
  return result;
}

constexpr const char* kCount = "red.global.add.u32 [%r0], 1;";

class ReConvergenceOn : public ::testing::TestWithParam<std::string> {};

TEST_P(ReConvergenceOn, AWarpMeetsBeforeABarrierBehindAGuardedExit) {
  tb::Device device(test::machine_called(GetParam()));
  const Ran result = ran(device, early_return(kCount, "bar.sync 0;"), 64);
  EXPECT_EQ(result.fault, "");
  EXPECT_EQ(result.counter, 30U);
}

// A check that stops the launch: threads that pass it meet the others again.
TEST_P(ReConvergenceOn, AWarpMeetsBeforeABarrierBehindATrap) {
  tb::Device device(test::machine_called(GetParam()));
  for (const char* check : {"setp.gt.u32 %p3, %r1, 99; @%p3 trap;",
                            "setp.lt.u32 %p3, %r1, 99; @%p3 bra GOOD; st.global.u32 [%r0], %r1; trap; GOOD:"}) {
    const Ran result = ran(device, early_return(std::string(check) + kCount, "bar.sync 0;"), 64);
    EXPECT_EQ(result.fault, "") << check;
    EXPECT_EQ(result.counter, 30U) << check;
  }
}

INSTANTIATE_TEST_SUITE_P(Machines, ReConvergenceOn, ::testing::Values("test-baseline", "test-warp256", "test-tbcsimd8"),
                         [](const auto& info) { return test::case_name("kernel", info.param); });

// The loop behind costs a warp of 32 threads, of which ten have been elsewhere, what it costs one of the ten alone.
TEST(ReConvergence, AWarpGoesOnAsOneBehindAGuardedExit) {
  tb::Device device(test::machine_called("test-baseline"));
  const isa::Module module = early_return(kCount, "");
  const Ran all = ran(device, module, 32), ten = ran(device, module, 10);
  EXPECT_EQ(all.counter, 30U);
  EXPECT_GT(ten.warp_instructions, 3U * 300);
  EXPECT_EQ(all.warp_instructions, ten.warp_instructions);
}

}  // namespace
}  // namespace heddle
