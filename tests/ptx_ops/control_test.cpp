// Control flow (PTX ISA, section 9.7.12): bra brx.idx call ret exit trap, guards, calls with every kind of parameter;
// kernel parameters of every type; .maxnreg.
#include <gtest/gtest.h>

#include <algorithm>

#include "isa/interpreter.hpp"
#include "ptx/compile.hpp"
#include "tests/ptx_ops/kernel_text.hpp"
#include "tests/ptx_ops/program.hpp"

namespace heddle::ptx_ops {
namespace {

// %mine: the thread's first output word of `words`.
std::string prologue(unsigned words) {
  return "  .reg .u$p %mine; .reg .u32 %v, %w; .reg .pred %p;\n  mul.lo.u32 %w, %tid0, " + std::to_string(4 * words) +
         ";\n  cvt.u$p.u32 %mine, %w; add.u$p %mine, %out, %mine; mov.u32 %w, 0;\n";
}

TEST(PtxControl, BranchTables) {
  for (const char* uniform : {"", ".uni"}) {
    Program program;
    program.block = 50;
    program.output_words = 50;
    program.body = prologue(1) + "  rem.u32 %v, %tid0, 5;\n";
    if (*uniform != 0) program.body += "  mov.u32 %v, 3;\n";
    program.body += std::string("  table: .branchtargets L0, L1, L2, L1, L4;\n  brx.idx") + uniform +
                    " %v, table;\nL0: add.u32 %w, %w, 1; bra END;\nL1: add.u32 %w, %w, 20;\n"
                    "L2: add.u32 %w, %w, 300; bra END;\nL4: add.u32 %w, %w, 4000;\nEND:\n  st.global.u32 [%mine], %w;";
    const std::vector<u32> output = run(program);
    const u32 expected[] = {1, 320, 300, 320, 4000};
    for (unsigned i = 0; i < 50; ++i) EXPECT_EQ(output[i], expected[*uniform != 0 ? 3 : i % 5]) << i;
  }
}

TEST(PtxControl, GuardedBranchTable) {
  Program program;
  program.block = 32;
  program.output_words = 32;
  program.body = prologue(1) +
                 "  table: .branchtargets L0, L1;\n  and.b32 %v, %tid0, 1; setp.gt.u32 %p, %tid0, 9;\n"
                 "  @%p brx.idx %v, table;\n  mov.u32 %w, 7; bra END;\nL0: mov.u32 %w, 100; bra END;\n"
                 "L1: mov.u32 %w, 101;\nEND:\n  st.global.u32 [%mine], %w;";
  const std::vector<u32> output = run(program);
  for (u32 i = 0; i < 32; ++i) EXPECT_EQ(output[i], i > 9 ? 100 + i % 2 : 7U);
}

// Loops whose trip counts differ by thread, left by several exits; early exit and return of single threads.
TEST(PtxControl, DivergentLoopsAndExits) {
  Program program;
  program.grid = 2;
  program.block = 48;
  program.output_words = 96;
  program.body = prologue(1) + R"(
  setp.eq.u32 %p, %tid0, 5;
  @%p exit;
  st.global.u32 [%mine], 1;
  setp.eq.u32 %p, %tid0, 6;
  @%p ret;
  mov.u32 %v, %tid0;
LOOP:
  setp.eq.u32 %p, %v, 20;
  @%p bra DONE;
  setp.eq.u32 %p, %v, 0;
  @%p bra DONE;
  sub.u32 %v, %v, 1;
  add.u32 %w, %w, 3;
  bra LOOP;
DONE:
  add.u32 %w, %w, 1000;
  st.global.u32 [%mine], %w;
)";
  const std::vector<u32> output = run(program);
  for (u32 i = 0; i < 96; ++i) {
    EXPECT_EQ(output[i], i == 5 ? 0 : i == 6 ? 1 : 1000 + 3 * (i >= 20 ? i - 20 : i)) << i;
  }
}

TEST(PtxControl, TrapNamesItsThread) {
  const std::string text = header(32) +
                           ".visible .entry main()\n{\n  .reg .u32 %t; .reg .pred %p;\n  mov.u32 %t, %tid.x;\n"
                           "  setp.eq.u32 %p, %t, 9;\n  @%p trap;\n  ret;\n}\n";
  const isa::Module module = ptx::compile(text, "trap.ptx");
  isa::DeviceMemory memory;
  load_module(module, memory);
  isa::RetirementHash hash;
  const auto result = interpret(module, {"main", {1, 1, 1}, {32, 1, 1}, 0, {}}, memory, hash);
  ASSERT_TRUE(result.fault.has_value());
  const std::string message = describe(*result.fault, module);
  EXPECT_NE(message.find("trap.ptx:9"), std::string::npos) << message;
  EXPECT_NE(message.find("thread (9, 0, 0)"), std::string::npos) << message;
}

// Functions: register and .param parameters, several results, structures by value, calls inside calls and loops,
// return from within divergent code, guarded calls, a function used twice with its own local variable.
TEST(PtxControl, Calls) {
  Program program;
  program.block = 40;
  program.output_words = 40 * 8;
  program.module = R"(
.func (.reg .u32 %sum, .reg .u32 %product) both(.reg .u32 %a, .reg .u32 %b)
{
  add.u32 %sum, %a, %b;
  mul.lo.u32 %product, %a, %b;
  ret;
}
.func (.param .f64 result) twice(.param .f64 x)
{
  .reg .f64 %x;
  ld.param.f64 %x, [x];
  add.f64 %x, %x, %x;
  st.param.f64 [result], %x;
  ret;
}
.func (.param .u32 result) clipped(.param .u32 x, .param .u32 limit)
{
  .reg .u32 %x, %limit; .reg .pred %p;
  ld.param.u32 %x, [x];
  ld.param.u32 %limit, [limit];
  setp.le.u32 %p, %x, %limit;
  @%p bra SMALL;
  st.param.u32 [result], %limit;
  ret;
SMALL:
  st.param.u32 [result], %x;
  ret;
}
.func (.param .b32 result) summed(.param .align 8 .b8 s[16])
{
  .reg .u32 %a<2>; .reg .u16 %h; .reg .s32 %c; .reg .u64 %d;
  ld.param.u32 %a0, [s];
  ld.param.u16 %h, [s+4];
  ld.param.s8 %c, [s+6];
  ld.param.u64 %d, [s+8];
  cvt.u32.u16 %a1, %h;
  add.u32 %a0, %a0, %a1;
  cvt.u32.u64 %a1, %d;
  add.u32 %a0, %a0, %a1;
  add.s32 %a0, %a0, %c;
  st.param.b32 [result], %a0;
  ret;
}
.func (.param .s16 result) narrow(.param .s16 x)
{
  .reg .s16 %x;
  ld.param.s16 %x, [x];
  neg.s16 %x, %x;
  st.param.s16 [result], %x;
  ret;
}
.func (.reg .u32 %r) counted(.reg .u32 %n)
{
  .local .align 4 .b32 slot[2];
  .reg .u32 %s, %i; .reg .pred %p;
  st.local.u32 [slot], 0;
  mov.u32 %i, 0;
LOOP:
  setp.ge.u32 %p, %i, %n;
  @%p bra OUT;
  call (%r), clipped, (%i, 4);
  ld.local.u32 %s, [slot];
  add.u32 %s, %s, %r;
  st.local.u32 [slot], %s;
  add.u32 %i, %i, 1;
  bra LOOP;
OUT:
  ld.local.u32 %r, [slot];
  ret;
}
)";
  program.body = prologue(8) + R"(
  .reg .u32 %s, %t; .reg .f64 %d; .reg .s16 %h; .reg .s32 %n;
  call (%s, %t), both, (%tid0, 7);
  st.global.u32 [%mine], %s; st.global.u32 [%mine+4], %t;
  cvt.rn.f64.u32 %d, %tid0;
  { .param .f64 a; .param .f64 r;
    st.param.f64 [a], %d;
    call.uni (r), twice, (a);
    ld.param.f64 %d, [r]; }
  cvt.rzi.u32.f64 %v, %d;
  st.global.u32 [%mine+8], %v;
  mov.u32 %v, 77;
  setp.gt.u32 %p, %tid0, 30;
  @!%p call (%v), clipped, (%tid0, 12);
  st.global.u32 [%mine+12], %v;
  { .param .align 8 .b8 s[16]; .param .b32 r;
    st.param.u32 [s], %tid0;
    st.param.u16 [s+4], 1000;
    st.param.u8 [s+6], 255;
    st.param.u64 [s+8], 50000;
    call (r), summed, (s);
    ld.param.b32 %v, [r]; }
  st.global.u32 [%mine+16], %v;
  cvt.s16.u32 %h, %tid0;
  { .param .s16 a; .param .s16 r;
    st.param.s16 [a], %h;
    call (r), narrow, (a);
    ld.param.s16 %n, [r]; }
  st.global.s32 [%mine+20], %n;
  call (%v), counted, (%tid0);
  st.global.u32 [%mine+24], %v;
  call (%v), counted, (3);
  st.global.u32 [%mine+28], %v;
)";
  const std::vector<u32> output = run(program);
  for (u32 i = 0; i < 40; ++i) {
    u32 count = 0;
    for (u32 k = 0; k < i; ++k) count += std::min(k, 4U);
    const std::vector<u32> expected = {i + 7,  i * 7, 2 * i, i > 30 ? 77 : std::min(i, 12U), i + 1000 - 1 + 50000,
                                       0U - i, count, 3};
    EXPECT_EQ(std::vector<u32>(output.begin() + i * 8, output.begin() + i * 8 + 8), expected) << i;
  }
}

