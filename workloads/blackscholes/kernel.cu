// Prices of European options by the formula of Black and Scholes; each thread takes every (number of threads)-th one.

// The cumulative normal distribution by the polynomial of Abramowitz and Stegun, 26.2.17: error below 7.5e-8. The
// polynomial holds for the tail, so that a positive x is mirrored.
__device__ __forceinline__ float cumulative_normal(float x) {
  const float k = 1.0f / (1.0f + 0.2316419f * fabsf(x));
  const float density = 0.39894228040143267794f * __expf(-0.5f * x * x);
  const float tail =
      density *
      (k * (0.319381530f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
  return x > 0 ? 1.0f - tail : tail;
}

// price: of the share today; strike: of the option; years: until it expires; rate: riskless, per year; volatility: per
// square root of a year.
extern "C" __global__ void __launch_bounds__(256)
    blackscholes(const float* __restrict__ price, const float* __restrict__ strike, const float* __restrict__ years,
                 float* __restrict__ call, float* __restrict__ put, float rate, float volatility, unsigned options) {
  const unsigned stride = gridDim.x * blockDim.x;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < options; i += stride) {
    const float s = price[i];
    const float x = strike[i];
    const float t = years[i];
    const float deviation = volatility * sqrtf(t);
    const float d1 = (__logf(s / x) + (rate + 0.5f * volatility * volatility) * t) / deviation;
    const float d2 = d1 - deviation;
    const float share = s * cumulative_normal(d1);
    const float discounted = x * __expf(-rate * t);
    const float paid = discounted * cumulative_normal(d2);
    // A put is a call that pays the difference to the discounted strike back (put-call parity).
    call[i] = share - paid;
    put[i] = share - paid - s + discounted;
  }
}
