// Brute-force join on un-indexed attributes (thesis 9.2.3): a full table scan of the cross product of two tables, whose
// row number is left row * right rows + right row. Kernel scan gathers by ballot and popc, accumulate by the
// conditional accumulate instruction (thesis 7.1).
constexpr unsigned kBlock = 256;
#include "workloads/table_scan/gather.inc"

template <bool kAccumulate>
__device__ __forceinline__ void join(const unsigned* __restrict__ left, const unsigned* __restrict__ right,
                                     unsigned pairs, unsigned shift, unsigned* __restrict__ output,
                                     unsigned* __restrict__ used) {
  const unsigned mask = (1U << shift) - 1;
  const auto equal = [=](unsigned pair) { return left[pair >> shift] == right[pair & mask]; };
  scan_rows<kAccumulate>(pairs, equal, output, used);
}

// left: pairs >> shift values. right: 1 << shift values, 32 or more. output: numbers of the pairs that are equal, room
// for all. used: one word, zero.
#define JOIN(name, accumulate)                                                                                    \
  extern "C" __global__ void __launch_bounds__(kBlock)                                                            \
      name(const unsigned* __restrict__ left, const unsigned* __restrict__ right, unsigned pairs, unsigned shift, \
           unsigned* __restrict__ output, unsigned* __restrict__ used) {                                          \
    join<accumulate>(left, right, pairs, shift, output, used);                                                    \
  }
JOIN(scan, false)
JOIN(accumulate, true)
