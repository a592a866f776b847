// dws-padded, dws-long-causes: why the DWS report's machines do otherwise here, put to the test (figures 13 and 1,
// footnote 2).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/nearest.hpp"
#include "base/text.hpp"
#include "studies/reproduce/figures/dws_study.hpp"

namespace heddle::studies::dws {
namespace {

namespace padded_runs {

enum : std::size_t { kConventional, kRevive, kSlip, kSlipBypass };

std::vector<Variant> machines() {
  return {conventional(), scheme("DWS.ReviveSplit", "dws-revive-bypass"), scheme("Slip", "slip"),
          scheme("Slip.BranchBypass", "slip-bypass")};
}

// The two whose runs lie powers of two apart, or nearly so, as they are and padded.
std::vector<Benchmark> both_ways() {
  std::vector<Benchmark> all;
  for (const Benchmark& one : benchmarks()) {
    if (one.label == std::string("FFT") || one.label == std::string("Short")) {
      all.push_back(one);
      Benchmark padded = one;
      padded.label = one.label == std::string("FFT") ? "FFT, padded" : "Short, padded";
      padded.workload.name += ":padded";
      all.push_back(padded);
    }
  }
  return all;
}

std::vector<StudyWorkload> workloads() {
  std::vector<StudyWorkload> all;
  for (const Benchmark& one : both_ways()) {
    all.push_back(one.workload);
  }
  return all;
}

std::vector<Run> runs() {
  return runs_of(machines(), workloads());
}

Finding judge(const Results& results) {
  const Speedups speedups(results, machines(), both_ways());
  Finding finding;
  speedups.count(finding);
  if (finding.measured == 0) {
    finding.ours = "-";
    return finding;
  }
  for (const char* const label : {"FFT", "Short"}) {
    const std::string padded = fmt::format("{}, padded", label);
    const double before = speedups.of(kSlipBypass, label);
    const double after = speedups.of(kSlipBypass, padded);
    finding.ours +=
        fmt::format("{}{} {} and {} (DWS {} and {})", finding.ours.empty() ? "" : "; ", label, times(before),
                    times(after), times(speedups.of(kRevive, label)), times(speedups.of(kRevive, padded)));
    finding.checks.push_back(main_check(fmt::format("Slip.BranchBypass loses on {} where runs are padded", label),
                                        times(after), after < 0.99));
    finding.checks.push_back(check(fmt::format("on {} Slip gains less than 5 % then", label),
                                   times(speedups.of(kSlip, padded)), speedups.of(kSlip, padded) < 1.05));
  }
  finding.charts.push_back(speedups.chart("Speedup as runs lie, and padded"));
  finding.tables.push_back(speedups.table("Speedup over the conventional machine"));
  finding.tables.push_back(speedups.why("What the cores do"));
  return finding;
}

}  // namespace padded_runs

namespace long_misses {

constexpr std::array<unsigned, 5> kWarps = {1, 2, 4, 8, 16};

struct Change {
  const char* label;
  std::vector<std::string> settings;
};
const std::vector<Change>& changes() {
  static const std::vector<Change> all = {{"as it is", {}},
                                          {"fully associative", {"l1d.ways=256"}},
                                          {"128 KB", {"l1d.bytes=131072"}},
                                          {"memory of 64 GB/s", {"dram.bandwidth_gbs=64"}}};
  return all;
}

// By change, then by number of warps.
std::vector<Variant> machines() {
  std::vector<Variant> all;
  for (const Change& change : changes()) {
    for (const unsigned warps : kWarps) {
      std::vector<std::string> settings = shape(warps, 8);
      settings.emplace_back("l2.hit_latency=300");
      settings.insert(settings.end(), change.settings.begin(), change.settings.end());
      const bool plain = change.settings.empty();
      all.push_back(scheme(plain ? fmt::format("{}", warps) : fmt::format("{}, {}", warps, change.label), "dws-conv",
                           std::move(settings)));
    }
  }
  return all;
}

std::vector<Run> runs() {
  return runs_of(machines(), eight());
}

Finding judge(const Results& results) {
  const Speedups speedups(results, machines(), benchmarks());
  Finding finding;
  speedups.count(finding);
  if (finding.measured == 0) {
    finding.ours = "-";
    return finding;
  }
  ValueTable table{"Speedup over one warp, harmonic means, by number of warps", {"change"}, {}};
  for (const unsigned warps : kWarps) {
    table.titles.push_back(fmt::format("{}", warps));
  }
  std::string causes;
  bool already = false;
  for (std::size_t change = 0; change != changes().size(); ++change) {
    std::vector<double> speed;
    std::vector<std::string> row = {changes()[change].label};
    for (std::size_t i = 0; i != kWarps.size(); ++i) {
      speed.push_back(speedups.mean(change * kWarps.size() + i, change * kWarps.size()));
      row.push_back(times(speed.back()));
    }
    table.rows.push_back(std::move(row));
    const unsigned best =
        kWarps.at(static_cast<std::size_t>(std::max_element(speed.begin(), speed.end()) - speed.begin()));
    finding.ours += fmt::format("{}{} {}", change == 0 ? "" : "; ", changes()[change].label, best);
    already = already || (change == 0 && best >= 8);
    if (change != 0 && best >= 8) {
      causes += fmt::format("{}{} {}", causes.empty() ? "" : "; ", changes()[change].label, best);
    }
  }
  finding.checks.push_back(main_check("with one of the changes 8 or 16 are best, and not without",
                                      already          ? "without any"
                                      : causes.empty() ? "with none"
                                                       : causes,
                                      !already && !causes.empty()));
  finding.tables.push_back(std::move(table));
  return finding;
}

}  // namespace long_misses

const std::vector<ClaimRow>& dws_cause_rows() {
  static const std::vector<ClaimRow> all = {
      {"dws-long-causes",
       "How many warps are best by what contends",
       {.rank = 4005,
        .statement = "With a miss latency of 300 cycles 8 or 16 8-wide warps are best where threads contend less for "
                     "the D-cache, or for memory",
        .paper = "8 or 16",
        .source = "DWS report, section 2, footnote 2",
        .caveat = "An experiment on dws-long-misses: one thing changed at a time, whatever the number of warps."},
       long_misses::runs,
       long_misses::judge},
      {"dws-padded",
       "Slip where threads' runs do not meet in few sets",
       {.rank = 4052,
        .statement = "Adaptive slip gains on Filter alone; with BranchBypass it loses on KMeans, Short and FFT",
        .paper = "loses on Short and FFT",
        .source = "DWS report, section 5.7, figure 13",
        .caveat =
            "An experiment on dws-slip and dws-full: FFT and Short with runs that lie an odd number of lines apart "
            "(variant padded). The report does not say how its arrays lie."},
       padded_runs::runs,
       padded_runs::judge},
  };
  return all;
}

const RegisterRows<RowClaim, ClaimRow> dws_cause_entries{dws_cause_rows()};

}  // namespace
}  // namespace heddle::studies::dws
