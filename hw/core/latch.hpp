// A stage's input: sub-warps that become visible `latency` cycles after they were handed over. A place of it holds one
// sub-warp, or several whose lanes are disjoint (lanes that execute each an instruction of its own): handed over in one
// cycle, they are one cycle's work for a stage that takes them together (the sub-warp and those beside it). One that
// works on a single sub-warp in a cycle takes them one after the other.
#pragma once

#include <boost/circular_buffer.hpp>
#include <utility>

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
  // Into the place of what was handed over in this cycle. False: nothing was, or one of its lanes is taken.
  [[nodiscard]] bool join(link::SubWarp& sub_warp, link::Cycle now) {
    if (slots_.empty() || slots_.back().visible != now + latency_) {
      return false;
    }
    link::SubWarp* last = slots_.back().sub_warp;
    for (link::SubWarp* other = last; other != nullptr; other = other->beside) {
      if ((other->lanes & sub_warp.lanes) != 0) {
        return false;
      }
      last = other;
    }
    last->beside = &sub_warp;
    return true;
  }
  // The oldest one if it is visible in this cycle.
  [[nodiscard]] link::SubWarp* front(link::Cycle now) const {
    return !slots_.empty() && slots_.front().visible <= now ? slots_.front().sub_warp : nullptr;
  }
  // Nothing becomes visible after this cycle that is not behind something visible.
  [[nodiscard]] bool settled(link::Cycle now) const { return slots_.empty() || slots_.front().visible <= now; }
  // That one alone; those beside it stay.
  void pop() {
    link::SubWarp*& first = slots_.front().sub_warp;
    if (first->beside == nullptr) {
      slots_.pop_front();
      return;
    }
    first = std::exchange(first->beside, nullptr);
  }
  // With those beside it, which stay so.
  void pop_all() { slots_.pop_front(); }
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
