#include "ptx/backend/counted_loop.hpp"

#include <bit>

namespace heddle::ptx::backend {

using isa::Comparison;
using isa::Op;

namespace {

constexpr std::uint64_t kLongestCount = 1U << 16U;
constexpr std::int64_t kLargestStep = 1U << 16U;

// b compared with a instead of a with b.
Comparison mirrored(Comparison comparison) {
  switch (comparison) {
    case Comparison::lt:
      return Comparison::gt;
    case Comparison::le:
      return Comparison::ge;
    case Comparison::gt:
      return Comparison::lt;
    case Comparison::ge:
      return Comparison::le;
    default:
      return comparison;
  }
}

std::optional<Numbers> compared(Op op) {
  switch (op) {
    case Op::SETP_S32:
      return Numbers{false, true};
    case Op::SETP_U32:
      return Numbers{false, false};
    case Op::SETP_S64:
      return Numbers{true, true};
    case Op::SETP_U64:
      return Numbers{true, false};
    default:
      return std::nullopt;
  }
}

}  // namespace

std::int64_t Numbers::wrapped(std::int64_t value) const {
  if (wide) return value;
  return is_signed ? std::int64_t{static_cast<std::int32_t>(value)} : std::int64_t{static_cast<std::uint32_t>(value)};
}

bool Numbers::holds(Comparison comparison, std::int64_t a, std::int64_t b) const {
  const auto less = [this](std::int64_t x, std::int64_t y) {
    return is_signed ? x < y : static_cast<std::uint64_t>(x) < static_cast<std::uint64_t>(y);
  };
  switch (comparison) {
    case Comparison::eq:
      return a == b;
    case Comparison::ne:
      return a != b;
    case Comparison::lt:
      return less(a, b);
    case Comparison::le:
      return !less(b, a);
    case Comparison::gt:
      return less(b, a);
    default:
      return !less(a, b);
  }
}

bool CountedLoop::copies_whole(const MachineInstruction& copy) const {
  const IrInstruction& in = copy.in;
  return in.b != kNone && copy.words <= 2 && copy.words == function_.words(in.dst) &&
         copy.words == function_.words(in.b);
}

void CountedLoop::find_steps() {
  std::map<VReg, std::optional<Sum>> sums;  // of what has been written; nothing: something else
  std::map<VReg, Sum> lows;                 // registers that have the lower word of a sum
  const auto find = [&](VReg reg) -> std::optional<Sum> {
    const auto known = sums.find(reg);
    return known == sums.end() ? Sum{reg, 0} : known->second;
  };
  const auto compared_sum = [&](VReg reg) {
    const auto low = lows.find(reg);
    return low == lows.end() ? find(reg) : std::optional(low->second);
  };
  // What is written on some ways only.
  for (const int other : others_) {
    for (const MachineInstruction& instruction : block(other).code) {
      for_each_definition(function_, instruction, [&](VReg reg, unsigned, unsigned, unsigned) {
        at_times_.insert(reg);
        sums[reg] = std::nullopt;
        written_[reg] = true;
      });
    }
  }
  for (const int always : always_) {
    for (const MachineInstruction& instruction : block(always).code) code_.push_back(&instruction);
  }
  operands_.resize(code_.size());
  for (std::size_t i = 0; i != code_.size(); ++i) {
    const MachineInstruction& instruction = *code_[i];
    if (!instruction.copy && compared(instruction.in.op)) {
      if (instruction.in.a != kNone) operands_[i].first = compared_sum(instruction.in.a);
      if (instruction.in.b != kNone) operands_[i].second = compared_sum(instruction.in.b);
    }
    const std::optional<Sum> sum = sum_of(instruction, find);
    const std::optional<Sum> whole = copies_lower_word(function_, instruction) ? find(instruction.in.b) : std::nullopt;
    for_each_definition(function_, instruction, [&](VReg reg, unsigned, unsigned, unsigned) {
      sums[reg] = at_times_.contains(reg) ? std::nullopt : sum;
      written_[reg] |= !sum;
      lows.erase(reg);
    });
    if (whole && !at_times_.contains(instruction.in.dst)) lows[instruction.in.dst] = {whole->base, whole->offset, true};
  }
  for (const auto& [reg, sum] : sums) {
    if (sum && sum->base == reg && sum->offset != 0 && !written_.at(reg)) steps_[reg] = sum->offset;
  }
}

// The comparison that the branch decides by, which nothing else does.
bool CountedLoop::find_test() {
  const VPred guard = code_.back()->in.guard;
  if (at_times_.contains(guard.reg)) return false;
  for (std::size_t i = code_.size() - 1; i-- != 0;) {
    bool read = false, written = false;
    for_each_use(function_, *code_[i], [&](VReg reg, unsigned, unsigned) { read |= reg == guard.reg; });
    for_each_definition(function_, *code_[i],
                        [&](VReg reg, unsigned, unsigned, unsigned) { written |= reg == guard.reg; });
    if (written) return take_test(i, (block(always_.back()).taken == always_.front()) != guard.negated);
    if (read) return false;
  }
  return false;
}

bool CountedLoop::take_test(std::size_t at, bool goes_on_if) {
  const MachineInstruction& instruction = *code_[at];
  const IrInstruction& in = instruction.in;
  if (instruction.copy || guarded(instruction) || in.mods != 0 || in.pa != VPred{} || in.q != kNone) return false;
  const std::optional<Numbers> numbers = compared(in.op);
  if (!numbers || in.sub > static_cast<std::uint8_t>(Comparison::ge)) return false;
  test_.at = at;
  test_.numbers = *numbers;
  test_.goes_on = static_cast<Comparison>(in.sub);
  if (!goes_on_if) test_.goes_on = opposite(test_.goes_on);
  return take_operands(in, at) && counts();
}

bool CountedLoop::take_operands(const IrInstruction& in, std::size_t at) {
  const auto is_counter = [this](const std::optional<Sum>& sum) { return sum && steps_.contains(sum->base); };
  const auto& [a, b] = operands_[at];
  const bool first = is_counter(a);
  if (first == is_counter(b)) return false;
  const Sum& counter = first ? *a : *b;
  test_.swapped = !first;
  if (!first) test_.goes_on = mirrored(test_.goes_on);
  test_.bound = !first ? in.a : in.immediate ? kNone : in.b;  // kNone: 0, too
  if (first && in.immediate) test_.constant = test_.numbers.wrapped(static_cast<std::int32_t>(in.imm));
  test_.counter = counter.base;
  test_.low = counter.low;
  test_.step = steps_.at(counter.base);
  test_.ahead = counter.offset;
  return test_.bound == kNone || !written_.contains(test_.bound);
}

// The test ends the loop when the counter has come to the bound, or is past it.
bool CountedLoop::counts() const {
  if (test_.ahead != 0 && test_.ahead != test_.step) return false;
  if (test_.step < -kLargestStep || test_.step > kLargestStep) return false;
  switch (test_.goes_on) {
    case Comparison::ne:
      return std::has_single_bit(magnitude());
    case Comparison::lt:
    case Comparison::le:
      return test_.step > 0;
    case Comparison::gt:
    case Comparison::ge:
      return test_.step < 0;
    default:
      return false;
  }
}

std::uint64_t CountedLoop::magnitude() const {
  return static_cast<std::uint64_t>(test_.step < 0 ? -test_.step : test_.step);
}

std::optional<std::uint64_t> CountedLoop::count(const std::vector<std::vector<int>>& predecessors) const {
  if (test_.bound != kNone) return std::nullopt;
  const std::optional<std::int64_t> first = first_value(test_.counter, predecessors);
  if (!first) return std::nullopt;
  std::int64_t value = *first + test_.ahead;
  for (std::uint64_t count = 1; count <= kLongestCount; ++count) {
    value = test_.numbers.wrapped(value);
    if (!test_.numbers.holds(test_.goes_on, value, test_.constant)) return count;
    value += test_.step;
  }
  return std::nullopt;
}

// What the register has where the loop begins, if only one way leads there from where it is written.
std::optional<std::int64_t> CountedLoop::first_value(VReg reg,
                                                     const std::vector<std::vector<int>>& predecessors) const {
  constexpr int kFarthest = 8;
  const int begin = always_.front();
  int at = begin;
  for (int steps = 0; steps != kFarthest; ++steps) {
    int from = kNoBlock;
    for (const int one : predecessors[static_cast<std::size_t>(at)]) {
      if (at == begin && one == always_.back()) continue;
      if (from != kNoBlock) return std::nullopt;
      from = one;
    }
    if (from == kNoBlock || from == begin) return std::nullopt;
    const std::vector<MachineInstruction>& code = function_.blocks[static_cast<std::size_t>(from)].code;
    for (std::size_t i = code.size(); i-- != 0;) {
      bool found = false;
      for_each_definition(function_, code[i], [&](VReg one, unsigned, unsigned, unsigned) { found |= one == reg; });
      if (found) return constant_of(code[i], reg);
    }
    at = from;
  }
  return std::nullopt;
}

std::optional<std::int64_t> CountedLoop::constant_of(const MachineInstruction& instruction, VReg reg) const {
  const IrInstruction& in = instruction.in;
  if (guarded(instruction) || in.a != kNone || in.b != kNone) return std::nullopt;
  const auto value = static_cast<std::int32_t>(in.imm);
  if (instruction.copy && instruction.words == 1 && function_.words(reg) == 1) return value;
  if (!instruction.copy && in.immediate && (in.op == Op::MOV || in.op == Op::MOV64)) return value;
  return std::nullopt;
}

}  // namespace heddle::ptx::backend
