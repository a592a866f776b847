// The cheapest ways through a grid of costs, row by row: to the cell below, or to one beside that. A block takes 256
// columns `rows` rows further in the scratchpad; with each row the outermost column of either side is no longer right,
// so that blocks overlap by twice `halo` columns and store the middle.
constexpr int kBlock = 256;

// wall: the costs of the rows to come, `columns` to a row; source: the ways' costs so far, target: costs after them.
extern "C" __global__ void __launch_bounds__(256)
    pathfinder(const int* __restrict__ wall, const int* __restrict__ source, int* __restrict__ target, int columns,
               int rows, int halo) {
  __shared__ int before[kBlock];
  __shared__ int after[kBlock];
  const int thread = static_cast<int>(threadIdx.x);
  const int inner = kBlock - 2 * halo;
  const int column = static_cast<int>(blockIdx.x) * inner - halo + thread;
  const bool inside = column >= 0 && column < columns;
  // Beyond the grid's edge the edge counts once more.
  const int west = column > 0 ? thread - 1 : thread;
  const int east = column < columns - 1 ? thread + 1 : thread;
  if (inside) {
    before[thread] = source[column];
  }
  __syncthreads();
  bool computed = false;
  for (int row = 0; row < rows; ++row) {
    computed = inside && thread > row && thread < kBlock - 1 - row;
    if (computed) {
      const int least = min(before[thread], min(before[west], before[east]));
      after[thread] = least + wall[row * columns + column];
    }
    __syncthreads();
    if (row == rows - 1) {
      break;
    }
    if (computed) {
      before[thread] = after[thread];
    }
    __syncthreads();
  }
  if (computed && thread >= halo && thread < kBlock - halo) {
    target[column] = after[thread];
  }
}
