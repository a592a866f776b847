// A kernel called as a function of the host, and then as it should be.
#include <cublas_v2.h>

#include <cstdio>

typedef __nv_bfloat16 number;  // which cuBLAS's header has brought

// What programs for compute capability below 8.0 bring themselves.
__device__ number __ldcs(const number* address) {
  return *address;
}
__global__ void twice(number* out, const number* in) {
  *out = __ldcs(in) + __ldcg(in);
}

int main() {
  number* device = nullptr;
  number host = __float2bfloat16(1.5F);
  cudaMalloc(&device, 2 * sizeof host);
  cudaMemcpy(device + 1, &host, sizeof host, cudaMemcpyHostToDevice);
  void (*const function)(number*, const number*) = twice;
  function(device, device + 1);
  std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
  twice<<<1, 1>>>(device, device + 1);
  cudaMemcpy(&host, device, sizeof host, cudaMemcpyDeviceToHost);
  std::printf("%g %s\n", __bfloat162float(host), cudaGetErrorName(cudaGetLastError()));
}
