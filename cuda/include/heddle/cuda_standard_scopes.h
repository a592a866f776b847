// <cuda/std/atomic>: the atomic objects of <cuda/atomic>, by the standard library's names.
#pragma once

#include "heddle/cuda_scopes.h"

namespace cuda {
namespace std {
template <class T>
using atomic = cuda::atomic<T, thread_scope_system>;
template <class T>
using atomic_ref = cuda::atomic_ref<T, thread_scope_system>;
using cuda::atomic_flag;
using cuda::atomic_signal_fence;
using cuda::atomic_thread_fence;
using cuda::memory_order;
using cuda::memory_order_acq_rel;
using cuda::memory_order_acquire;
using cuda::memory_order_consume;
using cuda::memory_order_relaxed;
using cuda::memory_order_release;
using cuda::memory_order_seq_cst;
}  // namespace std
}  // namespace cuda
