// What is shown of warp-splits, and whether what is held of them fits together.
#include <fmt/format.h>

#include <algorithm>

#include "hw/divergence/subdivision.hpp"

namespace heddle::hw {

// The splits of the warp hold each of its running threads once; of a waiting entry none, or, of a join, all.
std::string Subdivision::inconsistency(const Group& group) const {
  const Warp& warp = warps_[group.first_row];
  LaneMask held = 0;
  for (const GroupId id : warp.splits) {
    if ((held & groups_[id].active[0]) != 0) {
      return fmt::format("register row {}: a thread of it is in two warp-splits", group.first_row);
    }
    held |= groups_[id].active[0];
  }
  if (held != warp.running) {
    return fmt::format("register row {}: the warp-splits hold {:08x} of the running threads {:08x}", group.first_row,
                       held, warp.running);
  }
  if (const auto torn = warp.stack.tears(held)) {
    return fmt::format("register row {}: the entry for PC {} holds some of the running threads", group.first_row,
                       *torn);
  }
  return places_.inconsistency();
}

Divergence::StackView Subdivision::stack_view(const Group& group) const {
  return warps_[group.first_row].stack.view();
}

std::string Subdivision::describe(const Group& group) const {
  static constexpr const char* kWaits[] = {"",
                                           ", waits for an entry or a slot",
                                           ", waits at the re-convergence point",
                                           ", waits at the branch",
                                           ", waits at a barrier",
                                           ", waits for the others' access",
                                           ", waits for those ahead"};
  const Warp& warp = warps_[group.first_row];
  std::string text = fmt::format("{} warp-splits, {} stack entries", warp.splits.size(), warp.stack.size());
  for (const GroupId id : warp.splits) {
    text += fmt::format("; PC {} lanes {:08x}{}", groups_[id].pc, groups_[id].active[0],
                        kWaits[static_cast<std::size_t>(split_[id].waits)]);
  }
  return text;
}

}  // namespace heddle::hw
