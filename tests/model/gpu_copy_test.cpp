// Copies to the scratchpad that threads do not wait for (cp.async): what is there when they have been waited for, that
// they overlap with what follows, and what goes wrong.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/model/child.hpp"
#include "tests/model/words_left.hpp"

namespace heddle::copies {
namespace {

// Three tiles of 128 threads' 16 bytes each go round: a thread sums what another one has copied, tile by tile, while
// the next two are on their way. Word w of the input is w; behind the input are the threads' sums. `bytes`: how much of
// each 16 is read.
std::string kernel(const std::string& bytes) {
  const std::string copy = "  cp.async.cg.shared.global [%r6], [%a2], 16" + bytes + ";\n  cp.async.commit_group;\n";
  const std::string next = R"(
  mul.lo.u32 %r7, %r5, 2048;
  add.u32 %r6, %r3, %r7;
)" + copy + R"(
  add.u64 %a2, %a2, 2048;
  add.u32 %r5, %r5, 1;
  setp.eq.u32 %p1, %r5, 3;
  selp.u32 %r5, 0, %r5, %p1;
)";
  return R"(
.version 7.0
.target sm_80
.address_size 64
.visible .entry tiles(.param .u64 out)
{
  .reg .pred %p<4>;
  .reg .b32 %r<24>;
  .reg .u64 %a<6>;
  .shared .align 16 .b8 tile[6144];
  ld.param.u64 %a0, [out];
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %a1, %r0, 16;
  add.u64 %a2, %a0, %a1;
  mov.u32 %r1, tile;
  shl.b32 %r2, %r0, 4;
  add.u32 %r3, %r1, %r2;      // a thread's place in a tile
  xor.b32 %r4, %r2, 1936;
  add.u32 %r4, %r1, %r4;      // the place of the one that it reads
  mov.u32 %r5, 0;             // the tile that is copied next
  mov.u32 %r8, 0;             // the tile that is read next
  mov.u32 %r9, 0;
  mov.u32 %r20, 12;           // bytes that are read, where not all are
  mov.u32 %r21, 0xffffffff;   // what lies there before
  st.shared.v4.u32 [%r3], {%r21, %r21, %r21, %r21};
  st.shared.v4.u32 [%r3+2048], {%r21, %r21, %r21, %r21};
  st.shared.v4.u32 [%r3+4096], {%r21, %r21, %r21, %r21};
)" + next +
         next +
         R"(
  mov.u32 %r10, 8;
TILE:
  cp.async.wait_group 1;
  bar.sync 0;
  setp.le.u32 %p2, %r10, 2;
  @%p2 bra NONE;
)" + next +
         R"(
  bra READ;
NONE:
  cp.async.commit_group;
READ:
  mul.lo.u32 %r11, %r8, 2048;
  add.u32 %r11, %r11, %r4;
  ld.shared.v4.u32 {%r12, %r13, %r14, %r15}, [%r11];
  mad.lo.u32 %r9, %r9, 3, %r12;
  add.u32 %r9, %r9, %r13;
  mad.lo.u32 %r9, %r14, 5, %r9;
  mad.lo.u32 %r9, %r15, 7, %r9;
  add.u32 %r8, %r8, 1;
  setp.eq.u32 %p1, %r8, 3;
  selp.u32 %r8, 0, %r8, %p1;
  sub.u32 %r10, %r10, 1;
  setp.ne.u32 %p3, %r10, 0;
  @%p3 bra TILE;
  mul.wide.u32 %a3, %r0, 4;
  add.u64 %a3, %a0, %a3;
  st.global.u32 [%a3+16384], %r9;
  ret;
}
)";
}

constexpr unsigned kThreads = 128, kTiles = 8, kInput = kTiles * kThreads * 4;

// `read`: words of each four.
std::uint32_t expected_sum(unsigned thread, unsigned read) {
  std::uint32_t sum = 0;
  for (unsigned tile = 0; tile != kTiles; ++tile) {
    const unsigned first = (tile * kThreads + (thread ^ 121U)) * 4;  // 1936 bytes are 121 places
    const auto word = [&](unsigned i) { return i < read ? first + i : 0; };
    sum = sum * 3 + word(0) + word(1) + 5 * word(2) + 7 * word(3);
  }
  return sum;
}

std::vector<std::uint32_t> input() {
  std::vector<std::uint32_t> words(kInput + kThreads);
  for (unsigned i = 0; i != kInput; ++i) words[i] = i;
  return words;
}

