// The grid dispatcher alone, before cores that do as the test says: which block goes where and in which cycle, how
// launches end, share cores and are stopped, and when the grid's barrier lets go. Two cores of two blocks.
#include "hw/gpu/dispatcher.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heddle::hw {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const sc_core::sc_time kGridCycle(1, sc_core::SC_NS);

// What the dispatcher sees of a core.
class ToldCore final : public sc_core::sc_module,
                       private link::NonBlockingTarget<BlockProtocol>,
                       private link::NonBlockingTarget<LaunchProtocol> {
 public:
  ToldCore(const sc_core::sc_module_name& name, unsigned index, link::Clock clock, std::vector<std::string>& log)
      : sc_core::sc_module(name), blocks("blocks"), launches("launches"), index_(index), clock_(clock), log_(log) {
    blocks.bind(*this);
    launches.bind(*this);
  }
  BlockTargetSocket blocks;
  LaunchTargetSocket launches;
  CoreStatistics statistics{32, 0};
  bool quiet = true;
  std::optional<isa::Fault> fault;
  std::vector<BlockCommand> told;

  void note(const std::string& what) {
    log_.push_back(std::to_string(clock_.now()) + ": core " + std::to_string(index_) + " " + what);
  }
  void say(BlockCommand::Kind kind, unsigned slot = 0, std::uint64_t linear = 0, std::uint32_t pc = 0) {
    BlockCommand command;
    command.kind = kind;
    command.core = index_;
    command.slot = slot;
    command.linear = linear;
    command.pc = pc;
    command.index = {5, 0, 0};
    BlockPhase phase = BlockPhase::command;
    sc_core::sc_time delay;
    EXPECT_EQ(blocks->nb_transport_bw(command, phase, delay), ::tlm::TLM_COMPLETED);
  }

 private:
  ::tlm::tlm_sync_enum nb_transport_fw(LaunchCommand& command, LaunchPhase& phase, sc_core::sc_time&) override {
    EXPECT_EQ(command.core, index_);
    if (phase == LaunchPhase::begins) {
      EXPECT_FALSE(command.global);
      note("begins launch " + std::to_string(command.launch->id) + " in " + std::to_string(command.cycle));
    } else {
      note("ends in " + std::to_string(command.cycle));
    }
    return ::tlm::TLM_COMPLETED;
  }
  ::tlm::tlm_sync_enum nb_transport_fw(BlockCommand& command, BlockPhase&, sc_core::sc_time&) override {
    EXPECT_EQ(command.core, index_);
    told.push_back(command);
    switch (command.kind) {
      case BlockCommand::Kind::start_block:
        note("block " + std::to_string(command.linear) + " slot " + std::to_string(command.slot));
        return ::tlm::TLM_COMPLETED;
      case BlockCommand::Kind::flush:
        note("flush");
        break;
      case BlockCommand::Kind::stop:
        note("stop");
        break;
      case BlockCommand::Kind::leave_grid:
        note("leave grid");
        break;
      default:
        note("?");
    }
    return ::tlm::TLM_ACCEPTED;
  }
  const unsigned index_;
  const link::Clock clock_;
  std::vector<std::string>& log_;
};

// What it sees of an L2 slice.
class ToldSlice final : public sc_core::sc_module, private link::NonBlockingTarget<FlushProtocol> {
 public:
  explicit ToldSlice(const sc_core::sc_module_name& name) : sc_core::sc_module(name), socket("socket") {
    socket.bind(*this);
  }
  FlushTargetSocket socket;
  unsigned flushes = 0;
  unsigned changes = 0;
  void say_flushed() {
    FlushCommand command;
    FlushPhase phase = FlushPhase::flushed;
    sc_core::sc_time delay;
    EXPECT_EQ(socket->nb_transport_bw(command, phase, delay), ::tlm::TLM_COMPLETED);
  }

 private:
  ::tlm::tlm_sync_enum nb_transport_fw(FlushCommand&, FlushPhase& phase, sc_core::sc_time&) override {
    if (phase == FlushPhase::changed) {
      ++changes;
      return ::tlm::TLM_COMPLETED;
    }
    EXPECT_EQ(phase, FlushPhase::flush);
    ++flushes;
    return ::tlm::TLM_ACCEPTED;
  }
};

