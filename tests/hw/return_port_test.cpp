// Results from memory on their way to the lanes' registers, by the bytes that the port takes (l1d.return_bytes).
#include "hw/check/machine.hpp"
#include "isa/register_use.hpp"
#include "tests/hw/memory_stage_bench.hpp"

namespace heddle::hw::test {
namespace {

Machine with_port(unsigned bytes) {
  Machine machine;
  machine.l1d.hit_latency = 2;
  machine.l1d.return_bytes = bytes;
  return machine;
}

// A register of 32 lanes is 128 bytes.
struct PortedLoad {
  const char* name;
  unsigned words;  // of each lane
  unsigned bytes;  // of the port
  Cycle cycles;    // that its results need
};
class ReturnPort : public ::testing::TestWithParam<PortedLoad> {};

TEST_P(ReturnPort, TakesAsManyCyclesAsTheResultsNeed) {
  MemoryBench bench(with_port(GetParam().bytes));
  bench.l1.late = {MemoryBench::line(0), MemoryBench::line(1)};
  const auto load = [&](GroupId group, unsigned line) -> SubWarp& {
    SubWarp& out = bench.sub_warp(
        group, [](isa::test::Code& code) { code.load(Op::LD_GLOBAL, 4, 2, 0, isa::Width::b32, GetParam().words); });
    out.address.fill(MemoryBench::line(line));
    bench.instructions.back()->use = isa::register_use(out.decoded->instruction);
    return out;
  };
  SubWarp& first = load(0, 0);
  SubWarp& second = load(1, 1);
  bench.feed(first, 0);
  bench.feed(second, 1);
  for (unsigned i = 0; i != 2; ++i) {
    bench.l1.respond(*bench.l1.taken[i].request);
  }
  const Cycle cycles = GetParam().cycles;
  for (Cycle now = 3; now != 3 + 2 * cycles; ++now) {
    EXPECT_EQ(bench.returns.taken.size(), (now - 3) / cycles) << now;
    EXPECT_FALSE(bench.stage.idle());
    bench.tick(now);
  }
  ASSERT_EQ(bench.returns.taken.size(), 2U);
  EXPECT_EQ(bench.returns.taken[0].sub_warp, &first);
  EXPECT_EQ(bench.returns.taken[1].sub_warp, &second);
  EXPECT_TRUE(bench.stage.idle());
}
// 64 bytes in a cycle: 2, 4 and 8 cycles, so that loads of 64 bits take 2 more and those of 128 bits 6 (MICRO 2025,
// table 2).
INSTANTIATE_TEST_SUITE_P(Widths, ReturnPort,
                         ::testing::Values(PortedLoad{"any", 4, 0, 1}, PortedLoad{"word", 1, 64, 2},
                                           PortedLoad{"pair", 2, 64, 4}, PortedLoad{"four", 4, 64, 8},
                                           PortedLoad{"just_a_row", 1, 128, 1},
                                           PortedLoad{"not_quite_a_row", 1, 127, 2}),
                         [](const auto& info) { return std::string(info.param.name); });
void PrintTo(const PortedLoad& load, std::ostream* out) {
  *out << load.name;
}

// Those of the scratchpad by 128 bytes, but no faster than 32 bits from the L1 (MICRO 2025, table 2: LDS).
struct ScratchpadLoad {
  const char* name;
  unsigned words;
  unsigned bytes;  // scratchpad.return_bytes
  Cycle cycles;
};
class ScratchpadReturns : public ::testing::TestWithParam<ScratchpadLoad> {};

TEST_P(ScratchpadReturns, HaveThePortAsLongAsAWordAtLeast) {
  Machine machine = with_port(64);
  machine.scratchpad.latency = 5;
  machine.scratchpad.return_bytes = GetParam().bytes;
  MemoryBench bench(machine);
  SubWarp& load = bench.sub_warp(
      0, [](isa::test::Code& code) { code.load(Op::LD_SHARED, 4, 2, 0, isa::Width::b32, GetParam().words); });
  load.address.fill(64);
  bench.instructions.back()->use = isa::register_use(load.decoded->instruction);
  ASSERT_TRUE(bench.offer(load, 0));
  const Cycle there = 5;  // the results, of an access in cycle 1
  for (Cycle now = 1; now != there + GetParam().cycles - 1; ++now) {
    bench.tick(now);
    EXPECT_TRUE(bench.returns.taken.empty()) << now;
  }
  bench.tick(there + GetParam().cycles - 1);
  EXPECT_EQ(bench.returns.taken.size(), 1U);
}
INSTANTIATE_TEST_SUITE_P(Widths, ScratchpadReturns,
                         ::testing::Values(ScratchpadLoad{"word", 1, 128, 2}, ScratchpadLoad{"pair", 2, 128, 2},
                                           ScratchpadLoad{"four", 4, 128, 4}, ScratchpadLoad{"four_at_once", 4, 512, 2},
                                           ScratchpadLoad{"four_as_others", 4, 0, 8}),
                         [](const auto& info) { return std::string(info.param.name); });
void PrintTo(const ScratchpadLoad& load, std::ostream* out) {
  *out << load.name;
}

TEST(ReturnPortChecks, HitsMustComeByIt) {
  Machine machine = with_port(64);
  EXPECT_TRUE(check(machine).empty());
  machine.l1d.hit_latency = 1;
  const std::vector<Contradiction> found = check(machine);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].key, "l1d.return_bytes");
  EXPECT_EQ(found[0].message,
            "l1d.return_bytes (64) is of a port that hits do not come by with l1d.hit_latency = 1, but the memory "
            "stage itself; use 0");
}

}  // namespace
}  // namespace heddle::hw::test
