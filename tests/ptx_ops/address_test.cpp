// Ways to write addresses and vectors (PTX ISA, sections 6.4 and 9.7.9): offsets of either sign and any size, 32-bit
// addresses of shared memory in 64-bit programs, vectors that name a register twice or nothing.
#include <gtest/gtest.h>

#include <numeric>

#include "tests/ptx_ops/program.hpp"

namespace heddle::ptx_ops {
namespace {

TEST(PtxAddress, OffsetsOfEitherSign) {
  Program program;
  program.block = 1;
  program.input = {11, 22, 33, 44};
  program.output_words = 8;
  program.body = R"(
  .shared .align 16 .b32 sh[4]; .local .align 16 .b32 lo[4];
  .reg .u$p %a, %s; .reg .b32 %v;
  add.u$p %a, %in, 8;
  ld.global.b32 %v, [%a+-8];             st.global.b32 [%out], %v;
  ld.global.b32 %v, [%a+4];              st.global.b32 [%out+4], %v;
  sub.u$p %a, %in, 0x7fffffff;
  ld.global.b32 %v, [%a+0x7fffffff];     st.global.b32 [%out+8], %v;
  add.u$p %a, %in, 0x40000000;
  ld.b32 %v, [%a+-1073741820];           st.b32 [%out+12], %v;
  mov.u$p %s, sh+12;
  st.shared.b32 [%s+-4], 5;
  ld.shared.b32 %v, [sh+8];              st.global.b32 [%out+16], %v;
  mov.u$p %s, lo+8;
  st.local.b32 [%s+-8], 6;
  ld.local.b32 %v, [lo];                 st.global.b32 [%out+20], %v;
  atom.global.add.u32 %v, [%out+20], 100; st.global.b32 [%out+24], %v;
  add.u$p %a, %out, 8;
  red.global.add.u32 [%a+-8], 1000;
)";
  EXPECT_EQ(run(program), (std::vector<u32>{1011, 44, 11, 22, 5, 106, 6, 0}));
}

TEST(PtxAddress, OffsetsBeyondThirtyTwoBits) {
  Program program;
  program.block = 1;
  program.input = {11, 22};
  program.output_words = 3;
  program.body = R"(
  .reg .u64 %a; .reg .b32 %v;
  sub.u64 %a, %in, 0x300000000;
  ld.global.b32 %v, [%a+0x300000004];     st.global.b32 [%out], %v;
  add.u64 %a, %out, 0x80000000;
  st.global.b32 [%a+-2147483644], 7;
  add.u64 %a, %out, 0x80000009;
  atom.global.exch.b32 %v, [%a+-2147483649], 9;
)";
  EXPECT_EQ(run_with_address_bits(program, 64), (std::vector<u32>{22, 7, 9}));
}

// Compilers of 64-bit code address shared and local memory with 32 bits.
TEST(PtxAddress, ThirtyTwoBitAddressesOfSharedMemory) {
  Program program;
  program.output_words = 32;
  program.body = R"(
  .shared .align 4 .b32 sh[32]; .reg .u32 %s, %t; .reg .b32 %v; .reg .u$p %o, %wide;
  mov.u32 %s, sh; shl.b32 %t, %tid0, 2; add.u32 %s, %s, %t;
  mad.lo.u32 %v, %tid0, 3, 1;
  st.shared.b32 [%s], %v; atom.shared.add.u32 %v, [%s], 5; ld.shared.b32 %v, [%s];
  cvt.u$p.u32 %wide, %s; cvta.shared.u$p %wide, %wide; isspacep.shared %p, %wide;
  @%p add.u32 %v, %v, 1000;
  cvt.u$p.u32 %o, %t; add.u$p %o, %out, %o; st.global.b32 [%o], %v;
)";
  program.body.insert(0, "  .reg .pred %p;\n");
  const std::vector<u32> output = run(program);
  for (u32 i = 0; i < 32; ++i) EXPECT_EQ(output[i], 3 * i + 1006);
}

TEST(PtxAddress, VectorsOfRepeatedAndMissingElements) {
  Program program;
  program.input.resize(32 * 4);
  std::iota(program.input.begin(), program.input.end(), 100);
  program.output_words = 32 * 16;
  program.body = R"(
  .reg .u$p %i, %o; .reg .b32 %a<4>, %n; .reg .b64 %x, %y; .reg .b16 %h; .reg .pred %p;
  mul.lo.u32 %n, %tid0, 16; cvt.u$p.u32 %i, %n; add.u$p %i, %in, %i;
  mul.lo.u32 %n, %tid0, 64; cvt.u$p.u32 %o, %n; add.u$p %o, %out, %o;
  ld.global.v4.b32 {%a0, %a1, %a2, %a3}, [%i];
  st.global.v4.b32 [%o], {%a3, %a0, %a3, %a0};
  mov.u32 %n, 3;
LOOP:                                         // rotates the vector through memory, always in the same registers
  st.global.v4.b32 [%o+16], {%a1, %a2, %a3, %a0};
  ld.global.v4.b32 {%a0, %a1, %a2, %a3}, [%o+16];
  sub.u32 %n, %n, 1;
  setp.ne.u32 %p, %n, 0;
  @%p bra LOOP;
  ld.global.v4.b32 {%a1, _, _, %a1}, [%i];
  st.global.b32 [%o+32], %a0;
  ld.global.v2.b64 {%x, %y}, [%i];
  st.global.v2.b64 [%o+40], {%y, %y};
)";
  // A vector needs an aligned place: the last one goes to a multiple of 16.
  program.body.replace(program.body.find("[%o+40]"), 7, "[%o+48]");
  // A register that two elements name has one of their values, which one is open: it is not read.
  const std::vector<u32> output = run(program);
  for (u32 i = 0; i < 32; ++i) {
    const u32 first = 100 + 4 * i;
    const std::vector<u32> expected = {first + 3, first, first + 3, first, first + 3, first,     first + 1, first + 2,
                                       first + 3, 0,     0,         0,     first + 2, first + 3, first + 2, first + 3};
    EXPECT_EQ(std::vector<u32>(output.begin() + i * 16, output.begin() + i * 16 + 16), expected) << i;
  }
}

TEST(PtxAddress, FencesChangeNothing) {
  Program program;
  program.block = 1;
  program.output_words = 1;
  program.body = "  st.global.b32 [%out], 3;\n";
  for (const char* fence : {"membar.cta", "membar.gl", "membar.sys", "fence.sc.cta", "fence.acq_rel.gpu",
                            "fence.sc.sys", "fence.acq_rel.sys"}) {
    program.body += std::string("  ") + fence + ";\n  red.global.add.u32 [%out], 1;\n";
  }
  program.body += "  atom.acq_rel.gpu.global.add.u32 _, [%out], 10;\n  red.release.sys.global.add.u32 [%out], 100;\n";
  EXPECT_EQ(run(program), std::vector<u32>{120});
}

}  // namespace
}  // namespace heddle::ptx_ops
