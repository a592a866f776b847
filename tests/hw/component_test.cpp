// What a user of the GPU as a component relies on beyond running kernels: its machine is checked, and
// sockets of any width can be bound.
#include <functional>
#include <string>

#include "tests/hw/platform.hpp"

namespace heddle {
namespace {

using namespace test::platform;  // NOLINT(google-build-using-namespace): the bench of these tests

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
  EXPECT_EQ(refusal_of([](hw::Machine& machine) { machine.gpu.cores = 2; }),
            "gpu: the machine makes no sense: the private write-back caches of several cores (gpu.cores is 2) need a "
            "coherence protocol; use l1d.write_policy = \"write-through\"");
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
            "dram.timing cannot be ''; known: hit-conflict, jedec");
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

}  // namespace
}  // namespace heddle
