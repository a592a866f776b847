// Lines with sectors: a tag per line, and parts of it that are valid, fetched and written by themselves
// (CacheParameters::sector_bytes). What becomes of a request is the protocol's matter here too: the table is asked with
// the state of the sectors that the request wants, which are here, on their way, or absent.
//
//   load     a hit when all wanted sectors are valid. Else those that are not are fetched, in one read with byte
//            enables, or the load joins an MSHR on whose way they are. A line may have several MSHRs, of different
//            sectors.
//   store    write-through: into the valid sectors of the line, and to memory. Write-back: into the line, which takes a
//            frame without being fetched; bytes are dirty, and a sector is valid as soon as all of its are. What a
//            store changes of a line under way it changes there too, so that later loads may join.
//   atomic   where it is performed here: as a load, on the sectors that it wants; requests to them come after it.
//   fill     an MSHR's bytes are those that came, over them those that were here when its targets came, and what its
//            targets store, in their order. The fetched sectors become valid.
// Requests that must not find copies (bypass loads, atomics that go on) take the whole line away.
#include <algorithm>
#include <bit>
#include <cstring>

#include "hw/cache/cache.hpp"
#include "tlm/byte_enables.hpp"

namespace heddle::hw {

using ::tlm::TLM_ACCEPTED;
using ::tlm::TLM_COMPLETED;
using ::tlm::tlm_sync_enum;
using ::tlm::TLM_UPDATED;

static_assert(link::kPartBytes == kLeastSector);

// ------------------------------------------------------------------------------------------------------ requests

tlm_sync_enum Cache::take_sectors(LineRequest& request, Frame here) {
  asked_ = {wanted_sectors(request), here};
  if (request.kind == LineRequest::Kind::store) {
    const bool through = table_.at(kAbsent, LineEvent::store).does(kWriteThrough);
    return through ? store_through_sectors(request, here) : store_back_sectors(request, here);
  }
  const LineEvent event = event_of(request, kAbsent);
  const bool passes = event == LineEvent::bypass || table_.at(kAbsent, event).does(kForward);
  return passes ? pass_sectors(request, here) : read_sectors(request, here);
}

// A load, or an atomic that is performed here.
tlm_sync_enum Cache::read_sectors(LineRequest& request, Frame here) {
  const Sectors wanted = asked_.wanted;
  const Sectors valid = valid_sectors(here);
  const std::optional<std::uint32_t> joins = under_way(request, wanted, valid);
  if (!joins) {
    return busy(request, LineRequest::Busy::order);
  }
  Place place;
  if (*joins != MissFile::kNone) {
    place = {misses_[*joins].state, LineFrames::kNone, *joins};
  } else if ((wanted & ~valid) == 0) {
    place = {lines_.state(here), here, MissFile::kNone};
  }
  const Transition& transition = table_.at(place.state, event_of(request, place.state));
  Frame frame = place.frame;
  if (!has_room(request, place, transition, frame)) {
    return TLM_UPDATED;
  }
  if (here != LineFrames::kNone && place.frame == LineFrames::kNone) {
    ++sector_statistics_.misses;
  }
  return perform(request, place, transition, frame);
}

// The MSHR of which a request wants something, and which it can join; kNone: there is none. Nothing: there are some,
// and it has to wait for them.
std::optional<std::uint32_t> Cache::under_way(const LineRequest& request, Sectors wanted, Sectors valid) const {
  const bool changes = request.kind == LineRequest::Kind::atomic;
  std::uint32_t found = MissFile::kNone;
  bool must = false;
  for (std::uint32_t index = misses_.find(request.address); index != MissFile::kNone; index = misses_.another(index)) {
    const Mshr& mshr = misses_[index];
    // Later loads must see what an atomic does, whichever MSHR they join: there may be one only.
    const bool must_join = changes ? (mshr.covers() & wanted) != 0 : (mshr.changes & wanted) != 0;
    const bool can_join = (wanted & ~(mshr.covers() | valid)) == 0;
    if (must_join && (must || !can_join)) {
      return std::nullopt;
    }
    const bool would = can_join && !changes && (wanted & ~valid) != 0;
    if (must_join || (would && found == MissFile::kNone)) {
      found = index;
    }
    must = must || must_join;
  }
  return found;
}

// What a table does with the whole line: bypass loads fetch it anew, atomics go on to memory. No copy is kept, and none
// that is on its way.
tlm_sync_enum Cache::pass_sectors(LineRequest& request, Frame here) {
  Place place;
  if (here != LineFrames::kNone) {
    place = {lines_.state(here), here, MissFile::kNone};
  }
  const LineEvent event = event_of(request, place.state);
  const Transition& transition = table_.at(place.state, event);
  Frame frame = here;
  if (!has_room(request, place, transition, frame)) {
    return TLM_UPDATED;
  }
  for (std::uint32_t index = misses_.find(request.address); index != MissFile::kNone;
       index = misses_.find(request.address)) {
    misses_.close(index);
  }
  asked_.here = LineFrames::kNone;
  statistics_.bypasses += event == LineEvent::bypass && !transition.does(kFetchOnce) ? 1 : 0;
  return perform(request, place, transition, frame);
}

bool Cache::store_can_join(const LineRequest& request, Sectors wanted) const {
  for (std::uint32_t index = misses_.find(request.address); index != MissFile::kNone; index = misses_.another(index)) {
    if ((misses_[index].covers() & wanted) != 0 && !misses_.can_add_store(index)) {
      return false;
    }
  }
  return true;
}

// The bytes of a store go with every copy that is on its way. Whether there is one.
bool Cache::store_joins(LineRequest& request, Sectors wanted) {
  bool any = false;
  for (std::uint32_t index = misses_.find(request.address); index != MissFile::kNone; index = misses_.another(index)) {
    if ((misses_[index].covers() & wanted) != 0) {
      waiting_stores_ += misses_.add_store(index, request.store_data, request.byte_enable) ? 1 : 0;
      any = true;
    }
  }
  return any;
}

tlm_sync_enum Cache::store_through_sectors(LineRequest& request, Frame here) {
  const Sectors wanted = asked_.wanted;
  if (!write_room()) {
    return busy(request, LineRequest::Busy::write_buffer);
  }
  if (!store_can_join(request, wanted)) {
    return busy(request, LineRequest::Busy::targets);
  }
  const bool joins = store_joins(request, wanted);
  if ((valid_sectors(here) & wanted) != 0) {
    write_hit(request, here);
  } else if (joins) {
    merged(request);
  } else {
    miss(request);
  }
  Payload& payload = pool_.acquire(::tlm::TLM_WRITE_COMMAND, beyond(request.address), line_bytes_);
  describe(request, payload.extension);
  write(payload, request.store_data, request.byte_enable);
  return TLM_COMPLETED;
}

tlm_sync_enum Cache::store_back_sectors(LineRequest& request, Frame here) {
  const Sectors wanted = asked_.wanted;
  if (!store_can_join(request, wanted)) {
    return busy(request, LineRequest::Busy::targets);
  }
  const bool was_here = here != LineFrames::kNone;
  if (!was_here) {
    here = lines_.victim(request.address);
    if (!vacate(here)) {
      return busy(request, LineRequest::Busy::write_buffer);
    }
    lines_.install(here, request.address, table_.at(kAbsent, LineEvent::store_line).next);
    valid_[here] = 0;
    if (listener_ != nullptr) {
      listener_->installed(here, request.group);
    }
  }
  static_cast<void>(store_joins(request, wanted));
  lines_.set_state(here, table_.at(lines_.state(here), LineEvent::store).next);
  link::merge_bytes(lines_.data(here), request.store_data, request.byte_enable, line_bytes_);
  lines_.add_dirty(here, request.byte_enable);
  valid_[here] |= enabled_sectors(lines_.dirty_bytes(here), true);
  lines_.touch(here);
  if (was_here) {
    hit(request, statistics_.stores);
  } else {
    miss(request);
  }
  return TLM_COMPLETED;
}

// --------------------------------------------------------------------------------------------------------- MSHRs

// The request that is being performed waits with an MSHR; `first`: it is that one's first.
void Cache::wants_sectors(std::uint32_t mshr, const LineRequest& request, bool first) {
  if (request.kind == LineRequest::Kind::atomic) {
    misses_[mshr].changes |= asked_.wanted;
  }
  if (asked_.here != LineFrames::kNone) {
    keep_sectors(mshr, asked_.here, first && lines_.dirty(asked_.here));
  }
}

// Keeps the wanted sectors that are valid and do not come, as they are now; when the read leaves also the dirty bytes
// of sectors that come: stores join it from then on.
void Cache::keep_sectors(std::uint32_t mshr, Frame here, bool dirty_too) {
  Mshr& entry = misses_[mshr];
  const Sectors more = asked_.wanted & valid_[here] & ~entry.covers();
  if (more == 0 && !dirty_too) {
    return;
  }
  StoreBuffer& buffer = misses_.bytes_here(mshr);
  const std::uint8_t* const dirty = lines_.dirty_bytes(here);
  for (unsigned at = 0; at != line_bytes_; ++at) {
    const unsigned sector = at / sector_bytes_;
    if (((more >> sector) & 1U) != 0 || (dirty_too && ((entry.sectors >> sector) & 1U) != 0 && dirty[at] != 0)) {
      buffer.data[at] = lines_.data(here)[at];
      buffer.enable[at] = 0xff;
    }
  }
  entry.kept |= more;
}

void Cache::enable_sectors(Payload& payload, Sectors sectors) {
  sector_statistics_.read += static_cast<unsigned>(std::popcount(sectors));
  if (sectors == all_sectors()) {
    return;
  }
  for (unsigned sector = 0; sector * sector_bytes_ != line_bytes_; ++sector) {
    const int enable = ((sectors >> sector) & 1U) != 0 ? 0xff : 0;
    std::memset(payload.enable.data() + std::size_t{sector} * sector_bytes_, enable, sector_bytes_);
  }
  payload.set_byte_enable_ptr(payload.enable.data());
  payload.set_byte_enable_length(line_bytes_);
}

bool Cache::fill_sectors(Payload& payload, Mshr& mshr, bool failed) {
  std::byte* const line = payload.data.data();
  if (mshr.buffer != MissFile::kNone) {
    const StoreBuffer& here = misses_.store(mshr.buffer);
    link::merge_bytes(line, here.data.data(), here.enable.data(), line_bytes_);
  }
  Frame frame = LineFrames::kNone;
  const Transition* const kept = mshr.open && !failed ? &table_.at(mshr.state, LineEvent::fill) : nullptr;
  if (kept != nullptr && kept->does(kInstall)) {
    frame = find(mshr.address);
    if (frame == LineFrames::kNone) {
      frame = lines_.victim(mshr.address);
      if (!vacate(frame)) {
        return false;
      }
      lines_.install(frame, mshr.address, kept->next);
      valid_[frame] = 0;
      if (listener_ != nullptr) {
        listener_->installed(frame, payload.extension.group);
      }
    } else if (table_.info(kept->next).owes) {
      lines_.set_state(frame, kept->next);
    }
    ++statistics_.fills;
  }
  misses_.close(payload.tag);
  serve(mshr, line, frame, failed);
  if (frame != LineFrames::kNone) {
    valid_[frame] |= mshr.covers();
    for (unsigned sector = 0; sector * sector_bytes_ != line_bytes_; ++sector) {
      if (((mshr.covers() >> sector) & 1U) != 0) {
        const std::size_t at = std::size_t{sector} * sector_bytes_;
        std::memcpy(lines_.data(frame) + at, line + at, sector_bytes_);
      }
    }
  }
  if (failed && table_.info(mshr.state).owes) {
    remember_failed_write(beyond(mshr.address), payload.extension.group, payload.extension.pc);
  }
  misses_.release(payload.tag);
  payload.release();
  return true;
}

// -------------------------------------------------------------------------------------------------------- which ones

Sectors Cache::wanted_sectors(const LineRequest& request) const {
  if (request.kind == LineRequest::Kind::store) {
    return enabled_sectors(request.byte_enable, false);
  }
  Sectors sectors = 0;
  for (unsigned part = 0; part * link::kPartBytes < line_bytes_; ++part) {
    sectors |= static_cast<Sectors>(((request.parts >> part) & 1U) << (part * link::kPartBytes / sector_bytes_));
  }
  return sectors;
}

Sectors Cache::enabled_sectors(const std::uint8_t* enable, bool all) const {
  Sectors sectors = 0;
  for (unsigned sector = 0; sector * sector_bytes_ != line_bytes_; ++sector) {
    const std::uint8_t* const begin = enable + std::size_t{sector} * sector_bytes_;
    const bool enabled = all ? link::all_enabled(begin, sector_bytes_) : link::any_enabled(begin, sector_bytes_);
    sectors |= static_cast<Sectors>(enabled ? 1U << sector : 0U);
  }
  return sectors;
}

}  // namespace heddle::hw
