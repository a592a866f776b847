// Programs as they are: what third-party sources and makefiles have in them that clang alone does not take.
#include <gmock/gmock.h>

#include <filesystem>

#include "tests/support/marks.hpp"
#include "tests/support/program_runner.hpp"

HEDDLE_NOT_SANITIZED("ThirdParty.*")

namespace heddle::cuda {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kThirdParty = HEDDLE_SOURCE_DIR "/tests/cuda/programs/";

test::Ran run_quietly(const std::string& program) {
  return test::heddle({"exec", "--quiet", "--", program});
}

TEST(ThirdParty, SourcesAreTakenAsTheyAre) {
  const test::Scratch scratch;
  const std::string program = scratch.path("program");
  const std::string dependencies = scratch.path("program.d");
  const test::Ran made =
      test::heddle({"nvcc", kThirdParty + "as_is/program.cu", "-o", program, "-MD", "-MF", dependencies});
  ASSERT_EQ(made.code, 0) << made.err;
  // At most warnings, at their places in the files themselves.
  EXPECT_THAT(made.err, HasSubstr("as_is/program.cu:85:16: warning: invalid suffix on literal"));
  EXPECT_THAT(made.err, HasSubstr("does not allow 'register' storage class specifier"));
  EXPECT_THAT(made.err, Not(HasSubstr("error:")));
  EXPECT_THAT(test::Scratch::read(dependencies),
              AllOf(HasSubstr("as_is/program.cu"), HasSubstr("as_is/spaced.cuh"), Not(HasSubstr("source-"))));
  const test::Ran ran = run_quietly(program);
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out,
            "launches << <1>> >: 420 cells\na cells\nkernel: 42107\nmanaged: 8 10 40 7\nby symbol: 140\n"
            "by text: 7 cudaSuccess 12 cudaErrorInvalidSymbol cudaErrorInvalidSymbol\n"
            "channels: 16 0 8\narray: cudaSuccess\nregistered: 7 24 cudaSuccess\nunregistered: cudaErrorInvalidValue\n"
            "conditional: cudaErrorNotSupported cudaErrorNotSupported\ncapture: 0\nrelease 13: cudaSuccess "
            "cudaSuccess\nother "
            "processes: cudaErrorNotSupported\nnames: "
            "0 2 1\n");
  EXPECT_THAT(ran.err, HasSubstr("heddle: cudaGraphConditionalHandleCreate: there are no conditional nodes\n"));
}

TEST(ThirdParty, HostCodeWrapsAndCallsMembersOfNullPointers) {
  const test::Scratch scratch;
  const test::Ran made = test::heddle({"nvcc", "-O2", "-w", kThirdParty + "as_is/undefined.cu",
                                       kThirdParty + "as_is/undefined_part.cpp", "-o", scratch.path("a")});
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(run_quietly(scratch.path("a")).out, "21 0 0\n");
}

TEST(ThirdParty, HostCodeInCIncludesCudasHeaders) {
  const test::Scratch scratch;
  const std::string source = kThirdParty + "as_is/part.c";
  const test::Ran made = test::heddle({"nvcc", source, "-o", scratch.path("a")});
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(made.err, "");
  EXPECT_EQ(run_quietly(scratch.path("a")).out, "0 7 5 36\n");
  const std::string headers = HEDDLE_SOURCE_DIR "/cuda/include/runtime";
  for (const char* const standard : {"-std=c89", "-std=c99", "-std=gnu17"}) {
    const test::Ran strict = test::spawn({"gcc", standard, "-Wall", "-Wextra", "-Werror", "-pedantic-errors",
                                          "-isystem", headers, "-fsyntax-only", source});
    EXPECT_EQ(strict.code, 0) << standard << ": " << strict.err;
  }
}

TEST(ThirdParty, MakefilesTakeAFolderLikeAToolkit) {
  const test::Scratch scratch;
  const test::Ran toolkit = test::heddle({"toolkit"});
  ASSERT_EQ(toolkit.code, 0) << toolkit.err;
  const std::string folder = toolkit.out.substr(0, toolkit.out.find('\n'));
  for (const char* const part : {"bin/nvcc", "include/cuda_runtime.h", "lib64/libcudart.so", "lib64/libcuda.so",
                                 "lib64/libcudart_static.a", "lib64/libcudadevrt.a"}) {
    EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(folder) / part)) << part;
  }
  std::filesystem::copy(kThirdParty + "toolkit", scratch.path("toolkit"), std::filesystem::copy_options::recursive);
  const test::Ran made = test::spawn({"make", "-C", scratch.path("toolkit"), "CUDA_PATH=" + folder});
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_THAT(made.err, Not(HasSubstr("warning")));
  for (const char* const program : {"shared", "static", "whole"}) {
    const test::Ran ran = run_quietly(scratch.path("toolkit/") + program);
    EXPECT_EQ(ran.out, "1 device: 42\n") << program << ": " << ran.err;
    EXPECT_EQ(ran.code, 0) << program;
  }
  // By itself, with the folder where the system's loader looks: its simulator is that of the same build.
  test::RunSetup setup;
  setup.environment = {"HEDDLE_EXEC_OPTIONS=--quiet", "LD_LIBRARY_PATH=" + folder + "/lib64", "PATH=/nowhere"};
  EXPECT_EQ(test::spawn({scratch.path("toolkit/shared")}, setup).out, "1 device: 42\n");
}

TEST(ThirdParty, FilesShareManagedVariablesAndFunctionsOfTheDevice) {
  const test::Scratch scratch;
  const std::string shared = scratch.write("shared.cuh", R"(extern __managed__ int count;
namespace app { extern __managed__ float table[3]; }
__device__ void bump();
)");
  const std::string main = scratch.write("main.cu", R"(#include <cstdio>
#include "shared.cuh"
__managed__ int count = 5;
namespace app { __managed__ float table[3] = {1, 2, 3}; }
static __managed__ int of_the_host = 9;
void host_side();
__global__ void k() { bump(); app::table[1] += count; }
int main(int, char**) {
  k<<<1, 1>>>();
  cudaDeviceSynchronize();
  host_side();
  std::printf("%d %g %d\n", count, app::table[1], of_the_host);
}
)");
  // Without a kernel, and without a variable of its own.
  const std::string other = scratch.write("other.cu", R"(#include "shared.cuh"
__device__ void bump() { count += 1; }
void host_side() { count *= 10; app::table[1] += 0.5f; }
)");
  const test::Ran made = test::heddle({"nvcc", "-rdc=true", main, other, "-o", scratch.path("program")});
  ASSERT_EQ(made.code, 0) << made.err;
  const test::Ran ran = run_quietly(scratch.path("program"));
  EXPECT_EQ(ran.out, "60 8.5 9\n") << ran.err;
}

TEST(ThirdParty, AVariadicFunctionOfADeviceCannotReadItsArguments) {
  const test::Scratch scratch;
  const std::string source = scratch.write("called.cu", R"(#include <cstdarg>
__device__ int first(int n, ...) {
  va_list list;
  va_start(list, n);
  return va_arg(list, int);
}
__global__ void k(int* p) { *p = first(1, 2, 3); }
int main(int, char**) {}
)");
  const test::Ran made = test::heddle({"nvcc", "-c", source, "-o", scratch.path("called.o")});
  EXPECT_EQ(made.code, 1);
  EXPECT_THAT(made.err, HasSubstr("called.cu:5:17: error: CUDA device code does not support va_arg"));
}

}  // namespace
}  // namespace heddle::cuda
