// Running clang: where errors are said to be, what is left behind, what the embedded kernels hold.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/registry.hpp"
#include "cuda/compiler/cuda_compiler.hpp"
#include "ptx/compile.hpp"
#include "tb/device/workload.hpp"
#include "tests/support/launch_folder.hpp"
#include "tests/support/program_runner.hpp"
#include "workloads/kernels.hpp"
#include "workloads/support.hpp"

namespace heddle::cuda {
namespace {

using test::LaunchFolder;

TEST(CudaCompiler, MakesPtxOfBothAddressSizes) {
  const LaunchFolder folder;
  folder.write("k.cu", "#include \"other.h\"\nextern \"C\" __global__ void k(int* p) { p[threadIdx.x] = kOther; }\n");
  folder.write("other.h", "constexpr int kOther = 3;\n");
  EXPECT_NE(compile_cuda(folder.path("k.cu"), 32).find(".address_size 32"), std::string::npos);
  EXPECT_NE(compile_cuda(folder.path("k.cu"), 64).find(".address_size 64"), std::string::npos);
  EXPECT_EQ(compile_cuda(folder.path("k.cu"), 32), compile_cuda(folder.path("k.cu"), 32));  // no temporary names in it
}

TEST(CudaCompiler, TakesFilesWhoseNamesLookLikeOptions) {
  const LaunchFolder folder;
  folder.write("a b;$(x).cu", "extern \"C\" __global__ void k() {}\n");
  EXPECT_NE(compile_cuda(folder.path("a b;$(x).cu"), 32).find(".entry k"), std::string::npos);
}

TEST(CudaCompiler, SaysWhereTheFirstErrorIs) {
  const LaunchFolder folder;
  folder.write("k.cu", "extern \"C\" __global__ void k(int* p) {\n  *p = unheard_of_variable;\n}\n");
  try {
    static_cast<void>(compile_cuda(folder.path("k.cu"), 32));
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_EQ(error.where().file, folder.path("k.cu"));
    EXPECT_EQ(error.where().line, 2U);
    EXPECT_EQ(error.where().column, 8U);
    EXPECT_EQ(error.message(), "use of undeclared identifier 'unheard_of_variable'");
    EXPECT_NE(error.hint().find("1 error generated"), std::string::npos) << error.hint();
  }
  folder.write("k.cu", "#include <iostream>\n");
  EXPECT_NE(folder.refusal([&] { static_cast<void>(compile_cuda(folder.path("k.cu"), 32)); })
                .find("k.cu:1:10: 'iostream' file not found; device code can include files beside it"),
            std::string::npos);
}

// clang ends with a listing of its own stack there.
TEST(CudaCompiler, NamesBeyondAsciiAreRefusedWithTheirPlace) {
  const LaunchFolder folder;
  folder.write("other.h", "\n// \u00e9\u00e8\n__device__ int \u00fcber;\n");
  const std::string hint =
      "' holds other characters than ASCII: PTX has names of ASCII letters, digits, _ and $ alone; use ASCII in the "
      "names of kernels, device functions and their types and variables";
  const auto refusal = [&](const std::string& source) {
    folder.write("k.cu", source);
    return folder.refusal([&] { static_cast<void>(compile_cuda(folder.path("k.cu"), 32)); });
  };
  EXPECT_EQ(refusal("/* \u00e9 */ const char* g = \"\u00e9\";\n__global__ void k\u00e9(int* p) { *p = 1; }\n"),
            "k.cu:2: 'k\u00e9" + hint);
  EXPECT_EQ(refusal("#include \"other.h\"\n__global__ void k(int* p) { *p = \u00fcber; }\n"),
            "other.h:3: '\u00fcber" + hint);
  EXPECT_EQ(refusal("struct \u03b1 { int x; };\n\n__global__ void k(\u03b1 a, int* p) { *p = a.x; }\n"),
            "k.cu:3: '_Z1k2\u03b1Pi" + hint);
  // Where no symbol has it, any name will do.
  folder.write("k.cu", "__global__ void k(int* \u03c0) { int \u03b2 = 3; *\u03c0 = \u03b2; }\n");
  EXPECT_NE(compile_cuda(folder.path("k.cu"), 32).find(".entry _Z1kPi"), std::string::npos);
}

TEST(CudaCompiler, OfAProgramTooAndNothingIsLeftBehind) {
  const test::Scratch scratch;
  std::filesystem::create_directory(scratch.path("tmp"));
  const std::string file =
      scratch.write("a.cu", "\n__global__ void k\u00e9(int* p) { *p = 1; }\nint main() { return 0; }\n");
  test::RunSetup setup;
  setup.environment = {"TMPDIR=" + scratch.path("tmp")};
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"compile", file}, {"nvcc", file, "-o", scratch.path("a")}}) {
    const test::Ran ran = test::heddle(words, setup);
    EXPECT_EQ(ran.code, 2);
    EXPECT_EQ(ran.err, "heddle: " + file +
                           ":2: 'k\u00e9' holds other characters than ASCII: PTX has names of ASCII letters, digits, _ "
                           "and $ alone; use ASCII in the names of kernels, device functions and their types and "
                           "variables\n");
    EXPECT_TRUE(std::filesystem::is_empty(scratch.path("tmp")));
  }
  EXPECT_FALSE(std::filesystem::exists(scratch.path("a")));
}

