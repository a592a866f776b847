// cuda::memcpy_async. What a thread waits for itself, by its own pipeline or with its group, is under way meanwhile in
// code for compute capability 8.0 and later: that has cp.async, as nvcc's code has. So is what a block's barriers and
// pipelines in shared memory count, at which the copies arrive. Other copies are done at once by the threads that ask
// for them, so that waiting for them is waiting for these threads.
#pragma once

#include "heddle/cuda_scopes.h"

namespace cuda {

// A size that is a multiple of Alignment, of memory that begins at one.
template <size_t Alignment>
struct aligned_size_t {
  static constexpr size_t align = Alignment;
  size_t value;
  explicit constexpr HEDDLE_SCOPE_ aligned_size_t(size_t size) : value(size) {}
  constexpr HEDDLE_SCOPE_ operator size_t() const { return value; }
};

template <thread_scope Scope, class Completion>
class barrier;
template <thread_scope Scope>
class pipeline;

enum class async_contract_fulfillment { none, async };

namespace heddle_detail {

struct alignas(16) four_words {
  unsigned long long low, high;
};

// The part of thread `rank` of `threads`, in the widest steps that places and size allow.
template <class Step>
HEDDLE_SCOPE_ void copy_steps(void* to, const void* from, size_t size, size_t rank, size_t threads) {
  for (size_t i = rank; i < size / sizeof(Step); i += threads) {
    static_cast<Step*>(to)[i] = static_cast<const Step*>(from)[i];
  }
}
HEDDLE_SCOPE_ void copy_part(void* to, const void* from, size_t size, size_t rank, size_t threads) {
  const size_t together = reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from) | size;
  if (together % 16 == 0) {
    copy_steps<four_words>(to, from, size, rank, threads);
  } else if (together % 8 == 0) {
    copy_steps<unsigned long long>(to, from, size, rank, threads);
  } else if (together % 4 == 0) {
    copy_steps<unsigned int>(to, from, size, rank, threads);
  } else {
    copy_steps<unsigned char>(to, from, size, rank, threads);
  }
}
template <class Group>
HEDDLE_SCOPE_ void copy_by(const Group& group, void* to, const void* from, size_t size) {
  copy_part(to, from, size, static_cast<size_t>(group.thread_rank()), static_cast<size_t>(group.size()));
}
struct one_thread {
  HEDDLE_SCOPE_ static unsigned int thread_rank() { return 0; }
  HEDDLE_SCOPE_ static unsigned int size() { return 1; }
};

#ifdef HEDDLE_HAS_COPIES_
template <int Bytes>
__device__ __inline__ void copy_under_way(unsigned int to, const void* from) {
  if (Bytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(Bytes) : "memory");
  }
}
template <int Bytes>
__device__ __inline__ void steps_under_way(unsigned int to, const char* from, size_t size, size_t rank,
                                           size_t threads) {
  for (size_t i = rank * Bytes; i < size; i += threads * Bytes) {
    copy_under_way<Bytes>(to + static_cast<unsigned int>(i), from + i);
  }
}
#endif

// As copy_by(); what cp.async can copy, from global to shared memory in words, is under way when this returns: true.
template <class Group>
HEDDLE_SCOPE_ bool begin_copy(const Group& group, void* to, const void* from, size_t size) {
#ifdef HEDDLE_HAS_COPIES_
  const size_t together = reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from) | size;
  if (together % 4 == 0 && __nvvm_isspacep_shared(to) && __nvvm_isspacep_global(from)) {
    const unsigned int place = static_cast<unsigned int>(__cvta_generic_to_shared(to));
    const auto rank = static_cast<size_t>(group.thread_rank());
    const auto threads = static_cast<size_t>(group.size());
    if (together % 16 == 0) {
      steps_under_way<16>(place, static_cast<const char*>(from), size, rank, threads);
    } else if (together % 8 == 0) {
      steps_under_way<8>(place, static_cast<const char*>(from), size, rank, threads);
    } else {
      steps_under_way<4>(place, static_cast<const char*>(from), size, rank, threads);
    }
    return true;
  }
