#include "ptx/backend/loop_body.hpp"

#include <algorithm>

namespace heddle::ptx::backend {

using isa::Op;

namespace {

template <class Named>
void rename(MachineInstruction& instruction, Named named) {
  const auto change = [&](VReg& reg) {
    if (reg != kNone) reg = named(reg);
  };
  for_each_use_field(instruction, change);
  for_each_definition_field(instruction, change);
}

}  // namespace

MachineInstruction make_sum(const MachineFunction& function, VReg to, VReg from, std::int64_t offset,
                            const Position& at) {
  if (offset == 0) return make_copy(to, 0, from, 0, function.words(to), {}, at);
  MachineInstruction sum;
  sum.in.op = function.words(to) == 2 ? Op::ADD64 : Op::ADD;
  sum.in.dst = to;
  sum.in.a = from;
  sum.in.immediate = true;
  sum.in.imm = static_cast<std::uint32_t>(offset);
  sum.in.at = at;
  return sum;
}

LoopBody::LoopBody(MachineFunction& function, int at, int exit, const LiveEverywhere& live)
    : function_(function),
      at_(at),
      counted_(function, at),
      live_(live.general),
      live_bits_(live.predicates),
      live_behind_(live.general),
      bits_behind_(live.predicates) {
  live.words.enter(static_cast<std::size_t>(at), live_);
  live.bits.enter(static_cast<std::size_t>(at), live_bits_);
  live.words.enter(static_cast<std::size_t>(exit), live_behind_);
  live.bits.enter(static_cast<std::size_t>(exit), bits_behind_);
}

std::size_t LoopBody::instructions() const {
  std::size_t count = 0;
  for (const MachineInstruction& instruction : block().code) count += instruction.copy ? 0 : 1;
  return count;
}

bool LoopBody::has_memory() const {
  for (const MachineInstruction& instruction : block().code) {
    if (!instruction.copy && isa::info(instruction.in.op).unit == isa::Unit::memory) return true;
  }
  return false;
}

bool LoopBody::may_part() const {
  for (std::size_t i = 0; i + 1 < block().code.size(); ++i) {
    if (block().code[i].copy) continue;
    const Op op = block().code[i].in.op;
    const isa::Unit unit = isa::info(op).unit;
    if (unit == isa::Unit::control || unit == isa::Unit::barrier || isa::looks_at_lanes(op)) return false;
  }
  return true;
}

bool LoopBody::has_atomics() const {
  return std::ranges::any_of(block().code,
                             [](const MachineInstruction& one) { return !one.copy && isa::is_atomic(one.in.op); });
}

bool LoopBody::has_guarded_stores() const {
  return std::ranges::any_of(block().code, [](const MachineInstruction& one) {
    return !one.copy && guarded(one) && isa::is_store(one.in.op) && isa::space_of(one.in.op) != isa::Space::shared;
  });
}

bool LoopBody::copy(std::uint64_t copies, bool ends, std::vector<MachineInstruction>& code) {
  if (copies * counted_.magnitude() > std::numeric_limits<std::int32_t>::max() / 2) return false;
  sums_made_.clear();
  lows_made_.clear();
  for (std::uint64_t copy = 0; copy != copies; ++copy) {
    if (!copy_once(copy, copy + 1 == copies, code)) return false;
  }
  for (const auto& [reg, step] : steps()) {
    const std::int64_t all = counted_.wrapped(reg, step * static_cast<std::int64_t>(copies));
    if (!fits_immediate(all)) return false;
    if (live_behind(reg) || !ends) code.push_back(make_sum(function_, reg, reg, all, changed_at(reg)));
  }
  return true;
}

bool LoopBody::copy_once(std::uint64_t copy, bool last, std::vector<MachineInstruction>& code) {
  Sums sums;
  for (const auto& [reg, step] : steps())
    sums[reg] = Sum{reg, counted_.wrapped(reg, step * static_cast<std::int64_t>(copy))};
  std::map<VReg, VReg> names;
  const auto named = [&](VReg reg) {
    const auto found = names.find(reg);
    return found == names.end() ? reg : found->second;
  };
  const auto find = [&](VReg reg) -> std::optional<Sum> {
    const auto known = sums.find(reg);
    return known == sums.end() ? std::nullopt : known->second;
  };
  for (std::size_t i = 0; i + 1 < block().code.size(); ++i) {
    if (i == counted_.test().at) continue;
    MachineInstruction one = block().code[i];
    std::optional<Sum> sum = counted_.sum_of(one, find);
    if (copies_lower_word(function_, one) && (sum = find(one.in.b))) sum->low = true;
    bool good = true;
    for_each_definition(function_, one, [&](VReg reg, unsigned, unsigned, unsigned) {
      const bool own = !live_at_begin(reg) && !(last && live_behind(reg));
      if (steps().contains(reg)) {
        good &= sum.has_value();
      } else if (own && !names.contains(reg)) {
        names[reg] = function_.make_like(reg);
      }
    });
    if (!good) return false;
    if (sum) {
      const VReg to = one.in.dst;
      const bool kept = !steps().contains(to) && (live_at_begin(to) || (last && live_behind(to)));
      if (!kept) {
        sums[to] = sum;
        continue;
      }
      sums.erase(to);
      if (!fits_immediate(sum->offset)) return false;
      write(to, *sum, one.in.at, code);
      continue;
    }
    if (!take_sums(one, find, code)) return false;
    // What it does not write all of has to be there.
    for_each_definition(function_, one, [&](VReg reg, unsigned, unsigned words, unsigned) {
      const std::optional<Sum> before = find(reg);
      if (!before) return;
      if (guarded(one) || words != function_.words(reg)) {
        good &= fits_immediate(before->offset);
        write(named(reg), *before, one.in.at, code);
      }
      sums.erase(reg);
    });
    if (!good) return false;
    rename(one, named);
    code.push_back(std::move(one));
  }
  return true;
}

// Sums that the instruction reads become offsets of its address, or registers of their own. False: one is too far.
template <class Find>
bool LoopBody::take_sums(MachineInstruction& instruction, Find find, std::vector<MachineInstruction>& code) {
  IrInstruction& in = instruction.in;
  bool folded = false;
  if (!instruction.copy && (isa::is_load(in.op) || isa::is_store(in.op)) && in.a != kNone) {
    if (const std::optional<Sum> sum = find(in.a)) {
      const std::int64_t offset = static_cast<std::int32_t>(in.imm) + sum->offset;
      const unsigned words = sum->low ? 1 : function_.words(sum->base);
      folded = fits_immediate(offset) && (isa::has_wide_address(in.op) ? 2U : 1U) == words;
      if (folded) {
        in.a = base_of(*sum, in.at, code);
        in.imm = static_cast<std::uint32_t>(offset);
      }
    }
  }
  bool good = true;
  for_each_use_field(instruction, [&](VReg& reg) {
    if (reg == kNone || (folded && &reg == &in.a)) return;
    const std::optional<Sum> sum = find(reg);
    if (!sum) return;
    good &= fits_immediate(sum->offset);
    reg = made(*sum, in.at, code);
  });
  return good;
}

VReg LoopBody::made(const Sum& sum, const Position& at, std::vector<MachineInstruction>& code) {
  const VReg base = base_of(sum, at, code);
  if (sum.offset == 0) return base;
  const auto [entry, is_new] = sums_made_.try_emplace({base, sum.offset}, kNone);
  if (is_new) {
    entry->second = function_.make(function_.words(base));
    code.push_back(make_sum(function_, entry->second, base, sum.offset, at));
  }
  return entry->second;
}

// What the sum's offset is added to: of a lower word that of the base, which is copied once.
VReg LoopBody::base_of(const Sum& sum, const Position& at, std::vector<MachineInstruction>& code) {
  if (!sum.low) return sum.base;
  const auto [entry, is_new] = lows_made_.try_emplace(sum.base, kNone);
  if (is_new) {
    entry->second = function_.make(1);
    code.push_back(make_copy(entry->second, 0, sum.base, 0, 1, {}, at));
  }
  return entry->second;
}

void LoopBody::write(VReg to, const Sum& sum, const Position& at, std::vector<MachineInstruction>& code) {
  const VReg base = base_of(sum, at, code);
  code.push_back(make_sum(function_, to, base, sum.offset, at));
}

Position LoopBody::changed_at(VReg reg) const {
  Position at;
  for (const MachineInstruction& instruction : block().code) {
    for_each_definition(function_, instruction, [&](VReg one, unsigned, unsigned, unsigned) {
      if (one == reg) at = instruction.in.at;
    });
  }
  return at;
}

VReg LoopBody::compared(VReg counter, std::vector<MachineInstruction>& code) {
  if (!counted_.test().low) return counter;
  const VReg low = function_.make(1);
  code.push_back(make_copy(low, 0, counter, 0, 1, {}, block().code[counted_.test().at].in.at));
  return low;
}

void LoopBody::compare_again(std::vector<MachineInstruction>& code) {
  const LoopTest& test = counted_.test();
  MachineInstruction again = block().code[test.at];
  VReg counter = test.counter;
  if (test.ahead != test.step) {
    counter = function_.make(function_.words(test.counter));
    code.push_back(make_sum(function_, counter, test.counter, test.ahead - test.step, again.in.at));
  }
  counter = compared(counter, code);
  (test.swapped ? again.in.b : again.in.a) = counter;
  code.push_back(std::move(again));
}

}  // namespace heddle::ptx::backend
