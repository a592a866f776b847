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

// Counts boards in the form of the warp-size study's program: blocks of 96 threads, a board per thread; each row's
// masks stand in the scratchpad, a thread's rows beside each other; the block adds up what its threads found.
constexpr unsigned kBoards = 96;  // per block
constexpr unsigned kDepth = 10;   // rows to be filled at most

extern "C" __global__ void __launch_bounds__(96)
    count_by_blocks(const uint4* __restrict__ items, unsigned* __restrict__ solutions, unsigned count, unsigned n,
                    int rows) {
  __shared__ unsigned columns[kBoards * kDepth];
  __shared__ unsigned left[kBoards * kDepth];
  __shared__ unsigned right[kBoards * kDepth];
  __shared__ unsigned untried[kBoards * kDepth];
  __shared__ unsigned sums[kBoards];
  const unsigned t = threadIdx.x;
  const unsigned item = blockIdx.x * kBoards + t;
  unsigned found = 0;
  if (item < count) {
    const unsigned full = (1U << n) - 1;
    const uint4 board = items[item];
    const unsigned bottom = t * kDepth;
    columns[bottom] = board.x;
    left[bottom] = board.y;
    right[bottom] = board.z >> n;
    untried[bottom] = full & ~(board.x | board.y | (board.z >> n));
    int row = 0;
    while (row >= 0) {
      const unsigned top = bottom + row;
      const unsigned open = untried[top];
      const unsigned place = open & (0U - open);
      if (open == 0) {
        --row;
      } else if (row + 1 == rows) {
        untried[top] = open ^ place;
        ++found;
      } else {
        untried[top] = open ^ place;
        const unsigned below = columns[top] | place;
        const unsigned below_left = (left[top] | place) << 1;
        const unsigned below_right = (right[top] | place) >> 1;
        columns[top + 1] = below;
        left[top + 1] = below_left;
        right[top + 1] = below_right;
        untried[top + 1] = full & ~(below | below_left | below_right);
        ++row;
      }
    }
  }
  sums[t] = found;
  __syncthreads();
  if (t < 32) {
    sums[t] += sums[t + 64];
  }
  __syncthreads();
  for (unsigned step = 32; step > 0; step /= 2) {
    if (t < step) {
      sums[t] += sums[t + step];
    }
    __syncthreads();
  }
  if (t == 0) {
    solutions[blockIdx.x] = sums[0];
  }
}
