// <cuda/barrier>, <cuda/latch>, <cuda/semaphore>: threads that wait for each other by words in memory.
//
// A thread that waits looks again and again, as one of a GPU without hardware for it does. So threads of one warp that
// part must not wait for each other where warps go in lockstep.
#pragma once

#include "heddle/cuda_scopes.h"

namespace cuda {

namespace heddle_detail {
struct nothing {
  HEDDLE_SCOPE_ void operator()() const {}
};
// Whether a barrier may be an object of shared memory (PTX ISA, "mbarrier"), which counts copies too.
template <thread_scope Scope, class Completion>
struct may_be_object {
  static constexpr bool value = false;
};
#ifdef HEDDLE_HAS_COPIES_
template <>
struct may_be_object<thread_scope_block, nothing> {
  static constexpr bool value = true;
};
#endif
}  // namespace heddle_detail

// Phases: `expected` threads arrive, the last of them calls the completion and begins the next phase.
template <thread_scope Scope = thread_scope_system, class Completion = heddle_detail::nothing>
class barrier {
 public:
  using arrival_token = unsigned long long;  // the phase; of an object, its state in it

  barrier() = default;  // what init() sets up
  HEDDLE_SCOPE_ barrier(ptrdiff_t expected, Completion completion = Completion()) { begin(expected, completion); }
  barrier(const barrier&) = delete;
  barrier& operator=(const barrier&) = delete;
  static constexpr HEDDLE_SCOPE_ ptrdiff_t max() { return 0x7fffffff; }

  HEDDLE_SCOPE_ friend void init(barrier* which, ptrdiff_t expected, Completion completion = Completion()) {
    which->begin(expected, completion);
  }

  [[nodiscard]] HEDDLE_SCOPE_ arrival_token arrive(ptrdiff_t count = 1) {
    heddle_detail::fence(Scope);
#ifdef HEDDLE_HAS_COPIES_
    if (is_object()) {
      arrival_token state;
      asm volatile("mbarrier.arrive.shared.b64 %0, [%1], %2;"
                   : "=l"(state)
                   : "r"(place()), "r"(static_cast<unsigned int>(count))
                   : "memory");
      return state;
    }
#endif
    const auto less = static_cast<unsigned long long>(count);
    const unsigned long long old = heddle_detail::add<unsigned long long>(&state_, 0ULL - less);
    if ((old & 0xffffffffULL) == less) {
      heddle_detail::fence(Scope);
      completion_();
      heddle_detail::fence(Scope);
      // No other thread changes the word between the last arrival and the phase that it begins.
      const unsigned long long next = (((old >> 32) + 1) << 32) | expected();
      heddle_detail::add<unsigned long long>(&state_, next - (old - less));
    }
    return old >> 32;
  }
  HEDDLE_SCOPE_ void wait(arrival_token&& phase) const {
    while (!over(phase)) heddle_detail::pause();
    heddle_detail::fence(Scope);
  }
  HEDDLE_SCOPE_ bool try_wait(arrival_token&& phase) const {
    const bool done = over(phase);
    heddle_detail::fence(Scope);
    return done;
  }
  // Until a phase with this parity is over that was the current one or the one before.
  HEDDLE_SCOPE_ void wait_parity(bool parity) const {
    while (!over_of(parity)) heddle_detail::pause();
    heddle_detail::fence(Scope);
  }
  HEDDLE_SCOPE_ bool try_wait_parity(bool parity) const {
    const bool done = over_of(parity);
    heddle_detail::fence(Scope);
    return done;
  }
  HEDDLE_SCOPE_ void arrive_and_wait() {
    wait(arrive());
  }
  // One fewer takes part from the next phase on.
  HEDDLE_SCOPE_ void arrive_and_drop() {
#ifdef HEDDLE_HAS_COPIES_
    if (is_object()) {
      heddle_detail::fence(Scope);
      asm volatile("{ .reg .b64 state; mbarrier.arrive_drop.shared.b64 state, [%0]; }" ::"r"(place()) : "memory");
      return;
    }
#endif
    heddle_detail::add<unsigned long long>(&expected_, ~0ULL);
    (void)arrive();
  }

  // Of this header. The phase can wait for copies of a thread, and does from now on for those that it has begun.
  [[nodiscard]] HEDDLE_SCOPE_ bool heddle_counts_copies() const {
    return is_object();
  }
  HEDDLE_SCOPE_ void heddle_copies_arrive() {
#ifdef HEDDLE_HAS_COPIES_
    asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(place()) : "memory");
#endif
  }

