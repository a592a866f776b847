// The memory queue of a sub-core, its address unit and the load-store unit that sub-cores share: alone, beside table 1
// of MICRO 2025; in the memory stage between stubs; in a core.
#include "hw/core/memory/memory_queue.hpp"

#include <gmock/gmock.h>

#include <deque>

#include "hw/check/machine.hpp"
#include "hw/issue/scoreboard.hpp"
#include "tests/hw/gpu_bench.hpp"
#include "tests/hw/memory_stage_bench.hpp"
#include "tests/model/child.hpp"

namespace heddle::hw::test {
namespace {

using ::testing::ElementsAre;

constexpr LoadStoreParameters kPublished{5, 4, 2};

// Sub-cores that issue accesses whenever there is a place, which come to the queue seven cycles later.
class IssuingSubCore {
 public:
  explicit IssuingSubCore(AccessSlots& slots) : slots_(slots) {}
  void turn(Cycle now, std::size_t many) {
    if (!queue_.empty() && queue_.may_leave(now, slots_)) {
      queue_.leaves(now);
    }
    if (!on_their_way_.empty() && on_their_way_.front() == now) {
      on_their_way_.pop_front();
      EXPECT_TRUE(queue_.arrives(access_, now));
    }
    if (issued.size() < many && queue_.has_place()) {
      queue_.reserve();
      on_their_way_.push_back(now + 7);
      issued.push_back(now);
    }
  }
  std::vector<Cycle> issued;

