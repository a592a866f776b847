#include "ptx/lower/division.hpp"

#include <bit>
#include <cmath>

namespace heddle::ptx {
namespace {

using isa::Comparison;
using isa::Op;
using isa::Rounding;

constexpr std::uint32_t kApproximate = isa::float_mods(Rounding::none, true, false, true);

// Writes machine operations, each into a register of its own. What is guarded is not, but gone round: some registers
// are written twice.
class Steps {
 public:
  explicit Steps(Selector& s) : s_(s) { s.guard_by_branch(); }

  [[nodiscard]] Value make(Op op, Type type, const Value& a, const Value& b = {}, const Value& c = {},
                           std::uint32_t mods = 0) {
    const Value result = Value::of(s_.temp(type), type);
    s_.emit(op, result.reg, a, b, c, mods);
    return result;
  }
  [[nodiscard]] Value make_b(Op op, Type type, const Value& b, std::uint32_t mods = 0) {
    return make(op, type, {}, b, {}, mods);
  }
  // A register that later steps may change.
  [[nodiscard]] Value make_variable(Op op, Type type, const Value& a, const Value& b, const Value& c = {}) {
    const Value result = Value::of(s_.named(type, "quotient"), type);
    s_.emit(op, result.reg, a, b, c);
    return result;
  }
  void change_if(VPred p, Op op, const Value& variable, const Value& a, const Value& b) {
    s_.emit(op, variable.reg, a, b, {}, 0, p);
  }
  [[nodiscard]] Value convert(Type to, const Value& from, Rounding rounding, bool ftz = false) {
    const Value result = Value::of(s_.temp(to), to);
    s_.convert(result.reg, to, from, rounding, ftz);
    return result;
  }
  [[nodiscard]] VPred compare(Op op, Comparison comparison, const Value& a, const Value& b, VPred besides = {}) {
    const VReg p = s_.temp(Type::pred);
    const isa::BoolOp combine = besides == VPred{} ? isa::BoolOp::none : isa::BoolOp::and_;
    s_.setp({op, comparison, combine, besides}, p, kNone, a, b);
    return {p, false};
  }
  [[nodiscard]] Value upper_word(const Value& pair) {
    const Value result = Value::of(s_.temp(Type::b32), Type::b32);
    s_.unpack(kNone, result.reg, s_.in_register(pair));
    return result;
  }
  [[nodiscard]] Value with_upper_word(const Value& upper, VReg lower = kNone) {
    const Value result = Value::of(s_.temp(Type::f64), Type::f64);
    s_.pack(result.reg, lower, upper.reg);
    return result;
  }
  // -b, of a constant without an operation.
  [[nodiscard]] Value negative(const Value& b) {
    switch (b.type) {
      case Type::f32:
        return b.constant ? Value::imm(b.bits ^ 0x80000000U, Type::f32) : make_b(Op::FNEG, Type::f32, b);
      case Type::f64:
        return b.constant ? Value::imm(b.bits ^ 0x8000000000000000U, Type::f64) : make_b(Op::DNEG, Type::f64, b);
      default:
        if (b.constant) return Value::imm(-b.bits, b.type);
        return make(is_wide(b.type) ? Op::SUB64 : Op::SUB, b.type, Value::imm(0, b.type), b);
    }
  }
  // rcp.approx.ftz; of a constant it is one.
  [[nodiscard]] Value reciprocal(const Value& b) {
    if (!b.constant) return make_b(Op::FRCP, Type::f32, b, kApproximate);
    const auto flushed = [](float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0F, x) : x; };
    const float y = flushed(1.0F / flushed(std::bit_cast<float>(static_cast<std::uint32_t>(b.bits))));
    return Value::imm(std::bit_cast<std::uint32_t>(y), Type::f32);
  }

  Selector& s() { return s_; }

