// Constants and kernel parameters through constant caches: the memory stage between stubs, and a core with the caches.
#include "hw/core/memory/constant_path.hpp"

#include <gmock/gmock.h>

#include "hw/check/machine.hpp"
#include "tests/hw/gpu_bench.hpp"
#include "tests/hw/memory_stage_bench.hpp"
#include "tests/model/child.hpp"

namespace heddle::hw::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Machine with_constant_cache(unsigned line_bytes = 64) {
  Machine machine;
  machine.constant_cache.bytes = 1024;
  machine.constant_cache.line_bytes = line_bytes;
  return machine;
}

struct ConstantBench : MemoryBench {
  explicit ConstantBench(const Machine& machine = with_constant_cache()) : MemoryBench(machine) {}
  // Lane l at offset offset_of[l % size], in a register.
  SubWarp& constant(GroupId group, const std::vector<unsigned>& offset_of, Op op = Op::LD_CONST) {
    SubWarp& out = sub_warp(group, [op](Code& code) { code.load(op, 1, 2); });
    for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
      out.address[lane] = offset_of[lane % offset_of.size()];
    }
    return out;
  }
  SubWarp& parameter(GroupId group, unsigned offset) {
    SubWarp& out = sub_warp(group, [](Code& code) { code.param(1, 0); });
    out.address.fill(offset);
    return out;
  }
  void expect_from(const SubWarp& load, std::uint64_t base) {
    for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
      ASSERT_EQ(load.values.result[0][lane], StubL1::word_at(base + load.address[lane])) << "lane " << lane;
    }
  }
};

TEST(ConstantPath, OneAddressIsOneRequestForAllLanes) {
  ConstantBench bench;
  SubWarp& load = bench.constant(0, {76});
  bench.feed(load, 0);
  ASSERT_EQ(bench.constants->taken.size(), 1U);
  EXPECT_EQ(bench.constants->taken[0].address, bench.launch.constant_base + 64);
  EXPECT_EQ(bench.constants->taken[0].lanes, kAll);
  ASSERT_EQ(bench.writeback.taken.size(), 1U);
  EXPECT_EQ(bench.writeback.taken[0], (StubReceiver::Arrival{&load, 1}));
  bench.expect_from(load, bench.launch.constant_base);
  EXPECT_TRUE(bench.l1.taken.empty());
  EXPECT_EQ(bench.state.statistics.constant_accesses, 1U);
  EXPECT_EQ(bench.state.statistics.constant_serialised, 0U);
  EXPECT_EQ(bench.state.statistics.memory_instructions, 0U);
}

TEST(ConstantPath, ParametersLieInTheirOwnBank) {
  ConstantBench bench;
  SubWarp& load = bench.parameter(0, 12);
  bench.feed(load, 0);
  ASSERT_EQ(bench.constants->taken.size(), 1U);
  EXPECT_EQ(bench.constants->taken[0].address, bench.launch.parameter_base);
  bench.expect_from(load, bench.launch.parameter_base);
}

