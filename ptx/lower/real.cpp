// Floating-point functions: rcp sqrt rsqrt sin cos ex2 lg2 tanh copysign (PTX ISA, section 9.7.3).
#include <array>

#include "ptx/lower/arithmetic.hpp"
#include "ptx/lower/division.hpp"
#include "ptx/lower/half.hpp"
#include "ptx/lower/handlers.hpp"

namespace heddle::ptx {
namespace {

using isa::Op;

// rcp and sqrt: rounded, or approximate (.f32; for rcp also .approx.ftz.f64).
void rounded_function(Selector& s, Op single, Op real, bool approximate_double) {
  Modifiers m = s.modifiers();
  FloatModifiers f;
  f.approximate = m.accept("approx");
  if (!f.approximate) f.rounding = m.rounding();
  f.ftz = m.accept("ftz");
  const Type type = m.type({Type::f32, Type::f64});
  m.finish();
  s.expect_operands(2);
  const VReg dst = s.destination(s.operand(0), type);
  const Value a = s.source(s.operand(1), type);
  if (type == Type::f64 && f.approximate && approximate_double) {
    if (!f.ftz) s.refuse("the approximation for .f64 flushes subnormals", "write .approx.ftz.f64");
    s.emit_b(real, dst, a, isa::float_mods(isa::Rounding::none, true, false, true));
    return;
  }
  f.expect_rounding_or_approximate(s, type);
  const std::uint32_t mods = f.encode(s, type);
  if (s.code().software_division) {
    if (f.approximate && !f.ftz) return approximate_subnormals(s, single, dst, a);
    if (f.rounding == isa::Rounding::rn) {
      return real == Op::DRCP ? invert_rounded(s, dst, a, mods) : root_rounded(s, dst, a, mods);
    }
  }
  s.emit_b(type == Type::f64 ? real : single, dst, a, mods);
}

void lower_rcp(Selector& s) {
  rounded_function(s, Op::FRCP, Op::DRCP, true);
}
void lower_sqrt(Selector& s) {
  rounded_function(s, Op::FSQRT, Op::DSQRT, false);
}

void lower_rsqrt(Selector& s) {
  Modifiers m = s.modifiers();
  m.expect("approx");
  const bool ftz = m.accept("ftz");
  const Type type = m.type({Type::f32, Type::f64});
  m.finish();
  s.expect_operands(2);
  const VReg dst = s.destination(s.operand(0), type);
  const Value a = s.source(s.operand(1), type);
  if (s.code().software_division && !ftz) {
    return type == Type::f64 ? invert_root(s, dst, a) : approximate_subnormals(s, Op::FRSQRT, dst, a);
  }
  s.emit_b(type == Type::f64 ? Op::DRSQRT : Op::FRSQRT, dst, a, isa::float_mods(isa::Rounding::none, ftz, false, true));
}

// Functions that exist as approximations only, of .f32 and some of .f16 and .f16x2.
void approximate_function(Selector& s, Op op, bool takes_ftz, bool halves = false) {
  Modifiers m = s.modifiers();
  m.expect("approx");
  const bool ftz = takes_ftz && m.accept("ftz");
  if (const bool packed = halves && !ftz && m.accept("f16x2"); packed || (halves && !ftz && m.accept("f16"))) {
    m.finish();
    lower_half_function(s, packed, op, isa::float_mods(isa::Rounding::none, false, false, true));
    return;
  }
  m.type({Type::f32});
  m.finish();
  s.expect_operands(2);
  const VReg dst = s.destination(s.operand(0), Type::f32);
  const Value a = s.source(s.operand(1), Type::f32);
  if (s.code().software_division && !ftz && (op == Op::FEX2 || op == Op::FLG2)) {
    return approximate_subnormals(s, op, dst, a);
  }
  s.emit_b(op, dst, a, isa::float_mods(isa::Rounding::none, ftz, false, true));
}

void lower_sin(Selector& s) {
  approximate_function(s, Op::FSIN, true);
}
void lower_cos(Selector& s) {
  approximate_function(s, Op::FCOS, true);
}
void lower_ex2(Selector& s) {
  approximate_function(s, Op::FEX2, true, true);
}
void lower_lg2(Selector& s) {
  approximate_function(s, Op::FLG2, true);
}
void lower_tanh(Selector& s) {
  approximate_function(s, Op::FTANH, false, true);
}

void lower_copysign(Selector& s) {
  const Type type = sole_type(s, {Type::f32, Type::f64});
  s.expect_operands(3);
  const VReg dst = s.destination(s.operand(0), type);
  const Value a = s.source(s.operand(1), type);
  const Value b = s.source(s.operand(2), type);
  s.emit(type == Type::f64 ? Op::DCOPYSIGN : Op::FCOPYSIGN, dst, a, b);
}

constexpr std::array kRealHandlers = {
    Handler{"rcp", lower_rcp}, Handler{"sqrt", lower_sqrt}, Handler{"rsqrt", lower_rsqrt},
    Handler{"sin", lower_sin}, Handler{"cos", lower_cos},   Handler{"ex2", lower_ex2},
    Handler{"lg2", lower_lg2}, Handler{"tanh", lower_tanh}, Handler{"copysign", lower_copysign}};

}  // namespace

std::span<const Handler> real_handlers() {
  return kRealHandlers;
}

}  // namespace heddle::ptx
