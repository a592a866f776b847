// Of a header beside the program, which the pass over the text reads too.
#define TWICE(pointer, threads) \
  twice << <1, \
            threads >> \
            >(pointer)

template <class T, int step>
__global__ void add(T* p, T value) {
  __device__ __shared__ T held[32];
  held[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  p[threadIdx.x] = held[threadIdx.x] + value * step;
}
