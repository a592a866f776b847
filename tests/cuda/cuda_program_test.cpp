// Whole CUDA programs, compiled by heddle nvcc and run by heddle exec as a user would.
#include <gmock/gmock.h>

#include <boost/json.hpp>
#include <filesystem>

#include "tests/support/marks.hpp"
#include "tests/support/program_runner.hpp"

HEDDLE_LONG("CudaProgram.Streams*", "CudaProgram.HostHeaders*")
HEDDLE_NOT_SANITIZED("CudaCompiler.SaysWhatIsWrong", "CudaProgram*.*")

namespace heddle::cuda {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kPrograms = HEDDLE_SOURCE_DIR "/tests/cuda/programs/";

// A program compiled into a folder that goes away.
class CudaProgram : public ::testing::Test {
 protected:
  std::string compile(const std::string& source, const std::vector<std::string>& options = {}) {
    std::vector<std::string> words = {"nvcc", "-O2", kPrograms + source, "-o", scratch_.path("program")};
    words.insert(words.end(), options.begin(), options.end());
    const test::Ran ran = test::heddle(words);
    EXPECT_EQ(ran.code, 0) << ran.err;
    return scratch_.path("program");
  }
  test::Scratch scratch_;
};

TEST_F(CudaProgram, VectorAddRunsAndItsStatisticsAreThoseOfItsLaunches) {
  const std::string program = compile("vector_add.cu");
  const auto run = [&](const std::string& out) {
    return test::heddle({"exec", "--config", "baseline", "--out", scratch_.path(out), "--", program});
  };
  const test::Ran first = run("a");
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_THAT(first.out, HasSubstr("hello from 0\nPASSED"));
  const std::string stats = test::Scratch::read(scratch_.path("a/stats.json"));
  EXPECT_THAT(stats, HasSubstr("\"launches\""));
  EXPECT_THAT(stats, HasSubstr("_Z3addPKfS0_Pfi"));
  run("b");
  EXPECT_EQ(test::Scratch::read(scratch_.path("b/stats.json")), stats);
  // By itself, on the machine of the environment.
  test::RunSetup setup;
  setup.environment = {"HEDDLE_CONFIG=baseline", "HEDDLE_EXEC_OPTIONS=--quiet --out " + scratch_.path("c")};
  const test::Ran alone = test::spawn({program}, setup);
  EXPECT_EQ(alone.code, 0) << alone.err;
  EXPECT_THAT(alone.out, HasSubstr("PASSED"));
  EXPECT_THAT(test::Scratch::read(scratch_.path("c/stats.json")), HasSubstr("_Z3addPKfS0_Pfi"));
}

TEST_F(CudaProgram, FaultsEndItOrComeBackAsErrorCodes) {
  const std::string program = compile("faults.cu");
  const test::Ran ended = test::heddle({"exec", "--quiet", "--", program});
  EXPECT_EQ(ended.code, 3);
  EXPECT_EQ(ended.out, "launch: invalid configuration argument\ncopy: cudaErrorInvalidValue\n");
  EXPECT_THAT(ended.err, HasSubstr("reaches 144 bytes past the end of buffer 'buffer 1'"));
  EXPECT_THAT(ended.err, HasSubstr("heddle: out-of-bounds access in kernel '_Z3badPii'"));
  EXPECT_THAT(ended.err, HasSubstr("faults.cu:5), block (0, 0, 0), thread (1, 0, 0)"));
  const test::Ran going = test::heddle({"exec", "--quiet", "--keep-going", "--", program});
  EXPECT_THAT(going.out, HasSubstr("after: cudaErrorIllegalAddress\n"));
  const test::Ran asserted = test::heddle({"exec", "--quiet", "--keep-going", "--", program, "assert"});
  EXPECT_THAT(asserted.out, HasSubstr("after: cudaErrorAssert\n"));
  EXPECT_THAT(asserted.err, HasSubstr("'n < 7' in void check(int)"));
}

TEST_F(CudaProgram, WhatLaunchesDoIsToldWhereTheProgramWaitsOrEnds) {
  const std::string program = compile("unwaited.cu");
  const test::Ran prints = test::heddle({"exec", "--quiet", "--", program, "prints"});
  EXPECT_EQ(prints.code, 0) << prints.err;
  const std::string printed = "kernel at 0\nkernel at 1\nkernel at 2\n";
  EXPECT_EQ(prints.out, "main ends\n" + printed);
  const std::vector<std::string> fault = {"exec", "--quiet", "--keep-going", "--", program, "fault"};
  const std::string after = "wait: cudaErrorIllegalAddress\nlaunch after it: cudaErrorIllegalAddress\n" + printed;
  const test::Ran told = test::heddle(fault);
  EXPECT_EQ(told.out, "launch: cudaSuccess\n" + after);
  EXPECT_THAT(told.err, HasSubstr("unwaited.cu:7), block (0, 0, 0), thread (0, 0, 0)"));
  test::RunSetup blocking;
  blocking.environment = {"CUDA_LAUNCH_BLOCKING=1"};
  EXPECT_EQ(test::heddle(fault, blocking).out, "launch: cudaErrorIllegalAddress\n" + after);
  const test::Ran left = test::heddle({"exec", "--quiet", "--", program, "left"});
  EXPECT_EQ(left.code, 3);
  EXPECT_EQ(left.out, printed);
  const test::Ran over = test::heddle({"exec", "--quiet", "--", program, "over"});
  EXPECT_EQ(over.code, 0) << over.err;
  EXPECT_EQ(over.out, printed + "when it is over: cudaErrorCudartUnloading\n");
  // By itself, too.
  blocking.environment = {"HEDDLE_EXEC_OPTIONS=--quiet"};
  EXPECT_EQ(test::spawn({program, "left"}, blocking).code, 3);
}

TEST_F(CudaProgram, StreamZeroIsTheLegacyOneOrEachThreadsOwn) {
  const auto run = [](const std::string& program) {
    return test::heddle({"exec", "--config", "ws-8", "--set", "gpu.cores=2", "--quiet", "--", program});
  };
  const std::string destroyed = "cudaErrorInvalidResourceHandle\n";
  for (const std::vector<std::string>& options : {std::vector<std::string>{}, {"-default-stream", "legacy"}}) {
    EXPECT_EQ(run(compile("default_stream.cu", options)).out,
              "stream 0 is the thread's own: 0, another thread's: 1\nthe second waits for the first: 1\n" + destroyed);
  }
  EXPECT_EQ(run(compile("default_stream.cu", {"-default-stream=per-thread"})).out,
            "stream 0 is the thread's own: 1, another thread's: 0\nthe second waits for the first: 0\n" + destroyed);
}

TEST_F(CudaProgram, TheDeviceHeapIsTheSameOnEveryMachine) {
  const std::string program = compile("heap.cu");
  std::string expected;
  for (const std::vector<std::string>& machine : {std::vector<std::string>{"baseline"},
                                                  {"lwm"},
                                                  {"tbc"},
                                                  {"dwf-majority"},
                                                  {"ws-8", "--set", "gpu.cores=4", "--threads", "2"}}) {
    std::vector<std::string> words = {"exec", "--quiet", "--out", scratch_.path("out"), "--config"};
    words.insert(words.end(), machine.begin(), machine.end());
    words.insert(words.end(), {"--", program});
    const test::Ran ran = test::heddle(words);
    EXPECT_EQ(ran.code, 0) << machine[0] << ": " << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("PASSED\n")) << machine[0];
    EXPECT_EQ(ran.out, expected.empty() ? ran.out : expected) << machine[0];
    expected = ran.out;
  }
}

