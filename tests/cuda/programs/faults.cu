#include <cassert>
#include <cstdio>
__global__ void bad(int* p, int n) {
  int i = threadIdx.x;
  p[i * 1000] = i;
}
__global__ void check(int n) {
  assert(n < 7);
}
int main(int argc, char**) {
  int* p;
  cudaMalloc(&p, 64 * 4);
  bad<<<1, 0>>>(p, 1);
  printf("launch: %s\n", cudaGetErrorString(cudaGetLastError()));
  printf("copy: %s\n", cudaGetErrorName(cudaMemcpy(p, &argc, 400, cudaMemcpyHostToDevice)));
  if (argc > 1)
    check<<<1, 4>>>(9);
  else
    bad<<<1, 4>>>(p, 1);
  printf("after: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
