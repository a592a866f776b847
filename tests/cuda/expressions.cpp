#include "tests/cuda/expressions.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace heddle::test {

std::string Expressions::prelude() {
  return R"(
typedef signed char i8; typedef unsigned char u8; typedef short i16; typedef unsigned short u16;
typedef int i32; typedef unsigned u32; typedef long long i64; typedef unsigned long long u64;
typedef float f32; typedef double f64;
struct Input { i64 i64_[3]; u64 u64_[3]; f64 f64_[3]; i32 i32_[3]; u32 u32_[3]; f32 f32_[3]; i16 i16_[3];
               u16 u16_[3]; i8 i8_[3]; u8 u8_[3]; u8 unused[6]; };

// Per integer type: unsigned of its width, what to compute in, width, and the range for conversions.
template <class T> struct Of;
#define OF(T, UNSIGNED, WIDE, WIDTH, LOW, HIGH) \
  template <> struct Of<T> { typedef UNSIGNED U; typedef WIDE P; static const u32 width = WIDTH; \
    static FUNCTION f64 low() { return LOW; } static FUNCTION f64 high() { return HIGH; } };
OF(i8, u8, u32, 8, -0x1p7, 0x1p7)     OF(u8, u8, u32, 8, 0, 0x1p8)
OF(i16, u16, u32, 16, -0x1p15, 0x1p15) OF(u16, u16, u32, 16, 0, 0x1p16)
OF(i32, u32, u32, 32, -0x1p31, 0x1p31) OF(u32, u32, u32, 32, 0, 0x1p32)
OF(i64, u64, u64, 64, -0x1p63, 0x1p63) OF(u64, u64, u64, 64, 0, 0x1p64)
#define EACH template <class T> static inline FUNCTION T
#define WIDE(x) (typename Of<T>::P)(typename Of<T>::U)(x)
EACH add(T a, T b) { return (T)(WIDE(a) + WIDE(b)); }
EACH sub(T a, T b) { return (T)(WIDE(a) - WIDE(b)); }
EACH mul(T a, T b) { return (T)(WIDE(a) * WIDE(b)); }
EACH neg(T a) { return (T)(0 - WIDE(a)); }
EACH quot(T a, T b) { return b == 0 ? a : (T)-1 < 0 && b == (T)-1 ? neg(a) : (T)(a / b); }
EACH rem(T a, T b) { return b == 0 ? a : (T)-1 < 0 && b == (T)-1 ? (T)0 : (T)(a % b); }
EACH shl(T a, u32 s) { return (T)(WIDE(a) << (s & (Of<T>::width - 1))); }
EACH shr(T a, u32 s) { return (T)(a >> (s & (Of<T>::width - 1))); }
EACH rotl(T a, u32 s) {
  const u32 m = Of<T>::width - 1;
  return (T)(WIDE(a) << (s & m) | WIDE(a) >> ((Of<T>::width - s) & m));
}
EACH rotr(T a, u32 s) {
  const u32 m = Of<T>::width - 1;
  return (T)(WIDE(a) >> (s & m) | WIDE(a) << (-s & m));
}
EACH rotl_unless_0(T a, u32 s) {
  s %= Of<T>::width;
  return s == 0 ? a : (T)(WIDE(a) << s | WIDE(a) >> (Of<T>::width - s));
}
EACH least(T a, T b) { return a < b ? a : b; }
EACH most(T a, T b) { return a < b ? b : a; }
EACH apart(T a, T b) { return a < b ? sub(b, a) : sub(a, b); }
EACH field(T a, u32 from, u32 bits) {
  return (T)((WIDE(a) >> (from & (Of<T>::width - 1))) & (((typename Of<T>::P)1 << (bits & (Of<T>::width - 1))) - 1));
}
EACH mix(T a, T b, u32 steps) {
  for (u32 i = steps & 7; i != 0; --i) a = (a & 1) != 0 ? add(rotl(a, (u32)b), b) : sub(shr(a, 1), b);
  return a;
}
EACH from_f32(f32 x) { return x >= (f32)Of<T>::low() && x < (f32)Of<T>::high() ? (T)x : (T)0; }
EACH from_f64(f64 x) { return x >= Of<T>::low() && x < Of<T>::high() ? (T)x : (T)1; }
static inline FUNCTION u32 mulhi(u32 a, u32 b) { return (u32)((u64)a * b >> 32); }
static inline FUNCTION i32 mulhi(i32 a, i32 b) { return (i32)((i64)a * b >> 32); }
static inline FUNCTION u32 funnel_left(u32 a, u32 b, u32 s) { return (u32)((((u64)a << 32 | b) << (s & 31)) >> 32); }
static inline FUNCTION u32 funnel_right(u32 a, u32 b, u32 s) { return (u32)(((u64)a << 32 | b) >> (s & 31)); }
static inline FUNCTION u32 leading(u32 a) { return a == 0 ? 32 : (u32)__builtin_clz(a); }
static inline FUNCTION u32 trailing(u32 a) { return a == 0 ? 32 : (u32)__builtin_ctz(a); }
static inline FUNCTION u64 leading(u64 a) { return a == 0 ? 64 : (u64)__builtin_clzll(a); }
static inline FUNCTION u64 trailing(u64 a) { return a == 0 ? 64 : (u64)__builtin_ctzll(a); }
static inline FUNCTION u32 ones(u32 a) { return (u32)__builtin_popcount(a); }
static inline FUNCTION u64 ones(u64 a) { return (u64)__builtin_popcountll(a); }
static inline FUNCTION u32 bytes_turned(u32 a) { return __builtin_bswap32(a); }
static inline FUNCTION u64 bytes_turned(u64 a) { return __builtin_bswap64(a); }
static inline FUNCTION f32 fused(f32 a, f32 b, f32 c) { return __builtin_fmaf(a, b, c); }
static inline FUNCTION f64 fused(f64 a, f64 b, f64 c) { return __builtin_fma(a, b, c); }
static inline FUNCTION f32 magnitude(f32 a) { return __builtin_fabsf(a); }
static inline FUNCTION f64 magnitude(f64 a) { return __builtin_fabs(a); }
template <class T> static inline FUNCTION void put(u64* out, T x) { *out = (u64)(i64)x; }
static inline FUNCTION void put(u64* out, f32 x) {
  u32 bits;
  __builtin_memcpy(&bits, &x, 4);
  *out = x == x ? bits : ~0ull;
}
static inline FUNCTION void put(u64* out, f64 x) {
  u64 bits;
  __builtin_memcpy(&bits, &x, 8);
  *out = x == x ? bits : ~0ull;
}
)";
}

