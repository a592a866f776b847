// Records what the threads of a run do into a trace (traces/warp_trace.hpp): heddle run --record.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "hw/state/core_state.hpp"
#include "tb/device/run_observer.hpp"
#include "traces/warp_trace.hpp"

namespace heddle::tb {

class TraceRecorder final : public RunObserver {
 public:
  // `out` outlives the recorder.
  explicit TraceRecorder(std::ostream& out);
  ~TraceRecorder() override;
  TraceRecorder(const TraceRecorder&) = delete;
  TraceRecorder& operator=(const TraceRecorder&) = delete;

  // Writes the end of the trace, when the run has ended well.
  void finish(const traces::TraceRun& run) { writer_.finish(run); }
  [[nodiscard]] std::uint64_t written() const { return writer_.written(); }

  void attached(hw::Gpu& gpu) override;
  [[nodiscard]] hw::CoreObserver& of_core(unsigned core) override;
  // Unless a core records what guests do, which goes into the part of another one.
  [[nodiscard]] bool watches_apart(const hw::Machine& machine) const override;
  void loaded(const isa::Module& module) override;
  void launching(const LaunchInfo& launch) override;
  void launched(const LaunchInfo& launch, bool complete) override;

 private:
  class OfCore;
  using Threads = std::vector<traces::ThreadEvents>;
  // A block that has finished in a core.
  struct Finished {
    OfCore* core = nullptr;
    Threads threads;
  };
  // A launch that is not in the trace as a whole.
  struct Open {
    const isa::Module* module = nullptr;
    const isa::Kernel* kernel = nullptr;
    isa::LaunchRequest request;
    unsigned warp_size = 0;
    bool begun = false;  // in the trace
    bool complete = false;
    std::uint64_t next_block = 0;
    std::map<std::uint64_t, Finished> early;  // that ended before an earlier one
  };
  // In the order of launches and of blocks, whatever that of their ends.
  void finished(OfCore& core, std::uint64_t launch, std::uint64_t block, Threads threads);
  void write_on();

  traces::WarpTraceWriter writer_;
  std::vector<std::unique_ptr<OfCore>> cores_;
  std::map<std::uint64_t, Open> open_;  // by Launch::id
};

}  // namespace heddle::tb
