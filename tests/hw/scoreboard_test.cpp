// Early next PC with a scoreboard (hw/issue/scoreboard.cpp): the rules alone, cycle by cycle; and what one warp does
// with a pipeline of its own.
#include <gtest/gtest.h>

#include "hw/issue/scoreboard.hpp"
#include "tests/hw/gpu_bench.hpp"
#include "tests/hw/stage_stubs.hpp"

namespace heddle::test {
namespace {

// ---- the rules

class ScoreboardRules : public ::testing::Test {
 protected:
  explicit ScoreboardRules(bool forwarding = true, const char* stall = "on-access") {
    core_.policies.of<hw::ScoreboardParameters>().forwarding = forwarding;
    core_.policies.of<hw::ScoreboardParameters>().stall = stall;
    rules_ = Registry<hw::IssueDiscipline>::instance().make("scoreboard", {core_});
    rules_->begin(group_);
  }
  // The instruction's only sub-warp, in this record of the group's.
  template <class Emit>
  link::SubWarp& next(std::uint8_t flight, Emit emit) {
    decoded_.push_back(hw::test::decoded(emit));
    decoded_.back()->use = isa::register_use(decoded_.back()->instruction);
    decoded_.back()->issue = rules_->rules(*decoded_.back());
    link::SubWarp& out = pool_.take();
    out.decoded = decoded_.back().get();
    out.flight = flight;
    return out;
  }
  hw::CoreParameters core_;
  hw::Group group_;
  std::unique_ptr<hw::IssueDiscipline> rules_;
  std::vector<std::unique_ptr<link::DecodedInstruction>> decoded_;
  link::SubWarpPool pool_;
};
class WithoutBypasses : public ScoreboardRules {
 protected:
  WithoutBypasses() : ScoreboardRules(false) {}
};

TEST_F(ScoreboardRules, AResultCanBeReadInTheLastCycleOfItsOperation) {
  const link::SubWarp& producer = next(0, [](Code& code) { code.rri(Op::ADD, 1, 2, 1); });
  const link::SubWarp& consumer = next(1, [](Code& code) { code.rri(Op::ADD, 3, 1, 1); });
  ASSERT_TRUE(rules_->read(producer, 10));
  EXPECT_FALSE(rules_->read(consumer, 10)) << "not even computed";
  EXPECT_TRUE(rules_->computed(producer, 15));
  EXPECT_FALSE(rules_->read(consumer, 14));
  EXPECT_TRUE(rules_->read(consumer, 15));
}

TEST_F(WithoutBypasses, AResultCanBeReadWhenItIsWritten) {
  const link::SubWarp& producer = next(0, [](Code& code) { code.rri(Op::ADD, 1, 2, 1); });
  const link::SubWarp& consumer = next(1, [](Code& code) { code.rri(Op::ADD, 3, 1, 1); });
  ASSERT_TRUE(rules_->read(producer, 10));
  EXPECT_FALSE(rules_->computed(producer, 11));
  EXPECT_FALSE(rules_->read(consumer, 20));
  rules_->completed(group_, 0);
  EXPECT_TRUE(rules_->read(consumer, 20));
}

TEST_F(ScoreboardRules, AWriteWaitsForAnEarlierOneAndNotForAnEarlierRead) {
  ASSERT_TRUE(rules_->read(next(0, [](Code& code) { code.rri(Op::ADD, 1, 2, 1); }), 0));
  EXPECT_FALSE(rules_->read(next(1, [](Code& code) { code.mov(1, 7); }), 1)) << "write after write";
  EXPECT_TRUE(rules_->read(next(1, [](Code& code) { code.mov(2, 7); }), 1)) << "write after read";
}

TEST_F(ScoreboardRules, PredicatesAreFollowedAsRegistersAre) {
  ASSERT_TRUE(rules_->read(next(0, [](Code& code) { code.setp(3, isa::Comparison::ne, 1, 0); }), 0));
  EXPECT_FALSE(rules_->read(next(1, [](Code& code) { code.when(3).rri(Op::ADD, 5, 6, 1); }), 1));
  EXPECT_FALSE(rules_->read(next(1, [](Code& code) { code.setp(3, isa::Comparison::eq, 1, 0); }), 1));
  EXPECT_TRUE(rules_->read(next(1, [](Code& code) { code.when(2).rri(Op::ADD, 5, 6, 1); }), 1));
}

TEST_F(ScoreboardRules, AnInstructionIsThereWhenAllItsSubWarpsAre) {
  const link::SubWarp& first = next(0, [](Code& code) { code.rri(Op::ADD, 1, 2, 1); });
  const link::SubWarp& second = next(0, [](Code& code) { code.rri(Op::ADD, 1, 2, 1); });
  const link::SubWarp& consumer = next(1, [](Code& code) { code.rri(Op::ADD, 3, 1, 1); });
  ASSERT_TRUE(rules_->read(first, 0));
  ASSERT_TRUE(rules_->read(second, 1)) << "of the same instruction: it does not wait for itself";
  EXPECT_TRUE(rules_->computed(first, 1));
  EXPECT_FALSE(rules_->read(consumer, 5));
  EXPECT_TRUE(rules_->computed(second, 6));
  EXPECT_FALSE(rules_->read(consumer, 5));
  EXPECT_TRUE(rules_->read(consumer, 6));
}

TEST_F(ScoreboardRules, ALoadIsThereWhenItHasBeenWritten) {
  const link::SubWarp& load = next(0, [](Code& code) { code.load(Op::LD_SHARED, 1, 2); });
  ASSERT_TRUE(rules_->read(load, 0));
  EXPECT_FALSE(rules_->computed(load, 1));
  EXPECT_FALSE(rules_->read(next(1, [](Code& code) { code.rri(Op::ADD, 3, 1, 1); }), 9));
}

TEST_F(ScoreboardRules, TheNextPcIsKnownButForBranchesAndWhatLeavesTheOrder) {
  const auto early = [this](auto emit) { return next(0, emit).decoded->issue.early; };
  EXPECT_TRUE(early([](Code& code) { code.rri(Op::ADD, 1, 2, 1); }));
  EXPECT_TRUE(early([](Code& code) { code.bra(5); }));
  EXPECT_FALSE(early([](Code& code) { code.when(1).bra(5); }));
  EXPECT_FALSE(early([](Code& code) { code.exit(); }));
  EXPECT_FALSE(early([](Code& code) { code.plain(Op::TRAP); }));
  EXPECT_FALSE(early([](Code& code) { code.barrier(Op::BAR_SYNC, isa::kRZ); }));
  EXPECT_FALSE(early([](Code& code) { code.load(Op::LD_GLOBAL, 1, 2); })) << "the core switches at the D-cache";
  EXPECT_FALSE(early([](Code& code) { code.load(Op::LD_LOCAL, 1, 2); }));
  EXPECT_FALSE(early([](Code& code) { code.plain(Op::MEMBAR); }));
  EXPECT_TRUE(early([](Code& code) { code.load(Op::LD_SHARED, 1, 2); }));
  EXPECT_TRUE(early([](Code& code) { code.param(1, 0); }));
  EXPECT_FALSE(early([](Code& code) { code.rrr(Op::DIV_U, 1, 2, 3); })) << "8 cycles";
}

// ---- what outlasts the instructions behind it (scoreboard.stall = on-use)

class OnUse : public ScoreboardRules {
 protected:
  OnUse() : ScoreboardRules(true, "on-use") {}
  using Waits = hw::IssueDiscipline::Waits;
  // An instruction whose last sub-warp has been formed, in record `flight` of the group's.
  template <class Emit>
  void goes_on_behind(unsigned flight, Emit emit) {
    const link::SubWarp& sub_warp = next(static_cast<std::uint8_t>(flight), emit);
    ASSERT_TRUE(sub_warp.decoded->issue.early);
    group_.latest = flight;
    rules_->formed(group_, *sub_warp.decoded);
  }
  template <class Emit>
  Waits waits(Emit emit) {
    return rules_->waits_for(group_, *next(9, emit).decoded);
  }
};

TEST_F(OnUse, WhatNeedsALoadWaitsUntilItHasCompletedAndNothingElse) {
  goes_on_behind(1, [](Code& code) { code.load(Op::LD_GLOBAL, 4, 2); });
  EXPECT_EQ(waits([](Code& code) { code.rri(Op::ADD, 5, 4, 1); }), Waits::for_memory) << "read after write";
  EXPECT_EQ(waits([](Code& code) { code.mov(4, 1); }), Waits::for_memory) << "write after write";
  EXPECT_EQ(waits([](Code& code) { code.mov(2, 1); }), Waits::no) << "it has read its address";
  EXPECT_EQ(waits([](Code& code) { code.load(Op::LD_GLOBAL, 5, 2); }), Waits::no);
  goes_on_behind(2, [](Code& code) { code.load(Op::LD_GLOBAL, 5, 2); });
  EXPECT_EQ(waits([](Code& code) { code.rri(Op::ADD, 6, 5, 1); }), Waits::for_memory);
  rules_->completed(group_, 2);
  EXPECT_EQ(waits([](Code& code) { code.rri(Op::ADD, 6, 5, 1); }), Waits::no) << "the second one before the first";
  EXPECT_EQ(waits([](Code& code) { code.rri(Op::ADD, 6, 4, 1); }), Waits::for_memory);
  rules_->completed(group_, 1);
  EXPECT_EQ(waits([](Code& code) { code.rri(Op::ADD, 6, 4, 1); }), Waits::no);
}

TEST_F(OnUse, EndsBarriersAndFencesWaitForEverything) {
  goes_on_behind(1, [](Code& code) { code.store(Op::ST_GLOBAL, 2, 3); });
  EXPECT_EQ(waits([](Code& code) { code.rri(Op::ADD, 3, 2, 1); }), Waits::no);
  EXPECT_EQ(waits([](Code& code) { code.when(1).bra(5); }), Waits::no);
  EXPECT_EQ(waits([](Code& code) { code.exit(); }), Waits::for_memory);
  EXPECT_EQ(waits([](Code& code) { code.barrier(Op::BAR_SYNC, isa::kRZ); }), Waits::for_memory);
  EXPECT_EQ(waits([](Code& code) { code.plain(Op::MEMBAR); }), Waits::for_memory);
  EXPECT_EQ(waits([](Code& code) { code.plain(Op::TRAP); }), Waits::for_memory);
}

TEST_F(OnUse, ALongOperationOutlastsToo) {
  goes_on_behind(1, [](Code& code) { code.rrr(Op::DIV_U, 1, 2, 3); });
  EXPECT_EQ(waits([](Code& code) { code.rri(Op::ADD, 3, 1, 1); }), Waits::for_units);
  goes_on_behind(2, [](Code& code) { code.load(Op::LD_GLOBAL, 4, 2); });
  EXPECT_EQ(waits([](Code& code) { code.rrr(Op::ADD, 3, 1, 4); }), Waits::for_memory);
  EXPECT_EQ(waits([](Code& code) { code.rri(Op::ADD, 3, 2, 1); }), Waits::no);
}

TEST_F(OnUse, WhatOthersMayWaitForKeepsItsWarp) {
  const auto early = [this](auto emit) { return next(0, emit).decoded->issue.early; };
  EXPECT_FALSE(early([](Code& code) { code.load(Op::LDV_GLOBAL, 1, 2); }));
  EXPECT_FALSE(early([](Code& code) { code.plain(Op::MEMBAR); }));
  EXPECT_FALSE(early([](Code& code) { code.exit(); }));
  hw::CoreParameters waited = core_;
  waited.stores = "waited";
  const auto rules = Registry<hw::IssueDiscipline>::instance().make("scoreboard", {waited});
  EXPECT_FALSE(rules->rules(*next(0, [](Code& code) { code.store(Op::ST_GLOBAL, 2, 3); }).decoded).early);
}

// Where the scratchpad's results come late, or accesses wait in a memory queue, what is behind them can pass.
TEST_F(OnUse, AccessesToTheScratchpadOutlastWhereTheyLeaveThePipelinesOrder) {
  const auto early = [this](const hw::IssueDiscipline& rules, auto emit) {
    return rules.rules(*next(0, emit).decoded).early;
  };
  EXPECT_TRUE(early(*rules_, [](Code& code) { code.load(Op::LD_SHARED, 1, 2); }));
  goes_on_behind(1, [](Code& code) { code.load(Op::LD_SHARED, 4, 2); });
  EXPECT_EQ(waits([](Code& code) { code.rri(Op::ADD, 5, 4, 1); }), Waits::no) << "register read has it wait";
  EXPECT_EQ(waits([](Code& code) { code.exit(); }), Waits::no);
  rules_ = Registry<hw::IssueDiscipline>::instance().make("scoreboard", {core_, true});
  rules_->begin(group_);
  goes_on_behind(1, [](Code& code) { code.load(Op::LD_SHARED, 4, 2); });
  EXPECT_EQ(waits([](Code& code) { code.rri(Op::ADD, 5, 4, 1); }), Waits::for_memory);
  EXPECT_EQ(waits([](Code& code) { code.barrier(Op::BAR_SYNC, isa::kRZ); }), Waits::for_memory);
  EXPECT_FALSE(early(*rules_, [](Code& code) {
    code.atomic(Op::ATOM_SHARED, isa::AtomicOp::add, isa::Type::u32, 3, 10, 0);
  })) << "keeps its warp, as others do";
  hw::CoreParameters on_access = core_;
  on_access.policies.of<hw::ScoreboardParameters>().stall = "on-access";
  const auto in_order = Registry<hw::IssueDiscipline>::instance().make("scoreboard", {on_access, true});
  EXPECT_FALSE(early(*in_order, [](Code& code) { code.load(Op::LD_SHARED, 1, 2); }));
  EXPECT_TRUE(early(*in_order, [](Code& code) { code.param(1, 0); }));
}

// ---- one warp in a core

// Cycles that a loop of `body` takes one warp per round, in the steady state.
template <class Emit>
double lone_warp_round(const hw::Machine& machine, Emit emit) {
  GpuBench bench(machine);
  Cycle cycles[2];
  for (const unsigned many : {0U, 0U, 1U}) {
    Code code;
    code.mov(14, 3);
    add_loop(code, many != 0 ? 30 : 10, [&] { emit(code); });
    code.exit();
    LaunchShape shape;
    shape.block = {machine.core.warp_size, 1, 1};
    shape.shared_bytes = 256;
    cycles[many] = bench.run(code, shape).cycles;
  }
  EXPECT_EQ((cycles[1] - cycles[0]) % 20, 0U) << "no steady state";
  return static_cast<double>(cycles[1] - cycles[0]) / 20;
}

hw::Machine scoreboard_machine(unsigned execute_stages = 1, unsigned entries = 8, bool forwarding = true,
                               unsigned refetch = 0) {
  hw::Machine machine;
  machine.core.issue = "scoreboard";
  machine.core.execute_stages = execute_stages;
  machine.core.policies.of<hw::ScoreboardParameters>().entries = entries;
  machine.core.policies.of<hw::ScoreboardParameters>().forwarding = forwarding;
  machine.core.policies.of<hw::ScoreboardParameters>().refetch = refetch;
  return machine;
}

// A loop's body, and the cycles of a round: up to the body's last instruction, then subtract, compare and branch, of
// which the last two need the one before, and from the branch's fetch to the next one, when it has left the functional
// units.
struct Round {
  const char* name;
  hw::Machine machine;
  void (*body)(Code& code);
  unsigned cycles;
};

template <unsigned kCount>
void independent(Code& code) {
  for (unsigned i = 0; i < kCount; ++i) {
    code.rri(Op::ADD, i % 8, 14, i);
  }
}
template <unsigned kCount>
void chain(Code& code) {
  for (unsigned i = 0; i < kCount; ++i) {
    code.rri(Op::ADD, 1, 1, 1);
  }
}
template <unsigned kSource>
void shared_load(Code& code) {
  code.load(Op::LD_SHARED, 1, isa::kRZ);
  code.rri(Op::ADD, 2, kSource, 1);
}
void global_loads(Code& code) {
  code.param(2, 0);
  for (unsigned i = 0; i < 4; ++i) {
    code.load(Op::LD_GLOBAL, 3 + i, 2);
  }
}

const std::vector<Round>& lone_rounds() {
  static const std::vector<Round> all = {
      // One execute stage: every operation takes one cycle, also one that needs the one before.
      {"independent", scoreboard_machine(), independent<100>, 100 + 2 + 4},
      {"chain", scoreboard_machine(), chain<100>, 100 + 2 + 4},
      // Two: operands are there in the second cycle of the operation before.
      {"independent_two_stages", scoreboard_machine(2), independent<50>, 50 + 2 * 2 + 5},
      {"chain_two_stages", scoreboard_machine(2), chain<50>, 1 + 2 * 49 + 2 * 2 + 5},
      // Without bypasses, in its write-back: four cycles from register read.
      {"independent_written", scoreboard_machine(2, 8, false), independent<50>, 50 + 2 * 4 + 5},
      {"chain_written", scoreboard_machine(2, 8, false), chain<50>, 1 + 4 * 49 + 2 * 4 + 5},
      // As many instructions in seven cycles as there are entries, until the pipeline is full.
      {"one_entry_is_the_barrel", scoreboard_machine(2, 1), independent<84>, 7 * 87},
      {"as_many_as_stages", scoreboard_machine(2, 6), independent<84>, 84 + 2 * 2 + 5},
      {"most_entries", scoreboard_machine(2, 32), independent<84>, 84 + 2 * 2 + 5},
      // Fetched again three cycles after the decode, which is one after the fetch; behind the branch as ever.
      {"refetch", scoreboard_machine(2, 8, true, 3), independent<50>, 4 * 52 + 5},
      // A load from the scratchpad keeps what needs it, to its write-back, and nothing else.
      {"shared_load", scoreboard_machine(2), shared_load<14>, 2 + 2 * 2 + 5},
      {"shared_load_needed", scoreboard_machine(2), shared_load<1>, 1 + 4 + 2 * 2 + 5},
      // One from memory keeps its warp, as the barrel does. (The parameter takes four cycles to the first.)
      {"global_loads", scoreboard_machine(2), global_loads, 4 + 4 * 7 + 2 * 2 + 5},
  };
  return all;
}

class LoneWarp : public ::testing::TestWithParam<std::size_t> {};
TEST_P(LoneWarp, TakesItsCyclesPerRound) {
  const Round& round = lone_rounds()[GetParam()];
  EXPECT_EQ(lone_warp_round(round.machine, round.body), round.cycles);
}
INSTANTIATE_TEST_SUITE_P(Scoreboard, LoneWarp, ::testing::Range(std::size_t{0}, lone_rounds().size()),
                         [](const auto& info) { return lone_rounds()[info.param].name; });

// ---- faults come in program order

isa::Fault fault_of(const hw::Machine& machine, const Code& code, unsigned shared_bytes = 0) {
  GpuBench bench(machine);
  LaunchShape shape;
  shape.shared_bytes = shared_bytes;
  bench.start(code, shape);
  for (unsigned cycle = 0; cycle < 5000 && bench.step(); ++cycle) {
  }
  EXPECT_TRUE(bench.gpu.fault());
  return bench.gpu.fault().value_or(isa::Fault{});
}

TEST(ScoreboardFaults, ATrapAtTheEndIsATrap) {
  Code code;
  code.mov(1, 2);
  code.plain(Op::TRAP);
  const isa::Fault fault = fault_of(scoreboard_machine(2), code);
  EXPECT_EQ(fault.kind, isa::Fault::Kind::trap);
  EXPECT_EQ(fault.pc, 1U);
}

TEST(ScoreboardFaults, AnEarlierSharedLoadFaultsBeforeATrap) {
  Code code;
  code.mov(1, 4096);
  code.load(Op::LD_SHARED, 2, 1);
  code.plain(Op::TRAP);
  const isa::Fault fault = fault_of(scoreboard_machine(2), code, 256);
  EXPECT_EQ(fault.pc, 1U);
  EXPECT_NE(fault.kind, isa::Fault::Kind::trap);
}

TEST(ScoreboardFaults, AnEarlierSharedLoadFaultsBeforeTheEnd) {
  Code code;
  code.mov(1, 4096);
  code.load(Op::LD_SHARED, 2, 1);
  const isa::Fault fault = fault_of(scoreboard_machine(2), code, 256);
  EXPECT_EQ(fault.pc, 1U);
  EXPECT_NE(fault.kind, isa::Fault::Kind::invalid_instruction);
}

}  // namespace
}  // namespace heddle::test
