// c = a + b over n floats; each thread takes every (number of threads)-th element.
extern "C" __global__ void __launch_bounds__(256)
    vecadd(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, unsigned n) {
  const unsigned stride = gridDim.x * blockDim.x;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
    c[i] = a[i] + b[i];
  }
}