std::string Expressions::function(unsigned number) {
  const Type type = any();
  return fmt::format("FUNCTION void e{}(const Input& in, u64* out) {{ put(out, ({}){}); }}\n", number, kNames[type],
                     of(type, 4 + below(2)));
}

std::string Expressions::of(Type type, unsigned depth) {
  if (depth == 0 || below(8) == 0) return leaf(type);
  if (below(8) == 0) {
    return fmt::format("({} ? {} : {})", condition(depth - 1), of(type, depth - 1), of(type, depth - 1));
  }
  return real(type) ? floating(type, depth - 1) : integer(type, depth - 1);
}

std::string Expressions::leaf(Type type) {
  if (below(5) != 0) return fmt::format("in.{}_[{}]", kNames[type], below(ExpressionInput::kEach));
  if (real(type))
    return fmt::format("({}){}", kNames[type], static_cast<int>(below(2001)) - 1000) + (below(2) ? ".5" : ".0");
  return fmt::format("({}){}ull", kNames[type], below(2) != 0 ? bits() : below(70));
}

std::string Expressions::integer(Type type, unsigned depth) {
  const char* const name = kNames[type];
  switch (below(16)) {
    case 0:
    case 1: {
      static constexpr std::array<const char*, 5> kBinary = {"add", "sub", "mul", "quot", "rem"};
      return fmt::format("{}<{}>({}, {})", kBinary[below(5)], name, of(type, depth), of(type, depth));
    }
    case 2:
    case 3:
      return fmt::format("({})({} {} {})", name, of(type, depth), "&|^"[below(3)], of(type, depth));
    case 4:
      return fmt::format("{}<{}>({}, {})", below(2) != 0 ? "shl" : "shr", name, of(type, depth), amount(depth));
    case 5:
    case 6: {
      static constexpr std::array<const char*, 3> kRotates = {"rotl", "rotr", "rotl_unless_0"};
      return fmt::format("{}<{}>({}, {})", kRotates[below(3)], name, of(type, depth), amount(depth));
    }
    case 7: {
      static constexpr std::array<const char*, 3> kPairs = {"least", "most", "apart"};
      return fmt::format("{}<{}>({}, {})", kPairs[below(3)], name, of(type, depth), of(type, depth));
    }
    case 8:
      return fmt::format("field<{}>({}, {}, {})", name, of(type, depth), amount(depth), amount(depth));
    case 9:
      return fmt::format("mix<{}>({}, {}, {})", name, of(type, depth), of(type, depth), amount(depth));
    case 10:
      return fmt::format("({}){}", name,
                         below(2) != 0 ? "~" + of(type, depth) : fmt::format("neg<{}>({})", name, of(type, depth)));
    case 11: {
      const Type from = below(2) != 0 ? f32 : f64;
      return fmt::format("from_{}<{}>({})", kNames[from], name, of(from, depth));
    }
    case 12: {
      const Type from = below(2) != 0 ? u32 : u64;
      static constexpr std::array<const char*, 4> kCounts = {"leading", "trailing", "ones", "bytes_turned"};
      return fmt::format("({}){}({})", name, kCounts[below(4)], of(from, depth));
    }
    case 13:
      return below(2) != 0 ? fmt::format("({})mulhi({}, {})", name, of(u32, depth), of(u32, depth))
                           : fmt::format("({})mulhi({}, {})", name, of(i32, depth), of(i32, depth));
    case 14:
      return fmt::format("({})funnel_{}({}, {}, {})", name, below(2) != 0 ? "left" : "right", of(u32, depth),
                         of(u32, depth), amount(depth));
    default:
      return fmt::format("({}){}", name, of(any_integer(), depth));
  }
}

