// The L2 in the whole GPU: several cores, several launches, a host between them.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "gpu_bench.hpp"

namespace heddle::test {
namespace {

constexpr unsigned kThreads = 64;
constexpr unsigned kBlocks = 16;
constexpr unsigned kWords = 4;            // counted on
constexpr std::uint32_t kSlots = 0x1000;  // where each thread leaves what it found

// R0: the thread's number in the grid; R9: the buffer.
void number_threads(Code& code) {
  code.s2r(0, Special::ctaid_x);
  code.rri(Op::MUL_LO, 0, 0, kThreads);
  code.s2r(1, Special::tid_x);
  code.rrr(Op::ADD, 0, 0, 1);
  code.param(9, 0);
}

struct Shape {
  const char* name;
  unsigned cores;
  const char* write_policy;
  bool inclusive;
  unsigned channels;
  friend std::ostream& operator<<(std::ostream& out, const Shape& shape) { return out << shape.name; }
};

hw::Machine machine_of(const Shape& shape) {
  hw::Machine machine;
  machine.gpu.cores = shape.cores;
  machine.core.blocks = 2;  // so that every core has some
  machine.l1d.write_policy = "write-through";
  machine.dram.channels = shape.channels;
  machine.l2.enabled = true;
  machine.l2.bytes = 2048;
  machine.l2.ways = 2;
  machine.l2.write_policy = shape.write_policy;
  machine.l2.inclusive = shape.inclusive;
  return machine;
}

class L2Gpu : public ::testing::TestWithParam<Shape> {};

TEST_P(L2Gpu, AtomicsOfAllCoresOnTheSameWordsLoseNothing) {
  GpuBench bench(machine_of(GetParam()));
  Code code;
  number_threads(code);
  code.rri(Op::AND, 2, 0, kWords - 1);
  code.rri(Op::SHL, 2, 2, 2);
  code.rrr(Op::ADD, 2, 2, 9);
  code.mov(3, 1);
  code.atomic(Op::ATOM_GLOBAL, isa::AtomicOp::add, isa::Type::u32, 4, 2, 3);
  code.rri(Op::SHL, 5, 0, 2);
  code.rrr(Op::ADD, 5, 5, 9);
  code.rri(Op::ADD, 5, 5, kSlots);
  code.store(Op::ST_GLOBAL, 5, 4);
  code.exit();
  LaunchShape shape;
  shape.grid = {kBlocks, 1, 1};
  shape.block = {kThreads, 1, 1};
  const hw::Totals totals = bench.run(code, shape);
  constexpr unsigned kEach = kThreads * kBlocks / kWords;
  for (unsigned word = 0; word != kWords; ++word) {
    EXPECT_EQ(bench.word(word), kEach);
    std::vector<std::uint32_t> found;
    for (unsigned thread = word; thread < kThreads * kBlocks; thread += kWords) {
      found.push_back(bench.word(kSlots / 4 + thread));
    }
    std::sort(found.begin(), found.end());
    std::vector<std::uint32_t> all(kEach);
    std::iota(all.begin(), all.end(), 0U);
    EXPECT_EQ(found, all) << "word " << word;
  }
  EXPECT_GT(totals.l2.accesses, 0U);
  EXPECT_EQ(totals.l2.hits + totals.l2.misses, totals.l2.accesses);
}

// What the host writes between two launches is seen by the second, and the first one's results by the host.
TEST_P(L2Gpu, LaunchesAndTheHostSeeEachOther) {
  GpuBench bench(machine_of(GetParam()));
  Code code;
  number_threads(code);
  code.rri(Op::SHL, 1, 0, 2);
  code.rrr(Op::ADD, 1, 1, 9);
  code.load(Op::LD_GLOBAL, 2, 1);
  code.rri(Op::ADD, 2, 2, 5);
  code.rri(Op::ADD, 1, 1, kSlots);
  code.store(Op::ST_GLOBAL, 1, 2);
  code.exit();
  LaunchShape shape;
  shape.grid = {kBlocks, 1, 1};
  shape.block = {kThreads, 1, 1};
  for (std::uint32_t round = 1; round != 4; ++round) {
    for (std::uint32_t i = 0; i != kThreads * kBlocks; ++i) {
      bench.memory.put<std::uint32_t>(GpuBench::kBuffer + 4 * i, round * i);
    }
    bench.run(code, shape);
    for (std::uint32_t i = 0; i != kThreads * kBlocks; ++i) {
      ASSERT_EQ(bench.word(kSlots / 4 + i), round * i + 5) << "round " << round;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(On, L2Gpu,
                         ::testing::Values(Shape{"one_core", 1, "write-back", true, 1},
                                           Shape{"write_back", 4, "write-back", false, 1},
                                           Shape{"inclusive", 4, "write-back", true, 2},
                                           Shape{"write_through", 4, "write-through", true, 2}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace heddle::test
