// Records what the threads of a run do into a trace (traces/warp_trace.hpp): heddle run --record.
#pragma once

#include <map>
#include <vector>

#include "hw/state/core_state.hpp"
#include "tb/host/run_observer.hpp"
#include "traces/warp_trace.hpp"

namespace heddle::tb {

class TraceRecorder final : public RunObserver {
 public:
  // `out` outlives the recorder.
  explicit TraceRecorder(std::ostream& out) : writer_(out) {}

  // Writes the end of the trace, when the run has ended well.
  void finish(const traces::TraceRun& run) { writer_.finish(run); }
  [[nodiscard]] std::uint64_t written() const { return writer_.written(); }

  void attached(hw::Gpu& gpu) override;
  void loaded(const isa::Module& module) override;
  void launching(const LaunchInfo& launch) override;
  void launched(const LaunchInfo& launch, bool complete) override;
  void block_started(const hw::CoreState& core, unsigned block_slot) override;
  void block_finished(const hw::CoreState& core, unsigned block_slot) override;
  void left_out(const hw::CoreState& core, const hw::Group& group, std::uint32_t pc, unsigned row,
                hw::LaneMask lanes) override;
  void issued(const hw::CoreState& core, const link::SubWarp& sub_warp, hw::Cycle last) override;

 private:
  struct Block {
    std::uint64_t linear = 0;
    std::vector<traces::ThreadEvents> threads;
  };
  struct Core {
    std::vector<Block> blocks;  // that have begun there, by slot
  };
  [[nodiscard]] traces::ThreadEvents& thread(const hw::CoreState& core, unsigned row, unsigned lane) {
    const hw::HomeThread thread = core.thread_at(row, lane);
    const hw::BlockHome& block = *thread.home->block;
    return cores_[block.core].blocks[block.slot].threads[thread.number()];
  }

  traces::WarpTraceWriter writer_;
  std::vector<Core> cores_;
  std::uint64_t next_block_ = 0;
  std::map<std::uint64_t, std::vector<traces::ThreadEvents>> early_;  // blocks that ended before an earlier one
  std::vector<std::vector<traces::ThreadEvents>> spare_;              // for blocks to come
};

}  // namespace heddle::tb
