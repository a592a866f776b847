// What an instruction reads: its guard, and the words and predicates of its threads. One rule for whoever reads
// (read_operands); a source says where each lane's thread has its registers. When that happens, ports of the banks and
// counts are the business of who calls.
//
// The usual source is a register row, lane for lane: whole rows are moved in vectors, or stay where they are.
#pragma once

#include "hw/registers/register_array.hpp"
#include "hw/state/core_state.hpp"
#include "tlm/sub_warp.hpp"

namespace heddle::hw {

// A register row, lane for lane.
class RowOperands {
 public:
  RowOperands(RegisterArray& registers, unsigned row)
      : words_(&registers.word(row, 0)), predicates_(&registers.predicate(row, 0)) {}
  void word(unsigned reg, isa::LaneWord& into) const { isa::vectors::copy(into.data(), words_[reg].data()); }
  [[nodiscard]] LaneMask predicate(unsigned reg) const { return predicates_[reg]; }

 private:
  const isa::LaneWord* const words_;
  const LaneMask* const predicates_;
};

template <class Source>
[[nodiscard]] inline LaneMask read_predicate(const Source& source, isa::Pred pred) {
  const LaneMask value = pred.reg == isa::kPT ? ~LaneMask{0} : source.predicate(pred.reg);
  return pred.negated ? ~value : value;
}

// All but the guard. Lanes that do not execute may read anything.
template <class Source>
[[gnu::always_inline]] inline void read_operands(const link::DecodedInstruction& decoded, const Source& source,
                                                 isa::LaneValues& values) {
  const isa::Instruction& instruction = decoded.instruction;
  const auto words = [&source](unsigned reg, unsigned count, isa::LaneWord* into) __attribute__((always_inline)) {
    for (unsigned word = 0; word < count; ++word) {
      if (reg >= isa::kRZ) {
        isa::vectors::set(into[word].data(), 0);
      } else {
        source.word(reg + word, into[word]);
      }
    }
  };
  words(instruction.a, decoded.a_words, values.a.data());
  if (instruction.immediate) {
    isa::load_immediate(instruction, values);
  } else {
    words(instruction.b, decoded.b_words, values.b.data());
  }
  if ((decoded.c_words | decoded.d_words | decoded.stored_words) != 0) {
    words(instruction.d, decoded.d_words, &values.d);
    words(instruction.c, decoded.c_words, values.c.data());
    words(instruction.dst, decoded.stored_words, values.result.data());
  }
  values.predicate_a = read_predicate(source, decoded.sources.a);
  values.predicate_b = read_predicate(source, decoded.sources.b);
}

// Of a sub-warp, with the guard: which of its lanes execute.
void read_operands(RegisterArray& registers, link::SubWarp& sub_warp);
// The guard as it was recorded (hw/state/replay.hpp), which goes on behind it; operands are not known.
void replay_guard(ReplayRows& replay, link::SubWarp& sub_warp);

// Before there is a sub-warp: those of `lanes`, of a row of the group's mask, whose guard is true. A recorded guard
// stays the next one.
[[nodiscard]] LaneMask guarded(const CoreState& state, RegisterArray& registers, isa::Pred guard, const Group& group,
                               unsigned row, LaneMask lanes);

}  // namespace heddle::hw
