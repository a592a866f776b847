// Atomic operations of heddle/cuda.h: they return the old value, and work on global, shared and generic addresses.
#pragma once

#define HEDDLE_ATOMIC_(name, type, call)                        \
  HEDDLE_DEVICE_ type atomic##name(type* address, type value) { \
    call;                                                       \
  }

HEDDLE_ATOMIC_(Add, int, return __nvvm_atom_add_gen_i(address, value))
HEDDLE_ATOMIC_(Add, unsigned int,
               return static_cast<unsigned int>(__nvvm_atom_add_gen_i(reinterpret_cast<int*>(address),
                                                                      static_cast<int>(value))))
HEDDLE_ATOMIC_(Add, unsigned long long,
               return static_cast<unsigned long long>(__nvvm_atom_add_gen_ll(reinterpret_cast<long long*>(address),
                                                                             static_cast<long long>(value))))
HEDDLE_ATOMIC_(Add, float, return __nvvm_atom_add_gen_f(address, value))
HEDDLE_ATOMIC_(Add, double, return __nvvm_atom_add_gen_d(address, value))

// A subtraction is an addition of the two's complement.
HEDDLE_ATOMIC_(Sub, int, return atomicAdd(address, static_cast<int>(0U - static_cast<unsigned int>(value))))
HEDDLE_ATOMIC_(Sub, unsigned int, return atomicAdd(address, 0U - value))
HEDDLE_ATOMIC_(Sub, unsigned long long, return atomicAdd(address, 0ULL - value))

HEDDLE_ATOMIC_(Exch, int, return __nvvm_atom_xchg_gen_i(address, value))
HEDDLE_ATOMIC_(Exch, unsigned int,
               return static_cast<unsigned int>(__nvvm_atom_xchg_gen_i(reinterpret_cast<int*>(address),
                                                                       static_cast<int>(value))))
HEDDLE_ATOMIC_(Exch, unsigned long long,
               return static_cast<unsigned long long>(__nvvm_atom_xchg_gen_ll(reinterpret_cast<long long*>(address),
                                                                              static_cast<long long>(value))))
HEDDLE_ATOMIC_(Exch, float,
               return __int_as_float(__nvvm_atom_xchg_gen_i(reinterpret_cast<int*>(address), __float_as_int(value))))

HEDDLE_ATOMIC_(Min, int, return __nvvm_atom_min_gen_i(address, value))
HEDDLE_ATOMIC_(Min, unsigned int, return __nvvm_atom_min_gen_ui(address, value))
HEDDLE_ATOMIC_(Min, long long, return __nvvm_atom_min_gen_ll(address, value))
HEDDLE_ATOMIC_(Min, unsigned long long, return __nvvm_atom_min_gen_ull(address, value))
HEDDLE_ATOMIC_(Max, int, return __nvvm_atom_max_gen_i(address, value))
HEDDLE_ATOMIC_(Max, unsigned int, return __nvvm_atom_max_gen_ui(address, value))
HEDDLE_ATOMIC_(Max, long long, return __nvvm_atom_max_gen_ll(address, value))
HEDDLE_ATOMIC_(Max, unsigned long long, return __nvvm_atom_max_gen_ull(address, value))

#define HEDDLE_BITWISE_(name, op)                                                                         \
  HEDDLE_ATOMIC_(name, int, return __nvvm_atom_##op##_gen_i(address, value))                              \
  HEDDLE_ATOMIC_(name, unsigned int,                                                                      \
                 return static_cast<unsigned int>(                                                        \
                     __nvvm_atom_##op##_gen_i(reinterpret_cast<int*>(address), static_cast<int>(value)))) \
  HEDDLE_ATOMIC_(name, unsigned long long,                                                                \
                 return static_cast<unsigned long long>(                                                  \
                     __nvvm_atom_##op##_gen_ll(reinterpret_cast<long long*>(address), static_cast<long long>(value))))
HEDDLE_BITWISE_(And, and)
HEDDLE_BITWISE_(Or, or)
HEDDLE_BITWISE_(Xor, xor)
#undef HEDDLE_BITWISE_

// inc: old >= value ? 0 : old + 1.  dec: old == 0 || old > value ? value : old - 1.
HEDDLE_ATOMIC_(Inc, unsigned int, return __nvvm_atom_inc_gen_ui(address, value))
HEDDLE_ATOMIC_(Dec, unsigned int, return __nvvm_atom_dec_gen_ui(address, value))
#undef HEDDLE_ATOMIC_

HEDDLE_DEVICE_ int atomicCAS(int* address, int compare, int value) {
  return __nvvm_atom_cas_gen_i(address, compare, value);
}
HEDDLE_DEVICE_ unsigned int atomicCAS(unsigned int* address, unsigned int compare, unsigned int value) {
  return static_cast<unsigned int>(
      __nvvm_atom_cas_gen_i(reinterpret_cast<int*>(address), static_cast<int>(compare), static_cast<int>(value)));
}
HEDDLE_DEVICE_ unsigned long long atomicCAS(unsigned long long* address, unsigned long long compare,
                                            unsigned long long value) {
  return static_cast<unsigned long long>(__nvvm_atom_cas_gen_ll(
      reinterpret_cast<long long*>(address), static_cast<long long>(compare), static_cast<long long>(value)));
}

HEDDLE_DEVICE_ unsigned short atomicCAS(unsigned short* address, unsigned short compare, unsigned short value) {
  unsigned int* const word = reinterpret_cast<unsigned int*>(reinterpret_cast<uintptr_t>(address) & ~uintptr_t{3});
  const unsigned int shift = (reinterpret_cast<uintptr_t>(address) & 2) * 8;
  unsigned int old = *reinterpret_cast<volatile unsigned int*>(word);
  for (;;) {
    const unsigned short present = static_cast<unsigned short>(old >> shift);
    if (present != compare) return present;
    const unsigned int next = (old & ~(0xffffU << shift)) | (static_cast<unsigned int>(value) << shift);
    const unsigned int seen = atomicCAS(word, old, next);
    if (seen == old) return present;
    old = seen;
  }
}

// Scopes: an atomic of this machine is one for the whole GPU, whatever narrower scope was asked for.
#define HEDDLE_SCOPED_(name)                                    \
  template <class T, class V>                                   \
  HEDDLE_DEVICE_ T atomic##name##_block(T* address, V value) {  \
    return atomic##name(address, static_cast<T>(value));        \
  }                                                             \
  template <class T, class V>                                   \
  HEDDLE_DEVICE_ T atomic##name##_system(T* address, V value) { \
    return atomic##name(address, static_cast<T>(value));        \
  }
HEDDLE_SCOPED_(Add)
HEDDLE_SCOPED_(Sub)
HEDDLE_SCOPED_(Exch)
HEDDLE_SCOPED_(Min)
HEDDLE_SCOPED_(Max)
HEDDLE_SCOPED_(And)
HEDDLE_SCOPED_(Or)
HEDDLE_SCOPED_(Xor)
HEDDLE_SCOPED_(Inc)
HEDDLE_SCOPED_(Dec)
#undef HEDDLE_SCOPED_
template <class T, class C, class V>
HEDDLE_DEVICE_ T atomicCAS_block(T* address, C compare, V value) {
  return atomicCAS(address, static_cast<T>(compare), static_cast<T>(value));
}
template <class T, class C, class V>
HEDDLE_DEVICE_ T atomicCAS_system(T* address, C compare, V value) {
  return atomicCAS(address, static_cast<T>(compare), static_cast<T>(value));
}
