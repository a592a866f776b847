// Differences between runs, taken apart, and what is refused.
#include "studies/pages/compare/compare.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <cmath>

#include "base/error.hpp"
#include "studies/pages/compare/explain.hpp"
#include "tests/support/program_runner.hpp"

namespace heddle::studies {
namespace {

using ::testing::HasSubstr;

// `cycles` of each of the machine's cores: `executing` of them with `lanes` active, the others waiting for memory but
// for `barrier`.
tb::Summary run_of(const hw::Machine& machine, std::uint64_t cycles, std::uint64_t executing, unsigned lanes,
                   std::uint64_t barrier) {
  const std::uint64_t cores = machine.gpu.cores;
  tb::Summary summary;
  summary.cycles = cycles;
  summary.fu_active_cycles.resize(machine.core.simd_width + 1U);
  summary.fu_active_cycles[0] = summary.idle_cycles = cores * (cycles - executing);
  summary.fu_active_cycles[lanes] = cores * executing;
  auto& idle = summary.idle_cycles_by_cause.cycles;
  idle[static_cast<std::size_t>(hw::IdleCause::barrier)] = cores * barrier;
  idle[static_cast<std::size_t>(hw::IdleCause::memory)] = cores * (cycles - executing - barrier);
  summary.memory_instructions = 100;
  summary.line_requests = 300;
  summary.line_requests_per_memory_instruction = 3;
  summary.dram_row_hits = 50;
  summary.dram_row_conflicts = 50;
  summary.dram_row_hit_rate = 0.5;
  return summary;
}

double sum(const std::vector<pages::Contribution>& parts) {
  double out = 0;
  for (const pages::Contribution& part : parts) {
    out += part.cycles;
  }
  return out;
}

const pages::Contribution& find(const std::vector<pages::Contribution>& parts, const std::string& cause) {
  for (const pages::Contribution& part : parts) {
    if (part.cause == cause) {
      return part;
    }
  }
  throw std::out_of_range(cause);
}

void expect_adds_up(const pages::Explanation& why, double cycles) {
  EXPECT_NEAR(why.cycles, cycles, 1e-6);
  EXPECT_NEAR(sum(why.causes), cycles, 1e-6);
  for (const pages::Contribution& cause : why.causes) {
    if (!cause.factors.empty()) {
      EXPECT_NEAR(sum(cause.factors), cause.cycles, 1e-6 * std::max(1.0, std::abs(cause.cycles))) << cause.cause;
    }
  }
}

TEST(Explain, CausesAddUp) {
  const hw::Machine machine;
  const tb::Summary a = run_of(machine, 10000, 4000, 8, 1000);
  const tb::Summary b = run_of(machine, 7000, 2000, 16, 1500);
  const pages::Explanation why = pages::explain(a, machine, b, machine);
  expect_adds_up(why, -3000);
  EXPECT_NEAR(find(why.causes, "idle: barrier").cycles, 500, 1e-9);
  EXPECT_NEAR(find(why.causes, "waiting for memory").cycles, 3500 - 5000, 1e-9);
  // Half as many instructions of twice the lanes are the same work, so that all of it is the lanes'.
  const pages::Contribution& executing = find(why.causes, "executing");
  ASSERT_EQ(executing.factors.size(), 1U);
  EXPECT_EQ(executing.factors[0].cause, "lanes per instruction");
  EXPECT_NEAR(executing.factors[0].cycles, -2000, 1e-6);
}

TEST(Explain, EachFactorOfMemoryAccountsForItsChange) {
  const hw::Machine machine;
  const tb::Summary a = run_of(machine, 10000, 4000, 8, 0);
  const auto only = [&](const char* factor, auto change) {
    tb::Summary b = run_of(machine, 16000, 4000, 8, 0);  // twice the waiting
    change(b);
    const pages::Explanation why = pages::explain(a, machine, b, machine);
    expect_adds_up(why, 6000);
    EXPECT_NEAR(find(find(why.causes, "waiting for memory").factors, factor).cycles, 6000, 1e-6) << factor;
  };
  only("memory instructions", [](tb::Summary& b) {
    b.memory_instructions *= 2;
    b.line_requests *= 2;
    b.dram_row_hits *= 2;
    b.dram_row_conflicts *= 2;
  });
  only("lines per memory instruction (coalescing)", [](tb::Summary& b) {
    b.line_requests *= 2;
    b.line_requests_per_memory_instruction *= 2;
    b.dram_row_hits *= 2;
    b.dram_row_conflicts *= 2;
  });
  only("DRAM accesses per line (caches)", [](tb::Summary& b) {
    b.dram_row_hits *= 2;
    b.dram_row_conflicts *= 2;
  });
  only("waiting per access time (overlap)", [](tb::Summary&) {});
}

TEST(Explain, RowHitsCountByTheirLatencies) {
  hw::Machine machine;
  machine.dram.row_hit = 100;
  machine.dram.row_conflict = 300;
  const tb::Summary a = run_of(machine, 10000, 4000, 8, 0);
  tb::Summary b = run_of(machine, 7000, 4000, 8, 0);
  b.dram_row_hits = 100;  // 200 cycles on average before, 100 now: half the waiting
  b.dram_row_conflicts = 0;
  b.dram_row_hit_rate = 1;
  const pages::Explanation why = pages::explain(a, machine, b, machine);
  const pages::Contribution& memory = find(why.causes, "waiting for memory");
  EXPECT_NEAR(find(memory.factors, "DRAM access time (row hits)").cycles, -3000, 1e-6);
}

TEST(Explain, AnotherNumberOfCores) {
  hw::Machine four;
  four.gpu.cores = 4;
  const hw::Machine one;
  const pages::Explanation why =
      pages::explain(run_of(one, 8000, 4000, 8, 0), one, run_of(four, 2000, 1000, 8, 0), four);
  expect_adds_up(why, -6000);
  EXPECT_NEAR(find(find(why.causes, "executing").factors, "number of cores").cycles, -3000, 1e-6);
}

TEST(Explain, NothingToExplainAndNoMemory) {
  const hw::Machine machine;
  tb::Summary a = run_of(machine, 1000, 1000, 4, 0);
  expect_adds_up(pages::explain(a, machine, a, machine), 0);
  tb::Summary b = run_of(machine, 3000, 1000, 4, 0);
  b.dram_row_hits = b.dram_row_conflicts = 0;
  b.dram_row_hit_rate = 0;
  const pages::Explanation why = pages::explain(a, machine, b, machine);
  expect_adds_up(why, 2000);
  EXPECT_TRUE(find(why.causes, "waiting for memory").factors.empty());  // from zero nothing can be split
}

// ------------------------------------------------------------------------------------------------- the command

using test::heddle;
using test::Ran;
using test::Scratch;

class CliCompare : public ::testing::Test {
 protected:
  std::string run(const std::string& name, const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {"run", "baseline", "vecadd", "--scale", "0.002", "-q", "-o", scratch.path(name)};
    words.insert(words.end(), more.begin(), more.end());
    EXPECT_EQ(test::heddle(words).code, 0);
    return scratch.path(name);
  }
  const Scratch scratch;
};

TEST_F(CliCompare, SaysWhy) {
  const std::string a = run("a");
  const std::string b = run("b", {"--set", "dram.bandwidth_gbs=4"});
  const Ran ran = test::heddle({"compare", a, b + "/stats.json", "--html", scratch.path("page.html")});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("A  vecadd on baseline"));
  EXPECT_THAT(ran.out, HasSubstr("waiting per access time (overlap)"));
  EXPECT_THAT(ran.out, HasSubstr("dram.bandwidth_gbs"));
  const std::string page = Scratch::read(scratch.path("page.html"));
  EXPECT_THAT(page, HasSubstr("\"kind\":\"compare\""));
  // From the files: the explanation adds up to the difference that the runs have.
  const auto runs = pages::read_compared_runs({a, b});
  const pages::Explanation why = pages::explain(runs[0].summary, runs[0].machine, runs[1].summary, runs[1].machine);
  expect_adds_up(why, static_cast<double>(runs[1].summary.cycles) - static_cast<double>(runs[0].summary.cycles));
  const auto differences = pages::parameter_differences(runs);
  ASSERT_EQ(differences.size(), 1U);
  EXPECT_EQ(differences[0].key, "dram.bandwidth_gbs");
}

// By hand: 1 pJ per read and 4 mW of one channel; a run that was not priced, and one by another table, are named.
TEST_F(CliCompare, EnergiesStandSideBySide) {
  const std::string table = scratch.write(
      "t.toml", "[dram]\nsource = \"s\"\nreads = 1e6\nleakage_mw = 4\n[core]\nsource = \"s\"\nfetched = 2e6\n");
  const std::string a = run("a", {"--energy", table});
  const std::string b = run("b", {"--energy", table, "--set", "dram.bandwidth_gbs=4"});
  const auto runs = pages::read_compared_runs({a, b});
  for (const pages::ComparedRun& one : runs) {
    ASSERT_TRUE(one.energy);
    const double reads = static_cast<double>(one.summary.dram_reads) * 1e6;
    const double leakage = 4 * static_cast<double>(one.summary.cycles) / one.machine.gpu.clock_ghz;
    ASSERT_EQ(one.energy->kinds.size(), 2U);
    EXPECT_EQ(one.energy->kinds[0].name, "core");
    EXPECT_DOUBLE_EQ(one.energy->kinds[1].leakage_pj, leakage);
    EXPECT_DOUBLE_EQ(one.energy->kinds[1].pj, reads + leakage);
    ASSERT_EQ(one.energy->parts.size(), 2U);
    EXPECT_EQ(one.energy->parts[0].first, "gpu.core0");
    EXPECT_EQ(one.energy->parts[1].first, "gpu.dram0");
    EXPECT_DOUBLE_EQ(one.energy->parts[1].second, one.energy->kinds[1].pj);
    EXPECT_DOUBLE_EQ(one.energy->pj, one.energy->kinds[0].pj + one.energy->kinds[1].pj);
  }
  const Ran ran = test::heddle({"compare", a, b, "--html", scratch.path("page.html")});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("Energy by the table t, in uJ\n"));
  EXPECT_THAT(ran.out, HasSubstr("\n  leakage of dram "));
  EXPECT_THAT(ran.out, HasSubstr("\nenergy-delay product, uJ us "));
  EXPECT_THAT(ran.out, HasSubstr("\ngpu.dram0 "));
  EXPECT_THAT(ran.out, ::testing::Not(HasSubstr("leakage of core")));
  const std::string ratio =
      fmt::format("x{:.3f}", static_cast<double>(runs[1].summary.cycles) / static_cast<double>(runs[0].summary.cycles));
  EXPECT_THAT(ran.out.substr(ran.out.find("leakage of dram")), HasSubstr(ratio));
  EXPECT_THAT(test::heddle({"compare", a, run("bare")}).out,
              HasSubstr("Energy: of A alone; price B too (heddle run --energy)\n"));
  EXPECT_THAT(test::heddle({"compare", a, run("other", {"--energy", "dws-memory"})}).out,
              HasSubstr("B is priced by another table, dws-memory"));
  EXPECT_THAT(test::heddle({"compare", run("bare"), run("plain")}).out, ::testing::Not(HasSubstr("nergy")));
  const std::string good = Scratch::read(a + "/stats.json");
  const std::size_t at = good.find("\"average_mw\":");
  ASSERT_NE(at, std::string::npos);
  const std::string broken = scratch.write("broken.json", std::string(good).replace(at, 13, "\"average_mv\":"));
  const Ran refused = test::heddle({"compare", a, broken});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("'energy.average_mw' is missing"));
}

