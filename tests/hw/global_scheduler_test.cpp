// The global scheduler of ODGS alone, between a dispatcher and cores that do as the test says: which warps go where and
// in which cycle, who stays, and what comes of barriers. Two cores of four warps of four lanes.
#include "hw/gpu/global_scheduler.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heddle::hw {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const sc_core::sc_time kTick(1, sc_core::SC_NS);

// A core: what it is sent it keeps.
class SentCore final : public sc_core::sc_module, private ::tlm::tlm_bw_transport_if<HomeProtocol> {
 public:
  SentCore(const sc_core::sc_module_name& name, link::Clock clock, std::vector<std::string>& log)
      : sc_core::sc_module(name), others("others"), clock_(clock), log_(log) {
    others.bind(*this);
  }
  HomeInitiatorSocket others;
  std::vector<HomeMessage> sent;

 private:
  // "core 1: 4 at 0 @ 7": so many threads at a PC, in a cycle.
  ::tlm::tlm_sync_enum nb_transport_bw(HomeMessage& message, HomePhase&, sc_core::sc_time&) override {
    log_.push_back("core " + std::to_string(message.to) + ": " +
                   (message.kind == HomeMessage::Kind::release
                        ? "release"
                        : std::to_string(message.threads.size()) + " at " + std::to_string(message.pc)) +
                   " @ " + std::to_string(clock_.now()));
    sent.push_back(message);
    return ::tlm::TLM_COMPLETED;
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
  const link::Clock clock_;
  std::vector<std::string>& log_;
};

class GridSide final : public sc_core::sc_module, private ::tlm::tlm_bw_transport_if<BlockProtocol> {
 public:
  explicit GridSide(const sc_core::sc_module_name& name) : sc_core::sc_module(name), blocks("blocks") {
    blocks.bind(*this);
  }
  BlockInitiatorSocket blocks;
  std::vector<BlockCommand> told;

 private:
  ::tlm::tlm_sync_enum nb_transport_bw(BlockCommand& command, BlockPhase&, sc_core::sc_time&) override {
    told.push_back(command);
    return ::tlm::TLM_COMPLETED;
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
};

class ScheduledGrid final : public sc_core::sc_module {
 public:
  // A launch of blocks of so many threads, with two registers each.
  ScheduledGrid(OdgsParameters odgs, unsigned threads, std::uint64_t blocks, std::uint32_t registers = 2)
      : sc_core::sc_module(sc_core::sc_module_name("grid")),
        machine(two_cores(std::move(odgs))),
        calendar(kTick),
        scheduler("scheduler", machine, calendar.clock()) {
    launch.block = {threads, 1, 1};
    launch.grid = {static_cast<std::uint32_t>(blocks), 1, 1};
    launch.registers = registers;
    side.blocks.bind(scheduler.blocks);
    for (unsigned i = 0; i != 2; ++i) {
      cores.push_back(std::make_unique<SentCore>(("core" + std::to_string(i)).c_str(), calendar.clock(), log));
      cores.back()->others.bind(scheduler.core[i]);
    }
    scheduler.raise = [this](isa::Fault fault) { faults.push_back(std::move(fault)); };
    // Half a cycle on: what the test does comes behind all turns of the cycle.
    sc_core::sc_start(sc_core::sc_time(500, sc_core::SC_PS));
    scheduler.begin_launch(launch, blocks, false, 0);
  }
  static Machine two_cores(OdgsParameters odgs) {
    Machine out;
    out.gpu.cores = 2;
    out.core.divergence = "odgs";
    out.core.simd_width = out.core.warp_size = 4;
    out.core.threads = 16;
    odgs.pool = 32;
    out.core.policies.of<OdgsParameters>() = std::move(odgs);
    return out;
  }
  void block(unsigned number) {
    BlockCommand command;
    command.slot = number;
    command.linear = number;
    command.index = {number, 0, 0};
    BlockPhase phase = BlockPhase::command;
    sc_core::sc_time delay;
    EXPECT_EQ(side.blocks->nb_transport_fw(command, phase, delay), ::tlm::TLM_COMPLETED);
  }
  void say(unsigned core, HomeMessage message) {
    message.from = core;
    message.to = 2;
    HomePhase phase = HomePhase::message;
    sc_core::sc_time delay;
    EXPECT_EQ(cores[core]->others->nb_transport_fw(message, phase, delay), ::tlm::TLM_COMPLETED);
  }
  // A warp that was sent to a core comes back, all of it or its first threads.
  void come_back(unsigned core, std::size_t which, std::uint32_t pc, std::optional<BarrierArrival> waits_at = {},
                 unsigned places = 1) {
    HomeMessage message;
    message.pc = pc;
    message.threads = cores[core]->sent.at(which).threads;
    message.empties_places = places;
    message.waits_at = waits_at;
    say(core, std::move(message));
  }
  void exit(unsigned core, std::size_t which, unsigned threads, bool place = true) {
    HomeMessage message;
    message.kind = HomeMessage::Kind::exit;
    message.exited = threads;
    message.block = cores[core]->sent.at(which).threads.at(0).thread.home->block;
    say(core, message);
    if (place) {
      message.kind = HomeMessage::Kind::place;
      say(core, message);
    }
  }
  void steps(unsigned count = 1) { sc_core::sc_start(count * kTick); }
  std::vector<std::string> take() { return std::exchange(log, {}); }