TEST_F(CudaProgram, MisuseOfTheDeviceHeapIsTold) {
  const std::string program = compile("heap.cu");
  struct Misuse {
    const char* name;
    const char* fault;
    const char* where;
    const char* why;
    const char* after;
  };
  for (const Misuse& misuse : {Misuse{"twice", "bad free in kernel '_Z5twicePPv'", "thread (1, 0, 0)",
                                      "another thread of the launch has freed", "cudaErrorIllegalAddress"},
                               Misuse{"again", "bad free in kernel '_Z5twicePPv'", "thread (0, 0, 0)",
                                      "which malloc has not returned", "cudaErrorIllegalAddress"},
                               Misuse{"overrun", "out-of-bounds access in kernel '_Z7overrunv'", "thread (0, 0, 0)",
                                      "just past the end of a heap block (", "cudaErrorIllegalAddress"},
                               Misuse{"after", "out-of-bounds access in kernel '_Z14use_after_freePi'",
                                      "thread (0, 0, 0)", "that this thread has freed", "cudaErrorIllegalAddress"},
                               Misuse{"stranger", "bad free in kernel '_Z8strangerPi'", "thread (0, 0, 0)",
                                      "which is not on the device heap", "cudaErrorIllegalAddress"},
                               Misuse{"hoard", "resources exceeded in kernel '_Z5hoardv'", "",
                                      "the device heap holds 13107200 bytes", "cudaErrorLaunchOutOfResources"}}) {
    const test::Ran ran = test::heddle({"exec", "--quiet", "--keep-going", "--", program, misuse.name});
    EXPECT_EQ(ran.out, std::string("after: ") + misuse.after + "\n") << misuse.name;
    EXPECT_THAT(ran.err, HasSubstr(misuse.fault)) << misuse.name;
    EXPECT_THAT(ran.err, HasSubstr(misuse.where)) << misuse.name;
    EXPECT_THAT(ran.err, HasSubstr(misuse.why)) << misuse.name;
  }
}

