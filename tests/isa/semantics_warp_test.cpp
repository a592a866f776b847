// vote, shfl, match, tree traverse and conditional accumulate, with inactive lanes and partial member masks.
#include <bit>

#include "lane_check.hpp"

namespace heddle::isa {
namespace {

using namespace test;

LaneValues numbered() {
  LaneValues v{};
  v.active = ~LaneMask{0};
  for (unsigned lane = 0; lane < kLanes; ++lane) v.a[0][lane] = 100 + lane;
  v.b[0].fill(~u32{0});
  v.d.fill(~u32{0});
  return v;
}

void run(Op op, LaneValues& v, std::uint8_t d = 0) {
  Instruction i = operation(op);
  i.d = d;
  lane_function(i)(i, v);
}

TEST(SemanticsWarp, VotesCountMembersThatExecute) {
  LaneValues v = numbered();
  v.active = 0x00FF;
  v.b[0].fill(0xFFF0);
  v.predicate_a = 0xFF0F0;
  run(Op::VOTE_ALL, v);
  EXPECT_EQ(v.p, ~LaneMask{0});  // members that execute: 4..7, all set
  v.predicate_a = 0xFF0E0;
  run(Op::VOTE_ALL, v);
  EXPECT_EQ(v.p, 0U);
  run(Op::VOTE_ANY, v);
  EXPECT_EQ(v.p, ~LaneMask{0});
  run(Op::VOTE_UNI, v);
  EXPECT_EQ(v.p, 0U);
  run(Op::BALLOT, v);
  EXPECT_EQ(v.result[0][0], 0x00E0U);
  EXPECT_EQ(v.result[0][31], 0x00E0U);
  v.predicate_a = 0xFF0F;
  run(Op::VOTE_ANY, v);
  EXPECT_EQ(v.p, 0U);
  run(Op::VOTE_UNI, v);
  EXPECT_EQ(v.p, ~LaneMask{0});
  run(Op::ACTIVEMASK, v);
  EXPECT_EQ(v.result[0][13], 0x00FFU);
}

TEST(SemanticsWarp, VotesFollowEachLanesOwnMask) {
  LaneValues v = numbered();
  for (unsigned lane = 0; lane < kLanes; ++lane) v.b[0][lane] = lane < 16 ? 0xFFFF : 0xFFFF0000;
  v.predicate_a = 0xFFFF0001;
  run(Op::VOTE_ALL, v);
  EXPECT_EQ(v.p, 0xFFFF0000U);
  run(Op::BALLOT, v);
  EXPECT_EQ(v.result[0][3], 1U);
  EXPECT_EQ(v.result[0][30], 0xFFFF0000U);
}

// Thesis 7.2.1: base + (sum of the predicates << shift).
TEST(SemanticsWarp, TreeTraverseAddsTheShiftedSumToTheBase) {
  LaneValues v = numbered();
  v.predicate_a = 0x0F0F;
  v.b[0].fill(5);
  run(Op::TREE_TRAVERSE, v);
  EXPECT_EQ(v.result[0][0], 100U + (8 << 5));
  EXPECT_EQ(v.result[0][31], 131U + (8 << 5));
  v.active = 0x00FF;  // only threads that execute count
  run(Op::TREE_TRAVERSE, v);
  EXPECT_EQ(v.result[0][7], 107U + (4 << 5));
  v.predicate_a = v.active = ~LaneMask{0};
  v.b[0].fill(31);
  run(Op::TREE_TRAVERSE, v);
  EXPECT_EQ(v.result[0][1], 101U);  // 32 << 31 leaves 32 bits
  v.predicate_a = 1;
  run(Op::TREE_TRAVERSE, v);
  EXPECT_EQ(v.result[0][1], 101U + (1U << 31U));
  v.b[0].fill(32);
  run(Op::TREE_TRAVERSE, v);
  EXPECT_EQ(v.result[0][1], 101U);
  v.b[0].fill(0);
  v.predicate_a = 0;
  run(Op::TREE_TRAVERSE, v);
  EXPECT_EQ(v.result[0][1], 101U);
}

// "A source register which contains the node size (must be a power of 2)": the highest bit says the shift.
TEST(SemanticsWarp, TreeTraverseByTheSizeOfANode) {
  LaneValues v = numbered();
  v.predicate_a = 0x0F0F;
  for (const auto& [size, next] : {std::pair{1U, 108U}, {2U, 116U}, {32U, 100U + 8 * 32}, {0U, 100U}}) {
    v.b[0].fill(size);
    run(Op::TREE_TRAVERSE_SIZE, v);
    EXPECT_EQ(v.result[0][0], next) << size;
  }
  v.predicate_a = 1;
  v.b[0].fill(0x80000000);
  run(Op::TREE_TRAVERSE_SIZE, v);
  EXPECT_EQ(v.result[0][0], 0x80000000U + 100);
  v.b[0].fill(63);  // no power of 2: its highest bit
  run(Op::TREE_TRAVERSE_SIZE, v);
  EXPECT_EQ(v.result[0][0], 132U);
}

// Thesis 7.1: contiguous from the base, and the count.
TEST(SemanticsWarp, AccumulateGivesEachWriterTheNextPlace) {
  LaneValues v = numbered();
  v.a[0].fill(0x1000);
  v.a[1].fill(1);
  v.a[0][0] = 7;  // lane 0 does not execute
  v.active = 0xFFFFFFFE;
  v.predicate_a = 0x80000015;
  Instruction i = operation(Op::COND_ACC_GLOBAL_E);
  i.mods = element_mods(8);
  const Accumulation all = accumulate(i, v);
  EXPECT_EQ(all.writes, 0x80000014U);
  EXPECT_EQ(all.count, 3U);
  EXPECT_EQ(all.base, 0x100001000U);
  EXPECT_EQ(all.address[2], 0x100001000U);
  EXPECT_EQ(all.address[3], 0x100001008U);
  EXPECT_EQ(all.address[4], 0x100001008U);
  EXPECT_EQ(all.address[31], 0x100001010U);
  i.op = Op::COND_ACC_SHARED;
  i.mods = element_mods(1);
  EXPECT_EQ(accumulate(i, v).address[31], 0x1002U);
  v.a[0].fill(0xFFFFFFFF);  // 32-bit addresses wrap around
  EXPECT_EQ(accumulate(i, v).address[31], 1U);
  v.predicate_a = 0;
  EXPECT_EQ(accumulate(i, v).count, 0U);
}

// The PTX ISA's pseudo code for shfl, one lane at a time.
struct Shuffled {
  u32 value;
  bool p;
};
Shuffled shuffle(Op op, const LaneValues& v, unsigned lane, LaneMask members) {
  const int b = static_cast<int>(v.b[0][lane] & 31U);
  const int clamp = static_cast<int>(v.c[0][lane] & 31U);
  const int segment = static_cast<int>(v.c[0][lane] >> 8U & 31U);
  const int me = static_cast<int>(lane);
  const int last = (me & segment) | (clamp & ~segment);
  const int first = me & segment;
  int j = 0;
  bool p = false;
  switch (op) {
    case Op::SHFL_UP:
      j = me - b;
      p = j >= last;
      break;
    case Op::SHFL_DOWN:
      j = me + b;
      p = j <= last;
      break;
    case Op::SHFL_BFLY:
      j = me ^ b;
      p = j <= last;
      break;
    default:
      j = first | (b & ~segment);
      p = j <= last;
      break;
  }
  if (!p) return {v.a[0][lane], p};
  return {(members & v.active & 1U << j) != 0 ? v.a[0][static_cast<unsigned>(j)] : 0, p};
}

TEST(SemanticsWarp, ShufflesFollowThePseudoCode) {
  std::mt19937 random(3);
  for (const Op op : {Op::SHFL_UP, Op::SHFL_DOWN, Op::SHFL_BFLY, Op::SHFL_IDX}) {
    for (int n = 0; n < 500; ++n) {
      LaneValues v = numbered();
      const bool uniform = n % 2 == 0;
      const u32 b = random();
      // Segments of 32, 16, 8, 4, 2, 1 lanes as compilers write them, or anything.
      const u32 c = n % 4 < 2 ? (32 - (1U << random() % 6)) << 8U | (op == Op::SHFL_UP ? 0 : 31) : random();
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        v.b[0][lane] = uniform ? b : static_cast<u32>(random());
        v.c[0][lane] = uniform ? c : static_cast<u32>(random());
        v.d[lane] = n % 3 == 0 ? ~u32{0} : static_cast<u32>(random() | random());
      }
      if (n % 5 == 0) v.active = random();
      run(op, v);
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        const Shuffled want = shuffle(op, v, lane, v.d[lane]);
        ASSERT_EQ(v.result[0][lane], want.value) << info(op).mnemonic << " lane " << lane;
        ASSERT_EQ((v.p >> lane & 1U) != 0, want.p) << info(op).mnemonic << " lane " << lane;
      }
    }
  }
}

