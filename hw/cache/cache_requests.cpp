// The core's side of the cache: what becomes of a load, a store, an atomic.
#include <algorithm>
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
    case Busy::bank:
      return statistics.busy_banks;
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

std::uint64_t& kind_counter(CacheStatistics& statistics, link::LineRequest::Kind kind) {
  return kind == link::LineRequest::Kind::load    ? statistics.loads
         : kind == link::LineRequest::Kind::store ? statistics.stores
                                                  : statistics.atomics;
}

}  // namespace

tlm_sync_enum Cache::nb_transport_fw(LineRequest& request, link::LinePhase& phase, sc_core::sc_time& /*delay*/) {
  if (phase != link::LinePhase::request || (request.address & (line_bytes_ - 1)) != 0) {
    SC_REPORT_ERROR("heddle/cache", "a line request starts with phase request at a line's first byte");
    return TLM_UPDATED;
  }
  return offer(request);
}

tlm_sync_enum Cache::offer_sharing(LineRequest& request) {
  const bool shares = !flushing_ && std::find(read_.begin(), read_.end(), request.address) != read_.end();
  if (shares) {
    --ports_used_;  // the one that it shares
    banks_used_ &= banks_ != 0 ? ~banks_of(request) : banks_used_;
  }
  const tlm_sync_enum result = accept(request);
  if (shares) {
    ports_used_ += result == TLM_UPDATED ? 1 : 0;
    banks_used_ |= banks_ != 0 ? banks_of(request) : 0;
  } else if (result != TLM_UPDATED) {
    read_.push_back(request.address);
    awake_ = true;
  }
  return result;
}

// A request takes a port in the cycle in which it is accepted.
tlm_sync_enum Cache::accept(LineRequest& request) {
  if (flushing_ || ports_used_ == ports_) {
    const tlm_sync_enum refused = busy(request, flushing_ ? Busy::flush : Busy::ports);
    if (observer_ != nullptr) {
      show_state();
    }
    return refused;
  }
  if (banks_ != 0 && (banks_used_ & banks_of(request)) != 0) {
    return busy(request, Busy::bank);
  }
  request.failed = false;
  // What happens nearly always, in few steps: a load of a line that is here.
  const Frame here = perfect_ != nullptr ? LineFrames::kNone : find(request.address);
  const bool plain_load = request.kind == LineRequest::Kind::load && !request.bypass && sector_bytes_ == 0;
  const Transition* const answer =
      plain_load && here != LineFrames::kNone ? &table_.at(lines_.state(here), LineEvent::load) : nullptr;
  tlm_sync_enum result = TLM_UPDATED;
  if (answer != nullptr && answer->actions == kAnswer) {
    lines_.set_state(here, answer->next);
    result = answer_hit(request, here);
  } else {
    result = perfect_ != nullptr  ? accept_perfect(request)
             : sector_bytes_ != 0 ? take_sectors(request, here)
                                  : take(request, here);
  }
  if (result != TLM_UPDATED) {
    took_port();
    if (banks_ != 0) {
      banks_used_ |= banks_of(request);
    }
  }
  if (observer_ != nullptr) {
    if (result != TLM_UPDATED) {
      show_accepted(request.address);
    } else {
      show_state();
    }
  }
  return result;
}

void Cache::refuse(LineRequest& request, Busy why) {
  request.answer = Answer::busy;
  request.busy = why;
  refusals_ = &counter_of(statistics_, why);
  // What a home wants may make room, too, and other causes than these go by themselves.
  refusal_lasts_ = (why == Busy::mshrs || why == Busy::write_buffer) && !has_home_;
}

void Cache::refused_again(Busy why, std::uint64_t cycles) {
  counter_of(statistics_, why) += cycles;
  awake_ = awake_ || observer_ != nullptr;
}

