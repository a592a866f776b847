// lwm-memory-divergence: why packing does not hurt memory accesses (LWM report 6.2).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/nearest.hpp"
#include "base/text.hpp"
#include "studies/reproduce/figures/grid_rows.hpp"
#include "studies/reproduce/figures/lwm_forms.hpp"

namespace heddle::studies::lwm {
namespace {

namespace packed_memory {

double lines(const tb::Summary& summary) {
  return static_cast<double>(summary.line_requests);
}
std::vector<Variant> machines() {
  return {baseline(), machine("LWM, branch", "lwm", {"packing.memory_by_rows=false", "packing.branch_once=true"}),
          large()};
}

void judge(const Grid& grid, Finding& finding) {
  ValueTable table{"Line requests of the whole run", {"workload", "baseline", "LWM packed", "LWM by rows"}, {}};
  std::vector<double> ratios;
  std::vector<std::string> far;
  for (const std::size_t workload : grid.common()) {
    const double before = grid.value(2, workload, lines);
    const double after = grid.value(1, workload, lines);
    table.rows.push_back({grid.workloads()[workload].name, fmt::format("{:.0f}", grid.value(0, workload, lines)),
                          fmt::format("{:.0f}", after), fmt::format("{:.0f}", before)});
    if (before > 0 && after > 0) {
      ratios.push_back(after / before);
      if (after > 1.02 * before) {
        far.push_back(fmt::format("{} x{:.2f}", grid.workloads()[workload].name, after / before));
      }
    }
  }
  finding.tables.push_back(std::move(table));
  if (ratios.empty()) {
    finding.ours = "-";
    return;
  }
  const double mean = geometric_mean(ratios);
  finding.ours = fmt::format("x{:.3f} line requests without the optimization", mean);
  finding.checks.push_back(main_check("packing memory accesses asks for less than 2 % more lines on average",
                                      fmt::format("x{:.3f}", mean), mean < 1.02));
  finding.checks.push_back(check("on no workload more than 2 %", far.empty() ? "on none" : join(far), far.empty()));
}

}  // namespace packed_memory

const std::vector<GridRow>& packed_memory_rows() {
  static const std::vector<GridRow> all = {
      {"lwm-memory-divergence",
       "Memory divergence of large warps",
       {.rank = 1132,
        .statement =
            "No additional memory divergence occurs regardless of whether the optimization is on or off, since "
            "coalesced memory instructions tend to be on control-independent code",
        .paper = "no additional divergence",
        .source = "LWM report, section 6.2; thesis, section 5.2.2.3",
        .beside_note = "bfs reads the neighbours of its nodes in a loop that threads leave at different times. Packed "
                       "sub-warps of that loop hold threads of several rows, whose addresses lie further apart than "
                       "those of one row. No other workload asks for more lines."},
       packed_memory::machines,
       twelve,
       packed_memory::judge}};
  return all;
}

const RegisterRows<OnForms<GridClaim>, GridRow> packed_memory_entry{packed_memory_rows()};

}  // namespace
}  // namespace heddle::studies::lwm
