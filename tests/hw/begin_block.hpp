// A block all of whose warps begin in one sub-core, in the places that a core with no other gives them.
#pragma once

#include "hw/state/core_state.hpp"

namespace heddle::hw {

inline void begin_block(CoreState& state, unsigned slot, const isa::Dim3& index, std::uint64_t linear) {
  state.begin_home(slot, index, linear);
  BlockHome& block = state.block(slot);
  const auto warps = static_cast<unsigned>(block.threads.size() / state.rows_per_warp);
  for (unsigned warp = 0; warp != warps; ++warp) {
    state.hold(block, warp, slot * warps + warp);
  }
}

}  // namespace heddle::hw
