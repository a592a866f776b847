// What the stage modules of the pipeline have in common: an input latch behind a target socket, and an output socket.
#pragma once

#include <systemc>

#include "hw/core/latch.hpp"
#include "hw/state/core_state.hpp"
#include "tlm/warp_protocol.hpp"

namespace heddle::hw {

// A stage that takes sub-warps: `in` accepts one whenever the latch has room.
class ReceivingStage : public sc_core::sc_module, protected link::NonBlockingTarget<link::WarpProtocol> {
 public:
  link::WarpTargetSocket in;
  [[nodiscard]] bool empty() const { return latch_.empty(); }
  void drop_all() { latch_.clear(); }

 protected:
  ReceivingStage(const sc_core::sc_module_name& name, CoreState& state, unsigned latency, CoreStage stage)
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
  ::tlm::tlm_sync_enum nb_transport_fw(link::SubWarp& sub_warp, link::WarpPhase&, sc_core::sc_time&) override {
    if (latch_.full()) {
      return ::tlm::TLM_UPDATED;
    }
    latch_.push(sub_warp, state_.now);
    state_.moved();
    if (state_.observer != nullptr) {
      state_.observer->entered(state_, sub_warp, stage_);
    }
    return ::tlm::TLM_COMPLETED;
  }
};

// An output that offers sub-warps to the next stage.
class StageOutput : private link::ForwardOnlyInitiator<link::WarpProtocol> {
 public:
  explicit StageOutput(const char* name) : socket(name) { socket.bind(*this); }
  link::WarpInitiatorSocket socket;
  // True: the next stage has it.
  [[nodiscard]] bool offer(link::SubWarp& sub_warp) {
    link::WarpPhase phase = link::WarpPhase::offer;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    return socket->nb_transport_fw(sub_warp, phase, delay) == ::tlm::TLM_COMPLETED;
  }
};

}  // namespace heddle::hw
