// A recorded run replays in the very same cycles, with every counter equal, on the machine it was recorded on; and on
// another machine in the cycles that the program itself takes there.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "base/error.hpp"
#include "tb/config/config.hpp"
#include "tb/device.hpp"
#include "tb/measure/summary.hpp"
#include "tb/trace/recorder.hpp"
#include "tb/trace/replay.hpp"
#include "tb/workload.hpp"
#include "tests/model/child.hpp"
#include "tests/model/machines.hpp"

namespace heddle {
namespace {

std::vector<hw::Machine> make_all_machines() {
  std::vector<hw::Machine> all = test::machines();
  for (hw::Machine& machine : all) {
    machine.name = "test-" + machine.name;
  }
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(HEDDLE_SOURCE_DIR "/configs")) {
    if (entry.path().extension() == ".toml") {
      paths.push_back(entry.path().string());
    }
  }
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths) {
    all.push_back(tb::read_machine(path));
    all.back().name = std::filesystem::path(path).stem().string();
  }
  return all;
}

const std::vector<hw::Machine>& all_machines() {
  static const std::vector<hw::Machine> all = make_all_machines();
  return all;
}

const hw::Machine& machine_called(const std::string& name) {
  const auto found = std::find_if(all_machines().begin(), all_machines().end(),
                                  [&](const hw::Machine& machine) { return machine.name == name; });
  return found == all_machines().end() ? throw InternalError("no machine " + name) : *found;
}

// Compiled for `compiled_for`, which need not be the machine that runs it.
std::unique_ptr<tb::Workload> make(const std::string& name, const hw::Machine& compiled_for) {
  tb::WorkloadOptions options;
  options.scale = tb::Workload::test_scale();
  options.max_registers = compiled_for.core.registers_per_thread;
  options.if_conversion = compiled_for.core.if_conversion;
  options.resident_threads = compiled_for.core.threads;
  options.simd_width = compiled_for.core.simd_width;
  return Registry<tb::Workload>::instance().make(name, options);
}

std::string counters(const tb::Device& device) {
  std::string text;
  const hw::Totals totals = device.totals();
  text += fmt::format("cycles {}\nidle {}\nactive {}\n", totals.cycles, fmt::join(totals.idle, " "),
                      fmt::join(totals.fu_active, " "));
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

// In a process of its own.
Recorded record(const std::string& name, const hw::Machine& machine) {
  const std::string both = test::in_child([&] {
    std::ostringstream out;
    tb::TraceRecorder recorder(out);
    tb::DeviceOptions options;
    options.observers = {&recorder};
    const auto workload = make(name, machine);
    tb::Device device(machine, options);
    device.load(workload->compile());
    const tb::Verdict verdict = workload->run(device);
    if (!verdict.correct) {
      throw InternalError(verdict.detail);
    }
    traces::TraceRun run;
    run.subject = name;
    run.cycles = device.totals().cycles;
    recorder.finish(run);
    std::string text = counters(device);
    return fmt::format("{:12}{}{}", text.size(), text, out.str());
  });
  if (both.size() < 12 || both.rfind("refused", 0) == 0) {
    return {both, {}};
  }
  const std::size_t size = std::stoul(both.substr(0, 12));
  return {both.substr(12, size), both.substr(12 + size)};
}

std::string replay(const std::string& trace, const hw::Machine& machine) {
  std::istringstream in(trace);
  tb::TraceSubject subject(in, "recorded.trace");
  subject.check(machine);
  tb::DeviceOptions options;
  options.replay = &subject;
  tb::Device device(machine, options);
  device.load(subject.compile());
  static_cast<void>(subject.run(device, std::nullopt));
  return counters(device);
}

// ------------------------------------------------------------------------------- the machine it was recorded on

class Replay : public ::testing::TestWithParam<std::tuple<std::string, std::size_t>> {};

TEST_P(Replay, TakesTheSameCycles) {
  const auto& [name, index] = GetParam();
  const hw::Machine& machine = all_machines()[index];
  const Recorded recorded = record(name, machine);
  if (recorded.trace.empty()) {  // the workload does not run on this machine: warps of 32 threads only
    EXPECT_EQ(recorded.counters.rfind("refused: ", 0), 0U) << recorded.counters;
    return;
  }
  EXPECT_EQ(replay(recorded.trace, machine), recorded.counters);
}

bool is_usual(const std::string& workload, const std::string& machine) {
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

std::vector<std::tuple<std::string, std::size_t>> cases(bool usual) {
  std::vector<std::tuple<std::string, std::size_t>> all;
  for (const auto& [name, entry] : Registry<tb::Workload>::instance().entries()) {
    for (std::size_t index = 0; index < all_machines().size(); ++index) {
      if (is_usual(name, all_machines()[index].name) == usual) {
        all.emplace_back(name, index);
      }
    }
  }
  return all;
}

std::string case_name(const ::testing::TestParamInfo<std::tuple<std::string, std::size_t>>& info) {
  std::string name = std::get<0>(info.param) + "_on_" + all_machines()[std::get<1>(info.param)].name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, Replay, ::testing::ValuesIn(cases(true)), case_name);
INSTANTIATE_TEST_SUITE_P(Long, Replay, ::testing::ValuesIn(cases(false)), case_name);

// ------------------------------------------------------------------------------- another machine

// Where what threads do does not depend on time, a record made elsewhere takes the cycles of the program itself.
class ReplayElsewhere : public ::testing::TestWithParam<std::tuple<const char*, const char*, const char*>> {};

TEST_P(ReplayElsewhere, TakesTheCyclesOfTheProgram) {
  const auto& [name, from, to] = GetParam();
  hw::Machine recorder = machine_called(from);
  const hw::Machine& machine = machine_called(to);
  // The record holds the code, so it has to be compiled alike.
  recorder.core.registers_per_thread = machine.core.registers_per_thread;
  recorder.core.if_conversion = machine.core.if_conversion;
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

TEST(ReplayRefusal, WarpLevelOperationsNeedTheWarpsOfTheRecord) {
  const Recorded recorded = record("table_scan", machine_called("database-baseline"));
  ASSERT_FALSE(recorded.trace.empty()) << recorded.counters;
  std::istringstream in(recorded.trace);
  const tb::TraceSubject subject(in, "scan.trace");
  subject.check(machine_called("database-hints"));
  hw::Machine narrow = machine_called("baseline");
  narrow.core.simd_width = narrow.core.warp_size = 8;
  bool uses = false;
  const isa::Module module = subject.compile();
  for (const isa::Kernel& kernel : module.kernels) {
    uses = uses || kernel.uses_warp_operations;
  }
  ASSERT_TRUE(uses);
  try {
    subject.check(narrow);
    FAIL() << "not refused";
  } catch (const InputError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("scan.trace"), std::string::npos) << text;
    EXPECT_NE(text.find("recorded with 32 threads a warp, this machine has 8"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace heddle
