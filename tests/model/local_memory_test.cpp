// Local memory on the model and in the reference interpreter: it reads as zero until its thread writes it, in every
// block, whoever had its place before.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "isa/interpreter.hpp"
#include "isa/memory_map.hpp"
#include "ptx/compile.hpp"
#include "tb/device/code_options.hpp"
#include "tb/device/device.hpp"
#include "tests/model/machines.hpp"
#include "tests/support/marks.hpp"

HEDDLE_SAMPLED("On/LocalMemory.*")
HEDDLE_SAMPLED_SANITIZED("On/LocalMemory.*")

namespace heddle {
namespace {

// Writes out what it finds in its local memory, then leaves traces there: a byte, a word, a pair, and by a generic
// address. Reads the byte's word back: three of its bytes are still zero.
constexpr const char* kText = R"(
.version 7.0
.target sm_60
.address_size 64
.visible .entry scribble(.param .u64 out)
{
  .reg .u32 %r<16>;
  .reg .u64 %a<8>;
  .local .align 16 .b8 place[160];
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %ntid.x;
  mov.u32 %r2, %tid.x;
  mad.lo.u32 %r3, %r0, %r1, %r2;
  ld.param.u64 %a0, [out];
  mad.wide.u32 %a1, %r3, 24, %a0;
  mov.u64 %a2, place;
  cvta.local.u64 %a3, %a2;
  ld.local.u32 %r4, [place];
  ld.local.v2.u32 {%r5, %r6}, [place+64];
  ld.u32 %r7, [%a3+128];
  ld.local.u32 %r8, [place+156];
  st.global.u32 [%a1], %r4;
  st.global.u32 [%a1+4], %r5;
  st.global.u32 [%a1+8], %r6;
  st.global.u32 [%a1+12], %r7;
  st.global.u32 [%a1+16], %r8;
  add.u32 %r9, %r3, 0x01010101;
  st.local.u8 [place+1], %r9;
  st.local.v2.u32 [place+64], {%r9, %r9};
  st.u32 [%a3+128], %r9;
  st.local.u32 [place+156], %r9;
  ld.local.u32 %r10, [place];
  st.global.u32 [%a1+20], %r10;
  ret;
}
)";

constexpr unsigned kLocalBlocks = 40;
constexpr unsigned kLocalThreads = 128;
constexpr unsigned kWords = 6;
constexpr std::uint64_t kOutput = isa::kGlobalBase;

std::vector<std::uint32_t> output_of(tb::Executor& executor, const isa::Module& module) {
  executor.load(module);
  executor.memory().place("out", kOutput, 4ULL * kWords * kLocalThreads * kLocalBlocks);
  isa::LaunchRequest request;
  request.kernel = "scribble";
  request.block = {kLocalThreads, 1, 1};
  request.grid = {kLocalBlocks, 1, 1};
  request.parameters.resize(8);
  std::memcpy(request.parameters.data(), &kOutput, 8);
  executor.launch(request);
  executor.launch(request);  // a second time over what the first has left
  std::vector<std::uint32_t> words(std::size_t{kWords} * kLocalThreads * kLocalBlocks);
  executor.memory().read(kOutput, std::as_writable_bytes(std::span(words)));
  return words;
}

class LocalMemory : public ::testing::TestWithParam<std::size_t> {};

TEST_P(LocalMemory, ReadsAsZeroInEveryBlock) {
  const hw::Machine machine = test::machines()[GetParam()];
  const isa::Module module = ptx::compile(kText, "scribble.ptx", ptx::CompileOptions(tb::code_options(machine)));
  tb::Device device(machine);
  tb::ReferenceExecutor reference{isa::InterpreterOptions{}};
  const std::vector<std::uint32_t> actual = output_of(device, module);
  EXPECT_EQ(actual, output_of(reference, module));
  EXPECT_EQ(device.retirement().total(), reference.retirement().total());
  for (unsigned thread = 0; thread < kLocalThreads * kLocalBlocks; ++thread) {
    for (unsigned word = 0; word < 5; ++word) {
      ASSERT_EQ(actual[thread * kWords + word], 0U) << "thread " << thread << ", word " << word;
    }
    ASSERT_EQ(actual[thread * kWords + 5], ((thread + 1) & 0xffU) << 8U) << "thread " << thread;
  }
}

INSTANTIATE_TEST_SUITE_P(On, LocalMemory, ::testing::Range<std::size_t>(0, test::machines().size()),
                         [](const auto& info) { return test::machines()[info.param].name; });

}  // namespace
}  // namespace heddle
