// What the formers that pack a large warp's threads have in common: their parameters.
#pragma once

#include "base/parameter.hpp"
#include "isa/instruction.hpp"

namespace heddle::hw {

struct PackingParameters {
  static constexpr const char* kSection = "packing";
  static constexpr const char* kMeaning = "formers that pack the threads of a large warp (core.former)";
  bool memory_by_rows = true;
  bool branch_once = true;
  template <class Visitor>
  void describe(Visitor& visit) {
    visit("memory_by_rows", memory_by_rows, Limits::any(), "",
          "an access to global memory is formed by rows (LWM report 3.1.2, thesis 4.2.5)");
    visit("branch_once", branch_once, Limits::any(), "",
          "an unconditional branch takes one sub-warp (LWM report 3.1.2, thesis 4.2.4)");
  }
  // branch_once, for SubWarpFormer::forms_one.
  [[nodiscard]] bool forms_one(const isa::Instruction& instruction) const {
    return branch_once && instruction.op == isa::Op::BRA && instruction.guard.always();
  }
};

}  // namespace heddle::hw
