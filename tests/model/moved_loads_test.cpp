// Threads that the global scheduler moves between cores see their own stores, and stores of threads that they
// have waited for, although the cores' L1s write through and are not kept coherent. Plain loads throughout.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "isa/interpreter.hpp"
#include "isa/memory_map.hpp"
#include "ptx/compile.hpp"
#include "tb/device/device.hpp"
#include "tests/support/marks.hpp"

HEDDLE_SAMPLED_SANITIZED("Memories/MovedLoads.*")

namespace heddle {
namespace {

constexpr unsigned kMovingThreads = 96;
constexpr unsigned kMovedBlocks = 9;
constexpr std::uint64_t kMovedOutput = isa::kGlobalBase;

hw::Machine machine_of_l1s(bool l2) {
  hw::Machine machine;
  machine.core.divergence = "odgs";
  machine.gpu.cores = 3;
  machine.l1d.write_policy = "write-through";
  machine.l2.enabled = l2;
  return machine;
}

std::vector<std::uint32_t> output_of(tb::Executor& executor, const char* text) {
  const isa::Module module = ptx::compile(text, "moved.ptx");
  executor.load(module);
  executor.memory().place("out", kMovedOutput, 8ULL * kMovingThreads * kMovedBlocks);
  isa::LaunchRequest request;
  request.kernel = module.kernels.front().name;
  request.block = {kMovingThreads, 1, 1};
  request.grid = {kMovedBlocks, 1, 1};
  request.parameters.resize(8);
  std::memcpy(request.parameters.data(), &kMovedOutput, 8);
  executor.launch(request);
  std::vector<std::uint32_t> words(2 * kMovingThreads * kMovedBlocks);
  executor.memory().read(kMovedOutput, std::as_writable_bytes(std::span(words)));
  return words;
}

// Each round goes on with what the last one has stored, in global and in local memory, by one of two paths. Then each
// thread stores, and reads behind a barrier what another one of its block has stored, of which it had read the old.
constexpr const char* kRoundsOfStores = R"(
.version 7.0
.target sm_60
.address_size 64
.visible .entry rounds(.param .u64 out)
{
  .reg .pred %p<4>;
  .reg .u32 %r<16>;
  .reg .u64 %a<8>;
  .local .align 4 .b8 place[16];
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %ntid.x;
  mov.u32 %r2, %tid.x;
  mad.lo.u32 %r3, %r0, %r1, %r2;
  ld.param.u64 %a0, [out];
  mad.wide.u32 %a1, %r3, 8, %a0;
  mov.u64 %a2, place;
  cvta.local.u64 %a3, %a2;
  st.global.u32 [%a1], %r3;
  st.u32 [%a3+4], %r3;
  mov.u32 %r4, 0;
ROUND:
  ld.global.u32 %r5, [%a1];
  ld.u32 %r6, [%a3+4];
  mad.lo.u32 %r5, %r5, 1664525, 1013904223;
  xor.b32 %r6, %r6, %r5;
  st.u32 [%a3+4], %r6;
  and.b32 %r7, %r5, 4096;
  setp.eq.u32 %p0, %r7, 0;
  @%p0 bra EVEN;
  add.u32 %r5, %r5, %r3;
  st.global.u32 [%a1], %r5;
  bra NEXT;
EVEN:
  xor.b32 %r5, %r5, %r6;
  st.global.u32 [%a1], %r5;
NEXT:
  add.u32 %r4, %r4, 1;
  setp.lt.u32 %p1, %r4, 12;
  @%p1 bra ROUND;
  add.u32 %r8, %r2, 41;
  rem.u32 %r8, %r8, %r1;
  mad.lo.u32 %r8, %r0, %r1, %r8;
  mad.wide.u32 %a4, %r8, 8, %a0;
  ld.global.u32 %r9, [%a4+4];
  st.global.u32 [%a1+4], %r5;
  bar.sync 0;
  ld.global.u32 %r9, [%a4+4];
  bar.sync 0;
  st.global.u32 [%a1+4], %r9;
  ret;
}
)";

class MovedLoads : public ::testing::TestWithParam<bool> {};  // with an L2

TEST_P(MovedLoads, SeeWhatTheThreadAndItsBlockHaveStored) {
  tb::Device device(machine_of_l1s(GetParam()));
  tb::ReferenceExecutor reference{isa::InterpreterOptions{}};
  EXPECT_EQ(output_of(device, kRoundsOfStores), output_of(reference, kRoundsOfStores));
  EXPECT_GT(device.totals().global_scheduler.diverged_threads, kMovingThreads * kMovedBlocks);
  EXPECT_GT(device.totals().l1d.bypasses, 0U);
  EXPECT_GT(device.totals().l1d.hits, 0U) << "threads that have not moved do use it";
}

// Two warps write a word each thread, and count to 64 when it is there; the third has read the words before, waits for
// the count, and reads them again behind a fence. No warp diverges, so that none moves.
constexpr const char* kFencedFlags = R"(
.version 7.0
.target sm_60
.address_size 64
.visible .entry fence(.param .u64 out)
{
  .reg .pred %p<4>;
  .reg .u32 %r<16>;
  .reg .u64 %a<8>;
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %ntid.x;
  mov.u32 %r2, %tid.x;
  ld.param.u64 %a0, [out];
  mul.lo.u32 %r3, %r0, %r1;
  mad.wide.u32 %a1, %r3, 8, %a0;
  mul.wide.u32 %a2, %r2, 8;
  add.u64 %a2, %a2, %a1;
  setp.ge.u32 %p0, %r2, 64;
  @%p0 bra READER;
  mov.u32 %r4, 0;
DELAY:
  add.u32 %r4, %r4, 1;
  setp.lt.u32 %p1, %r4, 300;
  @%p1 bra DELAY;
  add.u32 %r5, %r2, 7;
  st.global.u32 [%a2], %r5;
  membar.gl;
  atom.global.add.u32 %r6, [%a1+4], 1;
  ret;
READER:
  ld.global.u32 %r7, [%a2+-256];
  ld.global.u32 %r10, [%a2+-512];
WAIT:
  ld.volatile.global.u32 %r8, [%a1+4];
  setp.lt.u32 %p2, %r8, 64;
  @%p2 bra WAIT;
  membar.gl;
  ld.global.u32 %r7, [%a2+-256];
  ld.global.u32 %r10, [%a2+-512];
  add.u32 %r7, %r7, %r10;
  st.global.u32 [%a2], %r7;
  ret;
}
)";

TEST_P(MovedLoads, SeeBehindAFenceWhatOtherCoresHaveStored) {
  tb::Device device(machine_of_l1s(GetParam()));
  const std::vector<std::uint32_t> words = output_of(device, kFencedFlags);
  for (unsigned block = 0; block != kMovedBlocks; ++block) {
    for (unsigned reader = 64; reader != kMovingThreads; ++reader) {
      EXPECT_EQ(words[2 * (block * kMovingThreads + reader)], (reader - 32 + 7) + (reader - 64 + 7)) << reader;
    }
  }
  EXPECT_EQ(device.totals().global_scheduler.diverged_warps, 0U);
}

INSTANTIATE_TEST_SUITE_P(Memories, MovedLoads, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "L2" : "dram"; });

}  // namespace
}  // namespace heddle
