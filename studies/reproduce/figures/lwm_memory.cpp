// lwm-memory-divergence: why packing does not hurt memory accesses (LWM report 6.2).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/nearest.hpp"
#include "base/text.hpp"
#include "studies/reproduce/figures/lwm_forms.hpp"

namespace heddle::studies::lwm {
namespace {

class PackedMemory final : public Claim {
 public:
  explicit PackedMemory(const Setup&) {}
  [[nodiscard]] ClaimText text() const override {
    return {.rank = 1132,
            .statement =
                "No additional memory divergence occurs regardless of whether the optimization is on or off, since "
                "coalesced memory instructions tend to be on control-independent code",
            .paper = "no additional divergence",
            .source = "LWM report, section 6.2; thesis, section 5.2.2.3",
            .beside_note =
                "bfs reads the neighbours of its nodes in a loop that threads leave at different times. Packed "
                "sub-warps of that loop hold threads of several rows, whose addresses lie further apart than "
                "those of one row. No other workload asks for more lines."};
  }
  [[nodiscard]] std::vector<Run> runs() const override { return runs_of(machines(), twelve()); }
  [[nodiscard]] Finding judge(const Results& results) const override {
    const Grid grid(results, machines(), twelve());
    Finding finding;
    count_workloads(finding, grid);
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
      return finding;
    }
    const double mean = geometric_mean(ratios);
    finding.ours = fmt::format("x{:.3f} line requests without the optimization", mean);
    finding.checks.push_back(main_check("packing memory accesses asks for less than 2 % more lines on average",
                                        fmt::format("x{:.3f}", mean), mean < 1.02));
    finding.checks.push_back(check("on no workload more than 2 %", far.empty() ? "on none" : join(far), far.empty()));
    return finding;
  }

 private:
  static double lines(const tb::Summary& summary) { return static_cast<double>(summary.line_requests); }
  static std::vector<Variant> machines() {
    return {baseline(), machine("LWM, branch", "lwm", {"packing.memory_by_rows=false", "packing.branch_once=true"}),
            large()};
  }
};

const Register<Claim, OnForms<PackedMemory>> packed_memory_entry{"lwm-memory-divergence",
                                                                 "Memory divergence of large warps"};

}  // namespace
}  // namespace heddle::studies::lwm
