// Sub-warps that had left the memory stage's head and are complete, on their way to a write-back port of their own.
//
//   output    initiator, WarpProtocol. One per cycle, in the order in which they became complete; where lanes execute
//             each an instruction of its own, sub-warps of other lanes beside it. Results of more bytes than the port
//             takes in a cycle (l1d.return_bytes; MICRO 2025, 512 bits) have it for several, and go in the last; those
//             of the scratchpad may come by more bytes, but no faster than 32 bits for all lanes do
//             (scratchpad.return_bytes; MICRO 2025, table 2: a load of 64 bits takes as long as one of 32)
//   tells     the group, of a sub-warp that has waited for late hits (InFlight::late), at the end of the cycle in which
//             write-back has it, which counts it from the next one on
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "hw/core/pipeline/stage.hpp"

namespace heddle::hw {

class ReturnQueue {
 public:
  ReturnQueue(CoreState& state, StageOutput& output, bool mimd_lanes)
      : state_(state),
        output_(output),
        mimd_lanes_(mimd_lanes),
        bytes_(state.machine.l1d.return_bytes),
        scratchpad_bytes_(state.machine.scratchpad.return_bytes) {}

  void put(link::SubWarp& sub_warp, bool late) { complete_.push_back({&sub_warp, late}); }
  [[nodiscard]] bool empty() const { return complete_.empty(); }
  void begin_cycle(Cycle now) {
    if (bytes_ != 0 && !complete_.empty() && !transferred(now)) {
      return;
    }
    for (bool beside = false; !complete_.empty() && offer(*complete_.front().sub_warp, beside); beside = true) {
      if (const Complete& first = complete_.front(); first.late) {
        arriving_.push_back(&state_.groups[first.sub_warp->group].flights[first.sub_warp->flight]);
      }
      complete_.erase(complete_.begin());
      transferred_at_ = link::kNever;
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
    transferred_at_ = link::kNever;
  }

 private:
  // Whether the first sub-warp's results have come by the end of this cycle. Its first turn begins that.
  [[nodiscard]] bool transferred(Cycle now) {
    if (transferred_at_ == link::kNever) {
      transferred_at_ = now + further_cycles(*complete_.front().sub_warp->decoded);
    }
    return now >= transferred_at_;
  }
  // That the results have the port beyond the first.
  [[nodiscard]] Cycle further_cycles(const link::DecodedInstruction& decoded) const {
    const std::uint64_t word = sizeof(std::uint32_t) * state_.core.simd_width;
    const std::uint64_t bytes = decoded.use.written.count() * word;
    if (bytes == 0) {
      return 0;
    }
    if (scratchpad_bytes_ == 0 || isa::space_of(decoded.instruction.op) != isa::Space::shared) {
      return (bytes - 1) / bytes_;
    }
    return std::max((word - 1) / bytes_, (bytes - 1) / scratchpad_bytes_);
  }
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
  const unsigned bytes_;                 // of results per cycle; 0: any
  const unsigned scratchpad_bytes_;      // of the scratchpad's; 0: as others
  Cycle transferred_at_ = link::kNever;  // the last cycle of the first one's results; link::kNever: it has had no turn
  std::vector<Complete> complete_;
  std::vector<InFlight*> arriving_;
};

}  // namespace heddle::hw
