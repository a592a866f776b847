// Faults of simulated programs: each stops the launch with a message that names kernel, PTX line, CUDA line, block,
// thread, address and nearest allocation; the interpreter gives that message where both can; and the device can be used
// again afterwards.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.hpp"
#include "isa/memory_map.hpp"
#include "ptx/compile.hpp"
#include "tb/device/device.hpp"
#include "tests/support/marks.hpp"

HEDDLE_SAMPLED_SANITIZED("Livelock/LoopOf.*")

namespace heddle {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kData = isa::kGlobalBase;  // 1024 bytes, the kernel's parameter

// A kernel of one statement list; line 9 of the PTX text is the list's first, CUDA line 7.
isa::Module kernel(const std::string& body, const std::string& declarations = "") {
  const std::string text =
      ".version 7.0\n.target sm_50\n.address_size 32\n.file 1 \"kernel.cu\"\n" + declarations +
      "\n.visible .entry k(.param .u32 data) {\n.reg .b32 %r<9>; .reg .b64 %d<4>; .reg .pred "
      "%p<4>; ld.param.u32 %r0, [data]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;\n.loc 1 7 3\n" +
      body + "\nret;\n}\n";
  return ptx::compile(text, "kernel.ptx");
}

isa::LaunchRequest launch_of(std::uint32_t block = 64, std::uint32_t grid = 2) {
  isa::LaunchRequest request;
  request.kernel = "k";
  request.block = {block, 1, 1};
  request.grid = {grid, 1, 1};
  request.parameters = {0, 0, 0, 0x10};
  return request;
}

std::string fault_on(tb::Executor& executor, const isa::Module& module, const isa::LaunchRequest& request) {
  executor.load(module);
  executor.memory().place("data", kData, 1024);
  try {
    executor.launch(request);
  } catch (const SimulatedFault& fault) {
    return fault.what();
  }
  return "no fault";
}

std::string fault_in_reference(const isa::Module& module, const isa::LaunchRequest& request, bool division = false) {
  isa::InterpreterOptions options;
  options.trap_on_division_by_zero = division;
  tb::ReferenceExecutor reference(options);
  return fault_on(reference, module, request);
}

// A good launch on the same device: every thread stores its number.
void expect_usable(tb::Device& device) {
  const isa::Module module =
      kernel("shl.b32 %r3, %r1, 2; add.u32 %r3, %r3, %r0; add.u32 %r4, %r1, 5; st.global.u32 [%r3], %r4;");
  ASSERT_EQ(fault_on(device, module, launch_of(128, 1)), "no fault");
  for (std::uint32_t i = 0; i < 128; ++i) {
    ASSERT_EQ(device.memory().get<std::uint32_t>(kData + 4ULL * i), i + 5);
  }
}

struct Case {
  const char* name;
  const char* body;
  std::vector<const char*> says;
  const char* declarations = "";
  std::uint32_t block = 64;
};
void PrintTo(const Case& fault, std::ostream* out) {
  *out << fault.name;
}

class Fault : public ::testing::TestWithParam<Case> {};

TEST_P(Fault, IsToldAsTheInterpreterTellsIt) {
  const Case& fault = GetParam();
  // What was loaded is stored: unused loads would be left out.
  const isa::Module module = kernel(std::string(fault.body) + " st.global.u32 [%r0], %r3;", fault.declarations);
  hw::Machine machine;
  machine.core.division_trap = true;
  machine.core.registers_per_thread = 63;
  tb::Device device(machine);
  const std::string text = fault_on(device, module, launch_of(fault.block));
  EXPECT_EQ(text, fault_in_reference(module, launch_of(fault.block), true));
  for (const char* part : fault.says) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  EXPECT_THAT(text, HasSubstr("in kernel 'k'"));
  EXPECT_THAT(text, HasSubstr("kernel.ptx:"));
  EXPECT_THAT(text, HasSubstr("(kernel.cu:7)"));
  EXPECT_THAT(text, HasSubstr("block (0, 0, 0)"));
  expect_usable(device);
}

// Thread 37 of block 0 alone does it.
#define ONLY_37 "mov.u32 %r3, 0; setp.eq.u32 %p1, %r1, 37; setp.eq.and.u32 %p1, %r2, 0, %p1;\n"

INSTANTIATE_TEST_SUITE_P(
    All, Fault,
    ::testing::Values(
        Case{"load",
             ONLY_37 "@%p1 ld.global.u32 %r3, [%r0+1024];",
             {"out-of-bounds access", "thread (37, 0, 0)", "4 bytes at address 0x10000400", "'data'", "load"}},
        Case{"store",
             ONLY_37 "@%p1 st.global.v2.u32 [%r0+2048], {%r1, %r1};",
             {"thread (37, 0, 0)", "8 bytes at address 0x10000800", "'data'", "store"}},
        Case{"atomic",
             ONLY_37 "@%p1 atom.global.add.u32 %r3, [%r0+1028], 1;",
             {"thread (37, 0, 0)", "4 bytes at address 0x10000404", "'data'", "atomic"}},
        // Lanes 5 to 31 of warp 1 would write 27 words; the second from last lies past the end.
        Case{"cond_acc",
             "mov.u32 %r3, 0; setp.ge.u32 %p1, %r1, 37; add.u32 %r4, %r0, 924;\n"
             "cond_acc.global.b32 %r3, [%r4], %p1, %r1;",
             {"out-of-bounds access", "thread (62, 0, 0)", "4 bytes at address 0x10000400", "'data'", "store"}},
        Case{"cond_acc_shared",
             "mov.u32 %r3, 0; setp.ge.u32 %p1, %r1, 37; cond_acc.shared.b64 %r3, [words], %p1, 7;",
             {"thread (51, 0, 0)", "8 bytes at address 0x70", "offset 112", "scratchpad", "112 bytes"},
             ".shared .align 8 .b8 words[112];"},
        Case{"cond_acc_misaligned",
             "mov.u32 %r3, 0; setp.ge.u32 %p1, %r1, 37; cond_acc.global.b16 %r3, [%r0+3], %p1, 7;",
             {"misaligned access", "0x10000003", "no multiple of 2", "thread (37, 0, 0)"}},
        Case{"null",
             ONLY_37 "mov.u32 %r4, 0; @%p1 ld.global.u32 %r3, [%r4+8];",
             {"out-of-bounds access", "address 0x8", "thread (37, 0, 0)"}},
        Case{"generic_null", ONLY_37 "mov.u32 %r4, 0; @%p1 ld.u32 %r3, [%r4];", {"address 0x0"}},
        Case{"misaligned",
             ONLY_37 "@%p1 ld.global.u32 %r3, [%r0+2];",
             {"misaligned access", "0x10000002", "no multiple of 4", "thread (37, 0, 0)"}},
        Case{"misaligned_pair_of_halves",
             ONLY_37 "@%p1 atom.global.add.noftz.f16x2 %r3, [%r0+2], %r1;",
             {"misaligned access", "0x10000002", "no multiple of 4", "thread (37, 0, 0)"}},
        Case{"code", ONLY_37 "mov.u32 %r4, 0x4000000; @%p1 st.global.u32 [%r4], %r1;", {"read-only", "code of k"}},
        Case{"window",
             ONLY_37 "mov.u32 %r4, 0x1000000; @%p1 ld.global.u32 %r3, [%r4];",
             {"global load of an address in the shared window"}},
        Case{"shared",
             ONLY_37 "mov.u32 %r4, words; @%p1 st.shared.u32 [%r4+400], %r1;",
             {"offset 400", "scratchpad", "400 bytes"},
             ".shared .align 4 .b8 words[400];"},
        Case{"generic_shared",
             ONLY_37 "mov.u32 %r4, words; cvta.shared.u32 %r4, %r4; @%p1 st.u32 [%r4+400], %r1;",
             {"address 0x1000190", "scratchpad"},
             ".shared .align 4 .b8 words[400];"},
        Case{"local",
             ".local .align 4 .b8 mine[16]; " ONLY_37 "mov.u32 %r4, mine; @%p1 ld.local.u32 %r3, [%r4+64];",
             {"local memory", "thread (37, 0, 0)"}},
        Case{"constant",
             ONLY_37 "mov.u32 %r4, 0x3000000; @%p1 st.u32 [%r4], %r1;",
             {"constant bank", "read-only", "address 0x3000000"},
             ".const .align 4 .u32 table[2] = {1, 2};"},
        Case{"division",
             ONLY_37 "mov.u32 %r4, 0; @%p1 div.u32 %r3, %r1, %r4;",
             {"integer division by zero", "thread (37, 0, 0)"}},
        Case{"trap", ONLY_37 "@%p1 trap;", {"trap in kernel", "thread (37, 0, 0): the program executed trap"}},
        Case{"pointer",
             ONLY_37 "mov.u32 %r4, twice; @%p1 mov.u32 %r4, 0x1230;\n"
                     "call (%r3), %r4, (%r1), form; form: .callprototype (.reg .u32 _) _ (.reg .u32 _);",
             {"trap in kernel",
              "thread (37, 0, 0): a call through a pointer to no function that it could call: the pointer "
              "is 0x1230"},
             ".func (.reg .u32 %o) twice(.reg .u32 %i) { add.u32 %o, %i, %i; ret; }\n"
             ".func (.reg .u32 %o) next(.reg .u32 %i) { add.u32 %o, %i, 1; ret; }\n"},
        Case{"null_pointer",
             ONLY_37 "mov.u32 %r4, twice; @%p1 mov.u32 %r4, 0;\n"
                     "call (%r3), %r4, (%r1), form; form: .callprototype (.reg .u32 _) _ (.reg .u32 _);",
             {"trap in kernel", "a call through a pointer to no function that it could call: the pointer is null"},
             ".func (.reg .u32 %o) twice(.reg .u32 %i) { add.u32 %o, %i, %i; ret; }\n"},
        Case{"stack",
             ONLY_37 "@%p1 call (%r3), down, (%r1);",
             {"trap in kernel",
              "thread (37, 0, 0): a call finds no room on the thread's stack of 1024 bytes: "
              "cudaDeviceSetLimit(cudaLimitStackSize, BYTES) makes it larger, up to 262144 bytes"},
             ".func (.reg .u32 %o) down (.reg .u32 %i) { .reg .u32 %n;\n.loc 1 7 3\n"
             "add.u32 %n, %i, 1; call (%o), down, (%n); add.u32 %o, %o, %n; ret; }\n"},
        Case{"different_barriers",
             "shr.u32 %r3, %r1, 5; bar.sync %r3;",
             {"barrier mismatch", "can never complete", "warp 0 (32 of its 32 threads) waits at barrier 0",
              "warp 1 (32 of its 32 threads) waits at barrier 1", "barrier 0 has 32 of 64 threads"}},
        Case{"wrong_count",
             "mov.u32 %r3, 0; setp.lt.u32 %p1, %r1, 32; @%p1 bar.sync 1, 64; @!%p1 bar.sync 1, 96;",
             {"barrier mismatch", "expects 64 threads"}},
        Case{"early_exit",
             "mov.u32 %r3, 0; setp.ge.u32 %p1, %r1, 32; @%p1 exit; bar.sync 2, 64;",
             {"barrier mismatch", "barrier 2 has 32 of 64 threads", "32 threads have exited"}}),
    [](const auto& info) { return info.param.name; });

// A conditional accumulate that does not fit writes nothing at all.
TEST(AfterAFault, AConditionalAccumulateHasWrittenNothing) {
  tb::Device device{hw::Machine{}};
  const isa::Module module = kernel("setp.ne.u32 %p1, %r1, 3; cond_acc.global.b32 %r3, [%r0+904], %p1, 77;");
  EXPECT_THAT(fault_on(device, module, launch_of(32, 1)), HasSubstr("thread (31, 0, 0)"));
  for (std::uint32_t i = 0; i < 256; ++i) {
    EXPECT_EQ(device.memory().get<std::uint32_t>(kData + 4 * i), 0U) << i;
  }
  expect_usable(device);
}

// The simulated memory keeps what the faulting launch stored before: the L1 is emptied.
TEST(AfterAFault, StoresMadeBeforeAreInMemory) {
  tb::Device device{hw::Machine{}};
  const isa::Module module =
      kernel("shl.b32 %r3, %r1, 2; add.u32 %r3, %r3, %r0; st.global.u32 [%r3], 77;\n" ONLY_37 "@%p1 trap;");
  EXPECT_THAT(fault_on(device, module, launch_of(32, 1)), HasSubstr("no fault"));
  EXPECT_THAT(fault_on(device, module, launch_of(64, 1)), HasSubstr("trap"));
  EXPECT_EQ(device.memory().get<std::uint32_t>(kData + 4 * 37), 77U);
  expect_usable(device);
}

// Loads of other warps are under way when one warp traps.
TEST(AfterAFault, WhatIsOutstandingIsWaitedFor) {
  hw::Machine machine;
  machine.gpu.cores = 2;
  machine.l1d.write_policy = "write-through";
  tb::Device device(machine);
  const isa::Module module = kernel(
      "shl.b32 %r3, %r1, 2; add.u32 %r3, %r3, %r0; setp.lt.u32 %p1, %r1, 32; @%p1 ld.global.u32 %r4, [%r3];\n"
      "@!%p1 st.global.u32 [%r3], %r4; @!%p1 trap;");
  for (unsigned i = 0; i < 3; ++i) {
    EXPECT_THAT(fault_on(device, module, launch_of(64, 4)), HasSubstr("trap"));
  }
  expect_usable(device);
}

TEST(Livelock, OfASpinLockIsFound) {
  hw::Machine machine;
  machine.watchdog.livelock_instructions = 5000;
  tb::Device device(machine);
  // No thread ever releases the lock.
  const isa::Module module = kernel("L: atom.global.cas.b32 %r3, [%r0], 0, 1; setp.ne.u32 %p1, %r3, 0; @%p1 bra L;");
  const std::string text = fault_on(device, module, launch_of());
  EXPECT_THAT(text, HasSubstr("livelock in kernel 'k'"));
  EXPECT_THAT(text, HasSubstr("kernel.ptx:9 (kernel.cu:7)"));
  EXPECT_THAT(text, HasSubstr("no warp gets out of its loop"));
  EXPECT_THAT(text, HasSubstr("warp 0 of block"));
  // The watchdog stopped it in the midst of its memory accesses.
  EXPECT_THROW(expect_usable(device), InputError);
}

// The thread that has the lock waits behind the loop for threads that try to get it.
TEST(Livelock, OfALockThatIsReleasedBehindTheLoopIsExplained) {
  hw::Machine machine;
  machine.core.divergence = "stack";
  machine.gpu.cores = 1;
  machine.watchdog.livelock_instructions = 5000;
  tb::Device device(machine);
  const isa::Module module = kernel(
      "L: atom.global.cas.b32 %r3, [%r0], 0, 1; setp.ne.u32 %p1, %r3, 0; @%p1 bra L;\n"
      "atom.global.exch.b32 %r3, [%r0], 0;");
  const std::string text = fault_on(device, module, launch_of(32, 1));
  EXPECT_EQ(
      text,
      "livelock in kernel 'k' at PC 2, kernel.ptx:9 (kernel.cu:7), block (0, 0, 0), thread (1, 0, 0): no warp gets "
      "out of its loop: warp 0 of block (0,0,0) at PC 2 waits for memory (loop PC 1 to 4, while 1 of its threads "
      "waits elsewhere). This is a spin lock (PC 2). Where the threads of a warp re-converge behind the loop, one "
      "that leaves it with the lock waits there for the others, which wait for the lock. Release it within the "
      "loop, and end the loop's body with __syncwarp(), so that no compiler moves the release out of it: while "
      "(!done) { if (atomicCAS(lock, 0, 1) == 0) { ...; atomicExch(lock, 0); done = true; } __syncwarp(); }. If the "
      "loop would end after all, wait longer: --set watchdog.livelock_instructions=500000 (now 5000)");
}

// A loop without a lock gets no advice on locks.
TEST(Livelock, OfAnotherLoopIsNoLock) {
  hw::Machine machine;
  machine.watchdog.livelock_instructions = 5000;
  tb::Device device(machine);
  const std::string text = fault_on(
      device, kernel("L: ld.volatile.global.u32 %r3, [%r0]; setp.eq.u32 %p1, %r3, 0; @%p1 bra L;"), launch_of(32, 1));
  EXPECT_THAT(text, HasSubstr("no warp gets out of its loop"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("spin lock")));
}

class LoopOf : public ::testing::TestWithParam<unsigned> {};
// Whatever the loop's length: the count need not hit the limit exactly.
TEST_P(LoopOf, AnyLengthIsFound) {
  hw::Machine machine;
  machine.watchdog.livelock_instructions = 3000;
  tb::Device device(machine);
  std::string body = "mov.u32 %r3, 0; L:\n";
  for (unsigned i = 0; i < GetParam(); ++i) {
    body += "add.u32 %r3, %r3, %r1; ";
  }
  const std::string text = fault_on(device, kernel(body + "st.global.u32 [%r0], %r3; bra L;"), launch_of(32, 1));
  EXPECT_THAT(text, HasSubstr("livelock"));
}
INSTANTIATE_TEST_SUITE_P(Livelock, LoopOf, ::testing::Values(1U, 2U, 3U, 5U, 7U, 12U));

// Its count of rounds is wanted behind it and does not say when it ends.
TEST(Livelock, OfALoopThatCountsItsRoundsIsFound) {
  hw::Machine machine;
  machine.watchdog.livelock_instructions = 1000;
  tb::Device device(machine);
  const isa::Module module = kernel(
      "mov.u32 %r4, 0;\nL: add.u32 %r4, %r4, 1; atom.global.cas.b32 %r3, [%r0], 0, 1; setp.ne.u32 %p1, %r3, 0;\n"
      "@%p1 bra L; st.global.u32 [%r0+4], %r4;");
  EXPECT_THAT(fault_on(device, module, launch_of(32, 1)), HasSubstr("This is a spin lock"));
}

// However long it takes: what a loop ends by changes in every round, in registers or in memory.
class LongLoop : public ::testing::TestWithParam<const char*> {};
TEST_P(LongLoop, IsNone) {
  hw::Machine machine;
  machine.watchdog.livelock_instructions = 1000;
  tb::Device device(machine);
  std::string body = std::string("mov.u32 %r3, 0; mov.u32 %r4, %r1;\nL: ") + GetParam();
  for (unsigned i = 0; i < 24; ++i) {
    body += " mad.lo.u32 %r4, %r4, 1664525, %r3;";
  }
  EXPECT_EQ(fault_on(device, kernel(body + " @%p1 bra L; st.global.u32 [%r0+4], %r4;"), launch_of(32, 1)), "no fault");
  EXPECT_GT(device.totals().core.group_instructions, 110'000U) << "the loop is too short to be taken for one";
}
INSTANTIATE_TEST_SUITE_P(
    Livelock, LongLoop,
    ::testing::Values("add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 5000;",
                      "ld.volatile.global.u32 %r5, [%r0]; add.u32 %r4, %r4, %r5; add.u32 %r3, %r3, 1; "
                      "setp.lt.u32 %p1, %r3, 5000;",
                      "atom.global.add.u32 %r3, [%r0], 1; setp.lt.u32 %p1, %r3, 160000;"));

// A loop that ends below the limit is none.
TEST(Livelock, ALongLoopThatEndsIsNone) {
  hw::Machine machine;
  machine.watchdog.livelock_instructions = 5000;
  tb::Device device(machine);
  const isa::Module module = kernel(
      "mov.u32 %r3, 0;\nL: add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 1200; @%p1 bra L; st.global.u32 [%r0], %r3;");
  EXPECT_EQ(fault_on(device, module, launch_of()), "no fault");
}

struct Large {
  const char* name;
  void (*change)(hw::Machine&, isa::LaunchRequest&);
  const char* says;
};
void PrintTo(const Large& large, std::ostream* out) {
  *out << large.name;
}
class Resources : public ::testing::TestWithParam<Large> {};
TEST_P(Resources, ThatNoCoreHasAreRefused) {
  hw::Machine machine;
  isa::LaunchRequest request = launch_of(512);
  GetParam().change(machine, request);
  tb::Device device(machine);
  const isa::Module module = kernel("st.global.u32 [%r0], %r1;");
  const std::string text = fault_on(device, module, request);
  EXPECT_THAT(text, HasSubstr("resources exceeded in kernel 'k'"));
  EXPECT_THAT(text, HasSubstr(GetParam().says));
  EXPECT_EQ(fault_on(device, module, launch_of(32, 1)), "no fault");
}
INSTANTIATE_TEST_SUITE_P(
    All, Resources,
    ::testing::Values(Large{"threads", [](hw::Machine& machine, isa::LaunchRequest&) { machine.core.threads = 256; },
                            "512 threads (whole warps), a core has 256 (core.threads)"},
                      Large{"registers",
                            [](hw::Machine& machine, isa::LaunchRequest&) { machine.core.registers = 512; },
                            "registers, a core has 512 (core.registers)"},
                      Large{"scratchpad",
                            [](hw::Machine&, isa::LaunchRequest& request) { request.dynamic_shared = 131088; },
                            "131088 bytes of scratchpad, a core has 131072 (scratchpad.bytes)"},
                      Large{"block",
                            [](hw::Machine&, isa::LaunchRequest& request) {
                              request.block = {1025, 1, 1};
                            },
                            "at most 1024 fit"}),
    [](const auto& info) { return info.param.name; });

// Words that the front end would never make.
TEST(InvalidCode, IsToldAsTheInterpreterTellsIt) {
  tb::Device device{hw::Machine{}};
  isa::Module module = kernel("st.global.u32 [%r0], %r1;");
  std::vector<isa::InstructionWord>& words = module.kernels.front().words;
  const std::vector<isa::InstructionWord> good = words;
  words.back() = ~std::uint64_t{0};
  std::string text = fault_on(device, module, launch_of());
  EXPECT_THAT(text, HasSubstr("invalid instruction"));
  EXPECT_THAT(text, HasSubstr("the word 0xffffffffffffffff is no instruction"));
  EXPECT_EQ(text, fault_in_reference(module, launch_of()));
  words = good;
  words.pop_back();
  text = fault_on(device, module, launch_of());
  EXPECT_THAT(text, HasSubstr("control ran past its end"));
  EXPECT_EQ(text, fault_in_reference(module, launch_of()));
  expect_usable(device);
}

TEST(InvalidCode, RegistersBeyondTheLaunchsAreRefused) {
  tb::Device device{hw::Machine{}};
  isa::Module module = kernel("st.global.u32 [%r0], %r1;");
  module.kernels.front().registers = 1;
  EXPECT_THAT(fault_on(device, module, launch_of()), HasSubstr("more than the launch's 1 registers per thread"));
}

}  // namespace
}  // namespace heddle
