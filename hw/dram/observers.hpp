// Several observers of one memory channel: every event goes to each, in the order in which they were added.
#pragma once

#include <vector>

#include "hw/dram/timing.hpp"

namespace heddle::hw {

class DramObservers final : public DramObserver {
 public:
  // Observers outlive this.
  void add(DramObserver& observer) { observers_.push_back(&observer); }
  // What to hand to DramController::observe: null without observers, the observer itself where there is only one.
  [[nodiscard]] DramObserver* get() {
    return observers_.empty() ? nullptr : observers_.size() == 1 ? observers_.front() : this;
  }

  void access(const DramRequest& request, Cycle now) override {
    for (DramObserver* const observer : observers_) {
      observer->access(request, now);
    }
  }
  void command(const DramCommand& command) override {
    for (DramObserver* const observer : observers_) {
      observer->command(command);
    }
  }
  void hold(unsigned bank, Cycle begin, Cycle until) override {
    for (DramObserver* const observer : observers_) {
      observer->hold(bank, begin, until);
    }
  }
  void hold_over(unsigned bank, Cycle at, bool hit) override {
    for (DramObserver* const observer : observers_) {
      observer->hold_over(bank, at, hit);
    }
  }
  void hold_claimed(unsigned bank) override {
    for (DramObserver* const observer : observers_) {
      observer->hold_claimed(bank);
    }
  }
  void waiting(std::size_t requests) override {
    for (DramObserver* const observer : observers_) {
      observer->waiting(requests);
    }
  }
  void transfer(Cycle begin, Cycle end) override {
    for (DramObserver* const observer : observers_) {
      observer->transfer(begin, end);
    }
  }

 private:
  std::vector<DramObserver*> observers_;
};

}  // namespace heddle::hw
