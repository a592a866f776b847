// intensity: the classes of LWM report table 2.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "studies/reproduce/figures/grid_rows.hpp"
#include "studies/reproduce/figures/lwm_forms.hpp"

namespace heddle::studies::lwm {
namespace {

namespace intensity {

bool two_apart(Level a, Level b) {
  return (a == Level::low && b == Level::high) || (a == Level::high && b == Level::low);
}
std::string cause_text(const Benchmark& paper, const tb::Summary& summary) {
  const std::size_t cause = tb::main_idle_cause(summary);
  const double all = static_cast<double>(std::max<std::uint64_t>(1, tb::core_cycles(summary)));
  return fmt::format(
      "{}: {:.2f} lanes per instruction ({} of {} conditional branches diverge), idle {}, most of it {} ({} of the "
      "cycles); {:.2f} lines per memory instruction, L1 hits {}, bus use {}.",
      paper.workload.name, summary.lanes_per_warp_instruction, scaled(static_cast<double>(summary.divergent_branches)),
      scaled(static_cast<double>(summary.branches)), percent(summary.idle_share), hw::kIdleCauses[cause].name,
      percent(static_cast<double>(summary.idle_cycles_by_cause.cycles[cause]) / all),
      summary.line_requests_per_memory_instruction, percent(summary.l1d_hit_rate),
      percent(summary.dram_bus_utilisation));
}

void judge(const Grid& grid, Finding& finding) {
  ValueTable table{"Classes by workload",
                   {"workload", "lanes per instruction", "divergence", "paper's", "idle cycles", "idleness", "paper's"},
                   {}};
  std::size_t measured = 0;
  std::size_t divergence_equal = 0;
  std::size_t idle_equal = 0;
  std::size_t far = 0;
  for (std::size_t i = 0; i < benchmarks().size(); ++i) {
    const Benchmark& paper = benchmarks()[i];
    const Results::Entry* entry = grid.at(0, i);
    if (entry == nullptr) {
      continue;
    }
    ++measured;
    const Level divergence = divergence_level(entry->summary.lanes_per_warp_instruction);
    const Level idle = idle_level(entry->summary.idle_share);
    divergence_equal += divergence == paper.divergence ? 1 : 0;
    idle_equal += idle == paper.idle ? 1 : 0;
    far += two_apart(divergence, paper.divergence) || two_apart(idle, paper.idle) ? 1 : 0;
    table.rows.push_back({paper.workload.name, fmt::format("{:.2f}", entry->summary.lanes_per_warp_instruction),
                          std::string(level_text(divergence)), std::string(level_text(paper.divergence)),
                          percent(entry->summary.idle_share), std::string(level_text(idle)),
                          std::string(level_text(paper.idle))});
    if (divergence != paper.divergence || idle != paper.idle) {
      finding.causes.push_back(cause_text(paper, entry->summary));
    }
  }
  finding.tables.push_back(std::move(table));
  if (measured == 0) {
    finding.ours = "-";
    return;
  }
  finding.ours = fmt::format("{} of {} divergence and {} of {} idleness classes are the paper's", divergence_equal,
                             measured, idle_equal, measured);
  finding.checks.push_back(main_check("three quarters of the divergence classes are the paper's",
                                      fmt::format("{} of {}", divergence_equal, measured),
                                      4 * divergence_equal >= 3 * measured));
  finding.checks.push_back(main_check("three quarters of the idleness classes are the paper's",
                                      fmt::format("{} of {}", idle_equal, measured), 4 * idle_equal >= 3 * measured));
  finding.checks.push_back(check("all classes are the paper's",
                                 fmt::format("{} of {}", divergence_equal + idle_equal, 2 * measured),
                                 divergence_equal + idle_equal == 2 * measured));
  finding.checks.push_back(check("no class is low for high or high for low", counted(far, "workload"), far == 0));
}

}  // namespace intensity

const std::vector<GridRow>& intensity_rows() {
  static const std::vector<GridRow> all = {
      {"intensity",
       "Classes of divergence and idleness",
       {.rank = 1020,
        .statement = "Active threads per retired warp: above 30 low, 20 to 30 medium, below 20 high divergence; idle "
                     "cycles: below 20 % low, 20 to 40 % medium, above 40 % high. High divergence: blackjack, sort, "
                     "bfs; medium: viterbi, kmeans. High idleness: hotspot, reduction, histogram, bfs; medium: "
                     "blackscholes, needleman, matrixmult",
        .paper = "the 24 classes of table 2",
        .source = "LWM report, section 5, table 2",
        .note = "sort idles on atomic additions at the memory, by which threads take places in buckets, "
                "while the locked instructions of x86 work in the D-cache; hotspot's idle time depends on "
                "where its arrays lie; blackscholes and matrixmult have little to wait for, as they execute "
                "many warp instructions for each line from memory; needleman idles the more the larger its "
                "input. With --full the classes are those of the papers' inputs.",
        .beside_note = "Our kernels diverge and idle less than Pthreads code translated thread by thread. The "
                       "choices of viterbi and kmeans (the better predecessor, the nearest centre) are selections "
                       "without a branch in the machine code, so they do not diverge; histogram, and hotspot at the "
                       "default scale, read whole lines and share them in scratchpad, so the bus keeps up and they "
                       "idle little (at full size hotspot idles as the paper has it). needleman idles with the "
                       "memory stage full, because a wave of its diagonal touches another line per row; at small "
                       "inputs kmeans and sort also idle at the end of each launch, when the caches write their "
                       "last stores to memory (flush), which fades as the input grows."},
       baseline_alone,
       twelve,
       intensity::judge}};
  return all;
}

const RegisterRows<OnForms<GridClaim, Over::readings>, GridRow> intensity_entry{intensity_rows()};

}  // namespace
}  // namespace heddle::studies::lwm
