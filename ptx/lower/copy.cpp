// Copies that threads do not wait for: cp.async and its groups (PTX ISA, "Asynchronous copy").
#include <array>
#include <string>

#include "ptx/lower/handlers.hpp"
#include "ptx/lower/memory_modifiers.hpp"
#include "ptx/lower/selector.hpp"

namespace heddle::ptx {
namespace {

using isa::Op;

constexpr std::uint64_t kMostGroups = 0x7fff'ffff;

void note(Selector& s, Op op, std::uint32_t number = 0) {
  IrInstruction instruction;
  instruction.op = op;
  instruction.immediate = op == Op::ASYNC_WAIT;
  instruction.imm = number;
  s.write(std::move(instruction));
}

std::uint8_t form_of(std::uint64_t bytes, bool past_l1) {
  return isa::memory_sub(isa::Width::b32, static_cast<unsigned>(bytes / 4), past_l1);
}

void copy(Selector& s, Modifiers& m) {
  const bool past_l1 = m.require<bool>("a cache", {{"ca", false}, {"cg", true}});
  if (!m.accept("shared") && !m.accept("shared::cta")) {
    m.refuse("cp.async copies to the block's shared memory", "write .shared.global");
  }
  m.expect("global");
  const CacheHints hints = cache_hints(m, false);
  m.finish();
  const std::size_t least = hints.policy ? 4 : 3;
  s.expect_operands(least, least + 1);
  const std::uint64_t bytes = s.constant(s.operand(2), 4, 16, "the number of bytes");
  if (bytes != 4 && bytes != 8 && bytes != 16) {
    s.refuse(s.operand(2).at, "cp.async copies 4, 8 or 16 bytes", "write one of these numbers");
  }
  if (past_l1 && bytes != 16) s.refuse(s.operand(2).at, "cp.async.cg copies 16 bytes", "write .ca for less");
  const bool some = s.operand_count() > least;
  if (some && s.operand(3).kind == Operand::Kind::predicate) {
    s.refuse(s.operand(3).at, "a predicate that leaves the source out is not supported", "give the number of bytes");
  }
  if (hints.policy) check_policy(s, s.operand_count() - 1);
  const Selector::Address from = s.address(s.operand(1), isa::Space::global, static_cast<unsigned>(bytes));
  const Selector::Address to = s.address(s.operand(0), isa::Space::shared, static_cast<unsigned>(bytes));
  const VReg place = s.temp(Type::b32);
  s.emit(Op::ADD, place, Value::of(to.base, Type::u32), Value::imm(static_cast<std::uint32_t>(to.offset), Type::u32));
  IrInstruction instruction;
  instruction.op =
      some ? (from.wide ? Op::CP_ASYNC_FILL_E : Op::CP_ASYNC_FILL) : (from.wide ? Op::CP_ASYNC_E : Op::CP_ASYNC);
  instruction.a = from.base;
  instruction.immediate = true;
  instruction.imm = static_cast<std::uint32_t>(from.offset);
  instruction.sub = form_of(bytes, past_l1);
  instruction.elements = {place};
  if (some) {
    const VReg read = s.temp(Type::b32);
    s.move(read, s.source(s.operand(3), Type::u32));
    instruction.elements.push_back(read);
  }
  s.write(std::move(instruction));
}

// cp.async, and what is known by the same name.
void lower_cp(Selector& s) {
  Modifiers m = s.modifiers();
  m.expect("async");
  if (m.accept("commit_group")) {
    m.finish();
    s.expect_operands(0);
    note(s, Op::ASYNC_COMMIT);
    return;
  }
  if (m.accept("wait_group")) {
    m.finish();
    s.expect_operands(1);
    note(s, Op::ASYNC_WAIT,
         static_cast<std::uint32_t>(s.constant(s.operand(0), 0, kMostGroups, "the number of groups")));
    return;
  }
  if (m.accept("wait_all")) {
    m.finish();
    s.expect_operands(0);
    note(s, Op::ASYNC_WAIT, isa::kEveryCopy);
    return;
  }
  if (m.peek() == "bulk") m.refuse("copies in bulk are not supported", "use cp.async.ca or cp.async.cg");
  if (m.peek() == "mbarrier") {
    m.refuse("there are no barrier objects in memory", "use cp.async.wait_group and bar.sync");
  }
  copy(s, m);
}

constexpr std::array kCopyHandlers = {Handler{"cp", lower_cp}};

}  // namespace

std::span<const Handler> copy_handlers() {
  return kCopyHandlers;
}

}  // namespace heddle::ptx
