// Register banks, register file cache and instruction prefetch of RTX A6000 beside what MICRO 2025 ("Dissecting and
// Modeling the Architecture of Modern GPU Cores") measured of one, and what its model says of them: a core of
// `rtx-a6000`, with kernels of machine words. Their control bits are the compiler's: distances as small as the results
// allow, as the authors set them in their listings. docs/gpus.md has the table that this computes.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <fstream>
#include <functional>
#include <sstream>
#include <vector>

#include "tb/config/config.hpp"
#include "tests/hw/controlled_code.hpp"
#include "tests/hw/gpu_bench.hpp"
#include "tests/model/child.hpp"

namespace heddle::test {
namespace {

hw::Machine a6000(const std::vector<std::string>& settings = {}) {
  std::vector<std::string> all = {"gpu.cores=1"};
  all.insert(all.end(), settings.begin(), settings.end());
  return tb::read_machine("rtx-a6000-8sm", all);
}

isa::Instruction operation(Op op, unsigned dst, unsigned a, unsigned b, unsigned c = isa::kRZ) {
  isa::Instruction out;
  out.op = op;
  out.dst = static_cast<std::uint8_t>(dst);
  out.a = static_cast<std::uint8_t>(a);
  out.b = static_cast<std::uint8_t>(b);
  out.c = static_cast<std::uint8_t>(c);
  return out;
}

// In a process of its own: the cycles that a warp's clock tells of what `emit` adds between two readings, in the second
// round of a loop, when the instruction caches have it.
std::uint64_t clocked(const hw::Machine& machine, const std::function<void(Code&)>& emit) {
  return std::stoull(in_child([&] {
    GpuBench bench(machine);
    Code code;
    add_loop(code, 2, [&] {
      code.s2r(0, Special::clock);
      emit(code);
      code.s2r(1, Special::clock);
    });
    code.rrr(Op::SUB, 1, 1, 0);
    code.param(0, 0);
    code.store(Op::ST_GLOBAL, 0, 1);
    code.exit();
    write_bits(code, machine);
    LaunchShape shape;
    shape.registers = 63;
    bench.run(code, shape);
    return std::to_string(bench.word(0));
  }));
}

// Cycles of a launch of warps that go round a loop of what `emit` adds, per round, once the caches have it: by launches
// of `few` rounds, and of `more` beyond those.
double cycles_per_round(const hw::Machine& machine, unsigned warps, const std::function<void(Code&)>& emit,
                        unsigned few = 10, unsigned more = 20) {
  return std::stod(in_child([&] {
    GpuBench bench(machine);
    Cycle cycles[2] = {};
    for (const unsigned many : {0U, 0U, 1U}) {
      Code code;
      add_loop(code, few + many * more, [&] { emit(code); });
      code.exit();
      write_bits(code, machine);
      LaunchShape shape;
      shape.block = {32 * warps, 1, 1};
      shape.registers = 63;
      cycles[many] = bench.run(code, shape).cycles;
    }
    return fmt::format("{}", static_cast<double>(cycles[1] - cycles[0]) / more);
  }));
}

// The document has the row, with the figure that is found here.
void expect_row(const std::string& what, const std::string& source, const std::string& here) {
  std::ifstream file(std::string(HEDDLE_SOURCE_DIR) + "/docs/gpus.md");
  std::stringstream text;
  text << file.rdbuf();
  const std::string row = fmt::format("| {} | {} | {} |\n", what, source, here);
  EXPECT_NE(text.str().find(row), std::string::npos) << "docs/gpus.md has no row\n" << row;
}

// Listing 1: cycles from one reading of the clock to the next.
TEST(PublishedRegisters, ReadConflictsOfListingOne) {
  const auto cycles = [](unsigned x, unsigned y) {
    return clocked(a6000(), [&](Code& code) {
      code.plain(Op::NOP);
      code.add(operation(Op::FFMA, 11, 10, 12, 14));
      code.add(operation(Op::FFMA, 13, 16, x, y));
      code.plain(Op::NOP);
    });
  };
  const std::uint64_t none = cycles(19, 21), one = cycles(18, 21), both = cycles(18, 20);
  EXPECT_EQ(none, 5U);
  EXPECT_EQ(one, 6U);
  EXPECT_EQ(both, 7U);
  expect_row("listing 1: none, one, both of the second FFMA's in the bank of its first", "5, 6, 7 cycles",
             fmt::format("{}, {}, {}", none, one, both));
}

// Section 5.3, without marks for reuse. Four warps, one in each sub-core.
TEST(PublishedRegisters, BubblesOfOperandsInABank) {
  constexpr unsigned kInstructions = 64;
  const auto bubbles = [](Op op, unsigned a, unsigned b, unsigned c) {
    const auto cycles = [&](unsigned x, unsigned y, unsigned z) {
      return cycles_per_round(a6000({"registers.cache=false"}), 4, [&](Code& code) {
        for (unsigned i = 0; i != kInstructions; ++i) {
          code.add(operation(op, 20 + i % 8, x, y, z));
        }
      });
    };
    return (cycles(a, b, c) - cycles(isa::kRZ, isa::kRZ, isa::kRZ)) / kInstructions;
  };
  const struct {
    const char* what;
    Op op;
    unsigned a, b, c;
    double measured;
  } rows[] = {{"FMUL, sources in two banks: bubbles", Op::FMUL, 2, 3, isa::kRZ, 0},
              {"FMUL, sources in one bank: bubbles", Op::FMUL, 2, 4, isa::kRZ, 1},
              {"FFMA, sources in one bank: bubbles", Op::FFMA, 2, 4, 6, 2}};
  for (const auto& row : rows) {
    const double here = bubbles(row.op, row.a, row.b, row.c);
    EXPECT_NEAR(here, row.measured, 0.05) << row.what;
    expect_row(row.what, fmt::format("{:.0f}", row.measured), fmt::format("{:.1f}", here + 0.0));
  }
}

// Table 6, CUDA 12.8. MaxFlops: three operands each, nothing reused. Cutlass: the FFMAs of a tile of a matrix product,
// 4 rows of a by 8 columns of b, two rows at a time and there and back, so that each reads again one of what the one
// before has read, and the sum that it adds to is in the bank that its new operand is not in.
void max_flops(Code& code) {
  for (unsigned i = 0; i != 64; ++i) {
    code.add(operation(Op::FFMA, 32 + i % 8, 16 + i % 4, 20 + (i + 2) % 4, 24 + (i + 1) % 4));
  }
}
void tile(Code& code) {
  for (unsigned times = 0; times != 4; ++times) {
    unsigned next_sum[] = {16, 17};  // of each bank
    for (unsigned step = 0; step != 32; ++step) {
      const unsigned column = step % 16 / 2;
      const unsigned row = step / 16 * 2 + (step + 1) / 2 % 2;
      const unsigned fresh = step % 2 == 0 ? 6 + column : 2 + row;
      unsigned& sum = next_sum[1 - fresh % 2];
      code.add(operation(Op::FFMA, sum, 2 + row, 6 + column, sum));
      sum += 2;
    }
  }
}

TEST(PublishedRegisters, SpeedUpsByPortsAndCache) {
  const std::vector<std::string> no_cache = {"registers.cache=false"};
  const std::vector<std::string> two_ports = {"registers.cache=false", "registers.read_ports=2"};
  const struct {
    const char* what;
    void (*kernel)(Code&);
    const std::vector<std::string>& settings;
    double measured, margin;
  } rows[] = {{"MaxFlops without the register file cache: speed-up", max_flops, no_cache, 1, 0.01},
              {"MaxFlops with two ports and no cache: speed-up", max_flops, two_ports, 1.45, 0.1},
              {"Cutlass without the register file cache: speed-up", tile, no_cache, 0.69, 0.05},
              {"Cutlass with two ports and no cache: speed-up", tile, two_ports, 1.02, 0.05}};
  for (const auto& row : rows) {
    // Eight warps in each sub-core: sums are there again when they are read, and others hide the end of a loop.
    const double here =
        cycles_per_round(a6000(), 32, row.kernel) / cycles_per_round(a6000(row.settings), 32, row.kernel);
    EXPECT_NEAR(here, row.measured, row.margin) << row.what;
    expect_row(row.what, fmt::format("{:.2f}", row.measured), fmt::format("{:.2f}", here));
  }
}

// Table 5, in direction: more lines in the stream buffer are faster, and beyond 8 there is little left. The paper's
// figures are means over its benchmarks; here two warps of each sub-core go round a loop of twice as many instructions
// as an L0 holds.
TEST(PublishedPrefetch, SpeedUpsByLinesOfTheStreamBuffer) {
  const auto cycles = [](unsigned lines) {
    return cycles_per_round(
        a6000({fmt::format("l0i.prefetch={}", lines)}), 8,
        [](Code& code) {
          for (unsigned i = 0; i != 4096; ++i) {
            code.add(operation(Op::FADD, 20 + i % 8, 2, 3));
          }
        },
        1, 2);
  };
  const struct {
    unsigned lines;
    double published;
  } sizes[] = {{1, 1.08}, {2, 1.19}, {4, 1.29}, {8, 1.37}, {16, 1.4}, {32, 1.4}};
  const double without = cycles(0);
  double before = 1;
  std::vector<double> found;
  for (const auto& size : sizes) {
    found.push_back(without / cycles(size.lines));
    EXPECT_GE(found.back(), before * 0.99) << size.lines;
    before = found.back();
    expect_row(fmt::format("stream buffer of {}: speed-up", size.lines), fmt::format("{:.2f}", size.published),
               fmt::format("{:.2f}", found.back()));
  }
  EXPECT_GT(found[0], 1.05);
  EXPECT_LT(found[5] / found[3], 1.05) << "from 8 lines to 32";
}

}  // namespace
}  // namespace heddle::test
