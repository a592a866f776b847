// Loads out of bounds that read 0 (core.load_trap = false): the model does as the reference interpreter does, on every
// kind of machine, in every space, and a record of such a run replays in the very same cycles.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "hw/issue/discipline.hpp"
#include "isa/memory_map.hpp"
#include "ptx/compile.hpp"
#include "tb/device/code_options.hpp"
#include "tb/device/device.hpp"
#include "tb/measure/trace/recorder.hpp"
#include "tb/measure/trace_subject.hpp"
#include "tests/model/child.hpp"
#include "tests/model/machines.hpp"
#include "tests/support/marks.hpp"

HEDDLE_SAMPLED_SANITIZED("All/StrayLoadsOn.*")

namespace heddle::stray_load_test {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kWords = isa::kGlobalBase;  // 96 of them, for 256 threads: one of the block's warps is half out
constexpr std::uint64_t kOut = isa::kGlobalBase + 4096;

// Every thread adds up what it loads from each space, most of it out of bounds, and stores the sum at its number. The
// loads of odd threads stand on a path of their own.
constexpr const char* kText = R"(
.version 7.0
.target sm_50
.address_size 32
.file 1 "kernel.cu"
.shared .align 16 .b8 few[64];
.const .align 4 .b8 numbers[16];
.visible .entry k(.param .u32 words, .param .u32 out) {
.reg .b32 %r<20>; .reg .pred %p<3>;
.local .align 4 .b8 mine[8];
ld.param.u32 %r0, [words]; ld.param.u32 %r1, [out];
mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mad.lo.u32 %r4, %r3, %r4, %r2;
shl.b32 %r5, %r4, 2; add.u32 %r6, %r0, %r5; add.u32 %r7, %r1, %r5;
.loc 1 7 3
ld.global.u32 %r8, [%r6];
.loc 1 8 3
ld.u32 %r9, [%r6+8];
add.u32 %r8, %r8, %r9;
and.b32 %r9, %r2, 1; setp.ne.u32 %p1, %r9, 0;
@%p1 bra ODD;
shl.b32 %r10, %r2, 4; add.u32 %r10, %r0, %r10;
.loc 1 9 3
ld.global.v4.u32 {%r11, %r12, %r13, %r14}, [%r10];
add.u32 %r8, %r8, %r11; add.u32 %r8, %r8, %r14;
bra JOIN;
ODD:
mov.u32 %r10, few; shl.b32 %r11, %r2, 2; add.u32 %r10, %r10, %r11;
st.shared.u32 [few], %r0;
.loc 1 10 3
ld.shared.u32 %r12, [%r10];
setp.eq.u32 %p2, %r12, %r0; selp.u32 %r12, 100, %r12, %p2; add.u32 %r8, %r8, %r12;
mov.u32 %r10, numbers; add.u32 %r10, %r10, %r11;
.loc 1 11 3
ld.const.u32 %r12, [%r10];
add.u32 %r8, %r8, %r12;
mov.u32 %r10, mine; st.local.u32 [mine], %r2; shr.u32 %r12, %r2, 5; shl.b32 %r12, %r12, 2; add.u32 %r10, %r10, %r12;
.loc 1 12 3
ld.local.u32 %r12, [%r10];
add.u32 %r8, %r8, %r12;
JOIN:
st.global.u32 [%r7], %r8;
ret;
}
)";

isa::LaunchRequest request(std::uint32_t block = 128, std::uint32_t grid = 2) {
  isa::LaunchRequest launch;
  launch.kernel = "k";
  launch.block = {block, 1, 1};
  launch.grid = {grid, 1, 1};
  for (const std::uint64_t address : {kWords, kOut}) {
    for (unsigned byte = 0; byte < 4; ++byte) {
      launch.parameters.push_back(static_cast<std::uint8_t>(address >> (8 * byte)));
    }
  }
  return launch;
}

isa::Module module_for(const hw::Machine& machine) {
  const ptx::CompileOptions options(tb::code_options(machine));
  return ptx::compile(kText, "kernel.ptx", options);
}

void fill(isa::DeviceMemory& memory) {
  memory.place("words", kWords, 96 * 4);
  memory.place("out", kOut, 256 * 4);
  for (std::uint32_t i = 0; i < 96; ++i) {
    memory.put(kWords + 4 * i, 1000 + i);
  }
}

// All that must agree, as text: what was stored, the instruction stream, and what was read out of bounds. The first
// load of an instruction may be another one where blocks run at the same time, the count may not.
std::string outcome(isa::DeviceMemory& memory, const isa::RetirementHash& hash,
                    const std::vector<isa::StrayLoads>& strays) {
  std::string text = fmt::format("{:x}", hash.total());
  for (std::uint32_t i = 0; i < 256; ++i) {
    text += fmt::format(" {}", memory.get<std::uint32_t>(kOut + 4 * i));
  }
  std::map<std::string, std::uint64_t> counts;
  for (const isa::StrayLoads& loads : strays) {
    counts[loads.source] = loads.count;
    EXPECT_EQ(loads.first.kernel, "k");
    EXPECT_EQ(loads.first.kind, isa::Fault::Kind::out_of_bounds);
  }
  for (const auto& [source, count] : counts) {
    text += fmt::format("\n{}: {}", source, count);
  }
  return text;
}

