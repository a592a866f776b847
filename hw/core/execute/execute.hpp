// Execute stages: the SIMD lanes, the address generators, and the complex unit beside them.
//
//   in    target, WarpProtocol      from register read
//   out   initiator, WarpProtocol   to memory
// A simple operation passes `execute_stages` cycles. A complex one takes `complex_latency` cycles in a unit that starts
// one every `complex_interval` cycles; it overtakes nothing of its own warp, which waits for it (barrel issue), and
// others flow past it. Before the unit lies a queue of `complex_queue` places: an operation that finds the unit busy
// waits there, in order of arrival, and instructions of other warps pass it (LWM report 3.2.2); where there is no place
// left, it holds the stage. The unit is pipelined and has room for the operations that overlap in it at full rate: when
// its results find no way out, it takes no more. One sub-warp leaves per cycle, complex results first. Until its last
// sub-warp's result has left the unit, a group is in GroupState::complex. cond_acc and tree_traverse pass the
// prefix-sum network (thesis 7.1), which is pipelined: where it takes longer than the execute stages, they leave by the
// complex unit's way out as well. So do malloc and free (`heap_latency`), whose group is in GroupState::complex
// meanwhile. A functional unit counts as active in the cycle in which its lane's operands leave
// register read's latch, for the first stage, the complex unit or its queue. Sub-warps with disjoint lanes
// that come together begin in one cycle, as far as there is room, and count as one; the simple ones leave together.
#pragma once

