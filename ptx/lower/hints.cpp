// What tells hardware how to go about its work, and changes no result: griddepcontrol, setmaxnreg, createpolicy; and
// what names blocks of a cluster, which is one block: mapa, getctarank (PTX ISA, "Parallel Synchronization",
// "Miscellaneous Instructions", "createpolicy", "mapa", "getctarank").
#include <array>

#include "ptx/lower/handlers.hpp"
#include "ptx/lower/selector.hpp"

namespace heddle::ptx {
namespace {

void write_nothing(Selector& s) {
  IrInstruction nothing;
  nothing.op = isa::Op::NOP;
  s.write(std::move(nothing));
}

// Launches of a stream run one after the other: those before have ended, and those behind have not begun.
void lower_griddepcontrol(Selector& s) {
  Modifiers m = s.modifiers();
  m.require<bool>("what is to be done", {{"launch_dependents", true}, {"wait", true}});
  m.finish();
  s.expect_operands(0);
  write_nothing(s);
}

// A warp keeps the registers that its kernel has.
void lower_setmaxnreg(Selector& s) {
  Modifiers m = s.modifiers();
  m.require<bool>("a direction", {{"inc", true}, {"dec", true}});
  m.expect("sync");
  m.expect("aligned");
  m.type({Type::u32});
  m.finish();
  s.expect_operands(1);
  (void)s.constant(s.operand(0), 24, 256, "the number of registers");
  write_nothing(s);
}

// Caches have no policies for single accesses: a policy's value says nothing to them.
void lower_createpolicy(Selector& s) {
  enum class Form : std::uint8_t { fractional, range, converted };
  Modifiers m = s.modifiers();
  const Form form =
      m.require<Form>("a form", {{"fractional", Form::fractional}, {"range", Form::range}, {"cvt", Form::converted}});
  if (m.accept("global") && form != Form::range) m.refuse("a policy of a space is one of a range", "write .range");
  const auto priority = [&] {
    return m
        .choose<bool>({{"L2", true},
                       {"L2::evict_first", true},
                       {"L2::evict_last", true},
                       {"L2::evict_normal", true},
                       {"L2::evict_unchanged", true}})
        .has_value();
  };
  while (priority()) {
  }
  m.type({Type::b64});
  m.finish();
  s.expect_operands(1, 4);
  s.move(s.destination(s.operand(0), Type::b64), Value::imm(0, Type::b64));
}

// The address of the same place in another block of the cluster, which is this one.
void lower_mapa(Selector& s) {
  Modifiers m = s.modifiers();
  m.accept("shared::cluster");
  const Type type = m.type({Type::u32, Type::u64});
  m.finish();
  s.expect_operands(3);
  (void)s.source(s.operand(2), Type::u32);
  s.move(s.destination(s.operand(0), type), s.source(s.operand(1), type));
}

void lower_getctarank(Selector& s) {
  Modifiers m = s.modifiers();
  m.accept("shared::cluster");
  const Type type = m.type({Type::u32, Type::u64});  // of the address
  m.finish();
  s.expect_operands(2);
  (void)s.source(s.operand(1), type);
  s.move(s.destination(s.operand(0), Type::u32), Value::imm(0, Type::u32));
}

constexpr std::array kHintHandlers = {Handler{"mapa", lower_mapa}, Handler{"getctarank", lower_getctarank},
                                      Handler{"griddepcontrol", lower_griddepcontrol},
                                      Handler{"setmaxnreg", lower_setmaxnreg},
                                      Handler{"createpolicy", lower_createpolicy}};

}  // namespace

std::span<const Handler> hint_handlers() {
  return kHintHandlers;
}

}  // namespace heddle::ptx
