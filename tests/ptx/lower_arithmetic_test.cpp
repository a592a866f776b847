// Sums, products, quotients and floating-point functions: the machine operations that PTX becomes, and what is refused
// where.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/ptx/lower_cases.hpp"

namespace heddle::ptx::test {
namespace {

TEST(LowerInteger, SelectsOperations) {
  expect_lowered({
      {"add.u32 %r1, %r2, 5;", {"add %r1, %r2, #5"}},
      {"add.s32 %r1, 7, %r2;", {"add %r1, %r2, #7"}},
      {"@!%p1 add.s16 %h1, %h2, -1;", {"@!%p1 add %h1, %h2, #-1"}},
      {"add.sat.s32 %r1, %r2, %r3;", {"add.sat.s32 %r1, %r2, %r3"}},
      {"add.rn.ftz.f32 %f1, %f2, 0f3F800000;", {"mov t0, #1065353216", "add.f32:4 %f1, %f2, t0"}},
      {"add.f32 %f1, 1.5, %f2;", {"add.f32 %f1, %f2, #1069547520"}},
      {"add.f64 %fd1, %fd2, 0d3FF0000000000000;", {"add.f64 %fd1, %fd2, #1072693248"}},
      {"add.f64 %fd1, %fd2, 0d3FF0000000000001;",
       {"mov t0, #1", "mov t1, #1072693248", "mov.b64 t2, {t0 t1}", "add.f64 %fd1, %fd2, t2"}},
      {"sub.u32 %r1, %r2, 5;", {"add %r1, %r2, #-5"}},
      {"sub.u32 %r1, 5, %r2;", {"mov t0, #5", "sub %r1, t0, %r2"}},
      {"sub.s64 %rd1, %rd2, 1;", {"add.b64 %rd1, %rd2, #-1"}},
      {"sub.f32 %f1, 0f3F800000, %f2;", {"mov t0, #1065353216", "sub.f32 %f1, t0, %f2"}},
      {"add.cc.u32 %r1, %r2, 1;", {"mov t0, #1", "addc %r1, CC.CF, %r2, t0, [!pt]"}},
      {"addc.cc.u32 %r1, %r2, %r3;", {"addc %r1, CC.CF, %r2, %r3, [CC.CF]"}},
      {"subc.u64 %rd1, %rd2, %rd3;", {"subc.b64 %rd1, %rd2, %rd3, [CC.CF]"}},
      {"add.s64 %rd1, %rd2, 0x123456789abcdef;",
       {"mov t0, #-1985229329", "mov t1, #19088743", "mov.b64 t2, {t0 t1}", "add.b64 %rd1, %rd2, t2"}},
      {"sad.s16 %h1, %h2, %h3, %h0;", {"cvt:35 t0, %h2", "cvt:35 t1, %h3", "sad.s32 %h1, t0, t1, %h0"}},
      {"div.u16 %h1, %h2, 3;", {"cvt:24 t0, %h2", "div.u32 %h1, t0, #3"}},
      {"@%p1 div.s64 %rd1, %rd2, %rd3;", {"@%p1 div.s64 %rd1, %rd2, %rd3"}},
      {"div.approx.ftz.f32 %f1, %f2, %f3;", {"div.f32:14 %f1, %f2, %f3"}},
      {"div.full.f32 %f1, %f2, %f3;", {"div.f32 %f1, %f2, %f3"}},
      {"div.rn.f64 %fd1, %fd2, %fd3;", {"div.f64 %fd1, %fd2, %fd3"}},
      {"rem.s32 %r1, %r2, 7;", {"rem.s32 %r1, %r2, #7"}},
      {"neg.s32 %r1, %r2;", {"sub %r1, rz, %r2"}},
      {"neg.s64 %rd1, %rd2;", {"sub.b64 %rd1, rz, %rd2"}},
      {"neg.ftz.f32 %f1, %f2;", {"neg.f32:4 %f1, %f2"}},
      {"abs.s16 %h1, %h2;", {"cvt:35 t0, %h2", "abs.s32 %h1, t0"}},
      {"abs.f64 %fd1, %fd2;", {"abs.f64 %fd1, %fd2"}},
      {"min.u16 %h1, %h2, %h3;", {"cvt:24 t0, %h2", "cvt:24 t1, %h3", "min.u32 %h1, t0, t1"}},
      {"max.NaN.f32 %f1, %f2, %f3;", {"max.f32:20 %f1, %f2, %f3"}},
      {"max.s64 %rd1, %rd2, -1;", {"max.s64 %rd1, %rd2, #-1"}},
      {"add.u32 %r1, s, 1;", {"add %r1, rz, #1"}},
      {"add.u64 %rd1, %rd2, g;", {"add.b64 %rd1, %rd2, #83886080"}},
  });
}

// One machine instruction for each, whose modifiers say format and form.
TEST(LowerHalf, IsOneInstruction) {
  expect_lowered({
      {"fma.rn.f16x2 %r1, %r2, %r3, %r0;", {"hfma:80 %r1, %r2, %r3, %r0"}},
      {"fma.rn.relu.bf16 %h1, %h2, %h3, %h0;", {"hfma:300 %h1, %h2, %h3, %h0"}},
      {"add.ftz.sat.f16 %h1, %h2, %h3;", {"hadd:c %h1, %h2, %h3"}},
      {"sub.bf16x2 %r1, %r2, %r3;", {"hsub:180 %r1, %r2, %r3"}},
      {"mul.rn.f16 %h1, %h2, %h3;", {"hmul %h1, %h2, %h3"}},
      {"max.NaN.xorsign.abs.bf16x2 %r1, %r2, %r3;", {"hmax:5a0 %r1, %r2, %r3"}},
      {"min.ftz.f16x2 %r1, %r2, %r3;", {"hmin:84 %r1, %r2, %r3"}},
      {"neg.ftz.f16 %h1, %h2;", {"hneg:4 %h1, %h2"}},
      {"abs.bf16x2 %r1, %r2;", {"habs:180 %r1, %r2"}},
      {"cvt.rn.f16x2.f32 %r1, %f1, %f2;", {"cvt_pack %r1, %f1, %f2"}},
      {"cvt.rz.relu.bf16x2.f32 %r1, %f1, %f2;", {"cvt_pack:301 %r1, %f1, %f2"}},
      {"cvt.rn.bf16.f32 %h1, %f1;", {"cvt_pack:100 %h1, rz, %f1"}},
      {"cvt.f32.bf16 %f1, %h1;", {"shl %f1, %h1, #16"}},
  });
}

TEST(LowerInteger, Refuses) {
  expect_refused({
      {"add.sat.u32 %r1, %r2, %r3;", "t.ptx:8:1: saturation exists for .s32 only; use add.sat.s32"},
      {"div.f32 %f1, %f2, %f3;", "t.ptx:8:1: 'div.f32' lacks a rounding mode; write .rn, .rz, .rm or .rp, or .approx"},
      {"div.approx.f64 %fd1, %fd2, %fd3;", "t.ptx:8:1: there is no approximation for .f64; use .rn"},
      {"add.ftz.bf16 %h1, %h2, %h3;", "t.ptx:8:1: .ftz does not apply to .bf16; remove it"},
      {"mul.sat.bf16x2 %r1, %r2, %r3;", "t.ptx:8:1: .sat does not apply to .bf16; remove it"},
      {"fma.f16 %h1, %h2, %h3, %h4;", "t.ptx:8:1: 'fma' on 16-bit floating point lacks a rounding mode; write .rn"},
      {"add.rz.f16x2 %r1, %r2, %r3;", "t.ptx:8:1: .f16 and .bf16 are rounded to nearest only; write .rn"},
      {"min.sat.f16 %h1, %h2, %h3;",
       "t.ptx:8:1: 'min' expects a type where .sat stands; this instruction takes .f16 .f16x2 .bf16 .bf16x2"},
      {"add.u32 %r1, %r2;",
       "t.ptx:8:1: 'add' with these modifiers takes 3 operands and has 2; compare the operands with the PTX manual's"},
      {"add.u32 %r1, %r2, %r3, %r4;",
       "t.ptx:8:1: 'add' with these modifiers takes 3 operands and has 4; compare the operands with the PTX manual's"},
      {"add.u32 %p1, %r2, %r3;",
       "t.ptx:8:9: destination '%p1' has type .pred where the instruction yields .u32; use a register of type .u32, or "
       "convert with cvt or mov"},
      {"add.u32 %r1, %rd2, %r3;",
       "t.ptx:8:14: register '%rd2' has type .b64 where .u32 is expected; use a register of type .u32, or convert with "
       "cvt or mov"},
      {"add.u32 %r1, %r2, 1.5;",
       "t.ptx:8:19: a floating-point constant stands where a value of type .u32 is expected; write an integer "
       "constant"},
      {"add.f32 %f1, %f2, 1;",
       "t.ptx:8:19: an integer constant stands where a value of type .f32 is expected; write it as 0f followed by 8 "
       "hexadecimal digits, or with a decimal point"},
      {"add.u32 %r1, %tid.x, 1;",
       "t.ptx:8:14: a special register can only be read by mov; copy it into a register with mov first"},
      {"add.frob.u32 %r1, %r2, 1;",
       "t.ptx:8:1: 'add' expects a type where .frob stands; this instruction takes .u16 .s16 .u32 .s32 .u64 .s64 .f32 "
       ".f64"},
      {"add %r1, %r2, 1;",
       "t.ptx:8:1: 'add' lacks a type; this instruction takes .u16 .s16 .u32 .s32 .u64 .s64 .f32 .f64"},
      {"add.u16 %h1, %h2, s;",
       "t.ptx:8:19: the address of 's' stands where a value of type .u16 is expected; an address has type .u64"},
      {"rem.f32 %f1, %f2, %f3;",
       "t.ptx:8:1: 'rem' does not take type .f32 here; this instruction takes .u16 .s16 .u32 .s32 .u64 .s64"},
      {"add.sat.f64 %fd1, %fd2, %fd3;", "t.ptx:8:1: .sat exists for .f32 only; clamp with min and max"},
      {"add.ftz.f64 %fd1, %fd2, %fd3;", "t.ptx:8:1: .ftz does not apply to type .f64; remove it"},
  });
}

TEST(LowerMultiply, SelectsOperations) {
  expect_lowered({
      {"mul.lo.u32 %r1, %r2, 10;", {"mul.lo %r1, %r2, #10"}},
      {"mul.hi.s32 %r1, %r2, %r3;", {"mul.hi.s32 %r1, %r2, %r3"}},
      {"mul.wide.u16 %r1, %h1, %h2;", {"cvt:24 t0, %h1", "cvt:24 t1, %h2", "mul.lo %r1, t0, t1"}},
      {"mul.hi.s16 %h1, %h2, %h3;", {"cvt:35 t0, %h2", "cvt:35 t1, %h3", "mul.lo t2, t0, t1", "shr.u32 %h1, t2, #16"}},
      {"mul.wide.s32 %rd1, %r1, -4;", {"mul.wide.s32 %rd1, %r1, #-4"}},
      {"mul.lo.s64 %rd1, %rd2, %rd3;", {"mul.lo.b64 %rd1, %rd2, %rd3"}},
      {"mad.lo.s32 %r1, 3, %r2, %r3;", {"mad.lo %r1, %r2, #3, %r3"}},
      {"mad.wide.s16 %r1, %h1, -3, %r2;", {"cvt:35 t0, %h1", "mad.lo %r1, t0, #-3, %r2"}},
      {"mad.hi.u64 %rd1, %rd2, %rd3, %rd0;", {"mul.hi.u64 t0, %rd2, %rd3", "add.b64 %rd1, t0, %rd0"}},
      {"mad.hi.sat.s32 %r1, %r2, %r3, %r0;", {"mul.hi.s32 t0, %r2, %r3", "add.sat.s32 %r1, t0, %r0"}},
      {"mad.lo.cc.u32 %r1, %r2, %r3, %r0;", {"mul.lo t0, %r2, %r3", "addc %r1, CC.CF, t0, %r0, [!pt]"}},
      {"madc.hi.u32 %r1, %r2, %r3, 0;", {"mul.hi.u32 t0, %r2, %r3", "addc %r1, t0, rz, [CC.CF]"}},
      {"mad.f32 %f1, %f2, %f3, %f0;", {"fma.f32 %f1, %f2, %f3, %f0"}},
      {"fma.rn.f32 %f1, %f2, 2.0, %f3;", {"fma.f32 %f1, %f2, #1073741824, %f3"}},
      {"fma.rz.sat.f32 %f1, %f2, %f3, 0f00000000;", {"fma.f32:9 %f1, %f2, %f3, rz"}},
      {"mul24.lo.u32 %r1, %r2, %r3;", {"mul24.lo.u32 %r1, %r2, %r3"}},
      {"mad24.hi.sat.s32 %r1, %r2, %r3, %r0;", {"mul24.hi.s32 t0, %r2, %r3", "add.sat.s32 %r1, t0, %r0"}},
  });
}

TEST(LowerMultiply, Refuses) {
  expect_refused({
      {"fma.f32 %f1, %f2, %f3, %f0;", "t.ptx:8:1: 'fma.f32' lacks a rounding mode; write .rn, .rz, .rm or .rp"},
      {"mad.wide.u64 %rd1, %rd2, %rd3, %rd0;",
       "t.ptx:8:1: .wide does not apply to type .u64; use .lo and .hi for the two halves"},
      {"mul.u32 %r1, %r2, %r3;", "t.ptx:8:1: 'mul.u32' does not say which half it yields; write .lo, .hi or .wide"},
      {"mad.lo.sat.s32 %r1, %r2, %r3, %r0;",
       "t.ptx:8:1: mad saturates in the form mad.hi.sat.s32 only; use mad.hi.sat.s32"},
  });
}

TEST(LowerReal, SelectsOperations) {
  expect_lowered({
      {"rcp.rn.f32 %f1, %f2;", {"rcp.f32 %f1, %f2"}},
      {"rcp.approx.ftz.f64 %fd1, %fd2;", {"rcp.f64:14 %fd1, %fd2"}},
      {"sqrt.rz.ftz.f32 %f1, %f2;", {"sqrt.f32:5 %f1, %f2"}},
      {"rsqrt.approx.f64 %fd1, %fd2;", {"rsqrt.f64:10 %fd1, %fd2"}},
      {"sin.approx.ftz.f32 %f1, %f2;", {"sin.f32:14 %f1, %f2"}},
      {"ex2.approx.f32 %f1, %f2;", {"ex2.f32:10 %f1, %f2"}},
      {"copysign.f64 %fd1, %fd2, %fd3;", {"copysign.f64 %fd1, %fd2, %fd3"}},
      {"lg2.approx.ftz.f32 %f1, %f2;", {"lg2.f32:14 %f1, %f2"}},
      {"cos.approx.f32 %f1, %f2;", {"cos.f32:10 %f1, %f2"}},
  });
}

TEST(LowerReal, Refuses) {
  expect_refused({
      {"sqrt.approx.f64 %fd1, %fd2;", "t.ptx:8:1: there is no approximation for .f64; use .rn"},
      {"tanh.approx.ftz.f32 %f1, %f2;",
       "t.ptx:8:1: 'tanh' expects a type where .ftz stands; this instruction takes .f32"},
      {"sin.f32 %f1, %f2;", "t.ptx:8:1: 'sin' expects .approx where .f32 stands; write .approx there"},
  });
}

}  // namespace
}  // namespace heddle::ptx::test
