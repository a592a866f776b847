#include "tb/measure/energy/power.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <string_view>

#include "base/error.hpp"

namespace heddle::tb {

std::uint64_t Power::cycles_of(std::size_t at) const {
  return std::min(cycles, (at + 1) * interval) - at * interval;
}

double Power::pj(std::size_t at) const {
  const std::span<const double> of_modules = row(at);
  return std::accumulate(of_modules.begin(), of_modules.end(), 0.0);
}

double Power::pj() const {
  double sum = 0;
  for (std::size_t at = 0; at != intervals(); ++at) {
    sum += pj(at);
  }
  return sum;
}

double Power::peak_mw() const {
  double peak = 0;
  for (std::size_t at = 0; at != intervals(); ++at) {
    if (cycles_of(at) == interval || intervals() == 1) {
      peak = std::max(peak, pj(at) / nanoseconds_of(at));
    }
  }
  return peak;
}

PowerSampler::PowerSampler(EnergyTable table, PowerSteps steps) : table_(std::move(table)), steps_(steps) {
  if (steps.interval == 0) {
    throw InputError({"--power-interval"}, "power in intervals of 0 cycles never comes to an end",
                     "give a whole number of cycles, 1 at least");
  }
  power_.interval = steps.interval;
}

void PowerSampler::attached(const hw::Machine& machine, const StatisticsRegistry& counters,
                            std::vector<hw::CountedUnit> units) {
  power_.clock_ghz = machine.gpu.clock_ghz;
  std::map<std::pair<std::string_view, std::string_view>, const std::uint64_t*> places;
  for (const StatisticsRegistry::Scalar& one : counters.scalars()) {
    places[{one.declaration.module, one.declaration.name}] = one.value;
  }
  // Of a run in which nothing has happened yet: its figures.
  const hw::Totals nothing;
  const Energy figures = energy_of(table_, nothing, machine);
  for (const ModulePrice& module : module_prices(figures, units)) {
    power_.modules.push_back({module.name, module.kind, module.leakage_mw});
    std::vector<Price>& prices = prices_.emplace_back();
    for (const ModulePrice::Activity& activity : module.activities) {
      Price& price = prices.emplace_back(Price{{}, activity.pj_per_count});
      for (const ModulePrice::Term& term : activity.terms) {
        price.terms.push_back({term.counter.empty() ? nullptr : places.at({term.module, term.counter}), term.factor});
      }
    }
  }
  present_.resize(power_.modules.size());
}

// What has been counted since this was last called joins the present interval and the launches that run.
void PowerSampler::collect(std::uint64_t cycles) {
  const double nanoseconds = static_cast<double>(cycles - last_) / power_.clock_ghz;
  double all = 0;
  for (std::size_t i = 0; i != prices_.size(); ++i) {
    double pj = power_.modules[i].leakage_mw * nanoseconds;
    for (Price& price : prices_[i]) {
      std::uint64_t count = 0;
      for (const Price::Term& term : price.terms) {
        count += term.factor * (term.counter == nullptr ? cycles : *term.counter);
      }
      pj += static_cast<double>(count - price.before) * price.pj_per_count;
      price.before = count;
    }
    present_[i] += pj;
    all += pj;
  }
  for (const Running& one : running_) {
    power_.kernels[one.kernel].pj += all / static_cast<double>(running_.size());
    power_.kernels[one.kernel].cycles += cycles - last_;
  }
  last_ = cycles;
}

void PowerSampler::end_interval() {
  power_.rows.insert(power_.rows.end(), present_.begin(), present_.end());
  std::fill(present_.begin(), present_.end(), 0);
  ++over_;
}

void PowerSampler::sampled(std::uint64_t cycles) {
  if (cycles != (over_ + 1) * power_.interval) {
    throw InternalError("power was looked at in another cycle than the one at the end of an interval");
  }
  collect(cycles);
  end_interval();
  if (steps_.joins && over_ == PowerSteps::kMostJoined) {
    join_neighbours();
  }
}

void PowerSampler::join_neighbours() {
  over_ /= 2;
  const std::size_t modules = power_.modules.size();
  for (std::size_t at = 0; at != over_; ++at) {
    const std::span<const double> first = power_.row(2 * at);
    const std::span<const double> second = power_.row(2 * at + 1);
    std::transform(first.begin(), first.end(), second.begin(), &power_.rows[at * modules], std::plus<>());
  }
  power_.rows.resize(over_ * modules);
  power_.interval *= 2;
}

void PowerSampler::launching(std::uint64_t launch, const std::string& kernel, std::uint64_t cycles) {
  collect(cycles);
  const auto known =
      std::find_if(power_.kernels.begin(), power_.kernels.end(), [&](const auto& one) { return one.name == kernel; });
  const auto at = static_cast<std::size_t>(known - power_.kernels.begin());
  if (known == power_.kernels.end()) {
    power_.kernels.push_back({kernel, 0, 0, 0});
  }
  ++power_.kernels[at].launches;
  running_.push_back({launch, at});
}

void PowerSampler::launched(std::uint64_t launch, std::uint64_t cycles) {
  collect(cycles);
  std::erase_if(running_, [&](const Running& one) { return one.launch == launch; });
}

Power PowerSampler::take(std::uint64_t cycles) {
  collect(cycles);
  power_.cycles = cycles;
  if (over_ != power_.intervals()) {
    end_interval();
  } else if (over_ != 0) {  // counted at the very end, after the last interval
    std::transform(present_.begin(), present_.end(), power_.rows.end() - static_cast<std::ptrdiff_t>(present_.size()),
                   power_.rows.end() - static_cast<std::ptrdiff_t>(present_.size()), std::plus<>());
  }
  return std::move(power_);
}

}  // namespace heddle::tb
