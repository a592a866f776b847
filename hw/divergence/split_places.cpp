#include "hw/divergence/split_places.hpp"

#include <fmt/format.h>

namespace heddle::hw {

std::string SplitPlaces::inconsistency() const {
  unsigned entries = 0;
  unsigned slots = 0;
  for (GroupId group = 0; group < of_.size(); ++group) {
    const Held& held = of_[group];
    entries += held.has_entry ? 1 : 0;
    slots += held.has_slot ? 1 : 0;
    if ((held.has_entry && entries_.owners()[held.entry] != group) ||
        (held.has_slot && slots_.owners()[held.slot] != group)) {
      return "an entry of the warp-split table, or a slot, is held by another than its owner";
    }
  }
  return entries == entries_.used() && slots == slots_.used()
             ? ""
             : fmt::format("{} entries and {} slots are taken, {} and {} are held", entries_.used(), slots_.used(),
                           entries, slots);
}

}  // namespace heddle::hw
