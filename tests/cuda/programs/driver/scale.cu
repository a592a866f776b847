// Compiled to PTX, which driver.cpp loads.
extern "C" __constant__ float factor = 1;
extern "C" __device__ int launches = 0;
extern "C" __global__ void scale(float* v, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) v[i] *= factor;
  if (i == 0) ++launches;
}
