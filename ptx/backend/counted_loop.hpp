// A loop whose iterations can be counted: a counter that each iteration changes by a constant, and a test at its end
// that compares it with something which the loop leaves alone.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "ptx/backend/machine_code.hpp"

namespace heddle::ptx::backend {

// The value that a register had at the loop's begin, and a constant.
struct Sum {
  VReg base = kNone;
  std::int64_t offset = 0;
  bool low = false;  // of two words: the lower one of the sum
};

// The integers that an operation compares.
struct Numbers {
  bool wide = false, is_signed = false;
  [[nodiscard]] std::int64_t wrapped(std::int64_t value) const;
  [[nodiscard]] bool holds(isa::Comparison comparison, std::int64_t a, std::int64_t b) const;
};

// When a loop goes round again: while its counter, `ahead` of what it was when the iteration began, compares so with
// the bound.
struct LoopTest {
  std::size_t at = 0;  // the comparison, in a loop of one block
  bool swapped = false;
  Numbers numbers;
  isa::Comparison goes_on = isa::Comparison::ne;
  VReg counter = kNone;
  bool low = false;  // its lower word is compared
  std::int64_t step = 0, ahead = 0;
  VReg bound = kNone;  // kNone: it is `constant`
  std::int64_t constant = 0;
};

class CountedLoop {
 public:
  // `at`: a block that may go to itself.
  CountedLoop(const MachineFunction& function, int at) : CountedLoop(function, {at}, {}) {}
  // `always`: the blocks that each iteration goes through, in its order, of which the last one may go back to the first
  // or leave the loop; `others`: those that it may go through.
  CountedLoop(const MachineFunction& function, std::vector<int> always, std::vector<int> others)
      : function_(function), always_(std::move(always)), others_(std::move(others)) {}

  // False: its iterations cannot be counted. Whether a register is live where the loop begins, and behind it.
  template <class LiveAtBegin, class LiveBehind>
  [[nodiscard]] bool find(LiveAtBegin live_at_begin, LiveBehind live_behind) {
    find_steps();
    std::erase_if(steps_, [&](const auto& entry) { return !live_at_begin(entry.first); });
    const VReg decides = code_.back()->in.guard.reg;
    return !steps_.empty() && decides != kNone && !live_at_begin(decides) && !live_behind(decides) && find_test();
  }

  // The registers that each iteration changes by a constant, and that constant; nothing else writes them in the loop.
  [[nodiscard]] const std::map<VReg, std::int64_t>& steps() const { return steps_; }
  [[nodiscard]] const LoopTest& test() const { return test_; }
  [[nodiscard]] std::uint64_t magnitude() const;  // of the counter's step
  // Iterations, where the counter begins with a constant and ends with one.
  [[nodiscard]] std::optional<std::uint64_t> count(const std::vector<std::vector<int>>& predecessors) const;

  // What an instruction adds a constant to, if that is all that it does; `find` has the sum that a register is.
  template <class Find>
  [[nodiscard]] std::optional<Sum> sum_of(const MachineInstruction& instruction, Find find) const {
    const IrInstruction& in = instruction.in;
    if (guarded(instruction) || in.dst == kNone) return std::nullopt;
    if (instruction.copy) return copies_whole(instruction) ? find(in.b) : std::nullopt;
    if ((in.op != isa::Op::ADD && in.op != isa::Op::ADD64) || !in.immediate || in.a == kNone) return std::nullopt;
    std::optional<Sum> sum = find(in.a);
    if (sum) sum->offset = wrapped(in.dst, sum->offset + static_cast<std::int32_t>(in.imm));
    return sum;
  }
  [[nodiscard]] std::int64_t wrapped(VReg reg, std::int64_t value) const {
    return function_.words(reg) == 2 ? value : static_cast<std::int32_t>(value);
  }

 private:
  [[nodiscard]] const Block& block(int at) const { return function_.blocks[static_cast<std::size_t>(at)]; }
  [[nodiscard]] bool copies_whole(const MachineInstruction& copy) const;
  void find_steps();
  [[nodiscard]] bool find_test();
  [[nodiscard]] bool take_test(std::size_t at, bool goes_on_if);
  [[nodiscard]] bool take_operands(const IrInstruction& in, std::size_t at);
  [[nodiscard]] bool counts() const;
  [[nodiscard]] std::optional<std::int64_t> first_value(VReg reg,
                                                        const std::vector<std::vector<int>>& predecessors) const;
  [[nodiscard]] std::optional<std::int64_t> constant_of(const MachineInstruction& instruction, VReg reg) const;

  const MachineFunction& function_;
  std::vector<int> always_, others_;
  std::vector<const MachineInstruction*> code_;  // of the blocks that each iteration goes through; while it is searched
  std::map<VReg, std::int64_t> steps_;
  std::set<VReg> at_times_;       // written on some ways only
  std::map<VReg, bool> written_;  // in the loop; whether in another way than by a sum
  std::vector<std::pair<std::optional<Sum>, std::optional<Sum>>> operands_;  // of comparisons in `code_`
  LoopTest test_;
};

}  // namespace heddle::ptx::backend
