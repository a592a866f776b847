// The stage that docs/extending.md names, in cores of every issue discipline, in front of any stage, with nobody who
// watches: an instruction that is alone takes a cycle more, and results are right.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "tb/device/code_options.hpp"
#include "tb/device/device.hpp"
#include "tb/device/workload.hpp"
#include "tests/extending/passing_stage.hpp"
#include "tests/hw/gpu_bench.hpp"
#include "tests/support/marks.hpp"

HEDDLE_SAMPLED_SANITIZED("All/AddedStage.*")

namespace heddle {
namespace {

hw::CoreExtension passing_before(const std::string& stage) {
  hw::CoreExtension extension;
  extension.stages.push_back(
      {stage, [](hw::CoreState& state, link::Clock) { return std::make_unique<hw::PassingStage>("passing", state); }});
  return extension;
}

hw::Machine issuing(const char* issue) {
  hw::Machine machine;
  machine.core.issue = issue;
  return machine;
}

// Cycles of a launch of one warp, whose last instruction ends it, with so many additions before.
link::Cycle cycles_of(test::GpuBench& bench, unsigned additions) {
  isa::test::Code code;
  for (unsigned i = 0; i < additions; ++i) {
    code.rri(isa::Op::ADD, 1, 1, 1);
  }
  code.exit();
  return bench.run(code).cycles;
}

class AddedStage : public ::testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(AddedStage, TakesACycleOfAnInstruction) {
  const auto& [issue, before] = GetParam();
  const hw::Machine machine = issuing(issue);
  test::GpuBench without(machine, "without");
  test::GpuBench with(machine, "with", passing_before(before));
  EXPECT_EQ(cycles_of(with, 0), cycles_of(without, 0) + 1);
  EXPECT_EQ(with.gpu.core(0).lets_any_by(), machine.core.issue != "scoreboard");
}

TEST_P(AddedStage, LeavesResultsAsTheyAre) {
  const auto& [issue, before] = GetParam();
  const hw::Machine machine = issuing(issue);
  tb::WorkloadOptions options;
  options.scale = tb::Workload::test_scale();
  options.code = tb::code_options(machine);
  options.resident_threads = machine.core.threads;
  const auto workload = Registry<tb::Workload>::instance().make("blackscholes", options);
  const isa::Module module = workload->compile();
  tb::DeviceOptions of_device;
  of_device.extension = passing_before(before);
  tb::Device device(machine, of_device);
  device.load(module);
  const tb::Verdict verdict = workload->run(device);
  EXPECT_TRUE(verdict.correct) << verdict.detail;
  tb::ReferenceExecutor reference;
  reference.load(module);
  EXPECT_TRUE(workload->run(reference).correct);
  EXPECT_EQ(device.retirement().total(), reference.retirement().total());
}

INSTANTIATE_TEST_SUITE_P(
    All, AddedStage,
    ::testing::Combine(::testing::Values("strict", "relaxed", "scoreboard"),
                       ::testing::Values("decode", "register_read", "execute", "memory", "writeback")),
    [](const auto& info) { return std::string(std::get<0>(info.param)) + "_before_" + std::get<1>(info.param); });

// With strict issue an instruction of a warp waits for the one before.
class StrictlyAdded : public ::testing::TestWithParam<const char*> {};

TEST_P(StrictlyAdded, TakesACycleOfEveryInstruction) {
  test::GpuBench without({}, "without");
  test::GpuBench with({}, "with", passing_before(GetParam()));
  EXPECT_EQ(cycles_of(with, 4), cycles_of(without, 4) + 5);
}

INSTANTIATE_TEST_SUITE_P(All, StrictlyAdded, ::testing::Values("decode", "execute", "writeback"),
                         [](const auto& info) { return std::string(info.param); });

TEST(AddedStages, StandInTheOrderOfTheirList) {
  std::vector<std::string> order;
  hw::CoreExtension extension;
  for (const char* name : {"first", "second"}) {
    extension.stages.push_back({"memory", [name](hw::CoreState& state, link::Clock) {
                                  return std::make_unique<hw::PassingStage>(name, state);
                                }});
  }
  extension.sub_warps = [&order](const hw::CorePlace& place, link::Clock) {
    order.push_back(place.socket);
    return nullptr;
  };
  const test::GpuBench bench({}, "bench", extension);
  EXPECT_EQ(order, (std::vector<std::string>{"writeback.returns.in", "decode.in", "register_read.in", "execute.in",
                                             "first.in", "second.in", "memory.in", "writeback.in"}));
}

}  // namespace
}  // namespace heddle
