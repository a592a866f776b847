// The parameters of convergence barriers with independent thread scheduling (hw/divergence/barriers.cpp).
#pragma once

#include <string>

#include "base/parameter.hpp"

namespace heddle::hw {

struct BarriersParameters {
  static constexpr const char* kSection = "barriers";
  static constexpr const char* kMeaning =
      "convergence barriers and independent thread scheduling (core.divergence = barriers)";
  unsigned registers = 16;
  unsigned move_cycles = 4;
  unsigned yield_after = 4;
  std::string first = "fall-through";
  template <class Visitor>
  void describe(Visitor& visit) {
    visit("registers", registers, Limits::between(1, 64), "barriers",
          "of a warp that its barrier registers hold; the one that was set first makes room for another");
    visit("move_cycles", move_cycles, Limits::between(0, 1000), "cycles",
          "that a warp waits for each barrier which is put into registers of its threads or comes back");
    visit("yield_after", yield_after, Limits::between(1, 1'000'000), "rounds",
          "of a loop that ends by what other threads write, in which no thread of the warp gets on: then those that go "
          "round let others run. 1: in every round, as an instruction YIELD in the loop would");
    visit("first", first, Limits::one_of({"fall-through", "taken"}), "",
          "which path of a branch that parts threads is first; one that begins where the paths meet waits");
  }
};

}  // namespace heddle::hw
