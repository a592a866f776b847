// Textures and surfaces: the machine operations that PTX becomes, and what is refused where.
#include "tests/ptx/lower_cases.hpp"

namespace heddle::ptx::test {
namespace {

TEST(LowerTexture, SelectsOperations) {
  expect_lowered({
      {"tex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [%rd1, {%r1}];", {"tex.1d:4 %rd1, %r1, {%f0 %f1 %f2 %f3}"}},
      {"tex.2d.v4.u32.f32 {%r0, %r1, %r2, %r3}, [%rd1, {%f1, %f2}];", {"tex.2d:5 %rd1, %f1, %f2, {%r0 %r1 %r2 %r3}"}},
      // Registers for the channels that are wanted.
      {"tex.1d.v4.s32.f32 {%r1, _, _, _}, [%rd1, {%f1}];", {"tex.1d:1 %rd1, %f1, {%r1}"}},
      {"tex.1d.v4.s32.f32 {_, %r1, _, _}, [%rd1, %f1];", {"tex.1d:3 %rd1, %f1, {t0 %r1}"}},
      {"tex.1d.v4.s32.f32 {%r1, _, %r2, _}, [%rd1, {%f1}];", {"tex.1d:5 %rd1, %f1, {%r1 t0 %r2 t1}"}},
      {"@%p1 tex.1d.v4.s32.s32 {%r1, _, _, _}, [%rd1, {0}];", {"@%p1 tex.1d %rd1, rz, {%r1}"}},
      {"txq.width.b32 %r1, [%rd1];", {"ld.global.e'4 %rd1, #8, {%r1}"}},
      {"suq.height.b32 %r1, [%rd1];", {"ld.global.e'4 %rd1, #12, {%r1}"}},
  });
}

TEST(LowerTexture, Refuses) {
  expect_refused({
      {"tex.3d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%rd1, {%f1, %f2, %f3, %f3}];",
       "t.ptx:8:1: textures and surfaces of the geometry .3d are not supported; this machine has .1d and .2d; put the "
       "layers of a third dimension below each other"},
      {"tex.level.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%rd1, {%f1, %f2}], %f3;",
       "t.ptx:8:1: textures have no mipmap levels here; fetch without .level"},
      {"tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%rd1, {%f1}];",
       "t.ptx:8:41: there are 1 coordinates where the geometry has 2; write [handle, {x, y}]"},
      {"tex.1d.v4.f32.f32 {%f0, %f1}, [%rd1, {%f1}];",
       "t.ptx:8:19: a fetch yields four values; write {a, b, c, d}, with _ for those that do not matter"},
      {"tex.1d.v4.f32.f32 {%f0, _, _, _}, [%r1, {%f1}];",
       "t.ptx:8:35: the handle of a texture or surface has 64 bits; use a .b64 register"},
      {"tex.1d.v4.f32.f32 {%f0, _, _, _}, [%rd1+8, {%f1}];", "t.ptx:8:35: a handle has no offset; remove it"},
      {"tex.1d.v4.f32.f32 {%f0, _, _, _}, [g, {%f1}];",
       "t.ptx:8:35: 'g' is no .texref or .surfref variable; load the handle into a register with ld.param first"},
      {"tex.1d.v4.f32.f32 {%f0, _, _, _}, [%rd1, %rd2, {%f1}];",
       "t.ptx:8:46: samplers of their own are not supported; a texture's handle says how it is sampled (unified mode)"},
      {"txq.channel_order.b32 %r1, [%rd1];",
       "t.ptx:8:1: only the width and height of a texture or surface can be asked for; pass the rest as an argument"},
      {"suld.p.1d.b32.trap %r1, [%rd1, {%r1}];", "t.ptx:8:1: formatted surface accesses are not supported; use .b"},
      {"suld.b.1d.b32 %r1, [%rd1, {%r1}];",
       "t.ptx:8:1: 'suld' lacks what becomes of coordinates outside; write one of .trap .clamp .zero"},
      {"sust.b.1d.v4.b64.trap [%rd1, {%r1}], {%rd1, %rd1, %rd1, %rd1};",
       "t.ptx:8:1: a surface access of more than 16 bytes is not supported; use two accesses"},
      {"sust.b.1d.v2.b32.trap [%rd1, {%r1}], %r1;", "t.ptx:8:38: 2 values are expected here; write {a, b}"},
      {"suld.b.1d.b64.trap %r1, [%rd1, {%r1}];", "t.ptx:8:20: a register of type .b64 is expected here; name one"},
      {"tld4.r.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%rd1, {%f1, %f2}];",
       "t.ptx:8:1: instruction 'tld4' is not supported; textures are fetched from by tex.1d and tex.2d"},
  });
}

}  // namespace
}  // namespace heddle::ptx::test
