// The workloads' Pthreads form on machines of different kinds: each result verified by its own host computation, every
// thread's retirement hash equal to the reference interpreter's.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "tb/device/device.hpp"
#include "tb/device/workload.hpp"
#include "tests/model/workload_cases.hpp"
#include "tests/support/marks.hpp"

HEDDLE_SAMPLED_SANITIZED("All/PthreadsOnMachine.*")

namespace heddle {
namespace {

class PthreadsOnMachine : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(PthreadsOnMachine, EqualsTheReference) {
  const auto& [name, machine_name] = GetParam();
  const hw::Machine machine = test::machine_called(machine_name);
  const auto workload = test::make_workload(name + ":pthreads", machine);
  EXPECT_EQ(workload->threads(), 1024U);
  tb::Device device(machine);
  device.load(workload->compile());
  const tb::Verdict verdict = workload->run(device);
  EXPECT_TRUE(verdict.correct) << verdict.detail;

  tb::ReferenceExecutor reference;
  reference.load(workload->compile());
  const tb::Verdict expected = workload->run(reference);
  EXPECT_TRUE(expected.correct) << expected.detail;
  EXPECT_EQ(verdict.detail, expected.detail);
  if (!workload->order_dependent()) {
    EXPECT_EQ(device.retirement().total(), reference.retirement().total());
  }
}

std::vector<std::tuple<std::string, std::string>> pthreads_cases() {
  const std::vector<std::string> workloads = {"bfs",       "blackjack", "blackscholes", "decrypt",
                                              "histogram", "hotspot",   "kmeans",       "matrixmult",
                                              "needleman", "reduction", "sort",         "viterbi"};
  // Large warps; groups that form anew at branches, by thread block and by warp.
  const std::vector<std::string> other = {"tbc", "dwf-majority"};
  std::vector<std::tuple<std::string, std::string>> all;
  for (std::size_t i = 0; i < workloads.size(); ++i) {
    all.emplace_back(workloads[i], "thesis-lwm-two-level");
    all.emplace_back(workloads[i], other[i % other.size()]);
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, PthreadsOnMachine, ::testing::ValuesIn(pthreads_cases()), [](const auto& info) {
  return test::case_name(std::get<0>(info.param), std::get<1>(info.param));
});

}  // namespace
}  // namespace heddle