 private:
  Selector& s_;
};

Value of_float(float value) {
  return Value::imm(std::bit_cast<std::uint32_t>(value), Type::f32);
}
Value of_double(double value) {
  return Value::imm(std::bit_cast<std::uint64_t>(value), Type::f64);
}
Value of_bits(std::uint32_t bits) {
  return Value::imm(bits, Type::u32);
}

// ---- integers

struct UnsignedOps {
  Type type;
  Op add, sub, multiply, multiply_high, multiply_add, compare;
  std::uint32_t scale;  // added to a float's bits: times 2^32 (2^64), two units in the last place less
};
constexpr UnsignedOps kWord = {Type::u32,    Op::ADD,    Op::SUB,      Op::MUL_LO,
                               Op::MUL_HI_U, Op::MAD_LO, Op::SETP_U32, 0x0FFFFFFEU};
constexpr UnsignedOps kPair = {Type::u64,      Op::ADD64,    Op::SUB64,    Op::MUL_LO64,
                               Op::MUL_HI_U64, Op::MAD_LO64, Op::SETP_U64, 0x1FFFFFFEU};

struct Divided {
  Value quotient, rest;  // variables; at most two more and two divisors less
};

// x, 2^32 / b or less, from the reciprocal of b rounded up; x = x + x (2^32 - x b) / 2^32, once or twice;
// q = a x / 2^32.
Divided estimate(Steps& steps, const UnsignedOps& ops, const Value& a, const Value& b) {
  const bool wide = is_wide(ops.type);
  const Value up = steps.convert(Type::f32, b, Rounding::rp);
  const Value y = steps.make_b(Op::FRCP, Type::f32, up, kApproximate);
  const Value scaled = steps.make(Op::ADD, Type::f32, y, of_bits(ops.scale));
  Value x = steps.convert(ops.type, scaled, Rounding::rzi, true);
  const Value minus = steps.negative(b);
  for (int i = 0; i < (wide ? 2 : 1); ++i) {
    const Value error = steps.make(ops.multiply, ops.type, x, minus);
    if (wide) {
      const Value more = steps.make(ops.multiply_high, ops.type, x, error);
      x = steps.make(ops.add, ops.type, x, more);
    } else {
      x = steps.make(Op::MAD_HI_U, ops.type, x, error, x);
    }
  }
  Divided result;
  result.quotient = steps.make_variable(ops.multiply_high, ops.type, x, a);
  result.rest = steps.make_variable(ops.multiply_add, ops.type, result.quotient, minus, a);
  return result;
}

Value magnitude(Steps& steps, const Value& a, Type type) {
  if (!a.constant) return steps.make_b(is_wide(type) ? Op::ABS64 : Op::ABS, type, a).as(type);
  const bool negative = is_wide(type) ? static_cast<std::int64_t>(a.bits) < 0 : (a.bits & 0x80000000U) != 0;
  const std::uint64_t bits = negative ? -a.bits : a.bits;
  return Value::imm(is_wide(type) ? bits : bits & 0xFFFFFFFFU, type);
}

// ---- what rounds

// Where a result goes that is written on two ways: not into a source.
VReg place_of(Steps& steps, VReg dst, Type type, std::initializer_list<Value> sources) {
  for (const Value& source : sources) {
    if (!source.constant && source.reg == dst) return steps.s().named(type, "quotient");
  }
  return dst;
}

// Threads for which `fine` does not hold compute `place` by the operation itself.
void go_round(Steps& steps, VPred fine, Op op, VReg place, VReg dst, Type type, const Value& a, const Value& b,
              std::uint32_t mods) {
  Selector& s = steps.s();
  const LabelId done = s.new_label();
  s.branch(done, fine);
  s.emit(op, place, a, b, {}, mods);
  s.bind(done);
  if (place != dst) s.move(dst, Value::of(place, type));
}

void divide_singles(Steps& steps, VReg dst, const Value& a, const Value& b, std::uint32_t mods) {
  const VReg place = place_of(steps, dst, Type::f32, {a, b});
  const Value y0 = steps.reciprocal(b);
  IrInstruction check;
  check.op = Op::FCHK;
  check.p = steps.s().temp(Type::pred);
  check.a = steps.s().in_register(a);
  check.b = steps.s().in_register(b);
  steps.s().write(check);
  const Value minus = steps.negative(b);
  const Value e = steps.make(Op::FFMA, Type::f32, y0, minus, of_float(1.0F));
  const Value y = steps.make(Op::FFMA, Type::f32, y0, e, y0);
  const Value q = steps.make(Op::FMUL, Type::f32, y, a);
  const Value rest = steps.make(Op::FFMA, Type::f32, q, minus, a);
  steps.s().emit(Op::FFMA, place, y, rest, q);
  go_round(steps, {check.p, true}, Op::FDIV, place, dst, Type::f32, a, b, mods);
}

// y = 1 / b to the last bit, from an approximation to 20 of them.
Value refine_reciprocal(Steps& steps, const Value& y0, const Value& minus) {
  const Value one = Value::of(steps.s().in_register(of_double(1.0)), Type::f64);
  const Value e0 = steps.make(Op::DFMA, Type::f64, y0, minus, one);
  const Value e1 = steps.make(Op::DFMA, Type::f64, e0, e0, e0);
  const Value y1 = steps.make(Op::DFMA, Type::f64, y0, e1, y0);
  const Value e2 = steps.make(Op::DFMA, Type::f64, y1, minus, one);
  return steps.make(Op::DFMA, Type::f64, y1, e2, y1);
}

void divide_doubles(Steps& steps, VReg dst, const Value& a, const Value& b, std::uint32_t mods) {
  const VReg place = place_of(steps, dst, Type::f64, {a, b});
  const Value b_pair = Value::of(steps.s().in_register(b), Type::f64);
  const Value y0 = steps.make_b(Op::DRCP, Type::f64, b_pair, kApproximate);
  const Value minus = steps.negative(b);
  const Value y = refine_reciprocal(steps, y0, minus);
  const Value q = steps.make(Op::DMUL, Type::f64, y, a);
  const Value rest = steps.make(Op::DFMA, Type::f64, q, minus, a);
  steps.s().emit(Op::DFMA, place, y, rest, q);
  // Upper words as floats: the quotient is normal, and it is no NaN, nor b beyond 2^1017; the rest is exact.
  const Value a_upper = steps.make_b(Op::FABS, Type::f32, steps.upper_word(a));
  const VPred large = steps.compare(Op::SETP_F32, Comparison::ge, a_upper, Value::imm(0x03600000U, Type::f32));
  const Value upper = steps.upper_word(Value::of(place, Type::f64));
  const Value both = steps.make(Op::FFMA, Type::f32, {}, steps.upper_word(b_pair), upper);
  const Value size = steps.make_b(Op::FABS, Type::f32, both);
  const VPred fine = steps.compare(Op::SETP_F32, Comparison::gt, size, Value::imm(0x00100000U, Type::f32), large);
  go_round(steps, fine, Op::DDIV, place, dst, Type::f64, a, b, mods);
}

}  // namespace