class ToldCores final : public DispatchedCores {
 public:
  explicit ToldCores(std::vector<std::unique_ptr<ToldCore>>& cores) : cores_(cores) {}
  [[nodiscard]] unsigned count() const override { return static_cast<unsigned>(cores_.size()); }
  [[nodiscard]] BlockTargetSocket& blocks(unsigned core) override { return cores_[core]->blocks; }
  [[nodiscard]] LaunchTargetSocket& launches(unsigned core) override { return cores_[core]->launches; }
  [[nodiscard]] std::uint64_t warp_instructions(unsigned core) const override {
    return cores_[core]->statistics.warp_instructions;
  }
  [[nodiscard]] std::uint64_t thread_instructions(unsigned core) const override {
    return cores_[core]->statistics.thread_instructions;
  }
  [[nodiscard]] bool quiet(unsigned core) const override { return cores_[core]->quiet; }
  [[nodiscard]] const std::optional<isa::Fault>& fault(unsigned core) const override { return cores_[core]->fault; }

 private:
  std::vector<std::unique_ptr<ToldCore>>& cores_;
};

class DispatcherBench final : public sc_core::sc_module {
 public:
  using Kind = BlockCommand::Kind;
  explicit DispatcherBench(unsigned kernels = 1, unsigned l2_slices = 0, bool kept = false)
      : sc_core::sc_module(sc_core::sc_module_name("bench")),
        machine(two_cores(kernels, l2_slices, kept)),
        calendar(kGridCycle),
        cores(make_cores(calendar.clock(), log)),
        dispatcher("dispatcher", machine, calendar.clock(), std::make_unique<ToldCores>(cores)) {
    dispatcher.ended = [this] { log.push_back(std::to_string(calendar.clock().now()) + ": ended"); };
    dispatcher.launch_ended = [this](const Dispatcher::Ended& ended) { launches.push_back(ended); };
    for (unsigned i = 0; i != 2; ++i) {
      launch[i].id = i;
      launch[i].block = {32, 1, 1};
      launch[i].registers = 8;
    }
    for (unsigned i = 0; i != l2_slices; ++i) {
      slices.push_back(std::make_unique<ToldSlice>(("slice" + std::to_string(i)).c_str()));
      dispatcher.l2[i].bind(slices.back()->socket);
    }
    // Half a cycle on: what the test does comes behind all turns of the cycle.
    sc_core::sc_start(sc_core::sc_time(500, sc_core::SC_PS));
  }
  static Machine two_cores(unsigned kernels, unsigned l2_slices, bool kept) {
    Machine out;
    out.l2.enabled = l2_slices != 0;
    out.l2.kept = kept;
    out.dram.channels = std::max(l2_slices, 1U);
    out.gpu.cores = 2;
    out.gpu.kernels = kernels;
    out.gpu.grid_barrier_latency = 10;
    out.core.blocks = 2;
    return out;
  }
  static std::vector<std::unique_ptr<ToldCore>> make_cores(const link::Clock& clock, std::vector<std::string>& log) {
    std::vector<std::unique_ptr<ToldCore>> out;
    for (unsigned i = 0; i != 2; ++i) {
      out.push_back(std::make_unique<ToldCore>(("core" + std::to_string(i)).c_str(), i, clock, log));
    }
    return out;
  }
  // A launch of blocks in one row begins in cycle 0; by cycle 5 all that have room are with the cores.
  void start(std::uint32_t blocks) {
    launch[0].grid = {blocks, 1, 1};
    dispatcher.start(launch[0]);
    steps(5);
    take();
  }
  void steps(unsigned count = 1) { sc_core::sc_start(count * kGridCycle); }
  std::vector<std::string> take() { return std::exchange(log, {}); }

  Machine machine;
  Launch launch[2];
  std::vector<std::string> log;
  link::Calendar calendar;
  std::vector<std::unique_ptr<ToldCore>> cores;
  Dispatcher dispatcher;
  std::vector<std::unique_ptr<ToldSlice>> slices;
  std::vector<Dispatcher::Ended> launches;
};

