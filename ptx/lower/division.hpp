// Division, reciprocals and roots in software (CodeOptions::software_division), as GPUs do them: from an approximation
// of the special function unit, refined by multiply-adds. The operations, their order and the bounds within which they
// are right are those that ptxas 13.0 was seen to make for sm_75 to sm_90. Results are the ones of the operations of
// the same names, but for what PTX calls approximate, which may differ by 2 units in the last place.
//
// Integers go without branches. What rounds goes round an operation of the complex unit by a branch, which a thread
// takes whose operands the refinement cannot do: in the place of ptxas's call of a subroutine. Such a branch stays
// (ptx/backend/if_conversion.cpp).
#pragma once

#include "ptx/lower/selector.hpp"

namespace heddle::ptx {

// dst = a / b, or the remainder, of 32 or 64 bits. By zero: all ones, or a.
void divide_integers(Selector& s, VReg dst, const Value& a, const Value& b, bool remainder);

// dst = a / b, rounded to nearest, of .f32 or .f64; mods are the operation's.
void divide_rounded(Selector& s, VReg dst, const Value& a, const Value& b, std::uint32_t mods);
// div.approx and div.full, of .f32. `ftz`: subnormals count as zero.
void divide_approximately(Selector& s, VReg dst, const Value& a, const Value& b, bool ftz, bool full_range);

// dst = 1 / a and the root of a, rounded to nearest, of .f32 or .f64.
void invert_rounded(Selector& s, VReg dst, const Value& a, std::uint32_t mods);
void root_rounded(Selector& s, VReg dst, const Value& a, std::uint32_t mods);
// rsqrt.approx.f64, to the last bits.
void invert_root(Selector& s, VReg dst, const Value& a);

// rcp, sqrt, rsqrt, ex2 and lg2 .approx.f32, of subnormals too: the special function unit takes them for zero.
void approximate_subnormals(Selector& s, isa::Op op, VReg dst, const Value& a);

}  // namespace heddle::ptx
