// Kernels with scratchpad whose threads the global scheduler moves after their last access to it: what they compute,
// who moves, when the block's part of the scratchpad is free, and barriers at which some of a block wait in their core
// and others in the pool. Plain loads throughout, through L1s that are not kept coherent, too.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "hw/divergence/odgs.hpp"
#include "isa/interpreter.hpp"
#include "isa/memory_map.hpp"
#include "ptx/compile.hpp"
#include "tb/device/device.hpp"
#include "tests/support/marks.hpp"

HEDDLE_SAMPLED_SANITIZED("Memories/LastAccessOn.*")

namespace heddle {
namespace {

constexpr unsigned kLastThreads = 96;
constexpr unsigned kLastBlocks = 11;
constexpr std::uint64_t kLastOutput = isa::kGlobalBase;

enum class LastMemory : std::uint8_t { perfect, through, coherent };

hw::Machine last_access_machine(LastMemory memory, const char* scratchpad = "after-last-access") {
  hw::Machine machine;
  machine.core.divergence = "odgs";
  machine.core.policies.of<hw::OdgsParameters>().scratchpad = scratchpad;
  machine.gpu.cores = 3;
  machine.core.blocks = 2;
  machine.gpu.perfect_memory = memory == LastMemory::perfect;
  if (memory == LastMemory::through) {
    machine.l1d.write_policy = "write-through";
  } else if (memory == LastMemory::coherent) {
    machine.gpu.coherence = "mesi";
    machine.l2.enabled = machine.l2.inclusive = true;
  }
  return machine;
}

std::vector<std::uint32_t> last_output(tb::Executor& executor, const std::string& text) {
  const isa::Module module = ptx::compile(text, "last.ptx");
  executor.load(module);
  executor.memory().release(kLastOutput);
  executor.memory().place("out", kLastOutput, 16384 + 128ULL * kLastThreads * kLastBlocks);
  isa::LaunchRequest request;
  request.kernel = module.kernels.front().name;
  request.block = {kLastThreads, 1, 1};
  request.grid = {kLastBlocks, 1, 1};
  request.parameters.resize(8);
  std::memcpy(request.parameters.data(), &kLastOutput, 8);
  executor.launch(request);
  std::vector<std::uint32_t> words(std::size_t{2} * kLastThreads * kLastBlocks);
  executor.memory().read(kLastOutput, std::as_writable_bytes(std::span(words)));
  return words;
}

// %r2: the thread's number in its block, %r3: in the grid; %a1: its two words of the output, %s1: its word of the
// scratchpad. Hashes of the words are in %r5.
constexpr const char* kPrologue = R"(
.version 7.0
.target sm_60
.address_size 64
.visible .entry last(.param .u64 out)
{
  .reg .pred %p<8>;
  .reg .u32 %r<32>;
  .reg .u32 %s<8>;
  .reg .u64 %a<8>;
  .shared .align 4 .b8 tile[384];
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %ntid.x;
  mov.u32 %r2, %tid.x;
  mad.lo.u32 %r3, %r0, %r1, %r2;
  ld.param.u64 %a0, [out];
  mad.wide.u32 %a1, %r3, 8, %a0;
  mov.u32 %s0, tile;
  mad.lo.u32 %s1, %r2, 4, %s0;
  mad.lo.u32 %r5, %r3, 1664525, 1013904223;
)";

// Threads meet in the scratchpad, with branches that part warps before the last access to it. Behind it come a loop of
// two paths that part them again, a barrier, and what others of the block have stored in global memory.
constexpr const char* kTile = R"(
  st.shared.u32 [%s1], %r5;
  bar.sync 0;
  and.b32 %r6, %r5, 7;
  mov.u32 %r7, 0;
GATHER:
  add.u32 %r8, %r2, %r7;
  rem.u32 %r8, %r8, %r1;
  mad.lo.u32 %s2, %r8, 4, %s0;
  ld.shared.u32 %r9, [%s2];
  xor.b32 %r5, %r5, %r9;
  add.u32 %r7, %r7, 1;
  setp.le.u32 %p0, %r7, %r6;
  @%p0 bra GATHER;
  mov.u32 %r4, 0;
ROUND:
  mad.lo.u32 %r5, %r5, 1664525, 1013904223;
  and.b32 %r7, %r5, 4096;
  setp.eq.u32 %p1, %r7, 0;
  @%p1 bra EVEN;
  add.u32 %r5, %r5, %r3;
  st.global.u32 [%a1], %r5;
  bra NEXT;
EVEN:
  ld.global.u32 %r10, [%a1];
  xor.b32 %r5, %r5, %r10;
NEXT:
  add.u32 %r4, %r4, 1;
  and.b32 %r11, %r5, 15;
  setp.lt.u32 %p2, %r4, %r11;
  @%p2 bra ROUND;
  add.u32 %r12, %r2, 41;
  rem.u32 %r12, %r12, %r1;
  mad.lo.u32 %r12, %r0, %r1, %r12;
  mad.wide.u32 %a4, %r12, 8, %a0;
  ld.global.u32 %r13, [%a4+4];
  setp.eq.u32 %p5, %r13, 305419896;
  @%p5 add.u32 %r5, %r5, 1;
  st.global.u32 [%a1+4], %r5;
  bar.sync 0;
  ld.global.u32 %r13, [%a4+4];
  bar.sync 0;
  add.u32 %r13, %r13, %r5;
  st.global.u32 [%a1], %r13;
  ret;
}
)";

