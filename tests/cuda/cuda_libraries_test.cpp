// CUDA's libraries that are not there: each is named where its header is included or where it is linked, with what to
// do.
#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "cuda/compiler/cuda_libraries.hpp"
#include "cuda/compiler/nvcc_files.hpp"
#include "cuda/compiler/nvcc_options.hpp"
#include "tests/support/marks.hpp"
#include "tests/support/program_runner.hpp"

HEDDLE_NOT_SANITIZED("CudaLibraries.*")

namespace heddle::cuda {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string library_of(std::string_view header) {
  const CudaLibrary* const library = library_of_header(header);
  return library == nullptr ? "" : std::string(library->name);
}

TEST(CudaLibraries, HeadersAreKnownByTheirPlaceAndName) {
  EXPECT_EQ(library_of("thrust/device_vector.h"), "thrust");
  EXPECT_EQ(library_of("thrust/system/cuda/execution_policy.h"), "thrust");
  EXPECT_EQ(library_of("cub/cub.cuh"), "CUB");
  for (const char* const header : {"cublas.h", "cublas_v2.h", "cublasLt.h"}) EXPECT_EQ(library_of(header), "cuBLAS");
  for (const char* const header : {"cufft.h", "cufftXt.h", "cufftw.h"}) EXPECT_EQ(library_of(header), "cuFFT");
  EXPECT_EQ(library_of("curand.h"), "cuRAND");
  EXPECT_EQ(library_of("cusparse.h"), "cuSPARSE");
  EXPECT_EQ(library_of("cusolverDn.h"), "cuSOLVER");
  EXPECT_EQ(library_of("cudnn.h"), "cuDNN");
  EXPECT_EQ(library_of("nccl.h"), "NCCL");
  EXPECT_EQ(library_of("npp.h"), "NPP");
  EXPECT_EQ(library_of("nppi_filtering_functions.h"), "NPP");
  EXPECT_EQ(library_of("nvrtc.h"), "NVRTC");
  EXPECT_EQ(library_of("cutlass/gemm/device/gemm.h"), "CUTLASS");
  for (const char* const header : {"cuda_gl_interop.h", "GL/glew.h", "helper_gl.h", "cuda_d3d11_interop.h"}) {
    EXPECT_EQ(library_of(header), "OpenGL and its kin");
  }
  EXPECT_EQ(library_of("cooperative_groups/details/async.h"), "cooperative groups");
  EXPECT_EQ(library_of("cuda/std/complex"), "libcu++");
  for (const char* const header : {"helper_multiprocess.h", "helper_cuda_gl.h", "shrUtils.h"}) {
    EXPECT_EQ(library_of(header), "NVIDIA's samples");
  }
  for (const char* const header : {"cutil_gl_inline.h", "paramgl.h"}) EXPECT_EQ(library_of(header), "CUTIL");
  for (const char* const header : {"CL/cl.hpp", "CL/cl_ext.h"}) EXPECT_EQ(library_of(header), "OpenCL");
  // The user's own.
  for (const char* const header :
       {"my.h", "cuda_my.h", "helpers.h", "mma_kernel.h", "kernels/thrust.h", "thrusters/a.h"}) {
    EXPECT_EQ(library_of(header), "");
  }
}

std::string refusal_of(const std::string& word) {
  try {
    static_cast<void>(read_nvcc_options({"a.cu", word}));
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

TEST(CudaLibraries, WhatIsLinkedIsNamedAsWhatIsIncluded) {
  EXPECT_EQ(refusal_of("-lcublasXt"),
            "-lcublasXt: there is no cuBLAS (matrix functions); of it there is what cublas_v2.h, cublas.h and "
            "cublasLt.h declare (docs/cuda.md lists it), linked by -lcublas");
  EXPECT_EQ(refusal_of("-lcublasLt"), "");
  EXPECT_EQ(refusal_of("-lcufft_static"),
            "-lcufft_static: there is no cuFFT (Fourier transforms); it comes as machine code of real GPUs only: bring "
            "kernels of your own as sources");
  EXPECT_EQ(refusal_of("-lnvrtc"),
            "-lnvrtc: there is no NVRTC (compilation at run time); compile the kernels before: heddle nvcc -ptx, and "
            "cuModuleLoad loads the file");
  for (const char* const word : {"cublasXt", "cufftw", "cusparse", "cusolver", "cudnn", "nppc", "nppif", "nccl",
                                 "nvidia-ml", "cupti", "nvjpeg"}) {
    EXPECT_THAT(refusal_of(std::string("-l") + word), StartsWith(std::string("-l") + word + ": there is no ")) << word;
  }
  try {
    static_cast<void>(read_nvcc_options({"a.cu", "-Xlinker", "-rpath,/lib,-lcusparse"}));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), StartsWith("-lcusparse: there is no cuSPARSE (sparse matrices)"));
  }
  // Marks of NVTX are in its header.
  EXPECT_THAT(read_nvcc_options({"a.cu", "-lnvToolsExt", "-lm", "-lGL"}).inputs, ElementsAre("a.cu", "-lm", "-lGL"));
  EXPECT_THAT(read_nvcc_options({"a.cu", "-cudalib=cublas,cudart"}).inputs, ElementsAre("a.cu", "-lheddle_cublas"));
  EXPECT_THAT(read_nvcc_options({"a.cu", "-lcublas", "-lcublas_static"}).inputs,
              ElementsAre("a.cu", "-lheddle_cublas", "-lheddle_cublas"));
  EXPECT_THAT(read_nvcc_options({"a.cu", "-lcurand", "-cudalib=curand"}).inputs,
              ElementsAre("a.cu", "-lheddle_curand", "-lheddle_curand"));
}

TEST(CudaLibraries, TheFirstErrorIsFoundWithColoursToo) {
  const std::string output =
      "a.cu:1:2: warning: odd\n\x1b[1mb/a.cu:12:10: \x1b[0m\x1b[0;1;31mfatal error: \x1b[0m\x1b[1m'cufft.h' file not "
      "found\x1b[0m\n#include <cufft.h>\n";
  const auto error = first_error(output);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->where.text(), "b/a.cu:12:10");
  EXPECT_EQ(error->message, "'cufft.h' file not found");
  EXPECT_EQ(error->begins, 23U);
  const auto missing = missing_library(*error);
  ASSERT_TRUE(missing);
  EXPECT_STREQ(
      missing->what(),
      "b/a.cu:12:10: there is no cufft.h: it belongs to cuFFT (Fourier transforms); it comes as machine code of "
      "real GPUs only: bring kernels of your own as sources");
  const std::string arrays =
      "a.cu:1:1: CUarray is not declared: it belongs to the driver API (arrays, textures and surfaces); the run-time "
      "API "
      "has them: cudaMallocArray, cudaCreateTextureObject, cudaBindTextureToArray";
  EXPECT_EQ(missing_library({{"a.cu", 1, 1}, "unknown type name 'CUarray'", 0})->what(), arrays);
  for (const char* const name : {"cuArrayCreate", "cuTexRefSetArray", "cuArray3DCreate_v2", "CUDA_ARRAY_DESCRIPTOR"}) {
    const auto unknown =
        missing_library({{"a.cu", 1, 1}, std::string("use of undeclared identifier '") + name + "'; did you mean", 0});
    ASSERT_TRUE(unknown) << name;
    EXPECT_THAT(unknown->what(), HasSubstr(std::string(name) + " is not declared: it belongs to the driver API"));
  }
  for (const char* const name : {"cuArrays", "cuArrayed", "cublasting", "cuda", "CUarrays"}) {
    EXPECT_FALSE(missing_library({{"a.cu", 1, 1}, std::string("unknown type name '") + name + "'", 0})) << name;
  }
  EXPECT_FALSE(missing_library({{"a.cu", 1, 1}, "'my.h' file not found", 0}));
  EXPECT_FALSE(missing_library({{"a.cu", 1, 1}, "unknown type name 'cufftHandle'", 0}));
  EXPECT_FALSE(first_error("a.cu:1:2: warning: odd\n"));
  EXPECT_EQ(first_error("clang: error: no such file\n")->where.text(), "");
}

