#include "studies/pages/report/module_groups.hpp"

#include <algorithm>
#include <cctype>

#include "tb/measure/dram/dram_replay.hpp"

namespace heddle::pages {

std::string module_pattern(const std::string& module) {
  constexpr std::size_t kShortestName = 3;
  std::string out;
  std::size_t begin = 0;
  while (begin <= module.size()) {
    const std::size_t end = std::min(module.find('.', begin), module.size());
    std::string part = module.substr(begin, end - begin);
    std::size_t letters = part.size();
    while (letters > 0 && std::isdigit(static_cast<unsigned char>(part[letters - 1])) != 0) {
      --letters;
    }
    if (letters < part.size() && letters >= kShortestName) {
      part.replace(letters, std::string::npos, "<n>");
    }
    out += (begin == 0 ? "" : ".") + part;
    begin = end + 1;
  }
  return out;
}

std::vector<ModuleGroup> module_groups(const StatisticsRegistry& modules) {
  std::vector<ModuleGroup> groups;
  const auto add = [&](const StatisticDeclaration& declaration, bool several) {
    const std::string pattern = module_pattern(declaration.module);
    auto group = std::find_if(groups.begin(), groups.end(), [&](const ModuleGroup& g) { return g.pattern == pattern; });
    if (group == groups.end()) {
      group = groups.insert(groups.end(), ModuleGroup{pattern, {}});
    }
    if (std::none_of(group->counters.begin(), group->counters.end(),
                     [&](const ModuleGroup::Counter& known) { return known.name == declaration.name; })) {
      group->counters.push_back({declaration.name, declaration.unit, declaration.meaning, several});
    }
  };
  for (const auto& scalar : modules.scalars()) {
    add(scalar.declaration, false);
  }
  for (const auto& histogram : modules.histograms()) {
    add(histogram.declaration, true);
  }
  return groups;
}

ModuleGroup replay_counters() {
  tb::ReplayStatistics statistics;
  StatisticsRegistry registry;
  registry.add(tb::DramReplay::kTraceModule, statistics);
  return module_groups(registry).front();
}

}  // namespace heddle::pages
