// heddle run --vcd: windows, groups, forms of files, refusals.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <zlib.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "hw/state/idle_cause.hpp"
#include "os/process/child_process.hpp"
#include "tests/support/marks.hpp"
#include "tests/support/program_runner.hpp"
#include "tests/support/vcd_reader.hpp"

HEDDLE_NOT_SANITIZED("Waves.AnInterrupt*")
HEDDLE_SAMPLED("Of/FarWindow.*")
HEDDLE_LONG_SANITIZED("Of/FarWindow.*", "Waves.AWindow*", "Waves.GroupsSelect*", "Waves.ASaveFile*",
                      "Waves.Compressed*")

namespace heddle::tb {
namespace {

using test::heddle;
using test::Ran;
using test::read_vcd;
using test::Scratch;
using test::VcdDump;
using test::VcdError;

// ---------------------------------------------------------------------------------------------------- the reader

constexpr const char* kWavesHead =
    "$timescale 1 ns $end\n$scope module a $end\n$var wire 4 ! b [3:0] $end\n$var wire 1 \" c $end\n$upscope $end\n"
    "$enddefinitions $end\n";

TEST(VcdReader, ReadsAWellFormedFile) {
  const VcdDump dump =
      test::read_vcd(std::string(kWavesHead) + "#0\n$dumpvars\nbx !\nx\"\n$end\n#2\nb11 !\n1\"\n#5\n0\"\n#7\n");
  EXPECT_EQ(dump.timescale, "1ns");
  EXPECT_EQ(dump["a.b"].at(1), "xxxx");
  EXPECT_EQ(dump["a.b"].at(2), "0011");
  EXPECT_EQ(dump["a.b"].number(6), 3U);
  EXPECT_EQ(dump.sum("a.b"), 15U);
  EXPECT_EQ(dump.time_at("a.c", 1), 3U);
  EXPECT_EQ(dump.time_at("a.c", 0), 2U);
}

TEST(VcdReader, RefusesMalformedFiles) {
  const std::string head = kWavesHead;
  const std::string first = "#0\n$dumpvars\nbx !\nx\"\n$end\n";
  const std::pair<std::string, const char*> cases[] = {
      {"", "no $enddefinitions"},
      {"$timescale 1 ns $end\n$scope module a $end\n$enddefinitions $end\n#0\n", "a scope is open"},
      {"$enddefinitions $end\n#0\n", "no time scale"},
      {"$timescale 3 ns $end\n$enddefinitions $end\n#0\n", "time scale '3ns'"},
      {"$timescale 1 ns $end\n$upscope $end\n$enddefinitions $end\n#0\n", "$upscope without"},
      {"$timescale 1 ns $end\n$var wire 4 ! b $end\n$enddefinitions $end\n#0\n", "range ''"},
      {"$timescale 1 ns $end\n$var wire 1 ! b $end\n$var wire 1 ! c $end\n$enddefinitions $end\n#0\n", "twice"},
      {head + "b1 !\n", "before the first time"},
      {head + first + "b10001 !\n", "value '10001'"},
      {head + first + "b12 !\n", "digits"},
      {head + first + "1!\n", "a scalar value of a vector"},
      {head + first + "1#\n", "unknown identifier"},
      {head + first + "#4\n#4\n", "time does not go on"},
      {head + first + "#4\n#3\n", "time does not go on"},
      {head + "#0\n$dumpvars\nbx !\n$end\n", "no first value of 'a.c'"},
      {head + "#0\n$dumpvars\nbx !\nx\"\n", "$dumpvars without $end"},
      {head + first + "#1e3\n", "is no number"},
      {head + first + "q\"\n", "value 'q"},
  };
  for (const auto& [text, reason] : cases) {
    try {
      (void)test::read_vcd(text);
      ADD_FAILURE() << "accepted: " << text;
    } catch (const VcdError& error) {
      EXPECT_NE(std::string(error.what()).find(reason), std::string::npos) << error.what() << "\n" << text;
    }
  }
}

// ----------------------------------------------------------------------------------------- windows, groups, files

const std::vector<std::string> kRun = {"run", "thesis-lwm", "nqueens", "--scale", "0.002"};

Ran record(const Scratch& scratch, const std::string& file, const std::vector<std::string>& more = {}) {
  std::vector<std::string> words = kRun;
  words.insert(words.end(), {"--vcd", scratch.path(file)});
  words.insert(words.end(), more.begin(), more.end());
  return test::heddle(words);
}

// Whether a value says nothing in a cycle: what a stage shows while it has nothing, of an empty stack, of a warp that
// there is not, and the latest address.
bool is_idle(const VcdDump& whole, const std::string& path, std::uint64_t cycle) {
  if (path.ends_with(".address") || (path.ends_with(".depth") && whole[path].number(cycle).value_or(0) == 0)) {
    return true;
  }
  // Of a lane: where no thread is in it, or the first row says all.
  if (const std::size_t at = path.find(".lane"); at != std::string::npos && path[at + 5] != 's') {
    const std::size_t field = path.rfind('.', at - 1);
    const bool last = path.find('.', at + 1) == std::string::npos;
    const std::string stage = path.substr(0, last ? field : at);  // of "...row.lane3" and "...lane3.pc"
    const std::uint64_t lanes = whole[stage + ".lanes"].number(cycle).value_or(0);
    const auto uniform = whole.signals.find(stage + ".uniform");
    if ((lanes >> std::stoul(path.substr(at + 5)) & 1U) == 0 ||
        (uniform != whole.signals.end() && uniform->second.number(cycle).value_or(1) == 1)) {
      return true;
    }
  }
  for (std::size_t end = path.rfind('.'); end != std::string::npos && end != 0; end = path.rfind('.', end - 1)) {
    const std::string module = path.substr(0, end);
    for (const char* const says : {".valid", ".depth", ".state", ".stack.depth"}) {
      const auto found = whole.signals.find(module + says);
      if (found != whole.signals.end() && module + says != path) {
        return found->second.number(cycle).value_or(0) == 0;
      }
    }
  }
  return false;
}

// The window's values at its begin, and its changes, are those of the whole file. Of a window far behind the run's
// begin, one that says nothing may be unknown.
void expect_window(const VcdDump& whole, const VcdDump& part, std::uint64_t from, std::uint64_t to) {
  EXPECT_EQ(part.begin, from);
  EXPECT_EQ(part.end, to + 1);
  for (const auto& [path, signal] : whole.signals) {
    const auto& other = part[path];
    if (other.at(from).find('x') == std::string::npos || !is_idle(whole, path, from)) {
      EXPECT_EQ(other.at(from), signal.at(from)) << path;
    }
    std::vector<std::pair<std::uint64_t, std::string>> expected;
    std::vector<std::pair<std::uint64_t, std::string>> seen;
    for (const auto& change : signal.changes) {
      if (change.time > from && change.time <= to) {
        expected.emplace_back(change.time, change.value);
      }
    }
    for (const auto& change : other.changes) {
      const bool was_unknown = change.time > from && other.at(change.time - 1).find('x') != std::string::npos;
      if (was_unknown && change.value == signal.at(change.time) && is_idle(whole, path, change.time - 1)) {
        std::erase(expected, std::pair(change.time, change.value));  // a change from it, or what it was already
      } else if (change.time != from) {
        seen.emplace_back(change.time, change.value);
      }
    }
    EXPECT_EQ(seen, expected) << path;
  }
}

TEST(Waves, AWindowShowsTheValuesOfTheWholeFile) {
  const Scratch scratch;
  ASSERT_EQ(record(scratch, "whole.vcd").code, 0);
  const VcdDump whole = test::read_vcd(Scratch::read(scratch.path("whole.vcd")));
  for (const auto& [from, to] : {std::pair<std::uint64_t, std::uint64_t>{0, 0}, {1, 700}, {433, 434}, {500, 2500}}) {
    ASSERT_EQ(record(scratch, "part.vcd", {"--from", std::to_string(from), "--to", std::to_string(to)}).code, 0);
    expect_window(whole, test::read_vcd(Scratch::read(scratch.path("part.vcd"))), from, to);
  }
}

// Outside of a window the recording sleeps and lets the machine run ahead, over several launches, and then leaves it:
// windows late in a run with accesses to memory show what a whole recording shows, and the run counts as one without.
TEST(Waves, AWindowWithinManyLaunchesShowsTheSame) {
  const Scratch scratch;
  const auto run = [&](const std::string& file, const std::vector<std::string>& more) {
    std::vector<std::string> words = {"run", "baseline", "bfs", "--scale", "0.001", "--out", scratch.path(file)};
    words.insert(words.end(), {"--vcd", scratch.path(file + ".vcd"), "--signals", "fetch,l1,dram,noc,scheduler"});
    words.insert(words.end(), more.begin(), more.end());
    ASSERT_EQ(test::heddle(words).code, 0);
  };
  run("whole", {});
  const VcdDump whole = test::read_vcd(Scratch::read(scratch.path("whole.vcd")));
  ASSERT_GT(whole.end, 60'000U);
  for (const std::uint64_t from : {12'345U, 40'000U}) {
    run("part", {"--from", std::to_string(from), "--to", std::to_string(from + 3000)});
    expect_window(whole, test::read_vcd(Scratch::read(scratch.path("part.vcd"))), from, from + 3000);
    EXPECT_EQ(Scratch::read(scratch.path("part/stats.json")), Scratch::read(scratch.path("whole/stats.json")));
  }
}

// A core of several sub-cores that is watched does not rest, so that each of its cycles is simulated. What it counts is
// what a core counts that rests while its L1 takes nothing and instructions wait for results.
TEST(Waves, ACoreThatRestsCountsAsOneThatDoesNot) {
  const Scratch scratch;
  const auto run = [&](const std::string& file, std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.begin(), {"run", "v100-8sm"});
    words.insert(words.end(), {"--set", "gpu.cores=1", "--out", scratch.path(file)});
    words.insert(words.end(), more.begin(), more.end());
    const Ran ran = test::heddle(words);
    ASSERT_EQ(ran.code, 0) << ran.err;
  };
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"reduction", "--scale", "0.0003", "--set", "lsu.queue=0", "--set", "l1d.mshrs=2"},
        {"fft", "--scale", "0.003", "--set", "core.pending_accesses=2"},
        {"bfs", "--scale", "0.0003", "--set", "lsu.queue=0", "--set", "l1d.mshrs=2", "--set",
         "core.issue=scoreboard"}}) {
    run("resting", words, {});
    run("watched", words, {"--vcd", scratch.path("watched.vcd")});
    EXPECT_EQ(Scratch::read(scratch.path("watched/stats.json")), Scratch::read(scratch.path("resting/stats.json")))
        << words[0];
  }
}

