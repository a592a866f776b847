// The waves of the warp-split table (SplitWaves in core_waves.hpp).
#include "hw/divergence/owned_places.hpp"
#include "hw/waves/core_waves.hpp"

namespace heddle::hw {

void OwnerWaves::show(const GroupTable& groups, GroupId owner) {
  const bool taken = owner != OwnedPlaces::kNobody;
  valid.set(taken ? 1 : 0);
  if (taken) {
    row.set(groups[owner].first_row);
    group.set(owner);
  }
}

void SplitWaves::show(const GroupTable& groups, const Divergence::SplitTableView& view) {
  for (std::size_t at = 0; at < entries.size(); ++at) {
    Entry& entry = entries[at];
    entry.show(groups, view.entries[at]);
    if (view.entries[at] != OwnedPlaces::kNobody) {
      const Group& group = groups[view.entries[at]];
      entry.mask.set(group.active[0]);
      entry.pc.set(group.pc);
      entry.status.set(static_cast<std::uint64_t>(group.state));
    }
  }
  for (std::size_t at = 0; at < slots.size(); ++at) {
    slots[at].show(groups, view.slots[at]);
  }
}

}  // namespace heddle::hw
