static __global__ void twin(int* p) {
  *p = 2;
}
__device__ int value;
int other() {
  int* p;
  void* v;
  cudaMalloc((void**)&p, 4);
  twin<<<1, 1>>>(p);
  int r = 0;
  cudaMemcpy(&r, p, 4, cudaMemcpyDeviceToHost);
  cudaFree(p);
  return r;
}