TEST(Dispatcher, ABlockPerCycleGoesToTheNextCoreInTurnThatHasRoom) {
  DispatcherBench bench;
  bench.launch[0].grid = {3, 2, 1};
  bench.dispatcher.start(bench.launch[0]);
  EXPECT_EQ(bench.dispatcher.status(), LaunchStatus::running);
  EXPECT_THAT(bench.take(), IsEmpty());
  bench.steps(8);
  EXPECT_THAT(bench.take(), ElementsAre("1: core 0 begins launch 0 in 1", "1: core 1 begins launch 0 in 1",
                                        "1: core 0 block 0 slot 0", "2: core 1 block 1 slot 0",
                                        "3: core 0 block 2 slot 1", "4: core 1 block 3 slot 1"));
  EXPECT_EQ(bench.cores[1]->told[1].index, (isa::Dim3{0, 1, 0}));
  // Cycle 8: a block is done; the dispatcher hears of it in 9.
  bench.cores[1]->say(DispatcherBench::Kind::block_done, 1);
  bench.steps();
  EXPECT_THAT(bench.take(), ElementsAre("9: core 1 block 4 slot 1"));
  bench.cores[0]->say(DispatcherBench::Kind::block_done, 1);
  bench.cores[1]->say(DispatcherBench::Kind::block_done, 0);
  bench.steps();
  EXPECT_THAT(bench.take(), ElementsAre("10: core 0 block 5 slot 1")) << "core 0 is next in turn";
  EXPECT_EQ(bench.dispatcher.statistics().blocks, 6U);
  EXPECT_EQ(bench.dispatcher.blocks_finished(), 3U);
}

TEST(Dispatcher, ALaunchsFirstBlockGoesOutAfterItsLatency) {
  DispatcherBench bench(2);
  bench.machine.gpu.launch_latency = 7;
  bench.start(2);
  EXPECT_THAT(bench.take(), IsEmpty());
  bench.launch[1].grid = {1, 1, 1};
  bench.dispatcher.start(bench.launch[1]);  // in cycle 5
  bench.steps(2);
  EXPECT_THAT(bench.take(), IsEmpty()) << "cycle 7";
  bench.steps(2);
  EXPECT_THAT(bench.take(), ElementsAre("8: core 0 block 0 slot 0", "9: core 1 block 1 slot 0"));
}

TEST(Dispatcher, BlocksAreNumberedAlongX) {
  EXPECT_EQ(block_index({3, 2, 2}, 0), (isa::Dim3{0, 0, 0}));
  EXPECT_EQ(block_index({3, 2, 2}, 5), (isa::Dim3{2, 1, 0}));
  EXPECT_EQ(block_index({3, 2, 2}, 7), (isa::Dim3{1, 0, 1}));
}

TEST(Dispatcher, AsManyBlocksFitACoreAsItsScarcestResourceAllows) {
  Machine machine;
  machine.core.threads = 128;
  machine.core.blocks = 8;
  machine.core.registers = 1024;
  machine.scratchpad.bytes = 1000;
  Launch launch;
  const auto fit = [&](std::uint32_t threads, std::uint32_t registers, std::uint32_t shared) {
    launch.block = {threads, 1, 1};
    launch.registers = registers;
    launch.shared_bytes = shared;
    const Residency room = residency(machine, launch);
    return std::to_string(room.blocks) + " " + room.limit + (room.reason.empty() ? "" : ": " + room.reason);
  };
  EXPECT_EQ(fit(32, 0, 0), "4 core.threads");
  EXPECT_EQ(fit(33, 0, 0), "2 core.threads") << "whole warps";
  EXPECT_EQ(fit(32, 8, 0), "4 core.threads");
  EXPECT_EQ(fit(32, 9, 0), "3 core.registers");
  EXPECT_EQ(fit(32, 0, 500), "2 scratchpad.bytes");
  EXPECT_EQ(fit(32, 0, 501), "1 scratchpad.bytes");
  EXPECT_EQ(fit(32, 0, 1001),
            "0 scratchpad.bytes: a block needs 1001 bytes of scratchpad, a core has 1000 "
            "(scratchpad.bytes)");
  EXPECT_EQ(fit(129, 0, 0), "0 core.threads: a block needs 160 threads (whole warps), a core has 128 (core.threads)");
  EXPECT_EQ(fit(32, 33, 0), "0 core.registers: a block needs 1056 registers, a core has 1024 (core.registers)");
  machine.core.blocks = 2;
  EXPECT_EQ(fit(32, 0, 0), "2 core.blocks");
}

