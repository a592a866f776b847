// Sums of binary32 by atomics in the model: subnormals count as zero in global memory, wherever the atomic is executed,
// and are kept in the scratchpad. As the interpreter has it.
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "isa/memory_map.hpp"
#include "ptx/compile.hpp"
#include "tb/device/device.hpp"

namespace heddle {
namespace {

constexpr const char* kSums = R"(
.version 7.8
.target sm_80
.address_size 32
.visible .entry k(.param .u32 data) {
  .reg .b32 %r<8>;
  .reg .f32 %f<4>;
  .shared .align 4 .f32 place;
  ld.param.u32 %r0, [data];
  mov.b32 %f0, 0x00012345;
  mov.b32 %f1, 0x80000000;
  atom.global.add.f32 %f2, [%r0], %f0;
  st.global.f32 [%r0+16], %f2;
  red.global.add.f32 [%r0+4], %f1;
  atom.add.f32 %f2, [%r0+8], %f0;
  st.global.f32 [%r0+20], %f2;
  mov.b32 %r2, 0;
  st.shared.b32 [place], %r2;
  atom.shared.add.f32 %f2, [place], %f0;
  mov.u32 %r3, place;
  cvta.shared.u32 %r3, %r3;
  red.add.f32 [%r3], %f0;
  ld.shared.b32 %r2, [place];
  st.global.b32 [%r0+24], %r2;
  ret;
}
)";

std::array<std::uint32_t, 7> sums(tb::Executor& executor) {
  executor.load(ptx::compile(kSums, "k.ptx"));
  executor.memory().place("data", isa::kGlobalBase, 64);
  executor.memory().put<std::uint32_t>(isa::kGlobalBase + 4, 0x80000123U);
  executor.memory().put<std::uint32_t>(isa::kGlobalBase + 8, 0x007fffffU);
  isa::LaunchRequest request;
  request.kernel = "k";
  request.grid = request.block = {1, 1, 1};
  request.parameters = {0, 0, 0, 0x10};
  executor.launch(request);
  std::array<std::uint32_t, 7> words{};
  for (std::size_t i = 0; i < words.size(); ++i) {
    words[i] = executor.memory().get<std::uint32_t>(isa::kGlobalBase + 4 * i);
  }
  return words;
}

// The sums of globals; old values, as they were; the sum on the scratchpad.
constexpr std::array<std::uint32_t, 7> kExpected = {0, 0x80000000U, 0, 0, 0, 0x007fffffU, 0x0002468aU};

TEST(AtomicSums, OfTheInterpreter) {
  tb::ReferenceExecutor reference;
  EXPECT_EQ(sums(reference), kExpected);
}

TEST(AtomicSums, BehindTheChannels) {
  tb::Device device{hw::Machine()};
  EXPECT_EQ(sums(device), kExpected);
}

TEST(AtomicSums, InTheL2) {
  hw::Machine machine;
  machine.l2.enabled = true;
  tb::Device device(machine);
  EXPECT_EQ(sums(device), kExpected);
}

TEST(AtomicSums, InPerfectMemory) {
  hw::Machine machine;
  machine.gpu.perfect_memory = true;
  tb::Device device(machine);
  EXPECT_EQ(sums(device), kExpected);
}

}  // namespace
}  // namespace heddle
