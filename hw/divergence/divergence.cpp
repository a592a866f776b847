#include "hw/divergence/divergence.hpp"

#include <algorithm>

namespace heddle::hw {

std::uint64_t warp_pool_size(const Machine& machine) {
  const CoreParameters& core = machine.core;
  GroupTable none(0, 1);
  const auto mechanism = Registry<Divergence>::instance().make(core.divergence, {none, core});
  return mechanism->dynamic() ? mechanism->scheduled(core.threads) : std::max(1U, core.threads / core.warp_size);
}

std::uint64_t local_memories(const Machine& machine) {
  const auto pool = about<Divergence>(machine.core.divergence).traits.global_pool;
  return std::uint64_t{machine.gpu.cores} * machine.core.threads + (pool != nullptr ? pool(machine.core) : 0);
}

bool schedules_threads(const CoreParameters& core) {
  return about<Divergence>(core.divergence).traits.independent_threads;
}

bool moves_after_last_access(const CoreParameters& core) {
  const auto says = about<Divergence>(core.divergence).traits.after_last_access;
  return says != nullptr && says(core);
}

}  // namespace heddle::hw