// Kernel parameters of every type, and an array read in parts and as a vector.
TEST(PtxControl, KernelParametersOfEveryType) {
  for (const unsigned bits : {32U, 64U}) {
    const std::string p = ".u" + std::to_string(bits);
    const std::string text = header(bits) + ".visible .entry main(.param " + p + R"( output, .param .u8 a, .param .s8 b,
  .param .u16 c, .param .s16 d, .param .u32 e, .param .s64 f, .param .f32 g, .param .f64 h, .param .b8 i,
  .param .align 16 .b8 j[16])
{
  .reg )" + p + R"( %out; .reg .u32 %v<4>; .reg .s32 %s; .reg .s64 %l; .reg .f32 %f; .reg .f64 %d; .reg .u16 %h;
  ld.param)" + p + R"( %out, [output];
  ld.param.u8 %v0, [a]; st.global.u32 [%out], %v0;
  ld.param.s8 %s, [b]; st.global.u32 [%out+4], %s;
  ld.param.u16 %v0, [c]; st.global.u32 [%out+8], %v0;
  ld.param.s16 %s, [d]; st.global.u32 [%out+12], %s;
  ld.param.u32 %v0, [e]; st.global.u32 [%out+16], %v0;
  ld.param.b8 %h, [i]; cvt.u32.u16 %v0, %h; st.global.u32 [%out+20], %v0;
  ld.param.s64 %l, [f]; st.global.s64 [%out+24], %l;
  ld.param.f32 %f, [g]; st.global.f32 [%out+32], %f;
  ld.param.f64 %d, [h]; st.global.f64 [%out+40], %d;
  ld.param.v4.u32 {%v0, %v1, %v2, %v3}, [j];
  st.global.v4.u32 [%out+48], {%v3, %v2, %v1, %v0};
  ld.param.s8 %s, [j+5]; st.global.u32 [%out+64], %s;
  ret;
}
)";
    const isa::Module module = ptx::compile(text, "parameters.ptx");
    const isa::Kernel& kernel = module.kernels.front();
    isa::DeviceMemory memory;
    load_module(module, memory);
    const u64 out = memory.allocate("output", 72);
    isa::LaunchRequest request{"main", {1, 1, 1}, {1, 1, 1}, 0, std::vector<std::uint8_t>(kernel.parameter_bytes)};
    const auto set = [&](std::size_t index, const auto& value) {
      ASSERT_LE(kernel.parameters.at(index).size, sizeof value);
      std::memcpy(&request.parameters[kernel.parameters[index].offset], &value, kernel.parameters[index].size);
    };
    set(0, out);
    set(1, u32{200});
    set(2, s32{-3});
    set(3, u32{60000});
    set(4, s32{-30000});
    set(5, u32{4000000000U});
    set(6, s64{-5000000000});
    set(7, 1.25F);
    set(8, -0.1);
    set(9, u32{0x90});
    set(10, std::array<u32, 4>{1, 0x0000fe02, 3, 4});
    isa::RetirementHash hash;
    const auto result = interpret(module, request, memory, hash);
    ASSERT_FALSE(result.fault) << describe(*result.fault, module);
    const u32 expected[] = {200, ~0U - 2, 60000, static_cast<u32>(-30000), 4000000000U, 0x90};
    for (unsigned i = 0; i < 6; ++i) EXPECT_EQ(memory.get<u32>(out + 4 * i), expected[i]) << i;
    EXPECT_EQ(memory.get<s64>(out + 24), -5000000000);
    EXPECT_EQ(memory.get<float>(out + 32), 1.25F);
    EXPECT_EQ(memory.get<double>(out + 40), -0.1);
    EXPECT_EQ((memory.get<std::array<u32, 4>>(out + 48)), (std::array<u32, 4>{4, 3, 0x0000fe02, 1}));
    EXPECT_EQ(memory.get<s32>(out + 64), -2);
  }
}

