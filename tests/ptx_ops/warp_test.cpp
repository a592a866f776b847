// Between the threads of a warp and a block: vote, shfl, match, activemask (PTX ISA, sections 9.7.9.5, 9.7.9.6 and
// 9.7.13.9 to 9.7.13.12), bar.red and special registers.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "tests/ptx_ops/warp_text.hpp"

namespace heddle::ptx_ops {
namespace {

// Votes of one warp over (input != 0), over all lanes and under masks, in converged and divergent code.
TEST(PtxWarp, Votes) {
  for (const u32 modulus : {1U, 2U, 50U}) {
    for (const u32 offset : {0U, 1U}) {
      Program program;
      program.ours_alone = "votes without .sync, of which newer GPUs have none";
      program.input = values(kWarp, modulus);
      for (u32& value : program.input) value += offset;
      program.output_words = kWarp * 10;
      program.body = warp_prologue(10) + "  setp.ne.b32 %p, %v, 0;\n";
      const char* const modes[] = {"all", "any", "uni"};
      for (unsigned m = 0; m < 3; ++m) {
        program.body += std::string("  vote.") + modes[m] + ".pred %q, %p;\n" + store_predicate(m, "%q");
        program.body +=
            std::string("  vote.sync.") + modes[m] + ".pred %q, !%p, 0xffffffff;\n" + store_predicate(m + 3, "%q");
        // Even lanes alone.
        program.body += std::string("  @%even vote.sync.") + modes[m] + ".pred %q, %p, 0x55555555;\n" +
                        store_predicate(m + 6, "%q");
      }
      program.body +=
          "  vote.ballot.b32 %w, %p;\n  @!%even bra ODD;\n  vote.sync.ballot.b32 %x, %p, 0x55555555;\n"
          "  add.u32 %w, %w, %x;\n  bra JOINED;\nODD:\n  vote.ballot.b32 %x, !%p;\n"
          "  xor.b32 %w, %w, %x;\nJOINED:\n" +
          store(9, "%w");
      const std::vector<u32> output = run(program);
      u32 set = 0;
      for (unsigned lane = 0; lane < kWarp; ++lane) set |= (program.input[lane] != 0 ? 1U : 0U) << lane;
      const auto vote = [](unsigned mode, u32 ballot, u32 members) -> u32 {
        const u32 mine = ballot & members;
        return mode == 0 ? mine == members : mode == 1 ? mine != 0 : mine == 0 || mine == members;
      };
      for (unsigned lane = 0; lane < kWarp; ++lane) {
        const u32* found = &output[lane * 10];
        for (unsigned m = 0; m < 3; ++m) {
          EXPECT_EQ(found[m], vote(m, set, ~0U));
          EXPECT_EQ(found[m + 3], vote(m, ~set, ~0U));
          // Odd lanes keep the vote before.
          EXPECT_EQ(found[m + 6], lane % 2 == 0 ? vote(m, set, 0x55555555U) : vote(m, ~set, ~0U));
        }
        EXPECT_EQ(found[9], lane % 2 == 0 ? set + (set & 0x55555555U) : set ^ (~set & 0xaaaaaaaaU));
      }
    }
  }
}

// The source lane of a shuffle after the pseudo code in the ISA; nothing when it is out of range.
std::optional<unsigned> source_lane(char mode, unsigned lane, u32 b, u32 c) {
  const u32 clamp = c & 31U;
  const u32 segment = c >> 8U & 31U;
  const s32 highest = static_cast<s32>((lane & segment) | (clamp & ~segment));
  const u32 lowest = lane & segment;
  b &= 31U;
  s32 source = 0;
  bool inside = false;
  switch (mode) {
    case 'u':
      source = static_cast<s32>(lane) - static_cast<s32>(b);
      inside = source >= highest;
      break;
    case 'd':
      source = static_cast<s32>(lane + b);
      inside = source <= highest;
      break;
    case 'b':
      source = static_cast<s32>(lane ^ b);
      inside = source <= highest;
      break;
    default:
      source = static_cast<s32>(lowest | (b & ~segment));
      inside = source <= highest;
  }
  return inside ? std::optional(static_cast<unsigned>(source)) : std::nullopt;
}

TEST(PtxWarp, ShufflesOfEveryModeClampAndSegment) {
  constexpr const char* kModes[] = {"up", "down", "bfly", "idx"};
  for (const char* mode : kModes) {
    // c: the widths 32, 16, 8, 1 as CUDA makes them, and clamps inside a segment.
    const bool up = mode[0] == 'u';
    const std::vector<u32> limits = up ? std::vector<u32>{0, 0x1000, 0x1800, 0x1f00, 3, 0x1802}
                                       : std::vector<u32>{31, 0x101f, 0x181f, 0x1f1f, 11, 0x1803};
    for (const u32 c : limits) {
      Program program;
      program.ours_alone = "shuffles without .sync, of which newer GPUs have none";
      program.input = values(kWarp, 0xffffffffU);
      program.output_words = kWarp * 6;
      const std::string limit = std::to_string(c);
      const std::string name = mode;
      program.body = warp_prologue(6) +
                     // b differs by lane, beyond 31 too; then a constant b, with and without predicate.
                     "  mul.lo.u32 %w, %lane, 5; and.b32 %w, %w, 63;\n  shfl.sync." + name + ".b32 %x|%p, %v, %w, " +
                     limit + ", 0xffffffff;\n" + store(0, "%x") + store_predicate(1, "%p") + "  shfl." + name +
                     ".b32 %x|%p, %v, 3, " + limit + ";\n" + store(2, "%x") + store_predicate(3, "%p") +
                     "  shfl.sync." + name + ".b32 %v, %v, 4, " + limit + ", -1;\n" + store(4, "%v") +
                     "  mov.b32 %w, " + limit + ";\n  mov.b32 %x, -1;\n  shfl.sync." + name +
                     ".b32 %v, %v, 1, %w, %x;\n" + store(5, "%v");
      const std::vector<u32> output = run(program);
      std::vector<u32> moved(kWarp);
      for (unsigned lane = 0; lane < kWarp; ++lane) {
        SCOPED_TRACE(name + " c " + limit + " lane " + std::to_string(lane));
        const u32* found = &output[lane * 6];
        const auto by_lane = source_lane(mode[0], lane, lane * 5 & 63U, c);
        const auto by_three = source_lane(mode[0], lane, 3, c);
        moved[lane] = program.input[source_lane(mode[0], lane, 4, c).value_or(lane)];
        EXPECT_EQ(found[0], program.input[by_lane.value_or(lane)]);
        EXPECT_EQ(found[1], by_lane ? 1U : 0U);
        EXPECT_EQ(found[2], program.input[by_three.value_or(lane)]);
        EXPECT_EQ(found[3], by_three ? 1U : 0U);
        EXPECT_EQ(found[4], moved[lane]);
      }
      for (unsigned lane = 0; lane < kWarp; ++lane) {
        EXPECT_EQ(output[lane * 6 + 5], moved[source_lane(mode[0], lane, 1, c).value_or(lane)]) << lane;
      }
    }
  }
}

// What a lane gets from one that takes no part: PTX leaves it open, and here it is 0.
TEST(PtxWarp, ShufflesFromLanesThatTakeNoPart) {
  Program program;
  program.input = values(kWarp, 0xffffffffU);
  program.output_words = kWarp * 3;
  program.body = warp_prologue(3) + "  @!%even bra ODD;\n  shfl.sync.bfly.b32 %w, %v, 1, 31, 0x55555555;\n" +
                 store(0, "%w") + "  shfl.sync.idx.b32 %w, %v, 4, 31, 0x55555555;\n" + store(1, "%w") +
                 "  shfl.sync.down.b32 %w, %v, 3, 31, 0x55555555;\n" + store(2, "%w") + "ODD:\n";
  const std::vector<u32> output = run(program);
  for (unsigned lane = 0; lane < kWarp; lane += 2) {
    EXPECT_EQ(output[3 * lane], 0U) << lane;
    EXPECT_EQ(output[3 * lane + 1], program.input[4]) << lane;
    EXPECT_EQ(output[3 * lane + 2], lane + 3 < kWarp ? 0U : program.input[lane]) << lane;
  }
}

TEST(PtxWarp, MatchesAndActiveLanes) {
  for (const u32 modulus : {1U, 5U}) {
    Program program;
    program.input = values(kWarp, modulus);
    program.output_words = kWarp * 9;
    program.body = warp_prologue(9) +
                   "  .reg .b64 %wide; mov.b64 %wide, {7, %v};\n"
                   "  match.any.sync.b32 %w, %v, 0xffffffff;\n" +
                   store(0, "%w") + "  match.any.sync.b64 %w, %wide, 0xffffffff;\n" + store(1, "%w") +
                   "  match.all.sync.b32 %w|%p, %v, 0xffffffff;\n" + store(2, "%w") + store_predicate(3, "%p") +
                   "  match.all.sync.b64 %w|%p, %wide, 0xffffffff;\n" + store(4, "%w") + store_predicate(5, "%p") +
                   "  activemask.b32 %w;\n" + store(6, "%w") +
                   "  @!%even bra ODD;\n  match.any.sync.b32 %w, %v, 0x55555555;\n" + store(7, "%w") +
                   "  activemask.b32 %w;\n" + store(8, "%w") + "  bra JOINED;\nODD:\n  activemask.b32 %w;\n" +
                   store(8, "%w") + "JOINED:\n";
    const std::vector<u32> output = run(program);
    for (unsigned lane = 0; lane < kWarp; ++lane) {
      u32 equal = 0;
      for (unsigned i = 0; i < kWarp; ++i) equal |= (program.input[i] == program.input[lane] ? 1U : 0U) << i;
      const u32* found = &output[lane * 9];
      const u32 all = equal == ~0U ? ~0U : 0U;
      EXPECT_EQ(found[0], equal);
      EXPECT_EQ(found[1], equal);
      EXPECT_EQ(found[2], all);
      EXPECT_EQ(found[3], all & 1U);
      EXPECT_EQ(found[4], all);
      EXPECT_EQ(found[5], all & 1U);
      EXPECT_EQ(found[6], ~0U);
      EXPECT_EQ(found[7], lane % 2 == 0 ? equal & 0x55555555U : 0U);
      EXPECT_EQ(found[8], lane % 2 == 0 ? 0x55555555U : 0xaaaaaaaaU);
    }
  }
}

// Of all lanes, of some in divergent code, and of masks that differ by lane.
TEST(PtxWarp, ReductionsAndElections) {
  struct Reduction {
    const char* name;
    u32 (*combine)(u32 a, u32 b);
  };
  const Reduction reductions[] = {
      {"add.u32", [](u32 a, u32 b) { return a + b; }},
      {"add.s32", [](u32 a, u32 b) { return a + b; }},
      {"min.u32", [](u32 a, u32 b) { return a < b ? a : b; }},
      {"min.s32", [](u32 a, u32 b) { return static_cast<s32>(a) < static_cast<s32>(b) ? a : b; }},
      {"max.u32", [](u32 a, u32 b) { return a > b ? a : b; }},
      {"max.s32", [](u32 a, u32 b) { return static_cast<s32>(a) > static_cast<s32>(b) ? a : b; }},
      {"and.b32", [](u32 a, u32 b) { return a & b; }},
      {"or.b32", [](u32 a, u32 b) { return a | b; }},
      {"xor.b32", [](u32 a, u32 b) { return a ^ b; }},
  };
  for (const Reduction& one : reductions) {
    Program program;
    program.input = values(kWarp, 0xffffffffU);
    program.input[3] |= 0x80000000U;
    program.output_words = kWarp * 7;
    const std::string redux = std::string("redux.sync.") + one.name;
    program.body = warp_prologue(7) + "  mov.u32 %w, 0;\n  " + redux + " %w, %v, 0xffffffff;\n" + store(0, "%w") +
                   "  elect.sync %w|%p, -1;\n" + store(1, "%w") + store_predicate(2, "%p") +
                   // Each lane names the lanes of its own parity.
                   "  selp.b32 %w, 0x55555555, 0xaaaaaaaa, %even;\n  " + redux + " %x, %v, %w;\n" + store(3, "%x") +
                   "  @%even bra EVEN;\n  " + redux + " %w, %v, 0xaaaaaaaa;\n" + store(4, "%w") +
                   "  elect.sync %w|%p, 0xaaaaaaa0;\n" + store(5, "%w") + store_predicate(6, "%p") +
                   "  bra JOINED;\nEVEN:\n  elect.sync %w|%p, 0x55555555;\n" + store(5, "%w") +
                   store_predicate(6, "%p") + "JOINED:\n";
    const std::vector<u32> output = run(program);
    const auto all = [&](u32 members) {
      std::optional<u32> sum;
      for (unsigned i = 0; i < kWarp; ++i) {
        if (((members >> i) & 1U) != 0) sum = sum ? one.combine(*sum, program.input[i]) : program.input[i];
      }
      return *sum;
    };
    for (unsigned lane = 0; lane < kWarp; ++lane) {
      SCOPED_TRACE(std::string(one.name) + " lane " + std::to_string(lane));
      const u32* found = &output[lane * 7];
      const bool even = lane % 2 == 0;
      EXPECT_EQ(found[0], all(~0U));
      EXPECT_EQ(found[1], 0U);
      EXPECT_EQ(found[2], lane == 0 ? 1U : 0U);
      EXPECT_EQ(found[3], all(even ? 0x55555555U : 0xaaaaaaaaU));
      if (!even) {
        EXPECT_EQ(found[4], all(0xaaaaaaaaU));
      }
      EXPECT_EQ(found[5], even ? 0U : 5U);
      EXPECT_EQ(found[6], lane == (even ? 0U : 5U) ? 1U : 0U);
    }
  }
}

// Of a matrix of 8 x 8 elements of 16 bits lane l has elements 2 (l % 4) and the next of row l / 4.
TEST(PtxWarp, MatricesAreTransposedAndStored) {
  Program program;
  program.input = values(kWarp, 0xffffffffU);
  program.output_words = kWarp * 5;
  // The rows of both matrices lie 48 bytes apart, those of the second behind the first ones; row r's place is r ^ 5.
  const std::string rows =
      "  xor.b32 %w, %lane, 5; and.b32 %w, %w, 15; mul.lo.u32 %w, %w, 48; mov.u32 %row, space; add.u32 %row, %row, "
      "%w;\n";
  const auto words = [](unsigned first) {
    return "  bar.sync 0;\n  ld.shared.b32 %x, [%mine_at];\n" + store(first, "%x") +
           "  ld.shared.b32 %x, [%mine_at+384];\n" + store(first + 1, "%x") + "  bar.sync 0;\n";
  };
  program.module = ".shared .align 16 .b8 space[768];\n";
  program.body = warp_prologue(5) + "  .reg .b32 %row, %turned, %mine_at, %second;\n" +
                 "  movmatrix.sync.aligned.m8n8.trans.b16 %turned, %v;\n" + store(0, "%turned") + rows +
                 "  shr.u32 %w, %lane, 2; mul.lo.u32 %w, %w, 48; and.b32 %x, %lane, 3; shl.b32 %x, %x, 2;\n"
                 "  add.u32 %w, %w, %x; mov.u32 %mine_at, space; add.u32 %mine_at, %mine_at, %w;\n"
                 "  not.b32 %second, %v;\n"
                 "  stmatrix.sync.aligned.m8n8.x2.shared.b16 [%row], {%v, %second};\n" +
                 words(1) + "  stmatrix.sync.aligned.m8n8.x2.trans.shared::cta.b16 [%row], {%v, %second};\n" + words(3);
  const std::vector<u32> output = run(program);
  const auto element = [&](unsigned row, unsigned column) {
    return program.input[4 * row + column / 2] >> 16 * (column % 2) & 0xffffU;
  };
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    SCOPED_TRACE(lane);
    const unsigned row = lane / 4, column = 2 * (lane % 4);
    const u32* found = &output[lane * 5];
    EXPECT_EQ(found[0], element(column, row) | element(column + 1, row) << 16);
    const unsigned from = row ^ 5U;  // what has been stored where the lane looks
    const u32 stored = element(from, column) | element(from, column + 1) << 16;
    const u32 turned = element(column, from) | element(column + 1, from) << 16;
    EXPECT_EQ(found[1], stored);
    EXPECT_EQ(found[2], ~stored);
    EXPECT_EQ(found[3], turned);
    EXPECT_EQ(found[4], ~turned);
  }
}

TEST(PtxBarrier, Reductions) {
  for (const u32 modulus : {1U, 3U}) {
    for (const u32 offset : {0U, 1U}) {
      Program program;
      program.ours_alone = "numbers of threads that are no multiple of 32";
      program.grid = 2;
      program.block = 80;
      program.input = values(160, modulus);
      for (u32& value : program.input) value += offset;
      program.output_words = 160 * 6;
      program.body = warp_prologue(6) + "  setp.ne.b32 %p, %v, 0;\n  bar.red.popc.u32 %w, 0, %p;\n" + store(0, "%w") +
                     "  bar.red.popc.u32 %w, 1, 80, !%p;\n" + store(1, "%w") + "  bar.red.and.pred %q, 0, %p;\n" +
                     store_predicate(2, "%q") + "  barrier.red.or.pred %q, 15, %p;\n" + store_predicate(3, "%q") +
                     "  barrier.cta.red.and.aligned.pred %q, 2, 80, !%p;\n" + store_predicate(4, "%q") +
                     "  barrier.sync 3;\n  barrier.sync.aligned 3, 80;\n  bar.red.or.pred %q, 0, !%p;\n" +
                     store_predicate(5, "%q");
      const std::vector<u32> output = run(program);
      for (unsigned block = 0; block < 2; ++block) {
        u32 set = 0;
        for (unsigned i = 0; i < 80; ++i) set += program.input[block * 80 + i] != 0 ? 1 : 0;
        const std::vector<u32> expected = {
            set, 80 - set, set == 80 ? 1U : 0U, set != 0 ? 1U : 0U, set == 0 ? 1U : 0U, set != 80 ? 1U : 0U};
        for (unsigned i = 0; i < 80; ++i) {
          const auto first = output.begin() + (block * 80 + i) * 6;
          EXPECT_EQ(std::vector<u32>(first, first + 6), expected);
        }
      }
    }
  }
}

// The first warp arrives and goes on, the second waits for it.
TEST(PtxBarrier, ProducersArriveConsumersWait) {
  Program program;
  program.block = 64;
  program.output_words = 64;
  program.body = R"(
  .shared .align 4 .b32 handed[32]; .reg .u32 %s, %v; .reg .pred %p; .reg .u$p %o;
  and.b32 %v, %tid0, 31; shl.b32 %v, %v, 2; mov.u32 %s, handed; add.u32 %s, %s, %v;
  mul.wide.u16 %v, 4, 1; mul.lo.u32 %v, %v, %tid0; cvt.u$p.u32 %o, %v; add.u$p %o, %out, %o;
  setp.lt.u32 %p, %tid0, 32;
  @!%p bra CONSUMER;
  mul.lo.u32 %v, %tid0, 7;
  st.shared.u32 [%s], %v;
  bar.arrive 1, 64;
  st.global.u32 [%o], 1;
  bra END;
CONSUMER:
  bar.sync 1, 64;
  ld.shared.u32 %v, [%s];
  st.global.u32 [%o], %v;
END:
)";
  const std::vector<u32> output = run(program);
  for (u32 i = 0; i < 64; ++i) EXPECT_EQ(output[i], i < 32 ? 1 : (i - 32) * 7) << i;
}

