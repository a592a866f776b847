// heddle reproduce as a user runs it: wrong words, and going on after a kill.
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include "tests/support/marks.hpp"
#include "tests/support/program_runner.hpp"

HEDDLE_LONG_SANITIZED("CliReproduce.ASpoilt*", "CliReproduce.TakesAnother*", "CliReproduce.GoesOnAfter*",
                      "CliReproduce.ATerm*")

namespace heddle::cli {
namespace {

namespace fs = std::filesystem;
using test::heddle;
using test::Ran;
using test::RunSetup;
using test::Scratch;

TEST(CliReproduce, BadWordsAreNamed) {
  const auto error = [](const std::vector<std::string>& words) {
    const Ran ran = test::heddle(words);
    EXPECT_EQ(ran.code, 2);
    return ran.err;
  };
  EXPECT_EQ(error({"reproduce", "lwm-agv"}), "heddle: there is no claim 'lwm-agv'; did you mean 'lwm-avg'?\n");
  EXPECT_EQ(error({"reproduce", "xyzzy"}), "heddle: there is no claim 'xyzzy'; try heddle reproduce --list\n");
  EXPECT_EQ(error({"reproduce", "--full", "--scale", "2"}), "heddle: --scale: contradicts --full; give one of them\n");
  EXPECT_EQ(error({"reproduce", "--beside", "x.json"}),
            "heddle: --beside: adds to --markdown FILE.md, which is not given\n");
  EXPECT_EQ(
      error({"reproduce", "--markdown", "pages.txt"}),
      "heddle: --markdown: writes pages into a folder of the file's name without .md, and 'pages.txt' does not end "
      "in .md; name the file so\n");
  EXPECT_EQ(error({"reproduce", "--jobs", "0"}), "heddle: --jobs: '0' is no whole number from 1 to 1024\n");
  EXPECT_EQ(error({"cost"}).substr(0, 30), "heddle: cost: needs CONFIG; wo");
}

TEST(CliReproduce, ListNamesTheClaims) {
  const Ran ran = test::heddle({"reproduce", "--list"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_NE(ran.out.find("\nlwm-avg "), std::string::npos) << ran.out;
  EXPECT_EQ(test::heddle({"reproduce", "--names"}).out.substr(0, 8), "fu-util\n");
}

TEST(CliReproduce, VerdictsAreGatheredInPortionsAtOneScale) {
  const Scratch scratch;
  const std::string verdicts = scratch.path("verdicts.json");
  const auto portion = [&](const std::string& claim, const std::vector<std::string>& more) {
    std::vector<std::string> words = {"reproduce", claim, "--out", scratch.path(claim), "--verdicts", verdicts};
    words.insert(words.end(), more.begin(), more.end());
    return test::heddle(words);
  };
  const auto gathered = [&] { return Scratch::read(verdicts); };
  ASSERT_EQ(portion("lwm-storage", {"--full"}).code, 0);
  EXPECT_EQ(gathered().find("\"dws-area\""), std::string::npos);
  ASSERT_EQ(portion("dws-area", {"--full"}).code, 0);
  const std::string both = gathered();
  EXPECT_NE(both.find("\"lwm-storage\""), std::string::npos) << both;
  EXPECT_NE(both.find("\"dws-area\""), std::string::npos) << both;
  const Ran other_scale = portion("dws-area", {});
  EXPECT_EQ(other_scale.code, 2);
  EXPECT_EQ(other_scale.err, "heddle: " + verdicts +
                                 ": has verdicts at full scale, and these will be at default scale; "
                                 "give --verdicts another file\n");
  EXPECT_EQ(gathered(), both);
  const std::string broken = scratch.write("broken.json", "{}");
  EXPECT_EQ(test::heddle({"reproduce", "dws-area", "--out", scratch.path("o"), "--verdicts", broken}).code, 2);
  EXPECT_EQ(Scratch::read(broken), "{}");
  const Ran beside = test::heddle(
      {"reproduce", "dws-area", "--out", scratch.path("b"), "--markdown", scratch.path("r.md"), "--beside", verdicts});
  ASSERT_EQ(beside.code, 0) << beside.err;
  EXPECT_NE(Scratch::read(scratch.path("r.md")).find("\n## At full scale\n\nPut to the model at full scale, too (20"),
            std::string::npos);
}

// A tiny reproduction of what needs the baseline only: twelve workloads in two forms.
std::vector<std::string> tiny(const Scratch& scratch) {
  return {"reproduce", "workload-size", "lwm-storage", "--scale", "0.002", "--jobs", "1", "--out", scratch.path("out")};
}

// Every run's result, by folder, with the time at which it was written.
std::map<std::string, fs::file_time_type> written(const Scratch& scratch) {
  std::map<std::string, fs::file_time_type> found;
  std::error_code error;
  for (const auto& folder : fs::directory_iterator(scratch.path("out/runs"), error)) {
    if (fs::exists(folder.path() / "host.json")) {
      found[folder.path().filename().string()] = fs::last_write_time(folder.path() / "stats.json");
    }
  }
  return found;
}

TEST(CliReproduce, GoesOnAfterAKillWithoutRepeating) {
  const Scratch scratch;
  RunSetup setup;
  setup.while_running = [&](pid_t child) {
    for (int i = 0; i < 6000 && written(scratch).size() < 2; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    ::kill(child, SIGKILL);
  };
  const Ran killed = test::heddle(tiny(scratch), setup);
  ASSERT_EQ(killed.code, 128 + SIGKILL);
  EXPECT_FALSE(fs::exists(scratch.path("out/reproduction.html")));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));  // the run that was under way ends by itself
  const auto before = written(scratch);
  ASSERT_GE(before.size(), 2U);
  const Ran resumed = test::heddle(tiny(scratch));
  EXPECT_EQ(resumed.code, 0) << resumed.err << resumed.out;
  const auto after = written(scratch);
  EXPECT_EQ(after.size(), 24U);
  for (const auto& [folder, time] : before) {
    EXPECT_EQ(after.at(folder), time) << folder << " was repeated";
  }
  EXPECT_TRUE(fs::exists(scratch.path("out/reproduction.html")));
  EXPECT_NE(Scratch::read(scratch.path("out/reproduction.md")).find("## lwm-storage\n"), std::string::npos);
  std::vector<std::string> words = tiny(scratch);
  words.insert(words.end(), {"--markdown", scratch.path("docs/r.md")});
  const Ran again = test::heddle(words);
  EXPECT_NE(Scratch::read(scratch.path("docs/r.md")).find("](r/lwm-report.md#workload-size) |"), std::string::npos);
  EXPECT_NE(Scratch::read(scratch.path("docs/r/lwm-report.md")).find("## workload-size\n"), std::string::npos);
  EXPECT_FALSE(fs::exists(scratch.path("docs/r/thesis.md")));
  EXPECT_EQ(written(scratch), after);
  EXPECT_NE(again.out.find("24 runs at default scale x 0.002, 24 of them kept from earlier"), std::string::npos)
      << again.out;
}

TEST(CliReproduce, ATerminationEndsItOrderly) {
  const Scratch scratch;
  RunSetup setup;
  setup.while_running = [&](pid_t child) {
    for (int i = 0; i < 6000 && written(scratch).empty(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    ::kill(child, SIGTERM);
  };
  const Ran ran = test::heddle(tiny(scratch), setup);
  EXPECT_EQ(ran.code, 128 + SIGTERM) << ran.err;
  EXPECT_NE(ran.out.find("Ended early; the same command goes on from here."), std::string::npos) << ran.out;
  EXPECT_LT(written(scratch).size(), 24U);
}

TEST(CliReproduce, TakesAnotherBuildsResultsOnlyWhenTold) {
  const Scratch scratch;
  ASSERT_EQ(test::heddle(tiny(scratch)).code, 0);
  for (const auto& [folder, time] : written(scratch)) {
    const std::string path = scratch.path("out/runs/") + folder + "/key.txt";
    std::ifstream in(path);
    std::string first;
    std::getline(in, first);
    const std::string rest{std::istreambuf_iterator<char>(in), {}};
    in.close();
    std::ofstream(path) << "heddle 0.0.9 0123456789abcdef\n" << rest;
  }
  std::vector<std::string> words = tiny(scratch);
  words.emplace_back("--any-build");
  const Ran taken = test::heddle(words);
  EXPECT_NE(taken.out.find(", 24 of them kept from earlier"), std::string::npos) << taken.out;
  EXPECT_NE(taken.out.find("Measured earlier: 24 runs by build 0.0.9 0123456789abcdef."), std::string::npos);
  EXPECT_NE(taken.out.find("\nProcessor time of the runs: "), std::string::npos) << taken.out;
  std::ifstream html(scratch.path("out/reproduction.html"));
  const std::string page{std::istreambuf_iterator<char>(html), {}};
  EXPECT_NE(page.find("<code>heddle reproduce workload-size lwm-storage --scale 0.002 --any-build</code>"),
            std::string::npos);
  const Ran repeated = test::heddle(tiny(scratch));
  EXPECT_NE(repeated.out.find(", 0 of them kept from earlier"), std::string::npos) << repeated.out;
  EXPECT_EQ(repeated.out.find("Measured earlier"), std::string::npos);
}

TEST(CliReproduce, ASpoiltResultIsRunAgainAndOneFolderHasOneWriter) {
  const Scratch scratch;
  ASSERT_EQ(test::heddle(tiny(scratch)).code, 0);
  const std::string folder = scratch.path("out/runs/") + written(scratch).begin()->first;
  std::ofstream(folder + "/key.txt", std::ios::app) << "more\n";
  const Ran again = test::heddle(tiny(scratch));
  EXPECT_NE(again.out.find(", 23 of them kept from earlier"), std::string::npos) << again.out;
  RunSetup setup;
  setup.while_running = [&](pid_t) {
    for (int i = 0; i < 2000 && !fs::exists(scratch.path("other/.lock")); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    const Ran second = test::heddle({"reproduce", "workload-size", "--out", scratch.path("other")});
    EXPECT_EQ(second.code, 2);
    EXPECT_NE(second.err.find("another reproduction is writing to this folder"), std::string::npos) << second.err;
  };
  EXPECT_EQ(test::heddle({"reproduce", "workload-size", "--scale", "0.02", "--out", scratch.path("other")}, setup).code,
            0);
}

TEST(CliReproduce, AFailedRunIsShownAndTheRestGoesOn) {
  const Scratch scratch;
  // A machine called baseline that refuses: its file comes first in the search.
  scratch.write("baseline.toml", "[core]\nwarp_sise = 32\n");
  RunSetup setup;
  setup.environment = {"HEDDLE_CONFIGS=" + scratch.path()};
  const Ran ran = test::heddle({"reproduce", "workload-size", "lwm-storage", "--out", scratch.path("out")}, setup);
  EXPECT_EQ(ran.code, 1) << ran.err;
  EXPECT_NE(ran.out.find("24 runs failed:"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("did you mean 'warp_size'?"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("not measured"), std::string::npos) << ran.out;
}

}  // namespace
}  // namespace heddle::cli
