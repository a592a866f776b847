// The counters of modules that differ by number only ("gpu.core0", "gpu.core1"), as the listings and schemas have them.
#pragma once

#include <string>
#include <vector>

#include "base/statistics.hpp"

namespace heddle::pages {

// "gpu.core0.lane31" as "gpu.core<n>.lane<n>"; a name as short as "l2" keeps its number.
[[nodiscard]] std::string module_pattern(const std::string& module);

struct ModuleGroup {
  struct Counter {
    std::string name;
    std::string unit;
    std::string meaning;
    bool several = false;  // a list of counts
  };
  std::string pattern;
  std::vector<Counter> counters;  // each name once, those that are lists last
};

// In order of registration.
[[nodiscard]] std::vector<ModuleGroup> module_groups(const StatisticsRegistry& modules);

// What heddle dram counts beside its memory channels.
[[nodiscard]] ModuleGroup replay_counters();

}  // namespace heddle::pages
