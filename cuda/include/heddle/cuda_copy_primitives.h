// <cuda_pipeline_primitives.h>: a thread's own asynchronous copies into shared memory, which are done at once.
#pragma once

#include "heddle/cuda_async_copies.h"

// `size` bytes, the last `zeros` of them 0 instead of copied.
static __device__ __inline__ void __pipeline_memcpy_async(void* to, const void* from, size_t size, size_t zeros = 0) {
  cuda::heddle_detail::copy_part(to, from, size - zeros, 0, 1);
  for (size_t i = size - zeros; i < size; ++i) static_cast<unsigned char*>(to)[i] = 0;
}
static __device__ __inline__ void __pipeline_commit() {}
static __device__ __inline__ void __pipeline_wait_prior(size_t) {}
