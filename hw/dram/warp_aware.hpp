// The parameters of warp-aware memory scheduling (hw/dram/warp_aware.cpp).
#pragma once

#include <string>

#include "base/parameter.hpp"

namespace heddle::hw {

struct WarpAwareParameters {
  static constexpr const char* kSection = "warp_aware";
  static constexpr const char* kMeaning = "warp-aware memory scheduling (dram.scheduler = warp-aware)";
  std::string first = "row-hits";
  template <class Visitor>
  void describe(Visitor& visit) {
    visit("first", first, Limits::one_of({"row-hits", "warps"}), "",
          "row-hits: a bank's row hits go before conflicts, each in the order of their warps; warps: requests of the "
          "warp with the fewest waiting misses go first, of one warp row hits before conflicts (thesis 9.2.4 leaves "
          "it open)");
  }
};

}  // namespace heddle::hw