std::string fault_of(const LaunchFolder& folder, const std::string& source, unsigned address_bits) {
  folder.write("k.cu", source);
  tb::ReferenceExecutor executor;
  executor.load(ptx::compile(compile_cuda(folder.path("k.cu"), address_bits), "k.ptx"));
  const std::uint64_t data = executor.memory().allocate("data", 64, address_bits == 32);
  executor.memory().put<std::uint32_t>(data, 1);
  tb::Arguments arguments(executor.module(), "k");
  arguments.pointer(data);
  try {
    executor.launch({"k", {1}, {1}, 0, arguments.bytes()});
  } catch (const SimulatedFault& fault) {
    return fault.what();
  }
  return "no fault";
}

// clang may drop code that uses a null pointer, and the conditions before it; here it has to fault.
TEST(CudaCompiler, KeepsAccessesThroughNullPointers) {
  const LaunchFolder folder;
  for (const unsigned bits : {32U, 64U}) {
    const std::string stored = fault_of(
        folder, "extern \"C\" __global__ void k(int* p) {\n  int* q = 0;\n  if (p[0] == 1) *q = 5;\n}\n", bits);
    EXPECT_NE(stored.find("out-of-bounds access in kernel 'k'"), std::string::npos) << stored;
    EXPECT_NE(stored.find("k.cu:3)"), std::string::npos) << stored;
    const std::string loaded =
        fault_of(folder, "extern \"C\" __global__ void k(int* p) {\n  int* q = 0;\n  p[1] = *q;\n}\n", bits);
    EXPECT_NE(loaded.find("k.cu:3)"), std::string::npos) << loaded;
  }
}

// What the PTX compiler refuses is told in terms of the CUDA file too.
TEST(CudaCompiler, RefusalsNameTheCudaLineAndFunction) {
  const LaunchFolder folder;
  folder.write("k.cu",
               "template <class T> __global__ void twice(T* p) {\n  p[0] *= 2;\n  asm "
               "volatile(\"wgmma.fence.sync.aligned;\");\n}\n"
               "template __global__ void twice<int>(int*);\n");
  const std::string text =
      folder.refusal([&] { static_cast<void>(ptx::compile(compile_cuda(folder.path("k.cu"), 64), "k.ptx")); });
  EXPECT_EQ(text.find("k.ptx:"), 0U) << text;
  EXPECT_NE(
      text.find("instruction 'wgmma' is not supported (k.cu:3, in void twice<int>(int*)); matrices are multiplied by"),
      std::string::npos)
      << text;
}

TEST(CudaCompiler, RefusesAMissingFileOrCompiler) {
  const LaunchFolder folder;
  const auto refusal = [&] {
    return folder.refusal([&] { static_cast<void>(compile_cuda(folder.path("k.cu"), 32)); });
  };
  EXPECT_EQ(refusal(), "k.cu: the CUDA file cannot be read: No such file or directory; check its name and permissions");
  folder.write("k.cu", "");
  ::setenv("HEDDLE_CLANG", folder.path("no-such-compiler").c_str(), 1);
  EXPECT_EQ(refusal().find("cannot run the CUDA compiler 'no-such-compiler'"), 0U) << refusal();
  ::unsetenv("HEDDLE_CLANG");
  const std::string search = std::getenv("PATH");
  ::setenv("PATH", folder.path().c_str(), 1);
  EXPECT_EQ(refusal().find("no clang++ found, which compiles CUDA files to PTX; install Debian's package clang"), 0U)
      << refusal();
  ::setenv("PATH", search.c_str(), 1);
}

TEST(CudaCompiler, LeavesNothingBehind) {
  const LaunchFolder folder;
  const LaunchFolder temporary;
  folder.write("good.cu", "extern \"C\" __global__ void k() {}\n");
  folder.write("bad.cu", "nonsense\n");
  ::setenv("TMPDIR", temporary.path().c_str(), 1);
  static_cast<void>(compile_cuda(folder.path("good.cu"), 32));
  EXPECT_THROW(static_cast<void>(compile_cuda(folder.path("bad.cu"), 32)), InputError);
  ::unsetenv("TMPDIR");
  EXPECT_TRUE(std::filesystem::is_empty(temporary.path()));
}

TEST(EmbeddedKernels, AreThereForEveryWorkloadAndSize) {
  for (const auto& [workload, entry] : Registry<tb::Workload>::instance().entries()) {
    for (const unsigned bits : {32U, 64U}) {
      const std::string_view ptx = workloads::kernel_ptx(workload, bits);
      EXPECT_NE(ptx.find(".address_size " + std::to_string(bits)), std::string_view::npos) << workload;
      EXPECT_NE(ptx.find("\"./workloads/" + workload + "/"), std::string_view::npos)
          << workload << " names the building machine's folders";
    }
  }
  EXPECT_THROW(static_cast<void>(workloads::kernel_ptx("vecadd", 16)), InternalError);
}

// A profile shows the source that a line table names, wherever the program runs.
TEST(EmbeddedKernels, HaveTheSourcesThatTheirLineTablesName) {
  std::set<std::string> embedded;
  for (const EmbeddedFile& file : workloads::kernel_sources()) {
    embedded.insert("./" + std::string(file.name));
  }
  for (const EmbeddedFile& kernel : workloads::embedded_kernels()) {
    std::istringstream lines{std::string(kernel.text)};
    for (std::string line; std::getline(lines, line);) {
      const std::size_t quote = line.find('"');
      if (line.find("\t.file\t") != 0 || line.find("cuda/include/") != std::string::npos) {
        continue;
      }
      const std::string name = line.substr(quote + 1, line.rfind('"') - quote - 1);
      EXPECT_EQ(embedded.count(name), 1U) << kernel.name << ": " << name;
    }
  }
}

}  // namespace
}  // namespace heddle::cuda
