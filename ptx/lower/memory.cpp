// Loads, stores and prefetches: ld ldu st prefetch prefetchu applypriority discard (PTX ISA, section 9.7.9).
#include <array>

#include "ptx/lower/handlers.hpp"
#include "ptx/lower/memory_modifiers.hpp"

namespace heddle::ptx {
namespace {

using isa::Op;
using isa::Space;

constexpr std::initializer_list<Type> kMemoryTypes = {Type::b8,  Type::b16, Type::b32, Type::b64, Type::u8,
                                                      Type::u16, Type::u32, Type::u64, Type::s8,  Type::s16,
                                                      Type::s32, Type::s64, Type::f32, Type::f64};

struct Access {
  Ordering ordering = Ordering::weak;
  Space space = Space::generic;
  CacheHints hints;
  unsigned vector = 1;
  Type type = Type::b32;
};

isa::Width width_of(Type type, bool store) {
  switch (isa::size_of(type)) {
    case 1:
      return !store && is_signed(type) ? isa::Width::s8 : isa::Width::u8;
    case 2:
      return !store && is_signed(type) ? isa::Width::s16 : isa::Width::u16;
    case 4:
      return isa::Width::b32;
    default:
      return isa::Width::b64;
  }
}

Ordering ordering(Modifiers& m, bool store) {
  if (m.accept("weak")) return Ordering::weak;
  if (m.accept("volatile")) return Ordering::volatile_;
  const bool mmio = m.accept("mmio");
  const auto found = mmio    ? m.choose<Ordering>({{"relaxed", Ordering::relaxed}})
                     : store ? m.choose<Ordering>({{"relaxed", Ordering::relaxed}, {"release", Ordering::release}})
                             : m.choose<Ordering>({{"relaxed", Ordering::relaxed}, {"acquire", Ordering::acquire}});
  if (!found) {
    if (mmio) m.refuse("an access to .mmio must be relaxed", "write .mmio.relaxed.sys");
    return Ordering::weak;
  }
  if (!m.scope()) m.refuse("the memory ordering lacks a scope", "write .cta, .gpu or .sys behind it");
  return *found;
}

Access access(Modifiers& m, bool store) {
  Access a;
  a.ordering = ordering(m, store);
  a.space = space_modifier(m);
  a.hints = cache_hints(m, store);
  if (m.accept("v2")) a.vector = 2;
  if (a.vector == 1 && m.accept("v4")) a.vector = 4;
  if (m.peek() == "v8") m.refuse("vectors of 8 elements are not supported", "use two accesses of .v4");
  a.type = m.type(kMemoryTypes);
  m.finish();
  if (a.vector * isa::size_of(a.type) > 16) {
    m.refuse("a vector access of more than 16 bytes is not supported", "use two accesses");
  }
  return a;
}

const std::vector<Operand>& elements_of(Selector& s, const Operand& operand, const Access& a) {
  if (operand.kind != Operand::Kind::vector || operand.elements.size() != a.vector) {
    s.refuse(operand.at, "a vector of " + std::to_string(a.vector) + " elements is expected here",
             "write {a, b" + std::string(a.vector == 4 ? ", c, d}" : "}"));
  }
  return operand.elements;
}

// Registers may be wider than the memory type, except for floats (table of section 9.4.1).
void check_data_register(Selector& s, const Operand& operand, Type type) {
  if (operand.kind != Operand::Kind::reg || operand.negated || operand.paired()) {
    s.refuse(operand.at, "a register of type " + dotted(type) + " is expected here", "name a register");
  }
  const Type is = s.declared(operand.reg);
  const unsigned size = isa::size_of(is);
  const bool fits = is_float(type) || is_float(is) ? size == isa::size_of(type) : size >= isa::size_of(type);
  if (!fits || !kinds_agree(is, type)) {
    s.refuse(operand.at, "a register of type " + dotted(is) + " stands where the access has type " + dotted(type),
             "use a register of type " + dotted(type));
  }
}

void extend_pair(Selector& s, VReg dst, VReg word, bool sign) {
  if (sign) {
    s.convert(dst, Type::s64, Value::of(word, Type::s32));
  } else {
    s.pack(dst, word, kNone);
  }
}

// A parameter that lives in a register: low part of it, extended as a load would.
void load_slot(Selector& s, const ParamSlot& slot, const Operand& to, const Access& a) {
  if (a.vector != 1 || isa::size_of(a.type) > slot.size) {
    s.refuse("the access is larger than the scalar parameter", "declare the parameter as an array of .b8");
  }
  check_data_register(s, to, a.type);
  const VReg dst = s.vreg(to.reg);
  const bool wide_dst = is_wide(s.declared(to.reg));
  if (is_wide(a.type)) {
    s.move(dst, Value::of(slot.reg, Type::b64));
    return;
  }
  const VReg word = slot.size == 8 ? s.low_half(slot.reg) : slot.reg;
  const Value value = s.extended(Value::of(word, a.type));
  if (wide_dst) {
    extend_pair(s, dst, value.reg, is_signed(a.type));
  } else {
    s.move(dst, value);
  }
}

void load(Selector& s, const Access& a) {
  s.expect_operands(a.hints.policy ? 3 : 2);
  if (a.hints.policy) check_policy(s, 2);
  const Operand& to = s.operand(0);
  const Selector::Address from = s.address(s.operand(1), a.space, a.vector * isa::size_of(a.type));
  if (a.space == Space::param && a.ordering != Ordering::weak) {
    s.refuse("parameters have no memory ordering", "use plain ld.param");
  }
  if (s.row_hint() && from.space != Space::global && from.space != Space::generic) {
    s.refuse("pragma \"row_hint\" stands before a load that reaches no DRAM", "use it for global loads only");
  }
  if (from.slot != nullptr) {
    load_slot(s, *from.slot, to, a);
    return;
  }
  const bool bypass = a.hints.bypass || a.ordering != Ordering::weak;
  const SpaceOps ops = load_ops(from.space, bypass);
  IrInstruction instruction;
  instruction.op = from.wide ? ops.far : ops.near;
  instruction.a = from.base;
  instruction.immediate = true;
  instruction.imm = static_cast<std::uint32_t>(from.offset);
  instruction.sub = isa::memory_sub(width_of(a.type, false), a.vector, s.row_hint());
  struct Extension {
    VReg dst, word;
  };
  std::vector<Extension> extensions;
  const auto add = [&](const Operand& element) {
    if (element.kind == Operand::Kind::sink) {
      instruction.elements.push_back(s.temp(a.type));
      return;
    }
    check_data_register(s, element, a.type);
    if (is_wide(s.declared(element.reg)) && !is_wide(a.type)) {
      const VReg word = s.temp(Type::b32);
      extensions.push_back({s.vreg(element.reg), word});
      instruction.elements.push_back(word);
    } else {
      instruction.elements.push_back(s.vreg(element.reg));
    }
  };
  if (a.vector == 1) {
    add(to);
  } else {
    for (const Operand& element : elements_of(s, to, a)) add(element);
  }
  if (!extensions.empty()) s.guard_by_branch();
  s.write(std::move(instruction));
  for (const Extension& extension : extensions) {
    extend_pair(s, extension.dst, extension.word, is_signed(a.type));
  }
  if (a.ordering == Ordering::acquire) emit_fence(s);
}

void lower_ld(Selector& s) {
  Modifiers m = s.modifiers();
  load(s, access(m, false));
}

// Loads through an address that is the same for all threads of a warp; no unit of its own here.
void lower_ldu(Selector& s) {
  Modifiers m = s.modifiers();
  const Access a = access(m, false);
  if (a.space != Space::global && a.space != Space::generic) {
    s.refuse("ldu loads from global memory only", "use ld");
  }
  load(s, a);
}

void store_slot(Selector& s, const ParamSlot& slot, const Operand& from, const Access& a) {
  if (a.vector != 1 || isa::size_of(a.type) > slot.size) {
    s.refuse("the access is larger than the scalar parameter", "declare the parameter as an array of .b8");
  }
  const Value value = stored_value(s, from, a.type);
  if (slot.size == 8 && !is_wide(a.type)) {
    s.pack(slot.reg, s.in_register(value), kNone);
  } else {
    s.move(slot.reg, value);
  }
}

void lower_st(Selector& s) {
  Modifiers m = s.modifiers();
  const Access a = access(m, true);
  s.expect_operands(a.hints.policy ? 3 : 2);
  if (a.hints.policy) check_policy(s, 2);
  const Operand& from = s.operand(1);
  const Selector::Address to = s.address(s.operand(0), a.space, a.vector * isa::size_of(a.type));
  if (to.slot != nullptr) {
    store_slot(s, *to.slot, from, a);
    return;
  }
  const SpaceOps ops = store_ops(s, to.space);
  IrInstruction instruction;
  instruction.op = to.wide ? ops.far : ops.near;
  instruction.a = to.base;
  instruction.immediate = true;
  instruction.imm = static_cast<std::uint32_t>(to.offset);
  instruction.sub = isa::memory_sub(width_of(a.type, true), a.vector);
  const auto add = [&](const Operand& element) {
    const Value value = stored_value(s, element, a.type);
    VReg reg = s.in_register(value);
    if (reg == kNone && is_wide(a.type)) {  // a stored pair needs registers of its own
      reg = s.temp(Type::b64);
      s.move(reg, Value::imm(0, Type::b64));
    }
    instruction.elements.push_back(reg);
  };
  if (a.vector == 1) {
    add(from);
  } else {
    for (const Operand& element : elements_of(s, from, a)) add(element);
  }
  if (a.ordering == Ordering::release) emit_fence(s);
  s.write(std::move(instruction));
}

// Prefetches and cache management change no value: checked, then dropped.
void lower_nothing(Selector& s) {
  IrInstruction nothing;
  nothing.op = Op::NOP;
  s.write(std::move(nothing));
}

void lower_prefetch(Selector& s) {
  Modifiers m = s.modifiers();
  if (m.peek() == "tensormap" || m.peek() == "const" || m.peek() == "param") {
    m.refuse("tensor maps are not supported", "prefetch from .global or .local");
  }
  const Space space = m.choose<Space>({{"global", Space::global}, {"local", Space::local}}).value_or(Space::generic);
  m.require<bool>("a cache level", {{"L1", true}, {"L2", true}, {"L2::evict_last", true}, {"L2::evict_normal", true}});
  m.finish();
  s.expect_operands(1);
  (void)s.address(s.operand(0), space);
  lower_nothing(s);
}

void lower_prefetchu(Selector& s) {
  Modifiers m = s.modifiers();
  m.expect("L1");
  m.finish();
  s.expect_operands(1);
  (void)s.address(s.operand(0), Space::generic);
  lower_nothing(s);
}

void cache_management(Selector& s, std::string_view level) {
  Modifiers m = s.modifiers();
  const Space space = m.accept("global") ? Space::global : Space::generic;
  m.expect(level);
  m.finish();
  s.expect_operands(2);
  (void)s.address(s.operand(0), space);
  const Operand& size = s.operand(1);
  if (size.kind != Operand::Kind::integer || size.integer != 128) {
    s.refuse(size.at, "the size of '" + s.statement().opcode + "' must be 128", "write 128");
  }
  lower_nothing(s);
}

void lower_applypriority(Selector& s) {
  cache_management(s, "L2::evict_normal");
}
void lower_discard(Selector& s) {
  cache_management(s, "L2");
}

constexpr std::array kMemoryHandlers = {Handler{"ld", lower_ld},
                                        Handler{"ldu", lower_ldu},
                                        Handler{"st", lower_st},
                                        Handler{"prefetch", lower_prefetch},
                                        Handler{"prefetchu", lower_prefetchu},
                                        Handler{"applypriority", lower_applypriority},
                                        Handler{"discard", lower_discard}};

}  // namespace

SpaceOps load_ops(Space space, bool bypass) {
  switch (space) {
    case Space::global:
      return bypass ? SpaceOps{Op::LDV_GLOBAL, Op::LDV_GLOBAL_E} : SpaceOps{Op::LD_GLOBAL, Op::LD_GLOBAL_E};
    case Space::shared:
      return {Op::LD_SHARED, Op::LD_SHARED};
    case Space::local:
      return {Op::LD_LOCAL, Op::LD_LOCAL};
    case Space::constant:
      return {Op::LD_CONST, Op::LD_CONST};
    case Space::param:
      return {Op::LD_PARAM, Op::LD_PARAM};
    case Space::generic:
      break;
  }
  return bypass ? SpaceOps{Op::LDV_GENERIC, Op::LDV_GENERIC_E} : SpaceOps{Op::LD_GENERIC, Op::LD_GENERIC_E};
}

SpaceOps store_ops(Selector& s, Space space) {
  switch (space) {
    case Space::global:
      return {Op::ST_GLOBAL, Op::ST_GLOBAL_E};
    case Space::shared:
      return {Op::ST_SHARED, Op::ST_SHARED};
    case Space::local:
      return {Op::ST_LOCAL, Op::ST_LOCAL};
    case Space::generic:
      return {Op::ST_GENERIC, Op::ST_GENERIC_E};
    case Space::constant:
      s.refuse("constant memory cannot be written", "use a .global variable");
    case Space::param:
      break;
  }
  s.refuse("parameters of a kernel cannot be written", "copy the parameter into a register");
}

Value stored_value(Selector& s, const Operand& operand, Type type) {
  if (operand.kind != Operand::Kind::reg) return s.source(operand, type);
  check_data_register(s, operand, type);
  VReg reg = s.vreg(operand.reg);
  if (is_wide(s.declared(operand.reg)) && !is_wide(type)) reg = s.low_half(reg);
  return Value::of(reg, type);
}

std::span<const Handler> memory_handlers() {
  return kMemoryHandlers;
}

}  // namespace heddle::ptx