bool Cache::would_refuse(LineRequest& request) {
  if (!misses_.full() || perfect_ != nullptr || flushing_ || banks_ != 0 || has_home_ || request.shares_port ||
      observer_ != nullptr || sector_bytes_ != 0) {
    return false;
  }
  const Place place = place_of(request.address, lines_.find(request.address));
  const Transition& transition = table_.at(place.state, event_of(request, place.state));
  if (transition.does(kWait) || !transition.does(kFetch | kFetchOnce | kForward)) {
    return false;
  }
  refuse(request, Busy::mshrs);
  return true;
}

tlm_sync_enum Cache::busy(LineRequest& request, Busy why) {
  refuse(request, why);
  *refusals_ += request.again ? 0 : 1;
  awake_ = awake_ || observer_ != nullptr;
  return TLM_UPDATED;
}

void Cache::hit(LineRequest& request, std::uint64_t& kind) {
  request.answer = Answer::hit;
  if (!request.repeats_miss) {
    count_hit(kind);
  }
}

void Cache::miss(LineRequest& request) {
  request.answer = Answer::miss;
  if (request.repeats_miss) {
    return;
  }
  ++kind_counter(statistics_, request.kind);
  ++statistics_.accesses;
  ++statistics_.misses;
}

void Cache::merged(LineRequest& request) {
  miss(request);
  request.answer = Answer::merged;
  statistics_.merged += request.repeats_miss ? 0 : 1;
}

Cache::Place Cache::place_of(std::uint64_t line, Frame frame) const {
  if (frame != LineFrames::kNone) {
    return {lines_.state(frame), frame, MissFile::kNone};
  }
  const std::uint32_t open = misses_.find(line);
  if (open == MissFile::kNone && !leaving_.empty()) {
    const std::size_t index = leaving(line);
    return {index != leaving_.size() ? leaving_[index].state : kAbsent, LineFrames::kNone, MissFile::kNone};
  }
  return {open != MissFile::kNone ? misses_[open].state : kAbsent, LineFrames::kNone, open};
}

LineEvent Cache::event_of(const LineRequest& request, LineState state) const {
  switch (request.kind) {
    case LineRequest::Kind::load:
      return request.bypass ? LineEvent::bypass : LineEvent::load;
    case LineRequest::Kind::atomic:
      return LineEvent::atomic;
    case LineRequest::Kind::store:
      break;
  }
  // Whether it is the whole line is looked at where that matters.
  const bool matters = table_.info(state).whole_line_matters;
  return matters && link::all_enabled(request.byte_enable, line_bytes_) ? LineEvent::store_line : LineEvent::store;
}

tlm_sync_enum Cache::take(LineRequest& request, Frame here) {
  Place place = place_of(request.address, here);
  if (table_.info(place.state).place == LinePlace::leaving) {
    place.state = kAbsent;  // a miss, whose read waits until the home has answered the put
  }
  const LineEvent event = event_of(request, place.state);
  const Transition& transition = table_.at(place.state, event);
  Frame frame = place.frame;
  if (!has_room(request, place, transition, frame)) {
    return TLM_UPDATED;
  }
  statistics_.bypasses += event == LineEvent::bypass && !transition.does(kFetchOnce) ? 1 : 0;
  return perform(request, place, transition, frame);
}

// `frame`: out, of a line that the transition installs.
bool Cache::has_room(LineRequest& request, const Place& place, const Transition& transition, Frame& frame) {
  const auto refuse = [&](Busy why) {
    static_cast<void>(busy(request, why));
    return false;
  };
  if (transition.does(kWait)) {
    return refuse(Busy::order);
  }
  if (transition.does(kFetch | kFetchOnce | kForward) && misses_.full()) {
    return refuse(Busy::mshrs);
  }
  if (transition.does(kWriteBack | kWriteThrough) && !write_room()) {
    return refuse(Busy::write_buffer);
  }
  if (has_home_ && transition.does(kFetch) && !write_room()) {
    return refuse(Busy::write_buffer);
  }
  if (transition.does(kMerge)) {
    const bool buffered = request.kind == LineRequest::Kind::store && !waits_for_line(request, transition);
    if (!(buffered ? misses_.can_add_store(place.mshr) : misses_.can_add_load(place.mshr))) {
      return refuse(Busy::targets);
    }
  }
  if (transition.does(kInstall)) {
    frame = lines_.victim(request.address);
    if (!vacate(frame)) {
      return refuse(Busy::write_buffer);
    }
  }
  return true;
}

