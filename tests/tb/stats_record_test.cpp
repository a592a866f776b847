// stats.json: the whole text of a small run, its stability, and that it reads back.
#include "tb/measure/record.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <sstream>

#include "base/error.hpp"
#include "os/files/atomic_file.hpp"
#include "tb/measure/json_text.hpp"
#include "tb/measure/version.hpp"

namespace heddle::tb {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

struct CacheStatistics {
  std::uint64_t hits = 3;
  std::vector<std::uint64_t> per_way = {1, 2};
  template <class Visitor>
  void describe(Visitor& visit) {
    visit("hits", hits, "lines", "found");
    visit("per_way", per_way, "lines", "by way");
  }
};

hw::Totals sample_totals() {
  hw::Totals totals;
  totals.cycles = 1000;
  totals.dispatcher.launches = 2;
  totals.core.warp_instructions = 400;
  totals.core.thread_instructions = totals.core.lane_instructions = 9600;
  totals.core.fu_active.assign(33, 0);
  totals.core.fu_active[0] = 600;
  totals.core.fu_active[16] = 200;
  totals.core.fu_active[32] = 200;
  totals.core.idle[static_cast<std::size_t>(hw::IdleCause::memory)] = 450;
  totals.core.idle[static_cast<std::size_t>(hw::IdleCause::pipeline)] = 150;
  totals.core.branches = 50;
  totals.core.divergent_branches = 5;
  totals.core.memory_instructions = 80;
  totals.core.line_requests = 160;
  totals.l1d.memory_reads = 40;
  totals.l1d.memory_writes = 20;
  totals.l1d.accesses = 160;
  totals.l1d.hits = 120;
  totals.l1d.misses = 40;
  totals.dram.reads = 40;
  totals.dram.writes = 20;
  totals.dram.row_hits = 45;
  totals.dram.row_conflicts = 15;
  totals.dram.bus_busy_cycles = 240;
  totals.channels = 2;
  return totals;
}

RunRecord sample_record() {
  RunRecord record;
  record.workload = "sample";
  record.threads = 1024;
  record.scale = 0.1;
  record.seed = 7;
  record.complete = true;
  record.verdict = Verdict{true, "4 \"sums\" equal"};
  record.summary = summarise(sample_totals(), record.machine, 0x1234);
  return record;
}

std::string sample_text() {
  StatisticsRegistry modules;
  CacheStatistics first;
  CacheStatistics second;
  modules.add("gpu.core0.l1d", first);
  modules.add("gpu.core1.l1d", second);
  return stats_json(sample_record(), modules);
}

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (fs::temp_directory_path() / "heddle-stats-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TemporaryFolder() {
    std::error_code error;
    fs::permissions(path_, fs::perms::owner_all, error);
    fs::remove_all(path_, error);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] std::string path() const { return path_.string(); }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(path_)) {
      found.push_back(entry.path().filename().string());
    }
    return found;
  }

 private:
  fs::path path_;
};

TEST(Summary, RatiosFollowTheirDefinitions) {
  const Summary summary = sample_record().summary;
  EXPECT_EQ(summary.ipc, 9.6);
  EXPECT_EQ(summary.lanes_per_warp_instruction, 24.0);
  EXPECT_EQ(summary.simd_efficiency, 0.75);
  EXPECT_EQ(summary.coalescing_rate, 0.75);                      // 60 off-core requests / 80 instructions
  EXPECT_EQ(summary.line_requests_per_memory_instruction, 2.0);  // 160 / 80
  EXPECT_EQ(summary.dram_row_hit_rate, 0.75);                    // 45 / 60
  EXPECT_EQ(summary.dram_bus_utilisation, 0.12);                 // 240 / (1000 x 2 channels)
  EXPECT_EQ(summary.l1d_hit_rate, 0.75);
  EXPECT_EQ(summary.idle_cycles, 600U);
  EXPECT_EQ(summary.idle_share, 0.6);
  EXPECT_EQ(summary.retirement_hash, "0x0000000000001234");
  const auto& causes = summary.idle_cycles_by_cause.cycles;
  EXPECT_EQ(std::accumulate(causes.begin(), causes.end(), std::uint64_t{0}), summary.idle_cycles);
  EXPECT_EQ(hw::kIdleCauses[main_idle_cause(summary)].name, "memory");
}

TEST(Summary, AnEmptyRunHasNoNan) {
  const hw::Totals none;
  const Summary summary = summarise(none, {}, 0);
  EXPECT_EQ(summary.ipc, 0.0);
  EXPECT_EQ(summary.dram_row_hit_rate, 0.0);
  EXPECT_EQ(summary.fu_active_cycles.size(), 33U);
}

