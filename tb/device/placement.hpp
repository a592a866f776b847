// Where an executor's allocator puts buffers, as the machine's parameters say.
#pragma once

#include "hw/parameters/machine.hpp"
#include "isa/device_memory.hpp"

namespace heddle::tb {

// For DeviceMemory::set_placement: that of a yardstick, too, whose addresses must be the machine's.
[[nodiscard]] inline isa::Placement placement_of(const hw::AllocationParameters& allocation) {
  using Rule = isa::Placement::Rule;
  const Rule rule = allocation.placement == "page"     ? Rule::page
                    : allocation.placement == "seeded" ? Rule::seeded
                                                       : Rule::gap;
  return {rule, allocation.gap, allocation.seed};
}

}  // namespace heddle::tb
