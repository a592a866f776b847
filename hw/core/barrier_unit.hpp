// The barriers of a core's resident blocks. The rules are the interpreter's (isa/reference/barrier.hpp): a barrier
// counts threads and completes at the given count or, without one, when every live thread of the block has arrived.
// What this adds is who waits: the sub-warps whose results (bar.red) and hashes are written at the release.
#pragma once

#include <string>
#include <vector>

#include "hw/state/core_state.hpp"
#include "isa/reference/barrier.hpp"
#include "tlm/warp_protocol.hpp"

namespace heddle::hw {

class BarrierUnit {
 public:
  BarrierUnit(unsigned blocks, unsigned groups) : blocks_(blocks), waiting_payloads_(groups) {}

  void clear(unsigned block_slot);

  // The threads of a sub-warp, all of one block, arrive; for bar.sync and bar.red the payload is kept until the
  // release. Returns false after raising a fault.
  [[nodiscard]] bool arrive(CoreState& state, link::SubWarp& sub_warp, unsigned block_slot);

  // A sub-warp of the group waits.
  [[nodiscard]] bool waits(const Group& group) const { return waiting_payloads_[group.id] != 0; }
  // The payloads of a group that wait in a block belong to another group now.
  void hand_over(GroupId from, unsigned block_slot, GroupId to);

  // Takes a barrier of the block that is complete: its reduced value and the sub-warps that waited. False: none is.
  struct Release {
    std::uint32_t value = 0;
    std::vector<link::SubWarp*> waiting;
  };
  [[nodiscard]] bool complete(unsigned block_slot, unsigned live_threads, Release& release);

  // When nothing else can happen in the core: the first block (in the grid's order) whose threads wait, the first of
  // its sub-warps that do, and the interpreter's text for it. Empty: nobody waits.
  struct Stuck {
    const link::SubWarp* sub_warp = nullptr;
    std::string detail;
  };
  [[nodiscard]] std::optional<Stuck> stuck(const CoreState& state) const;

 private:
  struct Waiter {
    unsigned barrier;
    link::SubWarp* sub_warp;
  };
  struct Block {
    isa::reference::Barriers barriers;
    std::vector<Waiter> waiting;
  };
  std::vector<Block> blocks_;
  std::vector<unsigned> waiting_payloads_;  // by group
};

}  // namespace heddle::hw
