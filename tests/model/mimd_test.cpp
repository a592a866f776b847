// MIMD lanes on a whole core: threads that go different ways in one cycle. What they compute is compared with the
// interpreter on all workloads and random programs elsewhere; here, how long it takes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "hw/divergence/mimd.hpp"
#include "ptx/compile.hpp"
#include "tb/device/device.hpp"
#include "tests/model/child.hpp"

namespace heddle {
namespace {

// Lane l goes to path l mod `paths`, each a loop of `rounds`; the compiler cannot make guards of them.
isa::Module parting(unsigned paths, unsigned rounds) {
  std::string text =
      ".version 7.0\n.target sm_60\n.address_size 32\n.visible .entry k() {\n"
      ".shared .b32 s[1]; .reg .pred %p<3>; .reg .b32 %r<9>;\n"
      "mov.u32 %r1, %tid.x; and.b32 %r1, %r1, " +
      std::to_string(paths - 1) + "; mov.u32 %r2, 1; mov.u32 %r3, 0;\n";
  for (unsigned path = 0; path + 1 < paths; ++path) {
    text += fmt::format("setp.eq.u32 %p1, %r1, {0}; @%p1 bra P{0};\n", path);
  }
  for (unsigned path = paths; path-- != 0;) {
    text += fmt::format(
        "P{0}: mad.lo.u32 %r2, %r2, %r2, {1}; mad.lo.u32 %r2, %r2, %r2, %r3; add.u32 %r3, %r3, 1;\n"
        "setp.lt.u32 %p2, %r3, {2}; @%p2 bra P{0};\nbra.uni MEET;\n",
        path, path + 3, rounds);
  }
  return ptx::compile(text + "MEET: st.shared.u32 [s], %r2; ret;\n}\n", "k.ptx");
}

std::uint64_t cycles(const hw::Machine& machine, unsigned paths) {
  return std::stoull(test::in_child([&] {
    tb::Device device(machine);
    device.load(parting(paths, 60));
    device.launch({"k", {1}, {256}, 0, {}});
    return std::to_string(device.totals().cycles);
  }));
}

hw::Machine mimd(bool step) {
  hw::Machine machine;
  machine.core.divergence = "mimd";
  machine.core.policies.of<hw::MimdParameters>().step = step;
  machine.icache.ports = 32;
  return machine;
}

TEST(MimdCore, PathsOfDifferentLanesTakeTheTimeOfOne) {
  hw::Machine stack;
  const std::uint64_t together = cycles(stack, 1);
  EXPECT_GT(cycles(stack, 4), 3 * together) << "a stack executes them one after the other";
  for (const bool step : {true, false}) {
    const std::uint64_t alone = cycles(mimd(step), 1);
    const std::uint64_t apart = cycles(mimd(step), 4);
    // A few branches more, and the lines of four paths instead of one.
    EXPECT_LT(apart, alone * 5 / 4) << step;
    EXPECT_GT(apart, alone) << step;
  }
  EXPECT_EQ(cycles(mimd(true), 1), together) << "threads at one PC are what a stack's are";
}

// Blocks of one thread, all of which begin in lane 0: lanes of their own take one of them in a cycle, any lanes all.
TEST(MimdCore, ThreadsOfOneLaneTakeTheOthersToo) {
  const auto time = [](const char* lanes) {
    return std::stoull(test::in_child([&] {
      hw::Machine machine = mimd(false);
      machine.core.policies.of<hw::MimdParameters>().lanes = lanes;
      machine.core.blocks = 32;
      tb::Device device(machine);
      device.load(parting(1, 60));
      device.launch({"k", {32}, {1}, 0, {}});
      return std::to_string(device.totals().cycles);
    }));
  };
  const std::uint64_t own = time("own");
  const std::uint64_t any = time("any");
  EXPECT_LT(3 * any, own);
  EXPECT_GT(32 * any, own) << "32 threads at most are one after the other";
}

// Lanes that want words of different lines need a port of the I-cache each.
TEST(MimdCore, FetchesThroughThePortsThatThereAre) {
  hw::Machine machine = mimd(true);
  const std::uint64_t many = cycles(machine, 4);
  machine.icache.ports = 1;
  EXPECT_GT(cycles(machine, 4), 2 * many);
  EXPECT_EQ(cycles(machine, 1), cycles(mimd(true), 1)) << "lanes share the access to a line";
}

// Ideal fetch is what enough ports make of it, less the misses; and no machine waits for its instructions.
TEST(MimdCore, IdealFetchNeedsNeitherPortsNorLines) {
  hw::Machine machine = mimd(true);
  const std::uint64_t cached = cycles(machine, 4);
  machine.icache.ideal = true;
  const std::uint64_t ideal = cycles(machine, 4);
  EXPECT_LT(ideal, cached);
  EXPECT_GT(ideal, cached / 2);
  machine.icache.ports = 1;
  machine.icache.bytes = 512;
  EXPECT_EQ(cycles(machine, 4), ideal);
  hw::Machine stack;
  const std::uint64_t before = cycles(stack, 1);
  stack.icache.ideal = true;
  EXPECT_LT(cycles(stack, 1), before);
}

// A warp of 64 threads over 16 lanes: four cycles per step, whatever the paths.
TEST(MimdCore, AWarpDeeperThanTheLanesTakesACyclePerRow) {
  hw::Machine machine = mimd(true);
  machine.core.simd_width = 16;
  machine.core.warp_size = 64;
  hw::Machine stack;
  stack.core.simd_width = 16;
  stack.core.warp_size = 64;
  // Fetch, too, takes a cycle per row, which is another order of the warps.
  EXPECT_NEAR(static_cast<double>(cycles(machine, 1)), static_cast<double>(cycles(stack, 1)), 0.02 * cycles(stack, 1));
  EXPECT_LT(cycles(machine, 4), cycles(stack, 1) * 5 / 4);
}

}  // namespace
}  // namespace heddle
