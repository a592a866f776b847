// Rotates of 64 bits, as clang writes them.
#pragma once

#include "ptx/ast.hpp"

namespace heddle::ptx {

// LLVM's NVPTX back end (14 to 16 at least; ROTL64reg_sw and ROTR64reg_sw of its NVPTXInstrInfo.td) selects rotates by
// amounts of any size, having dropped the "modulo 64" that the program wrote, and prints them as
//
//   { .reg .b64 %lhs; .reg .b64 %rhs; .reg .u32 %amt2;
//     shl.b64 %lhs, x, amount; sub.u32 %amt2, 64, amount; shr.b64 %rhs, x, %amt2; add.u64 result, %lhs, %rhs; }
//
// But PTX clamps what it shifts by (PTX ISA, shl and shr), so that amounts above 64 give 0. Takes the amount modulo 64
// wherever these four statements stand so, with registers of these names, and returns where.
std::vector<Position> mend_rotates(File& file);

}  // namespace heddle::ptx
