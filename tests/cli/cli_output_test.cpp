// Output files as a user names them: none of a command's inputs, no name twice, refused before anything runs; pipes,
// devices and links.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/marks.hpp"
#include "tests/support/program_runner.hpp"

HEDDLE_LONG_SANITIZED("CliOutput.ResultsDo*")

namespace heddle::cli {
namespace {

namespace fs = std::filesystem;
using test::heddle;
using test::Ran;
using test::Scratch;

// A command that is refused with this very line, and with nothing on the standard output.
void expect_refused(const std::vector<std::string>& words, const std::string& line) {
  const Ran ran = test::heddle(words);
  EXPECT_EQ(ran.code, 2) << line << ran.out;
  EXPECT_EQ(ran.err, "heddle: " + line + "\n");
  EXPECT_EQ(ran.out, "");
}

std::string is_read(const std::string& option, const std::string& path, const std::string& what) {
  return option + ": '" + path + "' is " + what + " that this command reads; name another file";
}

std::string is_written(const std::string& option, const std::string& path, const std::string& other) {
  return option + ": '" + path + "' is a file that " + other + " writes, too; name another file";
}

std::string is_unwritable(const std::string& path, const std::string& reason) {
  return path + ": cannot be written: " + reason;
}

TEST(CliOutput, ResultsDoNotReplaceTheirDatabase) {
  const Scratch scratch;
  const std::string file = scratch.write("x.toml", "config = \"baseline\"\nscale = 0.001\nworkload = \"vecadd\"\n");
  const std::string database = scratch.path("x.db");
  expect_refused({"sweep", file, "-d", file}, is_read("--database", file, "the exploration"));
  ASSERT_EQ(test::heddle({"sweep", file, "-d", database}).code, 0);
  const std::string before = Scratch::read(database);
  ASSERT_FALSE(before.empty());
  expect_refused({"results", database, "--csv", database}, is_read("--csv", database, "the database"));
  expect_refused({"results", database, "--html", database}, is_read("--html", database, "the database"));
  for (const char* const option : {"--svg", "--png"}) {
    expect_refused({"results", database, "--plot", "ipc", "--x", "workload", option, database},
                   is_read(option, database, "the database"));
  }
  expect_refused({"results", database, "--csv", database + "-wal"},
                 is_read("--csv", database + "-wal", "a part of the database"));
  const std::string both = scratch.path("both");
  expect_refused({"results", database, "--plot", "ipc", "--x", "workload", "--svg", both, "--png", both},
                 is_written("--png", both, "--svg"));
  EXPECT_FALSE(fs::exists(both));
  EXPECT_EQ(Scratch::read(database), before);
  EXPECT_EQ(test::heddle({"results", database, "--csv", "-"}).code, 0);
}

TEST(CliOutput, ARunReplacesNothingThatItReads) {
  const Scratch scratch;
  const std::string kernel = scratch.write("k.ptx", "never compiled");
  const std::string values = scratch.write("x.bin", "1234");
  const std::string expected = scratch.write("e.bin", "5678");
  const std::string machine = scratch.write("base.toml", "extends = \"baseline\"\n");
  const std::string derived = scratch.write("derived.toml", "extends = \"base.toml\"\n");
  const std::string text =
      "ptx = \"k.ptx\"\n[[buffer]]\nname = \"x\"\ntype = \"u32\"\nfile = \"x.bin\"\n"
      "[[launch]]\nentry = \"k\"\ngrid = [1]\nblock = [32]\n"
      "[[output]]\nbuffer = \"x\"\nfile = \"x.bin\"\nexpect = \"e.bin\"\n";
  const std::string launch = scratch.write("launch.toml", text);
  const auto refused = [&](const std::string& option, const std::string& path, const std::string& what) {
    expect_refused({"run", derived, launch, option, path}, is_read(option, path, what));
  };
  refused("--report", launch, "the launch file");
  refused("--memory-trace", kernel, "the kernel file");
  refused("--memory-trace", values, "the file of buffer 'x'");
  refused("--report", expected, "the expected output of buffer 'x'");
  refused("--report", machine, "a machine file");
  refused("--report", derived, "a machine file");
  expect_refused({"run", derived, launch, "--out", scratch.path()}, is_read("--out", values, "the file of buffer 'x'"));
  const std::string trace = scratch.write("a.trace", "no trace");
  expect_refused({"run", "baseline", trace, "--record", trace}, is_read("--record", trace, "the trace"));
  EXPECT_EQ(Scratch::read(launch), text);
  EXPECT_EQ(Scratch::read(kernel), "never compiled");
  EXPECT_EQ(Scratch::read(values), "1234");
  EXPECT_EQ(Scratch::read(expected), "5678");
  EXPECT_EQ(Scratch::read(machine), "extends = \"baseline\"\n");
  EXPECT_EQ(Scratch::read(trace), "no trace");
}

TEST(CliOutput, ARunWritesNoFileTwice) {
  const Scratch scratch;
  const auto refused = [&](std::vector<std::string> options, const std::string& line) {
    options.insert(options.begin(), {"run", "baseline", "vecadd", "--scale", "0.001"});
    expect_refused(options, line);
    EXPECT_TRUE(fs::is_empty(scratch.path())) << line;
  };
  const std::string same = scratch.path("same.json");
  refused({"--memory-trace", same, "--pipeline", same}, is_written("--pipeline", same, "--memory-trace"));
  refused({"--timeline", same, "--report", same}, is_written("--timeline", same, "--report"));
  refused({"--out", scratch.path("o"), "--report", scratch.path("o/stats.json")},
          is_written("--report", scratch.path("o/stats.json"), "--out"));
  refused({"--vcd", scratch.path("a.vcd"), "--memory-trace", scratch.path("a.gtkw")},
          is_written("--vcd", scratch.path("a.gtkw"), "--memory-trace"));
  refused({"--out", ""}, "--out: the folder's name is empty; name a folder");
}

TEST(CliOutput, OtherCommandsReplaceNothingThatTheyRead) {
  const Scratch scratch;
  const std::string machine = scratch.write("demo.html", "extends = \"baseline\"\n");
  expect_refused({"demo", "vecadd", "--config", machine, "--out", scratch.path("")},
                 is_read("--out", machine, "a machine file"));
  const std::string derived = scratch.write("m.toml", "extends = \"baseline\"\n");
  expect_refused({"diagram", derived, "--dot", derived}, is_read("--dot", derived, "a machine file"));
  expect_refused({"diagram", derived, "--dot", scratch.path("x"), "--svg", scratch.path("x")},
                 is_written("--svg", scratch.path("x"), "--dot"));
  const std::string requests = scratch.write("r.json", "0x0 R\n");
  expect_refused({"dram", "baseline", requests, "--timeline", requests}, is_read("--timeline", requests, "the trace"));
  expect_refused({"dram", "baseline", requests, "--timeline", scratch.path("stats.json"), "--out", scratch.path("")},
                 is_written("--timeline", scratch.path("stats.json"), "--out"));
  const std::string page = scratch.path("new/reproduction.md");
  expect_refused({"reproduce", "fu-util", "--out", scratch.path("new"), "--markdown", page},
                 is_written("--markdown", page, "--out"));
  fs::create_directories(scratch.path("pages"));
  const std::string other =
      scratch.write("pages/thesis.md", R"({"schema": 1, "scaling": "default scale", "claims": []})");
  expect_refused(
      {"reproduce", "fu-util", "--out", scratch.path("new"), "--beside", other, "--markdown", scratch.path("pages.md")},
      is_read("--markdown", other, "the other reproduction"));
  EXPECT_FALSE(fs::exists(scratch.path("new")));
  EXPECT_EQ(Scratch::read(machine), "extends = \"baseline\"\n");
  EXPECT_EQ(Scratch::read(derived), "extends = \"baseline\"\n");
  EXPECT_EQ(Scratch::read(requests), "0x0 R\n");
}

TEST(CliOutput, WhatCannotBeWrittenIsRefusedBeforeTheRun) {
  const Scratch scratch;
  for (const char* const name : {"dd", "dd.json", "dd.trace", "dd.svg", "dd.gtkw", "od/stats.json"}) {
    fs::create_directories(scratch.path(name));
  }
  const auto refused = [&](const std::string& option, const std::string& name, const std::string& path,
                           const std::string& reason) {
    expect_refused({"run", "baseline", "vecadd", "--scale", "0.001", option, scratch.path(name)},
                   is_unwritable(scratch.path(path), reason));
  };
  refused("--memory-trace", "dd", "dd", "Is a directory");
  refused("--pipeline", "dd.json", "dd.json", "Is a directory");
  refused("--record", "dd.trace", "dd.trace", "Is a directory");
  refused("--timeline", "dd.svg", "dd.svg", "Is a directory");
  refused("--report", "dd", "dd", "Is a directory");
  refused("--vcd", "dd.vcd", "dd.gtkw", "Is a directory");
  refused("--out", "od", "od/stats.json", "Is a directory");
  for (const char* const option : {"--memory-trace", "--pipeline", "--timeline"}) {
    refused(option, "no/x.json", "no/x.json", "No such file or directory");
  }
  refused("--report", "no/x.html", "no/x.html", "No such file or directory");
  refused("--record", "no/x.trace", "no/x.trace", "No such file or directory");
  const std::string requests = scratch.write("r.txt", "0x0 R\n");
  expect_refused({"dram", "baseline", requests, "--out", scratch.path("od")},
                 is_unwritable(scratch.path("od/stats.json"), "Is a directory"));
  expect_refused({"dram", "baseline", requests, "--timeline", scratch.path("dd.svg")},
                 is_unwritable(scratch.path("dd.svg"), "Is a directory"));
  expect_refused({"bench", "--quick", "--json", scratch.path("dd")},
                 is_unwritable(scratch.path("dd"), "Is a directory"));
  EXPECT_TRUE(fs::is_empty(scratch.path("od/stats.json")));
}

// Two runs' statistics, which heddle compare makes a page of.
class CliOutputPage : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(test::heddle({"run", "baseline", "vecadd", "--scale", "0.001", "-q", "-o", run}).code, 0);
  }
  // A shell's command line, with `PROGRAM compare ...` in place of "@".
  [[nodiscard]] Ran in_shell(const std::string& line) const {
    std::string command = line;
    const std::string call = std::string(HEDDLE_PROGRAM) + " compare '" + run + "' '" + run + "' -q";
    command.replace(command.find('@'), 1, call);
    return test::spawn({"bash", "-c", command});
  }
  const Scratch scratch;
  const std::string run = scratch.path("a");
};

