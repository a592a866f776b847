// Limits that a shell sets, and signals that come while a compiler is at work: what is said, and what is left behind.
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/program_runner.hpp"

namespace heddle::tb {
namespace {

namespace fs = std::filesystem;
using test::Ran;
using test::RunSetup;
using test::Scratch;
using test::spawn;

// The program under a limit that the shell sets: "-f 100".
Ran limited(const std::string& limit, const std::string& words) {
  return test::spawn({"/bin/bash", "-c", "ulimit " + limit + " && exec " + HEDDLE_PROGRAM + " " + words});
}

std::size_t files_in(const std::string& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST(HostLimits, AFileThatMayNotBeSoLargeIsAnErrorAndStaysWhatItWas) {
  const Scratch scratch;
  const std::string page = scratch.write("r.html", "old");
  const Ran ran = limited("-f 100", "run baseline vecadd --scale 0.0005 --quiet --report " + page);
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(ran.err, "heddle: " + page + ": cannot be written: File too large\n");
  EXPECT_EQ(Scratch::read(page), "old");
  EXPECT_EQ(files_in(scratch.path()), 1U);
}

TEST(HostLimits, AStackThatIsTooSmallIsSaid) {
  const std::string run = "run baseline vecadd --scale 0.0005 --quiet";
  const Ran small = limited("-s 128", run);
  EXPECT_EQ(small.code, 2);
  EXPECT_EQ(small.err,
            "heddle: the stack may have 128 KiB (ulimit -s), and 512 are needed; raise the limit: ulimit -s 8192\n");
  EXPECT_EQ(limited("-s 512", run).code, 0);
  // A limit that this process may raise itself is raised.
  EXPECT_EQ(limited("-S -s 128", run).code, 0);
}

TEST(HostLimits, TooFewOpenFilesAreSaid) {
  const std::string run = "run baseline vecadd --scale 0.0005 --quiet";
  for (const char* const limit : {"-n 6", "-n 63"}) {
    const Ran few = limited(limit, run);
    EXPECT_EQ(few.code, 2);
    EXPECT_EQ(few.err,
              "heddle: " + std::string(limit + 3) +
                  " files may be open at once (ulimit -n), and 64 are needed; raise the limit: ulimit -n 1024\n");
  }
  EXPECT_EQ(limited("-n 64", run).code, 0);
  EXPECT_EQ(limited("-S -n 6", run).code, 0);
}

// A compiler that does not end by itself, and says when it is there.
class WhileCompiling : public testing::TestWithParam<int> {
 protected:
  WhileCompiling() {
    const std::string started = scratch_.path("started");
    const std::string compiler = scratch_.write("clang", "#!/bin/sh\n: > " + started + "\nexec sleep 60\n");
    fs::permissions(compiler, fs::perms::owner_all);
    scratch_.write("k.cu", "__global__ void k() {}\n");
    scratch_.write("l.toml", "cuda = \"k.cu\"\n[[launch]]\nentry = \"k\"\ngrid = [1]\nblock = [1]\n");
    scratch_.write("e.toml", "config = \"baseline\"\nworkload = \"l.toml\"\n[axes]\ncore.warp_size = [32]\n");
    fs::create_directory(scratch_.path("tmp"));
    fs::create_directory(scratch_.path("out"));
    setup_.folder = scratch_.path("out");
    setup_.environment = {"HEDDLE_CLANG=" + compiler, "TMPDIR=" + scratch_.path("tmp")};
    setup_.while_running = [started](pid_t process) {
      for (int i = 0; i < 5000 && !fs::exists(started); ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      }
      ::kill(process, GetParam());
    };
  }
  void ends(const std::vector<std::string>& words) {
    SCOPED_TRACE(words.front());
    fs::remove(scratch_.path("started"));
    const auto start = std::chrono::steady_clock::now();
    const Ran ran = test::heddle(words, setup_);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
    EXPECT_EQ(ran.code, 128 + GetParam());
    EXPECT_EQ(ran.err, "heddle: ended by signal " + std::to_string(GetParam()) + " (" + ::strsignal(GetParam()) +
                           ") while ../k.cu was compiled\n");
    EXPECT_TRUE(fs::is_empty(scratch_.path("tmp")));
    EXPECT_TRUE(fs::is_empty(scratch_.path("out")));
  }
  Scratch scratch_;
  RunSetup setup_;
};

TEST_P(WhileCompiling, ASignalEndsItAndNothingIsLeft) {
  ends({"compile", "../k.cu"});
  ends({"nvcc", "../k.cu", "-o", "p"});
  ends({"run", "baseline", "../l.toml", "--memory-trace", "t"});
  ends({"sweep", "../e.toml", "-d", "x.db"});
}

INSTANTIATE_TEST_SUITE_P(By, WhileCompiling, testing::Values(SIGTERM, SIGINT, SIGHUP));

}  // namespace
}  // namespace heddle::tb
