#include <algorithm>

#include "hw/subwarp/former.hpp"

namespace heddle::hw {

bool form_row(std::span<LaneMask> candidates, std::span<const LaneMask> pending, SubWarpShape& shape) {
  for (std::size_t row = 0; row < candidates.size(); ++row) {
    if (candidates[row] != 0 && pending[row] == 0) {
      shape.uniform = true;
      shape.displaced = false;
      shape.row_count = 0;
      shape.first_row = static_cast<std::uint16_t>(row);
      shape.lanes = candidates[row];
      candidates[row] = 0;
      return true;
    }
  }
  return false;
}

bool accesses_global_memory(const isa::Instruction& instruction) {
  const isa::Op op = instruction.op;
  if (!isa::is_load(op) && !isa::is_store(op) && !isa::is_atomic(op) && !isa::is_accumulate(op) &&
      !isa::is_texture(op)) {
    return false;
  }
  // Local memory lies beyond the core as well; a generic address may.
  const isa::Space space = isa::space_of(op);
  return space == isa::Space::global || space == isa::Space::generic || space == isa::Space::local;
}

}  // namespace heddle::hw
