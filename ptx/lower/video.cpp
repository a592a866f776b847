// SIMD video instructions on bytes and half-words, and searches for the n-th one: vadd2 vsub2 vavrg2 vabsdiff2 vmin2
// vmax2 vset2 and their forms for four bytes, fns (PTX ISA, sections 9.7.18.2 and 9.7.1.16). The machine has none of
// them; each becomes a sequence of 32-bit operations. Operands are taken whole, as the intrinsics of CUDA have them:
// masks and selectors behind operands are refused.
#include <array>
#include <cstdint>
#include <optional>

#include "ptx/lower/arithmetic.hpp"
#include "ptx/lower/handlers.hpp"

namespace heddle::ptx {
namespace {

using isa::Op;

enum class Each : std::uint8_t { add, sub, average, difference, min, max, set };

class Packed {
 public:
  Packed(Selector& s, Each each, unsigned parts) : s_(s), each_(each), parts_(parts), bits_(32 / parts) {}

  void lower() {
    Modifiers m = s_.modifiers();
    const auto type = [&m] { return m.type({Type::u32, Type::s32}); };
    const Type result = each_ == Each::set ? Type::u32 : type();
    const Type of_a = type(), of_b = type();
    if (each_ == Each::set) {
      using isa::Comparison;
      compare_ = m.require<Comparison>("a comparison", {{"eq", Comparison::eq},
                                                        {"ne", Comparison::ne},
                                                        {"lt", Comparison::lt},
                                                        {"le", Comparison::le},
                                                        {"gt", Comparison::gt},
                                                        {"ge", Comparison::ge}});
    }
    const bool saturate = each_ != Each::set && m.accept("sat");
    const bool accumulate = !saturate && m.accept("add");
    m.finish();
    s_.expect_operands(4);
    const VReg dst = s_.destination(s_.operand(0), Type::u32);
    const VReg a = s_.in_register(s_.source(s_.operand(1), Type::u32));
    const VReg b = s_.in_register(s_.source(s_.operand(2), Type::u32));
    VReg sum =
        s_.in_register(s_.source(s_.operand(3), Type::u32));  // of .add; a merge takes it for what a mask leaves out
    std::optional<VReg> merged;
    for (unsigned part = 0; part < parts_; ++part) {
      VReg value = compute(extract(a, part, of_a), extract(b, part, of_b));
      if (saturate) value = saturated(value, result);
      if (accumulate) {
        sum = op(Op::ADD, sum, value);
      } else {
        value = with(Op::AND, value, bits_ == 8 ? 0xffU : 0xffffU);
        if (part != 0) value = with(Op::SHL, value, part * bits_);
        merged = merged ? op(Op::OR, *merged, value) : value;
      }
    }
    s_.move(dst, Value::of(accumulate ? sum : *merged, Type::u32));
  }

 private:
  VReg op(Op code, VReg a, VReg b) {
    const VReg to = s_.temp(Type::u32);
    s_.emit(code, to, Value::of(a, Type::u32), Value::of(b, Type::u32));
    return to;
  }
  VReg with(Op code, VReg a, std::uint32_t constant) {
    const VReg to = s_.temp(Type::u32);
    s_.emit(code, to, Value::of(a, Type::u32), Value::imm(constant, Type::u32));
    return to;
  }
  VReg extract(VReg from, unsigned part, Type type) {
    const VReg to = s_.temp(Type::u32), width = s_.temp(Type::u32);
    s_.move(width, Value::imm(bits_, Type::u32));
    s_.emit(type == Type::s32 ? Op::BFE_S : Op::BFE_U, to, Value::of(from, Type::u32),
            Value::imm(part * bits_, Type::u32), Value::of(width, Type::u32));
    return to;
  }
  // a and b have 16 digits and a sign at most, so that 32-bit signed operations are exact.
  VReg compute(VReg a, VReg b) {
    switch (each_) {
      case Each::add:
        return op(Op::ADD, a, b);
      case Each::sub:
        return op(Op::SUB, a, b);
      case Each::average: {  // halves away from zero
        const VReg sum = op(Op::ADD, a, b);
        return with(Op::SHR_S, op(Op::ADD, with(Op::ADD, sum, 1), with(Op::SHR_S, sum, 31)), 1);
      }
      case Each::difference: {
        const VReg difference = op(Op::SUB, a, b), to = s_.temp(Type::u32);
        s_.emit_b(Op::ABS, to, Value::of(difference, Type::u32));
        return to;
      }
      case Each::min:
        return op(Op::MIN_S, a, b);
      case Each::max:
        return op(Op::MAX_S, a, b);
      case Each::set:
        break;
    }
    const VReg p = s_.temp(Type::pred), to = s_.temp(Type::u32);
    s_.setp({Op::SETP_S32, compare_, isa::BoolOp::none, {}, false}, p, kNone, Value::of(a, Type::u32),
            Value::of(b, Type::u32));
    s_.select(to, {p, false}, Value::imm(1, Type::b32), Value::of(kNone, Type::b32));
    return to;
  }
  VReg saturated(VReg value, Type result) {
    const std::uint32_t most = (1U << (result == Type::s32 ? bits_ - 1 : bits_)) - 1;
    const std::uint32_t least = result == Type::s32 ? ~most : 0;
    return with(Op::MIN_S, with(Op::MAX_S, value, least), most);
  }

