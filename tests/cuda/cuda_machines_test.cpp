// CUDA programs that depend on what a machine is: in what order it runs threads, how much memory it has.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/marks.hpp"
#include "tests/support/program_runner.hpp"

HEDDLE_NOT_SANITIZED("CudaProgramOnMachines.*")

namespace heddle::cuda {
namespace {

class CudaProgramOnMachines : public ::testing::Test {
 protected:
  std::string compile(const std::string& source, const std::vector<std::string>& options = {}) {
    std::vector<std::string> words = {"nvcc", "-O2", HEDDLE_SOURCE_DIR "/tests/cuda/programs/" + source, "-o",
                                      scratch_.path("program")};
    words.insert(words.end(), options.begin(), options.end());
    const test::Ran ran = test::heddle(words);
    EXPECT_EQ(ran.code, 0) << ran.err;
    return scratch_.path("program");
  }
  test::Scratch scratch_;
};

TEST_F(CudaProgramOnMachines, ErrorsHaveTheirWordsInKernelsToo) {
  const std::string program = compile("errors_of_both.cu");
  for (const char* const machine : {"baseline", "h100-8sm"}) {
    const test::Ran ran = test::heddle({"exec", "--quiet", "--config", machine, "--", program});
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(ran.out,
              "line 19: cudaErrorInvalidValue, invalid argument\n"
              "line 20: unrecognized error code, unrecognized error code\n"
              "line 28: cudaErrorInvalidValue, invalid argument\n37\n");
  }
}

// Mechanisms that run the ways of a warp one after the other, in large warps, side by side, or as they please.
TEST_F(CudaProgramOnMachines, ThreadsThatEndEarlyKeepNobodyAtBarriers) {
  const std::string program = compile("early_exit.cu");
  for (const char* const machine : {"baseline", "lwm", "tbc", "dwf-majority", "lwm-dws", "per-thread-pc", "v100-8sm"}) {
    const test::Ran ran = test::heddle({"exec", "--config", machine, "--quiet", "--", program});
    EXPECT_EQ(ran.code, 0) << machine << ": " << ran.err;
    EXPECT_EQ(ran.out, "PASSED\n") << machine;
  }
  for (const char* const machine : {"baseline", "lwm", "v100-8sm"}) {
    EXPECT_EQ(test::heddle({"exec", "--config", machine, "--quiet", "--", program, "warps"}).out, "PASSED\n")
        << machine;
  }
}

TEST_F(CudaProgramOnMachines, TheDevicesMemoryIsAsLargeAsTheMachineSays) {
  const test::Ran ran =
      test::heddle({"exec", "--set", "gpu.memory_gib=12", "--quiet", "--", compile("large_memory.cu")});
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.out, "PASSED\n");
  EXPECT_EQ(ran.err,
            "heddle: cudaMalloc: 4294967296 bytes are more than is free of the device's memory of 12884901888 bytes "
            "(gpu.memory_gib), 9663676416 allocated\n");
}

// The newest that the device takes; where it takes none, the oldest.
TEST_F(CudaProgramOnMachines, CodeIsTakenByTheMachinesComputeCapability) {
  const auto tells = [&](const std::string& program, const std::string& machine) {
    const test::Ran ran = test::heddle({"exec", "--config", machine, "--quiet", "--", program});
    return ran.code == 0 ? ran.out : ran.err;
  };
  std::string program = compile("architectures.cu", {"-gencode", "arch=compute_86,code=sm_86", "-gencode",
                                                     "arch=compute_70,code=[sm_70,compute_70]", "-arch=sm_61"});
  EXPECT_EQ(tells(program, "baseline"), "device 6.0, code 6, PTX 61, binary 60\n");
  EXPECT_EQ(tells(program, "v100-8sm"), "device 7.0, code 7, PTX 70, binary 70\n");
  EXPECT_EQ(tells(program, "a100-8sm"), "device 8.0, code 7, PTX 70, binary 80\n");
  EXPECT_EQ(tells(program, "rtx3070-8sm"), "device 8.6, code 8, PTX 86, binary 86\n");
  EXPECT_EQ(tells(program, "h100-8sm"), "device 9.0, code 8, PTX 86, binary 90\n");
  // 7.5 has what 7.0 has, and is there once with it.
  program = compile("architectures.cu", {"-gencode", "arch=compute_75,code=sm_75", "-arch=sm_70"});
  EXPECT_EQ(tells(program, "rtx2060-8sm"), "device 7.5, code 7, PTX 70, binary 75\n");
}

// As ptxas has it: a block that does not say how large it is gets the registers that it can use. Here larger blocks,
// for which a core has no room then, run too.
TEST_F(CudaProgramOnMachines, SmallBlocksHaveAllRegisters) {
  const std::string program = compile("roomier.cu");
  for (const char* const machine : {"v100-8sm", "h100-8sm"}) {
    const test::Ran ran = test::heddle({"exec", "--config", machine, "--quiet", "--", program});
    EXPECT_EQ(ran.out, "more than 64 registers: 1, all in registers: 1, fit: 1, of 128: 1, of 1024: 1, wrong: 0\n")
        << machine << ": " << ran.err;
  }
  // Both have one name, and a trace holds both.
  const test::Ran skipped = test::heddle({"exec", "--config", "h100-8sm", "--skip", "_Z4sumsPKiPii", "--", program});
  EXPECT_NE(skipped.out.find("3 of 3  none was simulated"), std::string::npos) << skipped.out << skipped.err;
  const std::string trace = scratch_.path("sums.trace");
  ASSERT_EQ(test::heddle({"exec", "--config", "h100-8sm", "--record", trace, "--quiet", "--", program}).code, 0);
  const test::Ran replay = test::heddle({"run", "h100-8sm", trace});
  const std::string recorded = "replayed 3 launches; recorded on h100-8sm in ";
  const std::size_t at = replay.out.find(recorded);
  ASSERT_NE(at, std::string::npos) << replay.out << replay.err;
  std::string cycles =
      replay.out.substr(at + recorded.size(), replay.out.find(' ', at + recorded.size()) - at - recorded.size());
  cycles.insert(cycles.size() - 3, ",");
  EXPECT_NE(replay.out.find(" " + cycles + "  3 launches"), std::string::npos) << replay.out;
}

// Of a kernel that the machine refuses, nothing can be asked without an answer.
TEST_F(CudaProgramOnMachines, WhatTheMachineCannotRunIsRefusedWheneverItIsAskedAbout) {
  const std::string program = compile("refused.cu");
  const test::Ran ran = test::heddle({"exec", "--config", "baseline", "--quiet", "--", program});
  EXPECT_EQ(ran.out, "occupancy 701, launch 701, after it 0\n") << ran.err;
}

// As cp.async in code for 8.0, which machines let go on beside threads that do not wait for it, and at once in other
// code.
TEST_F(CudaProgramOnMachines, ThreadsOwnCopiesAreUnderWayInCodeThatHasThem) {
  for (const char* const architecture : {"sm_60", "sm_80"}) {
    const std::string ptx = scratch_.path("text.ptx");
    ASSERT_EQ(test::heddle({"nvcc", "-ptx", std::string("-arch=") + architecture, "-o", ptx,
                            HEDDLE_SOURCE_DIR "/tests/cuda/programs/copies_under_way.cu"})
                  .code,
              0);
    const std::string text = test::Scratch::read(ptx);
    for (const char* const word : {"cp.async.cg.shared.global", "cp.async.ca.shared.global", "cp.async.commit_group",
                                   "cp.async.wait_group 2;", "cp.async.mbarrier.arrive.shared"}) {
      EXPECT_EQ(text.find(word) != std::string::npos, architecture == std::string("sm_80")) << word;
    }
    for (const char* const kernel : {"sums", "own_pipelines", "groups"}) {
      const std::string entry = std::string(".visible .entry _Z") + std::to_string(std::strlen(kernel)) + kernel;
      const std::size_t begin = text.find(entry);
      ASSERT_NE(begin, std::string::npos) << kernel;
      const std::string body = text.substr(begin, text.find(".entry", begin + entry.size()) - begin);
      EXPECT_EQ(body.find("cp.async.c") != std::string::npos, architecture == std::string("sm_80")) << kernel;
    }
    const std::string program = compile("copies_under_way.cu", {std::string("-arch=") + architecture});
    for (const char* const machine : {"baseline", "h100-8sm"}) {
      const test::Ran ran = test::heddle({"exec", "--config", machine, "--quiet", "--", program});
      EXPECT_EQ(ran.out, "PASSED\n") << machine << ", " << architecture << ": " << ran.err;
    }
  }
}

TEST_F(CudaProgramOnMachines, MatricesAreMultipliedByTensorCores) {
  const std::string program = compile("matrices.cu", {"-arch=sm_80"});
  for (const char* const machine : {"v100-8sm", "h100-8sm"}) {
    const test::Ran ran = test::heddle({"exec", "--config", machine, "--quiet", "--", program});
    EXPECT_EQ(ran.out, "PASSED\n") << machine << ": " << ran.err;
  }
}

// In lockstep, and with threads that are scheduled independently.
TEST_F(CudaProgramOnMachines, TilesOfSeveralWarpsMeetAtBarriersOfTheirOwn) {
  const std::string program = compile("wide_tiles.cu");
  for (const char* const machine : {"baseline", "gto", "h100-8sm"}) {
    const test::Ran ran = test::heddle({"exec", "--config", machine, "--quiet", "--", program});
    EXPECT_EQ(ran.out, "PASSED\n") << machine << ": " << ran.err;
  }
}

// Machines that write control bits or marks into the code that they are given: what is loaded later goes behind it.
TEST_F(CudaProgramOnMachines, ModulesAreLoadedBehindCodeThatHasMarks) {
  std::filesystem::copy(HEDDLE_SOURCE_DIR "/tests/cuda/programs/driver", scratch_.path("driver"));
  const test::Ran made = test::spawn({"make", "-C", scratch_.path("driver"), "NVCC=" HEDDLE_PROGRAM " nvcc"});
  ASSERT_EQ(made.code, 0) << made.err;
  for (const std::vector<std::string>& machine :
       {std::vector<std::string>{"--config", "v100-8sm"}, {"--set", "core.scalar=compiler"}}) {
    std::vector<std::string> words = {"exec", "--quiet"};
    words.insert(words.end(), machine.begin(), machine.end());
    words.insert(words.end(), {"--", scratch_.path("driver/driver")});
    const test::Ran ran = test::heddle(words);
    EXPECT_EQ(ran.out, "PASSED\n") << machine.back() << ": " << ran.err;
  }
}

// cuBLAS's files are such modules.
TEST_F(CudaProgramOnMachines, CublasBringsItsFilesBehindCodeThatHasMarks) {
  const test::Ran made = test::heddle({"nvcc", "-O2", HEDDLE_SOURCE_DIR "/tests/cuda/programs/cublas/vectors.cpp",
                                       "-lcublas", "-o", scratch_.path("program")});
  ASSERT_EQ(made.code, 0) << made.err;
  const test::Ran ran = test::heddle({"exec", "--config", "v100-8sm", "--quiet", "--", scratch_.path("program")});
  EXPECT_EQ(ran.out, "PASSED\n") << ran.err;
}

}  // namespace
}  // namespace heddle::cuda
