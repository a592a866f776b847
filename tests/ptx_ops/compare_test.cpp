// Comparison and selection: setp set selp slct testp (PTX ISA, sections 9.7.6 and 9.7.3).
#include <gtest/gtest.h>

#include <optional>

#include "tests/ptx_ops/host_float.hpp"
#include "tests/support/marks.hpp"

HEDDLE_LONG_SANITIZED("PtxCompare.Set", "PtxCompare.SetpOf*")

namespace heddle::ptx_ops {
namespace {

// One of the relations < = > and "unordered" holds between two values; a comparison is the set of relations that it
// accepts.
enum Relation : unsigned { kLess = 1, kEqual = 2, kGreater = 4, kUnordered = 8 };
struct Comparison {
  const char* name;
  unsigned accepts;
};
constexpr Comparison kEquality[] = {{"eq", kEqual}, {"ne", kLess | kGreater}};
constexpr Comparison kOrder[] = {{"lt", kLess}, {"le", kLess | kEqual}, {"gt", kGreater}, {"ge", kGreater | kEqual}};
constexpr Comparison kUnsignedOrder[] = {
    {"lo", kLess}, {"ls", kLess | kEqual}, {"hi", kGreater}, {"hs", kGreater | kEqual}};
constexpr Comparison kWithNan[] = {{"equ", kEqual | kUnordered},       {"neu", kLess | kGreater | kUnordered},
                                   {"ltu", kLess | kUnordered},        {"leu", kLess | kEqual | kUnordered},
                                   {"gtu", kGreater | kUnordered},     {"geu", kGreater | kEqual | kUnordered},
                                   {"num", kLess | kEqual | kGreater}, {"nan", kUnordered}};

template <class T>
bool accepted(T a, T b, unsigned accepts, bool ftz) {
  if constexpr (std::is_floating_point_v<T>) {
    a = flush(a, ftz);
    b = flush(b, ftz);
    if (std::isnan(a) || std::isnan(b)) return (accepts & kUnordered) != 0;
  }
  return (accepts & (a < b ? kLess : a > b ? kGreater : kEqual)) != 0;
}

struct Combination {
  const char* name;
  bool (*of)(bool, bool);
};
constexpr Combination kCombinations[] = {{".and", [](bool t, bool c) { return t && c; }},
                                         {".or", [](bool t, bool c) { return t || c; }},
                                         {".xor", [](bool t, bool c) { return t != c; }}};

// f(type suffix, comparison, ftz) for every legal comparison of a type.
template <class T, class Function>
void every_comparison(Function f) {
  constexpr bool kReal = std::is_floating_point_v<T>;
  const std::string type = "." + name_of<T>();
  const auto all = [&](const auto& comparisons, const std::string& suffix) {
    for (const Comparison& comparison : comparisons) {
      f(suffix, comparison, false);
      if (sizeof(T) == 4 && kReal) f(".ftz" + suffix, comparison, true);
    }
  };
  all(kEquality, type);
  all(kOrder, type);
  if constexpr (kReal) all(kWithNan, type);
  if constexpr (std::is_unsigned_v<T>) {
    all(kUnsignedOrder, type);
    all(kEquality, ".b" + std::to_string(8 * sizeof(T)));
  }
}

template <class T>
void setp(OperationTable& table) {
  every_comparison<T>([&](const std::string& type, const Comparison& comparison, bool ftz) {
    const unsigned accepts = comparison.accepts;
    const std::string setp = std::string("setp.") + comparison.name;
    table.add(setp + type + " $d, $a, $b;", [=](T a, T b) { return accepted(a, b, accepts, ftz); });
    table.add(setp + type + " $d|$q, $a, $b;", [=](T a, T b) {
      const bool t = accepted(a, b, accepts, ftz);
      return std::pair(t, !t);
    });
    for (const Combination& combination : kCombinations) {
      const auto of = combination.of;
      table.add(setp + combination.name + type + " $d|$q, $a, $b, $c;", [accepts, ftz, of](T a, T b, bool c) {
        const bool t = accepted(a, b, accepts, ftz);
        return std::pair(of(t, c), of(!t, c));
      });
    }
    table.add(setp + ".and" + type + " $d, $a, $b, !$c;",
              [=](T a, T b, bool c) { return accepted(a, b, accepts, ftz) && !c; });
  });
}

TEST(PtxCompare, SetpOfIntegers) {
  OperationTable small, words, pairs;
  setp<u16>(small);
  setp<s16>(small);
  setp<u32>(words);
  setp<s32>(words);
  setp<u64>(pairs);
  setp<s64>(pairs);
  small.run();
  words.run();
  pairs.run();
}

// A result that is not wanted.
TEST(PtxCompare, Sinks) {
  OperationTable table;
  table.add("setp.lt.s32 _|$d, $a, $b;", [](s32 a, s32 b) { return a >= b; });
  table.add("setp.lt.and.f64 _|$d, $a, $b, $c;", [](double a, double b, bool c) { return !(a < b) && c; });
  table.add("setp.gt.u64 $d|_, $a, $b;", [](u64 a, u64 b) { return a > b; });
  table.add("lop3.or.b32 _|$d, $a, $b, $c, 0x96, $e;",
            [](u32 a, u32 b, u32 c, bool e) { return (a ^ b ^ c) != 0 || e; });
  table.run();
}

TEST(PtxCompare, SetpOfFloats) {
  OperationTable singles, doubles;
  setp<float>(singles);
  setp<double>(doubles);
  singles.run();
  doubles.run();
}

template <class T>
void set(OperationTable& table) {
  every_comparison<T>([&](const std::string& type, const Comparison& comparison, bool ftz) {
    const unsigned accepts = comparison.accepts;
    // .ftz stands before the result type.
    const std::string flush = ftz ? ".ftz" : "";
    const std::string name = std::string("set.") + comparison.name;
    const std::string from = type.substr(flush.size());
    table.add(name + flush + ".u32" + from + " $d, $a, $b;",
              [=](T a, T b) { return accepted(a, b, accepts, ftz) ? ~u32{0} : u32{0}; });
    table.add(name + flush + ".s32" + from + " $d, $a, $b;",
              [=](T a, T b) { return accepted(a, b, accepts, ftz) ? s32{-1} : s32{0}; });
    table.add(name + flush + ".f32" + from + " $d, $a, $b;",
              [=](T a, T b) { return accepted(a, b, accepts, ftz) ? 1.0F : 0.0F; });
    table.add(name + ".xor" + flush + ".u32" + from + " $d, $a, $b, !$c;",
              [=](T a, T b, bool c) { return accepted(a, b, accepts, ftz) != !c ? ~u32{0} : u32{0}; });
    table.add(name + ".or" + flush + ".f32" + from + " $d, $a, $b, $c;",
              [=](T a, T b, bool c) { return accepted(a, b, accepts, ftz) || c ? 1.0F : 0.0F; });
  });
}

TEST(PtxCompare, Set) {
  OperationTable integers, floats;
  set<u16>(integers);
  set<s16>(integers);
  set<u32>(integers);
  set<s32>(integers);
  set<u64>(integers);
  set<s64>(integers);
  set<float>(floats);
  set<double>(floats);
  integers.run();
  floats.run();
}

template <class T>
void selections(OperationTable& table, bool untyped) {
  const std::string type = untyped ? ".b" + std::to_string(8 * sizeof(T)) : "." + name_of<T>();
  table.add("selp" + type + " $d, $a, $b, $c;", [](T a, T b, bool c) { return c ? a : b; });
  table.add("slct" + type + ".s32 $d, $a, $b, $c;", [](T a, T b, s32 c) { return c >= 0 ? a : b; });
  // NaN selects b, -0 and (with .ftz) negative subnormals select a.
  table.add("slct" + type + ".f32 $d, $a, $b, $c;", [](T a, T b, float c) { return c >= 0 ? a : b; });
  table.add("slct.ftz" + type + ".f32 $d, $a, $b, $c;", [](T a, T b, float c) { return flush(c, true) >= 0 ? a : b; });
}

TEST(PtxCompare, Selection) {
  OperationTable table;
  for (const bool untyped : {false, true}) {
    selections<u16>(table, untyped);
    selections<u32>(table, untyped);
    selections<u64>(table, untyped);
  }
  selections<s16>(table, false);
  selections<s32>(table, false);
  selections<s64>(table, false);
  selections<float>(table, false);
  selections<double>(table, false);
  table.run();
}

template <class F>
void properties(OperationTable& table) {
  const std::string type = "." + name_of<F>() + " $d, $a;";
  table.add("testp.finite" + type, [](F a) { return std::isfinite(a); });
  table.add("testp.infinite" + type, [](F a) { return std::isinf(a); });
  table.add("testp.number" + type, [](F a) { return !std::isnan(a); });
  table.add("testp.notanumber" + type, [](F a) { return std::isnan(a); });
  table.add("testp.normal" + type, [](F a) { return std::isnormal(a); });
  table.add("testp.subnormal" + type, [](F a) { return std::fpclassify(a) == FP_SUBNORMAL; });
}

TEST(PtxCompare, Properties) {
  OperationTable table;
  properties<float>(table);
  properties<double>(table);
  table.run();
}

}  // namespace
}  // namespace heddle::ptx_ops
