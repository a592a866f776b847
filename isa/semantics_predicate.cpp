// Operations with predicate results: setp, testp, fchk, plop, isspacep.
#include "isa/lane_half.hpp"
#include "isa/lane_selectors.hpp"
#include "isa/memory_map.hpp"

namespace heddle::isa::lanes {

namespace {

constexpr LaneMask combine(LaneMask x, BoolOp op, LaneMask y) {
  switch (op) {
    case BoolOp::none:
      break;
    case BoolOp::and_:
      return x & y;
    case BoolOp::or_:
      return x | y;
    case BoolOp::xor_:
      return x ^ y;
  }
  return x;
}

// PTX: "p = BoolOp(t, c); q = BoolOp(!t, c)".
void put_pair(LaneValues& v, LaneMask t, BoolOp op, LaneMask c) {
  v.p = combine(t, op, c);
  v.q = combine(~t, op, c);
}

template <typename T>
bool is_nan(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::isnan(value);
  } else {
    return false;
  }
}

template <Comparison C, typename T>
bool holds(T a, T b) {
  const bool unordered = is_nan(a) || is_nan(b);
  switch (C) {
    case Comparison::eq:
      return a == b;
    case Comparison::ne:
      return a != b && !unordered;
    case Comparison::lt:
      return a < b;
    case Comparison::le:
      return a <= b;
    case Comparison::gt:
      return a > b;
    case Comparison::ge:
      return a >= b;
    case Comparison::equ:
      return a == b || unordered;
    case Comparison::neu:
      return a != b;
    case Comparison::ltu:
      return !(a >= b);
    case Comparison::leu:
      return !(a > b);
    case Comparison::gtu:
      return !(a <= b);
    case Comparison::geu:
      return !(a < b);
    case Comparison::num:
      return !unordered;
    case Comparison::nan:
      return unordered;
    case Comparison::any:
      break;
  }
  return false;
}

void compare_bits(const Instruction& instruction, LaneValues& v) {
  const LaneMask t = mask_of([&](unsigned lane) { return (v.a[0][lane] & v.b[0][lane]) != 0; });
  put_pair(v, t, instruction.setp_combine(), v.predicate_a);
}

template <typename T, bool Ftz = false>
struct Compare {
  template <unsigned C>
  static void run(const Instruction& instruction, LaneValues& v) {
    const LaneMask t = mask_of([&](unsigned lane) {
      T a = get<T>(v.a, lane);
      T b = get<T>(v.b, lane);
      if constexpr (Ftz) {
        a = flushed<true>(a);
        b = flushed<true>(b);
      }
      return holds<static_cast<Comparison>(C)>(a, b);
    });
    put_pair(v, t, instruction.setp_combine(), v.predicate_a);
  }
};

// The lower halves; of a pair the upper ones besides, into q.
template <class Format>
struct CompareHalves {
  template <unsigned C>
  static void run(const Instruction& instruction, LaneValues& v) {
    const auto value = [&](u32 half) {
      const bool flush = instruction.setp_ftz() && (half & kInfinity16<Format>) == 0;
      return widened<Format>(flush ? half & kSign16 : half);
    };
    const auto mask = [&](unsigned shift) {
      return mask_of([&](unsigned lane) {
        return holds<static_cast<Comparison>(C)>(value(v.a[0][lane] >> shift & 0xFFFFU),
                                                 value(v.b[0][lane] >> shift & 0xFFFFU));
      });
    };
    put_pair(v, mask(0), instruction.setp_combine(), v.predicate_a);
    if (instruction.packed()) {
      v.q = combine(mask(16), instruction.setp_combine(), v.predicate_a);
    }
  }
};

// 64-bit integers compare word by word, as twice as many lanes fit a host vector.
template <typename High>
struct ComparePair {
  template <unsigned C>
  static void run(const Instruction& instruction, LaneValues& v) {
    constexpr auto kComparison = static_cast<Comparison>(C);
    const LaneMask t = mask_of([&](unsigned lane) {
      const auto a = static_cast<High>(v.a[1][lane]);
      const auto b = static_cast<High>(v.b[1][lane]);
      // The high words decide unless they are equal.
      const u32 equal = u32{a == b};
      const u32 decided = u32{holds<kComparison>(a, b)} & (equal ^ 1U);
      return (decided | (equal & u32{holds<kComparison>(v.a[0][lane], v.b[0][lane])})) != 0;
    });
    put_pair(v, t, instruction.setp_combine(), v.predicate_a);
  }
};

constexpr std::size_t kIntegerComparisons = static_cast<std::size_t>(Comparison::ge) + 1;
constexpr std::size_t kFloatComparisons = static_cast<std::size_t>(Comparison::nan) + 1;

// Classes by exponent and magnitude; U holds the bits, Infinity is the exponent field.
template <typename U, U Infinity>
struct Test {
  template <unsigned Kind>
  static void run(const Instruction& /*instruction*/, LaneValues& v) {
    v.p = mask_of([&](unsigned lane) {
      const U bits = get<U>(v.a, lane);
      const U magnitude = bits & (~U{0} >> 1U);
      const U exponent = bits & Infinity;
      switch (static_cast<TestKind>(Kind)) {
        case TestKind::finite:
          return exponent != Infinity;
        case TestKind::infinite:
          return magnitude == Infinity;
        case TestKind::number:
          return magnitude <= Infinity;
        case TestKind::notanumber:
          return magnitude > Infinity;
        case TestKind::normal:
          return exponent != Infinity && exponent != 0;
        case TestKind::subnormal:
          return exponent == 0 && magnitude != 0;
      }
      return false;
    });
    v.q = ~v.p;
  }
};
constexpr std::size_t kTests = static_cast<std::size_t>(TestKind::subnormal) + 1;

// y = 1 / b is normal, and so is q = a y; its last bit times that of b, whose multiple the rest a - q b is, is a number
// that single precision has.
void check_division(const Instruction& /*instruction*/, LaneValues& v) {
  v.p = mask_of([&](unsigned lane) {
    const s32 a = static_cast<s32>(v.a[0][lane] >> 23U & 0xFFU);
    const s32 b = static_cast<s32>(v.b[0][lane] >> 23U & 0xFFU);
    const bool refines = a >= 26 && a <= 254 && b >= 1 && b <= 252 && a - b >= -124 && a - b <= 125;
    return !refines;
  });
  v.q = ~v.p;
}

void plop(const Instruction& instruction, LaneValues& v) {
  const LaneMask result = combine(v.predicate_a, instruction.plop_op(), v.predicate_b);
  v.p = result;
  v.q = ~result;
}

constexpr Window window_for(Space space) {
  switch (space) {
    case Space::shared:
      return Window::shared;
    case Space::local:
      return Window::local;
    case Space::constant:
      return Window::constant;
    default:
      return Window::global;
  }
}

template <typename Address>
void in_space(const Instruction& instruction, LaneValues& v) {
  const Window wanted = window_for(instruction.sub_space());
  v.p = mask_of([&](unsigned lane) { return window_of(u64{get<Address>(v.a, lane)}) == wanted; });
  v.q = ~v.p;
}

}  // namespace