// The first warp has done with the scratchpad: it parts, stores, and waits at the barrier at which the others wait, who
// go on with the scratchpad. Before and behind it each reads what one of the other side stores: what is read before is
// never that number, but lies in the L1.
constexpr const char* kTwoSides = R"(
  st.shared.u32 [%s1], %r5;
  bar.sync 0;
  ld.shared.u32 %r6, [%s1];
  xor.b32 %r6, %r6, %r2;
  setp.lt.u32 %p0, %r2, 32;
  add.u32 %r12, %r2, 32;
  rem.u32 %r12, %r12, %r1;
  mad.lo.u32 %r12, %r0, %r1, %r12;
  mad.wide.u32 %a4, %r12, 8, %a0;
  ld.global.u32 %r13, [%a4+4];
  setp.eq.u32 %p5, %r13, 305419896;
  @%p5 add.u32 %r6, %r6, 1;
  @%p0 bra FIRST;
  st.shared.u32 [%s1], %r6;
  st.global.u32 [%a1+4], %r6;
  bar.sync 1, 64;
  bar.sync 0;
  ld.global.u32 %r13, [%a4+4];
  add.u32 %s2, %s1, 0;
  ld.shared.u32 %r7, [%s2];
  add.u32 %r13, %r13, %r7;
  st.global.u32 [%a1], %r13;
  ret;
FIRST:
  and.b32 %r4, %r5, 31;
LOOP:
  mad.lo.u32 %r6, %r6, 1664525, 1013904223;
  and.b32 %r7, %r6, 1024;
  setp.eq.u32 %p1, %r7, 0;
  @%p1 bra SKIP;
  add.u32 %r6, %r6, %r3;
SKIP:
  sub.u32 %r4, %r4, 1;
  setp.gt.s32 %p2, %r4, 0;
  @%p2 bra LOOP;
  st.global.u32 [%a1+4], %r6;
  bar.sync 0;
  ld.global.u32 %r13, [%a4+4];
  st.global.u32 [%a1], %r13;
  ret;
}
)";

// As before, but threads that go on with the scratchpad come last, the first block's with many stores on their way.
// Threads that have moved read the last stores.
constexpr const char* kManyStores = R"(
  st.shared.u32 [%s1], %r5;
  bar.sync 0;
  ld.shared.u32 %r6, [%s1];
  setp.lt.u32 %p0, %r2, 32;
  add.u32 %r12, %r2, 32;
  rem.u32 %r12, %r12, %r1;
  mad.lo.u32 %r12, %r0, %r1, %r12;
  mad.wide.u32 %a4, %r12, 8, %a0;
  mov.u32 %r4, 0;
  @%p0 bra FIRST;
DELAY:
  add.u32 %r4, %r4, 1;
  setp.lt.u32 %p1, %r4, 400;
  @%p1 bra DELAY;
  setp.ne.u32 %p2, %r0, 0;
  @%p2 bra LAST;
  mul.wide.u32 %a5, %r3, 128;
  add.u64 %a5, %a5, %a0;
  mov.u32 %r4, 0;
STORE:
  st.global.u32 [%a5+16384], %r4;
  add.u32 %r4, %r4, 1;
  setp.lt.u32 %p1, %r4, 8;
  @%p1 bra STORE;
LAST:
  st.global.u32 [%a1+4], %r6;
  bar.sync 0;
  ld.shared.u32 %r7, [%s1];
  st.global.u32 [%a1], %r7;
  ret;
FIRST:
  and.b32 %r7, %r6, 1024;
  setp.eq.u32 %p1, %r7, 0;
  @%p1 bra SKIP;
  add.u32 %r6, %r6, %r3;
SKIP:
  st.global.u32 [%a1+4], %r6;
  bar.sync 0;
  ld.global.u32 %r13, [%a4+4];
  st.global.u32 [%a1], %r13;
  ret;
}
)";

