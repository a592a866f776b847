// Pthreads form of needleman: the cells of an anti-diagonal do not need each other. The threads take them in turn and
// meet at a barrier before the next one. The matrix is stored by anti-diagonals, so that neighbouring threads have
// neighbouring words, as programs optimised for GPUs do (report section 5): by rows, the cells of an anti-diagonal lie
// in a line each, and units that are idle for 20 to 40 % of the time only (table 2) could not be.
#include "workloads/pthreads.h"

constexpr int kMatch = 5;
constexpr int kMismatch = -4;
constexpr int kGap = -10;

// down, across: `length` letters, a byte each. scores: the cell of the first i letters of `down` and the first j of
// `across` is word (i + j) * (length + 1) + i; words with i = 0 or j = 0 stand ready.
extern "C" __global__ void __launch_bounds__(1024)
    needleman(const unsigned char* down, const unsigned char* across, int* scores, unsigned length, unsigned threads) {
  const unsigned pitch = length + 1;
  for (unsigned diagonal = 2; diagonal <= 2 * length; ++diagonal) {
    int* const cells = scores + diagonal * pitch;
    const int* const before = cells - pitch;
    const int* const two_before = before - pitch;
    const unsigned first = diagonal > length ? diagonal - length : 1;
    const unsigned last = min(length, diagonal - 1);
    for (unsigned i = first + threadIdx.x; i <= last; i += threads) {
      const int pair = two_before[i - 1] + (down[i - 1] == across[diagonal - i - 1] ? kMatch : kMismatch);
      cells[i] = max(pair, max(before[i - 1], before[i]) + kGap);
    }
    __syncthreads();
  }
}
