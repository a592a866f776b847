// <curand_kernel.h>: the random generators of device code that programs use most, with the numbers that cuRAND has:
// XORWOW (cuda_xorwow.h) and Philox4x32-10 (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011).
// Normal numbers come by Box and Muller's method; their last bits are what the functions here give.
#pragma once

#include "heddle/cuda_unfused.h"
#include "heddle/cuda_xorwow.h"

struct curandStatePhilox4_32_10 {
  uint4 ctr;
  uint4 output;
  uint2 key;
  unsigned int STATE;
  HEDDLE_RANDOM_EXTRA_
};
typedef struct curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;
#undef HEDDLE_RANDOM_EXTRA_

// ---------------------------------------------------------------------------------------------------------- Philox

HEDDLE_RANDOM_ uint4 curand_Philox4x32_10(uint4 counter, uint2 key) {
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const unsigned int high0 = __umulhi(0xd2511f53U, counter.x);
    const unsigned int low0 = 0xd2511f53U * counter.x;
    const unsigned int high1 = __umulhi(0xcd9e8d57U, counter.z);
    const unsigned int low1 = 0xcd9e8d57U * counter.z;
    counter = make_uint4(high1 ^ counter.y ^ key.x, low1, high0 ^ counter.w ^ key.y, low0);
    key.x += 0x9e3779b9U;
    key.y += 0xbb67ae85U;
  }
  return counter;
}
// The counter: four words, lowest first.
HEDDLE_RANDOM_ void __heddle_philox_count(uint4* counter, unsigned long long n) {
  const unsigned long long low = (static_cast<unsigned long long>(counter->y) << 32 | counter->x) + n;
  counter->x = static_cast<unsigned int>(low);
  counter->y = static_cast<unsigned int>(low >> 32);
  if (low < n && ++counter->z == 0) ++counter->w;
}
HEDDLE_RANDOM_ void skipahead(unsigned long long n, curandStatePhilox4_32_10_t* state) {
  const unsigned int place = state->STATE + static_cast<unsigned int>(n & 3U);
  __heddle_philox_count(&state->ctr, (n >> 2) + (place >> 2));
  state->STATE = place & 3U;
  state->output = curand_Philox4x32_10(state->ctr, state->key);
}
HEDDLE_RANDOM_ void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10_t* state) {
  const unsigned long long high = (static_cast<unsigned long long>(state->ctr.w) << 32 | state->ctr.z) + n;
  state->ctr.z = static_cast<unsigned int>(high);
  state->ctr.w = static_cast<unsigned int>(high >> 32);
  state->output = curand_Philox4x32_10(state->ctr, state->key);
}
HEDDLE_RANDOM_ void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                                curandStatePhilox4_32_10_t* state) {
  state->ctr = make_uint4(0, 0, 0, 0);
  state->key = make_uint2(static_cast<unsigned int>(seed), static_cast<unsigned int>(seed >> 32));
  state->STATE = 0;
  skipahead_sequence(subsequence, state);
  skipahead(offset, state);
  state->boxmuller_flag = 0;
  state->boxmuller_flag_double = 0;
  state->boxmuller_extra = 0;
  state->boxmuller_extra_double = 0;
}
HEDDLE_RANDOM_ void __heddle_philox_next(curandStatePhilox4_32_10_t* state) {
  __heddle_philox_count(&state->ctr, 1);
  state->output = curand_Philox4x32_10(state->ctr, state->key);
}
HEDDLE_RANDOM_ unsigned int curand(curandStatePhilox4_32_10_t* state) {
  const unsigned int place = state->STATE;
  const unsigned int value = place == 0   ? state->output.x
                             : place == 1 ? state->output.y
                             : place == 2 ? state->output.z
                                          : state->output.w;
  state->STATE = (place + 1) & 3U;
  if (state->STATE == 0) __heddle_philox_next(state);
  return value;
}
// The next four, in one step of the generator.
HEDDLE_RANDOM_ uint4 curand4(curandStatePhilox4_32_10_t* state) {
  const uint4 a = state->output;
  __heddle_philox_next(state);
  const uint4 b = state->output;
  switch (state->STATE) {
    case 0:
      return a;
    case 1:
      return make_uint4(a.y, a.z, a.w, b.x);
    case 2:
      return make_uint4(a.z, a.w, b.x, b.y);
    default:
      return make_uint4(a.w, b.x, b.y, b.z);
  }
}

// --------------------------------------------------------------------------------------------------- distributions

