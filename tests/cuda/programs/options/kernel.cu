// Prices of options in double precision; device functions of another file, and the device that is chosen.
#include "check.h"
#include "kernel.h"

static __device__ double normal(double x) {
  return 0.5 * erfc(-x * 0.70710678118654752440);
}
static __global__ void price(const double* strikes, double* prices, int n, double spot, double rate, double volatility,
                             double years) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double deviation = volatility * sqrt(years);
  const double d1 = (log(spot / strikes[i]) + (rate + 0.5 * volatility * volatility) * years) / deviation;
  prices[i] = spot * normal(d1) - strikes[i] * exp(-rate * years) * normal(d1 - deviation);
}

float price_all(const double* strikes, double* prices, int n) {
  cudaDeviceProp wanted = {}, has;
  int device = -1, count = 0;
  wanted.major = 2;
  CHECK(cudaGetDeviceCount(&count));
  CHECK(cudaChooseDevice(&device, &wanted));
  CHECK(cudaSetDevice(device));
  CHECK(cudaGetDeviceProperties(&has, device));
  std::printf("%d device(s), %s\n", count, has.name);
  double *from, *to;
  CHECK(cudaMalloc(&from, n * sizeof(double)));
  CHECK(cudaMalloc(&to, n * sizeof(double)));
  CHECK(cudaMemcpy(from, strikes, n * sizeof(double), cudaMemcpyHostToDevice));
  Timer timer;
  price<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(from, to, n, 100, 0.02, 0.3, 1);
  const float milliseconds = timer.stop();
  CHECK(cudaMemcpy(prices, to, n * sizeof(double), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(from));
  CHECK(cudaFree(to));
  return milliseconds;
}
