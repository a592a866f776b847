// Bits: and or xor not cnot lop3 shl shr shf bfe bfi bfind brev bmsk clz popc prmt szext (PTX ISA,
// sections 9.7.1, 9.7.8).
#include <array>

#include "ptx/lower/arithmetic.hpp"
#include "ptx/lower/handlers.hpp"

namespace heddle::ptx {
namespace {

using isa::Op;

struct LogicOps {
  Op word, pair;
  isa::BoolOp predicate;
};

void logic(Selector& s, const LogicOps& ops) {
  const Type type = sole_type(s, {Type::pred, Type::b16, Type::b32, Type::b64});
  s.expect_operands(3);
  if (type == Type::pred) {
    const VReg p = s.destination_predicate(s.operand(0));
    const VPred a = s.predicate(s.operand(1));
    const VPred b = s.predicate(s.operand(2));
    s.plop(p, a, ops.predicate, b);
    return;
  }
  const VReg dst = s.destination(s.operand(0), type);
  Value a = s.source(s.operand(1), type);
  Value b = s.source(s.operand(2), type);
  commute(a, b);
  s.emit(is_wide(type) ? ops.pair : ops.word, dst, a, b);
}

void lower_and(Selector& s) {
  logic(s, {Op::AND, Op::AND64, isa::BoolOp::and_});
}
void lower_or(Selector& s) {
  logic(s, {Op::OR, Op::OR64, isa::BoolOp::or_});
}
void lower_xor(Selector& s) {
  logic(s, {Op::XOR, Op::XOR64, isa::BoolOp::xor_});
}

void lower_not(Selector& s) {
  const Type type = sole_type(s, {Type::pred, Type::b16, Type::b32, Type::b64});
  s.expect_operands(2);
  if (type == Type::pred) {
    const VReg p = s.destination_predicate(s.operand(0));
    VPred a = s.predicate(s.operand(1));
    a.negated = !a.negated;
    s.plop(p, a, isa::BoolOp::and_);
    return;
  }
  const VReg dst = s.destination(s.operand(0), type);
  s.emit_b(is_wide(type) ? Op::NOT64 : Op::NOT, dst, s.source(s.operand(1), type));
}

void lower_cnot(Selector& s) {
  const Type type = sole_type(s, {Type::b16, Type::b32, Type::b64});
  s.expect_operands(2);
  const VReg dst = s.destination(s.operand(0), type);
  s.emit_b(is_wide(type) ? Op::CNOT64 : Op::CNOT, dst, s.number(s.operand(1), type));
}

void lower_lop3(Selector& s) {
  Modifiers m = s.modifiers();
  const auto combine = m.choose<isa::BoolOp>({{"or", isa::BoolOp::or_}, {"and", isa::BoolOp::and_}});
  m.type({Type::b32});
  m.finish();
  s.expect_operands(combine ? 6 : 5);
  const Operand& to = s.operand(0);
  const Value a = s.source(s.operand(1), Type::b32);
  const Value b = s.source(s.operand(2), Type::b32);
  const Value c = s.source(s.operand(3), Type::b32);
  const auto table = static_cast<std::uint32_t>(s.constant(s.operand(4), 0, 255, "the table of lop3"));
  if (!combine) {
    s.expect_unpaired(to);
    s.emit(Op::LOP3, s.destination(to, Type::b32), a, b, c, table);
    return;
  }
  if (!to.paired()) s.refuse(to.at, "lop3 with a boolean operation has two results", "write d|p, or _|p");
  const VReg dst = s.destination(to, Type::b32);
  const VPred q = s.predicate(s.operand(5));
  const VReg result = s.temp(Type::b32);
  s.emit(Op::LOP3, result, a, b, c, table);
  // p = (d != 0) op q
  s.setp({Op::SETP_U32, isa::Comparison::ne, *combine, q, false}, s.paired(to), kNone, Value::of(result, Type::u32),
         {});
  s.move(dst, Value::of(result, Type::b32));
}

void lower_shl(Selector& s) {
  const Type type = sole_type(s, {Type::b16, Type::b32, Type::b64});
  s.expect_operands(3);
  const VReg dst = s.destination(s.operand(0), type);
  const Value a = s.source(s.operand(1), type);
  s.emit(is_wide(type) ? Op::SHL64 : Op::SHL, dst, a, s.source(s.operand(2), Type::u32));
}

void lower_shr(Selector& s) {
  const Type type =
      sole_type(s, {Type::b16, Type::b32, Type::b64, Type::u16, Type::u32, Type::u64, Type::s16, Type::s32, Type::s64});
  s.expect_operands(3);
  const VReg dst = s.destination(s.operand(0), type);
  const Value a = s.number(s.operand(1), type);
  const Value count = s.source(s.operand(2), Type::u32);
  s.emit(by_type(type, {Op::SHR_S, Op::SHR_U, Op::SHR_S64, Op::SHR_U64}), dst, a, count);
}

void lower_shf(Selector& s) {
  Modifiers m = s.modifiers();
  const bool left = m.require<bool>("a direction", {{"l", true}, {"r", false}});
  const bool wrap = m.require<bool>(".clamp or .wrap", {{"clamp", false}, {"wrap", true}});
  m.type({Type::b32});
  m.finish();
  s.expect_operands(4);
  const VReg dst = s.destination(s.operand(0), Type::b32);
  const Value low = s.source(s.operand(1), Type::b32);
  const Value high = s.source(s.operand(2), Type::b32);
  const Value count = s.source(s.operand(3), Type::u32);
  const Op op = left ? (wrap ? Op::SHF_L_WRAP : Op::SHF_L_CLAMP) : (wrap ? Op::SHF_R_WRAP : Op::SHF_R_CLAMP);
  s.emit(op, dst, low, high, count);
}

void lower_bfe(Selector& s) {
  const Type type = sole_type(s, {Type::u32, Type::s32, Type::u64, Type::s64});
  s.expect_operands(4);
  const VReg dst = s.destination(s.operand(0), type);
  const Value a = s.source(s.operand(1), type);
  const Value position = s.source(s.operand(2), Type::u32);
  const Value length = s.source(s.operand(3), Type::u32);
  s.emit(by_type(type, {Op::BFE_S, Op::BFE_U, Op::BFE_S64, Op::BFE_U64}), dst, a, position, length);
}

void lower_bfi(Selector& s) {
  const Type type = sole_type(s, {Type::b32, Type::b64});
  s.expect_operands(5);
  IrInstruction instruction;
  instruction.op = is_wide(type) ? Op::BFI64 : Op::BFI;
  instruction.dst = s.destination(s.operand(0), type);
  instruction.a = s.in_register(s.source(s.operand(1), type));
  instruction.b = s.in_register(s.source(s.operand(2), type));
  instruction.c = s.in_register(s.source(s.operand(3), Type::u32));
  instruction.d = s.in_register(s.source(s.operand(4), Type::u32));
  s.write(std::move(instruction));
}

void lower_bfind(Selector& s) {
  Modifiers m = s.modifiers();
  const bool amount = m.accept("shiftamt");
  const Type type = m.type({Type::u32, Type::s32, Type::u64, Type::s64});
  m.finish();
  s.expect_operands(2);
  const VReg dst = s.destination(s.operand(0), Type::u32);
  s.emit_b(by_type(type, {Op::BFIND_S, Op::BFIND_U, Op::BFIND_S64, Op::BFIND_U64}), dst, s.source(s.operand(1), type),
           amount ? 1 : 0);
}

void lower_brev(Selector& s) {
  const Type type = sole_type(s, {Type::b32, Type::b64});
  s.expect_operands(2);
  const VReg dst = s.destination(s.operand(0), type);
  s.emit_b(is_wide(type) ? Op::BREV64 : Op::BREV, dst, s.source(s.operand(1), type));
}

void count_bits(Selector& s, Op word, Op pair) {
  const Type type = sole_type(s, {Type::b32, Type::b64});
  s.expect_operands(2);
  const VReg dst = s.destination(s.operand(0), Type::u32);
  s.emit_b(is_wide(type) ? pair : word, dst, s.source(s.operand(1), type));
}

void lower_clz(Selector& s) {
  count_bits(s, Op::CLZ, Op::CLZ64);
}
void lower_popc(Selector& s) {
  count_bits(s, Op::POPC, Op::POPC64);
}

void lower_prmt(Selector& s) {
  Modifiers m = s.modifiers();
  m.type({Type::b32});
  const auto mode = m.choose<std::uint32_t>({{"f4e", 1}, {"b4e", 2}, {"rc8", 3}, {"ecl", 4}, {"ecr", 5}, {"rc16", 6}});
  m.finish();
  s.expect_operands(4);
  const VReg dst = s.destination(s.operand(0), Type::b32);
  const Value a = s.source(s.operand(1), Type::b32);
  const Value b = s.source(s.operand(2), Type::b32);
  const Value c = s.source(s.operand(3), Type::b32);
  s.emit(Op::PRMT, dst, a, b, c, mode.value_or(0));
}

// .clamp: up to 32; .wrap: modulo 32.
Value limited(Selector& s, const Value& count, bool wrap) {
  const VReg result = s.temp(Type::u32);
  s.emit(wrap ? Op::AND : Op::MIN_U, result, Value::of(s.in_register(count), Type::u32),
         Value::imm(wrap ? 31 : 32, Type::u32));
  return Value::of(result, Type::u32);
}

bool wraps(Modifiers& m) {
  return m.require<bool>(".clamp or .wrap", {{"clamp", false}, {"wrap", true}});
}

// Ones from bit `from` on, less the ones from bit `from` + `width` on; shifts give 0 from 32 on.
void lower_bmsk(Selector& s) {
  Modifiers m = s.modifiers();
  const bool wrap = wraps(m);
  m.type({Type::b32});
  m.finish();
  s.expect_operands(3);
  const VReg dst = s.destination(s.operand(0), Type::b32);
  Value from = s.source(s.operand(1), Type::u32);
  if (wrap) from = limited(s, from, true);
  const Value width = limited(s, s.source(s.operand(2), Type::u32), wrap);
  const VReg ones = s.temp(Type::b32), end = s.temp(Type::u32), above = s.temp(Type::b32), rest = s.temp(Type::b32);
  s.move(ones, Value::imm(0xffff'ffffU, Type::b32));
  s.emit(Op::ADD, end, width, from);
  s.emit(Op::SHL, above, Value::of(ones, Type::b32), Value::of(end, Type::u32));
  s.emit(Op::SHL, rest, Value::of(ones, Type::b32), from);
  constexpr std::uint32_t kAndNot = 0xf0 & ~0xcc & 0xff;  // of lop3: a & ~b
  s.emit(Op::LOP3, dst, Value::of(rest, Type::b32), Value::of(above, Type::b32), Value::of(ones, Type::b32), kAndNot);
}

void lower_szext(Selector& s) {
  Modifiers m = s.modifiers();
  const bool wrap = wraps(m);
  const Type type = m.type({Type::u32, Type::s32});
  m.finish();
  s.expect_operands(3);
  const VReg dst = s.destination(s.operand(0), type);
  const Value a = s.source(s.operand(1), type);
  const Value bits = limited(s, s.source(s.operand(2), Type::u32), wrap);
  s.emit(is_signed(type) ? Op::BFE_S : Op::BFE_U, dst, a, Value::imm(0, Type::u32), bits);
}

constexpr std::array kLogicHandlers = {
    Handler{"and", lower_and},   Handler{"or", lower_or},     Handler{"xor", lower_xor},
    Handler{"not", lower_not},   Handler{"cnot", lower_cnot}, Handler{"lop3", lower_lop3},
    Handler{"shl", lower_shl},   Handler{"shr", lower_shr},   Handler{"shf", lower_shf},
    Handler{"bfe", lower_bfe},   Handler{"bfi", lower_bfi},   Handler{"bfind", lower_bfind},
    Handler{"brev", lower_brev}, Handler{"clz", lower_clz},   Handler{"popc", lower_popc},
    Handler{"prmt", lower_prmt}, Handler{"bmsk", lower_bmsk}, Handler{"szext", lower_szext}};

}  // namespace

std::span<const Handler> logic_handlers() {
  return kLogicHandlers;
}

}  // namespace heddle::ptx