tlm_sync_enum Cache::perform(LineRequest& request, const Place& place, const Transition& transition, Frame frame) {
  if (transition.does(kWriteBack)) {
    write_back(frame);
  }
  if (transition.does(kRecallSharers)) {
    recall_sharers(frame);
  }
  if (transition.does(kDrop)) {
    upgrades_ += has_home_ ? 1 : 0;
    lines_.drop(frame);
  } else if (place.frame != LineFrames::kNone) {
    lines_.set_state(frame, transition.next);
  }
  if (transition.does(kClose)) {
    misses_.close(place.mshr);
  }
  if (transition.does(kAnswer)) {
    if (transition.does(kNoteSharer)) {
      note_sharer(frame, request);
    }
    return answer_hit(request, frame);
  }
  if (transition.does(kStep)) {
    return step_hit(request, frame);
  }
  if (transition.does(kInstall)) {
    lines_.install(frame, request.address, transition.next);
    if (listener_ != nullptr) {
      listener_->installed(frame, request.group);
    }
    std::memcpy(lines_.data(frame), request.store_data, line_bytes_);
    if (table_.info(transition.next).owes) {
      lines_.add_dirty(frame, request.byte_enable);
    }
  }
  if (transition.does(kWrite)) {
    write_hit(request, frame);
  } else if (transition.does(kMerge)) {
    merge(request, transition, place.mshr);
    misses_[place.mshr].state = transition.next;
  } else {
    miss(request);
  }
  if (transition.does(kFetch | kFetchOnce)) {
    start_miss(request, transition);
  } else if (transition.does(kForward)) {
    forward(request);
  }
  if (transition.does(kWriteThrough)) {
    Payload& payload = pool_.acquire(::tlm::TLM_WRITE_COMMAND, beyond(request.address), line_bytes_);
    describe(request, payload.extension);
    if (request.waits) {
      unacknowledged_.push_back({&payload, &request});
    }
    write(payload, request.store_data, request.byte_enable);
  }
  return request.kind == LineRequest::Kind::store ? finish_store(request, transition) : TLM_ACCEPTED;
}

tlm_sync_enum Cache::finish_store(LineRequest& request, const Transition& transition) {
  if (!request.waits) {
    return TLM_COMPLETED;
  }
  if (transition.does(kFetch | kMerge | kWriteThrough)) {
    return TLM_ACCEPTED;
  }
  if (!transition.does(kWrite) || hit_latency_ == 1) {
    return TLM_COMPLETED;
  }
  return answer_later(request, kNoSnapshot);
}

tlm_sync_enum Cache::answer_hit(LineRequest& request, Frame frame) {
  hit(request, statistics_.loads);
  lines_.touch(frame);
  if (hit_latency_ == 1) {
    request.line = lines_.data(frame);
    return TLM_COMPLETED;
  }
  const std::uint32_t snapshot = take_snapshot();
  std::memcpy(snapshots_[snapshot].data.data(), lines_.data(frame), line_bytes_);
  return answer_later(request, snapshot);
}

// Room for a line as it is now.
std::uint32_t Cache::take_snapshot() {
  if (free_snapshots_.empty()) {
    snapshots_.emplace_back();
    return static_cast<std::uint32_t>(snapshots_.size() - 1);
  }
  const std::uint32_t snapshot = free_snapshots_.back();
  free_snapshots_.pop_back();
  return snapshot;
}

tlm_sync_enum Cache::answer_later(LineRequest& request, std::uint32_t snapshot) {
  const link::Cycle ready = now_ + std::max(hit_latency_ - 1, 1U);
  request.answer = Answer::late_hit;
  delayed_.push({ready, &request, snapshot});
  awake_ = true;
  core_waker_.wake(ready);
  return TLM_ACCEPTED;
}

