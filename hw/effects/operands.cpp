#include "hw/effects/operands.hpp"

#include "base/set_bits.hpp"
#include "isa/lane_vectors.hpp"

namespace heddle::hw {

namespace {

// The rows of a sub-warp that has several, or threads in other lanes than their own. Zero in lanes without a thread.
class SubWarpOperands {
 public:
  SubWarpOperands(RegisterArray& registers, const link::SubWarp& sub_warp)
      : registers_(registers), sub_warp_(sub_warp) {}

  // Called for each word of each operand: in line, read_operands() would be thousands of instructions.
  [[gnu::noinline]] void word(unsigned reg, isa::LaneWord& into) const {
    if (sub_warp_.row_count != 0) {
      const auto part = [&](unsigned index, LaneMask& lanes) {
        const link::RowLanes& row = sub_warp_.rows[index];
        lanes = row.lanes & sub_warp_.lanes;
        return registers_.word(row.row, reg).data();
      };
      isa::vectors::gather(sub_warp_.row_count, part, into.data());
    } else if (sub_warp_.displaced) {
      into.fill(0);
      for (const unsigned lane : set_bits(sub_warp_.lanes)) {
        into[lane] = registers_.word(sub_warp_.row[lane], reg)[sub_warp_.home[lane]];
      }
    } else {
      registers_.gather(sub_warp_.row, sub_warp_.lanes, reg, into);
    }
  }
  [[nodiscard]] LaneMask predicate(unsigned reg) const {
    LaneMask value = 0;
    for (unsigned index = 0; index != sub_warp_.row_count; ++index) {
      const link::RowLanes& row = sub_warp_.rows[index];
      value |= registers_.predicate(row.row, reg) & row.lanes & sub_warp_.lanes;
    }
    for (const unsigned lane : set_bits(sub_warp_.row_count != 0 ? 0 : sub_warp_.lanes)) {
      value |= ((registers_.predicate(sub_warp_.row[lane], reg) >> sub_warp_.home_of(lane)) & 1U) << lane;
    }
    return value;
  }

 private:
  RegisterArray& registers_;
  const link::SubWarp& sub_warp_;
};

void executes(link::SubWarp& sub_warp, LaneMask lanes) {
  sub_warp.executing = sub_warp.values.active = lanes;
  sub_warp.values.fault = 0;
}

template <class Source>
void read_sub_warp(const Source& source, link::SubWarp& sub_warp) {
  read_operands(*sub_warp.decoded, source, sub_warp.values);
  executes(sub_warp, sub_warp.lanes & read_predicate(source, sub_warp.decoded->instruction.guard));
}

}  // namespace

void read_operands(RegisterArray& registers, link::SubWarp& sub_warp) {
  if (sub_warp.uniform) {
    read_sub_warp(RowOperands(registers, sub_warp.first_row), sub_warp);
  } else {
    read_sub_warp(SubWarpOperands(registers, sub_warp), sub_warp);
  }
}

void replay_guard(ReplayRows& replay, link::SubWarp& sub_warp) {
  LaneMask executing = sub_warp.lanes;
  if (!sub_warp.decoded->instruction.guard.always()) {
    for (const unsigned lane : set_bits(sub_warp.lanes)) {
      const bool true_guard = replay.take_bit(sub_warp.row_of(lane), sub_warp.home_of(lane));
      executing &= ~(LaneMask{!true_guard} << lane);
    }
  }
  executes(sub_warp, executing);
}

LaneMask guarded(const CoreState& state, RegisterArray& registers, isa::Pred guard, const Group& group, unsigned row,
                 LaneMask lanes) {
  LaneMask value = 0;
  if (state.replay != nullptr) {
    for (const unsigned lane : set_bits(lanes)) {
      value |= LaneMask{state.replay->peek_bit(group.row_of(row, lane), group.home_of(lane))} << lane;
    }
    return value;
  }
  if (guard.reg == isa::kPT) {
    value = lanes;
  } else if (!group.dynamic) {
    value = registers.predicate(group.first_row + row, guard.reg);
  } else {
    for (const unsigned lane : set_bits(lanes)) {
      value |= ((registers.predicate(group.lane_row[lane], guard.reg) >> group.home_of(lane)) & 1U) << lane;
    }
  }
  return (guard.negated ? ~value : value) & lanes;
}

}  // namespace heddle::hw
