#include "hw/dram/bank_timing.hpp"

#include <algorithm>
#include <cmath>

namespace heddle::hw {

namespace {

constexpr BusSchedule::Ticks ticks(Cycle cycle) {
  return cycle << BusSchedule::kFractionBits;
}
constexpr Cycle round_up(BusSchedule::Ticks time) {
  return (time + ticks(1) - 1) >> BusSchedule::kFractionBits;
}

}  // namespace

// ---------------------------------------------------------------------------------------------------------- bus

BusSchedule::Ticks BusSchedule::first_free(Ticks from, Ticks length, Ends ends) const {
  // Most requests go behind the latest reservation.
  if (oldest_ == slots_.size() || slots_.back().end + turnaround_ <= from) {
    return from;
  }
  for (std::size_t i = oldest_; i != slots_.size(); ++i) {
    const Slot& slot = slots_[i];
    const Ticks after = slot.end + gap(slot.ends.last_writes, ends.first_writes);
    if (after <= from) {
      continue;
    }
    if (slot.begin >= from + length + gap(ends.last_writes, slot.ends.first_writes)) {
      return from;
    }
    from = after;
  }
  return from;
}

void BusSchedule::reserve(Ticks from, Ticks length, Ends ends) {
  if (oldest_ != slots_.size() && slots_.back().end == from && slots_.back().ends.last_writes == ends.first_writes) {
    slots_.back().end += length;  // transfers back to back are one stretch
    slots_.back().ends.last_writes = ends.last_writes;
    return;
  }
  if (oldest_ * 2 > slots_.size()) {
    slots_.erase(slots_.begin(), slots_.begin() + static_cast<std::ptrdiff_t>(oldest_));
    oldest_ = 0;
  }
  const auto place = std::upper_bound(slots_.begin() + static_cast<std::ptrdiff_t>(oldest_), slots_.end(), from,
                                      [](Ticks time, const Slot& slot) { return time < slot.begin; });
  slots_.insert(place, {from, from + length, ends});
}

void BusSchedule::forget_before(Ticks time) {
  while (oldest_ != slots_.size() && slots_[oldest_].end + turnaround_ <= time) {
    ++oldest_;
  }
}

// -------------------------------------------------------------------------------------------------------- banks

HitConflictTiming::HitConflictTiming(const DramParameters& parameters, unsigned line_bytes, double clock_period_ns)
    : DramTiming(parameters.banks),
      row_hit_(parameters.row_hit),
      row_conflict_(parameters.row_conflict),
      row_closed_(parameters.row_closed != 0 ? parameters.row_closed : parameters.row_conflict),
      line_bytes_(line_bytes),
      turnaround_(ticks(parameters.turnaround)),
      banks_(parameters.banks),
      bus_(turnaround_) {
  // GB/s is bytes per ns; the channels share the bandwidth.
  const double bytes_per_cycle = parameters.bandwidth_gbs * clock_period_ns / parameters.channels;
  slot_ = std::max<BusSchedule::Ticks>(
      1, static_cast<BusSchedule::Ticks>(std::llround(line_bytes / bytes_per_cycle * static_cast<double>(ticks(1)))));
}

HitConflictTiming::Plan HitConflictTiming::plan(const DramRequest& request, Cycle now) const {
  const unsigned index = request.location.bank;
  const Bank& bank = banks_[index];
  now = std::max(now, next_start_);
  Cycle ready = 0;
  Cycle latency = 0;
  if (row_hit(request)) {
    latency = row_hit_;
    ready = std::max(now, bank.hits_from);
  } else if (row_open(index)) {
    latency = row_conflict_;
    ready = std::max(now, bank.done);
  } else {
    latency = row_closed_;
    ready = std::max(now, bank.precharged);
  }
  const BusSchedule::Ticks slot = slot_of(request);
  latency = std::max(latency, round_up(slot));
  // The slot may end anywhere within the last cycle before the data counts as complete: whole cycles here would waste
  // what a slot of, say, 7.5 cycles leaves of the eighth. An atomic's second slot comes behind.
  const BusSchedule::Ticks earliest_end = std::max(ticks(ready) + slot, ticks(ready + latency - 1) + 1);
  const BusSchedule::Ticks bus = bus_.first_free(earliest_end - slot, bus_length(request), ends(request));
  const Cycle data = round_up(bus + slot);
  return {data - latency, data, bus};
}

Cycle HitConflictTiming::earliest_start(const DramRequest& request, Cycle now) const {
  asked_ = plan(request, now);
  asked_for_ = request.serial;
  return asked_.start;
}

DramStep HitConflictTiming::start(DramRequest& request, Cycle now, bool close) {
  const bool known = asked_for_ != 0 && asked_for_ == request.serial && asked_.start == now;
  const Plan plan = known ? asked_ : this->plan(request, now);
  asked_for_ = 0;
  const unsigned index = request.location.bank;
  Bank& bank = banks_[index];
  request.row_hit = row_hit(request);
  request.data = plan.data;
  if (!request.row_hit) {
    open_[index] = request.location.row;
    bank.hits_from = plan.data - std::min(plan.data, row_hit_);
  }
  const BusSchedule::Ticks length = bus_length(request);
  bank.done = std::max(bank.done, round_up(plan.bus + length));
  bus_.reserve(plan.bus, length, ends(request));
  bus_.forget_before(ticks(now));
  next_start_ = now + 1;
  if (close) {
    open_[index] = kClosed;
    bank.precharged = bank.done + (row_conflict_ - row_closed_);
  }
  return {true, round_up(plan.bus + length), slot_of(request) * request.slots, request.row_hit ? 0U : 1U};
}

}  // namespace heddle::hw
