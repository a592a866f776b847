// Texture fetches and queries of textures and surfaces: tex txq suq (PTX ISA, sections 9.7.10 and 9.7.11), in unified
// mode: a texture's handle brings its sampling along. The handle is in a 64-bit register, or in a .texref (.surfref)
// variable, which the host has written it to.
#include "ptx/lower/texture.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "isa/texture.hpp"
#include "ptx/lower/handlers.hpp"

namespace heddle::ptx {

using isa::Op;

unsigned texture_dimensions(Modifiers& m) {
  const std::string word(m.peek());
  if (word == "3d" || word == "a1d" || word == "a2d" || word == "cube" || word == "acube" || word == "2dms" ||
      word == "a2dms") {
    m.refuse("textures and surfaces of the geometry ." + word + " are not supported",
             "this machine has .1d and .2d; put the layers of a third dimension below each other");
  }
  return m.require<unsigned>("a geometry", {{"1d", 1U}, {"2d", 2U}});
}

VReg texture_handle(Selector& s, const Operand& operand) {
  if (operand.kind != Operand::Kind::address) {
    s.refuse(operand.at, "a texture or surface with coordinates is expected here", "write [handle, {x, y}]");
  }
  if (operand.offset != 0) s.refuse(operand.at, "a handle has no offset", "remove it");
  if (operand.base_is_register) {
    if (!is_wide(s.declared(operand.reg))) {
      s.refuse(operand.at, "the handle of a texture or surface has 64 bits", "use a .b64 register");
    }
    return s.vreg(operand.reg);
  }
  if (operand.name.empty()) s.refuse(operand.at, "a number is no handle", "name a register or a .texref variable");
  const Resolved symbol = s.resolve(operand.name, operand.at);
  if (!symbol.handle) {
    s.refuse(operand.at, "'" + operand.name + "' is no .texref or .surfref variable",
             "load the handle into a register with ld.param first");
  }
  return s.load_handle(symbol);
}

std::vector<VReg> texture_coordinates(Selector& s, const Operand& operand, unsigned dimensions, Type type) {
  if (operand.elements.size() != dimensions) {
    s.refuse(operand.at,
             "there are " + std::to_string(operand.elements.size()) + " coordinates where the geometry has " +
                 std::to_string(dimensions),
             dimensions == 1 ? "write [handle, {x}]" : "write [handle, {x, y}]");
  }
  std::vector<VReg> registers;
  for (const Operand& element : operand.elements) {
    registers.push_back(s.in_register(s.source(element, type)));
  }
  return registers;
}

namespace {

void lower_tex(Selector& s) {
  Modifiers m = s.modifiers();
  if (m.peek() == "base" || m.peek() == "level" || m.peek() == "grad") {
    m.refuse("textures have no mipmap levels here", "fetch without ." + std::string(m.peek()));
  }
  const unsigned dimensions = texture_dimensions(m);
  m.expect("v4");
  const Type result = m.type({Type::f32, Type::s32, Type::u32});
  const Type coordinate = m.type({Type::f32, Type::s32});
  m.finish();
  s.expect_operands(2);
  const Operand& to = s.operand(0);
  if (to.kind != Operand::Kind::vector || to.elements.size() != 4) {
    s.refuse(to.at, "a fetch yields four values", "write {a, b, c, d}, with _ for those that do not matter");
  }
  IrInstruction fetch;
  fetch.op = dimensions == 1 ? Op::TEX_1D : Op::TEX_2D;
  fetch.a = texture_handle(s, s.operand(1));
  const std::vector<VReg> at = texture_coordinates(s, s.operand(1), dimensions, coordinate);
  fetch.b = at[0];
  fetch.c = dimensions == 1 ? kNone : at[1];
  // Registers for the channels up to the last one that is wanted.
  unsigned wanted = 1;
  for (unsigned channel = 0; channel < 4; ++channel) {
    if (to.elements[channel].kind != Operand::Kind::sink) wanted = channel + 1;
  }
  wanted = wanted == 3 ? 4 : wanted;
  for (unsigned channel = 0; channel < wanted; ++channel) {
    const VReg reg = s.destination(to.elements[channel], result);
    fetch.elements.push_back(reg == kNone ? s.temp(result) : reg);
  }
  fetch.mods = isa::texture_mods(coordinate == Type::f32, wanted);
  s.write(std::move(fetch));
}

// The descriptor says it.
void lower_query(Selector& s) {
  Modifiers m = s.modifiers();
  const std::string asked(m.peek());
  if (asked != "width" && asked != "height") {
    m.refuse("only the width and height of a texture or surface can be asked for", "pass the rest as an argument");
  }
  m.expect(asked);
  m.type({Type::b32});
  m.finish();
  s.expect_operands(2);
  const VReg to = s.destination(s.operand(0), Type::b32);
  const VReg handle = texture_handle(s, s.operand(1));
  IrInstruction load;
  load.op = Op::LD_GLOBAL_E;
  load.a = handle;
  load.immediate = true;
  load.imm = asked == "width" ? offsetof(isa::TextureDescriptor, width) : offsetof(isa::TextureDescriptor, height);
  load.sub = isa::memory_sub(isa::Width::b32, 1);
  load.elements = {to == kNone ? s.temp(Type::b32) : to};
  s.write(std::move(load));
}

constexpr std::array kTextureHandlers = {Handler{"tex", lower_tex}, Handler{"txq", lower_query},
                                         Handler{"suq", lower_query}};

}  // namespace

std::span<const Handler> texture_handlers() {
  return kTextureHandlers;
}

}  // namespace heddle::ptx