#endif
  copy_by(group, to, from, size);
  return false;
}
// For a barrier that counts copies, if it can.
template <class Group, class Barrier>
HEDDLE_SCOPE_ async_contract_fulfillment copy_for(const Group& group, void* to, const void* from, size_t size,
                                                  Barrier& barrier) {
  if (!barrier.heddle_counts_copies()) {
    copy_by(group, to, from, size);
    return async_contract_fulfillment::none;
  }
  if (!begin_copy(group, to, from, size)) return async_contract_fulfillment::none;
  barrier.heddle_copies_arrive();
  return async_contract_fulfillment::async;
}
// The copies that this thread has begun and not committed are one batch.
HEDDLE_SCOPE_ void commit_copies() {
#ifdef HEDDLE_HAS_COPIES_
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
// Of this thread's batches the latest `prior` may be under way; of more than eight, eight.
HEDDLE_SCOPE_ void wait_for_copies(size_t prior) {
#ifdef HEDDLE_HAS_COPIES_
  switch (prior) {
#define HEDDLE_WAIT_(batches)                                       \
  case batches:                                                     \
    asm volatile("cp.async.wait_group " #batches ";" ::: "memory"); \
    break;
    HEDDLE_WAIT_(0)
    HEDDLE_WAIT_(1)
    HEDDLE_WAIT_(2)
    HEDDLE_WAIT_(3)
    HEDDLE_WAIT_(4)
    HEDDLE_WAIT_(5)
    HEDDLE_WAIT_(6)
    HEDDLE_WAIT_(7)
#undef HEDDLE_WAIT_
    default:
      asm volatile("cp.async.wait_group 8;" ::: "memory");
  }
#else
  (void)prior;
#endif
}

}  // namespace heddle_detail

template <class Group, class To, class From, thread_scope Scope, class Completion>
HEDDLE_SCOPE_ async_contract_fulfillment memcpy_async(const Group& group, To* to, const From* from, size_t size,
                                                      barrier<Scope, Completion>& barrier) {
  return heddle_detail::copy_for(group, to, from, size, barrier);
}
template <class Group, class To, class From, thread_scope Scope>
HEDDLE_SCOPE_ async_contract_fulfillment memcpy_async(const Group& group, To* to, const From* from, size_t size,
                                                      pipeline<Scope>& pipeline) {
  return heddle_detail::copy_for(group, to, from, size, pipeline.heddle_produced());
}
template <class To, class From, thread_scope Scope, class Completion>
HEDDLE_SCOPE_ async_contract_fulfillment memcpy_async(To* to, const From* from, size_t size,
                                                      barrier<Scope, Completion>& barrier) {
  return heddle_detail::copy_for(heddle_detail::one_thread(), to, from, size, barrier);
}
template <class To, class From, thread_scope Scope>
HEDDLE_SCOPE_ async_contract_fulfillment memcpy_async(To* to, const From* from, size_t size,
                                                      pipeline<Scope>& pipeline) {
  return heddle_detail::copy_for(heddle_detail::one_thread(), to, from, size, pipeline.heddle_produced());
}

// A thread's own pipeline.
template <class Group, class To, class From>
HEDDLE_SCOPE_ async_contract_fulfillment memcpy_async(const Group& group, To* to, const From* from, size_t size,
                                                      pipeline<thread_scope_thread>&) {
  heddle_detail::begin_copy(group, to, from, size);
  return async_contract_fulfillment::async;
}
template <class To, class From>
HEDDLE_SCOPE_ async_contract_fulfillment memcpy_async(To* to, const From* from, size_t size,
                                                      pipeline<thread_scope_thread>&) {
  heddle_detail::begin_copy(heddle_detail::one_thread(), to, from, size);
  return async_contract_fulfillment::async;
}

}  // namespace cuda
