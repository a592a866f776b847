// Which launches let sub-warps by stages (hw/core/pipeline/pipeline.hpp). That counters do not differ then is the
// matter of tests/model/passages_test.cpp.
#include <gtest/gtest.h>

#include "tests/hw/gpu_bench.hpp"

namespace heddle::hw {
namespace {

using heddle::test::GpuBench;

// Runs a short kernel; behind how many stages its passages began, 0: nowhere.
unsigned passages_behind(const Machine& machine, CoreObserver* observer = nullptr) {
  GpuBench bench(machine);
  if (observer != nullptr) {
    bench.gpu.observe(observer);
  }
  isa::test::Code code;
  code.mov(1, 7);
  code.exit();
  bench.run(code);
  return bench.gpu.core(0).passages_begin_behind();
}

TEST(Passages, AreForWarpsOfOneRow) {
  EXPECT_EQ(passages_behind({}), 1U) << "behind fetch";
}

TEST(Passages, AreForLargeWarpsBehindDecode) {
  Machine machine;
  machine.core.warp_size = 256;
  machine.core.former = "packed";
  EXPECT_EQ(passages_behind(machine), 2U);
}

TEST(Passages, AreForWhoWatchesToo) {
  CoreObserver observer;
  EXPECT_EQ(passages_behind({}, &observer), 1U);
}

TEST(Passages, AreNotForNextPcsThatAreKnownEarly) {
  Machine machine;
  machine.core.issue = "scoreboard";
  EXPECT_EQ(passages_behind(machine), 0U);
}

}  // namespace
}  // namespace heddle::hw
