// dws-readings: DWS.ReviveSplit over the conventional machine under each reading of what the DWS report leaves open,
// and how well the conventional machine matches the report's then.
#include <fmt/format.h>

#include <cmath>

#include "base/nearest.hpp"
#include "base/text.hpp"
#include "studies/reproduce/figures/dws_study.hpp"

namespace heddle::studies::dws {
namespace {

struct OpenPoint {
  const char* label;
  const char* words;  // the report's, or what they leave open
  Variant conventional;
  Variant subdivided;
};

// With the same settings on both machines, `more` on the subdivided one.
OpenPoint open_point(const char* label, const char* words, const std::vector<std::string>& settings,
                     std::vector<std::string> more = {}) {
  more.insert(more.begin(), settings.begin(), settings.end());
  return {label, words, scheme(fmt::format("Conv, {}", label), "dws-conv", settings),
          scheme(fmt::format("DWS, {}", label), "dws-revive-bypass", std::move(more))};
}

const std::vector<OpenPoint>& open_points() {
  static const std::vector<OpenPoint> all = {
      open_point("as it is", "requests \"are serialized\" by a crossbar of 300 MHz; stores are posted", {}),
      {"packed links", "57 Gbytes/s of lines each way; requests take no room",
       scheme("Conv, packed", "dws-conv-packed"), scheme("DWS, packed", "dws-revive-packed")},
      open_point("both ways together", "57 Gbytes/s of lines in all", {"noc.packed=true", "noc.link_bytes=95"}),
      {"stores waited", "memory references \"are modeled faithfully\"", scheme("Conv, waited", "dws-conv-waited"),
       scheme("DWS, waited", "dws-revive-waited")},
      open_point("banks by word", "each bank \"performs its own tag match\"; a queuing overhead of one cycle",
                 {"l1d.bank_bytes=8", "l1d.conflict_cycles=1"}),
      {"PCs at accesses", "\"PCs need only be compared when the running warp-split executes a memory instruction\"",
       scheme("Conv, as it is", "dws-conv"), scheme("DWS, letter", "dws-revive-letter")},
      open_point("stacks in memory", "reference 19: private data of many threads thrash a shared cache",
                 {"core.registers_per_thread=16", "private.frame_bytes=8192"}),
      open_point("no loop branches", "branches that subdivide were marked by hand", {}, {"dws.loop_branches=false"}),
  };
  return all;
}

namespace open_readings {

std::vector<Variant> machines() {
  std::vector<Variant> all;
  for (const OpenPoint& one : open_points()) {
    all.push_back(one.conventional);
    all.push_back(one.subdivided);
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
  ValueTable means{
      "By reading", {"reading", "the report's words", "speedup", "stalled: Conv", "DWS", "lanes: Conv", "DWS"}, {}};
  ValueTable each{"Speedup over the conventional machine of the reading", {"benchmark"}, {}};
  for (const Benchmark& benchmark : benchmarks()) {
    each.rows.push_back({benchmark.label});
  }
  const auto lanes = [](const tb::Summary& summary) { return summary.lanes_per_warp_instruction; };
  for (std::size_t i = 0; i < open_points().size(); ++i) {
    const OpenPoint& one = open_points()[i];
    const std::size_t conv = 2 * i;
    const std::size_t with = conv + 1;
    const double gain = speedups.mean(with, conv);
    const double stalled = speedups.average(conv, stalled_on_memory);
    finding.ours += fmt::format("{}{} {}", i == 0 ? "" : ", ", one.label, times(gain));
    finding.checks.push_back(main_check(
        fmt::format("{}: harmonic mean of a size with the report's 1.71 (half to twice the gain)", one.label),
        times(gain), of_a_size(gain - 1, 0.71)));
    finding.checks.push_back(
        check(fmt::format("{}: the conventional machine is stalled for more than half of the time", one.label),
              percent(stalled), stalled > 0.5));
    means.rows.push_back(
        {one.label, one.words, times(gain), percent(stalled), percent(speedups.average(with, stalled_on_memory)),
         fmt::format("{:.1f}", speedups.average(conv, lanes)), fmt::format("{:.1f}", speedups.average(with, lanes))});
    each.titles.emplace_back(one.label);
    for (std::size_t benchmark = 0; benchmark < benchmarks().size(); ++benchmark) {
      each.rows[benchmark].push_back(times(speedups.of(with, benchmark, conv)));
    }
  }
  finding.tables.push_back(std::move(means));
  finding.tables.push_back(std::move(each));
  finding.tables.push_back(speedups.why("What the cores do"));
  return finding;
}

}  // namespace open_readings

const std::vector<ClaimRow>& open_readings_rows() {
  static const std::vector<ClaimRow> all = {
      {"dws-readings",
       "What the DWS report leaves open",
       {.rank = 4045,
        .statement = "DWS.ReviveSplit gains 1.71 on average over a machine that is stalled on memory for 76 % of the "
                     "time with 14 lanes per instruction, under each reading of what the report leaves open",
        .paper = "1.71; 76 %; 14 lanes",
        .source = "DWS report, sections 3.3, 4.3, 4.5 and 5.5, table 3",
        .note = "The crossbar decides most, then stores that wait. A link of a quarter of the width, as if each core "
                "had a quarter of the crossbar's bandwidth to itself, is no reading: the L2 has one port here, which "
                "all cores share, so that its link's bandwidth is the whole crossbar's.",
        .caveat = "Each reading by itself, beside the machine as it is. Which one the claims use is settled by the "
                  "report's words and by the conventional machine's stalls, not by what subdivision gains. Cycles at "
                  "the ends of launches, in which the caches write their last stores to memory, are left out. "
                  "Inputs are smaller than table 2's."},
       open_readings::runs,
       open_readings::judge}};
  return all;
}

const RegisterRows<RowClaim, ClaimRow> open_points_entry{open_readings_rows()};

}  // namespace
}  // namespace heddle::studies::dws