std::string judged(const std::string& machine, const std::vector<std::string>& settings, const std::string& bytes,
                   unsigned read) {
  return test::in_child([&]() -> std::string {
    const std::vector<std::uint32_t> words = test::words_left_by(
        machine, settings, kernel(bytes), {"tiles", {1, 1, 1}, {kThreads, 1, 1}, 0, {}, 0, false}, input(), true);
    for (unsigned thread = 0; thread != kThreads; ++thread) {
      if (words[kInput + thread] != expected_sum(thread, read)) {
        return fmt::format("thread {}: {} instead of {}", thread, words[kInput + thread], expected_sum(thread, read));
      }
    }
    return "right";
  });
}

TEST(GpuCopies, AreThereWhenTheyHaveBeenWaitedFor) {
  for (const char* const machine :
       {"h100-8sm", "a100-8sm", "rtx3070-8sm", "baseline", "lwm", "tbc", "ws-8", "odgs-memory"}) {
    EXPECT_EQ(judged(machine, {}, "", 4), "right") << machine;
  }
  for (const std::vector<std::string>& settings :
       std::vector<std::vector<std::string>>{{"core.issue=scoreboard"},
                                             {"core.issue=scoreboard", "scoreboard.stall=on-access"},
                                             {"core.issue=strict"},
                                             {"core.divergence=stack", "core.issue=relaxed"},
                                             {"core.pending_accesses=2"},
                                             {"scoreboard.entries=3"}}) {
    EXPECT_EQ(judged("h100-8sm", settings, "", 4), "right") << settings[0];
  }
  // A commit that takes the last record has completed before the next instruction can come.
  for (const char* const entries : {"1", "2", "3"}) {
    EXPECT_EQ(judged("baseline",
                     {"core.issue=scoreboard", "scoreboard.stall=on-use", "noc.request_latency=1000",
                      std::string("scoreboard.entries=") + entries},
                     "", 4),
              "right")
        << entries;
  }
}

// A producer and its consumers, as kernels for today's GPUs have them: one thread copies tiles in bulk into two places,
// and 64 others read them; barrier objects say when a place is full, by bytes, and when it is empty, by arrivals. Words
// as for tiles above.
constexpr const char* kProducer = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry stages(.param .u64 out)
{
  .reg .pred %p<4>;
  .reg .b32 %r<24>;
  .reg .b64 %a<6>;
  .shared .align 16 .b8 stage[2048];
  .shared .align 8 .b64 full[2];
  .shared .align 8 .b64 empty[2];
  ld.param.u64 %a0, [out];
  mov.u32 %r0, %tid.x;
  setp.eq.u32 %p0, %r0, 0;
  @!%p0 bra BEGUN;
  mbarrier.init.shared::cta.b64 [full], 1;
  mbarrier.init.shared::cta.b64 [full+8], 1;
  mbarrier.init.shared::cta.b64 [empty], 64;
  mbarrier.init.shared::cta.b64 [empty+8], 64;
BEGUN:
  bar.sync 0;
  mov.u32 %r1, 0;             // the tile
  mov.u32 %r9, 0;
  mov.u32 %r10, full;
  mov.u32 %r11, empty;
  mov.u32 %r12, stage;
  setp.ge.u32 %p1, %r0, 32;
  @%p1 bra CONSUME;
  @!%p0 bra END;
PRODUCE:
  and.b32 %r2, %r1, 1;
  shl.b32 %r3, %r2, 3;
  add.u32 %r4, %r10, %r3;     // full
  add.u32 %r5, %r11, %r3;     // empty
  shl.b32 %r6, %r2, 10;
  add.u32 %r6, %r12, %r6;
  shr.u32 %r7, %r1, 1;
  xor.b32 %r7, %r7, 1;
  and.b32 %r7, %r7, 1;        // of the phase before: of none, the first time
ROOM:
  mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r5], %r7;
  @!%p2 bra ROOM;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r4], 1024;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r6], [%a0], 1024, [%r4];
  add.u64 %a0, %a0, 1024;
  add.u32 %r1, %r1, 1;
  setp.ne.u32 %p3, %r1, 8;
  @%p3 bra PRODUCE;
  bra END;
CONSUME:
  sub.u32 %r0, %r0, 32;
  mul.wide.u32 %a1, %r0, 4;
  add.u64 %a1, %a0, %a1;
  xor.b32 %r8, %r0, 21;
  shl.b32 %r8, %r8, 4;
  add.u32 %r8, %r12, %r8;
