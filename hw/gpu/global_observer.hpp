// Watching the global scheduler (hw/gpu/global_scheduler.hpp), for waves: nothing of it changes what it does.
#pragma once

#include <cstddef>

namespace heddle::hw {

class GlobalSchedulerObserver {
 public:
  virtual ~GlobalSchedulerObserver() = default;
  struct Shown {
    std::size_t threads = 0;      // that can go on and are in no core
    std::size_t full_warps = 0;   // re-formed of them
    std::size_t new_warps = 0;    // of threads that have not begun
    std::size_t coming = 0;       // groups on their way here, by links or handling latency
    std::size_t leaving = 0;      // warps on their way to cores by links
    std::size_t free_places = 0;  // in all cores
    std::size_t at_barriers = 0;  // threads that wait there
    // Of kernels that use the scratchpad (odgs.scratchpad):
    std::size_t queued_blocks = 0;  // blocks that wait for room in a core
    std::size_t scratchpads = 0;    // parts of cores' scratchpads that blocks have
  };
  // At the end of each cycle in which it had something to do, which is whenever any of this may have changed.
  virtual void shown(const Shown& now) = 0;
};

}  // namespace heddle::hw
