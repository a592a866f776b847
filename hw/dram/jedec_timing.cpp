#include "hw/dram/jedec_timing.hpp"

#include <algorithm>
#include <cmath>

#include "hw/dram/jedec.hpp"

namespace heddle::hw {

namespace {

void raise(std::uint64_t& value, std::uint64_t least) {
  value = std::max(value, least);
}

}  // namespace

JedecTiming::JedecTiming(const DramParameters& parameters, unsigned line_bytes, double clock_period_ns)
    : DramTiming(parameters.banks),
      jedec_(resolve_jedec(parameters)),
      period_(static_cast<std::uint64_t>(std::llround(clock_period_ns * 1000))),
      tck_(jedec_.tck_ps),
      by_period_(period_),
      by_tck_(tck_),
      bursts_(line_bytes / jedec_.burst_bytes),
      pseudo_mask_(jedec_.pseudo_channels - 1),
      group_mask_(jedec_.pseudo_channels * jedec_.bank_groups - 1),
      banks_(parameters.banks),
      groups_(std::size_t{jedec_.pseudo_channels} * jedec_.bank_groups),
      pseudo_(jedec_.pseudo_channels),
      buses_(command_buses(parameters)) {
  refresh_is_due(jedec_.refresh ? jedec_.trefi : kNever);
}

Cycle JedecTiming::conflict_penalty() const {
  return cycle_after(jedec_.trp + jedec_.trcd_rd);
}

Cycle JedecTiming::conflict_latency() const {
  return cycle_after(Clocks{jedec_.trp} + jedec_.trcd_rd + jedec_.cl + jedec_.burst);
}

JedecTiming::Next JedecTiming::next(const DramRequest& request, Cycle now) const {
  const unsigned index = request.location.bank;
  const Bank& bank = banks_[index];
  const Group& group = groups_[index & group_mask_];
  const Pseudo& all = pseudo_[index & pseudo_mask_];
  const Clocks from = free_from(row_hit(request), now);
  Next next{DramCommand::Kind::activate, from};
  if (row_hit(request)) {
    const bool write = request.write || (request.atomic && request.bursts >= bursts_of(request));
    next.kind = write ? DramCommand::Kind::write : DramCommand::Kind::read;
    next.at = write ? std::max({from, bank.write, group.write, all.write})
                    : std::max({from, bank.read, group.read, all.read});
  } else if (row_open(index)) {
    next.kind = DramCommand::Kind::precharge;
    next.at = std::max(from, bank.precharge);
  } else {
    next.at = std::max({from, bank.activate, group.activate, all.activate, all.activations[all.oldest_activation]});
  }
  if (next.at >= refresh_due_) {  // the refresh comes first
    raise(next.at, next_refresh().refresh + jedec_.trfc);
  }
  return next;
}

Cycle JedecTiming::earliest_start(const DramRequest& request, Cycle now) const {
  const Clocks at = next(request, now).at;
  return at == edge_from(now) ? known_start_ : std::max(now, cycle_of(at));
}

DramStep JedecTiming::start(DramRequest& request, Cycle now, bool close) {
  const Next step = next(request, now);
  const unsigned index = request.location.bank;
  Bank& bank = banks_[index];
  const bool activates = step.kind == DramCommand::Kind::activate;
  occupy(step.kind == DramCommand::Kind::read || step.kind == DramCommand::Kind::write, step.at,
         activates ? buses_.activate_clocks : 1);
  DramStep done;
  switch (step.kind) {
    case DramCommand::Kind::precharge:
      open_[index] = kClosed;
      raise(bank.activate, step.at + jedec_.trp);
      show(step.kind, step.at, index, 0, false);
      break;
    case DramCommand::Kind::activate:
      activate(index, request.location.row, step.at);
      show(step.kind, step.at, index, request.location.row, false);
      done.activations = 1;
      break;
    default: {
      const bool last = last_step(request);
      const Clocks end = column(index, step.kind == DramCommand::Kind::write, step.at);
      show(step.kind, step.at, index, request.location.row, last && close);
      ++request.bursts;
      // Of the channel's buses together: those of other pseudo channels may be in use meanwhile.
      done.bus = (Clocks{jedec_.burst} * tck_ << DramStep::kFractionBits) / (period_ * jedec_.pseudo_channels);
      done.bus_end = cycle_after(end);
      if (last) {
        done.served = true;
        request.data = done.bus_end;
        if (close) {  // auto-precharge: at the first edge that allows it
          open_[index] = kClosed;
          raise(bank.activate, bank.precharge + jedec_.trp);
        }
      }
      break;
    }
  }
  return done;
}

void JedecTiming::occupy(bool column, Clocks at, unsigned clocks) {
  latest_ = at;
  if (column || !buses_.separate) {
    column_bus_ = at + clocks;
  }
  if (!column || !buses_.separate) {
    row_bus_ = at + clocks;
  }
}

void JedecTiming::activate(unsigned index, std::uint64_t row, Clocks at) {
  open_[index] = row;
  Bank& bank = banks_[index];
  bank.read = at + jedec_.trcd_rd;
  bank.write = at + jedec_.trcd_wr;
  bank.precharge = at + jedec_.tras;
  bank.activate = at + jedec_.trc;
  group_of(index).activate = at + jedec_.trrd_l;
  Pseudo& all = pseudo_of(index);
  all.activate = at + jedec_.trrd_s;
  all.activations[all.oldest_activation] = at + jedec_.tfaw;
  all.oldest_activation = (all.oldest_activation + 1) % all.activations.size();
}

JedecTiming::Clocks JedecTiming::column(unsigned index, bool write, Clocks at) {
  Bank& bank = banks_[index];
  Group& group = group_of(index);
  Pseudo& all = pseudo_of(index);
  if (!write) {
    raise(bank.precharge, at + jedec_.trtp);
    raise(group.read, at + jedec_.tccd_l);
    raise(all.read, at + jedec_.tccd_s);
    raise(all.write, at + jedec_.trtw);
    return at + jedec_.cl + jedec_.burst;
  }
  const Clocks end = at + jedec_.cwl + jedec_.burst;
  raise(bank.precharge, end + jedec_.twr);
  raise(group.write, at + jedec_.tccd_l);
  raise(all.write, at + jedec_.tccd_s);
  raise(group.read, end + jedec_.twtr_l);
  raise(all.read, end + jedec_.twtr_s);
  return end;
}

// When the refresh that is due next will go out, if nothing else does before.
JedecTiming::Refresh JedecTiming::next_refresh() const {
  const Clocks from = std::max({refresh_due_, row_bus_, latest_});
  Refresh plan{false, from, from};
  for (unsigned i = 0; i != banks_.size(); ++i) {
    plan.precharges = plan.precharges || row_open(i);
    raise(plan.precharge, banks_[i].precharge);  // also of a bank whose auto-precharge is still to come
    raise(plan.refresh, banks_[i].activate);
  }
  if (plan.precharges) {
    raise(plan.refresh, plan.precharge + jedec_.trp);
  }
  return plan;
}

void JedecTiming::refresh() {
  const Refresh plan = next_refresh();
  if (plan.precharges) {
    std::fill(open_.begin(), open_.end(), kClosed);
    show(DramCommand::Kind::precharge_all, plan.precharge, 0, 0, false);
  }
  show(DramCommand::Kind::refresh, plan.refresh, 0, 0, false);
  for (Bank& bank : banks_) {
    bank.activate = plan.refresh + jedec_.trfc;
  }
  occupy(false, plan.refresh, 1);
  refresh_is_due(refresh_due_ + jedec_.trefi);
  ++refreshes_;
}

void JedecTiming::settle(Cycle now) {
  const Clocks present = edge_from(now);
  if (refresh_due_ > present) {
    return;
  }
  refresh();
  // The rows are closed now: of the refreshes that follow while nothing waits, only the last one matters.
  const Clocks idle_from = latest_ + jedec_.trfc;
  if (observer_ == nullptr && refresh_due_ <= present && refresh_due_ >= idle_from) {
    const Clocks skipped = (present - refresh_due_) / jedec_.trefi;
    refresh_is_due(refresh_due_ + skipped * jedec_.trefi);
    refreshes_ += skipped;
  }
  while (refresh_due_ <= present) {
    refresh();
  }
}

void JedecTiming::show(DramCommand::Kind kind, Clocks at, unsigned bank, std::uint64_t row, bool auto_precharge) {
  if (observer_ != nullptr) {
    observer_->command({kind, at, bank, row, auto_precharge});
  }
}

}  // namespace heddle::hw
