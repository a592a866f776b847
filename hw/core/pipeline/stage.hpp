// What the stage modules of the pipeline have in common: what the core asks of each (Stage), an input latch behind a
// target socket (StageInput, ReceivingStage), and an output socket (StageOutput).
//
// Of a stage of your own nothing but tick(), idle(), stuck() and reset() is asked: every sub-warp comes to its tick().
// A stage that most sub-warps pass without being held may let them by (lets_by()): the pipeline then computes when each
// would be at its head, and calls work() once, later (hw/core/pipeline/pipeline.hpp).
#pragma once

#include <systemc>
#include <utility>

#include "hw/core/pipeline/latch.hpp"
#include "hw/state/core_state.hpp"
#include "tlm/behind_socket.hpp"
#include "tlm/warp_protocol.hpp"

namespace heddle::hw {

class Pipeline;
class StageOutput;

class StageInput;

// What a core asks of each of its stages, wherever it stands in the pipeline (hw/core/pipeline/pipeline.hpp). What a
// stage needs to know of others, it asks for itself.
class Stage {
 public:
  Stage() = default;
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;
  virtual ~Stage() = default;

  // Its work in a cycle. The stages behind it have done theirs already, the stages before it have not. While nothing is
  // in it (idle()) it has none, but for the first stage, until something comes to an input of it (or has_work()).
  virtual void tick(Cycle now) = 0;
  // There is nothing in it.
  [[nodiscard]] virtual bool idle() const = 0;
  // Asked after a cycle in which nothing in the core moved (CoreState::moved): nothing will here either, until the
  // stage behind takes something, the one before hands something on, or something comes from outside. A stage that
  // waits for a time, or sends something outside in every cycle, must say no, or the core sleeps through it.
  [[nodiscard]] virtual bool stuck(Cycle now) const = 0;
  // Before a launch: forgets what is in it.
  virtual void reset() = 0;

  // A turn, and how it leaves the stage. (A stage that is known to the compiler makes one call of it: turn_of.)
  enum class After : std::uint8_t { empty, goes_on, holds_up };
  virtual After turn(Cycle now) { return turn_of(*this, now); }

  // ---- rest: cycles in which the core's stages are stuck are not simulated, as long as nothing comes from outside
  // After a cycle, asked of the stage whose head holds up all others, which is not stuck: it will be in the next one.
  [[nodiscard]] virtual bool foresees_stuck() { return false; }
  // Something has come from outside to a core at rest: it changes nothing here.
  [[nodiscard]] virtual bool rests_on() { return false; }
  // It is stuck from the next cycle on, told in the order of turns: what holds its head up is CoreState::block_cause
  // again for the stages before it. `stopped`: for good, with what is in it, after a fault.
  virtual void rests(bool /*stopped*/) {}
  // It counts something in the cycles of a rest.
  [[nodiscard]] virtual bool counts_rests() const { return false; }
  // In `cycles` cycles from `first` on, since rests(), it was stuck: it counts what its turns would have.
  virtual void waited(Cycle /*first*/, Cycle /*cycles*/) {}

  // Between the stage before and the one behind; null at the pipeline's ends.
  [[nodiscard]] virtual StageInput* input() { return nullptr; }
  [[nodiscard]] virtual StageOutput* output() { return nullptr; }
  // Another input that its turns serve; null: there is none.
  [[nodiscard]] virtual StageInput* side_input() { return nullptr; }
  // Cycles from the one in which a sub-warp is handed to it to the one in which it can work on it.
  [[nodiscard]] virtual unsigned latency() const { return 0; }

  // ---- letting by: sub-warps that come to no tick() as long as nothing holds them up
  // Asked at a launch's begin: in this launch the stage lets nothing by, since it must see each sub-warp in its cycle.
  [[nodiscard]] virtual bool sees_all() { return true; }
  // Asked once for each instruction of a launch: its sub-warps can be let by. They stay in the stage no longer than its
  // latency, and it does to them nothing but work(), which can be done at any later time before their results are
  // wanted.
  [[nodiscard]] virtual bool lets_by(const link::DecodedInstruction&) const { return false; }
  // What the stage does to a sub-warp that it has let by, apart from time, with its counts. After the stages before it
  // have done theirs, before the ones behind.
  virtual void work(link::SubWarp&) {}
  // Asked for what lets_by() says yes to: hw/effects/own_row.hpp has this work too.
  [[nodiscard]] virtual bool works_in_row() const { return false; }
  // While somebody observes the core: a sub-warp that the stage lets by is at its head in this cycle, on a passage or
  // not. The stage tells what its turn would have told of it (hw/state/observer.hpp). Where that needs work that has
  // been put off, Pipeline::show_work does it.
  virtual void shows(link::SubWarp&) {}
  // After its turn in a cycle: its head stays where it is, and holds up what comes behind it.
  [[nodiscard]] virtual bool holds_up(Cycle) const { return false; }
  // The sub-warps in it, each with the number of stages that it has passed.
  using Visit = void (*)(Pipeline& pipeline, link::SubWarp& sub_warp, unsigned passed);
  virtual void each_sub_warp(Visit) {}
  // Of the last stage: a sub-warp that all stages have let by is at its end.
  virtual void ends(link::SubWarp&) { throw InternalError("no sub-warp can end in this stage unseen"); }

