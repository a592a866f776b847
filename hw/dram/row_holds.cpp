#include "hw/dram/row_holds.hpp"

#include <algorithm>

namespace heddle::hw {

Cycle RowHolds::free_at(const DramRequest& request) const {
  const Hold& hold = banks_[request.location.bank];
  const Cycle bound = bound_ == 0 ? kNever : request.arrival + bound_;
  return hold.claimed ? bound : std::min(bound, hold.until);
}

// Takes a waiting request into account: the hit that the hold is for, or a conflict that it keeps waiting.
void RowHolds::note(Hold& hold, const DramRequest& request, Cycle arrival) {
  if (request.location.row == hold.row) {
    hold.claimed = true;
    if (observer_ != nullptr) {
      observer_->hold_claimed(request.location.bank);
    }
  } else {
    hold.blocked = std::min(hold.blocked, std::max(arrival, hold.data));
  }
}

void RowHolds::admitted(const DramRequest& request, Cycle now) {
  if (active_ == 0) {
    return;
  }
  Hold& hold = banks_[request.location.bank];
  if (hold.active) {
    note(hold, request, now);
  }
}

void RowHolds::starts(const DramRequest& request, Cycle now) {
  if (active_ == 0) {
    return;
  }
  const Hold& hold = banks_[request.location.bank];
  if (hold.active) {
    end(request.location.bank, now, hold.row == request.location.row);
  }
}

void RowHolds::served(const DramRequest& request, Cycle now, const RequestQueue& waiting) {
  if (!enabled_ || !request.row_hint) {
    return;
  }
  const unsigned bank = request.location.bank;
  Hold& hold = banks_[bank];
  hold = {true, false, request.location.row, request.data, request.data + threshold_, kNever};
  ++active_;
  ++statistics_.holds;
  for (const DramRequest& other : waiting) {
    if (other.location.bank == bank) {
      note(hold, other, now);
    }
  }
  next_expiry_ = std::min(next_expiry_, hold.until);
  if (observer_ != nullptr) {
    observer_->hold(bank, now, hold.claimed ? kNever : hold.until);
  }
}

void RowHolds::end(unsigned bank, Cycle at, bool hit) {
  Hold& hold = banks_[bank];
  hold.active = false;
  --active_;
  ++(hit ? statistics_.hits : statistics_.expiries);
  if (hold.blocked < at) {
    statistics_.cycles += at - hold.blocked;
    if (!hit) {
      statistics_.lost_cycles += at - hold.blocked;
    }
  }
  if (observer_ != nullptr) {
    observer_->hold_over(bank, at, hit);
  }
}

void RowHolds::expire(Cycle now) {
  if (next_expiry_ > now) {
    return;
  }
  next_expiry_ = kNever;
  for (unsigned bank = 0; bank != banks_.size(); ++bank) {
    const Hold& hold = banks_[bank];
    if (!hold.active || hold.claimed) {
      continue;
    }
    if (hold.until <= now) {
      end(bank, hold.until, false);
    } else {
      next_expiry_ = std::min(next_expiry_, hold.until);
    }
  }
}

}  // namespace heddle::hw