TEST_F(CudaProgram, StreamsAndEventsHaveSimulatedTime) {
  const std::string program = compile("bfs.cu");
  const test::Ran first = test::heddle({"exec", "--quiet", "--", program});
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_THAT(first.out, HasSubstr("PASSED after "));
  EXPECT_EQ(test::heddle({"exec", "--quiet", "--", program}).out, first.out);
}

// On 8 cores, of which each kernel has blocks for two.
class CudaProgramSideBySide : public CudaProgram {
 protected:
  // Its statistics.
  std::string run(const std::vector<std::string>& options) {
    std::vector<std::string> words = {"exec",  "--config",           "ws-8",   "--set", "gpu.cores=8",
                                      "--out", scratch_.path("out"), "--quiet"};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", scratch_.path("program"), "6", "2"});
    const test::Ran ran = test::heddle(words);
    EXPECT_EQ(ran.out, "PASSED\n") << ran.err;
    return test::Scratch::read(scratch_.path("out/stats.json"));
  }
  static double cycles(const std::string& stats) {
    return boost::json::parse(stats).at("summary").at("cycles").to_number<double>();
  }
};

TEST_F(CudaProgramSideBySide, TakeTheTimeOfTheLongestWhereCoresAreFree) {
  compile("side_by_side.cu");
  const std::string stats = run({});
  EXPECT_EQ(run({"--threads", "3"}), stats);
  EXPECT_LT(cycles(stats), 0.5 * cycles(run({"--set", "gpu.kernels=1"})));
  const boost::json::value parsed = boost::json::parse(stats);
  const boost::json::array& launches = parsed.at("launches").as_array();
  ASSERT_EQ(launches.size(), 11U);
  std::uint64_t instructions = 0;
  for (const boost::json::value& launch : launches) {
    EXPECT_TRUE(launch.at("complete").as_bool());
    EXPECT_EQ(launch.at("end").to_number<double>() - launch.at("begin").to_number<double>(),
              launch.at("cycles").to_number<double>());
    instructions += launch.at("warp_instructions").to_number<std::uint64_t>();
  }
  EXPECT_EQ(instructions, parsed.at("summary").at("warp_instructions").to_number<std::uint64_t>());
  // The second begins before the first has ended, and what waits for the first does not.
  EXPECT_LT(launches[1].at("begin").to_number<double>(), launches[0].at("end").to_number<double>());
  EXPECT_GE(launches[6].at("begin").to_number<double>(), launches[0].at("end").to_number<double>());
}

TEST_F(CudaProgramSideBySide, TakeTheSameTimeWhoeverWatches) {
  compile("side_by_side.cu");
  const std::string stats = run({});
  for (const auto& [option, file] : {std::pair{"--report", "report.html"},
                                     {"--record", "threads.trace"},
                                     {"--pipeline", "pipeline.kanata"},
                                     {"--timeline", "timeline.json"},
                                     {"--vcd", "waves.vcd"}}) {
    EXPECT_EQ(run({option, scratch_.path(file)}), stats) << option;
  }
  // The launches' threads, one launch after the other.
  const test::Ran replayed =
      test::heddle({"run", "ws-8", scratch_.path("threads.trace"), "--quiet", "--out", scratch_.path("replayed")});
  EXPECT_EQ(replayed.code, 0) << replayed.err;
  const boost::json::value again = boost::json::parse(test::Scratch::read(scratch_.path("replayed/stats.json")));
  EXPECT_EQ(again.at("summary").at("thread_instructions"),
            boost::json::parse(stats).at("summary").at("thread_instructions"));
}

