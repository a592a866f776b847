// Control flow: bra brx call ret exit trap (PTX ISA, section 9.7.12).
#include <array>

#include "ptx/lower/handlers.hpp"
#include "ptx/lower/selector.hpp"

namespace heddle::ptx {
namespace {

using isa::Op;

void no_modifiers_but_uni(Selector& s) {
  Modifiers m = s.modifiers();
  m.accept("uni");
  m.finish();
}

const std::string& label_name(Selector& s, const Operand& operand) {
  if (operand.kind != Operand::Kind::label && operand.kind != Operand::Kind::symbol) {
    s.refuse(operand.at, "a label is expected here", "indirect branches are written with brx.idx");
  }
  return operand.name;
}

void lower_bra(Selector& s) {
  no_modifiers_but_uni(s);
  s.expect_operands(1);
  s.branch(s.label(label_name(s, s.operand(0)), s.operand(0).at), s.guard());
}

// A chain of comparisons; the last target needs none, since an index outside the list is undefined.
void lower_brx(Selector& s) {
  Modifiers m = s.modifiers();
  m.expect("idx");
  m.accept("uni");
  m.finish();
  s.expect_operands(2);
  const Operand& list = s.operand(1);
  const auto found = s.frame().branch_targets.find(label_name(s, list));
  if (found == s.frame().branch_targets.end() || found->second->labels.empty()) {
    s.refuse(list.at, "'" + list.name + "' is no list of branch targets", "declare it with .branchtargets");
  }
  const Value index = Value::of(s.in_register(s.source(s.operand(0), Type::u32)), Type::u32);
  s.guard_by_branch();
  const auto& labels = found->second->labels;
  for (std::size_t i = 0; i + 1 < labels.size(); ++i) {
    const VReg p = s.temp(Type::pred);
    s.setp({Op::SETP_U32, isa::Comparison::eq, isa::BoolOp::none, {}, false}, p, kNone, index,
           Value::imm(i, Type::u32));
    s.branch(s.label(labels[i], found->second->at), {p, false});
  }
  s.branch(s.label(labels.back(), found->second->at), {});
}

void lower_exit(Selector& s) {
  Modifiers m = s.modifiers();
  m.finish();
  s.expect_operands(0);
  IrInstruction exit;
  exit.op = Op::EXIT;
  s.write(std::move(exit));
}

void lower_ret(Selector& s) {
  no_modifiers_but_uni(s);
  s.expect_operands(0);
  if (!s.in_entry()) {
    if (!s.last_statement() || s.guard().reg != kNone) s.branch(*s.frame().exit, s.guard());
    return;
  }
  IrInstruction exit;
  exit.op = Op::EXIT;
  s.write(std::move(exit));
}

// Counts an event for a profiler of the hardware: nothing that a program could see.
void lower_pmevent(Selector& s) {
  Modifiers m = s.modifiers();
  static_cast<void>(m.accept("mask"));
  m.finish();
  s.expect_operands(1);
}

void lower_trap(Selector& s) {
  Modifiers m = s.modifiers();
  m.finish();
  s.expect_operands(0);
  IrInstruction trap;
  trap.op = Op::TRAP;
  s.write(std::move(trap));
}

// Without a debugger a breakpoint ends the kernel.
void lower_brkpt(Selector& s) {
  lower_trap(s);
}

constexpr std::array kControlHandlers = {Handler{"bra", lower_bra},     Handler{"brx", lower_brx},
                                         Handler{"call", lower_call},   Handler{"ret", lower_ret},
                                         Handler{"exit", lower_exit},   Handler{"trap", lower_trap},
                                         Handler{"brkpt", lower_brkpt}, Handler{"pmevent", lower_pmevent}};

}  // namespace

std::span<const Handler> control_handlers() {
  return kControlHandlers;
}

}  // namespace heddle::ptx
