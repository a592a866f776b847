// The order in which the modules of a GPU run within a cycle changes nothing: what crosses between them counts from the
// next cycle on. Every counter of every module, over machines whose queues are full and empty.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <string>

#include "tb/device/device.hpp"
#include "tests/model/child.hpp"
#include "tests/model/crowded_machines.hpp"
#include "tests/model/machines.hpp"
#include "tests/model/workload_cases.hpp"
#include "tests/support/marks.hpp"

HEDDLE_LONG_SANITIZED("Machines/ModuleOrder.*/dynamic_warps", "Machines/ModuleOrder.*/crowded",
                      "Machines/ModuleOrder.*/compaction", "InstructionCache.OfOneLine*")

namespace heddle {
namespace {

std::string all_counters(const tb::Device& device) {
  std::string text = fmt::format("{} cycles, hash {:016x}\n", device.totals().cycles, device.retirement().total());
  for (const StatisticsRegistry::Scalar& one : device.statistics().scalars()) {
    text += fmt::format("{}.{} {}\n", one.declaration.module, one.declaration.name, *one.value);
  }
  for (const StatisticsRegistry::Histogram& one : device.statistics().histograms()) {
    text += fmt::format("{}.{} {}\n", one.declaration.module, one.declaration.name, fmt::join(*one.values, " "));
  }
  return text;
}

std::string run_shuffled(const std::string& name, const hw::Machine& machine, std::uint64_t seed) {
  return test::in_child([&] {
    const auto workload = test::make_workload(name, machine);
    tb::DeviceOptions options;
    options.shuffle = seed;
    tb::Device device(machine, options);
    device.load(workload->compile());
    const tb::Verdict verdict = workload->run(device);
    return verdict.correct ? all_counters(device) : "wrong: " + verdict.detail;
  });
}

hw::Machine quad() {
  hw::Machine machine;
  machine.gpu.cores = 4;
  machine.l1d.write_policy = "write-through";
  machine.l2.enabled = true;
  machine.l2.hit_latency = 3;
  machine.dram.channels = 2;
  return machine;
}
hw::Machine large_warps() {
  hw::Machine machine;
  machine.core.warp_size = 256;
  machine.core.former = "packed";
  machine.core.scheduler = "two-level";
  machine.l1d.hit_latency = 4;
  machine.icache.hit_latency = 3;
  return machine;
}
hw::Machine timed_dram() {
  hw::Machine machine;
  machine.gpu.cores = 2;
  machine.core.scheduler = "two-level";
  machine.l1d.write_policy = "write-through";
  machine.l2.enabled = true;
  machine.l2.write_policy = "write-through";
  machine.dram.timing = "jedec";
  machine.dram.scheduler = "fr-fcfs";
  machine.dram.write_high = 32;
  machine.dram.write_low = 8;
  machine.dram.channels = 2;
  return machine;
}

struct OrderCase {
  const char* name;
  hw::Machine (*machine)();
  const char* workload;
};
void PrintTo(const OrderCase& one, std::ostream* out) {
  *out << one.name;
}

class ModuleOrder : public ::testing::TestWithParam<OrderCase> {};

TEST_P(ModuleOrder, ChangesNoCounter) {
  const hw::Machine machine = GetParam().machine();
  const std::string usual = run_shuffled(GetParam().workload, machine, 0);
  EXPECT_NE(usual.find(" cycles, hash "), std::string::npos) << usual;
  for (const std::uint64_t seed : {7U, 1234U}) {
    EXPECT_EQ(run_shuffled(GetParam().workload, machine, seed), usual) << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Machines, ModuleOrder,
    ::testing::Values(OrderCase{"crowded", test::crowded, "sort"}, OrderCase{"coherent", test::coherent, "sort"},
                      OrderCase{"compaction", [] { return test::with_divergence("tbc"); }, "sort"},
                      OrderCase{"dynamic_warps", [] { return test::with_divergence("dwf"); }, "bfs"},
                      OrderCase{"quad", quad, "histogram"}, OrderCase{"large_warps", large_warps, "histogram"},
                      OrderCase{"timed_dram", timed_dram, "histogram"}),
    [](const auto& info) { return std::string(info.param.name); });

// Two groups that take the only frame of the instruction cache from each other come on all the same. However often a
// word is looked up until it is there, its fetch counts once.
TEST(InstructionCache, OfOneLineLetsEveryWarpComeOn) {
  const std::string text = test::in_child([] {
    hw::Machine machine;
    machine.icache.bytes = machine.icache.line_bytes;
    machine.icache.ways = 1;
    machine.core.complex_latency = 1000;
    const auto workload = test::make_workload("bfs", machine);
    tb::DeviceOptions options;
    options.max_cycles = 40'000'000;
    tb::Device device(machine, options);
    device.load(workload->compile());
    const bool correct = workload->run(device).correct;
    const hw::Totals totals = device.totals();
    return fmt::format("{}, {} more accesses than fetches", correct ? "correct" : "wrong",
                       totals.icache.accesses - totals.core.fetched);
  });
  EXPECT_EQ(text, "correct, 0 more accesses than fetches");
}

}  // namespace
}  // namespace heddle
