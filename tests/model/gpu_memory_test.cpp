// The machines of today's GPUs (configs/, group "GPUs of today"): peak bandwidths of L2 and DRAM beside the data
// sheets, pointer chases beside latencies that were measured on hardware, accesses back to back. docs/gpus.md has the
// tables that this computes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <numeric>
#include <optional>
#include <random>
#include <sstream>

#include "hw/dram/jedec.hpp"
#include "isa/device_memory.hpp"
#include "isa/memory_map.hpp"
#include "ptx/compile.hpp"
#include "tb/config/config.hpp"
#include "tb/device/device.hpp"
#include "tb/device/run_observer.hpp"
#include "tests/model/child.hpp"
#include "tests/model/pointer_chase.hpp"
#include "tests/support/marks.hpp"

HEDDLE_SAMPLED("Gpus/GpuLatency.*")
HEDDLE_SAMPLED_SANITIZED("Gpus/GpuLatency.*")
HEDDLE_LONG_SANITIZED("GpuScratchpad.*", "GpuL2Halves.*", "GpuWidths.*")

namespace heddle {
namespace {

using test::Chase, test::follow, test::gpus_page, test::ParameterBytes, test::stored_by_one_thread;

constexpr const char* kThroughL1 = "ld.global.ca.u64 %a0, [%a0];\n";
constexpr const char* kPastL1 = "ld.global.cg.u64 %a0, [%a0];\n";

struct GpuFigures {
  const char* name;
  double dram_gbs;            // data sheet
  unsigned l2_bytes_a_clock;  // of all slices
  double l2_mb;
  double l1, l2, dram;  // cycles of a pointer chase
  double far_l2;        // through three quarters of the L2, where that has two halves; 0: it has not, or no source
  double scratchpad;    // cycles of a pointer chase
};

// What GoogleTest shows of a case.
void PrintTo(const GpuFigures& gpu, std::ostream* out) {
  *out << gpu.name;
}

// The sources stand in the machine files. L2 sizes are 2^20 bytes.
constexpr GpuFigures kGpus[] = {
    {"v100", 900, 2048, 6, 36, 221, 460, 0, 20},         {"a100", 1935, 5120, 40, 32.7, 202.8, 566, 405, 28},
    {"h100", 3350, 5120, 50, 32.0, 264.5, 657, 483, 29}, {"h200", 4800, 6144, 50, 40, 281, 690, 0, 29},
    {"rtx3070", 448, 1024, 4, 34, 219, 473, 0, 29},      {"rtx-a6000", 768, 1536, 6, 34, 243, 486, 0, 24},
    {"rtx2060", 336, 768, 3, 32, 226, 322, 0, 30},
};

double dram_peak(const hw::Machine& machine) {
  return machine.dram.channels * hw::peak_bandwidth_gbs(hw::resolve_jedec(machine.dram));
}
unsigned l2_peak(const hw::Machine& machine) {  // bytes per cycle
  return hw::memory_slices(machine) * machine.noc.slice_bytes;
}

TEST(GpuMachines, PeakBandwidthsAreThoseOfTheDataSheets) {
  for (const GpuFigures& gpu : kGpus) {
    const hw::Machine machine = tb::read_machine(gpu.name);
    EXPECT_NEAR(dram_peak(machine), gpu.dram_gbs, gpu.dram_gbs * 0.03) << gpu.name;
    EXPECT_NEAR(l2_peak(machine), gpu.l2_bytes_a_clock, gpu.l2_bytes_a_clock * 0.03) << gpu.name;
    EXPECT_NEAR(static_cast<double>(machine.l2.bytes), gpu.l2_mb * 1048576, gpu.l2_mb * 1048576 * 0.01) << gpu.name;
  }
}

TEST(GpuMachines, ACutKeepsBandwidthsPerCore) {
  for (const GpuFigures& gpu : kGpus) {
    const hw::Machine whole = tb::read_machine(gpu.name);
    const hw::Machine cut = tb::read_machine(std::string(gpu.name) + "-8sm");
    EXPECT_EQ(cut.gpu.cores, 8U) << gpu.name;
    const double share = 8.0 / whole.gpu.cores;
    EXPECT_NEAR(dram_peak(cut), dram_peak(whole) * share, dram_peak(whole) * share * 0.03) << gpu.name;
    EXPECT_NEAR(l2_peak(cut), l2_peak(whole) * share, l2_peak(whole) * share * 0.03) << gpu.name;
    const double bytes = static_cast<double>(whole.l2.bytes) * share;
    EXPECT_NEAR(static_cast<double>(cut.l2.bytes), bytes, bytes * 0.03) << gpu.name;
  }
}

// One thread puts a circle of words into its block's scratchpad, and follows it by every so many-th.
constexpr const char* kScratchpadChase = R"(
.version 7.0
.target sm_60
.address_size 64
.visible .entry chase(.param .u64 out, .param .u32 passes)
{
  .reg .pred %p<4>;
  .reg .u32 %r<12>;
  .reg .u64 %a<4>;
  .reg .u64 %t<4>;
  .shared .align 16 .b8 ring[512];
  ld.param.u64 %a1, [out];
  ld.param.u32 %r0, [passes];
  mov.u32 %r1, ring;
  mov.u32 %r2, 0;
FILL:
  shl.b32 %r3, %r2, 2;
  add.u32 %r3, %r3, %r1;
  add.u32 %r4, %r2, @WORDS;
  add.u32 %r2, %r2, 1;
  and.b32 %r4, %r4, 127;
  shl.b32 %r4, %r4, 2;
  add.u32 %r4, %r4, %r1;
  st.shared.u32 [%r3], %r4;
  setp.ne.u32 %p0, %r2, 128;
  @%p0 bra FILL;
PASS:
  mov.u32 %r5, 16;
  add.u32 %r6, %r1, 1;
  mov.u64 %t0, %clock64;
ROUND:
  @LOADS
  sub.u32 %r5, %r5, 1;
  setp.ne.u32 %p1, %r5, 0;
  @%p1 bra ROUND;
  add.u32 %r7, %r1, 1;
  mov.u64 %t1, %clock64;
  sub.u32 %r0, %r0, 1;
  setp.ne.u32 %p0, %r0, 0;
  @%p0 bra PASS;
  sub.u64 %t2, %t1, %t0;
  st.global.u64 [%a1], %t2;
  st.global.u32 [%a1+8], %r6;
  st.global.u32 [%a1+12], %r7;
  ret;
}
)";

// Cycles per load of the last pass. `load`: of so many words.
double follow_on_chip(const hw::Machine& machine, std::string text, const char* load, unsigned words = 1) {
  return std::stod(test::in_child([&] {
    std::string loads;
    for (unsigned i = 0; i != 8; ++i) {
      loads += load;
    }
    text.replace(text.find("@LOADS"), 6, loads);
    if (const std::size_t at = text.find("@WORDS"); at != std::string::npos) {
      text.replace(at, 6, std::to_string(words));
    }
    tb::Device device(machine);
    const isa::Module module = ptx::compile(text, "chase.ptx");
    device.load(module);
    const std::uint64_t out = device.memory().allocate("out", 256);
    constexpr unsigned kPasses = 3;
    const std::uint64_t cycles =
        stored_by_one_thread(device, "chase", ParameterBytes().add(&out, 8).add(&kPasses, 4).take(), out);
    return fmt::format("{:.1f}", static_cast<double>(cycles) / 128);
  }));
}

class GpuLatency : public ::testing::TestWithParam<GpuFigures> {};

TEST_P(GpuLatency, OfAPointerChaseIsWhatWasMeasured) {
  const GpuFigures& gpu = GetParam();
  const hw::Machine machine = tb::read_machine(gpu.name);
  const double l1 = follow(machine, {kThroughL1, 128, 128, 128, 3});
  const double l2 = follow(machine, {kPastL1, 256, 128, 256, 2});
  const double dram = follow(machine, {kPastL1, 512, 36992, 256, 2});  // no line twice, in any channel and row
  EXPECT_NEAR(l1, gpu.l1, gpu.l1 * 0.05);
  EXPECT_NEAR(l2, gpu.l2, gpu.l2 * 0.05);
  EXPECT_NEAR(dram, gpu.dram, gpu.dram * 0.05);
  const std::string row = fmt::format(
      "| `{}` | {:.0f} | {:.0f} | {} | {} | {:.1f} | {:.1f} | {:.1f} | {:.1f} | {:.1f} | {:.1f} |\n", gpu.name,
      gpu.dram_gbs, dram_peak(machine), gpu.l2_bytes_a_clock, l2_peak(machine), gpu.l1, l1, gpu.l2, l2, gpu.dram, dram);
  EXPECT_NE(gpus_page().find(row), std::string::npos) << "docs/gpus.md has no row\n" << row;
}

TEST(GpuScratchpad, APointerChaseTakesWhatWasMeasured) {
  for (const GpuFigures& gpu : kGpus) {
    const double here = follow_on_chip(tb::read_machine(gpu.name), kScratchpadChase, "ld.shared.u32 %r1, [%r1];\n");
    EXPECT_NEAR(here, gpu.scratchpad, gpu.scratchpad * 0.05) << gpu.name;
    const std::string row = fmt::format("| `{}` | {:.1f} | {:.1f} |\n", gpu.name, gpu.scratchpad, here);
    EXPECT_NE(gpus_page().find(row), std::string::npos) << "docs/gpus.md has no row\n" << row;
  }
}

// The L2 of the cut for quick runs is as far away as the whole GPU's, and small enough to go through; here with as many
// slices in one half as in the other.
TEST(GpuL2Halves, AChaseThroughMoreThanHalfOfTheL2IsWhatWasMeasured) {
  for (const GpuFigures& gpu : kGpus) {
    if (gpu.far_l2 == 0) {
      continue;
    }
    hw::Machine machine = tb::read_machine(std::string(gpu.name) + "-8sm");
    machine.l2.bytes = machine.l2.bytes / machine.dram.channels * 6;
    machine.dram.channels = 6;
    const auto lines = static_cast<unsigned>(machine.l2.bytes * 3 / 4 / 128 / 8 * 8);
    const double near = follow(machine, {kPastL1, 256, 128, 256, 2});
    const double far = follow(machine, {kPastL1, lines, 128, lines, 2});
    EXPECT_NEAR(near, gpu.l2, gpu.l2 * 0.05) << gpu.name;
    EXPECT_NEAR(far, gpu.far_l2, gpu.far_l2 * 0.05) << gpu.name;
    const std::string row =
        fmt::format("| `{}` | {:.1f} | {:.1f} | {:.1f} | {:.1f} |\n", gpu.name, gpu.l2, near, gpu.far_l2, far);
    EXPECT_NE(gpus_page().find(row), std::string::npos) << "docs/gpus.md has no row\n" << row;
  }
}

// Loads of 32, 64 and 128 bits (MICRO 2025, table 2: LDG of a regular address on an RTX A6000).
TEST(GpuWidths, ALoadTakesLongerTheWiderItsResultIs) {
  const struct {
    unsigned bits;
    const char* load;
    double measured;
  } widths[] = {{32, "ld.global.ca.u32 %a0, [%a0];\n", 32},
                {64, "ld.global.ca.u64 %a0, [%a0];\n", 34},
                {128, "ld.global.ca.v2.u64 {%a0, %a6}, [%a0];\n", 38}};
  for (const auto& [bits, load, measured] : widths) {
    const double here = follow(tb::read_machine("rtx-a6000"), {load, 128, 128, 128, 3, bits == 32 ? 32U : 64U});
    EXPECT_NEAR(here, measured, measured * 0.05) << bits;
    const std::string row = fmt::format("| {} | {:.1f} | {:.1f} |\n", bits, measured, here);
    EXPECT_NE(gpus_page().find(row), std::string::npos) << "docs/gpus.md has no row\n" << row;
  }
}

// Likewise of the scratchpad (LDS of a regular address).
TEST(GpuWidths, ALoadOfTheScratchpadTakesLongerFrom128BitsOn) {
  const struct {
    unsigned bits;
    const char* load;
    double measured;
  } widths[] = {{32, "ld.shared.u32 %r1, [%r1];\n", 24},
                {64, "ld.shared.v2.u32 {%r1, %r8}, [%r1];\n", 24},
                {128, "ld.shared.v4.u32 {%r1, %r8, %r9, %r10}, [%r1];\n", 26}};
  for (const auto& [bits, load, measured] : widths) {
    const double here = follow_on_chip(tb::read_machine("rtx-a6000-8sm"), kScratchpadChase, load, bits / 32);
    EXPECT_NEAR(here, measured, 0.05) << bits;
    const std::string row = fmt::format("| scratchpad, {} bits | {:.1f} | {:.1f} |\n", bits, measured, here);
    EXPECT_NE(gpus_page().find(row), std::string::npos) << "docs/gpus.md has no row\n" << row;
  }
}

// One thread follows a circle of words in constant memory, which fit into the L0 (MICRO 2025, table 2: LDC of a regular
// address on an RTX A6000), or into the cache behind it alone (section 5.4: an operand that misses the L0 costs 79
// cycles).
std::string constant_chase(unsigned words) {
  std::string ring;
  for (unsigned i = 0; i != words; ++i) {
    ring += fmt::format("{}{}", i == 0 ? "" : ", ", (i + 16) % words * 4 + (i + 16 >= words ? 4 : 0));
  }
  return fmt::format(R"(
.version 7.0
.target sm_60
.address_size 64
.const .align 4 .u32 ring[{0}] = {{{1}}};
.visible .entry chase(.param .u64 out, .param .u32 passes)
{{
  .reg .pred %p<4>;
  .reg .u32 %r<12>;
  .reg .u64 %a<4>;
  .reg .u64 %t<4>;
  ld.param.u64 %a1, [out];
  ld.param.u32 %r0, [passes];
  mov.u32 %r1, 0;
PASS:
  mov.u32 %r5, 16;
  add.u32 %r6, %r1, 1;
  mov.u64 %t0, %clock64;
ROUND:
  @LOADS
  sub.u32 %r5, %r5, 1;
  setp.ne.u32 %p1, %r5, 0;
  @%p1 bra ROUND;
  add.u32 %r7, %r1, 1;
  mov.u64 %t1, %clock64;
  sub.u32 %r0, %r0, 1;
  setp.ne.u32 %p0, %r0, 0;
  @%p0 bra PASS;
  sub.u64 %t2, %t1, %t0;
  st.global.u64 [%a1], %t2;
  st.global.u32 [%a1+8], %r6;
  st.global.u32 [%a1+12], %r7;
  ret;
}}
)",
                     words, ring);
}