TEST(SemanticsWarp, ShuffleByHand) {
  LaneValues v = numbered();
  v.b[0].fill(1);
  v.c[0].fill(0x1C1F);  // segments of four lanes
  run(Op::SHFL_DOWN, v);
  EXPECT_EQ(v.result[0][4], 105U);
  EXPECT_EQ(v.result[0][7], 107U);  // the segment's last lane reads itself
  EXPECT_EQ(v.p, 0x77777777U);
  v.c[0].fill(0);
  run(Op::SHFL_UP, v);
  EXPECT_EQ(v.result[0][0], 100U);
  EXPECT_EQ(v.result[0][31], 130U);
  EXPECT_EQ(v.p, 0xFFFFFFFEU);
}

TEST(SemanticsWarp, ShuffleWithoutMemberMaskIsForEveryone) {
  LaneValues v = numbered();
  v.b[0].fill(0);
  v.c[0].fill(31);
  v.d.fill(0);
  run(Op::SHFL_IDX, v, 0);
  EXPECT_EQ(v.result[0][9], 0U);  // no lane is a member
  run(Op::SHFL_IDX, v, kRZ);
  EXPECT_EQ(v.result[0][9], 100U);
}

TEST(SemanticsWarp, MatchAnyGroupsEqualValues) {
  std::mt19937 random(4);
  for (int n = 0; n < 200; ++n) {
    LaneValues v = numbered();
    v.active = n % 2 == 0 ? ~u32{0} : static_cast<u32>(random());
    const u32 members = n % 3 == 0 ? ~u32{0} : static_cast<u32>(random());
    v.b[0].fill(members);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      v.a[0][lane] = random() % 3;
      v.a[1][lane] = random() % 2;
    }
    for (const Op op : {Op::MATCH_ANY, Op::MATCH_ANY64}) {
      run(op, v);
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        LaneMask want = 0;
        for (unsigned other = 0; other < kLanes; ++other) {
          const bool equal = v.a[0][other] == v.a[0][lane] && (op == Op::MATCH_ANY || v.a[1][other] == v.a[1][lane]);
          if (equal && (members & v.active & 1U << other) != 0) want |= 1U << other;
        }
        ASSERT_EQ(v.result[0][lane], want);
      }
    }
  }
}

TEST(SemanticsWarp, MatchAllNeedsEveryMember) {
  LaneValues v = numbered();
  v.a[0].fill(7);
  v.a[0][30] = 8;
  v.active = 0x7FFFFFFF;
  v.b[0].fill(0x3FFFFFFF);
  run(Op::MATCH_ALL, v);
  EXPECT_EQ(v.result[0][0], 0x3FFFFFFFU);
  EXPECT_NE(v.p & 1U, 0U);
  v.b[0].fill(0xFFFFFFFF);
  run(Op::MATCH_ALL, v);
  EXPECT_EQ(v.result[0][0], 0U);
  EXPECT_EQ(v.p, 0U);
  v.b[0].fill(0x3FFFFFFF);
  v.a[1][5] = 1;
  run(Op::MATCH_ALL64, v);
  EXPECT_EQ(v.result[0][0], 0U);
  v.active &= ~(1U << 5);
  run(Op::MATCH_ALL64, v);
  EXPECT_EQ(v.result[0][0], 0x3FFFFFDFU);
}

}  // namespace
}  // namespace heddle::isa