// Cores are watched from some time before the window on alone, whatever they do just then: asleep, with a full
// pipeline, between launches. All groups, on machines of every kind.
class FarWindow : public ::testing::TestWithParam<const char*> {};

TEST_P(FarWindow, ShowsTheSame) {
  const Scratch scratch;
  const auto run = [&](const std::string& file, const std::string& workload, const std::vector<std::string>& more) {
    std::vector<std::string> words = {"run",
                                      GetParam(),
                                      workload,
                                      "--scale",
                                      workload == "bfs" ? "0.0005" : "0.001",
                                      "--out",
                                      scratch.path(file),
                                      "--vcd",
                                      scratch.path(file + ".vcd")};
    words.insert(words.end(), more.begin(), more.end());
    if (GetParam() == std::string("v100-8sm")) {
      words.insert(words.end(), {"--set", "gpu.cores=1", "--set", "gpu.clock_ghz=1"});
    }
    const Ran ran = test::heddle(words);
    ASSERT_EQ(ran.code, 0) << ran.err;
  };
  for (const char* const workload : {"bfs", "nqueens"}) {
    run("whole", workload, {});
    const VcdDump whole = test::read_vcd(Scratch::read(scratch.path("whole.vcd")));
    ASSERT_GT(whole.end, 11'000U) << workload;
    for (const std::uint64_t from : {std::uint64_t{5'001}, whole.end - 3000}) {
      run("part", workload, {"--from", std::to_string(from), "--to", std::to_string(from + 300)});
      expect_window(whole, test::read_vcd(Scratch::read(scratch.path("part.vcd"))), from, from + 300);
      EXPECT_EQ(Scratch::read(scratch.path("part/stats.json")), Scratch::read(scratch.path("whole/stats.json")));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Of, FarWindow, ::testing::Values("lwm", "tbc", "dwf-majority", "v100-8sm", "lwm-dws"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(Waves, AWindowAfterTheEndIsStillAFile) {
  const Scratch scratch;
  const Ran ran = record(scratch, "late.vcd", {"--from", "1000000000"});
  ASSERT_EQ(ran.code, 0);
  EXPECT_EQ(ran.err.find("heddle: warning: --from 1000000000: the window begins after the run's last cycle, "), 0U)
      << ran.err;
  EXPECT_EQ(record(scratch, "quiet.vcd", {"--from", "1000000000", "--quiet"}).err, "");
  EXPECT_EQ(record(scratch, "begin.vcd", {"--from", "1"}).err, "");
  const VcdDump late = test::read_vcd(Scratch::read(scratch.path("late.vcd")));
  EXPECT_EQ(late.begin, 1000000000U);
  EXPECT_EQ(late["gpu.core0.execute.valid"].number(1000000000), 0U);
}

TEST(Waves, TheSaveFileOpensOnTheFirstActivity) {
  const Scratch scratch;
  ASSERT_EQ(record(scratch, "a.vcd", {"--from", "10", "--signals", "writeback"}).code, 0);
  const VcdDump dump = test::read_vcd(Scratch::read(scratch.path("a.vcd")));
  std::uint64_t first = UINT64_MAX;
  for (const auto& [path, signal] : dump.signals) {
    for (const auto& change : signal.changes) {
      first = change.time > 10 ? std::min(first, change.time) : first;
    }
  }
  ASSERT_GT(first, 11U) << "the window begins in silence";
  const std::string save = Scratch::read(scratch.path("a.gtkw"));
  EXPECT_NE(save.find(fmt::format("\n[timestart] {}\n", first)), std::string::npos) << save.substr(0, 300);
  const std::size_t zoom = save.find("\n*") + 2;
  EXPECT_NE(save.substr(zoom, 40).find(fmt::format(" {} -1", first)), std::string::npos) << save.substr(zoom, 40);
  // 400 cycles of 1 ns are in the 1000 pixels beside the names: GTKWave shows 2^-zoom units in 200 pixels.
  EXPECT_NEAR(std::exp2(-std::stod(save.substr(zoom))) * 1000 / 200, 400, 1);
}

// What the user guide tells its reader to record shows something.
TEST(Waves, TheGuidesWindowShowsACoreAtWork) {
  const std::string guide = Scratch::read(HEDDLE_SOURCE_DIR "/docs/user-guide.md");
  const std::size_t begin = guide.find("./heddle run", guide.find("## Looking at waves"));
  ASSERT_NE(begin, std::string::npos);
  std::istringstream line(guide.substr(begin, guide.find('\n', begin) - begin));
  const Scratch scratch;
  std::vector<std::string> words;
  for (std::string word; line >> word;) {
    words.push_back(word.ends_with(".vcd") ? scratch.path(word) : word);
  }
  words.erase(words.begin());
  words.insert(words.end(), {"--signals", "execute"});
  ASSERT_EQ(test::heddle(words).code, 0);
  const VcdDump dump = test::read_vcd(Scratch::read(scratch.path("bfs.vcd")));
  EXPECT_GT(dump.sum("gpu.core0.execute.valid"), (dump.end - dump.begin) / 20) << "one cycle in twenty at least";
}

TEST(Waves, AWindowWithoutAChangeIsWarnedOf) {
  const Scratch scratch;
  const std::string file = scratch.path("e.vcd");
  const std::vector<std::string> window = {"--from", "2", "--to", "3", "--signals", "writeback"};
  EXPECT_EQ(record(scratch, "e.vcd", window).err,
            "heddle: warning: " + file + ": nothing changes from cycle 2 to cycle 3, which is all that it shows\n");
  EXPECT_NE(Scratch::read(scratch.path("e.gtkw")).find("\n[timestart] 0\n"), std::string::npos);
  std::vector<std::string> quiet = window;
  quiet.emplace_back("--quiet");
  EXPECT_EQ(record(scratch, "e.vcd", quiet).err, "");
}

TEST(Waves, GoIntoTheFolderThatTheRunMakes) {
  const Scratch scratch;
  const std::string folder = scratch.path("new/folder");
  const Ran ran =
      test::heddle({"run", "baseline", "vecadd", "--scale", "0.001", "--out", folder, "--vcd", folder + "/a.vcd"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(std::filesystem::exists(folder + "/a.vcd"));
  EXPECT_TRUE(std::filesystem::exists(folder + "/stats.json"));
}

TEST(Waves, GroupsSelectSignals) {
  const Scratch scratch;
  ASSERT_EQ(record(scratch, "some.vcd", {"--signals", "fetch,dram"}).code, 0);
  const VcdDump some = test::read_vcd(Scratch::read(scratch.path("some.vcd")));
  for (const auto& [path, signal] : some.signals) {
    EXPECT_TRUE(path.starts_with("gpu.core0.fetch.") || path.starts_with("gpu.dram0.")) << path;
  }
  ASSERT_EQ(record(scratch, "all.vcd").code, 0);
  const VcdDump all = test::read_vcd(Scratch::read(scratch.path("all.vcd")));
  for (const auto& [path, signal] : some.signals) {
    ASSERT_EQ(all[path].changes.size(), signal.changes.size()) << path;
    for (std::size_t i = 0; i < signal.changes.size(); ++i) {
      EXPECT_EQ(all[path].changes[i].value, signal.changes[i].value);
    }
  }
}

TEST(Waves, TheSameRunGivesTheSameBytes) {
  const Scratch scratch;
  ASSERT_EQ(record(scratch, "a.vcd").code, 0);
  ASSERT_EQ(record(scratch, "b.vcd").code, 0);
  EXPECT_TRUE(Scratch::read(scratch.path("a.vcd")) == Scratch::read(scratch.path("b.vcd")));
}

std::string unpacked(const std::string& path) {
  std::string out;
  const gzFile file = ::gzopen(path.c_str(), "rb");
  std::array<char, 65536> piece{};
  for (int got = 0; (got = ::gzread(file, piece.data(), piece.size())) > 0;) {
    out.append(piece.data(), static_cast<std::size_t>(got));
  }
  EXPECT_EQ(::gzdirect(file), 0) << "not compressed";
  EXPECT_EQ(::gzclose(file), Z_OK);
  return out;
}

TEST(Waves, CompressedFilesHoldTheSameBytes) {
  const Scratch scratch;
  ASSERT_EQ(record(scratch, "a.vcd").code, 0);
  ASSERT_EQ(record(scratch, "a.vcd.gz").code, 0);
  const std::string plain = Scratch::read(scratch.path("a.vcd"));
  EXPECT_TRUE(unpacked(scratch.path("a.vcd.gz")) == plain);
  EXPECT_LT(std::filesystem::file_size(scratch.path("a.vcd.gz")) * 4, plain.size());
}

TEST(Waves, ASaveFileAndTranslateFilesLieBesideTheDump) {
  const Scratch scratch;
  ASSERT_EQ(record(scratch, "a.vcd").code, 0);
  const std::string save = Scratch::read(scratch.path("a.gtkw"));
  EXPECT_NE(save.find("[dumpfile] \"a.vcd\"\n"), std::string::npos) << save.substr(0, 200);
  const VcdDump dump = test::read_vcd(Scratch::read(scratch.path("a.vcd")));
  // Every signal stands in it once, by the name and range that GTKWave knows it by; groups are balanced; filters exist.
  std::istringstream lines(save);
  std::map<std::string, int> named;
  std::vector<std::string> open;
  unsigned flags = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("@")) {
      flags = static_cast<unsigned>(std::stoul(line.substr(1), nullptr, 16));
    } else if (line.starts_with("-") && (flags & 0x800000U) != 0) {
      open.push_back(line);
    } else if (line.starts_with("-") && (flags & 0x1000000U) != 0) {
      ASSERT_FALSE(open.empty());
      EXPECT_EQ(open.back(), line);
      open.pop_back();
    } else if (line.starts_with("^1 ")) {
      EXPECT_TRUE(std::filesystem::exists(scratch.path(line.substr(3)))) << line;
      EXPECT_NE(flags & 0x2000U, 0U);
    } else if (line.starts_with("gpu.")) {
      const std::size_t bracket = line.find('[');
      const std::string path = line.substr(0, bracket);
      ASSERT_EQ(dump.signals.count(path), 1U) << path;
      const unsigned width = dump[path].width;
      EXPECT_EQ(bracket == std::string::npos ? "" : line.substr(bracket),
                width == 1 ? "" : "[" + std::to_string(width - 1) + ":0]");
      ++named[path];
    }
  }
  EXPECT_TRUE(open.empty());
  EXPECT_EQ(named.size(), dump.signals.size());
  const std::string causes = Scratch::read(scratch.path("a.filters/execute_state.txt"));
  EXPECT_EQ(causes.substr(0, 23), "00 no_work\n01 memory\n02");
  EXPECT_NE(causes.find(fmt::format("\n{:02x} active\n", hw::kIdleCauseCount)), std::string::npos);
}

TEST(Waves, AnInterruptLeavesAValidFile) {
  const Scratch scratch;
  const bool reader = !os::find_program("fst2vcd").empty();
  for (const std::string file : {"a.vcd", "a.vcd.gz", "a.fst"}) {
    if (file == "a.fst" && !reader) {
      continue;
    }
    test::RunSetup setup;
    setup.while_running = [&](pid_t process) {
      // Into the launch: the first bytes are there.
      for (int i = 0; i < 1000 && std::filesystem::is_empty(scratch.path()); ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(700));
      ::kill(process, SIGINT);
    };
    const Ran ran = test::heddle(
        {"run", "baseline", "blackjack", "--scale", "16", "--signals", "fetch", "--vcd", scratch.path(file)}, setup);
    EXPECT_EQ(ran.code, 130) << ran.err;
    for (const auto& entry : std::filesystem::directory_iterator(scratch.path())) {
      EXPECT_NE(entry.path().extension(), ".tmp");
    }
    if (file == "a.fst") {
      EXPECT_EQ(test::spawn({"fst2vcd", "-f", scratch.path(file), "-o", scratch.path("back")}).code, 0);
    } else {
      const VcdDump dump =
          test::read_vcd(file == "a.vcd" ? Scratch::read(scratch.path(file)) : unpacked(scratch.path(file)));
      EXPECT_GT(dump.sum("gpu.core0.fetch.valid"), 0U);
    }
    std::filesystem::remove_all(scratch.path());
    std::filesystem::create_directory(scratch.path());
  }
}

// ------------------------------------------------------------------------------------------------------ refusals

TEST(Waves, RefusesWhatItCannotDo) {
  const Scratch scratch;
  const auto refused = [&](const std::vector<std::string>& more, const std::string& reason,
                           const std::vector<std::string>& environment = {}) {
    std::vector<std::string> words = kRun;
    words.insert(words.end(), more.begin(), more.end());
    test::RunSetup setup;
    setup.environment = environment;
    const Ran ran = test::heddle(words, setup);
    EXPECT_EQ(ran.code, 2) << ran.err;
    EXPECT_NE(ran.err.find(reason), std::string::npos) << ran.err;
    EXPECT_TRUE(std::filesystem::is_empty(scratch.path())) << "something is left";
  };
  const std::string file = scratch.path("a.vcd");
  refused({"--vcd", file, "--signals", "fetch,drum"}, "there is no signal group 'drum'; did you mean 'dram'?");
  refused({"--vcd", file, "--signals", ""}, "there is no signal group ''");
  refused({"--vcd", file, "--signals", "fetch,l2"},
          "heddle: --signals: the machine 'thesis-lwm' has no module that 'l2' shows; l2.enabled=true gives it an L2");
  refused({"--vcd", scratch.path("a.txt")}, "ends neither in .vcd nor in .vcd.gz or .fst");
  refused({"--vcd", scratch.path("no/a.vcd")}, "cannot be written: No such file");
  refused({"--vcd", file, "--from", "7", "--to", "6"}, "'6' is no whole number from 7");
  refused({"--from", "7"}, "--from: says what --vcd FILE records");
  refused({"--signals", "dram"}, "--signals: says what --vcd FILE records");
  refused({"--vcd", scratch.path("no/a.fst")}, "cannot be written: No such file");
}

TEST(Waves, TheListsNameEverySignal) {
  const Scratch scratch;
  const Ran names = test::heddle({"list", "signals", "thesis-lwm", "--names"});
  ASSERT_EQ(names.code, 0) << names.err;
  ASSERT_EQ(record(scratch, "a.vcd", {"--to", "0"}).code, 0);
  const VcdDump dump = test::read_vcd(Scratch::read(scratch.path("a.vcd")));
  std::istringstream lines(names.out);
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    EXPECT_EQ(dump.signals.count(line), 1U) << line;
  }
  EXPECT_EQ(count, dump.signals.size());
  const std::string groups = test::heddle({"list", "groups", "--names"}).out;
  EXPECT_EQ(groups,
            "fetch\ndecode\nsubwarp\nregisters\nexecute\nmemory\nwriteback\ndivergence\nscheduler\nl1\nl2\ndram\nnoc\np"
            "ool\n");
  EXPECT_NE(test::heddle({"list", "signals"}).out.find("gpu.core<n>.warp<n>.stack.depth   [number, 16 bits, x 32]"),
            std::string::npos);
  EXPECT_EQ(test::heddle({"list", "signals", "baselin"}).code, 2);
}

}  // namespace
}  // namespace heddle::tb
