// An example of docs/extending.md: a pipeline stage.
#include "tests/extending/passing_stage.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "tests/hw/gpu_bench.hpp"

namespace heddle::test {
namespace {

Cycle cycles_of_two_additions(GpuBench& bench) {
  Code code;
  code.rri(Op::ADD, 1, 1, 5);
  code.rri(Op::ADD, 1, 1, 5);
  code.exit();
  return bench.run(code).cycles;
}

TEST(PassingStage, TakesACycleOfEachInstruction) {
  hw::CoreExtension extension;
  extension.stages.push_back({"execute", [](hw::CoreState& state, link::Clock) {
                                return std::make_unique<hw::PassingStage>("passing", state);
                              }});
  GpuBench without({}, "without");
  GpuBench with({}, "with", extension);
  EXPECT_EQ(cycles_of_two_additions(with), cycles_of_two_additions(without) + 3);
}

}  // namespace
}  // namespace heddle::test
