// From the lanes of a sub-warp to the masks of its group.
#pragma once

#include "base/set_bits.hpp"
#include "hw/state/group.hpp"
#include "tlm/sub_warp.hpp"

namespace heddle::hw {

// Calls visit(row, lanes) for some lanes of a sub-warp in the coordinates of its group's masks: rows and home columns,
// or, for a dynamic group, its one row and its present lanes.
template <class Visit>
void each_row(const Group& group, const link::SubWarp& sub_warp, LaneMask lanes, Visit visit) {
  if (group.dynamic) {
    visit(0U, lanes);
    return;
  }
  if (sub_warp.uniform) {
    visit(static_cast<unsigned>(sub_warp.first_row - group.first_row), lanes);
    return;
  }
  if (sub_warp.row_count != 0) {
    for (unsigned index = 0; index != sub_warp.row_count; ++index) {
      const link::RowLanes& row = sub_warp.rows[index];
      if ((row.lanes & lanes) != 0) {
        visit(static_cast<unsigned>(row.row - group.first_row), row.lanes & lanes);
      }
    }
    return;
  }
  for (const unsigned lane : set_bits(lanes)) {
    visit(static_cast<unsigned>(sub_warp.row[lane] - group.first_row), LaneMask{1} << sub_warp.home_of(lane));
  }
}

}  // namespace heddle::hw