tlm_sync_enum Cache::step_hit(LineRequest& request, Frame frame) {
  hit(request, statistics_.atomics);
  lines_.touch(frame);
  step(request, lines_.data(frame), frame);
  if (hit_latency_ == 1) {
    return TLM_COMPLETED;
  }
  request.answer = Answer::late_hit;
  const link::Cycle ready = now_ + hit_latency_ - 1;
  delayed_.push({ready, &request, kNoSnapshot});
  awake_ = true;
  core_waker_.wake(ready);
  return TLM_ACCEPTED;
}

void Cache::write_hit(LineRequest& request, Frame frame) {
  link::merge_bytes(lines_.data(frame), request.store_data, request.byte_enable, line_bytes_);
  if (table_.info(lines_.state(frame)).owes) {
    lines_.add_dirty(frame, request.byte_enable);
  }
  lines_.touch(frame);
  hit(request, statistics_.stores);
}

// A load's hint goes with the read as long as that has not left; and it is the load's warp that waits for a read that a
// store began.
void Cache::merge(LineRequest& request, const Transition& transition, std::uint32_t mshr) {
  merged(request);
  if (request.kind == LineRequest::Kind::store) {
    add_store(request, transition, mshr);
    return;
  }
  misses_.add_load(mshr, request);
  if (sector_bytes_ != 0) {
    wants_sectors(mshr, request, false);
  }
  Mshr& entry = misses_[mshr];
  if (request.kind != LineRequest::Kind::load || table_.info(entry.state).place != LinePlace::asked) {
    return;
  }
  link::MemoryExtension& extension = entry.fetch->extension;
  if (extension.posted) {
    describe(request, extension);
  } else if (request.row_hint) {
    extension.row_hint = true;
  }
}

void Cache::add_store(LineRequest& request, const Transition& transition, std::uint32_t mshr) {
  if (waits_for_line(request, transition)) {
    misses_.add_load(mshr, request);
    ++waiting_stores_;
  } else {
    waiting_stores_ += misses_.add_store(mshr, request.store_data, request.byte_enable) ? 1 : 0;
  }
}

void Cache::start_miss(LineRequest& request, const Transition& transition) {
  const std::uint32_t mshr = misses_.allocate(request.address, transition.does(kFetch));
  misses_[mshr].state = transition.next;
  if (sector_bytes_ != 0) {
    misses_[mshr].sectors = asked_.wanted & ~valid_sectors(asked_.here);
    wants_sectors(mshr, request, true);
  }
  if (request.kind == LineRequest::Kind::store) {
    add_store(request, transition, mshr);
  } else {
    misses_.add_load(mshr, request);
    if (listener_ != nullptr && request.kind == LineRequest::Kind::load && !request.bypass) {
      listener_->missed(request.address, request.group, now_);
    }
  }
  fetch(request, mshr);
}

void Cache::forward(LineRequest& request) {
  clock_.touch(request.atomic, "the lanes of an atomic");
  const std::uint32_t mshr = misses_.allocate(request.address, false);
  misses_[mshr].atomic = true;
  misses_.add_load(mshr, request);
  Payload& payload = pool_.acquire(::tlm::TLM_IGNORE_COMMAND, beyond(request.address) + request.atomic_offset,
                                   line_bytes_ - request.atomic_offset);
  describe(request, payload.extension);
  payload.extension.atomic = request.atomic;
  payload.tag = mshr;
  send(payload);
}

void Cache::step(LineRequest& request, std::byte* line, Frame frame) {
  clock_.touch(request.atomic, "the lanes of an atomic");
  std::array<std::uint8_t, link::kMaxLineBytes> touched{};
  link::step_lanes(*request.atomic, line + request.atomic_offset, touched.data() + request.atomic_offset);
  if (frame != LineFrames::kNone) {
    lines_.add_dirty(frame, touched.data());
  }
}

}  // namespace heddle::hw