TEST(Summary, EveryFigureIsDeclaredOnceWithUnitAndDefinition) {
  std::vector<std::string> names;
  for (const SummaryDeclaration& declaration : summary_declarations()) {
    EXPECT_FALSE(declaration.unit.empty()) << declaration.name;
    EXPECT_GT(declaration.definition.size(), 10U) << declaration.name;
    EXPECT_EQ(std::count(names.begin(), names.end(), declaration.name), 0) << declaration.name;
    names.push_back(declaration.name);
  }
  EXPECT_EQ(nsight_metric("thread_instructions"), "smsp__thread_inst_executed_pred_on.sum");
  EXPECT_EQ(nsight_metric("l1d_hit_rate"), "") << "Nsight counts sectors";
  EXPECT_EQ(nsight_metric("thread"), "");
  const std::vector<std::string> promised = {"cycles",
                                             "warp_instructions",
                                             "thread_instructions",
                                             "ipc",
                                             "lanes_per_warp_instruction",
                                             "simd_efficiency",
                                             "fu_active_cycles",
                                             "idle_cycles",
                                             "idle_cycles_by_cause",
                                             "branches",
                                             "divergent_branches",
                                             "memory_instructions",
                                             "coalescing_rate",
                                             "l1d_accesses",
                                             "l1d_hits",
                                             "l1d_misses",
                                             "icache_misses",
                                             "scratchpad_bank_conflicts",
                                             "dram_reads",
                                             "dram_writes",
                                             "dram_row_hits",
                                             "dram_row_conflicts",
                                             "dram_row_hit_rate",
                                             "dram_bus_utilisation",
                                             "barriers",
                                             "retirement_hash"};
  ASSERT_GE(names.size(), promised.size());
  EXPECT_EQ(std::vector<std::string>(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(promised.size())),
            promised);
}

TEST(StatsJson, WholeText) {
  const std::string text = sample_text();
  const std::string head =
      "{\n  \"schema\": 2,\n  \"heddle\": \"" + std::string(version()) +
      "\",\n  \"machine\": {\n    \"name\": \"baseline\",\n    \"description\": \"\",\n"
      "    \"parameters\": {\n      \"gpu\": {\n        \"cores\": 1,\n        \"clock_ghz\": 1.0,\n"
      "        \"coherence\": \"none\",\n        \"perfect_memory\": false,\n        \"kernels\": 16,\n        "
      "\"grid_barrier_latency\": 10,\n        \"launch_latency\": 0,\n        \"memory_gib\": 3.75,\n        "
      "\"compute_capability\": \"6.0\"\n      },\n      "
      "\"core\": "
      "{\n        "
      "\"simd_width\": 32,\n";
  EXPECT_EQ(text.substr(0, head.size()), head);
  const std::string middle =
      "  \"workload\": \"sample\",\n  \"threads\": 1024,\n  \"scale\": 0.1,\n  \"seed\": 7,\n  \"address_bits\": 32,\n"
      "  \"warp_sizes\": {},\n"
      "  \"complete\": true,\n  \"stop_reason\": \"\",\n  \"out_of_bounds_loads\": [],\n  \"verdict\": {\n    "
      "\"result\": \"correct\",\n"
      "    \"detail\": \"4 \\\"sums\\\" equal\"\n  },\n  \"summary\": {\n    \"cycles\": 1000,\n"
      "    \"warp_instructions\": 400,\n    \"thread_instructions\": 9600,\n    \"ipc\": 9.6,\n"
      "    \"lanes_per_warp_instruction\": 24.0,\n    \"simd_efficiency\": 0.75,\n    \"fu_active_cycles\": [600, 0, ";
  EXPECT_NE(text.find(middle), std::string::npos) << text;
  const std::string tail =
      "  \"modules\": {\n    \"gpu.core0.l1d\": {\n      \"hits\": 3,\n      \"per_way\": [1, 2]\n    },\n"
      "    \"gpu.core1.l1d\": {\n      \"hits\": 3,\n      \"per_way\": [1, 2]\n    }\n  }\n}\n";
  EXPECT_EQ(text.substr(text.size() - tail.size()), tail);
}

TEST(StatsJson, IsAFunctionOfTheRun) {
  EXPECT_EQ(sample_text(), sample_text());
  const json::value value = json::parse(sample_text());
  EXPECT_EQ(value.at("summary").at("idle_cycles_by_cause").at("memory").as_int64(), 450);
  EXPECT_EQ(value.at("machine").at("parameters").at("l1d").at("write_policy").as_string(), "write-back");
}

TEST(JsonText, NumbersReadBackExactly) {
  EXPECT_EQ(json_text(json::array{1.0, 0.1, 1e300, -2.5, 1.0 / 3}), "[1.0, 0.1, 1e+300, -2.5, 0.3333333333333333]\n");
  EXPECT_EQ(json_text(json::array{UINT64_MAX, INT64_MIN, nullptr, true}),
            "[18446744073709551615, -9223372036854775808, null, true]\n");
  EXPECT_EQ(json_text(json::object{}), "{}\n");
  EXPECT_THROW((void)json_text(json::array{std::nan("")}), InternalError);
}