TEST(PtxSpecial, LanesWarpsBlocksAndSizes) {
  Program program;
  program.ours_alone = "registers that say what the machine is";
  program.grid = 2;
  program.block = 70;
  program.output_words = 140 * 21;
  program.input.resize(140);
  const char* const registers[] = {"%laneid",      "%warpid",          "%nwarpid",     "%lanemask_eq", "%lanemask_le",
                                   "%lanemask_lt", "%lanemask_ge",     "%lanemask_gt", "%tid.x",       "%ntid.x",
                                   "%ctaid.x",     "%nctaid.x",        "%tid.y",       "%ntid.z",      "%nctaid.y",
                                   "%gridid",      "%total_smem_size", "%envreg31"};
  program.body =
      warp_prologue(21) +
      "  .shared .align 4 .b8 space[100]; .reg .u64 %t1, %t2; .reg .u32 %c; \n  st.shared.b32 [space+96], %v;\n";
  unsigned word = 0;
  for (const char* name : registers) {
    program.body += std::string("  mov.u32 %w, ") + name + ";\n" + store(word++, "%w");
  }
  program.body += "  mov.u32 %w, WARP_SZ;\n" + store(word++, "%w");
  program.body +=
      "  mov.u64 %t1, %clock64; mov.u32 %c, %clock; mov.u64 %t2, %globaltimer;\n"
      "  setp.gt.u64 %p, %t2, %t1;\n" +
      store_predicate(word++, "%p");
  const std::vector<u32> output = run(program);
  for (unsigned thread = 0; thread < 140; ++thread) {
    const u32 tid = thread % 70;
    const u32 lane = tid % 32;
    const u32 below = lane == 0 ? 0 : ~0U >> (32 - lane);
    const std::vector<u32> expected = {lane,
                                       tid / 32,
                                       3,
                                       1U << lane,
                                       below | 1U << lane,
                                       below,
                                       ~below,
                                       ~(below | 1U << lane),
                                       tid,
                                       70,
                                       thread / 70,
                                       2,
                                       0,
                                       1,
                                       1,
                                       0,
                                       112,
                                       0,
                                       32,
                                       1};
    const auto first = output.begin() + thread * 21;
    EXPECT_EQ(std::vector<u32>(first, first + 20), expected) << thread;
  }
}

