// Branches at which a group goes on before they have completed: when all their sub-warps have left the functional units
// (IssueDiscipline::Traits::early_next_pc), or when some are known to have gone both ways (releases_diverged).
#include "hw/core/warps/warp_unit.hpp"
#include "hw/effects/each_row.hpp"

namespace heddle::hw {

void WarpUnit::resolve_branch(link::SubWarp& sub_warp) {
  Group& group = state_.groups[sub_warp.group];
  InFlight& flight = group.flights[sub_warp.flight];
  each_row(group, sub_warp, sub_warp.executing, [&](unsigned row, LaneMask lanes) { group.taken[row] |= lanes; });
  sub_warp.resolved = true;
  ++flight.resolved;
  if (sub_warp.flight == group.latest && flight.all_formed && flight.resolved == flight.formed && !flight.released &&
      group.has_free_flight() && divergence_->branches_early(group, group.decoded->instruction, group.taken)) {
    flight.released = true;
    go_on(group, *group.decoded);
  }
}

void WarpUnit::decide_nothing() {
  deciding_.assign(releases_diverged_ ? state_.groups.size() : 0, {});
  for (Deciding& each : deciding_) {
    each.decided.assign(state_.rows_per_warp, 0);
  }
  undecided_.clear();
}

// A sub-warp of a branch has completed. Where its group has gone on without it, its threads stay on the path that runs
// or leave.
void WarpUnit::decide(Group& group, const link::SubWarp& sub_warp) {
  Deciding& deciding = deciding_[group.id];
  if (deciding.flight != sub_warp.flight) {
    each_row(group, sub_warp, sub_warp.lanes, [&](unsigned row, LaneMask lanes) { deciding.decided[row] |= lanes; });
    return;
  }
  for (const bool taken : {true, false}) {
    const LaneMask which = taken ? sub_warp.executing : sub_warp.lanes & ~sub_warp.executing;
    each_row(group, sub_warp, which, [&](unsigned row, LaneMask lanes) {
      if (const LaneMask leaving = divergence_->decided(group, row, lanes, taken); leaving != 0) {
        left_path(group, sub_warp.flight, row, leaving);
      }
    });
  }
  const InFlight& flight = group.flights[sub_warp.flight];
  if (flight.all_formed && flight.completed + 1 == flight.formed) {
    deciding.flight = Deciding::kNone;
  }
}

// Of the branch that was fetched last: its sub-warps have gone both ways, while others are under way (undecided_).
bool WarpUnit::known_to_part(const Group& group) {
  if (!releases_diverged_ || !divergence_->parts_at_once(group, group.decoded->instruction)) {
    return false;
  }
  const std::vector<LaneMask>& decided = deciding_[group.id].decided;
  bool any_taken = false;
  bool any_not_taken = false;
  undecided_.assign(group.rows(), 0);
  for (unsigned row = 0; row < group.rows(); ++row) {
    any_taken = any_taken || group.taken[row] != 0;
    any_not_taken = any_not_taken || (decided[row] & ~group.taken[row]) != 0;
    undecided_[row] = group.active[row] & ~decided[row];
  }
  if (any_taken && any_not_taken) {
    return true;
  }
  undecided_.clear();
  return false;
}

}  // namespace heddle::hw
