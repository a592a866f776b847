// What CUDA's calls say of what they do not allow: programs that are tables of calls with the codes that CUDA
// documents.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>

#include "tests/support/marks.hpp"
#include "tests/support/program_runner.hpp"

HEDDLE_NOT_SANITIZED("Conditions.*")

namespace heddle::cuda {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

const std::string kTables = HEDDLE_SOURCE_DIR "/tests/cuda/programs/conditions/";

class Conditions : public ::testing::Test {
 protected:
  test::Ran compile(const std::vector<std::string>& words, const std::string& to) {
    std::vector<std::string> all = {"nvcc"};
    all.insert(all.end(), words.begin(), words.end());
    all.insert(all.end(), {"-o", scratch_.path(to)});
    test::Ran ran = test::heddle(all);
    EXPECT_EQ(ran.code, 0) << ran.err;
    return ran;
  }
  // The program says how many rows it has, and which are wrong.
  void check(const std::string& table) {
    compile({kTables + table + ".cu"}, table);
    const test::Ran ran = test::heddle({"exec", "--quiet", "--", scratch_.path(table)});
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_THAT(ran.out, MatchesRegex("[0-9]+ rows, 0 wrong\n"));
  }
  test::Scratch scratch_;
};

TEST_F(Conditions, OfCalls) {
  check("calls");
}

TEST_F(Conditions, OfMemory) {
  check("memory");
}

TEST_F(Conditions, OfGraphs) {
  check("graphs");
}

TEST_F(Conditions, OfStreamsThatRecord) {
  check("capture");
}

TEST_F(Conditions, OfLaunchesAndWhatAFaultLeaves) {
  check("launches");
  const std::string program = scratch_.path("launches");
  const test::Ran fault = test::heddle({"exec", "--quiet", "--keep-going", "--", program, "fault"});
  EXPECT_THAT(fault.out, MatchesRegex("[0-9]+ rows, 0 wrong\n"));
  compile({"-ptx", kTables + "launches.cu"}, "launches.ptx");
  const test::Ran driver = test::heddle({"exec", "--quiet", "--", program, "driver", scratch_.path("launches.ptx")});
  EXPECT_THAT(driver.out, MatchesRegex("[0-9]+ rows, 0 wrong\n")) << driver.err;
}

// A core with room for fewer threads has smaller blocks: the limits are the machine's, and what is said of them.
TEST_F(Conditions, OfLaunchesOnASmallMachine) {
  const std::string source = scratch_.write("small.cu", R"(#include <cstdio>
__global__ void nothing() {}
int main(int argc, char** argv) {
  cudaDeviceProp p;
  cudaGetDeviceProperties(&p, 0);
  std::printf("%d: %d %d %d\n", p.maxThreadsPerBlock, p.maxThreadsDim[0], p.maxThreadsDim[1], p.maxThreadsDim[2]);
  nothing<<<1, dim3(1, 1, 33)>>>();
  std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
  nothing<<<1, dim3(1, 1, 32)>>>();
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
)");
  compile({source}, "small");
  const test::Ran ran = test::heddle({"exec", "--quiet", "--set", "core.threads=32", "--", scratch_.path("small")});
  EXPECT_EQ(ran.out, "32: 32 32 32\ncudaErrorInvalidConfiguration\ncudaSuccess\n");
  EXPECT_EQ(
      ran.err,
      "heddle: kernel launch: kernel '_Z7nothingv' with a grid of 1 x 1 x 1 blocks of 1 x 1 x 33 threads: each is "
      "at least 1, a grid has 2147483647 x 65535 x 65535 blocks at most, a block 32 x 32 x 32 threads and 32 in "
      "all\n");
}

// No function counts as done whose conditions have not been looked at.
TEST_F(Conditions, AreThoseOfAllFunctionsThatAreDone) {
  std::string calls;
  for (const auto& entry : std::filesystem::directory_iterator(kTables)) {
    calls += test::Scratch::read(entry.path().string());
  }
  const std::string table = test::Scratch::read(HEDDLE_SOURCE_DIR "/docs/cuda-functions.md");
  const std::regex row("\\| `(cuda\\w+)` \\| (done|accepted) \\|");
  std::size_t functions = 0;
  for (std::sregex_iterator at(table.begin(), table.end(), row), end; at != end; ++at) {
    ++functions;
    EXPECT_THAT(calls, HasSubstr((*at)[1].str() + "(")) << "in no table of tests/cuda/programs/conditions";
  }
  EXPECT_GT(functions, 200U);
}

}  // namespace
}  // namespace heddle::cuda
