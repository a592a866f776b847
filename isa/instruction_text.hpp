// The textual form of instructions, shared by assembler and disassembler. Internal to isa/.
//
//   [[control bits]] [{mark}...] [@[!]guard] mnemonic[.suffix...] operand, operand...
//
// Suffixes of arithmetic stand before the type that ends the mnemonic (add.rz.ftz.f32), the others behind it
// (ld.global.v2.b32.hint).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isa/instruction.hpp"

namespace heddle::isa {

// What stands at one place of the operand list.
enum class Slot : std::uint8_t {
  destination,  // r4, or r4|p0 where the operation has a predicate result besides
  predicates,   // p0 or p0|p1
  a,
  b,  // register or immediate
  c,
  d,               // register form only
  value,           // st: the first register stored
  address,         // [r2+16]
  atomic_address,  // [r2]
  special,         // %tid.x
  sub_predicate,   // !p2
  combine,         // setp: nothing, or "and, !p2"
  plop,            // p2, or "p2, and, !p3"
  carry_in,        // !pt
  table,           // lop3: 0xE8
  target,          // bra: 12, or "12, reconverge 20"
  meeting          // bssy: 12
};
[[nodiscard]] std::vector<Slot> operand_slots(const Instruction& instruction);

// Whether the suffixes stand before the last part of the mnemonic.
[[nodiscard]] bool suffixes_before_type(Op op);
[[nodiscard]] std::vector<std::string> suffixes(const Instruction& instruction);

// Of mma with its elements: makes it one of the size "m16n8k16". False: there is no such size of these.
[[nodiscard]] bool set_matrix_size(Instruction& instruction, std::string_view size);

// Names by enumerator.
[[nodiscard]] std::span<const std::string_view> rounding_names();    // Rounding; [0] is ""
[[nodiscard]] std::span<const std::string_view> comparison_names();  // Comparison
[[nodiscard]] std::span<const std::string_view> combine_names();     // BoolOp; [0] is ""
[[nodiscard]] std::span<const std::string_view> test_names();        // TestKind
[[nodiscard]] std::span<const std::string_view> atomic_names();      // AtomicOp
[[nodiscard]] std::span<const std::string_view> space_names();       // Space
[[nodiscard]] std::span<const std::string_view> width_names();       // Width
[[nodiscard]] std::span<const std::string_view> special_names();     // Special
[[nodiscard]] std::span<const std::string_view> element_names();     // log2 of Instruction::element_bytes
[[nodiscard]] std::span<const std::string_view> factor_names();      // of Factor
[[nodiscard]] std::span<const std::string_view> prmt_names();        // Instruction::prmt_mode; [0] is ""

}  // namespace heddle::isa
