// Time as whole cycles of the GPU clock, without SystemC: what policies and the state of a core need of it.
// tlm/clock.hpp has the clock itself.
#pragma once

#include <cstdint>
#include <limits>

namespace heddle::link {

using Cycle = std::uint64_t;
inline constexpr Cycle kNever = std::numeric_limits<Cycle>::max();

// What can be told that there is work at a later cycle.
class Waker {
 public:
  virtual ~Waker() = default;
  virtual void wake(Cycle at) = 0;
};

}  // namespace heddle::link
