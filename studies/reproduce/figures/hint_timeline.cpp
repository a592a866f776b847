// hint-timeline: the banks and the bus without and with hints (thesis 7.2, figure 7.2), from a run of four banks.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "studies/reproduce/figures/database_study.hpp"

namespace heddle::studies::database {
namespace {

constexpr std::uint64_t kBegin = 200'000;  // the caches have been filled long before
constexpr std::uint64_t kCycles = 3000;
constexpr double kScale = 0.02;  // as many searches as the window needs; the tree is the whole one

namespace hint_timeline {

struct Counts {
  std::size_t hits = 0, conflicts = 0, holds = 0, lost = 0, transfers = 0;
};
Run watched(bool hints) {
  Case one = index_search(false, hints, "", {"dram.banks=4"});
  one.workload.scale = kScale;
  Run run = run_of(one.machine, one.workload);
  run.timeline = Run::Window{kBegin, kCycles};
  return run;
}
Counts count(const tb::BankTimeline& timeline) {
  Counts counts;
  for (const tb::BankTimeline::Span& span : timeline.panels.front().spans) {
    if (span.end > timeline.end) {
      continue;
    }
    switch (span.kind) {
      case tb::BankTimeline::Kind::hit:
        ++counts.hits;
        break;
      case tb::BankTimeline::Kind::conflict:
        ++counts.conflicts;
        break;
      case tb::BankTimeline::Kind::hold:
        ++counts.holds;
        break;
      case tb::BankTimeline::Kind::lost:
        ++counts.lost;
        break;
      case tb::BankTimeline::Kind::transfer:
        ++counts.transfers;
        break;
    }
  }
  return counts;
}
tb::BankTimeline drawn(std::string upper, const tb::BankTimeline& before, std::string lower,
                       const tb::BankTimeline& after) {
  tb::BankTimeline both{"Banks and bus of one channel under index search, without and with hints",
                        before.begin,
                        before.end,
                        {before.panels.front(), after.panels.front()}};
  both.panels[0].label = std::move(upper);
  both.panels[1].label = std::move(lower);
  return both;
}

std::vector<Run> runs() {
  std::vector<Run> out;
  for (const bool hints : {false, true}) {
    out.push_back(watched(hints));
  }
  return out;
}

Finding judge(const Results& results) {
  Finding finding;
  finding.ours = "-";
  std::array<const Results::Entry*, 2> entries = {results.find(watched(false)), results.find(watched(true))};
  for (const Results::Entry* entry : entries) {
    if (entry == nullptr || !entry->timeline || entry->timeline->panels.empty()) {
      return finding;
    }
  }
  const Counts before = count(*entries[0]->timeline);
  const Counts after = count(*entries[1]->timeline);
  if (before.transfers == 0 || after.transfers == 0) {
    return finding;  // runs of a small scale end before the window
  }
  finding.ours = fmt::format("{} transfers, {} of them row hits, become {} and {}", before.transfers, before.hits,
                             after.transfers, after.hits);
  finding.checks = {main_check("without hints a tenth of the accesses at most are row hits",
                               fmt::format("{} of {}", before.hits, before.hits + before.conflicts),
                               10 * before.hits <= before.hits + before.conflicts),
                    main_check("with hints four in ten or more are",
                               fmt::format("{} of {}", after.hits, after.hits + after.conflicts),
                               10 * after.hits >= 4 * (after.hits + after.conflicts)),
                    main_check("the bus carries more in the same time",
                               fmt::format("{} and {} transfers", before.transfers, after.transfers),
                               after.transfers > before.transfers),
                    check("most holds end with the hit that they are for",
                          fmt::format("{} of {}", after.holds, after.holds + after.lost), after.holds > after.lost)};
  finding.charts = {drawn("without hints", *entries[0]->timeline, "with hints", *entries[1]->timeline)};
  return finding;
}

}  // namespace hint_timeline

const std::vector<ClaimRow>& hint_timeline_rows() {
  static const std::vector<ClaimRow> all = {
      {"hint-timeline",
       "Four banks and their bus without and with hints",
       {.rank = 2055,
        .statement =
            "Without hints a row is closed as soon as its request is served: all requests are row conflicts and the "
            "bus is underutilised; with them a conflict is followed by a short row hit, and the bus carries more",
        .paper = "conflict, hit, conflict, hit; more transfers",
        .source = "thesis, section 7.2, figure 7.2",
        .note =
            "The row hits without hints are in banks that nobody else waits for at that moment: the row is still open "
            "when "
            "the search that had it opened asks for the node's next line. In the figure every bank is waited for all "
            "the "
            "time.",
        .caveat =
            "The figure is a sketch. Ours is drawn from a run of the index search on a channel with four banks; the "
            "counts are those of the window shown, of accesses that end in it."},
       hint_timeline::runs,
       hint_timeline::judge}};
  return all;
}

const RegisterRows<RowClaim, ClaimRow> hint_timeline_entry{hint_timeline_rows()};

}  // namespace
}  // namespace heddle::studies::database
