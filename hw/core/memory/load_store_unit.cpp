#include "hw/core/memory/load_store_unit.hpp"

#include <algorithm>

#include "base/set_bits.hpp"

namespace heddle::hw {

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

::tlm::tlm_sync_enum LoadStoreUnit::Port::offer(AccessLine& line) {
  if (Cache* const direct = cache.of(socket)) {
    return direct->offer(line);
  }
  link::LinePhase phase = link::LinePhase::request;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  return socket->nb_transport_fw(line, phase, delay);
}

LoadStoreUnit::Sent LoadStoreUnit::send(MemoryAccess& access) {
  Port& port = port_of(access);
  if (state_.now < access.queues_until) {
    state_.block_cause = IdleCause::memory_port;
    return Sent::some;
  }
  // Lines in front of `next` that have not been sent wait for their banks.
  for (unsigned next = access.sent; next < access.own; ++next) {
    const unsigned number = access.order[next];
    AccessLine& line = access.lines[number];
    const ::tlm::tlm_sync_enum answer = port.offer(line);
    if (state_.observer != nullptr) {
      state_.observer->line(state_, access, number, outcome_of(answer, line.answer));
    }
    if (answer == ::tlm::TLM_UPDATED) {
      if (line.busy == link::LineRequest::Busy::bank) {
        if (access.queues_until == 0) {
          access.queues_until = state_.now + 1 + conflict_cycles_;
        }
        continue;
      }
      if (sent_now_) {
        break;
      }
      state_.block_cause = cause_of(line.busy);
      full_ = port.room();
      // What stands in front of a cache may take the line in any cycle, and is asked in each.
      return full_ != nullptr ? Sent::no_room : Sent::some;
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
    state_.block_cause = IdleCause::memory_port;
    return Sent::some;
  }
  return Sent::all;
}

bool LoadStoreUnit::lacks_room(MemoryAccess& access) {
  link::LineRoom* const room = sent_now_ ? port_of(access).room() : nullptr;
  if (room == nullptr) {
    return false;
  }
  AccessLine& next = access.lines[access.order[access.sent]];
  if (!room->would_refuse(next)) {
    return false;
  }
  state_.block_cause = cause_of(next.busy);
  full_ = room;
  return true;
}

// A line has been asked for, for one of the sub-warps that want it: it is on its way, or was there.
void LoadStoreUnit::is_sent(AccessLine& line, bool under_way) {
  MemoryAccess& access = *line.access;
  if (!under_way) {
    requests_.take(access, line);
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

AccessLine* LoadStoreUnit::came(AccessLine& line) {
  AccessLine* const also = line.with;
  if (also != nullptr) {
    also->line = line.line;
    also->failed = line.failed;
  }
  MemoryAccess& access = *line.access;
  requests_.take(access, line);
  line.under_way = false;
  --access.outstanding;
  if (line.answer == link::LineRequest::Answer::late_hit) {
    --access.late;
  } else {
    access.first_line = std::min(access.first_line, state_.now);
  }
  return also;
}

void LoadStoreUnit::count(const MemoryAccess& access) {
  CoreStatistics& statistics = state_.statistics;
  if (access.absent != 0) {
    ++statistics.missed_accesses;
    statistics.partly_missed_accesses += (access.addresses.lanes & ~access.absent) != 0 ? 1 : 0;
    if (!statistics.thread_misses
             .empty()) {  // the map of misses, thread by thread; a thread is where its registers are
      const link::SubWarp& sub_warp = *access.sub_warp;
      for (const unsigned lane : set_bits(access.absent)) {
        ++statistics.thread_misses[sub_warp.row_of(lane) * state_.core.simd_width + sub_warp.home_of(lane)];
      }
    }
  }
  if (access.missed > 1) {
    ++statistics.divergent_accesses;
    statistics.divergent_stall_cycles += state_.now - access.first_miss;
    statistics.divergent_spread_cycles += state_.now - access.first_line;
  }
}

}  // namespace heddle::hw
