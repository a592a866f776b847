// The claims that put causes to the test, on made-up results, and where what they came to is shown.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/registry.hpp"
#include "studies/reproduce/claim.hpp"
#include "studies/reproduce/experiments.hpp"
#include "studies/reproduce/reproduce.hpp"
#include "tb/config/config.hpp"

namespace heddle::studies {
namespace {

constexpr const char* kCauseClaims[] = {"2lev-causes",       "tbc-srr-causes",  "columns-causes",
                                        "perfect-rf-causes", "adaptive-causes", "ws-simd-causes"};

// Two-level scheduling gains so much as the machine is, and where the memory serves row hits first.
Finding two_level_gains(double as_it_is, double row_hits_first) {
  const std::unique_ptr<Claim> claim = Registry<Claim>::instance().make("2lev-causes", {});
  Results results;
  for (const studies::Run& run : claim->runs()) {
    const auto set = [&](const char* setting) {
      return std::find(run.settings.begin(), run.settings.end(), setting) != run.settings.end();
    };
    tb::Summary summary;
    summary.ipc = run.config != "two-level" ? 10 : 10 * (set("dram.scheduler=fr-fcfs") ? row_hits_first : as_it_is);
    results.add(run, summary, run.scale);
  }
  return claim->judge(results);
}

TEST(CauseClaims, ACauseIsWhatBringsTheFigureToThePapers) {
  const Finding found = two_level_gains(0.97, 1.1);
  EXPECT_EQ(shape_of(found.checks), Shape::holds);
  EXPECT_EQ(found.checks.front().measured, "row hits first +10.0 %");
  EXPECT_EQ(found.ours,
            "as it is -3.0 %; rows of 1 KB -3.0 %; conflicts as short as hits -3.0 %; a queue per bank -3.0 %; row "
            "hits first +10.0 %; nothing spills -3.0 %; spills on the chip -3.0 %; a bound of 1K instructions -3.0 %; "
            "a quarter of the bandwidth "
            "-3.0 %; inputs of two fifths -3.0 %");
  const Finding half = two_level_gains(0.97, 1.04);
  EXPECT_EQ(shape_of(half.checks), Shape::partly);
  EXPECT_EQ(half.checks.back().measured, "row hits first +4.0 %");
  const Finding none = two_level_gains(0.97, 1.03);
  EXPECT_EQ(shape_of(none.checks), Shape::does_not_hold);
  EXPECT_EQ(none.checks.front().measured, "with none");
  EXPECT_EQ(none.checks.back().measured, "with none");
  const Finding already = two_level_gains(1.1, 1.1);
  EXPECT_EQ(shape_of(already.checks), Shape::does_not_hold);
  EXPECT_EQ(already.checks.front().measured, "without any");
  EXPECT_EQ(already.wanted, 12U);
}

TEST(CauseClaims, EveryMachineExists) {
  for (const char* const id : kCauseClaims) {
    for (const studies::Run& run : Registry<Claim>::instance().make(id, {})->runs()) {
      EXPECT_NO_THROW(static_cast<void>(tb::read_machine(run.config, run.settings))) << run.text();
    }
  }
}

TEST(Experiments, AreClaimsOnceEach) {
  const std::vector<std::string> ids = claim_ids();
  std::set<std::string> seen;
  for (const Experiments& one : all_experiments()) {
    for (const std::string& claim : one.claims) {
      EXPECT_TRUE(seen.insert(claim).second) << claim;
      EXPECT_EQ(experiments_of(claim), one.experiments) << claim;
      EXPECT_EQ(std::count(ids.begin(), ids.end(), claim), 1) << claim;
    }
    for (const std::string& experiment : one.experiments) {
      EXPECT_EQ(std::count(ids.begin(), ids.end(), experiment), 1) << experiment;
      EXPECT_EQ(std::count(one.claims.begin(), one.claims.end(), experiment), 0) << experiment;
    }
  }
  EXPECT_TRUE(experiments_of("lwm-storage").empty());
}

ReproducedClaim reproduced(const char* id, const char* source, bool passes, const char* ours) {
  ReproducedClaim claim;
  claim.id = id;
  claim.title = id;
  claim.text.statement = "They say";
  claim.text.source = source;
  claim.finding.ours = ours;
  claim.finding.checks = {{"it is so", std::string("so: ") + ours, true, passes}};
  claim.shape = shape_of(claim.finding.checks);
  return claim;
}

TEST(Experiments, StandBesideAClaimThatDoesNotHold) {
  Reproduction reproduction;
  reproduction.claims = {reproduced("ccws", "Rogers, O'Connor and Aamodt, abstract", false, "-3 %"),
                         reproduced("odgs-pm", "ODGS paper, section 3.3", false, "7.3"),
                         reproduced("odgs-textures", "ODGS paper, section 3.3", true, "2.1"),
                         reproduced("ccws-32", "thesis, so that it has another page", true, "+24 %")};
  const std::vector<MarkdownPage> pages = reproduction_pages(reproduction, "r.md", "2026-11-26");
  const auto has = [](const std::string& text, const char* words) { return text.find(words) != std::string::npos; };
  const auto page = [&](const char* path) {
    const auto found =
        std::find_if(pages.begin(), pages.end(), [&](const MarkdownPage& one) { return one.path == path; });
    return found == pages.end() ? std::string() : found->text;
  };
  EXPECT_TRUE(has(page("r/ccws.md"), "\n\nExperiments: [ccws-32](thesis.md#ccws-32) (holds): so: +24 %.\n"));
  EXPECT_TRUE(has(page("r/odgs-paper.md"), "\n\nExperiments: [odgs-textures](#odgs-textures) (holds): so: 2.1.\n"));
  const std::string report = reproduction_report(reproduction, "2026-11-26");
  EXPECT_TRUE(has(report, "\nExperiments: [ccws-32](#ccws-32) (holds): +24 %.\n"));
  const std::string html = reproduction_page(reproduction, "heddle reproduce");
  EXPECT_TRUE(has(html, "<p>Experiment <a href=\"#ccws-32\">ccws-32</a>: +24 %. "));
  reproduction.claims.front() = reproduced("ccws", "Rogers, O'Connor and Aamodt, abstract", true, "+20 %");
  EXPECT_FALSE(has(reproduction_report(reproduction, "2026-11-26"), "Experiments: [ccws-32]"));
  EXPECT_FALSE(has(reproduction_page(reproduction, "heddle reproduce"), "#ccws-32\">ccws-32</a>: +24"));
}

}  // namespace
}  // namespace heddle::studies
