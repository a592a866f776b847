// CUDA programs of several files: built by make and by CMake with heddle nvcc, or by nvcc and the host's compiler.
#include <gmock/gmock.h>

#include <filesystem>

#include "tests/support/marks.hpp"
#include "tests/support/program_runner.hpp"

HEDDLE_LONG("CudaBuild.SeveralFiles*", "All/ProjectRuns.*/histogram", "All/ProjectRuns.*/scan",
            "All/ProjectRuns.*/nbody", "All/ProjectRuns.*/sort", "All/ProjectRuns.*/convolution")
HEDDLE_NOT_SANITIZED("CudaBuild.*", "All/ProjectRuns.*")

namespace heddle::studies {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kProjects = HEDDLE_SOURCE_DIR "/tests/cuda/programs/";

class CudaBuild : public ::testing::Test {
 protected:
  test::Scratch scratch_;
};

TEST_F(CudaBuild, SeveralFilesAreBuiltByAMakefileAndKeepTheirOwnNames) {
  std::filesystem::copy(kProjects + "reduction", scratch_.path("reduction"));
  const test::Ran made = test::spawn({"make", "-C", scratch_.path("reduction"), "NVCC=" HEDDLE_PROGRAM " nvcc"});
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_THAT(made.err, HasSubstr("--ptxas-options=-v has no effect"));
  for (const char* const config : {"baseline", "lwm"}) {
    const test::Ran ran =
        test::heddle({"exec", "--config", config, "--quiet", "--", scratch_.path("reduction/reduce")});
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("PASSED"));
  }
}

TEST_F(CudaBuild, ProgramsOfNvccFindTheLibraryUnderCudasNames) {
  // Host code as any compiler makes it, linked with a library of that name and version, as nvcc -cudart shared does.
  const std::string source = scratch_.write("host.cpp", R"(#include <dlfcn.h>
#include <cstdio>
struct Properties13 { char name[256]; char more[752]; };
int main() {
  const auto get = reinterpret_cast<int (*)(Properties13*, int)>(dlsym(RTLD_DEFAULT, "cudaGetDeviceProperties"));
  Properties13 p;
  for (char& c : p.more) c = 1;
  if (get == nullptr || get(&p, 0) != 0) return 1;
  std::printf("%s, %d in release 13\n", p.name, *reinterpret_cast<int*>(p.more + 384 - 256));
}
)");
  const std::string folder = std::filesystem::path(HEDDLE_PROGRAM).parent_path().string() + "/cudart";
  const test::Ran made = test::spawn({"c++", source, "-o", scratch_.path("host"), "-L" + folder,
                                      "-Wl,--no-as-needed,-rpath-link," + folder + "/..", "-l:libcudart.so.13"});
  ASSERT_EQ(made.code, 0) << made.err;
  const test::Ran ran = test::heddle({"exec", "--quiet", "--set", "gpu.cores=3", "--set",
                                      "l1d.write_policy=write-through", "--", scratch_.path("host")});
  EXPECT_EQ(ran.err, "");
  EXPECT_EQ(ran.out, "Heddle baseline, 3 in release 13\n");
}

TEST_F(CudaBuild, ManagedVariablesOfNvccAreTheHostsToo) {
  const std::string folder = std::filesystem::path(HEDDLE_PROGRAM).parent_path().string() + "/cudart";
  const test::Ran made =
      test::spawn({"c++", "-std=c++17", "-I" HEDDLE_SOURCE_DIR, kProjects + "managed.cpp", "-o", scratch_.path("host"),
                   "-L" + folder, "-Wl,--no-as-needed,-rpath-link," + folder + "/..", "-l:libcudart.so.13"});
  ASSERT_EQ(made.code, 0) << made.err;
  const test::Ran ran = test::heddle({"exec", "--quiet", "--", scratch_.path("host")});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out, "PASSED\n") << ran.err;
}