struct Pieces final : ByteSink {
  std::vector<std::string> written;
  void write(std::string_view bytes) override { written.emplace_back(bytes); }
};

TEST(JsonText, OfAnObjectMemberByMember) {
  // Of many numbers some come again.
  std::vector<double> row;
  for (unsigned i = 0; i != 40'000; ++i) {
    row.push_back(i % 7 == 0 ? 0.25 : i % 3 == 0 ? 0.1 * (i % 97) : -1.23456789e-300 / (i + 1));
  }
  const json::value whole = {
      {"a \"name\"", 1},
      {"row", json::array(row.begin(), row.end())},
      {"inner",
       {{"one", json::array{-0.5}}, {"no", json::array()}, {"none", json::object()}, {"deep", {{"x", nullptr}}}}},
      {"last", json::array{json::object{{"y", 2.0}}}}};
  Pieces pieces;
  JsonObjectText text(pieces);
  text.member("a \"name\"", 1);
  text.member("row", row);
  text.open("inner");
  text.member("one", std::vector<double>{-0.5});
  text.member("no", std::vector<double>());
  text.open("none");
  text.close();
  text.open("deep");
  text.member("x", nullptr);
  text.close();
  text.close();
  text.member("last", json::array{json::object{{"y", 2.0}}});
  text.close();
  EXPECT_EQ(pieces.written.size(), 2U);  // the long row ends one
  EXPECT_EQ(std::accumulate(pieces.written.begin(), pieces.written.end(), std::string()), json_text(whole));

  row[7] = std::nan("");
  EXPECT_THROW(JsonObjectText(pieces).member("row", row), InternalError);

  Pieces empty;
  JsonObjectText(empty).close();
  EXPECT_EQ(empty.written, std::vector<std::string>{"{}\n"});
}

TEST(RunFiles, ReadBackWhatWasWritten) {
  const TemporaryFolder folder;
  HostCost cost;
  cost.simulation_cpu_seconds = 0.5;
  cost.peak_memory_bytes = 1 << 20;
  write_run(folder.path() + "/deep/er", sample_record(), StatisticsRegistry(), cost);
  const RunFiles files = read_run(folder.path() + "/deep/er");
  EXPECT_EQ(files.workload, "sample");
  EXPECT_EQ(files.threads, 1024U);
  EXPECT_TRUE(files.complete);
  ASSERT_TRUE(files.verdict.has_value());
  EXPECT_TRUE(files.verdict->correct);
  EXPECT_EQ(files.verdict->detail, "4 \"sums\" equal");
  EXPECT_EQ(files.summary.fu_active_cycles, sample_record().summary.fu_active_cycles);
  EXPECT_EQ(files.summary.ipc, 9.6);
  EXPECT_EQ(files.summary.lanes_per_warp_instruction, 24.0);
  EXPECT_EQ(files.summary.idle_cycles_by_cause.cycles, sample_record().summary.idle_cycles_by_cause.cycles);
  EXPECT_EQ(files.cost.simulation_cpu_seconds, 0.5);
}

TEST(RunFiles, RefuseWhatIsNoRun) {
  const TemporaryFolder folder;
  EXPECT_THROW((void)read_run(folder.path()), InputError);
  for (const char* text : {"", "[]", "{", "{\"schema\": 1}", "{\"schema\": 2}", "{\"schema\": 2, \"workload\": 3}"}) {
    os::write_file(folder.path() + "/stats.json", text);
    EXPECT_THROW((void)read_run(folder.path()), InputError) << text;
  }
}

TEST(WriteFile, ReplacesWholeAndLeavesNothingElse) {
  const TemporaryFolder folder;
  os::write_file(folder.path() + "/x", "first, and longer");
  os::write_file(folder.path() + "/x", "second");
  std::ifstream in(folder.path() + "/x");
  std::ostringstream text;
  text << in.rdbuf();
  EXPECT_EQ(text.str(), "second");
  EXPECT_EQ(folder.names(), std::vector<std::string>{"x"});
}

TEST(WriteFile, AFailureKeepsTheOldStateAndNamesThePath) {
  const TemporaryFolder folder;
  fs::create_directory(folder.path() + "/taken");  // a folder cannot be replaced by a file
  try {
    os::write_file(folder.path() + "/taken", "text");
    FAIL() << "a folder was overwritten";
  } catch (const InputError& error) {
    EXPECT_EQ(error.where().file, folder.path() + "/taken");
  }
  EXPECT_EQ(folder.names(), std::vector<std::string>{"taken"});  // no temporary file is left
  EXPECT_THROW(os::write_file(folder.path() + "/missing/x", "text"), InputError);
  os::write_file(folder.path() + "/file", "");
  EXPECT_THROW(os::make_folder(folder.path() + "/file/below"), InputError);
}

}  // namespace
}  // namespace heddle::tb
