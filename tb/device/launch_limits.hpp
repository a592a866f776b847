// The largest grids and blocks that can be launched, in each dimension, as CUDA has them.
#pragma once

#include <algorithm>

#include "isa/launch_check.hpp"

namespace heddle::tb {

inline constexpr isa::Dim3 kMostGrid{isa::kMaxGridX, isa::kMaxGridYZ, isa::kMaxGridYZ};
inline constexpr isa::Dim3 kMostBlock{isa::kMaxBlockThreads, isa::kMaxBlockThreads, 64};

// On a machine whose cores have fewer threads; x is the most of a whole block, too.
[[nodiscard]] inline isa::Dim3 most_block(unsigned core_threads) {
  return {std::min(core_threads, kMostBlock.x), std::min(core_threads, kMostBlock.y),
          std::min(core_threads, kMostBlock.z)};
}

[[nodiscard]] inline bool within(const isa::Dim3& shape, const isa::Dim3& most) {
  return shape.x >= 1 && shape.y >= 1 && shape.z >= 1 && shape.x <= most.x && shape.y <= most.y && shape.z <= most.z;
}

}  // namespace heddle::tb
