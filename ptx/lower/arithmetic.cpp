#include "ptx/lower/arithmetic.hpp"

namespace heddle::ptx {

Type sole_type(Selector& s, std::initializer_list<Type> allowed) {
  Modifiers m = s.modifiers();
  const Type type = m.type(allowed);
  m.finish();
  return type;
}

FloatModifiers float_modifiers(Modifiers& m, FloatForm form) {
  FloatModifiers f;
  if (form == FloatForm::division) {
    f.full_range = m.accept("full");
    f.approximate = f.full_range || m.accept("approx");
  }
  if (!f.approximate) f.rounding = m.rounding();
  f.ftz = m.accept("ftz");
  if (form != FloatForm::division) f.saturate = m.accept("sat");
  return f;
}

std::uint32_t FloatModifiers::encode(Selector& s, Type type) const {
  expect_ftz_on_f32(s, ftz, type);
  if (saturate && type != Type::f32) s.refuse(".sat exists for .f32 only", "clamp with min and max");
  return isa::float_mods(rounding.value_or(isa::Rounding::none), ftz, saturate, approximate && !full_range);
}

void FloatModifiers::expect_none(Selector& s, Type type) const {
  if (saturate) s.refuse(".sat does not apply to type " + dotted(type), "remove it");
  expect_none_but_saturate(s, type);
}

void FloatModifiers::expect_none_but_saturate(Selector& s, Type type) const {
  if (rounding || approximate || ftz) {
    s.refuse("rounding and .ftz do not apply to type " + dotted(type), "remove them");
  }
}

void FloatModifiers::expect_rounding_or_approximate(Selector& s, Type type) const {
  if (approximate && type == Type::f64) s.refuse("there is no approximation for .f64", "use .rn");
  if (!approximate && !rounding) {
    s.refuse("'" + s.statement().opcode + dotted(type) + "' lacks a rounding mode",
             "write .rn, .rz, .rm or .rp" + std::string(type == Type::f32 ? ", or .approx" : ""));
  }
}

void FloatModifiers::expect_rounding(Selector& s, Type type) const {
  if (rounding) return;
  s.refuse("'" + s.statement().opcode + dotted(type) + "' lacks a rounding mode", "write .rn, .rz, .rm or .rp");
}

void expect_ftz_on_f32(Selector& s, bool ftz, Type type) {
  if (ftz && type != Type::f32) s.refuse(".ftz does not apply to type " + dotted(type), "remove it");
}

void emit_carry(Selector& s, VReg dst, Value a, Value b, bool subtract, bool in, bool out) {
  VReg& carry = s.frame().carry;
  if (carry == kNone) carry = s.named(Type::pred, "CC.CF");
  if (!subtract) commute(a, b);
  IrInstruction instruction;
  const bool wide = is_wide(a.type);
  instruction.op = subtract ? (wide ? isa::Op::SUBC64 : isa::Op::SUBC) : (wide ? isa::Op::ADDC64 : isa::Op::ADDC);
  instruction.dst = dst;
  instruction.a = s.in_register(a);
  instruction.b = s.in_register(b);
  instruction.pa = in ? VPred{carry, false} : VPred{kNone, true};
  if (out) instruction.p = carry;
  s.write(std::move(instruction));
}

}  // namespace heddle::ptx
