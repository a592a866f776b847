// Launches that the interpreter computes (heddle run --from-launch, --skip, --sample), and blocks of launches
// (--sample-blocks): which ones, what a run with them leaves behind, and what is estimated of their time.
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <filesystem>

#include "base/error.hpp"
#include "tb/device/fast_forward.hpp"
#include "tests/support/program_runner.hpp"

namespace heddle::tb {
namespace {

namespace json = boost::json;

std::string chosen(FastForward what, const std::string& launches) {
  LaunchSelection selection(std::move(what));
  std::string simulated;
  for (const char kernel : launches) {
    simulated += selection.simulates(std::string(1, kernel)) ? kernel : '.';
  }
  return simulated;
}

TEST(FastForward, ChoosesLaunches) {
  EXPECT_EQ(chosen({}, "aabab"), "aabab");
  EXPECT_EQ(chosen({3, {}, 1}, "aabab"), "..bab");
  EXPECT_EQ(chosen({1, {"a"}, 1}, "aabab"), "..b.b");
  EXPECT_EQ(chosen({1, {}, 2}, "aabababaa"), "a.ba..ba.") << "each kernel's launches are counted for themselves";
  EXPECT_EQ(chosen({2, {"b"}, 3}, "aabaaaa"), ".a...a.") << "and those alone that nothing else skips";
  EXPECT_EQ(chosen({9, {}, 1}, "aab"), "...");
}

TEST(FastForward, EstimatesByThreadInstructions) {
  LaunchSelection selection({1, {}, 2});
  selection.simulated("a", 100, 50);
  selection.interpreted("a", 150);
  selection.simulated("b", 7, 7);
  EXPECT_EQ(selection.kernels().at("a").estimated_cycles(), 400);
  EXPECT_EQ(selection.estimated_cycles(), 407);
  selection.interpreted("c", 1);
  EXPECT_EQ(selection.kernels().at("c").estimated_cycles(), std::nullopt);
  EXPECT_EQ(selection.estimated_cycles(), std::nullopt) << "nothing is known of c";
  LaunchSelection idle({1, {}, 2});
  idle.simulated("a", 10, 0);
  idle.interpreted("a", 5);
  EXPECT_EQ(idle.estimated_cycles(), std::nullopt);
}

json::value run(const test::Scratch& scratch, const std::string& folder, const std::vector<std::string>& more) {
  std::vector<std::string> words = {"run", "baseline", "gaussian", "--scale", "0.001", "--out", scratch.path(folder)};
  words.insert(words.end(), more.begin(), more.end());
  const test::Ran ran = test::heddle(words);
  EXPECT_EQ(ran.code, 0) << ran.err;
  return json::parse(test::Scratch::read(scratch.path(folder + "/stats.json")));
}

// Memory, streams of instructions and their number are a whole run's, whatever was simulated.
TEST(FastForward, LeavesWhatAWholeRunLeaves) {
  const test::Scratch scratch;
  const json::value whole = run(scratch, "whole", {});
  EXPECT_FALSE(whole.as_object().contains("fast_forward"));
  const auto count = [](const json::value& of, const char* key) { return of.at(key).to_number<std::uint64_t>(); };
  const json::value& all = whole.at("summary");
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"--from-launch", "5"}, {"--sample", "3"}, {"--skip", "find_factors"}, {"--sample", "1"}}) {
    const json::value stats = run(scratch, "part", words);
    const json::value& part = stats.at("summary");
    EXPECT_EQ(stats.at("verdict").at("result").as_string(), "correct");
    EXPECT_EQ(part.at("retirement_hash"), all.at("retirement_hash")) << words[0];
    if (words == std::vector<std::string>{"--sample", "1"}) {
      EXPECT_EQ(part, all);
      continue;
    }
    std::uint64_t instructions = 0;
    std::uint64_t simulated = 0;
    std::uint64_t launches = 0;
    std::uint64_t cycles = 0;
    for (const auto& kernel : stats.at("fast_forward").at("kernels").as_object()) {
      instructions +=
          count(kernel.value(), "thread_instructions") + count(kernel.value(), "thread_instructions_interpreted");
      simulated += count(kernel.value(), "simulated");
      launches += count(kernel.value(), "simulated") + count(kernel.value(), "interpreted");
      cycles += count(kernel.value(), "cycles");
    }
    EXPECT_EQ(instructions, count(all, "thread_instructions")) << words[0];
    EXPECT_EQ(launches, count(all, "launches"));
    EXPECT_EQ(simulated, count(part, "launches"));
    EXPECT_LT(simulated, launches);
    EXPECT_EQ(cycles, count(part, "cycles"));
    const json::value& estimate = stats.at("fast_forward").at("estimated_cycles");
    EXPECT_EQ(estimate.is_null(), words[0] == "--skip") << "nothing is known of a kernel that is left out";
  }
}