class LastAccessOn : public ::testing::TestWithParam<LastMemory> {};

TEST_P(LastAccessOn, ThreadsMoveBehindItAndComputeTheSame) {
  const std::string text = std::string(kPrologue) + kTile;
  tb::Device device(last_access_machine(GetParam()));
  tb::ReferenceExecutor reference{isa::InterpreterOptions{}};
  EXPECT_EQ(last_output(device, text), last_output(reference, text));
  const hw::GlobalSchedulerStatistics& moved = device.totals().global_scheduler;
  EXPECT_EQ(moved.launches, 1U);
  EXPECT_EQ(moved.scratchpad_launches, 1U);
  EXPECT_EQ(moved.staying_launches, 0U);
  EXPECT_EQ(moved.blocks, kLastBlocks);
  EXPECT_EQ(moved.early_scratchpads, kLastBlocks) << "each warp passes its last access before the first ends";
  EXPECT_GT(moved.diverged_threads, kLastThreads * kLastBlocks);
  EXPECT_GT(moved.full_warps, 0U);
  EXPECT_EQ(moved.barriers, 3U * kLastBlocks);
  EXPECT_EQ(moved.new_warps, kLastThreads / 32 * kLastBlocks);
}

TEST_P(LastAccessOn, SomeWaitInTheirCoreForOthersWhoHaveLeft) {
  const std::string text = std::string(kPrologue) + kTwoSides;
  tb::Device device(last_access_machine(GetParam()));
  tb::ReferenceExecutor reference{isa::InterpreterOptions{}};
  EXPECT_EQ(last_output(device, text), last_output(reference, text));
  const hw::GlobalSchedulerStatistics& moved = device.totals().global_scheduler;
  EXPECT_GT(moved.diverged_threads, 32U * kLastBlocks);
  EXPECT_EQ(moved.barriers, 3U * kLastBlocks);
  EXPECT_LE(moved.early_scratchpads, kLastBlocks);
}

TEST_P(LastAccessOn, WhoHasMovedSeesWhatTheOthersHaveStoredBeforeTheBarrier) {
  const std::string text = std::string(kPrologue) + kManyStores;
  tb::Device device(last_access_machine(GetParam()));
  tb::ReferenceExecutor reference{isa::InterpreterOptions{}};
  EXPECT_EQ(last_output(device, text), last_output(reference, text));
  EXPECT_GT(device.totals().global_scheduler.diverged_threads, 0U);
}

INSTANTIATE_TEST_SUITE_P(Memories, LastAccessOn,
                         ::testing::Values(LastMemory::perfect, LastMemory::through, LastMemory::coherent),
                         [](const auto& info) {
                           return info.param == LastMemory::perfect   ? "perfect"
                                  : info.param == LastMemory::through ? "through"
                                                                      : "coherent";
                         });

TEST(LastAccess, ByDefaultTheKernelStays) {
  const std::string text = std::string(kPrologue) + kTile;
  tb::Device device(last_access_machine(LastMemory::perfect, "off"));
  tb::ReferenceExecutor reference{isa::InterpreterOptions{}};
  EXPECT_EQ(last_output(device, text), last_output(reference, text));
  const hw::Totals totals = device.totals();
  EXPECT_EQ(totals.global_scheduler.launches, 0U);
  EXPECT_EQ(totals.global_scheduler.staying_launches, 1U);
  EXPECT_EQ(totals.global_scheduler.diverged_warps, 0U);
  EXPECT_EQ(totals.core.blocks, kLastBlocks);
}

// A thread that the others wait for waits for them at another barrier.
TEST(LastAccess, ABarrierThatCannotCompleteIsAFault) {
  const std::string text = std::string(kPrologue) + R"(
  setp.eq.u32 %p0, %r2, 0;
  setp.ge.u32 %p1, %r2, 32;
  @%p1 bra OTHERS;
  bar.sync 1;
  bra END;
OTHERS:
  bar.sync 0;
END:
  ld.shared.u32 %r6, [%s1];
  st.global.u32 [%a1], %r6;
  ret;
}
)";
  tb::Device device(last_access_machine(LastMemory::perfect));
  try {
    (void)last_output(device, text);
    ADD_FAILURE() << "it ended";
  } catch (const SimulatedFault& fault) {
    EXPECT_THAT(fault.what(), ::testing::HasSubstr("the barrier can never complete: barrier 0 has 64 of 96 threads; "
                                                   "barrier 1 has 32 of 96 threads"));
    EXPECT_THAT(fault.what(), ::testing::HasSubstr("block (0, 0, 0)"));
  }
}

}  // namespace
}  // namespace heddle