// In (0, 1].
HEDDLE_RANDOM_ float __heddle_uniform(unsigned int x) {
  return static_cast<float>(x) * 0x1p-32f + 0x1p-33f;
}
HEDDLE_RANDOM_ double __heddle_uniform(unsigned int x, unsigned int y) {
  const unsigned long long bits = x ^ (static_cast<unsigned long long>(y) << 21);
  return static_cast<double>(bits) * 0x1p-53 + 0x1p-54;
}
HEDDLE_RANDOM_ float2 __heddle_normal(unsigned int x, unsigned int y) {
  const float radius = sqrtf(-2.0f * logf(__heddle_uniform(x)));
  const float angle = static_cast<float>(y) * (0x1p-32f * 6.2831855f) + 0x1p-33f * 6.2831855f;
  float2 result;
  __sincosf(angle, &result.x, &result.y);
  return make_float2(result.x * radius, result.y * radius);
}
HEDDLE_RANDOM_ double2 __heddle_normal(unsigned int x0, unsigned int x1, unsigned int y0, unsigned int y1) {
  const double radius = sqrt(-2.0 * log(__heddle_uniform(x0, x1)));
  double2 result;
  sincospi(__heddle_uniform(y0, y1) * 2, &result.x, &result.y);
  return make_double2(result.x * radius, result.y * radius);
}

#define HEDDLE_RANDOM_OF_(type)                                                                \
  HEDDLE_RANDOM_ float curand_uniform(type* state) {                                           \
    return __heddle_uniform(curand(state));                                                    \
  }                                                                                            \
  HEDDLE_RANDOM_ double curand_uniform_double(type* state) {                                   \
    const unsigned int x = curand(state);                                                      \
    return __heddle_uniform(x, curand(state));                                                 \
  }                                                                                            \
  HEDDLE_RANDOM_ float2 curand_normal2(type* state) {                                          \
    const unsigned int x = curand(state);                                                      \
    return __heddle_normal(x, curand(state));                                                  \
  }                                                                                            \
  HEDDLE_RANDOM_ double2 curand_normal2_double(type* state) {                                  \
    const unsigned int x0 = curand(state), x1 = curand(state), y0 = curand(state);             \
    return __heddle_normal(x0, x1, y0, curand(state));                                         \
  }                                                                                            \
  HEDDLE_RANDOM_ float curand_normal(type* state) {                                            \
    if (state->boxmuller_flag != 0) {                                                          \
      state->boxmuller_flag = 0;                                                               \
      return state->boxmuller_extra;                                                           \
    }                                                                                          \
    const float2 pair = curand_normal2(state);                                                 \
    state->boxmuller_extra = pair.y;                                                           \
    state->boxmuller_flag = 1;                                                                 \
    return pair.x;                                                                             \
  }                                                                                            \
  HEDDLE_RANDOM_ double curand_normal_double(type* state) {                                    \
    if (state->boxmuller_flag_double != 0) {                                                   \
      state->boxmuller_flag_double = 0;                                                        \
      return state->boxmuller_extra_double;                                                    \
    }                                                                                          \
    const double2 pair = curand_normal2_double(state);                                         \
    state->boxmuller_extra_double = pair.y;                                                    \
    state->boxmuller_flag_double = 1;                                                          \
    return pair.x;                                                                             \
  }                                                                                            \
  HEDDLE_RANDOM_ float curand_log_normal(type* state, float mean, float deviation) {           \
    return expf(mean + deviation * curand_normal(state));                                      \
  }                                                                                            \
  HEDDLE_RANDOM_ double curand_log_normal_double(type* state, double mean, double deviation) { \
    return exp(mean + deviation * curand_normal_double(state));                                \
  }
HEDDLE_RANDOM_OF_(curandStateXORWOW_t)
HEDDLE_RANDOM_OF_(curandStatePhilox4_32_10_t)
#undef HEDDLE_RANDOM_OF_

HEDDLE_RANDOM_ float4 curand_uniform4(curandStatePhilox4_32_10_t* state) {
  const uint4 x = curand4(state);
  return make_float4(__heddle_uniform(x.x), __heddle_uniform(x.y), __heddle_uniform(x.z), __heddle_uniform(x.w));
}
HEDDLE_RANDOM_ double2 curand_uniform2_double(curandStatePhilox4_32_10_t* state) {
  const uint4 x = curand4(state);
  return make_double2(__heddle_uniform(x.x, x.y), __heddle_uniform(x.z, x.w));
}
HEDDLE_RANDOM_ float4 curand_normal4(curandStatePhilox4_32_10_t* state) {
  const uint4 x = curand4(state);
  const float2 first = __heddle_normal(x.x, x.y);
  const float2 second = __heddle_normal(x.z, x.w);
  return make_float4(first.x, first.y, second.x, second.y);
}
#undef HEDDLE_RANDOM_
#include "heddle/cuda_unfused_end.h"
