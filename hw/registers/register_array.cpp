#include "hw/registers/register_array.hpp"

#include <algorithm>

namespace heddle::hw {

void RegisterArray::resize(unsigned rows, unsigned registers) {
  registers_ = registers;
  values_ = ZeroedArray<isa::LaneWord>(static_cast<std::size_t>(rows) * registers);
  predicates_.assign(rows, {});
}

void RegisterArray::clear_row(unsigned row) {
  std::fill_n(&word(row, 0), registers_, isa::LaneWord{});
  predicates_[row].fill(0);
}

}  // namespace heddle::hw
