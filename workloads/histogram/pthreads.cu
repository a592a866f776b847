// Pthreads form of histogram. A thread counts every (number of threads)-th character in bins of its own, which are
// private data: a byte for each of the 128 ASCII characters fills the papers' 128 bytes of on-chip memory per thread
// (report table 1), as in the histogram of the CUDA SDK, which section 5 names as a source. A byte holds 255: after so
// many characters the thread adds its bins to words in memory, bin by bin, words of neighbouring threads side by side.
// A tree adds the threads' words at the end.
#include "workloads/pthreads.h"

constexpr unsigned kBins = 128;
constexpr unsigned kMostOfByte = 255;

// text: one byte per character, each below 128. totals: kBins * threads words, zero. counts: kBins words.
extern "C" __global__ void __launch_bounds__(1024)
    histogram(const unsigned char* text, unsigned* totals, unsigned* counts, unsigned characters, unsigned threads) {
  __shared__ unsigned char storage[kBins * pthreads::kMostThreads];
  const unsigned id = threadIdx.x;
  const pthreads::Private<unsigned char> bins(storage, id);
  for (unsigned bin = 0; bin < kBins; ++bin) {
    bins[bin] = 0;
  }
  for (unsigned i = id; i < characters;) {
    const unsigned end = min(i + kMostOfByte * threads, characters);
    for (; i < end; i += threads) {
      ++bins[text[i]];
    }
    for (unsigned bin = 0; bin < kBins; ++bin) {
      totals[bin * threads + id] += bins[bin];
      bins[bin] = 0;
    }
  }
  __syncthreads();
  for (unsigned half = threads / 2; half > 0; half /= 2) {
    if (id < half) {
      for (unsigned bin = 0; bin < kBins; ++bin) {
        totals[bin * threads + id] += totals[bin * threads + id + half];
      }
    }
    __syncthreads();
  }
  for (unsigned bin = id; bin < kBins; bin += threads) {
    counts[bin] = totals[bin * threads];
  }
}