TEST_F(CudaProgram, TheDriverApiLoadsModulesBeforeAndAfterOthersHaveRun) {
  std::filesystem::copy(kPrograms + "driver", scratch_.path("driver"));
  const test::Ran made = test::spawn({"make", "-C", scratch_.path("driver"), "NVCC=" HEDDLE_PROGRAM " nvcc"});
  ASSERT_EQ(made.code, 0) << made.err;
  const test::Ran ran =
      test::heddle({"exec", "--out", scratch_.path("out"), "--quiet", "--", scratch_.path("driver/driver")});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out, "PASSED\n");
  EXPECT_THAT(ran.err, HasSubstr("cuModuleLoadDataEx: device code 2:3:1: expected a directive"));
  EXPECT_THAT(test::Scratch::read(scratch_.path("out/stats.json")), HasSubstr("\"kernel\": \"count\""));
}

TEST_F(CudaProgram, TheDriverApiFindsTheRunTimeApisContextAndMemoryThatIsNotThereIsRefused) {
  const test::Ran ran = test::heddle({"exec", "--quiet", "--", compile("contexts.cu")});
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.out, "PASSED\n") << ran.err;
  const std::string no_context =
      "the thread has no context: cuCtxCreate makes one, and so does the first call of the run-time API\n";
  const std::string memory =
      " bytes are more than is free of the device's memory of 4026531840 bytes (gpu.memory_gib), ";
  const std::string five = ": 5368709120" + memory + "0 allocated\n";
  const std::string most = ": 18446744073709551615" + memory + "0 allocated\n";
  EXPECT_EQ(ran.err,
            "heddle: cuMemGetInfo: neither cuInit nor the run-time API has been called\n"
            "heddle: cuDeviceGetCount: neither cuInit nor the run-time API has been called\n"
            "heddle: cuMemGetInfo: " +
                no_context + "heddle: cuMemGetInfo: " + no_context + "heddle: cuEventCreate: " + no_context +
                "heddle: cudaMalloc" + five + "heddle: cudaMallocManaged" + five + "heddle: cudaMalloc" + most +
                "heddle: cudaMallocManaged" + most + "heddle: cudaMalloc: 1073741824" + memory +
                "3221225472 allocated\n");
}

TEST_F(CudaProgram, GraphsAreRecordedMadeAndChanged) {
  const test::Ran ran = test::heddle({"exec", "--quiet", "--", compile("graph/graph.cu")});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out, "PASSED\n");
}

TEST_F(CudaProgram, GraphsAreChangedAndTheirBranchesRunSideBySide) {
  const std::string program = compile("graph/changes.cu");
  const test::Ran ran = test::heddle({"exec", "--quiet", "--", program, scratch_.path("graph.dot")});
  EXPECT_EQ(ran.out, "PASSED\n") << ran.err;
  EXPECT_THAT(
      test::Scratch::read(scratch_.path("graph.dot")),
      AllOf(HasSubstr("n1 [label=\"1 kernel _Z10from_tablePi\"];\n"), HasSubstr("  n0 -> n1;\n  n1 -> n2;\n}")));
  const test::Ran wide = test::heddle({"exec", "--config", "ws-8", "--set", "gpu.cores=8", "--quiet", "--", program});
  EXPECT_EQ(wide.out, "PASSED\n") << wide.err;
}

TEST_F(CudaProgram, PoolsAndCallsOfOneDeviceAnswer) {
  const test::Ran ran = test::heddle({"exec", "--quiet", "--", compile("pools.cu")});
  EXPECT_EQ(ran.out, "PASSED\n") << ran.err;
}

