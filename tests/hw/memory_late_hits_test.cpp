// The memory stage between stubs: hits that come late, in a pipeline beside the misses; what observers see of it.
#include "tests/hw/memory_stage_bench.hpp"

namespace heddle::hw::test {
namespace {

TEST(MemoryStage, ALateHitIsInAPipelineAndNotPutAside) {
  Machine machine;
  machine.core.pending_accesses = 1;
  MemoryBench bench(machine);
  bench.l1.late = {MemoryBench::line(0), MemoryBench::line(1)};
  SubWarp& first = bench.load(0, {0});
  SubWarp& second = bench.load(1, {1, 2});
  SubWarp& other = bench.add(2);
  bench.feed(first, 0);
  bench.feed(second, 1);
  bench.tick(3);
  ASSERT_TRUE(bench.offer(other, 3)) << "no place of a waiting access is taken";
  bench.tick(4);
  ASSERT_EQ(bench.writeback.taken.size(), 1U);
  EXPECT_EQ(bench.writeback.taken[0].sub_warp, &other);
  EXPECT_EQ(bench.l1.taken.size(), 3U);
  for (const GroupId group : {0U, 1U}) {
    EXPECT_EQ(bench.state.groups[group].state, GroupState::in_flight) << "does not wait for memory";
  }
  EXPECT_EQ(bench.stage.put_aside(), 0U);
  bench.l1.respond(*bench.l1.taken[0].request);
  bench.tick(5);
  ASSERT_EQ(bench.returns.taken.size(), 1U);
  EXPECT_EQ(bench.returns.taken[0].sub_warp, &first);
  bench.l1.respond(*bench.l1.taken[1].request);
  bench.tick(6);
  ASSERT_EQ(bench.returns.taken.size(), 2U);
  EXPECT_EQ(bench.returns.taken[1].sub_warp, &second);
  MemoryBench::expect_loaded(first);
  MemoryBench::expect_loaded(second);
  EXPECT_EQ(bench.state.statistics.put_aside, 0U);
  EXPECT_TRUE(bench.stage.idle());
}

TEST(MemoryStage, AMissBesideLateHitsIsPutAside) {
  MemoryBench bench;
  bench.l1.late = {MemoryBench::line(0)};
  bench.l1.missing = {MemoryBench::line(1)};
  SubWarp& load = bench.load(0, {0, 1, 2, 2});
  bench.offer(load, 0);
  for (Cycle now = 1; now <= 3; ++now) {
    bench.tick(now);
  }
  EXPECT_EQ(bench.state.groups[0].state, GroupState::memory);
  EXPECT_EQ(bench.stage.put_aside(), 1U);
  const MemoryAccess& access = *static_cast<AccessLine*>(bench.l1.taken[0].request)->access;
  EXPECT_EQ(access.waiting(), 0x33333333U) << "lanes of lines 0 and 1";
  EXPECT_EQ(access.waiting(/*misses_only=*/true), 0x22222222U);
  bench.l1.respond(*bench.l1.taken[0].request);
  EXPECT_EQ(access.waiting(), 0x22222222U);
  EXPECT_EQ(bench.stage.put_aside(), 1U);
  bench.l1.respond(*bench.l1.taken[1].request);
  EXPECT_EQ(access.waiting(), 0U);
  EXPECT_EQ(bench.stage.put_aside(), 0U);
  EXPECT_EQ(bench.state.groups[0].state, GroupState::in_flight);
  bench.tick(4);
  ASSERT_EQ(bench.returns.taken.size(), 1U);
  MemoryBench::expect_loaded(load);
}

// A large warp: what has hit late is to the group as what has hit at once. It waits for memory when the rest does.
TEST(MemoryStage, LateHitsDoNotKeepAGroupFromWaitingForItsMisses) {
  MemoryBench bench;
  bench.l1.late = {MemoryBench::line(0)};
  bench.l1.missing = {MemoryBench::line(1)};
  Group& group = bench.state.groups[0];
  group.flight() = {2, 0, 0, true, false};
  SubWarp& hits = bench.load(0, {0});
  SubWarp& misses = bench.load(0, {1});
  bench.feed(hits, 0);
  EXPECT_EQ(group.state, GroupState::in_flight);
  bench.feed(misses, 1);
  EXPECT_EQ(group.state, GroupState::memory);
  EXPECT_EQ(group.flight().late, 1U);
  bench.l1.respond(*bench.l1.taken[0].request);
  EXPECT_EQ(group.state, GroupState::memory);
  bench.tick(3);
  EXPECT_EQ(group.flight().late, 0U) << "write-back has it";
  bench.l1.respond(*bench.l1.taken[1].request);
  EXPECT_EQ(group.state, GroupState::in_flight);
}

TEST(MemoryStage, AnInstructionsAccessesAreSeenTogether) {
  MemoryBench bench;
  bench.l1.late = {MemoryBench::line(0)};
  bench.l1.missing = {MemoryBench::line(1)};
  bench.state.groups[0].flight() = {2, 0, 0, true, false};
  SubWarp& first = bench.load(0, {0, 2});
  SubWarp& second = bench.load(0, {1, 2});
  SubWarp& other = bench.load(1, {1});
  Cycle now = 0;
  for (SubWarp* const load : {&first, &second, &other}) {
    ASSERT_TRUE(bench.offer(*load, now));
    bench.tick(++now);
    bench.tick(++now);
  }
  const auto waiting = [&](GroupId group, unsigned flight = 0) {
    std::vector<std::pair<const SubWarp*, LaneMask>> found;
    bench.stage.each_access(group, flight,
                            [&](const MemoryAccess& access) { found.emplace_back(access.sub_warp, access.waiting()); });
    return found;
  };
  using Found = std::vector<std::pair<const SubWarp*, LaneMask>>;
  EXPECT_EQ(waiting(0), (Found{{&first, 0x55555555U}, {&second, 0x55555555U}}));
  EXPECT_EQ(waiting(1), (Found{{&other, kAll}}));
  EXPECT_EQ(waiting(0, 1), Found{});
  bench.l1.respond(*bench.l1.taken[0].request);
  EXPECT_EQ(waiting(0), (Found{{&second, 0x55555555U}}));
  bench.stage.reset();
  EXPECT_EQ(waiting(1), Found{});
}

}  // namespace
}  // namespace heddle::hw::test
