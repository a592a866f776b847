// Speckle-reducing anisotropic diffusion, as Rodinia's srad_v1 has it: the image's cells in blocks of 512 threads,
// which read from lists who a cell's neighbours are; sums of the cells by levels of trees in the scratchpad, over a
// copy.
constexpr unsigned kThreads = 512;

// Copies of the cells and their squares, to be summed up.
extern "C" __global__ void __launch_bounds__(512)
    prepare(const float* __restrict__ image, float* __restrict__ sums, float* __restrict__ squares, unsigned cells) {
  const unsigned at = blockIdx.x * kThreads + threadIdx.x;
  if (at < cells) {
    sums[at] = image[at];
    squares[at] = image[at] * image[at];
  }
}

// A level of the sums: of `count` numbers, `apart` from each other, a block's 512 are added up where its first one
// stands.
extern "C" __global__ void __launch_bounds__(512)
    reduce(float* __restrict__ sums, float* __restrict__ squares, unsigned count, unsigned apart) {
  __shared__ float sum[kThreads];
  __shared__ float square[kThreads];
  const unsigned thread = threadIdx.x;
  const unsigned at = blockIdx.x * kThreads + thread;
  sum[thread] = at < count ? sums[at * apart] : 0;
  square[thread] = at < count ? squares[at * apart] : 0;
  __syncthreads();
  for (unsigned step = 2; step <= kThreads; step *= 2) {
    if ((thread + 1) % step == 0) {
      sum[thread] += sum[thread - step / 2];
      square[thread] += square[thread - step / 2];
    }
    __syncthreads();
  }
  if (thread == kThreads - 1) {
    sums[blockIdx.x * kThreads * apart] = sum[thread];
    squares[blockIdx.x * kThreads * apart] = square[thread];
  }
}

// The image is stored column by column, `rows` to a column. above, below: of each row its neighbours; left, right: of
// each column.
extern "C" __global__ void __launch_bounds__(512)
    find_spread(const float* __restrict__ image, float* __restrict__ differences, float* __restrict__ spread,
                const int* __restrict__ above, const int* __restrict__ below, const int* __restrict__ left,
                const int* __restrict__ right, unsigned rows, unsigned cells, float threshold) {
  const unsigned at = blockIdx.x * kThreads + threadIdx.x;
  if (at >= cells) {
    return;
  }
  const unsigned column = at / rows;
  const unsigned row = at % rows;
  const float here = image[at];
  const float north = image[above[row] + rows * column] - here;
  const float south = image[below[row] + rows * column] - here;
  const float west = image[row + rows * left[column]] - here;
  const float east = image[row + rows * right[column]] - here;
  const float gradient = (north * north + south * south + west * west + east * east) / (here * here);
  const float laplacian = (north + south + west + east) / here;
  const float numerator = 0.5f * gradient - 0.0625f * (laplacian * laplacian);
  const float denominator = 1.0f + 0.25f * laplacian;
  const float variation = numerator / (denominator * denominator);
  float coefficient = 1.0f / (1.0f + (variation - threshold) / (threshold * (1.0f + threshold)));
  if (coefficient < 0) {
    coefficient = 0;
  } else if (coefficient > 1) {
    coefficient = 1;
  }
  differences[at] = north;
  differences[cells + at] = south;
  differences[2 * cells + at] = west;
  differences[3 * cells + at] = east;
  spread[at] = coefficient;
}

extern "C" __global__ void __launch_bounds__(512)
    diffuse(float* __restrict__ image, const float* __restrict__ differences, const float* __restrict__ spread,
            const int* __restrict__ below, const int* __restrict__ right, unsigned rows, unsigned cells, float rate) {
  const unsigned at = blockIdx.x * kThreads + threadIdx.x;
  if (at >= cells) {
    return;
  }
  const unsigned column = at / rows;
  const unsigned row = at % rows;
  const float here = spread[at];
  const float south = spread[below[row] + rows * column];
  const float east = spread[row + rows * right[column]];
  const float flow = here * differences[at] + south * differences[cells + at] + here * differences[2 * cells + at] +
                     east * differences[3 * cells + at];
  image[at] += 0.25f * rate * flow;
}