// The last warp of a block may be partial; warp operations then go among the threads that exist.
TEST(PtxWarp, PartialWarps) {
  Program program;
  program.ours_alone = "lanes that are not there";
  program.block = 45;
  program.input = values(45, 3);
  program.output_words = 45 * 6;
  program.body = warp_prologue(6) + "  setp.ne.b32 %p, %v, 0;\n  activemask.b32 %w;\n" + store(0, "%w") +
                 "  vote.sync.ballot.b32 %w, %p, -1;\n" + store(1, "%w") +
                 "  vote.sync.all.pred %q, %p, 0xffffffff;\n" + store_predicate(2, "%q") +
                 "  match.any.sync.b32 %w, %v, 0xffffffff;\n" + store(3, "%w") +
                 "  shfl.sync.bfly.b32 %w, %tid0, 4, 31, 0xffffffff;\n" + store(4, "%w") +
                 "  shfl.sync.down.b32 _|%p, %tid0, 1, 31, 0xffffffff;\n" + store_predicate(5, "%p");
  const std::vector<u32> output = run(program);
  for (unsigned thread = 0; thread < 45; ++thread) {
    const unsigned first = thread / 32 * 32;
    const unsigned count = first == 0 ? 32 : 13;
    u32 set = 0, equal = 0;
    for (unsigned i = 0; i < count; ++i) {
      set |= (program.input[first + i] != 0 ? 1U : 0U) << i;
      equal |= (program.input[first + i] == program.input[thread] ? 1U : 0U) << i;
    }
    const u32 members = ~0U >> (32 - count);
    const u32 partner = first + ((thread - first) ^ 4U);
    const u32* found = &output[thread * 6];
    EXPECT_EQ(found[0], members);
    EXPECT_EQ(found[1], set);
    EXPECT_EQ(found[2], set == members ? 1U : 0U);
    EXPECT_EQ(found[3], equal);
    if (partner < 45) {  // else the value is open
      EXPECT_EQ(found[4], partner);
    }
    EXPECT_EQ(found[5], thread % 32 != 31 ? 1U : 0U);
  }
}

