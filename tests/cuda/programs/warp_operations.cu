// Votes, shuffles, matches, reductions and lane ids, as CUDA has them on warps of 32 threads; the host computes the
// same. The block's second warp is not whole.
#include <cstdio>

constexpr unsigned kThreads = 56, kValues = 24;

__host__ __device__ int input(unsigned thread) {
  return static_cast<int>(thread * 2654435761U >> 24) % 40 - 15;
}

// Where each thread is.
__global__ void lanes(int* out) {
  unsigned lane, below, warp, warps;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
  asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
  asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
  asm volatile("mov.u32 %0, %%nwarpid;" : "=r"(warps));
  out[threadIdx.x * 5] = lane;
  out[threadIdx.x * 5 + 1] = below;
  out[threadIdx.x * 5 + 2] = warp;
  out[threadIdx.x * 5 + 3] = warps;
  out[threadIdx.x * 5 + 4] = warpSize;
}

// Its warp and nothing else: no operation between lanes, and warps of any size.
__global__ void warps(int* out) {
  unsigned warp;
  asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
  out[threadIdx.x] = warp;
}

__global__ void operations(int* out) {
  __shared__ int place[kThreads];
  const unsigned t = threadIdx.x, lane = t % warpSize;
  const unsigned all = __activemask();
  const int x = input(t);
  int* const to = out + t * kValues;
  to[0] = static_cast<int>(all);
  to[1] = static_cast<int>(__ballot_sync(all, x > 0));
  to[2] = __any_sync(all, x == input(23)) + 2 * __all_sync(all, x > -15) + 4 * __uni_sync(all, t < 32);
  to[3] = __shfl_sync(all, x, 19);
  to[4] = __shfl_sync(all, x, 13, 16);
  to[5] = lane >= 9 ? __shfl_up_sync(all, x, 9) : (__shfl_up_sync(all, x, 9), 0);
  const int down = __shfl_down_sync(all, x, 3, 8);
  to[6] = lane % 8 < 5 ? down : 0;
  to[7] = __shfl_xor_sync(all, x, 5);
  to[8] = static_cast<int>(__shfl_xor_sync(all, x * 0.5, 7) * 2);
  to[9] = static_cast<int>(__match_any_sync(all, x % 3));
  int same = 7;
  to[10] = static_cast<int>(__match_all_sync(all, x / 100, &same));
  to[11] = same;
  to[12] = __reduce_add_sync(all, x);
  to[13] = __reduce_max_sync(all, x) * 100 + __reduce_min_sync(all, x);
  place[t] = x;
  __syncwarp(all);
  to[14] = place[t ^ 6];
  // A part of the warp alone.
  if (x > 0) {
    const unsigned some = __activemask();
    to[15] = static_cast<int>(some);
    to[16] = __reduce_add_sync(some, x);
    to[17] = __shfl_sync(some, x, 31 - __clz(some));
  }
  __syncwarp(all);
  // The same words on both sides of a branch.
  if (x > 0) {
    to[19] = static_cast<int>(__activemask());
    to[20] = __shfl(x, __ffs(__ballot(1)) - 1);
  } else {
    to[19] = static_cast<int>(__activemask());
    to[20] = __shfl(x, __ffs(__ballot(1)) - 1);
  }
  __syncwarp(all);
  int sum = x;
  for (int step = 16; step > 0; step /= 2) {
    const int other = __shfl_down_sync(all, sum, step);
    sum += lane + step < static_cast<unsigned>(__popc(all)) ? other : 0;
  }
  to[18] = lane == 0 ? sum : 0;
}

int wrong = 0;
void expect(const char* what, unsigned thread, unsigned value, int is, int should) {
  if (is != should && wrong++ < 10)
    std::printf("%s, thread %u, value %u: %d, not %d\n", what, thread, value, is, should);
}

