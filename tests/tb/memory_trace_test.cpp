// heddle run --memory-trace: what the file holds, and that watching changes nothing.
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <cstdint>
#include <filesystem>
#include <sstream>
#include <string>

#include "tests/support/program_runner.hpp"

namespace heddle::tb {
namespace {

using test::heddle;
using test::Ran;
using test::Scratch;

std::string stats_text(const std::string& directory) {
  return Scratch::read(directory + "/stats.json");
}

TEST(MemoryTrace, HoldsEveryRequestInOrderAndChangesNothing) {
  const Scratch scratch;
  const std::string trace = scratch.path("vecadd.trace");
  const Ran watched = test::heddle({"run", "baseline", "vecadd", "--scale", "0.001", "--quiet", "--out",
                                    scratch.path("watched"), "--memory-trace", trace});
  ASSERT_EQ(watched.code, 0) << watched.err;
  const Ran plain =
      test::heddle({"run", "baseline", "vecadd", "--scale", "0.001", "--quiet", "--out", scratch.path("plain")});
  ASSERT_EQ(plain.code, 0) << plain.err;
  EXPECT_EQ(stats_text(scratch.path("watched")), stats_text(scratch.path("plain")));

  std::istringstream lines(Scratch::read(trace));
  std::int64_t reads = 0;
  std::int64_t writes = 0;
  std::uint64_t last = 0;
  std::string address;
  char kind = 0;
  std::uint64_t cycle = 0;
  while (lines >> address >> kind >> cycle) {
    EXPECT_EQ(address.substr(0, 2), "0x");
    EXPECT_GE(cycle, last);
    last = cycle;
    reads += kind == 'R' ? 1 : 0;
    writes += kind == 'W' ? 1 : 0;
  }
  EXPECT_TRUE(lines.eof());
  const boost::json::value stats = boost::json::parse(stats_text(scratch.path("plain")));
  const boost::json::object& summary = stats.at("summary").as_object();
  EXPECT_EQ(reads, summary.at("dram_reads").as_int64());
  EXPECT_EQ(writes, summary.at("dram_writes").as_int64());
}

// The memory channels alone, sent the same requests in the same cycles, serve them alike: hints are in the trace.
TEST(MemoryTrace, DrivesTheChannelsAsTheRunDid) {
  const Scratch scratch;
  const std::string trace = scratch.path("requests.txt");
  const Ran run = test::heddle({"run", "database-hints", "index_search:row_hints", "--scale", "0.0005", "--quiet",
                                "--out", scratch.path("run"), "--memory-trace", trace});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_NE(Scratch::read(trace).find(" RH "), std::string::npos);
  const Ran dram = test::heddle({"dram", "database-hints", trace, "--timed", "--out", scratch.path("dram")});
  ASSERT_EQ(dram.code, 0) << dram.err;
  const boost::json::value there = boost::json::parse(stats_text(scratch.path("run")));
  const boost::json::value here = boost::json::parse(stats_text(scratch.path("dram")));
  for (const char* const name : {"dram_reads", "dram_writes", "dram_row_hits", "dram_row_conflicts"}) {
    EXPECT_EQ(there.at("summary").at(name), here.at("summary").at(name)) << name;
  }
  EXPECT_GT(here.at("summary").at("dram_row_hits").as_int64(), 0);
}

TEST(MemoryTrace, MayBeCompressed) {
  const Scratch scratch;
  const std::string plain = scratch.path("r.txt");
  const std::string packed = scratch.path("r.txt.gz");
  for (const std::string& path : {plain, packed}) {
    ASSERT_EQ(test::heddle({"run", "baseline", "vecadd", "--scale", "0.001", "--quiet", "--memory-trace", path}).code,
              0);
    const Ran ran = test::heddle({"dram", "baseline", path, "--timed", "--quiet", "--out", path + ".out"});
    ASSERT_EQ(ran.code, 0) << ran.err;
  }
  const auto summary = [&](const std::string& path) {
    return boost::json::parse(stats_text(path + ".out")).at("summary");
  };
  EXPECT_EQ(summary(packed), summary(plain));
  EXPECT_LT(std::filesystem::file_size(packed), std::filesystem::file_size(plain) / 2);

  const std::string bytes = Scratch::read(packed);
  const Ran cut = test::heddle({"dram", "baseline", scratch.write("cut.gz", bytes.substr(0, bytes.size() / 2))});
  EXPECT_EQ(cut.code, 2) << cut.out;
  EXPECT_NE(cut.err.find("cannot be read"), std::string::npos) << cut.err;
}

TEST(MemoryTrace, AFailedRunLeavesNoFile) {
  const Scratch scratch;
  const std::string trace = scratch.path("none.trace");
  EXPECT_EQ(test::heddle({"run", "baseline", "no_such_workload", "--memory-trace", trace}).code, 2);
  EXPECT_TRUE(std::filesystem::is_empty(scratch.path()));
}

}  // namespace
}  // namespace heddle::tb
