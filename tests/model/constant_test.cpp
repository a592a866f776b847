// Constants and kernel parameters through constant caches, and in the reference interpreter: equal values, equal
// hashes, on every kind of machine and every one of configs/.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "hw/divergence/divergence.hpp"
#include "isa/interpreter.hpp"
#include "ptx/compile.hpp"
#include "tb/device/code_options.hpp"
#include "tb/device/device.hpp"
#include "tests/model/workload_cases.hpp"
#include "tests/support/marks.hpp"

HEDDLE_SAMPLED("On/Constants.*")
HEDDLE_SAMPLED_SANITIZED("On/Constants.*")

namespace heddle::constant_test {
namespace {

// Each thread adds up, in each of 5 rounds: a word of a table at an index that all threads have; one at an index of its
// own; two at an index that a few share, of odd threads on a path of their own; one through a generic pointer, which is
// into the table for some threads and into global memory for others; a byte; and a parameter beyond the first line.
constexpr const char* kText = R"(
.version 7.0
.target sm_60
.address_size 64
.const .align 16 .b8 table[4096];
.const .align 4 .u32 seed = 2654435761;
.const .align 1 .b8 bytes[100];
.visible .entry k(.param .u64 words, .param .u64 out, .param .align 4 .b8 more[400])
{
  .reg .b32 %r<30>; .reg .b64 %a<12>; .reg .pred %p<4>;
  ld.param.u64 %a0, [words]; ld.param.u64 %a1, [out];
  mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x;
  mad.lo.u32 %r3, %r0, %r1, %r2;
  ld.const.u32 %r4, [seed];
  mov.u64 %a2, table;
  cvta.const.u64 %a3, %a2;
  mov.u64 %a4, bytes;
  and.b32 %r5, %r3, 1; setp.ne.u32 %p1, %r5, 0;
  and.b32 %r6, %r3, 6; setp.eq.u32 %p2, %r6, 4;
  mov.u32 %r7, 0;
LOOP:
  mul.wide.u32 %a5, %r7, 388; add.u64 %a5, %a5, %a2; ld.const.u32 %r8, [%a5+4]; add.u32 %r4, %r4, %r8;
  mad.lo.u32 %r9, %r3, 41, %r7; and.b32 %r9, %r9, 1023; mul.wide.u32 %a6, %r9, 4;
  add.u64 %a7, %a6, %a2; ld.const.u32 %r10, [%a7]; add.u32 %r4, %r4, %r10;
  shr.u32 %r11, %r3, 3; add.u32 %r11, %r11, %r7; and.b32 %r11, %r11, 255;
  mul.wide.u32 %a8, %r11, 16; add.u64 %a8, %a8, %a2;
  @!%p1 bra JOIN;
  ld.const.v2.u32 {%r12, %r13}, [%a8+8]; add.u32 %r4, %r4, %r12; xor.b32 %r4, %r4, %r13;
JOIN:
  add.u64 %a9, %a3, %a6; @%p2 add.u64 %a9, %a0, %a6;
  ld.u32 %r14, [%a9]; add.u32 %r4, %r4, %r14;
  rem.u32 %r15, %r9, 100; cvt.u64.u32 %a10, %r15; add.u64 %a10, %a10, %a4; ld.const.s8 %r16, [%a10];
  add.u32 %r4, %r4, %r16;
  ld.param.u32 %r17, [more+396]; add.u32 %r4, %r4, %r17;
  add.u32 %r7, %r7, 1; setp.lt.u32 %p3, %r7, 5; @%p3 bra LOOP;
  mul.wide.u32 %a11, %r3, 4; add.u64 %a11, %a11, %a1; st.global.u32 [%a11], %r4;
  ret;
}
)";

constexpr unsigned kBlock = 64;
constexpr unsigned kGrid = 12;
constexpr unsigned kLaunches = 2;

std::uint32_t word(std::size_t index, std::uint32_t launch) {
  return static_cast<std::uint32_t>(index * 2246822519U) ^ (launch * 77777U);
}

// The sums of two launches; the host changes table and parameters between them.
std::vector<std::uint32_t> sums_of(tb::Executor& executor, const isa::Module& module) {
  executor.load(module);
  isa::DeviceMemory& memory = executor.memory();
  std::vector<std::uint32_t> words(1024);
  for (std::size_t i = 0; i < words.size(); ++i) {
    words[i] = word(i + 5000, 0);
  }
  const std::uint64_t global = memory.allocate("words", words.size() * 4);
  memory.write(global, std::as_bytes(std::span(words)));
  const std::uint64_t out = memory.allocate("out", std::size_t{kBlock} * kGrid * 4);
  const auto variable = [&](const char* name) {
    return std::find_if(module.variables.begin(), module.variables.end(),
                        [&](const isa::Variable& one) { return one.name == name; })
        ->address;
  };
  std::vector<std::uint32_t> all;
  for (std::uint32_t launch = 0; launch != kLaunches; ++launch) {
    std::vector<std::uint32_t> table(1024);
    std::vector<std::uint8_t> bytes(100);
    for (std::size_t i = 0; i < table.size(); ++i) {
      table[i] = word(i, launch);
    }
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      bytes[i] = static_cast<std::uint8_t>(word(i, launch) >> 11U);
    }
    executor.set_constants(variable("table"), std::as_bytes(std::span(table)));
    executor.set_constants(variable("bytes"), std::as_bytes(std::span(bytes)));
    isa::LaunchRequest request;
    request.kernel = "k";
    request.block = {kBlock, 1, 1};
    request.grid = {kGrid, 1, 1};
    request.parameters.resize(16 + 400);
    std::memcpy(request.parameters.data(), &global, 8);
    std::memcpy(request.parameters.data() + 8, &out, 8);
    const std::uint32_t last = word(9999, launch);
    std::memcpy(request.parameters.data() + 16 + 396, &last, 4);
    executor.launch(request);
    std::vector<std::uint32_t> sums(std::size_t{kBlock} * kGrid);
    memory.read(out, std::as_writable_bytes(std::span(sums)));
    all.insert(all.end(), sums.begin(), sums.end());
  }
  return all;
}

