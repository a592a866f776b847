// The instructions that the generator computes with.
#pragma once

#include <array>
#include <string_view>

namespace heddle::random_ptx {

// Templates of computing instructions. Markers: {R} {F} {D} {G} {Q} a register to write (32-bit, f32, 64-bit, f64,
// predicate); {r} {f} {d} {g} {q} one to read; {ri} {fi} {di} the same or an immediate; {s} a shift count, often beyond
// the width; {nz} {dz} a value that is not zero; {lut} a byte; {cmp} an integer comparison, {fcmp} one of floats;
// {bool} and, or, xor; {guard} sometimes a guard. {{ is a brace.
// clang-format off
inline constexpr auto kForms = std::to_array<std::string_view>({
    "add.u32 {R}, {r}, {ri}", "add.s32 {R}, {r}, {r}", "sub.s32 {R}, {r}, {ri}", "add.sat.s32 {R}, {r}, {ri}",
    "sub.sat.s32 {R}, {r}, {r}", "mul.lo.u32 {R}, {r}, {ri}", "mul.hi.u32 {R}, {r}, {r}", "mul.hi.s32 {R}, {r}, {ri}",
    "mad.lo.s32 {R}, {r}, {ri}, {r}", "mad.hi.u32 {R}, {r}, {r}, {r}", "mul24.lo.u32 {R}, {r}, {r}",
    "mad24.lo.s32 {R}, {r}, {r}, {r}", "sad.s32 {R}, {r}, {r}, {r}", "sad.u32 {R}, {r}, {r}, {r}",
    "div.u32 {R}, {r}, {nz}", "div.s32 {R}, {r}, {nz}", "rem.u32 {R}, {r}, {nz}", "rem.s32 {R}, {r}, {nz}",
    "abs.s32 {R}, {r}", "neg.s32 {R}, {r}", "min.s32 {R}, {r}, {ri}", "max.u32 {R}, {r}, {r}", "min.u32 {R}, {r}, {r}",
    "and.b32 {R}, {r}, {ri}", "or.b32 {R}, {r}, {r}", "xor.b32 {R}, {r}, {ri}", "not.b32 {R}, {r}", "cnot.b32 {R}, {r}",
    "lop3.b32 {R}, {r}, {r}, {r}, {lut}", "shl.b32 {R}, {r}, {s}", "shr.u32 {R}, {r}, {s}", "shr.s32 {R}, {r}, {s}",
    "shf.l.wrap.b32 {R}, {r}, {r}, {r}", "shf.r.clamp.b32 {R}, {r}, {r}, {s}", "bfe.u32 {R}, {r}, {r}, {r}",
    "bfe.s32 {R}, {r}, 5, 9", "bfi.b32 {R}, {r}, {r}, {r}, {r}", "bfi.b32 {R}, {r}, {r}, 7, 12", "bfind.u32 {R}, {r}",
    "bfind.shiftamt.s32 {R}, {r}", "brev.b32 {R}, {r}", "clz.b32 {R}, {r}", "popc.b32 {R}, {r}",
    "prmt.b32 {R}, {r}, {r}, {ri}", "selp.b32 {R}, {r}, {ri}, {q}", "slct.u32.s32 {R}, {r}, {r}, {r}",
    "set.{cmp}.u32.s32 {R}, {r}, {r}", "mov.u32 {R}, {ri}", "cvt.s32.s8 {R}, {r}", "cvt.u32.u16 {R}, {r}",
    "add.s64 {D}, {d}, {di}", "sub.s64 {D}, {d}, {d}", "mul.lo.u64 {D}, {d}, {d}", "mul.hi.u64 {D}, {d}, {d}",
    "mul.hi.s64 {D}, {d}, {d}", "mul.wide.u32 {D}, {r}, {r}", "mul.wide.s32 {D}, {r}, {ri}",
    "mad.wide.s32 {D}, {r}, {r}, {d}", "mad.lo.u64 {D}, {d}, {d}, {d}", "min.s64 {D}, {d}, {d}",
    "max.u64 {D}, {d}, {d}", "and.b64 {D}, {d}, {d}", "xor.b64 {D}, {d}, {di}", "not.b64 {D}, {d}",
    "shl.b64 {D}, {d}, {s}", "shr.s64 {D}, {d}, {s}", "shr.u64 {D}, {d}, {r}", "bfe.u64 {D}, {d}, 11, 30",
    "popc.b64 {R}, {d}", "clz.b64 {R}, {d}", "selp.b64 {D}, {d}, {d}, {q}", "div.u64 {D}, {d}, {dz}",
    "rem.s64 {D}, {d}, {dz}", "cvt.u64.u32 {D}, {r}", "cvt.s64.s32 {D}, {r}", "cvt.u32.u64 {R}, {d}",
    "mov.b64 {D}, {{{r}, {r}}", "add.rn.f32 {F}, {f}, {fi}", "sub.f32 {F}, {f}, {f}", "mul.rz.f32 {F}, {f}, {fi}",
    "add.sat.f32 {F}, {f}, {f}", "mul.ftz.f32 {F}, {f}, {f}", "fma.rn.f32 {F}, {f}, {f}, {f}",
    "div.rn.f32 {F}, {f}, {f}", "sqrt.rn.f32 {F}, {f}", "rcp.rn.f32 {F}, {f}", "min.f32 {F}, {f}, {f}",
    "max.f32 {F}, {f}, {fi}", "neg.f32 {F}, {f}", "abs.f32 {F}, {f}", "selp.f32 {F}, {f}, {f}, {q}",
    "cvt.rn.f32.s32 {F}, {r}", "cvt.rzi.s32.f32 {R}, {f}", "cvt.rni.u32.f32 {R}, {f}", "mov.b32 {R}, {f}",
    "add.rn.f64 {G}, {g}, {g}", "mul.rn.f64 {G}, {g}, {g}", "fma.rn.f64 {G}, {g}, {g}, {g}", "max.f64 {G}, {g}, {g}",
    "cvt.rn.f64.s32 {G}, {r}", "cvt.rn.f32.f64 {F}, {g}", "cvt.f64.f32 {G}, {f}", "mov.b64 {D}, {g}",
});

inline constexpr auto kPredicateForms = std::to_array<std::string_view>({
    "setp.{cmp}.s32 {Q}, {r}, {ri}", "setp.{cmp}.u32 {Q}, {r}, {r}", "setp.{cmp}.{bool}.u32 {Q}, {r}, {r}, {q}",
    "setp.{cmp}.u64 {Q}, {d}, {d}", "setp.{fcmp}.f32 {Q}, {f}, {fi}", "setp.{fcmp}.f64 {Q}, {g}, {g}",
    "and.pred {Q}, {q}, {q}", "or.pred {Q}, {q}, {q}", "xor.pred {Q}, {q}, {q}", "not.pred {Q}, {q}",
});
// clang-format on

}  // namespace heddle::random_ptx
