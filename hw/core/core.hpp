// One SIMT core: the seven-stage pipeline of LWM report 2.1 and thesis 2.1.1 with its register banks, scratchpad and
// caches.
//
//   launches     target, LaunchProtocol            whose the core's cycles are, from the grid dispatcher
//   blocks       target, BlockProtocol             thread blocks from the grid dispatcher
//   instruction  initiator, TLM-2.0 base protocol  I-cache misses
//   data         initiator, TLM-2.0 base protocol  L1 misses, write-backs, atomics
//   texture      initiator, TLM-2.0 base protocol  texture cache misses
//   copies       target, InvalidationProtocol      lines that an inclusive L2 gives up; may stay unbound
//   probes       target, TLM-2.0 base protocol     what the homes of the L1's lines want; likewise
//   others       initiator, HomeProtocol           other cores, where the divergence mechanism lets threads change
//                                                  cores, or the global scheduler
//
// Each stage is a module with sockets of its own; the core advances them from write-back to fetch in
// every cycle in which something can happen, and then sleeps until the next such cycle. What a stage hands on is seen
// in the next cycle. A warp fetched in cycle t is in decode at t+1, register read t+2, execute t+3 and t+4, memory t+5
// and write-back t+6, and may be fetched again at t+7.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hw/cache/instruction_cache.hpp"
#include "hw/cache/l1_cache.hpp"
#include "hw/cache/texture_cache.hpp"
#include "hw/core/block_protocol.hpp"
#include "hw/core/execute/execute.hpp"
#include "hw/core/execute/register_read.hpp"
#include "hw/core/execute/writeback.hpp"
#include "hw/core/extension.hpp"
#include "hw/core/front/decode.hpp"
#include "hw/core/front/fetch.hpp"
#include "hw/core/launch_protocol.hpp"
#include "hw/core/memory/memory.hpp"
#include "hw/core/pipeline/pipeline.hpp"
#include "hw/core/warps/home_inbox.hpp"
#include "hw/core/warps/warp_unit.hpp"
#include "hw/registers/register_file.hpp"
#include "hw/scratchpad/scratchpad.hpp"
#include "hw/state/core_state.hpp"
#include "tlm/calendar/calendar.hpp"
#include "tlm/inbox.hpp"
#include "tlm/invalidation_protocol.hpp"

namespace heddle::hw {

class Core final : public link::ClockedModule,
                   private link::NonBlockingTarget<LaunchProtocol>,
                   private link::NonBlockingTarget<BlockProtocol>,
                   private link::NonBlockingTarget<link::InvalidationProtocol>,
                   private ::tlm::tlm_bw_transport_if<HomeProtocol> {
 public:
  // Throws InputError when a stage of `extension` has no place.
  Core(const sc_core::sc_module_name& name, const Machine& machine, unsigned index, link::Clock clock,
       const isa::DeviceMemory* bounds, const CoreExtension& extension = {});

  LaunchTargetSocket launches;
  BlockTargetSocket blocks;
  ::tlm::tlm_initiator_socket<> instruction;
  ::tlm::tlm_initiator_socket<> data;
  ::tlm::tlm_initiator_socket<> texture;
  link::InvalidationTargetSocket copies;
  L1Cache::ProbeSocket probes;
  std::unique_ptr<HomeInitiatorSocket> others;  // null: threads stay

  void forget_launch() { state_.launch = nullptr; }  // before the Launch goes; the next may end without this core
  // Brings the counters up to (not including) a cycle while a launch runs, for statistics in between.
  void settle(Cycle until) {
    if (running_) {
      pipeline_.settle(until);
      account_sleep(until);
    }
  }

  [[nodiscard]] const std::optional<isa::Fault>& fault() const { return state_.fault; }
  [[nodiscard]] Cycle last_retirement() const { return state_.last_retirement; }
  [[nodiscard]] std::uint64_t warp_instructions() const { return state_.statistics.warp_instructions; }
  // In the present launch stages let sub-warps by (hw/core/pipeline/pipeline.hpp).
  [[nodiscard]] bool lets_any_by() const { return pipeline_.lets_any_by(); }
  // Behind how many stages passages begin: 1, behind fetch; 0: nowhere.
  [[nodiscard]] unsigned passages_begin_behind() const { return pipeline_.entry(); }
  // Nothing is under way between this core and memory.
  [[nodiscard]] bool quiet() const { return l1d_.quiet() && icache_.quiet() && texture_.quiet(); }
  // What can come to the core, as long as it tells other modules nothing (hw/gpu/foresight.hpp).
  enum class Expects {
    anything,  // a block, say
    answers,   // from memory
    nothing,   // unless another one wants a line of it
  };
  [[nodiscard]] Expects expects() const;
  // For the watchdog: threads are resident; what they do; the first live group.
  [[nodiscard]] bool busy() const { return state_.groups.count(GroupState::free) != state_.groups.size(); }
  [[nodiscard]] WarpUnit::Progress progress() const { return warps_.progress(); }
  [[nodiscard]] const Group* first_live_group() const;
  [[nodiscard]] std::string describe_waiting() const { return warps_.describe_waiting(); }

  // Shows what happens to `observer` (hw/state/observer.hpp); null: to none. Between launches.
  void observe(CoreObserver* observer);
  // Threads replay the records that come with their block instead of computing, from the next launch on.
  void replay(bool records);

  // The stray loads of the present launch so far, which are forgotten here.
  [[nodiscard]] std::vector<CoreState::StrayLoads> take_stray_loads() { return std::exchange(state_.stray_loads, {}); }

  [[nodiscard]] CoreStatistics& statistics() { return state_.statistics; }
  [[nodiscard]] Scratchpad& scratchpad() { return scratchpad_; }
  [[nodiscard]] const RegisterFile& registers() const { return registers_; }
  [[nodiscard]] L1Cache& l1d() { return l1d_; }
  [[nodiscard]] Cache& icache() { return icache_; }
  [[nodiscard]] Cache& texture_cache() { return texture_; }

  // For tests and traces.
  [[nodiscard]] const CoreState& state() const { return state_; }
  [[nodiscard]] Divergence& divergence() { return warps_.divergence(); }
  [[nodiscard]] const WarpScheduler& scheduler() const { return fetch_.scheduler(); }

 private:
  Cycle advance(Cycle now) override;
  // A cycle of the pipeline. False: it is as it was and stays so, until a cache has news.
  [[nodiscard]] bool tick(Cycle now);
  [[nodiscard]] bool has_news() const;
  ::tlm::tlm_sync_enum nb_transport_fw(LaunchCommand& command, LaunchPhase& phase, sc_core::sc_time& delay) override;
  ::tlm::tlm_sync_enum nb_transport_fw(BlockCommand& command, BlockPhase& phase, sc_core::sc_time& delay) override;
  ::tlm::tlm_sync_enum nb_transport_fw(link::Invalidation& line, link::InvalidationPhase& phase,
                                       sc_core::sc_time& delay) override;

  ::tlm::tlm_sync_enum nb_transport_bw(HomeMessage& message, HomePhase& phase, sc_core::sc_time& delay) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}