TEST(GpuConstants, AChaseThroughTheirCachesTakesWhatWasMeasured) {
  hw::Machine machine = tb::read_machine("rtx-a6000-8sm");
  const double near = follow_on_chip(machine, constant_chase(64), "ld.const.u32 %r1, [%r1];\n");
  const double far = follow_on_chip(machine, constant_chase(320), "ld.const.u32 %r1, [%r1];\n");
  machine.constant_cache.l0_latency = 1;  // as at an address that the instruction names
  const double miss = far - follow_on_chip(machine, constant_chase(64), "ld.const.u32 %r1, [%r1];\n");
  EXPECT_NEAR(near, 29, 0.05);
  EXPECT_NEAR(miss, 79, 0.5);
  for (const std::string& row : {fmt::format("| constants, 32 bits, hits in the L0 | 29.0 | {:.1f} |\n", near),
                                 fmt::format("| operands, more for a miss of the L0 | 79.0 | {:.1f} |\n", miss)}) {
    EXPECT_NE(gpus_page().find(row), std::string::npos) << "docs/gpus.md has no row\n" << row;
  }
}

// Independent loads of one warp in each active sub-core, behind operations that let their address come.
constexpr const char* kManyLoads = R"(
.version 7.0
.target sm_60
.address_size 64
.visible .entry loads(.param .u64 from)
{
  .reg .u32 %r<24>;
  .reg .f32 %f<16>;
  .reg .u64 %a<2>;
  ld.param.u64 %a0, [from];
  mov.f32 %f0, 0f3F800000;
  @LOADS
  ret;
}
)";