  template <class Known>
  [[nodiscard]] static After turn_of(Known& stage, Cycle now) {
    stage.tick(now);
    return stage.idle() ? After::empty : stage.holds_up(now) ? After::holds_up : After::goes_on;
  }

  // The pipeline that it stands in, and its number there, from the front end on. Null: it stands alone, between stubs.
  void stand_in(Pipeline& pipeline, unsigned position) {
    pipeline_ = &pipeline;
    position_ = position;
  }

 protected:
  Pipeline* pipeline_ = nullptr;
  unsigned position_ = 0;
  // Whether a sub-warp at its head is let by (defined in pipeline.hpp, as what follows).
  [[nodiscard]] bool lets(const link::SubWarp& sub_warp) const;
  // A sub-warp at its head is not let by: the stages before it do what they have put off. The stage does its work
  // itself, now.
  void works_now(link::SubWarp& sub_warp) const;
  // The stage has something to do from the next turn on.
  void has_work() const;
};

// The stage in which sub-warps are several cycles, in their order: the functional units. At most one of a pipeline.
class UnitsStage {
 public:
  virtual ~UnitsStage() = default;
  // Cycles from the one in which a sub-warp begins to the one in which it leaves, when it is the only one.
  [[nodiscard]] virtual unsigned passage() const = 0;
  // Whether an instruction's sub-warps leave in the order in which they begin; others have a way out of their own.
  [[nodiscard]] virtual bool in_order(const link::DecodedInstruction& decoded) const = 0;
  // The cycle in which the last sub-warp in the units leaves, unless something holds it up; `now`, when the stage has
  // had its turn in `now`: there is none.
  [[nodiscard]] virtual Cycle last_leaves(Cycle now) const = 0;
  // A cycle in which nothing is in the stage, and nothing that is let by begins.
  virtual void idles(Cycle now) = 0;
  // Before its turn: what has a way out of its own leaves in this cycle, before those in order.
  [[nodiscard]] virtual bool others_leave(Cycle now) const = 0;
  // In the units, to leave in a cycle that no other one leaves in.
  virtual void place_running(link::SubWarp& sub_warp, Cycle leaves) = 0;
};

// An input that takes sub-warps: `in` accepts one whenever the latch has room.
class StageInput : public sc_core::sc_module, public link::NonBlockingTarget<link::WarpProtocol> {
 public:
  link::WarpTargetSocket in;
  // What an offer to `in` does. True: taken.
  [[nodiscard]] bool take(link::SubWarp& sub_warp) {
    if (latch_.full()) {
      return false;
    }
    latch_.push(sub_warp, state_.now);
    taken(sub_warp);
    return true;
  }
  [[nodiscard]] bool empty() const { return latch_.empty(); }
  void drop_all() { latch_.clear(); }
  [[nodiscard]] bool full() const { return latch_.full(); }
  void moved() { state_.moved(); }
  // A sub-warp is at the stage's head.
  [[nodiscard]] bool occupied(Cycle now) const { return latch_.front(now) != nullptr; }
  // A sub-warp that was let by up to here: it is at the stage's head from cycle `visible` on.
  void place(link::SubWarp& sub_warp, Cycle visible) {
    comes();
    latch_.insert(sub_warp, visible);
  }
  // The observer is told that a sub-warp has been handed to the stage. Out of the way of what happens without one.
  void tell_entered(const link::SubWarp& sub_warp) const;
  template <class Visit>
  void each(Visit visit) const {
    latch_.each(visit);
  }
  // Whose turns serve the input: a bit of `busy` is set when something has come.
  void serve(std::uint32_t& busy, std::uint32_t bit) {
    busy_ = &busy;
    bit_ = bit;
  }

 protected:
  StageInput(const sc_core::sc_module_name& name, CoreState& state, unsigned latency, CoreStage stage)
      : sc_core::sc_module(name), in("in"), state_(state), latch_(latency), stage_(stage) {
    in.bind(*this);
  }
  CoreState& state_;
  Latch latch_;
  const CoreStage stage_;

  // The sub-warp at the stage's head cannot go on in this cycle.
  void held(const link::SubWarp& sub_warp, IdleCause cause) const {
    if (state_.observer != nullptr) {
      state_.tell_held(sub_warp, stage_, cause);
    }
  }

