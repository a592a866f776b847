// The DWS report's benchmarks on a machine of its kind, several cores of few and narrow warps: each result verified by
// its own host computation, every thread's retirement hash equal to the reference interpreter's.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tb/device/device.hpp"
#include "tb/device/workload.hpp"
#include "tests/model/workload_cases.hpp"
#include "tests/support/marks.hpp"

HEDDLE_SAMPLED_SANITIZED("All/LoopsOnFewThreads.*")

namespace heddle {
namespace {

hw::Machine few_threads() {
  hw::Machine machine = test::machine_called("test-throughcores4");
  machine.core.simd_width = machine.core.warp_size = 16;
  machine.core.threads = 64;
  machine.core.registers = 4096;
  machine.l1d.bytes = 4096;
  machine.l1d.hit_latency = 3;
  machine.l2.enabled = true;
  return machine;
}

class LoopsOnFewThreads : public ::testing::TestWithParam<std::string> {};

TEST_P(LoopsOnFewThreads, EqualTheReference) {
  const hw::Machine machine = few_threads();
  tb::WorkloadOptions options;
  options.scale = 0.002;
  options.core_threads = machine.core.threads;
  options.resident_threads = machine.gpu.cores * machine.core.threads;
  const auto workload = tb::make_workload(GetParam(), options);
  EXPECT_EQ(workload->threads(), 256U);
  tb::Device device(machine);
  device.load(workload->compile());
  const tb::Verdict verdict = workload->run(device);
  EXPECT_TRUE(verdict.correct) << verdict.detail;

  tb::ReferenceExecutor reference;
  reference.load(workload->compile());
  const tb::Verdict expected = workload->run(reference);
  EXPECT_TRUE(expected.correct) << expected.detail;
  EXPECT_EQ(device.retirement().total(), reference.retirement().total());

  // Every core has its part of each loop.
  const hw::Totals totals = device.totals();
  EXPECT_EQ(totals.core.blocks, 4 * totals.dispatcher.launches);
  EXPECT_GT(totals.core.missed_accesses, 0U);
  EXPECT_LT(totals.core.partly_missed_accesses, totals.core.missed_accesses);
}

INSTANTIATE_TEST_SUITE_P(All, LoopsOnFewThreads,
                         ::testing::Values("fft", "filter", "hotspot:dws", "kmeans:dws", "lu", "merge", "short", "svm",
                                           "filter:interleaved", "kmeans:dws,interleaved", "fft:padded", "short:padded",
                                           "fft:six_step"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace_if(
                               name.begin(), name.end(), [](char c) { return c == ':' || c == ','; }, '_');
                           return name;
                         });

}  // namespace
}  // namespace heddle
