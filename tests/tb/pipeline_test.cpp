// heddle run --pipeline: the Kanata log read by a reader of its own, the Chrome trace as JSON.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <boost/json.hpp>
#include <cstdint>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "isa/memory_map.hpp"
#include "tests/support/marks.hpp"
#include "tests/support/program_runner.hpp"

HEDDLE_LONG_SANITIZED("All/Kanata.*/dwf_majority_bfs", "All/Kanata.*/lwm_bfs", "All/Kanata.*/lwm_two_level_histogram",
                      "KanataWindow.*", "All/Chrome.*/dwf_majority_histogram", "All/Kanata.*/tbc_needleman",
                      "All/Chrome.*/tbc_bfs", "All/KanataSplits.*")

namespace heddle::tb {
namespace {

using test::heddle;
using test::Ran;
using test::Scratch;

// ------------------------------------------------------------------------------------------------- Kanata

struct KanataRow {
  std::uint64_t begin = 0, end = 0;
  std::map<int, std::string> open;  // stage by lane
  std::vector<std::pair<std::string, std::uint64_t>> stages;
  std::map<std::string, std::uint64_t> held;  // cycles by cause
  std::uint64_t held_since = 0, held_at_write_port = 0, thread = 0;
  std::string label, details;
  bool ended = false, flushed = false;
};

// Reads the log strictly: whatever Konata would have to guess is a failure.
struct KanataReader {
  std::map<std::uint64_t, KanataRow> rows;
  std::uint64_t first_cycle = 0, last_cycle = 0, retired = 0, dependencies = 0;

  void read(const std::string& text) {
    std::istringstream lines(text);
    std::string line;
    ASSERT_TRUE(std::getline(lines, line));
    ASSERT_EQ(line, "Kanata\t0004");
    bool has_clock = false;
    std::uint64_t cycle = 0;
    std::uint64_t number = 1;
    while (std::getline(lines, line)) {
      ++number;
      std::vector<std::string> fields;
      std::istringstream in(line);
      for (std::string field; std::getline(in, field, '\t');) {
        fields.push_back(field);
      }
      SCOPED_TRACE(fmt::format("line {}: {}", number, line));
      if (fields[0] == "C=") {
        ASSERT_FALSE(has_clock);
        ASSERT_EQ(fields.size(), 2U);
        has_clock = true;
        cycle = first_cycle = std::stoull(fields[1]);
      } else if (fields[0] == "C") {
        ASSERT_TRUE(has_clock);
        ASSERT_GE(std::stoull(fields.at(1)), 1U);
        cycle += std::stoull(fields[1]);
      } else {
        ASSERT_TRUE(has_clock);
        ASSERT_NO_FATAL_FAILURE(command(fields, cycle));
      }
      last_cycle = cycle;
    }
  }

