// Kernels that have been compiled before: only those that come out different are compiled again, and all are as they
// would be without it.
#include "ptx/compiled_kernels.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <string>
#include <vector>

#include "ptx/compile.hpp"

namespace heddle::ptx {
namespace {

// A kernel that adds `addend` to its thread's element of a variable.
std::string text_with(const std::string& name, int addend) {
  return fmt::format(R"(.version 7.0
.target sm_70
.address_size 64
.global .align 4 .b8 data_{0}[256];
.visible .entry {0}()
{{
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd1, %r1, 4;
  mov.u64 %rd2, data_{0};
  add.s64 %rd3, %rd2, %rd1;
  ld.global.u32 %r2, [%rd3];
  add.s32 %r3, %r2, {1};
  st.global.u32 [%rd3], %r3;
  ret;
}}
)",
                     name, addend);
}

class CompiledKernelsTest : public ::testing::Test {
 protected:
  // What the texts come to with the kernels that are known; the same as without them.
  isa::Module compile(const std::vector<ProgramText>& texts, CompileOptions options = {}) {
    std::vector<std::map<std::string, std::string>> changed, changed_anew;
    const isa::Module anew = compile_program(texts, "all", options, changed_anew);
    options.known = &known_;
    isa::Module module = compile_program(texts, "all", options, changed);
    EXPECT_EQ(module.kernels, anew.kernels);
    EXPECT_EQ(changed, changed_anew);
    return module;
  }
  CompiledKernels known_;
};

TEST_F(CompiledKernelsTest, WhatIsAddedIsCompiledAlone) {
  std::vector<ProgramText> texts = {{text_with("one", 1), "1", false}, {text_with("two", 2), "2", false}};
  static_cast<void>(compile(texts));
  EXPECT_EQ(known_.compiled(), 2U);
  texts.push_back({text_with("three", 3), "3", false});
  EXPECT_EQ(compile(texts).kernels.size(), 3U);
  EXPECT_EQ(known_.compiled(), 3U);
  texts.push_back({text_with("one", 1), "4", false});  // gets a name of its own, and a variable elsewhere
  EXPECT_EQ(compile(texts).kernels.size(), 4U);
  EXPECT_EQ(known_.compiled(), 4U);
}

TEST_F(CompiledKernelsTest, WhatDiffersIsCompiledAgain) {
  static_cast<void>(compile({{text_with("one", 1), "1", false}}));
  static_cast<void>(compile({{text_with("one", 2), "1", false}}));  // another number
  EXPECT_EQ(known_.compiled(), 2U);
  CompileOptions options;
  options.max_registers = 12;
  static_cast<void>(compile({{text_with("one", 2), "1", false}}, options));
  EXPECT_EQ(known_.compiled(), 3U);
  // Behind another text its lines and its variable's address are others.
  static_cast<void>(compile({{text_with("two", 2), "0", false}, {text_with("one", 2), "1", false}}, options));
  EXPECT_EQ(known_.compiled(), 5U);
}

}  // namespace
}  // namespace heddle::ptx
