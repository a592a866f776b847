// Solutions of the n-queens problem, n up to 16, by depth-first search. A work item is a board whose first rows are
// filled; a thread searches every (number of threads)-th item with a stack of its own in the scratchpad: one word per
// row, low half the untried places, high half the chosen one. Words of one row lie side by side, so that the threads of
// a warp use different banks.
constexpr unsigned kBlock = 256;
constexpr unsigned kRows = 16;

extern "C" __global__ void __launch_bounds__(256)
    nqueens(const uint4* __restrict__ items, unsigned* __restrict__ solutions, unsigned count, unsigned n,
            unsigned rows) {
  __shared__ unsigned stack[kRows * kBlock];
  const unsigned full = (1U << n) - 1;
  const unsigned stride = gridDim.x * blockDim.x;
  const unsigned first = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned* const bottom = stack + threadIdx.x;
  unsigned* const last = bottom + (rows - 1) * kBlock;
  unsigned found = 0;
  for (unsigned item = first; item < count; item += stride) {
    const uint4 board = items[item];
    unsigned columns = board.x;
    // Diagonals keep the bits that leave the board, so that a step back undoes a step forward: left ones grow past bit
    // n, right ones stand n bits higher and fall below.
    unsigned left = board.y;
    unsigned right = board.z;
    unsigned* top = bottom;
    unsigned untried = full & ~(columns | left | (right >> n));
    while (true) {
      if (untried != 0) {
        const unsigned place = untried & (0U - untried);
        untried ^= place;
        if (top == last) {
          ++found;
        } else {
          *top = untried | (place << 16);
          top += kBlock;
          columns |= place;
          left = (left | place) << 1;
          right = (right | (place << n)) >> 1;
          untried = full & ~(columns | left | (right >> n));
        }
      } else {
        if (top == bottom) {
          break;
        }
        top -= kBlock;
        const unsigned saved = *top;
        const unsigned place = saved >> 16;
        untried = saved & 0xffffU;
        columns ^= place;
        left = (left >> 1) ^ place;
        right = (right << 1) ^ (place << n);
      }
    }
  }
  solutions[first] = found;
}
