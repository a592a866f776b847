// call: the callee's body is inlined; its parameters become the caller's (PTX ISA, sections 7.1 and 9.7.12.5).
#include "ptx/lower/handlers.hpp"
#include "ptx/lower/library.hpp"
#include "ptx/lower/selector.hpp"

namespace heddle::ptx {
namespace {

struct CallParts {
  const Operand* returns = nullptr;
  const Operand* target = nullptr;
  const Operand* arguments = nullptr;
};

CallParts parts_of(Selector& s) {
  CallParts parts;
  std::size_t next = 0;
  const std::size_t count = s.operand_count();
  if (next < count && s.operand(next).kind == Operand::Kind::call_list) parts.returns = &s.operand(next++);
  if (next < count) parts.target = &s.operand(next++);
  if (next < count && s.operand(next).kind == Operand::Kind::call_list) parts.arguments = &s.operand(next++);
  if (parts.target == nullptr) s.refuse("'call' names no function", "write call (returns), function, (arguments)");
  if (parts.target->kind == Operand::Kind::reg || next < count) {
    s.refuse(parts.target->at, "indirect calls are not supported", "branch to direct calls of the functions");
  }
  if (parts.target->kind != Operand::Kind::symbol && parts.target->kind != Operand::Kind::label) {
    s.refuse(parts.target->at, "'call' names no function", "write call (returns), function, (arguments)");
  }
  return parts;
}

const Function& callee_of(Selector& s, const Operand& target) {
  const Function* function = s.layout().function(target.name);
  if (function == nullptr) {
    s.refuse(target.at, "function '" + target.name + "' is not declared", "define it before it is called");
  }
  if (!function->has_body) {
    s.refuse(target.at, "function '" + target.name + "' has no body in this file",
             "define it here; files are not linked, and of CUDA's device run-time library there are vprintf, "
             "__assertfail, malloc and free");
  }
  if (function->is_entry) {
    s.refuse(target.at, "kernel '" + target.name + "' is called", "launch kernels from the host; call functions");
  }
  if (s.active(*function)) {
    s.refuse(target.at, "function '" + target.name + "' is called recursively",
             "calls are inlined; write recursion as a loop with a stack in local memory");
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

void lower_call(Selector& s) {
  Modifiers m = s.modifiers();
  m.accept("uni");
  m.finish();
  const CallParts parts = parts_of(s);
  const Function& function = callee_of(s, *parts.target);
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

}  // namespace heddle::ptx
