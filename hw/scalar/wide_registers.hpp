// Which registers of which threads lie in their lanes, beside a register file per warp (thesis 9.2.1). A register of a
// thread lies in its lane from the moment at which the thread writes it there until a scalar instruction of its warp
// writes it; otherwise in the file of the warp. When threads begin, all their registers are zero, in their warp's file.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "isa/instruction.hpp"

namespace heddle::hw {

class WideRegisters {
 public:
  explicit WideRegisters(unsigned rows) : in_lanes_(std::size_t{rows} * isa::kRegisters) {}

  // The threads of a register row that have the register in their lanes; `reg` below isa::kRZ.
  [[nodiscard]] isa::LaneMask in_lanes(unsigned row, unsigned reg) const { return in_lanes_[index(row, reg)]; }
  void write_lanes(unsigned row, unsigned reg, isa::LaneMask lanes) { in_lanes_[index(row, reg)] |= lanes; }
  void write_wide(unsigned row, unsigned reg, isa::LaneMask lanes) { in_lanes_[index(row, reg)] &= ~lanes; }
  void clear_row(unsigned row) {
    std::fill_n(in_lanes_.begin() + static_cast<std::ptrdiff_t>(index(row, 0)), isa::kRegisters, 0);
  }
  void clear() { std::fill(in_lanes_.begin(), in_lanes_.end(), 0); }

 private:
  [[nodiscard]] static std::size_t index(unsigned row, unsigned reg) {
    return std::size_t{row} * isa::kRegisters + reg;
  }
  std::vector<isa::LaneMask> in_lanes_;
};

}  // namespace heddle::hw
