// Operands of PTX instructions as sources and destinations of machine operations.
#include <bit>

#include "isa/memory_map.hpp"
#include "ptx/lower/selector.hpp"

namespace heddle::ptx {
namespace {

// Sign- or zero-extends the low bits of a constant as its type says.
std::uint64_t extend_constant(std::uint64_t bits, Type type) {
  const unsigned width = bits_of(type);
  if (width >= 64) return bits;
  const std::uint64_t low = bits & ((std::uint64_t{1} << width) - 1);
  if (is_signed(type) && ((low >> (width - 1)) & 1U) != 0) return low | ~((std::uint64_t{1} << width) - 1);
  return low;
}

}  // namespace

VReg Selector::vreg(Frame& frame, RegisterId id) {
  VReg& reg = frame.registers[id];
  if (reg == kUnmade) {
    const Register& declared = frame.function->registers[id];
    reg = out_.make(class_of(declared.type), frame.prefix + declared.name);
  }
  return reg;
}

Value Selector::real_constant(const Operand& operand, Type type) const {
  if (!is_float(type) && !is_untyped(type)) {
    refuse(operand.at, "a floating-point constant stands where a value of type " + dotted(type) + " is expected",
           "write an integer constant");
  }
  const unsigned size = isa::size_of(type);
  if (size != 4 && size != 8) {
    refuse(operand.at, "a floating-point constant cannot have type " + dotted(type), "write its bits as an integer");
  }
  if (operand.is_f32) {
    const auto single = static_cast<std::uint32_t>(operand.integer);
    if (size == 4) return Value::imm(single, type);
    if (is_untyped(type)) return Value::imm(single, type);
    return Value::imm(std::bit_cast<std::uint64_t>(static_cast<double>(std::bit_cast<float>(single))), type);
  }
  if (size == 8) return Value::imm(operand.integer, type);
  return Value::imm(std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(operand.integer))), type);
}

Value Selector::source(const Operand& operand, Type type) {
  switch (operand.kind) {
    case Operand::Kind::reg: {
      const Type is = declared(operand.reg);
      if (operand.paired()) {
        refuse(operand.at, "a source operand cannot name a second register with '|'", "remove the second register");
      }
      if (operand.negated || !kinds_agree(is, type) || isa::size_of(is) != isa::size_of(type)) {
        refuse(operand.at,
               "register '" + frame_->function->registers[operand.reg].name + "' has type " + dotted(is) + " where " +
                   dotted(type) + " is expected",
               "use a register of type " + dotted(type) + ", or convert with cvt or mov");
      }
      return Value::of(vreg(operand.reg), type);
    }
    case Operand::Kind::integer:
      if (is_float(type)) {
        refuse(operand.at, "an integer constant stands where a value of type " + dotted(type) + " is expected",
               type == Type::f64 ? "write it as 0d followed by 16 hexadecimal digits, or with a decimal point"
                                 : "write it as 0f followed by 8 hexadecimal digits, or with a decimal point");
      }
      return Value::imm(extend_constant(operand.integer, type), type);
    case Operand::Kind::real:
      return real_constant(operand, type);
    case Operand::Kind::predicate:
      refuse(operand.at, "a predicate stands where a value of type " + dotted(type) + " is expected",
             "use selp to turn a predicate into a value");
    case Operand::Kind::special:
      refuse(operand.at, "a special register can only be read by mov", "copy it into a register with mov first");
    case Operand::Kind::symbol:
      return symbol_address(operand, type, false);
    case Operand::Kind::label:
      refuse(operand.at, "label '" + operand.name + "' stands where a value is expected",
             "use brx.idx to branch on a number");
    default:
      refuse(operand.at, "a value of type " + dotted(type) + " is expected here", "use a register or a constant");
  }
}

Value Selector::symbol_address(const Operand& operand, Type type, bool generic) {
  if (is_float(type) || isa::size_of(type) < 4) {
    refuse(operand.at,
           "the address of '" + operand.name + "' stands where a value of type " + dotted(type) + " is expected",
           "an address has type " + dotted(address_type()));
  }
  const Resolved symbol = resolve(operand.name, operand.at, true);
  if (symbol.handle && operand.offset == 0 && is_wide(type)) return Value::of(load_handle(symbol), type);
  const bool in_register = symbol.slot != nullptr && !symbol.slot->in_memory;
  if (in_register || (generic && symbol.entry != nullptr)) {
    refuse(operand.at, "the address of parameter '" + operand.name + "' is taken",
           in_register ? "read the parameter with ld.param; scalar parameters live in registers"
                       : "read the parameter with ld.param; generic addresses do not reach parameters");
  }
  if (symbol.base != kNone) return Value::of(frame_address(symbol, operand.offset, is_wide(type), generic), type);
  std::uint64_t address = symbol.address + static_cast<std::uint64_t>(operand.offset);
  if (generic) {
    if (symbol.space == isa::Space::shared) address += isa::kSharedWindow;
    if (symbol.space == isa::Space::local) address += isa::kLocalWindow;
    if (symbol.space == isa::Space::constant) address += isa::kConstantWindow;
  }
  if (!is_wide(type)) address &= 0xffffffffU;
  return Value::imm(address, type);
}

