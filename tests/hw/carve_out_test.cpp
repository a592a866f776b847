// One store for L1 and scratchpad: which part of it a launch's L1 has.
#include "hw/scratchpad/carve_out.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "hw/cache/line_array.hpp"
#include "hw/check/machine.hpp"
#include "hw/gpu/dispatcher.hpp"
#include "tests/hw/gpu_bench.hpp"

namespace heddle::test {
namespace {

constexpr std::uint64_t kKb = 1024;

// A store of 3 KB, of which the L1 has 16 lines or 8; a core has one block.
hw::Machine with_one_store() {
  hw::Machine machine;
  machine.core.blocks = 1;
  machine.l1d.bytes = 3 * kKb;
  machine.l1d.ways = 2;
  machine.scratchpad.bytes = 2 * kKb;
  machine.scratchpad.carve_outs = "1 2";
  return machine;
}

TEST(CarveOut, IsTheSmallestThatHoldsTheBlocks) {
  hw::Machine machine = with_one_store();
  const auto of = [&](std::uint64_t of_block, std::uint64_t blocks, int preferred = -1) {
    return hw::carve_out(machine, of_block, blocks, preferred);
  };
  EXPECT_EQ(of(0, 8), kKb);
  EXPECT_EQ(of(kKb, 1), kKb);
  EXPECT_EQ(of(kKb + 1, 1), 2 * kKb);
  EXPECT_EQ(of(512, 2), kKb);
  EXPECT_EQ(of(512, 3), 2 * kKb);
  EXPECT_EQ(of(kKb + 1, 8), 2 * kKb) << "more blocks than the largest holds";
  machine.scratchpad.carve_outs = "0 1 2";
  EXPECT_EQ(of(0, 8), 0U);
  machine.scratchpad.least_carve_out = 1;
  EXPECT_EQ(of(0, 8), kKb);
  machine.scratchpad.least_carve_out = 2;
  EXPECT_EQ(of(0, 8), 2 * kKb);
  machine.scratchpad.carve_outs = "";
  EXPECT_EQ(of(1, 1), 2 * kKb) << "a store of its own";
}

TEST(CarveOut, IsWhatAProgramPrefersButHoldsABlock) {
  hw::Machine machine = with_one_store();
  machine.scratchpad.carve_outs = "0 1 2";
  machine.scratchpad.least_carve_out = 1;
  const auto of = [&](std::uint64_t of_block, int preferred) { return hw::carve_out(machine, of_block, 8, preferred); };
  EXPECT_EQ(of(0, 0), 0U);
  EXPECT_EQ(of(1, 0), kKb);
  EXPECT_EQ(of(1, 50), kKb);
  EXPECT_EQ(of(1, 51), 2 * kKb);
  EXPECT_EQ(of(0, 100), 2 * kKb);
  EXPECT_EQ(of(kKb + 1, 0), 2 * kKb);
}

// A preference for a large L1 leaves a core fewer blocks.
TEST(CarveOut, BoundsTheBlocksOfACore) {
  hw::Machine machine = with_one_store();
  machine.core.blocks = 8;
  hw::Launch launch;
  launch.grid = launch.block = {1, 1, 1};
  launch.registers = 8;
  launch.shared_bytes = 512;
  EXPECT_EQ(hw::residency(machine, launch).blocks, 4U);
  EXPECT_EQ(hw::residency(machine, launch).carve_out, 2 * kKb);
  launch.carve_out = 0;
  EXPECT_EQ(hw::residency(machine, launch).blocks, 2U);
  EXPECT_EQ(hw::residency(machine, launch).carve_out, kKb);
  launch.shared_bytes = 2 * kKb + 1;
  EXPECT_EQ(hw::residency(machine, launch).reason,
            "a block needs 2049 bytes of scratchpad, a core has 2048 (scratchpad.bytes)");
}

// Twelve lines, twice: in sixteen they stay.
std::uint64_t hits_with(std::uint32_t shared_bytes, unsigned blocks = 1) {
  hw::Machine machine = with_one_store();
  machine.core.blocks = blocks;
  GpuBench bench(machine);
  Code code;
  code.param(2, 0);
  add_loop(code, 2, [&] {
    for (unsigned line = 0; line != 12; ++line) {
      code.load(Op::LD_GLOBAL, 3, 2, 128 * line);
    }
  });
  code.exit();
  LaunchShape shape;
  shape.shared_bytes = shared_bytes;
  return bench.run(code, shape).l1d.hits;
}

TEST(CarveOut, LeavesTheRestToTheL1) {
  EXPECT_EQ(hits_with(0), 12U);
}
TEST(CarveOut, AsLargeAsOneOfThem) {
  EXPECT_EQ(hits_with(1024), 12U);
}
TEST(CarveOut, AByteMoreTakesTheNext) {
  EXPECT_EQ(hits_with(1025), 0U);
}
TEST(CarveOut, IsOfAllBlocksThatFit) {
  EXPECT_EQ(hits_with(1024, 2), 0U);
}

// The L1 is as large again in the launch after.
TEST(CarveOut, IsALaunchsOwn) {
  GpuBench bench(with_one_store());
  Code code;
  code.param(2, 0);
  add_loop(code, 2, [&] {
    for (unsigned line = 0; line != 12; ++line) {
      code.load(Op::LD_GLOBAL, 3, 2, 128 * line);
    }
  });
  code.exit();
  LaunchShape shape;
  for (const auto& [bytes, hits] : {std::pair{0U, 12U}, std::pair{2048U, 0U}, std::pair{16U, 12U}}) {
    shape.shared_bytes = bytes;
    EXPECT_EQ(bench.run(code, shape).l1d.hits, hits) << bytes;
  }
}

TEST(CarveOut, ACacheChangesItsSizeWhileItIsEmpty) {
  hw::LineArray<std::uint8_t> lines(8 * 128, 2, 128);
  lines.use(6 * 128);
  const auto frame = lines.victim(5 * 128);
  EXPECT_EQ(frame / 2, 2U) << "line 5 of three sets";
  lines.install(frame, 5 * 128, 1);
  EXPECT_THROW(lines.use(8 * 128), InternalError);
  lines.drop_all();
  EXPECT_THROW(lines.use(10 * 128), InternalError);
  EXPECT_THROW(lines.use(3 * 128), InternalError);
  lines.use(8 * 128);
  EXPECT_EQ(lines.victim(5 * 128) / 2, 1U) << "line 5 of four sets";
}

std::vector<std::string> wrong_carve_outs(const std::string& sizes, const std::function<void(hw::Machine&)>& change) {
  hw::Machine machine = with_one_store();
  machine.scratchpad.carve_outs = sizes;
  change(machine);
  std::vector<std::string> messages;
  for (const hw::Contradiction& found : hw::check(machine)) {
    messages.push_back(found.key + ": " + found.message);
  }
  return messages;
}

TEST(CarveOut, WhatMakesNoSenseIsRefused) {
  const struct {
    const char* sizes;
    std::uint64_t scratchpad;
    const char* message;
  } cases[] = {
      {"1 x", 2 * kKb, "scratchpad.carve_outs (\"1 x\"): 'x' is no number of KB from 0 to 16384"},
      {"1 16385", 2 * kKb, "scratchpad.carve_outs (\"1 16385\"): '16385' is no number of KB from 0 to 16384"},
      {"2 1", 2 * kKb, "scratchpad.carve_outs (\"2 1\"): 1 does not come behind a smaller size"},
      {"1 1", 2 * kKb, "scratchpad.carve_outs (\"1 1\"): 1 does not come behind a smaller size"},
      {" ", 2 * kKb, "scratchpad.carve_outs (\" \"): there is no size in it"},
      {"0 1", 2 * kKb, "scratchpad.carve_outs (\"0 1\"): the largest is 1024 bytes, and scratchpad.bytes is 2048"},
      {"1 3", 3 * kKb,
       "scratchpad.carve_outs (\"1 3\"): 3072 bytes leave no L1 of whole sets in l1d.bytes (3072), of l1d.ways (2) x "
       "l1d.line_bytes (128) each"},
  };
  for (const auto& wrong : cases) {
    EXPECT_EQ(wrong_carve_outs(wrong.sizes, [&](hw::Machine& machine) { machine.scratchpad.bytes = wrong.scratchpad; }),
              std::vector<std::string>{std::string("scratchpad.carve_outs: ") + wrong.message});
  }
  EXPECT_TRUE(wrong_carve_outs("0 1 2", [](hw::Machine& machine) { machine.scratchpad.least_carve_out = 2; }).empty());
  EXPECT_EQ(wrong_carve_outs("1 2", [](hw::Machine& machine) { machine.scratchpad.least_carve_out = 3; }),
            std::vector<std::string>{"scratchpad.least_carve_out: scratchpad.least_carve_out (3 KB) is more than the "
                                     "largest of scratchpad.carve_outs"});
  EXPECT_EQ(
      wrong_carve_outs("1 2",
                       [](hw::Machine& machine) {
                         machine.l1d.ways = 12;
                         machine.l1d.bytes = 3 * 1024;
                       }),
      std::vector<std::string>{
          "scratchpad.carve_outs: scratchpad.carve_outs (\"1 2\"): 1024 bytes leave no L1 of whole sets in l1d.bytes "
          "(3072), of l1d.ways (12) x l1d.line_bytes (128) each"});
}

}  // namespace
}  // namespace heddle::test
