// The claims on memory scheduling by warps and on cache-conscious scheduling, put to made-up results: each must hold
// where its expectation is met, and must not where its direction is missed.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "base/registry.hpp"
#include "studies/reproduce/claim.hpp"

namespace heddle::studies {
namespace {

bool has(const Run& run, const std::string& setting) {
  return std::find(run.settings.begin(), run.settings.end(), setting) != run.settings.end();
}

// The shape of the claim when each of its runs takes so many cycles, with what else `make` sets.
Shape judged(const std::string& id, const std::function<std::uint64_t(const studies::Run&, tb::Summary&)>& make) {
  const std::unique_ptr<Claim> claim = Registry<Claim>::instance().make(id, {});
  Results results;
  for (const Run& run : claim->runs()) {
    tb::Summary made;
    made.fu_active_cycles.assign(33, 0);
    made.warp_instructions = 1000;
    made.memory_instructions = 100;
    made.cycles = make(run, made);
    made.ipc = 32000.0 / static_cast<double>(made.cycles);
    made.fu_active_cycles[32] = made.cycles;
    results.add(run, made, 1);
  }
  return shape_of(claim->judge(results).checks);
}

TEST(MemoryClaims, WarpsFirstMustShortenStallsAndGain) {
  const auto with = [](double stall, std::uint64_t divergent, std::uint64_t regular) {
    return judged("warp-aware-memory", [&](const studies::Run& run, tb::Summary& made) -> std::uint64_t {
      const bool aware = has(run, "dram.scheduler=warp-aware");
      const bool searches = run.workload.starts_with("index_search");
      const bool diverges =
          !searches && run.workload != "kmeans" && run.workload != "reduction" && run.workload != "histogram";
      made.mean_divergent_stall = !diverges ? 0 : aware ? stall : 500;
      return !aware ? 1000 : diverges ? divergent : regular;
    });
  };
  EXPECT_EQ(with(400, 950, 1000), Shape::holds);
  EXPECT_EQ(with(400, 950, 1020), Shape::partly);   // a regular kernel loses
  EXPECT_EQ(with(400, 1050, 1000), Shape::partly);  // shorter stalls, but slower
  EXPECT_EQ(with(600, 1050, 1000), Shape::does_not_hold);
  EXPECT_EQ(with(500, 1000, 1000), Shape::does_not_hold);  // nothing happens
}

TEST(MemoryClaims, LimitedLoadsMustHelpSensitiveKernelsOnly) {
  const auto with = [](std::uint64_t sensitive, std::uint64_t misses, std::uint64_t insensitive) {
    return judged("ccws", [&](const studies::Run& run, tb::Summary& made) -> std::uint64_t {
      const bool limited = has(run, "core.load_limiter=ccws");
      const bool large = has(run, "l1d.bytes=8388608");
      const bool kernel = run.workload.starts_with("bfs");
      made.l1d_misses = limited && kernel ? misses : 1000;
      if (large) {
        return kernel ? 400 : 990;
      }
      return !limited ? 1000 : kernel ? sensitive : insensitive;
    });
  };
  EXPECT_EQ(with(800, 750, 1000), Shape::holds);
  EXPECT_EQ(with(980, 750, 1000), Shape::partly);  // much less than published
  EXPECT_EQ(with(800, 750, 1050), Shape::partly);  // an insensitive kernel loses
  EXPECT_EQ(with(1200, 750, 1000), Shape::does_not_hold);
}

TEST(MemoryClaims, WithoutWhatTheyAreAboutTheyDoNotHold) {
  const auto same = [](const studies::Run&, tb::Summary&) { return std::uint64_t{1000}; };
  EXPECT_EQ(judged("ccws", same), Shape::does_not_hold);
  EXPECT_EQ(judged("warp-aware-memory", same), Shape::does_not_hold);
}

}  // namespace
}  // namespace heddle::studies
