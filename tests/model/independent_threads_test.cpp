// What threads of a warp that are scheduled independently can do and threads on a stack cannot: wait for each other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.hpp"
#include "hw/divergence/barriers.hpp"
#include "hw/divergence/divergence.hpp"
#include "hw/issue/discipline.hpp"
#include "isa/memory_map.hpp"
#include "ptx/compile.hpp"
#include "tb/device/code_options.hpp"
#include "tb/device/device.hpp"

namespace heddle {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kExchanged = isa::kGlobalBase;  // 4096 bytes, the kernel's parameter
constexpr unsigned kOneBlock = 64;

std::string independent_ptx(const std::string& body) {
  return ".version 7.0\n.target sm_70\n.address_size 32\n.visible .entry k(.param .u32 data) {\n.reg .b32 %r<20>; .reg "
         ".pred %p<8>;\nld.param.u32 %r0, [data]; mov.u32 %r1, %tid.x; mov.u32 %r2, %laneid;\n" +
         body + "\nret;\n}\n";
}

hw::Machine independent_threads(const char* issue = "strict") {
  hw::Machine machine;
  machine.core.divergence = "barriers";
  machine.core.issue = issue;
  machine.watchdog.livelock_instructions = 5000;
  return machine;
}

// The words that the kernel leaves.
std::vector<std::uint32_t> words_of(const hw::Machine& machine, const std::string& body) {
  const ptx::CompileOptions options(tb::code_options(machine));
  tb::Device device(machine);
  device.load(ptx::compile(independent_ptx(body), "k.ptx", options));
  std::vector<std::uint32_t> words(1024);
  device.memory().place("data", kExchanged, 4 * words.size());
  isa::LaunchRequest request;
  request.kernel = "k";
  request.block = {kOneBlock, 1, 1};
  request.grid = {1, 1, 1};
  request.parameters = {0, 0, 0, 0x10};
  device.launch(request);
  device.memory().read(kExchanged, std::as_writable_bytes(std::span(words)));
  return words;
}

std::string fault_of_threads(const hw::Machine& machine, const std::string& body) {
  try {
    (void)words_of(machine, body);
  } catch (const SimulatedFault& error) {
    return error.what();
  }
  return "none";
}

const std::string kStoreOwn = "shl.b32 %r18, %r1, 2; add.u32 %r18, %r18, %r0; st.global.u32 [%r18+256], %r19;\n";

class IndependentThreads : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Issue, IndependentThreads, ::testing::Values("strict", "scoreboard"));

// A lock that is released behind the loop in which it is taken. On a stack: Livelock,
// OfALockThatIsReleasedBehindTheLoopIsExplained.
TEST_P(IndependentThreads, PassALockOn) {
  const auto words = words_of(independent_threads(GetParam()),
                              "L: atom.global.cas.b32 %r3, [%r0], 0, 1; setp.ne.u32 %p1, %r3, 0; @%p1 bra L;\n"
                              "ld.volatile.global.u32 %r4, [%r0+4]; add.u32 %r4, %r4, 1; st.global.u32 [%r0+4], %r4;\n"
                              "membar.gl; atom.global.exch.b32 %r3, [%r0], 0;");
  EXPECT_EQ(words[0], 0U);
  EXPECT_EQ(words[1], kOneBlock);
}

// A lock per word, two of which a thread holds at a time, and an exit while others wait.
TEST_P(IndependentThreads, PassNestedLocksOn) {
  const auto words = words_of(independent_threads(GetParam()),
                              "and.b32 %r5, %r1, 3; shl.b32 %r5, %r5, 2; add.u32 %r5, %r5, %r0;\n"
                              "M: atom.global.cas.b32 %r3, [%r5+64], 0, 1; setp.ne.u32 %p1, %r3, 0; @%p1 bra M;\n"
                              "L: atom.global.cas.b32 %r3, [%r0], 0, 1; setp.ne.u32 %p1, %r3, 0; @%p1 bra L;\n"
                              "ld.volatile.global.u32 %r4, [%r0+4]; add.u32 %r4, %r4, 1; st.global.u32 [%r0+4], %r4;\n"
                              "membar.gl; atom.global.exch.b32 %r3, [%r0], 0; atom.global.exch.b32 %r3, [%r5+64], 0;\n"
                              "setp.lt.u32 %p2, %r1, 7; @%p2 exit;");
  EXPECT_EQ(words[1], kOneBlock);
}

// Each thread waits for the one behind it: the last of a warp begins.
TEST_P(IndependentThreads, WaitForTheNextThread) {
  const auto words = words_of(independent_threads(GetParam()),
                              "shl.b32 %r5, %r1, 2; add.u32 %r5, %r5, %r0; setp.eq.u32 %p3, %r1, 63; @%p3 bra G;\n"
                              "L: ld.volatile.global.u32 %r3, [%r5+260]; setp.eq.u32 %p1, %r3, 0; @%p1 bra L;\n"
                              "bra H; G: mov.u32 %r3, 0;\n"
                              "H: add.u32 %r3, %r3, 1; st.volatile.global.u32 [%r5+256], %r3;");
  for (unsigned thread = 0; thread < kOneBlock; ++thread) {
    EXPECT_EQ(words[64 + thread], kOneBlock - thread) << thread;
  }
}

