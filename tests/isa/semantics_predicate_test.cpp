// setp, testp, plop, isspacep, select, and what memory operations do with one element.
#include <cmath>

#include "isa/global_atomics.hpp"
#include "isa/memory_map.hpp"
#include "lane_check.hpp"

namespace heddle::isa {
namespace {

using namespace test;

bool combine(bool x, BoolOp op, bool y) {
  switch (op) {
    case BoolOp::and_:
      return x && y;
    case BoolOp::or_:
      return x || y;
    case BoolOp::xor_:
      return x != y;
    default:
      return x;
  }
}

template <typename T>
bool compare(Comparison c, T a, T b) {
  const bool unordered = a != a || b != b;
  const bool less = a < b;
  const bool equal = a == b;
  const bool greater = !unordered && !less && !equal;
  switch (c) {
    case Comparison::eq:
      return equal;
    case Comparison::ne:
      return less || greater;
    case Comparison::lt:
      return less;
    case Comparison::le:
      return less || equal;
    case Comparison::gt:
      return greater;
    case Comparison::ge:
      return greater || equal;
    case Comparison::equ:
      return equal || unordered;
    case Comparison::neu:
      return !equal;
    case Comparison::ltu:
      return less || unordered;
    case Comparison::leu:
      return less || equal || unordered;
    case Comparison::gtu:
      return greater || unordered;
    case Comparison::geu:
      return greater || equal || unordered;
    case Comparison::num:
      return !unordered;
    case Comparison::nan:
      return unordered;
    case Comparison::any:
      break;
  }
  return false;
}

template <typename T>
void check_setp(Op op, const Samples& samples, Comparison last, T (*value)(u64), bool ftz = false) {
  const std::vector<Lane> lanes = samples.lanes(false, 1000);
  for (u32 c = 0; c <= static_cast<u32>(last); ++c) {
    for (const BoolOp with : {BoolOp::none, BoolOp::and_, BoolOp::or_, BoolOp::xor_}) {
      check_predicates(operation(op, setp_mods(with, {}, ftz), static_cast<std::uint8_t>(c)), lanes,
                       [&](const Lane& l) -> LaneResult {
                         const bool t = compare(static_cast<Comparison>(c), value(l.a), value(l.b));
                         return {0, combine(t, with, l.predicate_a), combine(!t, with, l.predicate_a)};
                       });
    }
  }
}

TEST(SemanticsPredicate, Setp) {
  check_setp<s32>(Op::SETP_S32, words(), Comparison::ge, [](u64 x) { return static_cast<s32>(x); });
  check_setp<u32>(Op::SETP_U32, words(), Comparison::ge, [](u64 x) { return static_cast<u32>(x); });
  check_setp<s64>(Op::SETP_S64, longs(), Comparison::ge, [](u64 x) { return static_cast<s64>(x); });
  check_setp<u64>(Op::SETP_U64, longs(), Comparison::ge, [](u64 x) { return x; });
  check_setp<float>(Op::SETP_F32, floats(), Comparison::nan, [](u64 x) { return std::bit_cast<float>(low(x)); });
  check_setp<double>(Op::SETP_F64, doubles(), Comparison::nan, [](u64 x) { return std::bit_cast<double>(x); });
  check_setp<float>(
      Op::SETP_F32, floats(), Comparison::nan,
      [](u64 x) {
        const float value = std::bit_cast<float>(low(x));
        return std::fpclassify(value) == FP_SUBNORMAL ? 0.0F : value;
      },
      true);
}

TEST(SemanticsPredicate, SetpOfBits) {
  for (const BoolOp with : {BoolOp::none, BoolOp::and_, BoolOp::or_, BoolOp::xor_}) {
    const auto any = static_cast<std::uint8_t>(Comparison::any);
    check_predicates(operation(Op::SETP_U32, setp_mods(with, {}, false), any), words().lanes(false, 1000),
                     [&](const Lane& l) -> LaneResult {
                       bool t = false;
                       for (unsigned bit = 0; bit < 32; ++bit) t |= (l.a >> bit & 1U) + (l.b >> bit & 1U) == 2;
                       return {0, combine(t, with, l.predicate_a), combine(!t, with, l.predicate_a)};
                     });
  }
  Instruction other = operation(Op::SETP_S32, setp_mods(BoolOp::none, {}, false), 0);
  other.c = static_cast<std::uint8_t>(Comparison::any);
  EXPECT_EQ(why_malformed(other), "unknown comparison");
}

template <typename T>
bool is_of(TestKind kind, T x) {
  const int c = std::fpclassify(x);
  switch (kind) {
    case TestKind::finite:
      return c != FP_NAN && c != FP_INFINITE;
    case TestKind::infinite:
      return c == FP_INFINITE;
    case TestKind::number:
      return c != FP_NAN;
    case TestKind::notanumber:
      return c == FP_NAN;
    case TestKind::normal:
      return c == FP_NORMAL;
    case TestKind::subnormal:
      return c == FP_SUBNORMAL;
  }
  return false;
}

TEST(SemanticsPredicate, Testp) {
  for (std::uint8_t kind = 0; kind <= static_cast<std::uint8_t>(TestKind::subnormal); ++kind) {
    const auto k = static_cast<TestKind>(kind);
    check_predicates(operation(Op::TESTP_F32, 0, kind), floats().lanes(false, 1000), [&](const Lane& l) -> LaneResult {
      const bool t = is_of(k, std::bit_cast<float>(low(l.a)));
      return {0, t, !t};
    });
    check_predicates(operation(Op::TESTP_F64, 0, kind), doubles().lanes(false, 1000), [&](const Lane& l) -> LaneResult {
      const bool t = is_of(k, std::bit_cast<double>(l.a));
      return {0, t, !t};
    });
  }
}

// Where it does not ask for the division itself, an approximate reciprocal gives the rounded quotient by multiply-adds.
TEST(SemanticsPredicate, Fchk) {
  unsigned fine = 0;
  check_predicates(operation(Op::FCHK), floats().lanes(false, 20000), [&](const Lane& l) -> LaneResult {
    const auto a = std::bit_cast<float>(low(l.a));
    const auto b = std::bit_cast<float>(low(l.b));
    // Exponents as in 1.f 2^e, with room for the quotient, its last bit and the rest.
    const auto within = [](int e, int least, int most) { return least <= e && e <= most; };
    const bool numbers = std::isnormal(a) && std::isnormal(b);
    const bool refines = numbers && within(std::ilogb(a), -101, 127) && within(std::ilogb(b), -126, 125) &&
                         within(std::ilogb(a) - std::ilogb(b), -124, 125);
    if (refines) {
      ++fine;
      const float y0 = 1 / b;
      const float y = std::fma(y0, std::fma(-b, y0, 1.0F), y0);
      const float q = a * y;
      EXPECT_EQ(std::fma(y, std::fma(-b, q, a), q), a / b) << a << " / " << b;
    }
    return {0, !refines, refines};
  });
  EXPECT_GT(fine, 1000U);
}

TEST(SemanticsPredicate, Plop) {
  for (const BoolOp op : {BoolOp::none, BoolOp::and_, BoolOp::or_, BoolOp::xor_}) {
    check_predicates(operation(Op::PLOP, plop_mods({}, op, {})), words().lanes(false, 100),
                     [&](const Lane& l) -> LaneResult {
                       const bool t = combine(l.predicate_a, op, l.predicate_b);
                       return {0, t, !t};
                     });
  }
}

TEST(SemanticsPredicate, IsspacepKnowsTheWindows) {
  const std::vector<u64> edges = {0,          0x00FFFFFF, 0x01000000, 0x01FFFFFF,  0x02000000,    0x02FFFFFF,
                                  0x03000000, 0x03FFFFFF, 0x04000000, 0x101000000, 0x10201000000, 0xFFFFFFFF};
  std::vector<Lane> lanes;
  for (const u64 a : edges) lanes.push_back({a, 0, 0, 0});
  const auto space_at = [](u64 a) {
    if (a >= 0x01000000 && a < 0x02000000) return Space::shared;
    if (a >= 0x02000000 && a < 0x03000000) return Space::local;
    return a >= 0x03000000 && a < 0x04000000 ? Space::constant : Space::global;
  };
  for (const Space space : {Space::global, Space::shared, Space::local, Space::constant}) {
    const auto c = static_cast<std::uint8_t>(space);
    check_predicates(operation(Op::ISSPACEP_E, 0, c), lanes, [&](const Lane& l) -> LaneResult {
      return {0, space_at(l.a) == space, space_at(l.a) != space};
    });
    check_predicates(operation(Op::ISSPACEP, 0, c), lanes, [&](const Lane& l) -> LaneResult {
      return {0, space_at(low(l.a)) == space, space_at(low(l.a)) != space};
    });
  }
}

TEST(SemanticsImmediate, ExtendsAsTheOperationWants) {
  const auto loaded = [](Op op, u32 imm) {
    Instruction i;
    i.op = op;
    i.immediate = true;
    i.imm = imm;
    LaneValues v{};
    load_immediate(i, v);
    for (unsigned lane = 1; lane < kLanes; ++lane) {
      EXPECT_EQ(v.b[0][lane], v.b[0][0]);
      EXPECT_EQ(v.b[1][lane], v.b[1][0]);
    }
    return v.b[0][0] | u64{v.b[1][0]} << 32U;
  };
  EXPECT_EQ(loaded(Op::ADD, 0xFFFFFFFF), 0xFFFFFFFFU);
  EXPECT_EQ(loaded(Op::ADD64, 0xFFFFFFFE), 0xFFFFFFFFFFFFFFFEU);
  EXPECT_EQ(loaded(Op::ADD64, 0x7FFFFFFF), 0x7FFFFFFFU);
  EXPECT_EQ(loaded(Op::MOV64, 0x80000000), 0xFFFFFFFF80000000U);
  EXPECT_EQ(loaded(Op::SETP_S64, 0x80000000), 0xFFFFFFFF80000000U);
  EXPECT_EQ(loaded(Op::SHL64, 0x80000000), 0x80000000U);  // the count is 32 bits wide
  for (const Op op : {Op::DADD, Op::DFMA, Op::DMIN, Op::DRCP, Op::DRSQRT, Op::SETP_F64}) {
    EXPECT_EQ(loaded(op, 0x3FF80000), std::bit_cast<u64>(1.5)) << info(op).mnemonic;
  }
  EXPECT_EQ(loaded(Op::FADD, 0x3FC00000), 0x3FC00000U);
}

TEST(SemanticsMemory, AtomicSteps) {
  const u64 m1 = 0xFFFFFFFFU;
  EXPECT_EQ(atomic_step(AtomicOp::add, Type::u32, m1, 2, 0), 1U);
  EXPECT_EQ(atomic_step(AtomicOp::add, Type::u64, m1, 2, 0), 0x100000001U);
  EXPECT_EQ(atomic_step(AtomicOp::and_, Type::b32, 12, 10, 0), 8U);
  EXPECT_EQ(atomic_step(AtomicOp::or_, Type::b32, 12, 10, 0), 14U);
  EXPECT_EQ(atomic_step(AtomicOp::xor_, Type::b64, m1 << 32U | 12, 10, 0), m1 << 32U | 6);
  EXPECT_EQ(atomic_step(AtomicOp::min, Type::s32, 1, m1, 0), m1);
  EXPECT_EQ(atomic_step(AtomicOp::min, Type::u32, 1, m1, 0), 1U);
  EXPECT_EQ(atomic_step(AtomicOp::max, Type::s32, 1, m1, 0), 1U);
  EXPECT_EQ(atomic_step(AtomicOp::max, Type::u32, 1, m1, 0), m1);
  EXPECT_EQ(atomic_step(AtomicOp::min, Type::s64, 1, ~u64{0}, 0), ~u64{0});
  EXPECT_EQ(atomic_step(AtomicOp::max, Type::u64, 1, ~u64{0}, 0), ~u64{0});
  EXPECT_EQ(atomic_step(AtomicOp::exch, Type::b64, 1, ~u64{0}, 0), ~u64{0});
  // inc: old >= b ? 0 : old + 1; dec: old == 0 or old > b ? b : old - 1.
  EXPECT_EQ(atomic_step(AtomicOp::inc, Type::u32, 4, 5, 0), 5U);
  EXPECT_EQ(atomic_step(AtomicOp::inc, Type::u32, 5, 5, 0), 0U);
  EXPECT_EQ(atomic_step(AtomicOp::inc, Type::u32, 6, 5, 0), 0U);
  EXPECT_EQ(atomic_step(AtomicOp::dec, Type::u32, 0, 5, 0), 5U);
  EXPECT_EQ(atomic_step(AtomicOp::dec, Type::u32, 6, 5, 0), 5U);
  EXPECT_EQ(atomic_step(AtomicOp::dec, Type::u32, 5, 5, 0), 4U);
  EXPECT_EQ(atomic_step(AtomicOp::cas, Type::b32, 7, 7, 9), 9U);
  EXPECT_EQ(atomic_step(AtomicOp::cas, Type::b32, 7, 8, 9), 7U);
  // Each half by itself: 1 + 2 above, 2 + 1 below; a carry or a NaN of one half is not the other's.
  EXPECT_EQ(atomic_step(AtomicOp::add_halves, Type::b32, 0x3c004000, 0x40003c00, 0), 0x42004200U);
  EXPECT_EQ(atomic_step(AtomicOp::add_halves, Type::b32, 0x7d557bff, 0x3c007bff, 0) & 0xffffU, 0x7c00U);
  // 32-bit types see the low half alone.
  EXPECT_EQ(atomic_step(AtomicOp::cas, Type::b32, 7, u64{1} << 32U | 7, u64{1} << 32U | 9), 9U);
  EXPECT_EQ(atomic_step(AtomicOp::cas, Type::b64, 7, u64{1} << 32U | 7, 9), 7U);
  EXPECT_EQ(atomic_step(AtomicOp::add, Type::f32, 0x3F800000, 0x33800001, 0), 0x3F800001U);
  EXPECT_EQ(atomic_step(AtomicOp::add, Type::f32, 0x7F800000, 0xFF800000, 0), 0x7FFFFFFFU);
  EXPECT_EQ(atomic_step(AtomicOp::add, Type::f32, 1, 1, 0), 2U);  // subnormals are kept
  EXPECT_EQ(atomic_step(AtomicOp::add, Type::f64, std::bit_cast<u64>(1.5), std::bit_cast<u64>(0.25), 0),
            std::bit_cast<u64>(1.75));
}

// Sums of binary32 on global memory: subnormal operands and results are zeros of their sign.
TEST(SemanticsMemory, AtomicStepsOnGlobalMemory) {
  const auto sum = [](u64 old, u64 b) { return global_atomic_step(AtomicOp::add, Type::f32, old, b, 0); };
  EXPECT_EQ(sum(0, 0x00012345), 0U);
  EXPECT_EQ(sum(0x80000000, 0x807FFFFF), 0x80000000U);
  EXPECT_EQ(sum(0x80000001, 0x80000000), 0x80000000U);
  EXPECT_EQ(sum(0x00400000, 0x00400000), 0U);           // the sum itself is normal
  EXPECT_EQ(sum(0x00800001, 0x80800000), 0U);           // the operands are
  EXPECT_EQ(sum(0x80800001, 0x00800000), 0x80000000U);  // the operands are
  EXPECT_EQ(sum(0x00800000, 0x007FFFFF), 0x00800000U);
  EXPECT_EQ(sum(0x3F800000, 0x33800001), 0x3F800001U);
  EXPECT_EQ(sum(0x7F800000, 0xFF800000), 0x7FFFFFFFU);
  // Every other operation is as on the scratchpad.
  EXPECT_EQ(global_atomic_step(AtomicOp::add, Type::f64, 1, 1, 0), 2U);
  EXPECT_EQ(global_atomic_step(AtomicOp::add, Type::f16, 1, 1, 0), 2U);
  EXPECT_EQ(global_atomic_step(AtomicOp::add_halves, Type::b32, 0x10001, 0x10001, 0), 0x20002U);
  EXPECT_EQ(global_atomic_step(AtomicOp::exch, Type::b32, 7, 1, 0), 1U);
  EXPECT_EQ(global_atomic_step(AtomicOp::add, Type::u32, 1, 1, 0), 2U);
}

TEST(SemanticsMemory, LoadsExtend) {
  EXPECT_EQ(extend_loaded(Width::u8, 0xFFF1), 0xF1U);
  EXPECT_EQ(extend_loaded(Width::s8, 0xFFF1), 0xFFFFFFF1U);
  EXPECT_EQ(extend_loaded(Width::s8, 0x71), 0x71U);
  EXPECT_EQ(extend_loaded(Width::u16, 0x1F234), 0xF234U);
  EXPECT_EQ(extend_loaded(Width::s16, 0x1F234), 0xFFFFF234U);
  EXPECT_EQ(extend_loaded(Width::b32, 0x1FFFFFFFF), 0xFFFFFFFFU);
  EXPECT_EQ(extend_loaded(Width::b64, ~u64{0}), ~u64{0});
  EXPECT_EQ(bytes_of(Width::s8), 1U);
  EXPECT_EQ(bytes_of(Width::u16), 2U);
  EXPECT_EQ(bytes_of(Width::b32), 4U);
  EXPECT_EQ(bytes_of(Width::b64), 8U);
}

TEST(Semantics, EveryLaneWiseOperationHasAFunction) {
  for (unsigned number = 0; number < kOperations; ++number) {
    const Op op = static_cast<Op>(number);
    const Unit unit = info(op).unit;
    const bool lane_wise = (unit == Unit::alu || unit == Unit::complex || unit == Unit::warp || unit == Unit::half ||
                            unit == Unit::tensor) &&
                           op != Op::S2R && op != Op::S2R64 && op != Op::NOP && op != Op::PRINT && op != Op::PROGRESS &&
                           !is_note(op) && !is_heap(op);
    EXPECT_EQ(lane_function(operation(op, 0, 0)) != nullptr, lane_wise) << info(op).mnemonic;
  }
}

}  // namespace
}  // namespace heddle::isa
