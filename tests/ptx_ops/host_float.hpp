// Floating-point arithmetic of the host as PTX wants it: rounding in a given direction, .ftz, .sat and canonical NaNs.
#pragma once

#include <cfenv>
#include <cmath>
#include <limits>
#include <tuple>

#include "tests/ptx_ops/operation_table.hpp"

namespace heddle::ptx_ops {

// The results that are NaN: 0x7fffffff of singles and halves (PTX ISA, section 9.7.3); for doubles the model has one
// fixed pattern.
template <class F>
F canonical_nan() {
  if constexpr (sizeof(F) == 4) return std::bit_cast<float>(0x7fffffffU);
  return std::bit_cast<double>(0xfff8000000000000U);
}

struct FloatMode {
  int rounding = FE_TONEAREST;
  bool ftz = false;
  bool saturate = false;
};

template <class F>
F flush(F x, bool ftz) {
  return ftz && std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(F{0}, x) : x;
}

// Flushing, saturation to [+0, 1] with NaN to +0, canonical NaNs.
template <class F>
F finish(F x, const FloatMode& mode) {
  x = flush(x, mode.ftz);
  if (mode.saturate) return x > 0 ? std::fmin(x, F{1}) : F{0};
  return std::isnan(x) ? canonical_nan<F>() : x;
}

// A value that compilers take for new at each look, so that they cannot move an operation on it.
template <class T>
struct Opaque {
  volatile T value;
};

// Calls f under the mode's rounding.
template <class F, class Function, class... A>
F rounded(const FloatMode& mode, Function f, A... operands) {
  const std::tuple<Opaque<A>...> in{Opaque<A>{flush(operands, mode.ftz)}...};
  const int before = std::fegetround();
  std::fesetround(mode.rounding);
  volatile F result = std::apply([&](const Opaque<A>&... one) { return f(static_cast<A>(one.value)...); }, in);
  std::fesetround(before);
  return finish<F>(result, mode);
}

struct RoundingName {
  const char* name;
  int mode;
};
inline constexpr RoundingName kRoundings[] = {
    {".rn", FE_TONEAREST}, {".rz", FE_TOWARDZERO}, {".rm", FE_DOWNWARD}, {".rp", FE_UPWARD}};

}  // namespace heddle::ptx_ops