std::string in_reference(const hw::Machine& machine) {
  isa::InterpreterOptions options;
  options.trap_on_stray_load = false;
  tb::ReferenceExecutor reference(options);
  reference.load(module_for(machine));
  fill(reference.memory());
  reference.launch(request());
  return outcome(reference.memory(), reference.retirement(), reference.stray_loads());
}

TEST(StrayLoads, TheReferenceCountsEachByHand) {
  const std::string text = in_reference(test::make_machines().front());
  // Line 7: threads from 96 on of 256. 8: from 94 on. 9: even threads of both blocks whose four words are not within
  // 96: thread * 16 + 16 > 384, threads 24, 26... 126: 52 of each block. 10: odd threads from 16 on, 56 of a block. 11:
  // odd ones from 4 on, 62. 12: odd ones from 64 on, 32.
  for (const char* line : {"(kernel.cu:7): 160", "(kernel.cu:8): 162", "(kernel.cu:9): 104", "(kernel.cu:10): 112",
                           "(kernel.cu:11): 124", "(kernel.cu:12): 64"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

class StrayLoadsOn : public ::testing::TestWithParam<std::size_t> {};

TEST_P(StrayLoadsOn, AreAsInTheReference) {
  hw::Machine machine = test::make_machines()[GetParam()];
  machine.core.load_trap = false;
  tb::Device device(machine);
  device.load(module_for(machine));
  fill(device.memory());
  device.launch(request());
  EXPECT_EQ(outcome(device.memory(), device.retirement(), device.stray_loads()), in_reference(machine));
  std::uint64_t all = 0;
  for (const isa::StrayLoads& loads : device.stray_loads()) {
    all += loads.count;
  }
  EXPECT_EQ(device.totals().core.out_of_bounds_loads, all);
  // A launch later they are counted with the loads before, and a fault is still one.
  device.launch(request());
  EXPECT_EQ(device.stray_loads().front().count % 2, 0U);
  EXPECT_EQ(device.totals().core.out_of_bounds_loads, 2 * all);
  EXPECT_THROW(device.launch(request(128, 4)), SimulatedFault);  // stores past the end
}

INSTANTIATE_TEST_SUITE_P(All, StrayLoadsOn, ::testing::Range(std::size_t{0}, test::make_machines().size()),
                         [](const auto& info) { return test::make_machines()[info.param].name; });

TEST(StrayLoads, AreFaultsWithTheTrap) {
  const hw::Machine machine;
  tb::Device device(machine);
  device.load(module_for(machine));
  fill(device.memory());
  try {
    device.launch(request());
    ADD_FAILURE() << "no fault";
  } catch (const SimulatedFault& fault) {
    EXPECT_THAT(fault.what(), HasSubstr("thread (96, 0, 0): 4 bytes at address 0x10000180: load, just past the end of "
                                        "buffer 'words'"));
  }
  EXPECT_TRUE(device.stray_loads().empty());
}

TEST(StrayLoads, TheFirstOneIsTold) {
  hw::Machine machine;
  machine.core.load_trap = false;
  tb::Device device(machine);
  device.load(module_for(machine));
  fill(device.memory());
  device.launch(request(128, 1));
  ASSERT_FALSE(device.stray_loads().empty());
  const std::string text = isa::describe(device.stray_loads().front());
  EXPECT_THAT(text,
              HasSubstr("32 loads by one instruction read 0; the first: out-of-bounds access in kernel 'k' at PC"));
  EXPECT_THAT(text, HasSubstr("(kernel.cu:7), block (0, 0, 0), thread (96, 0, 0): 4 bytes at address 0x10000180: load, "
                              "just past the end of buffer 'words' (0x10000000, 384 bytes)"));
}

std::string counters(const tb::Device& device) {
  std::string text;
  for (const StatisticsRegistry::Scalar& scalar : device.statistics().scalars()) {
    text += fmt::format("{} {} {}\n", scalar.declaration.module, scalar.declaration.name, *scalar.value);
  }
  return text;
}

class StrayReplay : public ::testing::TestWithParam<const char*> {};

TEST_P(StrayReplay, TakesTheSameCycles) {
  hw::Machine machine;
  machine.core.load_trap = false;
  machine.core.divergence = GetParam();
  machine.core.registers_per_thread = 63;
  const std::string both = test::in_child([&] {
    std::ostringstream out;
    tb::TraceRecorder recorder(out);
    tb::DeviceOptions options;
    options.observers = {&recorder};
    tb::Device device(machine, options);
    device.load(module_for(machine));
    fill(device.memory());
    device.launch(request());
    recorder.finish({});
    const std::string text = counters(device);
    return fmt::format("{:12}{}{}", text.size(), text, out.str());
  });
  ASSERT_GT(both.size(), 1000U) << both;
  const std::size_t size = std::stoul(both.substr(0, 12));
  std::istringstream in(both.substr(12 + size));
  tb::TraceSubject subject(in, "recorded.trace");
  tb::DeviceOptions options;
  options.replay = &subject;
  tb::Device device(machine, options);
  device.load(subject.compile());
  static_cast<void>(subject.run(device, std::nullopt));
  EXPECT_EQ(counters(device), both.substr(12, size));
}

INSTANTIATE_TEST_SUITE_P(Each, StrayReplay, ::testing::Values("stack", "tbc"));

}  // namespace
}  // namespace heddle::stray_load_test
