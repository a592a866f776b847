// The parameters of lanes that execute each an instruction of its own (hw/divergence/mimd.cpp).
#pragma once

#include "base/parameter.hpp"

namespace heddle::hw {

struct MimdParameters {
  static constexpr const char* kSection = "mimd";
  static constexpr const char* kMeaning =
      "lanes that fetch, decode and execute each for themselves (core.divergence = mimd)";
  bool step = true;
  template <class Visitor>
  void describe(Visitor& visit) {
    visit("step", step, Limits::any(), "",
          "the threads of a warp go on together, when the instructions of all of them have completed (LW+, warp-size "
          "study 4.2 and 6.3); false: each for itself, and the lanes take threads of any warps (MIMD, ODGS paper 2.3)");
  }
};

}  // namespace heddle::hw
