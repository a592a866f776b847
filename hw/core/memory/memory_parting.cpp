// Accesses that are put aside, when some of their threads leave with what they have.
#include "hw/core/memory/memory.hpp"

namespace heddle::hw {

MemoryAccess* MemoryStage::aside_of(const Group& group) const {
  for (const auto& access : accesses_) {
    if (access->aside && access->outstanding != 0 && access->sub_warp->group == group.id) {
      return access.get();
    }
  }
  return nullptr;
}

void MemoryStage::look_for_divergence(const MemoryAccess& access) {
  if (warps_ == nullptr || access.late != 0 || state_.fault) {
    return;
  }
  const Group& group = state_.groups[access.sub_warp->group];
  if (answered(group) != 0) {
    warps_->memory_diverged(group.id);
  }
}

LaneMask MemoryStage::answered(const Group& group) const {
  const InFlight& flight = group.flight();
  const MemoryAccess* const access = aside_of(group);
  if (access == nullptr || flight.formed != 1 || !flight.all_formed) {
    return 0;
  }
  return group.active[0] & ~access->waiting();
}

void MemoryStage::leave(const Group& group, LaneMask lanes, const Group& to) {
  MemoryAccess& access = *aside_of(group);
  link::SubWarp& rest = *access.sub_warp;
  if (access.kind == MemoryAccess::Kind::load) {
    follow_local(access);
    access.finish_load();  // of the threads that wait: anything, until their lines have come
  } else if (access.kind == MemoryAccess::Kind::texture) {
    access.finish_fetch();
  }
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
  comes_back(part, false);
  state_.moved();
}

}  // namespace heddle::hw