 private:
  AccessSlots& slots_;
  MemoryQueue queue_{kPublished};
  SubWarp access_;
  std::deque<Cycle> on_their_way_;
};

struct TableOne {
  unsigned sub_cores;
  std::vector<Cycle> sixth;  // of each, in order; the first access is issued in cycle 2
  Cycle then_every;
};

class MicroTableOne : public ::testing::TestWithParam<TableOne> {};
void PrintTo(const TableOne& row, std::ostream* out) {
  *out << row.sub_cores;
}

TEST_P(MicroTableOne, FiveAccessesAreIssuedBackToBackAndTheSixthWaits) {
  AccessSlots slots(kPublished.interval);
  std::deque<IssuingSubCore> sub_cores;
  for (unsigned i = 0; i != GetParam().sub_cores; ++i) {
    sub_cores.emplace_back(slots);
  }
  constexpr std::size_t kMany = 26;
  for (Cycle now = 2; now != 300; ++now) {
    for (std::size_t i = 0; i != sub_cores.size(); ++i) {
      sub_cores[(now + i) % sub_cores.size()].turn(now, kMany);  // the turns go round
    }
  }
  std::vector<Cycle> sixth;
  for (const IssuingSubCore& sub_core : sub_cores) {
    const std::vector<Cycle>& issued = sub_core.issued;
    ASSERT_EQ(issued.size(), kMany);
    EXPECT_THAT(std::vector(issued.begin(), issued.begin() + 5), ElementsAre(2, 3, 4, 5, 6));
    sixth.push_back(issued[5]);
    for (std::size_t i = 6; i != kMany; ++i) {
      EXPECT_EQ(issued[i] - issued[i - 1], GetParam().then_every) << i;
    }
  }
  std::sort(sixth.begin(), sixth.end());
  EXPECT_EQ(sixth, GetParam().sixth);
}
INSTANTIATE_TEST_SUITE_P(Active, MicroTableOne,
                         ::testing::Values(TableOne{1, {13}, 4}, TableOne{2, {13, 15}, 4}, TableOne{3, {13, 15, 17}, 6},
                                           TableOne{4, {13, 15, 17, 19}, 8}),
                         [](const auto& info) { return std::to_string(info.param.sub_cores); });

TEST(MemoryQueue, AnAccessLeavesWhenItHasBeenAddressedAndHasASlot) {
  AccessSlots slots(2);
  MemoryQueue queue({2, 4, 2});
  SubWarp first, second;
  queue.reserve();
  EXPECT_TRUE(queue.has_place());
  queue.reserve();
  EXPECT_FALSE(queue.has_place());
  EXPECT_TRUE(queue.arrives(first, 10));
  EXPECT_TRUE(queue.arrives(second, 11));
  EXPECT_EQ(slots.claim(13), 13U) << "another sub-core's";
  EXPECT_FALSE(queue.may_leave(13, slots)) << "three cycles in the address unit";
  EXPECT_FALSE(queue.may_leave(14, slots)) << "addressed, and the load-store unit takes it a cycle later";
  EXPECT_TRUE(queue.may_leave(15, slots));
  EXPECT_EQ(&queue.first(), &first);
  EXPECT_FALSE(queue.has_place());
  queue.leaves(15);
  EXPECT_TRUE(queue.has_place());
  EXPECT_FALSE(queue.may_leave(18, slots)) << "the address unit has it since cycle 15";
  EXPECT_TRUE(queue.may_leave(19, slots));
  EXPECT_EQ(slots.claim(19), 21U);
}

// Two places, and two instructions of three sub-warps on their way.
TEST(MemoryQueue, SubWarpsOfAnInstructionWaitWhereTheyAreForPlacesThatOthersHaveReserved) {
  AccessSlots slots(1);
  MemoryQueue queue({2, 1, 1});
  SubWarp part, last;
  part.last = false;
  queue.reserve();
  queue.reserve();
  EXPECT_TRUE(queue.arrives(part, 1));
  EXPECT_FALSE(queue.arrives(part, 1)) << "the second instruction has the other place";
  Cycle now = 1;
  for (unsigned sub_warp = 1; sub_warp != 6; ++sub_warp) {
    EXPECT_TRUE(queue.may_leave(++now, slots));
    queue.leaves(now);
    EXPECT_TRUE(queue.arrives(sub_warp % 3 == 2 ? last : part, now)) << sub_warp;
  }
  EXPECT_EQ(queue.taken(), 1U);
  EXPECT_TRUE(queue.may_leave(++now, slots));
  queue.leaves(now);
  EXPECT_EQ(queue.taken(), 0U);
}

TEST(MemoryQueue, ConstantsParametersAndFencesGoByIt) {
  const auto takes = [](auto emit) { return MemoryQueue::takes(decoded(emit)->instruction); };
  EXPECT_TRUE(takes([](Code& code) { code.load(Op::LD_GLOBAL, 1, 2); }));
  EXPECT_TRUE(takes([](Code& code) { code.load(Op::LD_SHARED, 1, 2); }));
  EXPECT_TRUE(takes([](Code& code) { code.load(Op::LD_GENERIC, 1, 2); }));
  EXPECT_TRUE(takes([](Code& code) { code.store(Op::ST_LOCAL, 1, 2); }));
  EXPECT_FALSE(takes([](Code& code) { code.load(Op::LD_CONST, 1, 2); }));
  EXPECT_FALSE(takes([](Code& code) { code.param(1, 0); }));
  EXPECT_FALSE(takes([](Code& code) { code.plain(Op::MEMBAR); }));
  EXPECT_FALSE(takes([](Code& code) { code.rrr(Op::ADD, 1, 2, 3); }));
}

// ---- in the memory stage

Machine with_queue(unsigned places, unsigned latency = 1) {
  Machine machine;
  machine.lsu = kPublished;
  machine.lsu.queue = places;
  machine.scratchpad.latency = latency;
  return machine;
}

TEST(MemoryStageQueue, TheLoadStoreUnitHasAnAccessFourCyclesAfterItHasCome) {
  MemoryBench bench(with_queue(5));
  SubWarp& first = bench.load(0, {0});
  SubWarp& second = bench.load(1, {1});
  SubWarp& other = bench.add(2);
  bench.queue(first);
  bench.queue(second);
  bench.feed(first, 0);
  bench.feed(second, 1);
  bench.feed(other, 2);
  ASSERT_EQ(bench.writeback.taken.size(), 1U);
  EXPECT_EQ(bench.writeback.taken[0].sub_warp, &other) << "what accesses nothing passes both";
  for (Cycle now = 4; now != 11; ++now) {
    // Nothing is to be done but in cycles 5 and 9, and one behind each for write-back.
    EXPECT_EQ(bench.stage.idle(), now != 6 && now != 10) << now;
    EXPECT_EQ(bench.stage.goes_on(now), now == 5 || now == 9) << now;
    bench.tick(now);
    EXPECT_EQ(bench.l1.taken.size(), now < 5 ? 0U : now < 9 ? 1U : 2U) << now;
  }
  EXPECT_TRUE(bench.stage.idle());
  ASSERT_EQ(bench.returns.taken.size(), 2U);
  EXPECT_EQ(bench.returns.taken[0].sub_warp, &first);
  EXPECT_EQ(bench.returns.taken[1].sub_warp, &second);
  MemoryBench::expect_loaded(first);
  MemoryBench::expect_loaded(second);
}

TEST(MemoryStageQueue, APlaceIsFreeWhenTheLoadStoreUnitHasTheAccess) {
  MemoryBench bench(with_queue(1));
  bench.l1.full = true;
  SubWarp& load = bench.load(0, {0});
  bench.queue(load);
  EXPECT_FALSE(bench.stage.queue().has_place());
  bench.feed(load, 0);
  bench.tick(2);
  bench.tick(3);
  bench.tick(4);
  EXPECT_FALSE(bench.stage.queue().has_place());
  bench.tick(5);
  EXPECT_TRUE(bench.stage.queue().has_place()) << "though the L1 has no room for its line";
  EXPECT_EQ(bench.returns.taken.size(), 0U);
  bench.l1.full = false;
  bench.tick(6);
  bench.tick(7);
  EXPECT_EQ(bench.returns.taken.size(), 1U);
}

TEST(MemoryStageQueue, ParametersAreReadBesideItAndWhatAccessesNothingGivesItsPlaceBack) {
  MemoryBench bench(with_queue(5));
  SubWarp& waits = bench.load(0, {0});
  SubWarp& parameter = bench.sub_warp(1, [](Code& code) { code.param(1, 8); });
  parameter.address.fill(8);
  SubWarp& off = bench.load(2, {1});
  off.executing = 0;
  bench.queue(waits);
  bench.queue(off);
  bench.feed(waits, 0);
  bench.feed(parameter, 1);
  bench.feed(off, 2);
  ASSERT_EQ(bench.writeback.taken.size(), 2U);
  EXPECT_EQ(bench.writeback.taken[0].sub_warp, &parameter);
  EXPECT_EQ(parameter.values.result[0][5], 0x0e0d0c0bU);
  EXPECT_EQ(bench.writeback.taken[1].sub_warp, &off);
  EXPECT_EQ(bench.stage.queue_places(), 1U);
  bench.tick(4);
  bench.tick(5);
  EXPECT_EQ(bench.stage.queue_places(), 0U);
  EXPECT_EQ(bench.l1.taken.size(), 1U);
}

TEST(MemoryStageQueue, ASubWarpThatFindsNoPlaceHoldsTheStage) {
  MemoryBench bench(with_queue(1));
  SubWarp& first = bench.load(0, {0});
  SubWarp& second = bench.load(0, {1});
  first.last = false;
  bench.state.groups[0].flight() = {2, 0, 0, true, false};
  bench.stage.queue().reserve();  // an instruction, of two sub-warps
  for (SubWarp* const each : {&first, &second}) {
    bench.instructions[each == &first ? 0 : 1]->queues = true;
  }
  bench.feed(first, 0);
  ASSERT_TRUE(bench.offer(second, 1));
  for (Cycle now = 2; now != 5; ++now) {
    bench.tick(now);
    EXPECT_TRUE(bench.stage.full()) << now;
    EXPECT_EQ(bench.state.block_cause, IdleCause::memory_queue) << now;
  }
  bench.tick(5);
  EXPECT_FALSE(bench.stage.full());
  for (Cycle now = 6; now != 11; ++now) {
    bench.tick(now);
  }
  EXPECT_EQ(bench.returns.taken.size(), 2U);
}

// ---- results of the scratchpad that take their time

TEST(ScratchpadLatency, CountsFromTheLastCycleInTheBanks) {
  for (const bool conflict : {false, true}) {
    Machine machine;
    machine.scratchpad.latency = 5;
    const std::string seen = heddle::test::in_child([&] {
      MemoryBench bench(machine);
      SubWarp& load = bench.sub_warp(0, [](Code& code) { code.load(Op::LD_SHARED, 1, 2); });
      SubWarp& store = bench.sub_warp(1, [](Code& code) { code.store(Op::ST_SHARED, 1, 2); });
      for (unsigned lane = 0; lane != isa::kLanes; ++lane) {
        load.address[lane] = store.address[lane] = (conflict ? 8 : 4) * lane;
      }
      std::string out;
      bench.feed(load, 0);  // in cycle 1, with a conflict in 2 too
      if (conflict) {
        bench.tick(2);
      }
      const Cycle due = conflict ? 6 : 5;
      if (bench.stage.next_by_itself() != due || !bench.stage.idle()) {
        out += "does not sleep until then ";
      }
      bench.tick(due - 1);
      out += bench.returns.taken.empty() ? "" : "early ";
      bench.tick(due);
      out += bench.returns.taken.size() == 1 ? "there" : "late";
      bench.feed(store, due);
      if (conflict) {
        bench.tick(due + 2);
      }
      out += bench.writeback.taken.size() == 1 ? ", a store is done at once" : "";
      return out;
    });
    EXPECT_EQ(seen, "there, a store is done at once") << conflict;
  }
}

// ---- in a core

Machine queueing_machine(unsigned places) {
  Machine machine = with_queue(places, 20);
  machine.core.issue = "scoreboard";
  machine.core.policies.of<ScoreboardParameters>().stall = "on-use";
  machine.core.policies.of<ScoreboardParameters>().entries = 32;
  machine.core.execute_stages = 4;
  machine.icache.ideal = true;
  return machine;
}

struct FetchCycles final : CoreObserver {
  void fetched(const CoreState& core, const SubWarp& sub_warp) override {
    if (MemoryQueue::takes(isa::decode(sub_warp.word).value())) {
      cycles.push_back(core.now);
    }
  }
  std::vector<Cycle> cycles;
};

// One warp: loads of a word each, in a pipeline of seven cycles from fetch to memory.
std::string fetched_after_the_first(unsigned places) {
  return heddle::test::in_child([&] {
    heddle::test::GpuBench bench(queueing_machine(places));
    FetchCycles seen;
    bench.gpu.observe(&seen);
    Code code;
    for (unsigned i = 0; i != 8; ++i) {
      code.load(Op::LD_SHARED, 3 + i, isa::kRZ, 4 * i);
    }
    code.exit();
    heddle::test::LaunchShape shape;
    shape.shared_bytes = 256;
    const Totals totals = bench.run(code, shape);
    std::string text;
    for (const Cycle cycle : seen.cycles) {
      text += std::to_string(cycle - seen.cycles.front()) + " ";
    }
    return text + "waited " + std::to_string(totals.core.queue_waits) + " accesses, " +
           std::to_string(totals.core.queue_wait_cycles) + " cycles";
  });
}

TEST(MemoryQueueInACore, TheSixthAccessIsFetchedWhenTheFirstHasLeft) {
  EXPECT_EQ(fetched_after_the_first(5), "0 1 2 3 4 11 15 19 waited 3 accesses, 12 cycles");
  EXPECT_EQ(fetched_after_the_first(4), "0 1 2 3 11 15 19 23 waited 4 accesses, 16 cycles");
}

// A warp whose access finds no place holds up no other, and what waits is named.
TEST(MemoryQueueInACore, WaitingForAPlaceIsACauseOfItsOwn) {
  const auto idle = [](unsigned places) {
    return heddle::test::in_child([&] {
      heddle::test::GpuBench bench(queueing_machine(places));
      Code code;
      for (unsigned i = 0; i != 30; ++i) {
        code.store(Op::ST_SHARED, isa::kRZ, isa::kRZ, 4 * i);
      }
      code.exit();
      heddle::test::LaunchShape shape;
      shape.shared_bytes = 256;
      shape.block = {128, 1, 1};
      return std::to_string(bench.run(code, shape).core.idle[static_cast<std::size_t>(IdleCause::memory_queue)]);
    });
  };
  EXPECT_EQ(idle(0), "0") << "no queue";
  EXPECT_GT(std::stoul(idle(5)), 30U * 4 * 2) << "of every four cycles nearly three";
}

TEST(MemoryQueueChecks, WhatDoesNotWaitOneBehindTheOtherIsRefused) {
  Machine machine;
  machine.lsu.queue = 5;
  EXPECT_TRUE(check(machine).empty());
  machine.core.coalescer = "whole-warp";
  const std::vector<Contradiction> found = check(machine);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].key, "lsu.queue");
  EXPECT_EQ(found[0].message,
            "lsu.queue (5): core.coalescer = \"whole-warp\" sends the lines of a warp's sub-warps together, which "
            "leave the queue one after the other; use 0");
}

}  // namespace
}  // namespace heddle::hw::test