// Unless it is told not to; never in functions whose errors are stated.
TEST_F(CudaBuild, ProductsAndSumsOfProgramsAreFusedAsNvccDoes) {
  const auto ptx = [this](const std::string& source, const std::vector<std::string>& options) {
    std::vector<std::string> words = {"nvcc", "-ptx", scratch_.write("a.cu", source), "-o", scratch_.path("a.ptx")};
    words.insert(words.end(), options.begin(), options.end());
    const test::Ran made = test::heddle(words);
    EXPECT_EQ(made.code, 0) << made.err;
    EXPECT_EQ(made.err, "");
    return test::Scratch::read(scratch_.path("a.ptx"));
  };
  const std::string own =
      "__device__ double product(double a, double b) { return a * b; }\n"
      "__global__ void k(float* f, double* d) { float t = f[0] * f[1]; f[2] = t + f[3];\n"
      "  d[0] = product(d[1], d[2]) - d[3]; f[4] = __fadd_rn(__fmul_rn(f[5], f[6]), f[7]); }\n";
  for (const std::vector<std::string>& fused : {std::vector<std::string>{}, {"-fmad=true"}}) {
    const std::string text = ptx(own, fused);
    EXPECT_THAT(text, AllOf(HasSubstr("fma.rn.f32"), HasSubstr("fma.rn.f64")));
    EXPECT_EQ(text.find("fma.rn.f32"), text.rfind("fma.rn.f32")) << "__fmul_rn and __fadd_rn are never fused";
  }
  EXPECT_THAT(ptx(own, {"-fmad=false"}), Not(HasSubstr("fma.")));
  EXPECT_THAT(ptx(own, {"--fmad", "false"}), Not(HasSubstr("fma.")));
  const std::string functions =
      "#include <cuda_fp16.h>\n#include <curand_kernel.h>\n"
      "__global__ void k(float* f, double* d, __half* h, curandState* s) { f[0] = sinf(f[1]); f[2] = expf(f[3]);\n"
      "  f[4] = rnorm4df(f[5], f[6], f[7], f[8]); d[0] = tgamma(d[1]); d[2] = hypot(d[3], d[4]); f[9] = powf(f[0], "
      "f[1]);\n"
      "  h[0] = hsqrt(h[1]); f[10] = curand_normal(s); }\n";
  EXPECT_EQ(ptx(functions, {}), ptx(functions, {"-fmad=false"}));
  const test::Ran refused = test::heddle({"nvcc", "-fmad=maybe", scratch_.path("a.cu")});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("'maybe' is neither true nor false"));
}

TEST_F(CudaBuild, CMakeBuildsProjectsByTheToolchainFile) {
  const std::string build = scratch_.path("build");
  const test::Ran made =
      test::spawn({"cmake", "-S", kProjects + "cmake", "-B", build, "-DHEDDLE_PROGRAM=" HEDDLE_PROGRAM, "--toolchain",
                   HEDDLE_SOURCE_DIR "/cmake/HeddleToolchain.cmake"});
  ASSERT_EQ(made.code, 0) << made.err;
  const test::Ran built = test::spawn({"cmake", "--build", build});
  ASSERT_EQ(built.code, 0) << built.out << built.err;
  for (const char* const program : {"/average", "/mixed"}) {
    const test::Ran ran = test::heddle({"exec", "--quiet", "--", build + program});
    EXPECT_EQ(ran.out, "PASSED\n") << program << ": " << ran.err;
  }
}

// Whole programs, each built by its own makefile.
class ProjectRuns : public ::testing::TestWithParam<const char*> {
 protected:
  test::Scratch scratch_;
};

TEST_P(ProjectRuns, BuiltByItsMakefileItPassesAndTakesTheSameTimeAgain) {
  const std::string name = GetParam();
  std::filesystem::copy(kProjects + "common", scratch_.path("common"));
  std::filesystem::copy(kProjects + name, scratch_.path(name));
  const test::Ran made = test::spawn({"make", "-C", scratch_.path(name), "NVCC=" HEDDLE_PROGRAM " nvcc"});
  ASSERT_EQ(made.code, 0) << made.err;
  const std::string program = scratch_.path(name) + "/" + name;
  const test::Ran first = test::heddle({"exec", "--quiet", "--", program});
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(first.err, "");
  EXPECT_THAT(first.out, HasSubstr(" ms\nPASSED\n"));
  EXPECT_EQ(test::heddle({"exec", "--quiet", "--", program}).out, first.out);
  EXPECT_THAT(test::heddle({"exec", "--config", "lwm", "--quiet", "--", program}).out, HasSubstr("PASSED"));
}
INSTANTIATE_TEST_SUITE_P(All, ProjectRuns,
                         ::testing::Values("matmul", "histogram", "stencil", "volume", "convolution", "scan", "nbody",
                                           "sort", "pipeline", "options"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace heddle::studies