void expect_equal_constants(const hw::Machine& machine) {
  const isa::Module module = ptx::compile(kText, "k.ptx", ptx::CompileOptions(tb::code_options(machine)));
  tb::Device device(machine);
  tb::ReferenceExecutor reference{isa::InterpreterOptions{}};
  const std::vector<std::uint32_t> actual = sums_of(device, module);
  const std::vector<std::uint32_t> expected = sums_of(reference, module);
  EXPECT_EQ(actual, expected);
  EXPECT_NE(expected[0], expected[kBlock * kGrid]) << "the host has changed what is read";
  EXPECT_EQ(device.retirement().total(), reference.retirement().total());
  const hw::Totals totals = device.totals();
  const hw::CacheStatistics& cache = totals.constant_cache;
  EXPECT_EQ(cache.accesses, cache.hits + cache.misses);
  // Every address of every load, in the sub-cores' caches or in the core's.
  const std::uint64_t addresses = totals.core.constant_accesses + totals.core.constant_serialised;
  EXPECT_EQ((machine.constant_cache.l0_bytes != 0 ? totals.l0c.accesses : cache.accesses), addresses);
  if (!hw::about<hw::Divergence>(machine.core.divergence).traits.mimd_lanes) {  // whose lanes load each for itself
    EXPECT_GT(totals.core.constant_serialised, 0U);
  }
  EXPECT_GE(cache.memory_reads, machine.gpu.perfect_memory ? 0U : kLaunches * 4096U / machine.constant_cache.line_bytes)
      << "all of the table comes in each launch";
}

class Constants : public ::testing::TestWithParam<std::size_t> {};

// With its own constant caches, or small ones.
TEST_P(Constants, ComeToTheSameAsInTheInterpreter) {
  hw::Machine machine = test::machine_at(GetParam());
  if (machine.constant_cache.bytes == 0) {
    machine.constant_cache.bytes = 512;
    machine.constant_cache.line_bytes = std::min(64U, machine.l1d.line_bytes);
    machine.constant_cache.hit_latency = 5;
    machine.constant_cache.mshrs = 3;
  }
  expect_equal_constants(machine);
}

INSTANTIATE_TEST_SUITE_P(On, Constants, ::testing::Range<std::size_t>(0, test::machine_names().size()),
                         [](const auto& info) {
                           std::string name = test::machine_names()[info.param];
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace heddle::constant_test
