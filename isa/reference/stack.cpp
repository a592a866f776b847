#include "isa/reference/stack.hpp"

namespace heddle::isa::reference {

void Stack::start(LaneMask threads) {
  pc_ = 0;
  active_ = threads;
  entries_.clear();
}

void Stack::pop() {
  pc_ = entries_.back().pc;
  active_ = entries_.back().mask;
  entries_.pop_back();
}

void Stack::go_to(std::uint32_t next) {
  pc_ = next;
  while (!entries_.empty() && pc_ == entries_.back().reconvergence) {
    pop();
  }
}

void Stack::branch(LaneMask taken, std::uint32_t target, std::uint32_t reconvergence) {
  const LaneMask others = active_ & ~taken;
  if (others == 0) {
    go_to(target);
    return;
  }
  if (taken != 0) {
    if (reconvergence != kNoReconvergence) {
      entries_.push_back({reconvergence, reconvergence, active_});
    }
    entries_.push_back({reconvergence, target, taken});
    active_ = others;
  }
  go_to(pc_ + 1);
}

void Stack::exit(LaneMask lanes) {
  active_ &= ~lanes;
  std::size_t kept = 0;
  for (Entry entry : entries_) {
    entry.mask &= ~lanes;
    if (entry.mask != 0) {
      entries_[kept++] = entry;
    }
  }
  entries_.resize(kept);
  if (active_ != 0) {
    go_to(pc_ + 1);
  } else if (!entries_.empty()) {
    pop();
    go_to(pc_);
  }
}

}  // namespace heddle::isa::reference
