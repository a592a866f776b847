// The barrier unit of a core: what a sub-warp brings to a barrier of its block, and which sub-warps stay in the core
// until a release. The barriers themselves are the block's (hw/state/block_home.hpp).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hw/state/core_state.hpp"

namespace heddle::hw {

class BarrierUnit {
 public:
  explicit BarrierUnit(unsigned groups) : waiting_(groups) {}

  // No group waits from now on.
  void reset();

  // What the executing threads of a sub-warp, all of one block, bring. Nothing after raising a fault: they name
  // different barriers.
  [[nodiscard]] static std::optional<BarrierArrival> arrival(CoreState& state, link::SubWarp& sub_warp);
  // The first of the sub-warps that wait in a block, by warp and row; null: none does.
  [[nodiscard]] const link::SubWarp* first_waiting(const CoreState& state, const BlockHome& block) const {
    const std::vector<const link::SubWarp*> waiting = waiting_in(state, block);
    return waiting.empty() ? nullptr : waiting.front();
  }
  // The payload is kept from here on until its release.
  void wait(link::SubWarp& sub_warp) { waiting_[sub_warp.group].push_back(&sub_warp); }
  void released(const link::SubWarp& sub_warp) { std::erase(waiting_[sub_warp.group], &sub_warp); }

  // A sub-warp of the group waits.
  [[nodiscard]] bool waits(const Group& group) const { return !waiting_[group.id].empty(); }
  // The payloads of a group that wait in a block belong to another group now.
  void hand_over(const CoreState& state, GroupId from, unsigned block_slot, GroupId to);

  // Who waits in one sub-core.
  struct Waiters {
    const CoreState* state;
    const BarrierUnit* barriers;
  };
  // When nothing else can happen in a core with these sub-cores, the first of which has its blocks' homes: of the
  // blocks whose threads are all here, the first one (in the grid's order) whose threads wait for others of the block,
  // the first of its sub-warps that do, where that is, and the interpreter's text for it. Empty: no thread waits.
  struct Stuck {
    std::size_t sub_core = 0;
    const link::SubWarp* sub_warp = nullptr;
    std::string detail;
  };
  [[nodiscard]] static std::optional<Stuck> stuck(std::span<const Waiters> sub_cores);

 private:
  // By warp and row.
  [[nodiscard]] std::vector<const link::SubWarp*> waiting_in(const CoreState& state, const BlockHome& block) const;
  [[nodiscard]] static const BlockHome& block_of(const CoreState& state, const link::SubWarp& sub_warp);

  std::vector<std::vector<link::SubWarp*>> waiting_;  // by group
};

}  // namespace heddle::hw
