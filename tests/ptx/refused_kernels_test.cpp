// Kernels that cannot be compiled beside others that can, and compiling that is ended.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

#include "ptx/compile.hpp"

namespace heddle::ptx::refused_kernels_test {
namespace {

using ::testing::ElementsAre;

const std::string kHeader = ".version 7.8\n.target sm_90\n.address_size 64\n";
// On lines 4 to 9.
const std::string kKernels =
    ".entry good() { exit; }\n"
    ".entry tensor() { .reg .b32 %r<9>; wgmma.fence.sync.aligned; exit; }\n"
    ".func helper() { .reg .b128 %wide; ret; }\n"
    ".entry calls() { call helper; exit; }\n"
    ".entry cluster() .reqnctapercluster 2, 1, 1 { exit; }\n"
    ".visible .entry _Z5otherPi(.param .u64 p) { exit; }\n";

std::string what_of(const auto& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

std::vector<std::string> reasons(const std::string& text, std::vector<std::string>* compiled = nullptr) {
  std::vector<RefusedKernel> refused;
  CompileOptions options;
  options.refused = &refused;
  const isa::Module module = compile(text, "t.ptx", options);
  if (compiled != nullptr) {
    for (const isa::Kernel& kernel : module.kernels) compiled->push_back(kernel.name);
  }
  std::vector<std::string> result;
  for (const RefusedKernel& kernel : refused) result.emplace_back(kernel.reason.what());
  return result;
}

TEST(RefusedKernels, LeaveTheOthersAlone) {
  std::vector<std::string> compiled;
  EXPECT_THAT(
      reasons(kHeader + kKernels, &compiled),
      ElementsAre("t.ptx:5:36: kernel 'tensor' cannot be compiled: instruction 'wgmma' is not supported; matrices "
                  "are multiplied by mma or wmma and loaded by ldmatrix",
                  "t.ptx:6:23: kernel 'calls' cannot be compiled: the type '.b128' is not supported; 128-bit "
                  "values are not supported; use two .b64",
                  "t.ptx:8:18: kernel 'cluster' cannot be compiled: '.reqnctapercluster' is not supported; a "
                  "cluster is one block on this machine; remove it"));
  EXPECT_THAT(compiled, ElementsAre("good", "_Z5otherPi"));
}

TEST(RefusedKernels, AreThrownToWhoDoesNotTakeThem) {
  EXPECT_EQ(what_of([] { static_cast<void>(compile(kHeader + kKernels, "t.ptx")); }),
            "t.ptx:5:36: instruction 'wgmma' is not supported; matrices are multiplied by mma or wmma and loaded by "
            "ldmatrix");
}

TEST(RefusedKernels, AFileThatIsNoPtxIsRefusedAsAWhole) {
  EXPECT_EQ(what_of([] { reasons(kHeader + ".entry good() { exit; }\n.entry bad() { add.u32 %r1, 1, 2; }\n"); }),
            "t.ptx:5:24: the register '%r1' is not declared; declare it with .reg");
}

TEST(RefusedKernels, AreFoundByNameAsOthersAre) {
  std::vector<RefusedKernel> refused;
  CompileOptions options;
  options.refused = &refused;
  const std::string overloads =
      ".visible .entry _Z5scalePf(.param .u64 p) { exit; }\n"
      ".visible .entry _Z5scalePd(.param .u64 p) { .reg .b128 %wide; exit; }\n"
      ".visible .entry _Z4onlyPd(.param .u64 p) { .reg .b128 %wide; exit; }\n";
  const isa::Module module = compile(kHeader + overloads, "t.ptx", options);
  EXPECT_EQ(find_refused(module, refused, "only")->name, "_Z4onlyPd");
  EXPECT_EQ(find_refused(module, refused, "scale(double*)")->name, "_Z5scalePd");
  EXPECT_EQ(find_refused(module, refused, "scale"), nullptr);  // two
  EXPECT_EQ(find_refused(module, refused, "scale(float*)"), nullptr);
  EXPECT_EQ(find_refused(module, refused, "nothing"), nullptr);
  EXPECT_THAT(kernel_names(module, refused), ElementsAre("_Z5scalePf", "_Z5scalePd", "_Z4onlyPd"));
}

TEST(Compiling, EndsWhenItIsInterrupted) {
  std::atomic<bool> interrupted{true};
  CompileOptions options;
  options.interrupted = &interrupted;
  const std::string good = kHeader + ".entry good() { exit; }\n";
  EXPECT_THROW(static_cast<void>(compile(good, "t.ptx", options)), Interrupted);
  interrupted = false;
  EXPECT_NO_THROW(static_cast<void>(compile(good, "t.ptx", options)));
}

}  // namespace
}  // namespace heddle::ptx::refused_kernels_test
