// Kernels of more registers than a word of 8 bytes can name: on every mechanism with instructions of 16 bytes they do
// what they do with few registers, and what the host computes.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "hw/check/machine.hpp"
#include "isa/interpreter.hpp"
#include "isa/launch_check.hpp"
#include "isa/memory_map.hpp"
#include "ptx/compile.hpp"
#include "tb/device/device.hpp"
#include "tests/model/machines.hpp"
#include "tests/support/marks.hpp"

HEDDLE_SAMPLED_SANITIZED("On/ManyRegisters.*")

namespace heddle {
namespace {

constexpr unsigned kValues = 100;  // that are live at once
constexpr unsigned kManyBlocks = 3;
constexpr unsigned kManyThreads = 64;
constexpr std::uint64_t kManyInput = isa::kGlobalBase;
constexpr std::uint64_t kManyOutput = kManyInput + 0x10000;

// Each thread loads its values, and then folds them, the last one first; odd threads leave every third one out, so that
// paths part while all values are live. `directive` stands before the body.
std::string many_text(const std::string& directive = "") {
  std::string text = fmt::format(R"(
.version 7.0
.target sm_60
.address_size 64
.visible .entry many(.param .u64 in, .param .u64 out) {}
{{
  .reg .u32 %v<{}>;
  .reg .u32 %r<8>;
  .reg .u64 %a<8>;
  .reg .pred %odd;
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %ntid.x;
  mov.u32 %r2, %tid.x;
  mad.lo.u32 %r3, %r0, %r1, %r2;
  and.b32 %r4, %r3, 1;
  setp.ne.u32 %odd, %r4, 0;
  ld.param.u64 %a0, [in];
  mad.wide.u32 %a1, %r3, 4, %a0;
)",
                                 directive, kValues);
  for (unsigned i = 0; i != kValues; ++i) {
    text += fmt::format("  ld.global.u32 %v{}, [%a1+{}];\n", i, 4 * i);
  }
  text += "  mov.u32 %r5, 1;\n";
  for (unsigned i = kValues; i-- != 0;) {
    if (i % 3 == 0) {
      text += fmt::format("  @%odd bra past{};\n", i);
    }
    text += fmt::format("  mad.lo.u32 %r5, %r5, 31, %v{};\n", i);
    if (i % 3 == 0) {
      text += fmt::format("past{}:\n", i);
    }
  }
  text += R"(
  ld.param.u64 %a2, [out];
  mad.wide.u32 %a3, %r3, 4, %a2;
  st.global.u32 [%a3], %r5;
  ret;
}
)";
  return text;
}

std::uint32_t input_at(unsigned index) {
  return index * 2654435761U + 12345;
}

std::vector<std::uint32_t> wanted_of_many() {
  std::vector<std::uint32_t> wanted;
  for (unsigned thread = 0; thread != kManyBlocks * kManyThreads; ++thread) {
    std::uint32_t fold = 1;
    for (unsigned i = kValues; i-- != 0;) {
      if (i % 3 != 0 || thread % 2 == 0) {
        fold = fold * 31 + input_at(thread + i);
      }
    }
    wanted.push_back(fold);
  }
  return wanted;
}

std::vector<std::uint32_t> run_many(tb::Executor& executor, const isa::Module& module) {
  executor.load(module);
  std::vector<std::uint32_t> input(kManyBlocks * kManyThreads + kValues);
  for (unsigned i = 0; i != input.size(); ++i) {
    input[i] = input_at(i);
  }
  executor.memory().place("in", kManyInput, 4 * input.size());
  executor.memory().write(kManyInput, std::as_bytes(std::span(input)));
  executor.memory().place("out", kManyOutput, 4ULL * kManyBlocks * kManyThreads);
  isa::LaunchRequest request;
  request.kernel = "many";
  request.block = {kManyThreads, 1, 1};
  request.grid = {kManyBlocks, 1, 1};
  request.parameters.resize(16);
  std::memcpy(request.parameters.data(), &kManyInput, 8);
  std::memcpy(request.parameters.data() + 8, &kManyOutput, 8);
  executor.launch(request);
  std::vector<std::uint32_t> words(std::size_t{kManyThreads} * kManyBlocks);
  executor.memory().read(kManyOutput, std::as_writable_bytes(std::span(words)));
  return words;
}

isa::Module compile_many(unsigned registers, ptx::CoreRegisters core = {}, const std::string& directive = "") {
  ptx::CompileOptions options;
  options.max_registers = registers;
  options.core_registers = core;
  return ptx::compile(many_text(directive), "many.ptx", options);
}

TEST(ManyRegisters, KeepWhatWouldBeSpilled) {
  const isa::Kernel few = compile_many(63).kernels.front();
  EXPECT_GT(few.spilled_registers, 30U);
  EXPECT_FALSE(isa::is_wide(few));
  const isa::Kernel many = compile_many(255).kernels.front();
  EXPECT_EQ(many.spilled_registers, 0U);
  EXPECT_GT(many.registers, kValues);
  EXPECT_LT(many.registers, kValues + 16);
  EXPECT_TRUE(isa::is_wide(many));
}

// A core of 65,536 registers, four parts of which each take warps of 32: 64 a thread where blocks may have 1024
// threads, and more where the kernel says that they have less.
TEST(ManyRegisters, AreAsManyAsABlockFindsRoomFor) {
  const ptx::CoreRegisters core{65536, 4 * 32};
  const auto registers = [&](const std::string& directive) {
    return compile_many(255, core, directive).kernels.front().registers;
  };
  EXPECT_EQ(registers(""), 64U);
  EXPECT_EQ(registers(".maxntid 768, 1, 1"), 85U);
  EXPECT_EQ(registers(".maxntid 641, 1, 1"), 85U) << "some part has six warps of the 21";
  EXPECT_GT(registers(".reqntid 64, 1, 1"), kValues);
  EXPECT_EQ(registers(".maxntid 64, 1, 1 .maxnreg 80"), 80U);
}

// What launches say counts for more than what the text allows.
TEST(ManyRegisters, AreAsManyAsTheLaunchesLeaveRoomFor) {
  ptx::CompileOptions options;
  options.max_registers = 255;
  options.core_registers = {65536, 4 * 32};
  const auto registers = [&](std::map<std::string, std::uint64_t> threads, const std::string& directive = "") {
    options.block_threads = &threads;
    return ptx::compile(many_text(directive), "many.ptx", options).kernels.front().registers;
  };
  EXPECT_EQ(registers({{"other", 64}}), 64U);
  EXPECT_EQ(registers({{"many", 768}}), 85U);
  EXPECT_GT(registers({{"many", 64}}), kValues);
  EXPECT_GT(registers({{"many", 64}}, ".maxntid 768, 1, 1"), kValues);
}

TEST(ManyRegisters, MakeAnotherVersionOfWhatWouldBeSpilled) {
  ptx::CompileOptions options;
  options.max_registers = 255;
  options.core_registers = {65536, 4 * 32};
  options.roomier = true;
  const isa::Module module = ptx::compile(many_text(""), "many.ptx", options);
  ASSERT_EQ(module.kernels.size(), 2U);
  EXPECT_EQ(module.kernels[0].name, "many");
  EXPECT_EQ(module.kernels[0].registers, 64U);
  EXPECT_FALSE(module.kernels[0].more_registers);
  EXPECT_TRUE(module.kernels[1].more_registers);
  EXPECT_EQ(module.kernels[1].name, "many");
  EXPECT_GT(module.kernels[1].registers, kValues);
  EXPECT_EQ(module.kernels[1].spilled_registers, 0U);
  EXPECT_EQ(module.find("many"), &module.kernels[0]);
  isa::LaunchRequest request;
  request.kernel = "many";
  EXPECT_EQ(&isa::kernel_of(module, request), &module.kernels[0]);
  request.more_registers = true;
  EXPECT_EQ(&isa::kernel_of(module, request), &module.kernels[1]);
  // Where the text says how large blocks are, or nothing is spilled, there is one.
  EXPECT_EQ(ptx::compile(many_text(".maxntid 768, 1, 1"), "many.ptx", options).kernels.size(), 1U);
  options.core_registers = {4 * 65536, 4 * 32};
  EXPECT_EQ(ptx::compile(many_text(""), "many.ptx", options).kernels.size(), 1U);
}

TEST(ManyRegisters, WantInstructionsThatCanNameThem) {
  hw::Machine machine;
  machine.core.registers_per_thread = 64;
  const auto found = hw::check(machine);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].message,
            "core.registers_per_thread (64) is more than the 63 registers that instructions of 8 bytes "
            "(icache.instruction_bytes) can name; use icache.instruction_bytes = 16");
  machine.icache.instruction_bytes = 16;
  EXPECT_TRUE(hw::check(machine).empty());
  tb::Device narrow{hw::Machine{}};
  try {
    narrow.load(compile_many(255));
    ADD_FAILURE() << "it was loaded";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("kernel 'many' has instructions of 16 bytes"));
  }
}

class ManyRegisters : public ::testing::TestWithParam<std::size_t> {};

TEST_P(ManyRegisters, AreTheThreadsOwn) {
  hw::Machine machine = test::machines()[GetParam()];
  machine.icache.instruction_bytes = 16;
  machine.core.registers_per_thread = 255;
  machine.core.registers = 256 * machine.core.threads;
  const isa::Module module = compile_many(255);
  tb::Device device(machine);
  tb::ReferenceExecutor reference{isa::InterpreterOptions{}};
  EXPECT_EQ(run_many(device, module), wanted_of_many());
  EXPECT_EQ(run_many(reference, module), wanted_of_many());
  EXPECT_EQ(device.retirement().total(), reference.retirement().total());
}

INSTANTIATE_TEST_SUITE_P(On, ManyRegisters, ::testing::Range<std::size_t>(0, test::machines().size()),
                         [](const auto& info) { return test::machines()[info.param].name; });

}  // namespace
}  // namespace heddle
