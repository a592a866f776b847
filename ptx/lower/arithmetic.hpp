// What the arithmetic handlers share: modifiers of floating point, operations by type, carries.
#pragma once

#include <initializer_list>
#include <optional>

#include "ptx/lower/selector.hpp"

namespace heddle::ptx {

// One operation per signedness and width.
struct ByType {
  isa::Op s32, u32, s64, u64;
};
[[nodiscard]] inline isa::Op by_type(Type type, const ByType& ops) {
  if (is_wide(type)) return is_signed(type) ? ops.s64 : ops.u64;
  return is_signed(type) ? ops.s32 : ops.u32;
}

// Only operand b may be an immediate: of a commutative operation's sources, a constant goes there.
inline void commute(Value& a, Value& b) {
  if (a.constant && !b.constant) std::swap(a, b);
}

// The modifiers of an instruction that has a type and nothing else.
Type sole_type(Selector& s, std::initializer_list<Type> allowed);

enum class FloatForm { optional_rounding, division };

// {.approx | .full | .rn .rz .rm .rp} {.ftz} {.sat}, in this order.
struct FloatModifiers {
  std::optional<isa::Rounding> rounding;
  bool approximate = false;  // .approx or .full
  bool full_range = false;   // .full: 2 ulp for all divisors, here rounded to nearest
  bool ftz = false;
  bool saturate = false;

  // The modifier field; refuses what the type does not have.
  [[nodiscard]] std::uint32_t encode(Selector& s, Type type) const;
  // For integer types: refuses everything (but .sat).
  void expect_none(Selector& s, Type type) const;
  void expect_none_but_saturate(Selector& s, Type type) const;
  // PTX wants division, rcp, sqrt and fma to say how they round.
  void expect_rounding_or_approximate(Selector& s, Type type) const;
  void expect_rounding(Selector& s, Type type) const;
};
FloatModifiers float_modifiers(Modifiers& m, FloatForm form);

void expect_ftz_on_f32(Selector& s, bool ftz, Type type);

// dst = a + b (or a - b) with CC.CF as carry (or borrow) in and out.
void emit_carry(Selector& s, VReg dst, Value a, Value b, bool subtract, bool in, bool out);

}  // namespace heddle::ptx
