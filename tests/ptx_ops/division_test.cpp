// Division, reciprocals and roots in software (ptx/lower/division.hpp) where they are hardest to round: quotients and
// roots that lie next to the middle between two numbers, and divisors of ones alone, whose reciprocal is the only one
// that a step of Newton's does not round (Markstein, IBM Journal of Research and Development 34, 1990). And integers
// for which the estimate is furthest off. Expected is what the host's own operation gives.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "isa/interpreter.hpp"
#include "ptx/compile.hpp"
#include "tests/ptx_ops/kernel_text.hpp"

namespace heddle::ptx_ops {
namespace {

// Threads that each compute d = op(a, b), of operands of one type.
template <class T>
class Divisions {
 public:
  explicit Divisions(const std::string& opcode, const std::string& operands = "d, a, b")
      : text_(header(64) + ".visible .entry main(.param .u64 input, .param .u64 output)\n{\n  .reg ." + name_of<T>() +
              " a, b, d;\n  .reg .u64 in, out;\n  .reg .u32 i, n, w;\n  ld.param.u64 in, [input];\n"
              "  ld.param.u64 out, [output];\n  mov.u32 i, %tid.x;\n  mov.u32 w, %ctaid.x;\n  mov.u32 n, %ntid.x;\n"
              "  mad.lo.u32 i, w, n, i;\n  mad.wide.u32 in, i, " +
              std::to_string(2 * sizeof(T)) + ", in;\n  mad.wide.u32 out, i, " + std::to_string(sizeof(T)) +
              ", out;\n  ld.global." + name_of<T>() + " a, [in];\n  ld.global." + name_of<T>() + " b, [in+" +
              std::to_string(sizeof(T)) + "];\n  " + opcode + "." + name_of<T>() + " " + operands + ";\n  st.global." +
              name_of<T>() + " [out], d;\n  ret;\n}\n") {}

  void add(T a, T b = {}) {
    operands_.push_back(a);
    operands_.push_back(b);
  }

  // Against expected(a, b), bit by bit, or so many units in the last place beside it.
  template <class Function>
  void run(Function expected, double units = 0) const {
    const std::size_t threads = operands_.size() / 2 / kBlock * kBlock;
    ASSERT_GT(threads, 0U);
    ptx::CompileOptions options;
    options.software_division = true;
    const isa::Module module = ptx::compile(text_, "division.ptx", options);
    isa::DeviceMemory memory;
    load_module(module, memory);
    const u64 in = memory.allocate("input", operands_.size() * sizeof(T));
    const u64 out = memory.allocate("output", threads * sizeof(T));
    memory.write(in, std::as_bytes(std::span(operands_)));
    isa::LaunchRequest request{"main", {static_cast<u32>(threads / kBlock), 1, 1}, {kBlock, 1, 1}, 0, {}};
    request.parameters.resize(16);
    std::memcpy(request.parameters.data(), &in, 8);
    std::memcpy(request.parameters.data() + 8, &out, 8);
    isa::RetirementHash hash;
    const isa::InterpreterResult result = interpret(module, request, memory, hash);
    ASSERT_FALSE(result.fault) << describe(*result.fault, module);
    std::vector<T> found(threads);
    memory.read(out, std::as_writable_bytes(std::span(found)));
    unsigned wrong = 0;
    for (std::size_t i = 0; i < threads && wrong < 6; ++i) {
      const T a = operands_[2 * i];
      const T b = operands_[2 * i + 1];
      const T right = expected(a, b);
      if (std::memcmp(&found[i], &right, sizeof(T)) == 0) continue;
      const T step = std::is_floating_point_v<T> ? std::nextafter(right, T{0}) - right : T{0};
      if (units != 0 &&
          std::abs(static_cast<double>(found[i]) - right) <= units * std::abs(static_cast<double>(step))) {
        continue;
      }
      ADD_FAILURE() << std::hexfloat << a << " and " << b << ": " << found[i] << ", expected " << right;
      ++wrong;
    }
  }