TILE:
  and.b32 %r2, %r1, 1;
  shl.b32 %r3, %r2, 3;
  add.u32 %r4, %r10, %r3;
  add.u32 %r5, %r11, %r3;
  shl.b32 %r6, %r2, 10;
  add.u32 %r6, %r8, %r6;
  shr.u32 %r7, %r1, 1;
  and.b32 %r7, %r7, 1;
COMES:
  mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r4], %r7;
  @!%p2 bra COMES;
  ld.shared.v4.u32 {%r13, %r14, %r15, %r16}, [%r6];
  mbarrier.arrive.shared::cta.b64 _, [%r5];
  mad.lo.u32 %r9, %r9, 3, %r13;
  add.u32 %r9, %r9, %r14;
  mad.lo.u32 %r9, %r15, 5, %r9;
  mad.lo.u32 %r9, %r16, 7, %r9;
  add.u32 %r1, %r1, 1;
  setp.ne.u32 %p3, %r1, 8;
  @%p3 bra TILE;
  st.global.u32 [%a1+8192], %r9;
END:
  ret;
}
)";

TEST(GpuCopies, InBulkAreCountedByBarrierObjects) {
  constexpr unsigned kConsumers = 64, kWords = kTiles * kConsumers * 4;
  const auto found = [&](const std::string& machine, const std::vector<std::string>& settings) {
    return test::in_child([&]() -> std::string {
      std::vector<std::uint32_t> words(kWords + kConsumers);
      for (unsigned i = 0; i != kWords; ++i) words[i] = i;
      words = test::words_left_by(machine, settings, kProducer,
                                  {"stages", {1, 1, 1}, {32 + kConsumers, 1, 1}, 0, {}, 0, false}, words, true);
      for (unsigned thread = 0; thread != kConsumers; ++thread) {
        std::uint32_t sum = 0;
        for (unsigned tile = 0; tile != kTiles; ++tile) {
          const unsigned first = (tile * kConsumers + (thread ^ 21U)) * 4;
          sum = sum * 3 + first + (first + 1) + 5 * (first + 2) + 7 * (first + 3);
        }
        if (words[kWords + thread] != sum) {
          return fmt::format("thread {}: {} instead of {}", thread, words[kWords + thread], sum);
        }
      }
      return "right";
    });
  };
  for (const char* const machine :
       {"h100-8sm", "a100-8sm", "v100-8sm", "rtx3070-8sm", "baseline", "gto", "two-level"}) {
    EXPECT_EQ(found(machine, {}), "right") << machine;
  }
  for (const char* const setting : {"core.issue=scoreboard", "core.divergence=stack", "core.pending_accesses=2"}) {
    EXPECT_EQ(found("h100-8sm", {setting}), "right") << setting;
  }
}

// Each of 128 threads copies 16 bytes, which arrive at the barrier object by themselves, and sums what another thread's
// copy has brought. `arrive`: among the 128 arrivals that the phase waits for, or beside them. The threads' sums stand
// behind the input, with the cycles from before the copy to behind a barrier of the block.
std::string arriving(bool counted) {
  return std::string(R"(
.version 7.0
.target sm_80
.address_size 64
.visible .entry arrive(.param .u64 out)
{
  .reg .pred %p<3>;
  .reg .b32 %r<16>;
  .reg .b64 %a<4>;
  .shared .align 16 .b8 tile[2048];
  .shared .align 8 .b64 object;
  ld.param.u64 %a0, [out];
  mov.u32 %r0, %tid.x;
  setp.eq.u32 %p0, %r0, 0;
  @%p0 mbarrier.init.shared.b64 [object], )") +
         (counted ? "128" : "1") + R"(;
  bar.sync 0;
  mul.wide.u32 %a1, %r0, 16;
  add.u64 %a2, %a0, %a1;
  mov.u32 %r1, tile;
  mad.lo.u32 %r2, %r0, 16, %r1;
  mov.u32 %r8, %clock;
  cp.async.cg.shared.global [%r2], [%a2], 16;
  cp.async.mbarrier.arrive)" +
         (counted ? ".noinc" : "") + R"(.shared.b64 [object];
  bar.sync 0;
  mov.u32 %r9, %clock;
)" + (counted ? "" : "  @%p0 mbarrier.arrive.shared.b64 _, [object];\n") +
         R"(WAIT:
  mbarrier.test_wait.parity.shared.b64 %p1, [object], 0;
  @!%p1 bra WAIT;
  xor.b32 %r3, %r0, 121;
  mad.lo.u32 %r3, %r3, 16, %r1;
  ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r3];
  mad.lo.u32 %r4, %r5, 3, %r4;
  mad.lo.u32 %r4, %r6, 5, %r4;
  mad.lo.u32 %r4, %r7, 7, %r4;
  sub.u32 %r9, %r9, %r8;
  mul.wide.u32 %a1, %r0, 8;
  add.u64 %a2, %a0, %a1;
  st.global.v2.u32 [%a2+2048], {%r4, %r9};
  ret;
}
)";
}

