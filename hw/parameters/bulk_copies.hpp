// Which machines have units for copies in bulk.
#pragma once

#include "hw/parameters/machine.hpp"

namespace heddle::hw {

// Whether cores have one: cores of several sub-cores, whose ports of L1 and scratchpad it shares, and with memory
// queues, from which it takes copies.
[[nodiscard]] inline bool copies_in_bulk(const Machine& machine) {
  return machine.bulk_copy.queue != 0 && machine.core.sub_cores > 1 && machine.lsu.queue != 0;
}

}  // namespace heddle::hw