VReg Selector::frame_address(const Resolved& symbol, std::int64_t offset, bool wide, bool generic) {
  const std::uint64_t behind =
      symbol.address + static_cast<std::uint64_t>(offset) + (generic ? isa::kLocalWindow : std::uint64_t{0});
  const VReg sum = temp(Type::u32);
  emit(isa::Op::ADD, sum, Value::of(symbol.base, Type::u32), Value::imm(behind & 0xffffffffU, Type::u32));
  if (!wide) return sum;
  const VReg pair = temp(Type::u64);
  pack(pair, sum, kNone);
  return pair;
}

Value Selector::extended(const Value& value) {
  if (isa::size_of(value.type) >= 4) return value;
  const Type to = is_signed(value.type) ? Type::s32 : Type::u32;
  if (value.constant) return Value::imm(extend_constant(value.bits, value.type), to);
  const VReg wide = temp(to);
  Value narrow = value;
  if (narrow.type == Type::b8) narrow.type = Type::u8;
  if (narrow.type == Type::b16 || narrow.type == Type::f16) narrow.type = Type::u16;
  convert(wide, to, narrow);
  return Value::of(wide, to);
}

VPred Selector::predicate(const Operand& operand) {
  if (operand.kind == Operand::Kind::integer) return {kNone, operand.integer == 0};
  const bool register_operand = operand.kind == Operand::Kind::reg || operand.kind == Operand::Kind::predicate;
  if (!register_operand || declared(operand.reg) != Type::pred) {
    refuse(operand.at, "a predicate is expected here", "use a register declared .pred");
  }
  return {vreg(operand.reg), operand.negated};
}

VReg Selector::destination(const Operand& operand, Type type) {
  if (operand.kind == Operand::Kind::sink) return kNone;
  if (operand.kind != Operand::Kind::reg || operand.negated) {
    refuse(operand.at, "the destination must be a register of type " + dotted(type), "name a register here");
  }
  const Type is = declared(operand.reg);
  if (!kinds_agree(is, type) || isa::size_of(is) != isa::size_of(type)) {
    refuse(operand.at,
           "destination '" + frame_->function->registers[operand.reg].name + "' has type " + dotted(is) +
               " where the instruction yields " + dotted(type),
           "use a register of type " + dotted(type) + ", or convert with cvt or mov");
  }
  return vreg(operand.reg);
}

VReg Selector::destination_predicate(const Operand& operand) {
  if (operand.kind == Operand::Kind::sink) return kNone;
  const bool register_operand = operand.kind == Operand::Kind::reg || operand.kind == Operand::Kind::predicate;
  if (!register_operand || operand.negated || declared(operand.reg) != Type::pred) {
    refuse(operand.at, "the destination must be a predicate register", "use a register declared .pred");
  }
  return vreg(operand.reg);
}

VReg Selector::paired(const Operand& operand) {
  if (!operand.paired_predicate) return kNone;
  if (declared(*operand.paired_predicate) != Type::pred) {
    refuse(operand.at, "the register behind '|' must be a predicate", "use a register declared .pred");
  }
  return vreg(*operand.paired_predicate);
}

void Selector::expect_unpaired(const Operand& operand) const {
  if (operand.paired()) {
    refuse(operand.at, "'" + statement_->opcode + "' has no second result behind '|'", "name one destination only");
  }
}

VReg Selector::in_register(const Value& value) {
  if (!value.constant) return value.reg;
  if (value.bits == 0) return kNone;
  if (isa::size_of(value.type) < 8) {
    if (static_cast<std::uint32_t>(value.bits) == 0) return kNone;
    const VReg word = temp(Type::b32);
    move(word, value);
    return word;
  }
  const VReg pair = temp(Type::b64);
  move(pair, value);
  return pair;
}

void Selector::move(VReg dst, const Value& value) {
  if (dst == kNone) return;
  const bool wide = isa::size_of(value.type) == 8;
  if (!wide || !value.constant) {
    emit_b(wide ? isa::Op::MOV64 : isa::Op::MOV, dst, value.as(wide ? Type::b64 : Type::b32));
    return;
  }
  const auto as_signed = static_cast<std::int64_t>(value.bits);
  if (as_signed == static_cast<std::int32_t>(as_signed)) {
    emit_b(isa::Op::MOV64, dst, value.as(Type::b64));
    return;
  }
  const VReg low = in_register(Value::imm(value.bits & 0xffffffffU, Type::b32));
  const VReg high = in_register(Value::imm(value.bits >> 32U, Type::b32));
  pack(dst, low, high);
}

