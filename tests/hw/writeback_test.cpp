// The write-back stage and the warp unit: results into the real register file, retirement, and what happens to the
// group then, with the re-convergence stack and strict issue.
#include "hw/core/execute/writeback.hpp"

#include <gtest/gtest.h>

#include "hw/divergence/stack.hpp"
#include "tests/hw/stage_stubs.hpp"

namespace heddle::hw::test {
namespace {

using isa::Op;
using link::SubWarp;

constexpr LaneMask kAll = ~LaneMask{0};

// Stands at the register file's read port.
class StubReader : public sc_core::sc_module, private link::ForwardOnlyInitiator<RegisterProtocol> {
 public:
  explicit StubReader(const sc_core::sc_module_name& name) : sc_core::sc_module(name), socket("socket") {
    socket.bind(*this);
  }
  RegisterInitiatorSocket socket;
};

// Two full warps of one block.
struct WriteBackBench {
  static constexpr unsigned kRegisters = 16;
  static constexpr unsigned kSlot = 3;

  explicit WriteBackBench(const Machine& with = {}) : machine(with) {
    launch.registers = kRegisters;
    launch.block = {2 * machine.core.warp_size, 1, 1};
    state.launch = &launch;
    memory.out.socket.bind(stage.in);
    returning.out.socket.bind(stage.returns.in);
    stage.registers.bind(registers.write_port);
    reader.socket.bind(registers.read_port);
    warps.block_finished = [this](unsigned slot) { finished.push_back(slot); };
    registers.configure(kRegisters);
    for (unsigned row = 0; row < state.rows.size(); ++row) {
      for (unsigned reg = 0; reg < kRegisters; ++reg) {
        for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
          registers.array().word(row, reg)[lane] = untouched(row, reg, lane);
        }
      }
    }
    BlockHome& block = state.homes[kSlot];
    block.begin(launch, machine.core, {}, 0, 0);
    state.blocks[kSlot].used = true;
    state.blocks[kSlot].threads = block.live_threads;
    for (unsigned row = 0; row < block.threads.size(); ++row) {
      state.rows[row].hold(block.threads[row]);
    }
    for (GroupId id = 0; id < 2; ++id) {
      Group& group = state.groups[id];
      group.block_slot = kSlot;
      group.first_row = static_cast<std::uint16_t>(id * state.rows_per_warp);
      group.active.assign(state.rows_per_warp, kAll);
      warps.divergence().start(group);
    }
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
  static std::uint32_t untouched(unsigned row, unsigned reg, unsigned lane) {
    return row * 100'000 + reg * 1000 + lane + 1;
  }

