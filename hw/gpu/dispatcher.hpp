// Grid dispatcher: hands the blocks of a launch to the cores as resources free, and ends the launch.
//
//   core[i]  initiator, BlockProtocol   one per core, and behind them one for the global scheduler, where there is one
// A launch's first block goes out gpu.launch_latency cycles after the launch has begun: those are cycles of the launch.
// One block per cycle goes out, to the next core in turn that has room. Room is counted in block slots of equal size:
// as many blocks as the threads (in whole warps), registers, scratchpad and block slots of a core allow. After the last
// block the cores flush their L1, then the L2 its slices; the launch ends when memory has everything, after a fault
// too. A fault stops the cores kStopLatency cycles after the dispatcher has heard of it.
//
// The barrier of a cooperative launch's grid: a core tells of each block that has come to it, and the dispatcher
// counts. When the last one has, it tells the cores of the launch. A message takes gpu.grid_barrier_latency cycles
// either way. When every block has come or ended, and some have ended, it never completes: a fault.
//
// Launches side by side: one that is started while others run gets the cores that the others leave (LaunchTable). A
// core flushes its L1 before it changes hands. A launch that is over while others run ends when its cores have flushed;
// the L2, which all cores share, is flushed at the end of the last one. A fault ends them all.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hw/cache/flush_protocol.hpp"
#include "hw/core/core.hpp"
#include "hw/gpu/dispatched_cores.hpp"
#include "hw/gpu/global_scheduler.hpp"
#include "hw/gpu/launch_table.hpp"
#include "hw/gpu/registers.hpp"
#include "hw/gpu/some_blocks.hpp"
#include "hw/gpu/statistics.hpp"
#include "hw/parameters/machine.hpp"
#include "hw/state/launch.hpp"
#include "tlm/calendar/calendar.hpp"
#include "tlm/inbox.hpp"

