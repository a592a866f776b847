// heddle/cuda.h: what it declares for a thread by itself, compiled by clang for 32- and 64-bit addresses and run on the
// reference interpreter, against the same computed on the host. The rest: cuda_header_together_test.cpp.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>

#include "base/random.hpp"
#include "tests/cuda/checked_cuda.hpp"

namespace heddle::cuda {
namespace {

class CudaHeader : public test::CheckedCuda {};

INSTANTIATE_TEST_SUITE_P(AddressBits, CudaHeader, ::testing::Values(32U, 64U));

TEST_P(CudaHeader, AKernelChoosesItsWarpSize) {
  compile(R"(
#define SIZE 128
__device__ __noinline__ int wide(int x) { HEDDLE_WARP_SIZE(64); return x * 3; }
extern "C" __global__ void k(int* out) { HEDDLE_WARP_SIZE(SIZE); out[threadIdx.x] = 1; }
extern "C" __global__ void calls(int* out) { out[threadIdx.x] = wide(out[threadIdx.x]); }
extern "C" __global__ void plain(int* out) { out[threadIdx.x] = 1; }
)");
  const isa::Module& module = executor_.module();
  EXPECT_EQ(module.find("k")->warp_size, 128U);
  EXPECT_EQ(module.find("calls")->warp_size, 64U);
  EXPECT_EQ(module.find("plain")->warp_size, std::nullopt);
}

// Conditional accumulate in every type, tree traverse, and hinted loads (thesis chapter 7).
TEST_P(CudaHeader, DatabaseSearch) {
  compile(R"(
template <class T>
__device__ void gather(T* out, unsigned i, bool hit, unsigned* count) {
  __shared__ T buffer[64];
  buffer[i] = buffer[i + 32] = 0;
  count[0] = heddle::cond_acc(out, hit, (T)(i + 1));
  count[1] = heddle::cond_acc_shared(buffer + 1, hit, (T)(i + 2));
  out[32 + i] = buffer[i];
}
extern "C" __global__ void k(const unsigned* in, const double* real, char* out, unsigned* counts, double* loaded) {
  const unsigned i = threadIdx.x;
  const bool hit = in[i] > 100;
  unsigned* count = counts + 32 * i;
  gather((signed char*)out, i, hit, count);
  gather((unsigned char*)(out + 512), i, hit, count + 2);
  gather((short*)(out + 1024), i, hit, count + 4);
  gather((unsigned short*)(out + 1536), i, hit, count + 6);
  gather((int*)(out + 2048), i, hit, count + 8);
  gather((unsigned*)(out + 2560), i, hit, count + 10);
  gather((float*)(out + 3072), i, hit, count + 12);
  gather((long long*)(out + 3584), i, hit, count + 14);
  gather((unsigned long long*)(out + 4096), i, hit, count + 16);
  gather((double*)(out + 4608), i, hit, count + 18);
  heddle::progress();
  count[20] = heddle::tree_traverse(7, hit, 5);
  count[21] = heddle::tree_traverse(i, !hit, in[0] & 3);
  count[25] = heddle::tree_traverse_size(7, hit, 32);
  count[22] = heddle::row_hint_load(in + i);
  count[23] = heddle::row_hint_load((const int*)in + i);
  count[24] = __float_as_uint(heddle::row_hint_load((const float*)in + i));
  loaded[i] = heddle::row_hint_load(real + i);
  loaded[32 + i] =
      heddle::row_hint_load((const long long*)real + i) == heddle::row_hint_load((const unsigned long long*)real + i);
}
)");
  Random random(3);
  std::vector<std::uint32_t> in(32);
  std::vector<double> real(32);
  std::vector<unsigned> hits;
  for (unsigned i = 0; i < 32; ++i) {
    in[i] = random.below(200);
    real[i] = random.unit();
    if (in[i] > 100) hits.push_back(i);
  }
  ASSERT_GT(hits.size(), 4U);
  ASSERT_LT(hits.size(), 28U);
  const std::uint64_t out = allocate("out", 5120);
  const std::uint64_t counts = allocate("counts", 32 * 32 * 4);
  const std::uint64_t loaded = allocate("loaded", 64 * 8);
  launch({}, {32}, {upload("in", in), upload("real", real), out, counts, loaded});
  const auto check = [&](auto zero, std::uint64_t offset) {
    using T = decltype(zero);
    const auto got = download<T>(out + offset, 64);
    for (unsigned i = 0; i < hits.size(); ++i) {
      EXPECT_EQ(got[i], static_cast<T>(hits[i] + 1)) << offset;
      EXPECT_EQ(got[33 + i], static_cast<T>(hits[i] + 2)) << offset;
    }
    EXPECT_EQ(got[32], zero);
    for (std::size_t i = hits.size(); i < 31; ++i) EXPECT_EQ(got[33 + i], zero) << offset;
  };
  check(std::int8_t{0}, 0);
  check(std::uint8_t{0}, 512);
  check(std::int16_t{0}, 1024);
  check(std::uint16_t{0}, 1536);
  check(std::int32_t{0}, 2048);
  check(std::uint32_t{0}, 2560);
  check(float{0}, 3072);
  check(std::int64_t{0}, 3584);
  check(std::uint64_t{0}, 4096);
  check(double{0}, 4608);
  const auto count = download<std::uint32_t>(counts, 32 * 32);
  const auto got = download<double>(loaded, 64);
  const auto many = static_cast<std::uint32_t>(hits.size());
  for (unsigned i = 0; i < 32; ++i) {
    for (unsigned k = 0; k < 20; ++k) EXPECT_EQ(count[32 * i + k], many);
    EXPECT_EQ(count[32 * i + 20], 7 + (many << 5U));
    EXPECT_EQ(count[32 * i + 21], i + ((32 - many) << (in[0] & 3U)));
    EXPECT_EQ(count[32 * i + 25], 7 + many * 32);
    for (unsigned k = 22; k < 25; ++k) EXPECT_EQ(count[32 * i + k], in[i]);
    EXPECT_EQ(got[i], real[i]);
    EXPECT_EQ(got[32 + i], 1.0);
  }
  const isa::Kernel& kernel = *executor_.module().find("k");
  EXPECT_TRUE(kernel.uses_warp_operations);
  // The condition reaches the instruction as a predicate, without a way round through a register; loads are hinted.
  unsigned accumulates = 0;
  unsigned selects = 0;
  unsigned hinted = 0;
  for (const isa::InstructionWord& word : kernel.words) {
    const isa::Instruction instruction = *isa::decode(word);
    accumulates += isa::is_accumulate(instruction.op) ? 1 : 0;
    selects += instruction.op == isa::Op::SEL ? 1 : 0;
    hinted += isa::is_load(instruction.op) && instruction.row_hint() ? 1 : 0;
  }
  EXPECT_EQ(accumulates, 20U);
  EXPECT_EQ(selects, 0U);
  EXPECT_EQ(hinted, 6U);
}

TEST_P(CudaHeader, Integers) {
  compile(R"(
extern "C" __global__ void k(const unsigned* a, const unsigned* b, unsigned* out) {
  const unsigned i = threadIdx.x;
  const unsigned x = a[i], y = b[i];
  const int sx = (int)x, sy = (int)y;
  const unsigned long long w = ((unsigned long long)x << 32) | y;
  unsigned* o = out + i * 32;
  *o++ = __popc(x);
  *o++ = __popcll(w);
  *o++ = __clz(sx);
  *o++ = __clzll((long long)w);
  *o++ = __ffs(sx);
  *o++ = __ffsll((long long)w);
  *o++ = __brev(x);
  *o++ = (unsigned)(__brevll(w) >> 32);
  *o++ = __byte_perm(x, y, 0x7150);
  *o++ = __funnelshift_l(x, y, y & 63);
  *o++ = __funnelshift_lc(x, y, y & 63);
  *o++ = __funnelshift_r(x, y, y & 63);
  *o++ = __funnelshift_rc(x, y, y & 63);
  *o++ = __mul24(sx, sy);
  *o++ = __umul24(x, y);
  *o++ = __mulhi(sx, sy);
  *o++ = __umulhi(x, y);
  *o++ = (unsigned)(__mul64hi((long long)w, sy) >> 3);
  *o++ = (unsigned)(__umul64hi(w, w) >> 3);
  *o++ = __sad(sx, sy, 7);
  *o++ = __usad(x, y, 7);
  *o++ = abs(sx);
  *o++ = (unsigned)llabs((long long)w);
  *o++ = min(sx, sy);
  *o++ = max(sx, sy);
  *o++ = min(x, y);
  *o++ = max(x, y);
  *o++ = (unsigned)max((long long)w, -1LL);
  *o++ = (unsigned)min(w, 0xffffffffULL);
  *o++ = __ldg(b + i);
  *o++ = __float_as_uint(__int_as_float(sx));
  *o++ = (unsigned)__double2hiint(__hiloint2double(sx, sy)) ^ (unsigned)__double2loint(__hiloint2double(sx, sy));
}
)");
  Random random(1);
  std::vector<std::uint32_t> a = {0, 0, 1, 0x80000000U, 0xffffffffU, 0x7fffffffU};
  std::vector<std::uint32_t> b = {0, 1, 0, 31, 32, 33};
  while (a.size() < 64) {
    a.push_back(random.next32());
    b.push_back(random.next32());
  }
  const std::uint64_t out = allocate("out", 64 * 32 * 4);
  launch({}, {64}, {upload("a", a), upload("b", b), out});
  const auto got = download<std::uint32_t>(out, 64 * 32);
  __extension__ using Wide = __int128;
  for (std::size_t i = 0; i < 64; ++i) {
    const std::uint32_t x = a[i];
    const std::uint32_t y = b[i];
    const auto sx = static_cast<std::int32_t>(x);
    const auto sy = static_cast<std::int32_t>(y);
    const std::uint64_t w = std::uint64_t{x} << 32U | y;
    const auto sw = static_cast<std::int64_t>(w);
    const std::uint64_t pair = std::uint64_t{y} << 32U | x;  // the funnel's hi:lo
    const unsigned wrap = y & 31U;
    const unsigned clamp = std::min(y & 63U, 32U);
    const auto sign24 = [](std::uint32_t v) { return static_cast<std::int32_t>(v << 8U) >> 8; };
    const auto reversed = [](std::uint64_t v, unsigned bits) {
      std::uint64_t r = 0;
      for (unsigned k = 0; k < bits; ++k) r |= ((v >> k) & 1U) << (bits - 1 - k);
      return r;
    };
    const std::uint64_t bytes = std::uint64_t{y} << 32U | x;
    const auto byte = [&](unsigned k) { return static_cast<std::uint32_t>((bytes >> (8 * k)) & 255U); };
    const std::vector<std::uint32_t> expected = {
        static_cast<std::uint32_t>(std::popcount(x)),
        static_cast<std::uint32_t>(std::popcount(w)),
        static_cast<std::uint32_t>(std::countl_zero(x)),
        static_cast<std::uint32_t>(std::countl_zero(w)),
        x == 0 ? 0U : static_cast<std::uint32_t>(std::countr_zero(x) + 1),
        w == 0 ? 0U : static_cast<std::uint32_t>(std::countr_zero(w) + 1),
        static_cast<std::uint32_t>(reversed(x, 32)),
        static_cast<std::uint32_t>(reversed(w, 64) >> 32U),
        byte(0) | byte(5) << 8U | byte(1) << 16U | byte(7) << 24U,
        static_cast<std::uint32_t>((pair << wrap) >> 32U),
        static_cast<std::uint32_t>(clamp == 32 ? x : (pair << clamp) >> 32U),
        static_cast<std::uint32_t>(pair >> wrap),
        static_cast<std::uint32_t>(pair >> clamp),
        static_cast<std::uint32_t>(std::int64_t{sign24(x)} * sign24(y)),
        static_cast<std::uint32_t>(std::uint64_t{x & 0xffffffU} * (y & 0xffffffU)),
        static_cast<std::uint32_t>((std::int64_t{sx} * sy) >> 32U),
        static_cast<std::uint32_t>((std::uint64_t{x} * y) >> 32U),
        static_cast<std::uint32_t>(static_cast<std::int64_t>((Wide{sw} * sy) >> 64U) >> 3U),
        static_cast<std::uint32_t>(static_cast<std::uint64_t>((static_cast<unsigned __int128>(w) * w) >> 64U) >> 3U),
        static_cast<std::uint32_t>(std::llabs(std::int64_t{sx} - sy)) + 7,
        (x > y ? x - y : y - x) + 7,
        sx < 0 ? 0U - x : x,
        static_cast<std::uint32_t>(sw < 0 ? 0U - w : w),
        static_cast<std::uint32_t>(std::min(sx, sy)),
        static_cast<std::uint32_t>(std::max(sx, sy)),
        std::min(x, y),
        std::max(x, y),
        static_cast<std::uint32_t>(std::max<std::int64_t>(sw, -1)),
        static_cast<std::uint32_t>(std::min<std::uint64_t>(w, 0xffffffffU)),
        y,
        x,
        x ^ y,
    };
    ASSERT_EQ(expected.size(), 32U);
    for (std::size_t k = 0; k < expected.size(); ++k) {
      EXPECT_EQ(got[i * 32 + k], expected[k]) << "value " << k << " of x = " << x << ", y = " << y;
    }
  }
}

TEST_P(CudaHeader, Mathematics) {
  compile(R"(
extern "C" __global__ void k(const float* in, float* out, double* real) {
  const unsigned i = threadIdx.x;
  const float x = in[i];
  float* o = out + i * 32;
  *o++ = sqrtf(x); *o++ = fabsf(-x); *o++ = fminf(x, 1.5f); *o++ = fmaxf(x, 1.5f); *o++ = fmaf(x, x, -x);
  *o++ = floorf(x - 2.0f); *o++ = ceilf(x - 2.0f); *o++ = truncf(x - 2.0f); *o++ = rintf(x); *o++ = copysignf(x, -1.0f);
  *o++ = x * x - x; *o++ = min(x, 2.0f) + max(x, 2.0f); *o++ = __saturatef(x - 1.0f);
  *o++ = __fadd_rz(x, 1e-9f); *o++ = __fmul_rn(x, x); *o++ = (float)__float2int_rd(-x);
  *o++ = (float)__float2uint_ru(x);
  *o++ = isnan(x) || isinf(x) ? 1.0f : 0.0f;
  *o++ = rsqrtf(x); *o++ = __expf(x); *o++ = __logf(x); *o++ = __sinf(x); *o++ = __cosf(x); *o++ = __powf(x, 1.3f);
  *o++ = __fdividef(1.0f, x); *o++ = tanhf(x - 2.0f); *o++ = expf(-x); *o++ = log2f(x); *o++ = log10f(x);
  *o++ = __tanf(x * 0.25f);
  float sine, cosine;
  __sincosf(x, &sine, &cosine);
  *o++ = sine; *o++ = cosine;
  double* r = real + i * 6;
  const double d = x;
  *r++ = sqrt(d); *r++ = fma(d, d, 1e-3); *r++ = fmin(d, 2.0) * fmax(d, 2.0); *r++ = floor(-d) + ceil(d);
  *r++ = d / 3.0 + fabs(-d);
  *r++ = rint(d) + trunc(d);
}
)");
  std::vector<float> in;
  for (int i = 0; i < 64; ++i) {
    in.push_back(0.05F + static_cast<float>(i) * 0.07F);
  }
  const std::uint64_t out = allocate("out", 64 * 32 * 4);
  const std::uint64_t real = allocate("real", 64 * 6 * 8);
  launch({}, {64}, {upload("in", in), out, real});
  const auto got = download<float>(out, 64 * 32);
  const auto got_real = download<double>(real, 64 * 6);
  for (std::size_t i = 0; i < 64; ++i) {
    const float x = in[i];
    const float product = x * x;
    const std::vector<float> exact = {std::sqrt(x),
                                      x,
                                      std::fmin(x, 1.5F),
                                      std::fmax(x, 1.5F),
                                      std::fma(x, x, -x),
                                      std::floor(x - 2),
                                      std::ceil(x - 2),
                                      std::trunc(x - 2),
                                      std::nearbyint(x),
                                      -x,
                                      product - x,
                                      std::fmin(x, 2.0F) + std::fmax(x, 2.0F),
                                      std::fmin(std::fmax(x - 1, 0.0F), 1.0F),
                                      x,
                                      product,
                                      std::floor(-x),
                                      std::ceil(x),
                                      0.0F};
    for (std::size_t k = 0; k < exact.size(); ++k) {
      if (k == 13) {  // x + 1e-9 rounded to zero: x, or its successor once 1e-9 reaches it
        EXPECT_GE(got[i * 32 + k], x);
        EXPECT_LE(got[i * 32 + k], x + 1e-8F);
        continue;
      }
      EXPECT_EQ(got[i * 32 + k], exact[k]) << "value " << k << " of " << x;
    }
    const double d = x;
    const std::vector<double> near = {
        1 / std::sqrt(d), std::exp(d),  std::log(d),  std::sin(d),   std::cos(d),        std::pow(d, 1.3), 1 / d,
        std::tanh(d - 2), std::exp(-d), std::log2(d), std::log10(d), std::tan(d * 0.25), std::sin(d),      std::cos(d)};
    for (std::size_t k = 0; k < near.size(); ++k) {
      EXPECT_NEAR(got[i * 32 + exact.size() + k], near[k], 4e-6 * std::max(1.0, std::fabs(near[k])))
          << "approximation " << k << " of " << x;
    }
    const std::vector<double> reals = {std::sqrt(d),
                                       std::fma(d, d, 1e-3),
                                       std::fmin(d, 2) * std::fmax(d, 2),
                                       std::floor(-d) + std::ceil(d),
                                       d / 3.0 + d,
                                       std::nearbyint(d) + std::trunc(d)};
    for (std::size_t k = 0; k < reals.size(); ++k) {
      EXPECT_EQ(got_real[i * 6 + k], reals[k]) << "double " << k << " of " << x;
    }
  }
}

TEST_P(CudaHeader, TypesAndBuiltInVariables) {
  compile(R"(
#include <cuda_runtime.h>
#include <stdint.h>
__constant__ int table[4] = {3, 5, 7, 9};
static_assert(sizeof(dim3) == 12 && sizeof(float4) == 16 && alignof(float4) == 16 && alignof(int2) == 8, "");
static_assert(sizeof(uint64_t) == 8 && alignof(uint64_t) == 8 && sizeof(size_t) == sizeof(void*), "");
struct Mixed { char c; double d; };
static_assert(sizeof(Mixed) == 16, "");
extern "C" __global__ void __launch_bounds__(24) k(unsigned* out, float4* vectors, const float4* in) {
  const dim3 here = threadIdx;
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const unsigned thread = here.x + blockDim.x * (here.y + blockDim.y * here.z);
  const unsigned i = block * (blockDim.x * blockDim.y * blockDim.z) + thread;
  out[i] = table[i & 3] + 100 * threadIdx.z + 1000 * blockIdx.z + 10000 * gridDim.z;
  if (i < 4) {
    const float4 v = in[i];
    vectors[i] = make_float4(v.w, v.z, v.y, v.x);
  }
}
)");
  std::vector<float> in(16);
  for (std::size_t i = 0; i < in.size(); ++i) {
    in[i] = static_cast<float>(i);
  }
  const std::uint64_t out = allocate("out", 24 * 24 * 4);
  const std::uint64_t vectors = allocate("vectors", 64);
  launch({2, 3, 4}, {4, 3, 2}, {out, vectors, upload("in", in)});
  const auto got = download<std::uint32_t>(out, 24 * 24);
  const std::uint32_t table[4] = {3, 5, 7, 9};
  for (std::uint32_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i], table[i % 4] + 100 * (i % 24 / 12) + 1000 * (i / 24 / 6) + 40000) << i;
  }
  for (std::size_t i = 0; i < 16; ++i) {
    EXPECT_EQ(download<float>(vectors, 16)[i], in[i / 4 * 4 + 3 - i % 4]);
  }
  EXPECT_EQ(executor_.module().kernels.at(0).max_threads, 24U);
}

TEST_P(CudaHeader, TrapIsAFaultInTheCallersLine) {
  compile(
      "extern \"C\" __global__ void k(int* out) {\n  out[threadIdx.x] = 1;\n  if (threadIdx.x == 3)\n    "
      "__trap();\n}\n");
  try {
    launch({}, {32}, {allocate("out", 128)});
    FAIL() << "no trap";
  } catch (const SimulatedFault& fault) {
    EXPECT_NE(std::string(fault.what()).find("k.cu:4"), std::string::npos) << fault.what();
  }
}

}  // namespace
}  // namespace heddle::cuda