TEST_F(CudaProgram, TextureAndSurfaceObjectsSampleAsTheHostDoes) {
  const std::string program = compile("texture_objects.cu");
  for (const char* const config : {"baseline", "lwm", "dws-branch", "dwf-majority", "ws-8"}) {
    const test::Ran ran = test::heddle({"exec", "--config", config, "--quiet", "--", program});
    EXPECT_EQ(ran.code, 0) << config << ": " << ran.err;
    EXPECT_EQ(ran.out, "PASSED\n") << config;
  }
  const test::Ran recorded =
      test::heddle({"exec", "--quiet", "--record", scratch_.path("threads.trace"), "--", program});
  EXPECT_EQ(recorded.code, 1);
  EXPECT_THAT(recorded.err, HasSubstr("of an earlier launch: kernel '_Z6gatheryPKiP6float4i' fetches from textures, "
                                      "which a trace does not hold; run it without --record"));
}

TEST_F(CudaProgram, TexturesTakeTheSameTimeOnAnyNumberOfHostThreads) {
  const std::string program = compile("texture_objects.cu");
  const auto cycles = [&](const std::string& threads) {
    const test::Ran ran =
        test::heddle({"exec", "--quiet", "--threads", threads, "--set", "gpu.cores=3", "--set",
                      "l1d.write_policy=write-through", "--out", scratch_.path(threads), "--", program});
    EXPECT_EQ(ran.out, "PASSED\n") << ran.err;
    return test::Scratch::read(scratch_.path(threads + "/stats.json"));
  };
  EXPECT_EQ(cycles("1"), cycles("3"));
}

TEST_F(CudaProgram, GroupsOfThreadsExchangeReduceAndScan) {
  const std::string program = compile("groups.cu");
  for (const char* const config : {"baseline", "lwm", "ws-8"}) {
    const test::Ran ran = test::heddle({"exec", "--config", config, "--quiet", "--", program});
    EXPECT_EQ(ran.code, 0) << config << ": " << ran.err;
    EXPECT_EQ(ran.out, "PASSED\n") << config;
  }
}

// Warps have 32 threads, whatever the lanes of the SIMD unit and the warps of other kernels; or the launch is refused.
TEST_F(CudaProgram, WarpOperationsAreThoseOf32Threads) {
  const std::string program = compile("warp_operations.cu");
  const std::vector<std::vector<std::string>> machines = {
      {"baseline"},
      {"lwm"},
      {"ws-8", "--set", "gpu.cores=2"},
      {"ws-64"},
      {"sw-plus"},
      {"dws-conv", "--set", "scratchpad.bytes=16384"},
      {"baseline", "--set", "core.simd_width=4", "--set", "core.warp_size=64", "--set", "core.former=packed", "--set",
       "core.issue=relaxed"},
  };
  const auto run = [&](const std::vector<std::string>& machine) {
    std::vector<std::string> words = {"exec", "--quiet", "--config"};
    words.insert(words.end(), machine.begin(), machine.end());
    words.insert(words.end(), {"--", program});
    return test::heddle(words);
  };
  for (const std::vector<std::string>& machine : machines) {
    const test::Ran ran = run(machine);
    EXPECT_EQ(ran.code, 0) << machine.front() << ": " << ran.err;
    EXPECT_EQ(ran.out, "warpSize 32 32 32\nPASSED\n") << machine.back();
  }
  // Where nvcc has an instruction for sums over lanes.
  const std::string newer = compile("warp_operations.cu", {"-arch=sm_80"});
  const test::Ran of_gpu = test::heddle({"exec", "--quiet", "--config", "h100-8sm", "--", newer});
  EXPECT_EQ(of_gpu.out, "warpSize 32 32 32\nPASSED\n") << of_gpu.err;
  for (const char* const config : {"tbc", "odgs", "slip"}) {
    const test::Ran ran = run({config});
    EXPECT_EQ(ran.code, 1) << config;
    EXPECT_THAT(ran.out, HasSubstr("FAILED\n")) << config;
    EXPECT_THAT(ran.err, HasSubstr("kernel '_Z5lanesPi' uses a warp-level operation (vote, shfl, match, lane ids): "
                                   "core.divergence = \"" +
                                   std::string(config) + "\""))
        << config;
  }
}

