// Totals are the sums of all units' own counters, whichever counters they declare: nothing between a counter and its
// total is written down. A unit that the totals left out, or counted twice, is found here.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "tb/device/device.hpp"
#include "tests/model/machines.hpp"
#include "tests/model/workload_cases.hpp"

namespace heddle {
namespace {

// The kind of a unit by its place in the hierarchy, as docs/statistics.md groups them.
std::string kind_of(const std::string& module) {
  const std::string last = module.substr(module.rfind('.') + 1);
  const auto begins = [&](const char* word) { return last.rfind(word, 0) == 0; };
  if (begins("bank")) {
    return "registers";
  }
  if (begins("l2")) {
    return "l2_slice";
  }
  return last == "store" ? "l2" : begins("core") ? "core" : begins("dram") ? "dram" : last;
}

using Sums = std::map<std::string, std::uint64_t>;

struct Reader {
  Sums& sums;
  std::string kind;
  void operator()(std::string_view name, const std::uint64_t& value, std::string_view, std::string_view) {
    sums[kind + '.' + std::string(name)] = value;
  }
  void operator()(std::string_view name, const std::vector<std::uint64_t>& values, std::string_view, std::string_view) {
    std::uint64_t& sum = sums[kind + '.' + std::string(name)];
    for (const std::uint64_t value : values) {
      sum += value;
    }
  }
  template <class Value>
  void operator()(std::string_view, OwnValue<Value>, std::string_view, std::string_view) {}
};

TEST(Totals, AreTheSumsOfWhatUnitsDeclare) {
  hw::Machine machine;
  machine.gpu.cores = 3;
  machine.gpu.coherence = "mesi";
  machine.core.divergence = "odgs";  // the workload uses the scratchpad, and stays in its cores
  machine.l2.enabled = machine.l2.inclusive = true;
  machine.l2.bytes = 8192;  // lines are recalled
  machine.dram.channels = 2;
  const auto workload = test::make_workload("histogram", machine);
  tb::Device device(machine);
  device.load(workload->compile());
  ASSERT_TRUE(workload->run(device).correct);

  hw::Totals totals = device.totals();
  Sums from_totals;
  hw::Totals::each_kind([&](const char* kind, auto member) {
    Reader reader{from_totals, kind};
    (totals.*member).describe(reader);
  });
  Sums from_units;
  for (const StatisticsRegistry::Scalar& one : device.statistics().scalars()) {
    from_units[kind_of(one.declaration.module) + '.' + one.declaration.name] += *one.value;
  }
  for (const StatisticsRegistry::Histogram& one : device.statistics().histograms()) {
    std::uint64_t& sum = from_units[kind_of(one.declaration.module) + '.' + one.declaration.name];  // 0: may be empty
    for (const std::uint64_t value : *one.values) {
      sum += value;
    }
  }
  for (const char* own : {"l2_slice.queue_max", "home.busy_max", "dram.queue_max", "dram.series_bucket_cycles",
                          "dram.bus_series", "dram.bank_series", "dram.queue_series", "dram.row_hit_series",
                          "dram.row_conflict_series", "core.thread_misses"}) {
    EXPECT_EQ(from_units.erase(own), 1U) << own;
  }
  // Kinds of which the machine has no unit.
  std::set<std::string> there;
  for (const auto& [name, sum] : from_units) {
    there.insert(name.substr(0, name.find('.')));
  }
  std::erase_if(from_totals, [&](const auto& sum) {
    const bool none = there.count(sum.first.substr(0, sum.first.find('.'))) == 0;
    EXPECT_TRUE(!none || sum.second == 0) << sum.first;
    return none;
  });
  EXPECT_EQ(from_totals, from_units);
  for (const char* busy : {"dispatcher.launches", "core.warp_instructions", "icache.hits", "l1d.misses", "noc.requests",
                           "scratchpad.accesses", "registers.reads", "l2_slice.requests", "l2.misses", "dram.reads",
                           "coherence.puts", "home.shares", "probes.requests"}) {
    EXPECT_NE(from_totals[busy], 0U) << busy;
  }
}

}  // namespace
}  // namespace heddle