  // Cycles [first, end) are accounted to the launch.
  void begin_launch(const Launch& launch, Cycle first, bool global);
  void end_launch(Cycle end);
  // Does what other cores have told before this cycle.
  void hear(Cycle now);
  // Does what the dispatcher has told before this cycle.
  void obey(Cycle now);
  // The stages from write-back back to fetch, with those of an extension, which are made here.
  [[nodiscard]] std::vector<Stage*> stages_with(const CoreExtension& extension);
  // What is to stand in front of a target socket of the core; null: nothing.
  template <class Protocol, class To>
  [[nodiscard]] std::unique_ptr<link::TapOf<Protocol>> tap_at(const CoreExtension::MakeTap<Protocol>& make_tap,
                                                              const To& socket) const;
  // Binds within the core, through a tap where there is to be one.
  template <class Protocol, class From, class To>
  void bind_within(const CoreExtension::MakeTap<Protocol>& make_tap, From& from, To& to);
  void set_warp_size(std::uint32_t warp_size);
  void fetch_by_lane();
  void limit_loads();
  [[nodiscard]] bool sees_every_stage() const;
  void start_block(const BlockCommand& command);
  void finish_block(unsigned slot);
  void drop_old_copies();
  void leave_grid();
  void account_sleep(Cycle until);
  // `caches`: the next cycle that a cache wants.
  [[nodiscard]] Cycle next_cycle(Cycle now, Cycle caches);
  void check_deadlock();
  void tell_fault();
  // A cycle of a core that has been stopped: caches only, until nothing is outstanding.
  void drain(Cycle now);
  void tell_sleep(Cycle from) const;
  void answer(BlockCommand::Kind kind, unsigned slot);
  void answer(const BlockCommand& command);

  CoreState state_;
  RegisterFile registers_;
  WarpUnit warps_;  // before the stages, whose tables have a place for every group that it can begin
  Scratchpad scratchpad_;
  InstructionCache icache_;
  L1Cache l1d_;
  TextureCache texture_;
  std::unique_ptr<LoadLimiter> limiter_;  // null: it limits nothing
  FetchStage fetch_;
  DecodeStage decode_;
  RegisterReadStage register_read_;
  ExecuteStage execute_;
  MemoryStage memory_;
  WriteBackStage writeback_;
  std::vector<std::unique_ptr<ReceivingStage>> own_stages_;  // of an extension
  Pipeline pipeline_;
  std::vector<std::unique_ptr<sc_core::sc_module>> taps_;

  std::unique_ptr<ReplayRows> replay_;  // null: threads compute
  bool running_ = false;                // a launch is being accounted
  bool flushing_ = false;
  bool leaves_grid_ = false;      // in this cycle
  Cycle stop_at_ = link::kNever;  // stopped from this cycle on
  bool flushed_ = false;          // the launch is over for this core
  bool fault_told_ = false;
  Cycle accounted_ = 0;  // cycles before this one have been counted
  BlockCommand answer_;
  link::Inbox<BlockCommand> told_;  // by the dispatcher
  HomeInbox heard_;                 // from other cores
};

}  // namespace heddle::hw
