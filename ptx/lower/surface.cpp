// Surface accesses: suld sust (PTX ISA, section 9.7.11). They go to global memory like other loads and stores, at an
// address that is computed from the surface's descriptor (isa/texture.hpp): base + y pitch + x, x in bytes. There is no
// unit of their own: the instructions before the access are part of the kernel and count as such.
#include <array>
#include <cstddef>

#include "isa/texture.hpp"
#include "ptx/lower/handlers.hpp"
#include "ptx/lower/memory_modifiers.hpp"
#include "ptx/lower/texture.hpp"

namespace heddle::ptx {
namespace {

using isa::Op;

// What becomes of coordinates outside.
enum class Outside { trap, clamp, zero };

struct SurfaceAccess {
  unsigned dimensions = 1;
  unsigned vector = 1;
  Type type = Type::b32;
  Outside outside = Outside::trap;
  [[nodiscard]] unsigned bytes() const { return vector * isa::size_of(type); }
};

SurfaceAccess access_of(Modifiers& m, bool store) {
  SurfaceAccess a;
  if (m.peek() == "p") m.refuse("formatted surface accesses are not supported", "use .b");
  m.expect("b");
  a.dimensions = texture_dimensions(m);
  (void)cache_hints(m, store);
  if (m.accept("v2")) a.vector = 2;
  if (a.vector == 1 && m.accept("v4")) a.vector = 4;
  a.type = m.type({Type::b8, Type::b16, Type::b32, Type::b64});
  a.outside = m.require<Outside>("what becomes of coordinates outside",
                                 {{"trap", Outside::trap}, {"clamp", Outside::clamp}, {"zero", Outside::zero}});
  m.finish();
  if (a.bytes() > 16) m.refuse("a surface access of more than 16 bytes is not supported", "use two accesses");
  return a;
}

// The address of an access in a register pair; `inside`: the predicate that it lies in the surface, kNone: it does.
struct Place {
  VReg address = kNone;
  VReg inside = kNone;
};

VReg field_of(Selector& s, VReg handle, std::size_t offset, Type type) {
  const VReg value = s.temp(type);
  s.load(Op::LD_GLOBAL_E, value, handle, static_cast<std::int32_t>(offset),
         is_wide(type) ? isa::Width::b64 : isa::Width::b32);
  return value;
}

// The last byte of the access must lie in the row: x is a multiple of its size, or the access faults as misaligned.
VReg last_byte(Selector& s, VReg x, unsigned bytes) {
  if (bytes == 1) return x;
  const VReg last = s.temp(Type::b32);
  s.emit(Op::OR, last, Value::of(x, Type::b32), Value::imm(bytes - 1, Type::b32));
  return last;
}

VReg clamped(Selector& s, VReg at, VReg limit, unsigned less) {
  const Value zero = Value::imm(0, Type::s32);
  const VReg highest = s.temp(Type::s32);
  s.emit(Op::SUB, highest, Value::of(limit, Type::s32), Value::imm(less, Type::s32));
  const VReg below = s.temp(Type::s32);
  s.emit(Op::MIN_S, below, Value::of(at, Type::s32), Value::of(highest, Type::s32));
  const VReg result = s.temp(Type::s32);
  s.emit(Op::MAX_S, result, Value::of(below, Type::s32), zero);
  return result;
}

Place place_of(Selector& s, const Operand& operand, const SurfaceAccess& a) {
  using isa::TextureDescriptor;
  s.guard_by_branch();
  const VReg handle = texture_handle(s, operand);
  const std::vector<VReg> at = texture_coordinates(s, operand, a.dimensions, Type::s32);
  const VReg base = field_of(s, handle, offsetof(TextureDescriptor, base), Type::b64);
  const VReg row = field_of(s, handle, offsetof(TextureDescriptor, row_bytes), Type::b32);
  VReg x = at[0];
  VReg y = a.dimensions > 1 ? at[1] : kNone;
  const VReg height = a.dimensions > 1 ? field_of(s, handle, offsetof(TextureDescriptor, height), Type::b32) : kNone;
  Place place;
  if (a.outside == Outside::clamp) {
    x = clamped(s, x, row, a.bytes());
    y = a.dimensions > 1 ? clamped(s, y, height, 1) : kNone;
  } else {
    Selector::Compare below{Op::SETP_U32, isa::Comparison::lt, isa::BoolOp::none, {}, false};
    place.inside = s.temp(Type::pred);
    s.setp(below, place.inside, kNone, Value::of(last_byte(s, x, a.bytes()), Type::u32), Value::of(row, Type::u32));
    if (a.dimensions > 1) {
      const VReg in_row = place.inside;
      place.inside = s.temp(Type::pred);
      below.combine = isa::BoolOp::and_;
      below.with = {in_row, false};
      s.setp(below, place.inside, kNone, Value::of(y, Type::u32), Value::of(height, Type::u32));
    }
  }
  if (a.outside == Outside::trap) {
    IrInstruction trap;
    trap.op = Op::TRAP;
    trap.trap = isa::TrapCause::Kind::surface;
    trap.guard = {place.inside, true};
    s.write(std::move(trap));
    place.inside = kNone;
  }
  VReg offset = x;
  if (a.dimensions > 1) {
    const VReg pitch = field_of(s, handle, offsetof(TextureDescriptor, pitch), Type::b32);
    offset = s.temp(Type::b32);
    s.emit(Op::MAD_LO, offset, Value::of(y, Type::b32), Value::of(pitch, Type::b32), Value::of(x, Type::b32));
  }
  place.address = s.temp(Type::b64);
  s.emit(Op::MAD_WIDE_U, place.address, Value::of(offset, Type::u32), Value::imm(1, Type::u32),
         Value::of(base, Type::u64));
  return place;
}

IrInstruction access(const Place& place, const SurfaceAccess& a, bool store) {
  IrInstruction instruction;
  instruction.op = store ? Op::ST_GLOBAL_E : Op::LD_GLOBAL_E;
  instruction.a = place.address;
  instruction.immediate = true;
  const unsigned bytes = isa::size_of(a.type);
  const isa::Width width = bytes == 1   ? isa::Width::u8
                           : bytes == 2 ? isa::Width::u16
                           : bytes == 4 ? isa::Width::b32
                                        : isa::Width::b64;
  instruction.sub = isa::memory_sub(width, a.vector);
  if (place.inside != kNone) instruction.guard = {place.inside, false};
  return instruction;
}

// One operand of each element: a vector, or for one element a register with or without braces.
std::vector<Operand> values_of(Selector& s, const Operand& operand, const SurfaceAccess& a) {
  if (operand.kind != Operand::Kind::vector && a.vector == 1) return {operand};
  if (operand.kind != Operand::Kind::vector || operand.elements.size() != a.vector) {
    s.refuse(operand.at, std::to_string(a.vector) + " values are expected here",
             a.vector == 1   ? "write {a}"
             : a.vector == 2 ? "write {a, b}"
                             : "write {a, b, c, d}");
  }
  return operand.elements;
}

// A register of at least the element's size, as loads have it.
VReg loaded_register(Selector& s, const Operand& operand, Type type) {
  if (operand.kind == Operand::Kind::sink) return kNone;
  const bool good = operand.kind == Operand::Kind::reg && !operand.negated && !operand.paired() &&
                    is_wide(s.declared(operand.reg)) == is_wide(type) &&
                    isa::size_of(s.declared(operand.reg)) >= isa::size_of(type) &&
                    s.declared(operand.reg) != Type::pred;
  if (!good) s.refuse(operand.at, "a register of type " + dotted(type) + " is expected here", "name one");
  return s.vreg(operand.reg);
}

void lower_suld(Selector& s) {
  Modifiers m = s.modifiers();
  const SurfaceAccess a = access_of(m, false);
  s.expect_operands(2);
  const std::vector<Operand> to = values_of(s, s.operand(0), a);
  const Place place = place_of(s, s.operand(1), a);
  IrInstruction load = access(place, a, false);
  std::vector<VReg> loaded;
  for (unsigned i = 0; i < a.vector; ++i) {
    // Defined whether or not the load executes.
    loaded.push_back(s.named(a.type == Type::b64 ? Type::b64 : Type::b32, "suld" + std::to_string(i)));
    if (place.inside != kNone) s.move(loaded.back(), Value::imm(0, a.type == Type::b64 ? Type::b64 : Type::b32));
  }
  load.elements = loaded;
  s.write(std::move(load));
  for (unsigned i = 0; i < a.vector; ++i) {
    const VReg reg = loaded_register(s, to[i], a.type);
    if (reg != kNone) s.move(reg, Value::of(loaded[i], a.type == Type::b64 ? Type::b64 : Type::b32));
  }
}

void lower_sust(Selector& s) {
  Modifiers m = s.modifiers();
  const SurfaceAccess a = access_of(m, true);
  s.expect_operands(2);
  const std::vector<Operand> from = values_of(s, s.operand(1), a);
  const Place place = place_of(s, s.operand(0), a);
  IrInstruction store = access(place, a, true);
  for (const Operand& element : from) {
    VReg reg = s.in_register(stored_value(s, element, a.type));
    if (reg == kNone && is_wide(a.type)) {  // a stored pair needs registers of its own
      reg = s.temp(Type::b64);
      s.move(reg, Value::imm(0, Type::b64));
    }
    store.elements.push_back(reg);
  }
  s.write(std::move(store));
}

constexpr std::array kSurfaceHandlers = {Handler{"suld", lower_suld}, Handler{"sust", lower_sust}};

}  // namespace

std::span<const Handler> surface_handlers() {
  return kSurfaceHandlers;
}

}  // namespace heddle::ptx
