// Needleman-Wunsch: the scores of all prefixes' alignments, one launch per anti-diagonal of 16 x 16 tiles. Tiles of one
// anti-diagonal do not need each other. A tile belongs to 16 threads, one per column; a block holds 16 tiles. Its cells
// stand in the scratchpad, where a wave runs over the tile's own anti-diagonals.
constexpr unsigned kSide = 16;
constexpr unsigned kTiles = 16;  // per block
// A step of the wave touches words kPitch - 1 apart, an odd number, so that 16 threads use 16 banks; tiles start half
// of the banks apart, so that the two tiles of a warp use different ones.
constexpr unsigned kPitch = 18;
constexpr unsigned kTileWords = (kSide + 1) * kPitch + 30;
static_assert(kTileWords % 32 == 16, "two tiles of a warp share no banks");

constexpr int kMatch = 5;
constexpr int kMismatch = -4;
constexpr int kGap = -10;

// scores: the cell of two empty prefixes; a row of cells is `pitch` words long. row, column: the tile of the diagonal's
// lower left end, in tiles. tiles: how many lie on the diagonal, each one up and to the right of the one before.
extern "C" __global__ void __launch_bounds__(256)
    align(const unsigned char* __restrict__ down, const unsigned char* __restrict__ across, int* __restrict__ scores,
          unsigned pitch, unsigned row, unsigned column, unsigned tiles) {
  __shared__ int cells[kTiles * kTileWords];
  __shared__ unsigned char letters[kTiles * kSide];
  const unsigned x = threadIdx.x;
  const unsigned tile = blockIdx.x * kTiles + threadIdx.y;
  const bool used = tile < tiles;
  int* const cell = cells + threadIdx.y * kTileWords;
  unsigned char* const down_letters = letters + threadIdx.y * kSide;
  const unsigned first_row = (row - tile) * kSide;
  const unsigned first_column = (column + tile) * kSide;
  int* const corner = scores + first_row * pitch + first_column;  // above and to the left of the tile
  unsigned letter = 0;
  if (used) {
    letter = across[first_column + x];
    down_letters[x] = down[first_row + x];
    cell[x + 1] = corner[x + 1];
    cell[(x + 1) * kPitch] = corner[(x + 1) * pitch];
    if (x == 0) {
      cell[0] = corner[0];
    }
  }
  __syncthreads();
  for (unsigned step = 0; step < 2 * kSide - 1; ++step) {
    const unsigned y = step - x;
    if (used && y < kSide) {
      int* const up_left = cell + y * kPitch + x;
      const int diagonal = up_left[0] + (down_letters[y] == letter ? kMatch : kMismatch);
      const int gap = max(up_left[1], up_left[kPitch]) + kGap;
      up_left[kPitch + 1] = max(diagonal, gap);
    }
    __syncthreads();
  }
  if (used) {
    for (unsigned y = 1; y <= kSide; ++y) {
      corner[y * pitch + x + 1] = cell[y * kPitch + x + 1];
    }
  }
}

// The scores with a block of 16 threads for each tile, as Rodinia's nw has it: warps of more threads are not full.
extern "C" __global__ void __launch_bounds__(16)
    align_tile(const unsigned char* __restrict__ down, const unsigned char* __restrict__ across,
               int* __restrict__ scores, unsigned pitch, unsigned row, unsigned column) {
  __shared__ int cells[(kSide + 1) * (kSide + 1)];
  __shared__ unsigned char down_letters[kSide];
  const unsigned x = threadIdx.x;
  const unsigned first_row = (row - blockIdx.x) * kSide;
  const unsigned first_column = (column + blockIdx.x) * kSide;
  int* const corner = scores + first_row * pitch + first_column;
  const unsigned letter = across[first_column + x];
  down_letters[x] = down[first_row + x];
  cells[x + 1] = corner[x + 1];
  cells[(x + 1) * (kSide + 1)] = corner[(x + 1) * pitch];
  if (x == 0) {
    cells[0] = corner[0];
  }
  __syncthreads();
  for (unsigned step = 0; step < 2 * kSide - 1; ++step) {
    const unsigned y = step - x;
    if (y < kSide) {
      int* const up_left = cells + y * (kSide + 1) + x;
      const int diagonal = up_left[0] + (down_letters[y] == letter ? kMatch : kMismatch);
      const int gap = max(up_left[1], up_left[kSide + 1]) + kGap;
      up_left[kSide + 2] = max(diagonal, gap);
    }
    __syncthreads();
  }
  for (unsigned y = 1; y <= kSide; ++y) {
    corner[y * pitch + x + 1] = cells[y * (kSide + 1) + x + 1];
  }
}
