#include "hw/core/memory/pending_accesses.hpp"

#include "hw/issue/discipline.hpp"

namespace heddle::hw {

PendingAccesses::PendingAccesses(CoreState& state) : state_(state), groups_go_on_(stalls_on_use(state.core)) {}

void PendingAccesses::wait_for_lines(MemoryAccess& access) {
  ++state_.statistics.put_aside;
  ++put_aside_;
  access.aside = true;
  set_waiting(*access.sub_warp);
}

void PendingAccesses::wait_for_hits(const MemoryAccess& access) {
  ++late_;
  ++flight_of(access).late;
}

void PendingAccesses::wait_no_longer_for_hits(const MemoryAccess& access) {
  --late_;
  --flight_of(access).late;
}

void PendingAccesses::came(const MemoryAccess& access) {
  if (access.aside) {
    --put_aside_;
    clear_waiting(*access.sub_warp);
  } else {
    --late_;  // its group's when write-back has it (hw/core/memory/return_queue.hpp)
  }
}

MemoryAccess* PendingAccesses::aside_of(const Group& group) const {
  for (const auto& access : accesses_) {
    if (access->aside && access->outstanding != 0 && access->sub_warp->group == group.id) {
      return access.get();
    }
  }
  return nullptr;
}

LaneMask PendingAccesses::answered(const Group& group) const {
  const MemoryAccess* const access = aside_of(group);
  const InFlight& flight = group.flight();
  return access == nullptr || flight.formed != 1 || !flight.all_formed ? 0 : group.active[0] & ~access->waiting();
}

link::SubWarp& PendingAccesses::part(MemoryAccess& access, LaneMask lanes, const Group& to) {
  link::SubWarp& rest = *access.sub_warp;
  link::SubWarp& part = state_.pool.take();
  part = rest;
  part.group = to.id;
  part.flight = static_cast<std::uint8_t>(to.latest);
  for (LaneMask* const mask : {&part.lanes, &part.executing, &part.values.active}) {
    *mask &= lanes;
  }
  for (LaneMask* const mask : {&rest.lanes, &rest.executing, &rest.values.active, &access.lanes, &access.stray,
                               &access.shared, &access.constant, &access.parameter, &access.local, &access.global}) {
    *mask &= ~lanes;
  }
  if (state_.observer != nullptr) {
    state_.observer->parted(state_, part, rest);
  }
  return part;
}

void PendingAccesses::set_waiting(const link::SubWarp& sub_warp) {
  if (state_.observer != nullptr) {
    state_.observer->put_aside(state_, sub_warp);
  }
  Group& group = state_.groups[sub_warp.group];
  InFlight& flight = group.flights[sub_warp.flight];
  ++flight.waiting;
  if (group.state == GroupState::in_flight && sub_warp.flight == group.latest && flight.all_formed &&
      flight.waiting + flight.late + flight.completed == flight.formed) {
    state_.groups.set_state(group, GroupState::memory);
  }
}

void PendingAccesses::clear_waiting(const link::SubWarp& sub_warp) {
  Group& group = state_.groups[sub_warp.group];
  --group.flights[sub_warp.flight].waiting;
  if (group.state == GroupState::memory && (!groups_go_on_ || sub_warp.flight == group.latest)) {
    state_.groups.set_state(group, GroupState::in_flight);
  }
}

void PendingAccesses::reset() {
  free_.clear();
  for (const auto& access : accesses_) {
    access->sub_warp = nullptr;
    access->aside = false;
    free_.push_back(access.get());
  }
  put_aside_ = 0;
  late_ = 0;
}

}  // namespace heddle::hw
