// The fetch stage for lanes that execute each an instruction of its own (Divergence::Traits::mimd_lanes): each lane
// reads the word of its thread. Lanes that want words of one line share an access to the I-cache in a cycle; other
// lines want a port each (icache.ports). The words of a cycle go to decode beside each other.
//
// A row of a warp, or a thread where groups are threads, is handed on when all its words are there; what has come stays
// here until then. Threads that may run in any lane (Divergence::displaces) are given theirs here: their own if it is
// free in this cycle, or else the first one that is.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/set_bits.hpp"
#include "hw/core/front/fetch.hpp"

namespace heddle::hw {

void FetchStage::fetch_by_lane(const Divergence& divergence) {
  by_lane_ = std::make_unique<ByLane>();
  by_lane_->divergence = &divergence;
  by_lane_->several_groups = divergence.lanes_of_several_groups();
  by_lane_->any_lane = by_lane_->several_groups && divergence.displaces();
  const unsigned lanes = by_lane_->several_groups ? 1 : state_.core.simd_width;
  by_lane_->lanes = lanes;
  by_lane_->rows.assign(state_.groups.size(), {});
  by_lane_->words.assign(std::size_t{state_.groups.size()} * lanes, 0);
  requests_.assign(std::size_t{state_.groups.size()} * lanes, {});
}

void FetchStage::tick_by_lane(Cycle now, IdleCause& cause) {
  ByLane& by = *by_lane_;
  by.lines.clear();
  by.first = by.last = nullptr;
  by.taken = 0;
  const bool late = !late_.empty();
  while (!late_.empty() && (by.first == nullptr || by.several_groups)) {
    Group& group = state_.groups[late_.front().group];
    if (by.any_lane) {
      take_lane(group, by.taken, by.taken);
    }
    if ((group.active[by.rows[group.id].row] & by.taken) != 0) {
      break;
    }
    late_.pop_front();
    take_row(group);
  }
  // A row that waited here is this cycle's; the next one can be asked for.
  LaneMask asked = 0;
  if (MaybeGroup picked = next_by_lane(now, cause)) {
    fetch_row(state_.groups[*picked], asked, late, cause);
    if (by.several_groups && !state_.fault) {
      others_by_lane(*picked, asked, cause);
    }
  }
  if (by.first == nullptr || state_.fault) {
    return;
  }
  cause = IdleCause::pipeline;
  state_.moved();
  if (!out.offer(*by.first)) {
    waiting_ = by.first;
    cause = state_.block_cause;
    held(*by.first);
  }
}

// The group whose next row is to be fetched: the one whose instruction has begun, until its last row has gone on, or
// else the scheduler's.
MaybeGroup FetchStage::next_by_lane(Cycle now, IdleCause& cause) {
  ByLane& by = *by_lane_;
  if (by.begun && state_.groups[*by.begun].state == GroupState::ready) {
    return by.begun;
  }
  if (!state_.groups.any_ready()) {
    cause = idle_cause();
    return std::nullopt;
  }
  const MaybeGroup picked = scheduler_->pick(now);
  if (!picked) {
    cause = IdleCause::pipeline;
  }
  return picked;
}

// Threads of other lanes that are ready, behind the one that the scheduler has picked and round.
void FetchStage::others_by_lane(GroupId picked, LaneMask& asked, IdleCause& cause) {
  const auto all = static_cast<LaneMask>(~LaneMask{0} >> (isa::kLanes - state_.core.simd_width));
  const unsigned groups = state_.groups.size();
  const std::size_t words = state_.groups.ready().size();
  for (std::size_t step = 0; step <= words && asked != all; ++step) {
    const std::size_t word = (picked / 64 + step) % words;
    std::uint64_t left = state_.groups.ready()[word];
    const std::uint64_t behind = ~std::uint64_t{0} << (picked % 64);
    left &= step == 0 ? behind : step == words ? ~behind : ~std::uint64_t{0};
    for (const unsigned bit : set_bits(left)) {
      if (asked == all) {
        break;
      }
      const auto id = static_cast<GroupId>(word * 64 + bit);
      if (id < groups && (by_lane_->any_lane || (state_.groups[id].active[0] & asked) == 0)) {
        fetch_row(state_.groups[id], asked, false, cause);
        if (state_.fault) {
          return;
        }
      }
    }
  }
}

// Gives a thread a lane: its own, unless that is among `others`, or else one that is not; if there is none, one that is
// not among `asked`. If there is none of these either it keeps the lane that it had.
void FetchStage::take_lane(Group& group, LaneMask asked, LaneMask others) {
  const auto all = static_cast<LaneMask>(~LaneMask{0} >> (isa::kLanes - state_.core.simd_width));
  const unsigned own = group.lane_home[0];  // of every lane
  const LaneMask free = all & ~others;
  const LaneMask left = free != 0 ? free : all & ~asked;
  if (left == 0) {
    return;
  }
  const LaneMask lane = ((left >> own) & 1U) != 0 ? LaneMask{1} << own : left & (~left + 1);
  if (lane != group.active[0]) {
    LaneMask& have = by_lane_->rows[group.id].have;
    have = have != 0 ? lane : 0;
    group.active[0] = lane;
    group.look_at_lanes();
  }
}

// Reads the words of a group's next row. When all are there the row joins the rows of this cycle; `later`: a row that
// has waited has this cycle, and this row waits.
void FetchStage::fetch_row(Group& group, LaneMask& asked, bool later, IdleCause& cause) {
  ByLane& by = *by_lane_;
  ByLane::Row& row = by.rows[group.id];
  while (group.active[row.row] == 0) {
    ++row.row;
  }
  if (by.any_lane) {
    take_lane(group, asked, asked | by.taken);
  }
  const LaneMask lanes = group.active[row.row];
  asked |= lanes;
  if (!read_lanes(group, lanes, cause) || state_.fault) {
    return;
  }
  if (later || (lanes & by.taken) != 0) {
    state_.groups.set_state(group, GroupState::fetching);
    late_.push_back({group.id, 0});
    return;
  }
  take_row(group);
}

// True: every lane has its word.
bool FetchStage::read_lanes(Group& group, LaneMask lanes, IdleCause& cause) {
  ByLane& by = *by_lane_;
  ByLane::Row& row = by.rows[group.id];
  const std::uint64_t line_mask = ~(std::uint64_t{state_.machine.icache.line_bytes} - 1);
  for (const unsigned lane : set_bits(lanes & ~row.have)) {
    const std::uint32_t pc = by.divergence->lane_pc(group, row.row, lane);
    if (pc >= state_.launch->code_words) {
      group.pc = pc;
      state_.raise(isa::Fault::Kind::invalid_instruction, group,
                   fmt::format("the kernel has {} instructions; control ran past its end", state_.launch->code_words));
      return false;
    }
    const std::uint64_t address = state_.instruction_address(pc);
    const std::uint64_t line = address & line_mask;
    const auto known = std::find_if(by.lines.begin(), by.lines.end(),
                                    [line](const ByLane::Line& each) { return each.address == line; });
    if (known != by.lines.end()) {
      if (known->there) {
        by.words[by.slot(group, lane)] = word_at(known->bytes.data() + (address - line));
        row.have |= LaneMask{1} << lane;
      }
      continue;
    }
    if (!ask_for(group, lane, pc, line, cause)) {
      break;
    }
  }
  if (row.outstanding != 0) {
    state_.groups.set_state(group, GroupState::fetching);
    state_.moved();
  }
  return row.have == lanes;
}

// False: the I-cache has no room in this cycle.
bool FetchStage::ask_for(Group& group, unsigned lane, std::uint32_t pc, std::uint64_t line, IdleCause& cause) {
  ByLane& by = *by_lane_;
  ByLane::Row& row = by.rows[group.id];
  link::LineRequest& request = requests_[by.slot(group, lane)];
  request.address = line;
  request.core = static_cast<std::uint16_t>(state_.in_core);
  request.group = state_.in_core_number(group.id);
  request.pc = pc;
  request.lanes = LaneMask{1} << lane;
  request.failed = false;
  link::LinePhase phase = link::LinePhase::request;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  const ::tlm::tlm_sync_enum answer = icache->nb_transport_fw(request, phase, delay);
  cause = IdleCause::icache;
  if (answer == ::tlm::TLM_UPDATED) {
    return false;
  }
  ByLane::Line& known = by.lines.emplace_back();
  known.address = line;
  known.there = answer == ::tlm::TLM_COMPLETED;
  if (known.there) {
    known.bytes.assign(request.line, request.line + state_.machine.icache.line_bytes);
    by.words[by.slot(group, lane)] = word_at(request.line + (state_.instruction_address(pc) - line));
    row.have |= LaneMask{1} << lane;
    return true;
  }
  ++row.outstanding;
  state_.statistics.fetch_misses += request.answer != link::LineRequest::Answer::late_hit ? 1 : 0;
  return true;
}

// A line has come: the words of all lanes of the row that wait for it.
void FetchStage::line_by_lane(link::LineRequest& request) {
  ByLane& by = *by_lane_;
  Group& group = state_.groups[state_.own_number(request.group)];
  ByLane::Row& row = by.rows[group.id];
  --row.outstanding;
  if (request.failed) {
    state_.raise(isa::Fault::Kind::bus_error, group, "the memory answered the instruction fetch with an error");
    return;
  }
  const LaneMask lanes = group.active[row.row];
  for (const unsigned lane : set_bits(lanes & ~row.have)) {
    const std::uint64_t address = state_.instruction_address(by.divergence->lane_pc(group, row.row, lane));
    if (address >= request.address && address < request.address + state_.machine.icache.line_bytes) {
      by.words[by.slot(group, lane)] = word_at(request.line + (address - request.address));
      row.have |= LaneMask{1} << lane;
    }
  }
  row.late = row.late || request.answer == link::LineRequest::Answer::late_hit;
  if (row.outstanding != 0) {
    return;
  }
  if (row.have == lanes && row.late) {
    late_.push_back({group.id, 0});  // it goes on when it comes, as a hit that takes its time
  } else {
    state_.groups.set_state(group, GroupState::ready);
  }
  row.late = false;
}

// A sub-warp for each PC of the row, all of this cycle beside each other.
void FetchStage::take_row(Group& group) {
  ByLane& by = *by_lane_;
  ByLane::Row& row = by.rows[group.id];
  const LaneMask lanes = group.active[row.row];
  unsigned next = row.row + 1;
  while (next < group.rows() && group.active[next] == 0) {
    ++next;
  }
  const bool last_row = next == group.rows();
  if (!row.begun) {
    group.next_flight();
    ++group.instructions;
  }
  for (LaneMask left = lanes; left != 0;) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    const std::uint32_t pc = by.divergence->lane_pc(group, row.row, lane);
    LaneMask together = 0;
    for (const unsigned other : set_bits(left)) {
      together |= static_cast<LaneMask>(by.divergence->lane_pc(group, row.row, other) == pc) << other;
    }
    left &= ~together;
    link::SubWarp& sub_warp = state_.pool.take();
    sub_warp.group = group.id;
    sub_warp.pc = pc;
    sub_warp.word = by.words[by.slot(group, lane)];
    sub_warp.flight = static_cast<std::uint8_t>(group.latest);
    sub_warp.first_row = static_cast<std::uint16_t>(group.first_row + row.row);
    sub_warp.decoded = nullptr;  // each lane decodes for itself
    sub_warp.lanes = together;
    sub_warp.last = last_row && left == 0;
    sub_warp.beside = nullptr;
    (by.last == nullptr ? by.first : by.last->beside) = &sub_warp;
    by.last = &sub_warp;
    if (++state_.statistics.fetched % kFetchedPerDriftSample == 0) {
      sample_drift(group.block_slot);
    }
    if (state_.observer != nullptr) {
      state_.observer->fetched(state_, sub_warp);
    }
  }
  by.taken |= lanes;
  row = {};
  if (last_row) {
    by.begun.reset();
    state_.groups.set_state(group, GroupState::in_flight);
  } else {
    row.row = next;
    row.begun = true;
    by.begun = group.id;
    state_.groups.set_state(group, GroupState::ready);
  }
}

}  // namespace heddle::hw
