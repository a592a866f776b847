// The parameters of dynamic warp formation (hw/divergence/dwf.cpp).
#pragma once

#include "base/parameter.hpp"

namespace heddle::hw {

struct DwfParameters {
  static constexpr const char* kSection = "dwf";
  static constexpr const char* kMeaning = "dynamic warp formation (core.divergence = dwf)";
  bool lane_aware = true;
  template <class Visitor>
  void describe(Visitor& visit) {
    visit("lane_aware", lane_aware, Limits::any(), "",
          "a thread keeps its lane, whose register bank is the only one it can read");
  }
};

}  // namespace heddle::hw
