// A sub-core: the part of a core that has groups of its own, from the scheduler to write-back. A core of the papers has
// one. Cores of today's GPUs have several (core.sub_cores; four since Maxwell), which share its blocks, scratchpad and
// caches, each behind an arbiter (hw/core/share).
//
//   icache, l1d, texture   initiators, LineProtocol       to the core's caches
//   constants              initiator, LineProtocol        to the core's constant cache, where it has one
//   scratchpad             initiator, ScratchpadProtocol  to the core's scratchpad
//   private_memory         initiator, PrivateProtocol     to the core's private memory, where it has one
//
// Its modules (registers, l0i, l0c, fetch, decode, register_read, execute, memory, writeback) are children of the
// module in whose constructor it is made: the core, where it is the only one.
//
//   threads, registers   an equal share of the core's; warp w of all that the core has places for is in sub-core
//                        w mod core.sub_cores
//   barriers, exits      of a block whose warps are in several sub-cores are counted in the first one, which has the
//                        blocks' homes. It hears of them in the next cycle, its own too, and the others hear of a
//                        release in the cycle after (hw/core/warps/home_protocol.hpp)
//   turns                in each cycle in which something can happen to it, by its core
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hw/cache/l0_cache.hpp"
#include "hw/core/execute/execute.hpp"
#include "hw/core/execute/register_read.hpp"
#include "hw/core/execute/writeback.hpp"
#include "hw/core/front/decode.hpp"
#include "hw/core/front/fetch.hpp"
#include "hw/core/memory/memory.hpp"
#include "hw/core/pipeline/pipeline.hpp"
#include "hw/core/taps.hpp"
#include "hw/core/warps/home_inbox.hpp"
#include "hw/core/warps/warp_unit.hpp"
#include "hw/registers/register_file.hpp"
#include "hw/state/core_state.hpp"

namespace heddle::hw {

class SubCore {
 public:
  // `machine`: with threads and registers of this sub-core alone (machine_of_sub_core), outlives it. Throws InputError
  // when a stage of `extension` has no place.
  SubCore(const Machine& machine, unsigned core, unsigned number, link::Clock clock, const isa::DeviceMemory* bounds,
          CoreTaps& taps, const CoreExtension& extension);
  SubCore(const SubCore&) = delete;
  SubCore& operator=(const SubCore&) = delete;

  // ---- what its core joins it to
  [[nodiscard]] link::LineInitiatorSocket& icache() { return l0_ ? l0_->beyond : fetch_.icache; }
  [[nodiscard]] link::LineInitiatorSocket& l1d() { return memory_.l1d; }
  [[nodiscard]] link::LineInitiatorSocket& texture() { return memory_.texture; }
  [[nodiscard]] link::LineInitiatorSocket* constants() { return l0c_ ? &l0c_->beyond : memory_.constants(); }
  [[nodiscard]] ScratchpadInitiatorSocket& scratchpad() { return memory_.scratchpad; }
  [[nodiscard]] PrivateInitiatorSocket* private_memory() { return memory_.private_memory(); }
  [[nodiscard]] WarpUnit& warps() { return warps_; }
  [[nodiscard]] MemoryStage& memory() { return memory_; }
  [[nodiscard]] Performer& performer() { return execute_.performer(); }
  // What limits its loads; null: nothing does. It changes when the warp size does (`limiter_made`).
  [[nodiscard]] LoadLimiter* limiter() { return limiter_.get(); }
  std::function<void(LoadLimiter*)> limiter_made;
  // Another core's block has its part of the scratchpad here, which begins at this byte (HomeMessage::begins_block).
  std::function<void(std::uint32_t base)> scratchpad_taken;

  // ---- launches and blocks
  // keeps_code: the L0 has the lines of the launch before.
  void begin_launch(const Launch& launch, Cycle first, bool global, bool keeps_code);
  void end_launch(Cycle end);
  // The threads of warp number `warp` of a block get place number `place` of this sub-core's warps; their registers are
  // 0. `records`: what the block's threads replay.
  void place_warp(BlockHome& block, unsigned warp, unsigned place, std::span<const ThreadRecord> records);
  // It begins there, number `here` of the block's in this sub-core; it may be fetched in the next cycle.
  void begin_warp(const BlockHome& block, unsigned warp, unsigned place, unsigned here) {
    warps_.begin(state_.slot_of(block), warp, place, here);
  }

