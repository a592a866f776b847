// What a machine's mechanisms cost in storage, per core, bit by bit with its formula: the lines that every core has,
// the lines of large warps, and the lines that its policies declare (hw/parameters/cost.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hw/parameters/cost.hpp"
#include "hw/parameters/machine.hpp"

namespace heddle::tb {

using hw::CostLine;

struct StorageCost {
  std::string machine;
  std::uint64_t register_file_bits = 0;
  std::vector<CostLine> lines;  // present first, then by mechanism

  [[nodiscard]] std::uint64_t bits(CostLine::Kind kind) const;
};

// Of one core.
[[nodiscard]] StorageCost storage_cost(const hw::Machine& machine);

[[nodiscard]] std::string cost_text(const StorageCost& cost);
[[nodiscard]] std::string cost_json(const StorageCost& cost);

}  // namespace heddle::tb
