// What heddle/cuda.h declares for threads that do something together: atomics, votes, shuffles, groups. Compiled by
// clang for 32- and 64-bit addresses and run on the reference interpreter, against the same computed on the host.
#include <gtest/gtest.h>

#include "base/set_bits.hpp"

#include "tests/cuda/checked_cuda.hpp"

namespace heddle::studies {
namespace {

class CudaHeaderTogether : public test::CheckedCuda {};

INSTANTIATE_TEST_SUITE_P(AddressBits, CudaHeaderTogether, ::testing::Values(32U, 64U));

// Each operation on a global counter, and on a shared one whose final value is written out.
TEST_P(CudaHeaderTogether, Atomics) {
  compile(R"(
template <class I> __device__ void integers(I* c, I v) {
  atomicAdd(c + 0, v); atomicSub(c + 1, v); atomicAnd(c + 2, ~v); atomicOr(c + 3, v); atomicXor(c + 4, v);
  atomicExch(c + 5, (I)77);
  I old = c[6], seen;
  do { seen = old; old = atomicCAS(c + 6, seen, seen * 3 + 1); } while (old != seen);
}
template <class I> __device__ void extremes(I* c, I v) { atomicMin(c + 7, v); atomicMax(c + 8, v); }
extern "C" __global__ void k(int* i, unsigned* u, unsigned long long* l, long long* s, float* f, double* d,
    unsigned* sh,
                             unsigned* sums) {
  __shared__ unsigned shared[16];
  __shared__ float real;
  const unsigned t = threadIdx.x;
  if (t < 16) shared[t] = u[t];
  if (t == 0) real = 0;
  __syncthreads();
  integers(i, (int)t); integers(u, t); integers(l, (unsigned long long)t << 32);
  extremes(i, (int)t - 32); extremes(u, t + 5); extremes(l, (unsigned long long)t << 33);
  extremes(s, (long long)t - 40);
  atomicInc(u + 9, 9); atomicDec(u + 10, 9);
  atomicAdd(f, 0.5f); atomicExch(f + 1, 2.5f); atomicAdd(d, 0.25);
  sums[t] = __syncthreads_count(t % 3 == 0) + (__syncthreads_and(t < 64) << 8) + (__syncthreads_or(t == 63) << 9) +
            (__syncthreads_and(t < 63) << 10) + (__syncthreads_or(t == 64) << 11);
  atomicAdd(&shared[0], t); atomicMax(&shared[8], t + 5); atomicInc(&shared[9], 9); atomicAdd(&real, 1.5f);
  __threadfence_block(); __threadfence(); __threadfence_system();
  __syncthreads();
  if (t < 16) sh[t] = shared[t];
  if (t == 16) sh[16] = __float_as_uint(real);
}
)");
  const std::uint64_t i = upload("i", std::vector<std::int32_t>(16, 1000));
  const std::uint64_t u = upload("u", std::vector<std::uint32_t>(16, 1000));
  const std::uint64_t l = upload("l", std::vector<std::uint64_t>(16, 1000));
  const std::uint64_t s = upload("s", std::vector<std::int64_t>(16, 0));
  const std::uint64_t f = upload("f", std::vector<float>(2, 1));
  const std::uint64_t d = upload("d", std::vector<double>(1, 1));
  const std::uint64_t sh = allocate("sh", 17 * 4);
  const std::uint64_t sums = allocate("sums", 64 * 4);
  launch({}, {64}, {i, u, l, s, f, d, sh, sums});

  std::uint32_t chain = 1000;
  std::uint64_t long_chain = 1000;
  for (int k = 0; k < 64; ++k) {
    chain = chain * 3 + 1;
    long_chain = long_chain * 3 + 1;
  }
  const std::uint32_t sum = 63 * 64 / 2;
  // 0 to 63: every bit of 63 set and cleared; an even number of ones at each place.
  const auto got_u = download<std::uint32_t>(u, 16);
  EXPECT_EQ(got_u[0], 1000 + sum);
  EXPECT_EQ(got_u[1], 1000 - sum);
  EXPECT_EQ(got_u[2], 1000U & ~63U);
  EXPECT_EQ(got_u[3], 1000U | 63U);
  EXPECT_EQ(got_u[4], 1000U);
  EXPECT_EQ(got_u[5], 77U);
  EXPECT_EQ(got_u[6], chain);
  EXPECT_EQ(got_u[7], 5U);
  EXPECT_EQ(got_u[8], 1000U);
  std::uint32_t inc = 1000;
  std::uint32_t dec = 1000;
  for (int k = 0; k < 64; ++k) {
    inc = inc >= 9 ? 0 : inc + 1;
    dec = dec == 0 || dec > 9 ? 9 : dec - 1;
  }
  EXPECT_EQ(got_u[9], inc);
  EXPECT_EQ(got_u[10], dec);
  const auto got_i = download<std::int32_t>(i, 16);
  EXPECT_EQ(got_i[0], static_cast<std::int32_t>(1000 + sum));
  EXPECT_EQ(got_i[1], static_cast<std::int32_t>(1000 - sum));
  EXPECT_EQ(got_i[6], static_cast<std::int32_t>(chain));
  EXPECT_EQ(got_i[7], -32);
  EXPECT_EQ(got_i[8], 1000);
  const auto got_l = download<std::uint64_t>(l, 16);
  EXPECT_EQ(got_l[0], 1000 + (std::uint64_t{sum} << 32U));
  EXPECT_EQ(got_l[1], 1000 - (std::uint64_t{sum} << 32U));
  EXPECT_EQ(got_l[3], 1000 | std::uint64_t{63} << 32U);
  EXPECT_EQ(got_l[6], long_chain);
  EXPECT_EQ(got_l[7], 0U);
  EXPECT_EQ(got_l[8], std::uint64_t{63} << 33U);
  const auto got_s = download<std::int64_t>(s, 16);
  EXPECT_EQ(got_s[7], -40);
  EXPECT_EQ(got_s[8], 23);
  EXPECT_EQ(download<float>(f, 2), (std::vector<float>{33, 2.5F}));
  EXPECT_EQ(download<double>(d, 1), (std::vector<double>{17}));
  const auto got_sh = download<std::uint32_t>(sh, 17);
  EXPECT_EQ(got_sh[0], 1000 + sum);
  EXPECT_EQ(got_sh[8], 1000U);
  EXPECT_EQ(got_sh[9], inc);
  EXPECT_EQ(std::bit_cast<float>(got_sh[16]), 96.0F);
  for (const std::uint32_t value : download<std::uint32_t>(sums, 64)) {
    EXPECT_EQ(value, 22U + (1U << 8U) + (1U << 9U));
  }
}

TEST_P(CudaHeaderTogether, VotesAndShuffles) {
  compile(R"(
extern "C" __global__ void k(unsigned* out, double* real) {
  const unsigned t = threadIdx.x, lane = t & 31;
  unsigned* o = out + t * 16;
  *o++ = __all_sync(~0U, t < 100) | __all(t < 63) << 1 | __any_sync(~0U, t == 40) << 2 | __any(t == 100) << 3 |
         __uni_sync(~0U, t < 32) << 4 | __uni(t & 1) << 5;
  *o++ = __ballot_sync(~0U, t & 1);
  *o++ = __ballot(lane < 5);
  *o++ = __activemask();
  *o++ = __shfl_sync(~0U, t * 3, 7);
  *o++ = __shfl_sync(~0U, t * 3, 5, 8);
  *o++ = __shfl_up_sync(~0U, t * 3, 4);
  *o++ = __shfl_down_sync(~0U, t * 3, 4, 16);
  *o++ = __shfl_xor_sync(~0U, (int)t * -3, 9);
  *o++ = __float_as_uint(__shfl_xor_sync(~0U, (float)t, 1));
  *o++ = (unsigned)(__shfl_sync(~0U, (unsigned long long)t << 32, 3) >> 32);
  *o++ = __shfl(t, 2) + __shfl_up(t, 1U) + __shfl_down(t, 1U) + __shfl_xor(t, 16);
  *o++ = lane < 10 ? __activemask() : 0;
  __syncwarp();
  *o++ = __heddle_laneid() + 100 * __heddle_warpid();
  *o++ = warpSize + __heddle_smid() * 0;
  const long long before = clock64();
  const int early = clock();
  *o++ = clock64() >= before && clock() - early >= 0;
  real[t] = __shfl_down_sync(~0U, (double)t + 0.5, 1U);
}
)");
  const std::uint64_t out = allocate("out", 64 * 16 * 4);
  const std::uint64_t real = allocate("real", 64 * 8);
  launch({}, {64}, {out, real});
  const auto got = download<std::uint32_t>(out, 64 * 16);
  const auto got_real = download<double>(real, 64);
  for (std::uint32_t t = 0; t < 64; ++t) {
    const std::uint32_t lane = t % 32;
    const std::uint32_t base = t - lane;
    const std::uint32_t warp = t / 32;
    const std::vector<std::uint32_t> expected = {
        1U | (warp == 0 ? 2U : 0U) | (warp == 1 ? 4U : 0U) | 16U,
        0xaaaaaaaaU,
        0x1fU,
        0xffffffffU,
        (base + 7) * 3,
        (base + lane / 8 * 8 + 5) * 3,
        (lane < 4 ? t : t - 4) * 3,
        (lane % 16 < 12 ? t + 4 : t) * 3,
        0U - 3 * (base + (lane ^ 9U)),
        std::bit_cast<std::uint32_t>(static_cast<float>(t ^ 1U)),
        base + 3,
        base + 2 + (lane == 0 ? t : t - 1) + (lane == 31 ? t : t + 1) + (t ^ 16U),
        lane < 10 ? 0x3ffU : 0U,
        lane + 100 * warp,
        32U,
        1U,
    };
    for (std::size_t k = 0; k < expected.size(); ++k) {
      EXPECT_EQ(got[t * 16 + k], expected[k]) << "value " << k << " of thread " << t;
    }
    EXPECT_EQ(got_real[t], (lane == 31 ? t : t + 1) + 0.5);
  }
}

TEST_P(CudaHeaderTogether, GroupsOfThreads) {
  compile(R"(
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
extern "C" __global__ void k(int* out) {
  const cg::thread_block block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<8>(block);
  const int x = static_cast<int>(block.thread_rank());
  int* const to = out + x * 4;
  to[0] = cg::reduce(tile, x, cg::plus<int>());
  to[1] = cg::exclusive_scan(tile, x);
  to[2] = cg::this_grid().is_valid() ? 1 : static_cast<int>(cg::this_grid().size());
  if (x % 3 == 0) to[3] = static_cast<int>(cg::coalesced_threads().num_threads());
}
)");
  const std::uint64_t out = allocate("out", 64 * 16);
  launch({1, 1, 1}, {16, 2, 2}, {out});
  const auto got = download<int>(out, 64 * 4);
  for (int i = 0; i < 64; ++i) {
    const int first = i / 8 * 8;
    EXPECT_EQ(got[4 * i], 8 * first + 28) << i;
    EXPECT_EQ(got[4 * i + 1], (i - first) * first + (i - first) * (i - first - 1) / 2) << i;
    EXPECT_EQ(got[4 * i + 2], 64);
    EXPECT_EQ(got[4 * i + 3], i % 3 != 0 ? 0 : 11);
  }
  EXPECT_EQ(executor_.module().kernels.at(0).lane_groups, 8U);
}

}  // namespace
}  // namespace heddle::studies
