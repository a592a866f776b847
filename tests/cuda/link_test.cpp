// Device code of several files in one module, looked at by running it on the reference interpreter.
#include <gtest/gtest.h>

#include <string>

#include "base/error.hpp"
#include "ptx/compile.hpp"
#include "tb/device/arguments.hpp"
#include "tb/device/executor.hpp"

namespace heddle::cuda {
namespace {

constexpr const char* kHead = ".version 6.0\n.target sm_60\n.address_size 64\n";

// A kernel "k" that stores variable "v", which is `value`, by way of function "f".
std::string own(int value, const std::string& linking = "") {
  return std::string(kHead) + linking + " .global .u32 v = " + std::to_string(value) + ";\n" + linking +
         " .func (.reg .u32 r) f() { ld.global.u32 r, [v]; ret; }\n" +
         ".visible .entry k(.param .u64 p) { .reg .u64 a; .reg .u32 x; ld.param.u64 a, [p]; call (x), f, (); "
         "st.global.u32 [a], x; exit; }\n";
}

std::uint32_t result_of(const isa::Module& module, const std::string& kernel) {
  tb::ReferenceExecutor executor;
  executor.load(module);
  const std::uint64_t at = executor.memory().allocate("out", 4);
  tb::Arguments arguments(executor.module(), kernel);
  arguments.pointer(at);
  executor.launch({kernel, {1}, {1}, 0, arguments.bytes()});
  return executor.memory().get<std::uint32_t>(at);
}

TEST(PtxLink, NamesThatFilesHaveForThemselvesStayApart) {
  std::vector<std::map<std::string, std::string>> changed;
  const ptx::ProgramText texts[] = {{own(11), "a", false}, {own(22), "b", false}};
  const isa::Module module = ptx::compile_program(texts, "both", {}, changed);
  ASSERT_EQ(changed.size(), 2U);
  EXPECT_TRUE(changed[0].empty());
  EXPECT_EQ(changed[1].at("k"), "k.2");
  EXPECT_EQ(result_of(module, "k"), 11U);
  EXPECT_EQ(result_of(module, "k.2"), 22U);
}

TEST(PtxLink, RelocatableFilesShareWhatIsVisible) {
  const std::string user = std::string(kHead) +
                           ".extern .global .u32 v;\n.extern .func (.reg .u32 r) f();\n"
                           ".visible .entry other(.param .u64 p) { .reg .u64 a; .reg .u32 x, y; ld.param.u64 a, [p]; "
                           "call (x), f, (); ld.global.u32 y, [v]; add.u32 x, x, y; st.global.u32 [a], x; exit; }\n";
  std::vector<std::map<std::string, std::string>> changed;
  for (const bool user_first : {true, false}) {
    std::vector<ptx::ProgramText> texts = {{own(5, ".visible"), "a", true}};
    texts.insert(user_first ? texts.begin() : texts.end(), {user, "b", true});
    EXPECT_EQ(result_of(ptx::compile_program(texts, "both", {}, changed), "other"), 10U);
  }
}

TEST(PtxLink, OneOfSeveralWeakDefinitionsIsTakenAndTwoStrongOnesAreRefused) {
  std::vector<std::map<std::string, std::string>> changed;
  std::string second = own(2, ".weak");
  second.replace(second.find("entry k"), 7, "entry l");
  const ptx::ProgramText weak[] = {{own(1, ".weak"), "a", true}, {second, "b", true}};
  const isa::Module module = ptx::compile_program(weak, "both", {}, changed);
  EXPECT_EQ(result_of(module, "k"), 1U);
  EXPECT_EQ(result_of(module, "l"), 1U);
  const ptx::ProgramText strong[] = {{own(1, ".visible"), "a", true}, {own(2, ".visible"), "b", true}};
  EXPECT_THROW(static_cast<void>(ptx::compile_program(strong, "both", {}, changed)), InputError);
}

}  // namespace
}  // namespace heddle::cuda
