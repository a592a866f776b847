// What a recorded trace holds of an instruction besides the value of its guard: what the model needs to know of a
// thread's operands to take the same time as when it computes them.
#pragma once

#include "isa/bulk_copy.hpp"
#include "isa/instruction.hpp"

namespace heddle::isa {

// Whether an executing thread has a value in a record: the address of a load, store, atomic or conditional accumulate
// (there only where the predicate is true, which is recorded too), unless no register goes into it; of a barrier with a
// register, the barrier in the low word and the count in the high word.
[[nodiscard]] inline bool records_value(const Instruction& instruction) {
  const Unit unit = info(instruction.op).unit;
  if (unit == Unit::memory) {
    return is_accumulate(instruction.op) || (instruction.op != Op::MEMBAR && instruction.a != kRZ);
  }
  return unit == Unit::barrier && (instruction.a != kRZ || (!instruction.immediate && instruction.b != kRZ));
}

// The value of a copy in bulk: its address, below the number of its pieces. A scratchpad has fewer pieces than 2^16,
// and addresses have no more than 48 bits.
inline constexpr unsigned kBulkAddressBits = 48;
[[nodiscard]] constexpr std::uint64_t recorded_bulk_copy(std::uint64_t from, std::uint32_t bytes) {
  return from | std::uint64_t{bytes / kBulkPiece} << kBulkAddressBits;
}
[[nodiscard]] constexpr std::uint64_t address_of_bulk_copy(std::uint64_t recorded) {
  return recorded & ((std::uint64_t{1} << kBulkAddressBits) - 1);
}
[[nodiscard]] constexpr std::uint32_t bytes_of_bulk_copy(std::uint64_t recorded) {
  return static_cast<std::uint32_t>(recorded >> kBulkAddressBits) * kBulkPiece;
}

}  // namespace heddle::isa
