// ws-coalescing, ws-idle, ws-perf: warps of 8 to 64 threads over eight lanes, small warps with ideal coalescing (SW+),
// and large ones over MIMD lanes (LW+), on the sixteen benchmarks (warp-size study, figures 2 to 7).
#include <fmt/format.h>

#include <cmath>
#include <set>

#include "base/nearest.hpp"
#include "base/text.hpp"
#include "studies/reproduce/figures/ws_study.hpp"

namespace heddle::studies::ws {
namespace {

constexpr const char* kCaveat =
    "The study's table 1 is lost: L1 size and latency, the crossbar's width and much of the pipeline are the "
    "simulator's it "
    "used, or our own (configs/ws-8.toml). Inputs are smaller than the suites'.";

constexpr const char* name_of(Machine machine) {
  constexpr const char* kNames[] = {"warps of 8", "warps of 16", "warps of 32", "warps of 64", "SW+", "LW+"};
  return kNames[machine];
}

// A finding of the study, on all machines and benchmarks.
struct SizeRow {
  std::string id;
  std::string title;
  ClaimText text;
  void (*judge)(const Study& study, Finding& finding);
};

// A figure relative to that of warps of 8, by machine.
std::vector<double> against_warp8(const Study& study, const Grid::Figure& figure) {
  std::vector<double> all;
  for (std::size_t machine = 0; machine < study.variants().size(); ++machine) {
    all.push_back(study.ratio(machine, warp8, figure));
  }
  return all;
}

Check size_check(std::string rule, double ratio, double paper) {
  return check(fmt::format("{}: of a size with the study's {} (half to twice)", rule, by_percent(1 + paper)),
               by_percent(ratio), of_a_size(ratio - 1, paper));
}

// Section 3: who gains with the warp's size, and who loses, from 8 to 64 threads.
Check directions(const Study& study) {
  static const std::set<std::string> kGain = {"BKP", "GAS", "SR1", "SR2"};
  static const std::set<std::string> kLose = {"BFS", "MP", "MU", "NQU", "SCN"};
  std::vector<std::string> wrong;
  for (std::size_t i = 0; i < benchmarks().size(); ++i) {
    const double ratio = study.ratio(warp64, warp8, i, instructions_per_cycle);
    const std::string label = benchmarks()[i].label;
    if ((kGain.count(label) != 0 && !(ratio > 1.01)) || (kLose.count(label) != 0 && !(ratio < 0.99))) {
      wrong.push_back(fmt::format("{} {}", label, by_percent(ratio)));
    }
  }
  return check("from warps of 8 to 64 BKP, GAS, SR1, SR2 gain and BFS, MP, MU, NQU, SCN lose (two exceptions at most)",
               wrong.empty() ? "all" : "not " + join(wrong), wrong.size() <= 2);
}

// Section 7.
Check insensitive(const Study& study) {
  std::string measured;
  bool all = true;
  for (std::size_t i = 0; i < benchmarks().size(); ++i) {
    const std::string label = benchmarks()[i].label;
    if (label == "FWAL" || label == "DYN") {
      double least = 1;
      double most = 1;
      for (const Machine machine : {warp16, warp32, warp64}) {
        const double ratio = study.ratio(machine, warp8, i, instructions_per_cycle);
        least = std::min(least, ratio);
        most = std::max(most, ratio);
      }
      measured += fmt::format("{}{} {:.2f} to {:.2f}", measured.empty() ? "" : ", ", label, least, most);
      all = all && most / least < 1.10;
    }
  }
  return check("FWAL and DYN differ by less than 10 % from warps of 8 to 64", measured, all);
}

void judge_coalescing(const Study& study, Finding& finding) {
  const double over32 = study.ratio(warp32, sw_plus, offcore);
  const double over64 = study.ratio(warp64, sw_plus, offcore);
  finding.ours = fmt::format("{} and {}", by_percent(over32), by_percent(over64));
  const double to16 = study.ratio(warp16, warp8, offcore);
  const double to32 = study.ratio(warp32, warp16, offcore);
  const double to64 = study.ratio(warp64, warp32, offcore);
  finding.checks.push_back(main_check("requests that leave a core fall from warps of 8 to 16 and on to 32",
                                      fmt::format("{}, {}", by_percent(to16), by_percent(to32)),
                                      to16 < 0.99 && to32 < 0.99));
  finding.checks.push_back(check("from 32 to 64 they fall by 5 % at most, and less than from 8 to 16", by_percent(to64),
                                 to64 >= 0.95 && to64 <= 1.01 && to64 > to16));
  finding.checks.push_back(
      main_check("SW+ has fewer than warps of 32 and of 64", finding.ours, over32 > 1.01 && over64 > 1.01));
  finding.checks.push_back(size_check("those of warps of 32 over SW+'s", over32, 0.21));
  finding.checks.push_back(size_check("those of warps of 64 over SW+'s", over64, 0.30));
  const double lw = study.ratio(lw_plus, warp64, offcore);
  finding.checks.push_back(check("LW+ has more than warps of 64", by_percent(lw), lw > 1));
  const Grid::Figure rate = [](const tb::Summary& summary) { return offcore(summary) / 1e3; };
  finding.charts.push_back(study.chart("Requests that leave the cores", "thousands; mean: over those of warps of 8",
                                       rate, against_warp8(study, offcore)));
  finding.tables.push_back(study.table("Requests that leave the cores, thousands; mean: over those of warps of 8", rate,
                                       "{:.2f}", against_warp8(study, offcore)));
}

void judge_idle(const Study& study, Finding& finding) {
  std::vector<double> share;
  for (std::size_t machine = 0; machine < study.variants().size(); ++machine) {
    share.push_back(study.average(machine, idle_share));
  }
  const auto below = [&share](Machine other) { return share[sw_plus] / share[other]; };
  finding.ours =
      fmt::format("{}, {}, {}", by_percent(below(warp8)), by_percent(below(warp16)), by_percent(below(warp32)));
  finding.checks.push_back(main_check("SW+ idles less than warps of 8, 16 and 32", finding.ours,
                                      below(warp8) < 0.99 && below(warp16) < 0.99 && below(warp32) < 0.99));
  finding.checks.push_back(size_check("SW+ against warps of 8", below(warp8), -0.36));
  finding.checks.push_back(size_check("SW+ against warps of 16", below(warp16), -0.21));
  finding.checks.push_back(size_check("SW+ against warps of 32", below(warp32), -0.26));
  finding.checks.push_back(check("LW+ idles more than SW+",
                                 fmt::format("{:.0f} % against {:.0f} %", 100 * share[lw_plus], 100 * share[sw_plus]),
                                 share[lw_plus] > share[sw_plus] * 1.01));
  finding.charts.push_back(study.chart("Idle cycles", "share of the cores' cycles", idle_share, share));
  finding.tables.push_back(study.table("Idle cycles, share of the cores' cycles", idle_share, "{:.2f}", share));
}

void judge_performance(const Study& study, Finding& finding) {
  const auto gain = [&study](Machine machine, Machine over) {
    return study.ratio(machine, over, instructions_per_cycle);
  };
  finding.ours = fmt::format(
      "{}; {}, {}, {}; {}, {}, {}, {}", by_percent(gain(sw_plus, lw_plus)), by_percent(gain(sw_plus, warp8)),
      by_percent(gain(sw_plus, warp16)), by_percent(gain(sw_plus, warp32)), by_percent(gain(lw_plus, warp8)),
      by_percent(gain(lw_plus, warp16)), by_percent(gain(lw_plus, warp32)), by_percent(gain(lw_plus, warp64)));
  const auto beats = [&](Machine machine, Machine over, double paper) {
    const double ours = gain(machine, over);
    finding.checks.push_back(
        main_check(fmt::format("{} beats {}", name_of(machine), name_of(over)), by_percent(ours), ours > 1.005));
    finding.checks.push_back(size_check(fmt::format("{} over {}", name_of(machine), name_of(over)), ours, paper));
  };
  beats(sw_plus, lw_plus, 0.11);
  beats(sw_plus, warp8, 0.16);
  beats(sw_plus, warp16, 0.12);
  beats(sw_plus, warp32, 0.19);
  beats(lw_plus, warp32, 0.07);
  beats(lw_plus, warp64, 0.15);
  finding.checks.push_back(directions(study));
  finding.checks.push_back(insensitive(study));
  finding.charts.push_back(study.chart("Performance", "thread instructions per cycle; mean: over warps of 8",
                                       instructions_per_cycle, against_warp8(study, instructions_per_cycle)));
  finding.tables.push_back(study.table("Thread instructions per cycle; mean: over warps of 8", instructions_per_cycle,
                                       "{:.2f}", against_warp8(study, instructions_per_cycle)));
}

const std::vector<SizeRow>& size_rows() {
  static const std::vector<SizeRow> all = {
      {"ws-coalescing",
       "Requests off the cores by warp size",
       {.rank = 5010,
        .statement =
            "Memory accesses coalesce the better the larger the warp, with little gain beyond 32 threads; SW+ "
            "coalesces "
            "best, 21 % and 30 % better than coalescing over 32 and 64 threads, and LW+ worse than warps of 64",
        .paper = "21 % and 30 %",
        .source = "warp-size study, sections 3 and 6.1, figures 2 and 5",
        .note = "Stores make the difference. On DYN, MU and SCN SW+ has fewer requests than warps of 16, but "
                "a warp of 8 stores half a line, and SW+ does not merge stores: FWAL, NW, NNC and GAS have "
                "more than with warps of 16. The study finds that rare (section 7); its simulator's L1s "
                "write back by default, so that both halves of a line meet there, which private caches "
                "without coherence cannot do here without wrong results.",
        .caveat = kCaveat},
       judge_coalescing},
      {"ws-idle",
       "Idle cycles by warp size",
       {.rank = 5020,
        .statement =
            "SW+ has 36 %, 21 % and 26 % fewer idle cycles than warps of 8, 16 and 32; LW+, whose threads wait "
            "for each other at every instruction, has many",
        .paper = "36, 21, 26 % fewer",
        .source = "warp-size study, sections 3 and 6.2, figures 3 and 6",
        .note = "As ws-perf: where SW+ idles more than warps of 16, on FWAL, NNC and SR2, it waits for DRAM, which its "
                "stores of half "
                "lines load.",
        .caveat = kCaveat},
       judge_idle},
      {"ws-perf",
       "Performance by warp size",
       {.rank = 5030,
        .statement =
            "SW+ beats LW+ by 11 %, and warps of 8, 16 and 32 by 16, 12 and 19 %; LW+ beats warps of 8, 16, 32 "
            "and 64 by 5, 1, 7 and 15 %",
        .paper = "11; 16, 12, 19; 5, 1, 7, 15 %",
        .source = "warp-size study, sections 3 and 6.3, figures 4 and 7",
        .note = "SW+ loses to larger warps by its stores (ws-coalescing): each half of a line takes a "
                "transaction of DRAM. That is why it is slower than warps of 16 on FWAL, SR2 and NNC. LW+ "
                "gains most over warps of 64 on NQU, as in the study, and loses on MP and MU, whose threads "
                "drift apart, so that lines are asked for again. BFS gains with the warp's size here, as it "
                "mostly waits for memory.",
        .caveat = kCaveat},
       judge_performance},
  };
  return all;
}

class WarpSizeClaim final : public Claim {
 public:
  explicit WarpSizeClaim(const SizeRow& row) : row_(row) {}
  [[nodiscard]] ClaimText text() const override { return row_.text; }
  [[nodiscard]] std::vector<Run> runs() const override { return runs_of(machines(), workloads()); }
  [[nodiscard]] Finding judge(const Results& results) const override {
    const Study study(results, machines(), benchmarks());
    Finding finding;
    if (study.count(finding)) {
      row_.judge(study, finding);
    }
    return finding;
  }

 private:
  const SizeRow& row_;
};

const RegisterRows<WarpSizeClaim, SizeRow> size_entries{size_rows()};

}  // namespace
}  // namespace heddle::studies::ws
