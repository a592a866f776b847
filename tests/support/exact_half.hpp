// Numbers of 16 bits computed in integers of any size and rounded once: what tests of binary16 and bfloat16 compare
// with.
#pragma once

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <cstdint>

namespace heddle::test {

template <unsigned Fraction, int Least>
struct ExactHalf {
  using Exact = boost::multiprecision::cpp_int;
  using Bits = std::uint32_t;
  static constexpr Bits kSign = 0x8000, kNan = 0x7fff;
  static constexpr Bits kInfinity = 0x7fff >> Fraction << Fraction;
  static constexpr int kQuantum = Least - static_cast<int>(Fraction);  // exponent of the least number above zero

  static bool is_nan(Bits x) { return (x & 0x7fff) > kInfinity; }
  static bool is_infinite(Bits x) { return (x & 0x7fff) == kInfinity; }
  static bool is_negative(Bits x) { return (x & kSign) != 0; }
  static bool is_zero(Bits x) { return (x & 0x7fff) == 0; }
  static bool is_subnormal(Bits x) { return (x & 0x7fff) < (1U << Fraction); }

  // In counts of 2^kQuantum.
  static Exact steps(Bits x) {
    const unsigned exponent = (x & 0x7fff) >> Fraction;
    const Exact fraction = x & ((1U << Fraction) - 1);
    const Exact value = exponent == 0 ? fraction : Exact(fraction + (1U << Fraction)) << (exponent - 1);
    return is_negative(x) ? Exact(-value) : value;
  }
  // To nearest, ties to even, of counts of 2^(2 kQuantum).
  static Bits rounded(const Exact& x, bool negative_zero) {
    if (x == 0) {
      return negative_zero ? kSign : 0;
    }
    const Bits sign = x < 0 ? kSign : 0;
    const Exact size = x < 0 ? Exact(-x) : x;
    const int exponent = std::max(Least, 2 * kQuantum + static_cast<int>(msb(size)));  // 2^exponent <= size
    const unsigned shift = static_cast<unsigned>(exponent - static_cast<int>(Fraction) - 2 * kQuantum);
    Exact kept = size >> shift;
    const Exact rest = size - (kept << shift);
    const Exact tie = Exact(1) << (shift - 1);
    if (rest > tie || (rest == tie && (kept & 1) != 0)) {
      ++kept;
    }
    const Exact bits = (Exact(exponent - Least) << Fraction) + kept;
    return sign | (bits >= kInfinity ? kInfinity : static_cast<Bits>(bits));
  }

  static Bits fused(Bits a, Bits b, Bits c) {
    const bool negative = is_negative(a) != is_negative(b);  // the product
    const bool endless = is_infinite(a) || is_infinite(b);
    if (is_nan(a) || is_nan(b) || is_nan(c) || (endless && (is_zero(a) || is_zero(b)))) {
      return kNan;
    }
    if (endless && is_infinite(c) && negative != is_negative(c)) {
      return kNan;
    }
    if (endless) {
      return kInfinity | (negative ? kSign : 0);
    }
    if (is_infinite(c)) {
      return c;
    }
    const Exact product = steps(a) * steps(b);
    const bool zeros = (is_zero(a) || is_zero(b)) && is_zero(c);
    return rounded(product + (steps(c) << static_cast<unsigned>(-kQuantum)), zeros && negative && is_negative(c));
  }
  static constexpr Bits kOne = static_cast<Bits>(1 - Least) << Fraction;
  static Bits sum(Bits a, Bits b) { return fused(a, kOne, b); }
  static Bits difference(Bits a, Bits b) { return is_nan(b) ? kNan : sum(a, b ^ kSign); }
  static Bits product(Bits a, Bits b) {  // zero plus a zero of its sign
    return fused(a, b, (a ^ b) & kSign);
  }
  static Bits saturated(Bits a) { return is_nan(a) || is_negative(a) ? 0 : std::min(a, kOne); }
  static Bits relu(Bits a) { return !is_nan(a) && is_negative(a) ? 0 : a; }
  static Bits flushed(Bits a) { return is_subnormal(a) ? a & kSign : a; }
  // -1, 0, 1 of numbers, zeros by their sign.
  static int order(Bits a, Bits b) {
    const auto key = [](Bits x) { return is_negative(x) ? -static_cast<int>(x & 0x7fff) - 1 : static_cast<int>(x); };
    return key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0;
  }
  static Bits extreme(Bits a, Bits b, bool maximum, bool propagates) {
    if (is_nan(a) || is_nan(b)) {
      return propagates || (is_nan(a) && is_nan(b)) ? kNan : is_nan(a) ? b : a;
    }
    return (order(a, b) > 0) == maximum ? a : b;
  }
};

using ExactBinary16 = ExactHalf<10, -14>;
using ExactBfloat16 = ExactHalf<7, -126>;

}  // namespace heddle::test