  // The group's next instruction, of which `formed` sub-warps are under way.
  template <class Emit>
  const link::DecodedInstruction& fly(GroupId id, unsigned formed, Emit emit) {
    instructions.push_back(decoded(emit));
    Group& group = state.groups[id];
    state.groups.set_state(group, GroupState::in_flight);
    group.next_flight();
    group.flight() = {formed, 0, 0, true, false};
    group.decoded = instructions.back().get();
    return *instructions.back();
  }
  // The sub-warp of one of its rows.
  SubWarp& part(GroupId id, const link::DecodedInstruction& instruction, unsigned row = 0, LaneMask executing = kAll) {
    SubWarp& out = state.pool.take();
    out.group = id;
    out.flight = static_cast<std::uint8_t>(state.groups[id].latest);
    out.pc = state.groups[id].pc;
    out.decoded = &instruction;
    out.uniform = true;
    out.lanes = state.groups[id].active[row];
    out.executing = out.lanes & executing;
    out.first_row = static_cast<std::uint16_t>(state.groups[id].first_row + row);
    out.values = {};
    return out;
  }
  template <class Emit>
  SubWarp& one(GroupId id, Emit emit, LaneMask executing = kAll) {
    return part(id, fly(id, 1, emit), 0, executing);
  }
  [[nodiscard]] static bool offer(StubSender& to, CoreState& state, SubWarp& sub_warp, Cycle now) {
    state.now = now;
    return to.out.offer(sub_warp);
  }
  // Memory hands it over in this cycle; write-back sees it in the next.
  void hand_over(SubWarp& sub_warp, Cycle now) { ASSERT_TRUE(offer(memory, state, sub_warp, now)); }
  void hand_back(SubWarp& sub_warp, Cycle now) { ASSERT_TRUE(offer(returning, state, sub_warp, now)); }
  void tick(Cycle now) {
    state.now = now;
    stage.tick(now);
  }
  // Hands over in cycle `now` - 1 and retires in `now`.
  void retire(SubWarp& sub_warp, Cycle now) {
    hand_over(sub_warp, now - 1);
    tick(now);
  }
  // The groups that were decided to go on, each with the cycle of the decision; forgets them.
  std::vector<std::pair<Cycle, GroupId>> woken() {
    std::vector<std::pair<Cycle, GroupId>> out;
    state.wake_ups.take(link::kNever, [&](GroupId group, Cycle decided) {
      EXPECT_NE(state.groups[group].state, GroupState::ready) << "ready in the next cycle only";
      out.emplace_back(decided, group);
    });
    return out;
  }
  [[nodiscard]] std::span<const StackDivergence::Entry> stack(GroupId id) {
    return dynamic_cast<StackDivergence&>(warps.divergence()).stack(id);
  }
  void expect_untouched(unsigned row, unsigned reg) {
    for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
      ASSERT_EQ(registers.array().word(row, reg)[lane], untouched(row, reg, lane)) << row << ' ' << reg << ' ' << lane;
    }
  }
  void expect_all_untouched() {
    for (unsigned row = 0; row < state.rows.size(); ++row) {
      for (unsigned reg = 0; reg < kRegisters; ++reg) {
        expect_untouched(row, reg);
      }
      for (unsigned reg = 0; reg < isa::kPredicates; ++reg) {
        ASSERT_EQ(registers.array().predicate(row, reg), 0U);
      }
    }
  }