  Machine machine;
  Launch launch;
  link::Calendar calendar;
  GlobalScheduler scheduler;
  GridSide side{"side"};
  std::vector<std::string> log;
  std::vector<std::unique_ptr<SentCore>> cores;
  std::vector<isa::Fault> faults;
};

TEST(GlobalScheduler, HasRoomForBlocksWhoseThreadsFitTheCoresAndThePool) {
  ScheduledGrid grid({}, 16, 1);
  EXPECT_EQ(grid.scheduler.slots(grid.launch), 4U) << "2 x 16 + 32 threads";
  grid.launch.block = {17, 1, 1};
  EXPECT_EQ(grid.scheduler.slots(grid.launch), 3U) << "whole warps: 20 threads";
}

TEST(GlobalScheduler, EveryFreePlaceIsFilledAtOnceTheCoresInTurn) {
  ScheduledGrid grid({}, 40, 1);
  grid.block(0);  // in cycle 0
  EXPECT_THAT(grid.take(), IsEmpty());
  grid.steps();
  EXPECT_THAT(grid.take(),
              ElementsAre("core 0: 4 at 0 @ 1", "core 1: 4 at 0 @ 1", "core 0: 4 at 0 @ 1", "core 1: 4 at 0 @ 1",
                          "core 0: 4 at 0 @ 1", "core 1: 4 at 0 @ 1", "core 0: 4 at 0 @ 1", "core 1: 4 at 0 @ 1"));
  EXPECT_EQ(grid.scheduler.pool_threads(), 8U);
  const HomeMessage& second = grid.cores[1]->sent[0];
  EXPECT_EQ(second.from, 2U);
  EXPECT_EQ(second.threads[1].thread.number(), 5U);
  EXPECT_EQ(second.threads[1].registers, (std::vector<std::uint32_t>{0, 0}));
  EXPECT_EQ(second.threads[1].lane, 1U);
  grid.steps(3);
  EXPECT_THAT(grid.take(), IsEmpty());
  // In cycle 4 a warp has exited in core 1; its place is filled in 5.
  grid.exit(1, 0, 4);
  grid.steps();
  EXPECT_THAT(grid.take(), ElementsAre("core 1: 4 at 0 @ 5"));
}

TEST(GlobalScheduler, TheCoreWithMostFreePlacesComesFirst) {
  ScheduledGrid grid({}, 32, 1);
  grid.block(0);
  grid.steps();
  grid.take();
  grid.exit(1, 0, 4);
  grid.exit(1, 1, 4);
  grid.exit(1, 2, 4);
  grid.exit(0, 0, 4);
  grid.steps();
  // Core 0 has one free place, core 1 three. Of the warps that come back in no place of theirs, two go to core 1 first.
  for (std::size_t warp = 1; warp != 4; ++warp) {
    grid.come_back(0, warp, 9, {}, 0);
  }
  grid.steps();
  EXPECT_THAT(grid.take(), ElementsAre("core 1: 4 at 9 @ 3", "core 1: 4 at 9 @ 3", "core 0: 4 at 9 @ 3"));
}

TEST(GlobalScheduler, RegistersBoundACoresPlaces) {
  ScheduledGrid grid({}, 32, 1, 40);
  grid.machine.core.registers = 40 * 4 * 2 + 159;  // of two warps, and not of three
  grid.scheduler.begin_launch(grid.launch, 1, false, 0);
  grid.block(0);
  grid.steps();
  EXPECT_EQ(grid.take().size(), 4U);
}

TEST(GlobalScheduler, ThreadsFewerThanAWarpStayAsLongAsMoreBlocksCome) {
  ScheduledGrid grid({}, 6, 2);
  grid.block(0);
  grid.steps();
  EXPECT_THAT(grid.take(), ElementsAre("core 0: 4 at 0 @ 1"));
  EXPECT_EQ(grid.scheduler.pool_threads(), 2U);
  grid.steps(10);
  grid.block(1);
  grid.steps();
  // Two of either block are a full warp, which goes out before a new one.
  EXPECT_THAT(grid.take(), ElementsAre("core 1: 4 at 0 @ 12", "core 0: 4 at 0 @ 12"));
  EXPECT_EQ(grid.cores[1]->sent[0].threads[1].thread.number(), 5U);
  EXPECT_EQ(grid.cores[1]->sent[0].threads[2].thread.number(), 4U);
  EXPECT_EQ(grid.cores[1]->sent[0].threads[3].lane, 3U) << "numbered by lane";
  EXPECT_EQ(grid.scheduler.pool_threads(), 0U);
}

TEST(GlobalScheduler, TheLastThreadsOfTheGridGoOut) {
  ScheduledGrid grid({}, 6, 1);
  grid.block(0);
  grid.steps();
  EXPECT_THAT(grid.take(), ElementsAre("core 0: 4 at 0 @ 1", "core 1: 2 at 0 @ 1"));
}

TEST(GlobalScheduler, ADivergedWarpKeepsItsPlaceAndItsThreadsForTheHandlingLatency) {
  OdgsParameters odgs;
  odgs.handling_latency = 10;
  ScheduledGrid grid(odgs, 36, 1);  // nine warps: one waits for a place
  grid.block(0);
  grid.steps();
  EXPECT_EQ(grid.take().size(), 8U);
  grid.come_back(0, 0, 7);  // in cycle 1, heard in 2
  grid.steps(10);
  EXPECT_THAT(grid.take(), IsEmpty()) << "cycle 11";
  EXPECT_EQ(grid.scheduler.pool_threads(), 4U);
  grid.steps();
  EXPECT_THAT(grid.take(), ElementsAre("core 0: 4 at 7 @ 12")) << "a full re-formed warp comes before a new one";
  EXPECT_EQ(grid.scheduler.statistics().diverged_warps, 1U);
  EXPECT_EQ(grid.scheduler.statistics().diverged_threads, 4U);
}

TEST(GlobalScheduler, ContextsOccupyTheLinkOfTheirCore) {
  OdgsParameters odgs;
  odgs.link_bytes = 16;
  ScheduledGrid grid(odgs, 12, 1);
  // Two registers, predicates and the PC of four threads.
  const std::uint64_t bytes = 4 * (8 + (isa::kPredicates + 7) / 8 + 4);
  const std::uint64_t cycles = (bytes + 15) / 16;
  ASSERT_EQ(cycles, 4U);
  grid.block(0);
  grid.steps(20);
  // Sent in cycle 1: the last of the four cycles is 4; the second one to core 0 comes behind.
  EXPECT_THAT(grid.take(), ElementsAre("core 0: 4 at 0 @ 4", "core 1: 4 at 0 @ 4", "core 0: 4 at 0 @ 8"));
  EXPECT_EQ(grid.scheduler.statistics().context_bytes, 3 * bytes);
  // Back: heard in 21, here in 24, there again in 24 + 3.
  grid.come_back(1, 0, 5);
  grid.steps(10);
  EXPECT_THAT(grid.take(), ElementsAre(::testing::EndsWith("4 at 5 @ 27")));
}

BarrierArrival at_barrier(unsigned barrier, std::uint32_t count = 0, isa::Op op = isa::Op::BAR_SYNC) {
  BarrierArrival out;
  out.op = op;
  out.barrier = barrier;
  out.count = count;
  return out;
}

TEST(GlobalScheduler, ABarrierReleasesWhenTheLastThreadHasCome) {
  OdgsParameters odgs;
  odgs.handling_latency = 10;  // not for those that wait at a barrier
  ScheduledGrid grid(odgs, 8, 1);
  grid.block(0);
  grid.steps();
  grid.take();
  for (Traveller& thread : grid.cores[0]->sent[0].threads) {
    thread.true_at_barrier = thread.lane != 2;
  }
  grid.come_back(0, 0, 6, at_barrier(3, 0, isa::Op::BAR_RED_POPC));
  grid.steps(5);
  EXPECT_THAT(grid.take(), IsEmpty());
  EXPECT_EQ(grid.scheduler.pool_threads(), 0U) << "they cannot go on";
  EXPECT_EQ(grid.scheduler.describe_waiting(), "block 0: barrier 3 has 4 of 8 threads");
  grid.come_back(1, 0, 6, at_barrier(3, 0, isa::Op::BAR_RED_POPC));  // in cycle 6
  grid.steps();
  EXPECT_EQ(grid.take().size(), 2U) << "in cycle 7";
  EXPECT_EQ(grid.cores[0]->sent.back().pc, 6U);
  EXPECT_EQ(grid.cores[0]->sent.back().threads[0].released_value, 3U);
  EXPECT_EQ(grid.scheduler.describe_waiting(), "");
  EXPECT_EQ(grid.scheduler.statistics().barriers, 1U);
  EXPECT_EQ(grid.scheduler.statistics().barrier_imbalance, 5U);
  EXPECT_THAT(grid.faults, IsEmpty());
}

TEST(GlobalScheduler, AnExitCanCompleteABarrierAndTheLastOneTheBlock) {
  ScheduledGrid grid({}, 8, 1);
  grid.block(0);
  grid.steps();
  grid.take();
  grid.come_back(0, 0, 6, at_barrier(0));
  grid.exit(1, 0, 4);
  grid.steps();
  EXPECT_EQ(grid.take().size(), 1U);
  EXPECT_THAT(grid.side.told, IsEmpty());
  const unsigned core = grid.cores[0]->sent.size() == 2 ? 0 : 1;
  grid.exit(core, 1, 3, false);
  grid.steps();
  EXPECT_THAT(grid.side.told, IsEmpty()) << "one thread is left";
  grid.exit(core, 1, 1);
  grid.steps();
  ASSERT_EQ(grid.side.told.size(), 1U);
  EXPECT_EQ(grid.side.told[0].kind, BlockCommand::Kind::block_done);
  EXPECT_EQ(grid.side.told[0].core, 2U);
  EXPECT_EQ(grid.side.told[0].slot, 0U);
}

TEST(GlobalScheduler, ABarrierThatNobodyWillCompleteIsAFaultOfItsFirstThread) {
  ScheduledGrid grid({}, 8, 1);
  grid.block(0);
  grid.steps();
  grid.exit(0, 0, 2, false);
  grid.cores[0]->sent[0].threads.erase(grid.cores[0]->sent[0].threads.begin(),
                                       grid.cores[0]->sent[0].threads.begin() + 2);
  grid.come_back(0, 0, 6, at_barrier(2, 8));
  grid.steps(3);
  EXPECT_THAT(grid.faults, IsEmpty()) << "others may come";
  grid.come_back(1, 0, 9, at_barrier(5));
  grid.steps();
  ASSERT_EQ(grid.faults.size(), 1U);
  EXPECT_EQ(grid.faults[0].kind, isa::Fault::Kind::barrier_mismatch);
  EXPECT_EQ(
      grid.faults[0].detail,
      "the barrier can never complete: barrier 2 has 2 of 8 threads; barrier 5 has 4 of 6 threads; 2 threads have "
      "exited");
  EXPECT_EQ(grid.faults[0].thread, (isa::Dim3{2, 0, 0}));
  grid.steps(5);
  EXPECT_EQ(grid.faults.size(), 1U) << "told once";
}

TEST(GlobalScheduler, WrongCountsAreAFault) {
  ScheduledGrid grid({}, 8, 1);
  grid.block(0);
  grid.steps();
  grid.come_back(0, 0, 6, at_barrier(2, 8));
  grid.come_back(1, 0, 6, at_barrier(2, 7));
  grid.steps();
  ASSERT_FALSE(grid.faults.empty());
  EXPECT_EQ(grid.faults[0].kind, isa::Fault::Kind::barrier_mismatch);
  EXPECT_EQ(grid.faults[0].detail, "barrier 2 expects 8 threads, but threads arrive that expect 7");
  EXPECT_EQ(grid.faults[0].pc, 5U) << "of the barrier, behind which they stand";
  EXPECT_EQ(grid.faults[0].thread, (isa::Dim3{4, 0, 0}));
}

TEST(GlobalScheduler, NobodyReleasesItsBarriersForIt) {
  ScheduledGrid grid({}, 8, 1);
  grid.block(0);
  grid.steps();
  HomeMessage message;
  message.kind = HomeMessage::Kind::release;
  grid.say(0, message);
  // SystemC reports what its process has thrown.
  sc_core::sc_report_handler::set_handler(sc_core::sc_report_handler::default_handler);
  sc_core::sc_report_handler::set_actions(sc_core::SC_ERROR, sc_core::SC_THROW);
  try {
    grid.steps();
    FAIL() << "it was taken";
  } catch (const sc_core::sc_report& report) {
    EXPECT_STREQ(report.get_msg(), "the global scheduler was told of a barrier's release");
  }
}

TEST(GlobalScheduler, ALaunchBeginsAnew) {
  ScheduledGrid grid({}, 24, 1);
  grid.block(0);
  grid.steps();
  grid.take();
  EXPECT_EQ(grid.scheduler.statistics().launches, 1U);
  grid.scheduler.begin_launch(grid.launch, 1, false, 0);
  EXPECT_EQ(grid.scheduler.pool_threads(), 0U);
  grid.block(0);
  grid.steps();
  EXPECT_EQ(grid.take().size(), 6U) << "all places are free again";
  grid.scheduler.launch_stays();
  EXPECT_EQ(grid.scheduler.statistics().launches, 2U);
  EXPECT_EQ(grid.scheduler.statistics().staying_launches, 1U);
}

}  // namespace
}  // namespace heddle::hw
