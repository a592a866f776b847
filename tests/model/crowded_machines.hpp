// Machines on which an order among cores would show: many cores before few entries everywhere.
#pragma once

#include <string_view>

#include "hw/parameters/machine.hpp"

namespace heddle::test {

// Whoever runs first would take the last entry.
inline hw::Machine crowded() {
  hw::Machine machine;
  machine.gpu.cores = 6;
  machine.l1d.write_policy = "write-through";
  machine.l2.enabled = true;
  machine.l2.inclusive = true;
  machine.l2.bytes = 24576;
  machine.l2.ways = 4;
  machine.l2.queue = machine.noc.queue = machine.l2.write_buffer = 1;
  machine.l2.mshrs = machine.l2.mshr_targets = machine.dram.queue = 2;
  machine.dram.channels = 3;
  return machine;
}
inline hw::Machine coherent() {
  hw::Machine machine = crowded();
  machine.gpu.coherence = "mesi";
  machine.l1d.write_policy = "write-back";
  machine.l1d.mshrs = 2;
  return machine;
}
inline hw::Machine with_divergence(std::string_view mechanism) {
  hw::Machine machine = crowded();
  machine.core.divergence = mechanism;
  if (machine.core.divergence == "dwf") {
    machine.core.scheduler = "majority";
  }
  return machine;
}

}  // namespace heddle::test
