// The bounded input of a module, with room decided by credits. No SystemC.
//
//   InputQueue<T>(capacity, lanes)     capacity: entries, of all lanes together
//
// Each lane is first in, first out. An entry takes one place, from the cycle in which it takes a credit until its place
// is released, and each place has one credit (credit-based flow control: Dally and Towles, Principles and Practices of
// Interconnection Networks, 13.3.1). The sender's end holds the credits: whether there is room is decided by them
// alone. A place that is released in a cycle gives its credit back for the next one, so that the answer does not depend
// on whether the receiver has had its turn in that cycle.
//
//   sender's end     has_credit, take_credit, occupied. In the sender's turn; several in a cycle
//   told             enter, keep, settle. By the end of the cycle, from the one end to the other (Clock::tell)
//   receiver's end   admit, front, take, release, pop. In the receiver's turn; admit at most once per cycle
//
// The two ends have nothing in common but what is told, which has the same effect at once and at the cycle's end.
//
// Without a credit one entry can be kept aside: at TLM base-protocol sockets the credit that it lacks travels as its
// END_REQ (or END_RESP), which the receiver sends when it has admitted it. The exclusion rule keeps the sender from
// another one until then. An answer that cannot be refused is forced: it takes a place that the queue does not have.
//
// Errors: InternalError for a second entry while one is kept aside, for a capacity of 0, for a release of a place that
// is not taken.
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
  [[nodiscard]] bool has_credit(Cycle now) const { return occupied(now) < capacity_; }
  // True: a place is the sender's, whose entry is to enter. False: no credit; it is to be kept aside.
  [[nodiscard]] bool take_credit(Cycle now) {
    if (!has_credit(now)) {
      return false;
    }
    ++used_;
    return true;
  }
  // Places in use as the sender knows them: places released in this cycle are still among them.
  [[nodiscard]] std::uint64_t occupied(Cycle now) const {
    return used_ - (returned_at_ == now ? returned_before_ : returned_);
  }

  // ---- told
  // An entry that has taken its credit enters its lane.
  void enter(T value, unsigned lane = 0) {
    lanes_[lane].push(std::move(value));
    ++entered_;
  }
  // What comes is not to enter after all: its credit goes back at once.
  void forgo() { --used_; }
  // One without a credit is kept aside.
  void keep(T value, unsigned lane = 0) {
    if (has_kept_) {
      throw InternalError("an offer to an input queue that keeps one aside");
    }
    kept_ = std::move(value);
    kept_lane_ = lane;
    has_kept_ = true;
  }
  // Whether credits are owed for places that were released, or taken for entries that were forced.
  [[nodiscard]] bool unsettled() const { return returned_ != freed_ - forced_; }
  void settle(Cycle now) {
    if (returned_at_ != now) {
      returned_at_ = now;
      returned_before_ = returned_;
    }
    returned_ = freed_ - forced_;
  }

  // ---- the receiver's end
  // The entry that is kept aside; null: none is.
  [[nodiscard]] T* kept() { return has_kept_ ? &kept_ : nullptr; }
  [[nodiscard]] bool keeps() const { return has_kept_; }
  // Whether what is kept aside has its credit: the sender waits meanwhile.
  [[nodiscard]] bool can_admit(Cycle now) const { return has_kept_ && has_credit(now); }
  // What was kept aside enters its lane.
  T admit() {
    has_kept_ = false;
    ++used_;
    enter(kept_, kept_lane_);
    return std::move(kept_);
  }
  // The cycle in which what is kept aside can be admitted, if its place was released in cycle `now`; else kNever.
  [[nodiscard]] Cycle admits_at(Cycle now) const { return has_kept_ && freed_at_ == now ? now + 1 : kNever; }
  // Whether what is kept aside can be admitted in the cycle after `now`.
  [[nodiscard]] bool will_admit(Cycle now) const {
    return admits_at(now) != kNever && used_ - (freed_ - forced_) < capacity_;
  }
  // Enters its lane whether or not there is a credit.
  void force(T value, unsigned lane = 0) {
    ++forced_;
    enter(std::move(value), lane);
  }

  [[nodiscard]] unsigned lanes() const { return static_cast<unsigned>(lanes_.size()); }
  [[nodiscard]] bool empty(unsigned lane = 0) const { return lanes_[lane].empty(); }
  [[nodiscard]] std::size_t size(unsigned lane = 0) const { return lanes_[lane].size(); }
  [[nodiscard]] const T& front(unsigned lane = 0) const { return lanes_[lane].front(); }
  // Places whose entries have entered and have not been released.
  [[nodiscard]] std::uint64_t held() const { return entered_ - freed_; }
  // The lane's first entry leaves the lane and keeps its place, for a receiver that serves in an order of its own.
  T take(unsigned lane = 0) {
    T value = std::move(lanes_[lane].front());
    lanes_[lane].pop();
    return value;
  }
  // The place of an entry that was taken is free. Its credit goes back by settle().
  void release(Cycle now) {
    if (freed_ == entered_) {
      throw InternalError("an input queue's place was released that nobody has");
    }
    freed_at_ = now;
    ++freed_;
  }
  // Both.
  T pop(Cycle now, unsigned lane = 0) {
    release(now);
    return take(lane);
  }

 private:
  // The sender's end.
  std::uint64_t capacity_;
  std::uint64_t used_ = 0;             // credits ever taken
  std::uint64_t returned_ = 0;         // credits ever given back, less credits of forced entries
  std::uint64_t returned_before_ = 0;  // `returned_` before the cycle returned_at_
  Cycle returned_at_ = kNever;         // the latest cycle in which one was
  // The receiver's end.
  std::vector<Ring<T>> lanes_;
  std::uint64_t entered_ = 0;  // entries ever
  std::uint64_t freed_ = 0;    // places ever released
  std::uint64_t forced_ = 0;   // entries ever that had no credit
  Cycle freed_at_ = kNever;    // the latest cycle in which a place was released
  T kept_{};
  unsigned kept_lane_ = 0;
  bool has_kept_ = false;
};

}  // namespace heddle::link
