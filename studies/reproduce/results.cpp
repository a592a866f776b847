#include "studies/reproduce/results.hpp"

#include <fmt/format.h>

#include <cmath>

namespace heddle::studies {

std::string Run::text() const {
  std::string out = config;
  for (const std::string& setting : settings) {
    out += " " + setting;
  }
  out += fmt::format(" {} at {:g}", workload, scale);
  if (timeline) {
    out += fmt::format(", banks from cycle {} for {}", timeline->begin, timeline->cycles);
  }
  if (!energy.empty()) {
    out += ", energy by " + energy;
  }
  if (series) {
    out += ", over time";
  }
  return out;
}

Run run_of(const Variant& variant, const StudyWorkload& workload) {
  return {variant.config, variant.settings, workload.name, workload.scale, {}, variant.energy};
}

std::vector<Run> runs_of(const std::vector<Variant>& variants, const std::vector<StudyWorkload>& workloads) {
  std::vector<Run> runs;
  for (const Variant& variant : variants) {
    for (const StudyWorkload& workload : workloads) {
      runs.push_back(run_of(variant, workload));
    }
  }
  return runs;
}

const Results::Entry* Results::find(const Run& run) const {
  const auto found = entries_.find(run.text());
  return found == entries_.end() ? nullptr : &found->second;
}

double geometric_mean(const std::vector<double>& values) {
  double logarithms = 0;
  for (const double value : values) {
    logarithms += std::log(value);
  }
  return values.empty() ? 1.0 : std::exp(logarithms / static_cast<double>(values.size()));
}

}  // namespace heddle::studies
