// Threads that change their places between instructions, to other lanes, rows and cores, compute what the reference
// interpreter does, thread by thread: registers, local memory, barriers, exits and retirement hashes go with them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <systemc>
#include <vector>

#include "base/error.hpp"
#include "isa/fault.hpp"
#include "isa/interpreter.hpp"
#include "isa/memory_map.hpp"
#include "ptx/compile.hpp"
#include "tb/device/code_options.hpp"
#include "tb/device/device.hpp"
#include "tests/model/child.hpp"
#include "tests/model/wandering.hpp"
#include "tests/support/marks.hpp"

HEDDLE_LONG_SANITIZED("MovingThreads.OrderOfCores*")
HEDDLE_SAMPLED_SANITIZED("Cores/MovingThreads.*")

namespace heddle {
namespace {

constexpr unsigned kWandererBlocks = 7;
constexpr unsigned kWandererThreads = 60;  // the second warp is not full
constexpr unsigned kWandererWords = 8;
constexpr std::uint64_t kWandererOutput = isa::kGlobalBase;

// Each thread fills its local memory, round by round, with numbers that depend on what it finds there, by paths that
// depend on them; every fifth exits before the others meet at three barriers, of which two reduce. What other caches
// may hold old copies of is read by volatile loads.
constexpr const char* kWandererText = R"(
.version 7.0
.target sm_60
.address_size 64
.visible .entry wander(.param .u64 out)
{
  .reg .pred %p<8>;
  .reg .u32 %r<24>;
  .reg .u64 %a<8>;
  .local .align 16 .b8 place[64];
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %ntid.x;
  mov.u32 %r2, %tid.x;
  mad.lo.u32 %r3, %r0, %r1, %r2;
  ld.param.u64 %a0, [out];
  mad.wide.u32 %a1, %r3, 32, %a0;
  mov.u64 %a2, place;
  cvta.local.u64 %a3, %a2;
  mul.lo.u32 %r4, %r3, 2654435761;
  and.b32 %r5, %r3, 3;
  add.u32 %r5, %r5, 3;
  mov.u32 %r6, 0;
ROUND:
  mul.wide.u32 %a4, %r6, 4;
  add.u64 %a4, %a3, %a4;
  ld.volatile.u32 %r7, [%a4+4];
  add.u32 %r4, %r4, %r7;
  st.volatile.u32 [%a4], %r4;
  mad.lo.u32 %r4, %r4, 1664525, 1013904223;
  and.b32 %r8, %r4, 65536;
  setp.eq.u32 %p0, %r8, 0;
  @%p0 bra EVEN;
  xor.b32 %r4, %r4, %r3;
  shr.u32 %r9, %r4, 3;
  add.u32 %r4, %r4, %r9;
  bra NEXT;
EVEN:
  add.u32 %r4, %r4, 7;
NEXT:
  ld.volatile.u32 %r10, [%a4];
  add.u32 %r4, %r4, %r10;
  add.u32 %r6, %r6, 1;
  setp.lt.u32 %p1, %r6, %r5;
  @%p1 bra ROUND;
  st.volatile.global.u32 [%a1], %r4;
  rem.u32 %r11, %r2, 5;
  setp.eq.u32 %p2, %r11, 4;
  @%p2 bra DONE;
  bar.sync 0;
  and.b32 %r12, %r4, 1;
  setp.ne.u32 %p3, %r12, 0;
  bar.red.popc.u32 %r13, 1, %p3;
  st.volatile.global.u32 [%a1+4], %r13;
  setp.ne.u32 %p4, %r2, 17;
  bar.red.and.pred %p5, 0, %p4;
  selp.u32 %r14, 3, 5, %p5;
  st.volatile.global.u32 [%a1+8], %r14;
  ld.volatile.u32 %r15, [%a3+12];
  st.volatile.global.u32 [%a1+12], %r15;
  ld.volatile.u32 %r16, [%a3+56];
  st.volatile.global.u32 [%a1+16], %r16;
  mov.u32 %r17, %warpid;
  st.volatile.global.u32 [%a1+20], %r17;
  atom.global.add.u32 %r18, [%a1+24], %r17;
  membar.gl;
  ld.volatile.global.u32 %r20, [%a1];
  st.volatile.global.u32 [%a1+28], %r20;
DONE:
  ret;
}
)";

std::vector<std::uint32_t> wanderer_output(tb::Executor& executor, const isa::Module& module) {
  executor.load(module);
  executor.memory().place("out", kWandererOutput, 4ULL * kWandererWords * kWandererThreads * kWandererBlocks);
  isa::LaunchRequest request;
  request.kernel = module.kernels.front().name;
  request.block = {kWandererThreads, 1, 1};
  request.grid = {kWandererBlocks, 1, 1};
  request.parameters.resize(8);
  std::memcpy(request.parameters.data(), &kWandererOutput, 8);
  executor.launch(request);
  executor.launch(request);  // a second time over what the first has left
  std::vector<std::uint32_t> words(std::size_t{kWandererWords} * kWandererThreads * kWandererBlocks);
  executor.memory().read(kWandererOutput, std::as_writable_bytes(std::span(words)));
  return words;
}

class MovingThreads : public ::testing::TestWithParam<unsigned> {};

TEST_P(MovingThreads, ComputeWhatTheInterpreterDoes) {
  const hw::Machine machine = test::wandering_machine(GetParam());
  const isa::Module module = ptx::compile(kWandererText, "wander.ptx", ptx::CompileOptions(tb::code_options(machine)));
  tb::Device device(machine);
  tb::ReferenceExecutor reference{isa::InterpreterOptions{}};
  const std::vector<std::uint32_t> actual = wanderer_output(device, module);
  EXPECT_EQ(actual, wanderer_output(reference, module));
  EXPECT_EQ(device.retirement().total(), reference.retirement().total());
  // They did move, and blocks and barriers were counted once.
  EXPECT_GT(test::wanderings.moves, 100U);
  EXPECT_GT(test::wanderings.exchanges, 100U);
  EXPECT_GT(test::wanderings.merges, 10U);
  EXPECT_EQ(test::wanderings.departures > 100, machine.gpu.cores > 1);
  EXPECT_EQ(test::wanderings.departures, test::wanderings.returns);
  EXPECT_EQ(device.totals().core.blocks, 2U * kWandererBlocks);
  EXPECT_EQ(device.totals().core.barriers, 2U * 3 * kWandererBlocks);
}

INSTANTIATE_TEST_SUITE_P(Cores, MovingThreads, ::testing::Values(1U, 2U, 3U),
                         [](const auto& info) { return std::to_string(info.param); });

std::string counters_of_wanderers(std::uint64_t shuffle) {
  return test::in_child([&] {
    const hw::Machine machine = test::wandering_machine(3);
    tb::DeviceOptions options;
    options.shuffle = shuffle;
    tb::Device device(machine, options);
    const std::vector<std::uint32_t> words = wanderer_output(
        device, ptx::compile(kWandererText, "wander.ptx", ptx::CompileOptions(tb::code_options(machine))));
    std::string text = fmt::format("hash {:016x}, {} cycles\n", device.retirement().total(), device.totals().cycles);
    for (const StatisticsRegistry::Scalar& one : device.statistics().scalars()) {
      text += fmt::format("{}.{} {}\n", one.declaration.module, one.declaration.name, *one.value);
    }
    return text;
  });
}

// Cores are advanced in any order within a cycle (what one hears of two others in one cycle: home_inbox_test.cpp).
TEST(MovingThreads, OrderOfCoresInACycleChangesNoCounter) {
  const std::string usual = counters_of_wanderers(0);
  EXPECT_EQ(usual.rfind("hash ", 0), 0U) << usual;
  for (const std::uint64_t seed : {7U, 1234U}) {
    EXPECT_EQ(counters_of_wanderers(seed), usual) << "seed " << seed;
  }
}

// Threads of one block name different counts at a barrier, on whatever cores: the block's home finds out.
TEST(MovingThreads, ABarriersRulesHoldAcrossCores) {
  constexpr const char* kText = R"(
.version 7.0
.target sm_60
.address_size 64
.visible .entry mismatch(.param .u64 out)
{
  .reg .pred %p<2>;
  .reg .u32 %r<4>;
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, 0;
LOOP:
  add.u32 %r1, %r1, 1;
  setp.lt.u32 %p0, %r1, 20;
  @%p0 bra LOOP;
  setp.lt.u32 %p1, %r0, 30;
  @%p1 bra OTHERS;
  bar.sync 1, 64;
  bra DONE;
OTHERS:
  bar.sync 1, 96;
DONE:
  ret;
}
)";
  tb::Device device(test::wandering_machine(3));
  try {
    static_cast<void>(wanderer_output(device, ptx::compile(kText, "mismatch.ptx")));
    FAIL() << "no fault";
  } catch (const SimulatedFault& error) {
    EXPECT_NE(std::string(error.what()).find("barrier mismatch"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("expects "), std::string::npos) << error.what();
  }
  EXPECT_GT(test::wanderings.returns, 0U);
}

// A barrier's release writes to the registers of threads that wait at it, where they were when they came.
TEST(MovingThreads, ThoseThatWaitAtABarrierStay) {
  const std::string told = test::in_child([] {
    sc_core::sc_report_handler::set_handler(nullptr);  // the error is what is asked for
    const hw::Machine machine = test::wandering_machine(1);
    tb::Device device(machine);
    test::wander_while_waiting = true;
    static_cast<void>(wanderer_output(device, ptx::compile(kWandererText, "wander.ptx")));
    return std::string("nobody objected");
  });
  EXPECT_THAT(told, ::testing::HasSubstr("neither in flight nor waits can change their places"));
}

// smid is where a thread is when it reads; what names the thread stays.
TEST(MovingThreads, SmidIsThePlacesAndTidTheThreads) {
  constexpr const char* kText = R"(
.version 7.0
.target sm_60
.address_size 64
.visible .entry where(.param .u64 out)
{
  .reg .pred %p<2>;
  .reg .u32 %r<12>;
  .reg .u64 %a<4>;
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %ntid.x;
  mov.u32 %r2, %tid.x;
  mad.lo.u32 %r3, %r0, %r1, %r2;
  ld.param.u64 %a0, [out];
  mad.wide.u32 %a1, %r3, 32, %a0;
  mov.u32 %r4, 0;
  mov.u32 %r5, 0;
LOOP:
  mov.u32 %r6, %smid;
  mov.u32 %r7, 1;
  shl.b32 %r7, %r7, %r6;
  or.b32 %r5, %r5, %r7;
  add.u32 %r4, %r4, 1;
  setp.lt.u32 %p0, %r4, 20;
  @%p0 bra LOOP;
  mov.u32 %r8, %tid.x;
  st.global.u32 [%a1], %r5;
  st.global.u32 [%a1+4], %r8;
  ret;
}
)";
  const hw::Machine machine = test::wandering_machine(3);
  tb::Device device(machine);
  const std::vector<std::uint32_t> words =
      wanderer_output(device, ptx::compile(kText, "where.ptx", ptx::CompileOptions(tb::code_options(machine))));
  unsigned travelled = 0;
  for (unsigned thread = 0; thread < kWandererThreads * kWandererBlocks; ++thread) {
    const std::uint32_t seen = words[thread * kWandererWords];
    EXPECT_NE(seen, 0U);
    EXPECT_EQ(seen & ~7U, 0U);
    travelled += (seen & (seen - 1)) != 0 ? 1 : 0;
    EXPECT_EQ(words[thread * kWandererWords + 1], thread % kWandererThreads);
  }
  EXPECT_GT(travelled, kWandererThreads);
}

}  // namespace
}  // namespace heddle
