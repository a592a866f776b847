// What the lanes of an atomic do to a line, wherever the line is: in an L2 slice or behind a DRAM controller.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tlm/line_protocol.hpp"

namespace heddle::link {

// Performs the lanes' steps in lane order (isa::global_atomic_step) on the bytes that their offsets count from, leaves
// the old values in `lanes`, and adds 0xff to `touched` (may be null) for every byte written, counted as offsets are.
void step_lanes(AtomicLanes& lanes, std::byte* bytes, std::uint8_t* touched);

}  // namespace heddle::link