TEST_F(CliCompare, ChannelsAloneAreComparedByTheirFigures) {
  const std::string trace = scratch.write("t.trace", "0x0 R\n0x80 R\n0x8000 W\n0x100 R\n");
  const auto dram = [&](const std::string& name, const std::vector<std::string>& more) {
    std::vector<std::string> words = {"dram", "baseline", trace, "--quiet", "--out", scratch.path(name)};
    words.insert(words.end(), more.begin(), more.end());
    EXPECT_EQ(test::heddle(words).code, 0);
    return scratch.path(name);
  };
  const std::string a = dram("a", {});
  const std::string b = dram("b", {"--set", "dram.row_conflict=400", "--set", "core.threads=512"});
  const Ran ran = test::heddle({"compare", a, b});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("cycles more than A: "));
  EXPECT_THAT(ran.out, HasSubstr("dram.row_conflict"));
  EXPECT_THAT(ran.out, HasSubstr("latency_99"));
  EXPECT_THAT(ran.out, ::testing::Not(HasSubstr("cause")));
  EXPECT_THAT(ran.out, ::testing::Not(HasSubstr("core.threads")));  // there are no cores
  const Ran page = test::heddle({"compare", a, b, "--html", scratch.path("page.html")});
  EXPECT_EQ(page.code, 2);
  EXPECT_THAT(page.err, HasSubstr("--html: draws what the cores of runs do"));
  EXPECT_EQ(page.out, "");
  const std::string whole = run("whole");
  EXPECT_EQ(test::heddle({"compare", a, whole}).err,
            "heddle: " + whole + ": is of a whole machine (heddle run), '" + a +
                "' of memory channels alone (heddle dram); compare those of one command\n");
  EXPECT_EQ(test::heddle({"compare", whole, a}).code, 2);
}

