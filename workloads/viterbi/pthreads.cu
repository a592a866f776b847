// Pthreads form of viterbi: the code and the frames of the usual form (kernel.cu), every (number of threads)-th frame
// for a thread. Received and decoded bits are booleans, a byte each. The frames that the threads have at a time lie
// together, bits of the same place side by side, so that neighbouring threads read neighbouring bytes. The survivors of
// a frame are private data: four bits for a step, which fill the 128 bytes of on-chip memory per thread (report table
// 1) for the longest frame.
//
// The choice between two predecessors is a branch: it is the only one that depends on data, and table 2 has viterbi
// among the workloads with divergence.
#include "workloads/pthreads.h"

constexpr unsigned kMostSteps = 256;

__device__ __forceinline__ unsigned add_compare_select(unsigned first, unsigned second, unsigned& survivors) {
  survivors <<= 1;
  if (second < first) {
    branches::keep();
    survivors |= 1;
    return second;
  }
  return first;
}

// received: of `threads` frames bits[2 * steps][threads], and so on; decoded: likewise, of `steps` bits. steps: of a
// frame, even. frames: a multiple of the number of threads.
extern "C" __global__ void __launch_bounds__(1024)
    viterbi(const unsigned char* received, unsigned char* decoded, unsigned frames, unsigned steps, unsigned threads) {
  __shared__ unsigned char storage[kMostSteps / 2 * pthreads::kMostThreads];
  const pthreads::Private<unsigned char> survivors(storage, threadIdx.x);
  const unsigned char* from = received + threadIdx.x;
  unsigned char* to = decoded + threadIdx.x;
  for (; frames > 0; frames -= threads) {
    // State: the last data bit and the one before it. The encoder starts in state 0.
    unsigned metric0 = 0;
    unsigned metric1 = 1U << 16;
    unsigned metric2 = 1U << 16;
    unsigned metric3 = 1U << 16;
    for (unsigned pair = 0; pair < steps / 2; ++pair) {
      unsigned kept = 0;
      for (unsigned step = 0; step < 2; ++step) {
        const unsigned bit7 = from[0];
        const unsigned bit5 = from[threads];
        from += 2 * threads;
        // Bits in which the received pair differs from 00, 11, 10 and 01.
        const unsigned from00 = bit7 + bit5;
        const unsigned from11 = 2 - from00;
        const unsigned from10 = (bit7 ^ 1U) + bit5;
        const unsigned from01 = 2 - from10;
        const unsigned new3 = add_compare_select(metric2 + from01, metric3 + from10, kept);
        const unsigned new2 = add_compare_select(metric0 + from11, metric1 + from00, kept);
        const unsigned new1 = add_compare_select(metric2 + from10, metric3 + from01, kept);
        const unsigned new0 = add_compare_select(metric0 + from00, metric1 + from11, kept);
        metric0 = new0;
        metric1 = new1;
        metric2 = new2;
        metric3 = new3;
      }
      survivors[pair] = kept;
    }
    // Back from state 0: a state's high bit is the data bit that led to it.
    unsigned state = 0;
    to += steps * threads;
    for (unsigned pair = steps / 2; pair-- > 0;) {
      unsigned kept = survivors[pair];
      for (unsigned step = 0; step < 2; ++step) {
        to -= threads;
        *to = state >> 1;
        state = ((state & 1U) << 1) | ((kept >> state) & 1U);
        kept >>= 4;
      }
    }
    to += steps * threads;
  }
}
