// heddle run --checkpoint and --resume: a run that goes on in another process ends in the same bytes, wherever it was
// killed; images that are damaged, foreign or lack their files are refused.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <boost/json.hpp>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <regex>
#include <thread>

#include "os/checkpoint/checkpoint.hpp"
#include "os/checkpoint/digest.hpp"
#include "os/checkpoint/image_format.hpp"
#include "os/files/temporary_name.hpp"
#include "tests/support/program_runner.hpp"

namespace heddle::cli {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;
using test::heddle;
using test::Ran;
using test::RunSetup;
using test::Scratch;

Words joined(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::uint64_t cycles_of(const std::string& folder) {
  return boost::json::parse(Scratch::read(folder + "/stats.json"))
      .at("summary")
      .at("cycles")
      .to_number<std::uint64_t>();
}

// All files below a folder but files of the host's cost and files that begin with a dot, by name.
std::map<std::string, std::string> files_of(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_regular_file() && name != "host.json" && !name.starts_with(".")) {
      files[fs::relative(entry.path(), folder).string()] = Scratch::read(entry.path().string());
    }
  }
  return files;
}

void expect_same_files(const std::string& one, const std::string& other) {
  const auto ours = files_of(one);
  const auto theirs = files_of(other);
  EXPECT_TRUE(ours.contains("stats.json"));
  for (const auto& [name, text] : ours) {
    EXPECT_TRUE(theirs.contains(name)) << name;
    EXPECT_TRUE(theirs.contains(name) && theirs.at(name) == text) << name << " differs";
  }
  EXPECT_EQ(ours.size(), theirs.size());
}

