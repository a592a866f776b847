// How often each of the 128 ASCII characters occurs. Every thread counts in a histogram of its own in the scratchpad,
// one byte per bin (the machine's 128 bytes per thread), so that no two threads share a counter; a thread must count at
// most 255 characters. A block adds its threads' histograms, a second kernel the blocks' histograms.
#ifndef HEDDLE_PROGRESS  // progress.cu has one that counts
#define HEDDLE_PROGRESS()
#endif

constexpr unsigned kBlock = 256;
constexpr unsigned kBins = 128;
constexpr unsigned kRow = kBlock / 4;  // words of one bin: a byte per thread

// text: `words` words of four characters each. partial: gridDim.x histograms, one per block.
extern "C" __global__ void __launch_bounds__(256)
    count(const unsigned* __restrict__ text, unsigned* __restrict__ partial, unsigned words) {
  __shared__ unsigned counters[kBins * kRow];
  const unsigned thread = threadIdx.x;
  for (unsigned i = thread; i < kBins * kRow; i += kBlock) {
    counters[i] = 0;
  }
  __syncthreads();
  // The threads of a warp use different words of a bin, hence different banks, whatever characters they have; the same
  // byte of a word belongs to one warp.
  const unsigned lane = thread % 32;
  const unsigned warp = thread / 32;
  unsigned char* const mine = reinterpret_cast<unsigned char*>(counters) + (warp / 4 * 32 + lane) * 4 + warp % 4;
  // A character c counts in row c of kBlock bytes: at mine[c << 8].
  constexpr unsigned kMask = (kBins - 1) * kBlock;
  const unsigned stride = gridDim.x * kBlock;
  for (unsigned i = blockIdx.x * kBlock + thread; i < words; i += stride) {
    const unsigned four = text[i];
    ++mine[(four << 8) & kMask];
    ++mine[four & kMask];
    ++mine[(four >> 8) & kMask];
    ++mine[(four >> 16) & kMask];
    HEDDLE_PROGRESS();
  }
  __syncthreads();
  // Two threads per bin, each adds 128 bytes; they start at different words for different banks. Sums of the even and
  // of the odd bytes grow in the two halves of a word, to at most 32 * 2 * 255 each.
  const unsigned* const row = counters + thread % kBins * kRow + thread / kBins * 32;
  unsigned pairs = 0;
  for (unsigned k = 0; k < 32; ++k) {
    const unsigned word = row[(thread + k) % 32];
    pairs += (word & 0xff00ffU) + ((word >> 8) & 0xff00ffU);
  }
  __syncthreads();
  counters[thread] = (pairs & 0xffffU) + (pairs >> 16);
  __syncthreads();
  if (thread < kBins) {
    partial[blockIdx.x * kBins + thread] = counters[thread] + counters[thread + kBins];
  }
}

// counts[c] = sum of bin c of `histograms` partial ones. A block has 32 bins, so that a warp reads a line at a time.
extern "C" __global__ void __launch_bounds__(256)
    merge(const unsigned* __restrict__ partial, unsigned* __restrict__ counts, unsigned histograms) {
  __shared__ unsigned sums[kBlock];
  const unsigned thread = threadIdx.x;
  const unsigned bin = blockIdx.x * 32 + thread % 32;
  unsigned sum = 0;
  for (unsigned i = thread / 32; i < histograms; i += kBlock / 32) {
    sum += partial[i * kBins + bin];
  }
  sums[thread] = sum;
  __syncthreads();
  for (unsigned half = kBlock / 2; half >= 32; half /= 2) {
    if (thread < half) {
      sums[thread] += sums[thread + half];
    }
    __syncthreads();
  }
  if (thread < 32) {
    counts[bin] = sums[thread];
  }
}
