// mov with its vectors, symbols and special registers; cvta; isspacep (PTX ISA, section 9.7.9).
#include <array>

#include "isa/memory_map.hpp"
#include "ptx/lower/handlers.hpp"
#include "ptx/lower/selector.hpp"

namespace heddle::ptx {
namespace {

using isa::Op;

Type bits_type(unsigned bits) {
  switch (bits) {
    case 8:
      return Type::b8;
    case 16:
      return Type::b16;
    case 32:
      return Type::b32;
    default:
      return Type::b64;
  }
}

// Element type of a vector operand that makes up `whole`.
Type element_type(Selector& s, const Operand& vector, Type whole) {
  const auto count = static_cast<unsigned>(vector.elements.size());
  const unsigned width = bits_of(whole);
  if (!is_untyped(whole) || (count != 2 && count != 4) || width / count < 8) {
    s.refuse(vector.at, "a vector of " + std::to_string(count) + " elements does not make up " + dotted(whole),
             "mov.b16, mov.b32 and mov.b64 take 2 or 4 elements of 8 bits or more");
  }
  return bits_type(width / count);
}

// Two halves of a word, the lower one first: their low `width` bits.
VReg join(Selector& s, VReg dst, const Value& low, const Value& high, unsigned width) {
  // prmt picks bytes: 0..3 of a, 4..7 of b.
  const std::uint64_t selector = width == 16 ? 0x5410 : 0x7740;
  if (width == 16) {
    s.emit(Op::PRMT, dst, low, high, Value::imm(selector, Type::b32));
    return dst;
  }
  const VReg clean = s.temp(Type::b32);
  s.emit(Op::AND, clean, low, Value::imm(0xff, Type::b32));
  const VReg shifted = s.temp(Type::b32);
  s.emit(Op::SHL, shifted, high, Value::imm(8, Type::b32));
  s.emit(Op::OR, dst, Value::of(clean, Type::b32), Value::of(shifted, Type::b32));
  return dst;
}

// The elements of a vector as one value of 16 or 32 bits.
VReg join_word(Selector& s, VReg dst, const std::vector<Operand>& elements, std::size_t first, std::size_t count,
               Type element) {
  std::array<Value, 4> values;
  for (std::size_t i = 0; i < count; ++i) values.at(i) = s.source(elements[first + i], element);
  if (count == 2) return join(s, dst, values[0], values[1], bits_of(element));
  const VReg low = join(s, s.temp(Type::b32), values[0], values[1], 8);
  const VReg high = join(s, s.temp(Type::b32), values[2], values[3], 8);
  return join(s, dst, Value::of(low, Type::b32), Value::of(high, Type::b32), 16);
}

void pack_vector(Selector& s, VReg dst, const Operand& vector, Type whole) {
  const Type element = element_type(s, vector, whole);
  const auto& elements = vector.elements;
  if (!is_wide(whole)) {
    join_word(s, dst, elements, 0, elements.size(), element);
    return;
  }
  if (elements.size() == 2) {
    const VReg low = s.in_register(s.source(elements[0], element));
    const VReg high = s.in_register(s.source(elements[1], element));
    s.pack(dst, low, high);
    return;
  }
  const VReg low = join_word(s, s.temp(Type::b32), elements, 0, 2, element);
  const VReg high = join_word(s, s.temp(Type::b32), elements, 2, 2, element);
  s.pack(dst, low, high);
}

// Splits a word into elements; the upper bits of small elements are arbitrary, so a shift is enough.
void split_word(Selector& s, const std::vector<VReg>& elements, std::size_t first, std::size_t count, VReg word,
                unsigned width) {
  for (std::size_t i = 0; i < count; ++i) {
    const VReg dst = elements[first + i];
    if (dst == kNone) continue;
    if (i == 0) {
      s.move(dst, Value::of(word, Type::b32));
    } else {
      s.emit(Op::SHR_U, dst, Value::of(word, Type::b32), Value::imm(i * width, Type::b32));
    }
  }
}

void unpack_vector(Selector& s, const Operand& vector, const Operand& from, Type whole) {
  const Type element = element_type(s, vector, whole);
  const Value source = s.source(from, whole);
  std::vector<VReg> elements;
  for (const Operand& operand : vector.elements) elements.push_back(s.destination(operand, element));
  const unsigned width = bits_of(element);
  VReg reg = s.in_register(source);
  if (!is_wide(whole)) {
    if (reg == kNone) reg = s.in_register(source.as(Type::b32));
    split_word(s, elements, 0, elements.size(), reg, width);
    return;
  }
  if (reg == kNone) {  // a constant zero
    for (const VReg dst : elements) s.move(dst, Value::imm(0, Type::b32));
    return;
  }
  if (elements.size() == 2) {
    s.unpack(elements[0], elements[1], reg);
    return;
  }
  const VReg low = s.temp(Type::b32);
  const VReg high = s.temp(Type::b32);
  s.unpack(low, high, reg);
  split_word(s, elements, 0, 2, low, width);
  split_word(s, elements, 2, 2, high, width);
}

bool is_64_bit(isa::Special special) {
  return special == isa::Special::clock64;
}

void move_special(Selector& s, Type type) {
  const isa::Special special = s.operand(1).special;
  const VReg dst = s.destination(s.operand(0), type);
  if (is_64_bit(special) != is_wide(type)) {
    // %gridid has been a 64-bit register since PTX 3.0; this machine counts grids in 32 bits.
    if (special == isa::Special::gridid && is_wide(type)) {
      const VReg low = s.temp(Type::b32);
      s.special(low, special, false);
      s.pack(dst, low, kNone);
      return;
    }
    s.refuse(s.operand(1).at, "the special register does not have type " + dotted(type),
             is_64_bit(special) ? "read it with mov.u64" : "read it with mov.u32");
  }
  s.special(dst, special, is_wide(type));
}

void lower_mov(Selector& s) {
  Modifiers m = s.modifiers();
  if (m.peek() == "v2" || m.peek() == "v4") {
    m.refuse("vector mov is not supported", "move the elements one by one");
  }
  const Type type = m.type({Type::pred, Type::b16, Type::b32, Type::b64, Type::u16, Type::u32, Type::u64, Type::s16,
                            Type::s32, Type::s64, Type::f32, Type::f64, Type::f16});
  m.finish();
  s.expect_operands(2);
  const Operand& to = s.operand(0);
  const Operand& from = s.operand(1);
  s.expect_unpaired(to);
  if (type == Type::pred) {
    s.plop(s.destination_predicate(to), s.predicate(from), isa::BoolOp::and_);
    return;
  }
  if (to.kind == Operand::Kind::vector) {
    unpack_vector(s, to, from, type);
    return;
  }
  switch (from.kind) {
    case Operand::Kind::vector:
      pack_vector(s, s.destination(to, type), from, type);
      return;
    case Operand::Kind::special:
      if (is_float(type)) s.refuse("a special register is an integer", "use mov.u32 or mov.b32");
      move_special(s, type);
      return;
    case Operand::Kind::label:
      s.refuse(from.at, "the address of label '" + from.name + "' is taken", "use brx.idx to branch on a number");
    default:
      s.move(s.destination(to, type), s.source(from, type));
  }
}

struct SpaceName {
  isa::Space space;
  std::uint64_t window;
};

SpaceName space_name_modifier(Modifiers& m) {
  using isa::Space;
  if (m.peek() == "param" || m.peek() == "param::entry") {
    m.refuse("parameters have no addresses on this machine", "read the parameter with ld.param");
  }
  return m.require<SpaceName>("a state space", {{"global", {Space::global, 0}},
                                                {"shared", {Space::shared, isa::kSharedWindow}},
                                                {"shared::cta", {Space::shared, isa::kSharedWindow}},
                                                {"shared::cluster", {Space::shared, isa::kSharedWindow}},
                                                {"local", {Space::local, isa::kLocalWindow}},
                                                {"const", {Space::constant, isa::kConstantWindow}}});
}

void lower_cvta(Selector& s) {
  Modifiers m = s.modifiers();
  const bool to = m.accept("to");
  const SpaceName space = space_name_modifier(m);
  const Type type = m.type({Type::u32, Type::u64});
  m.finish();
  s.expect_operands(2);
  s.expect_unpaired(s.operand(0));
  const VReg dst = s.destination(s.operand(0), type);
  const Operand& from = s.operand(1);
  if (from.kind == Operand::Kind::symbol) {
    const Resolved symbol = s.resolve(from.name, from.at);
    if (symbol.entry == nullptr && symbol.space != space.space) {
      s.refuse(from.at, "'" + from.name + "' is not in the space that cvta names", "name the space it is declared in");
    }
    s.move(dst, s.symbol_address(from, type, !to));
    return;
  }
  const Value address = s.source(from, type);
  if (space.window == 0) {
    s.move(dst, address);
    return;
  }
  const std::uint64_t delta = to ? std::uint64_t{0} - space.window : space.window;
  s.emit(is_wide(type) ? Op::ADD64 : Op::ADD, dst, address, Value::imm(delta, type));
}

void lower_isspacep(Selector& s) {
  Modifiers m = s.modifiers();
  const SpaceName space = space_name_modifier(m);
  m.finish();
  s.expect_operands(2);
  IrInstruction instruction;
  instruction.p = s.destination_predicate(s.operand(0));
  const Operand& from = s.operand(1);
  const bool wide = from.kind == Operand::Kind::reg ? isa::size_of(s.declared(from.reg)) == 8 : s.address_size() == 64;
  instruction.op = wide ? Op::ISSPACEP_E : Op::ISSPACEP;
  instruction.a = s.in_register(s.source(from, wide ? Type::u64 : Type::u32));
  instruction.sub = static_cast<std::uint8_t>(space.space);
  s.write(std::move(instruction));
}

constexpr std::array kMoveHandlers = {Handler{"mov", lower_mov}, Handler{"cvta", lower_cvta},
                                      Handler{"isspacep", lower_isspacep}};

}  // namespace

std::span<const Handler> move_handlers() {
  return kMoveHandlers;
}

}  // namespace heddle::ptx
