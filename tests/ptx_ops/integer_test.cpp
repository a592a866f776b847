// Integer arithmetic: add sub addc subc neg abs min max sad div rem, carries and saturation (PTX ISA, section 9.7.1 and
// 9.7.2). Division by zero, which PTX leaves open, gives all ones, and the remainder the dividend.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "tests/ptx_ops/operation_table.hpp"

namespace heddle::ptx_ops {
namespace {

template <class T>
using Wide = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;

template <class T>
T quotient(T a, T b) {
  return b == 0 ? static_cast<T>(~T{0}) : static_cast<T>(Wide<T>{a} / Wide<T>{b});
}
template <class T>
T remainder(T a, T b) {
  return b == 0 ? a : static_cast<T>(Wide<T>{a} % Wide<T>{b});
}

template <class T>
void every_type(OperationTable& table) {
  const std::string type = "." + name_of<T>() + " $d, $a, $b;";
  table.add("add" + type, [](T a, T b) { return static_cast<T>(Wide<T>{a} + b); });
  table.add("sub" + type, [](T a, T b) { return static_cast<T>(Wide<T>{a} - b); });
  table.add("div" + type, [](T a, T b) { return quotient(a, b); });
  table.add("rem" + type, [](T a, T b) { return remainder(a, b); });
  table.add("min" + type, [](T a, T b) { return std::min(a, b); });
  table.add("max" + type, [](T a, T b) { return std::max(a, b); });
  table.add("sad." + name_of<T>() + " $d, $a, $b, $c;", [](T a, T b, T c) {
    const Wide<T> difference = a > b ? Wide<T>{a} - b : Wide<T>{b} - a;
    return static_cast<T>(difference + c);
  });
}

TEST(PtxInteger, ArithmeticOfEveryType) {
  OperationTable table;
  every_type<u16>(table);
  every_type<s16>(table);
  every_type<u32>(table);
  every_type<s32>(table);
  every_type<u64>(table);
  every_type<s64>(table);
  table.run();
}

template <class T>
void signed_only(OperationTable& table) {
  table.add("neg." + name_of<T>() + " $d, $a;", [](T a) { return static_cast<T>(-Wide<T>{a}); });
  table.add("abs." + name_of<T>() + " $d, $a;", [](T a) { return static_cast<T>(a < 0 ? -Wide<T>{a} : Wide<T>{a}); });
}

TEST(PtxInteger, SignsAndSaturation) {
  OperationTable table;
  signed_only<s16>(table);
  signed_only<s32>(table);
  signed_only<s64>(table);
  table.add("add.sat.s32 $d, $a, $b;", [](s32 a, s32 b) { return saturated<s32>(s64{a} + b); });
  table.add("sub.sat.s32 $d, $a, $b;", [](s32 a, s32 b) { return saturated<s32>(s64{a} - b); });
  table.run();
}

// Carries made visible: two sums, the second with the carry of the first. The first goes through a scratch register,
// so that no result overwrites an operand that is still needed.
template <class T>
void carries(OperationTable& table, char scratch) {
  using U = std::make_unsigned_t<T>;
  using W = unsigned __int128;
  const std::string type = "." + name_of<T>() + " ";
  const std::string low = type + "$" + scratch + ", $a, $b; ";
  const auto carry = [](T a, T b, bool in) {
    return static_cast<bool>((W{static_cast<U>(a)} + static_cast<U>(b) + (in ? 1 : 0)) >> (8 * sizeof(T)));
  };
  const auto borrow = [](T a, T b, bool in) { return W{static_cast<U>(a)} < W{static_cast<U>(b)} + (in ? 1 : 0); };
  table.add("add.cc" + low + "addc" + type + "$d, $c, $c;",
            [carry](T a, T b, T c) { return static_cast<T>(W(c) + W(c) + carry(a, b, false)); });
  table.add("sub.cc" + low + "subc" + type + "$d, $c, $a;",
            [borrow](T a, T b, T c) { return static_cast<T>(W(c) - W(a) - borrow(a, b, false)); });
  // The middle one takes a carry and gives one.
  table.add("add.cc" + low + "addc.cc" + type + "$" + scratch + ", $c, $a; addc" + type + "$d, $b, 0;",
            [carry](T a, T b, T c) { return static_cast<T>(W(b) + carry(c, a, carry(a, b, false))); });
  table.add("sub.cc" + low + "subc.cc" + type + "$" + scratch + ", $c, $a; subc" + type + "$d, $b, 0;",
            [borrow](T a, T b, T c) { return static_cast<T>(W(b) - borrow(c, a, borrow(a, b, false))); });
  // The sums themselves.
  table.add("add.cc" + type + "$d, $a, $b;", [](T a, T b) { return static_cast<T>(W(a) + W(b)); });
  table.add("sub.cc" + type + "$d, $a, $b;", [](T a, T b) { return static_cast<T>(W(a) - W(b)); });
  // Subtraction leaves a borrow that addition reads as a carry of its own: there is one flag.
  table.add("sub.cc" + low + "addc" + type + "$d, $c, 0;",
            [borrow](T a, T b, T c) { return static_cast<T>(W(c) + borrow(a, b, false)); });
}

TEST(PtxInteger, Carries) {
  OperationTable table;
  carries<u32>(table, 't');
  carries<s32>(table, 't');
  carries<u64>(table, 'u');
  carries<s64>(table, 'u');
  table.run();
}

}  // namespace
}  // namespace heddle::ptx_ops
