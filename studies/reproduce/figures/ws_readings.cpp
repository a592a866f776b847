// ws-write-back, ws-line, ws-activity: what the warp-size study says beside its figures, and its L1s that write back
// (warp-size study, sections 3, 5 and 7).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/nearest.hpp"
#include "base/text.hpp"
#include "studies/reproduce/figures/ws_study.hpp"

namespace heddle::studies::ws {
namespace {

constexpr const char* kReadingsCaveat =
    "The study's table 1 is lost: L1 size and latency, the crossbar's width and much of the pipeline are the "
    "simulator's it used, or our own (configs/ws-8.toml). Inputs are smaller than the suites'.";

struct ReadingRow {
  std::string id;
  std::string title;
  ClaimText text;
  std::vector<Variant> machines;
  std::vector<Benchmark> benchmarks;
  void (*judge)(const Study& study, Finding& finding);
};

// The simulator's L1 writes back: dirty bytes, when the line is replaced or the launch ends.
std::vector<Variant> writing_back_machines() {
  std::vector<Variant> all;
  for (Variant variant : machines()) {
    if (variant.config != "ws-64" && variant.config != "lw-plus") {
      variant.settings = {"gpu.coherence=launch", "l1d.write_policy=write-back"};
      all.push_back(std::move(variant));
    }
  }
  return all;
}
// A row of the DRAM then has half as many, of which two instead of four neighbours lie in one partition.
std::vector<std::string> lines_of_128() {
  return {"l1d.line_bytes=128", "icache.line_bytes=128", "dram.mapping=R B3 C3 H C1"};
}

enum WritingBack : std::size_t { back8, back16, back32, back_sw };

std::vector<double> ratios_over(const Study& study, std::size_t base, const Grid::Figure& figure) {
  std::vector<double> all;
  for (std::size_t machine = 0; machine < study.variants().size(); ++machine) {
    all.push_back(study.ratio(machine, base, figure));
  }
  return all;
}

void judge_write_back(const Study& study, Finding& finding) {
  const double requests = study.ratio(back32, back_sw, offcore);
  const auto gain = [&study](std::size_t over) { return study.ratio(back_sw, over, instructions_per_cycle); };
  const auto idle = [&study](std::size_t than) {
    return study.average(back_sw, idle_share) / study.average(than, idle_share);
  };
  finding.ours = fmt::format("requests {}; idle {}, {}, {}; performance {}, {}, {}", by_percent(requests),
                             by_percent(idle(back8)), by_percent(idle(back16)), by_percent(idle(back32)),
                             by_percent(gain(back8)), by_percent(gain(back16)), by_percent(gain(back32)));
  finding.checks.push_back(
      main_check("warps of 32 have more requests off the cores than SW+", by_percent(requests), requests > 1.01));
  const char* const kNames[] = {"8", "16", "32"};
  for (const std::size_t other : {back8, back16, back32}) {
    finding.checks.push_back(
        main_check(fmt::format("SW+ beats warps of {}", kNames[other]), by_percent(gain(other)), gain(other) > 1.005));
    finding.checks.push_back(check(fmt::format("SW+ idles less than warps of {}", kNames[other]),
                                   by_percent(idle(other)), idle(other) < 0.99));
  }
  const Grid::Figure thousands = [](const tb::Summary& summary) { return offcore(summary) / 1e3; };
  finding.tables.push_back(study.table("Requests that leave the cores, thousands; mean: over those of warps of 8",
                                       thousands, "{:.2f}", ratios_over(study, back8, offcore)));
  finding.tables.push_back(study.table("Thread instructions per cycle; mean: over warps of 8", instructions_per_cycle,
                                       "{:.2f}", ratios_over(study, back8, instructions_per_cycle)));
  std::vector<double> share;
  for (std::size_t machine = 0; machine < study.variants().size(); ++machine) {
    share.push_back(study.average(machine, idle_share));
  }
  finding.tables.push_back(study.table("Idle cycles, share of the cores' cycles", idle_share, "{:.2f}", share));
}

void judge_line(const Study& study, Finding& finding) {
  const double of8 = study.ratio(1, 0, instructions_per_cycle);
  const double of32 = study.ratio(3, 2, instructions_per_cycle);
  finding.ours = fmt::format("{} with warps of 8, {} with warps of 32", by_percent(of8), by_percent(of32));
  finding.checks.push_back(main_check("warps of 8 are slower with lines of 128 bytes", by_percent(of8), of8 < 0.995));
  finding.checks.push_back(main_check("warps of 32 are, too", by_percent(of32), of32 < 0.995));
  finding.tables.push_back(study.table("Thread instructions per cycle; mean: over warps of 8 with lines of 64 bytes",
                                       instructions_per_cycle, "{:.2f}",
                                       ratios_over(study, 0, instructions_per_cycle)));
}

double activity_factor(const tb::Summary& summary) {
  return summary.simd_efficiency;
}

void judge_activity(const Study& study, Finding& finding) {
  std::vector<double> means;
  for (std::size_t machine = 0; machine < study.variants().size(); ++machine) {
    means.push_back(study.average(machine, activity_factor));
    finding.ours += fmt::format("{}{}", machine == 0 ? "" : ", ", percent(means.back()));
  }
  const auto [least, most] = std::minmax_element(means.begin(), means.end());
  finding.checks.push_back(main_check("the means over the benchmarks differ by less than 1 %",
                                      fmt::format("{} to {}", percent(*least), percent(*most)), *most / *least < 1.01));
  finding.tables.push_back(
      study.table("Lanes in use in cycles that issue, share of all", activity_factor, "{:.3f}", means));
}

const std::vector<ReadingRow>& reading_rows() {
  static const std::vector<ReadingRow> all = {
      {"ws-write-back",
       "L1s that write back",
       {.rank = 5040,
        .statement =
            "SW+ coalesces best, idles least and beats warps of 8, 16 and 32, as ideal coalescing captures reads "
            "and uncoalesced writes are rare",
        .paper = "16, 12, 19 %; 36, 21, 26 % fewer idle cycles",
        .source = "warp-size study, sections 6 and 7, figures 5 to 7",
        .caveat = "The reading of ws-coalescing, ws-idle and ws-perf with L1s that write back, as the default of the "
                  "study's simulator: halves of a line that warps of 8 store meet there. Cores that share a byte "
                  "within a launch would be refused (gpu.coherence = launch); these benchmarks' do not. " +
                  std::string(kReadingsCaveat)},
       writing_back_machines(),
       benchmarks(),
       judge_write_back},
      {"ws-line",
       "Cache blocks of 128 bytes",
       {.rank = 5050,
        .statement =
            "Increasing the cache block, and with it the memory transaction, from 64 to 128 bytes downgrades the "
            "overall performance",
        .paper = "slower",
        .source = "warp-size study, section 5",
        .caveat = kReadingsCaveat},
       {{"8, 64 bytes", "ws-8", {}},
        {"8, 128 bytes", "ws-8", lines_of_128()},
        {"32, 64 bytes", "ws-32", {}},
        {"32, 128 bytes", "ws-32", lines_of_128()}},
       benchmarks(),
       judge_line},
      {"ws-activity",
       "Activity factor by warp size",
       {.rank = 5007,
        .statement = "The warp's size has an insignificant impact, of less than 1 %, on the activity factor",
        .paper = "less than 1 %",
        .source = "warp-size study, section 3",
        .caveat =
            std::string("The activity factor is taken as the lanes that are in use in the cycles that issue. A row "
                        "of a warp without an active thread takes no cycle. ") +
            kReadingsCaveat},
       {{"8", "ws-8", {}}, {"16", "ws-16", {}}, {"32", "ws-32", {}}, {"64", "ws-64", {}}},
       benchmarks(),
       judge_activity},
  };
  return all;
}

class ReadingClaim final : public Claim {
 public:
  explicit ReadingClaim(const ReadingRow& row) : row_(row) {}
  [[nodiscard]] ClaimText text() const override { return row_.text; }
  [[nodiscard]] std::vector<Run> runs() const override {
    std::vector<StudyWorkload> some;
    for (const Benchmark& benchmark : row_.benchmarks) {
      some.push_back(benchmark.workload);
    }
    return runs_of(row_.machines, some);
  }
  [[nodiscard]] Finding judge(const Results& results) const override {
    const Study study(results, row_.machines, row_.benchmarks);
    Finding finding;
    if (study.count(finding)) {
      row_.judge(study, finding);
    }
    return finding;
  }

 private:
  const ReadingRow& row_;
};

const RegisterRows<ReadingClaim, ReadingRow> reading_entries{reading_rows()};

}  // namespace
}  // namespace heddle::studies::ws
