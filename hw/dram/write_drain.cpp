#include "hw/dram/write_drain.hpp"

namespace heddle::hw {

// `waiting` does not hold the request yet.
void WriteDrain::admitted(DramRequest& request, const RequestQueue& waiting) {
  if (!enabled()) {
    return;
  }
  ++(request.write ? writes_ : reads_);
  for (DramRequest* other = waiting.last_of(request.location.bank); other; other = other->previous_of_bank) {
    if (other->location == request.location) {
      request.after = other;
      request.after_serial = other->serial;
      break;
    }
  }
  if (!request.write) {
    // What a read waits for goes ahead of the watermark, and so does what that waits for in turn.
    for (DramRequest* step = &request; waits_for_line(*step);) {
      step = step->after;
      step->urgent = true;
    }
  }
  update();
}

void WriteDrain::commit(DramRequest& request) {
  if (!enabled()) {
    return;
  }
  opened_for_[request.location.bank] = &request;
  if (!request.committed) {
    request.committed = true;
    --(request.write ? writes_ : reads_);
    update();
  }
}

void WriteDrain::left(const DramRequest& request) {
  if (!enabled()) {
    return;
  }
  const DramRequest*& opened_for = opened_for_[request.location.bank];
  if (opened_for == &request) {
    opened_for = nullptr;
  }
  if (!request.committed) {
    --(request.write ? writes_ : reads_);
  }
  update();
}

void WriteDrain::update() {
  if (!draining_) {
    draining_ = writes_ >= high_ || (reads_ == 0 && writes_ != 0);
  } else {
    draining_ = writes_ != 0 && (writes_ > low_ || reads_ == 0);
  }
}

}  // namespace heddle::hw
