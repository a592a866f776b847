// Some of a grid's blocks, which alone are to run, and when each has finished: an instrument of a test bench.
#pragma once

#include <cstdint>
#include <vector>

#include "tlm/cycle.hpp"

namespace heddle::hw {

struct SomeBlocks {
  struct Finished {
    std::uint64_t block = 0;
    link::Cycle at = 0;  // of the clock: the dispatcher has heard of it
  };
  std::vector<std::uint64_t> blocks;  // block-linear indices, in the order in which they go out; at least one
  std::vector<Finished> finished;     // in the order of their ends
};

}  // namespace heddle::hw
