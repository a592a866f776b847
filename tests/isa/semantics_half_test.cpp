// Operations on binary16 and bfloat16 against integers of any size: unary ones on every value, others on all edge
// values and random ones.
#include "tests/isa/lane_check.hpp"
#include "tests/support/exact_half.hpp"

namespace heddle::isa::test {
namespace {

using heddle::test::ExactBfloat16;
using heddle::test::ExactBinary16;

// Zeros, ones, ends of the subnormal and the normal range, infinities, NaNs, of both formats; two in a word.
Samples half_words() {
  std::vector<u64> edges;
  for (const u64 half : {0x0000, 0x0001, 0x03ff, 0x0400, 0x0401, 0x007f, 0x0080, 0x0081, 0x3c00, 0x3c01, 0x3bff, 0x3f80,
                         0x3f81, 0x3f7f, 0x1400, 0x7bff, 0x7c00, 0x7c01, 0x7e00, 0x7f7f, 0x7f80, 0x7f81, 0x7fff}) {
    edges.push_back(half | (half ^ 0x8000U) << 16U);
    edges.push_back((half ^ 0x8000U) | half << 16U);
  }
  return {edges, [](std::mt19937_64& random) {
            const u64 word = random() & 0xFFFFFFFFU;
            // Half of them near one in either format, so that sums cancel and products stay in range.
            return random() % 2 == 0 ? word : (word & 0x83FF83FFU) | 0x3C003C00U;
          }};
}

template <class Exact>
u32 format_of(bool packed) {
  return half_mods(packed, std::is_same_v<Exact, ExactBfloat16>);
}

// Checks an operation alone and on pairs; `one` computes a half. `triples`: every triple of edge values, not every
// pair.
template <class Exact, class One>
void check_halves(Op op, u32 mods, bool triples, One one) {
  const std::vector<Lane> lanes = half_words().lanes(triples, 4000);
  for (const bool packed : {false, true}) {
    check(operation(op, mods | format_of<Exact>(packed)), lanes, [&](const Lane& lane) -> u64 {
      const u32 low_half = one(low(lane.a) & 0xffff, low(lane.b) & 0xffff, low(lane.c) & 0xffff);
      return packed ? low_half | one(low(lane.a) >> 16U, low(lane.b) >> 16U, low(lane.c) >> 16U) << 16U : low_half;
    });
  }
}

template <class Exact>
void check_arithmetic(u32 mods) {
  const bool ftz = (mods & 4U) != 0;
  const auto in = [=](u32 x) { return ftz ? Exact::flushed(x) : x; };
  const auto out = [=](u32 x) {
    x = (mods & 8U) != 0 ? Exact::saturated(x) : x;
    x = ftz ? Exact::flushed(x) : x;
    return (mods & 512U) != 0 ? Exact::relu(x) : x;
  };
  check_halves<Exact>(Op::HFMA, mods, mods == 0,
                      [=](u32 a, u32 b, u32 c) { return out(Exact::fused(in(a), in(b), in(c))); });
  if ((mods & 512U) != 0) {
    return;  // fma alone has .relu
  }
  check_halves<Exact>(Op::HADD, mods, false, [=](u32 a, u32 b, u32) { return out(Exact::sum(in(a), in(b))); });
  check_halves<Exact>(Op::HSUB, mods, false, [=](u32 a, u32 b, u32) { return out(Exact::difference(in(a), in(b))); });
  check_halves<Exact>(Op::HMUL, mods, false, [=](u32 a, u32 b, u32) { return out(Exact::product(in(a), in(b))); });
}

TEST(HalfSemantics, SumsAndProductsAreRoundedOnce) {
  for (const u32 mods : {0U, 4U, 8U, 12U, 512U, 516U}) {
    check_arithmetic<ExactBinary16>(mods);
  }
  for (const u32 mods : {0U, 512U}) {
    check_arithmetic<ExactBfloat16>(mods);
  }
}

// What rounding twice would get wrong: the product is halfway between two numbers, and the summand says where to, from
// far below what a double holds beside it.
TEST(HalfSemantics, AFarSummandDecidesATie) {
  const Instruction fma = operation(Op::HFMA, format_of<ExactBfloat16>(false));
  const auto product_plus = [&](u32 c) { return compute_one(fma, {0x3f81, 0x3fc0, c}); };  // 1.0078125 x 1.5
  EXPECT_EQ(product_plus(0x0000), 0x3fc2U);                                                // a tie, to even
  EXPECT_EQ(product_plus(0x0001), 0x3fc2U);
  EXPECT_EQ(product_plus(0x8001), 0x3fc1U);
}

template <class Exact>
void check_extremes() {
  constexpr bool kFlushes = std::is_same_v<Exact, ExactBinary16>;
  for (const Op op : {Op::HMIN, Op::HMAX}) {
    for (u32 bits = 0; bits != 8; ++bits) {
      const bool ftz = (bits & 1U) != 0;
      const bool nan = (bits & 2U) != 0;
      const bool magnitudes = (bits & 4U) != 0;
      if (ftz && !kFlushes) {
        continue;
      }
      const u32 mods = float_mods(Rounding::none, ftz, false, false, nan) | half_mods(false, false, false, magnitudes);
      check_halves<Exact>(op, mods, false, [=](u32 a, u32 b, u32) -> u32 {
        const auto in = [=](u32 x) { return (ftz ? Exact::flushed(x) : x) & (magnitudes ? 0x7fffU : 0xffffU); };
        const u32 found = Exact::extreme(in(a), in(b), op == Op::HMAX, nan);
        return found == Exact::kNan && (Exact::is_nan(a) || Exact::is_nan(b))
                   ? found
                   : found | (magnitudes ? (a ^ b) & 0x8000U : 0U);
      });
    }
  }
}
TEST(HalfSemantics, ExtremesPassNansAndOrderZeros) {
  check_extremes<ExactBinary16>();
  check_extremes<ExactBfloat16>();
}

std::vector<Lane> every_half() {
  std::vector<Lane> all;
  for (u32 x = 0; x != 65536; ++x) {
    all.push_back({0, x | (x ^ 0x5a5aU) << 16U});
  }
  return all;
}

TEST(HalfSemantics, SignsOfEveryValue) {
  const std::vector<Lane> all = every_half();
  for (const bool ftz : {false, true}) {
    const auto in = [=](u32 x) { return ftz ? ExactBinary16::flushed(x) : x; };
    const u32 mods = float_mods(Rounding::none, ftz) | half_mods(true, false);
    const auto both = [&](Op op, u32 kept, u32 flipped) {
      check(operation(op, mods), all, [=](const Lane& lane) -> u64 {
        const u32 word = in(low(lane.b) & 0xffff) | in(low(lane.b) >> 16U) << 16U;
        return (word & kept) ^ flipped;
      });
    };
    both(Op::HNEG, ~0U, 0x80008000U);
    both(Op::HABS, 0x7fff7fffU, 0);
  }
}

// Every value of either format as a single, and the singles halfway to the next: the singles' own bits say where.
TEST(HalfSemantics, PackingRoundsSingles) {
  const auto brain = [](u32 single, bool down, bool relu) -> u32 {
    if ((single & 0x7fffffffU) > 0x7f800000U) {
      return 0x7fff;
    }
    const u32 up = !down && ((single & 0xffffU) > 0x8000U || ((single & 0x1ffffU) == 0x18000U)) ? 1 : 0;
    const u32 half = (single >> 16U) + up;
    return relu && (half & 0x8000U) != 0 ? 0 : half;
  };
  std::vector<Lane> lanes = floats().lanes(false, 20000);
  for (u32 x = 0; x != 65536; ++x) {
    lanes.push_back({u64{x} << 16U | 0x8000U, u64{x} << 16U | (x % 3 == 0 ? 0x8001U : x % 3 == 1 ? 0x7fffU : 0U)});
  }
  for (const bool down : {false, true}) {
    for (const bool relu : {false, true}) {
      const u32 mods = float_mods(down ? Rounding::rz : Rounding::rn) | half_mods(false, true, relu);
      check(operation(Op::CVT_PACK, mods), lanes, [=](const Lane& lane) -> u64 {
        return brain(low(lane.b), down, relu) | brain(low(lane.a), down, relu) << 16U;
      });
    }
  }
}

template <class Exact>
void check_comparisons(bool ftz) {
  const std::vector<Lane> lanes = half_words().lanes(false, 4000);
  for (unsigned comparison = 0; comparison <= static_cast<unsigned>(Comparison::nan); ++comparison) {
    const auto one = [=](u32 x, u32 y) {
      const u32 a = ftz ? Exact::flushed(x) : x;
      const u32 b = ftz ? Exact::flushed(y) : y;
      const bool unordered = Exact::is_nan(a) || Exact::is_nan(b);
      const int order = Exact::is_zero(a) && Exact::is_zero(b) ? 0 : Exact::order(a, b);
      const bool ordered[] = {order == 0, order != 0, order<0, order <= 0, order> 0, order >= 0};
      return comparison < 6    ? !unordered && ordered[comparison]
             : comparison < 12 ? unordered || ordered[comparison - 6]
                               : unordered == (comparison == 13);
    };
    for (const bool packed : {false, true}) {
      for (const BoolOp op : {BoolOp::none, BoolOp::xor_}) {
        const Instruction i = operation(Op::SETP_H, setp_mods(op, {}, ftz) | format_of<Exact>(packed),
                                        static_cast<std::uint8_t>(comparison));
        for (std::size_t begin = 0; begin < lanes.size(); begin += kLanes) {
          const std::vector<Lane> some(
              lanes.begin() + static_cast<std::ptrdiff_t>(begin),
              lanes.begin() + static_cast<std::ptrdiff_t>(std::min(begin + kLanes, lanes.size())));
          const std::vector<LaneResult> got = compute(i, some);
          for (std::size_t at = 0; at != some.size(); ++at) {
            const bool with = op == BoolOp::xor_ && some[at].predicate_a;
            const bool first = one(low(some[at].a) & 0xffff, low(some[at].b) & 0xffff);
            const bool second = packed ? one(low(some[at].a) >> 16U, low(some[at].b) >> 16U) : !first;
            ASSERT_EQ(got[at].p, first != with) << comparison << " of " << std::hex << some[at].a << ", " << some[at].b;
            ASSERT_EQ(got[at].q, second != with)
                << comparison << " of " << std::hex << some[at].a << ", " << some[at].b;
          }
        }
      }
    }
  }
}
TEST(HalfSemantics, Comparisons) {
  check_comparisons<ExactBinary16>(false);
  check_comparisons<ExactBinary16>(true);
  check_comparisons<ExactBfloat16>(false);
}

TEST(HalfText, SaysFormatAndForm) {
  const auto text = [](const char* line) { return disassemble(*decode(encode(assemble(line)))); };
  for (const char* const line :
       {"hfma.ftz.relu.x2 r1, r2, r3, r4", "hadd.sat r1, r2, r3", "hmul.bf16.x2 r1, r2, r3",
        "hmin.nan.xorsign.bf16 r1, r2, r3", "hneg.x2 r1, r2", "cvt_pack.rz.relu.bf16 r1, r2, r3", "hadd r1, r2, 0x3c00",
        "hsetp.ltu.ftz.x2 p0|p1, r1, r2, and, !p3", "@!p0 hsetp.eq.bf16 p2, r4, r5", "hsetp.num p2, r4, 0x1"}) {
    EXPECT_EQ(text(line), line);
  }
  EXPECT_EQ(why_malformed(operation(Op::HADD, half_mods(false, true) | 4U, kRZ)), "bf16 is not flushed to zero");
  EXPECT_EQ(why_malformed(operation(Op::HADD, half_mods(false, true) | 8U, kRZ)), "bf16 does not saturate");
  EXPECT_EQ(why_malformed(operation(Op::HFMA, half_mods(false, false, true) | 8U, kRZ)),
            "sat and relu exclude each other");
  EXPECT_EQ(why_malformed(operation(Op::CVT_PACK, 2U, kRZ)), "halves are packed with rn or rz");
}

}  // namespace
}  // namespace heddle::isa::test
