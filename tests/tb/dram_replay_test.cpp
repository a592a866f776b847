// heddle dram and heddle list mapping: traces in, figures out, refusals with their place.
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <filesystem>
#include <regex>
#include <sstream>

#include "base/error.hpp"
#include "tb/measure/dram/dram_replay.hpp"
#include "tests/support/program_runner.hpp"
#include "traces/request_trace.hpp"

namespace heddle::tb {
namespace {

using ::heddle::traces::RequestTrace;
using ::heddle::traces::TraceRequest;
using test::heddle;
using test::Ran;
using test::Scratch;

std::vector<TraceRequest> read_all(const std::string& text) {
  std::istringstream in(text);
  RequestTrace trace(in, "t");
  std::vector<TraceRequest> requests;
  for (TraceRequest request; trace.next(request);) {
    requests.push_back(request);
  }
  return requests;
}

std::string trace_refusal(const std::string& text) {
  try {
    (void)read_all(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

TEST(RequestTrace, ReadsTheSharedForms) {
  const std::vector<TraceRequest> requests = read_all(
      "# a comment\n"
      "0x12345680 R\n"
      "\n"
      "4096 W 77\n"
      "ld 0x40 // trailing\r\n"
      "ST\t128\n"
      "3 256 0x200\n"
      "9 512\n"
      "RH 0x80\n"
      "0X100 write");
  ASSERT_EQ(requests.size(), 9U);
  EXPECT_EQ(requests[0].address, 0x12345680U);
  EXPECT_FALSE(requests[0].write);
  EXPECT_FALSE(requests[0].has_cycle);
  EXPECT_TRUE(requests[1].write);
  EXPECT_TRUE(requests[1].has_cycle);
  EXPECT_EQ(requests[1].cycle, 77U);
  EXPECT_EQ(requests[2].address, 0x40U);
  EXPECT_EQ(requests[3].address, 128U);
  EXPECT_TRUE(requests[3].write);
  EXPECT_EQ(requests[4].wait, 3U);
  EXPECT_EQ(requests[4].address, 256U);
  EXPECT_FALSE(requests[4].write);
  EXPECT_EQ(requests[5].address, 0x200U);
  EXPECT_TRUE(requests[5].write);
  EXPECT_EQ(requests[5].wait, 0U);
  EXPECT_EQ(requests[6].wait, 9U);
  EXPECT_TRUE(requests[7].hint);
  EXPECT_EQ(requests[8].line, 10U);
  EXPECT_TRUE(requests[8].write);
}

TEST(RequestTrace, LongFilesCrossTheBuffer) {
  std::string text;
  for (unsigned i = 0; i != 30000; ++i) {
    text += "R " + std::to_string(i * 64) + "\n";
  }
  const std::vector<TraceRequest> requests = read_all(text);
  ASSERT_EQ(requests.size(), 30000U);
  for (unsigned i = 0; i != 30000; ++i) {
    ASSERT_EQ(requests[i].address, i * 64U);
  }
}

TEST(RequestTrace, RefusesBadLinesWithTheirPlace) {
  EXPECT_EQ(trace_refusal("R 0\n0x10 Q\n").substr(0, 50), "t:2: 'Q' is neither a read (R, RD, LD) nor a write");
  EXPECT_NE(trace_refusal("0x10\n").find("t:1: '0x10' alone is no request"), std::string::npos);
  EXPECT_NE(trace_refusal("R W\n").find("'W' is no address"), std::string::npos);
  EXPECT_NE(trace_refusal("R 0x1g\n").find("'0x1g' is no address"), std::string::npos);
  EXPECT_NE(trace_refusal("R -4\n").find("'-4' is no address"), std::string::npos);
  EXPECT_NE(trace_refusal("R 0x11111111111111111\n").find("is no address"), std::string::npos);
  EXPECT_NE(trace_refusal("1 2 x\n").find("'x' is no address"), std::string::npos);
  EXPECT_NE(trace_refusal("1 2 3 4\n").find("more than three numbers"), std::string::npos);
  EXPECT_NE(trace_refusal("1 2 3 4 5\n").find("more than four words"), std::string::npos);
  EXPECT_NE(trace_refusal("WH 0\n").find("'WH' is neither"), std::string::npos);  // a hint is a read's
  EXPECT_NE(trace_refusal(std::string(70000, 'R')).find("a line of more than"), std::string::npos);
  EXPECT_NE(trace_refusal(std::string(50, '\x01') + " 7\n").find("'????"), std::string::npos);
  EXPECT_TRUE(read_all("").empty());
}

TEST(LatencyHistogram, PercentilesAreExactBelowAndCloseAbove) {
  LatencyHistogram histogram;
  for (unsigned i = 1; i <= 1000; ++i) {
    histogram.add(i);
  }
  EXPECT_EQ(histogram.percentile(0.5), 500U);
  EXPECT_EQ(histogram.percentile(0.99), 990U);
  EXPECT_EQ(histogram.percentile(1.0), 1000U);
  EXPECT_DOUBLE_EQ(histogram.mean(), 500.5);
  LatencyHistogram large;
  for (const std::uint64_t value : {4095U, 4096U, 5000U, 100'000U, 1U << 30U}) {
    LatencyHistogram one;
    one.add(value);
    one.add(value + (value >> 5U));
    EXPECT_GE(one.percentile(0.5), value);
    EXPECT_LE(one.percentile(0.5), value + value / 64);
  }
  EXPECT_EQ(large.percentile(0.5), 0U);
}

TEST(DramCommand, ServesATraceAndWritesItsStatistics) {
  const Scratch scratch;
  const std::string trace = scratch.write("t.trace", "0x0 R\n0x80 R\n0x8000 ST\nLD 4096\n");
  const Ran ran = test::heddle({"dram", "baseline", trace, "--out", scratch.path("out")});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_NE(ran.out.find("4 requests in"), std::string::npos) << ran.out;
  const boost::json::value stats = boost::json::parse(Scratch::read(scratch.path("out") + "/stats.json"));
  const boost::json::object& summary = stats.at("summary").as_object();
  EXPECT_EQ(summary.at("dram_reads").as_int64(), 3);
  EXPECT_EQ(summary.at("dram_writes").as_int64(), 1);
  EXPECT_EQ(summary.at("dram_row_hits").as_int64(), 1);
  // Sent in cycles 0 to 3, in the queue one later: conflict 1..301, hit behind its row 301 + 4, conflict of bank 0 when
  // that is done 305..605, and the other bank's one bus slot behind.
  EXPECT_EQ(summary.at("cycles").as_int64(), 609);
  const boost::json::object& channel = stats.at("modules").at("dram0").as_object();
  EXPECT_EQ(channel.at("bus_busy_cycles").as_int64(), 16);
  // Both banks are empty at first; 0x8000 is another row of bank 0.
  EXPECT_EQ(channel.at("row_conflicts").as_int64(), 3);
  EXPECT_EQ(channel.at("row_empty").as_int64(), 2);
  EXPECT_NE(ran.out.find("row hits  empty rows  row conflicts"), std::string::npos) << ran.out;
  EXPECT_TRUE(std::regex_search(ran.out, std::regex("dram0 +3 +1 +1 +2 +1 +25.0 %"))) << ran.out;
  EXPECT_EQ(ran.err, "");
  std::int64_t bus = 0;
  for (const boost::json::value& value : channel.at("bus_series").as_array()) {
    bus += value.as_int64();
  }
  EXPECT_EQ(bus, 16);
  EXPECT_EQ(stats.at("modules").at("trace").at("latency_max").as_int64(), 606);
}

TEST(DramCommand, NotesThatTheDrainIsOff) {
  const Scratch scratch;
  const std::string trace = scratch.write("t.trace", "0x0 R\n");
  const auto said = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"dram",  "baseline",     trace, "--set", "dram.timing=jedec",
                                      "--set", "dram.banks=16"};
    words.insert(words.end(), more.begin(), more.end());
    return test::heddle(words).err;
  };
  EXPECT_EQ(said({}).substr(0, 63), "heddle: note: the write drain is off (dram.write_high = 0): und");
  EXPECT_EQ(said({"--quiet"}), "");
  EXPECT_EQ(said({"--set", "dram.write_high=8"}), "");
}

TEST(DramCommand, TimedTracesKeepTheirCycles) {
  const Scratch scratch;
  const std::string trace = scratch.write("t.trace", "0x0 R 1000\n0x80 R 2000\n");
  for (const bool timed : {false, true}) {
    std::vector<std::string> words = {"dram", "baseline", trace, "--quiet", "--out", scratch.path("out")};
    if (timed) {
      words.push_back("--timed");
    }
    ASSERT_EQ(test::heddle(words).code, 0);
    const boost::json::value stats = boost::json::parse(Scratch::read(scratch.path("out") + "/stats.json"));
    EXPECT_EQ(stats.at("summary").at("cycles").as_int64(), timed ? 2101 : 305);
  }
}

TEST(DramCommand, ATimedTraceSaysItsCyclesInOrder) {
  const Scratch scratch;
  const auto refusal = [&](const std::string& lines) {
    const std::string trace = scratch.write("t.trace", lines);
    EXPECT_EQ(test::heddle({"dram", "baseline", trace, "--quiet"}).code, 0)
        << lines;  // what the third word says is not used
    const Ran ran = test::heddle({"dram", "baseline", trace, "--timed", "--out", scratch.path("out")});
    EXPECT_EQ(ran.code, ran.err.empty() ? 0 : 2) << ran.err;
    return ran.err.empty() ? "" : ran.err.substr(("heddle: " + trace).size());
  };
  EXPECT_EQ(refusal("0x0 R 7\n# between\n0x80 W 7\nR 0x100 8\n"), "");
  EXPECT_EQ(refusal("0x0 R 7\n0x80 R\n"),
            ":2: --timed needs a cycle in each line, as its third word; as in '0x12345680 R 1234'; without --timed "
            "requests go as soon as possible\n");
  EXPECT_NE(refusal("3 0x0\n").find(":1: --timed needs a cycle"), std::string::npos);
  EXPECT_NE(refusal("0x0 R soon\n").find(":1: --timed needs a cycle"), std::string::npos);
  EXPECT_EQ(refusal("0x0 R 9\n\n0x80 R 8\n"),
            ":3: cycle 8 is before that of the line above, 9; a timed trace is in order of time\n");
}

TEST(DramCommand, HintsOfATraceHoldRows) {
  const Scratch scratch;
  const std::string trace = scratch.write("t.trace", "RH 0 0\nR 0x8000 1\nR 0x80 400\n");
  const Ran ran = test::heddle({"dram", "baseline", trace, "--timed", "--out", scratch.path("out")});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const boost::json::value stats = boost::json::parse(Scratch::read(scratch.path("out") + "/stats.json"));
  EXPECT_EQ(stats.at("modules").at("dram0").at("row_hold_hits").as_int64(), 1);
  EXPECT_EQ(stats.at("modules").at("dram0").at("row_hold_cycles").as_int64(), 100);
}

TEST(DramCommand, RunsTwiceTheSame) {
  const Scratch scratch;
  std::string text;
  std::uint64_t state = 1;
  for (unsigned i = 0; i != 3000; ++i) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    text += std::to_string(state >> 34U) + (state >> 63U != 0 ? " W\n" : " R\n");
  }
  const std::string trace = scratch.write("t.trace", text);
  for (const char* folder : {"a", "b"}) {
    const Ran ran =
        test::heddle({"dram", "baseline", trace, "--quiet", "--out", scratch.path(folder), "--set", "dram.channels=3",
                      "--set", "dram.timing=jedec", "--set", "dram.scheduler=fr-fcfs", "--set", "dram.preset=gddr6",
                      "--set", "dram.write_high=16", "--set", "dram.write_low=4"});
    ASSERT_EQ(ran.code, 0) << ran.err;
  }
  EXPECT_EQ(Scratch::read(scratch.path("a") + "/stats.json"), Scratch::read(scratch.path("b") + "/stats.json"));
}

TEST(DramCommand, RefusesWhatItCannotRead) {
  const Scratch scratch;
  const std::string bad = scratch.write("bad.trace", "R 0\nR zero\n");
  const Ran ran = test::heddle({"dram", "baseline", bad, "--out", scratch.path("out")});
  EXPECT_EQ(ran.code, 2);
  EXPECT_NE(ran.err.find("bad.trace:2: 'zero' is no address"), std::string::npos) << ran.err;
  EXPECT_NE(test::heddle({"dram", "baseline", "no_such_file"}).err.find("no_such_file: is missing"), std::string::npos);
  EXPECT_EQ(test::heddle({"dram", "baseline", bad, "--set", "dram.timing=jedec", "--set", "jedec.bank_groups=3"}).code,
            2);
  for (const char* text : {"", "# nothing\n\n"}) {
    const std::string empty = scratch.write("empty", text);
    const Ran refused = test::heddle({"dram", "baseline", empty, "--out", scratch.path("empty-out")});
    EXPECT_EQ(refused.code, 2);
    EXPECT_EQ(refused.out, "");
    EXPECT_EQ(refused.err, "heddle: " + empty + ": holds no request; one is a line such as '0x12345680 R'\n");
    EXPECT_FALSE(std::filesystem::exists(scratch.path("empty-out/stats.json")));
  }
}

TEST(DramCommand, RefusesCyclesThatNoSimulationReaches) {
  const Scratch scratch;
  const auto refusal = [&](const std::string& lines, bool timed) {
    const std::string trace = scratch.write("t.trace", lines);
    for (const char* timing : {"hit-conflict", "jedec"}) {
      std::vector<std::string> words = {"dram",   "baseline", trace, "--set", std::string("dram.timing=") + timing,
                                        "--quiet"};
      if (timed) {
        words.emplace_back("--timed");
      }
      const Ran ran = test::heddle(words);
      EXPECT_EQ(ran.code, 2) << lines;
      EXPECT_EQ(ran.err.find("heddle: " + trace + ":2: "), 0U) << ran.err;
      EXPECT_NE(ran.err.find("no request may be due after cycle 1000000000000\n"), std::string::npos) << ran.err;
    }
  };
  for (const char* cycle : {"1000000000001", "18446744073709551", "18446744073709551614", "18446744073709551615"}) {
    refusal("0x0 R 1\n0x80 R " + std::string(cycle) + "\n", true);
    refusal("0 128\n" + std::string(cycle) + " 256\n", false);
  }
  refusal("1 128\n1000000000000 256\n", false);  // a wait counts from where it begins
}

TEST(ListMapping, DrawsAMachinesMapping) {
  const Ran ran = test::heddle({"list", "mapping", "baseline", "--set", "dram.channels=2"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_NE(ran.out.find("  7           H     channel, of 2"), std::string::npos) << ran.out;
  const Ran refused = test::heddle({"list", "mapping", "baseline", "--set", "dram.mapping=R B3 C4"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("the column has 4 bits"), std::string::npos) << refused.err;
  EXPECT_EQ(test::heddle({"list", "mapping"}).code, 2);
  EXPECT_EQ(test::heddle({"list", "workloads", "baseline"}).code, 2);
}

}  // namespace
}  // namespace heddle::tb
