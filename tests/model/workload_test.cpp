// Every workload on every machine: its result verified by its own host computation, every thread's retirement hash
// equal to the reference interpreter's, and a second run, in a process of its own, equal in every counter. The second
// run is watched: its cores take every cycle of a full pipeline one by one, which the first run's cores sleep through.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/error.hpp"
#include "hw/check/machine.hpp"
#include "tb/device/device.hpp"
#include "tb/device/workload.hpp"
#include "tests/model/child.hpp"
#include "tests/model/counters.hpp"
#include "tests/model/workload_cases.hpp"
#include "tests/support/marks.hpp"
#include "tests/support/program.hpp"

HEDDLE_SAMPLED_SANITIZED("All/WorkloadOnMachine.*")

namespace heddle {
namespace {

// Machines with "warp" in their name run code with 64-bit addresses.
std::unique_ptr<tb::Workload> make_as_named(const std::string& name, const hw::Machine& machine) {
  return test::make_workload(name, machine, 1, machine.name.find("warp") != std::string::npos ? 64 : 32);
}

// What a run came to: every counter by its hierarchical name, the totals, the hash, the verdict.
struct Record {
  bool correct = false;
  std::string detail;
  std::uint64_t hash = 0;
  std::string counters;
};

Record run(const std::string& name, const hw::Machine& machine, bool watched) {
  const auto workload = make_as_named(name, machine);
  tb::RunObserver nobody;
  tb::DeviceOptions options;
  if (watched) {
    options.observers = {&nobody};
  }
  tb::Device device(machine, options);
  device.load(workload->compile());
  const tb::Verdict verdict = workload->run(device);
  Record result{verdict.correct, verdict.detail, device.retirement().total(), {}};
  result.counters = test::counters_of(device);
  return result;
}

[[maybe_unused]] std::string counters_when_watched(const std::string& name, const hw::Machine& machine) {
  return test::in_child([&] { return run(name, machine, true).counters; });
}

class WorkloadOnMachine : public ::testing::TestWithParam<std::tuple<std::string, std::size_t>> {};

TEST_P(WorkloadOnMachine, EqualsTheReferenceAndItself) {
  const auto& [name, index] = GetParam();
  const hw::Machine machine = test::machine_at(index);
  std::unique_ptr<tb::Workload> workload;
  try {
    workload = make_as_named(name, machine);
  } catch (const InputError& error) {  // its blocks have 256 threads
    EXPECT_NE(machine.core.threads % 256, 0U) << error.what();
    return;
  }
  const isa::Module module = workload->compile();
  const bool warp_operations = std::any_of(module.kernels.begin(), module.kernels.end(),
                                           [](const isa::Kernel& kernel) { return kernel.uses_warp_operations; });
  if (warp_operations && !hw::why_no_warp_operations(machine.core).empty()) {
    EXPECT_THROW(static_cast<void>(run(name, machine, false)), InputError);
    return;
  }
#ifdef HEDDLE_FEW_MACHINES
  const Record plain = run(name, machine, true);  // one run, the one that takes every cycle
#else
  const std::string watched = counters_when_watched(name, machine);
  if (watched.rfind("refused: resources exceeded", 0) == 0) {  // a block needs more than a core has
    const bool threads = machine.core.threads < 512;
    EXPECT_TRUE(threads || machine.scratchpad.bytes < 32768) << watched;
    EXPECT_NE(watched.find(threads ? fmt::format("a core has {} (core.threads)", machine.core.threads)
                                   : fmt::format("a core has {} (scratchpad.bytes)", machine.scratchpad.bytes)),
              std::string::npos)
        << watched;
    EXPECT_THROW(static_cast<void>(run(name, machine, false)), SimulatedFault);
    return;
  }
  const Record plain = run(name, machine, false);
  EXPECT_EQ(plain.counters, watched);
#endif
  EXPECT_TRUE(plain.correct) << plain.detail;

  isa::InterpreterOptions options;
  options.trap_on_division_by_zero = machine.core.division_trap;
  tb::ReferenceExecutor reference(options);
  reference.load(module);
  const tb::Verdict verdict = workload->run(reference);
  EXPECT_TRUE(verdict.correct) << verdict.detail;
  if (!workload->order_dependent()) {
    EXPECT_EQ(plain.hash, reference.retirement().total());
  }
}

// The usual run: half of the workloads on each of the machines that run different code, and one in 24 on each of the
// others, which add a mechanism or run that code with other numbers. Of the workloads of the DWS report, of the
// warp-size study and of the ODGS paper one in 5, and one in 32. With sanitizers, which take ten times as long:
// workloads that between them ask everything of a machine, a third of them on each machine with code of its own, once
// each. The long run has the others.
bool is_usual([[maybe_unused]] std::size_t workload, std::size_t machine) {
  static const std::set<std::string> different = {"test-baseline", "test-throughcores4", "test-packedsimd8",
                                                  "test-freely",   "test-tbcsimd8",      "test-dwfanylane",
                                                  "test-pcsticky", "test-l2inclusive"};
  static const std::set<std::string> loops = {
      "fft",          "filter",      "lu",         "merge",    "short",     "svm",        "backprop",
      "gaussian",     "nearest",     "pathfinder", "scan",     "srad",      "srad_lists", "streamcluster",
      "suffix_array", "suffix_tree", "walsh",      "raytrace", "synthetic", "neural",     "weather"};
  const std::string& name = test::machine_names()[machine];
#ifdef HEDDLE_FEW_MACHINES
  static const std::set<std::string> more = {"test-ccws", "test-fewestmisses", "test-adaptive", "test-scalarmemory",
                                             "test-scalarrelaxed"};
  static const std::set<std::string> demanding = {"blackjack", "histogram", "needleman", "table_scan", "vecadd"};
  return different.count(name) + more.count(name) != 0 && (workload + machine) % 3 == 0 &&
         demanding.count(test::workload_names()[workload]) != 0;
#else
  if (loops.count(test::workload_names()[workload]) != 0) {
    return (workload + machine) % (different.count(name) != 0 ? 5 : 32) == 0;
  }
  if (const auto found = different.find(name); found != different.end()) {
    return (workload + static_cast<std::size_t>(std::distance(different.begin(), found))) % 2 == 0;
  }
  return (workload + machine) % 24 == 0;
#endif
}

std::vector<std::tuple<std::string, std::size_t>> cases(bool usual) {
  if (!usual && !test::wants_long_cases()) {
    return {};
  }
  const std::vector<std::string>& machines = test::machine_names();
  std::vector<std::tuple<std::string, std::size_t>> all;
  for (std::size_t workload = 0; workload < test::workload_names().size(); ++workload) {
    for (std::size_t machine = 0; machine < machines.size(); ++machine) {
      if (is_usual(workload, machine) == usual) {
        all.emplace_back(test::workload_names()[workload], machine);
      }
    }
  }
  return all;
}

std::string workload_case(const ::testing::TestParamInfo<std::tuple<std::string, std::size_t>>& info) {
  return test::case_name(std::get<0>(info.param), test::machine_names()[std::get<1>(info.param)]);
}

INSTANTIATE_TEST_SUITE_P(All, WorkloadOnMachine, ::testing::ValuesIn(cases(true)), workload_case);
INSTANTIATE_TEST_SUITE_P(Long, WorkloadOnMachine, ::testing::ValuesIn(cases(false)), workload_case);

}  // namespace
}  // namespace heddle