template <class Kernel>
void run(Kernel kernel, int* host, unsigned values) {
  int* device = nullptr;
  cudaMalloc(&device, values * sizeof(int));
  cudaMemset(device, 0, values * sizeof(int));
  kernel<<<1, kThreads>>>(device);
  const cudaError_t error = cudaMemcpy(host, device, values * sizeof(int), cudaMemcpyDeviceToHost);
  if (error != cudaSuccess && wrong++ < 10) std::printf("%s\n", cudaGetErrorString(error));
  cudaFree(device);
}

void judge(const int* out) {
  for (unsigned t = 0; t < kThreads; ++t) {
    const unsigned lane = t % 32, first = t - lane, count = first + 32 < kThreads ? 32 : kThreads - first;
    const auto at = [&](unsigned of) { return input(first + of); };
    const int x = input(t);
    unsigned positive = 0, third = 0;
    int any = 0, all = 1, sum = 0, high = x, low = x, part = 0, last = 0, same = 1, first_here = 0;
    for (unsigned i = count; i-- > 0;) first_here = (at(i) > 0) == (x > 0) ? at(i) : first_here;
    for (unsigned i = 0; i < count; ++i) {
      positive |= (at(i) > 0 ? 1U : 0U) << i;
      third |= (at(i) % 3 == x % 3 ? 1U : 0U) << i;
      any |= at(i) == input(23) ? 1 : 0;
      all &= at(i) > -15 ? 1 : 0;
      same &= at(i) / 100 == x / 100 ? 1 : 0;
      sum += at(i);
      high = at(i) > high ? at(i) : high;
      low = at(i) < low ? at(i) : low;
      part += at(i) > 0 ? at(i) : 0;
      last = at(i) > 0 ? at(i) : last;
    }
    const unsigned whole = ~0U >> (32 - count);
    const int should[] = {static_cast<int>(whole),
                          static_cast<int>(positive),
                          any + 2 * all + 4,
                          at(19),
                          lane / 16 * 16 + 13 < count ? at(lane / 16 * 16 + 13) : 0,  // of no thread
                          lane >= 9 ? at(lane - 9) : 0,
                          lane % 8 < 5 ? at(lane + 3) : 0,
                          at(lane ^ 5),
                          at(lane ^ 7),
                          static_cast<int>(third),
                          same != 0 ? static_cast<int>(whole) : 0,
                          same,
                          sum,
                          high * 100 + low,
                          input(t ^ 6),
                          x > 0 ? static_cast<int>(positive) : 0,
                          x > 0 ? part : 0,
                          x > 0 ? last : 0,
                          lane == 0 ? sum : 0,
                          static_cast<int>(x > 0 ? positive : whole & ~positive),
                          first_here};
    for (unsigned i = 0; i < sizeof should / sizeof should[0]; ++i) {
      expect("operations", t, i, out[t * kValues + i], should[i]);
    }
  }
}

int main() {
  static int where[kThreads * 5], warp[kThreads], results[kThreads * kValues];
  run(lanes, where, kThreads * 5);
  for (unsigned t = 0; t < kThreads; ++t) {
    const int should[] = {static_cast<int>(t % 32), static_cast<int>((1U << t % 32) - 1), static_cast<int>(t / 32), 2,
                          32};
    for (unsigned i = 0; i < 5; ++i) expect("lanes", t, i, where[t * 5 + i], should[i]);
  }
  run(warps, warp, kThreads);
  for (unsigned t = 0; t < kThreads; ++t) expect("warps", t, 0, warp[t], static_cast<int>(t / 32));
  run(operations, results, kThreads * kValues);
  judge(results);
  cudaDeviceProp properties;
  cudaGetDeviceProperties(&properties, 0);
  int attribute = 0;
  cudaDeviceGetAttribute(&attribute, cudaDevAttrWarpSize, 0);
  std::printf("warpSize %d %d %d\n%s\n", where[4], properties.warpSize, attribute, wrong == 0 ? "PASSED" : "FAILED");
  return wrong == 0 ? 0 : 1;
}
