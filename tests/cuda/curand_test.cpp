// cuRAND's host functions: numbers, call after call, against digests of what the generators for the host of cuRAND 10.4
// gave (programs/curand), and what is not there of it.
#include <gmock/gmock.h>

#include "tests/support/marks.hpp"
#include "tests/support/program_runner.hpp"

HEDDLE_NOT_SANITIZED("Curand.*")

namespace heddle::cuda {
namespace {

using ::testing::HasSubstr;

TEST(Curand, GivesTheNumbersOfCurandCallAfterCall) {
  const test::Scratch scratch;
  const std::string program = scratch.path("program");
  const test::Ran made =
      test::heddle({"nvcc", HEDDLE_SOURCE_DIR "/tests/cuda/programs/curand/generators.cpp", "-lcurand", "-o", program});
  ASSERT_EQ(made.code, 0) << made.err;
  const test::Ran ran = test::heddle({"exec", "--quiet", "--", program});
  EXPECT_EQ(ran.out,
            "bits b98eb709f0c8db5c\n"
            "bits 92ff1210ed1e904e\n"
            "uniform 6c1fc09447b4805e\n"
            "double a4b9a4d6879ffbb7\n"
            "double 464b1d3d4faa525a\n"
            "bits 87284ef4de0f3e65\n"
            "bits 1675f4c5e681b4a3\n"
            "bits c720f84cf2121423\n"
            "bits 154aed5cdc4870fe\n"
            "uniform 6a85cfc10712e40c\n"
            "double b6fe50b6a7e9ddd2\n"
            "double 46da996fcf751364\n"
            "bits ca24da17adf4fa7a\n"
            "bits 7f96f26f4fcb9664\n"
            "PASSED\n");
  EXPECT_EQ(ran.err,
            "heddle: curandCreateGenerator: there is no generator of type 201; CURAND_RNG_PSEUDO_XORWOW and "
            "CURAND_RNG_PSEUDO_PHILOX4_32_10 are there\n");
}

// From the folder that is laid out like a toolkit.
TEST(Curand, ServesProgramsInCThatTheHostsCompilerLinks) {
  const test::Scratch scratch;
  const test::Ran toolkit = test::heddle({"toolkit"});
  const std::string folder = toolkit.out.substr(0, toolkit.out.find('\n'));
  const std::string source = scratch.write("a.c",
                                           "#include <cuda_runtime_api.h>\n#include <curand.h>\n#include <stdio.h>\n"
                                           "int main(void) {\n"
                                           "  curandGenerator_t g;\n  unsigned int *p, x[2];\n  int version, major;\n"
                                           "  curandCreateGenerator(&g, CURAND_RNG_PSEUDO_DEFAULT);\n"
                                           "  curandSetPseudoRandomGeneratorSeed(g, 1234ULL);\n"
                                           "  cudaMalloc((void**)&p, sizeof x);\n"
                                           "  curandGenerate(g, p, 2);\n"
                                           "  cudaMemcpy(x, p, sizeof x, cudaMemcpyDeviceToHost);\n"
                                           "  curandGetVersion(&version);\n"
                                           "  curandGetProperty(MAJOR_VERSION, &major);\n"
                                           "  printf(\"%08x %08x %d %d\\n\", x[0], x[1], version, major);\n"
                                           "  return curandDestroyGenerator(g);\n}\n");
  const test::Ran linked = test::spawn({"gcc", "-std=c99", "-Wall", "-Werror", "-I" + folder + "/include", source, "-o",
                                        scratch.path("a"), "-L" + folder + "/lib64", "-lcurand", "-lcudart"});
  ASSERT_EQ(linked.code, 0) << linked.err;
  const test::Ran ran = test::heddle({"exec", "--quiet", "--", scratch.path("a")});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out, "253d5e15 d1f7605a 10205 10\n");
}

TEST(Curand, SaysWhatIsNotThere) {
  const test::Scratch scratch;
  const std::string source =
      scratch.write("a.cu", "#include <curand.h>\nint main() { return curandGeneratePoisson(0, 0, 1, 2.0); }\n");
  const test::Ran ran = test::heddle({"nvcc", source, "-lcurand", "-o", scratch.path("a")});
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("a.cu:2:21: curandGeneratePoisson is not declared: it belongs to cuRAND (random "
                                 "numbers); of it there are curand_kernel.h"));
}

}  // namespace
}  // namespace heddle::cuda
