// Branches as the compilers of the papers' programs left them.
#pragma once

namespace branches {

// Stands in the body of an `if` whose short body clang would make a select of, where the papers' compilers had a branch
// over it.
__device__ __forceinline__ void keep() {
  asm volatile("");
}

}  // namespace branches
