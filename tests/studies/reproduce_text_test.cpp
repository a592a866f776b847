// What reproducing plans, and what comes out: runs and their keys, the time that is left, charts, texts.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/registry.hpp"
#include "base/text.hpp"
#include "studies/pages/report/svg_parts.hpp"
#include "studies/pages/report/time_left.hpp"
#include "studies/reproduce/reproduce.hpp"
#include "tests/support/program_runner.hpp"

namespace heddle::studies {
namespace {

using test::Scratch;

// A claim whose runs cannot start stays without a verdict.
TEST(Plan, HasNoRunOfAClaimThatIsRefused) {
  std::vector<studies::Run> wanted;
  for (const std::string& id : claim_ids()) {
    const std::vector<studies::Run> runs = Registry<Claim>::instance().make(id, {})->runs();
    wanted.insert(wanted.end(), runs.begin(), runs.end());
  }
  for (const PlannedRun& planned : plan_runs(wanted, {}, "build").runs) {
    EXPECT_EQ(planned.refusal, "") << planned.name();
  }
}

TEST(Plan, SharesRunsAndKnowsWhatTheyDependOn) {
  const studies::Run plain{"baseline", {}, "vecadd", 0.1};
  const studies::Run same{"baseline", {"core.warp_size=32"}, "vecadd", 0.1};  // sets what it is
  const studies::Run wide{"baseline", {"core.warp_size=64"}, "vecadd", 0.1};
  const Plan plan = plan_runs({plain, same, wide, plain}, {}, "build");
  ASSERT_EQ(plan.runs.size(), 2U);
  EXPECT_EQ(plan.by_text.at(plain.text()), plan.by_text.at(same.text()));
  EXPECT_NE(plan.by_text.at(plain.text()), plan.by_text.at(wide.text()));
  EXPECT_EQ(plan.runs[0].folder.rfind("vecadd-baseline-", 0), 0U);
  const auto key = [](double factor, bool full, const char* build) {
    return plan_runs({{"baseline", {}, "vecadd", 0.1}}, {factor, full}, build).runs.front().key;
  };
  EXPECT_EQ(key(1, false, "build"), plan.runs[0].key);
  EXPECT_NE(key(2, false, "build"), plan.runs[0].key);
  EXPECT_NE(key(1, true, "build"), plan.runs[0].key);
  EXPECT_NE(key(1, false, "other"), plan.runs[0].key);
  EXPECT_EQ(parts_of_key(key(1, false, "other")).rest, parts_of_key(plan.runs[0].key).rest);
  EXPECT_EQ(parts_of_key(key(1, false, "other")).build, "other");
  EXPECT_EQ(plan_runs({plain}, {10, false}, "b").runs.front().scale, 1);
}

TEST(Plan, AKeyThatIsNoneHasNoBuild) {
  EXPECT_EQ(parts_of_key("refused x").build, "");
  EXPECT_EQ(parts_of_key("refused x").rest, "refused x");
  EXPECT_EQ(parts_of_key("heddle 1").build, "1");
  EXPECT_EQ(parts_of_key("heddle 1").rest, "");
}

TEST(Plan, WhatDoesNotExistIsRefusedNotStarted) {
  const Plan plan = plan_runs(
      {{"basline", {}, "vecadd", 1}, {"baseline", {"core.warp_sise=64"}, "vecadd", 1}, {"baseline", {}, "vecad", 1}},
      {}, "build");
  ASSERT_EQ(plan.runs.size(), 3U);
  EXPECT_NE(plan.runs[0].refusal.find("did you mean 'baseline'"), std::string::npos);
  EXPECT_NE(plan.runs[1].refusal.find("did you mean 'warp_size'"), std::string::npos);
  EXPECT_NE(plan.runs[2].refusal.find("did you mean 'vecadd'"), std::string::npos);
}

TEST(Plan, DigestIsFnv1a) {
  EXPECT_EQ(digest(""), "cbf29ce484222325");
  EXPECT_EQ(digest("a"), "af63dc4c8601ec8c");
}

TEST(TimeLeft, UsesEachWorkloadsOwnTime) {
  pages::TimeLeft times;
  EXPECT_FALSE(times.left({{"a", 1}}, 1));
  times.done("a", 2);
  times.done("b", 10);
  EXPECT_DOUBLE_EQ(*times.left({{"a", 2}}, 1), 4);
  EXPECT_DOUBLE_EQ(*times.left({{"a", 1}, {"b", 1}}, 2), 6);
  EXPECT_DOUBLE_EQ(*times.left({{"c", 1}}, 1), 6);  // not seen yet: the mean of all
  EXPECT_DOUBLE_EQ(*times.left({}, 1), 0);
}

TEST(Charts, RoundSteps) {
  EXPECT_DOUBLE_EQ(pages::round_step(1, 5), 0.2);
  EXPECT_DOUBLE_EQ(pages::round_step(32, 6), 10);
  EXPECT_DOUBLE_EQ(pages::round_step(24, 6), 5);
  EXPECT_DOUBLE_EQ(pages::round_step(12, 6), 2);
  EXPECT_DOUBLE_EQ(pages::round_step(0, 6), 1);
}

// One rule for charts of pages and for plots of databases: values and 0, in round steps.
TEST(Charts, AnAxisHasTheValuesAndZero) {
  const auto axis = [](const std::vector<double>& values) {
    pages::Extent extent;
    std::for_each(values.begin(), values.end(), [&](double value) { extent.add(value); });
    return pages::scale_of(extent, 10, 100);
  };
  const pages::Scale positive = axis({0.4, pages::kNoValue, 1.1});
  EXPECT_DOUBLE_EQ(positive.low, 0);
  EXPECT_DOUBLE_EQ(positive.high, 1.2);
  EXPECT_EQ(positive.steps(), 6);
  EXPECT_EQ(positive.label(1), "0.2");
  EXPECT_NEAR(positive.y(1.2), 10, 1e-9);
  EXPECT_NEAR(positive.y(0.6), 60, 1e-9);
  EXPECT_NEAR(positive.y(-1), 110, 1e-9);  // what lies beyond stands at the end
  const pages::Scale negative = axis({-3});
  EXPECT_DOUBLE_EQ(negative.low, -3);
  EXPECT_DOUBLE_EQ(negative.high, 0);
  EXPECT_EQ(negative.at(negative.steps()), 0);
  EXPECT_DOUBLE_EQ(axis({}).high, 1);
  EXPECT_DOUBLE_EQ(axis({0, 0}).high, 1);
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
    ++found;
  }
  return found;
}

TEST(Charts, DrawWhatWasMeasuredOnly) {
  const std::string bars = pages::chart_svg(
      pages::GroupedBars{"t", "IPC", {"a<b", "c"}, {{"one", {1, pages::kNoValue}}, {"two", {2, 3}}}, 1.0});
  EXPECT_EQ(count(bars, "<title>"), 4U);  // the chart's and one per bar
  EXPECT_EQ(count(bars, "class=\"reference\""), 1U);
  EXPECT_NE(bars.find("a&lt;b"), std::string::npos);
  EXPECT_EQ(bars.find("nan"), std::string::npos);
  const std::string lines =
      pages::chart_svg(pages::LineChart{"t", "x", {"1", "2", "3", "4"}, {{"one", {1, pages::kNoValue, 2, 3}, true}}});
  EXPECT_EQ(count(lines, "<polyline"), 2U);  // a gap splits the line
  EXPECT_EQ(count(lines, "<circle"), 3U);
  const std::string stacks = pages::chart_svg(
      pages::StackedGroups{"t", {"0 (idle)", "1-31", "32"}, {"x", "y"}, {{"a", {{0.25, 0.25, 0.5}, {}}}}});
  EXPECT_EQ(count(stacks, "<title>"), 4U);
  EXPECT_NE(stacks.find("a, x, 32: 50.0 %"), std::string::npos);
}

Reproduction sample() {
  Reproduction reproduction;
  ReproducedClaim claim;
  claim.id = "some-id";
  claim.title = "Title";
  claim.text = {1, "They say <so>", "+7 %", "LWM report, section 6", "We looked.", "", "Mind this."};
  claim.finding.ours = "-1 %";
  claim.finding.checks = {{"it gains", "-1 %", true, false}};
  claim.finding.causes = {"bfs idles."};
  claim.finding.tables = {{"Speedups", {"workload", "x"}, {{"bfs", "0.9"}}}};
  claim.finding.measured = 6;
  claim.finding.wanted = 12;
  claim.shape = shape_of(claim.finding.checks);
  reproduction.claims = {claim};
  reproduction.failed = {{"lwm bfs at 1", "no such machine"}};
  reproduction.scales = {{"bfs", 0.03}};
  reproduction.runs = 24;
  return reproduction;
}

TEST(Reproduction, TextsSayVerdictCauseAndFailures) {
  const Reproduction reproduction = sample();
  const std::string table = reproduction_table(reproduction);
  EXPECT_NE(table.find("some-id  +7 %   -1 %  does not hold (6 of 12 workloads)"), std::string::npos) << table;
  EXPECT_NE(table.find("1 run failed:\n  lwm bfs at 1: no such machine"), std::string::npos) << table;
  const std::string page = reproduction_page(reproduction, "heddle reproduce lwm-avg --scale 0.1");
  EXPECT_NE(page.find("<code>heddle reproduce lwm-avg --scale 0.1</code>"), std::string::npos);
  for (const char* part : {"<section id=\"some-id\">", "They say &lt;so&gt;", "We looked.", "bfs idles.",
                           "does not hold (6 of 12 workloads)", "no such machine"}) {
    EXPECT_NE(page.find(part), std::string::npos) << part;
  }
  EXPECT_EQ(page.find("http://www.w3.org") == std::string::npos && page.find("src=") != std::string::npos, false);
  const std::string markdown = reproduction_report(reproduction, "2026-11-21");
  for (const char* part :
       {"# Reproduction", "2026-11-21", "default scale", "| [some-id](#some-id) | +7 % | -1 % |",
        "- it gains (main): -1 %: no", "We looked.", "Mind this.", "- bfs idles.", "| bfs | 0.9 |", "bfs 0.03"}) {
    EXPECT_NE(markdown.find(part), std::string::npos) << part;
  }
}

// A claim of another paper, which holds, with what stands beside it.
ReproducedClaim another() {
  ReproducedClaim claim;
  claim.id = "other-id";
  claim.title = "Other";
  claim.text = {2, "They say more", "about 0", "thesis, section 5, figure 2", "Not shown.", "Nor is this.", ""};
  claim.finding.ours = "+0.1 %";
  claim.finding.label = "papers' form";
  claim.finding.checks = {{"it changes nothing", "+0.1 %", true, true}, {"nowhere", "on none", false, true}};
  claim.finding.causes = {"Nor that."};
  Finding beside;
  beside.label = "CUDA form";
  beside.ours = "-5 %";
  beside.checks = {{"it changes nothing", "-5 %", true, false}};
  claim.finding.beside = {beside};
  claim.shape = shape_of(claim.finding.checks);
  return claim;
}

TEST(Reproduction, TheDocumentsAreAnOverviewAndAShortPageForEachPaper) {
  Reproduction reproduction = sample();
  reproduction.claims.push_back(another());
  ReproducedClaim without_note = sample().claims.front();
  without_note.id = "third-id";
  without_note.text.note.clear();
  without_note.text.source = "LWM report, section 7";
  reproduction.claims.push_back(without_note);
  const std::vector<MarkdownPage> pages = reproduction_pages(reproduction, "docs/all.md", "2026-11-21");
  ASSERT_EQ(pages.size(), 3U);
  EXPECT_EQ(pages[0].path, "docs/all.md");
  EXPECT_EQ(pages[1].path, "docs/all/lwm-report.md");
  EXPECT_EQ(pages[2].path, "docs/all/thesis.md");
  const std::string& overview = pages[0].text;
  EXPECT_EQ(overview.substr(0, overview.find(", put to Heddle")), "# Reproduction\n\nThe papers' claims");
  EXPECT_EQ(overview.substr(overview.find("The papers, a short page each")),
            R"(The papers, a short page each:

- [LWM report](all/lwm-report.md): 2 claims (does not hold: 2)
- [thesis](all/thesis.md): 1 claim (holds: 1)

Tables of values, charts, the scales of the inputs and the long report stand beside the results, in the folder that
`--out` names: `reproduction.html` and `reproduction.md`.

| id | paper | ours | shape |
| --- | --- | --- | --- |
| [some-id](all/lwm-report.md#some-id) | +7 % | -1 % | does not hold (6 of 12 workloads) |
| [other-id](all/thesis.md#other-id) | about 0 | +0.1 %; CUDA form: -5 % | holds; CUDA form: does not hold |
| [third-id](all/lwm-report.md#third-id) | +7 % | -1 % | does not hold (6 of 12 workloads) |

1 run failed:

- lwm bfs at 1: no such machine
)");
  EXPECT_EQ(pages[1].text, R"(# Reproduction: the LWM report

*Improving GPU Performance via Large Warps and Two-Level Warp Scheduling (technical report)*. 2 claims (does not hold:
2). How a verdict comes about stands in the [overview](../all.md), with what other forms of the workloads give;
everything in full lies beside the results (`reproduction.html`, `reproduction.md`).

What a reader must know of several claims:

- some-id, third-id: Mind this.

## some-id

They say <so> (LWM report, section 6). Paper: +7 %. Ours: -1 %. **does not hold (6 of 12 workloads).**

- Not passed: it gains (main): -1 %.

We looked.

## third-id

They say <so> (LWM report, section 7). Paper: +7 %. Ours: -1 %. **does not hold (6 of 12 workloads).**

- Not passed: it gains (main): -1 %.

Measured: bfs idles.
)");
  EXPECT_EQ(pages[2].text, R"(# Reproduction: the thesis

*An Enhanced GPU Architecture for Not-So-Regular Parallelism with Special Implications for Database Search*. 1 claim
(holds: 1). How a verdict comes about stands in the [overview](../all.md), with what other forms of the workloads give;
everything in full lies beside the results (`reproduction.html`, `reproduction.md`).

## other-id

They say more (thesis, section 5, figure 2). Paper: about 0. Ours, papers' form: +0.1 %. **holds.**

- Passed: it changes nothing (main); nowhere.
)");
}

TEST(Reproduction, AShortPageHasTheFirstSentencesOfALongCause) {
  Reproduction reproduction = sample();
  std::string& note = reproduction.claims.front().text.note;
  const auto cause = [&] {
    const std::string page = reproduction_pages(reproduction, "r.md", "2026-11-21")[1].text;
    const std::string before = "(main): -1 %.\n\n";
    return page.substr(page.find(before) + before.size());
  };
  std::string words = "word";  // 45 of them
  for (int i = 1; i < 45; ++i) {
    words += " word";
  }
  note = "One thing. Another thing. And no more.";
  EXPECT_EQ(cause(), "Mind this.\n\n" + note + "\n");
  note = "One thing. Another thing. " + words + ". And no more.";
  EXPECT_EQ(cause(), "Mind this.\n\nOne thing. Another thing.\n");
  for (const std::string& one : {words, words + " word"}) {  // a single sentence of any length
    note = one;
    EXPECT_EQ(cause(), "Mind this.\n\n" + wrapped(one, 120, 0) + "\n");
  }
  note = words + " word. And no more.";
  EXPECT_EQ(cause(), "Mind this.\n\n" + wrapped(words + " word.", 120, 0) + "\n");
}

TEST(Reproduction, EveryClaimHasAPage) {
  Reproduction all;
  for (const std::string& id : claim_ids()) {
    ReproducedClaim claim;
    claim.id = id;
    claim.text = Registry<Claim>::instance().make(id, {})->text();
    all.claims.push_back(claim);
  }
  const std::vector<MarkdownPage> pages = reproduction_pages(all, "r.md", "2026-11-21");
  std::vector<std::string> paths;
  for (const MarkdownPage& page : pages) {
    paths.push_back(page.path);
  }
  std::vector<std::string> expected = paper_page_paths("r.md");
  expected.insert(expected.begin(), "r.md");
  EXPECT_EQ(paths, expected);
  all.claims.front().text.source = "some paper";
  EXPECT_THROW(static_cast<void>(reproduction_pages(all, "r.md", "2026-11-21")), InternalError);
}

// The page of all mechanisms shows its first charts and tables; other pages show none.
TEST(Reproduction, ThePageOfAllMechanismsHasPicturesAndTables) {
  Reproduction reproduction = sample();
  ReproducedClaim all = sample().claims.front();
  all.id = "all-on-one";
  all.text.source = "all papers";
  for (const char* const title : {"First", "Second", "Third"}) {
    all.finding.charts.emplace_back(pages::GroupedBars{title, "x", {"a"}, {{"one", {2}}}, 1.0});
    all.finding.tables.push_back({title + std::string(" table"), {"workload"}, {{"bfs"}}});
  }
  reproduction.claims.push_back(all);
  reproduction.claims.front().finding.charts = all.finding.charts;
  const std::vector<MarkdownPage> pages = reproduction_pages(reproduction, "docs/r.md", "2026-11-26");
  ASSERT_EQ(pages.size(), 5U);
  EXPECT_EQ(pages[1].text.find("!["), std::string::npos);
  EXPECT_EQ(pages[2].path, "docs/r/all-on-one.md");
  EXPECT_NE(pages[2].text.find("![First](all-on-one-1.svg)\n\n![Second](all-on-one-2.svg)\n\n## all-on-one\n"),
            std::string::npos)
      << pages[2].text;
  EXPECT_NE(pages[2].text.find("Speedups:\n\n| workload | x |"), std::string::npos) << pages[2].text;
  EXPECT_NE(pages[2].text.find("Second table:\n\n| workload |"), std::string::npos) << pages[2].text;
  EXPECT_EQ(pages[2].text.find("Third table"), std::string::npos);
  EXPECT_EQ((std::vector<std::string>{pages[3].path, pages[4].path, "docs/r/on-h100-1.svg", "docs/r/on-h100-2.svg"}),
            paper_picture_paths("docs/r.md"));
  const std::string& svg = pages[3].text;
  EXPECT_EQ(svg.substr(0, 4), "<svg");
  EXPECT_EQ(count(svg, "<style>"), 1U);
  EXPECT_NE(svg.find("prefers-color-scheme: dark"), std::string::npos);
  EXPECT_NE(svg.find("<title>First</title>"), std::string::npos);
}

TEST(Reproduction, TheTerminalSaysTheProcessorTime) {
  Reproduction reproduction;
  EXPECT_EQ(processor_time_text(reproduction), "Processor time of the runs: 0 s.");
  reproduction.processor_seconds = 150;
  for (const auto& [id, seconds] : {std::pair{"a", 30.0}, {"b", 120.0}, {"c", 0.0}}) {
    ReproducedClaim claim;
    claim.id = id;
    claim.processor_seconds = seconds;
    reproduction.claims.push_back(claim);
  }
  EXPECT_EQ(processor_time_text(reproduction), "Processor time of the runs: 2 min 30 s; most: b 2 min 00 s, a 30 s.");
  reproduction.full_seconds = 7200;
  EXPECT_EQ(time_and_full(reproduction), "2 min 30 s (with --full, in proportion to the scales, some 2 h 00 min)");
}

TEST(Reproduction, WhatStandsBesideHasNoPartInTheVerdict) {
  Reproduction reproduction = sample();
  Finding& finding = reproduction.claims.front().finding;
  finding.checks = {{"it gains", "+7 %", true, true}};
  finding.causes.clear();
  finding.label = "papers' form";
  Finding beside;
  beside.label = "CUDA form";
  beside.ours = "-5 %";
  beside.checks = {{"it gains", "-5 %", true, false}};
  beside.note = "Its arrays meet.";
  beside.causes = {"sort idles."};
  finding.beside = {beside};
  reproduction.claims.front().shape = shape_of(finding.checks);
  const std::string markdown = reproduction_report(reproduction, "2026-11-21");
  for (const char* part :
       {"| -1 %; CUDA form: -5 % | holds (6 of 12 workloads); CUDA form: does not hold |",
        "Ours, papers' form: -1 %. **holds (6 of 12 workloads).**",
        "### some-id: CUDA form\n\nOurs: -5 %. **does not hold.**", "Its arrays meet.", "- sort idles."}) {
    EXPECT_NE(markdown.find(part), std::string::npos) << part << "\n" << markdown;
  }
  EXPECT_EQ(markdown.find("We looked."), std::string::npos);
  const std::string page = reproduction_page(reproduction, "heddle reproduce lwm-avg");
  EXPECT_NE(page.find("<h3>some-id: CUDA form</h3>"), std::string::npos);
  const Scratch scratch;
  EXPECT_EQ(read_reproduction(scratch.write("o.json", reproduction_json(reproduction))).claims.at("some-id").shape,
            "holds");
}

TEST(Reproduction, SaysWhichRunsAnotherBuildMeasured) {
  Reproduction reproduction = sample();
  EXPECT_EQ(other_builds_text(reproduction), "");
  reproduction.other_builds = {{"1.2.3 0123", 20}};
  const std::string said = "Measured earlier: 20 runs by build 1.2.3 0123.";
  EXPECT_EQ(other_builds_text(reproduction), said);
  EXPECT_NE(reproduction_page(reproduction, "heddle reproduce lwm-avg --scale 0.1").find(said), std::string::npos);
  EXPECT_NE(reproduction_report(reproduction, "2026-11-21").find(said), std::string::npos);
}

TEST(Reproduction, AnotherOnesVerdictsStandBesideIts) {
  const Reproduction reproduction = sample();
  const Scratch scratch;
  const std::string path = scratch.write("other.json", reproduction_json(reproduction));
  const OtherReproduction other = read_reproduction(path);
  EXPECT_EQ(other.scaling, "default scale");
  ASSERT_EQ(other.claims.count("some-id"), 1U);
  const std::string markdown = reproduction_report(reproduction, "2026-11-21", &other);
  EXPECT_NE(markdown.find("| id | ours | shape | ours at default scale | shape |"), std::string::npos) << markdown;
  EXPECT_NE(markdown.find("| -1 % | does not hold | -1 % | does not hold |"), std::string::npos) << markdown;
  EXPECT_NE(markdown.find("Put to the model at default scale, too: 1 of 1 claim. Another verdict there: none."),
            std::string::npos)
      << markdown;
  OtherReproduction changed = other;
  changed.claims["some-id"].shape = "holds";
  const std::vector<MarkdownPage> pages = reproduction_pages(reproduction, "r.md", "2026-11-21", &changed);
  EXPECT_NE(pages[0].text.find("there: holds)."), std::string::npos) << pages[0].text;
  EXPECT_NE(pages[1].text.find("\nAt default scale: -1 %. **holds.**\n"), std::string::npos) << pages[1].text;
  changed.claims.clear();
  EXPECT_EQ(reproduction_report(reproduction, "2026-11-21", &changed), reproduction_report(reproduction, "2026-11-21"));
  for (const char* text : {"", "{}", "[1]", "{\"schema\": 2}", "{\"schema\": 1, \"scaling\": 3}"}) {
    EXPECT_THROW(static_cast<void>(read_reproduction(scratch.write("bad.json", text))), InputError) << text;
  }
  EXPECT_THROW(static_cast<void>(read_reproduction(scratch.path("none.json"))), InputError);
}

TEST(Reproduction, VerdictsOfPortionsStayUntilTheyAreMadeAnew) {
  const Scratch scratch;
  Reproduction reproduction = sample();
  reproduction.claims.front().finding.measured = 12;
  OtherReproduction all = with_verdicts(std::nullopt, reproduction, "2026-11-21");
  ASSERT_EQ(all.claims.size(), 1U);
  all.claims["older"] = {"+3 %", "partly", "2026-11-20", "0.1.0"};
  all = read_reproduction(scratch.write("v.json", verdicts_json(all)));
  EXPECT_EQ(all.claims.at("older").date, "2026-11-20");
  EXPECT_EQ(all.claims.at("older").version, "0.1.0");
  EXPECT_EQ(all.claims.at("some-id").shape, "does not hold");
  EXPECT_NE(reproduction_report(reproduction, "2026-11-22", &all).find(", too (2026-11-21): 1 of 1 claim."),
            std::string::npos);
  // A claim of which a workload is missing leaves the older verdict.
  reproduction.claims.front().finding.ours = "+9 %";
  reproduction.claims.front().finding.measured = 11;
  EXPECT_EQ(with_verdicts(all, reproduction, "2026-11-22").claims.at("some-id").ours, "-1 %");
  reproduction.claims.front().finding.measured = 12;
  const OtherReproduction anew = with_verdicts(all, reproduction, "2026-11-22");
  EXPECT_EQ(anew.claims.at("some-id").ours, "+9 %");
  EXPECT_EQ(anew.claims.at("some-id").date, "2026-11-22");
  EXPECT_EQ(anew.claims.count("older"), 1U);
}

TEST(Reproduction, CausesAreShownOnlyWhereAClaimDoesNotHold) {
  Reproduction reproduction = sample();
  reproduction.claims.front().finding.checks.front().passed = true;
  for (const std::string& text : {reproduction_page(reproduction, "heddle reproduce lwm-avg --scale 0.1"),
                                  reproduction_report(reproduction, "2026-11-21")}) {
    EXPECT_EQ(text.find("We looked."), std::string::npos);
    EXPECT_EQ(text.find("bfs idles."), std::string::npos);
  }
}

}  // namespace
}  // namespace heddle::studies
