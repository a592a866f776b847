// Workloads in the launches of the programs of the warp-size study and of the ODGS paper on machines of different
// kinds: each result verified by its own host computation, every thread's retirement hash equal to the reference
// interpreter's.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>

#include "tb/device/device.hpp"
#include "tb/device/workload.hpp"
#include "tests/model/workload_cases.hpp"
#include "tests/support/marks.hpp"

HEDDLE_SAMPLED_SANITIZED("All/StudyShapeOnMachine.*")

namespace heddle {
namespace {

class StudyShapeOnMachine : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(StudyShapeOnMachine, EqualsTheReference) {
  const auto& [name, machine_name] = GetParam();
  const hw::Machine machine = test::machine_called(machine_name);
  const auto workload = test::make_workload(name, machine);
  tb::Device device(machine);
  device.load(workload->compile());
  const tb::Verdict verdict = workload->run(device);
  EXPECT_TRUE(verdict.correct) << verdict.detail;

  tb::ReferenceExecutor reference;
  reference.load(workload->compile());
  const tb::Verdict expected = workload->run(reference);
  EXPECT_TRUE(expected.correct) << expected.detail;
  EXPECT_EQ(verdict.detail, expected.detail);
  EXPECT_EQ(device.retirement().total(), reference.retirement().total());
}

INSTANTIATE_TEST_SUITE_P(All, StudyShapeOnMachine,
                         ::testing::Combine(::testing::Values("bfs:thread_per_node", "matrixmult:rectangles",
                                                              "nqueens:small_blocks", "bfs:large_blocks",
                                                              "suffix_tree:small_blocks", "synthetic:image=4"),
                                            ::testing::Values("baseline", "lwm", "tbc")),
                         [](const auto& info) {
                           std::string name = std::get<0>(info.param);
                           std::replace_if(
                               name.begin(), name.end(), [](char c) { return c == ':' || c == '='; }, '_');
                           return test::case_name(name, std::get<1>(info.param));
                         });

}  // namespace
}  // namespace heddle
