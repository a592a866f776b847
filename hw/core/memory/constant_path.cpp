#include "hw/core/memory/constant_path.hpp"

#include <algorithm>
#include <bit>

#include "base/set_bits.hpp"
#include "hw/core/memory/load_store_unit.hpp"

namespace heddle::hw {

void ConstantPath::globalise(MemoryAccess& access) const {
  for (const unsigned lane : set_bits(access.constant)) {
    access.sub_warp->address[lane] += state_.launch->constant_base;
  }
  access.global |= access.constant;
  access.constant = 0;
}

std::uint64_t ConstantPath::address_of(const MemoryAccess& access, unsigned lane) const {
  const Launch& launch = *state_.launch;
  const bool parameter = isa::space_of(access.sub_warp->decoded->instruction.op) == isa::Space::param;
  return (parameter ? launch.parameter_base : launch.constant_base) + access.sub_warp->address[lane];
}

void ConstantPath::make(MemoryAccess& access) const {
  access.by_constants = true;
  access.count = 0;
  for (LaneMask left = access.constant | access.parameter; left != 0;) {
    const std::uint64_t offset = access.sub_warp->address[static_cast<unsigned>(std::countr_zero(left))];
    const LaneMask same = lanes_at(*access.sub_warp, left, offset);
    left &= ~same;
    if (access.lines.size() == access.count) {
      access.lines.emplace_back();  // nothing of this access is outstanding yet: addresses may change
    }
    AccessLine& line = access.begin_line(state_, access.count++);
    line.address = address_of(access, static_cast<unsigned>(std::countr_zero(same))) & line_mask_;
    line.lanes = same;
    line.shares_port = mimd_lanes_;
  }
  access.own = access.count;
  ++state_.statistics.constant_accesses;
  state_.statistics.constant_serialised += access.count - std::min(access.count, 1U);
}

bool ConstantPath::send(MemoryAccess& access) {
  SharedRate* const rate = in_register(access) ? indexed : nullptr;
  for (; access.sent != access.own; ++access.sent) {
    AccessLine& line = access.lines[access.sent];
    const std::uint64_t address = address_of(access, static_cast<unsigned>(std::countr_zero(line.lanes)));
    const bool now_too = sent_at_ == state_.now;
    const bool joins = mimd_lanes_ && now_too && last_ == address;
    const bool finds_place = (!now_too || sent_now_ != per_cycle_) && (rate == nullptr || rate->free(state_.now));
    if (!joins && !finds_place) {
      state_.block_cause = IdleCause::constants;
      return false;
    }
    link::LinePhase phase = link::LinePhase::request;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    const ::tlm::tlm_sync_enum answer = socket->nb_transport_fw(line, phase, delay);
    if (state_.observer != nullptr) {
      state_.observer->line(state_, access, access.sent, outcome_of(answer, line.answer));
    }
    if (answer == ::tlm::TLM_UPDATED) {
      const IdleCause cause = cause_of(line.busy);
      state_.block_cause = cause == IdleCause::memory_port ? IdleCause::constants : cause;
      return false;
    }
    if (rate != nullptr && !joins) {
      rate->take(state_.now);
    }
    sent_now_ = now_too ? sent_now_ + (joins ? 0 : 1) : 1;
    sent_at_ = state_.now;
    last_ = address;
    if (answer == ::tlm::TLM_COMPLETED) {
      take(access, line);
    } else {
      line.under_way = true;
      ++access.outstanding;
      access.late += line.answer == link::LineRequest::Answer::late_hit ? 1 : 0;
    }
  }
  return true;
}

void ConstantPath::came(AccessLine& line) {
  MemoryAccess& access = *line.access;
  take(access, line);
  line.under_way = false;
  --access.outstanding;
  access.late -= line.answer == link::LineRequest::Answer::late_hit ? 1 : 0;
}

void ConstantPath::take(MemoryAccess& access, const link::LineRequest& request) {
  const auto first = static_cast<unsigned>(std::countr_zero(request.lanes));
  if (request.failed) {
    state_.raise(isa::Fault::Kind::bus_error, *access.sub_warp, first, access.sub_warp->address[first],
                 access.lane_bytes, "the memory answered with an error");
    return;
  }
  const std::byte* const from = request.line + (address_of(access, first) & ~line_mask_);
  for (const unsigned lane : set_bits(request.lanes)) {
    copy_lane(access.loaded[lane].data(), from, access.lane_bytes);
  }
}

}  // namespace heddle::hw