#include <bit>
#include <boost/circular_buffer.hpp>
#include <cstdint>
#include <vector>

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
  // Why no sub-warp arrived in a cycle: what kept fetch from fetching one in time.
  [[nodiscard]] IdleCause idle_cause(Cycle now) const {
    return now >= front_latency_ ? fetch_.cause(now - front_latency_) : IdleCause::no_work;
  }
  // Cycles from fetch to here: of the stages in front (Pipeline::latency_to), once they are in their order.
  [[nodiscard]] unsigned front_latency() const { return front_latency_; }
  // Who hears of operations whose results can be forwarded; none unless told
  // (IssueDiscipline::Traits::early_next_pc).
  void tell(WarpUnit& warps) { warps_ = &warps; }
  void comes_after(unsigned front_latency) { front_latency_ = front_latency; }
  [[nodiscard]] bool idle() const override { return empty() && pipe_.empty() && complex_.empty() && queue_.empty(); }
  // Complex operations that wait for their unit in its queue.
  [[nodiscard]] unsigned waiting_complex() const { return static_cast<unsigned>(queue_.size()); }
  void reset() override;
  [[nodiscard]] StageOutput* output() override { return &out; }

  [[nodiscard]] bool counts_rests() const override { return true; }
  void rests(bool stopped) override { occupied_at_rest_ = !stopped && occupied(state_.now); }
  void waited(Cycle first, Cycle cycles) override;

  // ---- letting by: operations of their threads' registers alone, and accesses, whose addresses are generated
  [[nodiscard]] bool sees_all() override { return warps_ != nullptr; }
  [[nodiscard]] bool lets_by(const link::DecodedInstruction& decoded) const override {
    return in_order(decoded) && (decoded.self_contained || decoded.unit == isa::Unit::memory);
  }
  [[nodiscard]] bool works_in_row() const override { return true; }
  void work(link::SubWarp& sub_warp) override {
    performer_.perform(sub_warp);
    count_units(state_, working(sub_warp));
  }
  void settle() override;
  [[nodiscard]] unsigned passage() const override { return state_.machine.core.execute_stages; }
  [[nodiscard]] bool in_order(const link::DecodedInstruction& decoded) const override {
    return !is_complex(decoded) && !is_late(decoded);
  }
  void idles(Cycle now) override {
    ++state_.statistics.fu_active[0];
    state_.count_idle(now, 1, idle_cause(now));
  }
  [[nodiscard]] bool others_leave(Cycle now) const override { return complex_goes_first(now); }
  [[nodiscard]] Cycle last_leaves(Cycle now) const override;
  void place_running(link::SubWarp& sub_warp, Cycle leaves) override;

 private:
  struct Running {
    Cycle done = 0;
    link::SubWarp* sub_warp = nullptr;
  };
  [[nodiscard]] bool is_complex(const link::DecodedInstruction& decoded) const {
    return decoded.unit == isa::Unit::complex && !complex_is_simple_;
  }
  [[nodiscard]] bool is_late(const link::DecodedInstruction& decoded) const;
  // Complex operations that overlap in their unit at full rate.
  [[nodiscard]] static unsigned unit_capacity(const CoreParameters& core);
  void leave_late(link::SubWarp& sub_warp, Cycle done);
  [[nodiscard]] bool unit_takes(Cycle now) const { return now >= complex_free_ && in_unit_ < unit_capacity_; }
  bool begin_waiting(Cycle now);                            // true: one has begun
  Cycle begin_complex(link::SubWarp& sub_warp, Cycle now);  // returns its last cycle in the unit
  // Room for a complex operation; false, and why in block_cause: none.
  [[nodiscard]] bool complex_room(const link::SubWarp& sub_warp, Cycle now);
  void waits_for_complex(const link::SubWarp& sub_warp);
  void left_unit(const link::SubWarp& first);
  static void waits_no_more(CoreState& state, const link::SubWarp& first);  // and the sub-warps beside it

  [[nodiscard]] Cycle leaves_at(Cycle last, Cycle now) const;
  bool hand_on(Cycle now);  // true: a sub-warp went on
  // Starts the sub-warp in the latch and the ones beside it, as far as there is room. False: not even the first.
  [[nodiscard]] bool start_all(link::SubWarp& first, Cycle now);
  // The latest sub-warp that has begun in this cycle, beside which another one of its kind goes on; null: none has.
  struct Begun {
    link::SubWarp* simple = nullptr;
    link::SubWarp* complex = nullptr;
    Cycle complex_last = 0;
  };
  [[nodiscard]] bool start(link::SubWarp& sub_warp, Cycle now, Begun& begun);
  // Operations that take longer than the execute stages in a pipelined unit of their own.
  struct LateUnit {
    unsigned latency;
    unsigned in_flight = 0;
  };
  [[nodiscard]] LateUnit* late_unit(const link::DecodedInstruction& decoded);  // null: it is a simple or a complex one
  void start_complex(link::SubWarp& sub_warp, Cycle now, Begun& begun, Cycle& last);
  [[nodiscard]] bool complex_goes_first(Cycle now) const;
  // The lanes in which functional units work, as the statistics count them.
  [[nodiscard]] static unsigned working(const link::SubWarp& sub_warp) {
    return static_cast<unsigned>(std::popcount(working_lanes(sub_warp)));
  }

  Performer performer_;
  const FetchStage& fetch_;
  unsigned front_latency_ = 0;
  LateUnit prefix_network_;
  LateUnit heap_;
  const bool complex_is_simple_;  // with an early next PC: such operations pass the execute stages as simple ones do
  WarpUnit* warps_ = nullptr;
  link::Ring<Running> pipe_;      // of execute_stages at most
  std::vector<Running> complex_;  // in the order of their ends; operations of late units among them
  struct Waiting {
    link::SubWarp* sub_warp;
    Cycle since;
  };
  boost::circular_buffer<Waiting> queue_;  // before the complex unit
  const unsigned unit_capacity_;           // operations in the complex unit at once
  unsigned in_unit_ = 0;
  bool occupied_at_rest_ = false;
  Cycle complex_free_ = 0;                     // the unit takes another operation from this cycle on
  const link::SubWarp* found_full_ = nullptr;  // counted: it found no place in the queue
};

}  // namespace heddle::hw
