// Storage of the mechanisms: the papers' 96 and 224 bytes, and every formula at another size.
#include "tb/measure/cost/cost.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>

#include "hw/dram/policy.hpp"
#include "tb/config/config.hpp"
#include "tests/support/program_runner.hpp"

namespace heddle::tb {
namespace {

using LineKind = CostLine::Kind;

StorageCost cost_of(const std::vector<std::string>& settings) {
  return storage_cost(parse_machine("extends = \"baseline\"\n", HEDDLE_SOURCE_DIR "/configs/made.toml", settings));
}

const CostLine* find(const StorageCost& cost, const std::string& name) {
  const auto found =
      std::find_if(cost.lines.begin(), cost.lines.end(), [&](const CostLine& line) { return line.name == name; });
  return found == cost.lines.end() ? nullptr : &*found;
}

TEST(Cost, TheBaselineAddsNothing) {
  const StorageCost cost = cost_of({});
  EXPECT_EQ(cost.bits(LineKind::counted), 0U);
  EXPECT_EQ(cost.bits(LineKind::estimated), 0U);
  EXPECT_EQ(cost.bits(LineKind::logic), 0U);
  EXPECT_EQ(cost.register_file_bits, 64U * 1024 * 8);
  ASSERT_NE(find(cost, "re-convergence stacks"), nullptr);
  EXPECT_EQ(find(cost, "re-convergence stacks")->bits, 32U * 16 * (64 + 32));
}

// A line is 128 bytes, a tag what of an address of 32 bits names neither a byte of the line nor a set.
TEST(Cost, TheTextureCache) {
  EXPECT_EQ(find(cost_of({}), "texture cache")->bits, 128U * (1024 + 20 + 1 + 2));
  EXPECT_EQ(find(cost_of({"texture.bytes=4096", "texture.ways=32"}), "texture cache")->bits, 32U * (1024 + 25 + 1 + 5));
  EXPECT_EQ(find(cost_of({"texture.mshrs=3", "texture.mshr_targets=2"}), "MSHRs of the texture cache")->bits,
            3U * (32 + 2 * 6));
}

TEST(Cost, ConstantCaches) {
  EXPECT_EQ(find(cost_of({}), "constant cache"), nullptr);
  const StorageCost cost = cost_of({"constant_cache.bytes=2048", "constant_cache.ways=8", "constant_cache.l0_bytes=512",
                                    "constant_cache.mshrs=3", "constant_cache.mshr_targets=2"});
  EXPECT_EQ(find(cost, "constant cache")->bits, 32U * (512 + 24 + 1 + 3));
  EXPECT_EQ(find(cost, "constant cache of a sub-core")->bits, 8U * (512 + 24 + 1 + 1));
  EXPECT_EQ(find(cost, "MSHRs of the constant cache")->bits, 3U * (32 + 2 * 6));
}

TEST(Cost, SectorsOfTheL1) {
  EXPECT_EQ(find(cost_of({}), "sectors of the L1"), nullptr);
  EXPECT_EQ(find(cost_of({"l1d.sector_bytes=128"}), "sectors of the L1"), nullptr) << "whole lines";
  EXPECT_EQ(find(cost_of({"l1d.sector_bytes=32"}), "sectors of the L1")->bits, 256U * 4);
  EXPECT_EQ(find(cost_of({"l1d.sector_bytes=64", "l1d.mshrs=5"}), "sectors in the MSHRs of the L1")->bits, 5U * 2);
}

// An operation that waits has two operands of 64 bits per lane and a guard bit, its warp's number and its word; in
// packed sub-warps a row per lane besides.
TEST(Cost, TheQueueBeforeTheComplexUnit) {
  EXPECT_EQ(find(cost_of({}), "queue before the complex unit")->bits, 16U * (32 * 129 + 5 + 64));
  EXPECT_EQ(find(cost_of({"core.complex_queue=3", "core.warp_size=64"}), "queue before the complex unit")->bits,
            3U * (32 * 129 + 4 + 64));
  EXPECT_EQ(find(cost_of({"core.complex_queue=0"}), "queue before the complex unit"), nullptr);
  EXPECT_EQ(find(cost_of({"core.warp_size=256"}), "row per lane before the complex unit"), nullptr);
  EXPECT_EQ(find(cost_of({"core.warp_size=256", "core.former=packed"}), "row per lane before the complex unit")->bits,
            16U * 32 * 3);
}

TEST(Cost, LargeWarpsOfTheReportTake96Bytes) {
  const StorageCost cost = cost_of({"core.warp_size=256", "core.former=packed", "core.issue=strict"});
  EXPECT_EQ(cost.bits(LineKind::counted), 96U * 8);
  EXPECT_EQ(find(cost, "copy of the active mask")->bits, 256U);
  EXPECT_EQ(find(cost, "temporary active masks of a branch")->bits, 512U);
  EXPECT_EQ(find(cost, "interlock bits"), nullptr);
  // 8 rows: 3 bits per lane; register read, two of execute, memory, write-back
  EXPECT_EQ(find(cost, "row per lane in the pipeline")->bits, 5U * 32 * 3);
  EXPECT_EQ(find(cost, "row of accesses put aside")->bits, 64U * 3);
  ASSERT_NE(find(cost, "register bank decoders"), nullptr);
  EXPECT_NE(find(cost, "register bank decoders")->formula.find("31 more address decoders"), std::string::npos);
}

TEST(Cost, LargeWarpsOfTheThesisTake224Bytes) {
  const StorageCost cost = cost_of({"core.warp_size=256", "core.former=packed", "core.issue=relaxed"});
  EXPECT_EQ(cost.bits(LineKind::counted), 224U * 8);
  EXPECT_EQ(find(cost, "interlock bits")->bits, 1024U);
}

TEST(Cost, FollowsTheMachinesSizes) {
  const StorageCost cost = cost_of({"core.warp_size=64", "core.former=packed", "core.issue=relaxed", "core.threads=512",
                                    "packing.memory_by_rows=false"});
  EXPECT_EQ(cost.bits(LineKind::counted), 64U + 128 + 512);
  EXPECT_EQ(find(cost, "row per lane in the pipeline")->bits, 5U * 32 * 1);
  EXPECT_EQ(find(cost, "rows per lane of accesses put aside")->bits, 64U * 32 * 1);
  EXPECT_EQ(cost_of({"core.former=packed", "core.issue=relaxed"}).bits(LineKind::counted), 0U);  // warps of 32: no rows
}

TEST(Cost, TwoLevelSchedulingIsNegligible) {
  const StorageCost cost = cost_of({"core.scheduler=two-level", "two_level.fetch_group=8",
                                    "two_level.fetch_group_rule=stalled", "two_level.fetch_group_timeout=32768"});
  EXPECT_EQ(cost.bits(LineKind::counted), 0U);
  EXPECT_EQ(find(cost, "first fetch group")->bits, 2U);
  EXPECT_EQ(find(cost, "place within each fetch group")->bits, 4U * 3);
  EXPECT_EQ(find(cost, "warps stalled on a long latency")->bits, 32U);
  EXPECT_EQ(find(cost, "timeout counter")->bits, 16U);
}

TEST(Cost, WhatSchedulersRemember) {
  EXPECT_EQ(cost_of({}).bits(LineKind::estimated), 0U);
  const StorageCost greedy = cost_of({"core.scheduler=gto"});
  EXPECT_EQ(find(greedy, "warp to stay with")->bits, 5U);
  EXPECT_EQ(find(greedy, "order of age")->bits, 32U * 5);
  EXPECT_EQ(find(cost_of({"core.scheduler=sticky"}), "thread block to stay with")->bits, 2U);
  const StorageCost inside =
      cost_of({"core.scheduler=two-level", "two_level.fetch_group=8", "two_level.inner_scheduler=gto"});
  EXPECT_EQ(find(inside, "warp to stay with")->bits, 4U * 3);
  EXPECT_EQ(find(inside, "order of age")->bits, 4U * 8 * 3);
  EXPECT_EQ(find(inside, "place within each fetch group"), nullptr);
  const StorageCost oldest = cost_of({"core.scheduler=two-level", "two_level.fetch_group=8",
                                      "two_level.inner_scheduler=gto", "two_level.outer_scheduler=oldest"});
  EXPECT_EQ(find(oldest, "order of age")->bits, 32U * 5) << "over all fetch groups, and so within each";
  EXPECT_EQ(find(oldest, "warp to stay with")->bits, 4U * 3);
  // Every thread may be a dynamic warp of its own.
  const StorageCost majority = cost_of({"core.divergence=dwf", "core.scheduler=majority"});
  EXPECT_EQ(find(majority, "PC of the majority")->bits, 32U);
  EXPECT_EQ(find(majority, "order of age")->bits, 1024U * 10);
  const StorageCost groups = cost_of({"core.divergence=dwf", "core.scheduler=two-level", "two_level.fetch_group=8",
                                      "two_level.fetch_group_rule=stalled"});
  EXPECT_EQ(find(groups, "first fetch group")->bits, 7U);
  EXPECT_EQ(find(groups, "warps stalled on a long latency")->bits, 1024U);
}

TEST(Cost, ProgressTakesARegisterPerWarp) {
  EXPECT_EQ(find(cost_of({"core.scheduler=least-progress"}), "progress registers")->bits, 32U * 32);
  const StorageCost both = cost_of({"core.scheduler=two-level", "two_level.inner_scheduler=least-progress",
                                    "two_level.outer_scheduler=least-progress"});
  std::uint64_t bits = 0;
  for (const hw::CostLine& line : both.lines) {
    bits += line.name == "progress registers" ? line.bits : 0;
  }
  EXPECT_EQ(bits, 32U * 32) << "one whoever looks at it";
}

TEST(Cost, WhatIsLearntOfTwoLevelScheduling) {
  const StorageCost cost = cost_of({"core.scheduler=two-level-adaptive"});
  EXPECT_EQ(find(cost, "first fetch group")->bits, 2U) << "of 8 warps";
  EXPECT_EQ(find(cost, "place within each fetch group")->bits, 4U * 3);
  EXPECT_EQ(find(cost, "warp to stay with")->bits, 4U * 3);
  EXPECT_EQ(find(cost, "order of age")->bits, 32U * 5) << "for the outer order, and so within each";
  EXPECT_EQ(find(cost, "warps stalled on a long latency")->bits, 32U);
  EXPECT_EQ(find(cost, "cycles left of the interval")->bits, 4U * 16);
  EXPECT_EQ(find(cost, "instructions retired, of the sample and of the best one")->bits, 4U * 2 * 16);
  EXPECT_EQ(find(cost, "candidate that is tried, best one and phase")->bits, 4U * (2 * 3 + 2));
  EXPECT_EQ(find(cost, "which kernels")->bits, 4U * 32);
  const StorageCost one =
      cost_of({"core.scheduler=two-level-adaptive", "two_level_adaptive.fetch_groups=16",
               "two_level_adaptive.inner_schedulers=gto", "two_level_adaptive.outer_schedulers=round-robin"});
  EXPECT_EQ(find(one, "which kernels"), nullptr) << "nothing is learnt";
  EXPECT_EQ(find(one, "order of age")->bits, 2U * 16 * 4);
}

TEST(Cost, OtherDivergenceMechanisms) {
  const StorageCost counters = cost_of({"core.divergence=per-thread-pc"});
  EXPECT_EQ(find(counters, "a program counter per thread")->bits, 1024U * 32);
  EXPECT_EQ(find(counters, "re-convergence stacks"), nullptr);
  const StorageCost barriers = cost_of({"core.divergence=barriers", "barriers.registers=8", "barriers.yield_after=7"});
  EXPECT_EQ(find(barriers, "convergence barriers")->bits, 32U * 8 * (32 + 32));
  EXPECT_EQ(find(barriers, "program counters of threads")->bits, 1024U * (32 + 3));
  EXPECT_EQ(find(barriers, "rounds that let no thread get on")->bits, 32U * 3);
  EXPECT_EQ(find(barriers, "re-convergence stacks"), nullptr);
  const StorageCost compaction = cost_of({"core.divergence=tbc"});
  EXPECT_EQ(find(compaction, "block-wide stacks")->bits, 4U * 16 * (64 + 256));
  const StorageCost formation = cost_of({"core.divergence=dwf", "core.scheduler=majority"});
  EXPECT_EQ(find(formation, "warp pool")->bits, 1024U * (32 + 32 * 6));
}

// Figure 7.1 has 7 adders of 1 bit, 6 of 2 and 4 of 3 for 8 lanes; the text, 31 of 1 bit and 16 of 5 for 32.
// DWS report 5.6: 16 bits of mask, 2 of the warp, 64 of the PC and 2 of status are 84, of which there are 16.
TEST(Cost, AnEntryOfTheWarpSplitTableTakes84Bits) {
  for (const char* mechanism : {"core.divergence=dws", "core.divergence=slip"}) {
    const std::vector<std::string> report = {mechanism, "core.simd_width=16", "core.warp_size=16", "core.threads=64"};
    EXPECT_EQ(find(cost_of(report), "warp-split table")->bits, 16U * 84);
  }
  EXPECT_EQ(find(cost_of({"core.divergence=dws", "dws.entries=4"}), "warp-split table")->bits, 4U * (32 + 5 + 64 + 2));
}

// An entry with a warp of four for each of 16 lanes; two averages of 10 bits for each of 64 PCs, with a bit of validity
// each; of each of 8 slots its entry, valid or not, two counts of cycles, and whether it is to stay together.
TEST(Cost, WarpSplitsAcrossWarpsAndTheirPredictorAreEstimated) {
  const StorageCost cost = cost_of(
      {"core.divergence=dws-dwf", "dws.memory=predict", "core.simd_width=16", "core.warp_size=16", "core.threads=64"});
  EXPECT_EQ(find(cost, "warp-split table")->bits, 16U * (16 * (1 + 2) + 64 + 2));
  EXPECT_EQ(find(cost, "table of misses")->bits, 64U * 2 * (10 + 1));
  EXPECT_EQ(find(cost, "latest access of each slot")->bits, 8U * (6 + 1 + 2 * 10 + 1));
  EXPECT_EQ(find(cost_of({"core.divergence=dws-dwf"}), "table of misses"), nullptr);
}

TEST(Cost, PrefixNetworkHasTheThesissAdders) {
  const StorageCost narrow = cost_of({"core.simd_width=8", "core.warp_size=8"});
  EXPECT_EQ(find(narrow, "prefix-sum network")->formula, "17 adders, bits 7 x 1 + 6 x 2 + 4 x 3 = 31");
  const StorageCost wide = cost_of({});
  EXPECT_EQ(find(wide, "prefix-sum network")->formula,
            "129 adders, bits 31 x 1 + 30 x 2 + 28 x 3 + 24 x 4 + 16 x 5 = 351");
  EXPECT_EQ(find(wide, "prefix-sum network")->bits, 0U);
  EXPECT_EQ(find(wide, "latches of the network"), nullptr);
  const StorageCost slow = cost_of({"core.prefix_levels_per_cycle=2"});
  EXPECT_EQ(find(slow, "latches of the network")->bits, 2U * 32 * (64 + 6));  // 3 cycles and 1, two execute stages
  EXPECT_EQ(find(cost_of({"core.divergence=dwf"}), "prefix-sum network"), nullptr);
  EXPECT_EQ(find(cost_of({"core.simd_width=1", "core.warp_size=1"}), "prefix-sum network"), nullptr);
}

TEST(Cost, IndexBits) {
  EXPECT_EQ(hw::index_bits(0), 0U);
  EXPECT_EQ(hw::index_bits(1), 0U);
  EXPECT_EQ(hw::index_bits(2), 1U);
  EXPECT_EQ(hw::index_bits(8), 3U);
  EXPECT_EQ(hw::index_bits(9), 4U);
}

TEST(Cost, EveryLineNamesFormulaAndSource) {
  for (const StorageCost& cost :
       {cost_of({}), cost_of({"core.warp_size=256", "core.former=packed-freely"}), cost_of({"core.warp_size=64"}),
        cost_of({"core.divergence=dwf", "core.scheduler=pdom-priority"}), cost_of({"core.divergence=tbc"})}) {
    for (const CostLine& line : cost.lines) {
      EXPECT_FALSE(line.formula.empty() || line.source.empty() || line.mechanism.empty()) << line.name;
      EXPECT_EQ(line.kind == LineKind::logic, line.formula.find("= " + std::to_string(line.bits)) == std::string::npos)
          << line.name << ": " << line.formula;
    }
  }
}

TEST(Cost, CommandPrintsTextAndJson) {
  const std::vector<std::string> words = {"cost",  "baseline",          "--set", "core.warp_size=256",
                                          "--set", "core.former=packed"};
  const test::Ran text = test::heddle(words);
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_NE(text.out.find("Added, as the papers count: 768 bits = 96 bytes, 0.146 % of the register file"),
            std::string::npos)
      << text.out;
  std::vector<std::string> json_words = words;
  json_words.emplace_back("--json");
  const test::Ran json = test::heddle(json_words);
  EXPECT_EQ(json.code, 0) << json.err;
  const boost::json::value value = boost::json::parse(json.out);
  EXPECT_EQ(value.at("counted_bits").as_int64(), 768);
  EXPECT_GT(value.at("lines").as_array().size(), 5U);
}

// Section 7 of the warp-size study as numbers.
TEST(Cost, TellsWhatTheSizeOfWarpsAsksOfACore) {
  const StorageCost small = cost_of({"core.warp_size=8", "core.simd_width=8"});
  EXPECT_EQ(find(small, "rows of the register file")->formula,
            "core.registers 16384 / core.warp_size 8 = 2048 rows of 256 bits");
  EXPECT_EQ(find(small, "cycles for each instruction to be fetched and decoded")->formula,
            "core.warp_size 8 / core.simd_width 8 = 1");
  EXPECT_EQ(find(small, "warps to choose among")->formula, "core.threads 1024 / core.warp_size 8 = 128");
  const StorageCost large = cost_of({"core.warp_size=64", "core.simd_width=8"});
  EXPECT_EQ(find(large, "cycles for each instruction to be fetched and decoded")->formula,
            "core.warp_size 64 / core.simd_width 8 = 8");
}

TEST(Cost, TellsWhatIdealCoalescingRemembers) {
  const std::vector<std::string> some = {"l1d.mshrs=16", "l1d.mshr_targets=32", "core.pending_accesses=64"};
  EXPECT_EQ(find(cost_of(some), "MSHRs of the L1")->bits, 16U * (32 + 32 * 6));
  std::vector<std::string> separate = some;
  separate.emplace_back("l1d.merge_reads=false");
  EXPECT_EQ(find(cost_of(separate), "MSHRs of the L1")->bits, 16U * (32 + 6));
  const StorageCost gathers = cost_of({"core.coalescer=whole-warp", "core.warp_size=64"});
  EXPECT_EQ(find(gathers, "addresses of the sub-warps that wait for the last")->bits, (64U - 32) * 64);
  EXPECT_EQ(find(cost_of({"core.coalescer=whole-warp"}), "addresses of the sub-warps that wait for the last"), nullptr);
}

// A policy of a kind that has had no cost until now.
class CostlyRows final : public hw::DramRowPolicy {
 public:
  explicit CostlyRows(const Setup& /*setup*/) {}
  static void cost(const hw::CostShape& shape, hw::CostLines& lines) {
    lines.add(LineKind::estimated, "table of rows", fmt::format("{} banks x 7", shape.machine.dram.banks),
              shape.machine.dram.banks * 7, "a test");
  }
  [[nodiscard]] bool close_after(const hw::DramRequest& /*request*/, const hw::RequestQueue& /*waiting*/) override {
    return false;
  }
};

TEST(Cost, OfEveryPolicyOfTheMachine) {
  const Register<hw::DramRowPolicy, CostlyRows> entry{"costly", "with a cost"};
  EXPECT_EQ(find(cost_of({}), "table of rows"), nullptr);
  const StorageCost cost = cost_of({"dram.row_policy=costly", "dram.banks=4"});
  ASSERT_NE(find(cost, "table of rows"), nullptr);
  EXPECT_EQ(find(cost, "table of rows")->mechanism, "dram.row_policy costly");
  EXPECT_EQ(find(cost, "table of rows")->bits, 28U);
}

}  // namespace
}  // namespace heddle::tb
