#include "hw/cache/cache.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/error.hpp"

namespace heddle::hw {

using link::Cycle;
using link::kNever;

Cache::Cache(const sc_core::sc_module_name& name, const CacheParameters& parameters, TransitionTable table,
             link::Clock clock, link::Waker& core_waker, unsigned banks)
    : sc_core::sc_module(name),
      cpu("cpu"),
      memory("memory"),
      clock_(clock),
      core_waker_(core_waker),
      table_(std::move(table)),
      keeps_sharers_(table_.ever_does(kNoteSharer)),
      has_home_(table_.has_home()),
      line_bytes_(parameters.line_bytes),
      sector_bytes_(parameters.sector_bytes == parameters.line_bytes ? 0 : parameters.sector_bytes),
      hit_latency_(parameters.hit_latency),
      ports_(parameters.ports),
      banks_(banks),
      answers_at_once_(hit_latency_ == 1 && banks_ == 0 && sector_bytes_ == 0),
      write_buffer_(parameters.write_buffer),
      lines_(parameters.bytes, parameters.ways, parameters.line_bytes, parameters.index == "hash"),
      valid_(sector_bytes_ != 0 ? lines_.frames() : 0),
      misses_(parameters.mshrs, parameters.mshr_targets, parameters.line_bytes) {
  if (line_bytes_ > link::kMaxLineBytes) {
    throw InternalError("cache lines have at most " + std::to_string(link::kMaxLineBytes) + " bytes");
  }
  cpu.bind(*this);
  memory.bind(*this);
}

// ---------------------------------------------------------------------------------------------------- one cycle

Cycle Cache::work(Cycle now) {
  begin_cycle(now);
  read_.clear();
  while (!acknowledgements_.empty() && acknowledgements_.front().visible <= now) {
    Payload& payload = *acknowledgements_.front().payload;
    acknowledgements_.pop();
    acknowledge(payload);
    may_have_room();
  }
  fill_blocked_ = false;
  while (!fills_.empty() && fills_.front().visible <= now) {
    if (!fill(*fills_.front().payload)) {
      fill_blocked_ = true;  // an acknowledgement will wake the core
      break;
    }
    fills_.pop();
    may_have_room();
  }
  const bool drops = !invalidated_.empty() && invalidated_.front().visible <= now;
  if (drops) {
    drop_invalidated();
    may_have_room();
  }
  while (!delayed_.empty() && delayed_.front().ready <= now) {
    const DelayedHit hit = delayed_.front();
    delayed_.pop();
    if (hit.snapshot == kNoSnapshot) {  // an atomic, a store that waits
      answer(*hit.request, nullptr, hit.request->failed);
      continue;
    }
    answer(*hit.request, snapshots_[hit.snapshot].data.data(), hit.request->failed);
    free_snapshots_.push_back(hit.snapshot);
  }
  const Cycle heard = has_home_ ? hear_home(now) : kNever;
  if (flushing_) {
    continue_flush();
    may_have_room();
  }
  if (!send_queue_.empty() && request_.can_begin(now)) {
    Payload& payload = *send_queue_.front();
    send_queue_.pop();
    transmit(payload);
  }

  Cycle next = kNever;
  const auto want = [&next, now](Cycle at) { next = std::min(next, std::max(at, now + 1)); };
  if (!send_queue_.empty() && !request_.under_way()) {
    want(request_.next());
  }
  if (!acknowledgements_.empty()) {
    want(acknowledgements_.front().visible);
  }
  if (!fills_.empty() && (!fill_blocked_ || drops)) {
    want(fills_.front().visible);
  }
  if (!delayed_.empty()) {
    want(delayed_.front().ready);
  }
  if (!invalidated_.empty()) {
    want(invalidated_.front().visible);
  }
  if (heard != kNever) {
    want(heard);
  }
  if (observer_ != nullptr) {
    show_state();
  }
  awake_ = !at_rest();
  return next;
}

void Cache::observe(CacheObserver* observer) {
  observer_ = observer;
  awake_ = true;
  if (observer != nullptr) {
    observer->attached(statistics_);
    show_state();
  }
}

void Cache::show_state() {
  observer_->changed(statistics_, misses_.used(), writes_, send_queue_.size());
}

void Cache::show_accepted(std::uint64_t line) {
  observer_->request(beyond(line));
  show_state();
}

// ------------------------------------------------------------------------------------------------- control

void Cache::flush() {
  if (!flushing_) {
    flushing_ = true;
    awake_ = true;
    flush_begun_ = false;
    core_waker_.wake(clock_.now() + 1);
  }
}

void Cache::continue_flush() {
  if (!misses_.empty()) {
    return;  // their lines may become dirty; each fill wakes the core
  }
  if (!flush_begun_) {
    flush_begun_ = true;
    if (has_home_) {
      lines_.valid_by_address(flush_order_);
    } else {
      lines_.dirty_by_address(flush_order_);
    }
    flush_next_ = 0;
  }
  for (; flush_next_ != flush_order_.size(); ++flush_next_) {
    const Frame frame = flush_order_[flush_next_];
    if (has_home_ ? !lines_.valid(frame) : !lines_.dirty(frame)) {
      continue;  // an inclusive L2 has had it written back
    }
    const Transition& transition = table_.at(lines_.state(frame), LineEvent::flush);
    if (transition.does(kPut)) {
      if (!write_room()) {
        return;
      }
      put(frame, transition.next);
    } else if (transition.does(kWriteBack)) {
      if (!write_room()) {
        return;  // an acknowledgement will wake the core
      }
      write_back(frame);
    }
    lines_.drop(frame);
  }
  lines_.drop_all();
  flushing_ = false;
}

void Cache::write_back_untimed() {
  write_dirty_untimed();
  lines_.drop_all();
}

void Cache::write_back_untimed_and_keep() {
  write_dirty_untimed();
  keeps_lines_ = true;
  lines_.outdate_all();
}

void Cache::memory_changed() {
  keeps_lines_ = true;
  lines_.outdate_clean();
}

void Cache::write_dirty_untimed() {
  lines_.dirty_by_address(flush_order_);
  for (const Frame frame : flush_order_) {
    static_cast<void>(table_.at(lines_.state(frame), LineEvent::flush));
    const std::uint8_t* const dirty = lines_.dirty_bytes(frame);
    // Debug accesses need not know byte enables: each run of bytes by itself.
    for (unsigned first = 0; first != line_bytes_;) {
      const std::uint8_t* const begin = std::find_if(dirty + first, dirty + line_bytes_, [](auto b) { return b != 0; });
      const std::uint8_t* const end = std::find(begin, dirty + line_bytes_, std::uint8_t{0});
      const auto from = static_cast<unsigned>(begin - dirty);
      first = static_cast<unsigned>(end - dirty);
      if (from != first) {
        write_untimed(frame, from, first - from);
      }
    }
  }
}

void Cache::invalidate() {
  may_have_room();
  lines_.drop_all();
  misses_.close_all();
}

std::byte* Cache::peek(std::uint64_t line) {
  const Frame frame = lines_.find(line);
  return frame == LineFrames::kNone || !lines_.up_to_date(frame) ? nullptr : lines_.data(frame);
}

bool Cache::knows(std::uint64_t line, unsigned offset) const {
  const Frame frame = lines_.find(line);
  return frame != LineFrames::kNone && (sector_bytes_ == 0 || ((valid_[frame] >> (offset / sector_bytes_)) & 1U) != 0 ||
                                        lines_.dirty_bytes(frame)[offset] != 0);
}

void Cache::invalidate_line(std::uint64_t address, Cycle visible) {
  invalidated_.push({visible, address});
  awake_ = true;
  core_waker_.wake(visible);
}

void Cache::drop_invalidated() {
  dropped_.clear();
  while (!invalidated_.empty() && invalidated_.front().visible <= now_) {
    dropped_.push_back(invalidated_.front().address);
    invalidated_.pop();
  }
  std::sort(dropped_.begin(), dropped_.end());  // several slices may have spoken in one cycle, in any order
  for (const std::uint64_t address : dropped_) {
    const Place place = place_of(address, lines_.find(address));
    if (place.frame != LineFrames::kNone) {
      recall(place.frame);
    } else if (table_.at(place.state, LineEvent::recall).does(kMark)) {
      misses_[place.mshr].drop = true;
    }
  }
}

// A recall does not wait for room in the write buffer: the L2 may hold back the very answers that would make room.
void Cache::recall(Frame frame) {
  if (table_.at(lines_.state(frame), LineEvent::recall).does(kWriteBack)) {
    write_back(frame);
  }
  lines_.drop(frame);
  ++statistics_.invalidations;
}

bool Cache::quiet() const {
  return !flushing_ && misses_.empty() && writes_ == 0 && delayed_.empty() && send_queue_.empty() &&
         !request_.under_way() && invalidated_.empty();
}

// ------------------------------------------------------------------------------------------------- unused paths

void Cache::b_transport(LineRequest& /*request*/, sc_core::sc_time& /*delay*/) {
  SC_REPORT_ERROR("heddle/cache", "the line protocol is non-blocking");
}

bool Cache::get_direct_mem_ptr(LineRequest& /*request*/, ::tlm::tlm_dmi& dmi) {
  return link::deny_direct_memory(dmi);
}

unsigned Cache::transport_dbg(LineRequest& /*request*/) {
  return 0;
}

void Cache::invalidate_direct_mem_ptr(sc_dt::uint64 /*start*/, sc_dt::uint64 /*end*/) {}  // it asks for none

}  // namespace heddle::hw
