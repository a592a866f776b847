// dws-simd-width, dws-full-assoc, dws-warps, dws-long-misses: what the conventional machine does with wider warps and
// with more of them, which is why the report wants to hide latency within warps (DWS report, section 2, figure 1 and
// footnote 2).
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "studies/reproduce/figures/dws_study.hpp"

namespace heddle::studies::dws {
namespace {

struct Step {
  std::string label;
  std::vector<std::string> settings;
};

// What came out at the points: harmonic means of the speedup over the first one, and shares of the time, means over the
// benchmarks.
struct AlongSteps {
  std::vector<std::string> labels;
  std::vector<double> speed;
  std::vector<double> waiting;

  [[nodiscard]] std::size_t best() const {
    return static_cast<std::size_t>(std::max_element(speed.begin(), speed.end()) - speed.begin());
  }
};

struct ConventionalRow {
  std::string id;
  std::string title;
  ClaimText text;
  std::vector<Step> points;
  void (*judge)(const AlongSteps& along, Finding& finding);
};

constexpr const char* kConventionalCaveat =
    "The time that waits for memory is the cycles in which no warp can issue as most wait for memory, or for room on "
    "the way there. Cycles at the ends of launches, in which the caches write their last stores to memory, are left "
    "out. Inputs are smaller than table 2's.";

std::vector<Step> steps_by_width() {
  std::vector<Step> all;
  for (const unsigned width : {1U, 2U, 4U, 8U, 16U}) {
    all.push_back({fmt::format("{}", width), shape(4, width)});
  }
  return all;
}

std::vector<Step> steps_by_warps(const std::vector<std::string>& more) {
  std::vector<Step> all;
  for (const unsigned warps : {1U, 2U, 4U, 8U, 16U}) {
    Step point{fmt::format("{}", warps), shape(warps, 8)};
    point.settings.insert(point.settings.end(), more.begin(), more.end());
    all.push_back(std::move(point));
  }
  return all;
}

std::string best_step(const AlongSteps& along) {
  return fmt::format("best at {}", along.labels[along.best()]);
}

const std::vector<ConventionalRow>& conventional_rows() {
  static const std::vector<ConventionalRow> all = {
      {"dws-simd-width",
       "Wider SIMD on the conventional machine",
       {.rank = 4001,
        .statement = "With four warps the execution time first improves as the SIMD width grows from 1 to 16 and "
                     "eventually gets worse: the time spent waiting for memory increases and dominates",
        .paper = "worse again at 16",
        .source = "DWS report, section 2, figure 1a",
        .caveat = kConventionalCaveat},
       steps_by_width(),
       [](const AlongSteps& along, Finding& finding) {
         finding.ours = fmt::format("{}; waiting {} at 1, {} at 16", best_step(along), percent(along.waiting.front()),
                                    percent(along.waiting.back()));
         finding.checks.push_back(main_check("the widest is not the fastest", best_step(along),
                                             along.best() != 0 && along.best() + 1 != along.speed.size()));
         finding.checks.push_back(
             check("the share of the time that waits grows from point to point",
                   fmt::format("{} to {}", percent(along.waiting.front()), percent(along.waiting.back())),
                   std::is_sorted(along.waiting.begin(), along.waiting.end())));
         finding.checks.push_back(
             main_check("at 16 it is more than half", percent(along.waiting.back()), along.waiting.back() > 0.5));
       }},
      {"dws-full-assoc",
       "Highly associative D-caches on the conventional machine",
       {.rank = 4002,
        .statement = "Four warps of 16 suffer from highly associative D-caches, too: the time that waits for memory is "
                     "still significant with full associativity, as the capacity is too small",
        .paper = "still significant",
        .source = "DWS report, section 2, figure 1b",
        .note = "Most misses of our benchmarks are conflicts (dws-characterisation).",
        .caveat = std::string(kConventionalCaveat) + " A quarter of the time is taken as significant."},
       {{"4-way", {"l1d.ways=4"}}, {"8-way", {}}, {"16-way", {"l1d.ways=16"}}, {"full", {"l1d.ways=256"}}},
       [](const AlongSteps& along, Finding& finding) {
         finding.ours = fmt::format("waiting {} with 8 ways, {} with all", percent(along.waiting[1]),
                                    percent(along.waiting.back()));
         finding.checks.push_back(main_check("with full associativity a quarter of the time or more waits",
                                             percent(along.waiting.back()), along.waiting.back() >= 0.25));
         finding.checks.push_back(
             check("it is more with 4 ways than with all",
                   fmt::format("{} against {}", percent(along.waiting[0]), percent(along.waiting.back())),
                   along.waiting[0] > along.waiting.back()));
       }},
      {"dws-warps",
       "More warps on the conventional machine",
       {.rank = 4003,
        .statement = "A few 8-wide warps can beneficially hide latency, but too many warps eventually exacerbate the "
                     "contention for the cache and increase the time spent waiting for memory",
        .paper = "a few are best",
        .source = "DWS report, section 2, figure 1c",
        .caveat = kConventionalCaveat},
       steps_by_warps({}),
       [](const AlongSteps& along, Finding& finding) {
         finding.ours = best_step(along);
         finding.checks.push_back(main_check("2 to 8 warps are better than 1 and than 16", best_step(along),
                                             along.best() != 0 && along.best() + 1 != along.speed.size()));
         const double least = *std::min_element(along.waiting.begin(), along.waiting.end());
         finding.checks.push_back(check("with 16 more of the time waits than where the least does",
                                        fmt::format("{} against {}", percent(along.waiting.back()), percent(least)),
                                        along.waiting.back() > least));
       }},
      {"dws-long-misses",
       "More warps where misses take long",
       {.rank = 4004,
        .statement = "With a miss latency of 300 cycles the optimal number of 8-wide warps jumps to 8 or 16",
        .paper = "8 or 16",
        .source = "DWS report, section 2, footnote 2",
        .caveat = kConventionalCaveat},
       steps_by_warps({"l2.hit_latency=300"}),
       [](const AlongSteps& along, Finding& finding) {
         finding.ours = best_step(along);
         finding.checks.push_back(main_check("8 or 16 warps are best", best_step(along), along.best() >= 3));
       }},
  };
  return all;
}

class ConventionalClaim final : public Claim {
 public:
  explicit ConventionalClaim(const ConventionalRow& row) : row_(row) {}
  [[nodiscard]] ClaimText text() const override { return row_.text; }
  [[nodiscard]] std::vector<Run> runs() const override { return runs_of(machines(), eight()); }
  [[nodiscard]] Finding judge(const Results& results) const override {
    const Speedups speedups(results, machines(), benchmarks());
    Finding finding;
    speedups.count(finding);
    if (finding.measured == 0) {
      finding.ours = "-";
      return finding;
    }
    AlongSteps along;
    pages::LineChart chart;
    chart.title = row_.title;
    chart.unit = "time over that of the first point; share of it that waits for memory";
    chart.series = {{"time", {}, true}, {"waiting", {}, false}};
    ValueTable table{
        "Speedup over the first point (harmonic means) and time that waits for memory", {"", "speedup", "waiting"}, {}};
    for (std::size_t point = 0; point < row_.points.size(); ++point) {
      along.labels.push_back(row_.points[point].label);
      along.speed.push_back(speedups.mean(point));
      along.waiting.push_back(speedups.average(point, stalled_on_memory));
      chart.places.emplace_back(row_.points[point].label);
      chart.series[0].values.push_back(1 / along.speed.back());
      chart.series[1].values.push_back(along.waiting.back());
      table.rows.push_back({row_.points[point].label, times(along.speed.back()), percent(along.waiting.back())});
    }
    row_.judge(along, finding);
    finding.charts.emplace_back(std::move(chart));
    finding.tables.push_back(std::move(table));
    finding.tables.push_back(speedups.table("Speedup over the first point"));
    finding.tables.push_back(speedups.why("What the cores do"));
    return finding;
  }

 private:
  [[nodiscard]] std::vector<Variant> machines() const {
    std::vector<Variant> all;
    for (const Step& point : row_.points) {
      all.push_back(scheme(point.label, "dws-conv", point.settings));
    }
    return all;
  }

  const ConventionalRow& row_;
};

const RegisterRows<ConventionalClaim, ConventionalRow> conventional_entries{conventional_rows()};

}  // namespace
}  // namespace heddle::studies::dws
