// Products of matrices that the lanes of a warp hold in parts, and loads of such matrices (PTX ISA, "Matrix Fragments
// for mma" and "ldmatrix"). In a fragment lane l has to do with row or column l / 4, and with the l % 4-th neighbours
// in it.
#include <algorithm>
#include <array>
#include <limits>

#include "isa/lane_half.hpp"
#include "isa/lane_loops.hpp"
#include "isa/lane_selectors.hpp"

namespace heddle::isa::lanes {

namespace {

constexpr unsigned kColumns = 8;  // of b and of the sum
constexpr unsigned kMostRows = 16;
constexpr unsigned kMostDepth = 32;

// The formats of factors. Part: what a register, or a pair for f64, holds.
template <Factor>
struct Element;
template <class Format>
struct HalfElement {
  using Value = float;
  using Sum = float;
  static Value at(u64 part, unsigned index) {
    return static_cast<float>(widened<Format>(u32(part >> 16 * index) & 0xffffU));
  }
};
template <>
struct Element<Factor::f16> : HalfElement<Binary16> {};
template <>
struct Element<Factor::bf16> : HalfElement<Bfloat16> {};
template <>
struct Element<Factor::tf32> {
  using Value = float;
  using Sum = float;
  static Value at(u64 part, unsigned /*index*/) { return f32(u32(part) & ~u32{0x1fff}); }
};
template <>
struct Element<Factor::s8> {
  using Value = s64;
  using Sum = s64;
  static Value at(u64 part, unsigned index) { return static_cast<std::int8_t>(part >> 8 * index); }
};
template <>
struct Element<Factor::u8> {
  using Value = s64;
  using Sum = s64;
  static Value at(u64 part, unsigned index) { return static_cast<std::uint8_t>(part >> 8 * index); }
};
template <>
struct Element<Factor::f64> {
  using Value = double;
  using Sum = double;
  static Value at(u64 part, unsigned /*index*/) { return f64(part); }
};

// The registers of lanes that do not execute read zero.
u64 part_of(const LaneValues& v, const LaneWord* words, bool pair, unsigned part, unsigned lane) {
  if (!lane_bit(v.active, lane)) return 0;
  return pair ? words[2 * part][lane] | u64{words[2 * part + 1][lane]} << 32U : words[part][lane];
}

// One after the other, each product added to the sum so far and rounded: PTX leaves the order and the precision between
// products open. Products of 16-bit elements are exact in binary32.
float added(float sum, float a, float b) {
  return sum + a * b;
}
double added(double sum, double a, double b) {
  return std::fma(a, b, sum);
}
s64 added(s64 sum, s64 a, s64 b) {
  return sum + a * b;
}

template <Factor A, Factor B>
void multiply(const Instruction& instruction, LaneValues& v) {
  using Sum = typename Element<A>::Sum;
  constexpr bool kPair = A == Factor::f64;
  constexpr bool kInteger = A == Factor::s8 || A == Factor::u8;
  const MatrixShape shape = matrix_shape(instruction);
  const unsigned parts = instruction.matrix_parts();
  const unsigned elements = elements_per_register(A);
  std::array<std::array<typename Element<A>::Value, kMostDepth>, kMostRows> a;
  std::array<std::array<typename Element<B>::Value, kMostDepth>, kColumns> b;  // by column
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const unsigned line = lane / 4;
    const unsigned first = lane % 4 * elements;
    for (unsigned part = 0; part < parts; ++part) {
      const u64 bits = part_of(v, v.a.data(), kPair, part, lane);
      for (unsigned i = 0; i < elements; ++i) {
        a[line + 8 * (part % 2)][first + i + 4 * elements * (part / 2)] = Element<A>::at(bits, i);
      }
    }
    for (unsigned part = 0; part < (parts == 4 ? 2U : 1U); ++part) {
      const u64 bits = part_of(v, v.b.data(), kPair, part, lane);
      for (unsigned i = 0; i < elements; ++i) b[line][first + i + 4 * elements * part] = Element<B>::at(bits, i);
    }
  }
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    for (unsigned part = 0; part < shape.rows / 4; ++part) {  // two neighbours in each eight rows
      const auto& row = a[lane / 4 + 8 * (part / 2)];
      const auto& column = b[lane % 4 * 2 + part % 2];
      const unsigned shift = 16 * (part % 2);
      Sum sum{};
      if constexpr (kPair) {
        sum = f64(v.c[2 * part][lane] | u64{v.c[2 * part + 1][lane]} << 32U);
      } else if constexpr (kInteger) {
        sum = static_cast<s32>(v.c[part][lane]);
      } else {
        sum = instruction.half_sum() ? static_cast<float>(widened<Binary16>((v.c[part / 2][lane] >> shift) & 0xffffU))
                                     : f32(v.c[part][lane]);
      }
      for (unsigned k = 0; k < shape.depth; ++k) sum = added(sum, row[k], column[k]);
      if constexpr (kPair) {
        const u64 whole = finished(sum);
        v.result[2 * part][lane] = static_cast<u32>(whole);
        v.result[2 * part + 1][lane] = static_cast<u32>(whole >> 32U);
      } else if constexpr (kInteger) {
        if (instruction.clamps_sum()) {
          sum = std::clamp<s64>(sum, std::numeric_limits<s32>::min(), std::numeric_limits<s32>::max());
        }
        v.result[part][lane] = static_cast<u32>(sum);
      } else if (instruction.half_sum()) {
        u32& pair = v.result[part / 2][lane];
        pair = (part % 2 == 0 ? 0 : pair) | narrowed<Binary16, Rounding::rn>(sum) << shift;
      } else {
        v.result[part][lane] = finished<false>(sum);
      }
    }
  }
}

}  // namespace

HEDDLE_LANES(MMA) {
  const bool unsigned_b = instruction.factor_b() == Factor::u8;
  switch (instruction.factor_a()) {
    case Factor::f16:
      return &multiply<Factor::f16, Factor::f16>;
    case Factor::bf16:
      return &multiply<Factor::bf16, Factor::bf16>;
    case Factor::tf32:
      return &multiply<Factor::tf32, Factor::tf32>;
    case Factor::s8:
      return unsigned_b ? &multiply<Factor::s8, Factor::u8> : &multiply<Factor::s8, Factor::s8>;
    case Factor::u8:
      return unsigned_b ? &multiply<Factor::u8, Factor::u8> : &multiply<Factor::u8, Factor::s8>;
    case Factor::f64:
      return &multiply<Factor::f64, Factor::f64>;
  }
  return nullptr;
}

}  // namespace heddle::isa::lanes

namespace heddle::isa {

// Of each matrix a lane gets two 16-bit elements of row lane / 4 that are next to one another, or, transposed, two of
// column lane / 4 that are below one another.
void distribute_matrices(const Instruction& instruction, LaneValues& values) {
  const std::array<LaneWord, 4> rows = values.result;
  for (unsigned matrix = 0; matrix < instruction.matrices(); ++matrix) {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const unsigned line = lane / 4;
      const unsigned place = lane % 4;
      if (!instruction.transposed()) {
        values.result[matrix][lane] = rows[place][8 * matrix + line];
        continue;
      }
      const LaneWord& word = rows[line / 2];
      const unsigned shift = 16 * (line % 2);
      const std::uint32_t first = (word[8 * matrix + 2 * place] >> shift) & 0xffffU;
      const std::uint32_t second = (word[8 * matrix + 2 * place + 1] >> shift) & 0xffffU;
      values.result[matrix][lane] = first | second << 16U;
    }
  }
}

}  // namespace heddle::isa
