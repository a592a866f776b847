// heddle run --vcd: what it records against what the statistics count.
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "hw/state/idle_cause.hpp"
#include "tests/support/marks.hpp"
#include "tests/support/program_runner.hpp"
#include "tests/support/vcd_reader.hpp"

HEDDLE_LONG_SANITIZED("Machines/WavesAgree.*/slow_fetch", "Machines/WavesAgree.*/jedec",
                      "Machines/WavesAgree.*/relaxed", "Machines/WavesAgree.*/dynamic_warps",
                      "Machines/WavesAgree.*/large_warps", "Machines/WavesAgree.*/bfs",
                      "Machines/WavesAgree.*/compaction", "Machines/WavesAgree.*/l2_and_hints",
                      "Machines/WavesAgree.*/slip", "Machines/WavesAgree.*/warp_splits",
                      "Machines/WavesAgree.*/today_by_scoreboard")

namespace heddle::studies {
namespace {

namespace json = boost::json;
using test::heddle;
using test::Ran;
using test::read_vcd;
using test::Scratch;
using test::VcdDump;

struct WavesCase {
  const char* name;
  std::vector<std::string> run;  // machine, workload, options
  bool several_starts = false;   // of accesses to memory in one cycle of the cores
};
void PrintTo(const WavesCase& one, std::ostream* out) {
  *out << one.name;
}

class WavesAgree : public testing::TestWithParam<WavesCase> {};

std::uint64_t value(const json::object& object, const std::string& key) {
  return object.at(key).to_number<std::uint64_t>();
}

std::uint64_t over_rows(const VcdDump& dump, const std::string& path) {
  return dump.sum(path, [](std::uint64_t present) { return present != 0 ? 1 : 0; });
}

// The stages of a core, or of one of its sub-cores. `reads_wait`: an instruction waits for results in register read,
// not in decode. Adds to `bank_stalls` what register read has waited for banks.
void check_stages(const VcdDump& dump, const json::object& modules, const std::string& stages, bool reads_wait,
                  std::uint64_t& bank_stalls) {
  const json::object& counts = modules.at(stages).as_object();
  EXPECT_EQ(dump.sum(stages + ".fetch.valid"), value(counts, "fetched"));
  EXPECT_EQ(dump.sum(stages + ".fetch.missed"), value(counts, "fetch_misses"));
  EXPECT_EQ(dump.sum(stages + ".writeback.valid") + dump.sum(stages + ".writeback.returns.valid"),
            value(counts, "warp_instructions"));
  // An access that parts in flight is formed and read once and retires in two parts.
  const std::uint64_t formed =
      value(counts, "warp_instructions") - value(counts, "splits_memory") - value(counts, "splits_revived");
  EXPECT_EQ(dump.sum(stages + ".decode.former.valid"), formed);
  EXPECT_EQ(dump.sum(stages + ".register_read.valid"), formed);
  if (!reads_wait) {
    EXPECT_EQ(dump.sum(stages + ".decode.former.interlock"), value(counts, "interlock_stalls"));
  }
  if (dump.signals.count(stages + ".register_read.bank_stall") != 0) {
    EXPECT_EQ(dump.sum(stages + ".register_read.bank_stall"), value(counts, "bank_stalls"));
    bank_stalls += value(counts, "bank_stalls");
  }
  EXPECT_EQ(dump.sum(stages + ".memory.lines"), value(counts, "line_requests"));
  // The state of execute adds up, cause by cause, to the statistics; so do the functional units.
  for (std::size_t cause = 0; cause < hw::kIdleCauseCount; ++cause) {
    const std::string name(hw::kIdleCauses[cause].name);
    EXPECT_EQ(dump.time_at(stages + ".execute.state", cause), value(counts, "idle_" + name)) << name;
  }
  const json::array& active = counts.at("fu_active_cycles").as_array();
  for (std::size_t lanes = 1; lanes < active.size(); ++lanes) {
    EXPECT_EQ(dump.time_at(stages + ".execute.active", lanes), active[lanes].to_number<std::uint64_t>()) << lanes;
  }
  EXPECT_NE(over_rows(dump, stages + ".scheduler.ready"), 0U);
}

void check_core(const VcdDump& dump, const json::object& modules, const std::string& core, bool reads_wait) {
  const auto sub_core = [&core](unsigned number) { return core + ".sub" + std::to_string(number); };
  const bool parts = modules.contains(sub_core(0));
  std::uint64_t bank_stalls = 0;
  if (!parts) {
    check_stages(dump, modules, core, reads_wait, bank_stalls);
  }
  for (unsigned number = 0; modules.contains(sub_core(number)); ++number) {
    check_stages(dump, modules, sub_core(number), reads_wait, bank_stalls);
  }
  const bool has_banks = dump.signals.count((parts ? sub_core(0) : core) + ".register_read.bank_stall") != 0;
  EXPECT_EQ(bank_stalls != 0, has_banks);
  for (const char* cache : {".l1d", ".icache"}) {
    const json::object& cache_counts = modules.at(core + cache).as_object();
    for (const char* count : {"hits", "misses", "merged", "fills"}) {
      EXPECT_EQ(dump.sum(core + cache + "." + count), value(cache_counts, count)) << cache << " " << count;
    }
  }
}

// Splits made and merged; entries and slots hold each group once, and the splits of one warp share no lane.
void check_splits(const VcdDump& dump, const json::object& modules, const std::string& core) {
  const std::string splits = core + ".splits.";
  if (dump.signals.count(splits + "entry0.valid") == 0) {
    return;
  }
  const json::object& counts = modules.at(core).as_object();
  EXPECT_EQ(dump.sum(splits + "made.branch"), value(counts, "splits_branch"));
  EXPECT_EQ(dump.sum(splits + "made.access") + dump.sum(splits + "made.slip"), value(counts, "splits_memory"));
  EXPECT_EQ(dump.sum(splits + "made.revived"), value(counts, "splits_revived"));
  EXPECT_EQ(dump.sum(splits + "ended.pc"), value(counts, "merges_pc"));
  EXPECT_EQ(dump.sum(splits + "ended.reconvergence") + dump.sum(splits + "ended.branch"),
            value(counts, "merges_stack"));
  EXPECT_EQ(dump.sum(splits + "ended.barrier"), value(counts, "merges_barrier"));
  std::map<std::uint64_t, std::vector<std::uint64_t>> ways;  // by cycle in which something of the table changes
  for (unsigned at = 0; dump.signals.count(splits + "entry" + std::to_string(at) + ".valid") != 0; ++at) {
    const std::string entry = splits + "entry" + std::to_string(at) + ".";
    for (const auto& change : dump[entry + "valid"].changes) {
      ways[change.time].clear();
    }
  }
  std::uint64_t seen = 0;
  for (const auto& [cycle, unused] : ways) {
    std::map<std::uint64_t, std::uint64_t> lanes;  // by register row
    std::map<std::uint64_t, unsigned> owners;
    for (unsigned at = 0; dump.signals.count(splits + "entry" + std::to_string(at) + ".valid") != 0; ++at) {
      const std::string entry = splits + "entry" + std::to_string(at) + ".";
      if (dump[entry + "valid"].number(cycle) != 1U) {
        continue;
      }
      ++seen;
      const std::uint64_t mask = dump[entry + "mask"].number(cycle).value();
      std::uint64_t& others = lanes[dump[entry + "row"].number(cycle).value()];
      EXPECT_NE(mask, 0U) << entry << cycle;
      EXPECT_EQ(others & mask, 0U) << entry << cycle;
      others |= mask;
      EXPECT_EQ(++owners[dump[entry + "group"].number(cycle).value()], 1U) << entry << cycle;
    }
    std::map<std::uint64_t, unsigned> of_slots;
    for (unsigned at = 0; dump.signals.count(splits + "slot" + std::to_string(at) + ".valid") != 0; ++at) {
      const std::string slot = splits + "slot" + std::to_string(at) + ".";
      if (dump[slot + "valid"].number(cycle) == 1U) {
        EXPECT_EQ(++of_slots[dump[slot + "group"].number(cycle).value()], 1U) << slot << cycle;
      }
    }
  }
  EXPECT_GE(seen, value(counts, "splits_branch") + value(counts, "splits_memory")) << "each has an entry at some time";
  // At the end there are no splits, and no group has a slot.
  for (const auto& [path, signal] : dump.signals) {
    if (path.find(splits) == 0 && path.size() > 6 && path.substr(path.size() - 6) == ".valid") {
      EXPECT_EQ(signal.number(dump.end - 1), 0U) << path;
    }
  }
}

void check_memory(const VcdDump& dump, const json::object& modules, bool several_starts) {
  std::uint64_t requests = 0;
  for (unsigned channel = 0; modules.contains("gpu.dram" + std::to_string(channel)); ++channel) {
    const std::string dram = "gpu.dram" + std::to_string(channel);
    const json::object& counts = modules.at(dram).as_object();
    EXPECT_EQ(dump.sum(dram + ".bus"), value(counts, "bus_busy_cycles"));
    EXPECT_EQ(dump.sum(dram + ".queue"), value(counts, "queue_wait_cycles"));
    const std::uint64_t accesses = value(counts, "reads") + value(counts, "writes") + value(counts, "atomics");
    if (several_starts) {
      EXPECT_LE(dump.sum(dram + ".start"), accesses);
      EXPECT_GT(dump.sum(dram + ".start"), accesses * 9 / 10);
    } else {
      EXPECT_EQ(dump.sum(dram + ".start"), accesses);
    }
    std::uint64_t holds = 0;
    for (unsigned bank = 0; dump.signals.count(dram + ".bank" + std::to_string(bank) + ".held") != 0; ++bank) {
      for (const auto& change : dump[dram + ".bank" + std::to_string(bank) + ".held"].changes) {
        holds += change.value == "1" ? 1 : 0;
      }
    }
    EXPECT_LE(holds, value(counts, "row_holds"));
    EXPECT_EQ(holds != 0, value(counts, "row_holds") != 0);
  }
  for (unsigned at = 0; dump.signals.count("gpu.noc.channel" + std::to_string(at) + ".valid") != 0; ++at) {
    requests += dump.sum("gpu.noc.channel" + std::to_string(at) + ".valid");
  }
  for (unsigned at = 0; modules.contains("gpu.l2_" + std::to_string(at)); ++at) {
    const std::string store = "gpu.l2_" + std::to_string(at) + ".store";
    for (const char* count : {"hits", "misses", "merged"}) {
      EXPECT_EQ(dump.sum(store + "." + count), value(modules.at(store).as_object(), count)) << store << count;
    }
  }
  EXPECT_EQ(requests, value(modules.at("gpu.noc").as_object(), "requests"));
}

TEST_P(WavesAgree, WithEveryStatisticTheyShow) {
  const Scratch scratch;
  std::vector<std::string> words = {"run"};
  words.insert(words.end(), GetParam().run.begin(), GetParam().run.end());
  std::vector<std::string> recording = words;
  recording.insert(recording.end(), {"--out", scratch.path("seen"), "--vcd", scratch.path("w.vcd")});
  words.insert(words.end(), {"--out", scratch.path("unseen")});
  const Ran ran = test::heddle(recording);
  ASSERT_EQ(ran.code, 0) << ran.err;
  ASSERT_EQ(test::heddle(words).code, 0);
  const std::string stats = Scratch::read(scratch.path("seen/stats.json"));
  EXPECT_EQ(stats, Scratch::read(scratch.path("unseen/stats.json"))) << "looking on changes nothing";
  const VcdDump dump = test::read_vcd(Scratch::read(scratch.path("w.vcd")));
  const json::value all = json::parse(stats);
  const json::object& modules = all.at("modules").as_object();
  const auto issue = all.at("machine").at("parameters").at("core").at("issue").as_string();
  check_core(dump, modules, "gpu.core0", issue == "scoreboard" || issue == "control-bits");
  check_splits(dump, modules, "gpu.core0");
  check_memory(dump, modules, GetParam().several_starts);
}

INSTANTIATE_TEST_SUITE_P(
    Machines, WavesAgree,
    testing::Values(
        WavesCase{"baseline", {"baseline", "reduction", "--scale", "0.002"}},
        WavesCase{"bfs", {"baseline", "bfs", "--scale", "0.002"}},
        WavesCase{"large_warps", {"thesis-lwm", "nqueens", "--scale", "0.002"}},
        WavesCase{"relaxed", {"thesis-lwm", "bfs", "--scale", "0.002", "--set", "core.issue=relaxed"}},
        WavesCase{"compaction", {"tbc", "blackjack", "--scale", "0.0005"}},
        WavesCase{"dynamic_warps", {"dwf-majority", "nqueens", "--scale", "0.002"}},
        WavesCase{"warp_splits", {"dws-revive-bypass", "merge", "--scale", "0.002"}},
        WavesCase{"slip", {"slip-bypass", "merge", "--scale", "0.002"}},
        WavesCase{"slow_fetch", {"baseline", "kmeans", "--scale", "0.002", "--set", "core.fetch_latency=7"}},
        WavesCase{"register_banks",
                  {"baseline", "bfs", "--scale", "0.002", "--set", "registers.banks=1", "--set",
                   "registers.write_ports=1", "--set", "registers.cache=true"}},
        WavesCase{"jedec",
                  {"baseline", "bfs", "--scale", "0.002", "--set", "dram.timing=jedec", "--set", "dram.banks=16",
                   "--set", "dram.scheduler=fr-fcfs"}},
        WavesCase{"l2_and_hints", {"database-hints", "index_search", "--scale", "0.002"}},
        // A nanosecond is a cycle there, too, as the reader of waves counts.
        WavesCase{"today",
                  {"h100-8sm", "srad", "--scale", "0.001", "--set", "gpu.cores=2", "--set", "gpu.clock_ghz=1"},
                  true},
        WavesCase{"today_by_scoreboard",
                  {"v100-8sm", "reduction", "--scale", "0.001", "--set", "gpu.cores=1", "--set", "gpu.clock_ghz=1",
                   "--set", "core.issue=scoreboard"}}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace heddle::studies