  // ---- turns
  // A message of another sub-core or core, told before this cycle's turns or in them: it is heard in the next cycle.
  void tell(Cycle now, HomeMessage message);
  // It has a turn in this cycle, unless it says by begin() that nothing has changed. `news`: of the core.
  [[nodiscard]] bool due(Cycle now) const { return now >= next_; }
  // What its memory stage or its L0 waits for may have room again: it has a turn, and another one where it has found
  // none.
  [[nodiscard]] bool may_have_room() const { return memory_.may_have_room() || (l0_ && l0_->may_be_taken()); }
  // Something has come for it: it has a turn in this cycle.
  void wake() { next_ = 0; }
  // The begin of a turn. False: the sub-core is as it was and stays so, until a cache has news or next() comes.
  [[nodiscard]] bool begin(Cycle now, bool news);
  // Blocks that have waited at the grid's barrier go on: between begin() and go().
  void leave_grid() { writeback_.leave_grid(); }
  void go(Cycle now);
  // After the turns of a cycle: when it wants the next one, kNever: not before something comes.
  // `caches`: when a cache does that it shares a turn with, kNever: none does.
  [[nodiscard]] Cycle next(Cycle now, bool news, Cycle caches);
  void tell_cycle_end(Cycle now) const;
  // Counts the cycles before `until` that it slept through.
  void account_sleep(Cycle until);
  // Stopped by a fault at a cycle, for good.
  void stop(Cycle at, Cycle now);
  void settle(Cycle until) { pipeline_.settle(until); }
  // For statistics in between: as of the begin of cycle `until`.
  void count_until(Cycle until) {
    pipeline_.settle(until);
    account_sleep(until);
  }

  // ---- how it stands
  // Of the module whose children its stages are.
  [[nodiscard]] const char* name() const { return fetch_.get_parent_object()->name(); }
  [[nodiscard]] bool idle() const { return pipeline_.idle(); }
  [[nodiscard]] bool busy() const { return state_.groups.count(GroupState::free) != state_.groups.size(); }
  [[nodiscard]] const Group* first_live_group() const;
  // Null: fetch asks the core's instruction cache.
  [[nodiscard]] L0Cache* l0() { return l0_.get(); }
  // Null: it has no cache of constants of its own.
  [[nodiscard]] L0Cache* l0_constants() { return l0c_.get(); }
  [[nodiscard]] bool quiet() const { return (!l0_ || l0_->quiet()) && (!l0c_ || l0c_->quiet()); }
  [[nodiscard]] const RegisterFile& registers() const { return registers_; }
  [[nodiscard]] CoreState& state() { return state_; }
  [[nodiscard]] const CoreState& state() const { return state_; }
  [[nodiscard]] const Pipeline& pipeline() const { return pipeline_; }
  [[nodiscard]] const WarpScheduler& scheduler() const { return fetch_.scheduler(); }

  // ---- instruments
  void observe(CoreObserver* observer);
  // Who observes from here on has joined within a launch, before cycle `now`, in which the sub-core has a turn.
  void observe_from(CoreObserver& observer, Cycle now);
  void replay(bool records);

 private:
  [[nodiscard]] std::vector<Stage*> stages_with(const CoreExtension& extension);
  void set_warp_size(std::uint32_t warp_size);
  void fetch_by_lane();
  void limit_loads();
  [[nodiscard]] bool sees_every_stage() const;
  // A rest that observers know of.
  void begin_told_rest(Cycle now);
  void end_told_rest(Cycle now);
  void tell_held_at_rest(Cycle first, Cycle cycles);
  [[nodiscard]] bool has_news() const;
  // The next cycle in which something happens that it has waited for, unless a cache has news before.
  [[nodiscard]] Cycle next_by_itself(Cycle now) const {
    return std::min(fetch_.next_release(now), memory_.next_by_itself());
  }
  [[nodiscard]] Cycle next_when_still(Cycle now, bool news, Cycle caches);
  [[nodiscard]] bool had_turn(Cycle now) const { return accounted_ == now + 1; }
  void hear(Cycle now);
  void tell_sleep(Cycle from) const;

