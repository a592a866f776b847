// CUDA programs that misbehave: what they do to their process, their threads and descriptors, with pointers and handles
// that are none. They get CUDA's error codes or a message, and the run says what became of it.
#include <gmock/gmock.h>

#include <boost/json.hpp>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>

#include "tests/support/marks.hpp"
#include "tests/support/program_runner.hpp"

HEDDLE_NOT_SANITIZED("Misuse.*")

namespace heddle::cuda {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string kMisuse = HEDDLE_SOURCE_DIR "/tests/cuda/programs/misuse/";

class Misuse : public ::testing::Test {
 protected:
  void compile(const std::vector<std::string>& sources) {
    std::vector<std::string> words = {"nvcc", "-o", program_};
    for (const std::string& source : sources) words.push_back(kMisuse + source);
    const test::Ran ran = test::heddle(words);
    ASSERT_EQ(ran.code, 0) << ran.err;
  }
  // Under heddle exec, with statistics in the folder "out".
  test::Ran run(const std::vector<std::string>& program, const std::vector<std::string>& options = {}) {
    std::vector<std::string> words = {"exec", "--quiet", "--out", scratch_.path("out")};
    words.insert(words.end(), options.begin(), options.end());
    words.emplace_back("--");
    words.insert(words.end(), program.begin(), program.end());
    return test::heddle(words);
  }
  // By itself.
  test::Ran run_alone(const std::string& what, const std::string& how = {}) {
    test::RunSetup setup;
    setup.environment = {"HEDDLE_EXEC_OPTIONS=--quiet --out " + scratch_.path("out")};
    return test::spawn({program_, what, how}, setup);
  }
  boost::json::value stats() { return boost::json::parse(test::Scratch::read(scratch_.path("out/stats.json"))); }
  bool complete() { return stats().at("complete").as_bool(); }

  test::Scratch scratch_;
  std::string program_ = scratch_.path("program");
};

TEST_F(Misuse, OfKernelsAsFunctionsLaunchesNothing) {
  compile({"no_configuration.cu"});
  const test::Ran ran = run({program_});
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.out, "cudaErrorMissingConfiguration\n3 cudaSuccess\n");
  EXPECT_EQ(ran.err,
            "heddle: kernel launch: the kernel is called like a function of the host, without <<<grid, block>>>\n");
}

TEST_F(Misuse, OfProcessesLeavesTheDeviceToTheFirst) {
  compile({"process.cu"});
  for (const test::Ran& ran : {run({program_, "children"}), run_alone("children")}) {
    EXPECT_EQ(ran.code, 0);
    EXPECT_EQ(ran.out, "child: cudaErrorInitializationError, cudaErrorInitializationError\nPASSED\n");
    EXPECT_EQ(ran.err.substr(0, ran.err.find('\n')),
              "heddle: cudaMemset: this process was made by fork() after the program's first CUDA call, and has no "
              "device");
    EXPECT_TRUE(complete());
    EXPECT_EQ(stats().at("launches").as_array().size(), 31U);
  }
  EXPECT_EQ(run({program_, "daemon"}).code, 0);
  EXPECT_TRUE(complete());
  EXPECT_EQ(stats().at("launches").as_array().size(), 1U);
}

TEST_F(Misuse, OfTheEnvironmentDoesNotLoseTheRun) {
  compile({"process.cu"});
  const auto machine = [&] { return stats().at("machine").at("name").as_string(); };
  const std::vector<std::string> other = {"--config", "ws-16"};
  for (const std::vector<std::string>& words : {std::vector<std::string>{"env", "-i", program_, "plain"},
                                                {program_, "emptied"},
                                                {"sh", "-c", "env -i sh -c '" + program_ + " plain; exit $?'"}}) {
    const test::Ran ran = run(words, other);
    EXPECT_EQ(ran.code, 0) << words[0];
    EXPECT_EQ(ran.out, "PASSED\n") << words[0];
    EXPECT_EQ(ran.err, "") << words[0];
    EXPECT_EQ(machine(), "ws-16");
    EXPECT_EQ(stats().at("launches").as_array().size(), 1U) << words[0];
  }
  // Nor is what becomes of faults lost.
  const test::Ran going = run({"env", "-i", program_, "stray", "100"}, {"--keep-going"});
  EXPECT_THAT(going.out, HasSubstr("PASSED\n"));
  // Of one that has a device already another one is told.
  const test::Ran second = run({"sh", "-c", program_ + " plain; env -i " + program_ + " plain"}, other);
  EXPECT_EQ(second.code, 3);
  EXPECT_EQ(second.out, "PASSED\n");
  EXPECT_EQ(second.err, "heddle: this process cannot use the simulated GPU: a run is of one process\n");
  // One that needs none is told nothing, and the statistics say so.
  const test::Ran none = run({program_, "no-calls"});
  EXPECT_EQ(none.code, 0);
  EXPECT_EQ(none.err, "");
  EXPECT_FALSE(stats().at("device_used").as_bool());
  const test::Ran told = test::heddle({"exec", "--", program_, "no-calls"});
  EXPECT_EQ(told.code, 0);
  EXPECT_EQ(told.err, "heddle: note: the program has made no CUDA call that has come to this run\n");
}

