// Machines whose warps go on behind loads and stores (scoreboard.stall = on-use), with few records for instructions in
// flight: an instruction that finds no record for the next one lets its warp go on later, and outlasts what comes then.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <tuple>

#include "hw/issue/scoreboard.hpp"
#include "tb/device/device.hpp"
#include "tests/model/workload_cases.hpp"
#include "tests/support/marks.hpp"

HEDDLE_SAMPLED_SANITIZED("On/FewRecords.*")

namespace heddle {
namespace {

class FewRecords : public ::testing::TestWithParam<std::tuple<std::string, unsigned, std::string>> {};

TEST_P(FewRecords, BarriersAndEndsWaitForWhatIsInFlight) {
  const auto& [name, entries, issue] = GetParam();
  hw::Machine machine = test::machine_called("v100-8sm");
  machine.core.issue = issue;
  machine.core.policies.of<hw::ScoreboardParameters>().entries = entries;
  const std::unique_ptr<tb::Workload> workload = test::make_workload(name, machine);
  tb::Device device(machine, {});
  device.load(workload->compile());
  const tb::Verdict verdict = workload->run(device);
  EXPECT_TRUE(verdict.correct) << verdict.detail;
  tb::ReferenceExecutor reference;
  reference.load(workload->compile());
  EXPECT_TRUE(workload->run(reference).correct);
  EXPECT_EQ(device.retirement().total(), reference.retirement().total());
}

INSTANTIATE_TEST_SUITE_P(On, FewRecords,
                         ::testing::Combine(::testing::Values("scan", "fft", "histogram"),
                                            ::testing::Values(1U, 2U, 3U),
                                            ::testing::Values("scoreboard", "control-bits")),
                         [](const auto& info) {
                           const bool bits = std::get<2>(info.param) == "control-bits";
                           return fmt::format("{}_{}_{}", std::get<0>(info.param), std::get<1>(info.param),
                                              bits ? "control_bits" : "scoreboard");
                         });

}  // namespace
}  // namespace heddle
