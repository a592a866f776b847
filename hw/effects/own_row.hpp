// The usual instruction of the usual warp: the threads are in a register row of their own, lane for lane, all of one
// home; and it only computes registers from registers, or is a branch. All its effects happen where the threads'
// registers are: no sub-warp is filled in, of which the same operands, results and hashes would be two kilobytes.
#pragma once

#include <bit>

#include "hw/effects/commit.hpp"
#include "hw/effects/form.hpp"
#include "hw/effects/operands.hpp"

namespace heddle::hw {

class OwnRow {
 public:
  OwnRow(CoreState& state, RegisterArray& registers) : state_(state), registers_(registers) {}

  // Whose threads they are; null: it is another instruction, or another group.
  [[nodiscard]] const ThreadHome* home_of(const link::DecodedInstruction& decoded, const Group& group) const {
    const bool in_one_row = !group.dynamic || group.aligned;
    return in_one_row && (decoded.plain || decoded.instruction.op == isa::Op::BRA)
               ? state_.rows[group.first_row].whole()
               : nullptr;
  }
  // The lanes in which functional units work, as working_lanes() of its sub-warp.
  [[nodiscard]] static unsigned working(const link::DecodedInstruction& decoded, const Formation::Row& row) {
    return static_cast<unsigned>(std::popcount(decoded.instruction.op == isa::Op::BRA ? row.lanes : row.executing));
  }
  // Reads the operands and computes.
  void compute(const link::DecodedInstruction& decoded, unsigned row, LaneMask executing) {
    if (executing != 0 && decoded.function != nullptr) {
      read_operands(decoded, RowOperands(registers_, row), values_);
      values_.active = executing;
      values_.fault = 0;
      decoded.function(decoded.instruction, values_);
    }
  }
  // What has been computed.
  void commit(const link::DecodedInstruction& decoded, std::uint32_t pc, const ThreadHome& home, unsigned row,
              LaneMask executing) {
    static constexpr isa::LaneWord kNoAddress{};
    if (executing != 0) {
      registers_.write_row(row, decoded.form, values_, executing);
      fold(home, decoded, pc, executing, values_, kNoAddress);
    }
  }

 private:
  CoreState& state_;
  RegisterArray& registers_;
  isa::LaneValues values_;  // of the instruction at hand
};

}  // namespace heddle::hw
