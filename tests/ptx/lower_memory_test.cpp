// Loads, stores, atomics and fences: the machine operations that PTX becomes, and what is refused where.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/ptx/lower_cases.hpp"

namespace heddle::ptx::test {
namespace {

TEST(LowerMemory, SelectsOperations) {
  expect_lowered({
      {"ld.global.u32 %r1, [%rd1+4];", {"ld.global.e'4 %rd1, #4, {%r1}"}},
      {"ld.global.u32 %r1, [%r1+4];", {"ld.global'4 %r1, #4, {%r1}"}},
      {"ld.u32 %r1, [%rd1];", {"ld.generic.e'4 %rd1, #0, {%r1}"}},
      {"ld.global.v4.f32 {%f0,%f1,%f2,%f3}, [%rd1];", {"ld.global.e'20 %rd1, #0, {%f0 %f1 %f2 %f3}"}},
      {"ld.global.v2.b64 {%rd1, _}, [%rd2+16];", {"ld.global.e'13 %rd2, #16, {%rd1 t0}"}},
      {"ld.shared.u8 %h1, [%rd1];", {"mov %rd1, {t0 rz}", "ld.shared t0, #0, {%h1}"}},
      {"ld.shared.s8 %r1, [s+3];", {"ld.shared'1 rz, #3, {%r1}"}},
      {"@%p1 ld.global.s32 %rd1, [%rd2];", {"@!%p1 bra L0", "ld.global.e'4 %rd2, #0, {t0}", "cvt:57 %rd1, t0", "L0:"}},
      {"ld.global.u32 %rd1, [%rd2];", {"ld.global.e'4 %rd2, #0, {t0}", "mov.b64 %rd1, {t0 rz}"}},
      {"ld.volatile.global.u32 %r1, [%rd2];", {"ldv.global.e'4 %rd2, #0, {%r1}"}},
      {"ld.acquire.gpu.global.u32 %r1, [%rd2];", {"ldv.global.e'4 %rd2, #0, {%r1}", "membar"}},
      {"ld.global.ca.L1::no_allocate.L2::128B.u32 %r1, [%rd2];", {"ld.global.e'4 %rd2, #0, {%r1}"}},
      {"ld.global.nc.L1::evict_last.v2.f32 {%f1, %f2}, [%rd2];", {"ld.global.e'12 %rd2, #0, {%f1 %f2}"}},
      {"ld.global.cv.u32 %r1, [%rd2];", {"ldv.global.e'4 %rd2, #0, {%r1}"}},
      {"ld.param.u32 %r1, [n];", {"ld.param'4 rz, #0, {%r1}"}},
      {"ld.param.u64 %rd1, [m];", {"ld.param'5 rz, #8, {%rd1}"}},
      {"ld.param.u8 %h1, [by_value+5];", {"ld.param rz, #21, {%h1}"}},
      {"ld.const.u8 %h1, [c+3];", {"ld.const rz, #3, {%h1}"}},
      {"ld.u8 %h1, [c+3];", {"ld.const rz, #3, {%h1}"}},
      {"ld.global.u32 %r1, [g+4];", {"ld.global'4 rz, #83886084, {%r1}"}},
      {"ld.global.u32 %r1, [0xfffffffff];",
       {"mov t0, #-1", "mov t1, #15", "mov.b64 t2, {t0 t1}", "ld.global.e'4 t2, #0, {%r1}"}},
      {"ld.global.u32 %r1, [%rd1+0x100000000];",
       {"mov t0, #1", "mov.b64 t1, {rz t0}", "add.b64 t2, %rd1, t1", "ld.global.e'4 t2, #0, {%r1}"}},
      {"ldu.global.u32 %r1, [%rd1];", {"ld.global.e'4 %rd1, #0, {%r1}"}},
      {"st.global.u32 [%rd1], 0;", {"st.global.e'4 %rd1, #0, {rz}"}},
      {"st.global.u64 [%rd1+8], 0;", {"mov.b64 t0, #0", "st.global.e'5 %rd1, #8, {t0}"}},
      {"st.shared.v2.f32 [s+8], {%f1, %f1};", {"st.shared'12 rz, #8, {%f1 %f1}"}},
      {"st.global.u8 [%rd1], %rd2;", {"mov %rd2, {t0 rz}", "st.global.e %rd1, #0, {t0}"}},
      {"st.release.sys.global.f64 [%rd1], %fd1;", {"membar", "st.global.e'5 %rd1, #0, {%fd1}"}},
      {"st.local.u32 [%rd1], 7;", {"mov %rd1, {t0 rz}", "mov t1, #7", "st.local'4 t0, #0, {t1}"}},
      {"prefetch.global.L2 [%rd1];", {"nop"}},
      {"prefetchu.L1 [%rd1];", {"nop"}},
      {"applypriority.global.L2::evict_normal [%rd1], 128;", {"nop"}},
      {"ld.param.u32 %r1, [%rd1];", {"mov %rd1, {t0 rz}", "ld.param'4 t0, #0, {%r1}"}},
      {"ld.global.L2::cache_hint.u32 %r1, [%rd1], %rd2;", {"ld.global.e'4 %rd1, #0, {%r1}"}},
  });
}

TEST(LowerMemory, Refuses) {
  expect_refused({
      {"ld.global.v4.b64 {%rd1, _,_,_}, [%rd2+16];",
       "t.ptx:8:1: a vector access of more than 16 bytes is not supported; use two accesses"},
      {"ld.relaxed.u32 %r1, [%rd2];",
       "t.ptx:8:1: the memory ordering lacks a scope; write .cta, .gpu or .sys behind it"},
      {"ld.param.u32 %r1, [by_value+16];",
       "t.ptx:8:19: the access of 4 bytes at offset 16 lies outside parameter 'by_value' of 16 bytes; correct the "
       "offset or the type"},
      {"ld.global.u32 %r1, [c];",
       "t.ptx:8:20: 'c' is in the .const space, and the access is .global; access it in its own space"},
      {"ld.global.u32 %f1, [%rd1];",
       "t.ptx:8:15: a register of type .f32 stands where the access has type .u32; use a register of type .u32"},
      {"ld.global.bf16 %h1, [%rd1];",
       "t.ptx:8:1: type .bf16 is not supported by this machine; this instruction takes .b8 .b16 .b32 .b64 .u8 .u16 "
       ".u32 .u64 .s8 .s16 .s32 .s64 .f32 .f64"},
      {"st.const.u32 [c], %r1;", "t.ptx:8:1: constant memory cannot be written; use a .global variable"},
      {"st.param.u32 [n], %r1;",
       "t.ptx:8:1: parameters of a kernel cannot be written; copy the parameter into a register"},
      {"discard.global.L2 [%rd1], 64;", "t.ptx:8:27: the size of 'discard' must be 128; write 128"},
      {"ld.param.u64 %rd1, [n];",
       "t.ptx:8:20: the access of 8 bytes at offset 0 lies outside parameter 'n' of 4 bytes; correct the offset or the "
       "type"},
      {"ld.global.u32 %r1, %rd1;",
       "t.ptx:8:20: an address is expected here; write it in brackets: [register + offset] or [symbol]"},
      {"ld.global.u32 %r1, [%h1];",
       "t.ptx:8:21: '%h1' is a .b16 register, an address is an integer of 32 or 64 bits; use a .b32 or .b64 register"},
      {"ld.global.v8.b32 {%r1}, [%rd1];",
       "t.ptx:8:1: vectors of 8 elements are not supported; use two accesses of .v4"},
      {"ld.global.v2.u32 %r1, [%rd1];", "t.ptx:8:18: a vector of 2 elements is expected here; write {a, b}"},
      {"st.global.v2.u32 [%rd1], {%r1, %r2, %r3};",
       "t.ptx:8:26: a vector of 2 elements is expected here; write {a, b}"},
  });
}

TEST(LowerAtomic, SelectsOperations) {
  expect_lowered({
      {"atom.global.add.u32 %r1, [%rd1+4], 1;", {"add.b64 t0, %rd1, #4", "mov t1, #1", "atom.global.e:40 %r1, t0, t1"}},
      {"atom.relaxed.gpu.global.add.f64 %fd1, [%rd1], %fd2;", {"atom.global.e:a0 %fd1, %rd1, %fd2"}},
      {"atom.acq_rel.cta.shared.cas.b32 %r1, [s], %r2, %r3;", {"membar", "atom.shared:d9 %r1, rz, %r2, %r3", "membar"}},
      {"atom.cas.b64 _, [%rd1], %rd2, 0;", {"atom.generic.e:e9 %rd1, %rd2"}},
      {"red.global.max.s64 [%rd1], %rd2;", {"atom.global.e:75 %rd1, %rd2"}},
      {"red.shared.add.f32 [s+4], 0f3F800000;", {"mov t0, #4", "mov t1, #1065353216", "atom.shared:90 t0, t1"}},
      // As nvcc writes them.
      {"atom.global.sys.add.u32 %r1, [%rd1], %r2;", {"atom.global.e:40 %r1, %rd1, %r2"}},
      {"atom.add.acquire.gpu.u32 %r1, [%rd1], %r2;", {"atom.generic.e:40 %r1, %rd1, %r2", "membar"}},
      {"atom.or.acq_rel.cta.b32 %r1, [%rd1], %r2;", {"membar", "atom.generic.e:d2 %r1, %rd1, %r2", "membar"}},
      {"atom.global.relaxed.add.u32 %r1, [%rd1], %r2;", {"atom.global.e:40 %r1, %rd1, %r2"}},
      {"red.and.release.cta.b32 [%rd1], %r2;", {"membar", "atom.generic.e:d1 %rd1, %r2"}},
      {"red.global.sys.add.f32 [%rd1], %f2;", {"atom.global.e:90 %rd1, %f2"}},
      {"red.global.sys.add.noftz.f16x2 [%rd1], %r2;", {"atom.global.e:da %rd1, %r2"}},
      {"membar.gl;", {"membar"}},
      {"fence.sc.sys;", {"membar"}},
      {"fence.gpu.acq_rel;", {"membar"}},
      {"red.shared.add.f32 [s+4], 0f3F800000;", {"mov t0, #4", "mov t1, #1065353216", "atom.shared:90 t0, t1"}},
  });
}

TEST(LowerAtomic, Refuses) {
  expect_refused({
      {"atom.global.relaxed.u32 %r1, [%rd1+4], 1;",
       "t.ptx:8:1: 'atom' expects an atomic operation where .u32 stands; write one of .add .and .or .xor .min .max "
       ".inc .dec .exch .cas"},
      {"atom.global.add.min.u32 %r1, [%rd1], 1;", "t.ptx:8:1: two modifiers name the operation; write one of them"},
      {"red.gpu.global.sys.add.u32 [%rd1], 1;", "t.ptx:8:1: two modifiers name the scope; write one of them"},
      {"atom.relaxed.add.acquire.u32 %r1, [%rd1], 1;",
       "t.ptx:8:1: two modifiers name the memory ordering; write one of them"},
      {"atom.global.shared.add.u32 %r1, [%rd1], 1;",
       "t.ptx:8:1: two modifiers name the state space; write one of them"},
      {"red.add.acquire.gpu.u32 [%rd1], 1;",
       "t.ptx:8:1: red has no value to acquire; use .relaxed or .release, or atom"},
      {"atom.exch.b16 %h1, [%rd1], %h2;",
       "t.ptx:8:1: 'atom' does not take type .b16 here; this instruction takes .b32 .b64 .u32 .u64 .s32 .s64"},
      {"red.global.add.noftz.f32 [%rd1], %f2;", "t.ptx:8:1: .noftz belongs to sums of .f16 and .f16x2; remove it"},
      {"red.global.exch.b32 [%rd1], %r2;",
       "t.ptx:8:1: red cannot exchange; use atom, with _ as destination if the old value does not matter"},
      {"fence.proxy.async %r1;",
       "t.ptx:8:1: 'fence' with these modifiers takes 0 operands and has 1; compare the operands with the PTX "
       "manual's"},
      {"fence.proxy.tensormap::generic.release.cta;",
       "t.ptx:8:1: fence.proxy.tensormap::generic is not supported; write fence.proxy.async or .alias"},
      {"atom.local.add.u32 %r1, [%rd1], 1;",
       "t.ptx:8:1: atomics work on .global, .shared and generic addresses; move the variable there"},
      {"red.acquire.gpu.global.add.u32 [%rd1], 1;",
       "t.ptx:8:1: red has no value to acquire; use .relaxed or .release, or atom"},
      {"atom.global.v2.f32.add {%f1, %f2}, [%rd1], {%f1, %f2};",
       "t.ptx:8:1: 'atom' expects an atomic operation where .v2 stands; write one of .add .and .or .xor .min .max .inc "
       ".dec .exch .cas"},
      {"fence.acq_rel;", "t.ptx:8:1: the fence lacks a scope; write .cta, .gpu or .sys"},
  });
}

}  // namespace
}  // namespace heddle::ptx::test
