// The parameters of the scoreboard (hw/issue/scoreboard.cpp).
#pragma once

#include "base/parameter.hpp"
#include "hw/state/group.hpp"

namespace heddle::hw {

struct ScoreboardParameters {
  static constexpr const char* kSection = "scoreboard";
  static constexpr const char* kMeaning = "several instructions of a warp in the pipeline (core.issue = scoreboard)";
  unsigned entries = 8;
  bool forwarding = true;
  template <class Visitor>
  void describe(Visitor& visit) {
    visit("entries", entries, Limits::between(1, Group::kFlights), "instructions",
          "of one warp in flight at most; with 1 a warp goes on when its instruction has been written back");
    visit("forwarding", forwarding, Limits::any(), "",
          "true: a result of the functional units can be read in the last cycle of its operation, by way of bypasses "
          "behind the operands' read; false: once it has been written back, as a load's");
  }
};

}  // namespace heddle::hw
