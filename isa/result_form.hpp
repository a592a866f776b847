// Where an instruction's results go and which predicates it reads, worked out once when the instruction is decoded.
// Interpreter and core model write back and hash by the same form, so that they cannot disagree about, say, a store's
// word count.
#pragma once

#include <cstdint>

#include "isa/instruction.hpp"

namespace heddle::isa {

struct ResultForm {
  std::uint8_t dst = kRZ;   // first register written
  std::uint8_t words = 0;   // registers written from dst on; 0 when dst is RZ
  std::uint8_t p = kPT;     // predicate register that takes LaneValues::p; PT: none
  std::uint8_t q = kPT;     // predicate register that takes LaneValues::q; PT: none. Only setp and plop have one.
  std::uint8_t stored = 0;  // stores: value registers (in LaneValues::result); RZ as the value stores zeros
  bool address = false;     // stores, atomics and cond_acc: the address is part of the retirement hash
  [[nodiscard]] bool predicates() const { return p != kPT || q != kPT; }
};
[[nodiscard]] ResultForm result_form(const Instruction& instruction);

// The predicates that fill LaneValues::predicate_a and predicate_b. PT where the operation reads none.
//   a: setp's combined predicate; sel, vote, bar.red, cond_acc, tree_traverse: sub(); addc, subc: carry in; plop a b:
//   plop b
struct SourcePredicates {
  Pred a;
  Pred b;
};
[[nodiscard]] SourcePredicates source_predicates(const Instruction& instruction);

[[nodiscard]] constexpr bool is_setp(Op op) {
  return (op >= Op::SETP_S32 && op <= Op::SETP_F64) || op == Op::SETP_H;
}
[[nodiscard]] constexpr bool is_bar_red(Op op) {
  return op == Op::BAR_RED_POPC || op == Op::BAR_RED_AND || op == Op::BAR_RED_OR;
}
[[nodiscard]] constexpr bool is_carry(Op op) {
  return op == Op::ADDC || op == Op::SUBC || op == Op::ADDC64 || op == Op::SUBC64;
}

// 32-bit registers that a load or store moves per thread: vector length times one, or two for 64-bit elements. A word
// may encode eight (a vector of four 64-bit values), which no machine operation moves: more than kMaxMemoryWords is an
// invalid instruction.
inline constexpr unsigned kMaxMemoryWords = 4;
[[nodiscard]] inline unsigned memory_words(const Instruction& instruction) {
  return instruction.vector() * (instruction.width() == Width::b64 ? 2U : 1U);
}

}  // namespace heddle::isa
