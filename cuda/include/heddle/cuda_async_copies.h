// cuda::memcpy_async, for barriers and pipelines: the copy is done at once by the threads that ask for it, so that
// waiting for it is waiting for these threads.
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

}  // namespace heddle_detail

enum class async_contract_fulfillment { none, async };

template <class Group, class To, class From, thread_scope Scope, class Completion>
HEDDLE_SCOPE_ async_contract_fulfillment memcpy_async(const Group& group, To* to, const From* from, size_t size,
                                                      barrier<Scope, Completion>&) {
  heddle_detail::copy_by(group, to, from, size);
  return async_contract_fulfillment::none;
}
template <class Group, class To, class From, thread_scope Scope>
HEDDLE_SCOPE_ async_contract_fulfillment memcpy_async(const Group& group, To* to, const From* from, size_t size,
                                                      pipeline<Scope>&) {
  heddle_detail::copy_by(group, to, from, size);
  return async_contract_fulfillment::none;
}
template <class To, class From, thread_scope Scope, class Completion>
HEDDLE_SCOPE_ async_contract_fulfillment memcpy_async(To* to, const From* from, size_t size,
                                                      barrier<Scope, Completion>&) {
  heddle_detail::copy_by(heddle_detail::one_thread(), to, from, size);
  return async_contract_fulfillment::none;
}
template <class To, class From, thread_scope Scope>
HEDDLE_SCOPE_ async_contract_fulfillment memcpy_async(To* to, const From* from, size_t size, pipeline<Scope>&) {
  heddle_detail::copy_by(heddle_detail::one_thread(), to, from, size);
  return async_contract_fulfillment::none;
}

}  // namespace cuda