std::uint64_t Selector::constant(const Operand& operand, std::uint64_t low, std::uint64_t high,
                                 const std::string& what) const {
  if (operand.kind != Operand::Kind::integer || operand.integer < low || operand.integer > high) {
    refuse(operand.at, what + " must be a constant from " + std::to_string(low) + " to " + std::to_string(high),
           "write such a number here");
  }
  return operand.integer;
}

VReg Selector::load_handle(const Resolved& variable) {
  guard_by_branch();
  const VReg handle = temp(Type::b64);
  load(isa::Op::LD_GLOBAL, handle, kNone, static_cast<std::int32_t>(variable.address), isa::Width::b64);
  return handle;
}

Resolved Selector::resolve(const std::string& name, const Position& at, bool as_value) {
  Resolved result;
  if (const auto slot = frame_->parameters.find(name); slot != frame_->parameters.end()) {
    result.space = isa::Space::param;
    if (slot->second.in_memory) {
      result.space = isa::Space::local;
      result.address = slot->second.offset;
      result.base = slot->second.base;
    }
    result.slot = &slot->second;
    return result;
  }
  if (in_entry()) {
    for (const isa::Parameter& parameter : out_.kernel.parameters) {
      if (parameter.name == name) {
        result.space = isa::Space::param;
        result.address = parameter.offset;
        result.entry = &parameter;
        return result;
      }
    }
  }
  const VariableDecl* variable = nullptr;
  for (const VariableDecl& candidate : frame_->function->variables) {
    if (candidate.name == name) variable = &candidate;
  }
  if (variable == nullptr) variable = layout_.variable(name);
  if (variable == nullptr) {
    if (const Function* const function = layout_.function(name)) {
      if (function->is_entry) {
        refuse(at, "the address of kernel '" + name + "' is taken",
               "launch kernels from the host: there is no dynamic parallelism");
      }
      if (!as_value) refuse(at, "'" + name + "' is a function, and no data", "name a variable");
      result.address = layout_.code_address(*function);
      return result;
    }
    refuse(at, "'" + name + "' is not declared", "declare the variable before it is used");
  }
  result.space = variable->space;
  result.handle = variable->is_handle;
  switch (variable->space) {
    case isa::Space::global:
    case isa::Space::constant:
      if (!layout_.placed(*variable)) {
        refuse(at, "extern variable '" + name + "' has no definition in this file",
               "define it here; files are not linked");
      }
      result.address = layout_.address(*variable);
      break;
    case isa::Space::shared:
      result.address = shared_.offsets.at(variable);
      break;
    case isa::Space::local: {
      const LocalPlace place = local_place(*frame_, *variable);
      result.address = place.offset;
      result.base = place.base;
    } break;
    default:
      refuse(at, "variable '" + name + "' cannot be used here", "declare it .global, .const, .shared or .local");
  }
  return result;
}

Selector::LocalPlace Selector::local_place(Frame& frame, const VariableDecl& variable) {
  if (variable.count > isa::kWindowSize) {
    refuse(variable.at, "local variable '" + variable.name + "' does not fit", "make it smaller");
  }
  if (frame.member != nullptr) {
    // Frames begin at multiples of the strictest alignment that an access can want.
    const auto [found, fresh] = frame.member->locals.try_emplace(&variable, 0);
    if (fresh) {
      const std::uint64_t offset =
          round_up(frame.member->local_bytes, std::min(alignment_of(variable), kFrameAlignment));
      if (variable.size() > isa::kWindowSize - offset) {
        refuse(variable.at, "local variable '" + variable.name + "' does not fit", "make it smaller");
      }
      found->second = static_cast<std::uint32_t>(offset);
      frame.member->local_bytes = static_cast<std::uint32_t>(offset + variable.size());
    }
    return {stack_, found->second};
  }
  if (const auto found = locals_.find(&variable); found != locals_.end()) return {kNone, found->second};
  const std::uint32_t offset = allocate_local(variable.size(), alignment_of(variable), variable.at, variable.name);
  locals_.emplace(&variable, offset);
  return {kNone, offset};
}

std::uint32_t Selector::allocate_local(std::uint64_t size, std::uint32_t alignment, const Position& at,
                                       const std::string& name) {
  const std::uint64_t offset = round_up(out_.local_bytes, alignment);
  if (size > isa::kWindowSize - offset) {
    refuse(at, "'" + name + "' does not fit into local memory", "local memory holds 16 MiB per thread");
  }
  out_.local_bytes = static_cast<std::uint32_t>(offset + size);
  return static_cast<std::uint32_t>(offset);
}

}  // namespace heddle::ptx
