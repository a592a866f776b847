// The address check: whether every lane of an access may do what it wants to, before any of it has an effect.
//
//   is told   an access with its lanes by space (MemoryAccess::classify)
//   answers   true: it can begin. False: a lane must not access, and the core has a fault. From lane 0 up, as the
//             interpreter does: alignment, then bounds, then whether it may be written
//   strays    without core.load_trap loads out of bounds become the access's stray lanes, which have read 0, and are
//             noted in the core's state
// Of a conditional accumulate nothing is written where not all that its warp writes has its place: a later sub-warp has
// the thread that is too many, and the fault. Texture fetches have a check of their own (TexturePath::find).
#pragma once

#include "hw/core/memory/memory_access.hpp"

namespace heddle::hw {

class AddressCheck {
 public:
  explicit AddressCheck(CoreState& state) : state_(state) {}
  [[nodiscard]] bool passes(MemoryAccess& access);

 private:
  CoreState& state_;
};

}  // namespace heddle::hw