TEST_F(CliCompare, RefusesWithTheReason) {
  const std::string a = run("a");
  const auto refused = [&](const std::string& path) {
    const Ran ran = test::heddle({"compare", a, path});
    EXPECT_EQ(ran.code, 2) << ran.out;
    EXPECT_EQ(ran.out, "");
    return ran.err;
  };
  const std::string good = Scratch::read(a + "/stats.json");
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return scratch.write("changed.json", text.replace(at, from.size(), to));
  };
  EXPECT_THAT(refused(scratch.path("none")), HasSubstr("cannot be read"));
  EXPECT_THAT(refused(a + "/host.json"), HasSubstr("does not hold a run: 'machine' is missing"));
  EXPECT_THAT(refused(scratch.write("text", "cycles: 7")), HasSubstr("is no JSON"));
  EXPECT_THAT(refused(scratch.write("list", "[1]")), HasSubstr("is no JSON object"));
  EXPECT_THAT(refused(scratch.write("other", "{\"a\": 1}")), HasSubstr("it names no schema"));
  EXPECT_THAT(refused(changed("\"schema\": 2", "\"schema\": 99")), HasSubstr("another schema: 99"));
  EXPECT_THAT(refused(changed("\"cycles\":", "\"circles\":")),
              HasSubstr("does not hold a run: 'summary.cycles' is missing"));
  EXPECT_THAT(refused(changed("\"ipc\": ", "\"ipc\": [], \"x\": ")),
              HasSubstr("'summary.ipc' is [] instead of a number"));
  EXPECT_THAT(refused(changed("\"warp_instructions\": ", "\"warp_instructions\": -")),
              HasSubstr("'summary.warp_instructions' is -3572 instead of a whole number"));
  EXPECT_THAT(refused(changed("\"divergent_branches\": ", "\"divergent_branches\": 0.5, \"x\": ")),
              HasSubstr("'summary.divergent_branches' is 5E-1 instead of a whole number"));
  EXPECT_THAT(refused(changed("\"mshrs_full\": ", "\"mshrs_fool\": ")),
              HasSubstr("'summary.idle_cycles_by_cause.mshrs_full' is missing"));
  EXPECT_THAT(refused(changed("\"fu_active_cycles\": [", "\"fu_active_cycles\": [null, ")),
              HasSubstr("'summary.fu_active_cycles[0]' is null instead of a whole number"));
  EXPECT_THAT(refused(changed("\"warp_size\":", "\"warp_sighs\":")),
              HasSubstr("'machine.parameters.core.warp_size' is missing"));
  EXPECT_THAT(refused(changed("\"modules\": {", "\"modules\": 7, \"x\": {")), HasSubstr("'modules' is 7 instead of"));
  EXPECT_THAT(refused(changed("\"complete\": true", "\"complete\": \"yes\"")),
              HasSubstr("'complete' is \"yes\" instead of true or false"));
  EXPECT_THAT(refused(changed("\"vecadd\",\n  \"threads\":", "\"vecadd\",\n  \"breads\":")),
              HasSubstr("'threads' is missing"));
  EXPECT_THAT(refused(changed("\"idle_cycles\": ", "\"idle_cycles\": 1")), HasSubstr("contradict"));
  EXPECT_THAT(refused(changed("\"row_hit\": ", "\"row_hit\": 999999")), HasSubstr("row_hit"));
  EXPECT_THAT(refused(scratch.write("short", good.substr(0, good.size() / 2))), HasSubstr("is no JSON"));
  EXPECT_EQ(test::heddle({"compare", a}).code, 2);
}

}  // namespace
}  // namespace heddle::studies
