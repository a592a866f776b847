// Bit operations, comparison and selection: the machine operations that PTX becomes, and what is refused where.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/ptx/lower_cases.hpp"

namespace heddle::ptx::test {
namespace {

TEST(LowerLogic, SelectsOperations) {
  expect_lowered({
      {"and.pred %p1, %p2, !%p3;", {"plop:100 %p1, [%p2], [!%p3]"}},
      {"and.b32 %r1, %r2, 0xff;", {"and %r1, %r2, #255"}},
      {"not.pred %p1, %p2;", {"plop:100 %p1, [!%p2]"}},
      {"not.b64 %rd1, %rd2;", {"not.b64 %rd1, %rd2"}},
      {"xor.b64 %rd1, 0xffffffff, %rd2;", {"mov t0, #-1", "mov.b64 t1, {t0 rz}", "xor.b64 %rd1, %rd2, t1"}},
      {"cnot.b16 %h1, %h2;", {"cvt:24 t0, %h2", "cnot %h1, t0"}},
      {"lop3.b32 %r1, %r2, %r3, 7, 0x96;", {"mov t0, #7", "lop3:96 %r1, %r2, %r3, t0"}},
      {"lop3.or.b32 %r1|%p1, %r2, %r3, %r0, 0x80, !%p2;",
       {"lop3:80 t0, %r2, %r3, %r0", "setp.u32:2'1 %p1, t0, rz, [!%p2]", "mov %r1, t0"}},
      {"shl.b16 %h1, %h2, 3;", {"shl %h1, %h2, #3"}},
      {"shl.b64 %rd1, %rd2, %r3;", {"shl.b64 %rd1, %rd2, %r3"}},
      {"shr.s16 %h1, %h2, %r3;", {"cvt:35 t0, %h2", "shr.s32 %h1, t0, %r3"}},
      {"shr.u64 %rd1, %rd2, 4;", {"shr.u64 %rd1, %rd2, #4"}},
      {"shf.l.wrap.b32 %r1, %r2, %r3, 7;", {"mov t0, #7", "shf.l.wrap %r1, %r2, %r3, t0"}},
      {"bfe.u32 %r1, %r2, 4, 8;", {"mov t0, #8", "bfe.u32 %r1, %r2, #4, t0"}},
      {"bfe.s64 %rd1, %rd2, %r1, %r2;", {"bfe.s64 %rd1, %rd2, %r1, %r2"}},
      {"bfi.b32 %r1, %r2, %r3, 4, 8;", {"mov t0, #4", "mov t1, #8", "bfi %r1, %r2, %r3, t0, t1"}},
      {"bfi.b64 %rd1, %rd2, %rd3, %r1, %r2;", {"bfi.b64 %rd1, %rd2, %rd3, %r1, %r2"}},
      {"bfind.shiftamt.s32 %r1, %r2;", {"bfind.s32:1 %r1, %r2"}},
      {"bfind.u64 %r1, %rd2;", {"bfind.u64 %r1, %rd2"}},
      {"brev.b64 %rd1, %rd2;", {"brev.b64 %rd1, %rd2"}},
      {"clz.b64 %r1, %rd2;", {"clz.b64 %r1, %rd2"}},
      {"popc.b32 %r1, %r2;", {"popc %r1, %r2"}},
      {"prmt.b32 %r1, %r2, %r3, 0x1234;", {"mov t0, #4660", "prmt %r1, %r2, %r3, t0"}},
      {"prmt.b32.rc8 %r1, %r2, %r3, %r0;", {"prmt:3 %r1, %r2, %r3, %r0"}},
  });
}

TEST(LowerLogic, Refuses) {
  expect_refused({
      {"lop3.b32 %r1, %r2, %r3, %r0, 256;",
       "t.ptx:8:30: the table of lop3 must be a constant from 0 to 255; write such a number here"},
  });
}

TEST(LowerCompare, SelectsOperations) {
  expect_lowered({
      {"testp.subnormal.f32 %p1, %f1;", {"testp.f32'5 %p1, %f1"}},
      {"setp.lt.s32 %p1, %r1, 5;", {"setp.s32'2 %p1, %r1, #5"}},
      {"setp.lt.s32 %p1, 5, %r1;", {"setp.s32'4 %p1, %r1, #5"}},
      {"setp.ge.and.u16 %p1|%p2, %h1, %h2, !%p3;",
       {"cvt:24 t0, %h1", "cvt:24 t1, %h2", "setp.u32:1'5 %p1, |%p2, t0, t1, [!%p3]"}},
      {"setp.eq.b64 %p1, %rd1, 0;", {"setp.u64 %p1, %rd1, #0"}},
      {"setp.ltu.ftz.f32 %p1, %f1, 0f3F800000;", {"mov t0, #1065353216", "setp.f32:40'8 %p1, %f1, t0"}},
      {"setp.nan.f64 %p1, %fd1, %fd1;", {"setp.f64'13 %p1, %fd1, %fd1"}},
      {"setp.eq.s32 _|%p1, %r1, %r2;", {"setp.s32 |%p1, %r1, %r2"}},
      {"set.lt.u32.f32 %r1, %f1, %f2;", {"setp.f32'2 t0, %f1, %f2", "sel %r1, rz, #-1, [!t0]"}},
      {"set.ge.xor.f32.s16 %f1, %h1, 3, %p1;",
       {"cvt:35 t0, %h1", "mov t1, #3", "setp.s32:3'5 t2, t0, t1, [%p1]", "sel %f1, rz, #1065353216, [!t2]"}},
      {"selp.b32 %r1, 1, 0, %p1;", {"sel %r1, rz, #1, [!%p1]"}},
      {"selp.f64 %fd1, 0d3FF0000000000000, %fd2, %p1;",
       {"mov t0, #1072693248", "mov.b64 t1, {rz t0}", "sel.b64 %fd1, %fd2, t1, [!%p1]"}},
      {"selp.u16 %h1, %h2, 7, !%p1;", {"sel %h1, %h2, #7, [!%p1]"}},
      {"slct.u64.s32 %rd1, %rd2, %rd3, %r1;", {"setp.s32'5 t0, %r1, rz", "sel.b64 %rd1, %rd2, %rd3, [t0]"}},
      {"slct.ftz.f32.f32 %f1, %f2, %f3, %f0;", {"setp.f32:40'5 t0, %f0, rz", "sel %f1, %f2, %f3, [t0]"}},
      {"selp.b32 %r1, 1, 0, %p1;", {"sel %r1, rz, #1, [!%p1]"}},
  });
}

TEST(LowerCompare, Refuses) {
  expect_refused({
      {"setp.lt.b32 %p1, %r1, %r2;",
       "t.ptx:8:1: untyped bits are compared with .eq and .ne only; use a signed or unsigned type"},
      {"setp.lo.s32 %p1, %r1, %r2;",
       "t.ptx:8:1: .lo, .ls, .hi and .hs compare unsigned integers; use .lt, .le, .gt or .ge"},
      {"selp.u32 %r1, %r2, %r3, %r4;", "t.ptx:8:25: a predicate is expected here; use a register declared .pred"},
      {"testp.zero.f32 %p1, %f1;",
       "t.ptx:8:1: 'testp' expects a property where .zero stands; write one of .finite .infinite .number .notanumber "
       ".normal .subnormal"},
      {"setp.eq.f16x2 %p1, %r1, %r2;", "t.ptx:8:1: setp.f16x2 has two results; write both: p|q"},
      {"set.lt.f32.f16 %f1, %h1, %h2;",
       "t.ptx:8:1: 'set' does not take type .f32 here; this instruction takes .u16 .s16 .u32 .s32 .f16"},
      {"setp.eq.ftz.bf16 %p1, %h1, %h2;", "t.ptx:8:1: .ftz does not apply to .bf16; remove it"},
  });
}

}  // namespace
}  // namespace heddle::ptx::test
