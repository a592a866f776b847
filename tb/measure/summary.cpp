#include "tb/measure/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace heddle::tb {
namespace {

double ratio(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::vector<std::uint64_t> by_active_lanes(std::vector<std::uint64_t> cycles, unsigned simd_width) {
  cycles.resize(std::max<std::size_t>(cycles.size(), simd_width + 1U));
  return cycles;
}

}  // namespace

Summary summarise(const hw::Totals& totals, const hw::Machine& machine, std::uint64_t retirement_hash) {
  Summary summary;
#define HEDDLE_FIGURE(Type, name, unit, definition, ...) summary.name = __VA_ARGS__;
#include "tb/measure/summary.inc"
#undef HEDDLE_FIGURE
  return summary;
}

std::uint64_t core_cycles(const Summary& summary) {
  return std::accumulate(summary.fu_active_cycles.begin(), summary.fu_active_cycles.end(), std::uint64_t{0});
}

std::size_t main_idle_cause(const Summary& summary) {
  const auto& cycles = summary.idle_cycles_by_cause.cycles;
  return static_cast<std::size_t>(std::max_element(cycles.begin(), cycles.end()) - cycles.begin());
}

std::string_view nsight_metric(std::string_view figure) {
#define HEDDLE_FIGURE(...)
#define HEDDLE_NSIGHT(name, metric)  \
  static_cast<void>(&Summary::name); \
  if (figure == #name) {             \
    return metric;                   \
  }
#include "tb/measure/summary.inc"
#undef HEDDLE_FIGURE
  return {};
}

std::vector<SummaryDeclaration> summary_declarations() {
  std::vector<SummaryDeclaration> declarations;
  const Summary summary;
  summary.describe([&](std::string_view name, const auto&, std::string_view unit, std::string_view definition) {
    declarations.push_back(
        {std::string(name), std::string(unit), std::string(definition), std::string(nsight_metric(name))});
  });
  return declarations;
}

}  // namespace heddle::tb
