// <cuda_pipeline_primitives.h>: a thread's own asynchronous copies into shared memory. Code for compute capability 8.0
// and later has cp.async, as nvcc's has; other code copies at once.
#pragma once

#include "heddle/cuda_async_copies.h"

// `size` bytes, 4, 8 or 16, the last `zeros` of them 0 instead of copied.
static __device__ __inline__ void __pipeline_memcpy_async(void* to, const void* from, size_t size, size_t zeros = 0) {
#ifdef HEDDLE_HAS_COPIES_
  const unsigned place = static_cast<unsigned>(__cvta_generic_to_shared(to));
  const unsigned copied = static_cast<unsigned>(size - zeros);
#define HEDDLE_COPY_(cache, bytes)                                                                                   \
  if (size == bytes && zeros == 0) {                                                                                 \
    asm volatile("cp.async." cache ".shared.global [%0], [%1], " #bytes ";" ::"r"(place), "l"(from) : "memory");     \
    return;                                                                                                          \
  }                                                                                                                  \
  if (size == bytes) {                                                                                               \
    asm volatile("cp.async." cache ".shared.global [%0], [%1], " #bytes ", %2;" ::"r"(place), "l"(from), "r"(copied) \
                 : "memory");                                                                                        \
    return;                                                                                                          \
  }
  HEDDLE_COPY_("ca", 4)
  HEDDLE_COPY_("ca", 8)
  HEDDLE_COPY_("cg", 16)
#undef HEDDLE_COPY_
#endif
  cuda::heddle_detail::copy_part(to, from, size - zeros, 0, 1);
  for (size_t i = size - zeros; i < size; ++i) static_cast<unsigned char*>(to)[i] = 0;
}

static __device__ __inline__ void __pipeline_commit() {
  cuda::heddle_detail::commit_copies();
}

// Of groups that were committed, the latest `prior` may be under way.
static __device__ __inline__ void __pipeline_wait_prior(size_t prior) {
  cuda::heddle_detail::wait_for_copies(prior);
}
