// Which launches let sub-warps by stages (hw/core/pipeline/pipeline.hpp). That counters do not differ then is the
// matter of tests/model/passages_test.cpp.
#include <gtest/gtest.h>

#include "tests/hw/gpu_bench.hpp"

namespace heddle::hw {
namespace {

using heddle::test::GpuBench;

// Runs a short kernel; whether its launch let sub-warps by.
bool launch_lets_by(const Machine& machine, CoreObserver* observer = nullptr) {
  GpuBench bench(machine);
  if (observer != nullptr) {
    bench.gpu.observe(observer);
  }
  isa::test::Code code;
  code.mov(1, 7);
  code.exit();
  bench.run(code);
  return bench.gpu.core(0).lets_any_by();
}

TEST(Passages, AreForWarpsOfOneRow) {
  EXPECT_TRUE(launch_lets_by({}));
}

TEST(Passages, AreForLargeWarpsBehindDecode) {
  Machine machine;
  machine.core.warp_size = 256;
  machine.core.former = "packed";
  EXPECT_TRUE(launch_lets_by(machine));
}

TEST(Passages, AreNotForWhoWatches) {
  CoreObserver observer;
  EXPECT_FALSE(launch_lets_by({}, &observer));
}

TEST(Passages, AreNotForNextPcsThatAreKnownEarly) {
  Machine machine;
  machine.core.issue = "scoreboard";
  EXPECT_FALSE(launch_lets_by(machine));
}

}  // namespace
}  // namespace heddle::hw
