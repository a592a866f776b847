// <cuda/std/barrier>, latch, semaphore: the ones of <cuda/barrier> and its kin, by the standard library's names.
#pragma once

#include "heddle/cuda_barrier.h"

namespace cuda {
namespace std {
template <class Completion = heddle_detail::nothing>
using barrier = cuda::barrier<thread_scope_system, Completion>;
using latch = cuda::latch<thread_scope_system>;
template <ptrdiff_t Most = 0x7fffffff>
using counting_semaphore = cuda::counting_semaphore<thread_scope_system, Most>;
using binary_semaphore = cuda::counting_semaphore<thread_scope_system, 1>;
}  // namespace std
}  // namespace cuda
