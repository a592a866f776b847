#include "hw/divergence/split_mechanism.hpp"

#include <fmt/format.h>

namespace heddle::hw {

const char* text_of(SplitWait wait) {
  switch (wait) {
    case SplitWait::none:
      break;
    case SplitWait::resources:
      return ", waits for an entry or a slot";
    case SplitWait::merge:
      return ", waits at the re-convergence point";
    case SplitWait::branch:
      return ", waits at the branch";
    case SplitWait::barrier:
      return ", waits at a barrier";
    case SplitWait::access:
      return ", waits for the others' access";
    case SplitWait::ahead:
      return ", waits for those ahead";
  }
  return "";
}

std::string inconsistency_of_splits(const GroupTable& groups, const std::vector<GroupId>& splits, unsigned row,
                                    LaneMask running, const RowStack& stack) {
  LaneMask held = 0;
  for (const GroupId id : splits) {
    if ((held & groups[id].active[0]) != 0) {
      return fmt::format("register row {}: a thread of it is in two warp-splits", row);
    }
    held |= groups[id].active[0];
  }
  if (held != running) {
    return fmt::format("register row {}: the warp-splits hold {:08x} of the running threads {:08x}", row, held,
                       running);
  }
  if (const auto torn = stack.tears(held)) {
    return fmt::format("register row {}: the entry for PC {} holds some of the running threads", row, *torn);
  }
  return {};
}

}  // namespace heddle::hw
