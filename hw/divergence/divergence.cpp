#include "hw/divergence/divergence.hpp"

#include <algorithm>

namespace heddle::hw {

std::uint64_t warp_pool_size(const Machine& machine) {
  const CoreParameters& core = machine.core;
  GroupTable none(0, 1);
  const auto mechanism = Registry<Divergence>::instance().make(core.divergence, {none, core});
  return mechanism->dynamic() ? mechanism->scheduled(core.threads) : std::max(1U, core.threads / core.warp_size);
}

}  // namespace heddle::hw
