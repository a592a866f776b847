// What device code is written for, and what it says of that.
#include "cuda/compiler/architecture.hpp"

#include <gmock/gmock.h>

#include "base/error.hpp"
#include "cuda/compiler/cuda_compiler.hpp"
#include "ptx/compile.hpp"
#include "tests/support/launch_folder.hpp"

namespace heddle::cuda {
namespace {

using ::testing::HasSubstr;

TEST(Architecture, IsNamedByTheTextWithTheReleaseThatKnowsIt) {
  const std::string text = "//\n.version 6.4\n.target sm_60\n.address_size 64\n";
  EXPECT_EQ(with_target(text, 60), text);
  EXPECT_EQ(with_target(text, 70), "//\n.version 6.4\n.target sm_70\n.address_size 64\n");
  EXPECT_EQ(with_target(text, 80), "//\n.version 7.0\n.target sm_80\n.address_size 64\n");
  EXPECT_EQ(with_target(text, 87), "//\n.version 7.8\n.target sm_87\n.address_size 64\n");
  EXPECT_EQ(with_target(text, 120), "//\n.version 8.6\n.target sm_120\n.address_size 64\n");
  EXPECT_EQ(with_target("\n.version 8.10\n.target sm_60\n", 100), "\n.version 8.10\n.target sm_100\n");
  EXPECT_EQ(with_target("no PTX", 80), "no PTX");
}

TEST(Architecture, IsWhatDeviceCodeSees) {
  const test::LaunchFolder folder;
  folder.write("k.cu",
               "#if __CUDA_ARCH__ >= 800\n#include \"new.h\"\n#endif\n"
               "extern \"C\" __global__ void k(int* out) { *out = __CUDA_ARCH__; }\n");
  folder.write("new.h", "");
  for (const unsigned architecture : {60U, 75U, 80U}) {
    const std::string ptx = compile_cuda(folder.path("k.cu"), 64, architecture);
    EXPECT_THAT(ptx, HasSubstr(std::to_string(10 * architecture) + ";"));
    EXPECT_THAT(ptx, HasSubstr(".target sm_" + std::to_string(architecture) + "\n"));
    EXPECT_EQ(ptx::compile(ptx, "k.ptx").kernels.size(), 1U);
    EXPECT_EQ(cuda_includes(folder.path("k.cu"), 64, architecture).size(), architecture >= 80 ? 2U : 1U);
  }
}

}  // namespace
}  // namespace heddle::cuda
