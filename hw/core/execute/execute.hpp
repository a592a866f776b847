// Execute stages: the SIMD lanes, the address generators, and the units beside them.
//
//   in    target, WarpProtocol      from register read
//   out   initiator, WarpProtocol   to memory
// A simple operation passes `execute_stages` cycles. Units of their own take operations that last longer
// (hw/core/execute/unit.hpp; a table in execute.cpp says which):
//
//   complex             `complex_latency` cycles, one begins every `complex_interval`, `complex_queue` places before it
//                       (LWM report 3.2.2). It overtakes nothing of its own warp, which waits for it (barrel issue)
//   half                arithmetic on f16 and bf16, `half_latency` cycles, one begins every `half_interval`
//   prefix-sum network  cond_acc and tree_traverse (thesis 7.1), pipelined
//   heap                malloc and free, `heap_latency`, pipelined
//
// Lanes of a kind that are fewer than a warp's threads (core.integer_interval and its like) take an operation less
// often than in every cycle; one that finds them busy holds the stage.
//
// One sub-warp leaves per cycle, results of these units first. A functional unit counts as active in the cycle in which
// its lane's operands leave register read's latch, for the first stage, another unit or its queue. Sub-warps with
// disjoint lanes that come together begin in one cycle, as far as there is room, and count as one; the simple ones
// leave together.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "hw/core/execute/register_read.hpp"
#include "hw/core/execute/unit.hpp"
#include "hw/core/front/fetch.hpp"
#include "hw/core/pipeline/stage.hpp"
#include "hw/effects/commit.hpp"
#include "hw/effects/perform.hpp"
#include "tlm/ring.hpp"

namespace heddle::hw {

class ExecuteStage final : public ReceivingStage, public UnitsStage {
 public:
  ExecuteStage(const sc_core::sc_module_name& name, CoreState& state, const FetchStage& fetch);

  StageOutput out;
  // What the functional units do with operands.
  [[nodiscard]] Performer& performer() { return performer_; }

  void tick(Cycle now) override;
  After turn(Cycle now) override { return turn_of(*this, now); }
  [[nodiscard]] bool stuck(Cycle now) const override;
  // Why no sub-warp arrived in a cycle: what kept fetch from fetching one in time, or register read from handing it on.
  [[nodiscard]] IdleCause idle_cause(Cycle now) const {
    if (operands_ != nullptr && now >= latency() && operands_->lacked_ports(now - latency())) {
      return IdleCause::register_banks;
    }
    return now >= front_latency_ ? fetch_.cause(now - front_latency_) : IdleCause::no_work;
  }
  // Cycles from fetch to here: of the stages in front (Pipeline::latency_to), once they are in their order.
  [[nodiscard]] unsigned front_latency() const { return front_latency_; }
  // Who hears of operations whose results can be forwarded; none unless told
  // (IssueDiscipline::Traits::early_next_pc).
  void tell(WarpUnit& warps) { warps_ = &warps; }
  void comes_after(unsigned front_latency) { front_latency_ = front_latency; }
  // Who knows when operands waited for ports of register banks; they never do unless told.
  void reads_by(const RegisterReadStage& operands) { operands_ = &operands; }
  [[nodiscard]] bool idle() const override {
    return empty() && pipe_.empty() && apart_.empty() && waiting_apart() == 0;
  }
  // Operations that wait for their unit in its queue.
  [[nodiscard]] unsigned waiting_apart() const { return waiting_apart_; }
  void reset() override;
  [[nodiscard]] StageOutput* output() override { return &out; }

  [[nodiscard]] bool counts_rests() const override { return true; }
  void rests(bool stopped) override {
    occupied_at_rest_ = !stopped && occupied(state_.now);
    cause_at_rest_ = state_.block_cause;
  }
  void waited(Cycle first, Cycle cycles) override;

  // ---- letting by: operations of their threads' registers alone, and accesses, whose addresses are generated
  [[nodiscard]] bool sees_all() override { return warps_ != nullptr; }
  [[nodiscard]] bool lets_by(const link::DecodedInstruction& decoded) const override {
    return in_order(decoded) && interval_of(decoded) <= 1 &&
           (decoded.self_contained || decoded.unit == isa::Unit::memory);
  }
  [[nodiscard]] bool works_in_row() const override { return true; }
  void work(link::SubWarp& sub_warp) override {
    performer_.perform(sub_warp);
    count_units(state_, working(sub_warp));
  }
  void shows(link::SubWarp& sub_warp) override {
    pipeline_->show_work(sub_warp, position_);
    state_.observer->issued(state_, sub_warp, state_.now + passage() - 1);
    tell_units(working(sub_warp));
  }
  void each_sub_warp(Visit visit) override;
  [[nodiscard]] unsigned passage() const override { return state_.machine.core.execute_stages; }
  [[nodiscard]] bool in_order(const link::DecodedInstruction& decoded) const override {
    return unit_of(decoded) == nullptr;
  }
  void idles(Cycle now) override {
    ++state_.statistics.fu_active[0];
    state_.count_idle(now, 1, idle_cause(now));
  }
  [[nodiscard]] bool others_leave(Cycle now) const override { return apart_goes_first(now); }
  [[nodiscard]] Cycle last_leaves(Cycle now) const override;
  void place_running(link::SubWarp& sub_warp, Cycle leaves) override;

