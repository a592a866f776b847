// Values that operands of PTX operations are tested with.
#pragma once

#include <random>
#include <vector>

#include "tests/ptx_ops/operation_table.hpp"

namespace heddle::ptx_ops {

// The values where an operation may go wrong, as slots.
[[nodiscard]] const std::vector<u64>& edge_values(Kind kind);

[[nodiscard]] u64 random_value(Kind kind, std::mt19937_64& random);

// Bytes of a register of the kind (predicates: as stored, 4).
[[nodiscard]] unsigned size_of(Kind kind);

}  // namespace heddle::ptx_ops
