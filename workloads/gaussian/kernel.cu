// Gaussian elimination without pivoting, as Rodinia's gaussian has it: two launches per column. Consecutive threads
// take consecutive rows, so that their accesses are a row apart.

// factors: of each row below `column`, by how much row `column` is to be taken off it.
extern "C" __global__ void __launch_bounds__(512)
    find_factors(const float* __restrict__ matrix, float* __restrict__ factors, unsigned size, unsigned column) {
  const unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= size - 1 - column) {
    return;
  }
  const unsigned below = row + column + 1;
  factors[below * size + column] = matrix[below * size + column] / matrix[column * size + column];
}

// Thread (x, y): row x below `column`, column y from `column` on; threads of the first column take the right-hand side
// too.
extern "C" __global__ void __launch_bounds__(16)
    take_off(float* __restrict__ matrix, float* __restrict__ right, const float* __restrict__ factors, unsigned size,
             unsigned column) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= size - 1 - column || y >= size - column) {
    return;
  }
  const unsigned row = x + column + 1;
  const float factor = factors[row * size + column];
  matrix[row * size + y + column] -= factor * matrix[column * size + y + column];
  if (y == 0) {
    right[row] -= factor * right[column];
  }
}
