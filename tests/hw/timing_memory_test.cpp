// Memory as the core sees it: scratchpad conflicts, coalescing, L1 port, DRAM latencies, bus occupancy.
#include <gtest/gtest.h>

#include "tests/hw/gpu_bench.hpp"

namespace heddle::test {
namespace {

constexpr unsigned kLoad = 7;  // an instruction of a lone warp that waits for nothing: the pipeline's depth

// Cycles that one instruction adds to a lone warp: the clock before and after it. Everything stands in the first
// instructions of the second line, so that its fetch is warm: a first pass over the code runs with guard 5 (false until
// then) closed.
template <class Prepare, class Emit>
class Measurement {
 public:
  Measurement(Prepare prepare, Emit emit) : prepare_(prepare), emit_(emit) {}
  // Prepares registers, warms the code, measures `emit`; the cycles are in word 0 of the buffer's second half.
  Code code() {
    Code code;
    code.param(9, 0);
    code.rri(Op::ADD, 9, 9, kOperands);
    code.s2r(0, Special::tid_x);
    prepare_(code);
    code.mov(15, 2);
    const Code::Pc top = code.here();
    code.setp(5, isa::Comparison::eq, 15, 1);
    while (code.here() % 16 != 0) {
      code.plain(Op::NOP);
    }
    code.s2r(10, Special::clock);
    code.when(5);
    emit_(code);
    code.s2r(11, Special::clock);
    code.rri(Op::ADD, 15, 15, ~std::uint32_t{0});
    code.setp(6, isa::Comparison::ne, 15, 0);
    const Code::Pc branch = code.when(6).bra();
    code.aim(branch, top, code.here());
    code.rrr(Op::SUB, 10, 11, 10);
    code.store(Op::ST_GLOBAL, 9, 10, kResult * 4);
    code.exit();
    return code;
  }
  // Where r9 points: another DRAM bank than the code's (banks follow each other every 4 KB, and the code lies in bank
  // 0), so that fetches close no row that the operands have opened.
  static constexpr std::uint32_t kOperands = 3 * 4096;
  static constexpr std::uint32_t kResult = 100'000;  // word, from there

