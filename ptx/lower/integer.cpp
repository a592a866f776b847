// Addition and its kin: add sub addc subc div rem neg abs min max sad (PTX ISA, sections 9.7.1 to 9.7.3).
#include <array>

#include "ptx/lower/arithmetic.hpp"
#include "ptx/lower/division.hpp"
#include "ptx/lower/half.hpp"
#include "ptx/lower/handlers.hpp"

namespace heddle::ptx {
namespace {

using isa::Op;

constexpr std::initializer_list<Type> kAddTypes = {Type::u16, Type::s16, Type::u32, Type::s32,
                                                   Type::u64, Type::s64, Type::f32, Type::f64};

// a + b (or a - b), optionally with carry in and out.
void carry_chain(Selector& s, Type type, bool subtract, bool in, bool out) {
  s.expect_operands(3);
  const VReg dst = s.destination(s.operand(0), type);
  const Value a = s.source(s.operand(1), type);
  const Value b = s.source(s.operand(2), type);
  emit_carry(s, dst, a, b, subtract, in, out);
}

void add_or_sub(Selector& s, bool subtract) {
  Modifiers m = s.modifiers();
  if (m.accept("cc")) {
    const Type type = m.type({Type::u32, Type::s32, Type::u64, Type::s64});
    m.finish();
    carry_chain(s, type, subtract, false, true);
    return;
  }
  FloatModifiers f = float_modifiers(m, FloatForm::optional_rounding);
  const Type type = m.type(kAddTypes);
  m.finish();
  s.expect_operands(3);
  s.expect_unpaired(s.operand(0));
  const VReg dst = s.destination(s.operand(0), type);
  Value a = s.source(s.operand(1), type);
  Value b = s.source(s.operand(2), type);
  if (is_float(type)) {
    const std::uint32_t mods = f.encode(s, type);
    if (!subtract) commute(a, b);
    const bool wide = type == Type::f64;
    s.emit(subtract ? (wide ? Op::DSUB : Op::FSUB) : (wide ? Op::DADD : Op::FADD), dst, a, b, {}, mods);
    return;
  }
  f.expect_none_but_saturate(s, type);
  if (f.saturate) {
    if (type != Type::s32) s.refuse("saturation exists for .s32 only", "use " + s.statement().opcode + ".sat.s32");
    if (!subtract) commute(a, b);
    s.emit(subtract ? Op::SUB_SAT : Op::ADD_SAT, dst, a, b);
    return;
  }
  if (subtract && b.constant) {  // a + (-b): the sum commutes, so a constant always becomes an immediate
    b.bits = ~b.bits + 1;
    subtract = false;
  }
  if (!subtract) commute(a, b);
  const bool wide = is_wide(type);
  s.emit(subtract ? (wide ? Op::SUB64 : Op::SUB) : (wide ? Op::ADD64 : Op::ADD), dst, a, b);
}

void lower_add(Selector& s) {
  if (lower_half(s, HalfOp::add)) return;
  add_or_sub(s, false);
}
void lower_sub(Selector& s) {
  if (lower_half(s, HalfOp::sub)) return;
  add_or_sub(s, true);
}

void addc_or_subc(Selector& s, bool subtract) {
  Modifiers m = s.modifiers();
  const bool out = m.accept("cc");
  const Type type = m.type({Type::u32, Type::s32, Type::u64, Type::s64});
  m.finish();
  carry_chain(s, type, subtract, true, out);
}

void lower_addc(Selector& s) {
  addc_or_subc(s, false);
}
void lower_subc(Selector& s) {
  addc_or_subc(s, true);
}

void lower_div(Selector& s) {
  Modifiers m = s.modifiers();
  const FloatModifiers f = float_modifiers(m, FloatForm::division);
  const Type type = m.type(kAddTypes);
  m.finish();
  s.expect_operands(3);
  const VReg dst = s.destination(s.operand(0), type);
  if (is_float(type)) {
    f.expect_rounding_or_approximate(s, type);
    const Value a = s.source(s.operand(1), type);
    const Value b = s.source(s.operand(2), type);
    const std::uint32_t mods = f.encode(s, type);
    if (s.code().software_division) {
      if (f.approximate) return divide_approximately(s, dst, a, b, f.ftz, f.full_range);
      if (f.rounding == isa::Rounding::rn) return divide_rounded(s, dst, a, b, mods);
    }
    s.emit(type == Type::f64 ? Op::DDIV : Op::FDIV, dst, a, b, {}, mods);
    return;
  }
  f.expect_none(s, type);
  const Value a = s.number(s.operand(1), type);
  const Value b = s.number(s.operand(2), type);
  if (s.code().software_division) return divide_integers(s, dst, a, b, false);
  s.emit(by_type(type, {Op::DIV_S, Op::DIV_U, Op::DIV_S64, Op::DIV_U64}), dst, a, b);
}

void lower_rem(Selector& s) {
  const Type type = sole_type(s, {Type::u16, Type::s16, Type::u32, Type::s32, Type::u64, Type::s64});
  s.expect_operands(3);
  const VReg dst = s.destination(s.operand(0), type);
  const Value a = s.number(s.operand(1), type);
  const Value b = s.number(s.operand(2), type);
  if (s.code().software_division) return divide_integers(s, dst, a, b, true);
  s.emit(by_type(type, {Op::REM_S, Op::REM_U, Op::REM_S64, Op::REM_U64}), dst, a, b);
}

void lower_neg(Selector& s) {
  if (lower_half(s, HalfOp::neg)) return;
  Modifiers m = s.modifiers();
  const bool ftz = m.accept("ftz");
  const Type type = m.type({Type::s16, Type::s32, Type::s64, Type::f32, Type::f64});
  m.finish();
  expect_ftz_on_f32(s, ftz, type);
  s.expect_operands(2);
  const VReg dst = s.destination(s.operand(0), type);
  const Value a = s.source(s.operand(1), type);
  if (is_float(type)) {
    s.emit_b(type == Type::f64 ? Op::DNEG : Op::FNEG, dst, a, isa::float_mods(isa::Rounding::none, ftz));
    return;
  }
  s.emit(is_wide(type) ? Op::SUB64 : Op::SUB, dst, Value::of(kNone, type), a);
}

void lower_abs(Selector& s) {
  if (lower_half(s, HalfOp::abs)) return;
  Modifiers m = s.modifiers();
  const bool ftz = m.accept("ftz");
  const Type type = m.type({Type::s16, Type::s32, Type::s64, Type::f32, Type::f64});
  m.finish();
  expect_ftz_on_f32(s, ftz, type);
  s.expect_operands(2);
  const VReg dst = s.destination(s.operand(0), type);
  if (is_float(type)) {
    s.emit_b(type == Type::f64 ? Op::DABS : Op::FABS, dst, s.source(s.operand(1), type),
             isa::float_mods(isa::Rounding::none, ftz));
    return;
  }
  s.emit_b(is_wide(type) ? Op::ABS64 : Op::ABS, dst, s.number(s.operand(1), type));
}

void min_or_max(Selector& s, bool max) {
  if (lower_half(s, max ? HalfOp::max : HalfOp::min)) return;
  Modifiers m = s.modifiers();
  const bool ftz = m.accept("ftz");
  const bool nan = m.accept("NaN");
  const Type type = m.type(kAddTypes);
  m.finish();
  expect_ftz_on_f32(s, ftz, type);
  if (nan && type != Type::f32) s.refuse(".NaN exists for .f32 only", "remove .NaN");
  s.expect_operands(3);
  const VReg dst = s.destination(s.operand(0), type);
  Value a = s.number(s.operand(1), type);
  Value b = s.number(s.operand(2), type);
  commute(a, b);
  if (type == Type::f32) {
    s.emit(max ? Op::FMAX : Op::FMIN, dst, a, b, {}, isa::float_mods(isa::Rounding::none, ftz, false, false, nan));
  } else if (type == Type::f64) {
    s.emit(max ? Op::DMAX : Op::DMIN, dst, a, b);
  } else if (max) {
    s.emit(by_type(type, {Op::MAX_S, Op::MAX_U, Op::MAX_S64, Op::MAX_U64}), dst, a, b);
  } else {
    s.emit(by_type(type, {Op::MIN_S, Op::MIN_U, Op::MIN_S64, Op::MIN_U64}), dst, a, b);
  }
}

void lower_min(Selector& s) {
  min_or_max(s, false);
}
void lower_max(Selector& s) {
  min_or_max(s, true);
}

void lower_sad(Selector& s) {
  const Type type = sole_type(s, {Type::u16, Type::s16, Type::u32, Type::s32, Type::u64, Type::s64});
  s.expect_operands(4);
  const VReg dst = s.destination(s.operand(0), type);
  Value a = s.number(s.operand(1), type);
  Value b = s.number(s.operand(2), type);
  commute(a, b);
  const Value c = s.source(s.operand(3), type);
  s.emit(by_type(type, {Op::SAD_S, Op::SAD_U, Op::SAD_S64, Op::SAD_U64}), dst, a, b, c);
}

constexpr std::array kIntegerHandlers = {
    Handler{"add", lower_add}, Handler{"sub", lower_sub}, Handler{"addc", lower_addc}, Handler{"subc", lower_subc},
    Handler{"div", lower_div}, Handler{"rem", lower_rem}, Handler{"neg", lower_neg},   Handler{"abs", lower_abs},
    Handler{"min", lower_min}, Handler{"max", lower_max}, Handler{"sad", lower_sad}};

}  // namespace

std::span<const Handler> integer_handlers() {
  return kIntegerHandlers;
}

}  // namespace heddle::ptx
