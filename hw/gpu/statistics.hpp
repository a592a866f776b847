// Counters of the grid dispatcher and of the global scheduler.
#pragma once

#include <cstdint>

namespace heddle::hw {

struct DispatcherStatistics {
  std::uint64_t launches = 0;
  std::uint64_t cycles = 0;
  std::uint64_t blocks = 0;
  std::uint64_t grid_barriers = 0;
  std::uint64_t grid_barrier_imbalance = 0;
  std::uint64_t grid_barrier_messages = 0;
  template <class Visitor>
  void describe(Visitor& visit) {
    visit("launches", launches, "launches", "kernel launches ended");
    visit("cycles", cycles, "cycles", "cycles of all launches, from start to the last store in memory");
    visit("blocks", blocks, "blocks", "thread blocks handed to cores");
    visit("grid_barriers", grid_barriers, "barriers", "barriers of whole grids completed (cooperative launches)");
    visit("grid_barrier_imbalance", grid_barrier_imbalance, "cycles",
          "of those, from the first block's arrival at the dispatcher to the last one's");
    visit("grid_barrier_messages", grid_barrier_messages, "messages",
          "of those, to cores whose blocks go on, and from blocks that have arrived");
  }
};

// Of ODGS (hw/gpu/global_scheduler.hpp); else all 0.
struct GlobalSchedulerStatistics {
  std::uint64_t launches = 0;
  std::uint64_t scratchpad_launches = 0;
  std::uint64_t staying_launches = 0;
  std::uint64_t blocks = 0;
  std::uint64_t early_scratchpads = 0;
  std::uint64_t diverged_warps = 0;
  std::uint64_t diverged_threads = 0;
  std::uint64_t barrier_warps = 0;
  std::uint64_t new_warps = 0;
  std::uint64_t stolen_blocks = 0;
  std::uint64_t full_warps = 0;
  std::uint64_t incomplete_warps = 0;
  std::uint64_t incomplete_threads = 0;
  std::uint64_t context_bytes = 0;
  std::uint64_t pool_thread_cycles = 0;
  std::uint64_t pool_peak = 0;
  std::uint64_t barriers = 0;
  std::uint64_t barrier_imbalance = 0;
  template <class Visitor>
  void describe(Visitor& visit) {
    visit("launches", launches, "launches", "launches whose blocks began here, so that their threads can move");
    visit("scratchpad_launches", scratchpad_launches, "launches",
          "of those, of kernels that use the scratchpad: their threads can move after their last access to it "
          "(odgs.scratchpad)");
    visit("staying_launches", staying_launches, "launches",
          "launches of kernels that use the scratchpad, whose blocks began in the cores: no thread moves");
    visit("blocks", blocks, "blocks", "thread blocks that began here");
    visit("early_scratchpads", early_scratchpads, "blocks",
          "of those, that gave their part of a scratchpad back before they ended");
    visit("diverged_warps", diverged_warps, "warps", "parts of warps that came back because their warp had diverged");
    visit("diverged_threads", diverged_threads, "threads", "threads of those");
    visit("barrier_warps", barrier_warps, "warps", "warps or parts of them that came back to wait at a barrier");
    visit("new_warps", new_warps, "warps", "warps of new threads sent to cores");
    visit("stolen_blocks", stolen_blocks, "blocks",
          "blocks whose new warps a core without any has taken from another (odgs.own_blocks)");
    visit("full_warps", full_warps, "warps", "full re-formed warps sent to cores");
    visit("incomplete_warps", incomplete_warps, "warps", "re-formed warps with empty lanes sent to cores");
    visit("incomplete_threads", incomplete_threads, "threads", "threads of those");
    visit("context_bytes", context_bytes, "bytes", "registers, predicates and PCs of the threads that came and went");
    visit("pool_thread_cycles", pool_thread_cycles, "thread cycles",
          "threads that could go on and were in no core, added "
          "up over all cycles");
    visit("pool_peak", pool_peak, "threads", "most of them in any cycle");
    visit("barriers", barriers, "barriers", "barriers completed here");
    visit("barrier_imbalance", barrier_imbalance, "cycles",
          "from the first arrival to the completion, of all of those");
  }
};

}  // namespace heddle::hw
