// Small facts about PTX types that instruction selection asks for (PTX ISA 8.x, section 5.2).
#pragma once

#include <string>
#include <string_view>

#include "isa/instruction.hpp"
#include "ptx/ir.hpp"

namespace heddle::ptx {

using isa::Type;

[[nodiscard]] constexpr bool is_float(Type type) {
  return type == Type::f16 || type == Type::f32 || type == Type::f64;
}
[[nodiscard]] constexpr bool is_untyped(Type type) {
  return type == Type::b8 || type == Type::b16 || type == Type::b32 || type == Type::b64;
}
[[nodiscard]] constexpr bool is_signed(Type type) {
  return type == Type::s8 || type == Type::s16 || type == Type::s32 || type == Type::s64;
}
// Integers and untyped bits.
[[nodiscard]] constexpr bool is_integer(Type type) {
  return !is_float(type) && type != Type::pred;
}
[[nodiscard]] inline unsigned bits_of(Type type) {
  return 8 * isa::size_of(type);
}
[[nodiscard]] inline bool is_wide(Type type) {
  return isa::size_of(type) == 8;
}
[[nodiscard]] inline RegClass class_of(Type type) {
  if (type == Type::pred) return RegClass::predicate;
  return is_wide(type) ? RegClass::pair : RegClass::word;
}
// May a register declared with one type be an operand of an instruction of the other type and the same size
// (section 6.1: untyped bits agree with everything, integers with integers, floats with floats)?
[[nodiscard]] constexpr bool kinds_agree(Type a, Type b) {
  if (a == Type::pred || b == Type::pred) return a == b;
  return is_untyped(a) || is_untyped(b) || is_float(a) == is_float(b);
}
// ".u32"
[[nodiscard]] inline std::string dotted(Type type) {
  return "." + std::string(isa::name_of(type));
}

}  // namespace heddle::ptx
