// Floating point: add sub mul fma mad div rcp sqrt abs neg min max copysign (PTX ISA, section 9.7.3), each correctly
// rounded in every direction, with .ftz and .sat.
#include <gtest/gtest.h>

#include "tests/ptx_ops/host_float.hpp"
#include "tests/support/marks.hpp"

HEDDLE_LONG_SANITIZED("PtxFloat.SumsAnd*")

namespace heddle::ptx_ops {
namespace {

// f(modifiers, mode): every legal combination of rounding (and none, where that is allowed), .ftz and .sat of a type.
template <class F, class Function>
void every_mode(bool may_be_plain, bool may_saturate, Function f) {
  const bool single = sizeof(F) == 4;
  for (const char* rounding : {"", ".rn", ".rz", ".rm", ".rp"}) {
    if (*rounding == 0 && !may_be_plain) continue;
    FloatMode mode;
    for (const RoundingName& known : kRoundings) {
      if (std::string(known.name) == rounding) mode.rounding = known.mode;
    }
    for (const bool ftz : {false, true}) {
      for (const bool saturate : {false, true}) {
        if ((ftz && !single) || (saturate && !(single && may_saturate))) continue;
        mode.ftz = ftz;
        mode.saturate = saturate;
        f(std::string(rounding) + (ftz ? ".ftz" : "") + (saturate ? ".sat" : "") + "." + name_of<F>() + " ", mode);
      }
    }
  }
}

template <class F>
void sums_and_products(OperationTable& table) {
  every_mode<F>(true, true, [&](const std::string& modifiers, FloatMode mode) {
    table.add("add" + modifiers + "$d, $a, $b;", [mode](F a, F b) {
      return rounded<F>(
          mode, [](F x, F y) { return x + y; }, a, b);
    });
    table.add("sub" + modifiers + "$d, $a, $b;", [mode](F a, F b) {
      return rounded<F>(
          mode, [](F x, F y) { return x - y; }, a, b);
    });
    table.add("mul" + modifiers + "$d, $a, $b;", [mode](F a, F b) {
      return rounded<F>(
          mode, [](F x, F y) { return x * y; }, a, b);
    });
  });
}

template <class F>
void fused(OperationTable& table) {
  every_mode<F>(false, true, [&](const std::string& modifiers, FloatMode mode) {
    for (const char* opcode : {"fma", "mad"}) {
      table.add(opcode + modifiers + "$d, $a, $b, $c;", [mode](F a, F b, F c) {
        return rounded<F>(
            mode, [](F x, F y, F z) { return std::fma(x, y, z); }, a, b, c);
      });
    }
  });
}

template <class F>
void quotients_and_roots(OperationTable& table) {
  every_mode<F>(false, false, [&](const std::string& modifiers, FloatMode mode) {
    table.add("div" + modifiers + "$d, $a, $b;", [mode](F a, F b) {
      return rounded<F>(
          mode, [](F x, F y) { return x / y; }, a, b);
    });
    table.add("rcp" + modifiers + "$d, $a;", [mode](F a) {
      return rounded<F>(
          mode, [](F x) { return F{1} / x; }, a);
    });
    table.add("sqrt" + modifiers + "$d, $a;", [mode](F a) {
      return rounded<F>(
          mode, [](F x) { return std::sqrt(x); }, a);
    });
  });
}

TEST(PtxFloat, SumsAndProducts) {
  OperationTable table;
  sums_and_products<float>(table);
  sums_and_products<double>(table);
  table.run();
}

TEST(PtxFloat, FusedMultiplyAdd) {
  OperationTable table;
  fused<float>(table);
  fused<double>(table);
  table.run();
}

TEST(PtxFloat, QuotientsAndRoots) {
  OperationTable table;
  quotients_and_roots<float>(table);
  quotients_and_roots<double>(table);
  table.run();
}

// abs, neg and copysign change the sign alone, of NaNs too.
template <class F, class Bits>
void signs(OperationTable& table) {
  constexpr Bits kSign = Bits{1} << (8 * sizeof(Bits) - 1);
  const auto bits = [](F x) { return std::bit_cast<Bits>(x); };
  for (const bool ftz : {false, true}) {
    if (ftz && sizeof(F) == 8) continue;
    const std::string type = (ftz ? ".ftz." : ".") + name_of<F>() + " $d, $a;";
    table.add("abs" + type, [ftz, bits](F a) { return std::bit_cast<F>(bits(flush(a, ftz)) & ~kSign); });
    table.add("neg" + type, [ftz, bits](F a) { return std::bit_cast<F>(bits(flush(a, ftz)) ^ kSign); });
  }
  table.add("copysign." + name_of<F>() + " $d, $a, $b;",
            [bits](F a, F b) { return std::bit_cast<F>((bits(a) & kSign) | (bits(b) & ~kSign)); });
}

TEST(PtxFloat, Signs) {
  OperationTable table;
  signs<float, u32>(table);
  signs<double, u64>(table);
  table.run();
}

// The other operand for a NaN (.NaN: NaN), and -0 below +0.
template <class F>
F extreme(F a, F b, bool maximum, bool propagate) {
  if (std::isnan(a) || std::isnan(b)) {
    if (propagate || (std::isnan(a) && std::isnan(b))) return canonical_nan<F>();
    return std::isnan(a) ? b : a;
  }
  if (a == b) return std::signbit(a) == maximum ? b : a;
  return (a < b) == maximum ? b : a;
}

template <class F>
void extremes(OperationTable& table) {
  const bool single = sizeof(F) == 4;
  for (const bool maximum : {false, true}) {
    for (const bool ftz : {false, true}) {
      for (const bool propagate : {false, true}) {
        if ((ftz || propagate) && !single) continue;
        table.add(std::string(maximum ? "max" : "min") + (ftz ? ".ftz" : "") + (propagate ? ".NaN" : "") + "." +
                      name_of<F>() + " $d, $a, $b;",
                  [=](F a, F b) { return extreme(flush(a, ftz), flush(b, ftz), maximum, propagate); });
      }
    }
  }
}

TEST(PtxFloat, Extremes) {
  OperationTable table;
  extremes<float>(table);
  extremes<double>(table);
  table.run();
}

}  // namespace
}  // namespace heddle::ptx_ops
