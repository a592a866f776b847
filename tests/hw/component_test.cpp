// What a user of the GPU as a component relies on beyond running kernels: its machine is checked, a memory that does
// not answer is reported, sockets of any width can be bound.
#include <functional>
#include <string>

#include "tests/hw/platform.hpp"
#include "tests/hw/report.hpp"

namespace heddle {
namespace {

using namespace test::platform;  // NOLINT(google-build-using-namespace): the bench of these tests

// SystemC's warnings, kept instead of failing the test.
struct KeptWarnings {
  KeptWarnings() { sc_core::sc_report_handler::set_handler(keep); }
  ~KeptWarnings() { sc_core::sc_report_handler::set_handler(test::fail_on_report); }
  static std::vector<std::string>& texts() {
    static std::vector<std::string> all;
    return all;
  }
  static void keep(const sc_core::sc_report& report, const sc_core::sc_actions& actions) {
    if (report.get_severity() == sc_core::SC_WARNING) {
      texts().push_back(std::string(report.get_msg_type()) + ": " + report.get_msg());
    } else {
      test::fail_on_report(report, actions);
    }
  }
};

// ------------------------------------------------------------------------------------------------------- watchdog

hw::Machine with_limit(std::uint64_t cycles) {
  hw::Machine machine;
  machine.watchdog.deadlock_cycles = cycles;
  return machine;
}

TEST(MemoryWatchdog, ReportsAMemoryThatNeverAnswers) {
  const KeptWarnings warnings;
  Platform platform(true, with_limit(5000));
  platform.memory.silent = true;
  sc_core::sc_start(1, sc_core::SC_MS);
  EXPECT_EQ(platform.host.interrupts, 1U);
  EXPECT_EQ(platform.host.status, 3U);
  EXPECT_EQ(platform.host.fault_kind, static_cast<std::uint64_t>(isa::Fault::Kind::deadlock) + 1);
  EXPECT_EQ(platform.host.fault_address, kCode);
  ASSERT_EQ(KeptWarnings::texts().size(), 1U) << "once, and no more while it is silent";
  // The launch begins at 101 ns; the fetch is with the channel 3 cycles later, and its row conflict takes 300.
  EXPECT_EQ(KeptWarnings::texts()[0],
            "heddle/gpu: what gpu.memory_0 is bound to has not answered a read of 128 bytes at 0x1000 since cycle 404 "
            "(404 ns), for 5000 cycles (watchdog.deadlock_cycles)");
  EXPECT_EQ(platform.gpu.fault()->detail, KeptWarnings::texts()[0].substr(12));
  EXPECT_FALSE(platform.gpu.quiet());
}

// An answer after all: it does no harm, and the next launch works.
TEST(MemoryWatchdog, ALateAnswerMakesTheGpuUsableAgain) {
  const KeptWarnings warnings;
  Platform platform(true, with_limit(5000));
  platform.memory.silent = true;
  sc_core::sc_start(50, sc_core::SC_US);
  EXPECT_EQ(platform.host.status, 3U);
  platform.memory.wake_up();
  sc_core::sc_start(50, sc_core::SC_US);
  EXPECT_TRUE(platform.gpu.quiet());
  std::uint64_t one = 1;
  EXPECT_EQ(platform.host.access(0, &one, 8, true), tlm::TLM_OK_RESPONSE);
  sc_core::sc_start(50, sc_core::SC_US);
  EXPECT_EQ(platform.gpu.status(), hw::LaunchStatus::done);
  EXPECT_EQ(platform.checker->violations(), 0U);
  platform.expect_results();
}

// A memory slower than the limit is overdue, one faster is not; and nothing is left that keeps a simulation going.
TEST(MemoryWatchdog, LeavesNoEventBehind) {
  Platform platform(true, with_limit(1'000'000));
  sc_core::sc_start();  // until nothing happens any more
  EXPECT_EQ(platform.host.status, 2U);
  EXPECT_LT(sc_core::sc_time_stamp(), sc_core::sc_time(100, sc_core::SC_US));
}

TEST(MemoryWatchdog, MayBeAsLongAsItsParameter) {
  Platform platform(true, with_limit(1'000'000'000'000'000));
  sc_core::sc_start(1, sc_core::SC_MS);
  EXPECT_EQ(platform.host.status, 2U);
}

// --------------------------------------------------------------------------------------------------------- machine

std::string refusal_of(const std::function<void(hw::Machine&)>& change) {
  hw::Machine machine;
  change(machine);
  try {
    const hw::Gpu gpu("gpu", machine);
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

TEST(ComponentsMachine, IsCheckedWhenTheGpuIsMade) {
  EXPECT_EQ(
      refusal_of([](hw::Machine& machine) { machine.gpu.cores = 2; }),
      "gpu: the machine makes no sense: the private write-back caches of several cores (gpu.cores is 2) need a "
      "coherence protocol; use l1d.write_policy = \"write-through\", or gpu.coherence = \"mesi\" and what that needs");
  EXPECT_EQ(
      refusal_of([](hw::Machine& machine) { machine.core.scheduler = "round-robbin"; }).substr(0, 110),
      "gpu: the machine makes no sense: core.scheduler cannot be 'round-robbin'; did you mean 'round-robin'? (known: ");
  EXPECT_EQ(refusal_of([](hw::Machine& machine) {
              machine.dram.banks = 3;
              machine.core.simd_width = 0;
              machine.gpu.clock_ghz = 0;
              machine.dram.timing = "";
            }),
            "gpu: the machine makes no sense: gpu.clock_ghz must be between 0.001 and 10 GHz, not 0; core.simd_width "
            "must be between 1 and 32 lanes, not 0; dram.banks must be a power of two between 1 and 1024 banks, not 3; "
            "dram.timing cannot be ''; known: hit-conflict, jedec, none");
  EXPECT_EQ(refusal_of([](hw::Machine&) {}), "");
}

// ----------------------------------------------------------------------------------------------------------- width

TEST(AnyWidth, MemoryAndHostOf512Bits) {
  PlatformOf<512> platform(true);
  sc_core::sc_start(1, sc_core::SC_MS);
  EXPECT_EQ(platform.host.status, 2U);
  EXPECT_EQ(platform.checker->violations(), 0U);
  platform.expect_results();
}

// ------------------------------------------------------------------------------------------- no timing of its own

TEST(ForeignTiming, CountsOnceWithoutTheControllers) {
  hw::Machine machine;
  machine.dram.timing = "none";
  machine.dram.blocking_calls = 16;
  Platform platform(true, machine);
  sc_core::sc_start(1, sc_core::SC_MS);
  EXPECT_EQ(platform.host.status, 2U);
  EXPECT_EQ(platform.checker->violations(), 0U);
  EXPECT_LT(platform.host.cycles, 300U);  // one row conflict of the baseline
  platform.expect_results();
}

}  // namespace
}  // namespace heddle
