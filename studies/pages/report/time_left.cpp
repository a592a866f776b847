#include "studies/pages/report/time_left.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace heddle::pages {

void TimeLeft::done(const std::string& workload, double seconds) {
  for (Sum* sum : {&by_workload_[workload], &all_}) {
    sum->seconds += seconds;
    ++sum->runs;
  }
}

std::optional<double> TimeLeft::left(const Counts& runs, unsigned jobs) const {
  if (all_.runs == 0) {
    return std::nullopt;
  }
  double seconds = 0;
  for (const auto& [workload, count] : runs) {
    const auto known = by_workload_.find(workload);
    const Sum& sum = known == by_workload_.end() ? all_ : known->second;
    seconds += static_cast<double>(count) * sum.seconds / sum.runs;
  }
  return seconds / std::max(1U, jobs);
}

std::string time_text(double seconds) {
  const auto whole = static_cast<long>(std::ceil(seconds));
  return whole >= 3600 ? fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60)
         : whole >= 60 ? fmt::format("{} min {:02} s", whole / 60, whole % 60)
                       : fmt::format("{} s", whole);
}

}  // namespace heddle::pages
