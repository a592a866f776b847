#include "ptx/backend/liveness.hpp"

#include <bit>

#include "base/set_bits.hpp"

namespace heddle::ptx::backend {

Units::Units(const MachineFunction& function, bool predicates) : base_(function.registers.size(), -1) {
  for (std::size_t i = 0; i < base_.size(); ++i) {
    if (function.registers[i].predicate != predicates) continue;
    base_[i] = static_cast<std::int32_t>(count_);
    count_ += function.registers[i].words;
    owner_.resize(count_, static_cast<VReg>(i));
  }
}

void LiveRegisters::clear() {
  for (const VReg reg : registers_) places_[static_cast<std::size_t>(reg)].mask = 0;
  registers_.clear();
  words_ = 0;
}

void LiveRegisters::set(VReg reg, unsigned first, unsigned words) {
  InSet& place = places_[static_cast<std::size_t>(reg)];
  if (place.mask == 0) {
    place.index = static_cast<std::uint32_t>(registers_.size());
    registers_.push_back(reg);
  }
  const unsigned now = place.mask | ((1U << words) - 1U) << first;
  words_ += static_cast<unsigned>(std::popcount(now) - std::popcount(unsigned{place.mask}));
  place.mask = static_cast<std::uint8_t>(now);
}

void LiveRegisters::reset(VReg reg, unsigned first, unsigned words) {
  InSet& place = places_[static_cast<std::size_t>(reg)];
  if (place.mask == 0) return;
  const unsigned now = place.mask & ~(((1U << words) - 1U) << first);
  words_ -= static_cast<unsigned>(std::popcount(unsigned{place.mask}) - std::popcount(now));
  place.mask = static_cast<std::uint8_t>(now);
  if (now != 0) return;
  registers_[place.index] = registers_.back();
  places_[static_cast<std::size_t>(registers_.back())].index = place.index;
  registers_.pop_back();
}

Liveness::Liveness(const MachineFunction& function, const Units& units) : function_(function), units_(units) {
  find_places();
  find_defined();
  find_ends();
  find_live();
  made_.clear();
}

// A unit is local to a block that alone refers to it, and whose first reference begins a live range.
void Liveness::find_places() {
  constexpr std::size_t kNowhere = ~std::size_t{0};
  std::vector<std::size_t> block_of(units_.count(), kNowhere);
  std::vector<bool> shared(units_.count());
  const auto refer = [&](std::size_t block, std::size_t unit, bool begins) {
    if (block_of[unit] == kNowhere) {
      block_of[unit] = block;
      shared[unit] = !begins;
    } else if (block_of[unit] != block) {
      shared[unit] = true;
    }
  };
  for (std::size_t b = 0; b < function_.blocks.size(); ++b) {
    for (const MachineInstruction& instruction : function_.blocks[b].code) {
      for_each_use(function_, instruction, [&](VReg reg, unsigned first, unsigned words) {
        if (!units_.has(reg)) return;
        for (unsigned word = first; word < first + words; ++word) refer(b, units_.base(reg) + word, false);
      });
      for_each_definition(function_, instruction, [&](VReg reg, unsigned first, unsigned words, unsigned) {
        if (!units_.has(reg)) return;
        const bool begins = ends_always(instruction, reg);
        for (unsigned word = first; word < first + words; ++word) refer(b, units_.base(reg) + word, begins);
      });
    }
  }
  place_.assign(units_.count(), kLocal);
  for (std::size_t unit = 0; unit < units_.count(); ++unit) {
    if (!shared[unit]) continue;
    place_[unit] = static_cast<std::uint32_t>(unit_at_.size());
    unit_at_.push_back(unit);
  }
}

void Liveness::fill(const BlockSet& set, LiveRegisters& live) const {
  live.clear();
  for (std::size_t place = set.find_first(); place != BlockSet::npos; place = set.find_next(place)) {
    const VReg reg = units_.owner(unit_at_[place]);
    live.set(reg, static_cast<unsigned>(unit_at_[place] - units_.base(reg)), 1);
  }
}

// Whatever was in the register before: a temporary is read only under the guard of its definition.
bool Liveness::ends_always(const MachineInstruction& instruction, VReg reg) const {
  return !guarded(instruction) || instruction.begins_range ||
         function_.registers[static_cast<std::size_t>(reg)].temporary;
}

void Liveness::find_defined() {
  const std::size_t blocks = function_.blocks.size();
  made_.assign(blocks, BlockSet(unit_at_.size()));
  defined_in_ = made_;
  for (std::size_t b = 0; b < blocks; ++b) {
    for (const MachineInstruction& instruction : function_.blocks[b].code) {
      for_each_definition(function_, instruction, [&](VReg reg, unsigned first, unsigned words, unsigned) {
        if (!units_.has(reg)) return;
        for (unsigned word = first; word < first + words; ++word) {
          const std::uint32_t place = place_[units_.base(reg) + word];
          if (place != kLocal) made_[b].set(place);
        }
      });
    }
  }
  bool changed = true;
  while (changed) {
    changed = false;
    for (std::size_t b = 0; b < blocks; ++b) {
      if (function_.blocks[b].removed) continue;
      const BlockSet after = defined_in_[b] | made_[b];
      for (const int to : successors(function_.blocks[b])) {
        BlockSet& in = defined_in_[static_cast<std::size_t>(to)];
        if (after.is_subset_of(in)) continue;
        in |= after;
        changed = true;
      }
    }
  }
}

void Liveness::find_ends() {
  const std::size_t blocks = function_.blocks.size();
  ends_.resize(blocks);
  std::vector<std::size_t> defined_by(units_.count(), blocks);  // the block that last defined the unit
  for (std::size_t b = 0; b < blocks; ++b) {
    const std::vector<MachineInstruction>& code = function_.blocks[b].code;
    ends_[b].resize(code.size());
    for (std::size_t i = 0; i < code.size(); ++i) {
      for_each_definition(function_, code[i], [&](VReg reg, unsigned first, unsigned words, unsigned which) {
        if (!units_.has(reg)) return;
        const bool always = ends_always(code[i], reg);
        for (unsigned word = 0; word < words; ++word) {
          const std::size_t unit = units_.base(reg) + first + word;
          const bool defined = defined_by[unit] == b || (place_[unit] != kLocal && defined_in_[b][place_[unit]]);
          if (always || !defined) ends_[b][i] |= static_cast<std::uint16_t>(1U << (which == 1 ? 8U : word));
          defined_by[unit] = b;
        }
      });
    }
  }
}

void Liveness::step_back(const MachineInstruction& instruction, std::uint16_t ends, LiveRegisters& live) const {
  for_each_definition(function_, instruction, [&](VReg reg, unsigned first, unsigned words, unsigned which) {
    if (!units_.has(reg)) return;
    for (unsigned word = 0; word < words; ++word) {
      if (((ends >> (which == 1 ? 8U : word)) & 1U) != 0) live.reset(reg, first + word, 1);
    }
  });
  for_each_use(function_, instruction, [&](VReg reg, unsigned first, unsigned words) {
    if (units_.has(reg)) live.set(reg, first, words);
  });
}

void Liveness::find_live() {
  const std::size_t blocks = function_.blocks.size();
  std::vector<BlockSet> use(blocks, BlockSet(unit_at_.size())), keep = use;
  LiveRegisters live(units_);
  for (std::size_t b = 0; b < blocks; ++b) {
    const std::vector<std::uint16_t>& ends = ends_[b];
    const std::vector<MachineInstruction>& code = function_.blocks[b].code;
    keep[b].set();
    live.clear();
    for (std::size_t i = code.size(); i-- > 0;) {
      step_back(code[i], ends[i], live);
      for_each_definition(function_, code[i], [&](VReg reg, unsigned first, unsigned words, unsigned which) {
        if (!units_.has(reg)) return;
        for (unsigned word = 0; word < words; ++word) {
          const std::uint32_t place = place_[units_.base(reg) + first + word];
          if (place != kLocal && ((ends[i] >> (which == 1 ? 8U : word)) & 1U) != 0) keep[b].reset(place);
        }
      });
    }
    for (const VReg reg : live.registers()) {
      for (const unsigned word : set_bits(live.mask(reg))) {
        const std::uint32_t place = place_[units_.base(reg) + word];
        if (place != kLocal) use[b].set(place);
      }
    }
  }
  in_.assign(blocks, BlockSet(unit_at_.size()));
  out_ = in_;
  bool changed = true;
  while (changed) {
    changed = false;
    for (std::size_t b = blocks; b-- > 0;) {
      if (function_.blocks[b].removed) continue;
      for (const int to : successors(function_.blocks[b])) out_[b] |= in_[static_cast<std::size_t>(to)];
      BlockSet in = (use[b] | (out_[b] & keep[b])) & defined_in_[b];
      if (in == in_[b]) continue;
      in_[b] = std::move(in);
      changed = true;
    }
  }
  // A successor may be entered with the unit defined on another path only.
  for (std::size_t b = 0; b < blocks; ++b) out_[b] &= defined_in_[b] | made_[b];
}

}  // namespace heddle::ptx::backend