std::string Expressions::floating(Type type, unsigned depth) {
  const char* const name = kNames[type];
  switch (below(8)) {
    case 0:
    case 1:
    case 2:
      return fmt::format("({} {} {})", of(type, depth), "+-*/"[below(4)], of(type, depth));
    case 3:
      return fmt::format("fused({}, {}, {})", of(type, depth), of(type, depth), of(type, depth));
    case 4:
      return below(2) != 0 ? fmt::format("(-{})", of(type, depth)) : fmt::format("magnitude({})", of(type, depth));
    case 5:
      return fmt::format("{}<{}>({}, {})", below(2) != 0 ? "least" : "most", name, of(type, depth), of(type, depth));
    case 6:
      return fmt::format("({}){}", name, of(type == f32 ? f64 : f32, depth));
    default:
      return fmt::format("({}){}", name, of(any_integer(), depth));
  }
}

std::string Expressions::condition(unsigned depth) {
  if (depth != 0 && below(4) == 0) {
    return fmt::format("({} {} {})", condition(depth - 1), below(2) != 0 ? "&&" : "||", condition(depth - 1));
  }
  static constexpr std::array<const char*, 6> kComparisons = {"<", "<=", ">", ">=", "==", "!="};
  const Type type = any();
  return fmt::format("({} {} {})", of(type, depth / 2), kComparisons[below(6)], of(type, depth / 2));
}

// Often beyond the width.
std::string Expressions::amount(unsigned depth) {
  return below(4) == 0 ? fmt::format("{}u", below(80)) : fmt::format("(u32){}", of(any_integer(), depth / 2));
}

std::uint64_t Expressions::bits() {
  const std::uint64_t value = random_() >> below(64);
  return below(4) == 0 ? ~value : value;
}

double Expressions::number() {
  switch (below(8)) {
    case 0:
      return std::array{0.0,
                        -0.0,
                        std::numeric_limits<double>::infinity(),
                        std::numeric_limits<double>::quiet_NaN(),
                        0x1p-1074,
                        0x1p-140,
                        0x1p31,
                        0x1p63}[below(8)];
    case 1:
      return static_cast<double>(static_cast<std::int64_t>(bits()));
    default:
      return std::ldexp(static_cast<double>(static_cast<std::int64_t>(random_())),
                        -63 + static_cast<int>(below(40)) - 8);
  }
}

ExpressionInput Expressions::input() {
  ExpressionInput in{};
  for (unsigned i = 0; i < ExpressionInput::kEach; ++i) {
    in.i64[i] = static_cast<std::int64_t>(bits());
    in.u64[i] = bits();
    in.f64[i] = number();
    in.i32[i] = static_cast<std::int32_t>(bits());
    in.u32[i] = static_cast<std::uint32_t>(bits());
    in.f32[i] = static_cast<float>(number());
    in.i16[i] = static_cast<std::int16_t>(bits());
    in.u16[i] = static_cast<std::uint16_t>(bits());
    in.i8[i] = static_cast<std::int8_t>(bits());
    in.u8[i] = static_cast<std::uint8_t>(bits());
  }
  return in;
}

}  // namespace heddle::test
