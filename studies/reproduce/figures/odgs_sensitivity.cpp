// odgs-latency, odgs-context, odgs-beyond: what moving threads costs, and what the ODGS paper proposes for fewer moves.
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "studies/reproduce/figures/odgs_study.hpp"

namespace heddle::studies::odgs {
namespace {

constexpr std::array<unsigned, 6> kLatencies = {0, 32, 64, 128, 256, 512};

constexpr std::size_t kAt128 = 3;
constexpr std::size_t kAt512 = 5;

void judge_benchmark(const std::string& label, double at128, double at512, Finding& finding) {
  const std::string measured = fmt::format("{} at 128, {} at 512", times(at128), times(at512));
  finding.ours += fmt::format("{}{} {}", finding.ours.empty() ? "" : "; ", label, measured);
  if (!std::isfinite(at128) || !std::isfinite(at512)) {
    return;
  }
  if (label == "MUM" || label == "BFS") {
    finding.checks.push_back(main_check(label + " loses most of what it loses by 512 cycles beyond 128", measured,
                                        at512 < 0.95 && 1 - at128 < at128 - at512));
  } else if (label != "WP") {
    finding.checks.push_back(main_check(label + " loses 10 % at most", measured, at512 >= 0.9));
  }
}

void judge_latency(const Study& study, const Results& results, Finding& finding) {
  const auto left = [&](std::size_t latency, std::size_t benchmark) {
    return gain(study, results, latency, 0, benchmark);
  };
  for (std::size_t i = 0; i != study.of().size(); ++i) {
    judge_benchmark(study.of()[i].label, left(kAt128, i), left(kAt512, i), finding);
  }
  pages::LineChart chart;
  chart.title = "IPC by handling latency";
  chart.unit = "over that without latency";
  for (const unsigned latency : kLatencies) {
    chart.places.push_back(fmt::format("{}", latency));
  }
  for (std::size_t i = 0; i != study.of().size(); ++i) {
    pages::LineChart::Series series{study.of()[i].label, {}};
    for (std::size_t latency = 0; latency != kLatencies.size(); ++latency) {
      series.values.push_back(left(latency, i));
    }
    chart.series.push_back(std::move(series));
  }
  finding.charts.emplace_back(std::move(chart));
  if (pages::ImagePanels pictures = ipc_pictures(study, results, 0); !pictures.panels.empty()) {
    finding.charts.emplace_back(std::move(pictures));
  }
  finding.tables.push_back(study.table("IPC over that without latency, by cycles", "{:.2f}", left));
}

std::vector<Variant> latencies() {
  std::vector<Variant> all;
  for (const unsigned latency : kLatencies) {
    Variant variant{fmt::format("{}", latency), "odgs", {}};
    if (latency != 0) {
      variant.settings.push_back(fmt::format("odgs.handling_latency={}", latency));
    }
    all.push_back(std::move(variant));
  }
  return all;
}

// Of both ways.
double context_megabytes(const tb::Summary& summary) {
  return static_cast<double>(summary.context_bytes) / 1e6;
}

void judge_context(const Study& study, const Results& results, Finding& finding) {
  constexpr double kCores = 28;
  const auto bytes = [&](std::size_t machine, std::size_t benchmark) {
    return study.at(results, machine, benchmark, [](const tb::Summary& summary) {
      return static_cast<double>(summary.context_bytes) / 2 / static_cast<double>(summary.cycles) / kCores;
    });
  };
  const double of_mum = bytes(0, 0);
  finding.ours = fmt::format("{:.0f} bytes per cycle and core", of_mum);
  if (std::isfinite(of_mum)) {
    finding.checks.push_back(main_check("MUM's are of a size with 150 bytes per cycle and core (half to twice)",
                                        fmt::format("{:.0f}", of_mum), of_a_size(of_mum, 150)));
  }
  for (std::size_t i = 2; i != study.of().size(); ++i) {
    if (std::isfinite(of_mum) && std::isfinite(bytes(0, i))) {
      finding.checks.push_back(check(fmt::format("{}'s are half of them at most", study.of()[i].label),
                                     fmt::format("{:.0f}", bytes(0, i)), bytes(0, i) <= of_mum / 2));
    }
  }
  finding.tables.push_back(study.table("Bytes of context per cycle and core, one way", "{:.1f}", bytes));
  // Figure 14 (a) and (b).
  const auto rate = [&](std::size_t machine, std::size_t benchmark) {
    return study.at(results, machine, benchmark, [](const tb::Summary& summary) {
      return 1000 * static_cast<double>(summary.diverged_warps) / static_cast<double>(summary.cycles) / kCores;
    });
  };
  finding.tables.push_back(
      study.table("Bytes of context of a diverged warp", "{:.0f}", [&](std::size_t machine, std::size_t benchmark) {
        return 1000 * bytes(machine, benchmark) / rate(machine, benchmark);
      }));
  finding.tables.push_back(study.table("Warps that diverge per thousand cycles and core", "{:.1f}", rate));
  const double most = std::min(rate(0, 0), rate(0, 1));
  for (std::size_t i = 2; i != study.of().size(); ++i) {
    if (std::isfinite(most) && std::isfinite(rate(0, i))) {
      finding.checks.push_back(check(fmt::format("{} diverges less often than MUM and BFS", study.of()[i].label),
                                     fmt::format("{:.1f} against {:.1f} per thousand cycles", rate(0, i), most),
                                     rate(0, i) < most));
    }
  }
}

// Each idea by itself.
enum Idea : std::size_t { none, alone, short8, short32, bound, ranked, ranked_high, local, stolen };

void judge_beyond(const Study& study, const Results& results, Finding& finding) {
  const auto of_pod = [&](std::size_t idea, std::size_t benchmark) {
    return gain(study, results, idea, none, benchmark);
  };
  const auto moved = [&](std::size_t idea, std::size_t benchmark) {
    return study.at(results, idea, benchmark, context_megabytes);
  };
  const double as_it_is = of_pod(alone, 0);
  finding.ours = fmt::format("WP: {} of POD's IPC; with short branches left {}, ranked {}", times(as_it_is),
                             times(of_pod(short32, 0)), times(of_pod(ranked, 0)));
  if (const double with = of_pod(ranked_high, 0); std::isfinite(with)) {
    finding.checks.push_back(check("leaving branches that lose up to 4096 to the stack gives WP high performance",
                                   times(with), with >= 0.95));
  }
  for (const auto& [idea, rule] : {std::pair{short32, "leaving branches of up to 32 instructions"},
                                   std::pair{ranked, "leaving branches that lose little"}}) {
    if (const double with = of_pod(idea, 0); std::isfinite(with) && std::isfinite(as_it_is)) {
      finding.checks.push_back(main_check(fmt::format("{} to the stack gains on WP", rule),
                                          fmt::format("{} instead of {}", times(with), times(as_it_is)),
                                          with > 1.01 * as_it_is));
      finding.checks.push_back(check(fmt::format("{} gives WP high performance", rule), times(with), with >= 0.95));
    }
  }
  for (std::size_t i = 0; i != study.of().size(); ++i) {
    if (std::isfinite(moved(local, i)) && std::isfinite(moved(alone, i))) {
      finding.checks.push_back(
          check(fmt::format("re-forming warps in the cores first moves fewer threads of {}", study.of()[i].label),
                fmt::format("{:.0f} instead of {:.0f} MB", moved(local, i), moved(alone, i)),
                moved(local, i) < moved(alone, i)));
    }
  }
  finding.charts.push_back(study.bars("IPC with perfect memory", "over POD's", of_pod));
  finding.tables.push_back(study.table("IPC over POD's", "{:.2f}", of_pod));
  finding.tables.push_back(study.table("Megabytes of context moved, both ways", "{:.1f}", moved));
  finding.tables.push_back(study.table("Thousands of times that a warp's threads went both ways", "{:.1f}",
                                       [&](std::size_t idea, std::size_t benchmark) {
                                         return study.at(results, idea, benchmark, [](const tb::Summary& summary) {
                                           return static_cast<double>(summary.divergent_branches) / 1e3;
                                         });
                                       }));
}

std::vector<Variant> ideas() {
  return {{"POD", "odgs-pod", {}},
          {"ODGS", "odgs", {}},
          {"short 8", "odgs", {"odgs.short_branch=8"}},
          {"short 32", "odgs", {"odgs.short_branch=32"}},
          {"16 moves", "odgs", {"odgs.moves_per_1024=16"}},
          {"ranked 256", "odgs", {"odgs.rank_after=4"}},
          {"ranked 4096", "odgs", {"odgs.rank_after=4", "odgs.rank_loss=4096"}},
          {"local first", "odgs", {"odgs.local_paths=8"}},
          {"own blocks", "odgs", {"odgs.own_blocks=true"}}};
}

const std::vector<StudyRow>& sensitivity_rows() {
  static const std::vector<StudyRow> all = {
      {"odgs-latency",
       "Latency of handling diverged warps",
       {.rank = 6030,
        .statement =
            "MUM and BFS lose IPC when handling a diverged warp takes more than 128 to 256 cycles; RAY and NN are "
            "insensitive",
        .paper = "drop beyond 128 to 256",
        .source = "ODGS paper, section 3.8, figures 13 and 15",
        .note = "Our RAY parts its warps more often than the paper's does: it moves more context per cycle "
                "and core than MUM (odgs-context), and has fewer places a core to hide the latency.",
        .caveat = kCaveat},
       [] { return Study(latencies()); },
       judge_latency},
      {"odgs-context",
       "Contexts of diverged warps",
       {.rank = 6035,
        .statement = "The contexts of MUM's diverged warps, 2 KB each, take about 150 bytes per cycle and core to the "
                     "global scheduler; those of the other benchmarks much less",
        .paper = "2 KB; 150 bytes per cycle and core",
        .source = "ODGS paper, section 3.8, figure 14",
        .note = "A warp of MUM has about as much context here, too, but a core parts one less often than 150 "
                "bytes per cycle mean: our kernel diverges less per instruction. BFS and RAY move more than "
                "MUM.",
        .caveat =
            "Ours is half of what travels, there and back; registers of the kernels as our compiler gives them. A "
            "cycle of ours is four of the paper's hardware (configs/odgs-pod.toml), as it is in the simulator."},
       [] {
         return Study(std::vector<Variant>{{"ODGS", "odgs", {}}});
       },
       judge_context},
      {"odgs-beyond",
       "What the ODGS paper proposes for fewer moves",
       {.rank = 6040,
        .statement =
            "Leaving branches whose paths are short, or that matter little by statistics gathered at run time, to the "
            "stack would allow high performance in WP, too; re-forming warps in the cores first moves fewer threads",
        .paper = "proposed, without figures",
        .source = "ODGS paper, section 3.8; work stealing: section 3.4",
        .note = "What costs WP under ODGS is not the short branches: left to the stack up to 32 instructions "
                "they give a little, up to 8 almost nothing, and longer ones no more. Loops part the warps, "
                "and threads that have parted once meet by chance only, so that fewer lanes are active than "
                "under POD. Ranked by a loss of 256 the loops still leave; by 4096 no branch does, and WP "
                "has POD's IPC. On BFS ranking and local re-formation move less context at about the same "
                "IPC; WP has too few warps in a core for local re-formation. New warps by owner change "
                "little with perfect memory.",
        .caveat =
            "Ours: odgs.short_branch 8 and 32 instructions; odgs.moves_per_1024 16 warps; odgs.rank_after 4 "
            "divergences, with odgs.rank_loss 256 and 4096; odgs.local_paths 8; odgs.own_blocks. High performance is "
            "taken as 95 % of POD's.",
        .given = {"32 instructions", "95 %"}},
       [] {
         return Study(ideas(), {benchmark("WP"), benchmark("BFS")});
       },
       judge_beyond},
  };
  return all;
}

const RegisterRows<StudyClaim, StudyRow> sensitivity_entries{sensitivity_rows()};

}  // namespace
}  // namespace heddle::studies::odgs
