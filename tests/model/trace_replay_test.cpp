// A recorded run replays in the very same cycles, with every counter equal, on the machine it was recorded on; and on
// another machine in the cycles that the program itself takes there.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "base/error.hpp"
#include "hw/divergence/divergence.hpp"
#include "hw/scalar/scalarisation.hpp"
#include "tb/device/device.hpp"
#include "tb/device/workload.hpp"
#include "tb/measure/summary.hpp"
#include "tb/measure/trace/recorder.hpp"
#include "tb/measure/trace_subject.hpp"
#include "tests/model/child.hpp"
#include "tests/model/wandering.hpp"
#include "tests/model/workload_cases.hpp"
#include "tests/support/marks.hpp"
#include "tests/support/program.hpp"
#include "traces/warp_trace.hpp"

HEDDLE_LONG_SANITIZED("All/Replay*")

namespace heddle {
namespace {

std::string counters(const tb::Device& device) {
  std::string text;
  const hw::Totals totals = device.totals();
  text += fmt::format("cycles {}\nidle {}\nactive {}\n", totals.cycles, fmt::join(totals.core.idle, " "),
                      fmt::join(totals.core.fu_active, " "));
  for (const StatisticsRegistry::Scalar& scalar : device.statistics().scalars()) {
    text += fmt::format("{} {} {}\n", scalar.declaration.module, scalar.declaration.name, *scalar.value);
  }
  for (const StatisticsRegistry::Histogram& histogram : device.statistics().histograms()) {
    text += fmt::format("{} {} {}\n", histogram.declaration.module, histogram.declaration.name,
                        fmt::join(*histogram.values, " "));
  }
  return text;
}

struct Recorded {
  std::string counters;
  std::string trace;
};

// In a process of its own. `watched`: a trace is recorded; if not, the run is counted alone.
Recorded record(const std::string& name, const hw::Machine& machine, std::uint64_t shuffle, bool watched) {
  const std::string both = test::in_child([&] {
    std::ostringstream out;
    tb::TraceRecorder recorder(out);
    tb::DeviceOptions options;
    if (watched) {
      options.observers = {&recorder};
    }
    options.shuffle = shuffle;
    const auto workload = test::make_workload(name, machine);
    tb::Device device(machine, options);
    device.load(workload->compile());
    const tb::Verdict verdict = workload->run(device);
    if (!verdict.correct) {
      throw InternalError(verdict.detail);
    }
    traces::TraceRun run;
    run.subject = name;
    run.cycles = device.totals().cycles;
    if (watched) {
      recorder.finish(run);
    }
    std::string text = counters(device);
    return fmt::format("{:12}{}{}", text.size(), text, out.str());
  });
  if (both.size() < 12 || both.rfind("refused", 0) == 0) {
    return {both, {}};
  }
  const std::size_t size = std::stoul(both.substr(0, 12));
  return {both.substr(12, size), both.substr(12 + size)};
}

// Where no core has blocks no run can be recorded: threads do the same on a machine that differs in its mechanism
// alone.
Recorded record(const std::string& name, const hw::Machine& machine, std::uint64_t shuffle = 0) {
  if (hw::about<hw::Divergence>(machine.core.divergence).traits.global_pool == nullptr) {
    return record(name, machine, shuffle, true);
  }
  hw::Machine other = machine;
  other.core.divergence = "stack";
  Recorded both = record(name, machine, shuffle, false);
  if (both.counters.rfind("refused", 0) != 0) {
    both.trace = record(name, other, shuffle, true).trace;
  }
  return both;
}

std::string replay(const std::string& trace, const hw::Machine& machine, std::uint64_t shuffle = 0) {
  std::istringstream in(trace);
  tb::TraceSubject subject(in, "recorded.trace");
  subject.check(machine);
  tb::DeviceOptions options;
  options.replay = &subject;
  options.shuffle = shuffle;
  tb::Device device(machine, options);
  device.load(subject.compile());
  static_cast<void>(subject.run(device, std::nullopt));
  return counters(device);
}

// ------------------------------------------------------------------------------- the machine it was recorded on

class Replay : public ::testing::TestWithParam<std::tuple<std::string, std::size_t>> {};

TEST_P(Replay, TakesTheSameCycles) {
  const auto& [name, index] = GetParam();
  const hw::Machine machine = test::machine_at(index);
  const Recorded recorded = record(name, machine);
  if (recorded.trace.empty()) {  // the workload does not run on this machine: operations between lanes, or large blocks
    EXPECT_EQ(recorded.counters.rfind("refused: ", 0), 0U) << recorded.counters;
    return;
  }
  if (hw::about<hw::Scalarisation>(machine.core.scalar).traits.finds) {
    EXPECT_THROW(static_cast<void>(replay(recorded.trace, machine)), InputError) << "a record has no values to compare";
    return;
  }
  EXPECT_EQ(replay(recorded.trace, machine), recorded.counters);
}

bool is_usual_replay(const std::string& workload, const std::string& machine) {
  const std::vector<std::pair<const char*, const char*>> usual = {{"vecadd", "baseline"},
                                                                  {"bfs", "lwm"},
                                                                  {"bfs", "two-level"},
                                                                  {"bfs", "tbc"},
                                                                  {"bfs", "dwf-majority"},
                                                                  {"blackjack", "lwm-two-level"},
                                                                  {"histogram", "per-thread-pc"},
                                                                  {"histogram", "test-l2inclusive"},
                                                                  {"reduction", "test-freely"},
                                                                  {"sort", "test-tbcsimd8"},
                                                                  {"needleman", "dwf-pdprio"},
                                                                  {"table_scan", "database-baseline"},
                                                                  {"index_search", "database-hints"},
                                                                  {"nqueens", "test-dwfanylane"},
                                                                  {"sort", "test-packedsimd8"},
                                                                  {"reduction", "test-throughcores4"}};
  return std::any_of(usual.begin(), usual.end(),
                     [&](const auto& one) { return workload == one.first && machine == one.second; });
}

std::vector<std::tuple<std::string, std::size_t>> replays(bool usual) {
  if (!usual && !test::wants_long_cases()) {
    return {};
  }
  std::vector<std::tuple<std::string, std::size_t>> all;
  for (const std::string& name : test::workload_names()) {
    for (std::size_t index = 0; index < test::machine_names().size(); ++index) {
      if (is_usual_replay(name, test::machine_names()[index]) == usual) {
        all.emplace_back(name, index);
      }
    }
  }
  return all;
}

std::string replay_case(const ::testing::TestParamInfo<std::tuple<std::string, std::size_t>>& info) {
  return test::case_name(std::get<0>(info.param), test::machine_names()[std::get<1>(info.param)]);
}

INSTANTIATE_TEST_SUITE_P(All, Replay, ::testing::ValuesIn(replays(true)), replay_case);
INSTANTIATE_TEST_SUITE_P(Long, Replay, ::testing::ValuesIn(replays(false)), replay_case);

// A thread takes along how far its record has been replayed when it goes to another place.
TEST(Replay, FollowsThreadsThatChangeTheirPlaces) {
  const hw::Machine machine = test::wandering_machine(1);
  const Recorded recorded = record("reduction", machine);
  ASSERT_FALSE(recorded.trace.empty()) << recorded.counters;
  EXPECT_EQ(replay(recorded.trace, machine), recorded.counters);
}

// In whatever order cores, slices and channels have their turns: the same record, byte by byte, and the same replay.
TEST(ReplayInAnyOrder, IsTheSame) {
  const hw::Machine machine = test::machine_called("test-l2inclusive");
  ASSERT_EQ(machine.gpu.cores, 4U);
  const Recorded usual = record("histogram", machine);
  ASSERT_FALSE(usual.trace.empty()) << usual.counters;
  const Recorded shuffled = record("histogram", machine, 7);
  EXPECT_EQ(shuffled.counters, usual.counters);
  EXPECT_TRUE(shuffled.trace == usual.trace);
  EXPECT_EQ(replay(usual.trace, machine, 7), usual.counters);
}

// ------------------------------------------------------------------------------- another machine

// Where what threads do does not depend on time, a record made elsewhere takes the cycles of the program itself.
class ReplayElsewhere : public ::testing::TestWithParam<std::tuple<const char*, const char*, const char*>> {};

TEST_P(ReplayElsewhere, TakesTheCyclesOfTheProgram) {
  const auto& [name, from, to] = GetParam();
  hw::Machine recorder = test::machine_called(from);
  const hw::Machine machine = test::machine_called(to);
  // The record holds the code, so it has to be compiled alike.
  recorder.core.registers_per_thread = machine.core.registers_per_thread;
  recorder.core.if_conversion = machine.core.if_conversion;
  recorder.core.predicated_loads = machine.core.predicated_loads;
  recorder.core.unroll = machine.core.unroll;
  recorder.core.software_division = machine.core.software_division;
  recorder.core.peephole = machine.core.peephole;
  recorder.core.convergence_instructions = machine.core.convergence_instructions;
  ASSERT_EQ(recorder.core.threads, machine.core.threads);
  const Recorded there = record(name, recorder);
  ASSERT_FALSE(there.trace.empty()) << there.counters;
  const std::string program = record(name, machine).counters;
  EXPECT_NE(there.counters, program);
  EXPECT_EQ(replay(there.trace, machine), program);
}

INSTANTIATE_TEST_SUITE_P(All, ReplayElsewhere,
                         ::testing::Values(std::tuple{"sort", "baseline", "lwm-two-level"},
                                           std::tuple{"needleman", "lwm", "tbc"},
                                           std::tuple{"blackjack", "tbc", "dwf-majority"},
                                           std::tuple{"sort", "dwf-majority", "baseline"},
                                           std::tuple{"reduction", "test-simd8", "test-warp256"},
                                           std::tuple{"needleman", "baseline", "test-throughcores2"},
                                           std::tuple{"nqueens", "two-level", "per-thread-pc"}),
                         [](const auto& info) {
                           std::string name = fmt::format("{}_of_{}_on_{}", std::get<0>(info.param),
                                                          std::get<1>(info.param), std::get<2>(info.param));
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// A trace as earlier versions recorded it on a machine whose SIMD unit has so many lanes.
std::string with_warps_of(const std::string& trace, unsigned threads) {
  std::istringstream in(trace);
  traces::WarpTraceReader reader(in, "recorded.trace");
  std::ostringstream out;
  traces::WarpTraceWriter writer(out);
  for (const isa::Module& module : reader.modules()) {
    writer.module(module);
  }
  for (const traces::WarpTraceReader::Launch& launch : reader.launches()) {
    traces::TraceLaunch changed = launch.launch;
    changed.warp_size = threads;
    const isa::Kernel& kernel = reader.kernel_of(launch);
    const traces::KernelEvents events(kernel.words);
    writer.begin_launch(changed, kernel);
    for (const traces::WarpTraceReader::Launch::Part& part : launch.parts) {
      const std::vector<traces::ThreadEvents> all = reader.threads(launch, part, events);
      const std::size_t of_block = launch.launch.block.count();
      for (std::size_t first = 0; first < all.size(); first += of_block) {
        writer.block(std::span(all).subspan(first, of_block));
      }
    }
    writer.end_launch();
  }
  writer.finish(reader.run());
  return out.str();
}

TEST(ReplayRefusal, WarpLevelOperationsNeedWarpsOf32) {
  const Recorded recorded = record("table_scan", test::machine_called("database-baseline"));
  ASSERT_FALSE(recorded.trace.empty()) << recorded.counters;
  std::istringstream in(recorded.trace);
  const tb::TraceSubject subject(in, "scan.trace");
  subject.check(test::machine_called("database-hints"));
  hw::Machine narrow = test::machine_called("baseline");
  narrow.core.simd_width = narrow.core.warp_size = 8;
  subject.check(narrow);
  const isa::Module module = subject.compile();
  const auto uses = std::find_if(module.kernels.begin(), module.kernels.end(),
                                 [](const isa::Kernel& kernel) { return kernel.uses_warp_operations; });
  ASSERT_NE(uses, module.kernels.end());
  std::istringstream old(with_warps_of(recorded.trace, 8));
  const tb::TraceSubject before(old, "scan.trace");
  try {
    before.check(narrow);
    FAIL() << "not refused";
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()),
              "scan.trace: kernel '" + uses->name +
                  "' uses warp-level operations (vote, shfl, match, lane ids), so that what its threads did depends on "
                  "their warps: recorded with 8 threads a warp, this machine has 32; record it anew");
  }
}

}  // namespace
}  // namespace heddle