// The compiler's other words stay; its own "file not found", the line and the count of errors do not.
TEST(CudaLibraries, ProgramsAndKernelsThatIncludeOneAreToldWhereAndWhatToDo) {
  const test::Scratch scratch;
  const std::string header = scratch.write("solve.h", "#pragma once\n\n#include <cusolverDn.h>\n");
  const std::string source = scratch.write("a.cu", "#include \"solve.h\"\nint main() {}\n");
  const std::string said = "heddle: " + header +
                           ":3:10: there is no cusolverDn.h: it belongs to cuSOLVER (equation solvers); it comes as "
                           "machine code of real GPUs only: bring kernels of your own as sources\n";
  const test::Ran program = test::heddle({"nvcc", source, "-o", scratch.path("a")});
  EXPECT_EQ(program.code, 2);
  EXPECT_THAT(program.err, HasSubstr("In file included from " + source + ":1:"));
  EXPECT_THAT(program.err, HasSubstr("cuSOLVER"));
  EXPECT_THAT(program.err, Not(HasSubstr("fatal error")));
  EXPECT_THAT(program.err, Not(HasSubstr("generated")));
  EXPECT_EQ(program.err.substr(program.err.find("heddle: ")), said);

  const std::string host = scratch.write("b.cpp", "int f();\n#include <cublasXt.h>\n");
  EXPECT_THAT(test::heddle({"nvcc", "-c", host, "-o", scratch.path("b.o")}).err,
              StartsWith("heddle: " + host + ":2:10: there is no cublasXt.h: it belongs to cuBLAS (matrix functions)"));

  const std::string kernel = scratch.write("k.cu", "#include <cub/block/block_reduce.cuh>\n__global__ void k() {}\n");
  EXPECT_THAT(test::heddle({"compile", kernel}).err,
              StartsWith("heddle: " + kernel +
                         ":1:10: there is no cub/block/block_reduce.cuh: it belongs to CUB (parallel algorithms)"));

  // What is no library's is said as ever, and so are errors of programs.
  const std::string own = scratch.write("c.cu", "#include \"mine.h\"\nint main() {}\n");
  const test::Ran unknown = test::heddle({"nvcc", own, "-o", scratch.path("c")});
  EXPECT_EQ(unknown.code, 1);
  EXPECT_THAT(unknown.err, HasSubstr(own + ":1:10: fatal error: 'mine.h' file not found"));
  const std::string odd = scratch.write("d.cu", "#include <cstdio>\nint main() { int n = 1; if (n = 2) {} }\n");
  const test::Ran warned = test::heddle({"nvcc", odd, "-o", scratch.path("d")});
  EXPECT_EQ(warned.code, 0);
  EXPECT_THAT(warned.err, HasSubstr(odd + ":2:31: warning: using the result of an assignment as a condition"));
}

