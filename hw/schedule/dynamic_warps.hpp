// The parameters of the schedulers for dynamic warps (hw/schedule/dynamic_warps.cpp).
#pragma once

#include <string>

#include "base/parameter.hpp"

namespace heddle::hw {

struct MajorityParameters {
  static constexpr const char* kSection = "majority";
  static constexpr const char* kMeaning = "the PC of the majority (core.scheduler = majority)";
  std::string counts = "threads";
  template <class Visitor>
  void describe(Visitor& visit) {
    visit("counts", counts, Limits::one_of({"threads", "warps"}), "",
          "what the majority is of. threads: the PC at which most of them stand, so that full warps weigh more than "
          "parts (own choice); warps: \"the most common PC among all warps in the warp pool\", to the letter (thesis "
          "3.2.1)");
  }
};

}  // namespace heddle::hw