TEST_F(CliOutputPage, ACompareDoesNotReplaceWhatItReads) {
  const std::string stats = run + "/stats.json";
  const std::string before = Scratch::read(stats);
  expect_refused({"compare", run, run, "--html", stats}, is_read("--html", stats, "a run"));
  EXPECT_EQ(Scratch::read(stats), before);
  EXPECT_FALSE(before.empty());
}

TEST_F(CliOutputPage, GoesToTheStandardOutputWhereThatIs) {
  const Ran ran = test::heddle({"compare", run, run, "--html", "/dev/stdout"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const std::size_t page = ran.out.find("<!DOCTYPE html>");
  ASSERT_NE(page, std::string::npos);
  EXPECT_LT(ran.out.find("A  vecadd on baseline"), page);
  EXPECT_LT(page, ran.out.find("written: /dev/stdout"));
  // What a file held before stays there.
  const std::string log = scratch.write("log", "before\n");
  ASSERT_EQ(in_shell("@ --html /dev/stdout >> '" + log + "'").code, 0);
  EXPECT_EQ(Scratch::read(log).substr(0, 22), "before\n<!DOCTYPE html>");
}

TEST_F(CliOutputPage, PipesAndDevicesAreWrittenInto) {
  const Ran piped = in_shell("cat <(@ --html >(cat))");
  EXPECT_EQ(piped.code, 0) << piped.err;
  EXPECT_NE(piped.out.find("<!DOCTYPE html>"), std::string::npos) << piped.err;
  EXPECT_EQ(test::heddle({"compare", run, run, "-q", "--html", "/dev/null"}).code, 0);
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  expect_refused({"compare", run, run, "-q", "--html", "/dev/full"},
                 is_unwritable("/dev/full", "No space left on device"));
  expect_refused({"run", "baseline", "vecadd", "--scale", "0.001", "-q", "--memory-trace", "/dev/full"},
                 is_unwritable("/dev/full", "No space left on device"));
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST_F(CliOutputPage, ALinkStays) {
  const std::string target = scratch.write("target.html", "old");
  fs::create_symlink("target.html", scratch.path("link.html"));
  ASSERT_EQ(test::heddle({"compare", run, run, "-q", "--html", scratch.path("link.html")}).code, 0);
  EXPECT_TRUE(fs::is_symlink(scratch.path("link.html")));
  EXPECT_EQ(Scratch::read(target).substr(0, 15), "<!DOCTYPE html>");
}

}  // namespace
}  // namespace heddle::cli
