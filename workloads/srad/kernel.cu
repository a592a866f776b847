// Speckle-reducing anisotropic diffusion, as Rodinia's srad_v2 has it: two launches per step. A block of 16 x 16
// threads brings its tile of the image into the scratchpad, and what lies beyond it on each side: the row above and
// that below, which each row of threads reads anew, and the columns before and behind, each as often as the tile is
// wide.
constexpr int kTile = 16;
constexpr int kLast = kTile - 1;

using Tile = float[kTile][kTile];

struct Around {
  float north, south, west, east;
};

// Where a thread's neighbours stand: within the tile, or beyond an edge or a corner of it.
__device__ inline Around around(const Tile& tile, const Tile& above, const Tile& below, const Tile& before,
                                const Tile& behind, int tx, int ty) {
  if (ty == 0 && tx == 0) {
    return {above[ty][tx], tile[ty + 1][tx], before[ty][tx], tile[ty][tx + 1]};
  }
  if (ty == 0 && tx == kLast) {
    return {above[ty][tx], tile[ty + 1][tx], tile[ty][tx - 1], behind[ty][tx]};
  }
  if (ty == kLast && tx == kLast) {
    return {tile[ty - 1][tx], below[ty][tx], tile[ty][tx - 1], behind[ty][tx]};
  }
  if (ty == kLast && tx == 0) {
    return {tile[ty - 1][tx], below[ty][tx], before[ty][tx], tile[ty][tx + 1]};
  }
  if (ty == 0) {
    return {above[ty][tx], tile[ty + 1][tx], tile[ty][tx - 1], tile[ty][tx + 1]};
  }
  if (tx == kLast) {
    return {tile[ty - 1][tx], tile[ty + 1][tx], tile[ty][tx - 1], behind[ty][tx]};
  }
  if (ty == kLast) {
    return {tile[ty - 1][tx], below[ty][tx], tile[ty][tx - 1], tile[ty][tx + 1]};
  }
  if (tx == 0) {
    return {tile[ty - 1][tx], tile[ty + 1][tx], before[ty][tx], tile[ty][tx + 1]};
  }
  return {tile[ty - 1][tx], tile[ty + 1][tx], tile[ty][tx - 1], tile[ty][tx + 1]};
}

// image: side x side, side a multiple of 16. differences: of a cell to its neighbours in the north, south, west and
// east, one array after the other. spread: the coefficient of a cell. threshold: the speckles' scale. At the image's
// edge the edge counts once more.
extern "C" __global__ void __launch_bounds__(256)
    find_spread(const float* __restrict__ image, float* __restrict__ differences, float* __restrict__ spread, int side,
                float threshold) {
  __shared__ Tile tile;
  __shared__ Tile result;
  __shared__ Tile above;
  __shared__ Tile below;
  __shared__ Tile before;
  __shared__ Tile behind;
  const int tx = static_cast<int>(threadIdx.x);
  const int ty = static_cast<int>(threadIdx.y);
  const int corner = static_cast<int>(blockIdx.y) * kTile * side + static_cast<int>(blockIdx.x) * kTile;
  const int at = corner + ty * side + tx;
  above[ty][tx] = image[corner + (blockIdx.y == 0 ? 0 : -side) + tx];
  below[ty][tx] = image[corner + (blockIdx.y == gridDim.y - 1 ? kLast : kTile) * side + tx];
  __syncthreads();
  before[ty][tx] = image[corner + ty * side - (blockIdx.x == 0 ? 0 : 1)];
  behind[ty][tx] = image[corner + ty * side + (blockIdx.x == gridDim.x - 1 ? kLast : kTile)];
  __syncthreads();
  tile[ty][tx] = image[at];
  __syncthreads();
  const float here = tile[ty][tx];
  const Around next = around(tile, above, below, before, behind, tx, ty);
  const float north = next.north - here;
  const float south = next.south - here;
  const float west = next.west - here;
  const float east = next.east - here;
  const float gradient = (north * north + south * south + west * west + east * east) / (here * here);
  const float laplacian = (north + south + west + east) / here;
  const float numerator = 0.5f * gradient - 0.0625f * (laplacian * laplacian);
  const float denominator = 1.0f + 0.25f * laplacian;
  const float variation = numerator / (denominator * denominator);
  const float coefficient = 1.0f / (1.0f + (variation - threshold) / (threshold * (1.0f + threshold)));
  if (coefficient < 0.0f) {
    result[ty][tx] = 0.0f;
  } else if (coefficient > 1.0f) {
    result[ty][tx] = 1.0f;
  } else {
    result[ty][tx] = coefficient;
  }
  __syncthreads();
  const int cells = side * side;
  spread[at] = result[ty][tx];
  differences[3 * cells + at] = east;
  differences[2 * cells + at] = west;
  differences[cells + at] = south;
  differences[at] = north;
}

extern "C" __global__ void __launch_bounds__(256)
    diffuse(float* __restrict__ image, const float* __restrict__ differences, const float* __restrict__ spread,
            int side, float rate) {
  __shared__ Tile tile;
  __shared__ Tile result;
  __shared__ Tile below;
  __shared__ Tile behind;
  __shared__ Tile cell;
  const int tx = static_cast<int>(threadIdx.x);
  const int ty = static_cast<int>(threadIdx.y);
  const int corner = static_cast<int>(blockIdx.y) * kTile * side + static_cast<int>(blockIdx.x) * kTile;
  const int at = corner + ty * side + tx;
  cell[ty][tx] = image[at];
  __syncthreads();
  below[ty][tx] = spread[corner + (blockIdx.y == gridDim.y - 1 ? kLast : kTile) * side + tx];
  __syncthreads();
  behind[ty][tx] = spread[corner + ty * side + (blockIdx.x == gridDim.x - 1 ? kLast : kTile)];
  __syncthreads();
  tile[ty][tx] = spread[at];
  __syncthreads();
  const float here = tile[ty][tx];
  float south;
  float east;
  if (ty == kLast && tx == kLast) {
    south = below[ty][tx];
    east = behind[ty][tx];
  } else if (tx == kLast) {
    south = tile[ty + 1][tx];
    east = behind[ty][tx];
  } else if (ty == kLast) {
    south = below[ty][tx];
    east = tile[ty][tx + 1];
  } else {
    south = tile[ty + 1][tx];
    east = tile[ty][tx + 1];
  }
  const int cells = side * side;
  const float flow = here * differences[at] + south * differences[cells + at] + here * differences[2 * cells + at] +
                     east * differences[3 * cells + at];
  result[ty][tx] = cell[ty][tx] + 0.25f * rate * flow;
  __syncthreads();
  image[at] = result[ty][tx];
}
