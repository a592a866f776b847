// What the stage modules of the pipeline have in common: what the core asks of each (Stage), an input latch behind a
// target socket (StageInput, ReceivingStage), and an output socket (StageOutput).
#pragma once

#include <systemc>
#include <utility>

#include "hw/core/pipeline/latch.hpp"
#include "hw/state/core_state.hpp"
#include "tlm/behind_socket.hpp"
#include "tlm/warp_protocol.hpp"

namespace heddle::hw {

class StageOutput;

// What a core asks of each of its stages, wherever it stands in the pipeline (hw/core/pipeline/pipeline.hpp). What a
// stage needs to know of others, it asks for itself.
class Stage {
 public:
  Stage() = default;
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;
  virtual ~Stage() = default;

  // Its work in a cycle. The stages behind it have done theirs already, the stages before it have not.
  virtual void tick(Cycle now) = 0;
  // There is nothing in it.
  [[nodiscard]] virtual bool idle() const = 0;
  // Asked after a cycle in which nothing in the core moved (CoreState::moved): nothing will here either, until the
  // stage behind takes something, the one before hands something on, or something comes from outside. A stage that
  // waits for a time must say no, or the core sleeps through it.
  [[nodiscard]] virtual bool stuck(Cycle now) const = 0;
  // Before a launch: forgets what is in it.
  virtual void reset() = 0;

  // Between the stage before and the one behind; null at the pipeline's ends.
  [[nodiscard]] virtual link::WarpTargetSocket* input() { return nullptr; }
  [[nodiscard]] virtual StageOutput* output() { return nullptr; }
  // Cycles from the one in which a sub-warp is handed to it to the one in which it can work on it.
  [[nodiscard]] virtual unsigned latency() const { return 0; }
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
  // For what passes the stages by their times (hw/core/pipeline/fast_path.hpp). A sub-warp is at the stage's head, or
  // will be.
  [[nodiscard]] bool full() const { return latch_.full(); }
  [[nodiscard]] bool occupied(Cycle now) const { return latch_.front(now) != nullptr; }
  void place(link::SubWarp& sub_warp, Cycle visible) { latch_.insert(sub_warp, visible); }
  template <class Visit>
  void each(Visit visit) const {
    latch_.each(visit);
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
      state_.observer->held(state_, sub_warp, stage_, cause);
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
  void taken(const link::SubWarp& sub_warp) {
    state_.moved();
    if (state_.observer != nullptr) {
      entered(sub_warp);
    }
  }
  // Out of the way of what happens without an observer.
  void entered(const link::SubWarp& sub_warp) const;
};

inline void StageInput::entered(const link::SubWarp& sub_warp) const {
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
  // True: the next stage has the sub-warp and the ones beside it.
  [[nodiscard]] bool offer(link::SubWarp& sub_warp) {
    StageInput* const next = next_.of(socket);
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

 private:
  [[nodiscard]] bool send(link::SubWarp& sub_warp, link::WarpPhase phase) {
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    return socket->nb_transport_fw(sub_warp, phase, delay) == ::tlm::TLM_COMPLETED;
  }
  link::BehindSocket<StageInput> next_;
};

// A stage with such an input.
class ReceivingStage : public StageInput, public Stage {
 public:
  [[nodiscard]] link::WarpTargetSocket* input() override { return &in; }
  [[nodiscard]] unsigned latency() const override { return latch_.latency(); }

 protected:
  using StageInput::StageInput;
};

}  // namespace heddle::hw