 private:
#ifdef HEDDLE_HAS_COPIES_
  [[nodiscard]] HEDDLE_SCOPE_ bool is_object() const {
    return heddle_detail::may_be_object<Scope, Completion>::value && __nvvm_isspacep_shared(&state_);
  }
  [[nodiscard]] HEDDLE_SCOPE_ unsigned int place() const {
    return static_cast<unsigned int>(__cvta_generic_to_shared(&state_));
  }
#else
  [[nodiscard]] HEDDLE_SCOPE_ static constexpr bool is_object() {
    return false;
  }
#endif
  HEDDLE_SCOPE_ void begin(ptrdiff_t expected, Completion completion) {
#ifdef HEDDLE_HAS_COPIES_
    if (is_object()) {
      asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(place()), "r"(static_cast<unsigned int>(expected))
                   : "memory");
      heddle_detail::fence(Scope);
      return;
    }
#endif
    state_ = static_cast<unsigned long long>(expected);
    expected_ = static_cast<unsigned long long>(expected);
    completion_ = completion;
    heddle_detail::fence(Scope);
  }
  [[nodiscard]] HEDDLE_SCOPE_ unsigned long long expected() const {
    return heddle_detail::load(&expected_);
  }
  [[nodiscard]] HEDDLE_SCOPE_ unsigned int current() const {
    return static_cast<unsigned int>(heddle_detail::load(&state_) >> 32);
  }
  [[nodiscard]] HEDDLE_SCOPE_ bool over(arrival_token phase) const {
#ifdef HEDDLE_HAS_COPIES_
    if (is_object()) {
      unsigned int done;
      asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                   : "=r"(done)
                   : "r"(place()), "l"(phase)
                   : "memory");
      return done != 0;
    }
#endif
    return current() != phase;
  }
  [[nodiscard]] HEDDLE_SCOPE_ bool over_of(bool parity) const {
#ifdef HEDDLE_HAS_COPIES_
    if (is_object()) {
      unsigned int done;
      asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                   : "=r"(done)
                   : "r"(place()), "r"(parity ? 1U : 0U)
                   : "memory");
      return done != 0;
    }
#endif
    return (current() & 1U) != (parity ? 1U : 0U);
  }

  unsigned long long state_;     // the phase, and in the lower 32 bits how many are still to arrive; or an object
  unsigned long long expected_;  // in each phase
  Completion completion_;
};

// Once: threads wait until the count is 0.
template <thread_scope Scope = thread_scope_system>
class latch {
 public:
  latch() = default;
  explicit constexpr HEDDLE_SCOPE_ latch(ptrdiff_t expected) : left_(static_cast<unsigned long long>(expected)) {}
  latch(const latch&) = delete;
  latch& operator=(const latch&) = delete;
  HEDDLE_SCOPE_ friend void init(latch* which, ptrdiff_t expected) {
    which->left_ = static_cast<unsigned long long>(expected);
    heddle_detail::fence(Scope);
  }
  HEDDLE_SCOPE_ void count_down(ptrdiff_t count = 1) {
    heddle_detail::fence(Scope);
    heddle_detail::add<unsigned long long>(&left_, 0ULL - static_cast<unsigned long long>(count));
  }
  HEDDLE_SCOPE_ bool try_wait() const {
    const bool done = heddle_detail::load(&left_) == 0;
    heddle_detail::fence(Scope);
    return done;
  }
  HEDDLE_SCOPE_ void wait() const {
    while (heddle_detail::load(&left_) != 0) heddle_detail::pause();
    heddle_detail::fence(Scope);
  }
  HEDDLE_SCOPE_ void arrive_and_wait(ptrdiff_t count = 1) {
    count_down(count);
    wait();
  }

 private:
  unsigned long long left_;
};

template <thread_scope Scope = thread_scope_system, ptrdiff_t Most = 0x7fffffff>
class counting_semaphore {
 public:
  counting_semaphore() = default;
  explicit constexpr HEDDLE_SCOPE_ counting_semaphore(ptrdiff_t count)
      : count_(static_cast<unsigned long long>(count)) {}
  counting_semaphore(const counting_semaphore&) = delete;
  counting_semaphore& operator=(const counting_semaphore&) = delete;
  static constexpr HEDDLE_SCOPE_ ptrdiff_t max() { return Most; }
  HEDDLE_SCOPE_ friend void init(counting_semaphore* which, ptrdiff_t count) {
    which->count_ = static_cast<unsigned long long>(count);
    heddle_detail::fence(Scope);
  }
  HEDDLE_SCOPE_ void release(ptrdiff_t count = 1) {
    heddle_detail::fence(Scope);
    heddle_detail::add<unsigned long long>(&count_, static_cast<unsigned long long>(count));
  }
  HEDDLE_SCOPE_ bool try_acquire() {
    for (unsigned long long old = heddle_detail::load(&count_); old != 0;) {
      const unsigned long long seen = heddle_detail::swap_if(&count_, old, old - 1);
      if (seen == old) {
        heddle_detail::fence(Scope);
        return true;
      }
      old = seen;
    }
    return false;
  }
  HEDDLE_SCOPE_ void acquire() {
    while (!try_acquire()) heddle_detail::pause();
  }

 private:
  unsigned long long count_;
};
template <thread_scope Scope = thread_scope_system>
using binary_semaphore = counting_semaphore<Scope, 1>;

}  // namespace cuda

#include "heddle/cuda_async_copies.h"
