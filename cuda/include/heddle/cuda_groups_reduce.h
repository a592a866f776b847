// cooperative_groups/reduce.h: what the threads of a tile or of a coalesced group have, combined; each of them gets it.
//
// In a tile of n threads they combine in log2(n) steps with the thread whose rank differs in one bit, highest first; in
// a coalesced group each with the thread 1, 2, 4 ... ranks behind, and rank 0 passes it on. So sums of floating-point
// numbers have one order, and are the same in all threads and on every machine.
#pragma once

#include "heddle/cuda_groups.h"
#include "heddle/cuda_groups_base.h"

namespace cooperative_groups {

#define HEDDLE_COMBINE_(name, expression)                               \
  template <class T>                                                    \
  struct name {                                                         \
    HEDDLE_GROUP_ T operator()(T a, T b) const { return (expression); } \
  };
HEDDLE_COMBINE_(plus, static_cast<T>(a + b))
HEDDLE_COMBINE_(less, b < a ? b : a)
HEDDLE_COMBINE_(greater, a < b ? b : a)
HEDDLE_COMBINE_(bit_and, static_cast<T>(a& b))
HEDDLE_COMBINE_(bit_or, static_cast<T>(a | b))
HEDDLE_COMBINE_(bit_xor, static_cast<T>(a ^ b))
#undef HEDDLE_COMBINE_

template <unsigned int Size, class Parent, class T, class Op>
HEDDLE_GROUP_ auto reduce(const thread_block_tile<Size, Parent, false>& tile, T value, Op op)
    -> decltype(op(value, value)) {
  decltype(op(value, value)) result = value;
#pragma unroll
  for (unsigned int distance = Size / 2; distance != 0; distance /= 2) {
    result = op(result, tile.shfl_xor(result, distance));
  }
  return result;
}
// First within each warp, then what the warps have in order of their ranks.
template <unsigned int Size, class Parent, class T, class Op>
HEDDLE_GROUP_ auto reduce(const thread_block_tile<Size, Parent, true>& tile, T value, Op op)
    -> decltype(op(value, value)) {
  return tile.heddle_combined(reduce(tile.heddle_warp(), value, op), 0, Size / 32, op);
}
template <class T, class Op>
HEDDLE_GROUP_ auto reduce(const coalesced_group& group, T value, Op op) -> decltype(op(value, value)) {
  decltype(op(value, value)) result = value;
  const auto size = static_cast<unsigned int>(group.size());
  const auto rank = static_cast<unsigned int>(group.thread_rank());
  for (unsigned int distance = 1; distance < size; distance *= 2) {
    const decltype(op(value, value)) other = group.shfl_down(result, distance);
    if (rank + distance < size) {
      result = op(result, other);
    }
  }
  return group.shfl(result, 0);
}

}  // namespace cooperative_groups

#include "heddle/cuda_groups_end.h"
