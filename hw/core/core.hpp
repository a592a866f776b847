// One SIMT core: the seven-stage pipeline of LWM report 2.1 and thesis 2.1.1 with its register banks, scratchpad and
// caches.
//
//   launches     target, LaunchProtocol            whose the core's cycles are, from the grid dispatcher
//   blocks       target, BlockProtocol             thread blocks from the grid dispatcher
//   instruction  initiator, TLM-2.0 base protocol  I-cache misses
//   data         initiator, TLM-2.0 base protocol  L1 misses, write-backs, atomics
//   texture      initiator, TLM-2.0 base protocol  texture cache misses
//   constants    initiator, TLM-2.0 base protocol  constant cache misses, of a core that has one
//   copies       target, InvalidationProtocol      lines that an inclusive L2 gives up; may stay unbound
//   probes       target, TLM-2.0 base protocol     what the homes of the L1's lines want; likewise
//   others       initiator, HomeProtocol           other cores, where the divergence mechanism lets threads change
//                                                  cores, or the global scheduler
//
// It has one sub-core or several (hw/core/sub_core.hpp), which have the pipeline's stages and the register banks; they
// share what else is here. Each stage is a module with sockets of its own; the core advances them from write-back to
// fetch in every cycle in which something can happen, sub-core by sub-core, from another one on in each cycle, and then
// sleeps until the next such cycle. What a stage hands on is seen in the next cycle. A warp fetched in cycle t is in
// decode at t+1, register read t+2, execute t+3 and t+4, memory t+5 and write-back t+6, and may be fetched again at
// t+7.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hw/cache/constant_cache.hpp"
#include "hw/cache/instruction_cache.hpp"
#include "hw/cache/l1_cache.hpp"
#include "hw/cache/texture_cache.hpp"
#include "hw/core/block_protocol.hpp"
#include "hw/core/extension.hpp"
#include "hw/core/launch_protocol.hpp"
#include "hw/core/share/access_slots.hpp"
#include "hw/core/share/bulk_copies.hpp"
#include "hw/core/share/line_ports.hpp"
#include "hw/core/share/scratchpad_ports.hpp"
#include "hw/core/share/shared_rate.hpp"
#include "hw/core/sub_core.hpp"
#include "hw/core/taps.hpp"
#include "hw/private_memory/private_memory.hpp"
#include "hw/scratchpad/scratchpad.hpp"
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
  std::unique_ptr<::tlm::tlm_initiator_socket<>> constants;  // null: it has none
  link::InvalidationTargetSocket copies;
  L1Cache::ProbeSocket probes;
  std::unique_ptr<HomeInitiatorSocket> others;  // null: threads stay

  // Before the Launch goes; the next may end without this core.
  void forget_launch() {
    for (SubCore* const sub_core : sub_cores_) {
      sub_core->state().launch = nullptr;
    }
  }
  // Brings the counters up to (not including) a cycle while a launch runs, for statistics in between.
  void settle(Cycle until);

  // Of the first sub-core that has one.
  [[nodiscard]] const std::optional<isa::Fault>& fault() const;
  [[nodiscard]] Cycle last_retirement() const;
  // Retired in all launches.
  [[nodiscard]] std::uint64_t warp_instructions() const;
  [[nodiscard]] std::uint64_t thread_instructions() const;
  // Nothing is under way between this core and memory.
  [[nodiscard]] bool quiet() const;
  // What can come to the core, as long as it tells other modules nothing (hw/gpu/foresight.hpp).
  enum class Expects {
    anything,  // a block, say
    answers,   // from memory
    nothing,   // unless another one wants a line of it
  };
  [[nodiscard]] Expects expects() const;
  // For the watchdog: threads are resident; what they do.
  [[nodiscard]] bool busy() const;
  [[nodiscard]] WarpUnit::Progress progress() const;
  [[nodiscard]] std::string describe_waiting() const;

  // Shows what happens to `observer` (hw/state/observer.hpp), of whose parts each sub-core gets its own; null: to none.
  // Between launches.
  void observe(CoreObserver* observer);
  // Adds an observer, also between two cycles of a launch: `joined` is new, and is told so.
  void observe(CoreObserver& observer, CoreObserver& joined);
  // Threads replay the records that come with their block instead of computing, from the next launch on.
  void replay(bool records);

  // The stray loads of the present launch so far, which are forgotten here.
  [[nodiscard]] std::vector<CoreState::StrayLoads> take_stray_loads();

  [[nodiscard]] std::span<SubCore* const> sub_cores() const { return sub_cores_; }
  [[nodiscard]] Scratchpad& scratchpad() { return scratchpad_; }
  // Null: it has none (private.bytes).
  [[nodiscard]] PrivateMemory* private_memory() { return private_memory_.get(); }
  // Null: it has none (bulk_copy.queue).
  [[nodiscard]] BulkCopies* bulk_copies() { return bulk_copies_.get(); }
  [[nodiscard]] L1Cache& l1d() { return l1d_; }
  [[nodiscard]] Cache& icache() { return icache_; }
  [[nodiscard]] Cache& texture_cache() { return texture_; }
  // Null: it has none (constant_cache.bytes).
  [[nodiscard]] Cache* constant_cache() { return constant_cache_.get(); }

  // For tests and traces: of the first sub-core.
  [[nodiscard]] const CoreState& state() const { return first().state(); }
  [[nodiscard]] Divergence& divergence() { return first().warps().divergence(); }
  [[nodiscard]] const WarpScheduler& scheduler() const { return first().scheduler(); }
  [[nodiscard]] const RegisterFile& registers() const { return first().registers(); }
  // In the present launch stages let sub-warps by (hw/core/pipeline/pipeline.hpp).
  [[nodiscard]] bool lets_any_by() const { return first().pipeline().lets_any_by(); }
  // Behind how many stages passages begin: 1, behind fetch; 0: nowhere.
  [[nodiscard]] unsigned passages_begin_behind() const { return first().pipeline().entry(); }

 private:
  Cycle advance(Cycle now) override;
  ::tlm::tlm_sync_enum nb_transport_fw(LaunchCommand& command, LaunchPhase& phase, sc_core::sc_time& delay) override;
  ::tlm::tlm_sync_enum nb_transport_fw(BlockCommand& command, BlockPhase& phase, sc_core::sc_time& delay) override;
  ::tlm::tlm_sync_enum nb_transport_fw(link::Invalidation& line, link::InvalidationPhase& phase,
                                       sc_core::sc_time& delay) override;

  ::tlm::tlm_sync_enum nb_transport_bw(HomeMessage& message, HomePhase& phase, sc_core::sc_time& delay) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}

  // Cycles [first, end) are accounted to the launch.
  void begin_launch(const LaunchCommand& command);
  void end_launch(Cycle end);
  // Does what other cores have told before this cycle.
  void hear(Cycle now);
  // Does what the dispatcher has told before this cycle.
  void obey(Cycle now);
  void make_sub_cores(const isa::DeviceMemory* bounds, const CoreExtension& extension);
  void join_sub_cores(const CoreExtension& extension);
  // Threads may change cores, by messages through `others`.
  void open_to_others();
  [[nodiscard]] SubCore& first() const { return *sub_cores_.front(); }
  [[nodiscard]] bool faulted() const {
    return only_ != nullptr ? only_->state().fault.has_value() : fault().has_value();
  }
  void set_now(Cycle now) {
    if (only_ != nullptr) {
      only_->state().now = now;
      return;
    }
    for (SubCore* const sub_core : sub_cores_) {
      sub_core->state().now = now;
    }
  }
  // The turns of a cycle. False: the core, of one sub-core, is as it was and stays so, until a cache has news or the
  // sub-core's next cycle comes.
  [[nodiscard]] bool turns(Cycle now);
  void turns_of_several(Cycle now, bool news);
  void start_block(const BlockCommand& command);
  void finish_block(unsigned slot);
  void block_at_grid(unsigned slot);
  void drop_old_copies();
  void leave_grid();
  void note_failed_write();
  // What may concern any sub-core is to happen.
  [[nodiscard]] bool has_news() const { return leaves_grid_ || flushing_ || l1d_.failed_write(); }
  // `caches`: the next cycle that a cache wants.
  [[nodiscard]] Cycle next_cycle(Cycle now, Cycle caches);
  void check_deadlock();
  void tell_fault();
  // A cycle of a core that has been stopped: caches only, until nothing is outstanding.
  void drain(Cycle now);
  void answer(BlockCommand::Kind kind, unsigned slot);
  void answer(const BlockCommand& command);

  const unsigned index_;
  const Machine& machine_;
  const std::unique_ptr<const Machine> of_sub_core_;  // null: there is one, whose machine is the core's
  CoreTaps taps_;
  Scratchpad scratchpad_;
  std::unique_ptr<PrivateMemory> private_memory_;
  InstructionCache icache_;
  L1Cache l1d_;
  TextureCache texture_;
  std::unique_ptr<ConstantCache> constant_cache_;
  AccessSlots slots_;
  SharedRate indexed_constants_;
  // What several sub-cores share these by; none: there is one.
  std::vector<std::unique_ptr<LinePorts>> line_ports_;
  std::unique_ptr<BulkCopies> bulk_copies_;  // null: it has none
  std::unique_ptr<ScratchpadPorts> scratchpad_ports_;
  std::unique_ptr<SubCore> only_;                        // null: there are several
  std::vector<std::unique_ptr<SubCoreModule>> several_;  // none: there is one
  std::vector<SubCore*> sub_cores_;
  std::shared_ptr<LaunchBytes> launch_bytes_;  // null: L1s do not meet at the launch's end

  std::uint64_t code_version_ = 0;  // of the latest launch
  bool running_ = false;            // a launch is being accounted
  bool flushing_ = false;
  bool leaves_grid_ = false;      // in this cycle
  Cycle stop_at_ = link::kNever;  // stopped from this cycle on
  bool flushed_ = false;          // the launch is over for this core
  bool fault_told_ = false;
  BlockCommand answer_;
  link::Inbox<BlockCommand> told_;  // by the dispatcher
};

}  // namespace heddle::hw