// Tiles of a warp and less take the memory that larger ones need.
TEST(CudaLibraries, TilesOfOddSizesAreRefused) {
  const test::Scratch scratch;
  const auto compile = [&](const std::string& size) {
    const std::string kernel = scratch.write(
        "tile.cu",
        "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n__global__ void k(int* to) {\n"
        "  __shared__ cg::experimental::block_tile_memory<4, 256> old;\n"
        "  __shared__ cg::block_tile_memory<256> memory;\n"
        "  auto first = cg::experimental::tiled_partition<32>(cg::experimental::this_thread_block(old));\n"
        "  auto tile = cg::tiled_partition<" +
            size + ">(cg::this_thread_block(memory));\n  to[threadIdx.x] = tile.thread_rank() + first.size();\n}\n");
    return test::heddle({"compile", kernel});
  };
  for (const char* const size : {"16", "32", "64", "1024"}) {
    EXPECT_EQ(compile(size).code, 0) << compile(size).err;
  }
  EXPECT_THAT(compile("24").err, HasSubstr("the threads of a tile are a power of two"));
  EXPECT_THAT(compile("2048").err, HasSubstr("the threads of a tile are a power of two, at most 1024"));
}

// What is there of them, in one program (programs/libraries.cu) and on machines whose warps go in lockstep and not.
TEST(CudaLibraries, WhatIsThereRunsRightOnHostAndDevice) {
  const test::Scratch scratch;
  const std::string program = scratch.path("program");
  const test::Ran compiled = test::heddle({"nvcc", "-O1", HEDDLE_SOURCE_DIR "/tests/cuda/programs/libraries.cu",
                                           "-lnvToolsExt", "-lcurand", "-o", program});
  ASSERT_EQ(compiled.code, 0) << compiled.err;
  const test::Ran ran = test::heddle({"exec", "--quiet", "--config", "baseline", "--", program});
  EXPECT_EQ(ran.out, "PASSED\n") << ran.err;
}

