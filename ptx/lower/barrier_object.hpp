// Barrier objects in shared memory (mbarrier): what other instructions do to them.
#pragma once

#include "ptx/lower/selector.hpp"

namespace heddle::ptx {

// cp.async.mbarrier.arrive, from its modifiers behind "arrive" on: the thread's copies arrive when they have ended.
// Without .noinc the phase waits for one arrival more, which is this one.
void lower_copies_arrive(Selector& s, Modifiers& m);

// complete_tx: so many bytes have come for the object at this operand, whose address is one of shared memory.
void bytes_have_come(Selector& s, const Operand& object, const Value& bytes);

// The address in shared memory of the object at this operand, as bytes from its beginning.
[[nodiscard]] Value barrier_object_at(Selector& s, const Operand& object);

}  // namespace heddle::ptx
