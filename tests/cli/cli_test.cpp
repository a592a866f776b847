// The command line: bad input, help, listings, completion. What runs the model is in cli_run_test.cpp.
#include <gtest/gtest.h>

#include "base/registry.hpp"
#include "tb/device/workload.hpp"
#include "tests/support/program_runner.hpp"

namespace heddle::cli {
namespace {

using test::heddle;
using test::Ran;
using test::RunSetup;
using test::Scratch;

const std::vector<std::string> kCommands = {"run",   "list",    "check", "compile", "demo",      "reproduce",
                                            "sweep", "results", "cost",  "bench",   "completion"};

struct BadCall {
  std::vector<std::string> words;
  std::string error;  // stderr starts with it
};

TEST(Cli, BadInputIsNamedWithTheNearestName) {
  const std::vector<BadCall> calls = {
      {{"rum"}, "heddle: there is no command 'rum'; did you mean 'run'?"},
      {{"xyzzy"}, "heddle: there is no command 'xyzzy'; known: help, run, nvcc, exec"},
      {{"--quiet"}, "heddle: there is no option '--quiet'; options stand after a command"},
      {{"help", "demmo"}, "heddle: there is no command 'demmo'; did you mean 'demo'?"},
      {{"run", "baseline"},
       "heddle: run: needs CONFIG WORKLOAD|LAUNCH.toml|FILE.trace; words given: 1; usage: heddle run"},
      {{"run", "baseline", "vecadd", "more"}, "heddle: run: 'more' is one word too many; usage: heddle run"},
      {{"run", "baseline", "vecad"}, "heddle: there is no workload 'vecad'; did you mean 'vecadd'?"},
      {{"run", "basline", "vecadd"}, "heddle: there is no machine called 'basline'; did you mean 'baseline'?"},
      {{"run", "baseline", "vecadd", "--quite"}, "heddle: run: there is no option '--quite'; did you mean '--quiet'?"},
      {{"run", "baseline", "vecadd", "--sca=1"}, "heddle: run: there is no option '--sca'"},
      {{"run", "baseline", "vecadd", "--scale"}, "heddle: run: "},
      {{"run", "baseline", "vecadd", "--scale", "big"}, "heddle: --scale: 'big' is no number from 1e-06 to 16"},
      {{"run", "baseline", "vecadd", "--scale", "0"}, "heddle: --scale: '0' is no number"},
      {{"run", "baseline", "vecadd", "--scale", "nan"}, "heddle: --scale: 'nan' is no number"},
      {{"run", "baseline", "vecadd", "--max-cycles=-1"}, "heddle: --max-cycles: '-1' is no whole number"},
      {{"run", "baseline", "vecadd", "--max-cycles", "0"}, "heddle: --max-cycles: '0' is no whole number"},
      {{"run", "baseline", "vecadd", "--max-cycles", "5x"}, "heddle: --max-cycles: '5x' is no whole number"},
      {{"run", "baseline", "vecadd", "--seed", "99999999999999999999"}, "heddle: --seed: "},
      {{"run", "baseline", "vecadd", "--address-bits", "48"}, "heddle: --address-bits: '48' is neither 32 nor 64"},
      {{"run", "baseline", "vecadd", "--set", "core.warp_sise=32"},
       "heddle: --set core.warp_sise=32: there is no parameter 'warp_sise' in section 'core'; did you mean "
       "'warp_size'?"},
      {{"run", "baseline", "vecadd", "--set", "core.threads=512", "--set", "core.threads=1024"},
       "heddle: --set core.threads=1024: core.threads is set twice, before this by --set core.threads=512; leave one "
       "of "
       "them out"},
      {{"check", "baseline", "--set", "core.threads=512", "--set", "core.threads=512"},
       "heddle: --set core.threads=512: core.threads is set twice"},
      {{"run", "baseline", "vecadd", "--report", "/tmp/page.pdf"},
       "heddle: --report: writes a page, and '/tmp/page.pdf' does not end in .html or .htm; name the file so"},
      {{"run", "baseline", "none.toml", "--scale", "1"}, "heddle: --scale: applies to workloads"},
      {{"run", "baseline", "/nowhere/launch.toml"}, "heddle: /nowhere/launch.toml"},
      {{"run", "baseline", "vecadd", "--scale", "0.001", "--out", "/proc/nowhere"}, "heddle: /proc/nowhere: "},
      {{"list", "workload"}, "heddle: list: there is no list of 'workload'; did you mean 'workloads'?"},
      {{"list"}, "heddle: list: needs "},
      {{"check", "/nowhere.toml"}, "heddle: there is no machine file '/nowhere.toml'"},
      {{"check", "/dev/zero"}, "heddle: the machine file '/dev/zero' cannot be read: it is a device"},
      {{"compile", HEDDLE_SOURCE_DIR "/tests/cli/no_kernels.ptx"},
       "heddle: " HEDDLE_SOURCE_DIR "/tests/cli/no_kernels.ptx: there is no kernel in it; a kernel is an .entry"},
      {{"run", "baseline", "saxpy.cu"},
       "heddle: saxpy.cu: a kernel file alone does not say what to launch, and with which data; write a LAUNCH.toml"},
      {{"run", "baseline", "saxpy.ptx"}, "heddle: saxpy.ptx: a kernel file alone does not say what to launch"},
      {{"compile", "a.c"}, "heddle: a.c: is neither a .ptx nor a .cu file"},
      {{"compile", "/nowhere.ptx"}, "heddle: /nowhere.ptx"},
      {{"compile", "x.ptx", "--max-registers", "7"}, "heddle: --max-registers: '7' is no whole number from 8 to 255"},
      {{"demo", "vecad"}, "heddle: there is no workload 'vecad'; did you mean 'vecadd'?"},
      {{"demo", "--jobs", "0"}, "heddle: --jobs: '0' is no whole number"},
      {{"bench", "--repeat", "0"}, "heddle: --repeat: '0' is no whole number"},
      {{"completion", "fish"}, "heddle: completion: there is no completion for 'fish'; known: bash"},
  };
  for (const BadCall& call : calls) {
    const Ran ran = test::heddle(call.words);
    std::string words;
    for (const std::string& word : call.words) {
      words += word + " ";
    }
    EXPECT_EQ(ran.code, 2) << words << ran.err;
    EXPECT_EQ(ran.err.substr(0, call.error.size()), call.error) << words;
    EXPECT_EQ(ran.err.find('\n'), ran.err.size() - 1) << words << "one line: " << ran.err;
    EXPECT_EQ(ran.out, "") << words;
  }
}

TEST(Cli, NoWordsShowTheHelpAsAnError) {
  const Ran ran = test::heddle({});
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(ran.out, "");
  EXPECT_NE(ran.err.find("usage: heddle COMMAND"), std::string::npos);
}

TEST(Cli, HelpEverywhere) {
  const Ran general = test::heddle({"--help"});
  EXPECT_EQ(general.code, 0);
  EXPECT_EQ(general.err, "");
  EXPECT_EQ(test::heddle({"help"}).out, general.out);
  for (const std::string& command : kCommands) {
    EXPECT_NE(general.out.find("\n  " + command + " "), std::string::npos) << command;
    const Ran ran = test::heddle({command, "--help"});
    EXPECT_EQ(ran.code, 0) << command;
    EXPECT_EQ(ran.out.substr(0, 14 + command.size()), "usage: heddle " + command);
    EXPECT_EQ(test::heddle({"help", command}).out, ran.out);
    EXPECT_EQ(test::heddle({command, "-h"}).out, ran.out);
  }
}

TEST(Cli, Version) {
  const Ran ran = test::heddle({"--version"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.out.substr(0, 7), "heddle ");
  EXPECT_EQ(ran.err, "");  // no banner of a library either
}

TEST(Cli, AnOutputThatCannotBeWrittenIsNoSuccess) {
  const Ran ran = test::spawn({"bash", "-c", std::string(HEDDLE_PROGRAM) + " list parameters > /dev/full"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(ran.err, "heddle: the output cannot be written\n");
}

TEST(Cli, CheckPointsIntoTheFile) {
  const Scratch scratch;
  const std::string good = scratch.write("good.toml", "extends = \"baseline\"\ndescription = \"fine\"\n");
  EXPECT_EQ(test::heddle({"check", good}).out, good + ": machine 'good' is good (fine)\n");
  EXPECT_EQ(test::heddle({"check", "good.toml"},
                         {.environment = {}, .folder = scratch.path(), .terminal = false, .while_running = {}})
                .code,
            0);
  EXPECT_EQ(
      test::heddle(
          {"check", "good"},
          {.environment = {"HEDDLE_CONFIGS=" + scratch.path()}, .folder = {}, .terminal = false, .while_running = {}})
          .code,
      0);
  const std::string bad = scratch.write("bad.toml", "[dram]\n  bank = 4\n");
  const Ran ran = test::heddle({"check", bad});
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(ran.err,
            "heddle: " + bad + ":2:3: there is no parameter 'bank' in section 'dram'; did you mean 'banks'?\n");
  const Ran shown = test::heddle({"check", "baseline", "--set", "core.threads=512", "--show"});
  EXPECT_NE(shown.out.find("  threads = 512 threads"), std::string::npos);
  EXPECT_EQ(shown.err, "");
  const Ran noted = test::heddle({"check", "baseline", "--set", "dwf.lane_aware=false"});
  EXPECT_EQ(noted.code, 0);
  EXPECT_EQ(noted.err, "heddle: note: dwf.lane_aware = false has no effect while core.divergence is stack\n");
}

// What a user's file says reaches no terminal as a control sequence: ECMA-48's ESC and CSI, bells, returns.
TEST(Cli, ControlCharactersAreShownNotSent) {
  const Scratch scratch;
  const std::string evil = scratch.write(
      "evil.toml", "extends = \"baseline\"\ndescription = \"a\\u001b]0;owned\\u0007b\\u009b31mc\\rd\\u007f ü –\"\n");
  const auto clean = [](const std::string& text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      const auto letter = static_cast<unsigned char>(text[i]);
      EXPECT_FALSE((letter < 0x20 && letter != '\n' && letter != '\t') || letter == 0x7f) << i << " in " << text;
      EXPECT_FALSE(letter == 0xc2 && static_cast<unsigned char>(text[i + 1]) < 0xa0) << text;
    }
  };
  const RunSetup here{
      .environment = {"HEDDLE_CONFIGS=" + scratch.path()}, .folder = {}, .terminal = false, .while_running = {}};
  for (const auto& words : {std::vector<std::string>{"check", evil}, std::vector<std::string>{"list", "configs"},
                            std::vector<std::string>{"run", evil, "vecadd", "--scale", "0.001"}}) {
    const Ran ran = test::heddle(words, here);
    EXPECT_EQ(ran.code, 0) << ran.err;
    clean(ran.out);
    clean(ran.err);
  }
  EXPECT_NE(test::heddle({"check", evil}).out.find("(a\\x1b]0;owned\\x07b\\xc2\\x9b31mc\\x0dd\\x7f ü –)\n"),
            std::string::npos)
      << test::heddle({"check", evil}).out;
  const Ran error = test::heddle({"run", "base\x1b[2Jline", "vecadd"});
  EXPECT_EQ(error.code, 2);
  clean(error.err);
  EXPECT_NE(error.err.find("'base\\x1b[2Jline'"), std::string::npos) << error.err;
}

TEST(Cli, Lists) {
  const Ran workloads = test::heddle({"list", "workloads"});
  const Ran names = test::heddle({"list", "workloads", "--names"});
  EXPECT_EQ(workloads.code, 0);
  for (const auto& [name, entry] : Registry<tb::Workload>::instance().entries()) {
    EXPECT_NE(workloads.out.find("\n" + name + " "), std::string::npos) << name;
    EXPECT_NE(("\n" + names.out).find("\n" + name + "\n"), std::string::npos) << name;
  }
  const Ran configs = test::heddle({"list", "configs", "--names"});
  EXPECT_NE(configs.out.find("baseline\n"), std::string::npos);
  EXPECT_NE(configs.out.find("thesis-baseline\n"), std::string::npos);
  const Ran policies = test::heddle({"list", "policies"});
  for (const char* name : {"stack", "round-robin", "rows", "strict", "per-sub-warp", "fcfs", "open", "write-back"}) {
    EXPECT_NE(policies.out.find(name), std::string::npos) << name;
  }
  EXPECT_NE(test::heddle({"list", "parameters", "--names"}).out.find("core.warp_size\n"), std::string::npos);
  EXPECT_NE(test::heddle({"list", "protocols"}).out.find("\n\nmesi, home\nU share: read -> U_X\n"), std::string::npos);
  EXPECT_NE(test::heddle({"list", "protocols", "--names"}).out.find("mesi\n"), std::string::npos);
  const Ran statistics = test::heddle({"list", "statistics"});
  EXPECT_EQ(statistics.code, 0);
  EXPECT_NE(statistics.out.find("  ipc (thread instructions per cycle)\n"), std::string::npos);
  EXPECT_NE(statistics.out.find("core<n>"), std::string::npos);  // the modules' own counters
}

TEST(Cli, TheGeneratedReferencesAreUpToDate) {
  const std::string docs = std::string(HEDDLE_SOURCE_DIR) + "/docs/";
  EXPECT_EQ(test::heddle({"list", "statistics", "--markdown"}).out, Scratch::read(docs + "statistics.md"))
      << "renew it: heddle list statistics --markdown > docs/statistics.md";
  EXPECT_EQ(test::heddle({"list", "parameters", "--markdown"}).out, Scratch::read(docs + "parameters.md"))
      << "renew it: heddle list parameters --markdown > docs/parameters.md";
  EXPECT_EQ(test::heddle({"list", "signals", "--markdown"}).out, Scratch::read(docs + "signals.md"))
      << "renew it: heddle list signals --markdown > docs/signals.md";
  EXPECT_EQ(test::heddle({"list", "protocols", "--markdown"}).out, Scratch::read(docs + "protocols.md"))
      << "renew it: heddle list protocols --markdown > docs/protocols.md";
}

// What bash would offer for the last of `words`, one a line.
std::string completed(const std::vector<std::string>& words) {
  std::string list;
  for (const std::string& word : words) {
    list += " '" + word + "'";
  }
  const std::string program = HEDDLE_PROGRAM;
  const Ran ran = test::spawn({"bash", "--norc", "-c",
                               "source <('" + program + "' completion bash); COMP_WORDS=('" + program + "'" + list +
                                   "); COMP_CWORD=" + std::to_string(words.size()) +
                                   "; _heddle; printf '%s\\n' \"${COMPREPLY[@]}\""});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.err, "");
  return ran.out;
}

TEST(Cli, BashCompletion) {
  EXPECT_EQ(completed({"ru"}), "run\n");
  EXPECT_EQ(completed({"list", "pol"}), "policies\n");
  EXPECT_EQ(completed({"run", "basel"}), "baseline\n");
  EXPECT_EQ(completed({"run", "baseline", "nq"}), "nqueens\n");
  EXPECT_EQ(completed({"run", "--scale", "0.5", "baseline", "nq"}), "nqueens\n");
  EXPECT_EQ(completed({"run", "baseline", "nqueens", "--max"}), "--max-cycles\n");
  EXPECT_EQ(completed({"run", "baseline", "nqueens", "--scale", "0"}), "\n");  // a number is the user's own
  EXPECT_EQ(completed({"run", "baseline", "nqueens", "--set", "core.warp"}), "core.warp_size=\n");
  EXPECT_EQ(completed({"run", "--set", "core.warp_size", "=", "64", "basel"}), "baseline\n");
  EXPECT_EQ(completed({"demo", "--config", "thesis-b"}), "thesis-baseline\n");
  EXPECT_EQ(completed({"completion", ""}), "bash\n");
  EXPECT_EQ(completed({"sweep", "x.toml", "--launcher", "s"}), "slurm\n");
  EXPECT_EQ(completed({"sweep", "--ret"}), "--retry\n");
  EXPECT_EQ(completed({"results", "x.db", "--x", "core.warp"}), "core.warp_size\n");
  EXPECT_EQ(completed({"results", "x.db", "--plot", "simd_e"}), "simd_efficiency\n");
  EXPECT_EQ(completed({"help", "comp"}), "compare\ncompile\ncompletion\n");
}

}  // namespace
}  // namespace heddle::cli
