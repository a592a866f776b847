// The home of a thread block: what belongs to the block, wherever its threads are. Its threads' homes, how many live,
// its barriers, its part of the scratchpad. It has one owner, the core in which the block has begun; cores in which
// threads of it are guests report to its core what they do (hw/core/warps/home_protocol.hpp).
//
// The rules of barriers and exits are the interpreter's (isa/reference/barrier.hpp): a barrier counts threads and
// completes at the given count or, without one, when every live thread of the block has arrived. What this adds is who
// waits: sub-warps, each in some core, which are named in the order in which they have arrived.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "hw/state/launch.hpp"
#include "hw/state/thread_home.hpp"
#include "isa/reference/barrier.hpp"
#include "tlm/cycle.hpp"

namespace heddle::link {
struct SubWarp;
}

namespace heddle::hw {

struct CoreParameters;
using link::Cycle;

// The threads of a sub-warp, all of one block, come to a barrier.
struct BarrierArrival {
  isa::Op op = isa::Op::BAR_SYNC;
  std::uint32_t barrier = 0;
  std::uint32_t count = 0;         // as given; 0: the live threads
  std::uint32_t threads = 0;       // that arrive
  std::uint32_t true_threads = 0;  // of these threads, with a true predicate (bar.red)
  unsigned core = 0;               // where they are
  link::SubWarp* sub_warp = nullptr;
  [[nodiscard]] bool waits() const { return op != isa::Op::BAR_ARRIVE; }
};

struct BlockHome {
  struct Waiter {
    unsigned barrier;
    unsigned core;
    link::SubWarp* sub_warp;  // belongs to that core
  };
  // A barrier that has completed: its reduced value, and who waited.
  struct Release {
    std::uint32_t value = 0;
    Cycle first_arrival = 0;  // the cycle in which the first threads came
    std::vector<Waiter> waiting;
  };

  unsigned core = 0;  // whose it is
  unsigned slot = 0;  // the core's place for blocks
  isa::Dim3 index;    // ctaid
  std::uint64_t linear = 0;
  unsigned live_threads = 0;
  unsigned scratchpad_core = 0;       // the core with its part of the scratchpad
  std::uint32_t scratchpad_base = 0;  // bytes into the scratchpad of that core
  std::vector<ThreadHome> threads;    // home i: the threads from number i * core.simd_width on; whole warps of them

  // A block begins: it has its threads' homes, and no thread waits. `shape`: the core's, with the launch's warp size.
  // `first_local`: the number of its first thread's local memory.
  void begin(const Launch& launch, const CoreParameters& shape, const isa::Dim3& block_index,
             std::uint64_t block_linear, std::uint64_t first_local);

  // The text says what is wrong; empty when nothing is.
  [[nodiscard]] std::string arrive(const BarrierArrival& arrival, Cycle now);
  // Takes a barrier that is complete, lowest number first. False: none is.
  [[nodiscard]] bool complete(Release& release);
  // Its live threads have all come to the grid's barrier; true once, and from then on it waits there until the release.
  [[nodiscard]] bool comes_to_grid();
  [[nodiscard]] bool waits_at_grid() const { return at_grid_; }
  void leave_grid(Release& release);
  // Threads leave for ever; they are not waited for any more. True: the last ones.
  [[nodiscard]] bool exit(unsigned count) {
    live_threads -= count;
    return live_threads == 0;
  }
  [[nodiscard]] const isa::reference::Barriers& barriers() const { return barriers_; }
  [[nodiscard]] bool anyone_waits() const { return !waiting_.empty(); }

 private:
  isa::reference::Barriers barriers_;
  void take_waiting(unsigned barrier, Release& release);

  bool at_grid_ = false;
  std::array<Cycle, isa::reference::kBarriers + 1> first_arrival_{};  // of barriers at which some have arrived
  std::vector<Waiter> waiting_;                                       // in the order of their arrival
};

}  // namespace heddle::hw
