// The memory stage's lines on their way: to the L1, its answers, and who waits for them.
#include <algorithm>
#include <bit>
#include <cstring>

#include "base/set_bits.hpp"
#include "hw/core/memory/memory.hpp"

namespace heddle::hw {

namespace {

IdleCause cause_of(link::LineRequest::Busy busy) {
  using Busy = link::LineRequest::Busy;
  switch (busy) {
    case Busy::mshrs:
      return IdleCause::mshrs_full;
    case Busy::targets:
      return IdleCause::targets_full;
    case Busy::write_buffer:
      return IdleCause::write_buffer_full;
    case Busy::order:
      return IdleCause::line_order;
    case Busy::ports:
    case Busy::bank:
    case Busy::flush:  // begins only when no access of the core is left
      break;
  }
  return IdleCause::memory_port;
}

LineOutcome outcome_of(::tlm::tlm_sync_enum taken, link::LineRequest::Answer answer) {
  if (taken == ::tlm::TLM_UPDATED) {
    return LineOutcome::refused;
  }
  if (taken == ::tlm::TLM_COMPLETED) {
    return LineOutcome::answered;
  }
  return answer == link::LineRequest::Answer::late_hit ? LineOutcome::late : LineOutcome::missed;
}

}  // namespace

::tlm::tlm_sync_enum MemoryStage::ask(AccessLine& line) {
  if (Cache* const cache = cache_of(*line.access)) {
    return cache->offer(line);
  }
  link::LineInitiatorSocket& socket = line.access->kind == MemoryAccess::Kind::texture ? texture : l1d;
  link::LinePhase phase = link::LinePhase::request;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  return socket->nb_transport_fw(line, phase, delay);
}

void MemoryStage::send(MemoryAccess& access) {
  // Lines in front of `next` that have not been sent wait for their banks.
  for (unsigned next = access.sent; next < access.own; ++next) {
    const unsigned number = access.order[next];
    AccessLine& line = access.lines[number];
    const ::tlm::tlm_sync_enum answer = ask(line);
    if (state_.observer != nullptr) {
      state_.observer->line(state_, access, number, outcome_of(answer, line.answer));
    }
    if (answer == ::tlm::TLM_UPDATED) {
      if (line.busy == link::LineRequest::Busy::bank) {
        continue;
      }
      // The first line of a cycle finds a port free, so what is missing then is room. What stands in front of a cache
      // may take the line in any cycle, and is asked in each.
      refused_ = sent_now_ || cache_of(access) == nullptr     ? Refused::no
                 : access.kind == MemoryAccess::Kind::texture ? Refused::by_texture
                                                              : Refused::by_l1d;
      state_.block_cause = sent_now_ ? IdleCause::memory_port : cause_of(line.busy);
      return;
    }
    is_sent(line, answer == ::tlm::TLM_ACCEPTED);
    for (AccessLine* also = line.with; also != nullptr; also = also->with) {
      also->answer = line.answer;
      also->line = line.line;
      also->failed = line.failed;
      is_sent(*also, answer == ::tlm::TLM_ACCEPTED);
    }
    if (next != access.sent) {  // the others stay in their order
      std::rotate(&access.order[access.sent], &access.order[next], &access.order[next] + 1);
    }
    ++access.sent;
    sent_now_ = true;
  }
  if (access.sent < access.own) {
    refused_ = Refused::no;
    state_.block_cause = IdleCause::memory_port;
  }
}

bool MemoryStage::refused_still() {
  switch (refused()) {
    case Refused::no:
      return false;
    case Refused::here:  // an access that gives up its place comes back
      return true;
    case Refused::by_l1d:
    case Refused::by_texture:
      break;
  }
  Cache* const cache = cache_of(*present_);
  return cache != nullptr && cache->refuses_still();
}

void MemoryStage::rests(bool stopped) {
  const Refused by = stopped ? Refused::no : refused();
  refuses_ = by == Refused::by_l1d ? cache_.of(l1d) : by == Refused::by_texture ? texture_cache_.of(texture) : nullptr;
}

bool MemoryStage::foresees_refusal() {
  if (present_ == nullptr || !sent_now_ || gathers_) {
    return false;
  }
  AccessLine& next = present_->lines[present_->order[present_->sent]];
  Cache* const cache = cache_of(*present_);
  if (cache == nullptr || !cache->foresees_refusal(next)) {
    return false;
  }
  refused_ = present_->kind == MemoryAccess::Kind::texture ? Refused::by_texture : Refused::by_l1d;
  state_.block_cause = cause_of(next.busy);
  return true;
}

// A line has been asked for, for one of the sub-warps that want it: it is on its way, or was there.
void MemoryStage::is_sent(AccessLine& line, bool under_way) {
  MemoryAccess& access = *line.access;
  if (!under_way) {
    take_line(access, line);
  } else {
    ++access.outstanding;
    if (line.answer == link::LineRequest::Answer::late_hit) {
      ++access.late;
    } else if (access.missed++ == 0) {
      access.first_miss = state_.now;
    }
    line.under_way = true;
  }
  if (line.answer == link::LineRequest::Answer::miss || line.answer == link::LineRequest::Answer::merged) {
    access.absent |= line.lanes;
  }
}

// A line has answered: its lanes' bytes or old values.
void MemoryStage::take_line(MemoryAccess& access, const link::LineRequest& request) {
  if (request.failed) {
    const auto lane = static_cast<unsigned>(std::countr_zero(request.lanes));
    state_.raise(isa::Fault::Kind::bus_error, *access.sub_warp, lane, access.sub_warp->address[lane], access.lane_bytes,
                 "the memory answered with an error");
    return;
  }
  if (access.kind == MemoryAccess::Kind::atomic) {
    const link::AtomicLanes& atomic = *request.atomic;
    for (unsigned entry = 0; entry < atomic.count; ++entry) {
      access.sub_warp->values.result[0][atomic.lane[entry]] = static_cast<std::uint32_t>(atomic.old[entry]);
      access.sub_warp->values.result[1][atomic.lane[entry]] = static_cast<std::uint32_t>(atomic.old[entry] >> 32U);
    }
    return;
  }
  if (access.kind == MemoryAccess::Kind::store) {
    return;
  }
  if (access.kind == MemoryAccess::Kind::texture) {
    take_texels(access, request);
    return;
  }
  const std::uint64_t line_mask = ~(std::uint64_t{state_.machine.l1d.line_bytes} - 1);
  const unsigned bytes = access.addresses.piece_bytes;
  if (access.addresses.pieces == 1) {  // usual: every lane that the line serves has its bytes in it
    const LaneAddresses::Piece& address = access.addresses.address[0];
    for (const unsigned lane : set_bits(request.lanes)) {
      copy_lane(access.loaded[lane].data(), request.line + (address[lane] & ~line_mask), bytes);
    }
    return;
  }
  for (unsigned piece = 0; piece < access.addresses.pieces; ++piece) {
    for (const unsigned lane : set_bits(request.lanes)) {
      const std::uint64_t address = access.addresses.address[piece][lane];
      if ((address & line_mask) == request.address) {
        std::memcpy(access.loaded[lane].data() + piece * 4, request.line + (address & ~line_mask), bytes);
      }
    }
  }
}

// For the map of misses, thread by thread; a thread is where its registers are.
void MemoryStage::count_misses(const MemoryAccess& access) {
  const link::SubWarp& sub_warp = *access.sub_warp;
  for (const unsigned lane : set_bits(access.absent)) {
    ++state_.statistics.thread_misses[sub_warp.row_of(lane) * state_.core.simd_width + sub_warp.home_of(lane)];
  }
}

void MemoryStage::complete(MemoryAccess& access) {
  if (access.kind == MemoryAccess::Kind::load) {
    follow_local(access);
    access.finish_load();
  } else if (access.kind == MemoryAccess::Kind::texture) {
    access.finish_fetch();
  }
  if (access.absent != 0) {
    ++state_.statistics.missed_accesses;
    state_.statistics.partly_missed_accesses += (access.addresses.lanes & ~access.absent) != 0 ? 1 : 0;
    if (!state_.statistics.thread_misses.empty()) {
      count_misses(access);
    }
  }
  if (access.missed > 1) {
    ++state_.statistics.divergent_accesses;
    state_.statistics.divergent_stall_cycles += state_.now - access.first_miss;
    state_.statistics.divergent_spread_cycles += state_.now - access.first_line;
  }
  access.sub_warp = nullptr;
  free_.push_back(&access);
}

void MemoryStage::wait_for_lines(MemoryAccess& access) {
  ++state_.statistics.put_aside;
  ++put_aside_;
  access.aside = true;
  set_waiting(*access.sub_warp);
  if (warps_ != nullptr) {
    warps_->misses(access.sub_warp->group);
  }
  look_for_divergence(access);
}

void MemoryStage::wait_for_hits(MemoryAccess& access) {
  ++late_;
  ++state_.groups[access.sub_warp->group].flights[access.sub_warp->flight].late;
}

// Late hits keep a group from waiting for memory no more than hits in time would.
void MemoryStage::set_waiting(link::SubWarp& sub_warp) {
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

void MemoryStage::clear_waiting(link::SubWarp& sub_warp) {
  Group& group = state_.groups[sub_warp.group];
  --group.flights[sub_warp.flight].waiting;
  if (group.state == GroupState::memory) {
    state_.groups.set_state(group, GroupState::in_flight);
  }
}

::tlm::tlm_sync_enum MemoryStage::nb_transport_bw(link::LineRequest& request, link::LinePhase&, sc_core::sc_time&) {
  AccessLine* line = &static_cast<AccessLine&>(request);
  if (state_.observer != nullptr) {
    state_.observer->line_came(state_, *line->access, request.address);
  }
  while (line != nullptr) {
    AccessLine* const also = line->with;  // the line's access may be another one's when it has come
    if (also != nullptr) {
      also->line = line->line;
      also->failed = line->failed;
    }
    came(*line);
    line = also;
  }
  return ::tlm::TLM_COMPLETED;
}

// A line that was under way is there, for one of the sub-warps that want it.
void MemoryStage::came(AccessLine& line) {
  MemoryAccess& access = *line.access;
  take_line(access, line);
  line.under_way = false;
  --access.outstanding;
  const bool late = line.answer == link::LineRequest::Answer::late_hit;
  if (late) {
    --access.late;
  } else {
    access.first_line = std::min(access.first_line, state_.now);
  }
  if (access.outstanding != 0 || access.gathered || &access == present_) {
    if (late && access.aside) {
      look_for_divergence(access);
    }
    return;
  }
  link::SubWarp& sub_warp = *access.sub_warp;
  if (access.aside) {
    --put_aside_;
    clear_waiting(sub_warp);
  } else {
    --late_;
  }
  comes_back(sub_warp, !access.aside);
  complete(access);
}

}  // namespace heddle::hw
