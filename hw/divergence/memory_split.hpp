// The parameters of warps that part on memory divergence (hw/divergence/memory_split.cpp).
#pragma once

#include <string>

#include "base/parameter.hpp"

namespace heddle::hw {

struct MemorySplitParameters {
  static constexpr const char* kSection = "memory_split";
  static constexpr const char* kMeaning =
      "warps that part where an access hits in some lanes and misses in others (core.divergence = memory-split)";
  std::string when = "revive";
  unsigned entries = 16;
  template <class Visitor>
  void describe(Visitor& visit) {
    visit("when", when, Limits::one_of({"always", "idle", "revive"}), "",
          "which accesses part a warp: all that divide it; those while all others wait for memory; and, besides, "
          "waiting ones when the core has nothing to do (DWS report 5.2)");
    visit("entries", entries, Limits::between(2, 1024), "entries",
          "of the core's warp-split table, one for each split (DWS report 5.6)");
  }
};

}  // namespace heddle::hw
