// index-speedup, index-rowhit, index-bus: thesis 8.2.2, figure 8.4.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "studies/reproduce/figures/database_study.hpp"

namespace heddle::studies::database {
namespace {

constexpr const char* kTraverseNote =
    "Tree traverse takes little off the time until the second request: the compiler folds shift and addition into "
    "one multiply-add, so that ballot, popc and that one become tree traverse and the scaling of its index, "
    "which a load of x86 code has for nothing. A held row waits nearly as long for its hit with it as without.";

class IndexClaim : public Claim {
 public:
  [[nodiscard]] std::vector<Run> runs() const override { return runs_of(four_searches()); }
  [[nodiscard]] Finding judge(const Results& results) const override {
    const Measured measured(results, four_searches());
    Finding finding;
    finding.ours = "-";
    if (measured.complete()) {
      judge(finding, measured);
      finding.tables.push_back(measured.table("The four searches"));
      finding.causes = {measured.diagnosis(kTraverse, kBaseline), measured.diagnosis(kHints, kBaseline),
                        measured.diagnosis(kBoth, kHints)};
    }
    return finding;
  }

 private:
  virtual void judge(Finding& finding, const Measured& measured) const = 0;
};

class IndexSpeedup final : public IndexClaim {
 public:
  explicit IndexSpeedup(const Setup&) {}
  [[nodiscard]] ClaimText text() const override {
    return {.rank = 2060,
            .statement =
                "In a 31-ary search among a billion keys tree traverse alone has little effect on query throughput, "
                "row-buffer hints raise it by 34 %, and both by 39 %",
            .paper = "about 0; +34 %; +39 %",
            .source = "thesis, section 8.2.2, figure 8.4(a)",
            .note = kTraverseNote};
  }

 private:
  void judge(Finding& finding, const Measured& measured) const override {
    const double traverse = measured.speedup(kTraverse, kBaseline);
    const double hints = measured.speedup(kHints, kBaseline);
    const double both = measured.speedup(kBoth, kBaseline);
    finding.ours = fmt::format("{}; {}; {}", gain_text(traverse), gain_text(hints), gain_text(both));
    finding.checks = {
        main_check("hints raise the throughput by 5 % or more", gain_text(hints), hints >= 1.05),
        main_check("hints and tree traverse together raise it further",
                   fmt::format("{} after {}", gain_text(both), gain_text(hints)), both > hints),
        main_check("tree traverse alone changes it by 3 % at most", gain_text(traverse),
                   std::abs(traverse - 1) <= 0.03),
        check("the gain of hints is of a size with the paper's +34 %", gain_text(hints), of_a_size(hints - 1, 0.34)),
        check("the gain of both is of a size with the paper's +39 %", gain_text(both), of_a_size(both - 1, 0.39))};
    finding.charts = {measured.speedup_bars("Query throughput of the index search, over the baseline", "speedup")};
  }
};

class IndexRowHits final : public IndexClaim {
 public:
  explicit IndexRowHits(const Setup&) {}
  [[nodiscard]] ClaimText text() const override {
    return {
        .rank = 2070,
        .statement =
            "Below 10 % of the index search's DRAM accesses hit without hints, almost 50 % with them, which is what "
            "one query alone would have",
        .paper = "below 10 %; almost 50 %",
        .source = "thesis, section 8.2.2, figure 8.4(b)",
        .note = ""};
  }

 private:
  void judge(Finding& finding, const Measured& measured) const override {
    const auto rate = [&](std::size_t index) { return measured.at(index).dram_row_hit_rate; };
    finding.ours = fmt::format("{} and {} without hints; {} and {} with", percent(rate(kBaseline)),
                               percent(rate(kTraverse)), percent(rate(kHints)), percent(rate(kBoth)));
    finding.checks = {
        main_check("below 10 % hit without hints, also with tree traverse",
                   percent(std::max(rate(kBaseline), rate(kTraverse))),
                   std::max(rate(kBaseline), rate(kTraverse)) < 0.10),
        main_check("40 % to 55 % hit with hints", percent(rate(kHints)), rate(kHints) >= 0.40 && rate(kHints) <= 0.55),
        main_check("so they do with hints and tree traverse", percent(rate(kBoth)),
                   rate(kBoth) >= 0.40 && rate(kBoth) <= 0.55)};
    finding.charts = {measured.bars("Row-buffer hit rate of the index search", "share",
                                    [](const tb::Summary& s) { return s.dram_row_hit_rate; })};
  }
};

class IndexBus final : public IndexClaim {
 public:
  explicit IndexBus(const Setup&) {}
  [[nodiscard]] ClaimText text() const override {
    return {
        .rank = 2080,
        .statement =
            "Hints raise the utilisation of the memory bus under index search, and tree traverse with them raises it "
            "further, as rows are held for less time",
        .paper = "rises with hints, more with both",
        .source = "thesis, section 8.2.2, figure 8.4(c)",
        .note = kTraverseNote};
  }

 private:
  void judge(Finding& finding, const Measured& measured) const override {
    const auto use = [&](std::size_t index) { return measured.at(index).dram_bus_utilisation; };
    const auto text = [](double share) { return fmt::format("{:.2f} %", 100 * share); };
    finding.ours = fmt::format("{}; tree traverse {}; hints {}; both {}", text(use(kBaseline)), text(use(kTraverse)),
                               text(use(kHints)), text(use(kBoth)));
    finding.checks = {
        main_check("hints raise the bus utilisation by 5 % of its value or more",
                   fmt::format("{} to {}", text(use(kBaseline)), text(use(kHints))),
                   use(kHints) >= 1.05 * use(kBaseline)),
        main_check("hints and tree traverse together raise it further",
                   fmt::format("{} to {}", text(use(kHints)), text(use(kBoth))), use(kBoth) > use(kHints)),
        check("tree traverse alone changes it by 3 % of its value at most",
              fmt::format("{} to {}", text(use(kBaseline)), text(use(kTraverse))),
              std::abs(use(kTraverse) - use(kBaseline)) <= 0.03 * use(kBaseline))};
    finding.charts = {measured.bars("Bus utilisation of the index search", "share",
                                    [](const tb::Summary& s) { return s.dram_bus_utilisation; })};
  }
};

const Register<Claim, IndexSpeedup> index_speedup_entry{"index-speedup", "Query throughput of index search"};
const Register<Claim, IndexRowHits> index_row_hits_entry{"index-rowhit", "Row-buffer hits of index search"};
const Register<Claim, IndexBus> index_bus_entry{"index-bus", "Bus utilisation of index search"};

}  // namespace
}  // namespace heddle::studies::database