void divide_integers(Selector& s, VReg dst, const Value& a, const Value& b, bool remainder) {
  Steps steps(s);
  const Type type = a.type;
  const UnsignedOps& ops = is_wide(type) ? kPair : kWord;
  const Op signed_compare = is_wide(type) ? Op::SETP_S64 : Op::SETP_S32;
  const Value zero = Value::imm(0, ops.type);
  Value dividend = a.as(ops.type);
  Value divisor = b.as(ops.type);
  if (is_signed(type)) {
    dividend = magnitude(steps, a, ops.type);
    divisor = magnitude(steps, b, ops.type);
  }
  const auto [quotient, rest] = estimate(steps, ops, dividend, divisor);
  const VPred more = steps.compare(ops.compare, Comparison::ge, rest, divisor);
  steps.change_if(more, ops.sub, rest, rest, divisor);
  if (!remainder) steps.change_if(more, ops.add, quotient, quotient, Value::imm(1, ops.type));
  const VPred again = steps.compare(ops.compare, Comparison::ge, rest, divisor);
  if (remainder) {
    steps.change_if(again, ops.sub, rest, rest, divisor);
    if (!is_signed(type)) return s.move(dst, rest);
    const VPred negative = steps.compare(signed_compare, Comparison::lt, a, zero.as(type));
    const Value opposite = steps.make(ops.sub, ops.type, zero, rest);
    return s.select(dst, negative, opposite, rest);
  }
  steps.change_if(again, ops.add, quotient, quotient, Value::imm(1, ops.type));
  if (is_signed(type)) {
    const Value signs = steps.make(is_wide(type) ? Op::XOR64 : Op::XOR, type, b.constant ? a : b, b.constant ? b : a);
    const VPred negative = steps.compare(signed_compare, Comparison::lt, signs, zero.as(type));
    steps.change_if(negative, ops.sub, quotient, zero, quotient);
  }
  const VPred none = steps.compare(ops.compare, Comparison::eq, b.as(ops.type), zero);
  s.select(dst, none, Value::imm(is_wide(type) ? ~std::uint64_t{0} : 0xFFFFFFFFU, ops.type), quotient);
}

