// How a mechanism moves threads from place to place (hw/state/thread_home.hpp): their registers go with them; who they
// are, their block, local memory and retirement hash do not change. By way of GroupMoves::threads().
//
// A thread moves with its group, which is dynamic, has no instruction in flight and does not wait at a barrier: one
// that is ready or parked, or whose instruction completes in this call (Divergence::complete). Anything else is an
// InternalError. The moves take no time; a mechanism that charges for them lets the group run later
// (GroupMoves::run, delay). Other tables of a mechanism that go by place are its own to set right.
#pragma once

#include <optional>

#include "base/error.hpp"
#include "hw/state/group.hpp"

namespace heddle::hw {

class ThreadMoves {
 public:
  virtual ~ThreadMoves() = default;

  // ---- within the core
  // An empty place in this register lane where no block will begin; none: nullopt.
  [[nodiscard]] virtual std::optional<Place> vacant(unsigned lane) const = 0;
  // The thread in `lane` of the group goes to an empty place. It stays in that lane of the group.
  virtual void move(Group& group, unsigned lane, const Place& to) = 0;
  // Two threads, of one group or of two, go to each other's place.
  virtual void exchange(Group& one, unsigned lane, Group& other, unsigned other_lane) = 0;

  // ---- between cores, for mechanisms with Divergence::Traits::changes_cores
  [[nodiscard]] virtual unsigned core() const = 0;   // this core's number
  [[nodiscard]] virtual unsigned cores() const = 0;  // of the GPU
  // The group leaves for another core as soon as the stores of this core have been acknowledged, and is free here.
  // There it begins one cycle later (Divergence::arrived), each thread in the lane of the group that it has here, and
  // with a place in that register lane, which the mechanism knows to be free.
  //
  // Its threads find their stores where it goes if the L1s let them through: what an L1 holds back, or has an old copy
  // of, is the coherence protocol's matter. Their block's scratchpad stays behind.
  virtual void depart(Group& group, unsigned to) = 0;

  // ---- to the global scheduler (hw/gpu/global_scheduler.hpp), for mechanisms with Divergence::Traits::global_pool
  // The group leaves for the global pool, as depart() does for another core. `waits`: its threads have arrived at the
  // barrier that its instruction is, and wait for it there. `places`: so many of the core's, which are register rows,
  // have no thread any more when it has gone.
  virtual void recall(Group& group, bool waits, unsigned places) {
    (void)group;
    (void)waits;
    (void)places;
    throw InternalError("there is no global scheduler");
  }
  // The group's threads have made their last access to the scratchpad, or its last one exits: nothing binds it to this
  // core any more (Group::bound).
  virtual void unbind(Group& group) {
    (void)group;
    throw InternalError("there is no global scheduler");
  }
  // The last threads of a register row have exited: the place is empty.
  virtual void give_place() { throw InternalError("there is no global scheduler"); }
};

}  // namespace heddle::hw
