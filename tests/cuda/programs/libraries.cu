// What CUDA's own headers beside the run-time API bring: numbers of 16 and 8 bits on both sides, barriers, pipelines,
// atomic objects, copies by groups, random numbers, complex numbers, marks for a profiler.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuComplex.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_pipeline_primitives.h>
#include <curand_kernel.h>
#include <nvToolsExt.h>

#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/pipeline>
#include <cuda/semaphore>
#include <cuda/std/array>
#include <cuda/std/functional>
#include <cuda/std/type_traits>
#include <cuda/std/utility>
#include <vector>

namespace cg = cooperative_groups;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

#define CHECK(condition) \
  if (!(condition)) printf("FAILED in line %d: %s\n", __LINE__, #condition)

// ---------------------------------------------------------------------------------- host and device: the same bits

constexpr int kFormats = 14;
__host__ __device__ void formats(unsigned bits, unsigned* out) {
  const float single = __builtin_bit_cast(float, bits << 16 | (bits * 40503U & 0xffffU));
  const __nv_bfloat16 a = __ushort_as_bfloat16(bits), b = __float2bfloat16(single);
  const __half h = __ushort_as_half(bits), g = __float2half(single);
  const __half_raw raw = {static_cast<unsigned short>(bits)};
  out[0] = __bfloat16_as_ushort(b);
  out[1] = __bfloat16_as_ushort(a * b + b);
  out[2] = __bfloat16_as_ushort(__hfma(a, b, __float2bfloat16_rz(single)));
  out[3] = __bfloat162int_rd(a);
  out[4] = __bfloat16_as_ushort(__ll2bfloat16_ru(static_cast<long long>(bits) * bits * 77777));
  out[5] = __half_as_ushort(g);
  out[6] = __half_as_ushort(h * g + h);
  out[7] = __half_as_ushort(__double2half(static_cast<double>(single) * 0.3));
  out[8] = __half2int_rn(h);
  out[9] = __nv_cvt_halfraw_to_fp8(raw, __NV_NOSAT, __NV_E4M3);
  out[10] = __nv_cvt_float_to_fp8(single, __NV_SATFINITE, __NV_E5M2);
  out[11] = __nv_fp8x4_e4m3(make_float4(a, b, single, 2)).__x;
  out[12] = __half_as_ushort(static_cast<__half>(__nv_fp8_e5m2(g)));
  out[13] = a < b ? 1 : __hgeu(a, b) ? 2 : 3;
}
__global__ void every_format(unsigned* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  formats(i, out + i * kFormats);
}

// --------------------------------------------------------------------------------------------- threads that wait

__device__ cuda::atomic<int, cuda::thread_scope_device> total{5};
__device__ cuda::atomic<unsigned char> small{0};
__device__ int plain;

struct Count {
  int* times;
  __device__ void operator()() { ++*times; }
};

__global__ void phases(const int* in, int* out) {
  __shared__ Barrier ready;
  __shared__ cuda::barrier<cuda::thread_scope_block, Count> counted;
  __shared__ cuda::latch<cuda::thread_scope_block> once;
  __shared__ int values[64];
  __shared__ int completions;
  const cg::thread_block block = cg::this_thread_block();
  const int i = block.thread_rank();
  if (i == 0) {
    completions = 0;
    init(&ready, block.size());
    init(&counted, 64, Count{&completions});
    init(&once, 64);
  }
  block.sync();
  cuda::memcpy_async(block, values, in, sizeof values, ready);
  auto token = ready.arrive();
  total.fetch_add(i, cuda::memory_order_relaxed);
  small |= static_cast<unsigned char>(1 << (i & 7));
  cuda::atomic_ref<int, cuda::thread_scope_device>(plain).fetch_max(i * 3);
  ready.wait(cuda::std::move(token));
  const int next = values[(i + 1) % 64];
  once.arrive_and_wait();
  for (int round = 0; round < 3; ++round) {
    // The first warp stops taking part after one round.
    if (round == 0 || i >= 32) {
      values[i] = next + round;
      if (round == 0 && i < 32) {
        counted.arrive_and_drop();
      } else {
        counted.arrive_and_wait();
      }
    }
  }
  block.sync();
  out[i] = values[i] + 100 * completions;
}

// Two stages: the threads copy the next tile while they add up one.
__global__ void staged(const int* in, int tiles, int* out) {
  constexpr int kStages = 2;
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> state;
  __shared__ int tile[kStages][64];
  const cg::thread_block block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  int sum = 0;
  int fetched = 0;
  for (int i = 0; i < tiles; ++i) {
    for (; fetched < tiles && fetched < i + kStages; ++fetched) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, tile[fetched % kStages], in + fetched * 64, cuda::aligned_size_t<16>(sizeof tile[0]),
                         pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    sum += tile[i % kStages][(threadIdx.x * 5 + 1) % 64];
    pipe.consumer_release();
  }
  // Warps with a part of their own.
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> parts;
  const auto role = threadIdx.x < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
  auto split = cuda::make_pipeline(block, &parts, role);
  for (int i = 0; i < tiles; ++i) {
    if (role == cuda::pipeline_role::producer) {
      split.producer_acquire();
      tile[i % kStages][threadIdx.x] = in[i * 64 + threadIdx.x] * 2;
      split.producer_commit();
    } else {
      split.consumer_wait();
      sum += tile[i % kStages][(threadIdx.x + 9) % 32];
      split.consumer_release();
    }
  }
  block.sync();
  // A thread's own copies, and a group's.
  __pipeline_memcpy_async(&tile[0][threadIdx.x], &in[threadIdx.x], 4, threadIdx.x == 3 ? 4 : 0);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  cg::memcpy_async(block, tile[1], in + 64, sizeof tile[1]);
  cg::wait(block);
  out[threadIdx.x] = sum + tile[0][threadIdx.x] + tile[1][63 - threadIdx.x];
}

__device__ cuda::counting_semaphore<cuda::thread_scope_device> tickets(2);
__global__ void guarded(int* counter) {
  if (threadIdx.x == 0) {
    tickets.acquire();
    atomicAdd(counter, 1);
    tickets.release();
  }
}

// -------------------------------------------------------------------------------------------------------- the rest

__global__ void numbers(float* uniform, unsigned* philox, float* normal, cuDoubleComplex* z) {
  const int i = threadIdx.x;
  curandState state;
  curand_init(1234, i, 0, &state);
  uniform[i] = curand_uniform(&state);
  curandState later;
  curand_init(1234, i, 1, &later);
  if (curand(&state) != curand(&later)) uniform[i] = -1;
  curandStatePhilox4_32_10_t counter, again;
  const uint4 four = curand_Philox4x32_10(make_uint4(0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344),
                                          make_uint2(0xa4093822, 0x299f31d0));
  philox[0] = four.x;
  philox[1] = four.y;
  philox[2] = four.z;
  philox[3] = four.w;
  // In whole steps and one by one.
  curand_init(5, 9, 6, &counter);
  curand_init(5, 9, 4, &again);
  const uint4 stepped = curand4(&again);
  const unsigned ninth = curand(&again);
  if (curand(&counter) != stepped.z || curand(&counter) != stepped.w || curand(&counter) != ninth) philox[0] = 0;
  curand_init(7, i, 0, &counter);
  normal[i] = 0;
  for (int k = 0; k < 8; ++k) {
    const float4 x = curand_normal4(&counter);
    normal[i] += x.x + x.y + x.z + x.w + curand_normal(&state) + static_cast<float>(curand_normal_double(&state));
  }
  cuda::std::array<double, 2> parts{3.0, -4.0};
  static_assert(cuda::std::is_same<decltype(parts)::value_type, double>::value, "");
  static_assert(cuda::std::identity()(3) == 3, "");
  z[0] = cuCdiv(make_cuDoubleComplex(parts[0], parts[1]), make_cuDoubleComplex(1, 1));
}

int main() {
  nvtxRangePush("all");
  std::vector<unsigned> there(65536 * kFormats), here(kFormats);
  unsigned* formatted;
  cudaMalloc(&formatted, there.size() * 4);
  every_format<<<256, 256>>>(formatted);
  cudaMemcpy(there.data(), formatted, there.size() * 4, cudaMemcpyDeviceToHost);
  int differ = 0;
  for (unsigned i = 0; i < 65536; ++i) {
    formats(i, here.data());
    for (int k = 0; k < kFormats; ++k) {
      if (here[k] != there[i * kFormats + k] && ++differ < 5) {
        printf("format %d of %x: %x on the host, %x on the device\n", k, i, here[k], there[i * kFormats + k]);
      }
    }
  }
  CHECK(differ == 0);

  int *in, *out;
  cudaMallocManaged(&in, 8 * 64 * sizeof(int));
  cudaMallocManaged(&out, 65 * sizeof(int));
  for (int i = 0; i < 8 * 64; ++i) in[i] = i * i % 97;
  phases<<<1, 64>>>(in, out);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  for (int i = 0; i < 64; ++i) CHECK(out[i] == in[(i + 1) % 64] + (i < 32 ? 0 : 2) + 300);
  int sum, bits, most;
  cudaMemcpyFromSymbol(&sum, total, sizeof sum);
  cudaMemcpyFromSymbol(&bits, small, 1);
  cudaMemcpyFromSymbol(&most, plain, sizeof most);
  CHECK(sum == 5 + 63 * 32 && (bits & 0xff) == 0xff && most == 189);

  staged<<<1, 64>>>(in, 8, out);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  for (int i = 0; i < 64; ++i) {
    int expected = (i == 3 ? 0 : in[i]) + in[64 + 63 - i];
    for (int tile = 0; tile < 8; ++tile) {
      expected += in[tile * 64 + (i * 5 + 1) % 64] + (i < 32 ? 0 : 2 * in[tile * 64 + (i + 9) % 32]);
    }
    CHECK(out[i] == expected);
  }
  out[64] = 0;
  guarded<<<6, 32>>>(out + 64);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(out[64] == 6);

  float *uniform, *normal;
  unsigned* philox;
  cuDoubleComplex* z;
  cudaMallocManaged(&uniform, 32 * sizeof(float));
  cudaMallocManaged(&normal, 32 * sizeof(float));
  cudaMallocManaged(&philox, 4 * sizeof(unsigned));
  cudaMallocManaged(&z, sizeof *z);
  numbers<<<1, 32>>>(uniform, philox, normal, z);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  // What the cuRAND manual's example prints for the same seed, and Random123's vector for Philox4x32-10.
  const float published[] = {0.1455f, 0.8202f, 0.5504f, 0.2948f, 0.9147f, 0.8690f, 0.3219f, 0.7829f, 0.0113f, 0.2855f};
  for (int i = 0; i < 10; ++i) CHECK(fabsf(uniform[i] - published[i]) <= 0.00005f);
  for (int i = 0; i < 32; ++i) CHECK(uniform[i] > 0);
  CHECK(philox[0] == 0xd16cfe09U && philox[1] == 0x94fdccebU);
  CHECK(philox[2] == 0x5001e420U && philox[3] == 0x24126ea1U);
  // Of 32 * 48 normal numbers: their mean is within five of its deviations of 0.
  float mean = 0;
  for (int i = 0; i < 32; ++i) mean += normal[i] / (32 * 48);
  CHECK(fabsf(mean) < 5 / sqrtf(32 * 48));
  CHECK(z->x == -0.5 && z->y == -3.5 && cuCabsf(make_cuFloatComplex(3, 4)) == 5);
  nvtxRangePop();
  puts("PASSED");
}
