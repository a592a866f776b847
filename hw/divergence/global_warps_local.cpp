// Local re-formation before the global one (ODGS paper 3.8: "a hierarchical scheduling model where local scheduling
// optimizations such as DWF or TBC are employed").
//
// A path of a diverged warp fills the paths that wait at its PC, the oldest first: each of its threads goes to one in
// which its lane is free, and stays in its register row. A warp that is full runs on in the core; what is left of the
// path waits. It leaves for the pool when odgs.local_paths others wait or odgs.local_wait cycles are over, or when
// fewer warps run than wait, so that a warp always runs as long as one waits.
#include "hw/divergence/global_warps.hpp"

namespace heddle::hw {

void GlobalWarps::leave_or_wait(Group& path, GroupMoves& moves) {
  if (parameters_.local_paths == 0) {
    leave(path, false, moves);
    return;
  }
  const LaneMask full = ~LaneMask{0} >> (isa::kLanes - width_);
  for (auto one = local_.begin(); one != local_.end();) {
    Group& there = groups_[one->group];
    const LaneMask joining = there.pc == path.pc ? path.active[0] & ~there.active[0] : 0;
    if (joining == 0) {
      ++one;
      continue;
    }
    const bool all = joining == path.active[0];
    Group& part = all ? path : part_of(path, joining, path.pc, moves);
    if (statistics_ != nullptr) {
      ++statistics_->merges_formed;
    }
    moves.merge(part, there);
    if (there.active[0] == full) {
      one = local_.erase(one);
      moves.run(there);
    } else {
      ++one;
    }
    if (all) {
      return;
    }
  }
  moves.park(path);
  local_.push_back({path.id, moves.now()});
}

void GlobalWarps::bound_waiting(GroupMoves& moves) {
  while (!local_.empty()) {
    const std::size_t running = groups_.size() - groups_.count(GroupState::free) - groups_.count(GroupState::parked) -
                                groups_.count(GroupState::barrier);  // threads at a barrier may wait for the paths here
    if (local_.size() <= parameters_.local_paths && local_.size() <= running &&
        moves.now() - local_.front().since < parameters_.local_wait) {
      return;
    }
    Group& oldest = groups_[local_.front().group];
    local_.erase(local_.begin());
    leave(oldest, false, moves);
  }
}

}  // namespace heddle::hw