namespace heddle::hw {

// Blocks of the launch that fit one core at a time. Zero: `reason` says which resource is too small.
struct Residency {
  unsigned blocks = 0;
  std::uint64_t carve_out = 0;  // bytes of the core's scratchpad
  std::string limit;            // the parameter that limits
  std::string reason;
};
[[nodiscard]] Residency residency(const Machine& machine, const Launch& launch);
// ctaid of a block by its number.
[[nodiscard]] isa::Dim3 block_index(const isa::Dim3& grid, std::uint64_t block);
// Why a cooperative launch of kernels is impossible on the machine; empty: it is possible.
[[nodiscard]] std::string why_no_cooperation(const Machine& machine);
// Why not all blocks of a launch can be resident at once; empty: they can.
[[nodiscard]] std::string why_not_resident(const Machine& machine, const Launch& launch);

// Launches that can run side by side: gpu.kernels, or one where threads change cores, which a launch must have to
// itself then.
[[nodiscard]] unsigned kernels_at_once(const Machine& machine);

class Dispatcher final : public link::ClockedModule,
                         private ::tlm::tlm_bw_transport_if<BlockProtocol>,
                         private ::tlm::tlm_bw_transport_if<FlushProtocol>,
                         private link::ForwardOnlyInitiator<LaunchProtocol> {
 public:
  // `global`: takes the blocks of kernels that do not use the scratchpad, or of all (moves_after_last_access); null:
  // cores take all.
  Dispatcher(const sc_core::sc_module_name& name, const Machine& machine, link::Clock clock,
             std::vector<std::unique_ptr<Core>>& cores, GlobalScheduler* global = nullptr);
  // A dispatcher of whatever does as cores do.
  Dispatcher(const sc_core::sc_module_name& name, const Machine& machine, link::Clock clock,
             std::unique_ptr<DispatchedCores> cores, GlobalScheduler* global = nullptr);

  // So long a stop takes, so that it reaches no core that has run on (link::Calendar) in its past.
  static constexpr Cycle kStopLatency = link::Calendar::kMostAhead;

  sc_core::sc_vector<BlockInitiatorSocket> core;
  sc_core::sc_vector<LaunchInitiatorSocket> launches;
  sc_core::sc_vector<FlushInitiatorSocket> l2;  // slices, which are flushed once the cores' caches are empty

  // Starts a launch; `launch` stays alive until all that run have ended.
  void start(const Launch& launch);
  // A launch can be started beside the launches that run.
  [[nodiscard]] bool may_join() const;
  [[nodiscard]] LaunchStatus status() const { return status_; }
  [[nodiscard]] const std::optional<isa::Fault>& fault() const { return fault_; }
  [[nodiscard]] Cycle launch_cycles() const;
  [[nodiscard]] Cycle total_cycles() const;
  // Of the launches that run, and of launches that have ended since none ran.
  [[nodiscard]] std::uint64_t blocks_finished() const { return table_.finished(); }
  [[nodiscard]] DispatcherStatistics& statistics() { return statistics_; }
  // The barrier of some grid has completed, and its cores have not been told.
  [[nodiscard]] bool releases_grid() const;
  // Blocks go out with what `source` says of their threads; null: threads compute. Between launches.
  void replay(ReplaySource* source) { replay_ = source; }
  // Gpu::set_blocks.
  void set_blocks(SomeBlocks* some) { some_ = some; }
  // Ends the launch from outside (watchdog), at once: what is outstanding may never be answered.
  void stop(isa::Fault fault);

  // A fault found beyond the cores in this cycle: ends the launch as a core's fault does. In no module's turn.
  void raise(isa::Fault fault);

  // What is wrong with the launch that ends well so far; nothing where null. In no module's turn.
  std::function<std::optional<isa::Fault>(const Launch&)> wrong_at_end;
  std::function<void()> ended;  // all launches; done or fault
  // What became of one launch. From its first block (the first launch: from when it began) to the end.
  struct Ended {
    const Launch* launch = nullptr;
    Cycle begin = 0, end = 0;
    std::uint64_t warp_instructions = 0, thread_instructions = 0;
    bool complete = false;
  };
  std::function<void(const Ended&)> launch_ended;
  // The launch that a core has belonged to gives it up, or ends; in no module's turn.
  std::function<void(unsigned core, const Launch&)> core_left;

 private:
  struct Running {
    const Launch* launch = nullptr;
    Ended told;
    bool ended = false;
    Cycle blocks_from = 0;  // its blocks go out from this cycle on
    // Blocks at the grid's barrier; the first of them by number; when the first and the last one were heard of.
    std::uint64_t at_grid = 0;
    BlockCommand first_waiting = {};
    Cycle first_at_grid = 0;
    Cycle last_at_grid = 0;
    Cycle release_at = link::kNever;  // when its cores are told
  };
  Cycle advance(Cycle now) override;
  ::tlm::tlm_sync_enum nb_transport_bw(BlockCommand& command, BlockPhase& phase, sc_core::sc_time& delay) override;
  using link::ForwardOnlyInitiator<LaunchProtocol>::nb_transport_bw;
  ::tlm::tlm_sync_enum nb_transport_bw(FlushCommand& command, FlushPhase& phase, sc_core::sc_time& delay) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
  void tell(unsigned core, LaunchPhase phase, Cycle cycle, const Launch* launch = nullptr, bool global = false);
  void begin(Cycle now);
  void take_messages(Cycle now);
  void block_finished(const BlockCommand& message, Cycle now);
  [[nodiscard]] std::uint64_t blocks_of(const Launch& launch) const {
    return some_ != nullptr ? some_->blocks.size() : launch.grid.count();
  }
  void arrives_at_grid(const BlockCommand& message, Cycle now);
  void look_at_grid(LaunchTable::Index index);
  void release_grids(Cycle now);
  [[nodiscard]] Residency room_for(const Launch& launch);
  void join(Cycle now);
  [[nodiscard]] bool dispatch(Cycle now);
  // Launches whose blocks go out, which are the first ones; and when the next one's will, kNever: none waits.
  [[nodiscard]] LaunchTable::Index launched(Cycle now) const {
    const auto waits = [now](const Running& running) { return running.blocks_from > now; };
    return static_cast<LaunchTable::Index>(std::find_if(running_.begin(), running_.end(), waits) - running_.begin());
  }
  [[nodiscard]] Cycle next_launched(Cycle now) const {
    const LaunchTable::Index next = launched(now);
    return next == running_.size() ? link::kNever : running_[next].blocks_from;
  }
  void share_cores(Cycle now);
  [[nodiscard]] bool change_hands(const LaunchTable::HandOver& change, Cycle now);
  void count_for(unsigned core, LaunchTable::Index launch);
  void end_launch(LaunchTable::Index index, Cycle now, bool complete);
  void flush(unsigned core);
  void stop_cores();
  [[nodiscard]] bool l2_done(Cycle now);
  void tell_changed();
  void end_with(Cycle now, LaunchStatus status);
  void end(Cycle now, LaunchStatus status);
  [[nodiscard]] bool send(unsigned to, BlockCommand& command);

  const Machine& machine_;
  const std::unique_ptr<DispatchedCores> cores_;
  GlobalScheduler* const global_;
  std::vector<Running> running_;        // as in the table
  std::vector<const Launch*> joining_;  // started beside `running_`; not in the table yet
  LaunchTable table_;
  std::vector<LaunchTable::HandOver> changing_;  // cores that wait for lines of instructions or texels yet
  LaunchStatus status_ = LaunchStatus::idle;
  std::optional<isa::Fault> fault_;
  bool begun_ = false;
  bool flushing_ = false;
  bool stopping_ = false;          // a fault: the cores empty their caches
  Cycle stops_at_ = link::kNever;  // a fault: they are told then
  Cycle first_ = 0;
  Cycle last_cycles_ = 0;
  unsigned stopped_ = 0;
  bool global_launch_ = false;  // its blocks begin in the global scheduler
  // What each core had retired when it was last counted to its launch.
  struct Counted {
    std::uint64_t warp_instructions = 0, thread_instructions = 0;
  };
  std::vector<Counted> counted_;
  ReplaySource* replay_ = nullptr;
  SomeBlocks* some_ = nullptr;
  link::Inbox<BlockCommand> messages_;  // from the cores
  bool l2_flushing_ = false;
  unsigned l2_flushed_ = 0;             // slices
  Cycle l2_flushed_at_ = link::kNever;  // all slices
  link::Inbox<isa::Fault> raised_;
  DispatcherStatistics statistics_;
};

}  // namespace heddle::hw