  Selector& s_;
  Each each_;
  unsigned parts_, bits_;
  isa::Comparison compare_ = isa::Comparison::eq;
};

template <Each kEach, unsigned kParts>
void lower_packed(Selector& s) {
  Packed(s, kEach, kParts).lower();
}

// The |offset|-th one of `mask` from bit `base` on, downwards for a negative offset; offset 0: bit `base` itself. Half
// of the bits that are left is counted in each step.
void lower_fns(Selector& s) {
  Modifiers m = s.modifiers();
  m.type({Type::b32});
  m.finish();
  s.expect_operands(4);
  const VReg dst = s.destination(s.operand(0), Type::b32);
  const Value mask = Value::of(s.in_register(s.source(s.operand(1), Type::b32)), Type::u32);
  const Value base = Value::of(s.in_register(s.source(s.operand(2), Type::u32)), Type::u32);
  const Value offset = Value::of(s.in_register(s.source(s.operand(3), Type::s32)), Type::s32);
  const auto number = [](std::uint32_t constant) { return Value::imm(constant, Type::u32); };
  const auto emit = [&](Op op, const Value& a, const Value& b) {
    const VReg to = s.temp(Type::u32);
    s.emit(op, to, a, b);
    return Value::of(to, Type::u32);
  };
  const auto from = [&](std::uint32_t constant, const Value& less) {  // constant - less
    const VReg to = s.temp(Type::u32);
    s.move(to, number(constant));
    return emit(Op::SUB, Value::of(to, Type::u32), less);
  };
  const auto one_of = [&](Op op, const Value& of) {
    const VReg to = s.temp(Type::u32);
    s.emit_b(op, to, of);
    return Value::of(to, Type::u32);
  };
  const auto test = [&](Op op, isa::Comparison comparison, const Value& a, const Value& b) {
    const VReg p = s.temp(Type::pred);
    s.setp({op, comparison, isa::BoolOp::none, {}, false}, p, kNone, a, b);
    return p;
  };
  const auto choose = [&](VReg p, const Value& yes, const Value& no) {
    const VReg to = s.temp(Type::u32);
    s.select(to, {p, false}, yes, no);
    return Value::of(to, Type::u32);
  };
  const VReg down = test(Op::SETP_S32, isa::Comparison::lt, offset, number(0));
  const VReg here = test(Op::SETP_S32, isa::Comparison::eq, offset, number(0));
  const Value bits = choose(down, one_of(Op::BREV, mask), mask);
  const Value start = choose(down, from(31, base), base);
  const Value ones = one_of(Op::MOV, number(0xffff'ffffU));
  const Value window = emit(Op::SHL, choose(here, one_of(Op::MOV, number(1)), ones), start);
  Value left = emit(Op::AND, bits, window);
  Value count = choose(here, one_of(Op::MOV, number(1)), one_of(Op::ABS, offset));
  const VReg found = test(Op::SETP_U32, isa::Comparison::le, count, one_of(Op::POPC, left));
  Value place = one_of(Op::MOV, number(0));
  for (std::uint32_t width = 16; width != 0; width /= 2) {
    const Value below = one_of(Op::POPC, emit(Op::AND, left, number((1U << width) - 1)));
    const VReg above = test(Op::SETP_U32, isa::Comparison::gt, count, below);
    count = choose(above, emit(Op::SUB, count, below), count);
    place = choose(above, emit(Op::ADD, place, number(width)), place);
    left = choose(above, emit(Op::SHR_U, left, number(width)), left);
  }
  const Value result = choose(found, choose(down, from(31, place), place), ones);
  s.move(dst, result);
}

constexpr std::array kVideoHandlers = {Handler{"vadd2", lower_packed<Each::add, 2>},
                                       Handler{"vadd4", lower_packed<Each::add, 4>},
                                       Handler{"vsub2", lower_packed<Each::sub, 2>},
                                       Handler{"vsub4", lower_packed<Each::sub, 4>},
                                       Handler{"vavrg2", lower_packed<Each::average, 2>},
                                       Handler{"vavrg4", lower_packed<Each::average, 4>},
                                       Handler{"vabsdiff2", lower_packed<Each::difference, 2>},
                                       Handler{"vabsdiff4", lower_packed<Each::difference, 4>},
                                       Handler{"vmin2", lower_packed<Each::min, 2>},
                                       Handler{"vmin4", lower_packed<Each::min, 4>},
                                       Handler{"vmax2", lower_packed<Each::max, 2>},
                                       Handler{"vmax4", lower_packed<Each::max, 4>},
                                       Handler{"vset2", lower_packed<Each::set, 2>},
                                       Handler{"vset4", lower_packed<Each::set, 4>},
                                       Handler{"fns", lower_fns}};

}  // namespace

std::span<const Handler> video_handlers() {
  return kVideoHandlers;
}

}  // namespace heddle::ptx
