// heddle demo and bench: what they show, write and compare.
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <filesystem>
#include <utility>

#include "tests/support/marks.hpp"
#include "tests/support/program_runner.hpp"

HEDDLE_NOT_SANITIZED("CliBench.MeasuresAndWritesJson")

namespace heddle::cli {
namespace {

namespace json = boost::json;
using test::heddle;
using test::Ran;
using test::Scratch;

TEST(CliDemo, ShowsEveryWorkloadAndWritesThePage) {
  const Scratch scratch;
  const Ran ran =
      test::heddle({"demo", "vecadd", "reduction", "--scale", "0.01", "--out", scratch.path("demo"), "-j", "2"});
  ASSERT_EQ(ran.code, 0) << ran.err << ran.out;
  EXPECT_EQ(ran.err, "");
  EXPECT_NE(ran.out.find("\nvecadd "), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("\nreduction "), std::string::npos) << ran.out;
  const std::string page = Scratch::read(scratch.path("demo/demo.html"));
  EXPECT_NE(page.find("2 of 2 results"), std::string::npos);
  EXPECT_NE(page.find("reduction, 32: "), std::string::npos);  // a bar of figure 1
  const json::value stats = json::parse(Scratch::read(scratch.path("demo/vecadd/stats.json")));
  EXPECT_TRUE(stats.at("complete").as_bool());
}

TEST(CliDemo, ShowsAFailureAndExitsWithTheWorst) {
  const Scratch scratch;
  // The registers of a block of 256 threads do not fit.
  const Ran ran = test::heddle(
      {"demo", "vecadd", "--scale", "0.01", "--set", "core.registers=1024", "--out", scratch.path("demo")});
  EXPECT_EQ(ran.code, 3) << ran.out;
  EXPECT_NE(ran.out.find("FAULT"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("\nvecadd: heddle: "), std::string::npos) << ran.out;
  EXPECT_NE(Scratch::read(scratch.path("demo/demo.html")).find("class=\"bad\""), std::string::npos);
}

TEST(CliBench, MeasuresAndWritesJson) {
  const Scratch scratch;
  const Ran ran = test::heddle({"bench", "--quick", "--json", scratch.path("bench.json")});
  ASSERT_EQ(ran.code, 0) << ran.out << ran.err;
  const json::value value = json::parse(Scratch::read(scratch.path("bench.json")));
  ASSERT_GE(value.at("benchmarks").as_array().size(), 5U);
  for (const json::value& row : value.at("benchmarks").as_array()) {
    EXPECT_GT(row.at("rate").to_number<double>(), 0) << row.at("name");
  }
}

// With itself, through the same program's file: the ratio is near 1, however busy the machine.
TEST(CliBench, ComparesTwoBuildsInTurns) {
  const Scratch scratch;
  const Ran ran = test::heddle({"bench", "--quick", "--only", "lanes-add", "--compare", HEDDLE_PROGRAM, "--json",
                                scratch.path("compared.json")});
  ASSERT_EQ(ran.code, 0) << ran.out << ran.err;
  const json::value value = json::parse(Scratch::read(scratch.path("compared.json")));
  ASSERT_EQ(value.at("benchmarks").as_array().size(), 1U);
  const json::value& row = value.at("benchmarks").at(0);
  EXPECT_EQ(row.at("failure").as_string(), "");
  ASSERT_EQ(row.at("ratios").as_array().size(), 1U);
  EXPECT_GT(row.at("ratio").to_number<double>(), 0.1);
  EXPECT_LT(row.at("ratio").to_number<double>(), 10);
  EXPECT_EQ(row.at("ratio_of_least_times"), row.at("ratio"));
}

TEST(CliBench, SaysWhatItCannotCompareWith) {
  const Ran none = test::heddle({"bench", "--quick", "--only", "lanes-add", "--compare", "/nowhere/heddle"});
  EXPECT_EQ(none.code, 2) << none.out;
  EXPECT_EQ(none.err.find("heddle: --compare: '/nowhere/heddle' cannot be started: No such file or directory"), 0U)
      << none.err;
  const Ran other = test::heddle({"bench", "--quick", "--only", "lanes-add", "--compare", "/bin/true"});
  EXPECT_NE(other.code, 0);
  EXPECT_NE(other.out.find("FAILED: /bin/true writes no figures that can be read"), std::string::npos) << other.out;
}

TEST(CliBench, TakesSeveralNamesAndSaysWhichIsNone) {
  const Scratch scratch;
  const Ran two =
      test::heddle({"bench", "--quick", "--only", "lanes-fma,lanes-add", "--json", scratch.path("two.json")});
  ASSERT_EQ(two.code, 0) << two.err;
  const json::value value = json::parse(Scratch::read(scratch.path("two.json")));
  ASSERT_EQ(value.at("benchmarks").as_array().size(), 2U);
  EXPECT_EQ(value.at("benchmarks").at(0).at("name").as_string(), "lanes-add");
  EXPECT_EQ(value.at("benchmarks").at(1).at("name").as_string(), "lanes-fma");
  for (const auto& [words, wrong] :
       {std::pair{"lanes-add,lanes-sub", "'lanes-sub'"}, {"lanes-add,", "''"}, {"", "''"}}) {
    const Ran none = test::heddle({"bench", "--quick", "--only", words});
    EXPECT_EQ(none.code, 2) << words;
    EXPECT_EQ(none.err.find(std::string("heddle: --only: there is no benchmark ") + wrong), 0U) << none.err;
  }
}

// An older build knows fewer benchmarks: no failure.
TEST(CliBench, LeavesOutWhatTheOtherBuildDoesNotHave) {
  const Scratch scratch;
  const std::string older =
      scratch.write("older", "#!/bin/sh\n[ \"$3\" = lanes-fma ] || exec '" HEDDLE_PROGRAM
                             "' \"$@\"\necho \"heddle: --only: there is no benchmark '$3'\" >&2\nexit 2\n");
  std::filesystem::permissions(older, std::filesystem::perms::owner_all);
  const Ran ran = test::heddle({"bench", "--quick", "--only", "lanes-add,lanes-fma", "--compare", older, "--json",
                                scratch.path("compared.json")});
  ASSERT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_NE(ran.out.find("not compared, since " + older + " does not have them: lanes-fma\n"), std::string::npos)
      << ran.out;
  const json::value value = json::parse(Scratch::read(scratch.path("compared.json")));
  EXPECT_FALSE(value.at("benchmarks").at(0).at("missing").as_bool());
  EXPECT_TRUE(value.at("benchmarks").at(1).at("missing").as_bool());
}

}  // namespace
}  // namespace heddle::cli
