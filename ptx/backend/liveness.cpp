#include "ptx/backend/liveness.hpp"

namespace heddle::ptx::backend {

Units::Units(const MachineFunction& function, bool predicates) : base_(function.registers.size(), -1) {
  for (std::size_t i = 0; i < base_.size(); ++i) {
    if (function.registers[i].predicate != predicates) continue;
    base_[i] = static_cast<std::int32_t>(count_);
    count_ += function.registers[i].words;
  }
}

Liveness::Liveness(const MachineFunction& function, const Units& units) : function_(function), units_(units) {
  const std::size_t blocks = function.blocks.size();
  defined_in_.assign(blocks, UnitSet(units.count()));
  in_.assign(blocks, UnitSet(units.count()));
  out_.assign(blocks, UnitSet(units.count()));
  find_defined();
  find_live();
}

void Liveness::find_defined() {
  const std::size_t blocks = function_.blocks.size();
  std::vector<UnitSet> made(blocks, UnitSet(units_.count()));
  for (std::size_t b = 0; b < blocks; ++b) {
    for (const MachineInstruction& instruction : function_.blocks[b].code) {
      for_each_definition(function_, instruction, [&](VReg reg, unsigned first, unsigned words, unsigned) {
        if (units_.has(reg)) made[b].set(units_.base(reg) + first, words, true);
      });
    }
  }
  bool changed = true;
  while (changed) {
    changed = false;
    for (std::size_t b = 0; b < blocks; ++b) {
      if (function_.blocks[b].removed) continue;
      const UnitSet after = defined_in_[b] | made[b];
      for (const int to : successors(function_.blocks[b])) {
        UnitSet& in = defined_in_[static_cast<std::size_t>(to)];
        if (after.is_subset_of(in)) continue;
        in |= after;
        changed = true;
      }
    }
  }
}

std::vector<std::uint16_t> Liveness::ended_ranges(std::size_t block) const {
  const std::vector<MachineInstruction>& code = function_.blocks[block].code;
  std::vector<std::uint16_t> result(code.size());
  UnitSet defined = defined_in_[block];
  for (std::size_t i = 0; i < code.size(); ++i) {
    for_each_definition(function_, code[i], [&](VReg reg, unsigned first, unsigned words, unsigned which) {
      if (!units_.has(reg)) return;
      // A temporary is read only under the guard of its definition.
      const bool always =
          !guarded(code[i]) || code[i].begins_range || function_.registers[static_cast<std::size_t>(reg)].temporary;
      for (unsigned word = 0; word < words; ++word) {
        const std::size_t unit = units_.base(reg) + first + word;
        if (always || !defined[unit]) result[i] |= static_cast<std::uint16_t>(1U << (which == 1 ? 8U : word));
        defined.set(unit);
      }
    });
  }
  return result;
}

void Liveness::step_back(const MachineInstruction& instruction, std::uint16_t ends, UnitSet& live) const {
  for_each_definition(function_, instruction, [&](VReg reg, unsigned first, unsigned words, unsigned which) {
    if (!units_.has(reg)) return;
    for (unsigned word = 0; word < words; ++word) {
      if (((ends >> (which == 1 ? 8U : word)) & 1U) != 0) live.reset(units_.base(reg) + first + word);
    }
  });
  for_each_use(function_, instruction, [&](VReg reg, unsigned first, unsigned words) {
    if (units_.has(reg)) live.set(units_.base(reg) + first, words, true);
  });
}

void Liveness::find_live() {
  const std::size_t blocks = function_.blocks.size();
  std::vector<UnitSet> use(blocks, UnitSet(units_.count())), keep(blocks, UnitSet(units_.count()));
  for (std::size_t b = 0; b < blocks; ++b) {
    const std::vector<std::uint16_t> ends = ended_ranges(b);
    const std::vector<MachineInstruction>& code = function_.blocks[b].code;
    keep[b].set();
    for (std::size_t i = code.size(); i-- > 0;) {
      step_back(code[i], ends[i], use[b]);
      for_each_definition(function_, code[i], [&](VReg reg, unsigned first, unsigned words, unsigned which) {
        if (!units_.has(reg)) return;
        for (unsigned word = 0; word < words; ++word) {
          if (((ends[i] >> (which == 1 ? 8U : word)) & 1U) != 0) keep[b].reset(units_.base(reg) + first + word);
        }
      });
    }
  }
  bool changed = true;
  while (changed) {
    changed = false;
    for (std::size_t b = blocks; b-- > 0;) {
      if (function_.blocks[b].removed) continue;
      for (const int to : successors(function_.blocks[b])) out_[b] |= in_[static_cast<std::size_t>(to)];
      UnitSet in = (use[b] | (out_[b] & keep[b])) & defined_in_[b];
      if (in == in_[b]) continue;
      in_[b] = std::move(in);
      changed = true;
    }
  }
  // A successor may be entered with the unit defined on another path only.
  for (std::size_t b = 0; b < blocks; ++b) {
    UnitSet defined = defined_in_[b];
    for (const MachineInstruction& instruction : function_.blocks[b].code) {
      for_each_definition(function_, instruction, [&](VReg reg, unsigned first, unsigned words, unsigned) {
        if (units_.has(reg)) defined.set(units_.base(reg) + first, words, true);
      });
    }
    out_[b] &= defined;
  }
}

}  // namespace heddle::ptx::backend