TEST(Dispatcher, TheLaunchEndsWhenCoresAndL2HaveWrittenBack) {
  DispatcherBench bench(1, 2);
  const auto flushes = [&] { return bench.slices[0]->flushes + bench.slices[1]->flushes; };
  bench.start(2);
  EXPECT_EQ(bench.slices[0]->changes, 0U) << "an empty L2 need not hear what the host has written";
  bench.cores[0]->say(DispatcherBench::Kind::block_done);
  bench.steps();
  EXPECT_THAT(bench.take(), IsEmpty());
  bench.cores[1]->say(DispatcherBench::Kind::block_done);  // in cycle 6
  bench.steps();
  EXPECT_THAT(bench.take(), ElementsAre("7: core 0 flush", "7: core 1 flush"));
  bench.cores[1]->say(DispatcherBench::Kind::flushed);
  bench.steps(3);
  EXPECT_EQ(flushes(), 0U) << "core 0 has stores yet";
  bench.cores[0]->say(DispatcherBench::Kind::flushed);  // in cycle 10
  bench.steps(3);
  EXPECT_EQ(flushes(), 2U) << "one of each";
  bench.slices[0]->say_flushed();
  bench.steps(2);
  EXPECT_EQ(bench.dispatcher.status(), LaunchStatus::running) << "of two slices one";
  bench.slices[1]->say_flushed();  // in cycle 15
  EXPECT_EQ(bench.dispatcher.status(), LaunchStatus::running);
  bench.steps();
  EXPECT_EQ(bench.dispatcher.status(), LaunchStatus::done);
  EXPECT_THAT(bench.take(), ElementsAre("16: core 0 ends in 16", "16: core 1 ends in 16", "16: ended"));
  EXPECT_EQ(bench.dispatcher.launch_cycles(), 15U) << "from cycle 1 on";
  EXPECT_EQ(bench.dispatcher.total_cycles(), 15U);
  ASSERT_EQ(bench.launches.size(), 1U);
  EXPECT_TRUE(bench.launches[0].complete);
  EXPECT_EQ(bench.launches[0].begin, 1U);
  EXPECT_EQ(bench.launches[0].end, 16U);
}

// Before the first of launches side by side, and no other.
TEST(Dispatcher, AnL2ThatKeepsItsLinesHearsThatTheHostMayHaveWritten) {
  DispatcherBench bench(2, 1, true);
  bench.start(2);
  EXPECT_EQ(bench.slices[0]->changes, 1U);
  bench.launch[1].grid = {1, 1, 1};
  bench.dispatcher.start(bench.launch[1]);
  EXPECT_EQ(bench.slices[0]->changes, 1U);
}

isa::Fault trap_of(const char* detail) {
  isa::Fault fault;
  fault.detail = detail;
  return fault;
}