// Threads that have gone through a lock one by one exchange with all of their warp.
TEST_P(IndependentThreads, MeetToExchange) {
  const auto words =
      words_of(independent_threads(GetParam()),
               "L: atom.global.cas.b32 %r3, [%r0], 0, 1; setp.ne.u32 %p1, %r3, 0; @%p1 bra L;\n"
               "ld.volatile.global.u32 %r4, [%r0+4]; add.u32 %r4, %r4, 1; st.global.u32 [%r0+4], %r4;\n"
               "membar.gl; atom.global.exch.b32 %r3, [%r0], 0;\n"
               "xor.b32 %r6, %r2, 5; shfl.sync.idx.b32 %r19, %r1, %r6, 31, 0xffffffff;\n"
               "setp.lt.u32 %p2, %r2, 12; vote.sync.ballot.b32 %r7, %p2, 0xffffffff; add.u32 %r19, %r19, "
               "%r7;\n" +
                   kStoreOwn);
  for (unsigned thread = 0; thread < kOneBlock; ++thread) {
    EXPECT_EQ(words[64 + thread], (thread ^ 5U) + 0xfffU) << thread;
  }
}

// Parts of a warp that exchange within themselves, on both sides of a branch.
TEST_P(IndependentThreads, OfBothPathsExchangeAmongThemselves) {
  const auto words = words_of(independent_threads(GetParam()),
                              "setp.lt.u32 %p1, %r2, 16; @%p1 bra A;\n"
                              "shfl.sync.idx.b32 %r19, %r1, 20, 31, 0xffff0000; bra B;\n"
                              "A: shfl.sync.idx.b32 %r19, %r1, 3, 31, 0x0000ffff;\n"
                              "B: bar.warp.sync 0xffffffff;\n" +
                                  kStoreOwn);
  for (unsigned thread = 0; thread < kOneBlock; ++thread) {
    EXPECT_EQ(words[64 + thread], thread / 32 * 32 + (thread % 32 < 16 ? 3 : 20)) << thread;
  }
}

TEST(IndependentThreadsOf, AModuleForOtherMachinesAreRefusedTheirExchange) {
  tb::Device device(independent_threads());
  const isa::Module module = ptx::compile(independent_ptx("bar.warp.sync 0xffffffff;"), "k.ptx");
  device.load(module);
  isa::LaunchRequest request;
  request.kernel = "k";
  request.parameters = {0, 0, 0, 0x10};
  try {
    device.launch(request);
    FAIL() << "it ran";
  } catch (const InputError& error) {
    EXPECT_STREQ(
        error.what(),
        "k.ptx:6: kernel 'k' uses a warp-level operation (vote, shfl, match, bar.warp.sync) and is compiled for "
        "machines on which the lanes of a warp stay together, which core.divergence = \"barriers\" does not "
        "promise; compile it for this machine (ptx::CompileOptions::warp_syncs)");
  }
}

// ---- what never ends is found

TEST_P(IndependentThreads, ThatNobodyGivesTheLockAreFound) {
  const std::string text = fault_of_threads(
      independent_threads(GetParam()), "L: atom.global.cas.b32 %r3, [%r0], 0, 1; setp.ne.u32 %p1, %r3, 0; @%p1 bra L;");
  EXPECT_THAT(text, HasSubstr("livelock in kernel 'k'"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("spin lock"))) << "advice for stacks";
}

// Two loops of one warp, each of which waits for what the other one's threads would do behind theirs.
TEST_P(IndependentThreads, ThatWaitForEachOtherInTwoLoopsAreFound) {
  const std::string text = fault_of_threads(
      independent_threads(GetParam()),
      "setp.lt.u32 %p2, %r2, 16; @%p2 bra M;\n"
      "L: ld.volatile.global.u32 %r3, [%r0]; setp.eq.u32 %p1, %r3, 0; @%p1 bra L; st.global.u32 [%r0+4], 1; bra E;\n"
      "M: ld.volatile.global.u32 %r4, [%r0+4]; setp.eq.u32 %p1, %r4, 0; @%p1 bra M; st.global.u32 [%r0], 1;\nE:");
  EXPECT_THAT(text, HasSubstr("livelock in kernel 'k'"));
}

TEST(IndependentThreadsOf, OneWarpThatNameEachOtherInVainAreFound) {
  EXPECT_EQ(fault_of_threads(independent_threads(),
                             "setp.lt.u32 %p2, %r2, 16; @%p2 bra A; bar.warp.sync -1; exit; A: bar.warp.sync 0x1ffff;"),
            "barrier mismatch in kernel 'k' at PC 5, k.ptx:7, block (0, 0, 0), thread (0, 0, 0): the threads of a warp "
            "wait for each other (__syncwarp, operations between lanes): lanes ffff0000 at PC 3 for lanes ffffffff; "
            "lanes 0000ffff at PC 5 for lanes 0001ffff");
}

}  // namespace
}  // namespace heddle
