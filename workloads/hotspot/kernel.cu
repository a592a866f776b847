// Temperatures of a chip: each step, a cell's heat flows to its four neighbours and to the package. A block of 16 x 16
// threads brings a tile of 16 x 16 cells into the scratchpad and takes kSteps steps there. With each step the outermost
// ring that is still right falls away for want of neighbours (a pyramid), which leaves 12 x 12 cells to be stored;
// tiles overlap by the rest.
constexpr int kSide = 16;
constexpr int kSteps = 2;
constexpr int kInner = kSide - 2 * kSteps;

// power in W; temperatures in K; side: cells of a row and of a column. The rest says how much of something becomes a
// cell's change of temperature in a step: of its power (K/W), of the difference to a neighbour (the cells are square),
// of the difference to the ambient temperature.
extern "C" __global__ void __launch_bounds__(256)
    hotspot(const float* __restrict__ power, const float* __restrict__ source, float* __restrict__ target, int side,
            float by_power, float by_neighbour, float by_ambient, float ambient) {
  __shared__ float tile[kSide][kSide];
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int x = static_cast<int>(blockIdx.x) * kInner - kSteps + tx;
  const int y = static_cast<int>(blockIdx.y) * kInner - kSteps + ty;
  const bool inside = x >= 0 && x < side && y >= 0 && y < side;
  const int index = y * side + x;
  // The cell is right for so many steps: how far it is from the tile's edge.
  const int lasts = inside ? min(min(tx, kSide - 1 - tx), min(ty, kSide - 1 - ty)) : 0;
  float gain = 0;  // of every step: by the cell's power, and from the package were the cell at 0 K
  if (inside) {
    tile[ty][tx] = source[index];
    gain = power[index] * by_power + ambient * by_ambient;
  }
  __syncthreads();
  // Beyond the chip's edge a cell is its own neighbour: no heat flows.
  const int west = x > 0 ? tx - 1 : tx;
  const int east = x < side - 1 ? tx + 1 : tx;
  const int north = y > 0 ? ty - 1 : ty;
  const int south = y < side - 1 ? ty + 1 : ty;
  for (int step = 1; step <= kSteps; ++step) {
    float next = 0;
    if (step <= lasts) {
      const float now = tile[ty][tx];
      const float around = tile[north][tx] + tile[south][tx] + tile[ty][west] + tile[ty][east];
      next = now + (gain + (around - 4.0f * now) * by_neighbour - now * by_ambient);
    }
    __syncthreads();
    if (step <= lasts) {
      tile[ty][tx] = next;
    }
    __syncthreads();
  }
  if (lasts >= kSteps) {
    target[index] = tile[ty][tx];
  }
}
