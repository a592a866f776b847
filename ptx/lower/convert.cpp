// cvt (PTX ISA, section 9.7.9.21).
#include <array>

#include "ptx/lower/arithmetic.hpp"
#include "ptx/lower/half.hpp"
#include "ptx/lower/handlers.hpp"

namespace heddle::ptx {
namespace {

using isa::Rounding;

constexpr std::initializer_list<Type> kConverted = {Type::u8,  Type::s8,  Type::u16, Type::s16, Type::u32, Type::s32,
                                                    Type::u64, Type::s64, Type::f16, Type::f32, Type::f64};

struct Conversion {
  Rounding rounding = Rounding::none;
  bool ftz = false, saturate = false;
  Type to = Type::u32, from = Type::u32;
};

bool to_integral(Rounding rounding) {
  return rounding >= Rounding::rni;
}

// Which rounding a conversion must, may and must not have (table of section 9.7.9.21).
void check(Selector& s, const Conversion& c) {
  const bool rounds = c.rounding != Rounding::none;
  if (c.ftz && c.to != Type::f32 && c.from != Type::f32) s.refuse(".ftz applies to .f32 only", "remove it");
  if (is_integer(c.to) && is_integer(c.from)) {
    if (rounds) s.refuse("integers are not rounded", "remove the rounding mode");
    return;
  }
  if (is_float(c.from) && is_integer(c.to)) {
    if (!to_integral(c.rounding)) {
      s.refuse("conversion of a float to an integer lacks an integer rounding mode", "write .rni, .rzi, .rmi or .rpi");
    }
    return;
  }
  const bool narrows = is_integer(c.from) || isa::size_of(c.to) < isa::size_of(c.from);
  if (narrows && (!rounds || to_integral(c.rounding))) {
    s.refuse("conversion to " + dotted(c.to) + " lacks a rounding mode", "write .rn, .rz, .rm or .rp");
  }
  if (!narrows && rounds && !(c.to == c.from && to_integral(c.rounding))) {
    s.refuse("conversion of " + dotted(c.from) + " to " + dotted(c.to) + " is exact", "remove the rounding mode");
  }
}

// Registers of integers may be wider than the types of cvt.
void check_register(Selector& s, const Operand& operand, Type type) {
  const Type is = s.declared(operand.reg);
  const bool fits = is_float(type) || is == Type::pred ? isa::size_of(is) == isa::size_of(type)
                                                       : isa::size_of(is) >= isa::size_of(type);
  if (!fits || operand.negated || !kinds_agree(is, type)) {
    s.refuse(operand.at, "a register of type " + dotted(is) + " stands where cvt has " + dotted(type),
             "use a register of type " + dotted(type));
  }
}

Value source(Selector& s, const Operand& operand, Type from) {
  if (operand.kind != Operand::Kind::reg) return s.source(operand, from);
  check_register(s, operand, from);
  VReg reg = s.vreg(operand.reg);
  if (is_wide(s.declared(operand.reg)) && !is_wide(from)) reg = s.low_half(reg);
  return Value::of(reg, from);
}

// A word, extended to 32 bits as `word` says, as the 64 bits of dst.
void widen(Selector& s, VReg dst, VReg word, bool sign) {
  if (sign) {
    s.convert(dst, Type::s64, Value::of(word, Type::s32));
  } else {
    s.pack(dst, word, kNone);
  }
}

// Integer to integer without saturation, into a register of `size` bytes.
void convert_integer(Selector& s, VReg dst, unsigned size, const Conversion& c, Value value) {
  const unsigned to = isa::size_of(c.to);
  const unsigned from = isa::size_of(c.from);
  if (value.constant) value = Value::imm(value.bits, c.from);
  if (to == 8) {
    if (from == 8) {
      s.move(dst, value);
      return;
    }
    const Value word = s.extended(value);
    widen(s, dst, s.in_register(word), is_signed(c.from));
    return;
  }
  if (from == 8 && !value.constant && size == to) {  // the low half, whatever is above
    s.unpack(dst, kNone, value.reg);
    return;
  }
  if (from == 8) {
    value =
        value.constant ? Value::imm(value.bits & 0xffffffffU, Type::u32) : Value::of(s.low_half(value.reg), Type::u32);
  }
  const bool enough = from >= to && size == to;  // the upper bits of small registers are arbitrary
  const VReg word = size == 8 ? s.temp(Type::b32) : dst;
  if (enough || (to == 4 && from >= 4)) {
    s.move(word, value);
  } else {
    s.convert(word, to == 4 ? (is_signed(value.type) ? Type::s32 : Type::u32) : c.to, value);
  }
  if (size == 8) widen(s, dst, word, is_signed(c.to));
}

// To the nearest number of 19 bits, away from 0 between two; what is no finite number stays (PTX ISA, cvt: .tf32).
void convert_to_tf32(Selector& s, Modifiers& m) {
  m.expect("tf32");
  m.expect("f32");
  m.finish();
  s.expect_operands(2);
  constexpr std::uint32_t kExponent = 0x7f800000;
  constexpr std::uint32_t kHalf = 0x1000;  // of the last bit that stays
  const Value value = Value::of(s.in_register(s.source(s.operand(1), Type::f32)), Type::u32);
  const VReg dst = s.destination(s.operand(0), Type::b32);
  if (dst == kNone) return;
  const auto computed = [&](isa::Op op, const Value& a, std::uint32_t b) {
    const VReg out = s.temp(Type::u32);
    s.emit(op, out, a, Value::imm(b, Type::u32));
    return Value::of(out, Type::u32);
  };
  const Value rounded = computed(isa::Op::AND, computed(isa::Op::ADD, value, kHalf), ~(2 * kHalf - 1));
  const VReg finite = s.temp(Type::pred);
  s.setp({isa::Op::SETP_U32, isa::Comparison::lt, isa::BoolOp::none, {}, false}, finite, kNone,
         computed(isa::Op::AND, value, kExponent), Value::imm(kExponent, Type::u32));
  s.select(dst, {finite}, rounded, value);
}

void lower_cvt(Selector& s) {
  if (lower_half_conversion(s)) return;
  Modifiers m = s.modifiers();
  if (m.accept("rna")) return convert_to_tf32(s, m);
  Conversion c;
  const auto rounding = m.choose<Rounding>({{"rn", Rounding::rn},
                                            {"rz", Rounding::rz},
                                            {"rm", Rounding::rm},
                                            {"rp", Rounding::rp},
                                            {"rni", Rounding::rni},
                                            {"rzi", Rounding::rzi},
                                            {"rmi", Rounding::rmi},
                                            {"rpi", Rounding::rpi}});
  c.rounding = rounding.value_or(Rounding::none);
  c.ftz = m.accept("ftz");
  c.saturate = m.accept("sat");
  c.to = m.type(kConverted);
  c.from = m.type(kConverted);
  m.finish();
  check(s, c);
  s.expect_operands(2);
  const Operand& to = s.operand(0);
  s.expect_unpaired(to);
  if (to.kind != Operand::Kind::reg) s.refuse(to.at, "the destination of cvt must be a register", "name a register");
  check_register(s, to, c.to);
  const unsigned size = isa::size_of(s.declared(to.reg));
  const VReg dst = s.vreg(to.reg);
  const Value value = source(s, s.operand(1), c.from);
  if (is_integer(c.to) && is_integer(c.from) && !c.saturate) {
    convert_integer(s, dst, size, c, value);
    return;
  }
  if (c.to == c.from && c.rounding == Rounding::none && !c.ftz && !c.saturate) {
    s.move(dst, value);
    return;
  }
  const bool wider = size == 8 && !is_wide(c.to);
  const VReg result = wider ? s.temp(Type::b32) : dst;
  s.convert(result, c.to, value, c.rounding, c.ftz, c.saturate);
  if (wider) widen(s, dst, result, is_signed(c.to));
}

constexpr std::array kConvertHandlers = {Handler{"cvt", lower_cvt}};

}  // namespace

std::span<const Handler> convert_handlers() {
  return kConvertHandlers;
}

}  // namespace heddle::ptx
