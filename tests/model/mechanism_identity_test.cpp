// Mechanisms that must do nothing on some machines do nothing there, cycle by cycle: packing warps of the SIMD width,
// one fetch group of all warps.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "hw/divergence/dws.hpp"
#include "hw/schedule/two_level.hpp"
#include "hw/subwarp/packing.hpp"
#include "tb/device/device.hpp"
#include "tb/device/workload.hpp"
#include "tests/model/child.hpp"
#include "tests/model/workload_cases.hpp"
#include "tests/support/marks.hpp"

HEDDLE_SAMPLED("All/Identity.*")
HEDDLE_LONG_SANITIZED("*Identity*")

namespace heddle {
namespace {

// Cycles, thread instructions and idle cycles by cause, as text.
std::string figures(const std::string& workload_name, const hw::Machine& machine) {
  return test::in_child([&] {
    const auto workload = test::make_workload(workload_name, machine);
    tb::Device device(machine);
    device.load(workload->compile());
    std::string text = workload->run(device).correct ? "correct" : "wrong";
    const hw::Totals totals = device.totals();
    text += " cycles " + std::to_string(totals.cycles) + " threads " + std::to_string(totals.core.thread_instructions) +
            " warps " + std::to_string(totals.core.warp_instructions) + " idle";
    for (const std::uint64_t idle : totals.core.idle) {
      text += ' ' + std::to_string(idle);
    }
    return text + " dram " + std::to_string(totals.dram.reads) + ' ' + std::to_string(totals.dram.row_hits);
  });
}

class Identity : public ::testing::TestWithParam<std::string> {};

TEST_P(Identity, PackingWarpsOfTheSimdWidthIsTheBaseline) {
  hw::Machine machine;
  const std::string baseline = figures(GetParam(), machine);
  EXPECT_EQ(baseline.rfind("correct", 0), 0U) << baseline;
  machine.core.former = "packed";
  machine.core.policies.of<hw::PackingParameters>().branch_once =
      machine.core.policies.of<hw::PackingParameters>().memory_by_rows = true;
  EXPECT_EQ(figures(GetParam(), machine), baseline);
}

TEST_P(Identity, OneFetchGroupOfAllWarpsIsRoundRobin) {
  hw::Machine machine;
  const std::string baseline = figures(GetParam(), machine);
  machine.core.scheduler = "two-level";
  machine.core.policies.of<hw::TwoLevelParameters>().fetch_group = 32;
  for (const char* const rule : {"stalled", "current", "exclusive"}) {
    machine.core.policies.of<hw::TwoLevelParameters>().fetch_group_rule = rule;
    EXPECT_EQ(figures(GetParam(), machine), baseline) << rule;
  }
  // And smaller ones are not: the test would see a difference.
  machine.core.policies.of<hw::TwoLevelParameters>().fetch_group = 4;
  machine.core.policies.of<hw::TwoLevelParameters>().fetch_group_rule = "stalled";
  if (GetParam() == "matrixmult" || GetParam() == "reduction") {
    EXPECT_NE(figures(GetParam(), machine), baseline);
  }
}

class SubdivisionIdentity : public ::testing::TestWithParam<std::string> {};

// Where instructions of a warp overlap, too: undivided warps lose nothing to splits that there could be. By age, as
// their groups have other numbers.
TEST_P(SubdivisionIdentity, WarpsThatNeverPartAreTheStacks) {
  hw::Machine machine;
  machine.core.issue = "scoreboard";
  machine.core.scheduler = "oldest";
  const std::string stack = figures(GetParam(), machine);
  EXPECT_EQ(stack.rfind("correct", 0), 0U) << stack;
  machine.core.divergence = "dws";
  auto& own = machine.core.policies.of<hw::DwsParameters>();
  own.branches = own.memory = "none";
  EXPECT_EQ(figures(GetParam(), machine), stack);
  own.branches = "pc";
  own.short_block = 1000000;
  EXPECT_NE(figures(GetParam(), machine), stack) << "the test would see a difference";
}

INSTANTIATE_TEST_SUITE_P(All, SubdivisionIdentity, ::testing::Values("bfs", "nqueens", "sort", "needleman"),
                         [](const auto& info) { return info.param; });

INSTANTIATE_TEST_SUITE_P(All, Identity, ::testing::ValuesIn(test::workload_names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace heddle
