// A kernel that cannot be compiled, in a launch file and in heddle compile: it is the affair of who launches it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <thread>

#include "tests/ptx/long_kernel.hpp"
#include "tests/support/launch_folder.hpp"
#include "tests/support/program_runner.hpp"

namespace heddle::tb::refused_kernels_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kKernels = R"(.version 7.8
.target sm_90
.address_size 64
.visible .entry _Z4goodPi(.param .u64 p) { .reg .u64 %rd1; ld.param.u64 %rd1, [p]; st.global.u32 [%rd1], 7; exit; }
.visible .entry _Z6tensorPi(.param .u64 p) { wgmma.fence.sync.aligned; exit; }
.visible .entry _Z4wideI4int8Evv() { .reg .b128 %w; exit; }
)";
const std::string kTensor =
    ":5:46: kernel 'tensor' cannot be compiled: instruction 'wgmma' is not supported; matrices are multiplied by mma "
    "or wmma and loaded by ldmatrix\n";
const std::string kWide =
    ":6:43: kernel 'wide<int8>' cannot be compiled: the type '.b128' is not supported; 128-bit values are not "
    "supported; "
    "use two .b64\n";

std::string launch_file(const std::string& entry) {
  return "ptx = \"k.ptx\"\n[[buffer]]\nname = \"b\"\ntype = \"u32\"\ncount = 4\n[[launch]]\nentry = \"" + entry +
         "\"\ngrid = [1]\nblock = [1]\narguments = [{ buffer = \"b\" }]\n";
}

TEST(RefusedKernels, RunLaunchesTheOthers) {
  const test::LaunchFolder folder;
  folder.write("k.ptx", kKernels);
  folder.write("good.toml", launch_file("good"));
  folder.write("tensor.toml", launch_file("tensor"));
  const test::Ran good = test::heddle({"run", "baseline", folder.path("good.toml"), "--quiet"});
  EXPECT_EQ(good.code, 0) << good.err;
  EXPECT_EQ(good.err, "");
  const test::Ran tensor = test::heddle({"run", "baseline", folder.path("tensor.toml"), "--quiet"});
  EXPECT_EQ(tensor.code, 2);
  EXPECT_EQ(tensor.err, "heddle: " + folder.path("k.ptx") + kTensor);
}

TEST(RefusedKernels, CompileShowsTheOthersAndNamesAllOfThem) {
  const test::LaunchFolder folder;
  folder.write("k.ptx", kKernels);
  const std::string file = folder.path("k.ptx");
  const test::Ran all = test::heddle({"compile", file});
  EXPECT_EQ(all.code, 2);
  EXPECT_THAT(all.out, HasSubstr("\n_Z4goodPi "));
  EXPECT_EQ(all.err, "heddle: " + file + kTensor + "heddle: " + file + kWide);
  const test::Ran good = test::heddle({"compile", file, "--entry", "good"});
  EXPECT_EQ(good.code, 0);
  EXPECT_EQ(good.err, "");
  const test::Ran tensor = test::heddle({"compile", file, "--entry", "tensor"});
  EXPECT_EQ(tensor.code, 2);
  EXPECT_THAT(tensor.out, Not(HasSubstr("good")));
  EXPECT_EQ(tensor.err, "heddle: " + file + kTensor);
  const test::Ran none = test::heddle({"compile", file, "--entry", "nothing"});
  EXPECT_EQ(none.err,
            "heddle: " + file + ": there is no kernel 'nothing'; known: _Z4goodPi, _Z6tensorPi, _Z4wideI4int8Evv\n");
}

// Clock ticks of CPU time that a process has taken.
long ticks_of(pid_t process) {
  std::ifstream in("/proc/" + std::to_string(process) + "/stat");
  std::string text{std::istreambuf_iterator<char>(in), {}};
  std::istringstream fields(text.substr(text.find(')') + 2));
  std::string skipped;
  for (int i = 0; i < 11; ++i) fields >> skipped;
  long user = 0, system = 0;
  fields >> user >> system;
  return user + system;
}

TEST(CompilingForARun, EndsSoonAfterATermination) {
  const test::LaunchFolder folder;
  folder.write("k.ptx", ptx::test::long_kernel(4000, 200));
  folder.write("long.toml", launch_file("long_kernel"));
  test::RunSetup setup;
  setup.while_running = [](pid_t process) {
    while (ticks_of(process) < sysconf(_SC_CLK_TCK) / 2) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    ::kill(process, SIGTERM);
  };
  const test::Ran ran = test::heddle({"run", "baseline", folder.path("long.toml"), "--out", folder.path("out")}, setup);
  EXPECT_EQ(ran.code, 143);
  EXPECT_EQ(ran.err, "heddle: interrupted while kernels were compiled\n");
  EXPECT_THAT(folder.read("out/stats.json"), HasSubstr("\"complete\": false"));
}

}  // namespace
}  // namespace heddle::tb::refused_kernels_test