TEST_F(Misuse, OfThreadsAndSignalsKeepsAnswersApart) {
  compile({"process.cu"});
  for (const char* const what : {"cancelled", "longjmp", "throw", "thread-ends", "exit-in-handler", "exit-beside"}) {
    for (const test::Ran& ran : {run({program_, what}), run_alone(what)}) {
      const std::string which = what;
      const int code = which == "exit-in-handler" ? 9 : which == "exit-beside" ? 11 : 0;
      EXPECT_EQ(ran.code, code) << what << ": " << ran.err;
      const std::string before = which == "longjmp"           ? "left\nleft\nleft\n"
                                 : which == "throw"           ? "thrown\n"
                                 : which == "exit-in-handler" ? "exits in the handler\n"
                                                              : "";
      EXPECT_EQ(ran.out, code == 0 ? before + "PASSED\n" : before) << what;
      EXPECT_EQ(ran.err, "") << what;
      EXPECT_TRUE(complete()) << what;
    }
  }
  const test::Ran handler = run({program_, "handler"});
  EXPECT_EQ(handler.out, "in the handler: cudaErrorNotPermitted\nin the handler: cudaErrorNotPermitted\nPASSED\n");
  EXPECT_EQ(handler.err.substr(0, handler.err.find('\n')),
            "heddle: cudaMemGetInfo: a signal handler makes this call while a CUDA call of its thread waits for the "
            "simulator");
}

TEST_F(Misuse, OfDescriptorsIsMendedOrTold) {
  compile({"process.cu"});
  for (const char* const how : {"close", "file", "shutdown"}) {
    for (const test::Ran& ran : {run({program_, "closed", how}), run_alone("closed", how)}) {
      EXPECT_EQ(ran.code, 0) << how;
      EXPECT_EQ(ran.out, "PASSED\n") << how;
      EXPECT_EQ(ran.err, "") << how;
      EXPECT_TRUE(complete()) << how;
      EXPECT_EQ(stats().at("launches").as_array().size(), 3U) << how;
    }
  }
  const std::string brought =
      "heddle: the program's connection to the simulator has brought what its library has not sent; it must not write "
      "to descriptors that it has not opened\n";
  const std::string broken =
      "the connection to the simulator is broken: something in the program has closed it or written to it\n";
  const std::string ended = "heddle: cudaMemset: " + broken;
  for (const char* const bytes : {"1", "4096", "100000"}) {
    const test::Ran ran = run({program_, "stray", bytes});
    EXPECT_EQ(ran.code, 3) << bytes;
    EXPECT_EQ(ran.out, "") << bytes;
    EXPECT_EQ(ran.err, ended + brought) << bytes;
    EXPECT_FALSE(complete()) << bytes;
    EXPECT_THAT(stats().at("stop_reason").as_string().c_str(), HasSubstr("has brought what its library has not sent"));
  }
  const test::Ran going = run({program_, "stray", "4096"}, {"--keep-going"});
  EXPECT_EQ(going.code, 3);
  EXPECT_EQ(going.out, "then: cudaErrorDevicesUnavailable\nthen: cudaErrorDevicesUnavailable\nPASSED\n");
  EXPECT_EQ(going.err, ended + brought);
  // What no answer is wanted for goes to whoever has the number, and the next call tells.
  const test::Ran astray = run({program_, "closed", "socket"});
  EXPECT_EQ(astray.code, 3);
  EXPECT_EQ(astray.err,
            "heddle: cudaMemcpy: " + broken +
                "heddle: the program has broken its connection to the simulator in the middle of a call; it "
                "must not close or write to descriptors that it has not opened, nor leave CUDA calls by "
                "longjmp\n");
  EXPECT_FALSE(complete());
  const test::Ran killed = run({program_, "killed"});
  EXPECT_EQ(killed.code, 137);
  EXPECT_EQ(killed.err, "heddle: cudaMemset: the simulator has ended\n");
  const test::Ran alone = run_alone("stray", "4096");
  EXPECT_EQ(alone.code, 3);
  EXPECT_THAT(alone.err, HasSubstr("heddle: cudaMemset: the "));
  EXPECT_THAT(alone.err, HasSubstr(brought));
}