TEST(FastForward, EstimatesBlocksThatWereLeftOut) {
  LaunchSelection selection({1, {}, 2, 4});
  selection.simulated_in_part("a", {100, 50, 200, 16, 4, 1, 390.0});
  selection.simulated("a", 10, 10);
  const KernelLaunches& a = selection.kernels().at("a");
  EXPECT_EQ(a.simulated, 2U);
  EXPECT_EQ(a.in_part, 1U);
  EXPECT_EQ(a.cycles, 110U);
  EXPECT_EQ(a.thread_instructions, 60U);
  EXPECT_EQ(a.instructions_left_out, 150U);
  EXPECT_EQ(a.estimated_cycles(), 400);
  selection.interpreted("a", 105);
  EXPECT_EQ(selection.estimated_cycles(), 400 * 1.5) << "as many cycles for an instruction as whole launches take";
}

// Blocks that were left out leave what they leave otherwise; the summary says what was simulated.
TEST(FastForward, SimulatesSomeBlocks) {
  const test::Scratch scratch;
  const std::vector<std::string> common = {"run", "baseline", "hotspot", "--scale", "0.1"};
  const auto ran = [&](const std::string& folder, const std::vector<std::string>& more) {
    std::vector<std::string> words = common;
    words.insert(words.end(), {"--out", scratch.path(folder)});
    words.insert(words.end(), more.begin(), more.end());
    test::Ran result = test::heddle(words);
    EXPECT_EQ(result.code, 0) << result.err;
    return std::pair(result.out, test::Scratch::read(scratch.path(folder + "/stats.json")));
  };
  const json::value whole = json::parse(ran("whole", {}).second);
  const auto [text, stats] = ran("part", {"--sample-blocks", "4", "--check-reference"});
  EXPECT_EQ(ran("again", {"--sample-blocks", "4", "--threads", "2"}).second, stats) << "the same bytes";
  const json::value part = json::parse(stats);
  EXPECT_EQ(part.at("verdict").at("result").as_string(), "correct");
  EXPECT_EQ(part.at("summary").at("retirement_hash"), whole.at("summary").at("retirement_hash"));
  EXPECT_EQ(part.at("fast_forward").at("sample_blocks").as_int64(), 4);
  const json::value& kernel = part.at("fast_forward").at("kernels").as_object().begin()->value();
  EXPECT_EQ(kernel.at("simulated_in_part").as_int64(), kernel.at("simulated").as_int64()) << kernel;
  EXPECT_LE(3 * kernel.at("blocks_simulated").as_int64(), kernel.at("blocks").as_int64());
  const auto number = [](const json::value& of) { return of.to_number<double>(); };
  // The interpreter does not count a branch in the threads that do not take it; the model does.
  const double instructions = number(whole.at("summary").at("thread_instructions"));
  EXPECT_NEAR(number(kernel.at("thread_instructions")) + number(kernel.at("thread_instructions_interpreted")),
              instructions, instructions * 0.1);
  const double cycles = number(whole.at("summary").at("cycles"));
  EXPECT_LT(number(part.at("summary").at("cycles")), cycles / 2);
  EXPECT_NEAR(number(part.at("fast_forward").at("estimated_cycles")), cycles, cycles * 0.1);
  EXPECT_NE(text.find("Launches and blocks that were interpreted (all else is of those that were simulated)"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("of all launches and blocks, by thread instructions"), std::string::npos) << text;
}

TEST(FastForward, SaysWhyAllBlocksAreSimulated) {
  const test::Ran small = test::heddle({"run", "baseline", "vecadd", "--scale", "0.0005", "--sample-blocks", "2"});
  EXPECT_EQ(small.code, 0) << small.err;
  EXPECT_NE(small.out.find("1 launch simulated whole: a grid of "), std::string::npos) << small.out;
  EXPECT_NE(small.out.find(" is too small for a machine that holds "), std::string::npos) << small.out;
}

TEST(FastForward, RefusesWhatCannotBe) {
  const test::Scratch scratch;
  const auto refused = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"run", "baseline", "gaussian", "--scale", "0.001", "--out", scratch.path("out")};
    words.insert(words.end(), more.begin(), more.end());
    const test::Ran ran = test::heddle(words);
    EXPECT_EQ(ran.code, 2) << ran.out;
    EXPECT_FALSE(std::filesystem::exists(scratch.path("out/stats.json")));
    return ran.err;
  };
  EXPECT_NE(refused({"--skip", "find_factor"}).find("the program has no kernel 'find_factor'; did you mean"),
            std::string::npos);
  EXPECT_NE(refused({"--from-launch", "1000"}).find("no launch was simulated, of "), std::string::npos);
  EXPECT_NE(refused({"--sample", "0"}).find("--sample"), std::string::npos);
  EXPECT_NE(refused({"--sample-blocks", "0"}).find("--sample-blocks"), std::string::npos);
  EXPECT_NE(refused({"--sample-blocks", "half"}).find("--sample-blocks"), std::string::npos);
  EXPECT_NE(refused({"--sample-blocks", "2", "--record", scratch.path("a.trace")}).find("--sample-blocks"),
            std::string::npos);
  EXPECT_NE(
      refused({"--sample", "2", "--record", scratch.path("a.trace")}).find("--record: a trace is of all launches"),
      std::string::npos);
}

}  // namespace
}  // namespace heddle::tb
