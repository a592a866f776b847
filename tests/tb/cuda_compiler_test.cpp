// Running clang: where errors are said to be, what is left behind, what the embedded kernels hold.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "base/registry.hpp"
#include "launch_folder.hpp"
#include "tb/cuda/cuda_compiler.hpp"
#include "tb/cuda/embedded.hpp"
#include "tb/workload.hpp"

namespace heddle::tb {
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
  folder.write("k.cu", "#include <stdio.h>\n");
  EXPECT_NE(folder.refusal([&] { static_cast<void>(compile_cuda(folder.path("k.cu"), 32)); })
                .find("k.cu:1:10: 'stdio.h' file not found; device code can include files beside it"),
            std::string::npos);
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
  for (const auto& [workload, entry] : Registry<Workload>::instance().entries()) {
    for (const unsigned bits : {32U, 64U}) {
      const std::string_view ptx = kernel_ptx(workload, bits);
      EXPECT_NE(ptx.find(".address_size " + std::to_string(bits)), std::string_view::npos) << workload;
      EXPECT_NE(ptx.find("\"./tb/workloads/" + workload + "/kernel.cu\""), std::string_view::npos)
          << workload << " names the building machine's folders";
    }
  }
  EXPECT_THROW(static_cast<void>(kernel_ptx("vecadd", 16)), InternalError);
}

}  // namespace
}  // namespace heddle::tb
