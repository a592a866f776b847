// Liveness of the words of virtual registers.
#pragma once

#include <boost/dynamic_bitset.hpp>
#include <cstdint>
#include <vector>

#include "ptx/backend/machine_code.hpp"

namespace heddle::ptx::backend {

using UnitSet = boost::dynamic_bitset<std::uint64_t>;

// Numbers the words of all registers of one kind (general, or predicates) in a row.
class Units {
 public:
  Units(const MachineFunction& function, bool predicates);
  [[nodiscard]] bool has(VReg reg) const { return base_[static_cast<std::size_t>(reg)] >= 0; }
  [[nodiscard]] std::size_t base(VReg reg) const {
    return static_cast<std::size_t>(base_[static_cast<std::size_t>(reg)]);
  }
  [[nodiscard]] std::size_t count() const { return count_; }

 private:
  std::vector<std::int32_t> base_;  // -1: other kind
  std::size_t count_ = 0;
};

// A unit is live where a later use may read it and an earlier definition may have written it: PTX registers have no
// value before their first definition, so nothing needs to be kept there. A guarded definition keeps the old value of
// the threads whose guard is false, hence it ends no live range unless there is no old value.
class Liveness {
 public:
  Liveness(const MachineFunction& function, const Units& units);

  [[nodiscard]] UnitSet out(std::size_t block) const { return all_units(out_[block]); }
  [[nodiscard]] UnitSet in(std::size_t block) const { return all_units(in_[block]); }
  [[nodiscard]] bool is_live_out(std::size_t block, std::size_t unit) const {
    return place_[unit] != kLocal && out_[block][place_[unit]];
  }

  // Calls visit(instruction index, units live after it) from the block's last instruction to its first.
  template <typename Visit>
  void walk(std::size_t block, Visit visit) const {
    UnitSet live = out(block);
    const std::vector<std::uint16_t> ends = ended_ranges(block);
    for (std::size_t i = function_.blocks[block].code.size(); i-- > 0;) {
      visit(i, live);
      step_back(function_.blocks[block].code[i], ends[i], live);
    }
  }

 private:
  // Most units are temporaries within one block. Sets per block leave them out: with them, a long kernel's would take
  // memory and time by the square of its length.
  static constexpr std::uint32_t kLocal = ~std::uint32_t{0};
  using BlockSet = UnitSet;  // by place_

  void find_places();
  [[nodiscard]] UnitSet all_units(const BlockSet& set) const;
  [[nodiscard]] bool ends_always(const MachineInstruction& instruction, VReg reg) const;
  // Per instruction: bits of the result words (bit 8: q) whose live range starts there.
  std::vector<std::uint16_t> ended_ranges(std::size_t block) const;
  void step_back(const MachineInstruction& instruction, std::uint16_t ends, UnitSet& live) const;
  void find_defined();
  void find_live();

  const MachineFunction& function_;
  const Units& units_;
  std::vector<std::uint32_t> place_;  // by unit
  std::vector<std::size_t> unit_at_;  // by place
  std::vector<BlockSet> made_, defined_in_, in_, out_;
};

}  // namespace heddle::ptx::backend
