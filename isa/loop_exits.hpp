// What decides whether a loop ends: the watchdog's question (hw/core/warps/warp_unit_watch.cpp).
#pragma once

#include <cstdint>
#include <span>

#include "isa/register_use.hpp"

namespace heddle::isa {

struct LoopExits {
  // Whether threads leave the loop depends on the registers and predicates below and on memory alone: while neither
  // change, no thread leaves. False: a clock takes part, or memory that the loop itself may change.
  bool known = false;
  RegisterSet registers;
  std::uint8_t predicates = 0;  // bit p: predicate p
  // It depends on memory that other threads may write: by an atomic, a volatile load, or a load from an address that
  // stays the same in the loop.
  bool waits = false;
};

// Of the loop whose instructions stand from PC `first` to PC `last` of a kernel's `words`: the guards of what
// leaves it and of what branches on the way, where that matters, and all that they are computed from in the loop. A
// loop that nothing leaves depends on no register.
[[nodiscard]] LoopExits loop_exits(std::span<const InstructionWord> words, std::uint32_t first, std::uint32_t last);

}  // namespace heddle::isa
