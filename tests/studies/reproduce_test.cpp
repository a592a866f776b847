// Verdicts from synthetic results.
#include "studies/reproduce/reproduce.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>

#include "base/error.hpp"
#include "base/registry.hpp"
#include "studies/reproduce/figures/lwm_forms.hpp"

namespace heddle::studies {
namespace {

Check of(bool main, bool passed) {
  return {"rule", "measured", main, passed};
}

TEST(Shape, FollowsItsRule) {
  EXPECT_EQ(shape_of({}), Shape::not_measured);
  EXPECT_EQ(shape_of({of(true, true), of(false, true)}), Shape::holds);
  EXPECT_EQ(shape_of({of(true, true), of(false, false)}), Shape::partly);
  EXPECT_EQ(shape_of({of(true, true), of(true, false)}), Shape::partly);
  EXPECT_EQ(shape_of({of(true, false), of(false, true)}), Shape::does_not_hold);
  EXPECT_EQ(shape_of({of(true, false)}), Shape::does_not_hold);
  EXPECT_EQ(shape_of({of(false, true), of(false, false)}), Shape::partly);
  EXPECT_EQ(shape_of({of(false, false)}), Shape::does_not_hold);
}

TEST(Shape, OfASizeIsBetweenHalfAndTwice) {
  EXPECT_TRUE(of_a_size(0.05, 0.1));
  EXPECT_FALSE(of_a_size(0.0499, 0.1));
  EXPECT_TRUE(of_a_size(0.2, 0.1));
  EXPECT_FALSE(of_a_size(0.2001, 0.1));
  EXPECT_FALSE(of_a_size(-0.1, 0.1));
  EXPECT_TRUE(of_a_size(-0.1, -0.1));
  EXPECT_FALSE(of_a_size(pages::kNoValue, 0.1));
}

TEST(Means, AreGeometric) {
  EXPECT_DOUBLE_EQ(geometric_mean({2, 8}), 4);
  EXPECT_DOUBLE_EQ(geometric_mean({}), 1);
}

// A summary of a 32-lane machine with this IPC: every busy cycle retires `lanes` threads.
tb::Summary summary(double ipc, double lanes = 32) {
  tb::Summary made;
  made.cycles = 1'000'000;
  made.ipc = ipc;
  made.lanes_per_warp_instruction = lanes;
  made.thread_instructions = static_cast<std::uint64_t>(ipc * 1e6);
  made.warp_instructions = static_cast<std::uint64_t>(ipc * 1e6 / lanes);
  made.idle_share = 1 - ipc / lanes;
  made.fu_active_cycles.assign(33, 0);
  made.idle_cycles = static_cast<std::uint64_t>(std::lround(made.idle_share * 1e6));
  made.fu_active_cycles[0] = made.idle_cycles;
  made.fu_active_cycles[static_cast<std::size_t>(lanes)] = 1'000'000 - made.idle_cycles;
  made.idle_cycles_by_cause.cycles[static_cast<std::size_t>(hw::IdleCause::memory)] = made.idle_cycles;
  return made;
}

// What a run of the twelve workloads came to where arrays lie anywhere, in the papers' form and, unless told, in the
// CUDA form.
void add(Results& results, const studies::Run& run, const tb::Summary& made, bool cuda = true) {
  for (const bool pthreads : {true, false}) {
    if (!pthreads && !cuda) {
      continue;
    }
    lwm::Reading reading = pthreads ? lwm::papers_form() : lwm::cuda_form();
    results.add(studies::lwm::under(reading, run), made, 1);
    for (unsigned seed = 1; seed <= lwm::kPlacements; ++seed) {
      reading.settings = {"allocation.placement=seeded", "allocation.seed=" + std::to_string(seed)};
      results.add(studies::lwm::under(reading, run), made, 1);
    }
  }
}

// Every workload with the same IPC on a machine.
void add(Results& results, const Variant& variant, double ipc, double lanes = 32) {
  for (const StudyWorkload& workload : lwm::twelve()) {
    add(results, run_of(variant, workload), summary(ipc, lanes));
  }
}

Finding judged(const std::string& id, const Results& results) {
  return Registry<Claim>::instance().make(id, {})->judge(results);
}

Shape shape(const std::string& id, const Results& results) {
  return shape_of(judged(id, results).checks);
}

TEST(Claims, AGainHoldsWhenItIsOfASize) {
  for (const auto& [gain, expected] :
       {std::pair{1.08, Shape::holds}, std::pair{1.04, Shape::holds}, std::pair{1.03, Shape::partly},
        std::pair{1.30, Shape::partly}, std::pair{0.99, Shape::does_not_hold}}) {
    Results results;
    add(results, lwm::baseline(), 10);
    add(results, lwm::thesis_baseline(), 10);
    add(results, lwm::large(), 10 * gain);
    add(results, lwm::thesis_large(), 10 * gain);
    EXPECT_EQ(shape("lwm-avg", results), expected) << gain;
  }
}

TEST(Claims, AMeanIsOverTheWorkloadsThatBothMachinesHave) {
  Results results;
  const std::vector<StudyWorkload> workloads = lwm::twelve();
  add(results, run_of(lwm::baseline(), workloads[0]), summary(10));
  add(results, run_of(lwm::large(), workloads[0]), summary(11));
  add(results, run_of(lwm::baseline(), workloads[1]), summary(10));  // its large-warp run failed
  const Finding finding = judged("lwm-avg", results);
  EXPECT_NE(finding.ours.find("+10.0 % (+10.0 to +10.0) (LWM)"), std::string::npos) << finding.ours;
  EXPECT_EQ(finding.measured, 0U);  // none on the thesis's machines
  EXPECT_EQ(finding.wanted, 12U);
}

TEST(Claims, NoResultsAreNoVerdict) {
  for (const std::string& id : claim_ids()) {
    const std::unique_ptr<Claim> claim = Registry<Claim>::instance().make(id, {});
    const Finding finding = claim->judge(Results());
    if (!claim->runs().empty()) {
      EXPECT_EQ(shape_of(finding.checks), Shape::not_measured) << id;
    }
    EXPECT_FALSE(claim->text().statement.empty()) << id;
    EXPECT_FALSE(claim->text().source.empty()) << id;
  }
}

// Every claim can fail and every claim can be judged: with all machines equal none may hold that compares machines.
TEST(Claims, EqualMachinesShowNoGain) {
  const std::set<std::string> indifferent = {"fu-util",           "intensity",   "workload-size",
                                             "2lev-rowhit",       "lwm-storage", "lwm-memory-divergence",
                                             "branch-mechanisms", "dws-area",    "lwm-refetch"};
  for (const std::string& id : claim_ids()) {
    const std::unique_ptr<Claim> claim = Registry<Claim>::instance().make(id, {});
    Results results;
    for (const studies::Run& run : claim->runs()) {
      tb::Summary same = summary(10);
      same.memory_instructions = 100;
      same.line_requests = 200;
      same.line_requests_per_memory_instruction = 2;
      std::optional<tb::BankTimeline> timeline;
      if (run.timeline) {
        timeline = tb::BankTimeline{"", 0, 10, {{"dram0", 1, {{tb::BankTimeline::Kind::transfer, 0, 1, 2, 0}}}}};
      }
      results.add(run, same, 1, timeline, tb::RecordedEnergy{1e6, 1e3});
    }
    const Finding finding = claim->judge(results);
    EXPECT_FALSE(finding.checks.empty()) << id;
    EXPECT_FALSE(finding.ours.empty()) << id;
    if (indifferent.count(id) == 0) {
      EXPECT_NE(shape_of(finding.checks), Shape::holds) << id;
    }
  }
}

TEST(Claims, RanksAndTitlesAreDistinct) {
  std::set<unsigned> ranks;
  std::set<std::string> titles;
  for (const std::string& id : claim_ids()) {
    const auto& claim = Registry<Claim>::instance().entries().at(id);
    EXPECT_TRUE(ranks.insert(claim.make({})->text().rank).second) << id;
    EXPECT_TRUE(titles.insert(claim.description).second) << id;
  }
  for (const char* wanted :
       {"lwm-avg", "2lev-avg", "lwm-2lev-avg", "tbc-avg", "dwf-avg", "fu-util", "intensity", "lwm-size",
        "lwm-perfect-rf", "lwm-opts", "2lev-group", "2lev-rowhit", "lwm-2lev-size", "lwm-storage"}) {
    EXPECT_TRUE(Registry<Claim>::instance().has(wanted)) << wanted;
  }
}

TEST(Claims, IntensityUsesTheLimitsOfTable2) {
  using lwm::Level;
  EXPECT_EQ(lwm::divergence_level(30.01), Level::low);
  EXPECT_EQ(lwm::divergence_level(30), Level::medium);
  EXPECT_EQ(lwm::divergence_level(20), Level::medium);
  EXPECT_EQ(lwm::divergence_level(19.99), Level::high);
  EXPECT_EQ(lwm::idle_level(0.1999), Level::low);
  EXPECT_EQ(lwm::idle_level(0.20), Level::medium);
  EXPECT_EQ(lwm::idle_level(0.40), Level::medium);
  EXPECT_EQ(lwm::idle_level(0.4001), Level::high);
}

Results classes(bool bfs_idle) {
  Results results;
  for (const lwm::Benchmark& benchmark : lwm::benchmarks()) {
    const double lanes = benchmark.divergence == lwm::Level::high     ? 12
                         : benchmark.divergence == lwm::Level::medium ? 25
                                                                      : 32;
    double idle = benchmark.idle == lwm::Level::high ? 0.6 : benchmark.idle == lwm::Level::medium ? 0.3 : 0.05;
    if (benchmark.workload.name == "bfs") {
      idle = bfs_idle ? 0.95 : 0.05;
    }
    add(results, run_of(lwm::baseline(), benchmark.workload), summary(lanes * (1 - idle), lanes));
  }
  return results;
}

TEST(Claims, IntensityAndUtilisation) {
  EXPECT_EQ(shape("intensity", classes(true)), Shape::holds);
  EXPECT_EQ(shape("fu-util", classes(true)), Shape::holds);
  const Finding finding = judged("intensity", classes(false));
  EXPECT_EQ(shape_of(finding.checks), Shape::partly);
  ASSERT_EQ(finding.causes.size(), 1U);
  EXPECT_EQ(finding.causes.front().substr(0, 4), "bfs:");
  EXPECT_EQ(shape("fu-util", classes(false)), Shape::partly);  // bfs fails, and with it the rightmost; four hold
}

TEST(Claims, TheBetterFormationCountsPerWorkload) {
  Results results;
  add(results, lwm::baseline(), 10);
  const std::vector<Variant> formation = lwm::dynamic_warp_formation();
  std::size_t i = 0;
  for (const StudyWorkload& workload : lwm::twelve()) {  // one of the two is good everywhere, neither on average
    add(results, run_of(formation[0], workload), summary(i % 2 == 0 ? 11 : 5));
    add(results, run_of(formation[1], workload), summary(i % 2 == 0 ? 5 : 11));
    ++i;
  }
  const Finding finding = judged("dwf-avg", results);
  EXPECT_EQ(finding.ours, "+10.0 %");
  EXPECT_EQ(shape_of(finding.checks), Shape::does_not_hold);
  EXPECT_EQ(finding.causes.size(), 12U);
}

TEST(Claims, FetchGroupsOf8AreBest) {
  const std::vector<studies::Run> runs = Registry<Claim>::instance().make("2lev-group", {})->runs();
  const auto filled = [&](bool identical) {
    Results results;
    const std::set<std::string> flat = {"blackjack", "sort", "viterbi", "kmeans"};
    for (const studies::Run& run : runs) {
      const std::string name = run.workload.substr(0, run.workload.find(':'));
      const bool moves = run.config == "two-level" && flat.count(name) == 0;
      const bool eight = run.settings.empty() || run.settings.front().rfind("dram.", 0) == 0;
      const bool sixteen = !eight && run.settings.front() == "two_level.fetch_group=16";
      const bool all = !eight && run.settings.front() == "two_level.fetch_group=32";
      tb::Summary made = summary(moves && eight ? 11 : moves && sixteen ? 10.5 : 10);
      made.cycles += all && !identical ? 1 : 0;
      results.add(run, made, 1);
    }
    return results;
  };
  EXPECT_EQ(shape("2lev-group", filled(true)), Shape::holds);
  EXPECT_EQ(shape("2lev-group", filled(false)), Shape::partly);
}

// The papers' form decides, by the median over the placements; what the CUDA form gives stands beside it.
TEST(Claims, ThePapersFormDecidesByTheMedianOverPlacements) {
  Results results;
  for (const StudyWorkload& workload : lwm::twelve()) {
    for (const Variant& over : {lwm::baseline(), lwm::thesis_baseline()}) {
      add(results, run_of(over, workload), summary(10));
    }
    for (const Variant& machine : {lwm::two_level(), lwm::thesis_two_level()}) {
      const studies::Run run = run_of(machine, workload);
      results.add(studies::lwm::under(lwm::cuda_form(), run), summary(9), 1);
      results.add(studies::lwm::under(lwm::papers_form(), run), summary(5),
                  1);  // as the machine places arrays: not the verdict's
      for (unsigned seed = 1; seed <= lwm::kPlacements; ++seed) {
        lwm::Reading reading = lwm::papers_form();
        reading.settings = {"allocation.placement=seeded", "allocation.seed=" + std::to_string(seed)};
        results.add(studies::lwm::under(reading, run), summary(seed == 1 ? 8 : seed == 2 ? 9 : seed == 3 ? 11 : 13), 1);
      }
    }
  }
  const Finding finding = judged("2lev-avg", results);
  EXPECT_EQ(finding.ours, "+10.0 % (-20.0 to +30.0) (2Lev); +10.0 % (-20.0 to +30.0) (2Lev (thesis))");
  EXPECT_EQ(shape_of(finding.checks), Shape::holds);
  ASSERT_EQ(finding.beside.size(), 1U);
  EXPECT_EQ(finding.beside[0].ours, "-10.0 % (2Lev); -10.0 % (2Lev (thesis))");
  EXPECT_EQ(shape_of(finding.beside[0].checks), Shape::does_not_hold);
  EXPECT_EQ(ours_text(finding), finding.ours + "; CUDA form: " + finding.beside[0].ours);
  EXPECT_EQ(shapes_text(finding), "holds; CUDA form: does not hold");
  const auto readings = std::find_if(finding.tables.begin(), finding.tables.end(),
                                     [](const ValueTable& table) { return table.caption == "Under other readings"; });
  ASSERT_NE(readings, finding.tables.end());
  ASSERT_EQ(readings->rows.size(), 1U);  // the others were not measured
  EXPECT_EQ(readings->rows[0][0], "papers' form, arrays where the machine puts them");
  EXPECT_EQ(readings->rows[0][1], "-50.0 % (2Lev); -50.0 % (2Lev (thesis))");
}

TEST(Claims, ASpreadIsTheMiddleAndTheEnds) {
  const lwm::Spread odd = lwm::spread({3, 1, 2});
  EXPECT_DOUBLE_EQ(odd.median, 2);
  EXPECT_DOUBLE_EQ(odd.low, 1);
  EXPECT_DOUBLE_EQ(odd.high, 3);
  EXPECT_EQ(odd.placements, 3U);
  EXPECT_DOUBLE_EQ(lwm::spread({4, 1, pages::kNoValue, 2, 3}).median, 2.5);
  EXPECT_FALSE(std::isfinite(lwm::spread({pages::kNoValue}).median));
}

TEST(Claims, AReadingChangesRunsOfTheTwelveOnly) {
  const lwm::Reading reading{"r", true, {"dram.scheduler=fcfs-per-bank"}, 0.5};
  const lwm::Benchmark& first = lwm::benchmarks().front();
  const studies::Run run = studies::lwm::under(reading, run_of(lwm::baseline(), first.workload));
  EXPECT_EQ(run.workload, first.workload.name + ":pthreads");
  EXPECT_DOUBLE_EQ(run.scale, 0.5 * first.pthreads_scale);
  EXPECT_EQ(run.settings, reading.settings);
  const studies::Run other = studies::lwm::under(reading, {"baseline", {"core.warp_size=64"}, "vecadd", 0.1});
  EXPECT_EQ(other.workload, "vecadd");
  EXPECT_DOUBLE_EQ(other.scale, 0.05);
}

TEST(Claims, TheRulesOfSwitchingShowTheirDrift) {
  Results results;
  const std::vector<studies::Run> runs = Registry<Claim>::instance().make("2lev-rules", {})->runs();
  for (const studies::Run& run : runs) {
    const bool two_level = run.config == "two-level";
    const bool current = two_level && run.settings.front() == "two_level.fetch_group_rule=current";
    tb::Summary made = summary(two_level ? 11 : 10);
    made.dram_row_hit_rate = 0.9;
    made.warp_drift = current ? 40 : 20;
    results.add(run, made, 1);
  }
  EXPECT_EQ(shape("2lev-rules", results), Shape::holds);
  for (const studies::Run& run : runs) {
    tb::Summary made = summary(run.config == "two-level" ? 11 : 10);
    made.dram_row_hit_rate = 0.9;
    results.add(run, made, 1);
  }
  EXPECT_EQ(shape("2lev-rules", results), Shape::partly);  // no drift
}

TEST(Claims, ComplexOperationsMustCount) {
  const std::vector<studies::Run> runs = Registry<Claim>::instance().make("2lev-complex", {})->runs();
  const auto filled = [&](double uncounted, double counted) {
    Results results;
    for (const studies::Run& run : runs) {
      const bool counts = run.settings.back() == "core.complex_long_latency=true";
      tb::Summary made = summary(run.config == "baseline" ? 10 : counts ? counted : uncounted);
      made.idle_cycles_by_cause.cycles[static_cast<std::size_t>(hw::IdleCause::complex)] = counts ? 10 : 20;
      results.add(run, made, 1);
    }
    return results;
  };
  EXPECT_EQ(shape("2lev-complex", filled(10, 11)), Shape::holds);
  EXPECT_EQ(shape("2lev-complex", filled(11, 11)), Shape::partly);
  EXPECT_EQ(shape("2lev-complex", filled(10, 9)), Shape::does_not_hold);
}

TEST(Claims, TheAdaptiveSchedulerIsComparedWithFixedPairs) {
  const std::vector<studies::Run> runs = Registry<Claim>::instance().make("adaptive-2lev", {})->runs();
  const auto filled = [&](double adaptive, double longer, double other_pair) {
    Results results;
    for (const studies::Run& run : runs) {
      const bool learns = run.settings.front() == "core.scheduler=two-level-adaptive";
      const bool other = !learns && run.settings[1] == "two_level.inner_scheduler=gto";
      results.add(run, summary(learns ? (run.settings.size() > 1 ? longer : adaptive) : other ? other_pair : 10), 1);
    }
    return results;
  };
  EXPECT_EQ(shape("adaptive-2lev", filled(11, 11, 10.5)), Shape::holds);
  EXPECT_EQ(shape("adaptive-2lev", filled(10.2, 10.1, 10.5)), Shape::partly) << "worse than the best pair";
  EXPECT_EQ(shape("adaptive-2lev", filled(9, 11, 9)), Shape::does_not_hold) << "whatever longer intervals do";
  EXPECT_NE(judged("adaptive-2lev", filled(9, 11, 9)).ours.find("-10.0 % over the best fixed pair (8 RR/RR)"),
            std::string::npos);
}

TEST(Claims, ProgressIsJudgedByTheImbalanceAtBarriers) {
  const std::vector<studies::Run> runs = Registry<Claim>::instance().make("progress", {})->runs();
  const auto filled = [&](double flat, double levels) {
    Results results;
    for (const studies::Run& run : runs) {
      tb::Summary made = summary(10);
      const std::string first = run.settings.empty() ? "" : run.settings.front();
      made.barrier_imbalance = first == "core.scheduler=gto" ? 400
                               : first == "core.scheduler=least-progress"
                                   ? (run.settings.size() > 1 ? flat * 0.9 : flat)
                               : run.settings.size() == 2 ? levels
                               : run.settings.empty()     ? 100
                                                          : 90;
      results.add(run, std::move(made), 1);
    }
    return results;
  };
  EXPECT_EQ(shape("progress", filled(50, 50)), Shape::holds);
  EXPECT_EQ(shape("progress", filled(120, 50)), Shape::partly) << "more than round robin";
  EXPECT_EQ(shape("progress", filled(500, 150)), Shape::does_not_hold);
}

TEST(Claims, DiagnosisSplitsASpeedupIntoLanesAndBusyCycles) {
  Results results;
  const StudyWorkload bfs{"bfs", 1};
  results.add(run_of(lwm::baseline(), bfs), summary(8, 16), 1);
  results.add(run_of(lwm::large(), bfs), summary(6, 24), 1);
  const Grid grid(results, {lwm::baseline(), lwm::large()}, {bfs});
  EXPECT_EQ(grid.diagnosis(1, 0, 0),
            "bfs: LWM 0.750x over baseline = lanes per instruction 16.00 to 24.00 (1.500x) and busy cycles 50.0 % to "
            "25.0 % (0.500x); idle 50.0 % (memory 50.0 %) to 75.0 % (memory 75.0 %).");
}

}  // namespace
}  // namespace heddle::studies
