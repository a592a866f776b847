// A stage's input: sub-warps that become visible `latency` cycles after they were handed over.
#pragma once

#include <boost/circular_buffer.hpp>

#include "tlm/cycle.hpp"
#include "tlm/sub_warp.hpp"

namespace heddle::hw {

class Latch {
 public:
  explicit Latch(unsigned latency) : latency_(latency), slots_(latency) {}

  [[nodiscard]] unsigned latency() const { return latency_; }
  [[nodiscard]] bool full() const { return slots_.full(); }
  [[nodiscard]] bool empty() const { return slots_.empty(); }
  void push(link::SubWarp& sub_warp, link::Cycle now) { slots_.push_back({now + latency_, &sub_warp}); }
  // The oldest one if it is visible in this cycle.
  [[nodiscard]] link::SubWarp* front(link::Cycle now) const {
    return !slots_.empty() && slots_.front().visible <= now ? slots_.front().sub_warp : nullptr;
  }
  // Nothing becomes visible after this cycle that is not behind something visible.
  [[nodiscard]] bool settled(link::Cycle now) const { return slots_.empty() || slots_.front().visible <= now; }
  void pop() { slots_.pop_front(); }
  void clear() { slots_.clear(); }

 private:
  struct Slot {
    link::Cycle visible;
    link::SubWarp* sub_warp;
  };
  unsigned latency_;
  boost::circular_buffer<Slot> slots_;
};

}  // namespace heddle::hw