bool wait_for(const std::function<bool()>& what) {
  constexpr int kTries = 20'000;  // ms
  for (int tries = 0; tries != kTries; ++tries) {
    if (what()) {
      return true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

// When it was written, in nanoseconds; 0: it is not there.
std::int64_t time_of(const std::string& path) {
  struct stat found {};
  return ::stat(path.c_str(), &found) == 0 ? found.st_mtim.tv_sec * 1'000'000'000 + found.st_mtim.tv_nsec : 0;
}

// Kills the run soon after it has written a checkpoint of its own.
RunSetup killed_after_a_checkpoint(const std::string& file, int signal, unsigned milliseconds = 0) {
  RunSetup setup;
  setup.while_running = [file, signal, milliseconds, before = time_of(file)](pid_t process) {
    wait_for([&] { return time_of(file) != before || ::kill(process, 0) != 0; });
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    ::kill(process, signal);
  };
  return setup;
}

class CliCheckpoint : public testing::Test {
 protected:
  void SetUp() override {
    if (checkpoint::unsupported()) {
      GTEST_SKIP() << *checkpoint::unsupported();
    }
  }
  [[nodiscard]] std::string path(const std::string& name) const { return scratch_.path(name); }
  [[nodiscard]] Ran resumed(const RunSetup& setup = {}) const {
    return test::heddle({"run", "--resume", file_}, setup);
  }
  // With checkpoints, into the folder `folder`.
  [[nodiscard]] Words checked(const Words& run, const std::string& folder, std::uint64_t every) const {
    return joined(run, {"--out", path(folder), "--checkpoint", file_, "--every", std::to_string(every)});
  }
  // A short run that leaves a checkpoint.
  void leave_checkpoint() const {
    const Ran ran = test::heddle(checked({"run", "baseline", "vecadd", "--scale", "0.001", "--quiet"}, "out", 1000));
    ASSERT_EQ(ran.code, 0) << ran.err;
    ASSERT_TRUE(fs::exists(file_));
  }

  const Scratch scratch_;
  const std::string file_ = scratch_.path("run.checkpoint");
};

TEST(CheckpointSupport, ABuildWithoutSaysWhy) {
  if (!checkpoint::unsupported()) {
    GTEST_SKIP() << "this build has checkpoints";
  }
  const Scratch scratch;
  const std::string file = scratch.path("file");
  for (const Words& words :
       {Words{"run", "baseline", "vecadd", "--scale", "0.001", "--checkpoint", file, "--every", "9"},
        Words{"run", "--resume", file}}) {
    const Ran ran = test::heddle(words);
    EXPECT_EQ(ran.code, 2);
    EXPECT_NE(ran.err.find(*checkpoint::unsupported()), std::string::npos) << ran.err;
  }
}

const Words kQueens = {"run", "baseline", "nqueens", "--scale", "0.02"};

// ----------------------------------------------------------------------------------------------------- same bytes

struct CheckpointCase {
  std::string name;
  Words run;
};

std::ostream& operator<<(std::ostream& out, const CheckpointCase& one) {
  return out << one.name;
}

class ResumedRun : public CliCheckpoint, public testing::WithParamInterface<CheckpointCase> {};

// One checkpoint, after two thirds of the run: the last third is done by the run itself and by the resumed one.
TEST_P(ResumedRun, EndsInTheSameBytes) {
  const Words run = joined({"run"}, joined(GetParam().run, {"--quiet"}));
  Ran ran = test::heddle(joined(run, {"--out", path("plain")}));
  ASSERT_EQ(ran.code, 0) << ran.err;
  const std::uint64_t cycles = cycles_of(path("plain"));
  ran = test::heddle(checked(run, "checked", cycles * 2 / 3));
  ASSERT_EQ(ran.code, 0) << ran.err;
  expect_same_files(path("plain"), path("checked"));
  fs::remove(path("checked/stats.json"));
  ran = resumed();
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out + ran.err, "");  // the run was a quiet one
  expect_same_files(path("plain"), path("checked"));
}

const std::vector<CheckpointCase> kCheckpointCases = {
    {"baseline", {"baseline", "nqueens", "--scale", "0.005"}},
    {"lwm", {"lwm", "bfs", "--scale", "0.002"}},
    {"dwf", {"dwf-majority", "bfs", "--scale", "0.002"}},
    {"tbc", {"tbc", "bfs", "--scale", "0.002"}},
    {"slip_and_mesi", {"slip", "fft", "--scale", "0.01"}},
    {"dws_and_mesi", {"dws-conv", "fft", "--scale", "0.01"}},
    {"odgs", {"odgs", "nqueens", "--scale", "0.002"}},
    {"jedec_and_l2",
     {"baseline", "vecadd", "--scale", "0.002", "--set", "dram.timing=jedec", "--set", "l2.enabled=true"}},
    {"row_hints", {"database-hints", "index_search", "--scale", "0.001"}},
    {"threads",
     {"baseline", "histogram", "--scale", "0.003", "--set", "gpu.cores=4", "--set", "l1d.write_policy=write-through",
      "--threads", "2"}},
    {"launches", {"baseline", "gaussian", "--scale", "0.001", "--sample", "3"}},
};

INSTANTIATE_TEST_SUITE_P(On, ResumedRun, testing::ValuesIn(kCheckpointCases),
                         [](const auto& info) { return info.param.name; });

// It holds whatever the process had in memory, the environment among it.
TEST_F(CliCheckpoint, ItsFileIsForItsOwnerAlone) {
  ::umask(0);
  leave_checkpoint();
  struct stat found {};
  ASSERT_EQ(::stat(file_.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 07777U, 0600U);
}

TEST_F(CliCheckpoint, ARunKilledAtAnyMomentGoesOn) {
  constexpr std::uint64_t kEvery = 20'000;
  ASSERT_EQ(test::heddle(joined(kQueens, {"--out", path("plain")})).code, 0);
  const Words run = checked(kQueens, "checked", kEvery);
  std::mt19937 random(18);
  Ran ran = test::heddle(run, killed_after_a_checkpoint(file_, SIGKILL, random() % 20));
  const std::regex said("heddle: note: goes on from the checkpoint of cycle ([0-9,]+)\n");
  std::uint64_t latest = 0;
  unsigned killed = 0;
  while (ran.code == 128 + SIGKILL) {
    ++killed;
    ran = killed == 4 ? resumed() : resumed(killed_after_a_checkpoint(file_, SIGKILL, random() % 20));
    std::smatch found;
    ASSERT_TRUE(std::regex_search(ran.err, found, said)) << ran.err;
    std::string number = found[1];
    std::erase(number, ',');
    const std::uint64_t cycle = std::stoull(number);
    EXPECT_EQ(cycle % kEvery, 0U);
    EXPECT_GT(cycle, latest) << "the process before had written a checkpoint";
    latest = cycle;
  }
  EXPECT_GT(killed, 0U);
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_NE(ran.out.find("nqueens on baseline: result correct"), std::string::npos) << ran.out;
  expect_same_files(path("plain"), path("checked"));
}

// Such as the image that the process before was writing when it was killed.
TEST_F(CliCheckpoint, WhatADeadProcessHasLeftIsClearedAway) {
  leave_checkpoint();
  const std::string left = os::temporary_of_process(file_);
  std::ofstream(left) << "half an image";
  const Ran ran = resumed();
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_FALSE(fs::exists(left));
}

// Traces and pages are whole, too: what was written before the checkpoint is there once, and what came after it.
TEST_F(CliCheckpoint, WhatIsWrittenMeanwhileIsWhole) {
  const auto run = [&](const std::string& folder) {
    Words words = {"run", "baseline", "bfs", "--scale", "0.001", "--out", path(folder)};
    for (const auto& [option, name] : std::vector<std::pair<std::string, std::string>>{{"--pipeline", "log.kanata"},
                                                                                       {"--memory-trace", "memory.gz"},
                                                                                       {"--record", "run.trace"},
                                                                                       {"--vcd", "waves.vcd.gz"},
                                                                                       {"--timeline", "banks.svg"},
                                                                                       {"--report", "page.html"}}) {
      words = joined(words, {option, path(folder + "/" + name)});
    }
    return words;
  };
  ASSERT_EQ(test::heddle(run("plain")).code, 0);
  const std::uint64_t every = cycles_of(path("plain")) / 4;
  const Words checked = joined(run("checked"), {"--checkpoint", file_, "--every", std::to_string(every)});
  Ran ran = test::heddle(checked, killed_after_a_checkpoint(file_, SIGKILL));
  ASSERT_EQ(ran.code, 128 + SIGKILL) << ran.err;
  EXPECT_FALSE(fs::exists(path("checked/log.kanata")));
  ran = resumed(killed_after_a_checkpoint(file_, SIGKILL));
  EXPECT_EQ(ran.code, 128 + SIGKILL) << ran.err;
  ran = resumed();
  ASSERT_EQ(ran.code, 0) << ran.err;
  expect_same_files(path("plain"), path("checked"));
  ran = resumed();  // once more, from a checkpoint whose run has ended and given the files their names
  ASSERT_EQ(ran.code, 0) << ran.err;
  expect_same_files(path("plain"), path("checked"));
  std::ofstream(path("checked/log.kanata")) << "another run's";
  ran = resumed();
  EXPECT_EQ(ran.code, 2);
  EXPECT_NE(ran.err.find("the checkpoint's run had this file open, and it cannot be opened"), std::string::npos)
      << ran.err;
}

// So is a file whose head is written last.
TEST_F(CliCheckpoint, WavesInFstGoOn) {
  const auto run = [&](const std::string& folder) {
    return Words{"run", "baseline", "bfs", "--scale", "0.001", "--out", path(folder), "--vcd", path(folder + "/a.fst")};
  };
  ASSERT_EQ(test::heddle(run("plain")).code, 0);
  const std::uint64_t every = cycles_of(path("plain")) / 3;
  const Words checked = joined(run("checked"), {"--checkpoint", file_, "--every", std::to_string(every)});
  Ran ran = test::heddle(checked, killed_after_a_checkpoint(file_, SIGKILL));
  ASSERT_EQ(ran.code, 128 + SIGKILL) << ran.err;
  EXPECT_FALSE(fs::exists(path("checked/a.fst")));
  ran = resumed();
  ASSERT_EQ(ran.code, 0) << ran.err;
  expect_same_files(path("plain"), path("checked"));
}

TEST_F(CliCheckpoint, AReplayGoesOnIfItsTraceIsTheSame) {
  const std::string trace = path("run.trace");
  ASSERT_EQ(test::heddle({"run", "baseline", "vecadd", "--scale", "0.001", "--quiet", "--record", trace}).code, 0);
  ASSERT_EQ(test::heddle({"run", "baseline", trace, "--quiet", "--out", path("plain")}).code, 0);
  Ran ran = test::heddle(checked({"run", "baseline", trace, "--quiet"}, "checked", 2000));
  ASSERT_EQ(ran.code, 0) << ran.err;
  fs::remove(path("checked/stats.json"));
  ASSERT_EQ(resumed().code, 0);
  expect_same_files(path("plain"), path("checked"));
  std::ofstream(trace, std::ios::app) << "more";
  ran = resumed();
  EXPECT_EQ(ran.code, 2);
  EXPECT_NE(ran.err.find("run.trace: the checkpoint's run had this file open, and it has changed since"),
            std::string::npos)
      << ran.err;
}

TEST_F(CliCheckpoint, SignalsEndAResumedRunInAnOrderlyWay) {
  const Words run = checked({"run", "baseline", "nqueens"}, "checked", 50'000);
  Ran ran = test::heddle(run, killed_after_a_checkpoint(file_, SIGKILL));
  ASSERT_EQ(ran.code, 128 + SIGKILL) << ran.err;
  ran = resumed(killed_after_a_checkpoint(file_, SIGTERM));
  EXPECT_EQ(ran.code, 128 + SIGTERM) << ran.err;
  const boost::json::value stats = boost::json::parse(Scratch::read(path("checked/stats.json")));
  EXPECT_FALSE(stats.at("complete").as_bool());
}

// From another folder, with another terminal, other descriptors and other addresses than the run had.
TEST_F(CliCheckpoint, WhereItIsResumedDoesNotMatter) {
  fs::create_directories(path("there"));
  RunSetup there;
  there.folder = path("there");
  const Words run = {"run", "baseline", "nqueens", "--scale", "0.005"};
  ASSERT_EQ(test::heddle(joined(run, {"--out", path("plain")})).code, 0);
  const Ran first = test::heddle(joined(run, {"--out", "checked", "--checkpoint", "file", "--every", "60000"}), there);
  ASSERT_EQ(first.code, 0) << first.err;
  fs::remove(path("there/checked/stats.json"));
  RunSetup terminal;
  terminal.terminal = true;
  const Ran ran = test::heddle({"run", "--resume", path("there/file")}, terminal);
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out.substr(0, 41), first.out.substr(0, 41));
  expect_same_files(path("plain"), path("there/checked"));
  const Ran crowded = test::spawn({"bash", "-c", "exec 3</dev/null 4<&3 5<&3 6<&3 7<&3 8<&3; exec \"$0\" \"$@\"",
                                   HEDDLE_PROGRAM, "run", "--resume", path("there/file")});
  EXPECT_EQ(crowded.code, 0) << crowded.err;
}

TEST_F(CliCheckpoint, TheFolderOfTheOutputsMayHoldIt) {
  const std::string file = path("new/run.checkpoint");
  const Words run = {"run", "baseline", "vecadd", "--scale", "0.001", "--quiet", "--out", path("new")};
  Ran ran = test::heddle(joined(run, {"--checkpoint", file, "--every", "3000"}));
  ASSERT_EQ(ran.code, 0) << ran.err;
  const std::string stats = Scratch::read(path("new/stats.json"));
  fs::remove(path("new/stats.json"));
  ran = test::heddle({"run", "--resume", file});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(Scratch::read(path("new/stats.json")) == stats);
}

// ----------------------------------------------------------------------------------------------------- what is refused

TEST_F(CliCheckpoint, DamagedAndForeignImagesAreRefused) {
  leave_checkpoint();
  const std::string whole = Scratch::read(file_);
  const auto refusal = [&](const std::string& bytes) {
    std::ofstream(file_, std::ios::binary | std::ios::trunc) << bytes;
    const Ran ran = resumed();
    EXPECT_EQ(ran.code, 2);
    EXPECT_EQ(ran.out, "");
    return ran.err;
  };
  const std::string damaged = file_ + ": the checkpoint is damaged";
  for (const double place : {0.002, 0.1, 0.5, 0.9, 1.0}) {
    std::string bytes = whole;
    const auto at = static_cast<std::size_t>(place * static_cast<double>(bytes.size() - 1));
    bytes[at] = static_cast<char>(bytes[at] ^ 4);
    EXPECT_NE(refusal(bytes).find(damaged), std::string::npos) << at;
  }
  EXPECT_NE(refusal(whole.substr(0, whole.size() - 1)).find(damaged), std::string::npos);
  EXPECT_NE(refusal(whole.substr(0, whole.size() / 2)).find(damaged), std::string::npos);
  EXPECT_NE(refusal(whole + '\0').find(damaged), std::string::npos);
  EXPECT_NE(refusal(whole.substr(0, 60)).find("this is no checkpoint, or one that has been cut short"),
            std::string::npos);
  EXPECT_NE(refusal("").find("this is no checkpoint"), std::string::npos);
  EXPECT_NE(refusal(std::string(5000, 'x')).find("this is no checkpoint"), std::string::npos);
  std::string later = whole;
  later[offsetof(checkpoint::Preamble, version)] = 77;
  EXPECT_NE(refusal(later).find("is of version 77, and this program reads version 1 only"), std::string::npos);
  // Another processor, by what the notes say of the present one.
  std::string other = whole;
  const std::size_t word = other.find("CPUID 1.0 eax");
  ASSERT_NE(word, std::string::npos);
  other[word + std::strlen("CPUID 1.0 eax")] ^= 1;
  checkpoint::Trailer trailer{other.size(), 0};
  checkpoint::Digest digest;
  digest.add(other.data(), other.size() - sizeof trailer);
  trailer.digest = digest.value();
  std::memcpy(other.data() + other.size() - sizeof trailer, &trailer, sizeof trailer);
  EXPECT_NE(refusal(other).find("it was taken on another kind of processor (CPUID 1.0 eax: 0x"), std::string::npos);
  std::ofstream(file_, std::ios::binary | std::ios::trunc) << whole;
  EXPECT_EQ(resumed().code, 0) << "and whole it is as good as ever";
}

TEST_F(CliCheckpoint, AnotherBuildIsRefused) {
  leave_checkpoint();
  const std::string other = path("other-build");
  fs::copy_file(HEDDLE_PROGRAM, other);
  Ran ran = test::spawn({other, "run", "--resume", file_});
  EXPECT_EQ(ran.code, 0) << "the same build, wherever it lies: " << ran.err;
  std::ofstream(other, std::ios::app) << "x";
  ran = test::spawn({other, "run", "--resume", file_});
  EXPECT_EQ(ran.code, 2);
  EXPECT_NE(ran.err.find("the checkpoint cannot be resumed here: it was taken by another build of heddle"),
            std::string::npos)
      << ran.err;
}

TEST_F(CliCheckpoint, OptionsThatDoNotGoTogetherAreRefused) {
  leave_checkpoint();
  const auto refusal = [&](const Words& words) {
    const Ran ran = test::heddle(joined({"run"}, words));
    EXPECT_EQ(ran.code, 2) << ran.out;
    return ran.err;
  };
  const Words run = {"baseline", "vecadd", "--scale", "0.001"};
  const std::string beside = "cannot stand beside it: the checkpoint has the machine, the workload and all options";
  EXPECT_NE(refusal({"--resume", file_, "lwm"}).find("--resume: 'lwm' " + beside), std::string::npos);
  EXPECT_NE(refusal({"--resume", file_, "--set", "core.threads=64"}).find("--resume: '--set' " + beside),
            std::string::npos);
  EXPECT_NE(refusal({"--resume", file_, "--quiet"}).find("--resume: '--quiet' " + beside), std::string::npos);
  EXPECT_NE(refusal({"--resume", path("none")}).find("cannot be read: No such file"), std::string::npos);
  EXPECT_EQ(refusal(joined(run, {"--checkpoint", file_})),
            "heddle: --checkpoint: does not say how often; add --every CYCLES\n");
  EXPECT_EQ(refusal(joined(run, {"--every", "1000"})),
            "heddle: --every: says how often --checkpoint FILE is written, which is not given\n");
  EXPECT_NE(
      refusal(joined(run, {"--checkpoint", file_, "--every", "0"})).find("--every: '0' is no whole number from 1"),
      std::string::npos);
  EXPECT_NE(refusal(joined(run, {"--checkpoint", "/dev/null", "--every", "9"}))
                .find("--checkpoint: '/dev/null' is no regular file"),
            std::string::npos);
  EXPECT_NE(refusal(joined(run, {"--checkpoint", path("no/file"), "--every", "9"})).find("cannot be written"),
            std::string::npos);
  EXPECT_NE(
      refusal(joined(run, {"--checkpoint", file_, "--every", "9", "--memory-trace", "/dev/stdout"})).find("the pipe"),
      std::string::npos);
  EXPECT_NE(refusal(joined(run, {"--checkpoint", file_, "--every", "9", "--memory-trace", file_}))
                .find("is a file that --memory-trace writes, too"),
            std::string::npos);
  for (const char* const option : {"--checkpoint", "--every"}) {
    const Ran exec = test::heddle({"exec", option, "9", "--", "/bin/true"});
    EXPECT_EQ(exec.code, 2);
    EXPECT_NE(exec.err.find(option + std::string(": a checkpoint holds one process, and the program is another one")),
              std::string::npos)
        << exec.err;
    EXPECT_EQ(test::heddle({"exec", "--help"}).out.find(option), std::string::npos) << "it is not one of its options";
    EXPECT_NE(test::heddle({"run", "--help"}).out.find(option), std::string::npos);
  }
}

TEST_F(CliCheckpoint, OneRunAtATimeHasAFile) {
  RunSetup setup;
  Ran second;
  Ran resuming;
  setup.while_running = [&](pid_t process) {
    wait_for([&] { return fs::exists(file_) || ::kill(process, 0) != 0; });
    second = test::heddle(checked({"run", "baseline", "vecadd", "--scale", "0.001"}, "second", 1000));
    resuming = resumed();
    ::kill(process, SIGKILL);
  };
  const Ran first = test::heddle(checked({"run", "baseline", "nqueens"}, "first", 20'000), setup);
  ASSERT_EQ(first.code, 128 + SIGKILL) << first.err;
  EXPECT_EQ(second.code, 2);
  EXPECT_NE(second.err.find("another run writes this checkpoint"), std::string::npos) << second.err;
  EXPECT_EQ(resuming.code, 2);
  EXPECT_NE(resuming.err.find("another process has it now"), std::string::npos) << resuming.err;
}

// Files of this process may be 64 KiB long, which no checkpoint is: as on a full disk a write fails.
TEST_F(CliCheckpoint, WithoutRoomTheEarlierImageStays) {
  leave_checkpoint();
  const std::string before = Scratch::read(file_);
  Words run = {"bash", "-c", "trap '' XFSZ; ulimit -f 64; exec \"$0\" \"$@\"", HEDDLE_PROGRAM};
  run = joined(run, checked({"run", "baseline", "vecadd", "--scale", "0.001", "--quiet"}, "full", 3000));
  const Ran ran = test::spawn(run);
  EXPECT_EQ(ran.code, 0) << ran.err;  // a run of many hours does not end for that
  const std::string said = fmt::format(
      "heddle: warning: no checkpoint in cycle 3,000: {}: cannot be written: File too large; there is none yet\n",
      file_);
  EXPECT_EQ(ran.err.substr(0, said.size()), said);
  EXPECT_TRUE(Scratch::read(file_) == before);
  for (const fs::directory_entry& entry : fs::directory_iterator(path(""))) {
    EXPECT_FALSE(entry.path().filename().string().ends_with(".tmp")) << entry.path();
  }
  expect_same_files(path("out"), path("full"));
  EXPECT_EQ(resumed().code, 0);
}

}  // namespace
}  // namespace heddle::cli