TEST(GpuCopies, ArriveAtBarrierObjectsByThemselves) {
  const auto found = [](const std::string& machine, const std::vector<std::string>& settings, bool counted) {
    return test::in_child([&]() -> std::string {
      std::vector<std::uint32_t> words(512 + 256);
      for (unsigned i = 0; i != 512; ++i) words[i] = i * i;
      words = test::words_left_by(machine, settings, arriving(counted),
                                  {"arrive", {1, 1, 1}, {128, 1, 1}, 0, {}, 0, false}, words, true);
      unsigned longest = 0;
      for (unsigned thread = 0; thread != 128; ++thread) {
        const std::uint32_t* const from = &words[(thread ^ 121U) * 4];
        const std::uint32_t sum = from[0] + 3 * from[1] + 5 * from[2] + 7 * from[3];
        if (words[512 + 2 * thread] != sum) {
          return fmt::format("thread {}: {} instead of {}", thread, words[512 + 2 * thread], sum);
        }
        longest = std::max(longest, words[512 + 2 * thread + 1]);
      }
      return longest < 200 ? "right, at once" : "right, later";
    });
  };
  for (const bool counted : {true, false}) {
    for (const char* const machine : {"h100-8sm", "a100-8sm", "rtx3070-8sm"}) {
      EXPECT_EQ(found(machine, {}, counted), "right, at once") << machine;
      EXPECT_EQ(found(machine, {"core.issue=scoreboard"}, counted), "right, at once") << machine;
    }
    for (const char* const machine : {"baseline", "lwm", "tbc", "ws-8", "odgs-memory"}) {
      EXPECT_EQ(found(machine, {}, counted).substr(0, 5), "right") << machine;
    }
    for (const std::vector<std::string>& settings :
         std::vector<std::vector<std::string>>{{"core.issue=strict"},
                                               {"core.issue=scoreboard", "scoreboard.stall=on-access"},
                                               {"core.divergence=stack", "core.issue=relaxed"},
                                               {"core.pending_accesses=2"},
                                               {"scoreboard.entries=3"}}) {
      EXPECT_EQ(found("h100-8sm", settings, counted).substr(0, 5), "right") << settings[0];
    }
  }
}

// Cycles from before an operation of 32 threads on 8 bytes of shared memory to where its result has been used.
unsigned cycles_at_one_place(const std::string& operation) {
  const std::string counted = test::in_child([&] {
    const std::string text = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry one(.param .u64 out)
{
  .reg .b32 %r<4>;
  .reg .b64 %a<4>;
  .shared .align 8 .b64 object;
  ld.param.u64 %a0, [out];
  mbarrier.init.shared.b64 [object], 32;
  bar.sync 0;
  mov.u32 %r0, %clock;
)" + operation + R"(
  and.b64 %a1, %a1, 0;
  cvt.u32.u64 %r1, %a1;
  add.u32 %r0, %r0, %r1;
  mov.u32 %r2, %clock;
  sub.u32 %r2, %r2, %r0;
  st.global.u32 [%a0], %r2;
  ret;
}
)";
    return std::to_string(test::words_left_by("h100-8sm", {}, text, {"one", {1, 1, 1}, {32, 1, 1}, 0, {}, 0, false},
                                              std::vector<std::uint32_t>(8), true)[0]);
  });
  return static_cast<unsigned>(std::stoul(counted));
}

TEST(GpuCopies, AWarpsArrivalsAtOneObjectTakeOneTurn) {
  const unsigned arrivals = cycles_at_one_place("  mbarrier.arrive.shared.b64 %a1, [object];\n");
  const unsigned sums = cycles_at_one_place("  atom.shared.add.u64 %a1, [object], 1;\n");
  EXPECT_LT(arrivals, 60U);
  EXPECT_GT(sums, arrivals + 25) << "one lane after the other";
}

