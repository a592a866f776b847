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

BusSchedule::Ticks BusSchedule::first_free(Ticks from, Ticks length) const {
  // Most requests go behind the latest reservation.
  if (oldest_ == slots_.size() || slots_.back().end <= from) {
    return from;
  }
  for (std::size_t i = oldest_; i != slots_.size(); ++i) {
    if (slots_[i].end <= from) {
      continue;
    }
    if (slots_[i].begin >= from + length) {
      return from;
    }
    from = slots_[i].end;
  }
  return from;
}

void BusSchedule::reserve(Ticks from, Ticks length) {
  if (oldest_ != slots_.size() && slots_.back().end == from) {
    slots_.back().end += length;  // transfers back to back are one stretch
    return;
  }
  if (oldest_ * 2 > slots_.size()) {
    slots_.erase(slots_.begin(), slots_.begin() + static_cast<std::ptrdiff_t>(oldest_));
    oldest_ = 0;
  }
  const auto place = std::upper_bound(slots_.begin() + static_cast<std::ptrdiff_t>(oldest_), slots_.end(), from,
                                      [](Ticks time, const Slot& slot) { return time < slot.begin; });
  slots_.insert(place, {from, from + length});
}

void BusSchedule::forget_before(Ticks time) {
  while (oldest_ != slots_.size() && slots_[oldest_].end <= time) {
    ++oldest_;
  }
}

// -------------------------------------------------------------------------------------------------------- banks

BankTiming::BankTiming(const DramParameters& parameters, unsigned line_bytes, double clock_period_ns)
    : row_hit_(parameters.row_hit), row_conflict_(parameters.row_conflict), banks_(parameters.banks) {
  // GB/s is bytes per ns; the channels share the bandwidth.
  const double bytes_per_cycle = parameters.bandwidth_gbs * clock_period_ns / parameters.channels;
  slot_ = std::max<BusSchedule::Ticks>(
      1, static_cast<BusSchedule::Ticks>(std::llround(line_bytes / bytes_per_cycle * static_cast<double>(ticks(1)))));
}

BankTiming::Plan BankTiming::plan(const DramRequest& request, Cycle now) const {
  const Bank& bank = banks_[request.location.bank];
  const bool hit = row_hit(request);
  const Cycle latency = std::max(hit ? row_hit_ : row_conflict_, round_up(slot_));
  const Cycle ready = std::max(now, hit ? bank.hits_from : bank.done);
  // The slot may end anywhere within the last cycle before the data counts as complete: whole cycles here would waste
  // what a slot of, say, 7.5 cycles leaves of the eighth. An atomic's second slot comes behind.
  const BusSchedule::Ticks earliest_end = std::max(ticks(ready) + slot_, ticks(ready + latency - 1) + 1);
  const BusSchedule::Ticks bus = bus_.first_free(earliest_end - slot_, slot_ * request.slots);
  const Cycle data = round_up(bus + slot_);
  return {data - latency, data, bus};
}

Cycle BankTiming::earliest_start(const DramRequest& request, Cycle now) const {
  return plan(request, now).start;
}

void BankTiming::start(DramRequest& request, Cycle now) {
  const Plan plan = this->plan(request, now);
  Bank& bank = banks_[request.location.bank];
  request.row_hit = row_hit(request);
  request.data = plan.data;
  if (!request.row_hit) {
    bank.open = true;
    bank.row = request.location.row;
    bank.hits_from = plan.data - std::min(plan.data, row_hit_);
  }
  const BusSchedule::Ticks length = slot_ * request.slots;
  bank.done = std::max(bank.done, round_up(plan.bus + length));
  bus_.reserve(plan.bus, length);
  bus_.forget_before(ticks(now));
}

}  // namespace heddle::hw
