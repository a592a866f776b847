#include "ptx/lower/half.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "ptx/lower/arithmetic.hpp"

namespace heddle::ptx {

namespace {

using isa::Op;

std::size_t sources_of(HalfOp op) {
  return op == HalfOp::neg || op == HalfOp::abs ? 1 : op == HalfOp::fma ? 3 : 2;
}

Op machine_operation(HalfOp op) {
  switch (op) {
    case HalfOp::add:
      return Op::HADD;
    case HalfOp::sub:
      return Op::HSUB;
    case HalfOp::mul:
      return Op::HMUL;
    case HalfOp::fma:
      return Op::HFMA;
    case HalfOp::min:
      return Op::HMIN;
    case HalfOp::max:
      return Op::HMAX;
    case HalfOp::neg:
      return Op::HNEG;
    case HalfOp::abs:
      return Op::HABS;
  }
  return Op::HADD;
}

// The type that ends a statement, once what stands before it has been read.
HalfType finish(const Selector& s, Modifiers& m, bool flushes, bool saturates) {
  const std::optional<HalfType> type = half_type(m.peek());
  if (!type) {
    m.refuse("'" + s.statement().opcode + "' expects a type where ." + std::string(m.peek()) + " stands",
             "this instruction takes .f16 .f16x2 .bf16 .bf16x2");
  }
  if (type->bfloat && flushes) m.refuse(".ftz does not apply to .bf16", "remove it");
  if (type->bfloat && saturates) m.refuse(".sat does not apply to .bf16", "remove it");
  static_cast<void>(m.accept(m.peek()));
  m.finish();
  return *type;
}

// The modifiers of an arithmetic statement, type included, as the machine instruction has them.
struct Form {
  HalfType type;
  std::uint32_t mods;
};
Form form_of(Selector& s, HalfOp op) {
  using isa::Rounding;
  Modifiers m = s.modifiers();
  const bool extreme = op == HalfOp::min || op == HalfOp::max;
  const bool rounds = sources_of(op) != 1 && !extreme;
  if (rounds) {
    const auto rounding = m.rounding();
    if (rounding && *rounding != Rounding::rn) m.refuse(".f16 and .bf16 are rounded to nearest only", "write .rn");
    if (op == HalfOp::fma && !rounding) m.refuse("'fma' on 16-bit floating point lacks a rounding mode", "write .rn");
  }
  const bool ftz = m.accept("ftz");
  const bool nan = extreme && m.accept("NaN");
  const bool magnitudes = extreme && m.accept("xorsign");
  if (magnitudes) m.expect("abs");
  const bool sat = rounds && m.accept("sat");
  const bool relu = op == HalfOp::fma && !sat && m.accept("relu");
  const HalfType type = finish(s, m, ftz, sat);
  return {type, isa::float_mods(Rounding::none, ftz, sat, false, nan) |
                    isa::half_mods(type.packed, type.bfloat, relu, magnitudes)};
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

std::optional<HalfType> half_type(std::string_view name) {
  if (name == "f16") return HalfType{false, false};
  if (name == "f16x2") return HalfType{true, false};
  if (name == "bf16") return HalfType{false, true};
  if (name == "bf16x2") return HalfType{true, true};
  return std::nullopt;
}

bool lower_half(Selector& s, HalfOp op) {
  const std::vector<std::string>& words = s.statement().modifiers;
  if (words.empty() || !half_type(words.back())) return false;
  const Form form = form_of(s, op);
  const std::size_t sources = sources_of(op);
  s.expect_operands(1 + sources);
  s.expect_unpaired(s.operand(0));
  const Type type = form.type.of_registers();
  const VReg dst = s.destination(s.operand(0), type);
  std::vector<Value> from;
  for (std::size_t i = 1; i <= sources; ++i) {
    from.push_back(Value::of(s.in_register(s.source(s.operand(i), type)), type));
  }
  if (sources == 1) {
    s.emit_b(machine_operation(op), dst, from[0], form.mods);
  } else {
    s.emit(machine_operation(op), dst, from[0], from[1], sources == 3 ? from[2] : Value{}, form.mods);
  }
  return true;
}

bool lower_half_conversion(Selector& s) {
  const std::vector<std::string>& words = s.statement().modifiers;
  if (words.size() < 2) return false;
  const std::optional<HalfType> to = half_type(words[words.size() - 2]);
  const std::optional<HalfType> from = half_type(words.back());
  const bool relu = std::find(words.begin(), words.end(), "relu") != words.end();
  const bool from_bfloat = from && from->bfloat;
  if (!from_bfloat && (!to || (!to->packed && !to->bfloat && !relu))) return false;
  Modifiers m = s.modifiers();
  if (from_bfloat) {  // the upper half of a single
    m.type({Type::f32});
    m.expect("bf16");
    m.finish();
    s.expect_operands(2);
    s.expect_unpaired(s.operand(0));
    const VReg dst = s.destination(s.operand(0), Type::f32);
    s.emit(Op::SHL, dst, s.source(s.operand(1), Type::b16), Value::imm(16, Type::u32));
    return true;
  }
  const auto rounding = m.rounding();
  if (!rounding || *rounding > isa::Rounding::rz)
    m.refuse("conversion to ." + words[words.size() - 2] + " rounds to nearest or to zero", "write .rn or .rz");
  static_cast<void>(m.accept("relu"));
  static_cast<void>(m.accept(words[words.size() - 2]));
  m.type({Type::f32});
  m.finish();
  s.expect_operands(to->packed ? 3 : 2);
  s.expect_unpaired(s.operand(0));
  const VReg dst = s.destination(s.operand(0), to->of_registers());
  const Value upper = to->packed ? s.source(s.operand(1), Type::f32) : Value::of(kNone, Type::f32);
  const VReg lower = s.in_register(s.source(s.operand(to->packed ? 2 : 1), Type::f32));
  s.emit(Op::CVT_PACK, dst, upper, Value::of(lower, Type::f32), {},
         isa::float_mods(*rounding) | isa::half_mods(false, to->bfloat, relu));
  return true;
}

}  // namespace heddle::ptx