 private:
  ::tlm::tlm_sync_enum nb_transport_fw(link::SubWarp& sub_warp, link::WarpPhase& phase, sc_core::sc_time&) override {
    if (phase != link::WarpPhase::beside) {
      return take(sub_warp) ? ::tlm::TLM_COMPLETED : ::tlm::TLM_UPDATED;
    }
    if (!latch_.join(sub_warp, state_.now)) {
      return ::tlm::TLM_UPDATED;
    }
    taken(sub_warp);
    return ::tlm::TLM_COMPLETED;
  }
  void comes() { *busy_ |= bit_; }
  void taken(const link::SubWarp& sub_warp) {
    comes();
    state_.moved();
    if (state_.observer != nullptr) {
      tell_entered(sub_warp);
    }
  }

  std::uint32_t unserved_ = 0;  // where no pipeline serves the input; nothing reads it
  std::uint32_t* busy_ = &unserved_;
  std::uint32_t bit_ = 0;
};

inline void StageInput::tell_entered(const link::SubWarp& sub_warp) const {
  for (const link::SubWarp* each = &sub_warp; each != nullptr; each = each->beside) {
    state_.observer->entered(state_, *each, stage_);
  }
}

// An output that offers sub-warps to the next stage: by a call of its own where a stage's input is bound to the socket
// directly, through the socket otherwise.
class StageOutput : private link::ForwardOnlyInitiator<link::WarpProtocol> {
 public:
  explicit StageOutput(const char* name) : socket(name) { socket.bind(*this); }
  link::WarpInitiatorSocket socket;
  // True: the next stage has the sub-warp and the ones beside it, or will have it when it is due there.
  [[nodiscard]] bool offer(link::SubWarp& sub_warp) {
    if (lets_by_) {
      if (begins_passages_ && begin_passage(sub_warp)) {
        return true;
      }
      prepare(sub_warp);
    }
    StageInput* const next = direct();
    return next != nullptr ? next->take(sub_warp) : send(sub_warp, link::WarpPhase::offer);
  }
  // True: the next stage has the sub-warp without the ones beside it, which stay (Latch::pop).
  [[nodiscard]] bool offer_alone(link::SubWarp& sub_warp) {
    link::SubWarp* const beside = std::exchange(sub_warp.beside, nullptr);
    const bool taken = offer(sub_warp);
    sub_warp.beside = beside;
    return taken;
  }
  // True: the next stage has the sub-warp beside what it has been given in this cycle, without the ones beside it here.
  [[nodiscard]] bool offer_beside(link::SubWarp& sub_warp) {
    link::SubWarp* const beside = std::exchange(sub_warp.beside, nullptr);
    const bool taken = send(sub_warp, link::WarpPhase::beside);
    sub_warp.beside = beside;
    return taken;
  }
  // The next stage's input itself is bound to the socket: it grants that sub-warps reach it without a call of the
  // socket. Null: something else is bound, which sees every one, in its cycle.
  [[nodiscard]] StageInput* direct() { return next_.of(socket); }
  // It is the output of stage number `position` of a pipeline.
  void stand_in(Pipeline& pipeline, unsigned position) {
    pipeline_ = &pipeline;
    position_ = position;
  }
  // In this launch sub-warps are let by; passages begin here.
  void let_by(bool lets, bool begins_passages) {
    lets_by_ = lets;
    begins_passages_ = lets && begins_passages;
  }

 private:
  [[nodiscard]] bool begin_passage(link::SubWarp& sub_warp) const;  // defined in pipeline.hpp, as what follows
  // What has been put off is done, where the next stage must see it.
  void prepare(link::SubWarp& sub_warp) const;

  Pipeline* pipeline_ = nullptr;
  unsigned position_ = 0;
  bool lets_by_ = false, begins_passages_ = false;
  [[nodiscard]] bool send(link::SubWarp& sub_warp, link::WarpPhase phase) {
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    return socket->nb_transport_fw(sub_warp, phase, delay) == ::tlm::TLM_COMPLETED;
  }
  link::BehindSocket<StageInput> next_;
};

// A stage with such an input.
class ReceivingStage : public Stage, public StageInput {
 public:
  [[nodiscard]] StageInput* input() override { return this; }
  [[nodiscard]] unsigned latency() const override { return latch_.latency(); }
  [[nodiscard]] bool holds_up(Cycle now) const override { return occupied(now); }
  void each_sub_warp(Visit visit) override {
    latch_.each([&](link::SubWarp& sub_warp, Cycle) { visit(*pipeline_, sub_warp, position_); });
  }

 protected:
  using StageInput::StageInput;
};

}  // namespace heddle::hw

#include "hw/core/pipeline/pipeline.hpp"
