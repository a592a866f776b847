// The bounded input of a module, with room decided by credits. No SystemC.
//
//   InputQueue<T>(capacity, lanes)     capacity: entries, of all lanes together
//
// Each lane is first in, first out. An entry takes one place, from the cycle of its offer until its place is released,
// and each place has one credit (credit-based flow control: Dally and Towles, Principles and Practices of
// Interconnection Networks, 13.3.1). The sender's end holds the credits: an offer is decided by them alone. A place
// that is released in a cycle gives its credit back for the next, so that the answer to an offer does not depend on
// whether the receiver has had its turn in that cycle.
//
//   sender's end     has_credit, offer, force. Several offers may be made in a cycle, in any order with the receiver's
//                    turn
//   receiver's end   admit, front, take, release, pop. In the receiver's turn, at most one per cycle
//
// Without a credit one offer can be kept aside: at TLM base-protocol sockets the credit that it lacks travels as its
// END_REQ (or END_RESP), which the receiver sends when it has admitted it. The exclusion rule keeps the sender from
// another offer until then. An answer that cannot be refused is forced: it takes a place that the queue does not have.
//
// Errors: InternalError for a second offer while one is kept aside, for a capacity of 0, for a release of a place that
// nobody has. `now` never goes back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "tlm/cycle.hpp"
#include "tlm/ring.hpp"

namespace heddle::link {

template <class T>
class InputQueue {
 public:
  explicit InputQueue(unsigned capacity, unsigned lanes = 1) : capacity_(capacity), lanes_(lanes) {
    if (capacity == 0 || lanes == 0) {
      throw InternalError("an input queue has at least one place and one lane");
    }
  }

  // ---- the sender's end
  // Whether an offer in this cycle would be taken.
  [[nodiscard]] bool has_credit(Cycle now) const { return occupied(now) < capacity_; }
  // True: it has entered its lane. False: no credit; it is kept aside.
  [[nodiscard]] bool offer(T value, Cycle now, unsigned lane = 0) {
    if (has_kept_) {
      throw InternalError("an offer to an input queue that keeps one aside");
    }
    if (!has_credit(now)) {
      kept_ = std::move(value);
      kept_lane_ = lane;
      has_kept_ = true;
      return false;
    }
    enter(std::move(value), lane);
    return true;
  }
  // Enters its lane whether or not there is a credit.
  void force(T value, unsigned lane = 0) { enter(std::move(value), lane); }
  // Places in use as the sender knows them: those released in this cycle are still among them.
  [[nodiscard]] std::uint64_t occupied(Cycle now) const { return used_ - (freed_at_ == now ? freed_before_ : freed_); }

  // ---- the receiver's end
  // The offer that is kept aside; null: none is.
  [[nodiscard]] T* kept() { return has_kept_ ? &kept_ : nullptr; }
  [[nodiscard]] bool keeps() const { return has_kept_; }
  // Whether what is kept aside has its credit in this cycle. To be asked before anything is released in it.
  [[nodiscard]] bool can_admit(Cycle now) const { return has_kept_ && has_credit(now); }
  // It enters its lane.
  T admit() {
    has_kept_ = false;
    enter(kept_, kept_lane_);
    return std::move(kept_);
  }
  // The cycle in which what is kept aside can be admitted, if its place was released in this one; else kNever.
  [[nodiscard]] Cycle admits_at(Cycle now) const { return has_kept_ && freed_at_ == now ? now + 1 : kNever; }

  [[nodiscard]] unsigned lanes() const { return static_cast<unsigned>(lanes_.size()); }
  [[nodiscard]] bool empty(unsigned lane = 0) const { return lanes_[lane].empty(); }
  [[nodiscard]] std::size_t size(unsigned lane = 0) const { return lanes_[lane].size(); }
  [[nodiscard]] const T& front(unsigned lane = 0) const { return lanes_[lane].front(); }
  // Places whose entries have not been released.
  [[nodiscard]] std::uint64_t held() const { return used_ - freed_; }
  // The lane's first entry leaves the lane and keeps its place, for a receiver that serves in an order of its own.
  T take(unsigned lane = 0) {
    T value = std::move(lanes_[lane].front());
    lanes_[lane].pop();
    return value;
  }
  // The place of an entry that was taken is free.
  void release(Cycle now) {
    if (freed_ == used_) {
      throw InternalError("an input queue's place was released that nobody has");
    }
    if (freed_at_ != now) {
      freed_at_ = now;
      freed_before_ = freed_;
    }
    ++freed_;
  }
  // Both.
  T pop(Cycle now, unsigned lane = 0) {
    release(now);
    return take(lane);
  }

 private:
  void enter(T value, unsigned lane) {
    lanes_[lane].push(std::move(value));
    ++used_;
  }

  std::uint64_t capacity_;
  std::vector<Ring<T>> lanes_;
  std::uint64_t used_ = 0;          // places ever used; the sender's end counts
  std::uint64_t freed_ = 0;         // places ever released; the receiver's end counts
  std::uint64_t freed_before_ = 0;  // of those, before the cycle freed_at_
  Cycle freed_at_ = kNever;         // the latest cycle in which one was
  T kept_{};
  unsigned kept_lane_ = 0;
  bool has_kept_ = false;
};

}  // namespace heddle::link
