// dws-energy: the energy of dynamic warp subdivision and of adaptive slip (DWS report 6.5, figure 19).
#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "base/text.hpp"
#include "studies/reproduce/figures/dws_study.hpp"

namespace heddle::studies::dws {
namespace {

namespace energy_saved {

std::vector<Variant> machines() {
  return {conventional(), scheme("DWS", "dws-revive-bypass"), scheme("Slip.BranchBypass", "slip-bypass")};
}

std::vector<Run> runs() {
  return runs_of(machines(), eight());
}

Finding judge(const Results& results) {
  const Speedups runs(results, machines(), benchmarks());
  Finding finding;
  pages::GroupedBars chart;
  chart.title = "Energy over the conventional machine's";
  chart.unit = "energy";
  chart.reference = 1;
  ValueTable table{"Energy over the conventional machine's", {"benchmark", "DWS", "Slip.BranchBypass"}, {}};
  std::vector<std::vector<double>> ratios(2);
  chart.series = {{"DWS", {}}, {"Slip.BranchBypass", {}}};
  finding.wanted = benchmarks().size();
  for (std::size_t i = 0; i < benchmarks().size(); ++i) {
    const double dws = runs.energy(1, i);
    const double slip = runs.energy(2, i);
    chart.groups.push_back(benchmarks()[i].label);
    chart.series[0].values.push_back(dws);
    chart.series[1].values.push_back(slip);
    table.rows.push_back({benchmarks()[i].label, times(dws), times(slip)});
    if (std::isfinite(dws) && std::isfinite(slip)) {
      ++finding.measured;
      ratios[0].push_back(dws);
      ratios[1].push_back(slip);
    }
  }
  if (finding.measured == 0) {
    finding.ours = "-";
    return finding;
  }
  const auto mean = [](const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  };
  const double dws = mean(ratios[0]);
  const double slip = mean(ratios[1]);
  finding.ours = fmt::format("{}; {}", gain_text(dws), gain_text(slip));
  finding.checks.push_back(
      main_check("DWS saves half to twice the report's 30 %", gain_text(dws), of_a_size(1 - dws, 0.30)));
  finding.checks.push_back(check("DWS saves more than Slip.BranchBypass",
                                 fmt::format("{} against {}", gain_text(dws), gain_text(slip)), dws < slip));
  finding.charts.emplace_back(std::move(chart));
  finding.tables.push_back(std::move(table));
  return finding;
}

}  // namespace energy_saved

const std::vector<ClaimRow>& energy_saved_rows() {
  static const std::vector<ClaimRow> all = {
      {"dws-energy",
       "Energy of subdivision",
       {.rank = 4140,
        .statement = "DWS saves 30 % of the energy, as leakage grows with the time that is saved; Slip.BranchBypass "
                     "saves 5 %",
        .paper = "-30 %; -5 %",
        .source = "DWS report, section 6.5, figure 19",
        .note = "Leakage, of the pipelines, the L2 and the crossbar, follows the time; accesses to memory, a "
                "large part of the rest, stay. So what DWS saves is what it gains (dws-full), and Filter and "
                "KMeans take more energy where they are slower. Slip.BranchBypass saves more on FFT and "
                "Short, where it is faster (dws-slip).",
        .caveat = "Priced by the table dws-65nm: public figures of the same kind as the report's, which states none "
                  "but memory's; those of decoder, result bus, clock and the pipeline's leakage are derived from other "
                  "machines', as the table says. The mean is the arithmetic one of the benchmarks' ratios. Of whole "
                  "runs, with the ends of "
                  "launches, in which the caches write their last stores to memory."},
       energy_saved::runs,
       energy_saved::judge}};
  return all;
}

const RegisterRows<RowClaim, ClaimRow> energy_saved_entry{energy_saved_rows()};

}  // namespace
}  // namespace heddle::studies::dws