 private:
  void command(const std::vector<std::string>& fields, std::uint64_t cycle) {
    const std::uint64_t id = std::stoull(fields.at(1));
    if (fields[0] == "I") {
      ASSERT_EQ(fields.size(), 4U);
      ASSERT_EQ(id, rows.size()) << "rows are numbered in order";
      rows[id].begin = cycle;
      rows[id].thread = std::stoull(fields[3]);
      return;
    }
    ASSERT_TRUE(rows.count(id)) << "no such row";
    KanataRow& row = rows[id];
    ASSERT_FALSE(row.ended) << "the row has ended";
    if (fields[0] == "L") {
      ASSERT_EQ(fields.size(), 4U);
      (fields[2] == "0" ? row.label : row.details) += fields[3];
    } else if (fields[0] == "S") {
      const int lane = std::stoi(fields.at(2));
      ASSERT_FALSE(row.open.count(lane)) << "a stage is open";
      row.open[lane] = fields.at(3);
      if (lane == 0) {
        row.stages.emplace_back(fields[3], cycle);
      } else {
        row.held_since = cycle;
        ASSERT_TRUE(row.stages.back().first != "W" || fields[3] == "register_banks") << "what writes waits for ports";
      }
    } else if (fields[0] == "E") {
      const int lane = std::stoi(fields.at(2));
      ASSERT_TRUE(row.open.count(lane));
      ASSERT_EQ(row.open[lane], fields.at(3)) << "another stage is open";
      row.open.erase(lane);
      if (lane == 1) {
        row.held[fields[3]] += cycle - row.held_since;
        row.held_at_write_port += row.stages.back().first == "W" ? cycle - row.held_since : 0;
      }
    } else if (fields[0] == "W") {
      const std::uint64_t producer = std::stoull(fields.at(2));
      ASSERT_TRUE(rows.count(producer));
      ASSERT_LT(producer, id);
      ASSERT_FALSE(rows[producer].ended);
      ++dependencies;
    } else if (fields[0] == "R") {
      ASSERT_EQ(std::stoull(fields.at(2)), retired++);
      ASSERT_TRUE(row.open.empty()) << "a stage is open at the end";
      row.ended = true;
      row.flushed = fields.at(3) == "1";
      row.end = cycle;
    } else {
      FAIL() << "unknown command";
    }
  }
};

// The stages in their order, each at most once, each at least a cycle long.
void expect_stages_in_order(const KanataReader& log) {
  static const std::vector<std::string> kOrder = {"F", "D", "R", "X", "M", "Mg", "Mw", "W"};
  for (const auto& [id, row] : log.rows) {
    SCOPED_TRACE(fmt::format("row {}: {}", id, row.label));
    ASSERT_TRUE(row.ended);
    ASSERT_FALSE(row.stages.empty());
    EXPECT_EQ(row.stages.front().second, row.begin);
    std::size_t at = 0;
    std::uint64_t last = row.begin;
    for (std::size_t i = 0; i < row.stages.size(); ++i) {
      const auto place = std::find(kOrder.begin(), kOrder.end(), row.stages[i].first);
      ASSERT_NE(place, kOrder.end());
      const auto index = static_cast<std::size_t>(place - kOrder.begin());
      if (i != 0) {
        EXPECT_GT(index, at);
        EXPECT_GT(row.stages[i].second, last);
      }
      at = index;
      last = row.stages[i].second;
    }
    if (!row.flushed) {
      EXPECT_EQ(row.stages.back().first, "W");
      EXPECT_EQ(row.end, last + 1 + row.held_at_write_port) << "write-back takes a cycle";
      for (const char* const stage : {"R", "X", "M"}) {
        EXPECT_TRUE(std::any_of(row.stages.begin(), row.stages.end(), [&](const auto& one) {
          return one.first == stage;
        })) << stage;
      }
    }
  }
}

boost::json::object summary_of(const std::string& directory) {
  return boost::json::parse(Scratch::read(directory + "/stats.json")).at("summary").as_object();
}

// Lanes of all cores, which only the modules' own counters have.
std::uint64_t lane_instructions(const std::string& directory) {
  std::int64_t sum = 0;
  const boost::json::value stats = boost::json::parse(Scratch::read(directory + "/stats.json"));
  for (const auto& module : stats.at("modules").as_object()) {
    if (const boost::json::value* const lanes = module.value().as_object().if_contains("lane_instructions")) {
      sum += lanes->as_int64();
    }
  }
  return static_cast<std::uint64_t>(sum);
}

class Kanata : public ::testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(Kanata, AgreesWithTheStatistics) {
  const auto& [config, workload] = GetParam();
  const Scratch scratch;
  const Ran ran = test::heddle({"run", config, workload, "--scale", "0.0005", "--quiet", "--out", scratch.path("out"),
                                "--pipeline", scratch.path("p.kanata")});
  ASSERT_EQ(ran.code, 0) << ran.err;
  KanataReader log;
  ASSERT_NO_FATAL_FAILURE(log.read(Scratch::read(scratch.path("p.kanata"))));
  ASSERT_NO_FATAL_FAILURE(expect_stages_in_order(log));
  const boost::json::object summary = summary_of(scratch.path("out"));
  EXPECT_EQ(log.rows.size(), static_cast<std::size_t>(summary.at("warp_instructions").as_int64()));
  EXPECT_LE(log.last_cycle - log.first_cycle, static_cast<std::uint64_t>(summary.at("cycles").as_int64()) +
                                                  8 * static_cast<std::uint64_t>(summary.at("launches").as_int64()));