// The cycles in which each sub-core of the first core fetches loads.
struct FetchedLoads final : tb::RunObserver {
  void fetched(const hw::CoreState& core, const link::SubWarp& sub_warp) override {
    if (const std::optional<isa::Instruction> instruction = isa::decode(sub_warp.word);
        instruction->op == isa::Op::LD_GLOBAL_E) {
      cycles[core.sub_core].push_back(core.now);
    }
  }
  std::array<std::vector<link::Cycle>, 4> cycles;
};

struct BackToBack {
  unsigned active;  // sub-cores
  const char* sixth;
  unsigned then_every;
};

// MICRO 2025, table 1, where the first access is issued in cycle 2. Fetch is ideal: the paper's code was in the caches.
TEST(GpuAccesses, FiveAreIssuedBackToBackAndTheSixthWaits) {
  constexpr BackToBack kTable[] = {{1, "13", 4}, {2, "13 15", 4}, {3, "13 15 17", 6}, {4, "13 15 17 19", 8}};
  for (const BackToBack& published : kTable) {
    const std::string here = test::in_child([&] {
      hw::Machine machine = tb::read_machine("rtx-a6000");
      machine.gpu.cores = 1;
      machine.gpu.launch_latency = 0;
      machine.l0i.enabled = false;
      machine.icache.ideal = true;
      machine.icache.hit_latency = 1;
      FetchedLoads seen;
      tb::DeviceOptions options;
      options.observers = {&seen};
      tb::Device device(machine, options);
      std::string code;
      for (unsigned i = 1; i != 16; ++i) {
        code += fmt::format("add.f32 %f{}, %f0, %f0;\n", i);
      }
      for (unsigned i = 0; i != 16; ++i) {
        code += fmt::format("ld.global.u32 %r{}, [%a0+{}];\n", i, 128 * i);
      }
      for (unsigned i = 1; i != 16; ++i) {
        code += fmt::format("add.u32 %r0, %r0, %r{0};\nadd.f32 %f0, %f0, %f{0};\n", i);
      }
      std::string text = kManyLoads;
      text.replace(text.find("@LOADS"), 6, code + "st.global.u32 [%a0], %r0;\nst.global.f32 [%a0+4], %f0;\n");
      const isa::Module module = ptx::compile(text, "loads.ptx");
      device.load(module);
      const std::uint64_t from = device.memory().allocate("from", 4096);
      isa::LaunchRequest request;
      request.kernel = "loads";
      request.grid = {1, 1, 1};
      request.block = {32 * published.active, 1, 1};
      request.parameters = ParameterBytes().add(&from, 8).take();
      device.launch(request);
      std::vector<link::Cycle> sixth;
      std::string every;
      for (unsigned sub_core = 0; sub_core != published.active; ++sub_core) {
        const std::vector<link::Cycle>& cycles = seen.cycles[sub_core];
        if (cycles.at(4) != cycles.at(0) + 4) {
          return std::string("not back to back");
        }
        sixth.push_back(cycles.at(5) - seen.cycles[0][0] + 2);
        every = fmt::format("{:.3g}", static_cast<double>(cycles.at(15) - cycles.at(7)) / 8);
      }
      std::sort(sixth.begin(), sixth.end());
      return fmt::format("{} | {} | {} | {} |\n", published.sixth, fmt::join(sixth, " "), published.then_every, every);
    });
    EXPECT_EQ(here, fmt::format("{0} | {0} | {1} | {1} |\n", published.sixth, published.then_every));
    const std::string row = fmt::format("| {} | {}", published.active, here);
    EXPECT_NE(gpus_page().find(row), std::string::npos) << "docs/gpus.md has no row\n" << row;
  }
}

INSTANTIATE_TEST_SUITE_P(Gpus, GpuLatency, ::testing::ValuesIn(kGpus), [](const auto& info) {
  std::string name = info.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace heddle
