// Integer products: mul mad mul24 mad24 mad.cc madc (PTX ISA, sections 9.7.1 and 9.7.2).
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "tests/ptx_ops/operation_table.hpp"

namespace heddle::ptx_ops {
namespace {

template <class T>
struct Twice;
template <>
struct Twice<u16> {
  using Type = u32;
};
template <>
struct Twice<s16> {
  using Type = s32;
};
template <>
struct Twice<u32> {
  using Type = u64;
};
template <>
struct Twice<s32> {
  using Type = s64;
};
template <>
struct Twice<u64> {
  using Type = unsigned __int128;
};
template <>
struct Twice<s64> {
  using Type = __int128;
};

template <class T>
typename Twice<T>::Type product(T a, T b) {
  return static_cast<typename Twice<T>::Type>(a) * static_cast<typename Twice<T>::Type>(b);
}
template <class T>
T high(T a, T b) {
  return static_cast<T>(product(a, b) >> (8 * sizeof(T)));
}
template <class T>
T low(T a, T b) {
  return static_cast<T>(product(a, b));
}
template <class T>
T sum(T a, T b) {
  return static_cast<T>(static_cast<u64>(a) + static_cast<u64>(b));
}

template <class T>
void halves(OperationTable& table) {
  const std::string type = "." + name_of<T>();
  table.add("mul.lo" + type + " $d, $a, $b;", [](T a, T b) { return low(a, b); });
  table.add("mul.hi" + type + " $d, $a, $b;", [](T a, T b) { return high(a, b); });
  table.add("mad.lo" + type + " $d, $a, $b, $c;", [](T a, T b, T c) { return sum(low(a, b), c); });
  table.add("mad.hi" + type + " $d, $a, $b, $c;", [](T a, T b, T c) { return sum(high(a, b), c); });
}

template <class T>
void wide(OperationTable& table) {
  using W = typename Twice<T>::Type;
  const std::string type = "." + name_of<T>();
  table.add("mul.wide" + type + " $d, $a, $b;", [](T a, T b) { return product(a, b); });
  table.add("mad.wide" + type + " $d, $a, $b, $c;", [](T a, T b, W c) { return sum<W>(product(a, b), c); });
}

TEST(PtxMultiply, EveryTypeAndHalf) {
  OperationTable table;
  halves<u16>(table);
  halves<s16>(table);
  halves<u32>(table);
  halves<s32>(table);
  halves<u64>(table);
  halves<s64>(table);
  wide<u16>(table);
  wide<s16>(table);
  wide<u32>(table);
  wide<s32>(table);
  table.add("mad.hi.sat.s32 $d, $a, $b, $c;", [](s32 a, s32 b, s32 c) { return saturated<s32>(s64{high(a, b)} + c); });
  table.run();
}

u64 product24(u32 a, u32 b) {
  return u64{a & 0xffffffU} * (b & 0xffffffU);
}
s64 product24(s32 a, s32 b) {
  const auto extended = [](s32 x) { return s64{static_cast<s32>(static_cast<u32>(x) << 8U) >> 8}; };
  return extended(a) * extended(b);
}

// .lo is bits 0 to 31 of the 48-bit product, .hi bits 16 to 47.
template <class T>
void of_24_bits(OperationTable& table) {
  const std::string type = "." + name_of<T>();
  table.add("mul24.lo" + type + " $d, $a, $b;", [](T a, T b) { return static_cast<T>(product24(a, b)); });
  table.add("mul24.hi" + type + " $d, $a, $b;", [](T a, T b) { return static_cast<T>(product24(a, b) >> 16); });
  table.add("mad24.lo" + type + " $d, $a, $b, $c;",
            [](T a, T b, T c) { return sum(static_cast<T>(product24(a, b)), c); });
  table.add("mad24.hi" + type + " $d, $a, $b, $c;",
            [](T a, T b, T c) { return sum(static_cast<T>(product24(a, b) >> 16), c); });
}

TEST(PtxMultiply, TwentyFourBits) {
  OperationTable table;
  of_24_bits<u32>(table);
  of_24_bits<s32>(table);
  table.add("mad24.hi.sat.s32 $d, $a, $b, $c;",
            [](s32 a, s32 b, s32 c) { return saturated<s32>(s64{static_cast<s32>(product24(a, b) >> 16)} + c); });
  table.run();
}

template <class T>
void carries_of_products(OperationTable& table, char scratch) {
  using U = std::make_unsigned_t<T>;
  const std::string type = "." + name_of<T>() + " ";
  const auto carry = [](T a, T b, bool in) {
    const unsigned __int128 total =
        static_cast<unsigned __int128>(static_cast<U>(a)) + static_cast<U>(b) + (in ? 1 : 0);
    return static_cast<T>((total >> (8 * sizeof(T))) & 1U);
  };
  for (const bool upper : {false, true}) {
    const std::string half = upper ? ".hi" : ".lo";
    const auto part = [upper](T a, T b) { return upper ? high(a, b) : low(a, b); };
    const std::string first = "mad" + half + ".cc" + type + "$" + scratch + ", $a, $b, $c; ";
    table.add(first + "madc" + half + type + "$d, $c, $b, $a;",
              [part, carry](T a, T b, T c) { return sum(sum(part(c, b), a), carry(part(a, b), c, false)); });
    table.add(first + "madc" + half + ".cc" + type + "$" + scratch + ", $c, $a, $b; addc" + type + "$d, $c, 0;",
              [part, carry](T a, T b, T c) {
                const T between = carry(part(a, b), c, false);
                return sum(c, carry(part(c, a), b, between != 0));
              });
    table.add("mad" + half + ".cc" + type + "$d, $a, $b, $c;", [part](T a, T b, T c) { return sum(part(a, b), c); });
  }
}

// The 8 or 16 bits of `value` from bit `at` on, as a type of that size has them.
template <class Part>
s64 part_of(u32 value, unsigned at) {
  return static_cast<Part>(value >> at);
}

template <class A, class B>
void dot_products(OperationTable& table) {
  using Result = std::conditional_t<std::is_signed_v<A> || std::is_signed_v<B>, s32, u32>;
  using A8 = std::conditional_t<std::is_signed_v<A>, std::int8_t, std::uint8_t>;
  using B8 = std::conditional_t<std::is_signed_v<B>, std::int8_t, std::uint8_t>;
  using A16 = std::conditional_t<std::is_signed_v<A>, s16, u16>;
  const std::string types = "." + name_of<A>() + "." + name_of<B>() + " $d, $a, $b, $c;";
  table.add("dp4a" + types, [](A a, B b, Result c) {
    s64 sum = c;
    for (unsigned i = 0; i < 32; i += 8)
      sum += part_of<A8>(static_cast<u32>(a), i) * part_of<B8>(static_cast<u32>(b), i);
    return static_cast<Result>(sum);
  });
  for (const unsigned first : {0U, 16U}) {
    table.add((first == 0 ? "dp2a.lo" : "dp2a.hi") + types, [first](A a, B b, Result c) {
      const u32 x = static_cast<u32>(a), y = static_cast<u32>(b);
      return static_cast<Result>(c + part_of<A16>(x, 0) * part_of<B8>(y, first) +
                                 part_of<A16>(x, 16) * part_of<B8>(y, first + 8));
    });
  }
}

TEST(PtxMultiply, DotProducts) {
  OperationTable table;
  dot_products<u32, u32>(table);
  dot_products<u32, s32>(table);
  dot_products<s32, u32>(table);
  dot_products<s32, s32>(table);
  table.run();
}

TEST(PtxMultiply, Carries) {
  OperationTable table;
  carries_of_products<u32>(table, 't');
  carries_of_products<s32>(table, 't');
  carries_of_products<u64>(table, 'u');
  carries_of_products<s64>(table, 'u');
  table.run();
}

}  // namespace
}  // namespace heddle::ptx_ops