// Of 228 KB without a preference, the least that holds a block, 12 % (32 KB), and all; or the scratchpad's own.
TEST_F(CudaProgram, APreferredCarveOutBoundsTheBlocksOfACore) {
  const std::string program = compile("carve_out.cu");
  EXPECT_EQ(test::heddle({"exec", "--config", "h100-8sm", "--quiet", "--", program}).out,
            "-1: 14\n0: 1\n12: 2\n100: 14\n");
  EXPECT_EQ(test::heddle({"exec", "--quiet", "--", program}).out, "-1: 8\n0: 8\n12: 8\n100: 8\n");
}

// Every mechanism, one core and several, with and without coherent L1s.
TEST_F(CudaProgram, GridsWaitForAllOfTheirBlocks) {
  const std::string program = compile("grid.cu");
  const std::vector<std::string> machines[] = {
      {"baseline"},
      {"lwm"},
      {"tbc"},
      {"dwf-majority"},
      {"dws-branch", "--set", "scratchpad.bytes=16384"},
      {"baseline", "--set", "gpu.cores=3", "--set", "l1d.write_policy=write-through"},
      {"ws-8", "--set", "gpu.cores=2", "--set", "gpu.grid_barrier_latency=1"},
      {"dws-conv", "--set", "scratchpad.bytes=16384"},
      {"odgs", "--set", "gpu.cores=3"},
  };
  for (const std::vector<std::string>& machine : machines) {
    std::vector<std::string> words = {"exec", "--quiet", "--config"};
    words.insert(words.end(), machine.begin(), machine.end());
    words.insert(words.end(), {"--", program});
    const test::Ran ran = test::heddle(words);
    EXPECT_EQ(ran.code, 0) << machine[0] << ": " << ran.err;
    EXPECT_EQ(ran.out, "PASSED\n") << machine[0];
    EXPECT_THAT(ran.err, HasSubstr("blocks of a cooperative launch must be resident at once; there is room for "));
  }
}

TEST_F(CudaProgram, GridsTakeTheSameTimeOnAnyNumberOfHostThreads) {
  const std::string program = compile("grid.cu");
  const auto stats = [&](const std::string& threads) {
    const test::Ran ran = test::heddle({"exec", "--config", "ws-8", "--set", "gpu.cores=5", "--quiet", "--threads",
                                        threads, "--out", scratch_.path(threads), "--", program});
    EXPECT_EQ(ran.out, "PASSED\n") << ran.err;
    return test::Scratch::read(scratch_.path(threads + "/stats.json"));
  };
  const std::string alone = stats("1");
  EXPECT_EQ(stats("4"), alone);
  EXPECT_THAT(alone, HasSubstr("\"grid_barriers\""));
}

TEST_F(CudaProgram, GridsThatWaitInVainAreFaults) {
  const std::string program = compile("grid.cu");
  const auto run = [&](const char* how) {
    return test::heddle({"exec", "--quiet", "--keep-going", "--", program, how});
  };
  const test::Ran plain = run("plain");
  EXPECT_EQ(plain.out, "cudaErrorLaunchFailure\n");
  EXPECT_THAT(plain.err, HasSubstr("barrier mismatch in kernel '_Z8desertedv' at PC"));
  EXPECT_THAT(plain.err, HasSubstr("the launch was not cooperative"));
  const test::Ran together = run("cooperative");
  EXPECT_EQ(together.out, "cudaErrorLaunchFailure\n");
  EXPECT_THAT(together.err, HasSubstr("block (0, 0, 0), thread (0, 0, 0): the grid's barrier can never complete: 2 "
                                      "blocks wait at it, 1 block has ended without coming to it"));
  const test::Ran recorded =
      test::heddle({"exec", "--quiet", "--record", scratch_.path("threads.trace"), "--", program, "cooperative"});
  EXPECT_THAT(recorded.err, HasSubstr("the launch of kernel '_Z8desertedv' is cooperative, which a trace does not "
                                      "hold; run it without --record"));
}

TEST_F(CudaProgram, TextureReferencesAreBoundByTheirVariables) {
  const test::Ran ran = test::heddle(
      {"exec", "--quiet", "--keep-going", "--out", scratch_.path("out"), "--", compile("texture_references.cu")});
  EXPECT_EQ(ran.out, "PASSED\n") << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("fetch without a texture in kernel '_Z9sum_edgesPii' at PC"));
  EXPECT_THAT(ran.err, HasSubstr("texture_references.cu:23), block (0, 0, 0), thread (0, 0, 0): the handle is 0"));
  EXPECT_THAT(test::Scratch::read(scratch_.path("out/stats.json")), HasSubstr("core0.texture\""));
}

