// The core's side of the cache: what becomes of a load, a store, an atomic.
#include <array>
#include <cstring>

#include "hw/cache/cache.hpp"
#include "tlm/atomic_lanes.hpp"
#include "tlm/byte_enables.hpp"

namespace heddle::hw {

using ::tlm::TLM_ACCEPTED;
using ::tlm::TLM_COMPLETED;
using ::tlm::tlm_sync_enum;
using ::tlm::TLM_UPDATED;
using Answer = link::LineRequest::Answer;
using Busy = link::LineRequest::Busy;

namespace {

std::uint64_t& counter_of(CacheStatistics& statistics, Busy why) {
  switch (why) {
    case Busy::ports:
      break;
    case Busy::mshrs:
      return statistics.busy_mshrs;
    case Busy::targets:
      return statistics.busy_targets;
    case Busy::write_buffer:
      return statistics.busy_writes;
    case Busy::order:
      return statistics.busy_order;
    case Busy::flush:
      return statistics.busy_flush;
  }
  return statistics.busy_ports;
}

}  // namespace

tlm_sync_enum Cache::nb_transport_fw(LineRequest& request, link::LinePhase& phase, sc_core::sc_time& /*delay*/) {
  if (phase != link::LinePhase::request || request.address % line_bytes_ != 0) {
    SC_REPORT_ERROR("heddle/cache", "a line request starts with phase request at a line's first byte");
    return TLM_UPDATED;
  }
  if (flushing_ || ports_used_ == ports_) {
    const tlm_sync_enum refused = busy(request, flushing_ ? Busy::flush : Busy::ports);
    if (observer_ != nullptr) {
      show_state();
    }
    return refused;
  }
  request.failed = false;
  tlm_sync_enum result = TLM_UPDATED;
  switch (request.kind) {
    case LineRequest::Kind::load:
      result = request.bypass && enabled_ ? bypass_load(request) : load(request);
      break;
    case LineRequest::Kind::store:
      result = write_through_ ? store_through(request) : store_back(request);
      break;
    case LineRequest::Kind::atomic:
      result = atomics_here_ ? atomic_here(request) : atomic(request);
      break;
  }
  if (result != TLM_UPDATED) {
    ++ports_used_;
  }
  if (observer_ != nullptr) {
    if (result != TLM_UPDATED) {
      observer_->request(beyond(request.address));
    }
    show_state();
  }
  return result;
}

tlm_sync_enum Cache::busy(LineRequest& request, Busy why) {
  request.answer = Answer::busy;
  request.busy = why;
  refusals_ = &counter_of(statistics_, why);
  ++*refusals_;
  return TLM_UPDATED;
}

void Cache::hit(LineRequest& request, std::uint64_t& kind) {
  request.answer = Answer::hit;
  ++kind;
  ++statistics_.accesses;
  ++statistics_.hits;
}

void Cache::miss(LineRequest& request, std::uint64_t& kind) {
  request.answer = Answer::miss;
  ++kind;
  ++statistics_.accesses;
  ++statistics_.misses;
}

void Cache::merged(LineRequest& request, std::uint64_t& kind) {
  miss(request, kind);
  request.answer = Answer::merged;
  ++statistics_.merged;
}

tlm_sync_enum Cache::answer_hit(LineRequest& request, LineArray::Frame frame) {
  hit(request, statistics_.loads);
  lines_.touch(frame);
  note_holder(frame, request);
  if (hit_latency_ == 1) {
    request.line = lines_.data(frame);
    return TLM_COMPLETED;
  }
  if (free_snapshots_.empty()) {
    snapshots_.emplace_back();
    free_snapshots_.push_back(static_cast<std::uint32_t>(snapshots_.size() - 1));
  }
  const std::uint32_t snapshot = free_snapshots_.back();
  free_snapshots_.pop_back();
  std::memcpy(snapshots_[snapshot].data.data(), lines_.data(frame), line_bytes_);
  const link::Cycle ready = now_ + hit_latency_ - 1;
  request.answer = Answer::late_hit;
  delayed_.push({ready, &request, snapshot});
  core_waker_.wake(ready);
  return TLM_ACCEPTED;
}

// The hint goes with the read as long as that has not left.
void Cache::merge_load(LineRequest& request, std::uint32_t mshr) {
  misses_.add_load(mshr, request);
  merged(request, statistics_.loads);
  if (request.row_hint && !misses_[mshr].sent) {
    misses_[mshr].fetch->extension.row_hint = true;
  }
}

tlm_sync_enum Cache::load(LineRequest& request) {
  if (enabled_) {
    const LineArray::Frame frame = lines_.find(request.address);
    if (frame != LineArray::kNone) {
      return answer_hit(request, frame);
    }
    const std::uint32_t open = misses_.find(request.address);
    if (open != MissFile::kNone) {
      if (!misses_.can_add_load(open)) {
        return busy(request, Busy::targets);
      }
      merge_load(request, open);
      return TLM_ACCEPTED;
    }
  }
  if (misses_.full()) {
    return busy(request, Busy::mshrs);
  }
  const std::uint32_t mshr = misses_.allocate(request.address, enabled_);
  misses_.add_load(mshr, request);
  miss(request, statistics_.loads);
  fetch(request, mshr);
  return TLM_ACCEPTED;
}

bool Cache::give_up_copy(LineRequest& request) {
  const LineArray::Frame frame = lines_.find(request.address);
  if (frame == LineArray::kNone) {
    return true;
  }
  if (lines_.dirty(frame)) {
    if (!write_room()) {
      static_cast<void>(busy(request, Busy::write_buffer));
      return false;
    }
    write_back(frame);
  }
  tell_holders(frame);
  lines_.drop(frame);
  return true;
}

tlm_sync_enum Cache::bypass_load(LineRequest& request) {
  const std::uint32_t open = misses_.find(request.address);
  if (open != MissFile::kNone && !misses_[open].sent) {  // that read is still to come: it will do
    if (!misses_.can_add_load(open)) {
      return busy(request, Busy::targets);
    }
    merge_load(request, open);
    ++statistics_.bypasses;
    return TLM_ACCEPTED;
  }
  if (open != MissFile::kNone && misses_[open].dirty) {
    return busy(request, Busy::order);
  }
  if (misses_.full()) {
    return busy(request, Busy::mshrs);
  }
  if (!give_up_copy(request)) {
    return TLM_UPDATED;
  }
  if (open != MissFile::kNone) {
    misses_.close(open);  // what it fetches may be older than what this load must see
  }
  const std::uint32_t mshr = misses_.allocate(request.address, true);
  misses_.add_load(mshr, request);
  miss(request, statistics_.loads);
  ++statistics_.bypasses;
  fetch(request, mshr);
  return TLM_ACCEPTED;
}

tlm_sync_enum Cache::store_back(LineRequest& request) {
  LineArray::Frame frame = lines_.find(request.address);
  if (frame != LineArray::kNone) {
    link::merge_bytes(lines_.data(frame), request.store_data, request.byte_enable, line_bytes_);
    lines_.add_dirty(frame, request.byte_enable);
    lines_.touch(frame);
    hit(request, statistics_.stores);
    return TLM_COMPLETED;
  }
  const std::uint32_t open = misses_.find(request.address);
  if (open != MissFile::kNone) {
    if (!misses_.can_add_store(open)) {
      return busy(request, Busy::targets);
    }
    misses_.add_store(open, request.store_data, request.byte_enable);
    misses_[open].dirty = true;
    merged(request, statistics_.stores);
    return TLM_COMPLETED;
  }
  if (link::all_enabled(request.byte_enable, line_bytes_)) {  // nothing to fetch
    frame = lines_.victim(request.address);
    if (!vacate(frame)) {
      return busy(request, Busy::write_buffer);
    }
    lines_.install(frame, request.address);
    std::memcpy(lines_.data(frame), request.store_data, line_bytes_);
    lines_.add_dirty(frame, request.byte_enable);
    miss(request, statistics_.stores);
    return TLM_COMPLETED;
  }
  if (misses_.full()) {
    return busy(request, Busy::mshrs);
  }
  const std::uint32_t mshr = misses_.allocate(request.address, true);
  misses_.add_store(mshr, request.store_data, request.byte_enable);
  misses_[mshr].dirty = true;
  miss(request, statistics_.stores);
  fetch(request, mshr);
  return TLM_COMPLETED;
}

tlm_sync_enum Cache::store_through(LineRequest& request) {
  if (!write_room()) {
    return busy(request, Busy::write_buffer);
  }
  const LineArray::Frame frame = enabled_ ? lines_.find(request.address) : LineArray::kNone;
  if (frame != LineArray::kNone) {
    link::merge_bytes(lines_.data(frame), request.store_data, request.byte_enable, line_bytes_);
    lines_.touch(frame);
    hit(request, statistics_.stores);
  } else {
    const std::uint32_t open = enabled_ ? misses_.find(request.address) : MissFile::kNone;
    if (open != MissFile::kNone) {  // the line on its way lacks this store: merge it when it comes
      if (!misses_.can_add_store(open)) {
        return busy(request, Busy::targets);
      }
      misses_.add_store(open, request.store_data, request.byte_enable);
      merged(request, statistics_.stores);
    } else {
      miss(request, statistics_.stores);
    }
  }
  Payload& payload = pool_.acquire(::tlm::TLM_WRITE_COMMAND, beyond(request.address), line_bytes_);
  describe(request, payload);
  write(payload, request.store_data, request.byte_enable);
  return TLM_COMPLETED;
}

tlm_sync_enum Cache::atomic(LineRequest& request) {
  const std::uint32_t open = misses_.find(request.address);
  if (open != MissFile::kNone && misses_[open].dirty) {
    return busy(request, Busy::order);
  }
  if (misses_.full()) {
    return busy(request, Busy::mshrs);
  }
  if (!give_up_copy(request)) {
    return TLM_UPDATED;
  }
  if (open != MissFile::kNone) {
    misses_.close(open);  // it fetches the line as it was before this atomic
  }
  const std::uint32_t mshr = misses_.allocate(request.address, false);
  misses_[mshr].atomic = true;
  misses_.add_load(mshr, request);
  miss(request, statistics_.atomics);
  Payload& payload = pool_.acquire(::tlm::TLM_IGNORE_COMMAND, beyond(request.address) + request.atomic_offset,
                                   line_bytes_ - request.atomic_offset);
  describe(request, payload);
  payload.extension.atomic = request.atomic;
  payload.tag = mshr;
  send(payload);
  return TLM_ACCEPTED;
}

// Where the line is: here, or here as soon as it has come.
tlm_sync_enum Cache::atomic_here(LineRequest& request) {
  const LineArray::Frame frame = lines_.find(request.address);
  if (frame != LineArray::kNone) {
    hit(request, statistics_.atomics);
    lines_.touch(frame);
    step(request, lines_.data(frame), frame);
    if (hit_latency_ == 1) {
      return TLM_COMPLETED;
    }
    request.answer = Answer::late_hit;
    const link::Cycle ready = now_ + hit_latency_ - 1;
    delayed_.push({ready, &request, kNoSnapshot});
    core_waker_.wake(ready);
    return TLM_ACCEPTED;
  }
  const std::uint32_t open = misses_.find(request.address);
  if (open != MissFile::kNone) {
    if (!misses_.can_add_load(open)) {
      return busy(request, Busy::targets);
    }
    misses_.add_load(open, request);
    misses_[open].dirty = true;
    merged(request, statistics_.atomics);
    return TLM_ACCEPTED;
  }
  if (misses_.full()) {
    return busy(request, Busy::mshrs);
  }
  const std::uint32_t mshr = misses_.allocate(request.address, true);
  misses_.add_load(mshr, request);
  misses_[mshr].dirty = true;
  miss(request, statistics_.atomics);
  fetch(request, mshr);
  return TLM_ACCEPTED;
}

void Cache::step(LineRequest& request, std::byte* line, LineArray::Frame frame) {
  std::array<std::uint8_t, link::kMaxLineBytes> touched{};
  link::step_lanes(*request.atomic, line + request.atomic_offset, touched.data() + request.atomic_offset);
  if (frame != LineArray::kNone) {
    lines_.add_dirty(frame, touched.data());
  }
}

}  // namespace heddle::hw