TEST_F(Misuse, OfOptionsAndLoadsIsTold) {
  compile({"process.cu"});
  EXPECT_EQ(run({program_, "plain"}).code, 0);
  const boost::json::value host = boost::json::parse(test::Scratch::read(scratch_.path("out/host.json")));
  for (const char* const rate : {"simulation_wall_seconds", "simulation_cpu_seconds", "cycles_per_second"}) {
    EXPECT_GT(host.at(rate).to_number<double>(), 0) << rate;
  }
  // Beyond the last launch the program's exit code is its own nevertheless.
  const test::Ran beyond = test::heddle({"exec", "--from-launch", "9", "--", program_, "exit-beside"});
  EXPECT_EQ(beyond.code, 11);
  EXPECT_EQ(beyond.err,
            "heddle: note: no launch was simulated, of 1 of the program; --from-launch N takes one of them, "
            "and --skip must leave a kernel\n");
  const test::Ran fault = run({program_, "neighbours"});
  EXPECT_EQ(fault.code, 3);
  EXPECT_THAT(fault.err, HasSubstr("out-of-bounds access in kernel '_Z10neighboursPi'"));
  EXPECT_THAT(fault.err,
              HasSubstr("heddle: note: --set core.load_trap=false reads 0 there, goes on and counts such loads\n"));
  EXPECT_EQ(run({program_, "neighbours"}, {"--set", "core.load_trap=false"}).out, "PASSED\n");
}

TEST_F(Misuse, OfHostMemoryIsAnErrorCode) {
  compile({"memory.cu"});
  const test::Ran ran = run({program_});
  EXPECT_EQ(ran.out, "PASSED\n") << ran.err;
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.err,
              HasSubstr("heddle: cudaMemcpy: the program has no memory that can be read at 0x8 (256 bytes)\n"));
  EXPECT_THAT(ran.err,
              HasSubstr("heddle: cudaMemcpy: the program has no memory that can be written at 0x8 (4 bytes)\n"));
  EXPECT_TRUE(complete());
  test::RunSetup setup;
  setup.environment = {"HEDDLE_SHARE_MEMORY=no"};
  EXPECT_EQ(test::heddle({"exec", "--quiet", "--", program_}, setup).out, "PASSED\n");
}

TEST_F(Misuse, OfArgumentsAndHandlesIsAnErrorCode) {
  compile({"arguments.cpp", "device.cu"});
  const test::Ran ran = run({program_});
  EXPECT_THAT(ran.out, HasSubstr("PASSED\n"));
  EXPECT_EQ(ran.code, 0);
  std::set<std::string> tried;
  std::istringstream lines(ran.out);
  for (std::string line; std::getline(lines, line);) tried.insert(line);
  std::ifstream in(HEDDLE_SOURCE_DIR "/docs/cuda-functions.md");
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  const std::regex row("\\| `(cuda\\w+)` \\| (?:done|accepted) \\|");
  std::size_t rows = 0;
  for (std::sregex_iterator at(text.begin(), text.end(), row), end; at != end; ++at, ++rows) {
    EXPECT_EQ(tried.count((*at)[1]), 1U) << (*at)[1] << " has no row in " << kMisuse << "arguments.cpp";
  }
  EXPECT_GT(rows, 200U);
}

}  // namespace
}  // namespace heddle::cuda