  Machine machine;
  Launch launch;
  CoreState state{machine, 0, nullptr};
  std::vector<std::unique_ptr<link::DecodedInstruction>> instructions;
  std::vector<unsigned> finished;
  StubSender memory{"memory"};
  StubSender returning{"returning"};
  StubReader reader{"reader"};
  RegisterFile registers{"registers", machine.core.simd_width, static_cast<unsigned>(state.rows.size())};
  WarpUnit warps{state, registers.array(), Registry<Divergence>::instance().make("stack", {state.groups, machine.core}),
                 Registry<IssueDiscipline>::instance().make("strict", {machine.core})};
  WriteBackStage stage{"stage", state, warps};
};

using WokenList = std::vector<std::pair<Cycle, GroupId>>;

void add_r5(Code& code) {
  code.rrr(Op::ADD, 5, 2, 3);
}
void nop(Code& code) {
  code.plain(Op::NOP);
}
void sync_all(Code& code) {
  code.barrier(Op::BAR_SYNC, 1);
}
void leave(Code& code) {
  code.exit();
}

// A load that comes back in the cycle of a sub-warp of the pipeline, which writes r5; registers are in two banks.
struct MetResults {
  unsigned ports, dst, words;  // registers.write_ports; of the load
  LaneMask executing;          // of the pipeline's
  Cycle waits;
};
class WritePorts : public ::testing::TestWithParam<MetResults> {};

TEST_P(WritePorts, AResultFromMemoryGivesWayToThePipelines) {
  Machine machine;
  machine.registers.banks = 2;
  machine.registers.write_ports = GetParam().ports;
  WriteBackBench bench(machine);
  bench.hand_over(bench.one(0, add_r5, GetParam().executing), 4);
  const auto load = [](Code& code) {
    code.load(Op::LD_GLOBAL, GetParam().dst, 2, 0, isa::Width::b32, GetParam().words);
  };
  bench.hand_back(bench.one(1, load), 4);
  for (const auto& instruction : bench.instructions) {
    instruction->use = isa::register_use(instruction->instruction);
  }
  bench.tick(5);
  EXPECT_EQ(bench.state.statistics.warp_instructions, 2U - GetParam().waits);
  EXPECT_EQ(bench.stage.stuck(5), GetParam().waits == 0) << "the next cycle is another one";
  bench.tick(6);
  EXPECT_EQ(bench.state.statistics.warp_instructions, 2U);
  EXPECT_EQ(bench.state.statistics.bank_write_stalls, GetParam().waits);
}
INSTANTIATE_TEST_SUITE_P(Results, WritePorts,
                         ::testing::Values(MetResults{1, 7, 1, kAll, 1}, MetResults{1, 6, 1, kAll, 0},
                                           MetResults{1, 6, 2, kAll, 1}, MetResults{2, 7, 1, kAll, 0},
                                           MetResults{0, 7, 1, kAll, 0}, MetResults{1, 7, 1, 0, 0}));

TEST(WriteBack, WritesExecutingLanesOnlyAndReleasesTheGroupForTheNextCycle) {
  WriteBackBench bench;
  SubWarp& add = bench.one(1, add_r5, 0x8000'00f1);
  for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
    add.values.result[0][lane] = 7000 + lane;
  }
  bench.state.groups[1].pc = 9;
  bench.hand_over(add, 4);
  bench.tick(4);
  bench.expect_untouched(1, 5);
  EXPECT_EQ(bench.state.groups[1].pc, 9U);
  EXPECT_TRUE(bench.woken().empty());
  EXPECT_FALSE(bench.stage.idle());
  bench.tick(5);
  for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
    const bool executing = ((0x8000'00f1U >> lane) & 1U) != 0;
    EXPECT_EQ(bench.registers.array().word(1, 5)[lane],
              executing ? 7000 + lane : WriteBackBench::untouched(1, 5, lane));
  }
  bench.expect_untouched(0, 5);
  bench.expect_untouched(1, 4);
  bench.expect_untouched(1, 6);
  EXPECT_EQ(bench.state.groups[1].state, GroupState::in_flight);
  EXPECT_EQ(bench.state.groups[1].pc, 10U);
  EXPECT_EQ(bench.woken(), (WokenList{{5, 1}}));
  EXPECT_EQ(bench.state.pool.in_use(), 0U);
  EXPECT_EQ(bench.state.statistics.warp_instructions, 1U);
  EXPECT_EQ(bench.state.statistics.thread_instructions, 6U);
  EXPECT_EQ(bench.state.last_retirement, 5U);
  EXPECT_TRUE(bench.stage.idle());
}

TEST(WriteBack, PredicatesBlendToo) {
  WriteBackBench bench;
  bench.registers.array().predicate(0, 2) = 0xffff'0000;
  SubWarp& setp = bench.one(
      0, [](Code& code) { code.setp(2, isa::Comparison::lt, 1, 4); }, 0x00ff'ff00);
  setp.values.p = 0x0ff0'0ff0;
  setp.values.q = kAll;  // to PT
  bench.retire(setp, 1);
  EXPECT_EQ(bench.registers.array().predicate(0, 2), 0xfff0'0f00U);
  for (const unsigned other : {0U, 1U, 3U, 4U, 5U, 6U}) {
    EXPECT_EQ(bench.registers.array().predicate(0, other), 0U);
  }
}

TEST(WriteBack, WritesToRZAndPTVanish) {
  WriteBackBench bench;
  SubWarp& add = bench.one(0, [](Code& code) { code.rrr(Op::ADD, isa::kRZ, 2, 3); });
  add.values.result[0].fill(0xdead);
  bench.retire(add, 1);
  SubWarp& wide = bench.one(0, [](Code& code) { code.rrr(Op::ADD64, isa::kRZ, 2, 4); });
  wide.values.result[0].fill(0xdead);
  wide.values.result[1].fill(0xdead);
  bench.retire(wide, 2);
  SubWarp& setp = bench.one(0, [](Code& code) { code.setp(isa::kPT, isa::Comparison::lt, 1, 4); });
  setp.values.p = setp.values.q = kAll;
  bench.retire(setp, 3);
  bench.expect_all_untouched();
  EXPECT_EQ(bench.woken(), (WokenList{{1, 0}, {2, 0}, {3, 0}}));
}

TEST(WriteBack, LanesOfSeveralRowsGoToTheirOwn) {
  WriteBackBench bench;
  SubWarp& add = bench.one(0, add_r5, 0x7fff'ffff);
  add.uniform = false;
  for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
    add.row[lane] = static_cast<std::uint16_t>(lane % 3);
    add.values.result[0][lane] = 7000 + lane;
  }
  bench.retire(add, 1);
  for (unsigned row = 0; row < 4; ++row) {
    for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
      EXPECT_EQ(bench.registers.array().word(row, 5)[lane],
                lane % 3 == row && lane != 31 ? 7000 + lane : WriteBackBench::untouched(row, 5, lane));
    }
  }
}

TEST(WriteBack, BothPortsRetireInOneCycle) {
  WriteBackBench bench;
  SubWarp& add = bench.one(0, add_r5);
  SubWarp& load = bench.one(1, [](Code& code) { code.load(Op::LD_GLOBAL, 6, 2); });
  load.values.result[0].fill(77);
  bench.hand_over(add, 3);
  bench.hand_back(load, 3);
  SubWarp& more = bench.part(0, *add.decoded);
  EXPECT_FALSE(WriteBackBench::offer(bench.memory, bench.state, more, 3));
  EXPECT_FALSE(WriteBackBench::offer(bench.returning, bench.state, more, 3)) << "one place each";
  bench.tick(3);
  EXPECT_EQ(bench.state.statistics.warp_instructions, 0U);
  bench.tick(4);
  EXPECT_EQ(bench.state.statistics.warp_instructions, 2U);
  EXPECT_EQ(bench.registers.array().word(1, 6)[31], 77U);
  EXPECT_EQ(bench.woken(), (WokenList{{4, 1}, {4, 0}})) << "returns first";
}

TEST(WriteBack, AGroupGoesOnWhenItsLastSubWarpHasCompleted) {
  Machine machine;
  machine.core.warp_size = 64;
  WriteBackBench bench(machine);
  Group& group = bench.state.groups[0];
  const link::DecodedInstruction& add = bench.fly(0, 2, add_r5);
  bench.retire(bench.part(0, add, 1), 1);
  EXPECT_TRUE(bench.woken().empty());
  EXPECT_EQ(group.pc, 0U);
  EXPECT_EQ(bench.registers.array().word(1, 5)[0], 0U) << "its result is there";
  bench.expect_untouched(0, 5);
  bench.hand_back(bench.part(0, add, 0), 7);
  bench.tick(8);
  EXPECT_EQ(bench.woken(), (WokenList{{8, 0}}));
  EXPECT_EQ(group.pc, 1U);
  // Not before the former has handed on the last sub-warp.
  const link::DecodedInstruction& again = bench.fly(0, 1, add_r5);
  group.flight().all_formed = false;
  bench.retire(bench.part(0, again, 0), 9);
  EXPECT_TRUE(bench.woken().empty());
}

// ---- branches

TEST(WriteBack, ABranchDivergesOverTheStackAndMeetsAgain) {
  WriteBackBench bench;
  Group& group = bench.state.groups[0];
  group.pc = 4;
  const auto branch = [](Code& code) { code.when(0).bra(20, 30); };
  bench.hand_over(bench.one(0, branch, 0x0000'ffff), 0);
  bench.tick(0);
  EXPECT_EQ(group.pc, 4U);
  bench.tick(1);
  EXPECT_EQ(group.pc, 5U) << "the fall-through path first";
  EXPECT_EQ(group.active[0], 0xffff'0000U);
  ASSERT_EQ(bench.stack(0).size(), 2U);
  EXPECT_EQ(bench.stack(0)[1].execute_pc, 20U);
  EXPECT_EQ(bench.stack(0)[1].active[0], 0x0000'ffffU);
  EXPECT_EQ(bench.woken(), (WokenList{{1, 0}}));
  EXPECT_EQ(bench.state.statistics.divergent_branches, 1U);
  EXPECT_EQ(bench.state.statistics.thread_instructions, 32U) << "all evaluate the condition";
  EXPECT_EQ(group.taken[0], 0U) << "of this branch only";
  group.pc = 29;
  bench.retire(bench.one(0, nop), 2);
  EXPECT_EQ(group.pc, 20U);
  EXPECT_EQ(group.active[0], 0x0000'ffffU);
  group.pc = 29;
  bench.retire(bench.one(0, nop), 3);
  EXPECT_EQ(group.pc, 30U);
  EXPECT_EQ(group.active[0], kAll);
  // All one way.
  bench.retire(bench.one(0, branch, 0), 4);
  EXPECT_EQ(group.pc, 31U);
  bench.retire(bench.one(0, branch), 5);
  EXPECT_EQ(group.pc, 20U);
  EXPECT_EQ(group.active[0], kAll);
  EXPECT_TRUE(bench.stack(0).empty());
  EXPECT_EQ(bench.state.statistics.branches, 3U);
  EXPECT_EQ(bench.state.statistics.divergent_branches, 1U);
}

TEST(WriteBack, ABranchOfTwoSubWarpsIsDecidedOnce) {
  Machine machine;
  machine.core.warp_size = 64;
  WriteBackBench bench(machine);
  Group& group = bench.state.groups[1];
  const link::DecodedInstruction& branch = bench.fly(1, 2, [](Code& code) { code.when(0).bra(20, 30); });
  bench.retire(bench.part(1, branch, 1, 0), 1);
  EXPECT_EQ(group.pc, 0U);
  EXPECT_EQ(bench.state.statistics.branches, 0U);
  bench.retire(bench.part(1, branch, 0, kAll), 2);
  EXPECT_EQ(group.pc, 1U);
  EXPECT_EQ(group.active, (std::vector<LaneMask>{0, kAll})) << "each row is uniform, the warp is not";
  EXPECT_EQ(bench.state.statistics.branches, 1U);
  EXPECT_EQ(bench.state.statistics.divergent_branches, 1U);
}

// ---- barriers

TEST(WriteBack, ABarrierHoldsWarpsUntilTheLastHasArrived) {
  WriteBackBench bench;
  SubWarp& first = bench.one(0, sync_all);
  SubWarp& second = bench.one(1, sync_all);
  bench.retire(first, 1);
  EXPECT_EQ(bench.state.groups[0].state, GroupState::barrier);
  EXPECT_TRUE(bench.woken().empty());
  EXPECT_EQ(bench.state.pool.in_use(), 2U) << "kept until the release";
  bench.hand_over(second, 8);
  bench.tick(8);
  EXPECT_TRUE(bench.woken().empty());
  EXPECT_TRUE(BarrierUnit::stuck(std::array{bench.warps.waiters()}));
  bench.tick(9);
  EXPECT_EQ(bench.woken(), (WokenList{{9, 0}, {9, 1}}));
  EXPECT_EQ(bench.state.groups[0].pc, 1U);
  EXPECT_EQ(bench.state.groups[1].pc, 1U);
  EXPECT_EQ(bench.state.statistics.barriers, 1U);
  EXPECT_EQ(bench.state.pool.in_use(), 0U);
  EXPECT_FALSE(BarrierUnit::stuck(std::array{bench.warps.waiters()}));
}

TEST(WriteBack, AReductionIsWrittenAtTheRelease) {
  WriteBackBench bench;
  const auto reduce = [](Code& code) { code.barrier(Op::BAR_RED_POPC, 1, 0, 5, {2, false}); };
  SubWarp& first = bench.one(0, reduce, 0x0fff'ffff);
  first.values.predicate_a = 0xf000'00ff;  // four of them do not execute
  SubWarp& second = bench.one(1, reduce);
  second.values.predicate_a = 1;
  bench.retire(first, 1);
  bench.expect_all_untouched();
  bench.state.block(WriteBackBench::kSlot).live_threads = 60;  // four threads have exited
  bench.retire(second, 2);
  for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
    EXPECT_EQ(bench.registers.array().word(0, 5)[lane], lane < 28 ? 9 : WriteBackBench::untouched(0, 5, lane));
    EXPECT_EQ(bench.registers.array().word(1, 5)[lane], 9U);
  }
  EXPECT_EQ(bench.woken(), (WokenList{{2, 0}, {2, 1}}));
}

TEST(WriteBack, ArrivingDoesNotWait) {
  WriteBackBench bench;
  SubWarp& arrive = bench.one(0, [](Code& code) { code.barrier(Op::BAR_ARRIVE, 1, 64); });
  arrive.values.b[0].fill(64);
  SubWarp& sync = bench.one(1, [](Code& code) { code.barrier(Op::BAR_SYNC, 1, 64); });
  sync.values.b[0].fill(64);
  bench.retire(arrive, 1);
  EXPECT_EQ(bench.woken(), (WokenList{{1, 0}}));
  EXPECT_EQ(bench.state.groups[0].state, GroupState::in_flight);
  EXPECT_EQ(bench.state.statistics.barriers, 0U);
  bench.retire(sync, 2);
  EXPECT_EQ(bench.woken(), (WokenList{{2, 1}}));
  EXPECT_EQ(bench.state.statistics.barriers, 1U);
}

TEST(WriteBack, ABarrierThatNoThreadExecutesHoldsNobody) {
  WriteBackBench bench;
  bench.retire(bench.one(
                   0, [](Code& code) { code.when(1).barrier(Op::BAR_SYNC, 1); }, 0),
               1);
  EXPECT_EQ(bench.woken(), (WokenList{{1, 0}}));
  EXPECT_FALSE(BarrierUnit::stuck(std::array{bench.warps.waiters()}));
}

TEST(WriteBack, DifferentBarriersInOneWarpAreAFault) {
  WriteBackBench bench;
  SubWarp& sync = bench.one(0, sync_all);
  sync.values.a[0][7] = 2;
  bench.retire(sync, 1);
  ASSERT_TRUE(bench.state.fault);
  EXPECT_EQ(bench.state.fault->kind, isa::Fault::Kind::barrier_mismatch);
  EXPECT_TRUE(bench.woken().empty());
  // Nothing retires behind a fault.
  bench.retire(bench.one(1, add_r5), 2);
  bench.expect_all_untouched();
  EXPECT_TRUE(bench.woken().empty());
}

// ---- exits

TEST(WriteBack, AnExitFreesTheGroupAndTheLastOneFinishesTheBlock) {
  WriteBackBench bench;
  Group& group = bench.state.groups[0];
  const BlockHome& block = bench.state.block(WriteBackBench::kSlot);
  const auto some = [](Code& code) { code.when(1).exit(); };
  bench.retire(bench.one(0, some, 0x0000'00ff), 1);
  EXPECT_EQ(group.active[0], 0xffff'ff00U);
  EXPECT_EQ(block.live_threads, 56U);
  EXPECT_EQ(bench.woken(), (WokenList{{1, 0}}));
  bench.retire(bench.one(0, leave), 2);
  EXPECT_EQ(group.state, GroupState::free);
  EXPECT_EQ(block.live_threads, 32U);
  EXPECT_TRUE(bench.woken().empty());
  EXPECT_TRUE(bench.finished.empty());
  bench.hand_over(bench.one(1, leave), 5);
  bench.tick(5);
  EXPECT_TRUE(bench.finished.empty());
  bench.tick(6);
  EXPECT_EQ(bench.finished, std::vector<unsigned>{WriteBackBench::kSlot});
  EXPECT_EQ(bench.state.groups.count(GroupState::free), bench.state.groups.size());
  bench.tick(7);
  EXPECT_EQ(bench.finished.size(), 1U) << "told once";
  EXPECT_EQ(bench.state.statistics.blocks, 1U);
  EXPECT_TRUE(bench.woken().empty());
}

TEST(WriteBack, AnExitCanCompleteABarrier) {
  WriteBackBench bench;
  bench.retire(bench.one(0, sync_all), 1);
  bench.retire(bench.one(
                   1, [](Code& code) { code.when(1).exit(); }, 0x7fff'ffff),
               2);
  EXPECT_EQ(bench.woken(), (WokenList{{2, 1}})) << "a thread is missing";
  bench.retire(bench.one(1, leave), 3);
  EXPECT_EQ(bench.woken(), (WokenList{{3, 0}}));
  EXPECT_EQ(bench.state.groups[1].state, GroupState::free);
  EXPECT_TRUE(bench.finished.empty());
  EXPECT_EQ(bench.state.statistics.barriers, 1U);
}

}  // namespace
}  // namespace heddle::hw::test
