// The thesis's instructions for database search: cond_acc (7.1) and tree_traverse (7.2.1). Extensions of PTX:
//
//   cond_acc.{shared,global}.{b8,b16,b32,b64} count, [base], predicate, source;    count: .b32 or _
//   tree_traverse.u32 next, base, predicate, shift;
//   tree_traverse.size.u32 next, base, predicate, size;    as the thesis writes it: a node's size, a power of 2
#include <fmt/format.h>

#include <array>
#include <bit>

#include "ptx/lower/handlers.hpp"
#include "ptx/lower/memory_modifiers.hpp"

namespace heddle::ptx {
namespace {

using isa::Op;
using isa::Space;

void lower_cond_acc(Selector& s) {
  Modifiers m = s.modifiers();
  const Space space = m.require<Space>("a state space", {{"shared", Space::shared}, {"global", Space::global}});
  const Type type = m.type({Type::b8, Type::b16, Type::b32, Type::b64});
  m.finish();
  s.expect_operands(4);
  s.expect_unpaired(s.operand(0));
  IrInstruction instruction;
  instruction.dst = s.destination(s.operand(0), Type::b32);
  const Selector::Address at = s.flat_address(s.operand(1), space);
  if (at.space == Space::shared) {
    instruction.op = Op::COND_ACC_SHARED;
  } else {
    instruction.op = at.wide ? Op::COND_ACC_GLOBAL_E : Op::COND_ACC_GLOBAL;
  }
  instruction.a = at.base;
  instruction.pa = s.predicate(s.operand(2));
  instruction.b = s.in_register(stored_value(s, s.operand(3), type));
  instruction.mods = isa::element_mods(isa::size_of(type));
  s.note_warp_operation();
  s.write(std::move(instruction));
}

void lower_tree_traverse(Selector& s) {
  Modifiers m = s.modifiers();
  const bool size = m.accept("size");
  m.type({Type::u32});
  m.finish();
  s.expect_operands(4);
  s.expect_unpaired(s.operand(0));
  IrInstruction instruction;
  instruction.op = size ? Op::TREE_TRAVERSE_SIZE : Op::TREE_TRAVERSE;
  instruction.dst = s.destination(s.operand(0), Type::u32);
  instruction.a = s.in_register(s.source(s.operand(1), Type::u32));
  instruction.pa = s.predicate(s.operand(2));
  const Value by = s.source(s.operand(3), Type::u32);
  if (by.constant) {
    instruction.immediate = true;
    instruction.imm = static_cast<std::uint32_t>(by.bits);
    if (size && !std::has_single_bit(instruction.imm)) {
      s.refuse(s.operand(3).at, fmt::format("the size of a node is a power of 2, and {} is none", instruction.imm),
               "pad the nodes");
    }
  } else {
    instruction.b = s.in_register(by);
  }
  s.note_warp_operation();
  s.write(std::move(instruction));
}

constexpr std::array kSearchHandlers = {Handler{"cond_acc", lower_cond_acc},
                                        Handler{"tree_traverse", lower_tree_traverse}};

}  // namespace

std::span<const Handler> search_handlers() {
  return kSearchHandlers;
}

}  // namespace heddle::ptx
