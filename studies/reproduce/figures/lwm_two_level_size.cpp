// lwm-2lev-size: LWM report figure 14.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/nearest.hpp"
#include "base/text.hpp"
#include "studies/reproduce/figures/lwm_forms.hpp"

namespace heddle::studies::lwm {
namespace {

namespace warp_size_with_two_level {

struct Size {
  unsigned threads;
  std::vector<unsigned> groups;
};
const std::vector<Size>& sizes() {
  static const std::vector<Size> all = {{32, {8, 16}}, {64, {2, 4, 8}}, {128, {1, 2, 4}}, {256, {1, 2}}, {512, {1}}};
  return all;
}
std::vector<Variant> machines() {
  std::vector<Variant> all = {baseline()};
  for (const Size& size : sizes()) {
    for (const unsigned group : size.groups) {
      const std::string label =
          size.threads == 32 ? fmt::format("2Lev{}", group) : fmt::format("LWM{}+2Lev{}", size.threads, group);
      std::vector<std::string> changes;
      if (size.threads != 32 && size.threads != 256) {
        changes.push_back(fmt::format("core.warp_size={}", size.threads));
      }
      if (group != (size.threads == 32 ? 8U : 2U)) {
        changes.push_back(fmt::format("two_level.fetch_group={}", group));
      }
      all.push_back(machine(label, size.threads == 32 ? "two-level" : "lwm-two-level", changes));
    }
  }
  return all;
}

std::vector<Run> runs() {
  return runs_of(machines(), twelve());
}

Finding judge(const Results& results) {
  const Grid grid(results, machines(), twelve());
  Finding finding;
  count_workloads(finding, grid);
  if (finding.measured == 0) {
    finding.ours = "-";
    return finding;
  }
  // Per warp size only the best fetch-group size is shown, as in the figure.
  std::vector<Variant> shown = {grid.variants()[0]};
  std::size_t next = 1;
  for (const Size& size : sizes()) {
    std::size_t best = next;
    for (std::size_t i = 0; i < size.groups.size(); ++i, ++next) {
      if (common_speedup(grid, next, best) > 1) {
        best = next;
      }
    }
    shown.push_back(grid.variants()[best]);
  }
  const Grid chosen(results, shown, twelve());
  const std::size_t best = best_machine(chosen, 1);
  for (std::size_t variant = 1; variant < shown.size(); ++variant) {
    finding.ours += fmt::format("{}{} {}", variant == 1 ? "" : ", ", shown[variant].label,
                                gain_text(common_speedup(chosen, variant, 0)));
  }
  constexpr std::size_t k256 = 4;
  finding.checks.push_back(
      main_check("256 threads with two-level scheduling are best on average", finding.ours, best == k256));
  finding.checks.push_back(
      check("its best fetch group is of 2 large warps", shown[k256].label, shown[k256].label == "LWM256+2Lev2"));
  finding.charts.push_back(chosen.ipc_chart("IPC by warp size, each with its best fetch-group size"));
  finding.charts.push_back(sweep_chart(chosen, "Mean speedup by warp size, each with its best fetch-group size"));
  finding.tables.push_back(chosen.ipc_table("Speedups over the baseline", true));
  finding.tables.push_back(grid.ipc_table("All fetch-group sizes", true));
  if (best != k256) {
    finding.causes = chosen.worst(k256, best, 4, 0.99);
  }
  return finding;
}

}  // namespace warp_size_with_two_level

const std::vector<ClaimRow>& warp_size_with_two_level_rows() {
  static const std::vector<ClaimRow> all = {
      {"lwm-2lev-size",
       "Warp size with two-level scheduling",
       {.rank = 1160,
        .statement =
            "Each warp size with its best fetch-group size: 256 threads with fetch groups of 2 perform best when "
            "averaged across all benchmarks",
        .paper = "LWM256+2Lev2 best on average",
        .source = "LWM report, section 6.4, figure 14",
        .beside_note = "Blocks have 256 threads, so a warp of 256 is a whole block: after its barrier nothing of "
                       "the block is left to issue while its loads are outstanding. Two warps of 128 per block "
                       "overlap instead, by which matrixmult and reduction gain. On the divergent workloads "
                       "(blackjack, sort, bfs) 256 is the best size, as in the papers.",
        .caveat = kWarpsOfOneBlock},
       warp_size_with_two_level::runs,
       warp_size_with_two_level::judge}};
  return all;
}

const RegisterRows<OnForms<RowClaim>, ClaimRow> warp_size_with_two_level_entry{warp_size_with_two_level_rows()};

}  // namespace
}  // namespace heddle::studies::lwm
