// cooperative_groups/memcpy_async.h: copies by all threads of a group, each its part. wait() is where each waits for
// its own, and the group meets.
#pragma once

#include "heddle/cuda_async_copies.h"
#include "heddle/cuda_groups.h"
#include "heddle/cuda_groups_base.h"

namespace cooperative_groups {

// `size` bytes.
template <class Group, class T>
HEDDLE_GROUP_ void memcpy_async(const Group& group, T* to, const T* from, size_t size) {
  cuda::heddle_detail::begin_copy(group, to, from, size);
  cuda::heddle_detail::commit_copies();
}
template <class Group, size_t Alignment, class T>
HEDDLE_GROUP_ void memcpy_async(const Group& group, T* to, const T* from, const cuda::aligned_size_t<Alignment>& size) {
  memcpy_async(group, to, from, static_cast<size_t>(size));
}
// As many elements as both places have.
template <class Group, class T, class ToLayout, class FromLayout>
HEDDLE_GROUP_ void memcpy_async(const Group& group, T* to, const ToLayout& to_count, const T* from,
                                const FromLayout& from_count) {
  const auto there = static_cast<size_t>(to_count);
  const auto here = static_cast<size_t>(from_count);
  memcpy_async(group, to, from, (there < here ? there : here) * sizeof(T));
}

template <class Group>
HEDDLE_GROUP_ void wait(const Group& group) {
  cuda::heddle_detail::wait_for_copies(0);
  group.sync();
}
// For all copies but the latest `Prior`.
template <unsigned int Prior, class Group>
HEDDLE_GROUP_ void wait_prior(const Group& group) {
  cuda::heddle_detail::wait_for_copies(Prior);
  group.sync();
}

}  // namespace cooperative_groups

#include "heddle/cuda_groups_end.h"
