// y = a * x + y for n floats, one thread per element.
extern "C" __global__ void saxpy(const float* x, float* y, float a, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = a * x[i] + y[i];
  }
}
