// The memory side of the cache: payloads out, responses in.
#include <algorithm>
#include <bit>
#include <cstring>

#include "base/error.hpp"
#include "hw/cache/cache.hpp"
#include "tlm/byte_enables.hpp"

namespace heddle::hw {

using link::Cycle;
using ::tlm::tlm_sync_enum;

// ------------------------------------------------------------------------------------------------------ out

void Cache::describe_core(const LineRequest& request, unsigned core, bool instruction,
                          link::MemoryExtension& extension) {
  extension.core = static_cast<std::uint16_t>(core);
  extension.group = request.group;
  extension.pc = request.pc;
  extension.lanes = request.lanes;
  extension.coalesced = static_cast<std::uint8_t>(std::popcount(request.lanes));
  extension.instruction = instruction;
  extension.row_hint = request.row_hint;
  extension.posted = request.kind == LineRequest::Kind::store && !request.waits;
  extension.route = 0;
  extension.message = link::CoherenceMessage::none;
  extension.exclusive = extension.has_data = extension.keeps = false;
  extension.atomic = nullptr;
}

void Cache::fetch(const LineRequest& request, std::uint32_t mshr) {
  Payload& payload = pool_.acquire(::tlm::TLM_READ_COMMAND, beyond(request.address), line_bytes_);
  misses_[mshr].fetch = &payload;
  describe(request, payload.extension);
  payload.tag = mshr;
  ++statistics_.memory_reads;
  if (sector_bytes_ != 0) {
    enable_sectors(payload, misses_[mshr].sectors);
  }
  if (const std::size_t index = leaving_.empty() ? 0 : leaving(request.address); index != leaving_.size()) {
    leaving_[index].read = &payload;
    return;
  }
  send(payload);
}

void Cache::write(Payload& payload, const std::byte* data, const std::uint8_t* enable) {
  std::memcpy(payload.data.data(), data, line_bytes_);
  if (!link::all_enabled(enable, line_bytes_)) {
    std::memcpy(payload.enable.data(), enable, line_bytes_);
    payload.set_byte_enable_ptr(payload.enable.data());
    payload.set_byte_enable_length(line_bytes_);
  }
  if (sector_bytes_ != 0) {
    sector_statistics_.written += static_cast<unsigned>(std::popcount(enabled_sectors(enable, false)));
  }
  ++writes_;
  ++statistics_.memory_writes;
  send(payload);
}

void Cache::write_back(Frame frame) {
  if (!lines_.up_to_date(frame)) {
    update(frame);
  }
  Payload& payload = pool_.acquire(::tlm::TLM_WRITE_COMMAND, beyond(lines_.address(frame)), line_bytes_);
  describe(LineRequest{}, payload.extension);
  payload.extension.posted = true;
  ++statistics_.write_backs;
  write(payload, lines_.data(frame), lines_.dirty_bytes(frame));
}

void Cache::write_untimed(Frame frame, unsigned first, unsigned bytes) {
  const std::uint64_t address = beyond(lines_.address(frame));
  ::tlm::tlm_generic_payload payload;
  payload.set_command(::tlm::TLM_WRITE_COMMAND);
  payload.set_address(address + first);
  payload.set_data_ptr(reinterpret_cast<unsigned char*>(lines_.data(frame) + first));
  payload.set_data_length(bytes);
  payload.set_streaming_width(bytes);
  if (memory->transport_dbg(payload) != bytes) {
    remember_failed_write(address, 0, 0);
  }
}

// A line whose bytes memory refuses to tell has none.
void Cache::update(Frame frame) {
  ::tlm::tlm_generic_payload payload;
  payload.set_command(::tlm::TLM_READ_COMMAND);
  payload.set_address(beyond(lines_.address(frame)));
  payload.set_data_ptr(reinterpret_cast<unsigned char*>(lines_.data(frame)));
  payload.set_data_length(line_bytes_);
  payload.set_streaming_width(line_bytes_);
  if (memory->transport_dbg(payload) != line_bytes_) {
    std::fill_n(lines_.data(frame), line_bytes_, std::byte{0});
  }
  lines_.updated(frame);
}

void Cache::put(Frame frame, LineState next) {
  Payload& payload = pool_.acquire(::tlm::TLM_WRITE_COMMAND, beyond(lines_.address(frame)), line_bytes_);
  describe(LineRequest{}, payload.extension);
  payload.extension.posted = true;
  payload.extension.message = link::CoherenceMessage::put;
  payload.extension.has_data = lines_.dirty(frame);
  Leaving& line = leaving_.emplace_back();
  line.address = lines_.address(frame);
  line.state = next;
  line.changed = lines_.dirty(frame);
  std::memcpy(line.data.data(), lines_.data(frame), line_bytes_);
  ++puts_;
  statistics_.write_backs += line.changed ? 1 : 0;
  write(payload, lines_.data(frame), lines_.dirty_bytes(frame));
}

std::size_t Cache::leaving(std::uint64_t line) const {
  std::size_t index = 0;
  while (index != leaving_.size() && leaving_[index].address != line) {
    ++index;
  }
  return index;
}

void Cache::put_done(std::uint64_t line) {
  const std::size_t index = leaving(line);
  static_cast<void>(table_.at(leaving_[index].state, LineEvent::put_done));
  Payload* const read = leaving_[index].read;
  std::swap(leaving_[index], leaving_.back());
  leaving_.pop_back();
  if (read != nullptr) {
    send(*read);
  }
}

Cache::Given Cache::give(std::uint64_t line, LineEvent event) {
  Place place = place_of(line, lines_.find(line));
  if (const std::size_t index = leaving(line); index != leaving_.size()) {
    place = {leaving_[index].state, LineFrames::kNone, MissFile::kNone};  // its next read has not left yet
  }
  const Transition& transition = table_.at(place.state, event);
  Given given;
  if (transition.does(kStall)) {
    given.waits = true;
    return given;
  }
  given.keeps = table_.info(transition.next).place == LinePlace::here;
  given.had = place.frame != LineFrames::kNone;
  if (place.frame != LineFrames::kNone) {
    if (transition.does(kGive) && lines_.dirty(place.frame)) {
      given.line = lines_.data(place.frame);  // stays where it is
    }
    if (transition.does(kDrop)) {
      lines_.drop(place.frame);
    } else {
      lines_.set_state(place.frame, transition.next);
      if (transition.does(kGive)) {
        lines_.clean(place.frame);
      }
    }
  } else if (place.mshr != MissFile::kNone) {
    misses_[place.mshr].state = transition.next;
  } else if (const std::size_t index = leaving(line); index != leaving_.size()) {
    leaving_[index].state = transition.next;
    if (transition.does(kGive) && leaving_[index].changed) {
      given.line = leaving_[index].data.data();
    }
  }
  return given;
}

void Cache::take_bytes(std::uint64_t line, const std::byte* data, const std::uint8_t* enable) {
  const Frame frame = lines_.find(line);
  if (frame == LineFrames::kNone) {
    throw InternalError(std::string(name()) + ": a line that a cache has is not in the L2");
  }
  lines_.set_state(frame, table_.at(lines_.state(frame), LineEvent::store).next);
  link::merge_bytes(lines_.data(frame), data, enable, line_bytes_);
  lines_.add_dirty(frame, enable);
}

bool Cache::vacate(Frame frame) {
  if (!lines_.valid(frame)) {
    return true;
  }
  if (may_refuse_ && !may_leave(lines_.address(frame))) {
    return false;
  }
  const Transition& transition = table_.at(lines_.state(frame), LineEvent::replace);
  if (transition.does(kWriteBack)) {
    if (!write_room()) {
      return false;
    }
    write_back(frame);
  } else if (transition.does(kPut)) {  // with or without room: what is told to make some may wait for this fill
    put(frame, transition.next);
  }
  ++statistics_.evictions;
  if (listener_ != nullptr) {
    listener_->evicted(frame, lines_.address(frame));
  }
  if (transition.does(kRecallSharers)) {
    recall_sharers(frame);
  }
  return true;
}

void Cache::note_sharer(Frame /*frame*/, const LineRequest& /*request*/) {
  throw InternalError(std::string(name()) + ": this cache has no directory");
}

void Cache::recall_sharers(Frame /*frame*/) {
  throw InternalError(std::string(name()) + ": this cache has no directory");
}

void Cache::send(Payload& payload) {
  if (send_queue_.empty() && request_.can_begin(now_)) {
    transmit(payload);
    return;
  }
  send_queue_.push(&payload);
  awake_ = true;
  if (!request_.under_way()) {
    core_waker_.wake(std::max(request_.next(), now_ + 1));
  }
}

void Cache::transmit(Payload& payload) {
  clock_.touch(&payload, "a payload");
  if (payload.is_read()) {
    Mshr& mshr = misses_[payload.tag];
    if (mshr.open) {
      mshr.state = table_.at(mshr.state, LineEvent::departed).next;
      if (has_home_) {
        payload.extension.message =
            table_.info(mshr.state).own ? link::CoherenceMessage::own : link::CoherenceMessage::share;
      }
    }
  }
  request_.begin(payload, now_);
  ::tlm::tlm_phase phase = ::tlm::BEGIN_REQ;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  const tlm_sync_enum result = memory->nb_transport_fw(payload, phase, delay);
  if (result == ::tlm::TLM_ACCEPTED) {
    return;
  }
  const Cycle visible = clock_.visible_after(delay);
  if (result == ::tlm::TLM_COMPLETED) {
    request_.end();
    arrived(payload, visible);
    return;
  }
  if (phase == ::tlm::END_REQ) {
    request_.end(visible);
    return;
  }
  if (phase == ::tlm::BEGIN_RESP) {  // implies END_REQ
    request_.end(visible);
    arrived(payload, visible);
    phase = ::tlm::END_RESP;
    delay = clock_.until(visible);
    memory->nb_transport_fw(payload, phase, delay);
  }
}

// ------------------------------------------------------------------------------------------------------- in

tlm_sync_enum Cache::nb_transport_bw(::tlm::tlm_generic_payload& payload, ::tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) {
  if (phase != ::tlm::BEGIN_RESP && phase != ::tlm::END_REQ) {
    SC_REPORT_ERROR("heddle/cache", "unexpected phase from memory");
    return ::tlm::TLM_ACCEPTED;
  }
  const Cycle visible = clock_.visible_after(delay);
  const bool answer = phase == ::tlm::BEGIN_RESP;
  clock_.tell([this, &payload, visible, answer] {
    if (request_.under_way(payload)) {  // a response implies END_REQ
      request_.end(visible);
      if (!send_queue_.empty() && !answer) {
        core_waker_.wake(visible);
      }
    }
    if (answer) {
      arrived(static_cast<Payload&>(payload), visible);
    }
  });
  return answer ? ::tlm::TLM_COMPLETED : ::tlm::TLM_ACCEPTED;
}

void Cache::arrived(Payload& payload, Cycle visible) {
  (payload.is_write() ? acknowledgements_ : fills_).push({visible, &payload});
  awake_ = true;
  core_waker_.wake(visible);
}

void Cache::acknowledge(Payload& payload) {
  clock_.touch(&payload, "a payload");
  --writes_;
  const bool failed = payload.is_response_error();
  const auto waits = std::find_if(unacknowledged_.begin(), unacknowledged_.end(),
                                  [&payload](const Unacknowledged& one) { return one.write == &payload; });
  if (waits != unacknowledged_.end()) {
    LineRequest& request = *waits->request;
    unacknowledged_.erase(waits);
    answer(request, nullptr, failed);
  }
  if (failed) {
    remember_failed_write(payload.get_address(), payload.extension.group, payload.extension.pc);
  }
  if (payload.extension.message == link::CoherenceMessage::put) {
    put_done(payload.get_address());
  }
  payload.release();
}

bool Cache::fill(Payload& payload) {
  clock_.touch(&payload, "a payload");
  Mshr& mshr = misses_[payload.tag];
  const bool failed = payload.is_response_error();
  if (mshr.atomic) {
    LineRequest& request = *mshr.targets.front().request;
    clock_.touch(request.atomic, "the lanes of an atomic");
    misses_.release(payload.tag);
    answer(request, nullptr, failed);
    payload.release();
    return true;
  }
  if (sector_bytes_ != 0) {
    return fill_sectors(payload, mshr, failed);
  }
  Frame frame = LineFrames::kNone;
  std::byte* line = payload.data.data();
  if (mshr.open) {
    const Transition& transition = table_.at(mshr.state, failed                        ? LineEvent::fail
                                                         : payload.extension.exclusive ? LineEvent::fill_own
                                                                                       : LineEvent::fill);
    if (transition.does(kFetch)) {
      fetch_again(payload, transition.next);
      payload.release();
      return true;
    }
    if (transition.does(kInstall)) {
      frame = lines_.victim(mshr.address);
      if (!vacate(frame)) {
        return false;
      }
      lines_.install(frame, mshr.address, transition.next);
      if (listener_ != nullptr) {
        listener_->installed(frame, payload.extension.group);
      }
      std::memcpy(lines_.data(frame), line, line_bytes_);
      line = lines_.data(frame);
      ++statistics_.fills;
    }
  }
  misses_.close(payload.tag);
  serve(mshr, line, frame, failed);
  if (mshr.drop && frame != LineFrames::kNone) {
    recall(frame);
  }
  if (failed && table_.info(mshr.state).owes) {
    remember_failed_write(beyond(mshr.address), payload.extension.group, payload.extension.pc);
  }
  misses_.release(payload.tag);
  payload.release();
  return true;
}

// A copy has come, and stores wait for the line: who asked before them takes it, and it is asked for again, to be this
// cache's own.
void Cache::fetch_again(const Payload& payload, LineState next) {
  const std::uint32_t tag = payload.tag;
  Mshr& mshr = misses_[tag];
  const auto first_store = std::find_if(mshr.targets.begin(), mshr.targets.end(), [](const MissTarget& target) {
    return target.request == nullptr || target.request->kind != LineRequest::Kind::load;
  });
  for (auto target = mshr.targets.begin(); target != first_store; ++target) {
    answer(*target->request, payload.data.data(), false);
  }
  mshr.targets.erase(mshr.targets.begin(), first_store);
  mshr.state = next;
  ++upgrades_;
  LineRequest request;
  request.kind = LineRequest::Kind::store;
  request.address = mshr.address;
  request.core = payload.extension.core;
  request.group = payload.extension.group;
  request.pc = payload.extension.pc;
  request.lanes = payload.extension.lanes;
  fetch(request, tag);
}

void Cache::serve(Mshr& mshr, std::byte* line, Frame frame, bool failed) {
  // Of lines with sectors, stores have been written where the line is, or when it was.
  const bool owes = frame != LineFrames::kNone && table_.info(lines_.state(frame)).owes && sector_bytes_ == 0;
  const auto store = [&](const std::byte* data, const std::uint8_t* enable) {
    --waiting_stores_;
    link::merge_bytes(line, data, enable, line_bytes_);
    if (owes) {
      lines_.add_dirty(frame, enable);
    }
  };
  for (const MissTarget& target : mshr.targets) {
    if (target.request == nullptr) {
      const StoreBuffer& buffer = misses_.store(target.store);
      store(buffer.data.data(), buffer.enable.data());
      continue;
    }
    LineRequest& request = *target.request;
    switch (request.kind) {
      case LineRequest::Kind::load:
        if (!failed && keeps_sharers_) {
          note_sharer(frame, request);
        }
        break;
      case LineRequest::Kind::store:
        store(request.store_data, request.byte_enable);
        break;
      case LineRequest::Kind::atomic:
        if (!failed) {
          step(request, line, frame);
        }
        break;
    }
    answer(request, line, failed);
  }
}

void Cache::answer(LineRequest& request, const std::byte* line, bool failed) {
  request.failed = failed;
  request.line = failed ? nullptr : line;
  statistics_.failed_reads += failed && request.kind != LineRequest::Kind::store ? 1 : 0;
  link::LinePhase phase = link::LinePhase::response;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  cpu->nb_transport_bw(request, phase, delay);
}

void Cache::remember_failed_write(std::uint64_t address, std::uint32_t group, std::uint32_t pc) {
  ++statistics_.failed_writes;
  if (!failed_write_) {
    failed_write_ = FailedWrite{address, group, pc};
  }
}

}  // namespace heddle::hw
