// Which fields of the instruction word an operation uses besides its register operands. Internal to isa/.
#pragma once

#include <cstdint>

#include "isa/instruction.hpp"

namespace heddle::isa {

// What the c field holds.
enum class SubForm : std::uint8_t { none, reg, comparison, predicate, space, test, memory };
[[nodiscard]] SubForm sub_form(Op op);

// What the modifiers hold.
enum class ModifierForm : std::uint8_t {
  none,
  floating,
  cvt,
  setp,
  plop,
  carry,
  predicate_out,
  lop3,
  prmt,
  bfind,
  atomic,
  element,
  texture,
  half,
  matrix
};
[[nodiscard]] ModifierForm modifier_form(Op op);
// Modifier bits that the operation looks at.
[[nodiscard]] std::uint32_t modifier_mask(Op op);

// Floating modifiers' bits, as Instruction's accessors read them.
inline constexpr std::uint32_t kRoundingBits = 3;
inline constexpr std::uint32_t kFtzBit = 4;
inline constexpr std::uint32_t kSaturateBit = 8;
inline constexpr std::uint32_t kApproximateBit = 16;
inline constexpr std::uint32_t kNanBit = 32;
// Those of 16-bit floating point, which setp has beside its own.
inline constexpr std::uint32_t kPackedBit = 128;
inline constexpr std::uint32_t kBfloatBit = 256;
inline constexpr std::uint32_t kReluBit = 512;
inline constexpr std::uint32_t kMagnitudesBit = 1024;
inline constexpr std::uint32_t kHalfFormat = kPackedBit | kBfloatBit;

// setp and plop have two predicate results, the other operations on predicates one (q is PT).
[[nodiscard]] constexpr bool has_second_predicate(Op op) {
  return op == Op::PLOP || op == Op::SETP_H || (op >= Op::SETP_S32 && op <= Op::SETP_F64);
}

// Whether a register field may name a value of this many registers: in range and aligned; one value may be RZ.
[[nodiscard]] bool register_fits(unsigned reg, unsigned registers, bool vector = false);

}  // namespace heddle::isa
