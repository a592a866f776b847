// Speckle-reducing anisotropic diffusion, as Rodinia's srad_v1 has it: the image's cells in blocks of 512 threads,
// which read from lists who a cell's neighbours are; sums of the cells by trees in the scratchpad.
constexpr unsigned kThreads = 512;

// parts[0..blocks): sums of the cells of each block; parts[blocks..2 blocks): of their squares.
extern "C" __global__ void __launch_bounds__(512)
    sum_cells(const float* __restrict__ image, float* __restrict__ parts, unsigned cells) {
  __shared__ float sums[kThreads];
  __shared__ float squares[kThreads];
  const unsigned thread = threadIdx.x;
  const unsigned at = blockIdx.x * kThreads + thread;
  const float cell = at < cells ? image[at] : 0;
  sums[thread] = cell;
  squares[thread] = cell * cell;
  for (unsigned step = 2; step <= kThreads; step *= 2) {
    __syncthreads();
    if ((thread + 1) % step == 0) {
      sums[thread] += sums[thread - step / 2];
      squares[thread] += squares[thread - step / 2];
    }
  }
  if (thread == kThreads - 1) {
    parts[blockIdx.x] = sums[thread];
    parts[gridDim.x + blockIdx.x] = squares[thread];
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
