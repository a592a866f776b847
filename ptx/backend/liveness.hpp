// Liveness of the words of virtual registers.
#pragma once

#include <boost/dynamic_bitset.hpp>
#include <cstdint>
#include <vector>

#include "ptx/backend/machine_code.hpp"

namespace heddle::ptx::backend {

// Numbers the words of all registers of one kind (general, or predicates) in a row.
class Units {
 public:
  Units(const MachineFunction& function, bool predicates);
  [[nodiscard]] std::size_t registers() const { return base_.size(); }  // of both kinds
  [[nodiscard]] VReg owner(std::size_t unit) const { return owner_[unit]; }
  [[nodiscard]] bool has(VReg reg) const { return base_[static_cast<std::size_t>(reg)] >= 0; }
  [[nodiscard]] std::size_t base(VReg reg) const {
    return static_cast<std::size_t>(base_[static_cast<std::size_t>(reg)]);
  }
  [[nodiscard]] std::size_t count() const { return count_; }

 private:
  std::vector<std::int32_t> base_;  // -1: other kind
  std::vector<VReg> owner_;         // by unit
  std::size_t count_ = 0;
};

// Which words of which registers are live at a point. To go through the set takes time by what is in it, not by how
// many registers the function has.
class LiveRegisters {
 public:
  explicit LiveRegisters(const Units& units) : places_(units.registers()) {}

  void clear();
  void set(VReg reg, unsigned first, unsigned words);
  void reset(VReg reg, unsigned first, unsigned words);

  [[nodiscard]] std::size_t words() const { return words_; }                       // live in all
  [[nodiscard]] const std::vector<VReg>& registers() const { return registers_; }  // in no order that means anything
  [[nodiscard]] unsigned mask(VReg reg) const { return places_[static_cast<std::size_t>(reg)].mask; }  // a bit per word

 private:
  struct InSet {
    std::uint32_t index = 0;  // in registers_, where mask is not 0
    std::uint8_t mask = 0;
  };
  std::vector<InSet> places_;  // by register
  std::vector<VReg> registers_;
  std::size_t words_ = 0;
};

// A unit is live where a later use may read it and an earlier definition may have written it: PTX registers have no
// value before their first definition, so nothing needs to be kept there. A guarded definition keeps the old value of
// the threads whose guard is false, hence it ends no live range unless there is no old value.
class Liveness {
 public:
  Liveness(const MachineFunction& function, const Units& units);

  // What is live where a block begins.
  void enter(std::size_t block, LiveRegisters& live) const { fill(in_[block], live); }
  [[nodiscard]] std::size_t words_in(std::size_t block) const { return in_[block].count(); }
  [[nodiscard]] bool is_live_out(std::size_t block, std::size_t unit) const {
    return place_[unit] != kLocal && out_[block][place_[unit]];
  }

  // Calls visit(instruction index) from the block's last instruction to its first; `live` has what is live after it.
  template <typename Visit>
  void walk(std::size_t block, LiveRegisters& live, Visit visit) const {
    fill(out_[block], live);
    for (std::size_t i = function_.blocks[block].code.size(); i-- > 0;) {
      visit(i);
      step_back(function_.blocks[block].code[i], ends_[block][i], live);
    }
  }

 private:
  // Most units are temporaries within one block. Sets per block leave them out: with them, a long kernel's would take
  // memory and time by the square of its length.
  static constexpr std::uint32_t kLocal = ~std::uint32_t{0};
  using BlockSet = boost::dynamic_bitset<std::uint64_t>;  // by place_

  void find_places();
  void fill(const BlockSet& set, LiveRegisters& live) const;
  [[nodiscard]] bool ends_always(const MachineInstruction& instruction, VReg reg) const;
  void find_ends();
  void step_back(const MachineInstruction& instruction, std::uint16_t ends, LiveRegisters& live) const;
  void find_defined();
  void find_live();

  const MachineFunction& function_;
  const Units& units_;
  std::vector<std::uint32_t> place_;  // by unit
  std::vector<std::size_t> unit_at_;  // by place
  std::vector<BlockSet> made_, defined_in_, in_, out_;
  // By block and instruction: bits of the result words (bit 8: q) whose live range starts there.
  std::vector<std::vector<std::uint16_t>> ends_;
};

}  // namespace heddle::ptx::backend
