// How long a machine that works can go without any progress that the watchdog sees (WatchdogParameters): an instruction
// that retires, or a request that memory serves.
#pragma once

#include "hw/parameters/machine.hpp"
#include "tlm/cycle.hpp"

namespace heddle::hw {

// At most so many cycles: the latencies that one operation, or one access to memory, can meet one after the other, and
// how many of them are the DRAM's. The memory behind the controllers is taken to answer at once. The machine must not
// contradict itself otherwise.
struct LongestWait {
  link::Cycle cycles = 0;
  link::Cycle dram = 0;
};
[[nodiscard]] LongestWait longest_wait(const Machine& machine);

}  // namespace heddle::hw