HEDDLE_LANES(SETP_S32) {
  return pick<Compare<s32>, kIntegerComparisons>(instruction.c);
}
HEDDLE_LANES(SETP_U32) {
  if (instruction.comparison() == Comparison::any) return &compare_bits;
  return pick<Compare<u32>, kIntegerComparisons>(instruction.c);
}
HEDDLE_LANES(SETP_S64) {
  return pick<ComparePair<s32>, kIntegerComparisons>(instruction.c);
}
HEDDLE_LANES(SETP_U64) {
  return pick<ComparePair<u32>, kIntegerComparisons>(instruction.c);
}
HEDDLE_LANES(SETP_F32) {
  return instruction.setp_ftz() ? pick<Compare<float, true>, kFloatComparisons>(instruction.c)
                                : pick<Compare<float>, kFloatComparisons>(instruction.c);
}
HEDDLE_LANES(SETP_F64) {
  return pick<Compare<double>, kFloatComparisons>(instruction.c);
}
HEDDLE_LANES(SETP_H) {
  return instruction.bfloat() ? pick<CompareHalves<Bfloat16>, kFloatComparisons>(instruction.c)
                              : pick<CompareHalves<Binary16>, kFloatComparisons>(instruction.c);
}
HEDDLE_LANES(TESTP_F32) {
  return pick<Test<u32, kInfinity32>, kTests>(instruction.c);
}
HEDDLE_LANES(TESTP_F64) {
  return pick<Test<u64, kInfinity64>, kTests>(instruction.c);
}
HEDDLE_LANES(FCHK) {
  return &check_division;
}
HEDDLE_LANES(PLOP) {
  return &plop;
}
HEDDLE_LANES(ISSPACEP) {
  return &in_space<u32>;
}
HEDDLE_LANES(ISSPACEP_E) {
  return &in_space<u64>;
}

}  // namespace heddle::isa::lanes