// Many live values of every size under .maxnreg: spilled, and equal even so.
TEST(PtxControl, MaxnregSpillsWithoutChangingResults) {
  constexpr unsigned kValues = 12;
  std::string body =
      "  .reg .b64 %x<12>, %y; .reg .b32 %a<12>, %b; .reg .u$p %o;\n"
      "  shl.b32 %b, %tid0, 3; cvt.u$p.u32 %o, %b; add.u$p %o, %o, %out;\n";
  for (unsigned i = 0; i < kValues; ++i) {
    const std::string n = std::to_string(i);
    body += "  mad.lo.u32 %a" + n + ", %tid0, " + std::to_string(i * 77 + 1) + ", " + n + ";\n  mul.wide.u32 %x" + n +
            ", %a" + n + ", 1000003;\n";
  }
  body += "  mov.b64 %y, 0;\n";
  for (unsigned i = kValues; i-- > 0;) {
    const std::string n = std::to_string(i);
    body += "  xor.b64 %y, %y, %x" + n + ";\n  cvt.u64.u32 %x" + n + ", %a" + n + ";\n  mad.lo.u64 %y, %y, 31, %x" + n +
            ";\n";
  }
  body += "  st.global.b64 [%o], %y;";
  Program program;
  program.block = 64;
  program.output_words = 128;
  program.body = body;
  const std::vector<u32> output = run(program);
  for (u32 thread = 0; thread < 64; ++thread) {
    u64 y = 0;
    for (unsigned i = kValues; i-- > 0;) {
      const u32 a = thread * (i * 77 + 1) + i;
      y = (y ^ u64{a} * 1000003) * 31 + a;
    }
    EXPECT_EQ(output[2 * thread] | u64{output[2 * thread + 1]} << 32U, y);
  }
  const std::string kernel = header(32) + ".visible .entry main(.param .u32 p)\n";
  std::string registers = body;
  for (std::size_t at = 0; (at = registers.find("$p")) != std::string::npos;) registers.replace(at, 2, "32");
  const std::string rest =
      "{\n  .reg .u32 %out, %tid0; ld.param.u32 %out, [p]; mov.u32 %tid0, %tid.x;\n" + registers + "\n  ret;\n}\n";
  const isa::Module free = ptx::compile(kernel + rest, "free.ptx");
  const isa::Module capped = ptx::compile(kernel + ".maxnreg 14\n" + rest, "capped.ptx");
  EXPECT_GT(free.kernels.front().registers, 14U);
  EXPECT_EQ(free.kernels.front().spilled_registers, 0U);
  EXPECT_LE(capped.kernels.front().registers, 14U);
  EXPECT_GT(capped.kernels.front().spilled_registers, 0U);
  const auto contents = [](const isa::Module& module) {
    isa::DeviceMemory memory;
    load_module(module, memory);
    const u64 out = memory.allocate("output", 512);
    isa::LaunchRequest request{"main", {1, 1, 1}, {64, 1, 1}, 0, std::vector<std::uint8_t>(4)};
    std::memcpy(request.parameters.data(), &out, 4);
    isa::RetirementHash hash;
    EXPECT_FALSE(interpret(module, request, memory, hash).fault);
    return memory.get<std::array<u32, 128>>(out);
  };
  EXPECT_EQ(contents(capped), contents(free));
  EXPECT_TRUE(std::equal(output.begin(), output.end(), contents(free).begin()));
}

}  // namespace
}  // namespace heddle::ptx_ops