 private:
  // Cycles between two operations that its lanes take; 0: they are not among those that are counted.
  [[nodiscard]] Cycle interval_of(const link::DecodedInstruction& decoded) const {
    return decoded.lanes == isa::LaneKind::other ? 0 : intervals_[static_cast<std::size_t>(decoded.lanes)];
  }
  [[nodiscard]] bool lanes_busy(const link::DecodedInstruction& decoded, Cycle now) const {
    return narrow_ && decoded.lanes != isa::LaneKind::other &&
           lanes_free_[static_cast<std::size_t>(decoded.lanes)] > now;
  }
  struct Running {
    Cycle done = 0;
    link::SubWarp* sub_warp = nullptr;
  };
  // The unit beside the lanes' own stages that takes an operation; null: none.
  [[nodiscard]] const Unit* unit_of(const link::DecodedInstruction& decoded) const;
  [[nodiscard]] Unit* unit_of(const link::DecodedInstruction& decoded) {
    return const_cast<Unit*>(std::as_const(*this).unit_of(decoded));
  }
  void leave_apart(link::SubWarp& sub_warp, Cycle done);
  bool begin_waiting(Cycle now);  // true: one has begun
  void finds_no_room(Unit& unit, const link::SubWarp& sub_warp, Cycle now);
  void waits_for(const Unit& unit, const link::SubWarp& sub_warp);
  static void waits_no_more(CoreState& state, const link::SubWarp& first);  // and the sub-warps beside it

  [[nodiscard]] Cycle leaves_at(Cycle last, Cycle now) const;
  // True: a sub-warp went on.
  bool hand_on(Cycle now) {
    const bool leaves = (!pipe_.empty() && pipe_.front().done <= now) || apart_goes_first(now);
    return leaves && hand_on_next(now);
  }
  bool hand_on_next(Cycle now);
  // Starts the sub-warp in the latch and the ones beside it, as far as there is room. False: not even the first.
  [[nodiscard]] bool start_all(link::SubWarp& first, Cycle now);
  // Of this cycle, beside which others go on: the latest sub-warp in the lanes' stages; the unit that takes sub-warps
  // beside each other as one, its latest, and how long. Null: none has begun.
  struct Begun {
    link::SubWarp* simple = nullptr;
    const Unit* joined = nullptr;
    link::SubWarp* last_joined = nullptr;
    Cycle joined_until = 0;
  };
  [[nodiscard]] bool start(link::SubWarp& sub_warp, Cycle now, Begun& begun);
  // These return the operation's last cycle; kNever: it waits.
  Cycle start_simple(link::SubWarp& sub_warp, Cycle now, link::SubWarp*& begun);
  Cycle start_apart(Unit& unit, link::SubWarp& sub_warp, Cycle now, Begun& begun);
  [[nodiscard]] bool apart_goes_first(Cycle now) const;
  // Tells who observes that units have been idle in this cycle though a sub-warp has begun: `active` of them work.
  void tell_units(unsigned active) const {
    if (active == 0) {
      state_.observer->idle(state_, state_.now, 1, IdleCause::predicated_off);
    }
  }
  // The lanes in which functional units work, as the statistics count them.
  [[nodiscard]] static unsigned working(const link::SubWarp& sub_warp) {
    return static_cast<unsigned>(std::popcount(working_lanes(sub_warp)));
  }

  Performer performer_;
  const FetchStage& fetch_;
  const RegisterReadStage* operands_ = nullptr;
  unsigned front_latency_ = 0;
  std::vector<Unit> units_;
  const std::array<Cycle, isa::kLaneKinds> intervals_;  // by LaneKind
  const bool narrow_;                                   // some of them are above 1
  std::array<Cycle, isa::kLaneKinds> lanes_free_{};     // they take another operation from this cycle on
  WarpUnit* warps_ = nullptr;
  link::Ring<Running> pipe_;    // of execute_stages at most
  std::vector<Running> apart_;  // in other units, in the order of their ends
  unsigned waiting_apart_ = 0;  // in the units' queues
  bool occupied_at_rest_ = false;
  IdleCause cause_at_rest_ = IdleCause::memory_port;  // of what holds it up then
};

}  // namespace heddle::hw
