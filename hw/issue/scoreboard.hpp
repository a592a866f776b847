// The parameters of the scoreboard (hw/issue/scoreboard.cpp).
#pragma once

#include <string>

#include "base/parameter.hpp"
#include "hw/state/group.hpp"

namespace heddle::hw {

struct ScoreboardParameters {
  static constexpr const char* kSection = "scoreboard";
  static constexpr const char* kMeaning =
      "several instructions of a warp in the pipeline (core.issue = scoreboard, control-bits)";
  unsigned entries = 8;
  unsigned refetch = 0;
  bool forwarding = true;
  std::string stall = "on-access";
  bool loads_ahead = false;
  template <class Visitor>
  void describe(Visitor& visit) {
    visit("entries", entries, Limits::between(1, Group::kFlights), "instructions",
          "of one warp in flight at most; with 1 a warp goes on when its instruction has been written back");
    visit("refetch", refetch, Limits::between(0, 64), "cycles",
          "from the decode of an instruction whose next PC is known there until its warp is fetched again, at least "
          "(thesis 2.1.1: GPUs that relax barrel processing \"impose a several-cycle minimum warp re-fetch latency\"; "
          "which one is not said)");
    visit("forwarding", forwarding, Limits::any(), "",
          "true: a result of the functional units can be read in the last cycle of its operation, by way of bypasses "
          "behind the operands' read; false: once it has been written back, as a load's");
    visit(
        "stall", stall, Limits::one_of({"on-access", "on-use"}), "",
        "what a load from memory, a posted store or a long operation keeps its warp from. on-access: from everything, "
        "until it has completed (DWS report, table 3: a core switches when a group accesses the D-cache); on-use: from "
        "the first instruction that reads or writes what it brings (today's GPUs)");
    visit("loads_ahead", loads_ahead, Limits::any(), "",
          "true: the compiler moves loads ahead of what does not need them, within basic blocks and the registers that "
          "leave a core full (core.registers / core.threads); false: code is in the order of the PTX");
  }
};

}  // namespace heddle::hw
