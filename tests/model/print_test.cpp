// printf and assert as clang and nvcc write them, on machines that differ in everything but results: the same text, in
// the same order, as on the reference interpreter.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "isa/memory_map.hpp"
#include "machines.hpp"
#include "ptx/compile.hpp"
#include "tb/device/device.hpp"
#include "tests/support/marks.hpp"

HEDDLE_SAMPLED_SANITIZED("Machines/PrintOnMachine.*")

namespace heddle {
namespace {

using ::testing::HasSubstr;

// Every thread prints twice, odd ones a string of their own between; thread 37 of block 2 fails an assertion where
// `data` points to a 1.
constexpr const char* kPrintKernel = R"(
.version 7.0
.target sm_60
.address_size 32
.file 1 "kernel.cu"
.extern .func (.param .b32 func_retval0) vprintf(.param .b32 p0, .param .b32 p1);
.func __assertfail(.param .b32 a, .param .b32 b, .param .b32 c, .param .b32 d, .param .b32 e);
.global .align 1 .b8 format[29] = {98, 108, 111, 99, 107, 32, 37, 117, 32, 116, 104, 114, 101, 97, 100, 32, 37, 50,
                                   117, 32, 37, 115, 32, 37, 46, 50, 102, 10, 0};
.global .align 1 .b8 odd[4] = {111, 100, 100, 0};
.global .align 1 .b8 last[6] = {100, 111, 110, 101, 10, 0};
.global .align 1 .b8 condition[6] = {110, 32, 33, 61, 32, 0};
.global .align 1 .b8 file[10] = {107, 101, 114, 110, 101, 108, 46, 99, 117, 0};
.global .align 1 .b8 function[7] = {118, 111, 105, 100, 32, 107, 0};
.visible .entry k(.param .u32 data) {
  .local .align 8 .b8 depot[24];
  .reg .b32 %r<20>;
  .reg .f64 %d<3>;
  .reg .pred %p<4>;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  and.b32 %r3, %r1, 1;
  setp.eq.u32 %p1, %r3, 0;
  mov.u32 %r4, depot;
  cvta.local.u32 %r5, %r4;
  @%p1 bra REST;
  st.local.u32 [%r4], %r2;
  st.local.u32 [%r4+4], %r1;
  mov.u32 %r6, odd;
  cvta.global.u32 %r6, %r6;
  st.local.u32 [%r4+8], %r6;
  cvt.rn.f64.u32 %d1, %r1;
  st.local.f64 [%r4+16], %d1;
  mov.u32 %r7, format;
  cvta.global.u32 %r7, %r7;
  .loc 1 9 2
  call.uni (%r8), vprintf, (%r7, %r5);
REST:
  ld.param.u32 %r9, [data];
  ld.global.u32 %r10, [%r9];
  setp.ne.u32 %p2, %r10, 1;
  setp.ne.or.u32 %p2, %r1, 37, %p2;
  setp.ne.or.u32 %p2, %r2, 2, %p2;
  @%p2 bra FINE;
  mov.u32 %r11, condition;
  mov.u32 %r12, file;
  mov.u32 %r13, function;
  cvta.global.u32 %r11, %r11;
  cvta.global.u32 %r12, %r12;
  cvta.global.u32 %r13, %r13;
  .loc 1 12 2
  call.uni __assertfail, (%r11, %r12, 12, %r13, 1);
FINE:
  mov.u32 %r14, last;
  cvta.global.u32 %r14, %r14;
  call.uni (%r15), vprintf, (%r14, %r5);
  ret;
}
)";

constexpr std::uint64_t kPrintData = isa::kGlobalBase;

struct Printed {
  std::string text, fault;
};

template <class Executor>
void launch_print(Executor& executor, std::uint32_t value, Printed& printed) {
  executor.load(ptx::compile(kPrintKernel, "kernel.ptx"));
  executor.memory().place("data", kPrintData, 4);
  executor.memory().write(kPrintData, std::as_bytes(std::span(&value, 1)));
  isa::LaunchRequest request;
  request.kernel = "k";
  request.grid = {4, 1, 1};
  request.block = {48, 1, 1};
  request.parameters = {0, 0, 0, 0x10};
  try {
    executor.launch(request);
  } catch (const SimulatedFault& fault) {
    printed.fault = fault.what();
  }
}

Printed print_on_reference(std::uint32_t value) {
  Printed printed;
  tb::ReferenceExecutor reference;
  reference.on_print([&](const std::string& text) { printed.text += text; });
  launch_print(reference, value, printed);
  return printed;
}

Printed print_on_model(const hw::Machine& machine, std::uint32_t value) {
  Printed printed;
  tb::DeviceOptions options;
  options.print = [&](const std::string& text) { printed.text += text; };
  options.shuffle = machine.gpu.cores > 1 ? 7 : 0;  // who prints first in a cycle does not matter
  tb::Device device(machine, options);
  launch_print(device, value, printed);
  return printed;
}

class PrintOnMachine : public ::testing::TestWithParam<hw::Machine> {};
INSTANTIATE_TEST_SUITE_P(Machines, PrintOnMachine, ::testing::ValuesIn([] {
                           std::vector<hw::Machine> chosen;
                           for (const hw::Machine& machine : test::make_machines()) {
                             for (const char* const name :
                                  {"baseline", "simd8", "warp64", "packed64", "packed1024relaxed", "tbcsimd8",
                                   "dwfanylane", "pcsticky", "registers16", "tiny", "throughcores4"}) {
                               if (machine.name == name) chosen.push_back(machine);
                             }
                           }
                           return chosen;
                         }()),
                         [](const auto& info) { return info.param.name; });

TEST_P(PrintOnMachine, TheTextIsTheSameEverywhere) {
  std::string expected;
  for (int block = 0; block < 4; ++block) {
    for (int thread = 0; thread < 48; ++thread) {
      if (thread % 2 == 1) {
        expected += "block " + std::to_string(block) + " thread " + (thread < 10 ? " " : "") + std::to_string(thread) +
                    " odd " + std::to_string(thread) + ".00\n";
      }
      expected += "done\n";
    }
  }
  EXPECT_EQ(print_on_reference(0).text, expected);
  const Printed printed = print_on_model(GetParam(), 0);
  EXPECT_EQ(printed.text, expected);
  EXPECT_EQ(printed.fault, "");
}

TEST_P(PrintOnMachine, AFailedAssertionIsAFault) {
  for (const Printed& printed : {print_on_reference(1), print_on_model(GetParam(), 1)}) {
    EXPECT_THAT(printed.fault, HasSubstr("assertion failed in kernel 'k' at PC "));
    EXPECT_THAT(printed.fault, HasSubstr("(kernel.cu:12), block (2, 0, 0), thread (37, 0, 0): 'n != ' in void k, "
                                         "kernel.cu:12"));
  }
}

}  // namespace
}  // namespace heddle
