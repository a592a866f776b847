// The generator XORWOW (Marsaglia, "Xorshift RNGs", 2003) with the numbers that cuRAND has; subsequences are 2^67 steps
// apart. Also compiled for the host, by cuda/curand.
#pragma once

#include "heddle/cuda_xorwow_jumps.h"

#ifdef __CUDA__
#define HEDDLE_RANDOM_ static __device__ __inline__ __attribute__((always_inline, nodebug, unused))
#define HEDDLE_RANDOM_FAR_ static __device__ __attribute__((noinline, nodebug, unused))
#define HEDDLE_RANDOM_UNROLLED_ _Pragma("unroll")
#else
#define HEDDLE_RANDOM_ [[maybe_unused]] static inline
#define HEDDLE_RANDOM_FAR_ [[maybe_unused]] static
#define HEDDLE_RANDOM_UNROLLED_
#endif

// What was made with a normal number and waits for the next call.
#define HEDDLE_RANDOM_EXTRA_ \
  int boxmuller_flag;        \
  int boxmuller_flag_double; \
  float boxmuller_extra;     \
  double boxmuller_extra_double;

struct curandStateXORWOW {
  unsigned int d, v[5];
  HEDDLE_RANDOM_EXTRA_
};
typedef struct curandStateXORWOW curandStateXORWOW_t;
typedef curandStateXORWOW_t curandState_t;
typedef curandStateXORWOW_t curandState;

HEDDLE_RANDOM_ void __heddle_xorwow_step(unsigned int* v) {
  const unsigned int t = v[0] ^ (v[0] >> 2);
  v[0] = v[1];
  v[1] = v[2];
  v[2] = v[3];
  v[3] = v[4];
  v[4] = v[4] ^ (v[4] << 4) ^ t ^ (t << 1);
}
// 2^first * steps steps of the recurrence.
HEDDLE_RANDOM_FAR_ void __heddle_xorwow_jump(unsigned int* state, unsigned long long steps, int first) {
  unsigned int v[5] = {state[0], state[1], state[2], state[3], state[4]};
  for (int power = first; steps != 0; steps >>= 1, ++power) {
    if ((steps & 1) == 0) continue;
    unsigned int sum[5] = {0, 0, 0, 0, 0};
    for (int word = 0; word < 5; ++word) {
      const unsigned int coefficients = __heddle_xorwow_jumps[power][word];
      for (int bit = 0; bit < 32; ++bit) {
        const unsigned int take = 0U - ((coefficients >> bit) & 1U);
        HEDDLE_RANDOM_UNROLLED_ for (int i = 0; i < 5; ++i) sum[i] ^= v[i] & take;
        __heddle_xorwow_step(v);
      }
    }
    HEDDLE_RANDOM_UNROLLED_ for (int i = 0; i < 5; ++i) v[i] = sum[i];
  }
  HEDDLE_RANDOM_UNROLLED_ for (int i = 0; i < 5; ++i) state[i] = v[i];
}
HEDDLE_RANDOM_ void skipahead(unsigned long long n, curandStateXORWOW_t* state) {
  __heddle_xorwow_jump(state->v, n, 0);
  state->d += 362437U * static_cast<unsigned int>(n);
}
HEDDLE_RANDOM_ void skipahead_sequence(unsigned long long n, curandStateXORWOW_t* state) {
  __heddle_xorwow_jump(state->v, n, 67);  // the counter d comes round in 2^32 steps
}
HEDDLE_RANDOM_ void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                                curandStateXORWOW_t* state) {
  const unsigned int low = (static_cast<unsigned int>(seed) ^ 0xaad26b49U) * 1099087573U;
  const unsigned int high = (static_cast<unsigned int>(seed >> 32) ^ 0xf7dcefddU) * 2591861531U;
  state->d = 6615241U + low + high;
  state->v[0] = 123456789U + low;
  state->v[1] = 362436069U ^ low;
  state->v[2] = 521288629U + high;
  state->v[3] = 88675123U ^ high;
  state->v[4] = 5783321U + low;
  skipahead_sequence(subsequence, state);
  skipahead(offset, state);
  state->boxmuller_flag = 0;
  state->boxmuller_flag_double = 0;
  state->boxmuller_extra = 0;
  state->boxmuller_extra_double = 0;
}
HEDDLE_RANDOM_ unsigned int curand(curandStateXORWOW_t* state) {
  __heddle_xorwow_step(state->v);
  state->d += 362437U;
  return state->v[4] + state->d;
}
#undef HEDDLE_RANDOM_UNROLLED_
#undef HEDDLE_RANDOM_FAR_
