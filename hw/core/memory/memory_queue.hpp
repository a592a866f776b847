// The memory queue of a sub-core and the address unit behind it (lsu.queue): accesses on their way from fetch to the
// load-store unit that the core's sub-cores share (hw/core/share/access_slots.hpp). As NVIDIA's GPUs have it
// ("Dissecting and Modeling the Architecture of Modern GPU Cores", MICRO 2025, section 5.4 and table 1): five accesses
// are issued one behind the other, the sixth when the first has left. Plain C++.
//
//   places    lsu.queue. An instruction has one from fetch on (reserve). Further sub-warps of it take further places;
//             one that finds none stays where it is (arrives)
//   order     of arrival
//   address   the unit has the first access to itself for lsu.address_cycles, and turns to the next one when the
//             load-store unit has taken that
//   leaves    an access that has been addressed, in a cycle that the load-store unit gives it (may_leave)
#pragma once

#include "hw/core/share/access_slots.hpp"
#include "hw/parameters/on_chip.hpp"
#include "isa/instruction.hpp"
#include "tlm/cycle.hpp"
#include "tlm/ring.hpp"
#include "tlm/sub_warp.hpp"

namespace heddle::hw {

class MemoryQueue {
 public:
  explicit MemoryQueue(const LoadStoreParameters& lsu) : places_(lsu.queue), address_cycles_(lsu.address_cycles) {}
  // False: the machine has none, and nothing else is asked.
  [[nodiscard]] bool exists() const { return places_ != 0; }

  // The instruction goes by it. Constants and parameters are read beside the load-store unit, and a fence waits for
  // what has left it.
  [[nodiscard]] static bool takes(const isa::Instruction& instruction) {
    const isa::Op op = instruction.op;
    if (isa::info(op).unit != isa::Unit::memory || op == isa::Op::MEMBAR) {
      return false;
    }
    return isa::is_texture(op) || (isa::space_of(op) != isa::Space::constant && isa::space_of(op) != isa::Space::param);
  }

  // ---- fetch
  [[nodiscard]] bool has_place() const { return taken() < places_; }
  void reserve() { ++coming_; }

  // ---- the memory stage
  // A sub-warp of an instruction that has a place comes. False: there is no room for it yet, beside what the
  // instructions behind it have reserved.
  [[nodiscard]] bool arrives(link::SubWarp& sub_warp, link::Cycle now) {
    if (taken() > places_) {
      return false;
    }
    if (waiting_.empty()) {
      addressed_at_ = now + address_cycles_;
    }
    waiting_.push(&sub_warp);
    needs_none(sub_warp);
    return true;
  }
  // It accesses nothing, or has arrived: with the instruction's last one, what it had reserved is free.
  void needs_none(const link::SubWarp& sub_warp) { coming_ -= sub_warp.last ? 1 : 0; }
  [[nodiscard]] bool empty() const { return waiting_.empty(); }
  [[nodiscard]] link::SubWarp& first() const { return *waiting_.front(); }
  // The first one has been addressed, and the load-store unit takes it in this cycle, or would have before.
  [[nodiscard]] bool may_leave(link::Cycle now, AccessSlots& slots) {
    if (now < addressed_at_) {
      return false;
    }
    if (slot_ == link::kNever) {
      slot_ = slots.claim(now);
    }
    return now >= slot_;
  }
  // The cycle before which the first one does not leave, nor ask the load-store unit.
  [[nodiscard]] link::Cycle next() const { return slot_ != link::kNever ? slot_ : addressed_at_; }
  void leaves(link::Cycle now) {
    waiting_.pop();
    slot_ = link::kNever;
    addressed_at_ = now + address_cycles_;
  }
  // visit(SubWarp&) for each that has arrived, in their order.
  template <class Visit>
  void each(Visit visit) const {
    for (std::size_t i = 0; i != waiting_.size(); ++i) {
      visit(*waiting_[i]);
    }
  }
  // One more than there are places while an instruction of several sub-warps arrives.
  [[nodiscard]] unsigned taken() const { return coming_ + static_cast<unsigned>(waiting_.size()); }
  void reset() {
    waiting_.clear();
    coming_ = 0;
    slot_ = link::kNever;
  }

 private:
  const unsigned places_;
  const unsigned address_cycles_;
  link::Ring<link::SubWarp*> waiting_;  // have arrived; the address unit has the first
  unsigned coming_ = 0;                 // instructions, not all of whose sub-warps have arrived
  link::Cycle addressed_at_ = 0;        // the first one leaves in this cycle at the earliest
  link::Cycle slot_ = link::kNever;     // when the load-store unit takes it; kNever: that has not been asked
};

}  // namespace heddle::hw
