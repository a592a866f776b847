// Function pointers, virtual functions, recursion and kernels that cannot be compiled, in whole CUDA programs; and what
// is said of kernels that launch kernels.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "cuda/compiler/dynamic_parallelism.hpp"
#include "tests/support/marks.hpp"
#include "tests/support/program_runner.hpp"

HEDDLE_NOT_SANITIZED("DynamicParallelism.*", "IndirectCalls.*")

namespace heddle::cuda {
namespace {

using ::testing::HasSubstr;

TEST(IndirectCalls, WorkOnEveryKindOfMachineAndAKernelIsRefusedWhereItIsLaunched) {
  const test::Scratch scratch;
  const std::string program = scratch.path("program");
  const test::Ran compiled =
      test::heddle({"nvcc", HEDDLE_SOURCE_DIR "/tests/cuda/programs/indirect.cu", "-o", program});
  ASSERT_EQ(compiled.code, 0) << compiled.err;
  const std::string good = "stack 1024\nset cudaSuccess\nstack 65536\nmost 262144\n";
  for (const char* const config : {"baseline", "lwm", "tbc", "dwf-majority", "dws-conv", "per-thread-pc", "odgs"}) {
    const test::Ran ran = test::heddle({"exec", "--quiet", "--config", config, "--", program});
    EXPECT_EQ(ran.code, 0) << config << ": " << ran.err;
    EXPECT_EQ(ran.out, good + "PASSED\n") << config;
    EXPECT_EQ(ran.err, "") << config;
  }
  const test::Ran refused = test::heddle({"exec", "--quiet", "--", program, "tensor"});
  EXPECT_EQ(refused.code, 0);
  EXPECT_EQ(refused.out, good + "tensor: cudaErrorInvalidPtx\nPASSED\n");
  EXPECT_THAT(refused.err, HasSubstr("kernel 'tensor' cannot be compiled: instruction 'tcgen05' is not supported"));
  EXPECT_THAT(refused.err, HasSubstr("indirect.cu:50"));
  const test::Ran overflow = test::heddle({"exec", "--quiet", "--keep-going", "--", program, "overflow"});
  EXPECT_EQ(overflow.out, good + "overflow: cudaErrorLaunchFailure\nPASSED\n");
  EXPECT_THAT(overflow.err, HasSubstr("heddle: trap in kernel '_Z4deepPii' at PC "));
  EXPECT_THAT(
      overflow.err,
      HasSubstr("indirect.cu:32), block (0, 0, 0), thread (0, 0, 0): a call finds no room on the thread's stack of "
                "262144 bytes: it is as large as can be\n"));
}

TEST(DynamicParallelism, IsRefusedInOneMessage) {
  const test::Scratch scratch;
  const std::string file = HEDDLE_SOURCE_DIR "/tests/cuda/programs/launching.cu";
  // In colours, as on a terminal, clang's words are told apart by sequences that stand between them.
  for (const char* const colours : {"-fno-color-diagnostics", "-fcolor-diagnostics"}) {
    const test::Ran ran = test::heddle({"nvcc", "-rdc=true", "-Xdevice", colours, file, "-o", scratch.path("program")});
    EXPECT_EQ(ran.code, 2);
    EXPECT_EQ(ran.err,
              "heddle: " + file +
                  ":5:25: device code launches kernel 'child': there is no dynamic parallelism here (2 such lines "
                  "in all); launch from host code, after the kernel has ended, or call a __device__ function in a "
                  "loop\n");
  }
}

TEST(DynamicParallelism, IsToldFromOtherErrors) {
  EXPECT_FALSE(find_dynamic_parallelism(""));
  EXPECT_FALSE(find_dynamic_parallelism("a.cu:3:4: error: expected ';' after expression\n"));
  // A wrong argument in host code, which the compilation for the device reads as well.
  EXPECT_FALSE(
      find_dynamic_parallelism("a.cu:3:4: error: no matching function for call to 'cudaMalloc'\n"
                               "b.h:1:1: note: candidate function not viable: requires 2 arguments\n"));
  const std::string call =
      "a.cu:3:4: error: no matching function for call to 'cudaMalloc'\n"
      "b.h:1:1: note: candidate function not viable: call to __host__ function from __global__ function\n";
  const auto called = find_dynamic_parallelism(call);
  ASSERT_TRUE(called);
  EXPECT_TRUE(called->all);
  EXPECT_STREQ(
      called->error.what(),
      "a.cu:3:4: device code calls cudaMalloc: there is no dynamic parallelism here; launch from host code, after "
      "the kernel has ended, or call a __device__ function in a loop");
  // Of a template clang says two things of one place.
  const auto both = find_dynamic_parallelism(
      call +
      "a.cu:9:63: error: reference to __host__ function '__cudaPushCallConfiguration' in __global__ function\n"
      "a.cu:9:57: error: no matching function for call to 'rec'\n"
      "a.cu:9:35: note: candidate function not viable: call to __global__ function from __global__ function\n"
      "a.cu:20:1: error: unknown type name 'foo'\n");
  ASSERT_TRUE(both);
  EXPECT_FALSE(both->all);
  EXPECT_STREQ(both->error.what(),
               "a.cu:9:63: device code launches a kernel: there is no dynamic parallelism here (2 such lines in all); "
               "launch from host code, after the kernel has ended, or call a __device__ function in a loop");
}

}  // namespace
}  // namespace heddle::cuda
