// A kernel for tensor cores.
#include <mma.h>

#include <cstdio>

__global__ void multiply(float* out) {
  nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 16, __half, nvcuda::wmma::row_major> a;
  nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, 16, 16, 16, __half, nvcuda::wmma::col_major> b;
  nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> c;
  nvcuda::wmma::fill_fragment(a, __float2half(1));
  nvcuda::wmma::fill_fragment(b, __float2half(1));
  nvcuda::wmma::fill_fragment(c, 0.0f);
  nvcuda::wmma::mma_sync(c, a, b, c);
  nvcuda::wmma::store_matrix_sync(out, c, 16, nvcuda::wmma::mem_row_major);
}

int main() {
  float* out = nullptr;
  cudaMalloc(&out, 256 * sizeof *out);
  int blocks = 0;
  const cudaError_t occupancy = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, multiply, 128, 0);
  multiply<<<1, 32>>>(out);
  const cudaError_t launch = cudaGetLastError();
  std::printf("occupancy %d, launch %d, after it %d\n", int(occupancy), int(launch), int(cudaDeviceSynchronize()));
}