  std::uint64_t lanes = 0;
  std::int64_t scalar = 0;
  std::map<std::string, std::set<std::uint64_t>> read;  // cycles in which a sub-warp enters register read, by sub-core
  for (const auto& [id, row] : log.rows) {
    EXPECT_FALSE(row.flushed);
    const std::size_t open = row.label.rfind('[');
    ASSERT_NE(open, std::string::npos) << row.label;
    auto mask = static_cast<std::uint32_t>(std::stoul(row.label.substr(open + 1, 8), nullptr, 16));
    const std::size_t guard = row.details.find("guard true in ");
    if (guard != std::string::npos && row.label.find("bra ") == std::string::npos) {
      mask = static_cast<std::uint32_t>(std::stoul(row.details.substr(guard + 14, 8), nullptr, 16));
    }
    lanes += static_cast<unsigned>(std::popcount(mask));
    if (row.label.find("] scalar") != std::string::npos) {
      ++scalar;
      EXPECT_NE(row.details.find("one lane for all threads of the warp"), std::string::npos) << row.details;
    }
    for (const auto& [stage, since] : row.stages) {
      if (stage == "R") {
        EXPECT_TRUE(read[row.label.substr(0, row.label.find(" g"))].insert(since).second)
            << "two sub-warps in cycle " << since;
      }
    }
  }
  EXPECT_EQ(lanes, lane_instructions(scratch.path("out")));
  EXPECT_EQ(scalar, summary.at("scalar_instructions").as_int64());
  EXPECT_EQ(scalar != 0, std::string(config) == "thesis-lwm-scalar");
}

INSTANTIATE_TEST_SUITE_P(All, Kanata,
                         ::testing::Values(std::tuple{"baseline", "vecadd"}, std::tuple{"lwm", "bfs"},
                                           std::tuple{"dwf-majority", "bfs"}, std::tuple{"tbc", "needleman"},
                                           std::tuple{"lwm-two-level", "histogram"},
                                           std::tuple{"thesis-lwm-scalar", "vecadd"}, std::tuple{"h100-8sm", "scan"},
                                           std::tuple{"rtx2060-8sm", "reduction"}),
                         [](const auto& info) {
                           std::string name = fmt::format("{}_{}", std::get<0>(info.param), std::get<1>(info.param));
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// Lines of constant caches are told as those of the L1 are: the parameters' where a launch has them, of 64 bytes.
TEST(KanataParts, RowsNameTheSubCoreAndTheLinesOfParameters) {
  const Scratch scratch;
  const Ran ran = test::heddle({"run", "h100-8sm", "vecadd", "--scale", "0.0005", "--quiet", "--out",
                                scratch.path("out"), "--pipeline", scratch.path("p.kanata")});
  ASSERT_EQ(ran.code, 0) << ran.err;
  KanataReader log;
  ASSERT_NO_FATAL_FAILURE(log.read(Scratch::read(scratch.path("p.kanata"))));
  std::set<std::string> parts, lines;
  for (const auto& [id, row] : log.rows) {
    parts.insert(row.label.substr(0, row.label.find(" g")));
    if (row.label.find("ld.param") != std::string::npos) {
      lines.insert(row.details.substr(row.details.rfind("\\n", row.details.size() - 3) + 2));
    }
  }
  EXPECT_EQ(lines, std::set<std::string>{fmt::format("1 lines: {:#x}\\n", isa::kBankBacking)});
  const std::set<std::string> wanted = {"c0.0", "c0.1", "c0.2", "c0.3"};
  EXPECT_TRUE(std::includes(parts.begin(), parts.end(), wanted.begin(), wanted.end())) << *parts.begin();
}

// Warp-splits are rows of one stage: as many as the statistics count, none of which is left open.
class KanataSplits : public ::testing::TestWithParam<const char*> {};

TEST_P(KanataSplits, AreRowsThatBeginAndEnd) {
  const Scratch scratch;
  const Ran ran = test::heddle({"run", GetParam(), "merge", "--scale", "0.005", "--quiet", "--out", scratch.path("out"),
                                "--pipeline", scratch.path("p.kanata")});
  ASSERT_EQ(ran.code, 0) << ran.err;
  KanataReader log;
  ASSERT_NO_FATAL_FAILURE(log.read(Scratch::read(scratch.path("p.kanata"))));
  std::map<std::string, std::int64_t> made, ended;
  std::map<std::uint64_t, std::vector<std::pair<std::uint64_t, std::uint64_t>>> lives;  // by thread number
  const auto in_brackets = [](const std::string& text, const std::string& before) {
    const std::size_t at = text.find('(', text.find(before));
    return text.substr(at + 1, text.find(')', at) - at - 1);
  };
  std::size_t instructions = 0;
  for (const auto& [id, row] : log.rows) {
    ASSERT_TRUE(row.ended);
    EXPECT_FALSE(row.flushed) << row.label;
    if (row.stages.front().first != "Sp") {
      ++instructions;
      continue;
    }
    EXPECT_EQ(row.stages.size(), 1U);
    EXPECT_EQ(row.stages.front().second, row.begin);
    EXPECT_LT(row.begin, row.end) << row.label;
    ++made[in_brackets(row.details, "split in cycle")];
    ++ended[in_brackets(row.details, "ended in cycle")];
    lives[row.thread].emplace_back(row.begin, row.end);
  }
  for (auto& [thread, of_group] : lives) {
    std::sort(of_group.begin(), of_group.end());
    for (std::size_t i = 1; i < of_group.size(); ++i) {
      EXPECT_LE(of_group[i - 1].second, of_group[i].first + 1) << "two splits in group " << thread;
    }
  }
  const boost::json::object summary = summary_of(scratch.path("out"));
  const auto count = [&](const char* figure) { return summary.at(figure).as_int64(); };
  EXPECT_EQ(instructions, static_cast<std::size_t>(count("warp_instructions")));
  EXPECT_EQ(made["branch"], count("splits_branch"));
  EXPECT_EQ(made["access"] + made["slip"], count("splits_memory"));
  EXPECT_EQ(made["revived"], count("splits_revived"));
  EXPECT_GT(made["branch"] + made["access"] + made["slip"] + made["revived"], 0);
  // A group that its splits have left may join one of them, which ends as the last of its warp.
  EXPECT_LE(ended["pc"], count("merges_pc"));
  EXPECT_LE(ended["reconvergence"] + ended["branch"], count("merges_stack"));
  EXPECT_LE(ended["barrier"], count("merges_barrier"));
  EXPECT_EQ(made["branch"] + made["access"] + made["slip"] + made["revived"],
            ended["pc"] + ended["reconvergence"] + ended["branch"] + ended["barrier"] + ended["exit"] + ended["alone"]);
}

INSTANTIATE_TEST_SUITE_P(All, KanataSplits,
                         ::testing::Values("dws-revive-bypass", "slip-bypass", "dws-aggressive-limited"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(KanataWindow, ShowsItsCyclesOnlyAndEndsEveryRow) {
  const Scratch scratch;
  const std::vector<std::string> words = {"run", "lwm", "bfs", "--scale", "0.0005", "--quiet"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), words.begin(), words.end());
    return more;
  };
  ASSERT_EQ(test::heddle(with({"--pipeline", scratch.path("all.log")})).code, 0);
  const Ran ran = test::heddle(with({"--pipeline", scratch.path("some.log"), "--from", "3000", "--to", "4000"}));
  ASSERT_EQ(ran.code, 0) << ran.err;
  KanataReader all, some;
  ASSERT_NO_FATAL_FAILURE(all.read(Scratch::read(scratch.path("all.log"))));
  ASSERT_NO_FATAL_FAILURE(some.read(Scratch::read(scratch.path("some.log"))));
  ASSERT_NO_FATAL_FAILURE(expect_stages_in_order(some));
  EXPECT_GE(some.first_cycle, 3000U);
  EXPECT_LE(some.last_cycle, 4001U);  // what was in stage in cycle 4000 ends at the beginning of 4001
  std::size_t expected = 0;
  for (const auto& [id, row] : all.rows) {
    if (row.stages.front().first == "F") {
      expected += row.begin >= 3000 && row.begin <= 4000 ? 1 : 0;
    }
  }
  std::size_t fetched = 0;
  for (const auto& [id, row] : some.rows) {
    fetched += row.stages.front().first == "F" ? 1 : 0;
  }
  EXPECT_EQ(fetched, expected);
  EXPECT_GT(fetched, 0U);
}

// ------------------------------------------------------------------------------------------------- Chrome

struct ChromeEvents {
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::tuple<std::int64_t, std::int64_t, std::string>>>
      slices;                                                                          // by track: begin, end, name
  std::map<std::int64_t, std::vector<std::pair<char, boost::json::object>>> requests;  // by id

  void read(const std::string& text) {
    const boost::json::value trace = boost::json::parse(text);
    for (const boost::json::value& one : trace.at("traceEvents").as_array()) {
      const boost::json::object& event = one.as_object();
      const std::string_view phase = event.at("ph").as_string();
      ASSERT_EQ(phase.size(), 1U);
      if (phase == "X") {
        const std::int64_t begin = event.at("ts").as_int64();
        const std::int64_t duration = event.at("dur").as_int64();
        ASSERT_GT(duration, 0);
        slices[{event.at("pid").as_int64(), event.at("tid").as_int64()}].emplace_back(
            begin, begin + duration, std::string(event.at("name").as_string()));
      } else if (phase == "b" || phase == "e") {
        requests[event.at("id").as_int64()].emplace_back(phase[0], event);
      } else {
        ASSERT_EQ(phase, "M");
      }
    }
  }
};

void expect_nested(ChromeEvents& events) {
  for (auto& [track, slices] : events.slices) {
    std::sort(slices.begin(), slices.end(), [](const auto& a, const auto& b) {
      return std::tuple{std::get<0>(a), -std::get<1>(a)} < std::tuple{std::get<0>(b), -std::get<1>(b)};
    });
    std::vector<std::int64_t> open;
    for (const auto& [begin, end, name] : slices) {
      while (!open.empty() && open.back() <= begin) {
        open.pop_back();
      }
      if (!open.empty()) {
        EXPECT_LE(end, open.back()) << name << " on track " << track.first << "." << track.second << " at " << begin;
      }
      open.push_back(end);
    }
  }
  for (const auto& [id, marks] : events.requests) {
    std::vector<std::string> open;
    std::int64_t last = 0;
    for (const auto& [phase, event] : marks) {
      const std::string name(event.at("name").as_string());
      EXPECT_GE(event.at("ts").as_int64(), last) << "request " << id << ": " << name;
      last = event.at("ts").as_int64();
      if (phase == 'b') {
        open.push_back(name);
      } else {
        ASSERT_FALSE(open.empty());
        EXPECT_EQ(open.back(), name);
        open.pop_back();
      }
    }
    EXPECT_TRUE(open.empty()) << "request " << id;
  }
}

class Chrome : public ::testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(Chrome, IsNestedAndCountsWhatTheStatisticsCount) {
  const auto& [config, workload] = GetParam();
  const Scratch scratch;
  const Ran ran = test::heddle({"run", config, workload, "--scale", "0.0005", "--quiet", "--out", scratch.path("out"),
                                "--pipeline", scratch.path("p.json")});
  ASSERT_EQ(ran.code, 0) << ran.err;
  ChromeEvents events;
  ASSERT_NO_FATAL_FAILURE(events.read(Scratch::read(scratch.path("p.json"))));
  ASSERT_NO_FATAL_FAILURE(expect_nested(events));
  const boost::json::object summary = summary_of(scratch.path("out"));
  EXPECT_EQ(events.slices.at({0, 0}).size(), static_cast<std::size_t>(summary.at("launches").as_int64()));
  std::int64_t in_launches = 0;
  for (const auto& [begin, end, name] : events.slices.at({0, 0})) {
    in_launches += end - begin;
  }
  EXPECT_GE(in_launches, summary.at("cycles").as_int64());
  EXPECT_LE(in_launches, summary.at("cycles").as_int64() + 8 * summary.at("launches").as_int64());
  std::int64_t blocks = 0;
  for (const auto& [track, slices] : events.slices) {
    blocks += std::count_if(slices.begin(), slices.end(),
                            [](const auto& slice) { return std::get<2>(slice).rfind("block ", 0) == 0; });
  }
  EXPECT_EQ(blocks, summary.at("blocks").as_int64());
  std::int64_t accesses = 0, atomics = 0, data = 0;
  for (const auto& [id, marks] : events.requests) {
    const std::string name(marks.front().second.at("name").as_string());
    const bool own = name.rfind("L2 ", 0) == 0 || name.rfind("instruction ", 0) == 0;
    data += own ? 0 : 1;
    for (const auto& [phase, event] : marks) {
      if (phase == 'b' && event.at("name").as_string() == "DRAM access") {
        ++accesses;
        atomics += name.find("atomic ") != std::string::npos ? 1 : 0;
      }
    }
  }
  EXPECT_EQ(accesses + atomics, summary.at("dram_reads").as_int64() + summary.at("dram_writes").as_int64());
  EXPECT_EQ(data, summary.at("offcore_requests").as_int64());
}

INSTANTIATE_TEST_SUITE_P(All, Chrome,
                         ::testing::Values(std::tuple{"baseline", "vecadd"}, std::tuple{"lwm-two-level", "bfs"},
                                           std::tuple{"database-hints", "index_search"},
                                           std::tuple{"dwf-majority", "histogram"}, std::tuple{"tbc", "bfs"}),
                         [](const auto& info) {
                           std::string name = fmt::format("{}_{}", std::get<0>(info.param), std::get<1>(info.param));
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(Pipeline, ChangesNothingAndRunsBesideTheOtherTraces) {
  const Scratch scratch;
  const std::vector<std::string> words = {"run", "baseline", "histogram", "--scale", "0.0005", "--quiet", "--out"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), words.begin(), words.end());
    return more;
  };
  ASSERT_EQ(test::heddle(with({scratch.path("plain"), "--memory-trace", scratch.path("alone.txt")})).code, 0);
  const Ran ran = test::heddle(with({scratch.path("all"), "--memory-trace", scratch.path("beside.txt"), "--record",
                                     scratch.path("r.trace"), "--pipeline", scratch.path("p.json.gz")}));
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(Scratch::read(scratch.path("all/stats.json")), Scratch::read(scratch.path("plain/stats.json")));
  EXPECT_EQ(Scratch::read(scratch.path("beside.txt")), Scratch::read(scratch.path("alone.txt")));
  // The gzip file by gzip.
  const Ran unpacked = test::spawn({"gzip", "-t", scratch.path("p.json.gz")});
  EXPECT_EQ(unpacked.code, 0) << unpacked.err;
}

TEST(Pipeline, IsRefusedWithTheReason) {
  const Scratch scratch;
  const auto refused = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"run", "baseline", "vecadd", "--scale", "0.0005", "--quiet"});
    const Ran ran = test::heddle(more);
    EXPECT_EQ(ran.code, 2);
    return ran.err;
  };
  EXPECT_NE(refused({"--pipeline", scratch.path("p.vcd")}).find("does not say which format"), std::string::npos);
  EXPECT_NE(refused({"--from", "10"}).find("--from"), std::string::npos);
  EXPECT_NE(refused({"--pipeline", scratch.path("p.log"), "--from", "10", "--to", "9"}).find("--to"),
            std::string::npos);
  EXPECT_NE(refused({"--pipeline", scratch.path("no/p.log")}).find("p.log: cannot be written: No such file"),
            std::string::npos);
  EXPECT_NE(refused({"--record", scratch.path("record")}).find("does not end in .trace"), std::string::npos);
}

}  // namespace
}  // namespace heddle::tb