TEST_F(CudaProgram, KernelsReachAllPinnedMemory) {
  const test::Ran ran = test::heddle({"exec", "--quiet", "--", compile("pinned.cu")});
  EXPECT_EQ(ran.out, "PASSED\n") << ran.err;
  EXPECT_EQ(ran.err, "");
}

TEST_F(CudaProgram, CopiesOfAllSizesArriveHoweverItIsStarted) {
  const std::string program = compile("calls.cu");
  EXPECT_EQ(test::heddle({"exec", "--quiet", "--", program}).out, "PASSED\n");
  const test::Ran alone = test::spawn({"env", "HEDDLE_EXEC_OPTIONS=--quiet", program});
  EXPECT_EQ(alone.out, "PASSED\n") << alone.err;
}

TEST_F(CudaProgram, CopiesAreTheSameWhicheverWayTheyGo) {
  const std::string program = compile("copies.cu");
  const auto run = [&](const std::string& share) {
    test::RunSetup setup;
    setup.environment = {"HEDDLE_SHARE_MEMORY=" + share};
    const test::Ran ran = test::heddle(
        {"exec", "--quiet", "--set", "gpu.memory_gib=8", "--out", scratch_.path(share), "--", program}, setup);
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(ran.out, "PASSED\n") << ran.err;
  };
  run("yes");
  run("no");
}

TEST_F(CudaProgram, CopiesTakeTheSameSimulatedTimeWhicheverWayTheyGo) {
  const std::string program = compile("calls.cu");
  const auto stats = [&](const std::string& share) {
    test::RunSetup setup;
    setup.environment = {"HEDDLE_SHARE_MEMORY=" + share};
    const test::Ran ran = test::heddle({"exec", "--quiet", "--out", scratch_.path("out"), "--", program}, setup);
    EXPECT_EQ(ran.out, "PASSED\n") << ran.err;
    return test::Scratch::read(scratch_.path("out/stats.json"));
  };
  const std::string shared = stats("yes");
  EXPECT_THAT(shared, HasSubstr("\"launches\""));
  EXPECT_EQ(stats("no"), shared);
}

TEST_F(CudaProgram, OneThatIsKilledInTheMiddleOfACopyLeavesItsStatistics) {
  const std::string program = compile("copies.cu");
  const test::Ran ran = test::heddle({"exec", "--quiet", "--out", scratch_.path("out"), "--", program, "kill"});
  EXPECT_EQ(ran.code, 128 + 9) << ran.err;
  EXPECT_THAT(test::Scratch::read(scratch_.path("out/stats.json")), HasSubstr("\"launches\""));
}

TEST_F(CudaProgram, HostHeadersAndDeviceCodeLiveInOneFile) {
  const test::Ran ran = test::heddle({"exec", "--quiet", "--", compile("headers.cu", {"-Xcompiler", "-fopenmp"})});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.err, "");
}

TEST(CudaCompiler, SaysWhatIsWrong) {
  const test::Scratch scratch;
  const std::string bad = scratch.write("bad.cu", "__global__ void k(int* p) { p[0] = nothing; }\nint main() {}\n");
  const test::Ran ran = test::heddle({"nvcc", bad, "-o", scratch.path("bad")});
  EXPECT_NE(ran.code, 0);
  EXPECT_THAT(ran.err, HasSubstr("bad.cu:1:36: error: use of undeclared identifier 'nothing'"));
  EXPECT_THAT(ran.err, Not(HasSubstr("internal error")));
  EXPECT_EQ(test::heddle({"nvcc", scratch.path("none.cu")}).code, 2);
  EXPECT_EQ(test::heddle({"exec", "--", scratch.path("none")}).code, 2);
  EXPECT_THAT(test::heddle({"exec", "--help"}).out,
              HasSubstr("usage: heddle exec [options] -- PROGRAM [ARGUMENTS...]\n"));
}

}  // namespace
}  // namespace heddle::cuda
