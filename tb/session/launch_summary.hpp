// What is known of a program's launches when they are over.
#pragma once

#include <cstdint>
#include <string>

#include "hw/state/launch.hpp"
#include "isa/module.hpp"

namespace heddle::tb::session {

// One launch, for the statistics. Cycles of the GPU's clock; `begin` and `end` are in the program's time, in
// which copies and kernels overlap.
struct LaunchSummary {
  std::string kernel;
  isa::Dim3 grid, block;
  std::uint64_t dynamic_shared = 0;
  std::uint64_t stream = 0;
  std::uint64_t begin = 0, end = 0;
  std::uint64_t cycles = 0;
  std::uint64_t warp_instructions = 0, thread_instructions = 0;
  bool complete = false;
};

// What simulating the kernels took the host.
struct SimulationTime {
  double wall_seconds = 0;
  double cpu_seconds = 0;  // of the whole process
};

}  // namespace heddle::tb::session
