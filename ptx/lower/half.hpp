// Arithmetic and conversions of .f16, .bf16 and pairs of them (PTX ISA, section 9.7.4).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "ptx/lower/selector.hpp"

namespace heddle::ptx {

enum class HalfOp : std::uint8_t { add, sub, mul, fma, min, max, neg, abs };

// Lowers the statement if its type is .f16, .f16x2, .bf16 or .bf16x2, else does nothing and returns false.
bool lower_half(Selector& s, HalfOp op);

// cvt to .f16x2 and .bf16x2, to and from .bf16, and with .relu: as lower_half.
bool lower_half_conversion(Selector& s);

// A type of 16-bit floating point, as the last modifier of a statement names it.
struct HalfType {
  bool packed = false, bfloat = false;
  // That operands have: bits where no register has the type.
  [[nodiscard]] Type of_registers() const { return packed ? Type::b32 : bfloat ? Type::b16 : Type::f16; }
  [[nodiscard]] std::uint32_t mods() const { return isa::half_mods(packed, bfloat); }
};
[[nodiscard]] std::optional<HalfType> half_type(std::string_view name);

// dst = op(a) of .f16, or of both halves of .f16x2: operands 0 and 1 of the statement. Computed in .f32.
void lower_half_function(Selector& s, bool packed, isa::Op op, std::uint32_t mods);

// A register with the upper half of another one, and one with the lower halves of two.
[[nodiscard]] Value upper_half(Selector& s, VReg packed);
void join_halves(Selector& s, VReg dst, const Value& lower, const Value& upper);

// The .f16 in a register as .f32.
[[nodiscard]] Value half_as_float(Selector& s, const Value& half);

}  // namespace heddle::ptx
