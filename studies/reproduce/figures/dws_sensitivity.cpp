// dws-assoc, dws-l2lat, dws-dsize, dws-slots, dws-wst, dws-width, dws-caches: the gain of subdivision
// (DWS.ReviveSplit) over the conventional machine along one parameter each (DWS report, section 6, figures 15 to 21),
// on all benchmarks at the scales of the other claims. Where the report's figure shows it, adaptive slip beside.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "studies/reproduce/figures/dws_study.hpp"

namespace heddle::studies::dws {
namespace {

struct Point {
  const char* label;
  std::vector<std::string> settings;
};

// What came out at the points, for the checks: harmonic means over the benchmarks.
struct Along {
  std::vector<double> gain;       // of subdivision over the conventional machine of the same point
  std::vector<double> slip_gain;  // likewise of Slip.BranchBypass, where it is compared
  std::vector<double> conv;       // speedups over the conventional machine of the first point
  std::vector<double> dws;
};

struct Sensitivity {
  const char* id;
  const char* title;
  unsigned rank;
  const char* statement;
  const char* paper;
  const char* source;
  std::vector<Point> points;
  std::vector<Check> (*judge)(const Along& along);
  const char* note = "";
  bool slip = false;  // Slip.BranchBypass beside
};

std::string gain_of(double gain) {
  return fmt::format("{:+.1f} %", 100 * (gain - 1));
}

const std::vector<Sensitivity>& sensitivities() {
  static const std::vector<Sensitivity> all = {
      {"dws-assoc",
       "Gain of subdivision by associativity",
       4080,
       "The gain of subdivision tends to decrease from an associativity of 4 to a fully associative D-cache",
       "less with more ways",
       "DWS report, section 6.1, figure 15",
       {{"4-way", {"l1d.ways=4"}}, {"8-way", {}}, {"16-way", {"l1d.ways=16"}}, {"full", {"l1d.ways=256"}}},
       [](const Along& along) -> std::vector<Check> {
         return {main_check("the gain is smaller with a fully associative D-cache than with 8 ways",
                            fmt::format("{} against {}", gain_of(along.gain[3]), gain_of(along.gain[1])),
                            along.gain[3] < along.gain[1])};
       },
       "Short's misses go with 16 ways and FFT's with a fully associative D-cache: the conventional machine is far "
       "faster then than with 4 ways."},
      {"dws-l2lat",
       "Gain of subdivision by L2 latency",
       4090,
       "The gain of subdivision increases with the latency of the L2, from 10 to 300 cycles",
       "more with more latency",
       "DWS report, section 6.2, figure 16",
       {{"10", {"l2.hit_latency=10"}}, {"30", {}}, {"100", {"l2.hit_latency=100"}}, {"300", {"l2.hit_latency=300"}}},
       [](const Along& along) -> std::vector<Check> {
         return {main_check("the gain is larger at 300 cycles than at 10",
                            fmt::format("{} against {}", gain_of(along.gain[3]), gain_of(along.gain[0])),
                            along.gain[3] > along.gain[0]),
                 check("and grows from point to point",
                       fmt::format("{}, {}, {}, {}", gain_of(along.gain[0]), gain_of(along.gain[1]),
                                   gain_of(along.gain[2]), gain_of(along.gain[3])),
                       std::is_sorted(along.gain.begin(), along.gain.end()))};
       }},
      {"dws-dsize",
       "Gain of subdivision by D-cache size",
       4100,
       "With a D-cache of 128 KB subdivision gains next to nothing; it has about the effect of doubling the D-cache",
       "gone at 128 KB; one doubling",
       "DWS report, section 6.3, figure 17",
       {{"8 KB", {"l1d.bytes=8192"}},
        {"16 KB", {"l1d.bytes=16384"}},
        {"32 KB", {}},
        {"64 KB", {"l1d.bytes=65536"}},
        {"128 KB", {"l1d.bytes=131072"}}},
       [](const Along& along) -> std::vector<Check> {
         return {main_check("at 128 KB the gain is below 5 %", gain_of(along.gain[4]), along.gain[4] < 1.05),
                 check("at 32 KB it is larger than at 128 KB", gain_of(along.gain[2]), along.gain[2] > along.gain[4]),
                 check("with 32 KB, subdivision is within 10 % of the conventional machine with 64 KB",
                       fmt::format("{} against {}", times(along.dws[2]), times(along.conv[3])),
                       std::abs(along.dws[2] / along.conv[3] - 1) <= 0.10)};
       },
       "Between 32 and 64 KB the conflicts of FFT and Short go: no subdivision makes up what the conventional machine "
       "gains by that."},
      {"dws-slots",
       "Gain of subdivision by scheduler slots",
       4110,
       "Subdivision performs best with a moderate number of scheduler slots: few limit the multi-threading, many let "
       "more threads compete for the D-cache",
       "best with a moderate number",
       "DWS report, section 6.6, figure 20",
       {{"5", {"dws.slots=5"}}, {"8", {"dws.slots=8"}}, {"16", {"dws.slots=16"}}, {"64", {"dws.slots=64"}}},
       [](const Along& along) -> std::vector<Check> {
         const double middle = std::max(along.gain[1], along.gain[2]);
         return {main_check(
             "8 or 16 slots are better than 5 and at least as good as 64",
             fmt::format("{} against {} and {}", gain_of(middle), gain_of(along.gain[0]), gain_of(along.gain[3])),
             middle > along.gain[0] && middle >= along.gain[3])};
       },
       "FFT gains most with five slots: its threads evict each other's lines, so that every split that waits helps, as "
       "the report says of many slots."},
      {"dws-wst",
       "Gain of subdivision by entries of the warp-split table",
       4120,
       "A warp-split table of twice as many entries as there are scheduler slots is enough; more gain nothing",
       "enough at 16",
       "DWS report, section 6.7, figure 21",
       {{"4", {"dws.entries=4"}}, {"8", {"dws.entries=8"}}, {"16", {}}, {"64", {"dws.entries=64"}}},
       [](const Along& along) -> std::vector<Check> {
         return {main_check("with 16 entries the gain is within 2 points of that with 64",
                            fmt::format("{} against {}", gain_of(along.gain[2]), gain_of(along.gain[3])),
                            std::abs(along.gain[2] - along.gain[3]) <= 0.02),
                 check("with 4 it is smaller than with 16",
                       fmt::format("{} against {}", gain_of(along.gain[0]), gain_of(along.gain[2])),
                       along.gain[0] < along.gain[2]),
                 check("with 16 it is larger than that of Slip.BranchBypass, which uses no table",
                       fmt::format("{} against {}", gain_of(along.gain[2]), gain_of(along.slip_gain[2])),
                       along.gain[2] > along.slip_gain[2])};
       },
       "A full table keeps branches from splitting, which helps where nothing is to be hidden.",
       true},
      {"dws-width",
       "Width and number of warps",
       4130,
       "Subdivision gains where warps are 8 wide or wider; two 16-wide warps with it are 1.2 times as fast as the best "
       "conventional machine, four 8-wide warps; many narrow warps lose by it",
       "1.2 over the best conventional one",
       "DWS report, section 6.4, figure 18",
       {{"4 x 8", shape(4, 8)}, {"8 x 4", shape(8, 4)}, {"2 x 16", shape(2, 16)}, {"4 x 16", shape(4, 16)}},
       [](const Along& along) -> std::vector<Check> {
         const double best = *std::max_element(along.conv.begin(), along.conv.end());
         const double ratio = along.dws[2] / best;
         return {
             main_check("two 16-wide warps with subdivision gain over the best conventional machine, of a size with "
                        "1.2",
                        times(ratio), of_a_size(ratio - 1, 0.2)),
             check("subdivision gains with 4 x 8, 2 x 16 and 4 x 16",
                   fmt::format("{}, {}, {}", gain_of(along.gain[0]), gain_of(along.gain[2]), gain_of(along.gain[3])),
                   along.gain[0] > 1 && along.gain[2] > 1 && along.gain[3] > 1),
             check("it gains less with 8 x 4 than with 2 x 16",
                   fmt::format("{} against {}", gain_of(along.gain[1]), gain_of(along.gain[2])),
                   along.gain[1] < along.gain[2]),
             check("Slip.BranchBypass gains less than subdivision with 4 x 16",
                   fmt::format("{} against {}", gain_of(along.slip_gain[3]), gain_of(along.gain[3])),
                   along.slip_gain[3] < along.gain[3])};
       },
       "Where all threads' data fit, splits have few lanes and hide nothing.",
       true},
      {"dws-caches",
       "Gain of subdivision by four D-caches",
       4135,
       "With highly associative D-caches of large capacity DWS no longer plays an important role",
       "unimportant with 256 KB, fully associative",
       "DWS report, section 6.4, figure 18 (a) to (d)",
       {{"8-way, 32 KB", {}},
        {"full, 32 KB", {"l1d.ways=256"}},
        {"8-way, 256 KB", {"l1d.bytes=262144"}},
        {"1024-way, 256 KB", {"l1d.bytes=262144", "l1d.ways=1024"}}},
       [](const Along& along) -> std::vector<Check> {
         return {main_check("with 1024 ways and 256 KB the gain is below 5 %", gain_of(along.gain[3]),
                            along.gain[3] < 1.05),
                 main_check("and smaller than with 8 ways and 32 KB",
                            fmt::format("{} against {}", gain_of(along.gain[3]), gain_of(along.gain[0])),
                            along.gain[3] < along.gain[0]),
                 check("Slip.BranchBypass gains less than subdivision with 8 ways and 32 KB",
                       fmt::format("{} against {}", gain_of(along.slip_gain[0]), gain_of(along.gain[0])),
                       along.slip_gain[0] < along.gain[0])};
       },
       "",
       true},
  };
  return all;
}

class SensitivityClaim final : public Claim {
 public:
  explicit SensitivityClaim(const Sensitivity& row) : row_(row) {}
  [[nodiscard]] ClaimText text() const override {
    return {.rank = row_.rank,
            .statement = row_.statement,
            .paper = row_.paper,
            .source = row_.source,
            .note = row_.note,
            .caveat =
                "Cycles at the ends of launches, in which the caches write their last stores to memory, are left out. "
                "Inputs are smaller than table 2's."};
  }
  [[nodiscard]] std::vector<Run> runs() const override { return runs_of(machines(), eight()); }
  [[nodiscard]] Finding judge(const Results& results) const override {
    const Speedups speedups(results, machines(), benchmarks());
    Finding finding;
    speedups.count(finding);
    if (finding.measured == 0) {
      finding.ours = "-";
      return finding;
    }
    Along along;
    pages::LineChart chart;
    chart.title = row_.title;
    chart.unit = "speedup over the conventional machine of the first point";
    chart.series = {{"Conv", {}, false}, {"DWS", {}, true}};
    ValueTable table{"Speedup, harmonic means", {"", "Conv", "DWS", "gain of DWS"}, {}};
    if (row_.slip) {
      chart.series.push_back({"Slip.BranchBypass", {}, false});
      table.titles.insert(table.titles.end(), {"Slip.BranchBypass", "gain of Slip.BranchBypass"});
    }
    const std::size_t machines = row_.slip ? 3 : 2;
    for (std::size_t point = 0; point < row_.points.size(); ++point) {
      const std::size_t conv = machines * point;
      along.conv.push_back(speedups.mean(conv));
      along.dws.push_back(speedups.mean(conv + 1));
      along.gain.push_back(speedups.mean(conv + 1, conv));
      chart.places.emplace_back(row_.points[point].label);
      chart.series[0].values.push_back(along.conv.back());
      chart.series[1].values.push_back(along.dws.back());
      table.rows.push_back(
          {row_.points[point].label, times(along.conv.back()), times(along.dws.back()), gain_of(along.gain.back())});
      if (row_.slip) {
        const double slip = speedups.mean(conv + 2);
        along.slip_gain.push_back(speedups.mean(conv + 2, conv));
        chart.series[2].values.push_back(slip);
        table.rows.back().insert(table.rows.back().end(), {times(slip), gain_of(along.slip_gain.back())});
      }
      finding.ours +=
          fmt::format("{}{} {}", point == 0 ? "" : ", ", row_.points[point].label, gain_of(along.gain.back()));
    }
    finding.checks = row_.judge(along);
    finding.charts.emplace_back(std::move(chart));
    finding.tables.push_back(std::move(table));
    finding.tables.push_back(speedups.table("Speedup over the conventional machine of the first point"));
    return finding;
  }

 private:
  // Conventional and subdividing at each point, with adaptive slip where the row has it.
  [[nodiscard]] std::vector<Variant> machines() const {
    std::vector<Variant> all;
    for (const Point& point : row_.points) {
      std::vector<std::string> of_machine = point.settings;
      std::erase_if(of_machine, [](const std::string& setting) { return setting.starts_with("dws."); });
      all.push_back(scheme(fmt::format("Conv {}", point.label), "dws-conv", of_machine));
      all.push_back(scheme(fmt::format("DWS {}", point.label), "dws-revive-bypass", point.settings));
      if (row_.slip) {
        all.push_back(scheme(fmt::format("Slip {}", point.label), "slip-bypass", of_machine));
      }
    }
    return all;
  }

  const Sensitivity& row_;
};

const RegisterRows<SensitivityClaim, Sensitivity> sensitivity_entries{sensitivities()};

}  // namespace
}  // namespace heddle::studies::dws