TEST(Dispatcher, AFaultStopsTheCoresSixteenCyclesAfterItIsHeardOf) {
  DispatcherBench bench;
  bench.start(6);
  bench.cores[1]->fault = trap_of("of core 1");
  bench.cores[0]->fault = trap_of("of core 0");
  bench.cores[1]->say(DispatcherBench::Kind::faulted);
  bench.cores[0]->say(DispatcherBench::Kind::faulted);  // in cycle 5, heard of in 6
  bench.steps(16);
  EXPECT_THAT(bench.take(), IsEmpty()) << "cycle 21";
  bench.steps();
  EXPECT_THAT(bench.take(), ElementsAre("22: core 0 stop", "22: core 1 stop"));
  ASSERT_TRUE(bench.dispatcher.fault().has_value());
  EXPECT_EQ(bench.dispatcher.fault()->detail, "of core 0") << "the first by number";
  bench.cores[0]->say(DispatcherBench::Kind::stopped);
  bench.steps(4);
  EXPECT_EQ(bench.dispatcher.status(), LaunchStatus::running);
  bench.cores[1]->say(DispatcherBench::Kind::stopped);
  bench.steps();
  EXPECT_EQ(bench.dispatcher.status(), LaunchStatus::fault);
  ASSERT_EQ(bench.launches.size(), 1U);
  EXPECT_FALSE(bench.launches[0].complete);
}

TEST(Dispatcher, AFaultBeyondTheCoresStopsThemLikewiseAndTheFirstOneStays) {
  DispatcherBench bench;
  bench.start(1);
  bench.dispatcher.raise(trap_of("beyond"));  // in cycle 5
  bench.steps(2);
  bench.dispatcher.raise(trap_of("later"));
  bench.steps(14);
  EXPECT_THAT(bench.take(), IsEmpty());
  bench.steps();
  EXPECT_THAT(bench.take(), ElementsAre("22: core 0 stop", "22: core 1 stop"));
  EXPECT_EQ(bench.dispatcher.fault()->detail, "beyond");
}

TEST(Dispatcher, StoppedFromOutsideItEndsAtOnce) {
  DispatcherBench bench;
  bench.start(1);
  bench.dispatcher.stop(trap_of("watchdog"));
  EXPECT_EQ(bench.dispatcher.status(), LaunchStatus::fault);
  EXPECT_EQ(bench.dispatcher.fault()->detail, "watchdog");
  EXPECT_THAT(bench.take(), ElementsAre("5: core 0 ends in 6", "5: core 1 ends in 6", "5: ended"));
}

TEST(Dispatcher, ABlockThatFitsNoCoreIsAFaultBeforeAnyBegins) {
  DispatcherBench bench;
  bench.launch[0].shared_bytes = bench.machine.scratchpad.bytes + 1;
  bench.launch[0].grid = {1, 1, 1};
  bench.dispatcher.start(bench.launch[0]);
  bench.steps(2);
  EXPECT_EQ(bench.dispatcher.status(), LaunchStatus::fault);
  EXPECT_EQ(bench.dispatcher.fault()->kind, isa::Fault::Kind::resources);
  EXPECT_EQ(bench.dispatcher.fault()->detail, "a block needs " + std::to_string(bench.machine.scratchpad.bytes + 1) +
                                                  " bytes of scratchpad, a core has " +
                                                  std::to_string(bench.machine.scratchpad.bytes) +
                                                  " (scratchpad.bytes)");
}

TEST(Dispatcher, ACooperativeLaunchMustBeResidentAtOnce) {
  DispatcherBench bench;
  bench.launch[0].cooperative = true;
  bench.launch[0].grid = {5, 1, 1};
  bench.dispatcher.start(bench.launch[0]);
  bench.steps(2);
  EXPECT_EQ(bench.dispatcher.status(), LaunchStatus::fault);
  EXPECT_EQ(bench.dispatcher.fault()->detail,
            "the 5 blocks of a cooperative launch must be resident at once; there is room for 4: 2 on each of 2 cores "
            "(core.blocks)");
}

TEST(Dispatcher, TheGridsBarrierTakesItsLatencyEitherWay) {
  DispatcherBench bench;
  bench.launch[0].cooperative = true;
  bench.start(2);
  bench.cores[0]->say(DispatcherBench::Kind::at_grid);
  bench.steps(15);
  EXPECT_FALSE(bench.dispatcher.releases_grid());
  bench.cores[1]->say(DispatcherBench::Kind::at_grid, 0, 1);  // in cycle 20: there in 30, back at the cores in 40
  bench.steps(18);
  EXPECT_TRUE(bench.dispatcher.releases_grid());
  EXPECT_THAT(bench.take(), IsEmpty()) << "cycle 38";
  bench.steps();
  EXPECT_THAT(bench.take(), ElementsAre("39: core 0 leave grid", "39: core 1 leave grid")) << "seen in the next cycle";
  EXPECT_FALSE(bench.dispatcher.releases_grid());
  EXPECT_EQ(bench.dispatcher.statistics().grid_barriers, 1U);
  EXPECT_EQ(bench.dispatcher.statistics().grid_barrier_messages, 4U);
  EXPECT_EQ(bench.dispatcher.statistics().grid_barrier_imbalance, 15U);
}

