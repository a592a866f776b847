// For tests: whether two modules touch one thing in one cycle. Within a cycle modules have their turns in any order, or
// at once (tlm/calendar/calendar.hpp), so that what can change may be looked at and changed within one turn only, and
// goes to another module between cycles.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "tlm/cycle.hpp"

namespace heddle::link {

class TurnCheck {
 public:
  // The module `by` has its turn in cycle `now` and touches something. Throws InternalError when another one has in the
  // same cycle.
  void touch(const void* thing, std::string_view what, std::string_view by, Cycle now) {
    Touched& latest = touched_[thing];
    if (latest.cycle == now && latest.by != by) {
      throw InternalError(std::string(latest.by) + " and " + std::string(by) + " both touch " + std::string(what) +
                          " in cycle " + std::to_string(now));
    }
    latest = {now, by};
    ++touches_;
  }
  [[nodiscard]] std::uint64_t touches() const { return touches_; }

 private:
  struct Touched {
    Cycle cycle = kNever;
    std::string_view by;
  };
  std::map<const void*, Touched> touched_;  // looked up, never gone through
  std::uint64_t touches_ = 0;
};

}  // namespace heddle::link