 private:
  std::string text_;
  std::vector<T> operands_;
};

constexpr auto kQuotient = [](auto a, auto b) { return static_cast<decltype(a)>(a / b); };

u64 inverse_modulo_2_64(u64 odd) {
  u64 inverse = odd;
  for (int i = 0; i < 6; ++i) inverse *= 2 - odd * inverse;
  return inverse;
}

// a and b of `Bits` bits with a 2^s = b (2 m + 1) - d: the quotient lies by d / b beside the middle of two numbers.
template <class F, int Bits>
void add_middles(Divisions<F>& divisions, std::mt19937_64& random, unsigned count) {
  constexpr u64 kTop = u64{1} << (Bits - 1);
  for (unsigned added = 0; added < count;) {
    u64 b = kTop | (random() & (kTop - 1)) | 1;
    if (random() % 16 == 0) b = 2 * kTop - 1 - 2 * (random() % 8);
    const auto d = static_cast<s64>(random() % 33 * 2) - 33;
    const unsigned shift = Bits + random() % 2;
    u64 middle = (static_cast<u64>(-d) * inverse_modulo_2_64(b)) & ((u64{1} << shift) - 1);
    middle |= u64{1} << Bits;
    if (middle % 2 == 0) continue;
    const auto a =
        static_cast<u64>(((unsigned __int128){b} * middle + static_cast<unsigned __int128>(__int128{d})) >> shift);
    if (a == 0 || a >= 2 * kTop) continue;
    const int scale = static_cast<int>(random() % 41) - 20;
    // Every other pair so small that the rest, a - q b, is hardly a number any more, or none.
    constexpr int kLeast = std::numeric_limits<F>::min_exponent - std::numeric_limits<F>::digits;
    const int both = random() % 2 == 0 ? 0 : kLeast + Bits - 9 + static_cast<int>(random() % 17);
    const F sign = random() % 2 == 0 ? F{1} : F{-1};
    divisions.add(sign * std::ldexp(static_cast<F>(a), both != 0 ? both : scale), std::ldexp(static_cast<F>(b), both));
    ++added;
  }
}

template <class F>
F mantissa(u64 bits) {
  constexpr int kFraction = sizeof(F) == 4 ? 23 : 52;
  return std::ldexp(static_cast<F>((u64{1} << kFraction) | (bits & ((u64{1} << kFraction) - 1))), -kFraction);
}

template <class F, int Bits>
void hard_quotients() {
  std::mt19937_64 random(1);
  Divisions<F> divisions("div.rn");
  add_middles<F, Bits>(divisions, random, 1U << 17U);
  for (unsigned i = 0; i < 1U << 16U; ++i) {
    // Next to 2, next to 1, any.
    const F b = mantissa<F>(~u64{0} - random() % 8);
    divisions.add(mantissa<F>(i % 3 == 0 ? random() : i % 3 == 1 ? ~u64{0} - random() % 64 : random() % 64), b);
    divisions.add(mantissa<F>(random()), mantissa<F>(random() % 64));
  }
  divisions.run(kQuotient);
}

TEST(Division, RoundsQuotientsThatLieBesideTheMiddle) {
  hard_quotients<float, 24>();
  hard_quotients<double, 53>();
}

// Where the refinement ends and the operation begins.
template <class F>
void ends() {
  std::mt19937_64 random(2);
  Divisions<F> divisions("div.rn");
  Divisions<F> reciprocals("rcp.rn", "d, a");
  Divisions<F> roots("sqrt.rn", "d, a");
  constexpr int kLeast = std::numeric_limits<F>::min_exponent - std::numeric_limits<F>::digits;
  constexpr int kMost = std::numeric_limits<F>::max_exponent;
  for (unsigned i = 0; i < 1U << 16U; ++i) {
    const auto any = [&](int from, int to) {
      return std::ldexp(mantissa<F>(random()), from + static_cast<int>(random() % static_cast<unsigned>(to - from)));
    };
    const F end = i % 2 == 0 ? any(kLeast, kLeast + 130) : any(kMost - 40, kMost);
    divisions.add(end, any(kLeast, kMost));
    divisions.add(any(kLeast, kMost), end);
    divisions.add(end, std::ldexp(end, static_cast<int>(random() % 9) - 4));
    reciprocals.add(i % 3 == 0 ? -end : end);
    roots.add(end);
  }
  divisions.run(kQuotient);
  reciprocals.run([](F a, F) { return 1 / a; });
  roots.run([](F a, F) { return std::sqrt(a); });
}

TEST(Division, RoundsAtTheEndsOfTheRange) {
  ends<float>();
  ends<double>();
}

// Numbers that the special function unit takes for zero, and whose reciprocals it does.
TEST(Division, OfFullRangeTakesTheLargestAndTheSmallestDivisors) {
  std::mt19937_64 random(5);
  const auto any = [&](int from, unsigned to) {
    return std::ldexp(mantissa<float>(random()), from + static_cast<int>(random() % to));
  };
  Divisions<float> full("div.full");
  Divisions<float> flushed("div.full.ftz");
  for (unsigned i = 0; i < 1U << 16U; ++i) {
    const float large = any(120, 8);
    full.add(large * any(-100, 200), i % 2 == 0 ? large : any(-140, 24));
    flushed.add(large * any(-100, 100), large);
  }
  flushed.add(1.5F, 0x1.8p126F);
  full.run(kQuotient, 2);
  flushed.run(
      [](float a, float b) { return std::fpclassify(a / b) == FP_SUBNORMAL ? std::copysign(0.0F, a / b) : a / b; }, 2);
}

// A constant divisor is flushed as one in a register is.
TEST(Division, ByASubnormalConstant) {
  Divisions<float> divisions("div.approx.ftz", "d, a, 0f00400000");
  for (unsigned i = 0; i < 256; ++i) divisions.add(static_cast<float>(1 + i));
  divisions.run([](float, float) { return std::numeric_limits<float>::infinity(); });
}

TEST(Division, RoundsReciprocalsAndRootsOfAllFractions) {
  std::mt19937_64 random(3);
  Divisions<float> reciprocals("rcp.rn", "d, a");
  Divisions<float> roots("sqrt.rn", "d, a");
  for (u32 fraction = 0; fraction < 1U << 23U; fraction += 31) {
    reciprocals.add(std::ldexp(mantissa<float>(fraction), static_cast<int>(random() % 200) - 100));
    roots.add(std::ldexp(mantissa<float>(fraction), static_cast<int>(random() % 200) - 100));
  }
  for (u32 near = 0; near < 4096; ++near) reciprocals.add(mantissa<float>(~u64{near}));
  reciprocals.run([](float a, float) { return 1 / a; });
  roots.run([](float a, float) { return std::sqrt(a); });
  Divisions<double> wide("rcp.rn", "d, a");
  for (unsigned i = 0; i < 1U << 16U; ++i) wide.add(mantissa<double>(i % 2 == 0 ? random() : ~u64{i}));
  wide.run([](double a, double) { return 1 / a; });
}

// (2 m + 1)^2 = d modulo a power of two: numbers whose roots lie beside the middle of two numbers.
TEST(Division, RoundsRootsThatLieBesideTheMiddle) {
  Divisions<double> roots("sqrt.rn", "d, a");
  for (u64 d = 1; d < 80000; d += 8) {
    for (unsigned bits = 54; bits <= 57; ++bits) {
      u64 root = 1;
      for (unsigned i = 3; i < bits; ++i) root += ((root * root - d) >> i & 1U) << (i - 1);
      const u64 middle = (root & ((u64{1} << 54U) - 1)) | u64{1} << 53U;
      const auto square = (unsigned __int128){middle} * middle;
      const unsigned shift = (square >> 107U) != 0 ? 55 : 54;
      const auto x = static_cast<u64>(square >> shift);
      for (const u64 up : {0U, 1U}) {
        if (x + up < u64{1} << 53U) roots.add(std::ldexp(static_cast<double>(x + up), static_cast<int>(shift)));
      }
    }
  }
  roots.run([](double a, double) { return std::sqrt(a); });
}

template <class T>
void integers(const char* opcode, T (*expected)(T, T)) {
  std::mt19937_64 random(4);
  Divisions<T> divisions(opcode);
  constexpr unsigned kBits = 8 * sizeof(T);
  for (unsigned i = 0; i < 1U << 17U; ++i) {
    T b = static_cast<T>(random() >> (64 - kBits) >> random() % kBits);
    if (b == 0) b = 1;
    if (i % 5 == 0) b = static_cast<T>((T{1} << random() % (kBits - 1)) + static_cast<T>(random() % 3) - 1);
    if (b == 0) b = 3;
    // Multiples of b and what is next to them, and the largest numbers, for which an estimate is furthest off.
    T a = static_cast<T>(~u64{0} >> (std::is_signed_v<T> ? 1U : 0U) >> (64 - kBits));
    if (i % 4 == 0) a = static_cast<T>(random());
    if (i % 4 == 1) a = static_cast<T>(a / b * b - static_cast<T>(random() % 2));
    if (i % 4 == 2) a = static_cast<T>(a - static_cast<T>(random() % 1024));
    if (std::is_signed_v<T> && i % 7 == 0) a = static_cast<T>(-a);
    if (std::is_signed_v<T> && i % 9 == 0) b = static_cast<T>(-b);
    divisions.add(a, b);
  }
  divisions.run(expected);
}

TEST(Division, OfIntegersWhereTheEstimateIsFurthestOff) {
  integers<u32>("div", [](u32 a, u32 b) { return a / b; });
  integers<u32>("rem", [](u32 a, u32 b) { return a % b; });
  integers<s32>("div", [](s32 a, s32 b) { return a / b; });
  integers<s32>("rem", [](s32 a, s32 b) { return a % b; });
  integers<u64>("div", [](u64 a, u64 b) { return a / b; });
  integers<u64>("rem", [](u64 a, u64 b) { return a % b; });
  integers<s64>("div", [](s64 a, s64 b) { return a / b; });
  integers<s64>("rem", [](s64 a, s64 b) { return a % b; });
}

}  // namespace
}  // namespace heddle::ptx_ops
