// The usual instruction of the usual warp: the threads are in a register row of their own, lane for lane, all of one
// home; and it only computes registers from registers, or is a branch. All its effects, from the former's to
// write-back's with the counts of each, happen at once where the threads' registers are: no sub-warp is filled in, of
// which the same operands, results and hashes would be two kilobytes. What becomes of the group then is not looked at
// here.
#pragma once

#include <bit>

#include "hw/effects/commit.hpp"
#include "hw/effects/form.hpp"
#include "hw/effects/operands.hpp"
#include "hw/registers/bank_counters.hpp"

namespace heddle::hw {

class OwnRow {
 public:
  explicit OwnRow(CoreState& state) : state_(state) {}

  // Whether an instruction is of the kind that this class performs.
  [[nodiscard]] static bool has(const link::DecodedInstruction& decoded) {
    return decoded.plain || decoded.instruction.op == isa::Op::BRA;
  }
  // Whose the threads of the group's one row are; null: they are not as said above.
  [[nodiscard]] const ThreadHome* home_of(const Group& group) const {
    return !group.dynamic || group.aligned ? state_.rows[group.first_row].whole() : nullptr;
  }
  // The instruction of the group that `sub_warp` stands for, up to the end of its operation; `read`: the cycle in which
  // its operands were read. Returns the threads that have executed it.
  Formation::Row compute(RegisterArray& registers, BankCounters& banks, const link::SubWarp& sub_warp, Group& group,
                         Cycle read) {
    const link::DecodedInstruction& decoded = *sub_warp.decoded;
    const Formation::Row threads = Formation::of_row(state_, registers, decoded, group);
    if constexpr (kCheckInvariants) {
      state_.invariants.passed(sub_warp.pc, group.first_row, threads.lanes, read, sub_warp.done > 1);
    }
    group.decoded = &decoded;
    InFlight& flight = group.flight();
    flight.formed = 1;
    flight.all_formed = true;
    banks.reads.add(threads.lanes, decoded.operand_words);
    if (threads.executing != 0 && decoded.function != nullptr) {
      read_operands(decoded, RowOperands(registers, group.first_row), values_);
      values_.active = threads.executing;
      values_.fault = 0;
      decoded.function(decoded.instruction, values_);
    }
    count_units(state_, working(decoded, threads));
    return threads;
  }
  // What has been computed.
  void commit(RegisterArray& registers, BankCounters& banks, const link::SubWarp& sub_warp, Group& group,
              const ThreadHome& home, const Formation::Row& threads, Retirement& retirement) {
    static constexpr isa::LaneWord kNoAddress{};
    const link::DecodedInstruction& decoded = *sub_warp.decoded;
    if (threads.executing != 0) {
      if (has_results(decoded)) {
        banks.writes.add(threads.lanes, decoded.form.words);
      }
      registers.write_row(group.first_row, decoded.form, values_, threads.executing);
      fold(home, decoded, sub_warp.pc, threads.executing, values_, kNoAddress);
    }
    retirement.count(decoded, working(decoded, threads));
    InFlight& flight = group.flight();
    flight.completed = 1;
    flight.released = true;
  }

 private:
  // The lanes in which functional units work, as working_lanes() of its sub-warp.
  [[nodiscard]] static unsigned working(const link::DecodedInstruction& decoded, const Formation::Row& row) {
    return static_cast<unsigned>(std::popcount(decoded.instruction.op == isa::Op::BRA ? row.lanes : row.executing));
  }

  CoreState& state_;
  isa::LaneValues values_;  // of the instruction at hand
};

}  // namespace heddle::hw
