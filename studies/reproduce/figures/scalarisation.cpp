// scalarisation: one lane executes what is the same for all threads of a warp (thesis 9.2.1).
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "base/nearest.hpp"
#include "base/text.hpp"
#include "studies/reproduce/figures/grid_rows.hpp"
#include "studies/reproduce/figures/lwm_study.hpp"

namespace heddle::studies::lwm {
namespace {

namespace scalarisation_gains {

constexpr std::size_t kWays = 3;  // none, compiler, detector
constexpr std::array<unsigned, 5> kSizes{32, 64, 128, 256, 512};
std::vector<StudyWorkload> workloads() {
  return {{"kmeans", 0.2}, {"kmeans:pthreads", 0.2}, {"matrixmult", 0.2}, {"matrixmult:pthreads", 0.2}};
}
std::vector<Variant> machines() {
  std::vector<Variant> all;
  for (const unsigned size : kSizes) {
    for (const char* how : {"none", "compiler", "detector"}) {
      std::vector<std::string> changes{fmt::format("core.scalar={}", how)};
      if (size != 32) {
        changes.push_back(fmt::format("core.warp_size={}", size));
      }
      all.push_back(machine(fmt::format("{}, {}", size, how), size == 32 ? "thesis-baseline" : "thesis-lwm", changes));
    }
  }
  return all;
}

void judge(const Grid& grid, Finding& finding) {
  if (grid.common().empty()) {
    return;
  }
  const auto gain = [&](std::size_t size, std::size_t how) {
    return common_speedup(grid, size * kWays + how, size * kWays);
  };
  const auto mean = [&](std::size_t variant, const Grid::Figure& figure) {
    double sum = 0;
    for (const std::size_t workload : grid.common()) {
      sum += grid.value(variant, workload, figure);
    }
    return sum / static_cast<double>(grid.common().size());
  };
  const auto reads = [](const tb::Summary& summary) { return summary.register_reads_saved; };
  const auto writes = [](const tb::Summary& summary) { return summary.register_writes_saved; };
  const auto scalar = [](const tb::Summary& summary) { return static_cast<double>(summary.scalar_instructions); };
  ValueTable table{"Scalar instructions by warp size: means over the workloads",
                   {"machine", "IPC", "register reads saved", "register writes saved"},
                   {}};
  std::string gains;
  bool rising = true;
  bool superset = true;
  bool saves = true;
  for (std::size_t size = 0; size < kSizes.size(); ++size) {
    for (std::size_t how = 1; how < kWays; ++how) {
      const std::size_t variant = size * kWays + how;
      table.rows.push_back({grid.variants()[variant].label, gain_text(gain(size, how)),
                            fmt::format("{:.1f} %", 100 * mean(variant, reads)),
                            fmt::format("{:.1f} %", 100 * mean(variant, writes))});
      saves = saves && mean(variant, reads) > 0 && mean(variant, writes) > 0;
    }
    for (const std::size_t workload : grid.common()) {
      superset =
          superset && grid.value(size * kWays + 2, workload, scalar) >= grid.value(size * kWays + 1, workload, scalar);
    }
    rising = rising && (size == 0 || gain(size, 1) > gain(size - 1, 1));
    gains += fmt::format("{}{} {}", size == 0 ? "" : ", ", kSizes[size], gain_text(gain(size, 1)));
  }
  finding.ours = gains + " (marked by the compiler)";
  finding.checks.push_back(main_check(
      "register reads and writes are saved at every size",
      fmt::format("{:.1f} % of reads at 32, {:.1f} % at 512", 100 * mean(1, reads), 100 * mean(4 * kWays + 1, reads)),
      saves));
  finding.checks.push_back(
      main_check("warps of 256 threads gain performance", gain_text(gain(3, 1)), gain(3, 1) > 1.001));
  finding.checks.push_back(
      check("warps of 32 threads gain less than 1 %", gain_text(gain(0, 1)), std::abs(gain(0, 1) - 1) < 0.01));
  finding.checks.push_back(check("the larger the warps, the larger the gain", gains, rising));
  finding.checks.push_back(check("the detector finds at least as many scalar instructions as the compiler marks",
                                 superset ? "on every workload" : "not on every workload", superset));
  finding.charts.push_back(grid.ipc_chart("IPC with and without scalar instructions"));
  finding.tables.push_back(std::move(table));
  finding.tables.push_back(grid.ipc_table("IPC by workload", false));
}

}  // namespace scalarisation_gains

const std::vector<GridRow>& scalarisation_gains_rows() {
  static const std::vector<GridRow> all = {
      {"scalarisation",
       "Scalar instructions by warp size",
       {.rank = 2910,
        .statement =
            "Scalarisation saves register reads and redundant computation on any machine, and more with large "
            "warps, since scalar values are amortised over more threads; with large warps it can improve "
            "performance too, since a scalar computation takes one cycle for all threads of the warp. No figure is "
            "given; expected here before the first run: warps of the SIMD width gain no performance, larger ones "
            "do, the more the larger; the detector finds at least what the compiler marks",
        .paper = "more with larger warps (expectation)",
        .source = "thesis, section 9.2.1",
        .note = "From 256 to 512 threads there is little left to save, and fewer warps to hide a scalar "
                "instruction's way through the pipeline: matrixmult:pthreads saves hardly more sub-warps "
                "with 512 than with 256, and idles for longer. Of kmeans, whose blocks have 256 threads, "
                "warps of 512 save exactly as many as those of 256. The share of lanes' reads that is saved "
                "does not depend on the warp size; what is read instead, a word per sub-warp, does.",
        .caveat =
            "A warp belongs to one block, and the workloads' blocks have 256 threads in their CUDA form: warps of "
            "512 threads are partly empty there. Gains are over the same machine without scalar instructions."},
       scalarisation_gains::machines,
       scalarisation_gains::workloads,
       scalarisation_gains::judge}};
  return all;
}

const RegisterRows<GridClaim, GridRow> scalarisation_entry{scalarisation_gains_rows()};

}  // namespace
}  // namespace heddle::studies::lwm