  link::Clock clock_;
  CoreState state_;
  RegisterFile registers_;
  WarpUnit warps_;  // before the stages, whose tables have a place for every group that it can begin
  std::unique_ptr<LoadLimiter> limiter_;  // null: it limits nothing
  std::unique_ptr<L0Cache> l0_;
  std::unique_ptr<L0Cache> l0c_;  // of constants
  FetchStage fetch_;
  DecodeStage decode_;
  RegisterReadStage register_read_;
  ExecuteStage execute_;
  MemoryStage memory_;
  WriteBackStage writeback_;
  std::vector<std::unique_ptr<ReceivingStage>> own_stages_;  // of an extension
  Pipeline pipeline_;

  std::unique_ptr<ReplayRows> replay_;  // null: threads compute
  Cycle accounted_ = 0;                 // cycles before this one have been counted
  Cycle next_ = 0;                      // no turn before this cycle
  bool rests_are_known_ = false;        // to all who observe
  bool told_rest_ = false;              // observers have been told of a rest that is not over
  HomeInbox heard_;                     // from other sub-cores and cores
};

// ---- the turns of each cycle, for which the core is to make no calls

// What may concern any stage has come, or is to happen in a cycle of its own.
inline bool SubCore::has_news() const {
  return !heard_.empty() || !state_.wake_ups.empty() || warps_.departing() || memory_.goes_on(state_.now);
}

inline bool SubCore::begin(Cycle now, bool news) {
  if (pipeline_.one_works() || told_rest_) {
    if (news || has_news()) {
      pipeline_.wake();
    } else if (pipeline_.rests_on(now) && !(l0_ && l0_->may_be_taken())) {
      next_ = next_by_itself(now);
      return false;
    }
  }
  account_sleep(now);
  if (told_rest_) [[unlikely]] {
    end_told_rest(now);
  }
  if (!heard_.empty()) {
    hear(now);
  }
  return true;
}

inline void SubCore::go(Cycle now) {
  warps_.wake_up(now);
  if (memory_.goes_on(now)) {
    memory_.comes_alive();
  }
  state_.held.clear();
  pipeline_.tick(now);
  if (l0_ && l0_->has_to_ask()) {
    l0_->ask_again();
  }
  accounted_ = now + 1;
}

inline Cycle SubCore::next(Cycle now, bool news, Cycle caches) {
  if (!had_turn(now)) {
    return next_;
  }
  const bool goes_on = state_.groups.any_ready() || !state_.wake_ups.empty();
  if (state_.last_move == now && goes_on && !pipeline_.one_works()) {
    return next_ = now + 1;
  }
  return next_when_still(now, news, caches);
}

inline void SubCore::tell_cycle_end(Cycle now) const {
  if (state_.observer != nullptr && had_turn(now)) {
    state_.observer->cycle_ended(state_, {fetch_.cause(now), fetch_.blocked(), memory_.put_aside(), memory_.gathered(),
                                          execute_.waiting_apart(), memory_.queue_places()});
  }
}

inline void SubCore::account_sleep(Cycle until) {
  if (until > accounted_) {
    pipeline_.waited(accounted_, until - accounted_);
    if (told_rest_) [[unlikely]] {
      tell_held_at_rest(accounted_, until - accounted_);
    }
    if (l0_) {
      l0_->waited(until - accounted_);
    }
    accounted_ = until;
  }
}

// One of several sub-cores: a module, whose children its stages are.
class SubCoreModule final : public sc_core::sc_module {
 public:
  template <class... Arguments>
  explicit SubCoreModule(const sc_core::sc_module_name& name, Arguments&&... arguments)
      : sc_core::sc_module(name), sub_core(std::forward<Arguments>(arguments)...) {}
  SubCore sub_core;
};

}  // namespace heddle::hw