TEST(Dispatcher, AGridsBarrierThatABlockHasPassedByIsAFault) {
  DispatcherBench bench;
  bench.launch[0].cooperative = true;
  bench.start(3);
  bench.cores[0]->say(DispatcherBench::Kind::at_grid, 1, 2, 17);
  bench.cores[0]->say(DispatcherBench::Kind::block_done, 0);
  bench.steps(3);
  EXPECT_FALSE(bench.dispatcher.fault().has_value()) << "block 1 may come yet, or end";
  bench.cores[1]->say(DispatcherBench::Kind::block_done, 0);
  bench.steps();
  ASSERT_TRUE(bench.dispatcher.fault().has_value());
  EXPECT_EQ(bench.dispatcher.fault()->kind, isa::Fault::Kind::barrier_mismatch);
  EXPECT_EQ(bench.dispatcher.fault()->detail,
            "the grid's barrier can never complete: 1 block waits at it, 2 blocks have ended without coming to it");
  EXPECT_EQ(bench.dispatcher.fault()->pc, 17U);
  EXPECT_EQ(bench.dispatcher.fault()->block, (isa::Dim3{2, 0, 0}));
  EXPECT_EQ(bench.dispatcher.fault()->thread, (isa::Dim3{5, 0, 0}));
}

TEST(Dispatcher, ALaterLaunchGetsTheCoresThatTheFirstLeaves) {
  DispatcherBench bench(2);
  EXPECT_FALSE(bench.dispatcher.may_join()) << "none runs";
  bench.start(1);
  EXPECT_TRUE(bench.dispatcher.may_join());
  bench.launch[1].grid = {1, 1, 1};
  bench.dispatcher.start(bench.launch[1]);  // in cycle 5
  EXPECT_FALSE(bench.dispatcher.may_join()) << "two at once, and no more";
  bench.steps();
  EXPECT_THAT(bench.take(), ElementsAre("6: core 1 flush"));
  bench.cores[1]->quiet = false;
  bench.cores[1]->statistics.warp_instructions = 0;
  bench.cores[1]->say(DispatcherBench::Kind::flushed);  // in cycle 6
  bench.steps(4);
  EXPECT_THAT(bench.take(), IsEmpty()) << "what it has asked for has not all come";
  bench.cores[1]->quiet = true;
  bench.steps();
  EXPECT_THAT(bench.take(), ElementsAre("11: core 1 ends in 11", "11: core 1 begins launch 1 in 11"));
  bench.steps();
  EXPECT_THAT(bench.take(), ElementsAre("12: core 1 block 0 slot 0"));
  // The later one ends first, when its core has written back.
  bench.cores[1]->statistics.warp_instructions = 40;
  bench.cores[1]->say(DispatcherBench::Kind::block_done);
  bench.steps();
  EXPECT_THAT(bench.take(), ElementsAre("13: core 1 flush"));
  EXPECT_THAT(bench.launches, IsEmpty());
  bench.cores[1]->say(DispatcherBench::Kind::flushed);
  bench.steps();
  ASSERT_EQ(bench.launches.size(), 1U);
  EXPECT_EQ(bench.launches[0].launch, &bench.launch[1]);
  EXPECT_EQ(bench.launches[0].begin, 12U) << "from its first block";
  EXPECT_EQ(bench.launches[0].end, 14U);
  EXPECT_EQ(bench.launches[0].warp_instructions, 40U);
  EXPECT_EQ(bench.dispatcher.status(), LaunchStatus::running);
}

}  // namespace
}  // namespace heddle::hw
