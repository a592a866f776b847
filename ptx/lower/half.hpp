// Arithmetic on .f16 and .f16x2, of which the machine has none (PTX ISA, section 9.7.4).
#pragma once

#include <cstdint>

#include "ptx/lower/selector.hpp"

namespace heddle::ptx {

enum class HalfOp : std::uint8_t { add, sub, mul, fma, neg, abs };

// Lowers the statement if its type is .f16 or .f16x2, else does nothing and returns false. Sums and products are
// computed in .f32 and fused ones in .f64, which leaves the rounding to .f16 as the only one that can show: of a sum or
// product of two .f16 all digits count up to where .f32 rounds, twice their width and two more (Figueroa, "When is
// double rounding innocuous?", 1995), and a sum that .f64 cannot hold is no tie between two .f16.
bool lower_half(Selector& s, HalfOp op);

// dst = op(a) of .f16, or of both halves of .f16x2: operands 0 and 1 of the statement. Computed in .f32.
void lower_half_function(Selector& s, bool packed, isa::Op op, std::uint32_t mods);

// A register with the upper half of another one, and one with the lower halves of two.
[[nodiscard]] Value upper_half(Selector& s, VReg packed);
void join_halves(Selector& s, VReg dst, const Value& lower, const Value& upper);

// The .f16 in a register as .f32.
[[nodiscard]] Value half_as_float(Selector& s, const Value& half);

}  // namespace heddle::ptx
