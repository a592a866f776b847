// Control bits (hw/issue/dependence_board.hpp): the counters and the judge alone, and one warp and several in a core
// whose code has the compiler's bits, and spoiled ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hw/check/machine.hpp"
#include "hw/issue/dependence_board.hpp"
#include "hw/issue/discipline.hpp"
#include "hw/issue/scoreboard.hpp"
#include "tests/hw/controlled_code.hpp"
#include "tests/hw/gpu_bench.hpp"
#include "tests/hw/stage_stubs.hpp"

namespace heddle::test {
namespace {

using isa::ControlBits;
using ::testing::HasSubstr;

hw::Machine control_machine(unsigned execute_stages = 4) {
  hw::Machine machine;
  machine.core.issue = "control-bits";
  machine.core.sub_cores = 2;
  machine.core.execute_stages = execute_stages;
  machine.core.policies.of<hw::ScoreboardParameters>().stall = "on-use";
  machine.core.policies.of<hw::ScoreboardParameters>().entries = 32;
  machine.icache.instruction_bytes = 16;
  machine.l1d.write_policy = "write-through";
  machine.l1d.hit_latency = 9;
  return machine;
}

// ---- what the machine says of its units

TEST(ControlBitsTimes, AreThoseOfTheUnits) {
  hw::Machine machine = control_machine(4);
  const auto time = [&machine](const char* text) { return times_of(machine)(isa::assemble(text)).fixed; };
  EXPECT_EQ(time("add r1, r2, r3"), 4U);
  EXPECT_EQ(time("@p1 bra 0"), 4U);
  EXPECT_EQ(time("hadd.bf16.x2 r1, r2, r3"), 4U);
  EXPECT_EQ(time("div.u32 r1, r2, r3"), 0U);
  EXPECT_EQ(time("ld.global.b32 r1, [r2]"), 0U);
  EXPECT_EQ(time("ld.const.b32 r1, [r2]"), 0U);
  EXPECT_EQ(time("heap.free r1"), 0U);
  machine.core.half_latency = 7;
  machine.core.register_read_latency = 3;
  EXPECT_EQ(time("add r1, r2, r3"), 6U);
  EXPECT_EQ(time("hadd.bf16.x2 r1, r2, r3"), 9U);
  machine.core.half_latency = 14;
  EXPECT_EQ(time("hadd.bf16.x2 r1, r2, r3"), 0U) << "longer than a stall count: a counter";
}

TEST(ControlBitsTimes, AMachineWithoutRoomForThemIsRefused) {
  const auto refused = [](auto change) {
    hw::Machine machine = control_machine();
    change(machine);
    std::string all;
    for (const hw::Contradiction& one : hw::check(machine)) {
      all += one.key + ": " + one.message + "\n";
    }
    return all;
  };
  EXPECT_EQ(refused([](hw::Machine&) {}), "");
  EXPECT_THAT(refused([](hw::Machine& machine) { machine.icache.instruction_bytes = 8; }),
              HasSubstr("use icache.instruction_bytes = 16 or core.issue = \"scoreboard\""));
  EXPECT_THAT(refused([](hw::Machine& machine) { machine.core.sub_cores = 1; }),
              HasSubstr("use core.sub_cores above 1 or core.issue = \"scoreboard\""));
  EXPECT_THAT(
      refused([](hw::Machine& machine) { machine.core.policies.of<hw::ScoreboardParameters>().stall = "on-access"; }),
      HasSubstr("use scoreboard.stall = \"on-use\" or core.issue = \"scoreboard\""));
  EXPECT_THAT(
      refused([](hw::Machine& machine) { machine.core.policies.of<hw::ScoreboardParameters>().forwarding = false; }),
      HasSubstr("use scoreboard.forwarding = true or core.issue = \"scoreboard\""));
  // scoreboard.stall alone would be refused as well.
  EXPECT_THAT(refused([](hw::Machine& machine) { machine.core.divergence = "tbc"; }),
              HasSubstr("use core.issue = \"scoreboard\" with scoreboard.stall = \"on-access\", or core.divergence = "
                        "\"stack\""));
}

// ---- the board alone

class ControlBoard : public ::testing::Test {
 protected:
  ControlBoard() {
    group_.active = {0xffffU};
    board_.begin(group_);
  }
  // Issued in record `flight` in cycle `now`; what is wrong.
  std::string issue(unsigned flight, Cycle now, const char* text) {
    decoded_.push_back(std::make_unique<link::DecodedInstruction>());
    link::DecodedInstruction& decoded = *decoded_.back();
    decoded.instruction = isa::assemble(text);
    decoded.use = isa::register_use(decoded.instruction);
    decoded.unit = isa::info(decoded.instruction.op).unit;
    decoded.issue.result_time =
        hw::about<hw::IssueDiscipline>("control-bits").traits.result_time(machine_.core, decoded.instruction);
    group_.latest = flight;
    group_.pc = flight;
    return board_.issued(group_, decoded, now);
  }
  const hw::Machine machine_ = control_machine(4);
  hw::Group group_;
  hw::DependenceBoard board_;
  std::vector<std::unique_ptr<link::DecodedInstruction>> decoded_;
  using Open = hw::DependenceBoard::Open;
};

TEST_F(ControlBoard, AResultOfFixedTimeIsThereInItsCycleAndNotBefore) {
  EXPECT_EQ(issue(0, 10, "add r1, r2, r3"), "");
  EXPECT_EQ(issue(1, 11, "add r2, r3, r3"), "") << "write after read";
  EXPECT_THAT(issue(2, 13, "add r4, r1, r1"), HasSubstr("read r1 before PC 0 (add r1, r2, r3) has written it"));
  EXPECT_THAT(issue(3, 13, "add r1, r5, r5"), HasSubstr("write r1 before PC 0"));
  EXPECT_EQ(issue(4, 20, "add r4, r1, r1"), "");
  EXPECT_EQ(issue(5, 30, "setp.lt.s32 p2, r1, r1"), "");
  EXPECT_THAT(issue(6, 33, "@p2 exit"), HasSubstr("read p2"));
  EXPECT_EQ(issue(7, 34, "@p2 exit"), "");
}

TEST_F(ControlBoard, OneOfNoneIsThereWhenItHasCompleted) {
  EXPECT_EQ(issue(0, 10, "[B------:R5:W0:-:S01] ld.global.b32 r1, [r2]"), "");
  EXPECT_EQ(board_.open(0, 0b100001), Open::memory);
  EXPECT_EQ(board_.open(0, 0b100000), Open::units) << "its operands";
  EXPECT_EQ(board_.open(0, 0b011110), Open::none);
  EXPECT_THAT(issue(1, 500, "add r4, r1, r1"), HasSubstr("read r1"));
  EXPECT_THAT(issue(2, 500, "add r2, r3, r3"), HasSubstr("write r2 before PC 0 ([B------:R5:W0:-:S01] ld.global.b32 "
                                                         "r1, [r2]) has read it"));
  EXPECT_TRUE(board_.operands_read(0, 0));
  EXPECT_FALSE(board_.operands_read(0, 0)) << "once";
  EXPECT_EQ(board_.open(0, 0b100000), Open::none);
  EXPECT_EQ(board_.open(0, 0b000001), Open::memory);
  EXPECT_EQ(issue(3, 600, "add r2, r3, r3"), "");
  board_.completed(0, 0);
  EXPECT_EQ(board_.open(0, 0b111111), Open::none);
  EXPECT_EQ(issue(4, 700, "add r1, r1, r1"), "");
}

TEST_F(ControlBoard, ACounterCountsAllThatHoldIt) {
  EXPECT_EQ(issue(0, 1, "[B------:R-:W3:-:S01] ld.global.b32 r1, [r2]"), "");
  EXPECT_EQ(issue(1, 2, "[B------:R-:W3:-:S01] div.u32 r4, r5, r6"), "");
  EXPECT_EQ(board_.open(0, 0b001000), Open::memory);
  board_.completed(0, 0);
  EXPECT_EQ(board_.open(0, 0b001000), Open::units);
  board_.completed(0, 1);
  EXPECT_EQ(board_.open(0, 0b001000), Open::none);
}

TEST_F(ControlBoard, OtherThreadsOfTheWarpDoNotDependOnEachOther) {
  EXPECT_EQ(issue(0, 1, "[B------:R5:W0:-:S01] ld.global.b32 r1, [r2]"), "");
  group_.active = {0xffff'0000U};
  EXPECT_EQ(issue(1, 2, "add r4, r1, r1"), "");
  group_.active = {0xffff'8000U};
  EXPECT_NE(issue(2, 9, "add r4, r1, r1"), "");
}

TEST_F(ControlBoard, AStallCountAndAYieldSayWhenTheNextInstructionGoes) {
  EXPECT_EQ(issue(0, 10, "[B------:R-:W-:-:S07] add r1, r2, r3"), "");
  EXPECT_EQ(board_.next_issue(0), 17U);
  EXPECT_EQ(issue(1, 20, "[B------:R-:W-:-:S01] add r1, r2, r3"), "");
  EXPECT_EQ(board_.next_issue(0), 21U);
  EXPECT_EQ(issue(2, 30, "[B------:R-:W-:Y:S01] add r1, r2, r3"), "");
  EXPECT_EQ(board_.next_issue(0), 32U);
  board_.begin(group_);
  EXPECT_EQ(board_.next_issue(0), 0U);
}

// ---- in a core

// The fault with which a launch ends; none: it ends well.
std::optional<isa::Fault> control_fault(GpuBench& bench, const Code& code) {
  bench.start(code);
  unsigned cycle = 0;
  while (cycle < 20000 && bench.step()) {
    ++cycle;
  }
  EXPECT_LT(cycle, 20000U);
  return bench.gpu.fault();
}

hw::Machine control_variant(unsigned number) {
  hw::Machine machine = control_machine(number == 0 ? 1 : number == 1 ? 2 : number == 2 ? 9 : 4);
  if (number == 3) {
    machine.core.fetch_latency = 2;
    machine.core.decode_latency = 3;
    machine.core.register_read_latency = 4;
  } else if (number == 4) {  // four sub-warps
    machine.core.simd_width = 8;
    machine.core.former = "packed";
  } else if (number == 5) {
    machine.registers = {2, 1, 3, 1, true};
    machine.core.integer_interval = 2;
    machine.lsu = {5, 4, 2};
  }
  return machine;
}
constexpr unsigned kControlVariants = 6;

// Legal with the compiler's stall count, and not with one less, whatever the pipeline.
class ControlStalls : public ::testing::TestWithParam<unsigned> {};
TEST_P(ControlStalls, OneLessIsFound) {
  const hw::Machine machine = control_variant(GetParam());
  Code code;
  code.mov(1, 5);
  code.rri(Op::ADD, 2, 1, 1);
  code.exit();
  write_bits(code, machine);
  GpuBench bench(machine);
  ASSERT_FALSE(control_fault(bench, code));
  const unsigned needed = machine.core.register_read_latency + machine.core.execute_stages - 1;
  ASSERT_EQ(code.instructions()[0].control.stall, needed);
  --code.instructions()[0].control.stall;
  const auto fault = control_fault(bench, code);
  if (needed <= machine.core.fetch_latency * machine.core.warp_size / machine.core.simd_width) {
    EXPECT_FALSE(fault) << "the next one cannot come sooner";
    return;
  }
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, isa::Fault::Kind::dependence);
  EXPECT_EQ(fault->pc, 1U);
  EXPECT_THAT(fault->detail, HasSubstr("warp 0 of the block: control bits let PC 1"));
  EXPECT_THAT(fault->detail, HasSubstr("read r1 before PC 0"));
}
INSTANTIATE_TEST_SUITE_P(Machines, ControlStalls, ::testing::Range(0U, kControlVariants));

class ControlWaits : public ::testing::TestWithParam<std::tuple<unsigned, unsigned>> {};
TEST_P(ControlWaits, ACounterThatIsNotWaitedForIsFound) {
  const auto [variant, pc] = GetParam();
  const hw::Machine machine = control_variant(variant);
  Code code;
  code.param(2, 0);                    // 0
  code.load(Op::LD_GLOBAL, 1, 2);      // 1: needs 0
  code.rri(Op::ADD, 3, 1, 1);          // 2: needs 1
  code.store(Op::ST_GLOBAL, 2, 3, 4);  // 3
  code.mov(3, 9);                      // 4: needs that 3 has read
  code.exit();
  write_bits(code, machine);
  GpuBench bench(machine);
  ASSERT_FALSE(control_fault(bench, code));
  ASSERT_NE(code.instructions()[pc].control.wait, 0U);
  code.instructions()[pc].control.wait = 0;
  const auto fault = control_fault(bench, code);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, isa::Fault::Kind::dependence);
  EXPECT_EQ(fault->pc, pc);
  EXPECT_THAT(fault->detail, HasSubstr(pc == 1   ? "read r2 before PC 0"
                                       : pc == 2 ? "read r1 before PC 1"
                                                 : "write r3 before PC 3"));
}
INSTANTIATE_TEST_SUITE_P(Machines, ControlWaits,
                         ::testing::Combine(::testing::Range(0U, kControlVariants), ::testing::Values(1U, 2U, 4U)));

TEST(ControlBitsCore, CodeWithoutBitsIsFound) {
  Code code;
  code.mov(1, 5);
  code.rri(Op::ADD, 2, 1, 1);
  code.exit();
  GpuBench bench(control_machine());
  const auto fault = control_fault(bench, code);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, isa::Fault::Kind::dependence);
}

// ---- cycles

// What 100 additions more take, each of which needs the one before, with so many warps in each of two sub-cores.
hw::Totals chain_totals(const char* issue, unsigned warps) {
  hw::Machine machine = control_machine(4);
  const hw::Machine with_bits = machine;
  machine.core.issue = issue;
  machine.icache.ideal = true;
  GpuBench bench(machine);
  hw::Totals of[2];
  for (const unsigned more : {0U, 1U}) {
    Code code;
    code.mov(1, 0);
    for (unsigned i = 0; i != 20 + 100 * more; ++i) {
      code.rri(Op::ADD, 1, 1, 1);
    }
    code.exit();
    write_bits(code, with_bits);
    LaunchShape shape;
    shape.block = {warps * machine.core.sub_cores * 32, 1, 1};
    of[more] = bench.run(code, shape);
  }
  return difference(of[1], of[0]);
}

TEST(ControlBitsCore, AChainTakesALoneWarpItsStallCounts) {
  const hw::Totals chain = chain_totals("control-bits", 1);
  EXPECT_EQ(chain.cycles, 4U * 100);
  EXPECT_EQ(chain.core.stall_count_cycles, 2U * 3 * 100) << "of two sub-cores";
  EXPECT_EQ(chain.core.interlock_stalls, 0U);
}

TEST(ControlBitsCore, AndAsLongWithAScoreboard) {
  const hw::Totals chain = chain_totals("scoreboard", 1);
  EXPECT_EQ(chain.cycles, 4U * 100);
  EXPECT_EQ(chain.core.stall_count_cycles, 0U);
}

// A warp that waits for a stall count does so in front of the pipeline: four chains take as long as one.
TEST(ControlBitsCore, OtherWarpsPassOneThatWaitsForItsStallCount) {
  const hw::Totals chains = chain_totals("control-bits", 4);
  EXPECT_EQ(chains.cycles, 4U * 100);
  EXPECT_EQ(chains.core.interlock_stalls, 0U);
}

}  // namespace
}  // namespace heddle::test
