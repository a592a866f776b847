// A stage's input: sub-warps that become visible `latency` cycles after they were handed over. A place of it holds one
// sub-warp, or several whose lanes are disjoint (lanes that execute each an instruction of its own): handed over in one
// cycle, they are one cycle's work for a stage that takes them together (the sub-warp and the ones beside it). A stage
// that works on a single sub-warp in a cycle takes them one after the other.
#pragma once

#include <bit>
#include <cstddef>
#include <utility>
#include <vector>

#include "tlm/cycle.hpp"
#include "tlm/sub_warp.hpp"

namespace heddle::hw {

class Latch {
 public:
  explicit Latch(unsigned latency) : latency_(latency), slots_(std::bit_ceil(latency)), mask_(slots_.size() - 1) {}

  [[nodiscard]] unsigned latency() const { return latency_; }
  [[nodiscard]] bool full() const { return count_ == latency_; }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  // The latch is not full.
  void push(link::SubWarp& sub_warp, link::Cycle now) {
    slots_[(first_ + count_++) & mask_] = {now + latency_, &sub_warp};
  }
  // A sub-warp that has come otherwise, and is visible in a cycle of its own, among the others in their order. The
  // latch is not full.
  void insert(link::SubWarp& sub_warp, link::Cycle visible) {
    std::size_t at = first_ + count_++;
    for (; at != first_ && slots_[(at - 1) & mask_].visible > visible; --at) {
      slots_[at & mask_] = slots_[(at - 1) & mask_];
    }
    slots_[at & mask_] = {visible, &sub_warp};
  }
  // visit(SubWarp&, visible) for each, from the oldest.
  template <class Visit>
  void each(Visit visit) const {
    for (std::size_t i = 0; i != count_; ++i) {
      const Slot& slot = slots_[(first_ + i) & mask_];
      visit(*slot.sub_warp, slot.visible);
    }
  }
  // Into the place of what was handed over in this cycle. False: nothing was, or one of its lanes is taken.
  [[nodiscard]] bool join(link::SubWarp& sub_warp, link::Cycle now) {
    if (count_ == 0 || back().visible != now + latency_) {
      return false;
    }
    link::SubWarp* last = back().sub_warp;
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
    return count_ != 0 && slots_[first_].visible <= now ? slots_[first_].sub_warp : nullptr;
  }
  [[nodiscard]] link::SubWarp& oldest() const { return *slots_[first_].sub_warp; }
  // Nothing becomes visible after this cycle that is not behind something visible.
  [[nodiscard]] bool settled(link::Cycle now) const { return count_ == 0 || slots_[first_].visible <= now; }
  // The oldest sub-warp alone leaves; the ones beside it stay.
  void pop() {
    link::SubWarp*& first = slots_[first_].sub_warp;
    if (first->beside == nullptr) {
      pop_all();
      return;
    }
    first = std::exchange(first->beside, nullptr);
  }
  // The oldest sub-warp leaves with the ones beside it, which stay beside it.
  void pop_all() {
    first_ = (first_ + 1) & mask_;
    --count_;
  }
  void clear() { first_ = count_ = 0; }

 private:
  struct Slot {
    link::Cycle visible = 0;
    link::SubWarp* sub_warp = nullptr;
  };
  [[nodiscard]] const Slot& back() const { return slots_[(first_ + count_ - 1) & mask_]; }

  unsigned latency_;
  std::vector<Slot> slots_;  // a ring: a power of two of them, `latency_` of which are used
  std::size_t mask_;
  std::size_t first_ = 0;
  std::size_t count_ = 0;
};

}  // namespace heddle::hw