void divide_rounded(Selector& s, VReg dst, const Value& a, const Value& b, std::uint32_t mods) {
  Steps steps(s);
  if (is_wide(a.type)) return divide_doubles(steps, dst, a, b, mods);
  divide_singles(steps, dst, a, b, mods);
}

void divide_approximately(Selector& s, VReg dst, const Value& a, const Value& b, bool ftz, bool full_range) {
  Steps steps(s);
  const std::uint32_t flush = isa::float_mods(Rounding::none, ftz);
  Value dividend = a;
  Value divisor = b;
  const auto scale = [&](VPred p, float factor) {
    steps.change_if(p, Op::FMUL, divisor, divisor, of_float(factor));
    steps.change_if(p, Op::FMUL, dividend, dividend, of_float(factor));
  };
  if (!ftz || full_range) {
    divisor = Value::of(s.named(Type::f32, "divisor"), Type::f32);
    dividend = Value::of(s.named(Type::f32, "dividend"), Type::f32);
    s.move(divisor.reg, b);
    s.move(dividend.reg, a);
    const Value size = steps.make_b(Op::FABS, Type::f32, b);
    if (full_range) scale(steps.compare(Op::SETP_F32, Comparison::gt, size, of_float(0x1p126F)), 0.25F);
    if (!ftz) scale(steps.compare(Op::SETP_F32, Comparison::lt, size, of_float(0x1p-126F)), 0x1p24F);
  }
  s.emit(Op::FMUL, dst, steps.reciprocal(divisor), dividend, {}, flush);
}

// y0 (2 - y0 a): y0 - y0 (a y0 - 1).
void invert_rounded(Selector& s, VReg dst, const Value& a, std::uint32_t mods) {
  Steps steps(s);
  const VReg place = place_of(steps, dst, a.type, {a});
  if (is_wide(a.type)) {
    const Value pair = Value::of(s.in_register(a), Type::f64);
    const Value y0 = steps.make_b(Op::DRCP, Type::f64, pair, kApproximate);
    const Value y = refine_reciprocal(steps, y0, steps.negative(pair));
    s.move(place, y);
    const Value size = steps.make(Op::AND, Type::u32, steps.upper_word(pair), of_bits(0x7FFFFFFFU));
    const Value above = steps.make(Op::ADD, Type::u32, size, of_bits(0U - 0x00100000U));
    const VPred fine = steps.compare(Op::SETP_U32, Comparison::lt, above, of_bits(0x7F3FFBFEU));
    return go_round(steps, fine, Op::DRCP, place, dst, Type::f64, {}, a, mods);
  }
  const Value y0 = steps.reciprocal(a);
  const Value e = steps.make(Op::FFMA, Type::f32, y0, a, of_float(-1.0F));
  s.emit(Op::FFMA, place, y0, steps.negative(e), y0);
  // Neither a nor its reciprocal is subnormal, infinite or NaN.
  const Value shifted = steps.make(Op::ADD, Type::u32, a, of_bits(0x01800000U));
  const Value exponent = steps.make(Op::AND, Type::u32, shifted, of_bits(0x7F800000U));
  const VPred fine = steps.compare(Op::SETP_U32, Comparison::gt, exponent, of_bits(0x01FFFFFFU));
  go_round(steps, fine, Op::FRCP, place, dst, Type::f32, {}, a, mods);
}

namespace {

// One step of y = 1 / sqrt(a) of .f64, to the last bits: y + y e (1/2 + 3/8 e), e = 1 - a y^2.
Value refine_root(Steps& steps, const Value& a) {
  const Value y0 = steps.make_b(Op::DRSQRT, Type::f64, a, kApproximate);
  const Value square = steps.make(Op::DMUL, Type::f64, y0, y0);
  const Value e = steps.make(Op::DFMA, Type::f64, a, steps.negative(square), of_double(1.0));
  const Value p = steps.make(Op::DFMA, Type::f64, e, of_double(0.375), of_double(0.5));
  const Value part = steps.make(Op::DMUL, Type::f64, y0, e);
  return steps.make(Op::DFMA, Type::f64, p, part, y0);
}

// Whether a's upper word, as an unsigned number, is from `least` on so many values.
VPred upper_word_within(Steps& steps, const Value& a, std::uint32_t least, std::uint32_t values) {
  const Value above = steps.make(Op::ADD, Type::u32, steps.upper_word(a), of_bits(0U - least));
  return steps.compare(Op::SETP_U32, Comparison::lt, above, of_bits(values));
}

}  // namespace

