// Requests where memory is perfect: each is a hit, whatever is in the cache.
#include <array>
#include <cstring>

#include "hw/cache/cache.hpp"
#include "tlm/atomic_lanes.hpp"

namespace heddle::hw {

using ::tlm::TLM_COMPLETED;
using ::tlm::tlm_sync_enum;

tlm_sync_enum Cache::accept_perfect(LineRequest& request) {
  switch (request.kind) {
    case LineRequest::Kind::load:
      return load_perfect(request);
    case LineRequest::Kind::store:
      store_perfect(request);
      return request.waits && hit_latency_ != 1 ? answer_later(request, kNoSnapshot) : TLM_COMPLETED;
    case LineRequest::Kind::atomic:
      break;
  }
  // The lanes' old values are there at the end of the cycle; until then the answer is on its way.
  hit(request, statistics_.atomics);
  clock_.touch(request.atomic, "the lanes of an atomic");
  clock_.at_cycle_end([this, &request] { step_perfect(request); });
  return answer_later(request, kNoSnapshot);
}

tlm_sync_enum Cache::load_perfect(LineRequest& request) {
  const std::uint32_t snapshot = take_snapshot();
  std::byte* const line = snapshots_[snapshot].data.data();
  request.failed = !perfect_->read(beyond(request.address), line, line_bytes_);
  hit(request, statistics_.loads);
  if (hit_latency_ == 1 && !request.failed) {
    request.line = line;
    free_snapshots_.push_back(snapshot);  // valid until the next request
    return TLM_COMPLETED;
  }
  return answer_later(request, snapshot);
}

// What is stored is kept here until the end of the cycle.
void Cache::store_perfect(LineRequest& request) {
  hit(request, statistics_.stores);
  PerfectStore& store = perfect_stores_.emplace_back();
  store.address = request.address;
  store.group = request.group;
  store.pc = request.pc;
  std::memcpy(store.data.data(), request.store_data, line_bytes_);
  std::memcpy(store.enable.data(), request.byte_enable, line_bytes_);
  clock_.at_cycle_end([this] { finish_perfect_stores(); });
}

void Cache::finish_perfect_stores() {
  for (const PerfectStore& store : perfect_stores_) {
    if (!perfect_->write(beyond(store.address), store.data.data(), store.enable.data(), line_bytes_)) {
      remember_failed_write(store.address, store.group, store.pc);
      core_waker_.wake(now_ + 1);
    }
  }
  perfect_stores_.clear();
}

void Cache::step_perfect(LineRequest& request) {
  std::array<std::byte, link::kMaxLineBytes> line;
  std::array<std::uint8_t, link::kMaxLineBytes> touched{};
  const std::uint64_t address = beyond(request.address);
  request.failed = !perfect_->read(address, line.data(), line_bytes_);
  if (!request.failed) {
    link::step_lanes(*request.atomic, line.data() + request.atomic_offset, touched.data() + request.atomic_offset);
    request.failed = !perfect_->write(address, line.data(), touched.data(), line_bytes_);
  }
}

}  // namespace heddle::hw