 private:
  Prepare prepare_;
  Emit emit_;
};

template <class Prepare, class Emit>
std::uint32_t cycles_of(GpuBench& bench, Prepare prepare, Emit emit, LaunchShape shape = {}) {
  Measurement<Prepare, Emit> measurement(prepare, emit);
  shape.shared_bytes = 32768;
  bench.run(measurement.code(), shape);
  // Between the execute cycles of the two clock reads lie the first read's own seven cycles.
  return bench.word(measurement.kOperands / 4 + measurement.kResult) - kLoad;
}

// r1 = tid * stride.
auto strided(std::uint32_t stride) {
  return [stride](Code& code) { code.rri(Op::MUL_LO, 1, 0, stride); };
}

TEST(Clock, IsReadInTheExecuteStage) {
  GpuBench bench;
  EXPECT_EQ(cycles_of(bench, strided(0), [](Code& code) { code.rri(Op::ADD, 2, 2, 1); }), kLoad);
}

// A hit of n cycles makes the way of a load n - 1 cycles longer. Hits are pipelined: none is put aside or takes a place
// of a waiting access, and enough warps load in every cycle.
class LateHits : public ::testing::TestWithParam<unsigned> {
 protected:
  static constexpr unsigned kLoads = 5;
  // Of a loop of loads of one line: cycles per round, and sub-warps put aside in 10 and in 30 rounds.
  struct Rounds {
    double cycles;
    std::uint64_t put_aside[2];
  };
  static Rounds rounds(hw::Machine machine, unsigned warps) {
    machine.l1d.hit_latency = GetParam();
    machine.core.pending_accesses = 2;
    GpuBench bench(machine);
    Cycle cycles[2];
    Rounds out{};
    for (const unsigned many : {0U, 0U, 1U}) {
      Code code;
      code.param(9, 0);
      add_loop(code, many != 0 ? 30 : 10, [&] {
        for (unsigned i = 0; i != kLoads; ++i) {
          code.load(Op::LD_GLOBAL, 1, 9);
        }
      });
      code.exit();
      LaunchShape shape;
      shape.block = {warps * machine.core.warp_size, 1, 1};
      const std::uint64_t before = bench.core().statistics.put_aside;
      cycles[many] = bench.run(code, shape).cycles;
      out.put_aside[many] = bench.core().statistics.put_aside - before;
    }
    out.cycles = static_cast<double>(cycles[1] - cycles[0]) / 20;
    return out;
  }
};
TEST_P(LateHits, TakeTheirTime) {
  const Rounds lone = rounds({}, 1);
  EXPECT_EQ(lone.cycles, kLoads * (7 + GetParam() - 1) + kLoopInstructions * 7);
  EXPECT_EQ(lone.put_aside[0], 1U) << "the miss";
  EXPECT_EQ(lone.put_aside[1], 1U);
}
TEST_P(LateHits, ArePipelined) {
  const Rounds many = rounds({}, 32);
  EXPECT_EQ(many.cycles, 32 * (kLoads + kLoopInstructions));
  EXPECT_EQ(many.put_aside[0], many.put_aside[1]) << "hits are not";
}
TEST_P(LateHits, LeaveFetchGroupsAsTheyAre) {
  hw::Machine machine;
  machine.core.scheduler = "two-level";
  const Rounds many = rounds(machine, 32);
  const std::uint64_t aside = many.put_aside[1];
  EXPECT_EQ(many.put_aside[0], aside);
}
INSTANTIATE_TEST_SUITE_P(L1, LateHits, ::testing::Values(1, 2, 3, 9, 20));

struct Conflict {
  std::uint32_t stride;  // bytes between neighbouring lanes
  unsigned ways;         // lanes that meet in one bank
};
class BankConflict : public ::testing::TestWithParam<Conflict> {};
// 32 banks of 32 bits: a stride of 2^k words sends 2^k lanes to each bank used; each takes a cycle of its own.
TEST_P(BankConflict, TakesACyclePerWay) {
  GpuBench bench;
  const Conflict& conflict = GetParam();
  EXPECT_EQ(cycles_of(bench, strided(conflict.stride), [](Code& code) { code.load(Op::LD_SHARED, 2, 1); }),
            kLoad + conflict.ways - 1);
  EXPECT_EQ(bench.gpu.totals().scratchpad.bank_conflicts, conflict.ways - 1);
}
INSTANTIATE_TEST_SUITE_P(Scratchpad, BankConflict,
                         ::testing::Values(Conflict{0, 1}, Conflict{4, 1}, Conflict{8, 2}, Conflict{12, 1},
                                           Conflict{16, 4}, Conflict{32, 8}, Conflict{64, 16}, Conflict{128, 32},
                                           Conflict{132, 1}));

TEST(Scratchpad, AtomicsOnOneWordTakeTurns) {
  GpuBench bench;
  EXPECT_EQ(cycles_of(bench, strided(0),
                      [](Code& code) { code.atomic(Op::ATOM_SHARED, isa::AtomicOp::add, isa::Type::u32, 2, 1, 0); }),
            kLoad + 31);
}

TEST(Scratchpad, WideAccessesNeedAWordPerBankAndCycle) {
  GpuBench bench;
  // 64 bits per lane: 64 words over 32 banks, two cycles, none of them a conflict.
  EXPECT_EQ(cycles_of(bench, strided(8), [](Code& code) { code.load(Op::LD_SHARED, 2, 1, 0, isa::Width::b64); }),
            kLoad + 1);
  EXPECT_EQ(bench.gpu.totals().scratchpad.bank_conflicts, 0U);
}

class Lines : public ::testing::TestWithParam<std::pair<std::uint32_t, unsigned>> {};
// Lines in the L1: each distinct one takes a cycle of its one port.
TEST_P(Lines, TakeAPortCycleEach) {
  GpuBench bench;
  const auto [stride, lines] = GetParam();
  const auto prepare = [stride = stride](Code& code) {
    strided(stride)(code);
    code.rrr(Op::ADD, 1, 1, 9);
    code.load(Op::LD_GLOBAL, 3, 1);  // brings the lines
  };
  const std::uint32_t cycles = cycles_of(bench, prepare, [](Code& code) { code.load(Op::LD_GLOBAL, 2, 1); });
  EXPECT_EQ(cycles, kLoad + lines - 1);
  const hw::Totals totals = bench.gpu.totals();
  EXPECT_EQ(totals.core.memory_instructions, 3U) << "two loads and the store of the result";
  EXPECT_EQ(totals.core.line_requests, 2 * lines + 1);
  EXPECT_EQ(totals.l1d.accesses, 2 * lines + 1);
  EXPECT_EQ(totals.l1d.hits, lines);
}
INSTANTIATE_TEST_SUITE_P(Coalescing, Lines,
                         ::testing::Values(std::pair{0U, 1U}, std::pair{4U, 1U}, std::pair{8U, 2U}, std::pair{32U, 8U},
                                           std::pair{124U, 31U}, std::pair{128U, 32U}, std::pair{256U, 32U}));

TEST(Coalescing, TwoPortsHalveThePortCycles) {
  hw::Machine machine;
  machine.l1d.ports = 2;
  GpuBench bench(machine);
  const auto prepare = [](Code& code) {
    strided(128)(code);
    code.rrr(Op::ADD, 1, 1, 9);
    code.load(Op::LD_GLOBAL, 3, 1);
  };
  EXPECT_EQ(cycles_of(bench, prepare, [](Code& code) { code.load(Op::LD_GLOBAL, 2, 1); }), kLoad + 15);
}

// A load that goes to memory: its line request leaves the memory stage in cycle m. The interconnect takes it in m + 1,
// the controller in m + 2; after the DRAM's latency the data is back in the interconnect one cycle later and in the L1
// another one later, which hands it to the memory stage; the sub-warp goes to write-back in that cycle, as a hit would
// have done in m. So a miss costs the DRAM's latency and four cycles more than a hit.
constexpr unsigned kBeyondTheCore = 4;

// Row 0 of bank 0 is opened by a first access, and the second one is elsewhere in it or in another row of the same bank
// (8 banks of 4 KB: 32 KB further).
std::uint32_t second_access(GpuBench& bench, std::uint32_t distance) {
  const auto prepare = [](Code& code) { code.load(Op::LD_GLOBAL, 3, 9); };
  return cycles_of(bench, prepare, [distance](Code& code) { code.load(Op::LD_GLOBAL, 2, 9, distance); });
}

TEST(Dram, ARowHitTakesOneHundredCycles) {
  GpuBench bench;
  EXPECT_EQ(second_access(bench, 128), kLoad + kBeyondTheCore + 100);
}

TEST(Dram, ARowConflictTakesThreeHundred) {
  GpuBench bench;
  EXPECT_EQ(second_access(bench, 32 * 1024), kLoad + kBeyondTheCore + 300);
}

TEST(Dram, TheFirstAccessToABankIsAConflict) {
  GpuBench bench;
  EXPECT_EQ(second_access(bench, 4096), kLoad + kBeyondTheCore + 300);
}

TEST(Dram, LatenciesAreParameters) {
  hw::Machine machine;
  machine.dram.row_hit = 37;
  machine.noc.request_latency = 5;
  machine.noc.response_latency = 9;
  GpuBench bench(machine);
  EXPECT_EQ(second_access(bench, 128), kLoad + kBeyondTheCore + 37 + 4 + 8);
}

// 31 lines of an open row for one load: requests enter one per cycle, the bus carries a line in four, so the last one
// comes 30 x 4 cycles after the first.
TEST(Dram, TheBusCarriesALineInFourCycles) {
  GpuBench bench;
  const auto prepare = [](Code& code) {
    code.load(Op::LD_GLOBAL, 3, 9, 32 * 1024 + 31 * 128);  // opens the row
    code.rri(Op::MIN_U, 1, 0, 30);
    code.rri(Op::MUL_LO, 1, 1, 128);
    code.rrr(Op::ADD, 1, 1, 9);
  };
  EXPECT_EQ(cycles_of(bench, prepare, [](Code& code) { code.load(Op::LD_GLOBAL, 2, 1, 32 * 1024); }),
            kLoad + kBeyondTheCore + 100 + 30 * 4);
  const hw::Totals totals = bench.gpu.totals();
  EXPECT_EQ(totals.dram.bus_busy_cycles, 4 * (totals.dram.reads + totals.dram.writes));
}

// Half the bandwidth, twice the time.
TEST(Dram, TheBusFollowsTheBandwidth) {
  hw::Machine machine;
  machine.dram.bandwidth_gbs = 16;
  GpuBench bench(machine);
  const auto prepare = [](Code& code) {
    code.load(Op::LD_GLOBAL, 3, 9, 31 * 128);
    code.rri(Op::MIN_U, 1, 0, 30);
    code.rri(Op::MUL_LO, 1, 1, 128);
    code.rrr(Op::ADD, 1, 1, 9);
  };
  EXPECT_EQ(cycles_of(bench, prepare, [](Code& code) { code.load(Op::LD_GLOBAL, 2, 1); }),
            kLoad + kBeyondTheCore + 100 + 30 * 8);
}

// While a lone warp waits for its load, nothing else happens: the idle cycles are the memory's.
TEST(Idle, WaitingForMemoryIsCountedAsSuch) {
  std::uint64_t idle[2];
  GpuBench bench;
  for (const unsigned loads : {0U, 1U}) {
    Code code;
    code.param(9, 0);
    for (unsigned i = 0; i < loads; ++i) {
      code.load(Op::LD_GLOBAL, 2, 9, 4096);
    }
    code.exit();
    idle[loads] = bench.run(code).core.idle[static_cast<std::size_t>(hw::IdleCause::memory)];
  }
  EXPECT_EQ(idle[0], 0U);
  // The warp's load leaves the memory stage with the request; the line is there 304 cycles later.
  EXPECT_EQ(idle[1], 304U);
}

TEST(Idle, ScratchpadConflictsHoldTheStageUp) {
  GpuBench bench;
  Code code;
  code.s2r(0, Special::tid_x);
  code.rri(Op::AND, 0, 0, 31);
  code.rri(Op::MUL_LO, 1, 0, 128);
  code.load(Op::LD_SHARED, 2, 1);  // 32 ways
  code.exit();
  LaunchShape shape;
  shape.block = {256, 1, 1};
  shape.shared_bytes = 4096;
  const hw::Totals totals = bench.run(code, shape);
  EXPECT_EQ(totals.scratchpad.accesses, 8U);
  EXPECT_EQ(totals.scratchpad.bank_conflicts, 8U * 31);
  EXPECT_GT(totals.core.idle[static_cast<std::size_t>(hw::IdleCause::scratchpad)], 7U * 25);
}

}  // namespace
}  // namespace heddle::test