// s + (a - s^2) / (2 sqrt(a)), s = a / sqrt(a).
void root_rounded(Selector& s, VReg dst, const Value& a, std::uint32_t mods) {
  Steps steps(s);
  const VReg place = place_of(steps, dst, a.type, {a});
  if (is_wide(a.type)) {
    const Value pair = Value::of(s.in_register(a), Type::f64);
    const Value y = refine_root(steps, pair);
    const Value root = steps.make(Op::DMUL, Type::f64, pair, y);
    const Value upper = steps.make(Op::ADD, Type::u32, steps.upper_word(y), of_bits(0U - 0x00100000U));
    const Value half = steps.with_upper_word(upper, s.low_half(y.reg));
    const Value rest = steps.make(Op::DFMA, Type::f64, root, steps.negative(root), pair);
    s.emit(Op::DFMA, place, rest, half, root);
    const VPred fine = upper_word_within(steps, pair, 0x03500000U, 0x7CA00000U);
    return go_round(steps, fine, Op::DSQRT, place, dst, Type::f64, {}, a, mods);
  }
  const Value y = steps.make_b(Op::FRSQRT, Type::f32, a, kApproximate);
  const Value shifted = steps.make(Op::ADD, Type::u32, a, of_bits(0xF3000000U));
  const VPred fine = steps.compare(Op::SETP_U32, Comparison::le, shifted, of_bits(0x727FFFFFU));
  const Value root = steps.make(Op::FMUL, Type::f32, a, y);
  const Value half = steps.make(Op::FMUL, Type::f32, y, of_float(0.5F));
  const Value rest = steps.make(Op::FFMA, Type::f32, root, steps.negative(root), a);
  s.emit(Op::FFMA, place, rest, half, root);
  go_round(steps, fine, Op::FSQRT, place, dst, Type::f32, {}, a, mods);
}

void invert_root(Selector& s, VReg dst, const Value& a) {
  Steps steps(s);
  const VReg place = place_of(steps, dst, Type::f64, {a});
  const Value pair = Value::of(s.in_register(a), Type::f64);
  s.move(place, refine_root(steps, pair));
  const VPred fine = upper_word_within(steps, pair, 0x00100000U, 0x7FE00000U);
  go_round(steps, fine, Op::DRSQRT, place, dst, Type::f64, {}, a, isa::float_mods(Rounding::none, false, false, true));
}

void approximate_subnormals(Selector& s, Op op, VReg dst, const Value& a) {
  Steps steps(s);
  const Value operand = Value::of(s.named(Type::f32, "operand"), Type::f32);
  const Value result = Value::of(s.named(Type::f32, "result"), Type::f32);
  s.move(operand.reg, a);
  const Value size = op == Op::FEX2 ? a : steps.make_b(Op::FABS, Type::f32, a);
  const float least = op == Op::FEX2 ? -126.0F : 0x1p-126F;
  const VPred small = steps.compare(Op::SETP_F32, Comparison::lt, size, of_float(least));
  const auto compute = [&] { s.emit_b(op, result.reg, operand, kApproximate); };
  steps.change_if(small, Op::FMUL, operand, operand, of_float(op == Op::FEX2 ? 0.5F : 0x1p24F));
  switch (op) {
    case Op::FEX2:
      compute();
      steps.change_if(small, Op::FMUL, result, result, result);
      break;
    case Op::FLG2:
      compute();
      steps.change_if(small, Op::FADD, result, result, of_float(-24.0F));
      break;
    case Op::FSQRT:
    case Op::FRSQRT:
      compute();
      steps.change_if(small, Op::FMUL, result, result, of_float(op == Op::FSQRT ? 0x1p-12F : 0x1p12F));
      break;
    default: {  // FRCP: whose result may be subnormal, too
      const VPred large = steps.compare(Op::SETP_F32, Comparison::gt, size, of_float(0x1p126F));
      steps.change_if(large, Op::FMUL, operand, operand, of_float(0.25F));
      compute();
      steps.change_if(small, Op::FMUL, result, result, of_float(0x1p24F));
      steps.change_if(large, Op::FMUL, result, result, of_float(0.25F));
      break;
    }
  }
  s.move(dst, result);
}

}  // namespace heddle::ptx
