// What the operations compute, lane by lane. Every function computes all lanes and leaves blending by mask to the
// caller (compute all, then blend), so that the compiler vectorises it over kLanes lanes.
#pragma once

#include <array>
#include <cstdint>

#include "isa/instruction.hpp"

namespace heddle::isa {

using LaneWord = std::array<std::uint32_t, kLanes>;

// Operands and results of one sub-warp. 64-bit values: word 0 low, word 1 high. An immediate b has been put into b
// (see load_immediate). Source predicates have their negation applied.
struct LaneValues {
  alignas(64) std::array<LaneWord, 4> a;  // two for all but mma
  alignas(64) std::array<LaneWord, 2> b;
  alignas(64) std::array<LaneWord, 4> c;  // likewise
  alignas(64) LaneWord d;
  alignas(64) std::array<LaneWord, 4> result;
  LaneMask predicate_a = 0;  // setp combine, sel, vote, bar.red, cond_acc, tree_traverse, addc/subc carry in, plop a
  LaneMask predicate_b = 0;  // plop b
  LaneMask active = 0;       // lanes that execute (active bit and guard): vote, shfl, match look at it
  LaneMask p = 0;            // predicate results (p: also carry out, shfl and match predicate)
  LaneMask q = 0;
  LaneMask fault = 0;  // out: active lanes that divided an integer by zero
};

// Broadcasts the immediate into b as the operation wants it (sign-extended, or high word of a double).
void load_immediate(const Instruction& instruction, LaneValues& values);

// Executes a lane-wise operation (units alu, complex, half, tensor, warp; not s2r, memory, control, barrier).
// An integer division by zero yields all ones (remainder: the dividend), as GPUs do, and reports the lanes in fault.
using LaneFunction = void (*)(const Instruction&, LaneValues&);
// Null for operations without lane-wise semantics (s2r, memory, control, barrier).
[[nodiscard]] LaneFunction lane_function(const Instruction& instruction);

// One atomic step on memory: returns the new value for old, operand b and (cas) c. Narrower types use the low part.
[[nodiscard]] std::uint64_t atomic_step(AtomicOp op, Type type, std::uint64_t old, std::uint64_t b, std::uint64_t c);

// ldmatrix: of the 16 bytes that each lane has loaded, in `result`, the words that each lane gets. Row r of matrix m
// has been loaded by lane 8 m + r.
void distribute_matrices(const Instruction& instruction, LaneValues& values);
// The lanes among `executing` whose addresses ldmatrix looks at.
[[nodiscard]] inline LaneMask matrix_rows(const Instruction& instruction, LaneMask executing) {
  return executing & (instruction.matrices() == 4 ? ~LaneMask{0} : (LaneMask{1} << 8 * instruction.matrices()) - 1);
}

// What a conditional accumulate (thesis 7.1) does with its operands: the count is the prefix network's sum, an address
// its exclusive prefix sum, shifted by the element size and added to the base.
struct Accumulation {
  LaneMask writes = 0;                          // lanes that write: they execute and their predicate is true
  std::uint32_t count = 0;                      // of them
  std::uint64_t base = 0;                       // the address of the lowest executing lane
  std::array<std::uint64_t, kLanes> address{};  // where each lane writes; of one that does not, where it would
};
[[nodiscard]] Accumulation accumulate(const Instruction& instruction, const LaneValues& values);

// Widens a loaded element to its register value(s): u8..s16 extend to 32 bits.
[[nodiscard]] std::uint64_t extend_loaded(Width width, std::uint64_t raw);
[[nodiscard]] unsigned bytes_of(Width width);

}  // namespace heddle::isa
