// heddle run and compile on the model: outputs, exit codes, determinism, interruption.
#include <gtest/gtest.h>
#include <signal.h>

#include <boost/json.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tb/device/device.hpp"
#include "tests/support/marks.hpp"
#include "tests/support/program_runner.hpp"

HEDDLE_NOT_SANITIZED("CliRun.ATerminal*", "CliRun.AnInterrupt*")
HEDDLE_LONG_SANITIZED("Each/CliRunSignal.*", "CliRun.OneFolder*", "CliRun.AnIgnoredHangUp*")

namespace heddle::cli {
namespace {

namespace json = boost::json;
using test::heddle;
using test::Ran;
using test::RunSetup;
using test::Scratch;

json::value stats(const std::string& directory) {
  return json::parse(Scratch::read(directory + "/stats.json"));
}

TEST(CliRun, PrintsTheSummaryAndWritesTheFiles) {
  const Scratch scratch;
  const std::string out = scratch.path("deep/out");
  const Ran ran = test::heddle({"run", "baseline", "vecadd", "--scale", "0.001", "--out", out});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.err, "");  // no progress line into a pipe
  EXPECT_EQ(ran.out.substr(0, 34), "vecadd on baseline: result correct");
  for (const char* part : {"IPC", "Idle cycles by cause", "DRAM row-hit rate", "retirement hash 0x"}) {
    EXPECT_NE(ran.out.find(part), std::string::npos) << part;
  }
  const json::value value = stats(out);
  EXPECT_TRUE(value.at("complete").as_bool());
  EXPECT_EQ(value.at("verdict").at("result").as_string(), "correct");
  const json::object& summary = value.at("summary").as_object();
  EXPECT_GT(summary.at("cycles").as_int64(), 0);
  std::int64_t idle = 0;
  for (const auto& [cause, cycles] : summary.at("idle_cycles_by_cause").as_object()) {
    idle += cycles.as_int64();
  }
  EXPECT_EQ(idle, summary.at("idle_cycles").as_int64());  // the causes add up
  EXPECT_EQ(summary.at("idle_cycles").as_int64(), summary.at("fu_active_cycles").at(0).as_int64());
  EXPECT_EQ(summary.at("l1d_accesses").as_int64(),
            summary.at("l1d_hits").as_int64() + summary.at("l1d_misses").as_int64());
  EXPECT_FALSE(value.at("modules").as_object().empty());
  const json::value host = json::parse(Scratch::read(out + "/host.json"));
  EXPECT_GT(host.at("peak_memory_bytes").as_int64(), 0);
  EXPECT_EQ(host.at("date").as_string().size(), 20U);
}

TEST(CliRun, TwoRunsWriteTheSameBytes) {
  const Scratch scratch;
  for (const char* name : {"first", "second"}) {
    const Ran ran =
        test::heddle({"run", "baseline", "bfs", "--scale", "0.002", "--quiet", "--out", scratch.path(name)});
    ASSERT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(ran.out, "");  // --quiet
    EXPECT_EQ(ran.err, "");
  }
  const std::string first = Scratch::read(scratch.path("first/stats.json"));
  EXPECT_FALSE(first.empty());
  EXPECT_EQ(first, Scratch::read(scratch.path("second/stats.json")));
}

TEST(CliRun, SeveralHostThreadsWriteTheSameBytes) {
  const Scratch scratch;
  const std::vector<std::string> run = {"run",
                                        "baseline",
                                        "histogram",
                                        "--scale",
                                        "0.003",
                                        "--set",
                                        "gpu.cores=5",
                                        "--set",
                                        "l1d.write_policy=write-through",
                                        "--record",
                                        scratch.path("t.trace"),
                                        "--out"};
  std::string expected;
  for (const char* threads : {"1", "3", "auto"}) {
    std::vector<std::string> words = run;
    words.insert(words.end(), {scratch.path(threads), "--threads", threads});
    const Ran ran = test::heddle(words);
    ASSERT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(ran.err, "");
    const std::string bytes =
        Scratch::read(scratch.path(std::string(threads) + "/stats.json")) + Scratch::read(scratch.path("t.trace"));
    EXPECT_EQ(bytes.substr(0, 2), "{\n");
    expected = expected.empty() ? bytes : expected;
    EXPECT_EQ(bytes, expected) << threads;
  }
  // A page's profile hears of all cores.
  const Ran watched =
      test::heddle({"run", "baseline", "vecadd", "--scale", "0.001", "--threads", "2", "--set", "gpu.cores=2", "--set",
                    "l1d.write_policy=write-through", "--report", scratch.path("r.html")});
  EXPECT_EQ(watched.code, 0);
  EXPECT_NE(watched.err.find("note: one host thread simulates"), std::string::npos) << watched.err;
  // Of what was not asked for, nothing is said.
  const Ran by_itself = test::heddle({"run", "baseline", "vecadd", "--scale", "0.001", "--set", "gpu.cores=2", "--set",
                                      "l1d.write_policy=write-through", "--report", scratch.path("s.html")});
  EXPECT_EQ(by_itself.code, 0);
  EXPECT_EQ(by_itself.err, "");
  for (const char* wrong : {"0", "all", "1000"}) {
    const Ran refused = test::heddle({"run", "baseline", "vecadd", "--threads", wrong});
    EXPECT_EQ(refused.code, 2);
    EXPECT_NE(refused.err.find("--threads"), std::string::npos) << refused.err;
  }
}

TEST(CliRun, WithoutTimingThereAreNoRows) {
  const auto text = [](const std::string& timing) {
    return test::heddle({"run", "baseline", "vecadd", "--scale", "0.001", "--set", "dram.timing=" + timing}).out;
  };
  EXPECT_NE(text("hit-conflict").find("DRAM row-hit rate"), std::string::npos);
  const std::string out = text("none");
  EXPECT_NE(out.find("DRAM lines"), std::string::npos);
  EXPECT_EQ(out.find("DRAM row-hit rate"), std::string::npos) << out;
  EXPECT_EQ(out.find("DRAM bus use"), std::string::npos) << out;
}

TEST(CliRun, QuietLeavesNotesOut) {
  const Ran ran = test::heddle({"run", "baseline", "vecadd", "--scale", "0.001", "--quiet", "--set", "l2.ways=2"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.err, "");
}

// What the compiler made of a kernel, as clang prints a rotate of 64 bits.
TEST(CliRun, NotesRotatesThatAreReadAsMeant) {
  const Scratch scratch;
  std::ofstream(scratch.path("k.ptx"))
      << ".version 6.4\n.target sm_60\n.address_size 32\n.visible .entry k(.param .u32 n) {\n.reg .b64 %rd<3>;\n"
         ".reg .b32 %r<2>;\nld.param.u32 %r1, [n];\ncvt.u64.u32 %rd1, %r1;\n{\n.reg .b64 %lhs;\n.reg .b64 %rhs;\n"
         ".reg .u32 %amt2;\nshl.b64 %lhs, %rd1, %r1;\nsub.u32 %amt2, 64, %r1;\nshr.b64 %rhs, %rd1, %amt2;\n"
         "add.u64 %rd2, %lhs, %rhs;\n}\nret;\n}\n";
  std::ofstream(scratch.path("launch.toml"))
      << "ptx = \"k.ptx\"\n[[launch]]\nentry = \"k\"\ngrid = [1]\nblock = [32]\narguments = [{ u32 = 1 }]\n";
  const std::string note =
      "heddle: note: " + scratch.path("k.ptx") + ":13: one 64-bit rotate takes its amount modulo 64";
  const Ran compiled = test::heddle({"compile", scratch.path("k.ptx")});
  EXPECT_EQ(compiled.code, 0);
  EXPECT_EQ(compiled.err.substr(0, note.size()), note);
  const Ran ran = test::heddle({"run", "baseline", scratch.path("launch.toml")});
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.err.substr(0, note.size()), note);
  EXPECT_EQ(test::heddle({"run", "baseline", scratch.path("launch.toml"), "--quiet"}).err, "");
}

TEST(CliRun, SettingsReachTheMachine) {
  const Scratch scratch;
  const auto cycles = [&](const std::string& setting) {
    const std::string out = scratch.path(setting);
    const Ran ran = test::heddle({"run", "baseline", "vecadd", "--scale", "0.002", "-q", "--set", setting, "-o", out});
    EXPECT_EQ(ran.code, 0) << ran.err;
    return stats(out).at("summary").at("cycles").as_int64();
  };
  EXPECT_GT(cycles("dram.bandwidth_gbs=4"), 2 * cycles("dram.bandwidth_gbs=32"));  // vecadd is bound by memory
}

TEST(CliRun, TheReferenceInterpreterAgrees) {
  const Ran ran = test::heddle({"run", "thesis-baseline", "blackjack", "--scale", "0.01", "--check-reference"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_NE(ran.out.find("reference: the retirement hash 0x"), std::string::npos) << ran.out;
}

TEST(CliRun, TheCycleLimitLeavesIncompleteStatistics) {
  const Scratch scratch;
  const Ran ran = test::heddle({"run", "baseline", "blackjack", "--max-cycles", "5000", "--out", scratch.path("out")});
  EXPECT_EQ(ran.code, 3) << ran.err;
  EXPECT_NE(ran.err.find("5000"), std::string::npos) << ran.err;
  EXPECT_EQ(ran.out.substr(0, 33), "blackjack on baseline: INCOMPLETE");
  const json::value value = stats(scratch.path("out"));
  EXPECT_FALSE(value.at("complete").as_bool());
  EXPECT_NE(value.at("stop_reason").as_string(), "");
  EXPECT_EQ(value.at("verdict").at("result").as_string(), "not checked");
  EXPECT_GE(value.at("summary").at("cycles").as_int64(), 5000);
  EXPECT_LE(value.at("summary").at("cycles").as_int64(), 6000);
}

TEST(CliRun, WithoutAnExpectedResultNothingIsCalledCorrect) {
  const Scratch scratch;
  scratch.write("k.ptx", ".version 7.0\n.target sm_50\n.address_size 32\n.visible .entry k() { ret; }\n");
  const std::string file =
      scratch.write("l.toml", "ptx = \"k.ptx\"\n[[launch]]\nentry = \"k\"\ngrid = [1]\nblock = [32]\n");
  const Ran ran = test::heddle({"run", "baseline", file, "--out", scratch.path("out")});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_NE(ran.out.find("ran; no result was checked"), std::string::npos) << ran.out;
  EXPECT_EQ(stats(scratch.path("out")).at("verdict").at("result").as_string(), "not checked");
}

// Whether a process catches this signal by now: bit signal - 1 of SigCgt.
bool catches(pid_t process, int signal) {
  std::ifstream in("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("SigCgt:")) {
      return (std::stoull(line.substr(7), nullptr, 16) & (1ULL << (signal - 1))) != 0;
    }
  }
  return false;
}

class CliRunSignal : public testing::TestWithParam<int> {};

TEST_P(CliRunSignal, EndsTheRunWithTheStatisticsSoFar) {
  const Scratch scratch;
  RunSetup setup;
  setup.while_running = [](pid_t process) {
    for (int i = 0; i < 3000 && !catches(process, GetParam()); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(700));  // past the compilation, into the launch
    ::kill(process, GetParam());
  };
  const Ran ran = test::heddle({"run", "baseline", "blackjack", "--scale", "16", "--out", scratch.path("out"),
                                "--memory-trace", scratch.path("trace")},
                               setup);
  EXPECT_EQ(ran.code, 128 + GetParam()) << ran.err;
  EXPECT_EQ(ran.out.substr(0, 33), "blackjack on baseline: INCOMPLETE");
  EXPECT_FALSE(stats(scratch.path("out")).at("complete").as_bool());
  for (const char* folder : {"out", ""}) {
    for (const auto& entry : std::filesystem::directory_iterator(scratch.path(folder))) {
      EXPECT_NE(entry.path().extension(), ".tmp") << entry.path();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Each, CliRunSignal, testing::Values(SIGINT, SIGTERM, SIGHUP));

// As under nohup.
TEST(CliRun, AnIgnoredHangUpStaysIgnored) {
  RunSetup setup;
  setup.while_running = [](pid_t process) {
    for (int i = 0; i < 3000 && !catches(process, SIGTERM); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_TRUE(catches(process, SIGTERM));
    EXPECT_FALSE(catches(process, SIGHUP));
    ::kill(process, SIGHUP);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    ::kill(process, SIGTERM);
  };
  ::signal(SIGHUP, SIG_IGN);
  EXPECT_EQ(test::heddle({"run", "baseline", "blackjack", "--scale", "16"}, setup).code, 128 + SIGTERM);
}

TEST(CliRun, OneFolderHasOneWriter) {
  const Scratch scratch;
  const std::string out = scratch.path("out");
  RunSetup setup;
  setup.while_running = [&](pid_t process) {
    for (int i = 0; i < 3000 && !std::filesystem::exists(out + "/.heddle.lock"); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    const Ran second = test::heddle({"run", "baseline", "vecadd", "--scale", "0.001", "--out", out});
    EXPECT_EQ(second.code, 2) << second.out;
    EXPECT_EQ(second.err,
              "heddle: " + out + ": another run is writing to this folder; wait for it, or name another folder\n");
    const std::string trace = scratch.write("t", "0x0 R\n");
    EXPECT_EQ(test::heddle({"dram", "baseline", trace, "--out", out}).code, 2);
    ::kill(process, SIGINT);
  };
  EXPECT_EQ(test::heddle({"run", "baseline", "blackjack", "--scale", "16", "--out", out}, setup).code, 130);
  EXPECT_EQ(stats(out).at("workload").as_string(), "blackjack");
  EXPECT_FALSE(std::filesystem::exists(out + "/.heddle.lock"));
  EXPECT_EQ(test::heddle({"run", "baseline", "vecadd", "--scale", "0.001", "--out", out}).code, 0);
}

// Every file that is there is named, and none that is not.
TEST(CliRun, NamesEveryFileThatItWrites) {
  const Scratch scratch;
  std::filesystem::create_directory(scratch.path("in"));
  scratch.write("in/k.ptx", ".version 7.0\n.target sm_50\n.address_size 32\n.visible .entry k() { ret; }\n");
  const std::string launch = scratch.write("in/l.toml",
                                           "ptx = \"k.ptx\"\n[[buffer]]\nname = \"b\"\ntype = \"u8\"\ncount = 4\n"
                                           "[[launch]]\nentry = \"k\"\ngrid = [1]\nblock = [32]\n"
                                           "[[output]]\nbuffer = \"b\"\nfile = \"b.bin\"\n");
  const std::string out = scratch.path("out");
  const Ran ran = test::heddle({"run", "baseline", launch, "--out", out, "--memory-trace", out + "/m.txt", "--record",
                                out + "/r.trace", "--pipeline", out + "/p.json", "--vcd", out + "/w.vcd", "--report",
                                out + "/page.html", "--timeline", out + "/t.svg"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(out)) {
    EXPECT_NE(ran.out.find(entry.path().filename().string()), std::string::npos) << entry.path() << "\n" << ran.out;
    ++files;
  }
  EXPECT_EQ(files, 11U);
  EXPECT_NE(ran.out.find("written: " + out + "/stats.json, host.json, b.bin\n"), std::string::npos) << ran.out;
}

TEST(CliRun, ALaunchThatNoCoreHasRoomForIsRefusedAtItsLine) {
  const Scratch scratch;
  scratch.write("k.ptx",
                ".version 7.0\n.target sm_50\n.address_size 32\n.shared .align 4 .b8 words[200000];\n"
                ".visible .entry k() { ret; }\n"
                ".visible .entry large() { .reg .b32 %r<2>; mov.u32 %r0, words; st.shared.u32 [%r0], %r0; ret; }\n");
  const auto refusal = [&](const std::string& launch, const std::vector<std::string>& more = {}) {
    const std::string file = scratch.write("l.toml", "ptx = \"k.ptx\"\n\n[[launch]]\n" + launch);
    std::vector<std::string> words = {"run", "baseline", file, "--out", scratch.path("out")};
    words.insert(words.end(), more.begin(), more.end());
    const Ran ran = test::heddle(words);
    EXPECT_EQ(ran.code, 2) << ran.err;
    EXPECT_EQ(ran.err.find("heddle: " + file + ":3:1: kernel '"), 0U) << ran.err;
    EXPECT_FALSE(std::filesystem::exists(scratch.path("out/stats.json")));
    return ran.err;
  };
  const auto has = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(refusal("entry = \"k\"\ngrid = [2000000, 1]\nblock = [256]\n"), "has more than 268435456 threads");
  has(refusal("entry = \"k\"\ngrid = [1]\nblock = [512]\n", {"--set", "core.threads=256"}),
      "a block needs 512 threads (whole warps), a core has 256 (core.threads)");
  has(refusal("entry = \"large\"\ngrid = [1]\nblock = [32]\n"),
      "a block needs 200000 bytes of scratchpad, a core has 131072 (scratchpad.bytes)");
  has(refusal("entry = \"k\"\ngrid = [1]\nblock = [32]\nshared = 150000\n"), "bytes of scratchpad, a core has 131072");
}

TEST(Progress, IsThatOfTheWholeProgram) {
  tb::DeviceOptions::Progress progress;
  progress.all_blocks_finished = 4;
  EXPECT_FALSE(progress.share()) << "nobody knows what is to come";
  progress.plan = tb::Executor::Plan{2, 10};
  EXPECT_DOUBLE_EQ(progress.share().value(), 0.4);
  // A recording knows its instructions, so that long blocks count as what they are.
  progress.plan->thread_instructions = 1000;
  progress.thread_instructions = 250;
  EXPECT_DOUBLE_EQ(progress.share().value(), 0.25);
  progress.thread_instructions = 1001;
  EXPECT_DOUBLE_EQ(progress.share().value(), 1);
}

TEST(CliRun, ATerminalSeesAProgressLineThatIsCleanedUp) {
  RunSetup setup;
  setup.terminal = true;
  const Ran ran = test::heddle({"run", "baseline", "blackjack", "--scale", "0.5"}, setup);
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_NE(ran.err.find("0 %: launch 1 of 1 (blackjack), 0 of 4 blocks, "), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find(" warp instructions/s"), std::string::npos) << ran.err;
  EXPECT_EQ(ran.err.back(), '\r');                   // back at the start of an empty line
  EXPECT_EQ(ran.err.find('\n'), std::string::npos);  // one line, rewritten
  const Ran quiet = test::heddle({"run", "baseline", "vecadd", "--scale", "0.001", "--quiet"}, setup);
  EXPECT_EQ(quiet.err, "");
}

constexpr const char* kTrap = R"(.version 6.0
.target sm_50
.address_size 32
.entry bad(.param .u32 where)
{
  .reg .u32 %a;
  ld.param.u32 %a, [where];
  st.global.u32 [%a], %a;
  ret;
}
)";

TEST(CliRun, AFaultOfTheProgramNamesItsPlaceAndExitsWith3) {
  const Scratch scratch;
  scratch.write("bad.ptx", kTrap);
  const std::string launch = scratch.write(
      "bad.toml",
      "ptx = \"bad.ptx\"\n[[launch]]\nentry = \"bad\"\ngrid = [1]\nblock = [32]\narguments = [ { u32 = 64 } ]\n");
  const Ran ran = test::heddle({"run", "baseline", launch, "--out", scratch.path("out")});
  EXPECT_EQ(ran.code, 3) << ran.err;
  EXPECT_NE(ran.err.find("bad.ptx:8"), std::string::npos) << ran.err;
  EXPECT_FALSE(stats(scratch.path("out")).at("complete").as_bool());
}

TEST(CliCompile, ShowsWhatAKernelNeeds) {
  const Scratch scratch;
  const std::string file = scratch.write("bad.ptx", kTrap);
  const Ran ran = test::heddle({"compile", file});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_NE(ran.out.find("\nbad "), std::string::npos) << ran.out;
  const Ran listed = test::heddle({"compile", file, "--entry", "bad", "--listing"});
  EXPECT_GT(listed.out.size(), ran.out.size());
  EXPECT_NE(listed.out.find("exit"), std::string::npos) << listed.out;
  EXPECT_EQ(listed.out.find("{uniform}"), std::string::npos) << listed.out;
  const Ran marked = test::heddle({"compile", file, "--listing", "--mark-uniform"});
  EXPECT_NE(marked.out.find("{uniform} "), std::string::npos) << marked.out;
  EXPECT_EQ(marked.out.find("{past_scratchpad}"), std::string::npos) << marked.out;
  const std::string meets = scratch.write("meets.ptx",
                                          ".version 7.0\n.target sm_60\n.address_size 32\n"
                                          ".visible .entry meets() {\n  bar.sync 0;\n  ret;\n}\n");
  const Ran past = test::heddle({"compile", meets, "--listing", "--mark-past-scratchpad"});
  EXPECT_NE(past.out.find("{past_scratchpad} "), std::string::npos) << past.out;
  const Ran controlled = test::heddle({"compile", meets, "--listing", "--control-bits", "h100-8sm"});
  EXPECT_NE(controlled.out.find("[B------:R-:W-:-:S01] exit"), std::string::npos) << controlled.out;
  const Ran refused = test::heddle({"compile", meets, "--listing", "--control-bits", "baseline"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("icache.instruction_bytes = 16"), std::string::npos) << refused.err;
  const std::string loop = scratch.write(
      "loop.ptx",
      ".version 7.0\n.target sm_60\n.address_size 64\n.visible .entry sum(.param .u64 p) {\n"
      ".reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<2>;\n"
      "ld.param.u64 %rd1, [p]; mov.u32 %r1, 0; mov.u32 %r2, 0;\nL: ld.global.u32 %r3, [%rd1]; add.u32 %r1, %r1, %r3;\n"
      "add.u64 %rd1, %rd1, 4; add.u32 %r2, %r2, 1; setp.ne.u32 %p1, %r2, 8; @%p1 bra L;\n"
      "st.global.u32 [%rd1], %r1; ret; }\n");
  const auto loads = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"compile", loop, "--listing"};
    words.insert(words.end(), more.begin(), more.end());
    const std::string out = test::heddle(words).out;
    std::size_t count = 0;
    for (std::size_t at = out.find(" ld.global"); at != std::string::npos; at = out.find(" ld.global", at + 1)) ++count;
    return count;
  };
  EXPECT_EQ(loads({}), 1U);
  EXPECT_EQ(loads({"--unroll", "4"}), 8U);
  EXPECT_EQ(loads({"--config", "h100-8sm"}), 8U);
  EXPECT_EQ(loads({"--config", "h100-8sm", "--unroll", "0"}), 1U) << "options go before the machine's";
  EXPECT_NE(test::heddle({"compile", loop, "--listing", "--config", "h100-8sm"}).out.find("[B------:R-:W-:-:S01] exit"),
            std::string::npos)
      << "control bits, as the machine has them";
  const Ran wrong = test::heddle({"compile", file, "--entry", "bat"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_EQ(wrong.err, "heddle: " + file + ": there is no kernel 'bat'; did you mean 'bad'?\n");
}

}  // namespace
}  // namespace heddle::cli
