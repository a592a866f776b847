// Which of its device code a program runs, and what it finds of the device.
#include <cstdio>

__device__ int of_file() {
#if __CUDA_ARCH__ >= 800
  return 8;
#elif __CUDA_ARCH__ >= 700
  return 7;
#else
  return 6;
#endif
}

__global__ void tell(int* out) {
  *out = of_file();
}

int main() {
  int* code = nullptr;
  cudaMallocManaged(&code, sizeof *code);
  tell<<<1, 1>>>(code);
  cudaDeviceSynchronize();
  cudaDeviceProp device;
  cudaGetDeviceProperties(&device, 0);
  int minor = -1;
  cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0);
  cudaFuncAttributes kernel;
  cudaFuncGetAttributes(&kernel, tell);
  std::printf("device %d.%d, code %d, PTX %d, binary %d\n", device.major, minor, *code, kernel.ptxVersion,
              kernel.binaryVersion);
}
