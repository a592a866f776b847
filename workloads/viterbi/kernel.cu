// Viterbi decoding of a convolutional code of rate 1/2 and constraint length 3 (generators 7 and 5 octal), hard
// decisions. A frame is `words` words of 16 received bit pairs; its last two data bits are zeros, which lead the
// encoder back to state 0. Each thread decodes every (number of threads)-th frame.
//
// Words of the same place of all frames lie side by side, so that the accesses of a warp are coalesced. The survivor
// bits, one for each of the four states and step, lie in the scratchpad, eight steps to a word: 128 bytes per thread
// for the longest frame, words of one place side by side.
constexpr unsigned kBlock = 256;
constexpr unsigned kMostSurvivorWords = 32;

// One state's step: the better of two predecessors (the first when equal) and which one it was.
__device__ __forceinline__ unsigned add_compare_select(unsigned first, unsigned second, unsigned& survivors) {
  survivors <<= 1;
  if (second < first) {
    survivors |= 1;
    return second;
  }
  return first;
}

extern "C" __global__ void __launch_bounds__(256)
    viterbi(const unsigned* __restrict__ received, unsigned* __restrict__ decoded, unsigned frames, unsigned words) {
  __shared__ unsigned survivor_words[kMostSurvivorWords * kBlock];
  unsigned* const bottom = survivor_words + threadIdx.x;
  const unsigned stride = gridDim.x * kBlock;
  for (unsigned frame = blockIdx.x * kBlock + threadIdx.x; frame < frames; frame += stride) {
    // State: the last data bit and the one before it. The encoder starts in state 0.
    unsigned metric0 = 0;
    unsigned metric1 = 1U << 16;
    unsigned metric2 = 1U << 16;
    unsigned metric3 = 1U << 16;
    unsigned* top = bottom;
    for (unsigned word = 0; word < words; ++word) {
      unsigned pairs = received[word * frames + frame];
      for (unsigned half = 0; half < 2; ++half) {
        unsigned survivors = 0;
        for (unsigned step = 0; step < 8; ++step) {
          // Bits in which the received pair differs from 00, 11, 10 and 01.
          const unsigned from00 = (pairs & 1U) + ((pairs >> 1) & 1U);
          const unsigned from11 = 2 - from00;
          const unsigned from10 = ((pairs & 1U) ^ 1U) + ((pairs >> 1) & 1U);
          const unsigned from01 = 2 - from10;
          pairs >>= 2;
          // New state 3 comes from 3 or 2 with data bit 1, and so on; a pair is first generator, second generator.
          const unsigned new3 = add_compare_select(metric2 + from01, metric3 + from10, survivors);
          const unsigned new2 = add_compare_select(metric0 + from11, metric1 + from00, survivors);
          const unsigned new1 = add_compare_select(metric2 + from10, metric3 + from01, survivors);
          const unsigned new0 = add_compare_select(metric0 + from00, metric1 + from11, survivors);
          metric0 = new0;
          metric1 = new1;
          metric2 = new2;
          metric3 = new3;
        }
        *top = survivors;
        top += kBlock;
      }
    }
    // Back from state 0: a state's high bit is the data bit that led to it.
    unsigned state = 0;
    for (unsigned word = words / 2; word-- > 0;) {
      unsigned bits = 0;
      for (unsigned quarter = 0; quarter < 4; ++quarter) {
        top -= kBlock;
        unsigned survivors = *top;
        for (unsigned step = 0; step < 8; ++step) {
          bits = (bits << 1) | (state >> 1);
          state = ((state & 1U) << 1) | ((survivors >> state) & 1U);
          survivors >>= 4;
        }
      }
      decoded[word * frames + frame] = bits;
    }
  }
}
