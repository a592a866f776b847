// Multiplication: mul mul24 mad mad24 madc fma dp4a dp2a (PTX ISA, sections 9.7.1 and 9.7.3).
#include <array>

#include "ptx/lower/arithmetic.hpp"
#include "ptx/lower/half.hpp"
#include "ptx/lower/handlers.hpp"

namespace heddle::ptx {
namespace {

using isa::Op;

enum class Part { low, high, wide };
constexpr std::initializer_list<Type> kIntegers = {Type::u16, Type::s16, Type::u32, Type::s32, Type::u64, Type::s64};
constexpr std::initializer_list<Type> kAll = {Type::u16, Type::s16, Type::u32, Type::s32,
                                              Type::u64, Type::s64, Type::f32, Type::f64};

std::optional<Part> part_of(Modifiers& m) {
  return m.choose<Part>({{"lo", Part::low}, {"hi", Part::high}, {"wide", Part::wide}});
}

Type widened(Type type) {
  switch (type) {
    case Type::u16:
      return Type::u32;
    case Type::s16:
      return Type::s32;
    case Type::u32:
      return Type::u64;
    default:
      return Type::s64;
  }
}

bool is_small(Type type) {
  return isa::size_of(type) == 2;
}

void expect_part(Selector& s, const std::optional<Part>& part, Type type) {
  if (!part)
    s.refuse("'" + s.statement().opcode + dotted(type) + "' does not say which half it yields",
             "write .lo, .hi or .wide");
  if (*part == Part::wide && is_wide(type)) {
    s.refuse(".wide does not apply to type " + dotted(type), "use .lo and .hi for the two halves");
  }
}

// dst = the part of a * b. Small factors have been extended to words, whose product is exact.
void multiply(Selector& s, VReg dst, Part part, Type type, Value a, Value b) {
  commute(a, b);
  if (is_small(type)) {
    if (part != Part::high) {
      s.emit(Op::MUL_LO, dst, a, b);
      return;
    }
    const VReg product = s.temp(Type::b32);
    s.emit(Op::MUL_LO, product, a, b);
    s.emit(Op::SHR_U, dst, Value::of(product, Type::b32), Value::imm(16, Type::b32));
    return;
  }
  switch (part) {
    case Part::low:
      s.emit(is_wide(type) ? Op::MUL_LO64 : Op::MUL_LO, dst, a, b);
      return;
    case Part::high:
      s.emit(by_type(type, {Op::MUL_HI_S, Op::MUL_HI_U, Op::MUL_HI_S64, Op::MUL_HI_U64}), dst, a, b);
      return;
    case Part::wide:
      s.emit(is_signed(type) ? Op::MUL_WIDE_S : Op::MUL_WIDE_U, dst, a, b);
  }
}

// The factors of a product: extended only where the upper bits matter.
Value factor(Selector& s, std::size_t index, Type type, Part part) {
  return part == Part::low ? s.source(s.operand(index), type) : s.number(s.operand(index), type);
}

Type result_type(Part part, Type type) {
  return part == Part::wide ? widened(type) : type;
}

void lower_mul(Selector& s) {
  if (lower_half(s, HalfOp::mul)) return;
  Modifiers m = s.modifiers();
  const auto part = part_of(m);
  const FloatModifiers f = part ? FloatModifiers{} : float_modifiers(m, FloatForm::optional_rounding);
  const Type type = part ? m.type(kIntegers) : m.type(kAll);
  m.finish();
  s.expect_operands(3);
  if (is_float(type)) {
    const VReg dst = s.destination(s.operand(0), type);
    Value a = s.source(s.operand(1), type);
    Value b = s.source(s.operand(2), type);
    commute(a, b);
    s.emit(type == Type::f64 ? Op::DMUL : Op::FMUL, dst, a, b, {}, f.encode(s, type));
    return;
  }
  f.expect_none(s, type);
  expect_part(s, part, type);
  const VReg dst = s.destination(s.operand(0), result_type(*part, type));
  const Value a = factor(s, 1, type, *part);
  const Value b = factor(s, 2, type, *part);
  multiply(s, dst, *part, type, a, b);
}

// a * b + c by a product of its own: for the halves that no single operation yields.
void multiply_then_add(Selector& s, VReg dst, Part part, Type type, const Value& a, const Value& b, const Value& c,
                       bool saturate) {
  const VReg product = s.temp(type);
  multiply(s, product, part, type, a, b);
  const Op add = saturate ? Op::ADD_SAT : is_wide(type) ? Op::ADD64 : Op::ADD;
  s.emit(add, dst, Value::of(product, type), c);
}

void fused(Selector& s, Type type, std::uint32_t mods) {
  const VReg dst = s.destination(s.operand(0), type);
  Value a = s.source(s.operand(1), type);
  Value b = s.source(s.operand(2), type);
  commute(a, b);
  const Value c = s.source(s.operand(3), type);
  s.emit(type == Type::f64 ? Op::DFMA : Op::FFMA, dst, a, b, c, mods);
}

// mad.cc and madc: product first, then the sum with the carry.
void multiply_add_carry(Selector& s, Modifiers& m, bool in, bool out, Part part) {
  const Type type = m.type({Type::u32, Type::s32, Type::u64, Type::s64});
  m.finish();
  if (part == Part::wide) s.refuse(".wide has no carry", "use .lo and .hi");
  s.expect_operands(4);
  const VReg dst = s.destination(s.operand(0), type);
  const Value a = s.source(s.operand(1), type);
  const Value b = s.source(s.operand(2), type);
  const Value c = s.source(s.operand(3), type);
  const VReg product = s.temp(type);
  multiply(s, product, part, type, a, b);
  emit_carry(s, dst, Value::of(product, type), c, false, in, out);
}

void lower_mad(Selector& s) {
  Modifiers m = s.modifiers();
  const auto part = part_of(m);
  if (part && m.accept("cc")) {
    multiply_add_carry(s, m, false, true, *part);
    return;
  }
  if (!part) {
    const FloatModifiers f = float_modifiers(m, FloatForm::optional_rounding);
    const Type type = m.type(kAll);
    m.finish();
    if (is_integer(type)) expect_part(s, part, type);
    s.expect_operands(4);
    fused(s, type, f.encode(s, type));
    return;
  }
  const bool saturate = m.accept("sat");
  const Type type = m.type(kIntegers);
  m.finish();
  expect_part(s, part, type);
  if (saturate && (type != Type::s32 || *part != Part::high)) {
    s.refuse("mad saturates in the form mad.hi.sat.s32 only", "use mad.hi.sat.s32");
  }
  s.expect_operands(4);
  const Type result = result_type(*part, type);
  const VReg dst = s.destination(s.operand(0), result);
  Value a = factor(s, 1, type, *part);
  Value b = factor(s, 2, type, *part);
  const Value c = s.source(s.operand(3), result);
  commute(a, b);
  const bool exact_word = is_small(type) && *part != Part::high;
  if (exact_word || (*part == Part::low && !is_wide(type))) {
    s.emit(Op::MAD_LO, dst, a, b, c);
  } else if (*part == Part::low) {
    s.emit(Op::MAD_LO64, dst, a, b, c);
  } else if (*part == Part::wide) {
    s.emit(is_signed(type) ? Op::MAD_WIDE_S : Op::MAD_WIDE_U, dst, a, b, c);
  } else if (!is_small(type) && !is_wide(type) && !saturate) {
    s.emit(is_signed(type) ? Op::MAD_HI_S : Op::MAD_HI_U, dst, a, b, c);
  } else {
    multiply_then_add(s, dst, *part, type, a, b, c, saturate);
  }
}

void lower_madc(Selector& s) {
  Modifiers m = s.modifiers();
  const auto part = part_of(m);
  if (!part) s.refuse("'madc' does not say which half of the product it adds", "write .lo or .hi");
  const bool out = m.accept("cc");
  multiply_add_carry(s, m, true, out, *part);
}

Op mul24_op(Part part, Type type) {
  if (part == Part::high) return is_signed(type) ? Op::MUL24_HI_S : Op::MUL24_HI_U;
  return is_signed(type) ? Op::MUL24_LO_S : Op::MUL24_LO_U;
}

void lower_mul24(Selector& s) {
  Modifiers m = s.modifiers();
  const Part part = m.require<Part>("a half", {{"lo", Part::low}, {"hi", Part::high}});
  const Type type = m.type({Type::u32, Type::s32});
  m.finish();
  s.expect_operands(3);
  const VReg dst = s.destination(s.operand(0), type);
  Value a = s.source(s.operand(1), type);
  Value b = s.source(s.operand(2), type);
  commute(a, b);
  s.emit(mul24_op(part, type), dst, a, b);
}

void lower_mad24(Selector& s) {
  Modifiers m = s.modifiers();
  const Part part = m.require<Part>("a half", {{"lo", Part::low}, {"hi", Part::high}});
  const bool saturate = m.accept("sat");
  const Type type = m.type({Type::u32, Type::s32});
  m.finish();
  if (saturate && (type != Type::s32 || part != Part::high)) {
    s.refuse("mad24 saturates in the form mad24.hi.sat.s32 only", "use mad24.hi.sat.s32");
  }
  s.expect_operands(4);
  const VReg dst = s.destination(s.operand(0), type);
  Value a = s.source(s.operand(1), type);
  Value b = s.source(s.operand(2), type);
  commute(a, b);
  const Value c = s.source(s.operand(3), type);
  const VReg product = s.temp(type);
  s.emit(mul24_op(part, type), product, a, b);
  const Op add = saturate ? Op::ADD_SAT : Op::ADD;
  s.emit(add, dst, Value::of(product, type), c);
}

void lower_fma(Selector& s) {
  if (lower_half(s, HalfOp::fma)) return;
  Modifiers m = s.modifiers();
  const FloatModifiers f = float_modifiers(m, FloatForm::optional_rounding);
  const Type type = m.type({Type::f32, Type::f64});
  m.finish();
  f.expect_rounding(s, type);
  s.expect_operands(4);
  fused(s, type, f.encode(s, type));
}

// d = c + the products of a's parts, of `width` bits, and of b's bytes from `first` on.
void dot_product(Selector& s, Modifiers& m, unsigned width, unsigned first) {
  const Type of_a = m.type({Type::u32, Type::s32});
  const Type of_b = m.type({Type::u32, Type::s32});
  m.finish();
  s.expect_operands(4);
  const Type result = is_signed(of_a) || is_signed(of_b) ? Type::s32 : Type::u32;
  const VReg dst = s.destination(s.operand(0), result);
  const Value a = Value::of(s.in_register(s.source(s.operand(1), of_a)), of_a);
  const Value b = Value::of(s.in_register(s.source(s.operand(2), of_b)), of_b);
  Value sum = Value::of(s.in_register(s.source(s.operand(3), result)), result);
  const auto part = [&](const Value& value, unsigned position, unsigned bits) {
    const VReg reg = s.temp(value.type);
    s.emit(is_signed(value.type) ? Op::BFE_S : Op::BFE_U, reg, value, Value::imm(position, Type::u32),
           Value::imm(bits, Type::u32));
    return Value::of(reg, value.type);
  };
  const unsigned parts = 32 / width;
  for (unsigned i = 0; i < parts; ++i) {
    const VReg next = i + 1 == parts ? dst : s.temp(result);
    s.emit(Op::MAD_LO, next, part(a, i * width, width), part(b, (first + i) * 8, 8), sum);
    sum = Value::of(next, result);
  }
}

void lower_dp4a(Selector& s) {
  Modifiers m = s.modifiers();
  dot_product(s, m, 8, 0);
}

void lower_dp2a(Selector& s) {
  Modifiers m = s.modifiers();
  const auto first = m.require<unsigned>("a half", {{"lo", 0}, {"hi", 2}});
  dot_product(s, m, 16, first);
}

constexpr std::array kMultiplyHandlers = {Handler{"mul", lower_mul},     Handler{"mad", lower_mad},
                                          Handler{"madc", lower_madc},   Handler{"mul24", lower_mul24},
                                          Handler{"mad24", lower_mad24}, Handler{"fma", lower_fma},
                                          Handler{"dp4a", lower_dp4a},   Handler{"dp2a", lower_dp2a}};

}  // namespace

std::span<const Handler> multiply_handlers() {
  return kMultiplyHandlers;
}

}  // namespace heddle::ptx
