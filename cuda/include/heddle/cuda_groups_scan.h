// cooperative_groups/scan.h: prefix sums, and other combinations, over the ranks of a tile or of a coalesced group.
#pragma once

#include "heddle/cuda_groups_base.h"
#include "heddle/cuda_groups_reduce.h"

namespace cooperative_groups {

// What the threads up to and with this one have, combined: in steps with the thread 1, 2, 4 ... ranks before.
template <class Group, class T, class Op>
HEDDLE_GROUP_ auto inclusive_scan(const Group& group, T value, Op op) -> decltype(op(value, value)) {
  decltype(op(value, value)) result = value;
  const auto size = static_cast<unsigned int>(group.size());
  const auto rank = static_cast<unsigned int>(group.thread_rank());
  for (unsigned int distance = 1; distance < size; distance *= 2) {
    const decltype(op(value, value)) other = group.shfl_up(result, distance);
    if (rank >= distance) {
      result = op(other, result);
    }
  }
  return result;
}
template <unsigned int Size, class Parent, class T, class Op>
HEDDLE_GROUP_ auto inclusive_scan(const thread_block_tile<Size, Parent, true>& tile, T value, Op op)
    -> decltype(op(value, value)) {
  const decltype(op(value, value)) here = inclusive_scan(tile.heddle_warp(), value, op);
  const decltype(op(value, value)) before = tile.heddle_combined(here, 31, tile.heddle_warp_rank(), op);
  return tile.heddle_warp_rank() == 0 ? here : op(before, here);
}
template <class Group, class T>
HEDDLE_GROUP_ T inclusive_scan(const Group& group, T value) {
  return inclusive_scan(group, value, plus<T>());
}
// What the threads before this one have, combined; T{} in the first.
template <class Group, class T, class Op>
HEDDLE_GROUP_ auto exclusive_scan(const Group& group, T value, Op op) -> decltype(op(value, value)) {
  using Result = decltype(op(value, value));
  const Result before = group.shfl_up(inclusive_scan(group, value, op), 1);
  return group.thread_rank() == 0 ? Result{} : before;
}
template <unsigned int Size, class Parent, class T, class Op>
HEDDLE_GROUP_ auto exclusive_scan(const thread_block_tile<Size, Parent, true>& tile, T value, Op op)
    -> decltype(op(value, value)) {
  using Result = decltype(op(value, value));
  const Result here = inclusive_scan(tile.heddle_warp(), value, op);
  const Result of_warps = tile.heddle_combined(here, 31, tile.heddle_warp_rank(), op);
  const Result of_lanes = tile.heddle_warp().shfl_up(here, 1);
  if (tile.thread_rank() % 32 == 0) {
    return tile.heddle_warp_rank() == 0 ? Result{} : of_warps;
  }
  return tile.heddle_warp_rank() == 0 ? of_lanes : op(of_warps, of_lanes);
}
template <class Group, class T>
HEDDLE_GROUP_ T exclusive_scan(const Group& group, T value) {
  return exclusive_scan(group, value, plus<T>());
}

}  // namespace cooperative_groups

#include "heddle/cuda_groups_end.h"
