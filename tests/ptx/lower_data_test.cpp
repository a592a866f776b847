// mov, cvta, isspacep and cvt: the machine operations that PTX becomes, and what is refused where.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/ptx/lower_cases.hpp"

namespace heddle::ptx::test {
namespace {

TEST(LowerMove, SelectsOperations) {
  expect_lowered({
      {"mov.u32 %r1, %tid.x;", {"s2r %r1, #0"}},
      {"mov.u64 %rd1, %clock64;", {"s2r.b64 %rd1, #20"}},
      {"mov.u64 %rd1, %gridid;", {"s2r t0, #17", "mov.b64 %rd1, {t0 rz}"}},
      {"mov.u16 %h1, %ntid.y;", {"s2r %h1, #4"}},
      {"mov.u32 %r1, %laneid;", {"s2r %r1, #12"}},
      {"mov.u32 %r1, WARP_SZ;", {"mov %r1, #32"}},
      {"mov.b64 %rd1, {%r1, %r2};", {"mov.b64 %rd1, {%r1 %r2}"}},
      {"mov.b64 {%r1, _}, %rd1;", {"mov %rd1, {%r1 rz}"}},
      {"mov.b32 %r1, {%h1, %h2};", {"mov t0, #21520", "prmt %r1, %h1, %h2, t0"}},
      {"mov.b32 {%h1, %h2}, %r1;", {"mov %h1, %r1", "shr.u32 %h2, %r1, #16"}},
      {"mov.b64 {%h1, %h2, %h3, %h4}, %rd1;",
       {"mov %rd1, {t0 t1}", "mov %h1, t0", "shr.u32 %h2, t0, #16", "mov %h3, t1", "shr.u32 %h4, t1, #16"}},
      {"mov.b64 %rd1, {%h1, %h2, %h3, %h4};",
       {"mov t0, #21520", "prmt t1, %h1, %h2, t0", "mov t2, #21520", "prmt t3, %h3, %h4, t2", "mov.b64 %rd1, {t1 t3}"}},
      {"mov.b64 %rd1, {%r1, 0};", {"mov.b64 %rd1, {%r1 rz}"}},
      {"mov.pred %p1, %p2;", {"plop:100 %p1, [%p2]"}},
      {"mov.f32 %f1, 0f3F800000;", {"mov %f1, #1065353216"}},
      {"mov.f64 %fd1, 0d3FF0000000000000;", {"mov t0, #1072693248", "mov.b64 %fd1, {rz t0}"}},
      {"mov.b32 %r1, %f1;", {"mov %r1, %f1"}},
      {"mov.f64 %fd1, %rd1;", {"mov.b64 %fd1, %rd1"}},
      {"mov.u64 %rd1, g;", {"mov.b64 %rd1, #83886080"}},
      {"mov.u64 %rd1, g+8;", {"mov.b64 %rd1, #83886088"}},
      {"mov.u32 %r1, s;", {"mov %r1, #0"}},
      {"mov.u64 %rd1, dynamic;", {"mov.b64 %rd1, #0"}},
      {"mov.u64 %rd1, c;", {"mov.b64 %rd1, #0"}},
      {"mov.u64 %rd1, by_value;", {"mov.b64 %rd1, #16"}},
      {"cvta.global.u64 %rd1, %rd2;", {"mov.b64 %rd1, %rd2"}},
      {"cvta.shared.u64 %rd1, %rd2;", {"add.b64 %rd1, %rd2, #16777216"}},
      {"cvta.to.shared.u64 %rd1, %rd2;", {"add.b64 %rd1, %rd2, #-16777216"}},
      {"cvta.shared.u64 %rd1, s;", {"mov.b64 %rd1, #16777216"}},
      {"cvta.const.u64 %rd1, c;", {"mov.b64 %rd1, #50331648"}},
      {"isspacep.shared %p1, %rd1;", {"isspacep.e'1 %p1, %rd1"}},
      {"isspacep.global %p1, %r1;", {"isspacep %p1, %r1"}},
  });
}

TEST(LowerMove, Refuses) {
  expect_refused({
      {"mov.u32 %r1, %clock64;", "t.ptx:8:14: the special register does not have type .u32; read it with mov.u64"},
      {"mov.u32 %r1, %f1;",
       "t.ptx:8:14: register '%f1' has type .f32 where .u32 is expected; use a register of type .u32, or convert with "
       "cvt or mov"},
      {"mov.u64 %rd1, nothere;", "t.ptx:8:15: 'nothere' is not declared; declare it before its use"},
      {"cvta.param.u64 %rd1, by_value;",
       "t.ptx:8:1: parameters have no addresses on this machine; read the parameter with ld.param"},
      {"cvta.shared.u64 %rd1, g;",
       "t.ptx:8:23: 'g' is not in the space that cvta names; name the space it is declared in"},
      {"mov.u64 %rd1, k;",
       "t.ptx:8:15: the address of kernel 'k' is taken; launch kernels from the host: there is no dynamic "
       "parallelism"},
      {"mov.b32 %r1, {%h1, %h2, %h3, %h4};",
       "t.ptx:8:15: register '%h1' has type .b16 where .b8 is expected; use a register of type .b8, or convert with "
       "cvt or mov"},
      {"mov.v2.u32 {%r1, %r2}, {%r3, %r4};", "t.ptx:8:1: vector mov is not supported; move the elements one by one"},
      {"mov.b16 {%h1, %h2}, %h3;",
       "t.ptx:8:10: destination '%h1' has type .b16 where the instruction yields .b8; use a register of type .b8, or "
       "convert with cvt or mov"},
  });
}

TEST(LowerConvert, SelectsOperations) {
  expect_lowered({
      {"cvt.u32.u64 %r1, %rd1;", {"mov %rd1, {%r1 rz}"}},
      {"cvt.u64.u32 %rd1, %r1;", {"mov.b64 %rd1, {%r1 rz}"}},
      {"cvt.s64.s32 %rd1, %r1;", {"cvt:57 %rd1, %r1"}},
      {"cvt.u16.u32 %h1, %r1;", {"mov %h1, %r1"}},
      {"cvt.u32.u16 %r1, %h1;", {"cvt:24 %r1, %h1"}},
      {"cvt.s32.s8 %r1, %r2;", {"cvt:15 %r1, %r2"}},
      {"cvt.u8.u32 %r1, %r2;", {"cvt:40 %r1, %r2"}},
      {"cvt.u8.u32 %h1, %r2;", {"cvt:40 %h1, %r2"}},
      {"cvt.s64.s16 %rd1, %h1;", {"cvt:35 t0, %h1", "cvt:57 %rd1, t0"}},
      {"cvt.u64.u8 %rd1, %rd2;", {"mov %rd2, {t0 rz}", "cvt:4 t1, t0", "mov.b64 %rd1, {t1 rz}"}},
      {"cvt.s16.s8 %h1, %h2;", {"cvt:13 %h1, %h2"}},
      {"cvt.sat.u8.s32 %r1, %r2;", {"cvt:2050 %r1, %r2"}},
      {"cvt.sat.s32.s64 %r1, %rd2;", {"cvt:2075 %r1, %rd2"}},
      {"cvt.rn.f32.s32 %f1, %r1;", {"cvt:159 %f1, %r1"}},
      {"cvt.rzi.s32.f32 %r1, %f1;", {"cvt:695 %r1, %f1"}},
      {"cvt.rzi.ftz.u64.f32 %rd1, %f1;", {"cvt:1696 %rd1, %f1"}},
      {"cvt.f64.f32 %fd1, %f1;", {"cvt:9a %fd1, %f1"}},
      {"cvt.rn.f32.f64 %f1, %fd1;", {"cvt:1a9 %f1, %fd1"}},
      {"cvt.rn.f16.f32 %h1, %f1;", {"cvt:198 %h1, %f1"}},
      {"cvt.f32.f16 %f1, %h1;", {"cvt:89 %f1, %h1"}},
      {"cvt.rni.f32.f32 %f1, %f2;", {"cvt:599 %f1, %f2"}},
      {"cvt.sat.f32.f32 %f1, %f2;", {"cvt:2099 %f1, %f2"}},
      {"cvt.rzi.u8.f32 %h1, %f1;", {"cvt:690 %h1, %f1"}},
      {"cvt.rn.f32.u16 %f1, %h1;", {"cvt:129 %f1, %h1"}},
      {"cvt.u32.u64 %r1, 5;", {"mov %r1, #5"}},
      {"cvt.u32.u64 %r1, %rd1;", {"mov %rd1, {%r1 rz}"}},
      {"cvt.u8.u64 %h1, %rd1;", {"mov %rd1, {t0 rz}", "cvt:40 %h1, t0"}},
      {"cvt.u16.u64 %h1, %rd1;", {"mov %rd1, {%h1 rz}"}},
  });
}

TEST(LowerConvert, Refuses) {
  expect_refused({
      {"cvt.f32.s32 %f1, %r1;", "t.ptx:8:1: conversion to .f32 lacks a rounding mode; write .rn, .rz, .rm or .rp"},
      {"cvt.s32.f32 %r1, %f1;",
       "t.ptx:8:1: conversion of a float to an integer lacks an integer rounding mode; write .rni, .rzi, .rmi or .rpi"},
      {"cvt.rp.bf16.f32 %h1, %f1;", "t.ptx:8:1: conversion to .bf16 rounds to nearest or to zero; write .rn or .rz"},
      {"cvt.rn.f16x2.f32 %r1, %f1;",
       "t.ptx:8:1: 'cvt' with these modifiers takes 3 operands and has 2; compare the operands with the PTX manual's"},
      {"cvt.ftz.f64.f64 %fd1, %fd2;", "t.ptx:8:1: .ftz applies to .f32 only; remove it"},
      {"cvt.rn.u32.u64 %r1, %rd1;", "t.ptx:8:1: integers are not rounded; remove the rounding mode"},
      {"cvt.rn.f64.f32 %fd1, %f1;", "t.ptx:8:1: conversion of .f32 to .f64 is exact; remove the rounding mode"},
  });
}

}  // namespace
}  // namespace heddle::ptx::test