TEST(GpuCopies, FillWithZerosWhatIsNotRead) {
  for (const char* const machine : {"h100-8sm", "baseline"}) {
    EXPECT_EQ(judged(machine, {}, ", %r20", 3), "right") << machine;
    EXPECT_EQ(judged(machine, {}, ", 16", 4), "right") << machine;
    EXPECT_EQ(judged(machine, {}, ", 4", 1), "right") << machine;
    EXPECT_EQ(judged(machine, {}, ", 0", 0), "right") << machine;
    EXPECT_EQ(judged(machine, {}, ", 64", 4), "right") << machine;
  }
}

// One copy, `first`, 200 additions, then the wait: cycles from before the copy to behind it.
unsigned cycles(const std::string& wait, const std::string& first = "") {
  const std::string counted = test::in_child([&] {
    std::string body = first;
    for (int i = 0; i != 200; ++i) body += "  add.u32 %r2, %r2, %r3;\n";
    const std::string text = R"(
.version 7.0
.target sm_80
.address_size 64
.visible .entry one(.param .u64 out)
{
  .reg .b32 %r<8>;
  .reg .u64 %a<4>;
  .shared .align 16 .b8 tile[512];
  ld.param.u64 %a0, [out];
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %a1, %r0, 16;
  add.u64 %a1, %a0, %a1;
  mov.u32 %r1, tile;
  mad.lo.u32 %r1, %r0, 16, %r1;
  mov.u32 %r4, %clock;
  cp.async.ca.shared.global [%r1], [%a1+4096], 16;
  cp.async.commit_group;
)" + body + wait + R"(
  ld.shared.u32 %r3, [%r1];
  add.u32 %r2, %r2, %r3;
  mov.u32 %r5, %clock;
  sub.u32 %r5, %r5, %r4;
  st.global.v2.u32 [%a0], {%r5, %r2};
  ret;
}
)";
    return std::to_string(test::words_left_by("h100-8sm", {}, text, {"one", {1, 1, 1}, {32, 1, 1}, 0, {}, 0, false},
                                              std::vector<std::uint32_t>(2048), true)[0]);
  });
  return static_cast<unsigned>(std::stoul(counted));
}

TEST(GpuCopies, OverlapWithWhatFollows) {
  // Additions that depend on each other take 4 cycles, 800 in all: longer than memory.
  const unsigned later = cycles("  cp.async.wait_group 1;\n");
  const unsigned waited = cycles("  cp.async.wait_group 0;\n");
  const unsigned all = cycles("  cp.async.wait_all;\n");
  EXPECT_GT(later, 800U);
  EXPECT_LT(waited, later + 50);
  EXPECT_EQ(all, waited);
  // A barrier does not wait for copies, which would take as long as memory before the additions begin.
  EXPECT_LT(cycles("  cp.async.wait_group 0;\n", "  bar.sync 0;\n"), waited + 100);
  EXPECT_GT(cycles("", "  cp.async.wait_all;\n"), waited + 200);
}

std::string fault_of(const std::string& machine, const std::string& to, const std::string& from) {
  return test::in_child([&]() -> std::string {
    const std::string text =
        ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry bad(.param .u64 out)\n{\n"
        ".reg .u64 %a0; .reg .b32 %r0; .shared .align 16 .b8 tile[64];\n"
        "ld.param.u64 %a0, [out];\n mov.u32 %r0, tile;\n"
        "cp.async.ca.shared.global [%r0" +
        to + "], [%a0" + from +
        "], 16;\n"
        "cp.async.wait_all;\nret;\n}\n";
    try {
      static_cast<void>(test::words_left_by(machine, {}, text, {"bad", {1, 1, 1}, {1, 1, 1}, 0, {}, 0, false},
                                            std::vector<std::uint32_t>(64), true));
    } catch (const std::exception& error) {
      return error.what();
    }
    return "none";
  });
}

TEST(GpuCopies, FaultsNameWhatIsWrong) {
  for (const char* const machine : {"h100-8sm", "baseline"}) {
    EXPECT_EQ(fault_of(machine, "", ""), "none");
    EXPECT_EQ(fault_of(machine, "+48", "+240"), "none");
    EXPECT_NE(fault_of(machine, "+64", "").find("the block's scratchpad, which has 64 bytes"), std::string::npos);
    EXPECT_NE(fault_of(machine, "+8", "").find("the address is no multiple of 16"), std::string::npos);
    EXPECT_NE(fault_of(machine, "", "+4").find("the address is no multiple of 16"), std::string::npos);
    EXPECT_NE(fault_of(machine, "", "+256").find("load"), std::string::npos);
  }
}

}  // namespace
}  // namespace heddle::copies
