// Register banks with ports: the register read stage alone between stubs, cores, and what machines make no sense with
// them. The policy alone is in operand_reads_test.cpp, the write ports in writeback_test.cpp.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <sstream>

#include "hw/check/machine.hpp"
#include "hw/core/execute/register_read.hpp"
#include "hw/issue/scoreboard.hpp"
#include "hw/registers/register_file.hpp"
#include "tests/hw/gpu_bench.hpp"
#include "tests/hw/stage_stubs.hpp"
#include "tests/model/child.hpp"

namespace heddle::hw::test {
namespace {

using heddle::test::Cycle;
using heddle::test::GpuBench;
using heddle::test::LaunchShape;
using isa::Op;
using link::SubWarp;
using Arrivals = std::vector<StubReceiver::Arrival>;

Machine with_banks(unsigned banks, bool cache = false) {
  Machine machine;
  machine.registers.banks = banks;
  machine.registers.cache = cache;
  return machine;
}

isa::Instruction fma(unsigned dst, unsigned a, unsigned b, unsigned c) {
  isa::Instruction out;
  out.op = Op::FFMA;
  out.dst = static_cast<std::uint8_t>(dst);
  out.a = static_cast<std::uint8_t>(a);
  out.b = static_cast<std::uint8_t>(b);
  out.c = static_cast<std::uint8_t>(c);
  return out;
}

// ---- the stage alone

class UnusedWritePort : public sc_core::sc_module, private link::ForwardOnlyInitiator<RegisterProtocol> {
 public:
  explicit UnusedWritePort(const sc_core::sc_module_name& name) : sc_core::sc_module(name) { socket.bind(*this); }
  RegisterInitiatorSocket socket{"socket"};
};

struct RegisterReadBench {
  explicit RegisterReadBench(const Machine& with) : machine(with) {
    state.launch = &launch;
    registers.configure(32);
    decode.out.socket.bind(stage.in);
    stage.registers.bind(registers.read_port);
    stage.out.socket.bind(execute.socket);
    writer.socket.bind(registers.write_port);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
  SubWarp& sub_warp(const isa::Instruction& of, std::uint8_t reuse = 0, LaneMask lanes = ~LaneMask{0}) {
    instructions.push_back(decoded([&](Code& code) { code.add(of); }));
    link::DecodedInstruction& instruction = *instructions.back();
    instruction.operands = isa::operand_words(instruction.instruction);
    instruction.operand_words = static_cast<std::uint8_t>(instruction.operands.count());
    instruction.reuse = reuse;
    SubWarp& out = state.pool.take();
    out.decoded = &instruction;
    out.lanes = out.executing = lanes;
    out.first_row = 3;
    return out;
  }
  // Decode hands over what it has left, when there is room; after the stage's own turn.
  void turn(Cycle now, std::vector<SubWarp*>& left) {
    state.now = now;
    stage.tick(now);
    if (!left.empty() && decode.out.offer(*left.front())) {
      left.erase(left.begin());
    }
  }

  Machine machine;
  Launch launch;
  const link::Clock clock{sc_core::sc_time(1, sc_core::SC_NS)};
  CoreState state{machine, 0, nullptr};
  std::vector<std::unique_ptr<link::DecodedInstruction>> instructions;
  RegisterFile registers{"registers", machine.core.simd_width, 32};
  UnusedWritePort writer{"writer"};
  StubSender decode{"decode"};
  RegisterReadStage stage{"stage", state, clock};
  StubReceiver execute{"execute", state};
};

// MICRO 2025, listing 1: behind FFMA of three even registers one of three others goes on in the next cycle, or one or
// two later.
class RegisterReadWith : public ::testing::TestWithParam<unsigned> {};

TEST_P(RegisterReadWith, EvenOperandsGoesOnWhenTheyFindPorts) {
  const unsigned even = GetParam();
  RegisterReadBench bench(with_banks(2));
  SubWarp& first = bench.sub_warp(fma(11, 10, 12, 14));
  SubWarp& second = bench.sub_warp(fma(13, 16, even >= 1 ? 18 : 19, even == 2 ? 20 : 21));
  std::vector<SubWarp*> left = {&first, &second};
  for (Cycle now = 0; now != 2 + even; ++now) {
    bench.turn(now, left);
    EXPECT_EQ(bench.execute.taken.size(), now >= 1 ? 1U : 0U) << now;
    EXPECT_EQ(bench.stage.lacked_ports(now), now >= 2) << now;
    EXPECT_FALSE(now >= 2 && bench.stage.stuck(now)) << "it waits for a time";
  }
  bench.turn(2 + even, left);
  EXPECT_EQ(bench.execute.taken, (Arrivals{{&first, 1}, {&second, 2 + even}}));
  EXPECT_EQ(bench.state.statistics.bank_stalls, even);
  EXPECT_EQ(bench.state.statistics.bank_conflicts, even != 0 ? 1U : 0U);
  EXPECT_EQ(bench.state.block_cause == IdleCause::register_banks, even != 0);
}
INSTANTIATE_TEST_SUITE_P(ListingOne, RegisterReadWith, ::testing::Values(0, 1, 2),
                         [](const auto& info) { return std::to_string(info.param); });

TEST(RegisterReadBanks, HoldUpWhatComesBehind) {
  RegisterReadBench bench(with_banks(2));
  SubWarp& first = bench.sub_warp(fma(11, 10, 12, 14));
  SubWarp& second = bench.sub_warp(fma(13, 16, 18, 20));
  SubWarp& third = bench.sub_warp(fma(13, 17, 19, 21));
  std::vector<SubWarp*> left = {&first, &second, &third};
  for (Cycle now = 0; now != 6; ++now) {
    bench.turn(now, left);
  }
  EXPECT_EQ(bench.execute.taken, (Arrivals{{&first, 1}, {&second, 4}, {&third, 5}}));
  EXPECT_EQ(bench.state.statistics.bank_stalls, 2U);
}

TEST(RegisterReadBanks, ASubWarpWithoutThreadsReadsNothing) {
  RegisterReadBench bench(with_banks(2));
  SubWarp& first = bench.sub_warp(fma(11, 10, 12, 14));
  SubWarp& none = bench.sub_warp(fma(13, 16, 18, 20), 0, 0);
  std::vector<SubWarp*> left = {&first, &none};
  for (Cycle now = 0; now != 3; ++now) {
    bench.turn(now, left);
  }
  EXPECT_EQ(bench.execute.taken, (Arrivals{{&first, 1}, {&none, 2}}));
}

TEST(RegisterReadBanks, WhatTheCacheHasIsNotReadFromTheBanks) {
  RegisterReadBench bench(with_banks(2, true));
  SubWarp& first = bench.sub_warp(fma(11, 10, 12, 14), 1 | 4);
  SubWarp& second = bench.sub_warp(fma(13, 10, 13, 14));
  std::vector<SubWarp*> left = {&first, &second};
  for (Cycle now = 0; now != 3; ++now) {
    bench.turn(now, left);
  }
  EXPECT_EQ(bench.execute.taken, (Arrivals{{&first, 1}, {&second, 2}}));
  EXPECT_EQ(bench.state.statistics.kept_operands, 2U);
  EXPECT_EQ(bench.state.statistics.reused_operands, 2U);
  EXPECT_EQ(bench.registers.counters().reads.of(5), 3U + 1);
}

TEST(RegisterReadBanks, NothingIsPromisedInTheNextLaunch) {
  RegisterReadBench bench(with_banks(2));
  SubWarp& first = bench.sub_warp(fma(11, 10, 12, 14));
  SubWarp& other = bench.sub_warp(fma(13, 16, 18, 20));
  std::vector<SubWarp*> left = {&first};
  bench.turn(0, left);
  bench.turn(1, left);
  bench.stage.reset();
  left = {&other};
  bench.turn(1, left);
  bench.turn(2, left);
  EXPECT_EQ(bench.execute.taken, (Arrivals{{&first, 1}, {&other, 2}}));
}

// ---- cores

// Of a loop of what `emit` adds: cycles of each round, and counts of the launch that goes round 30 times.
struct LoopCounts {
  double cycles = 0;
  std::uint64_t stalls = 0, idle = 0, reused = 0, reads = 0;
};
template <class Emit>
LoopCounts counts_of(const Machine& machine, unsigned warps, Emit emit) {
  const std::string text = heddle::test::in_child([&] {
    GpuBench bench(machine);
    Totals totals[2];
    for (const unsigned many : {0U, 0U, 1U}) {  // the first launch opens the code's DRAM row
      Code code;
      heddle::test::add_loop(code, many != 0 ? 30 : 10, [&] { emit(code); });
      code.exit();
      LaunchShape shape;
      shape.block = {warps * machine.core.warp_size, 1, 1};
      shape.registers = 32;
      totals[many] = bench.run(code, shape);
    }
    const CoreStatistics& core = totals[1].core;
    return fmt::format("{} {} {} {} {}", static_cast<double>(totals[1].cycles - totals[0].cycles) / 20,
                       core.bank_stalls, core.idle[static_cast<std::size_t>(IdleCause::register_banks)],
                       core.reused_operands, totals[1].registers.reads);
  });
  LoopCounts out;
  std::istringstream(text) >> out.cycles >> out.stalls >> out.idle >> out.reused >> out.reads;
  return out;
}

constexpr unsigned kRepeated = 16;  // instructions of a round, beside those of the loop
auto repeated(const isa::Instruction& instruction) {
  return [instruction](Code& code) {
    for (unsigned i = 0; i != kRepeated; ++i) {
      code.add(instruction);
    }
  };
}

// Eight warps of a barrel of seven cycles: an instruction in every cycle, or in every second or third one.
TEST(CoresWithRegisterBanks, TakeAsLongAsTheirPorts) {
  const auto bubbles = [](const Machine& machine, const isa::Instruction& instruction) {
    const double without = counts_of(with_banks(0), 8, repeated(instruction)).cycles;
    return (counts_of(machine, 8, repeated(instruction)).cycles - without) / (8 * kRepeated);
  };
  EXPECT_EQ(bubbles(with_banks(2), fma(1, 2, 3, isa::kRZ)), 0);
  EXPECT_NEAR(bubbles(with_banks(2), fma(1, 2, 3, 4)), 1, 0.1);
  EXPECT_NEAR(bubbles(with_banks(2), fma(1, 2, 4, 6)), 2, 0.1);
  EXPECT_EQ(bubbles(with_banks(3), fma(1, 2, 3, 4)), 0);
}

TEST(CoresWithRegisterBanks, NameBubblesAsTheReasonOfIdleCycles) {
  const LoopCounts counts = counts_of(with_banks(2), 8, repeated(fma(1, 2, 4, 6)));
  EXPECT_EQ(counts.idle, counts.stalls);
  EXPECT_NEAR(static_cast<double>(counts.stalls), 2.0 * 8 * kRepeated * 30, 8 * 30);
}

// A warp alone on a scoreboard, whose FFMAs depend on nothing: the cache spares the ports two of three reads.
TEST(CoresWithRegisterBanks, ReuseOperandsThatTheNextInstructionReads) {
  const auto counts = [](bool cache) {
    Machine machine = with_banks(2, cache);
    machine.core.issue = "scoreboard";
    machine.core.scheduler = "sticky";
    return counts_of(machine, 1, [](Code& code) {
      for (unsigned i = 0; i != kRepeated; ++i) {
        code.add(fma(16 + i % 8, 2, 3 + 2 * (i % 3), 4));
      }
    });
  };
  const LoopCounts with = counts(true), without = counts(false);
  EXPECT_EQ(without.reused, 0U);
  // All but those of the first one of a round; and, in the first round, of those that read before decode had the next.
  EXPECT_LE(with.reused, 30U * 2 * (kRepeated - 1));
  EXPECT_GE(with.reused, 29U * 2 * (kRepeated - 1));
  EXPECT_LT(with.cycles, without.cycles);
  EXPECT_EQ(with.reads + 32 * with.reused, without.reads);
}

// ---- machines

std::vector<std::string> complaints(const Machine& machine) {
  std::vector<std::string> out;
  for (const Contradiction& found : check(machine)) {
    out.push_back(found.key + ": " + found.message);
  }
  return out;
}

TEST(RegisterBanksChecks, LanesThatReadForThemselvesAreRefused) {
  Machine machine = with_banks(2);
  EXPECT_TRUE(complaints(machine).empty());
  machine.core.divergence = "mimd";
  EXPECT_THAT(complaints(machine),
              ::testing::Contains("registers.banks: core.divergence = \"mimd\" has lanes that read operands of other "
                                  "instructions each, and a bank's port reads one register of all lanes; use "
                                  "registers.banks = 0"));
  machine.registers.banks = 0;
  EXPECT_THAT(complaints(machine), ::testing::Not(::testing::Contains(::testing::HasSubstr("registers.banks"))));
}

TEST(RegisterBanksChecks, RegistersOfAWarpBesideThemAreRefused) {
  Machine machine = with_banks(2);
  machine.core.scalar = "detector";
  EXPECT_THAT(complaints(machine),
              ::testing::ElementsAre("registers.banks: core.scalar = \"detector\" has registers of a warp beside the "
                                     "banks, whose ports are not modelled; use registers.banks = 0"));
}

TEST(RegisterBanksChecks, WithoutBanksTheOthersHaveNoEffect) {
  std::vector<std::string> keys;
  for (const WithoutEffect& one : without_effect(Machine{})) {
    if (one.because == "registers.banks is 0") {
      keys = one.keys;
    }
  }
  EXPECT_THAT(keys, ::testing::ElementsAre("registers.read_ports", "registers.read_cycles", "registers.write_ports",
                                           "registers.cache"));
}

}  // namespace
}  // namespace heddle::hw::test