// Two of the addresses are in one line; each takes a cycle all the same.
TEST(ConstantPath, DifferentAddressesFollowEachOtherByOneInACycle) {
  ConstantBench bench;
  SubWarp& load = bench.constant(0, {8, 4, 8, 200});
  SubWarp& next = bench.add(1);
  ASSERT_TRUE(bench.offer(load, 0));
  for (Cycle now = 1; now != 3; ++now) {
    bench.tick(now);
    EXPECT_TRUE(bench.writeback.taken.empty()) << now;
    EXPECT_EQ(bench.state.block_cause, IdleCause::constants) << now;
    EXPECT_TRUE(bench.stage.full()) << now;
  }
  bench.tick(3);
  ASSERT_EQ(bench.writeback.taken.size(), 1U) << "not one cycle later";
  bench.expect_from(load, bench.launch.constant_base);
  ASSERT_EQ(bench.constants->taken.size(), 3U);
  EXPECT_EQ(bench.constants->taken[0].lanes, 0x5555'5555U) << "in the order of their lowest lanes";
  EXPECT_EQ(bench.constants->taken[1].lanes, 0x2222'2222U);
  EXPECT_EQ(bench.constants->taken[2].lanes, 0x8888'8888U);
  EXPECT_EQ(bench.constants->taken[2].cycle, 3U);
  EXPECT_EQ(bench.state.statistics.constant_serialised, 2U);
  bench.feed(next, 3);
  EXPECT_EQ(bench.writeback.taken.size(), 2U);
}

TEST(ConstantPath, SeveralPortsTakeSeveralAddressesInACycle) {
  Machine machine = with_constant_cache();
  machine.constant_cache.ports = 2;
  ConstantBench bench(machine);
  bench.constants->ports = 32;
  SubWarp& load = bench.constant(0, {0, 64, 128, 192, 252});
  ASSERT_TRUE(bench.offer(load, 0));
  bench.tick(1);
  bench.tick(2);
  EXPECT_TRUE(bench.writeback.taken.empty());
  bench.tick(3);
  EXPECT_EQ(bench.writeback.taken.size(), 1U);
}

// What other sub-cores of the core have taken counts too. An address that the instruction names is not among them.
TEST(ConstantPath, AddressesInRegistersKeepTheCoresInterval) {
  ConstantBench bench;
  SharedRate rate(3);
  bench.stage.read_constants_at(rate);
  rate.take(0);
  SubWarp& load = bench.constant(0, {8, 4, 8, 200});
  SubWarp& named = bench.parameter(1, 12);
  ASSERT_TRUE(bench.offer(load, 0));
  for (Cycle now = 1; now != 9; ++now) {
    bench.tick(now);
    EXPECT_EQ(bench.constants->taken.size(), now / 3) << now;
    EXPECT_TRUE(bench.writeback.taken.empty()) << now;
    EXPECT_EQ(bench.state.block_cause, IdleCause::constants) << now;
  }
  bench.tick(9);
  ASSERT_EQ(bench.constants->taken.size(), 3U);
  ASSERT_EQ(bench.writeback.taken.size(), 1U);
  bench.expect_from(load, bench.launch.constant_base);
  bench.feed(named, 9);
  EXPECT_EQ(bench.constants->taken.size(), 4U) << "in cycle 10";
  EXPECT_FALSE(rate.free(11));
  EXPECT_TRUE(rate.free(12));
}

TEST(ConstantPath, AMissIsPutAsideAndOthersPass) {
  ConstantBench bench;
  bench.constants->missing = {bench.launch.constant_base};
  SubWarp& load = bench.constant(0, {4, 68});
  SubWarp& other = bench.add(1);
  ASSERT_TRUE(bench.offer(load, 0));
  bench.tick(1);
  bench.tick(2);
  EXPECT_EQ(bench.stage.put_aside(), 1U);
  EXPECT_EQ(bench.state.groups[0].state, GroupState::memory);
  bench.feed(other, 2);
  ASSERT_EQ(bench.writeback.taken.size(), 1U);
  EXPECT_EQ(bench.writeback.taken[0].sub_warp, &other);
  bench.constants->respond(*bench.constants->taken[0].request);
  bench.tick(4);
  ASSERT_EQ(bench.returns.taken.size(), 1U);
  EXPECT_EQ(bench.returns.taken[0], (StubReceiver::Arrival{&load, 4}));
  bench.expect_from(load, bench.launch.constant_base);
  EXPECT_EQ(bench.state.statistics.missed_accesses, 0U) << "of the L1";
}

TEST(ConstantPath, AFailedLineIsABusError) {
  ConstantBench bench;
  bench.constants->missing = {bench.launch.constant_base};
  SubWarp& load = bench.constant(0, {4});
  bench.feed(load, 0);
  bench.constants->respond(*bench.constants->taken[0].request, /*failed=*/true);
  ASSERT_TRUE(bench.state.fault);
  EXPECT_EQ(bench.state.fault->kind, isa::Fault::Kind::bus_error);
}

TEST(ConstantPath, AFullCacheIsAskedAgain) {
  ConstantBench bench;
  bench.constants->full = true;
  SubWarp& load = bench.constant(0, {4});
  bench.feed(load, 0);
  EXPECT_EQ(bench.state.block_cause, IdleCause::mshrs_full);
  bench.constants->full = false;
  bench.tick(2);
  EXPECT_EQ(bench.writeback.taken.size(), 1U);
}

TEST(ConstantPath, GenericLoadsOfConstantsGoToTheL1) {
  ConstantBench bench;
  SubWarp& load = bench.sub_warp(0, [](Code& code) { code.load(Op::LD_GENERIC, 1, 2); });
  load.address.fill(isa::kConstantWindow + 20);
  load.address[9] = MemoryBench::line(3);
  ASSERT_TRUE(bench.offer(load, 0));
  bench.tick(1);
  bench.tick(2);
  EXPECT_TRUE(bench.constants->taken.empty());
  ASSERT_EQ(bench.l1.taken.size(), 2U);
  EXPECT_EQ(load.values.result[0][0], StubL1::word_at(bench.launch.constant_base + 20));
  EXPECT_EQ(load.values.result[0][9], StubL1::word_at(MemoryBench::line(3)));
  EXPECT_EQ(load.address_low[0], isa::kConstantWindow + 20) << "as the program has it";
}

Machine with_constant_l0(unsigned latency) {
  Machine machine = with_constant_cache();
  machine.constant_cache.l0_bytes = 128;
  machine.constant_cache.l0_latency = latency;
  return machine;
}

TEST(ConstantPath, AHitOfTheL0TakesItsTimeAtAnAddressInARegister) {
  for (const unsigned addresses : {1U, 2U}) {
    const std::string seen = heddle::test::in_child([addresses] {
      ConstantBench bench(with_constant_l0(5));
      bench.constants->ports = 32;
      SubWarp& load = bench.constant(0, addresses == 1 ? std::vector{8U} : std::vector{8U, 12U});
      if (!bench.offer(load, 0)) {
        return std::string("refused");
      }
      for (Cycle now = 1; bench.returns.taken.empty() && now != 20; ++now) {
        bench.tick(now);
      }
      bench.expect_from(load, bench.launch.constant_base);
      return std::to_string(bench.returns.taken.at(0).cycle);
    });
    EXPECT_EQ(seen, std::to_string(addresses - 1 + 5)) << "after the last address";
  }
}

TEST(ConstantPath, AtAnAddressThatTheInstructionNamesItTakesNone) {
  ConstantBench bench(with_constant_l0(5));
  SubWarp& load = bench.parameter(0, 8);
  bench.feed(load, 0);
  EXPECT_EQ(bench.writeback.taken.size(), 1U);
  EXPECT_TRUE(bench.stage.idle());
}

Machine with_queue_and_constants() {
  Machine machine = with_constant_cache();
  machine.lsu = {5, 4, 2};
  return machine;
}

TEST(ConstantPath, ConstantsPassTheMemoryQueue) {
  ConstantBench bench(with_queue_and_constants());
  SubWarp& load = bench.load(0, {0});
  bench.queue(load);
  SubWarp& constant = bench.constant(1, {4, 0});
  bench.feed(load, 0);
  ASSERT_TRUE(bench.offer(constant, 1));
  bench.tick(2);
  EXPECT_EQ(bench.state.block_cause, IdleCause::constants);
  EXPECT_TRUE(bench.writeback.taken.empty());
  bench.tick(3);
  ASSERT_EQ(bench.writeback.taken.size(), 1U);
  EXPECT_EQ(bench.writeback.taken[0].sub_warp, &constant);
  bench.expect_from(constant, bench.launch.constant_base);
  for (Cycle now = 4; now != 8; ++now) {
    bench.tick(now);
  }
  EXPECT_EQ(bench.returns.taken.size(), 1U) << "the load";
}

TEST(ConstantPath, AMissIsPutAsideBesideTheMemoryQueue) {
  ConstantBench bench(with_queue_and_constants());
  bench.constants->missing = {bench.launch.constant_base};
  SubWarp& constant = bench.constant(1, {4});
  SubWarp& other = bench.add(2);
  bench.feed(constant, 0);
  EXPECT_EQ(bench.stage.put_aside(), 1U);
  bench.feed(other, 1);
  EXPECT_EQ(bench.writeback.taken.size(), 1U);
  bench.constants->respond(*bench.constants->taken[0].request);
  bench.tick(3);
  ASSERT_EQ(bench.returns.taken.size(), 1U);
  bench.expect_from(constant, bench.launch.constant_base);
  EXPECT_TRUE(bench.stage.idle());
}

// ---- a core with its caches

using heddle::test::difference;
using heddle::test::GpuBench;
using heddle::test::LaunchShape;

// A warp whose lane l stores its word of constant (l * stride) % 32, which is 100 + its number, `rounds` times.
Code read_constant_table(std::uint32_t stride, unsigned rounds) {
  Code code;
  code.s2r(2, isa::Special::tid_x);
  code.rri(Op::SHL, 3, 2, 2);
  code.param(4, 0);
  code.rrr(Op::ADD, 4, 4, 3);
  code.rri(Op::MUL_LO, 5, 2, 4 * stride);
  code.rri(Op::AND, 5, 5, 127);
  heddle::test::add_loop(code, rounds, [&] { code.load(Op::LD_CONST, 6, 5); });
  code.store(Op::ST_GLOBAL, 4, 6);
  code.exit();
  return code;
}

Totals totals_of_constant_table(const Machine& machine, std::uint32_t stride, unsigned rounds, unsigned threads = 32) {
  GpuBench bench(machine);
  for (std::uint32_t word = 0; word != 32; ++word) {
    for (unsigned byte = 0; byte != 4; ++byte) {
      bench.constants.push_back(static_cast<std::uint8_t>((100 + word) >> (8 * byte)));
    }
  }
  LaunchShape shape;
  shape.block = {threads, 1, 1};
  const Totals totals = bench.run(read_constant_table(stride, rounds), shape);
  for (std::uint32_t thread = 0; thread != threads; ++thread) {
    EXPECT_EQ(bench.word(thread), 100 + thread * stride % 32) << thread;
  }
  return totals;
}

template <class Count>
std::uint64_t constant_count(Count count) {
  return std::stoull(heddle::test::in_child([&] { return std::to_string(count()); }));
}

TEST(ConstantCaches, LinesComeOnce) {
  const Totals totals = totals_of_constant_table(with_constant_cache(), 1, 10);
  EXPECT_EQ(totals.core.constant_accesses, 11U) << "and the parameter";
  EXPECT_EQ(totals.core.constant_serialised, 310U);
  EXPECT_EQ(totals.constant_cache.accesses, 321U);
  EXPECT_EQ(totals.constant_cache.memory_reads, 3U) << "128 bytes of constants, one line of parameters";
  EXPECT_EQ(totals.constant_cache.hits + totals.constant_cache.misses, 321U);
  EXPECT_EQ(totals.l1d.loads, 0U);
}

// In the pipeline of a warp alone each address beyond the first takes a cycle.
TEST(ConstantCaches, EachAddressTakesACycle) {
  const auto cycles = [](std::uint32_t stride, unsigned rounds) {
    return constant_count([&] { return totals_of_constant_table(with_constant_cache(), stride, rounds).cycles; });
  };
  const std::uint64_t uniform = cycles(0, 30) - cycles(0, 20);
  EXPECT_EQ(uniform, 10U * 7 * (1 + heddle::test::kLoopInstructions));
  EXPECT_EQ(cycles(8, 30) - cycles(8, 20), uniform + 10 * 3) << "4 addresses";
  EXPECT_EQ(cycles(1, 30) - cycles(1, 20), uniform + 10 * 31) << "32 addresses";
}

TEST(ConstantCaches, SubCoresShareTheCoresRateOfAddressesInRegisters) {
  const auto cycles_per_round = [](unsigned interval, unsigned threads, std::uint32_t stride) {
    const auto cycles = [&](unsigned rounds) {
      return constant_count([&] {
        Machine machine = with_constant_cache();
        machine.core.sub_cores = 2;
        machine.constant_cache.l0_bytes = 256;
        machine.constant_cache.interval = interval;
        return totals_of_constant_table(machine, stride, rounds, threads).cycles;
      });
    };
    return (cycles(30) - cycles(20)) / 10;
  };
  const std::uint64_t uniform = cycles_per_round(0, 32, 0);
  EXPECT_EQ(cycles_per_round(0, 64, 1), uniform + 31) << "each sub-core by itself";
  EXPECT_EQ(cycles_per_round(1, 32, 1), uniform + 31);
  EXPECT_EQ(cycles_per_round(4, 32, 1), uniform + 4 * 31);
  const std::uint64_t of_both = cycles_per_round(4, 64, 1);
  EXPECT_GE(of_both, 4 * 64U) << "32 addresses of either";
  EXPECT_LE(of_both, 4 * 64U + uniform);
  EXPECT_EQ(cycles_per_round(4, 64, 0), uniform) << "one of either, and other instructions";
}

TEST(ConstantCaches, AHitOfTheCoresTakesItsLatencyBehindTheL0s) {
  const auto cycles = [](unsigned latency, unsigned l0_bytes, unsigned rounds) {
    return constant_count([&] {
      Machine machine = with_constant_cache();
      machine.constant_cache.hit_latency = latency;
      machine.constant_cache.l0_bytes = l0_bytes;
      machine.constant_cache.l0_ways = 1;
      return totals_of_constant_table(machine, 0, rounds).cycles;
    });
  };
  const std::uint64_t at_once = cycles(1, 0, 30) - cycles(1, 0, 20);
  EXPECT_EQ(cycles(9, 0, 30) - cycles(9, 0, 20), at_once + 10 * 8);
  EXPECT_EQ(cycles(9, 128, 30) - cycles(9, 128, 20), at_once) << "there from the first round on";
}

TEST(ConstantCaches, EachSubCoreHasAnL0OfItsOwn) {
  Machine machine = with_constant_cache();
  machine.core.sub_cores = 2;
  machine.constant_cache.l0_bytes = 256;
  GpuBench bench(machine);
  Code code;
  code.param(4, 0);
  code.param(4, 0);
  code.exit();
  LaunchShape shape;
  shape.block = {64, 1, 1};
  const Totals totals = bench.run(code, shape);
  EXPECT_EQ(totals.l0c.accesses, 4U);
  EXPECT_EQ(totals.l0c.misses, 2U);
  EXPECT_EQ(totals.constant_cache.accesses, 2U);
  EXPECT_EQ(totals.constant_cache.memory_reads, 1U);
}

TEST(ConstantCaches, ALaunchSeesWhatTheHostHasWrittenBeforeIt) {
  Machine machine = with_constant_cache();
  machine.l2.enabled = true;
  machine.constant_cache.l0_bytes = 128;
  GpuBench bench(machine);
  for (const std::uint8_t value : {7, 9}) {
    bench.constants.assign(128, value);
    bench.run(read_constant_table(0, 1));
    EXPECT_EQ(bench.word(0), value * 0x01010101U);
  }
}

TEST(ConstantCaches, ALaunchWithoutAPlaceForItsParametersIsRefused) {
  GpuBench bench(with_constant_cache());
  Code code;
  code.exit();
  bench.run(code);
  const auto starts = [&](std::uint64_t base) {
    bench.write_register(RegisterOffset::parameter_base, base);
    return bench.may_start();
  };
  EXPECT_FALSE(starts(0));
  EXPECT_FALSE(starts(isa::kBankBacking + 128));
  EXPECT_TRUE(starts(isa::kBankBacking + 256));
}

// ---- what makes no sense

std::string constant_refusal(const Machine& machine) {
  const std::vector<Contradiction> found = check(machine);
  return found.empty() ? "" : found.front().message;
}

TEST(ConstantCacheCheck, WaysAndLinesDivideWhatThereIs) {
  Machine machine = with_constant_cache();
  machine.constant_cache.ways = 3;
  EXPECT_THAT(constant_refusal(machine),
              HasSubstr("constant_cache.ways (3) times constant_cache.line_bytes (64) does not "
                        "divide constant_cache.bytes (1024)"));
  machine.constant_cache.ways = 16;
  EXPECT_EQ(constant_refusal(machine), "");
  machine.constant_cache.l0_bytes = 192;
  EXPECT_THAT(constant_refusal(machine), HasSubstr("constant_cache.l0_ways (2)"));
  machine.constant_cache.l0_ways = 3;
  EXPECT_EQ(constant_refusal(machine), "");
}

TEST(ConstantCacheCheck, AnL0StandsBeforeSomething) {
  Machine machine;
  machine.constant_cache.l0_bytes = 128;
  EXPECT_THAT(constant_refusal(machine), HasSubstr("constant_cache.bytes is 0"));
}

TEST(ConstantCacheCheck, LinesAreNoLongerThanThoseOfTheL1) {
  Machine machine = with_constant_cache(128);
  EXPECT_EQ(constant_refusal(machine), "");
  machine.l1d.line_bytes = machine.icache.line_bytes = 64;
  EXPECT_THAT(constant_refusal(machine),
              HasSubstr("constant_cache.line_bytes (128) is larger than l1d.line_bytes (64)"));
}

TEST(ConstantCacheCheck, AnL0ServesOneAddressPerCycle) {
  Machine machine = with_constant_l0(1);
  machine.core.divergence = "mimd";
  EXPECT_THAT(constant_refusal(machine), HasSubstr("use constant_cache.l0_bytes = 0"));
  machine.constant_cache.l0_bytes = 0;
  EXPECT_EQ(constant_refusal(machine), "");
  machine.gpu.perfect_memory = true;
  EXPECT_EQ(constant_refusal(machine), "");
  machine.constant_cache.l0_bytes = 128;
  machine.core.divergence = "stack";
  EXPECT_THAT(constant_refusal(machine), HasSubstr("gpu.perfect_memory"));
}

}  // namespace
}  // namespace heddle::hw::test
