// Comparison and selection: setp set selp slct testp (PTX ISA, sections 9.7.6 and 9.7.3).
#include <array>

#include "ptx/lower/arithmetic.hpp"
#include "ptx/lower/half.hpp"
#include "ptx/lower/handlers.hpp"

namespace heddle::ptx {
namespace {

using isa::Comparison;
using isa::Op;

constexpr std::initializer_list<Type> kCompared = {Type::b16, Type::b32, Type::b64, Type::u16, Type::u32, Type::u64,
                                                   Type::s16, Type::s32, Type::s64, Type::f32, Type::f64};

// The comparison by name; lo ls hi hs are the unsigned ones.
struct Relation {
  Comparison comparison;
  enum class Kind { any, ordered, unsigned_only, float_only } kind;
};

Relation relation(Modifiers& m) {
  using Kind = Relation::Kind;
  return m.require<Relation>("a comparison", {{"eq", {Comparison::eq, Kind::any}},
                                              {"ne", {Comparison::ne, Kind::any}},
                                              {"lt", {Comparison::lt, Kind::ordered}},
                                              {"le", {Comparison::le, Kind::ordered}},
                                              {"gt", {Comparison::gt, Kind::ordered}},
                                              {"ge", {Comparison::ge, Kind::ordered}},
                                              {"lo", {Comparison::lt, Kind::unsigned_only}},
                                              {"ls", {Comparison::le, Kind::unsigned_only}},
                                              {"hi", {Comparison::gt, Kind::unsigned_only}},
                                              {"hs", {Comparison::ge, Kind::unsigned_only}},
                                              {"equ", {Comparison::equ, Kind::float_only}},
                                              {"neu", {Comparison::neu, Kind::float_only}},
                                              {"ltu", {Comparison::ltu, Kind::float_only}},
                                              {"leu", {Comparison::leu, Kind::float_only}},
                                              {"gtu", {Comparison::gtu, Kind::float_only}},
                                              {"geu", {Comparison::geu, Kind::float_only}},
                                              {"num", {Comparison::num, Kind::float_only}},
                                              {"nan", {Comparison::nan, Kind::float_only}}});
}

void check(Selector& s, const Relation& relation, Type type) {
  using Kind = Relation::Kind;
  if (is_untyped(type) && relation.kind != Kind::any) {
    s.refuse("untyped bits are compared with .eq and .ne only", "use a signed or unsigned type");
  }
  if (relation.kind == Kind::unsigned_only && (is_signed(type) || is_float(type))) {
    s.refuse(".lo, .ls, .hi and .hs compare unsigned integers", "use .lt, .le, .gt or .ge");
  }
  if (relation.kind == Kind::float_only && !is_float(type)) {
    s.refuse("comparisons with NaN apply to floating point only", "use .eq, .ne, .lt, .le, .gt or .ge");
  }
}

Op comparison_op(Type type) {
  if (type == Type::f32) return Op::SETP_F32;
  if (type == Type::f64) return Op::SETP_F64;
  return by_type(type, {Op::SETP_S32, Op::SETP_U32, Op::SETP_S64, Op::SETP_U64});
}

std::optional<isa::BoolOp> combination(Modifiers& m) {
  using isa::BoolOp;
  return m.choose<BoolOp>({{"and", BoolOp::and_}, {"or", BoolOp::or_}, {"xor", BoolOp::xor_}});
}

// p for the lower halves and q for the upper ones of pairs.
void lower_setp_of_halves(Selector& s, const HalfType& type, Selector::Compare how, VReg p, VReg q) {
  if (type.packed && q == kNone) {
    s.refuse("setp." + s.statement().modifiers.back() + " has two results", "write both: p|q");
  }
  if (type.bfloat && how.ftz) s.refuse(".ftz does not apply to .bf16", "remove it");
  how.format = type.mods();
  const auto operand = [&](std::size_t index) {
    return Value::of(s.in_register(s.source(s.operand(index), type.of_registers())), type.of_registers());
  };
  const Value a = operand(1);
  const Value b = operand(2);
  if (s.operand_count() == 4) how.with = s.predicate(s.operand(3));
  s.setp(how, p, q, a, b);
}

void lower_setp(Selector& s) {
  Modifiers m = s.modifiers();
  const Relation compare = relation(m);
  const auto combine = combination(m);
  const bool ftz = m.accept("ftz");
  const std::optional<HalfType> half = half_type(m.peek());
  if (half) static_cast<void>(m.accept(m.peek()));
  const Type type = half ? Type::f16 : m.type(kCompared);
  m.finish();
  check(s, compare, type);
  if (!half) expect_ftz_on_f32(s, ftz, type);
  s.expect_operands(combine ? 4 : 3);
  const VReg p = s.destination_predicate(s.operand(0));
  const VReg q = s.paired(s.operand(0));
  if (half) {
    lower_setp_of_halves(s, *half, {Op::SETP_H, compare.comparison, combine.value_or(isa::BoolOp::none), {}, ftz}, p,
                         q);
    return;
  }
  const Value a = s.number(s.operand(1), type);
  const Value b = s.number(s.operand(2), type);
  const VPred with = combine ? s.predicate(s.operand(3)) : VPred{};
  s.setp({comparison_op(type), compare.comparison, combine.value_or(isa::BoolOp::none), with, ftz}, p, q, a, b);
}

// set of .f16 or .f16x2: true is all ones, or 1.0 of the result's type; a pair gives a pair, or ones per half.
void set_halves(Selector& s, Modifiers& m, Selector::Compare how) {
  const bool pair_result = m.accept("f16x2");
  const Type result = pair_result ? Type::b32 : m.type({Type::u16, Type::s16, Type::u32, Type::s32, Type::f16});
  const bool pair = m.accept("f16x2");
  if (!pair) m.expect("f16");
  m.finish();
  if (pair ? !pair_result && result != Type::u32 && result != Type::s32 : pair_result) {
    s.refuse("the result does not suit the operands", "write .f16x2 or .u32 for .f16x2, and no .f16x2 for .f16");
  }
  s.expect_operands(how.combine != isa::BoolOp::none ? 4 : 3);
  const VReg dst = s.destination(s.operand(0), result);
  const Type of = pair ? Type::b32 : Type::f16;
  const VReg a = s.in_register(s.source(s.operand(1), of)), b = s.in_register(s.source(s.operand(2), of));
  if (how.combine != isa::BoolOp::none) how.with = s.predicate(s.operand(3));
  const bool half_one = pair_result || result == Type::f16;
  const std::uint32_t yes = half_one ? 0x3c00U : 0xffff'ffffU;
  const auto one = [&](VReg to, const Value& first, const Value& second) {
    const VReg p = s.temp(Type::pred);
    s.setp(how, p, kNone, first, second);
    s.select(to, {p, false}, Value::imm(yes, Type::b32), Value::of(kNone, Type::b32));
  };
  if (!pair) {
    one(dst, Value::of(a, Type::f16), Value::of(b, Type::f16));
    return;
  }
  const VReg lower = s.temp(Type::b32), upper = s.temp(Type::b32);
  one(lower, Value::of(a, Type::f16), Value::of(b, Type::f16));
  one(upper, upper_half(s, a), upper_half(s, b));
  join_halves(s, dst, Value::of(lower, Type::b32), Value::of(upper, Type::b32));
}

void lower_set(Selector& s) {
  Modifiers m = s.modifiers();
  const Relation compare = relation(m);
  const auto combine = combination(m);
  const bool ftz = m.accept("ftz");
  if (s.statement().modifiers.back() == "f16" || s.statement().modifiers.back() == "f16x2") {
    set_halves(s, m, {Op::SETP_H, compare.comparison, combine.value_or(isa::BoolOp::none), {}, ftz});
    return;
  }
  const Type result = m.type({Type::u32, Type::s32, Type::f32});
  const Type type = m.type(kCompared);
  m.finish();
  check(s, compare, type);
  expect_ftz_on_f32(s, ftz, type);
  s.expect_operands(combine ? 4 : 3);
  s.expect_unpaired(s.operand(0));
  const VReg dst = s.destination(s.operand(0), result);
  const Value a = s.number(s.operand(1), type);
  const Value b = s.number(s.operand(2), type);
  const VPred with = combine ? s.predicate(s.operand(3)) : VPred{};
  const VReg p = s.temp(Type::pred);
  s.setp({comparison_op(type), compare.comparison, combine.value_or(isa::BoolOp::none), with, ftz}, p, kNone, a, b);
  // True is all ones, or 1.0. Zero comes from RZ, so that the constant is the immediate.
  const std::uint64_t yes = result == Type::f32 ? 0x3f800000U : 0xffffffffU;
  s.select(dst, {p, false}, Value::imm(yes, Type::b32), Value::of(kNone, Type::b32));
}

void lower_selp(Selector& s) {
  const Type type = sole_type(s, kCompared);
  s.expect_operands(4);
  const VReg dst = s.destination(s.operand(0), type);
  const Value a = s.source(s.operand(1), type);
  const Value b = s.source(s.operand(2), type);
  s.select(dst, s.predicate(s.operand(3)), a, b);
}

void lower_slct(Selector& s) {
  Modifiers m = s.modifiers();
  const bool ftz = m.accept("ftz");
  const Type type = m.type(kCompared);
  const Type sign = m.type({Type::s32, Type::f32});
  m.finish();
  expect_ftz_on_f32(s, ftz, sign);
  s.expect_operands(4);
  const VReg dst = s.destination(s.operand(0), type);
  const Value a = s.source(s.operand(1), type);
  const Value b = s.source(s.operand(2), type);
  const Value c = s.source(s.operand(3), sign);
  const VReg p = s.temp(Type::pred);
  s.setp({comparison_op(sign), Comparison::ge, isa::BoolOp::none, {}, ftz}, p, kNone, c, Value::of(kNone, sign));
  s.select(dst, {p, false}, a, b);
}

void lower_testp(Selector& s) {
  using isa::TestKind;
  Modifiers m = s.modifiers();
  const TestKind test = m.require<TestKind>("a property", {{"finite", TestKind::finite},
                                                           {"infinite", TestKind::infinite},
                                                           {"number", TestKind::number},
                                                           {"notanumber", TestKind::notanumber},
                                                           {"normal", TestKind::normal},
                                                           {"subnormal", TestKind::subnormal}});
  const Type type = m.type({Type::f32, Type::f64});
  m.finish();
  s.expect_operands(2);
  IrInstruction instruction;
  instruction.op = type == Type::f64 ? Op::TESTP_F64 : Op::TESTP_F32;
  instruction.p = s.destination_predicate(s.operand(0));
  instruction.a = s.in_register(s.source(s.operand(1), type));
  instruction.sub = static_cast<std::uint8_t>(test);
  s.write(std::move(instruction));
}

constexpr std::array kCompareHandlers = {Handler{"setp", lower_setp}, Handler{"set", lower_set},
                                         Handler{"selp", lower_selp}, Handler{"slct", lower_slct},
                                         Handler{"testp", lower_testp}};

}  // namespace

std::span<const Handler> compare_handlers() {
  return kCompareHandlers;
}

}  // namespace heddle::ptx
