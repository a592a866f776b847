// Sub-warps that had left the memory stage's head and are complete, on their way to a write-back port of their own.
//
//   output    initiator, WarpProtocol. One per cycle, in the order in which they became complete; where lanes execute
//             each an instruction of its own, sub-warps of other lanes beside it
//   tells     the group, of a sub-warp that has waited for late hits (InFlight::late), at the end of the cycle in which
//             write-back has it, which counts it from the next one on
#pragma once

#include <vector>

#include "hw/core/pipeline/stage.hpp"

namespace heddle::hw {

class ReturnQueue {
 public:
  ReturnQueue(CoreState& state, StageOutput& output, bool mimd_lanes)
      : state_(state), output_(output), mimd_lanes_(mimd_lanes) {}

  void put(link::SubWarp& sub_warp, bool late) { complete_.push_back({&sub_warp, late}); }
  [[nodiscard]] bool empty() const { return complete_.empty(); }
  void begin_cycle() {
    for (bool beside = false; !complete_.empty() && offer(*complete_.front().sub_warp, beside); beside = true) {
      if (const Complete& first = complete_.front(); first.late) {
        arriving_.push_back(&state_.groups[first.sub_warp->group].flights[first.sub_warp->flight]);
      }
      complete_.erase(complete_.begin());
    }
  }
  void end_cycle() {
    for (InFlight* const flight : arriving_) {
      --flight->late;
    }
    arriving_.clear();
  }
  void reset() {
    complete_.clear();
    arriving_.clear();
  }

 private:
  struct Complete {
    link::SubWarp* sub_warp;
    bool late;
  };
  [[nodiscard]] bool offer(link::SubWarp& sub_warp, bool beside) {
    return !beside ? output_.offer(sub_warp) : mimd_lanes_ && output_.offer_beside(sub_warp);
  }

  CoreState& state_;
  StageOutput& output_;
  const bool mimd_lanes_;
  std::vector<Complete> complete_;
  std::vector<InFlight*> arriving_;
};

}  // namespace heddle::hw
