// c = a * b for n x n integer matrices, n a multiple of 16: a block of 16 x 16 threads makes a tile of c from tiles of
// a and b that it brings into the scratchpad. Also for rectangles of floats.
#ifndef HEDDLE_PROGRESS  // progress.cu has one that counts
#define HEDDLE_PROGRESS()
#endif

constexpr unsigned kTile = 16;

extern "C" __global__ void __launch_bounds__(256)
    matrixmult(const unsigned* __restrict__ a, const unsigned* __restrict__ b, unsigned* __restrict__ c, unsigned n) {
  __shared__ unsigned tile_a[kTile][kTile];
  __shared__ unsigned tile_b[kTile][kTile];
  const unsigned x = threadIdx.x;
  const unsigned y = threadIdx.y;
  const unsigned row = blockIdx.y * kTile + y;
  const unsigned column = blockIdx.x * kTile + x;
  const unsigned* from_a = a + row * n + x;
  const unsigned* from_b = b + y * n + column;
  unsigned sum = 0;
  for (unsigned done = 0; done < n; done += kTile) {
    tile_a[y][x] = *from_a;
    tile_b[y][x] = *from_b;
    from_a += kTile;
    from_b += kTile * n;
    HEDDLE_PROGRESS();
    __syncthreads();
#pragma unroll 4
    for (unsigned k = 0; k < kTile; ++k) {
      sum += tile_a[y][k] * tile_b[k][x];
    }
    HEDDLE_PROGRESS();
    __syncthreads();
  }
  c[row * n + column] = sum;
}

// c = a * b for matrices whose sides are multiples of 16: a is of `inner` columns, b and c of `columns`.
extern "C" __global__ void __launch_bounds__(256)
    multiply_rectangles(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, unsigned inner,
                        unsigned columns) {
  __shared__ float tile_a[kTile][kTile];
  __shared__ float tile_b[kTile][kTile];
  const unsigned x = threadIdx.x;
  const unsigned y = threadIdx.y;
  const unsigned row = blockIdx.y * kTile + y;
  const unsigned column = blockIdx.x * kTile + x;
  float sum = 0;
  for (unsigned done = 0; done < inner; done += kTile) {
    tile_a[y][x] = a[row * inner + done + x];
    tile_b[y][x] = b[(done + y) * columns + column];
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < kTile; ++k) {
      sum += tile_a[y][k] * tile_b[k][x];
    }
    __syncthreads();
  }
  c[row * columns + column] = sum;
}
