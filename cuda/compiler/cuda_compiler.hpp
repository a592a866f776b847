// CUDA C++ to PTX, by running clang. No CUDA SDK takes part: heddle/cuda.h stands in for it.
#pragma once

#include <string>
#include <vector>

#include "cuda/compiler/architecture.hpp"

namespace heddle::cuda {

// PTX of the CUDA file `path` for 32- or 64-bit device addresses, of code for that architecture
// (cuda/compiler/architecture.hpp).
//
// The compiler is $HEDDLE_CLANG when set, else the first of clang++, clang++-19 .. clang++-14 on PATH. Options:
// cuda/compiler/clang_options.txt. Three of them matter for results and speed:
//   -ffp-contract=off     multiply and add are not fused unless the source says fmaf, so that a host program
//                         computes the same bits. heddle nvcc fuses as nvcc does (heddle/cuda_unfused.h)
//   -unroll-...           loops stay as they are, unless the source has #pragma unroll: the compiler of PTX
//                         unrolls them where a machine wants it (core.unroll). The papers' machine has 16 registers per
//                         thread and 4 KB of instruction cache. -fno-unroll-loops would forbid it to later compilers
//   -fno-delete-null-pointer-checks
//                         an access through a null pointer stays one and faults, where clang would drop the code around
// The file may include files beside it, cuda_fp16.h, and what else a .cu file usually includes (cuda_runtime.h,
// stdio.h, math.h, cmath, assert.h ...), which all mean heddle/cuda.h: docs/cuda-support.md lists them.
//
// Throws InputError: no compiler found, file not readable, or the compiler's first error with its place, followed by
// all that it printed.
[[nodiscard]] std::string compile_cuda(const std::string& path, unsigned address_bits,
                                       unsigned architecture = kLeastArchitecture);

// The files of the user's that compile_cuda would read: `path` and what it includes, by whatever path. Where the file
// does not compile, the files up to the error. Throws InputError: no compiler found, file not readable.
[[nodiscard]] std::vector<std::string> cuda_includes(const std::string& path, unsigned address_bits,
                                                     unsigned architecture = kLeastArchitecture);

// The compiler that compile_cuda uses: a name on the PATH, or what HEDDLE_CLANG says. Throws InputError: there is none.
[[nodiscard]] std::string find_clang();

}  // namespace heddle::cuda
