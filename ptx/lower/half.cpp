#include "ptx/lower/half.hpp"

#include <string>
#include <utility>
#include <vector>

#include "ptx/lower/arithmetic.hpp"

namespace heddle::ptx {

namespace {

using isa::Op;

struct Form {
  HalfOp op;
  bool packed;  // .f16x2
  bool saturate;
  [[nodiscard]] std::size_t sources() const {
    if (op == HalfOp::neg || op == HalfOp::abs) return 1;
    return op == HalfOp::fma ? 3 : 2;
  }
};

Form form_of(Selector& s, HalfOp op) {
  Modifiers m = s.modifiers();
  Form form{op, false, false};
  if (form.sources() != 1) {
    const auto rounding = m.rounding();
    if (rounding && *rounding != isa::Rounding::rn) m.refuse(".f16 is rounded to nearest only", "write .rn");
    if (op == HalfOp::fma && !rounding) m.refuse("'fma' on .f16 lacks a rounding mode", "write .rn");
  }
  if (m.peek() == "ftz") m.refuse(".ftz does not apply to .f16 on this machine", "compile without flushing to zero");
  form.saturate = form.sources() != 1 && m.accept("sat");
  if (m.accept("f16x2")) {
    form.packed = true;
  } else {
    m.expect("f16");
  }
  m.finish();
  return form;
}

// One result of two or three factors and summands, all .f16.
void compute(Selector& s, const Form& form, VReg dst, const std::vector<Value>& from) {
  const Type type = form.op == HalfOp::fma ? Type::f64 : Type::f32;
  std::vector<Value> wide;
  for (const Value& half : from) {
    const VReg reg = s.temp(type);
    s.convert(reg, type, half);
    wide.push_back(Value::of(reg, type));
  }
  const VReg result = s.temp(type);
  const std::uint32_t mods = isa::float_mods(isa::Rounding::rn);
  switch (form.op) {
    case HalfOp::add:
      s.emit(Op::FADD, result, wide[0], wide[1], {}, mods);
      break;
    case HalfOp::sub:
      s.emit(Op::FSUB, result, wide[0], wide[1], {}, mods);
      break;
    case HalfOp::mul:
      s.emit(Op::FMUL, result, wide[0], wide[1], {}, mods);
      break;
    default:
      s.emit(Op::DFMA, result, wide[0], wide[1], wide[2], mods);
  }
  s.convert(dst, Type::f16, Value::of(result, type), isa::Rounding::rn, false, form.saturate);
}

// Both signs at once.
void change_signs(Selector& s, const Form& form, VReg dst) {
  const Value a = s.source(s.operand(1), form.packed ? Type::b32 : Type::b16);
  const std::uint32_t signs = form.packed ? 0x8000'8000U : 0x8000U;
  if (form.op == HalfOp::neg) {
    s.emit(Op::XOR, dst, a, Value::imm(signs, Type::b32));
  } else {
    s.emit(Op::AND, dst, a, Value::imm(~signs, Type::b32));
  }
}

}  // namespace

Value upper_half(Selector& s, VReg packed) {
  const VReg upper = s.temp(Type::b32);
  s.emit(Op::SHR_U, upper, Value::of(packed, Type::b32), Value::imm(16, Type::u32));
  return Value::of(upper, Type::f16);
}

void join_halves(Selector& s, VReg dst, const Value& lower, const Value& upper) {
  constexpr std::uint32_t kLowHalves = 0x5410;  // of prmt: bytes 1 and 0 of both
  s.emit(Op::PRMT, dst, lower, upper, Value::imm(kLowHalves, Type::b32));
}

void lower_half_function(Selector& s, bool packed, Op op, std::uint32_t mods) {
  s.expect_operands(2);
  const Type type = packed ? Type::b32 : Type::f16;
  const VReg dst = s.destination(s.operand(0), type);
  const VReg from = s.in_register(s.source(s.operand(1), type));
  const auto compute_one = [&](VReg to, const Value& half) {
    const VReg result = s.temp(Type::f32);
    s.emit_b(op, result, half_as_float(s, half), mods);
    s.convert(to, Type::f16, Value::of(result, Type::f32), isa::Rounding::rn);
  };
  if (!packed) {
    compute_one(dst, Value::of(from, Type::f16));
    return;
  }
  const VReg lower = s.temp(Type::b32), upper = s.temp(Type::b32);
  compute_one(lower, Value::of(from, Type::f16));
  compute_one(upper, upper_half(s, from));
  join_halves(s, dst, Value::of(lower, Type::b32), Value::of(upper, Type::b32));
}

Value half_as_float(Selector& s, const Value& half) {
  const VReg reg = s.temp(Type::f32);
  s.convert(reg, Type::f32, Value::of(s.in_register(half), Type::f16));
  return Value::of(reg, Type::f32);
}

bool lower_half(Selector& s, HalfOp op) {
  const std::vector<std::string>& words = s.statement().modifiers;
  if (words.empty() || (words.back() != "f16" && words.back() != "f16x2")) return false;
  const Form form = form_of(s, op);
  s.expect_operands(1 + form.sources());
  s.expect_unpaired(s.operand(0));
  const VReg dst = s.destination(s.operand(0), form.packed ? Type::b32 : Type::f16);
  if (form.sources() == 1) {
    change_signs(s, form, dst);
    return true;
  }
  std::vector<Value> low, high;
  for (std::size_t i = 1; i <= form.sources(); ++i) {
    const VReg reg = s.in_register(s.source(s.operand(i), form.packed ? Type::b32 : Type::f16));
    low.push_back(Value::of(reg, Type::f16));
    if (!form.packed) continue;
    high.push_back(upper_half(s, reg));
  }
  if (!form.packed) {
    compute(s, form, dst, low);
    return true;
  }
  const VReg lower = s.temp(Type::b32), upper = s.temp(Type::b32);
  compute(s, form, lower, low);
  compute(s, form, upper, high);
  join_halves(s, dst, Value::of(lower, Type::b32), Value::of(upper, Type::b32));
  return true;
}

}  // namespace heddle::ptx