TEST(CudaLibraries, PairsOfHalvesAreComputedWith) {
  const test::Scratch scratch;
  const std::string program = scratch.path("program");
  const test::Ran compiled =
      test::heddle({"nvcc", HEDDLE_SOURCE_DIR "/tests/cuda/programs/half_pairs.cu", "-o", program});
  ASSERT_EQ(compiled.code, 0) << compiled.err;
  const test::Ran ran = test::heddle({"exec", "--quiet", "--", program});
  EXPECT_EQ(ran.out, "PASSED\n") << ran.err;
}

// What suites of the time of CUTIL include: calls, timers, the command line, comparisons; and OpenCL's types beside it.
TEST(CudaLibraries, CutilAndTypesOfOpenClAreThere) {
  const test::Scratch scratch;
  const std::string programs = HEDDLE_SOURCE_DIR "/tests/cuda/programs/";
  const std::string program = scratch.path("program");
  std::filesystem::create_directory(scratch.path("data"));
  scratch.write("data/cutil_data.txt", "");
  const test::Ran compiled = test::heddle(
      {"nvcc", "-D_DEBUG", programs + "cutil.cu", programs + "cutil_part.cpp", "-lcutil_x86_64", "-o", program});
  ASSERT_EQ(compiled.code, 0) << compiled.err;
  EXPECT_EQ(compiled.err, "heddle: note: -lcutil_x86_64 has no effect: cutil.h has the functions themselves\n");
  const std::vector<std::string> words = {"exec",       "--quiet",  "--",          program,
                                          "--noprompt", "-size=64", "--ratio=1.5", "--name=a=b"};
  const test::Ran ran = test::heddle(words);
  EXPECT_EQ(ran.out, "END\n") << ran.err;
  EXPECT_EQ(ran.code, 0);
  std::vector<std::string> failing = words;
  failing.emplace_back("-fails");
  const test::Ran failed = test::heddle(failing);
  EXPECT_EQ(failed.out, "END\n");
  EXPECT_EQ(failed.code, 1);
  EXPECT_THAT(failed.err, HasSubstr("cutil.cu:148: cudaMemcpy(host, device, 1 << 20, cudaMemcpyDeviceToHost): invalid "
                                    "argument\n"));

  // A library of the user's own is linked.
  NvccOptions options = read_nvcc_options({"a.cu", "-lcutil", "-L" + scratch.path("data")});
  scratch.write("data/libcutil.a", "");
  leave_out_cutil(options);
  EXPECT_THAT(options.inputs, ElementsAre("a.cu", "-lcutil"));
  EXPECT_TRUE(options.notes.empty());

  const std::string called = scratch.write(
      "a.c",
      "#include <cutil.h>\n#include <CL/cl.h>\nint main(void) { cl_uint n; return clGetPlatformIDs(0, 0, &n); }\n");
  const test::Ran refused = test::heddle({"nvcc", "-std=c89", "-c", called, "-o", scratch.path("a.o")});
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err,
              StartsWith(called + ":3:36: error: 'clGetPlatformIDs' is unavailable: there is no OpenCL here: "
                                  "build the program's CUDA version\n"));
}

