// What is shown of warp-splits, and whether what is held of them fits together.
#include <fmt/format.h>

#include "hw/divergence/subdivision.hpp"

namespace heddle::hw {

std::string Subdivision::inconsistency(const Group& group) const {
  const Warp& warp = warps_[group.first_row];
  const std::string wrong = inconsistency_of_splits(groups_, warp.splits, group.first_row, warp.running, warp.stack);
  return wrong.empty() ? places_.inconsistency() : wrong;
}

std::string Subdivision::describe(const Group& group) const {
  const Warp& warp = warps_[group.first_row];
  std::string text = fmt::format("{} warp-splits, {} stack entries", warp.splits.size(), warp.stack.size());
  for (const GroupId id : warp.splits) {
    text += fmt::format("; PC {} lanes {:08x}{}", groups_[id].pc, groups_[id].active[0], text_of(state_[id].waits));
  }
  return text;
}

}  // namespace heddle::hw
