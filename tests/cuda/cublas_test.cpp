// cuBLAS: every function against double precision on the host (programs/cublas), on machines whose warps go in lockstep
// and not; what it says of bad parameters; what is not there of it.
#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/support/marks.hpp"
#include "tests/support/program_runner.hpp"

HEDDLE_NOT_SANITIZED("Cublas.*")

namespace heddle::cuda {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

class Cublas : public ::testing::Test {
 protected:
  std::string compile(const std::string& source, const std::string& level = "-O1") {
    const test::Ran ran = test::heddle({"nvcc", level, HEDDLE_SOURCE_DIR "/tests/cuda/programs/cublas/" + source,
                                        "-lcublas", "-o", scratch_.path("program")});
    EXPECT_EQ(ran.code, 0) << ran.err;
    return scratch_.path("program");
  }
  // Of a C program that the host's compiler links from the folder that is laid out like a toolkit.
  test::Ran run_of_c(const std::string& text) {
    const test::Ran toolkit = test::heddle({"toolkit"});
    const std::string folder = toolkit.out.substr(0, toolkit.out.find('\n'));
    const test::Ran linked =
        test::spawn({"gcc", "-std=c99", "-Wall", "-Werror", "-I" + folder + "/include", scratch_.write("a.c", text),
                     "-o", scratch_.path("a"), "-L" + folder + "/lib64", "-lcublas", "-lcudart"});
    EXPECT_EQ(linked.code, 0) << linked.err;
    if (linked.code != 0) return linked;
    return test::heddle({"exec", "--quiet", "--", scratch_.path("a")});
  }
  test::Scratch scratch_;
};

TEST_F(Cublas, VectorsAreChangedAndSummedUp) {
  const test::Ran ran = test::heddle({"exec", "--quiet", "--", compile("vectors.cpp")});
  EXPECT_EQ(ran.out, "PASSED\n") << ran.err;
}

TEST_F(Cublas, MatricesMeetVectorsHoweverTheyAreStored) {
  const test::Ran ran = test::heddle({"exec", "--quiet", "--config", "lwm", "--", compile("matrix_vector.cpp")});
  EXPECT_EQ(ran.out, "PASSED\n") << ran.err;
}

TEST_F(Cublas, MatricesAreMultipliedSolvedAndFactored) {
  const std::string program = compile("matrices.cpp");
  const std::vector<std::vector<std::string>> machines = {
      {"baseline"}, {"ws-8"}, {"tbc"}, {"dws-conv", "--set", "scratchpad.bytes=16384"}};
  const char* const types[] = {"s", "c", "d", "z"};
  for (std::size_t i = 0; i < machines.size(); ++i) {
    std::vector<std::string> words = {"exec", "--quiet", "--config"};
    words.insert(words.end(), machines[i].begin(), machines[i].end());
    words.insert(words.end(), {"--", program, types[i]});
    const test::Ran ran = test::heddle(words);
    EXPECT_EQ(ran.out, "PASSED\n") << machines[i][0] << ": " << ran.err;
  }
}

TEST_F(Cublas, TheFirstInterfaceDoesTheSame) {
  const test::Ran ran = test::heddle({"exec", "--quiet", "--", compile("legacy.cpp", "-O0")});
  EXPECT_EQ(ran.out, "PASSED\n") << ran.err;
}

TEST_F(Cublas, AFileIncludesOneInterface) {
  const auto compiled = [this](const std::string& first, const std::string& second) {
    const std::string source =
        scratch_.write("both.cpp", "#include <" + first + ">\n#include <" + second + ">\nint main() {}\n");
    return test::heddle({"nvcc", source, "-o", scratch_.path("both")});
  };
  for (const auto& [first, second] : {std::pair{"cublas.h", "cublas_v2.h"}, {"cublas_v2.h", "cublas.h"}}) {
    const test::Ran refused = compiled(first, second);
    EXPECT_NE(refused.code, 0);
    EXPECT_THAT(refused.err, HasSubstr("are two interfaces of cuBLAS: a file includes one of them"));
  }
  for (const char* const one : {"cublas.h", "cublas_v2.h"}) {
    EXPECT_EQ(compiled(one, "cublasLt.h").code, 0) << one;
    EXPECT_EQ(compiled("cublasLt.h", one).code, 0) << one;
  }
}

TEST_F(Cublas, ProductsAreDescribedToLt) {
  const std::string program = scratch_.path("program");
  const test::Ran compiled = test::heddle(
      {"nvcc", "-O1", HEDDLE_SOURCE_DIR "/tests/cuda/programs/cublas/lt.cpp", "-lcublasLt", "-o", program});
  ASSERT_EQ(compiled.code, 0) << compiled.err;
  const test::Ran ran = test::heddle({"exec", "--quiet", "--", program});
  EXPECT_EQ(ran.out, "PASSED\n") << ran.err;
}

TEST_F(Cublas, BadParametersAreToldAndOtherTypesStreamsAndGraphsWork) {
  const test::Ran ran = test::heddle({"exec", "--quiet", "--out", scratch_.path("out"), "--", compile("further.cpp")});
  EXPECT_EQ(ran.out, "PASSED\n");
  EXPECT_THAT(ran.err, MatchesRegex("heddle: cublasSscal: a factor at 0x[0-9a-f]+ is in no memory of the host; "
                                    "cublasSetPointerMode takes factors in device memory\n"
                                    "heddle: cudaMemcpy: 100 bytes at address .*\n"));
  // Results are those of kernels.
  EXPECT_THAT(test::Scratch::read(scratch_.path("out/stats.json")),
              AllOf(HasSubstr("\"kernel\": \"cublas_sgemm\""), HasSubstr("\"kernel\": \"cublas_hdot_end\"")));
}

TEST_F(Cublas, MakefilesLinkIt) {
  const test::Ran ran = run_of_c(
      "#include <cuda_runtime_api.h>\n"
      "#include <complex.h>\n"
      "#include <cublas_v2.h>\n"
      "#include <stdio.h>\n"
      "int main(void) {\n"
      "  cublasHandle_t handle;\n"
      "  const float x[] = {3, 4};\n"
      "  float *device, norm = 0;\n"
      "  cudaMalloc((void**)&device, sizeof x);\n"
      "  if (cublasCreate(&handle)) return 1;\n"
      "  cublasSetVector(2, sizeof *x, x, 1, device, 1);\n"
      "  cublasSnrm2(handle, 2, device, 1, &norm);\n"
      "  printf(\"%g\\n\", norm);\n"
      "  return cublasDestroy(handle);\n"
      "}\n");
  EXPECT_EQ(ran.out, "5\n") << ran.err;
}

TEST_F(Cublas, TheFirstInterfaceIsC) {
  const test::Ran ran = run_of_c(
      "#include <cublas.h>\n"
      "#include <stdio.h>\n"
      "int main(void) {\n"
      "  const cuComplex x[] = {{1, 2}, {3, 4}};\n"
      "  cuComplex product;\n"
      "  void* device;\n"
      "  cublasInit();\n"
      "  cublasAlloc(2, sizeof *x, &device);\n"
      "  cublasSetVector(2, sizeof *x, x, 1, device, 1);\n"
      "  product = cublasCdotu(2, device, 1, device, 1);\n"
      "  printf(\"%g %g\\n\", product.x, product.y);\n"
      "  cublasFree(device);\n"
      "  return cublasShutdown();\n"
      "}\n");
  EXPECT_EQ(ran.out, "-10 28\n") << ran.err;
}

TEST_F(Cublas, FunctionsThatAreNotThereAreNamed) {
  const std::string advice =
      ": it belongs to cuBLAS (matrix functions); of it there is what cublas_v2.h, cublas.h and cublasLt.h declare "
      "(docs/cuda.md "
      "lists it), "
      "linked by -lcublas\n";
  const std::string source =
      scratch_.write("a.cu", "#include <cublas_v2.h>\nint main() { return cublasStpttr(nullptr); }\n");
  const test::Ran compiled = test::heddle({"nvcc", source, "-lcublas", "-o", scratch_.path("a")});
  EXPECT_EQ(compiled.code, 2);
  EXPECT_EQ(compiled.err, "heddle: " + source + ":2:21: cublasStpttr is not declared" + advice);
  // Declared by the program itself, so that the linker misses it.
  const std::string own = scratch_.write(
      "b.cpp", "extern \"C\" int cublasXtCreate(void*);\nint main() { return cublasXtCreate(nullptr); }\n");
  const test::Ran linked = test::heddle({"nvcc", own, "-lcublas", "-o", scratch_.path("b")});
  EXPECT_EQ(linked.code, 2);
  EXPECT_THAT(linked.err, HasSubstr("undefined reference to `cublasXtCreate'"));
  EXPECT_EQ(linked.err.substr(linked.err.find("heddle: ")), "heddle: cublasXtCreate is not linked" + advice);
  // The user's own stay the user's.
  const std::string other = scratch_.write("c.cu", "int main() { return cublasting; }\n");
  EXPECT_THAT(test::heddle({"nvcc", other, "-o", scratch_.path("c")}).err,
              AllOf(HasSubstr("use of undeclared identifier 'cublasting'"), Not(HasSubstr("heddle: "))));
}

}  // namespace
}  // namespace heddle::cuda
