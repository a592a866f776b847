#include "hw/core/memory/bulk_copy_path.hpp"

#include "base/set_bits.hpp"

namespace heddle::hw {

bool BulkCopyPath::send(MemoryAccess& access) {
  const link::SubWarp& sub_warp = *access.sub_warp;
  unsigned number = 0;
  for (const unsigned lane : set_bits(access.lanes)) {
    if (number++ < access.sent) {
      continue;
    }
    if (free_.empty()) {
      free_.push_back(all_.emplace_back(std::make_unique<OfLane>()).get());
    }
    OfLane& copy = *free_.back();
    const BlockHome& home = *state_.thread_at(sub_warp, lane).home->block;
    if (home.scratchpad_core != state_.in_core) {
      throw InternalError("a thread copies to the scratchpad of its block from another core");
    }
    copy.request = {sub_warp.address[lane], home.scratchpad_base + sub_warp.values.result[0][lane],
                    sub_warp.values.result[1][lane], home.scratchpad_base + sub_warp.values.result[2][lane]};
    copy.timed_only = state_.replay != nullptr;
    copy.core = static_cast<std::uint16_t>(state_.in_core);
    copy.group = state_.in_core_number(sub_warp.group);
    copy.pc = sub_warp.pc;
    copy.access = &access;
    copy.lane = lane;
    BulkCopyPhase phase = BulkCopyPhase::request;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    if (socket->nb_transport_fw(copy, phase, delay) == ::tlm::TLM_UPDATED) {
      state_.block_cause = IdleCause::memory_queue;
      return false;
    }
    free_.pop_back();
    ++access.sent;
    ++access.outstanding;
  }
  return true;
}

MemoryAccess& BulkCopyPath::take(BulkCopy& ended) {
  OfLane& copy = static_cast<OfLane&>(ended);
  MemoryAccess& access = *copy.access;
  --access.outstanding;
  free_.push_back(&copy);
  if (copy.failed) {
    state_.raise(isa::Fault::Kind::bus_error, *access.sub_warp, copy.lane, access.sub_warp->address[copy.lane],
                 copy.request.bytes, "the memory answered with an error");
  }
  return access;
}

}  // namespace heddle::hw
