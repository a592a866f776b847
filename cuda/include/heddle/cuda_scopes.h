// Scopes, memory orders and atomic objects of <cuda/atomic>, and the words that <cuda/barrier> and its kin are made of.
// For host and device; in kernels alone, for the device.
//
// An atomic access of the simulated machines is one for the whole GPU, and volatile loads see what other cores have
// stored, whatever the scope. Orders stronger than relaxed are fences around the access, of the block where the scope
// is no wider.
#pragma once

#ifndef __CUDA__
#include <stddef.h>
#include <stdint.h>
#endif

// Code for compute capability 8.0 and later copies to shared memory while threads go on, and has barrier objects there,
// at which copies arrive by themselves.
#if defined(__CUDA_ARCH__) && defined(__LP64__)
#if __CUDA_ARCH__ >= 800
#define HEDDLE_HAS_COPIES_
#endif
#endif

#ifdef __CUDA__
#define HEDDLE_SCOPE_ __host__ __device__ __inline__ __attribute__((always_inline, nodebug))
#else
#define HEDDLE_SCOPE_ inline
#endif

namespace cuda {

enum thread_scope { thread_scope_system, thread_scope_device, thread_scope_block, thread_scope_thread };

enum memory_order {
  memory_order_relaxed,
  memory_order_consume,
  memory_order_acquire,
  memory_order_release,
  memory_order_acq_rel,
  memory_order_seq_cst
};

namespace heddle_detail {

// The unsigned type of a size.
template <int Bytes>
struct word;
template <>
struct word<1> {
  using type = unsigned char;
};
template <>
struct word<2> {
  using type = unsigned short;
};
template <>
struct word<4> {
  using type = unsigned int;
};
template <>
struct word<8> {
  using type = unsigned long long;
};
template <class T>
using word_of = typename word<static_cast<int>(sizeof(T))>::type;

// What a difference of two is, and whether the device adds them in one operation.
template <class T>
struct element {
  using type = T;
  static constexpr bool kAdds = false;
};
template <class T>
struct element<T*> {
  using type = ptrdiff_t;
  static constexpr bool kAdds = false;
};
#define HEDDLE_ADDS_(of)                \
  template <>                           \
  struct element<of> {                  \
    using type = of;                    \
    static constexpr bool kAdds = true; \
  };
HEDDLE_ADDS_(int)
HEDDLE_ADDS_(unsigned int)
HEDDLE_ADDS_(long)
HEDDLE_ADDS_(unsigned long)
HEDDLE_ADDS_(long long)
HEDDLE_ADDS_(unsigned long long)
#undef HEDDLE_ADDS_

template <class T>
HEDDLE_SCOPE_ T load(const T* address) {
#ifdef __CUDA_ARCH__
  return *const_cast<const volatile T*>(address);
#else
  return __atomic_load_n(address, __ATOMIC_SEQ_CST);
#endif
}
// Compare and swap of 4 or 8 bytes; the value before.
HEDDLE_SCOPE_ unsigned int swap_if(unsigned int* address, unsigned int expected, unsigned int desired) {
#ifdef __CUDA_ARCH__
  return atomicCAS(address, expected, desired);
#else
  __atomic_compare_exchange_n(address, &expected, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  return expected;
#endif
}
HEDDLE_SCOPE_ unsigned long long swap_if(unsigned long long* address, unsigned long long expected,
                                         unsigned long long desired) {
#ifdef __CUDA_ARCH__
  return atomicCAS(address, expected, desired);
#else
  __atomic_compare_exchange_n(address, &expected, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  return expected;
#endif
}
// Of 1 or 2 bytes, by the word that holds them.
template <class Part>
HEDDLE_SCOPE_ Part swap_if(Part* address, Part expected, Part desired) {
#ifdef __CUDA_ARCH__
  const auto place = reinterpret_cast<uintptr_t>(address);
  auto* const whole = reinterpret_cast<unsigned int*>(place & ~uintptr_t{3});
  const auto shift = static_cast<unsigned int>(place & 3U) * 8U;
  const unsigned int mask = static_cast<unsigned int>(static_cast<Part>(-1)) << shift;
  unsigned int old = load(whole);
  for (;;) {
    const auto present = static_cast<Part>(old >> shift);
    if (present != expected) return present;
    const unsigned int seen = atomicCAS(whole, old, (old & ~mask) | (static_cast<unsigned int>(desired) << shift));
    if (seen == old) return present;
    old = seen;
  }
#else
  __atomic_compare_exchange_n(address, &expected, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  return expected;
#endif
}
// One access where a word of this size can be exchanged at once; the value before.
template <class Word>
HEDDLE_SCOPE_ Word exchanged(Word* address, Word value) {
#ifdef __CUDA_ARCH__
  if constexpr (sizeof(Word) >= 4) {
    return atomicExch(address, value);
  } else {
    Word old = load(address);
    for (;;) {
      const Word seen = swap_if(address, old, value);
      if (seen == old) return old;
      old = seen;
    }
  }
#else
  return __atomic_exchange_n(address, value, __ATOMIC_SEQ_CST);
#endif
}
template <class Word>
HEDDLE_SCOPE_ Word add(Word* address, Word value) {
#ifdef __CUDA_ARCH__
  return atomicAdd(address, value);
#else
  return __atomic_fetch_add(address, value, __ATOMIC_SEQ_CST);
#endif
}

HEDDLE_SCOPE_ void fence(thread_scope scope) {
#ifdef __CUDA_ARCH__
  if (scope == thread_scope_system) {
    __threadfence_system();
  } else if (scope == thread_scope_device) {
    __threadfence();
  } else if (scope == thread_scope_block) {
    __threadfence_block();
  }
#else
  (void)scope;
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}
HEDDLE_SCOPE_ void before(memory_order order, thread_scope scope) {
  if (order >= memory_order_release) fence(scope);
}
HEDDLE_SCOPE_ void after(memory_order order, thread_scope scope) {
  if (order != memory_order_relaxed && order != memory_order_release) fence(scope);
}
// Between two looks at what another thread changes.
HEDDLE_SCOPE_ void pause() {
#ifdef __CUDA_ARCH__
  __nanosleep(20);
#endif
}

// The operations of an atomic object, whose value is at address().
template <class T, thread_scope Scope, class Self>
class operations {
  static_assert(__is_trivially_copyable(T) && (sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8),
                "an atomic object has 1, 2, 4 or 8 bytes that can be copied as they are");
  using Word = word_of<T>;
  using Difference = typename element<T>::type;

 public:
  using value_type = T;
  static constexpr bool is_always_lock_free = true;
  HEDDLE_SCOPE_ bool is_lock_free() const { return true; }

  HEDDLE_SCOPE_ T load(memory_order order = memory_order_seq_cst) const {
    if (order == memory_order_seq_cst) fence(Scope);
    const Word bits = heddle_detail::load(place());
    after(order, Scope);
    return __builtin_bit_cast(T, bits);
  }
  HEDDLE_SCOPE_ operator T() const { return load(); }
  HEDDLE_SCOPE_ void store(T value, memory_order order = memory_order_seq_cst) { exchange(value, order); }
  HEDDLE_SCOPE_ T exchange(T value, memory_order order = memory_order_seq_cst) {
    before(order, Scope);
    const Word old = exchanged(place(), __builtin_bit_cast(Word, value));
    after(order, Scope);
    return __builtin_bit_cast(T, old);
  }
  HEDDLE_SCOPE_ bool compare_exchange_strong(T& expected, T desired, memory_order order = memory_order_seq_cst) {
    before(order, Scope);
    const Word wanted = __builtin_bit_cast(Word, expected);
    const Word seen = swap_if(place(), wanted, __builtin_bit_cast(Word, desired));
    after(order, Scope);
    expected = __builtin_bit_cast(T, seen);
    return seen == wanted;
  }
  HEDDLE_SCOPE_ bool compare_exchange_strong(T& expected, T desired, memory_order good, memory_order) {
    return compare_exchange_strong(expected, desired, good);
  }
  HEDDLE_SCOPE_ bool compare_exchange_weak(T& expected, T desired, memory_order order = memory_order_seq_cst) {
    return compare_exchange_strong(expected, desired, order);
  }
  HEDDLE_SCOPE_ bool compare_exchange_weak(T& expected, T desired, memory_order good, memory_order) {
    return compare_exchange_strong(expected, desired, good);
  }
  HEDDLE_SCOPE_ T fetch_add(Difference value, memory_order order = memory_order_seq_cst) {
    if constexpr (element<T>::kAdds) {
      before(order, Scope);
      const Word old = heddle_detail::add(place(), static_cast<Word>(value));
      after(order, Scope);
      return static_cast<T>(old);
    } else {
      return change(order, [=](T old) { return static_cast<T>(old + value); });
    }
  }
  HEDDLE_SCOPE_ T fetch_sub(Difference value, memory_order order = memory_order_seq_cst) {
    if constexpr (element<T>::kAdds) return fetch_add(static_cast<T>(Word{0} - static_cast<Word>(value)), order);
    return change(order, [=](T old) { return static_cast<T>(old - value); });
  }
  HEDDLE_SCOPE_ T fetch_and(T value, memory_order order = memory_order_seq_cst) {
    return change(order, [=](T old) { return static_cast<T>(old & value); });
  }
  HEDDLE_SCOPE_ T fetch_or(T value, memory_order order = memory_order_seq_cst) {
    return change(order, [=](T old) { return static_cast<T>(old | value); });
  }
  HEDDLE_SCOPE_ T fetch_xor(T value, memory_order order = memory_order_seq_cst) {
    return change(order, [=](T old) { return static_cast<T>(old ^ value); });
  }
  HEDDLE_SCOPE_ T fetch_min(T value, memory_order order = memory_order_seq_cst) {
    return change(order, [=](T old) { return value < old ? value : old; });
  }
  HEDDLE_SCOPE_ T fetch_max(T value, memory_order order = memory_order_seq_cst) {
    return change(order, [=](T old) { return old < value ? value : old; });
  }
  HEDDLE_SCOPE_ T operator++() { return static_cast<T>(fetch_add(1) + 1); }
  HEDDLE_SCOPE_ T operator--() { return static_cast<T>(fetch_sub(1) - 1); }
  HEDDLE_SCOPE_ T operator++(int) { return fetch_add(1); }
  HEDDLE_SCOPE_ T operator--(int) { return fetch_sub(1); }
  HEDDLE_SCOPE_ T operator+=(Difference value) { return static_cast<T>(fetch_add(value) + value); }
  HEDDLE_SCOPE_ T operator-=(Difference value) { return static_cast<T>(fetch_sub(value) - value); }
  HEDDLE_SCOPE_ T operator&=(T value) { return static_cast<T>(fetch_and(value) & value); }
  HEDDLE_SCOPE_ T operator|=(T value) { return static_cast<T>(fetch_or(value) | value); }
  HEDDLE_SCOPE_ T operator^=(T value) { return static_cast<T>(fetch_xor(value) ^ value); }

  // Until the value is another than `old`.
  HEDDLE_SCOPE_ void wait(T old, memory_order order = memory_order_seq_cst) const {
    const Word bits = __builtin_bit_cast(Word, old);
    while (heddle_detail::load(place()) == bits) pause();
    after(order, Scope);
  }
  HEDDLE_SCOPE_ void notify_one() {}  // whoever waits looks by itself
  HEDDLE_SCOPE_ void notify_all() {}

 private:
  HEDDLE_SCOPE_ Word* place() const {
    return reinterpret_cast<Word*>(const_cast<T*>(static_cast<const Self*>(this)->address()));
  }
  template <class F>
  HEDDLE_SCOPE_ T change(memory_order order, F next) {
    before(order, Scope);
    Word old = heddle_detail::load(place());
    for (;;) {
      const Word seen = swap_if(place(), old, __builtin_bit_cast(Word, next(__builtin_bit_cast(T, old))));
      if (seen == old) break;
      old = seen;
    }
    after(order, Scope);
    return __builtin_bit_cast(T, old);
  }
};

}  // namespace heddle_detail

template <class T, thread_scope Scope = thread_scope_system>
class atomic : public heddle_detail::operations<T, Scope, atomic<T, Scope>> {
 public:
  atomic() = default;
  constexpr HEDDLE_SCOPE_ atomic(T value) : value_(value) {}
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;
  HEDDLE_SCOPE_ T operator=(T value) {
    this->store(value);
    return value;
  }
  HEDDLE_SCOPE_ const T* address() const { return &value_; }

 private:
  alignas(sizeof(T) < 4 ? 4 : sizeof(T)) T value_;  // in a word of its own, which is what is swapped
};

template <class T, thread_scope Scope = thread_scope_system>
class atomic_ref : public heddle_detail::operations<T, Scope, atomic_ref<T, Scope>> {
 public:
  explicit HEDDLE_SCOPE_ atomic_ref(T& value) : value_(&value) {}
  HEDDLE_SCOPE_ T operator=(T value) {
    this->store(value);
    return value;
  }
  HEDDLE_SCOPE_ const T* address() const { return value_; }

 private:
  T* value_;
};

class atomic_flag {
 public:
  atomic_flag() = default;
  HEDDLE_SCOPE_ bool test_and_set(memory_order order = memory_order_seq_cst) { return set_.exchange(1, order) != 0; }
  HEDDLE_SCOPE_ bool test(memory_order order = memory_order_seq_cst) const { return set_.load(order) != 0; }
  HEDDLE_SCOPE_ void clear(memory_order order = memory_order_seq_cst) { set_.store(0, order); }

 private:
  atomic<int> set_;
};

HEDDLE_SCOPE_ void atomic_thread_fence(memory_order order, thread_scope scope = thread_scope_system) {
  if (order != memory_order_relaxed) heddle_detail::fence(scope);
}
HEDDLE_SCOPE_ void atomic_signal_fence(memory_order) {
  asm volatile("" ::: "memory");
}

}  // namespace cuda
