// Speckle-reducing anisotropic diffusion, as Rodinia's srad_v2 has it: two launches per step. A block of 16 x 16
// threads brings its tile of the image into the scratchpad; neighbours in other tiles come from memory.
constexpr int kTile = 16;

// image: side x side, side a multiple of 16. differences: of a cell to its neighbours in the north, south, west and
// east, one array after the other. spread: the coefficient of a cell. threshold: the speckles' scale.
extern "C" __global__ void __launch_bounds__(256)
    find_spread(const float* __restrict__ image, float* __restrict__ differences, float* __restrict__ spread, int side,
                float threshold) {
  __shared__ float tile[kTile][kTile];
  const int tx = static_cast<int>(threadIdx.x);
  const int ty = static_cast<int>(threadIdx.y);
  const int x = static_cast<int>(blockIdx.x) * kTile + tx;
  const int y = static_cast<int>(blockIdx.y) * kTile + ty;
  const int at = y * side + x;
  tile[ty][tx] = image[at];
  __syncthreads();
  const float here = tile[ty][tx];
  // At the image's edge the edge counts once more.
  const float north = (ty > 0 ? tile[ty - 1][tx] : image[y > 0 ? at - side : at]) - here;
  const float south = (ty < kTile - 1 ? tile[ty + 1][tx] : image[y < side - 1 ? at + side : at]) - here;
  const float west = (tx > 0 ? tile[ty][tx - 1] : image[x > 0 ? at - 1 : at]) - here;
  const float east = (tx < kTile - 1 ? tile[ty][tx + 1] : image[x < side - 1 ? at + 1 : at]) - here;
  const float gradient = (north * north + south * south + west * west + east * east) / (here * here);
  const float laplacian = (north + south + west + east) / here;
  const float numerator = 0.5f * gradient - 0.0625f * (laplacian * laplacian);
  const float denominator = 1.0f + 0.25f * laplacian;
  const float variation = numerator / (denominator * denominator);
  const float coefficient = 1.0f / (1.0f + (variation - threshold) / (threshold * (1.0f + threshold)));
  const int cells = side * side;
  differences[at] = north;
  differences[cells + at] = south;
  differences[2 * cells + at] = west;
  differences[3 * cells + at] = east;
  spread[at] = fminf(fmaxf(coefficient, 0.0f), 1.0f);
}

extern "C" __global__ void __launch_bounds__(256)
    diffuse(float* __restrict__ image, const float* __restrict__ differences, const float* __restrict__ spread,
            int side, float rate) {
  __shared__ float tile[kTile][kTile];
  const int tx = static_cast<int>(threadIdx.x);
  const int ty = static_cast<int>(threadIdx.y);
  const int x = static_cast<int>(blockIdx.x) * kTile + tx;
  const int y = static_cast<int>(blockIdx.y) * kTile + ty;
  const int at = y * side + x;
  tile[ty][tx] = spread[at];
  __syncthreads();
  const float here = tile[ty][tx];
  const float south = ty < kTile - 1 ? tile[ty + 1][tx] : spread[y < side - 1 ? at + side : at];
  const float east = tx < kTile - 1 ? tile[ty][tx + 1] : spread[x < side - 1 ? at + 1 : at];
  const int cells = side * side;
  const float flow = here * differences[at] + south * differences[cells + at] + here * differences[2 * cells + at] +
                     east * differences[3 * cells + at];
  image[at] += 0.25f * rate * flow;
}
