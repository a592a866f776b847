// What other cores have told a core, taken in an order that does not show in which order they were advanced. No SystemC
// module.
//
//   put    cycle t, by any core that has its turn in cycle t
//   take   from cycle t + 1 on: messages of all cycles before, in the order of the cores that they come from;
//          messages of one core in the order in which it sent them
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "hw/core/warps/home_protocol.hpp"
#include "tlm/inbox.hpp"

namespace heddle::hw {

class HomeInbox {
 public:
  [[nodiscard]] bool empty() const { return told_.empty(); }
  void clear() { told_.clear(); }
  void put(Cycle at, HomeMessage message) { told_.put(at, std::move(message)); }

  // Calls use(HomeMessage&) for every message that was put before cycle `now`.
  template <class Use>
  void take(Cycle now, Use use) {
    told_.take(now, [this](HomeMessage&& message, Cycle) { due_.push_back(std::move(message)); });
    std::stable_sort(due_.begin(), due_.end(),
                     [](const HomeMessage& a, const HomeMessage& b) { return a.from < b.from; });
    for (HomeMessage& message : due_) {
      use(message);
    }
    due_.clear();
  }

 private:
  link::Inbox<HomeMessage> told_;
  std::vector<HomeMessage> due_;  // in take(); keeps its room
};

}  // namespace heddle::hw
