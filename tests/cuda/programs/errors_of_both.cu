// A check of errors that host and device code share, and a variable that is managed by a macro's word.
#include <cstdio>
#define MANAGED __managed__
#define check(answer) assert_of((answer), __LINE__)

MANAGED __device__ int total;

__host__ __device__ inline void assert_of(cudaError_t code, int line) {
  if (code != cudaSuccess) {
    printf("line %d: %s, %s\n", line, cudaGetErrorName(code), cudaGetErrorString(code));
  }
}

__global__ void count() {
  atomicAdd(&total, 1);
  check(cudaGetLastError());
  check(cudaPeekAtLastError());
  if (threadIdx.x == 3) {
    check(cudaErrorInvalidValue);
    check(static_cast<cudaError_t>(12345));
  }
}

int main() {
  total = 5;
  count<<<1, 32>>>();
  check(cudaDeviceSynchronize());
  check(cudaErrorInvalidValue);
  printf("%d\n", total);
}
