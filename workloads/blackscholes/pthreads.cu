// Pthreads form of blackscholes: a thread takes every (number of threads)-th option. Exponential and logarithm are the
// library's functions in single precision, which are code; square root and division are instructions of an x86
// processor, too. Call and put are computed by a formula each.
#include "workloads/pthreads.h"

// The cumulative normal distribution by the polynomial of Abramowitz and Stegun, 26.2.17: error below 7.5e-8.
__device__ __forceinline__ float cumulative_normal(float x) {
  const float k = 1.0f / (1.0f + 0.2316419f * fabsf(x));
  const float density = 0.39894228040143267794f * expf(-0.5f * x * x);
  const float tail =
      density *
      (k * (0.319381530f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
  return x > 0 ? 1.0f - tail : tail;
}

// As of the usual form (kernel.cu).
extern "C" __global__ void __launch_bounds__(1024)
    blackscholes(const float* price, const float* strike, const float* years, float* call, float* put, float rate,
                 float volatility, unsigned options, unsigned threads) {
  for (unsigned i = threadIdx.x; i < options; i += threads) {
    const float s = price[i];
    const float x = strike[i];
    const float t = years[i];
    const float deviation = volatility * sqrtf(t);
    const float d1 = (logf(s / x) + (rate + 0.5f * volatility * volatility) * t) / deviation;
    const float d2 = d1 - deviation;
    const float normal1 = cumulative_normal(d1);
    const float normal2 = cumulative_normal(d2);
    const float discounted = x * expf(-rate * t);
    call[i] = s * normal1 - discounted * normal2;
    put[i] = discounted * (1.0f - normal2) - s * (1.0f - normal1);
  }
}
