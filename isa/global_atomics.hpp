// Atomics on global memory, which treat subnormal sums of binary32 in another way than atomics on the scratchpad.
#pragma once

#include "isa/semantics.hpp"

namespace heddle::isa {

// One step, as atomic_step, but for add.f32: in global memory it flushes subnormal operands and results to zero of the
// same sign (PTX ISA, "atom" and "red"; in shared memory it keeps them). The old value that the thread gets is not
// changed.
[[nodiscard]] std::uint64_t global_atomic_step(AtomicOp op, Type type, std::uint64_t old, std::uint64_t b,
                                               std::uint64_t c);

}  // namespace heddle::isa
