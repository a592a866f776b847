// Sub-warps with disjoint lanes that share a place of a latch: the latch alone, and register read and execute between
// stubs, which take all such sub-warps in one cycle.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "hw/core/execute/execute.hpp"
#include "hw/core/execute/register_read.hpp"
#include "hw/divergence/divergence.hpp"
#include "hw/issue/scoreboard.hpp"
#include "hw/registers/register_file.hpp"
#include "tests/hw/stage_stubs.hpp"

namespace heddle::hw::test {
namespace {

using isa::Op;
using link::SubWarp;

// ---- the latch

class DisjointLanes : public ::testing::Test {
 protected:
  SubWarp& with_lanes(LaneMask lanes) {
    SubWarp& out = pool_.take();
    out.lanes = lanes;
    return out;
  }
  link::SubWarpPool pool_;
  Latch latch_{2};
};

TEST_F(DisjointLanes, HandedOverInOneCycleShareAPlace) {
  SubWarp& first = with_lanes(0b0011);
  SubWarp& second = with_lanes(0b0100);
  SubWarp& third = with_lanes(0b1000);
  latch_.push(first, 5);
  EXPECT_TRUE(latch_.join(second, 5));
  EXPECT_TRUE(latch_.join(third, 5));
  EXPECT_FALSE(latch_.full()) << "one of two places";
  EXPECT_EQ(latch_.front(6), nullptr);
  EXPECT_EQ(latch_.front(7), &first);
  EXPECT_EQ(first.beside, &second);
  EXPECT_EQ(second.beside, &third);
  EXPECT_EQ(third.beside, nullptr);
}

TEST_F(DisjointLanes, ATakenLaneIsRefused) {
  latch_.push(with_lanes(0b0011), 5);
  ASSERT_TRUE(latch_.join(with_lanes(0b0100), 5));
  EXPECT_FALSE(latch_.join(with_lanes(0b0010), 5)) << "the first one's";
  EXPECT_FALSE(latch_.join(with_lanes(0b1100), 5)) << "the second one's";
  EXPECT_TRUE(latch_.join(with_lanes(0b1000), 5));
}

TEST_F(DisjointLanes, ThereIsNoPlaceToShareInAnotherCycle) {
  EXPECT_FALSE(latch_.join(with_lanes(1), 5)) << "nothing there";
  latch_.push(with_lanes(1), 5);
  EXPECT_FALSE(latch_.join(with_lanes(2), 6));
}

TEST_F(DisjointLanes, AreTakenTogetherOrOneAfterTheOther) {
  for (const bool together : {true, false}) {
    SubWarp& first = with_lanes(1);
    SubWarp& second = with_lanes(2);
    SubWarp& next = with_lanes(1);
    latch_.push(first, 5);
    ASSERT_TRUE(latch_.join(second, 5));
    latch_.push(next, 6);
    if (together) {
      latch_.pop_all();
      EXPECT_EQ(first.beside, &second) << "they go on together";
    } else {
      latch_.pop();
      EXPECT_EQ(first.beside, nullptr);
      EXPECT_EQ(latch_.front(7), &second);
      latch_.pop();
    }
    EXPECT_EQ(latch_.front(7), nullptr) << "the next place's turn is in cycle 8";
    EXPECT_EQ(latch_.front(8), &next);
    latch_.pop();
    EXPECT_TRUE(latch_.empty());
  }
}

// A fault leaves sub-warps where they are; the next launch has their payloads.
TEST_F(DisjointLanes, APayloadThatIsUsedAgainIsAlone) {
  SubWarp& first = with_lanes(1);
  latch_.push(first, 0);
  ASSERT_TRUE(latch_.join(with_lanes(2), 0));
  latch_.clear();
  pool_.take_back_all();
  EXPECT_EQ(first.beside, nullptr);
}

// ---- register read and execute

// The register file's other port must be bound.
class IdleWriter : public sc_core::sc_module, private link::ForwardOnlyInitiator<RegisterProtocol> {
 public:
  explicit IdleWriter(const sc_core::sc_module_name& name) : sc_core::sc_module(name) { socket.bind(*this); }
  RegisterInitiatorSocket socket{"socket"};
};

struct LanesBench {
  explicit LanesBench(const Machine& with = {}) : machine(with) {
    state.launch = &launch;
    registers.configure(16);
    decode.out.socket.bind(register_read.in);
    register_read.registers.bind(registers.read_port);
    register_read.out.socket.bind(read.socket);
    before.out.socket.bind(execute.in);
    execute.out.socket.bind(memory.socket);
    fetch.icache.bind(icache.socket);
    fetch.out.socket.bind(fetched.socket);
    writer.socket.bind(registers.write_port);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
  // An instruction of a group in some lanes, whose threads are in register row `row`.
  template <class Emit>
  SubWarp& sub_warp(GroupId group, LaneMask lanes, std::uint16_t row, Emit emit) {
    instructions.push_back(decoded(emit));
    link::DecodedInstruction& instruction = *instructions.back();
    instruction.function = isa::lane_function(instruction.instruction);
    instruction.a_words = static_cast<std::uint8_t>(isa::a_registers(instruction.instruction));
    instruction.b_words =
        instruction.instruction.immediate ? 0 : static_cast<std::uint8_t>(isa::b_registers(instruction.instruction));
    SubWarp& out = state.pool.take();
    out.group = group;
    out.decoded = &instruction;
    out.lanes = out.executing = lanes;
    out.first_row = row;
    return out;
  }
  void at(Cycle now) { state.now = now; }

  Machine machine;
  Launch launch;
  const link::Clock clock{sc_core::sc_time(1, sc_core::SC_NS)};
  CoreState state{machine, 0, nullptr};
  std::vector<std::unique_ptr<link::DecodedInstruction>> instructions;
  RegisterFile registers{"registers", machine.core.simd_width, 32};
  IdleWriter writer{"writer"};
  StubSender decode{"decode"};
  RegisterReadStage register_read{"register_read", state, clock};
  StubReceiver read{"read", state};
  StubL1 icache{"icache", state};
  StubReceiver fetched{"fetched", state};
  FetchStage fetch{"fetch", state,
                   Registry<WarpScheduler>::instance().make("round-robin", {state.groups, state.machine.core})};
  StubSender before{"before"};
  ExecuteStage execute{"execute", state, fetch};
  StubReceiver memory{"memory", state};
};

TEST(DisjointLanesInRegisterRead, AreReadInOneCycle) {
  LanesBench bench;
  bench.registers.array().word(3, 1).fill(300);
  bench.registers.array().word(7, 2).fill(700);
  SubWarp& first = bench.sub_warp(0, 0x0000ffff, 3, [](Code& code) { code.rri(Op::ADD, 5, 1, 1); });
  SubWarp& second = bench.sub_warp(1, 0xffff0000, 7, [](Code& code) { code.rri(Op::SHL, 5, 2, 1); });
  SubWarp& other = bench.sub_warp(2, 0x00010000, 7, [](Code& code) { code.rri(Op::SHL, 5, 2, 1); });
  bench.at(0);
  EXPECT_FALSE(bench.decode.out.offer_beside(first)) << "beside nobody";
  ASSERT_TRUE(bench.decode.out.offer(first));
  ASSERT_TRUE(bench.decode.out.offer_beside(second));
  EXPECT_FALSE(bench.decode.out.offer_beside(other)) << "its lane is taken";
  EXPECT_FALSE(bench.decode.out.offer(other)) << "the place is";
  bench.at(1);
  bench.register_read.tick(1);
  ASSERT_EQ(bench.read.taken, (std::vector<StubReceiver::Arrival>{{&first, 1}}));
  EXPECT_EQ(first.beside, &second);
  EXPECT_EQ(first.values.a[0][0], 300U);
  EXPECT_EQ(second.values.a[0][31], 700U);
  EXPECT_EQ(second.executing, 0xffff0000U);
  EXPECT_TRUE(bench.register_read.idle());
}

TEST(DisjointLanesInRegisterRead, AStageBehindThatIsFullKeepsAllOfThem) {
  LanesBench bench;
  SubWarp& first = bench.sub_warp(0, 1, 3, [](Code& code) { code.rri(Op::ADD, 5, 1, 1); });
  SubWarp& second = bench.sub_warp(1, 2, 7, [](Code& code) { code.rri(Op::SHL, 5, 2, 1); });
  ASSERT_TRUE(bench.decode.out.offer(first));
  ASSERT_TRUE(bench.decode.out.offer_beside(second));
  bench.read.room = false;
  bench.at(1);
  bench.register_read.tick(1);
  EXPECT_FALSE(bench.register_read.idle());
  bench.read.room = true;
  bench.at(2);
  bench.register_read.tick(2);
  EXPECT_EQ(bench.read.taken, (std::vector<StubReceiver::Arrival>{{&first, 2}}));
  EXPECT_EQ(first.beside, &second);
}

auto addition() {
  return [](Code& code) { code.rri(Op::ADD, 5, 1, 1); };
}
auto division() {
  return [](Code& code) { code.rrr(Op::DIV_U, 5, 1, 2); };
}

TEST(DisjointLanesInExecute, BeginTogetherAndLeaveTogether) {
  LanesBench bench;
  SubWarp& first = bench.sub_warp(0, 0b0111, 3, addition());
  SubWarp& second = bench.sub_warp(1, 0b1000, 7, addition());
  first.values.a[0].fill(10);
  second.values.a[0].fill(20);
  for (SubWarp* const each : {&first, &second}) {
    each->values.b[0].fill(1);
  }
  ASSERT_TRUE(bench.before.out.offer(first));
  ASSERT_TRUE(bench.before.out.offer_beside(second));
  for (Cycle now = 1; now <= 2; ++now) {
    EXPECT_TRUE(bench.memory.taken.empty());
    bench.at(now);
    bench.execute.tick(now);
  }
  bench.at(3);
  bench.execute.tick(3);
  ASSERT_EQ(bench.memory.taken.size(), 1U) << "one cycle's work";
  EXPECT_EQ(bench.memory.taken[0].sub_warp, &first);
  EXPECT_EQ(first.beside, &second);
  EXPECT_EQ(second.beside, nullptr);
  EXPECT_EQ(first.values.result[0][0], 11U);
  EXPECT_EQ(second.values.result[0][3], 21U);
  EXPECT_EQ(bench.state.statistics.fu_active[4], 1U) << "four lanes in one cycle";
}

TEST(DisjointLanesInExecute, AComplexOperationLeavesTheOthers) {
  LanesBench bench;
  SubWarp& simple = bench.sub_warp(0, 1, 3, addition());
  SubWarp& complex = bench.sub_warp(1, 2, 7, division());
  SubWarp& last = bench.sub_warp(2, 4, 8, addition());
  ASSERT_TRUE(bench.before.out.offer(simple));
  ASSERT_TRUE(bench.before.out.offer_beside(complex));
  ASSERT_TRUE(bench.before.out.offer_beside(last));
  for (Cycle now = 1; now <= 20; ++now) {
    bench.at(now);
    bench.execute.tick(now);
  }
  ASSERT_EQ(bench.memory.taken.size(), 2U);
  EXPECT_EQ(bench.memory.taken[0].sub_warp, &simple);
  EXPECT_EQ(simple.beside, &last);
  EXPECT_EQ(bench.memory.taken[1].sub_warp, &complex);
  EXPECT_EQ(complex.beside, nullptr);
  EXPECT_EQ(bench.memory.taken[1].cycle - bench.memory.taken[0].cycle,
            bench.machine.core.complex_latency - bench.machine.core.execute_stages);
  EXPECT_EQ(bench.state.statistics.fu_active[3], 1U);
}

Machine without_queue() {
  Machine machine;
  machine.core.complex_queue = 0;
  return machine;
}

TEST(DisjointLanesInExecute, ComplexOperationsOfOneCycleShareTheUnit) {
  LanesBench bench(without_queue());
  SubWarp& first = bench.sub_warp(0, 1, 3, division());
  SubWarp& second = bench.sub_warp(1, 2, 7, division());
  SubWarp& third = bench.sub_warp(2, 4, 8, addition());
  ASSERT_TRUE(bench.before.out.offer(first));
  ASSERT_TRUE(bench.before.out.offer_beside(second));
  ASSERT_TRUE(bench.before.out.offer_beside(third));
  for (Cycle now = 1; now <= 20; ++now) {
    bench.at(now);
    bench.execute.tick(now);
  }
  EXPECT_EQ(bench.state.statistics.complex_operations, 2U);
  EXPECT_EQ(bench.state.statistics.fu_active[3], 1U) << "each lane has a place in the unit";
  ASSERT_EQ(bench.memory.taken.size(), 2U);
  EXPECT_EQ(bench.memory.taken[1].sub_warp, &first);
  EXPECT_EQ(first.beside, &second);
  EXPECT_TRUE(bench.execute.idle());
}

TEST(DisjointLanesInExecute, WhatFindsNoRoomBeginsLater) {
  LanesBench bench(without_queue());
  SubWarp& first = bench.sub_warp(0, 1, 3, division());
  SubWarp& second = bench.sub_warp(1, 2, 7, division());
  SubWarp& third = bench.sub_warp(2, 4, 8, addition());
  ASSERT_TRUE(bench.before.out.offer(first));
  bench.at(1);
  bench.execute.tick(1);
  ASSERT_TRUE(bench.before.out.offer(second));
  ASSERT_TRUE(bench.before.out.offer_beside(third));
  const unsigned interval = bench.machine.core.complex_interval;
  for (Cycle now = 2; now <= interval; ++now) {
    bench.at(now);
    bench.execute.tick(now);
    EXPECT_EQ(bench.state.statistics.complex_operations, 1U) << now;
  }
  bench.at(1 + interval);
  bench.execute.tick(1 + interval);
  EXPECT_EQ(bench.state.statistics.complex_operations, 2U);
  EXPECT_EQ(bench.state.statistics.fu_active[1], 1U);
  EXPECT_EQ(bench.state.statistics.fu_active[2], 1U) << "the addition behind it, too";
}

// ---- with an early next PC: simple and complex operations of one group in flight

struct InOrderBench : LanesBench {
  InOrderBench() : LanesBench(in_order()) { execute.tell(warps); }
  static Machine in_order() {
    Machine machine;
    machine.core.issue = "scoreboard";
    machine.core.policies.of<ScoreboardParameters>().forwarding = false;
    machine.core.complex_latency = 3;
    return machine;
  }
  WarpUnit warps{state, registers.array(), Registry<Divergence>::instance().make("stack", {state.groups, machine.core}),
                 Registry<IssueDiscipline>::instance().make("scoreboard", {machine.core})};
};

TEST(ExecuteInOrder, AComplexResultDoesNotOvertakeASimpleOneBeforeIt) {
  InOrderBench bench;
  SubWarp& simple = bench.sub_warp(0, 1, 3, addition());
  SubWarp& complex = bench.sub_warp(0, 1, 3, division());
  bench.memory.room = false;
  ASSERT_TRUE(bench.before.out.offer(simple));
  bench.at(1);
  bench.execute.tick(1);
  ASSERT_TRUE(bench.before.out.offer(complex));
  for (Cycle now = 2; now <= 6; ++now) {
    bench.at(now);
    bench.memory.room = now >= 5;
    bench.execute.tick(now);
  }
  EXPECT_EQ(bench.memory.taken, (std::vector<StubReceiver::Arrival>{{&simple, 5}, {&complex, 6}}));
}

}  // namespace
}  // namespace heddle::hw::test
