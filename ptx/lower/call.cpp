// call: the callee's body is inlined; its parameters become the caller's. A call through a register inlines each
// function that it may mean (PTX ISA, sections 7.1 and 9.7.12.5).
#include <algorithm>

#include "ptx/lower/handlers.hpp"
#include "ptx/lower/library.hpp"
#include "ptx/lower/selector.hpp"

namespace heddle::ptx {
namespace {

struct CallParts {
  const Operand* returns = nullptr;
  const Operand* target = nullptr;
  const Operand* arguments = nullptr;
  const Operand* prototype = nullptr;  // of a call through a register
};

CallParts parts_of(Selector& s) {
  CallParts parts;
  std::size_t next = 0;
  const std::size_t count = s.operand_count();
  if (next < count && s.operand(next).kind == Operand::Kind::call_list) parts.returns = &s.operand(next++);
  if (next < count) parts.target = &s.operand(next++);
  if (next < count && s.operand(next).kind == Operand::Kind::call_list) parts.arguments = &s.operand(next++);
  if (parts.target == nullptr) s.refuse("'call' names no function", "write call (returns), function, (arguments)");
  const bool indirect = parts.target->kind == Operand::Kind::reg;
  if (indirect && next < count) parts.prototype = &s.operand(next++);
  if (next < count)
    s.refuse(s.operand(next).at, "'call' has too many operands", "write call (returns), function, (arguments)");
  if (indirect) return parts;
  if (parts.target->kind != Operand::Kind::symbol && parts.target->kind != Operand::Kind::label) {
    s.refuse(parts.target->at, "'call' names no function", "write call (returns), function, (arguments)");
  }
  return parts;
}

const Function& callee_of(Selector& s, const Operand& target, const Function* function) {
  if (function == nullptr) {
    s.refuse(target.at, "function '" + target.name + "' is not declared", "define it before it is called");
  }
  const std::string& name = function->name;
  if (!function->has_body) {
    s.refuse(target.at, "function '" + name + "' has no body in this file",
             "define it here; files are not linked, and of CUDA's device run-time library there are vprintf, "
             "__assertfail, malloc and free");
  }
  if (function->refusal) throw InputError(*function->refusal);
  if (function->is_entry) {
    s.refuse(target.at, "kernel '" + name + "' is called", "launch kernels from the host; call functions");
  }
  return *function;
}

bool is_symbol(const Operand& operand) {
  return operand.kind == Operand::Kind::symbol || operand.kind == Operand::Kind::label;
}

// The .param variable of the caller that an argument names, which must have the formal's size.
const ParamSlot& slot_of(Selector& s, const Operand& actual, const ParameterDecl& formal) {
  const auto found = s.frame().parameters.find(actual.name);
  if (found == s.frame().parameters.end()) {
    s.refuse(actual.at, "'" + actual.name + "' is no .param variable of this function",
             "copy the value into a .param variable or a register first");
  }
  const ParamSlot& slot = found->second;
  const std::uint64_t size = formal.count * isa::size_of(formal.type);
  if (slot.size != size || slot.in_memory != (formal.is_array && !formal.is_register)) {
    s.refuse(actual.at, "'" + actual.name + "' and parameter '" + formal.name + "' have different types",
             "declare both alike");
  }
  return slot;
}

// Binds one formal parameter to its argument.
void pass(Selector& s, Frame& callee, const ParameterDecl& formal, const Operand& actual) {
  if (!formal.is_register && is_symbol(actual)) {
    callee.parameters[formal.name] = slot_of(s, actual, formal);
    return;
  }
  if (formal.is_array) {
    s.refuse(actual.at, "array parameter '" + formal.name + "' needs a .param variable as argument",
             "store the elements into a .param variable");
  }
  const Value value =
      is_symbol(actual) ? Value::of(slot_of(s, actual, formal).reg, formal.type) : s.source(actual, formal.type);
  VReg target = kNone;
  if (formal.is_register) {
    target = s.vreg(callee, formal.reg);
  } else {
    const ParamSlot slot = s.make_slot(callee, formal.type, formal.name);
    callee.parameters[formal.name] = slot;
    target = slot.reg;
  }
  s.move(target, value);
}

struct Result {
  VReg dst, from;
  Type type;
};

// Binds one return parameter; results that live in registers of the callee are copied behind the body.
std::optional<Result> receive(Selector& s, Frame& callee, const ParameterDecl& formal, const Operand& actual) {
  if (!formal.is_register && is_symbol(actual)) {
    callee.parameters[formal.name] = slot_of(s, actual, formal);
    return std::nullopt;
  }
  if (formal.is_array) {
    s.refuse(actual.at, "array result '" + formal.name + "' needs a .param variable", "declare a .param variable");
  }
  VReg from = kNone;
  if (formal.is_register) {
    from = s.vreg(callee, formal.reg);
  } else {
    const ParamSlot slot = s.make_slot(callee, formal.type, formal.name);
    callee.parameters[formal.name] = slot;
    from = slot.reg;
  }
  const VReg dst = is_symbol(actual) ? slot_of(s, actual, formal).reg : s.destination(actual, formal.type);
  return Result{dst, from, formal.type};
}

const std::vector<Operand>& list_of(Selector& s, const Operand* list, std::size_t count, std::string_view what) {
  static const std::vector<Operand> kEmpty;
  const std::vector<Operand>& elements = list == nullptr ? kEmpty : list->elements;
  if (elements.size() != count) {
    s.refuse(list == nullptr ? s.statement().at : list->at,
             "the call has " + std::to_string(elements.size()) + " " + std::string(what) + " and the function takes " +
                 std::to_string(count),
             "compare the call with the function's declaration");
  }
  return elements;
}

}  // namespace

namespace {

// The register that has the address of the array that a .param variable of the caller is.
Value array_address(Selector& s, const Operand& actual, const ParameterDecl& formal) {
  if (!is_symbol(actual)) {
    s.refuse(actual.at, "array parameter '" + formal.name + "' needs a .param variable as argument",
             "store the elements into a .param variable");
  }
  const ParamSlot& slot = slot_of(s, actual, formal);
  const VReg address = s.temp(Type::u32);
  if (slot.base == kNone) {
    s.move(address, Value::imm(slot.offset, Type::u32));
  } else {
    s.emit(isa::Op::ADD, address, Value::of(slot.base, Type::u32), Value::imm(slot.offset, Type::u32));
  }
  return Value::of(address, Type::u32);
}

// A call of a function that can come to call itself: ptx/lower/recursion.hpp.
void call_in_circle(Selector& s, const CallParts& parts, const Function& function) {
  const auto& returns = list_of(s, parts.returns, function.returns.size(), "results");
  const auto& arguments = list_of(s, parts.arguments, function.parameters.size(), "arguments");
  s.guard_by_branch();
  CircleMember* const inside = s.member(function);
  CircleMember& callee = inside != nullptr ? *inside : s.open_circle(function);
  // An argument may be what another one's place holds, where a function calls itself.
  std::vector<std::pair<VReg, Value>> moves;
  const auto put = [&](VReg to, const Value& value) {
    const VReg copy = s.temp(value.type);
    s.move(copy, value);
    moves.emplace_back(to, Value::of(copy, value.type));
  };
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const ParameterDecl& formal = function.parameters[i];
    const Operand& actual = arguments[i];
    if (formal.is_array) {
      put(callee.parameters[i], array_address(s, actual, formal));
    } else {
      put(callee.parameters[i],
          is_symbol(actual) ? Value::of(slot_of(s, actual, formal).reg, formal.type) : s.source(actual, formal.type));
    }
  }
  for (std::size_t i = 0; i < returns.size(); ++i) {
    const ParameterDecl& formal = function.returns[i];
    if (formal.is_array) put(callee.results[i], array_address(s, returns[i], formal));
  }
  if (inside != nullptr) s.begin_member_call();
  for (const auto& [to, value] : moves) s.move(to, value);
  if (inside != nullptr) {
    s.call_member(callee);
  } else {
    s.close_circle();
  }
  std::vector<VReg> copies;
  for (std::size_t i = 0; i < returns.size(); ++i) {
    const ParameterDecl& formal = function.returns[i];
    copies.push_back(kNone);
    if (formal.is_array) continue;
    copies.back() = s.temp(formal.type);
    s.move(copies.back(), Value::of(callee.results[i], formal.type));
  }
  if (inside != nullptr) s.end_member_call(copies);
  for (std::size_t i = 0; i < returns.size(); ++i) {
    const ParameterDecl& formal = function.returns[i];
    if (formal.is_array) continue;
    const VReg dst =
        is_symbol(returns[i]) ? slot_of(s, returns[i], formal).reg : s.destination(returns[i], formal.type);
    s.move(dst, Value::of(copies[i], formal.type));
  }
}

// The function's body in the place of the call.
void inline_call(Selector& s, const CallParts& parts, const Function& function) {
  if (s.layout().circle(function)) return call_in_circle(s, parts, function);
  const auto& returns = list_of(s, parts.returns, function.returns.size(), "results");
  const auto& arguments = list_of(s, parts.arguments, function.parameters.size(), "arguments");
  for (const Operand& result : returns) {
    for (const Operand& argument : arguments) {
      if (is_symbol(result) && is_symbol(argument) && result.name == argument.name) {
        s.refuse(argument.at, "'" + argument.name + "' is both argument and result", "use two .param variables");
      }
    }
  }
  s.guard_by_branch();
  Frame callee = s.open_frame(function);
  for (std::size_t i = 0; i < arguments.size(); ++i) pass(s, callee, function.parameters[i], arguments[i]);
  std::vector<Result> results;
  for (std::size_t i = 0; i < returns.size(); ++i) {
    if (const auto result = receive(s, callee, function.returns[i], returns[i])) results.push_back(*result);
  }
  s.inline_body(callee);
  for (const Result& result : results) s.move(result.dst, Value::of(result.from, result.type));
}

// Compares the pointer with each function that it may be, whose body then stands there: threads that call different
// ones part, and meet behind the call. What is none of them is a trap.
void call_through_register(Selector& s, const CallParts& parts) {
  if (parts.prototype == nullptr) {
    s.refuse(parts.target->at, "the call through a register names no prototype",
             "write the name of a .callprototype or .calltargets behind the arguments");
  }
  const std::vector<const Function*> targets = s.layout().targets(*s.frame().function, s.statement());
  const Type type = s.address_type();
  const Value pointer = Value::of(s.in_register(s.source(*parts.target, type)), type);
  s.guard_by_branch();
  const LabelId end = s.new_label();
  for (const Function* target : targets) {
    const Function& function = callee_of(s, *parts.target, target);
    const LabelId next = s.new_label();
    const VReg same = s.temp(Type::pred);
    s.setp({is_wide(type) ? isa::Op::SETP_U64 : isa::Op::SETP_U32, isa::Comparison::eq, isa::BoolOp::none, {}, false},
           same, kNone, pointer, Value::imm(s.layout().code_address(function), type));
    s.branch(next, {same, true});
    inline_call(s, parts, function);
    s.branch(end, {});
    s.bind(next);
  }
  IrInstruction trap;
  trap.op = isa::Op::TRAP;
  trap.trap = isa::TrapCause::Kind::pointer;
  s.write(std::move(trap));
  s.bind(end);
}

}  // namespace

void lower_call(Selector& s) {
  Modifiers m = s.modifiers();
  m.accept("uni");
  m.finish();
  const CallParts parts = parts_of(s);
  if (parts.target->kind == Operand::Kind::reg) {
    call_through_register(s, parts);
  } else {
    inline_call(s, parts, callee_of(s, *parts.target, s.layout().function(parts.target->name)));
  }
}

}  // namespace heddle::ptx