// Helpers of NVIDIA's samples, in one program (programs/helpers.cu) that loads a module made by -fatbin.
TEST(CudaLibraries, HelpersOfTheSamplesAreThere) {
  const test::Scratch scratch;
  const std::string programs = HEDDLE_SOURCE_DIR "/tests/cuda/programs/";
  const std::string program = scratch.path("program");
  const std::string module = scratch.path("scale.fatbin");
  const test::Ran compiled = test::heddle({"nvcc", programs + "helpers.cu", "-o", program});
  ASSERT_EQ(compiled.code, 0) << compiled.err;
  EXPECT_EQ(compiled.err, "");
  const test::Ran contained =
      test::heddle({"nvcc", "-arch=sm_80", "-fatbin", programs + "driver/scale.cu", "-o", module});
  ASSERT_EQ(contained.code, 0) << contained.err;
  std::vector<std::string> words = {"exec", "--quiet", "--", program, "--verbose", "-n=7", "--Ratio=1.5", "-file=a=b"};
  const test::Ran ran = test::heddle(words);
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, EndsWith("\n59 checks\n"));
  EXPECT_THAT(ran.err,
              HasSubstr("comparison: " + scratch.path("read.bin") + ": is shorter than what is to be compared\n"));
  EXPECT_THAT(ran.err, HasSubstr("heddle: cuMemGetAllocationGranularity: programs cannot map memory themselves here: "
                                 "cuMemAlloc gives it with its address\n"));
  EXPECT_THAT(ran.err,
              HasSubstr("helpers.cu(207): CUDA error: too large: (9) invalid configuration argument.\nheddle: "));
  EXPECT_THAT(ran.err, HasSubstr("\nCUDA error at " + programs +
                                 "helpers.cu:212 code=1(cudaErrorInvalidValue) \"cudaMemcpy(there, values, 1 << 20, "
                                 "cudaMemcpyHostToDevice)\"\n"));
  words.emplace_back("-last");
  const test::Ran last = test::heddle(words);
  EXPECT_EQ(last.code, 1);
  EXPECT_THAT(last.err, EndsWith("helpers.cu(210): CUDA error: too large: (9) invalid configuration argument.\n"));

  const std::string host = scratch.write("b.cpp", "int f();\n");
  const test::Ran other = test::heddle({"nvcc", "-fatbin", host, "-o", module});
  EXPECT_EQ(other.err, "heddle: " + host + ": is no CUDA file, which -fatbin compiles\n");
}

TEST(CudaLibraries, ExceptionsOfTheSamplesSayWhereTheyComeFrom) {
  const test::Scratch scratch;
  const std::string source = scratch.write("a.cu",
                                           "#include <helper_functions.h>\n"
                                           "int main() {\n"
                                           "  try { RANGE_EXCEPTION(\"far\"); }\n"
                                           "  catch (const std::range_error& e) { std::cout << e.what(); }\n"
                                           "  try { LOGIC_EXCEPTION(std::string(\"odd\")); }\n"
                                           "  catch (const std::logic_error& e) { std::cout << e.what(); }\n"
                                           "  try { RUNTIME_EXCEPTION(\"late\"); }\n"
                                           "  catch (const std::runtime_error& e) { handleException(e); }\n"
                                           "}\n");
  const test::Ran compiled = test::heddle({"nvcc", source, "-o", scratch.path("a")});
  ASSERT_EQ(compiled.code, 0) << compiled.err;
  const auto said = [&](int line, const char* what) {
    return "Exception in file '" + source + "' in line " + std::to_string(line) + "\nDetailed description: " + what +
           "\n";
  };
  const test::Ran ran = test::heddle({"exec", "--quiet", "--", scratch.path("a")});
  EXPECT_EQ(ran.out, said(3, "far") + said(5, "odd"));
  EXPECT_EQ(ran.err, said(7, "late") + "\n");
  EXPECT_EQ(ran.code, 1);

  // A program's own, which it names behind the toolkit.
  const test::Ran toolkit = test::heddle({"toolkit"});
  std::filesystem::create_directory(scratch.path("own"));
  scratch.write("own/exception.h", "enum { own = 7 };\n");
  const std::string other = scratch.write("b.cpp", "#include <exception.h>\nint main() { return own; }\n");
  const test::Ran built = test::spawn({"g++", "-I" + toolkit.out.substr(0, toolkit.out.find('\n')) + "/include",
                                       "-I" + scratch.path("own"), other, "-o", scratch.path("b")});
  ASSERT_EQ(built.code, 0) << built.err;
  EXPECT_EQ(test::spawn({scratch.path("b")}).code, 7);
}

// thrust and CUB as Debian has them, which cmake/packages/build.txt lists.
TEST(CudaLibraries, ThrustAndCubCompileAndRun) {
  const test::Scratch scratch;
  const std::string program = scratch.path("program");
  const test::Ran compiled =
      test::heddle({"nvcc", HEDDLE_SOURCE_DIR "/tests/cuda/programs/algorithms.cu", "-o", program});
  ASSERT_EQ(compiled.code, 0) << compiled.err;
  const test::Ran ran = test::heddle({"exec", "--quiet", "--config", "baseline", "--", program});
  EXPECT_EQ(ran.out, "PASSED\n") << ran.err;
}

}  // namespace
}  // namespace heddle::cuda
