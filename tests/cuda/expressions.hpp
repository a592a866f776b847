// Random C++ expressions on integers and floating-point numbers of all widths, for programs that two compilers compile.
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <string>

namespace heddle::test {

// What an expression computes with; `Input` in the text of prelude() has the same layout.
struct ExpressionInput {
  static constexpr unsigned kEach = 3;
  std::int64_t i64[kEach];
  std::uint64_t u64[kEach];
  double f64[kEach];
  std::int32_t i32[kEach];
  std::uint32_t u32[kEach];
  float f32[kEach];
  std::int16_t i16[kEach];
  std::uint16_t u16[kEach];
  std::int8_t i8[kEach];
  std::uint8_t u8[kEach];
  std::uint8_t unused[2 * kEach];
};

class Expressions {
 public:
  explicit Expressions(std::uint64_t seed) : random_(seed) {}

  // C++ text that both sides include first: types, Input, and functions that keep clear of undefined behaviour
  // (amounts of shifts below the width, no overflow of signed numbers, divisors that can divide, conversions in range).
  // Both sides define FUNCTION before it: what stands before a function's type.
  [[nodiscard]] static std::string prelude();

  // "void e12(const Input& in, u64* out)": stores the expression's value, integers extended to 64 bits, floating-point
  // numbers as their bits; every NaN as one number.
  [[nodiscard]] std::string function(unsigned number);

  // Ordinary values and values at the edges.
  [[nodiscard]] ExpressionInput input();

 private:
  enum Type : unsigned { i8, u8, i16, u16, i32, u32, i64, u64, f32, f64, kTypes };
  static constexpr std::array<const char*, kTypes> kNames = {"i8",  "u8",  "i16", "u16", "i32",
                                                             "u32", "i64", "u64", "f32", "f64"};
  static bool real(Type type) { return type >= f32; }

  unsigned below(unsigned count) { return static_cast<unsigned>(random_() % count); }
  Type any() { return static_cast<Type>(below(kTypes)); }
  Type any_integer() { return static_cast<Type>(below(f32)); }
  std::string of(Type type, unsigned depth);  // an expression of exactly this type
  std::string leaf(Type type);
  std::string integer(Type type, unsigned depth);
  std::string floating(Type type, unsigned depth);
  std::string condition(unsigned depth);
  std::string amount(unsigned depth);
  std::uint64_t bits();
  double number();

  std::mt19937_64 random_;
};

}  // namespace heddle::test
