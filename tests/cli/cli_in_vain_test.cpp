// heddle run: settings that have no effect on the machine are noted, and have none.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>

#include "tests/support/marks.hpp"
#include "tests/support/program_runner.hpp"

HEDDLE_LONG_SANITIZED("Keys/CliRunInVain.*/icache")

namespace heddle::studies {
namespace {

namespace json = boost::json;
using test::heddle;
using test::Ran;
using test::Scratch;

// What is said in vain, and that it is: every figure of the run is the same without it.
struct InVain {
  const char* name;
  std::string machine;
  std::vector<std::string> where;  // settings
  std::vector<std::string> vain;   // settings besides
  std::string because;
  std::string workload = "bfs";
};
void PrintTo(const InVain& one, std::ostream* out) {
  *out << one.name;
}

class CliRunInVain : public testing::TestWithParam<InVain> {};

TEST_P(CliRunInVain, IsNotedAndChangesNothing) {
  const InVain& one = GetParam();
  const Scratch scratch;
  const auto figures = [&](const std::vector<std::string>& more, std::string& said) {
    std::vector<std::string> words = {"run",   one.machine, one.workload,       "--scale",
                                      "0.001", "--out",     scratch.path("out")};
    for (const auto* const settings : {&one.where, &more}) {
      for (const std::string& setting : *settings) {
        words.insert(words.end(), {"--set", setting});
      }
    }
    const Ran ran = test::heddle(words);
    EXPECT_EQ(ran.code, 0) << ran.err;
    said = ran.err;
    const json::value value = json::parse(Scratch::read(scratch.path("out/stats.json")));
    return json::serialize(value.at("summary")) + json::serialize(value.at("modules"));
  };
  std::string plain;
  std::string noted;
  EXPECT_TRUE(figures({}, plain) == figures(one.vain, noted)) << "it has an effect";
  EXPECT_EQ(plain, "");
  for (const std::string& setting : one.vain) {
    const std::size_t equals = setting.find('=');
    EXPECT_NE(noted.find(setting.substr(0, equals) + " = " + setting.substr(equals + 1)), std::string::npos) << noted;
  }
  EXPECT_EQ(noted.substr(0, 14), "heddle: note: ");
  EXPECT_TRUE(noted.ends_with(" while " + one.because + "\n")) << noted;
  EXPECT_EQ(std::count(noted.begin(), noted.end(), '\n'), 1) << noted;
}

std::vector<std::string> each_of(const std::string& section, const std::vector<std::string>& keys,
                                 const std::string& value) {
  std::vector<std::string> out;
  for (const std::string& key : keys) {
    out.push_back(section + "." + key + "=" + value);
  }
  return out;
}

INSTANTIATE_TEST_SUITE_P(
    TwoLevels, CliRunInVain,
    testing::Values(InVain{"fixed_order",
                           "two-level",
                           {"two_level.outer_scheduler=fixed"},
                           {"two_level.fetch_group_timeout=7"},
                           "two_level.outer_scheduler is fixed, which is asked before every fetch"},
                    InVain{"adaptive",
                           "two-level",
                           {"core.scheduler=two-level-adaptive"},
                           {"two_level.fetch_group=3", "two_level.inner_scheduler=gto",
                            "two_level.outer_scheduler=oldest"},
                           "core.scheduler is two-level-adaptive"}),
    [](const auto& info) { return std::string(info.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Keys, CliRunInVain,
    testing::Values(
        InVain{"two_level",
               "baseline",
               {},
               {"two_level.fetch_group=3", "two_level.fetch_group_rule=current", "two_level.fetch_group_timeout=7",
                "two_level.inner_scheduler=gto", "two_level.outer_scheduler=oldest"},
               "core.scheduler is round-robin"},
        InVain{"outer_order",
               "two-level",
               {},
               {"two_level.outer_scheduler=oldest"},
               "two_level.fetch_group_rule is current and two_level.fetch_group_timeout is 0"},
        InVain{"packing",
               "baseline",
               {},
               {"packing.memory_by_rows=false", "packing.branch_once=false"},
               "core.former is rows"},
        InVain{"lanes", "tbc", {}, {"dwf.lane_aware=false"}, "core.divergence is tbc"},
        InVain{"icache",
               "baseline",
               {"icache.enabled=false"},
               {"icache.bytes=8192", "icache.ways=2", "icache.hit_latency=9", "icache.mshr_targets=1"},
               "icache.enabled is false"},
        InVain{"l1d",
               "baseline",
               {"l1d.enabled=false"},
               {"l1d.bytes=65536", "l1d.ways=2", "l1d.hit_latency=9", "l1d.mshr_targets=1"},
               "l1d.enabled is false"},
        InVain{"register_banks",
               "baseline",
               {},
               {"registers.read_ports=2", "registers.read_cycles=1", "registers.write_ports=1", "registers.cache=true"},
               "registers.banks is 0"},
        InVain{"constants",
               "baseline",
               {},
               each_of("constant_cache",
                       {"ways", "hit_latency", "ports", "mshrs", "mshr_targets", "l0_ways", "l0_latency", "interval"},
                       "9"),
               "constant_cache.bytes is 0"},
        InVain{"l0_constants",
               "baseline",
               {"constant_cache.bytes=1024"},
               {"constant_cache.l0_ways=1", "constant_cache.l0_latency=9"},
               "constant_cache.l0_bytes is 0"},
        InVain{"scratchpad_port", "baseline", {}, {"scratchpad.return_bytes=16"}, "l1d.return_bytes is 0"},
        InVain{"l1d_banks", "baseline", {}, {"l1d.banks=16"}, "l1d.ports is 1"},
        InVain{"l1d_writes",
               "baseline",
               {"l1d.enabled=false"},
               {"l1d.write_policy=write-through"},
               "l1d.enabled is false"},
        InVain{"l2",
               "baseline",
               {},
               {"l2.bytes=4096", "l2.ways=2", "l2.line_bytes=64", "l2.hit_latency=3", "l2.banks=2",
                "l2.bank_interval=9", "l2.mshrs=2", "l2.mshr_targets=1", "l2.write_policy=write-through",
                "l2.write_buffer=1", "l2.queue=1", "l2.inclusive=true"},
               "l2.enabled is false"},
        InVain{"channels", "baseline", {}, {"dram.channel_xor=true"}, "dram.channels is 1"},
        InVain{"hints",
               "database-hints",
               {"dram.hints=false"},
               {"dram.hint_threshold=50"},
               "dram.hints is false",
               "index_search:levels=3,row_hints"},
        InVain{"latencies",
               "baseline",
               {"dram.timing=jedec", "dram.banks=16", "dram.write_high=0"},
               {"dram.row_hit=7", "dram.row_conflict=9", "dram.row_closed=8", "dram.bandwidth_gbs=1.5"},
               "dram.timing is jedec"},
        InVain{"no_timing",
               "baseline",
               {"dram.timing=none", "dram.channels=2"},
               {"dram.row_hit=7", "dram.row_conflict=9", "dram.row_closed=8", "dram.bandwidth_gbs=1.5",
                "dram.scheduler=fr-fcfs", "dram.row_policy=closed", "dram.bank_xor=true", "dram.starvation_bound=50",
                "dram.turnaround=9", "dram.write_high=8", "dram.write_low=2", "dram.hints=false",
                "dram.hint_threshold=77"},
               "dram.timing is none"},
        InVain{"no_banks",
               "baseline",
               {"dram.timing=none"},
               {"dram.banks=2", "dram.row_bytes=512", "dram.mapping=row-column-bank"},
               "dram.timing is none and dram.channels is 1"},
        InVain{"preset", "baseline", {}, {"dram.preset=hbm2"}, "dram.timing is not jedec"},
        InVain{"jedec",
               "baseline",
               {},
               each_of("jedec",
                       {"tck_ps", "bank_groups", "burst_bytes", "burst",  "cl",     "cwl",    "trcd_rd", "trcd_wr",
                        "trp",    "tras",        "trc",         "tccd_s", "tccd_l", "trrd_s", "trrd_l",  "tfaw",
                        "twr",    "twtr_s",      "twtr_l",      "trtp",   "trtw",   "trefi",  "trfc"},
                       "9"),
               "dram.timing is not jedec"},
        InVain{"refresh",
               "baseline",
               {"dram.timing=jedec", "dram.banks=16", "dram.write_high=0", "jedec.refresh=false"},
               {"jedec.trefi=9", "jedec.trfc=99"},
               "jedec.refresh is false"}),
    [](const auto& info) { return std::string(info.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Allocation, CliRunInVain,
    testing::Values(InVain{"gap",
                           "baseline",
                           {"allocation.placement=page"},
                           {"allocation.gap=1024"},
                           "allocation.placement is not gap"},
                    InVain{"seed", "baseline", {}, {"allocation.seed=7"}, "allocation.placement is not seeded"}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace heddle::studies
