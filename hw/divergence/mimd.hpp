// The parameters of lanes that execute each an instruction of its own (hw/divergence/mimd.cpp).
#pragma once

#include <string>

#include "base/parameter.hpp"

namespace heddle::hw {

struct MimdParameters {
  static constexpr const char* kSection = "mimd";
  static constexpr const char* kMeaning =
      "lanes that fetch, decode and execute each for themselves (core.divergence = mimd)";
  bool step = true;
  std::string lanes = "own";
  template <class Visitor>
  void describe(Visitor& visit) {
    visit("step", step, Limits::any(), "",
          "the threads of a warp go on together, when the instructions of all of them have completed (LW+, warp-size "
          "study 4.2 and 6.3); false: each for itself, and the lanes take threads of any warps (MIMD, ODGS paper 2.3)");
    visit(
        "lanes", lanes, Limits::one_of({"own", "any"}), "",
        "without the step: own, a thread is executed in the lane that it began in; any, in any lane that is free (ODGS "
        "paper 3.2: the pipelines \"are allowed to execute different instructions at the same time\"; its simulator "
        "takes any ready threads of the core)");
  }
};

}  // namespace heddle::hw
