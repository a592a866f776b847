#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/error.hpp"
#include "ptx/compile.hpp"

namespace heddle::ptx {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::string_view kTwo =
    ".version 7.0\n.target sm_60\n.address_size 32\n.entry b() { ret; }\n.entry a(.param .u32 n) { exit; }\n";

std::string what_of(const auto& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(CompileFile, KeepsTheKernelsOrderAndTheFilesName) {
  const isa::Module module = compile(kTwo, "two.ptx");
  EXPECT_EQ(module.name, "two.ptx");
  ASSERT_EQ(module.kernels.size(), 2U);
  EXPECT_EQ(module.kernels[0].name, "b");
  EXPECT_EQ(module.kernels[1].name, "a");
  EXPECT_FALSE(module.kernels[0].words.empty());
  EXPECT_EQ(module.kernels[1].parameters.size(), 1U);
}

TEST(CompileFile, RefusesImpossibleRegisterCounts) {
  const auto with = [](unsigned registers) {
    return what_of([&] { static_cast<void>(compile(kTwo, "two.ptx", CompileOptions({.max_registers = registers}))); });
  };
  EXPECT_EQ(with(8), "no error");
  EXPECT_EQ(with(isa::kRegisters), "no error");
  EXPECT_EQ(with(7), "two.ptx: 7 registers per thread are not possible; allow 8 to 255");
  EXPECT_THAT(with(isa::kRegisters + 1), HasSubstr("256 registers per thread are not possible"));
}

TEST(CompileFile, ReadsFiles) {
  const std::filesystem::path path = std::filesystem::path(::testing::TempDir()) / "heddle_compile_file_test.ptx";
  std::ofstream(path, std::ios::binary) << kTwo;
  EXPECT_EQ(compile_file(path.string()).kernels.size(), 2U);
  EXPECT_EQ(compile_file(path.string()).name, path.string());
  std::filesystem::remove(path);
}

TEST(CompileFile, ExplainsUnreadableFiles) {
  EXPECT_THAT(what_of([] { static_cast<void>(compile_file("no/such.ptx")); }),
              StartsWith("no/such.ptx: the PTX file cannot be read: No such file"));
  EXPECT_THAT(what_of([] { static_cast<void>(compile_file(::testing::TempDir())); }),
              HasSubstr("the PTX file cannot be read: it is a directory"));
}

}  // namespace
}  // namespace heddle::ptx