TEST(PtxSpecial, ThreeDimensions) {
  Program program;
  program.grid = 2;
  program.grid_y = 3;
  program.grid_z = 2;
  program.block = 5;
  program.block_y = 4;
  program.block_z = 2;
  program.output_words = 12 * 40 * 4;
  program.body = R"(
  .reg .u32 %t<3>, %c<3>, %n<3>, %g<3>, %i, %b; .reg .u$p %o; .reg .u16 %h;
)";
  for (unsigned d = 0; d < 3; ++d) {
    const std::string n = std::to_string(d);
    const std::string axis = std::string(".") + "xyz"[d];
    program.body += "  mov.u32 %t" + n + ", %tid" + axis + "; mov.u32 %c" + n + ", %ctaid" + axis + "; mov.u32 %n" + n +
                    ", %ntid" + axis + "; mov.u32 %g" + n + ", %nctaid" + axis + ";\n";
  }
  program.body += R"(
  mad.lo.u32 %i, %t2, %n1, %t1; mad.lo.u32 %i, %i, %n0, %t0;
  mad.lo.u32 %b, %c2, %g1, %c1; mad.lo.u32 %b, %b, %g0, %c0;
  mul.lo.u32 %n0, %n0, %n1; mul.lo.u32 %n0, %n0, %n2;
  mad.lo.u32 %i, %b, %n0, %i; shl.b32 %b, %i, 4; cvt.u$p.u32 %o, %b; add.u$p %o, %out, %o;
  mad.lo.u32 %t0, %t1, 100, %t0; mad.lo.u32 %t0, %t2, 10000, %t0;
  mad.lo.u32 %c0, %c1, 100, %c0; mad.lo.u32 %c0, %c2, 10000, %c0;
  mul.lo.u32 %g0, %g0, %g1; mul.lo.u32 %g0, %g0, %g2;
  st.global.v4.u32 [%o], {%t0, %c0, %n0, %g0};
)";
  const std::vector<u32> output = run(program);
  for (u32 i = 0; i < 12 * 40; ++i) {
    const u32 t = i % 40;
    const u32 c = i / 40;
    const std::vector<u32> expected = {t % 5 + t / 5 % 4 * 100 + t / 20 * 10000,
                                       c % 2 + c / 2 % 3 * 100 + c / 6 * 10000, 40, 12};
    EXPECT_EQ(std::vector<u32>(output.begin() + i * 4, output.begin() + i * 4 + 4), expected) << i;
  }
}

}  // namespace
}  // namespace heddle::ptx_ops
