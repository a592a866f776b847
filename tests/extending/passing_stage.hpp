// A stage that hands on what it takes: each sub-warp is a cycle longer on its way.
#pragma once

#include "hw/core/pipeline/stage.hpp"

namespace heddle::hw {

class PassingStage final : public ReceivingStage {
 public:
  PassingStage(const sc_core::sc_module_name& name, CoreState& state)
      : ReceivingStage(name, state, /*latency=*/1, CoreStage::added), out("out") {}

  StageOutput out;

  void tick(Cycle now) override {
    link::SubWarp* const sub_warp = latch_.front(now);
    if (sub_warp == nullptr) {
      return;
    }
    if (out.offer(*sub_warp)) {
      latch_.pop_all();
    } else {
      held(*sub_warp, state_.block_cause);
    }
  }
  [[nodiscard]] bool idle() const override { return empty(); }
  [[nodiscard]] bool stuck(Cycle now) const override { return latch_.settled(now); }
  void reset() override { drop_all(); }
  [[nodiscard]] StageOutput* output() override { return &out; }
};

}  // namespace heddle::hw
