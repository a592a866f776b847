// The parameters of relaxed re-fetch (hw/issue/relaxed.cpp).
#pragma once

#include "base/parameter.hpp"

namespace heddle::hw {

struct RelaxedParameters {
  static constexpr const char* kSection = "relaxed";
  static constexpr const char* kMeaning =
      "large warps that are fetched again before all sub-warps have completed (core.issue = relaxed, relaxed-memory)";
  bool diverged_early = false;
  template <class Visitor>
  void describe(Visitor& visit) {
    visit(
        "diverged_early", diverged_early, Limits::any(), "",
        "true: a warp at a conditional branch is fetched again as soon as sub-warps have gone both ways (thesis 4.2.2, "
        "footnote 2: \"we know at that instant that the large warp will diverge ... an optimization could be applied "
        "here to re-fetch the large warp sooner\"); false: when all have completed (\"the default policy\")");
  }
};

}  // namespace heddle::hw
