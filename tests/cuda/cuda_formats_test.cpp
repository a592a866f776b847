// cuda_bf16.h and cuda_fp8.h in kernels: every value of the formats, against integers (exact_number.hpp).
#include <bit>
#include <cmath>
#include <iterator>
#include <utility>

#include "base/random.hpp"
#include "cuda_device_test.hpp"
#include "exact_number.hpp"
#include "tests/support/marks.hpp"

HEDDLE_LONG_SANITIZED("AddressBits/CudaFormats.E*")  // numbers of kernels that others run through the same code

namespace heddle::test {
namespace {

class CudaFormats : public CudaOnReference {};

INSTANTIATE_TEST_SUITE_P(AddressBits, CudaFormats, ::testing::Values(32U, 64U));

constexpr std::size_t kValues = 65536;
constexpr Rounding kRoundings[] = {Rounding::nearest, Rounding::to_zero, Rounding::down, Rounding::up};

double value_of(std::uint16_t bfloat) {
  return std::bit_cast<float>(std::uint32_t{bfloat} << 16);
}

// The bfloat16 of x, which is `real` where that is no finite number.
std::uint16_t bfloat_of(const std::optional<Exact>& x, double real, Rounding rounding = Rounding::nearest) {
  if (x) return static_cast<std::uint16_t>(rounded(*x, kBfloat, rounding));
  if (std::isnan(real)) return 0x7fff;
  return real < 0 ? 0xff80 : 0x7f80;
}
// The 8-bit number of x, saturated or not.
std::uint8_t float8_of(const std::optional<Exact>& x, double real, Format format, bool saturate) {
  const std::uint8_t largest = format.infinity ? 0x7b : 0x7e;
  const std::uint8_t beyond = saturate ? largest : format.infinity ? 0x7c : 0x7f;
  if (x) return static_cast<std::uint8_t>(rounded(*x, format, Rounding::nearest, beyond));
  if (std::isnan(real)) return 0x7f;
  return real < 0 ? beyond | 0x80 : beyond;
}

// Values near ties: the upper bits of all bfloat16, with lower ones that decide.
std::vector<std::uint32_t> singles(Random& random) {
  constexpr std::uint32_t kLower[] = {0, 1, 0x7fff, 0x8000, 0x8001, 0xffff};
  std::vector<std::uint32_t> values;
  for (std::uint32_t i = 0; i < kValues; ++i) {
    const std::uint32_t which = random.below(8);
    values.push_back(i << 16 | (which < 6 ? kLower[which] : random.next32() & 0xffffU));
  }
  return values;
}

TEST_P(CudaFormats, EveryBfloat16IsConvertedAsByIntegers) {
  compile(R"(
#include <cuda_bf16.h>
extern "C" __global__ void k(const float* singles, const long long* wholes, unsigned short* out, int* integers) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const __nv_bfloat16 h = __ushort_as_bfloat16(i);
  unsigned short* o = out + i * 12;
  *o++ = __bfloat16_as_ushort(__float2bfloat16_rn(singles[i]));
  *o++ = __bfloat16_as_ushort(__float2bfloat16_rz(singles[i]));
  *o++ = __bfloat16_as_ushort(__float2bfloat16_rd(singles[i]));
  *o++ = __bfloat16_as_ushort(__float2bfloat16_ru(singles[i]));
  // Beside the float by less than its last bit.
  const double beside = singles[i] * (1 + 0x1p-40);
  *o++ = __bfloat16_as_ushort(__double2bfloat16(beside)); *o++ = __bfloat16_as_ushort(__nv_bfloat16(wholes[i]));
  *o++ = __bfloat16_as_ushort(__ll2bfloat16_rz(wholes[i])); *o++ = __bfloat16_as_ushort(__ull2bfloat16_ru(wholes[i]));
  *o++ = __bfloat16_as_ushort(__int2bfloat16_rd((int)wholes[i])); *o++ = __bfloat16_as_ushort(__ushort2bfloat16_rn(i));
  *o++ = __bfloat16_as_ushort(__float2bfloat16(__bfloat162float(h))); *o++ = __bfloat162ushort_rz(h);
  int* n = integers + i * 4;
  n[0] = __bfloat162int_rn(h); n[1] = __bfloat162int_rz(h); n[2] = __bfloat162int_rd(h); n[3] = __bfloat162int_ru(h);
}
)");
  Random random(11);
  const std::vector<std::uint32_t> in = singles(random);
  std::vector<std::int64_t> wholes;
  for (std::size_t i = 0; i < kValues; ++i) {
    wholes.push_back(static_cast<std::int64_t>(random.next() >> random.below(64)) * (i % 2 == 0 ? 1 : -1));
  }
  const std::uint64_t out = upload("out", std::vector<std::uint16_t>(kValues * 12));
  const std::uint64_t integers = upload("integers", std::vector<std::int32_t>(kValues * 4));
  launch({kValues / 256}, {256}, {upload("in", in), upload("wholes", wholes), out, integers});
  const auto got = download<std::uint16_t>(out, kValues * 12);
  const auto whole = download<std::int32_t>(integers, kValues * 4);
  const auto of_integer = [](bool negative, std::uint64_t size, Rounding rounding) {
    return bfloat_of(Exact{negative, size, 0}, 0, rounding);
  };
  for (std::size_t i = 0; i < kValues; ++i) {
    SCOPED_TRACE(i);
    const float single = std::bit_cast<float>(in[i]);
    std::vector<std::uint16_t> expected;
    for (const Rounding rounding : kRoundings) {
      expected.push_back(bfloat_of(exact(in[i], kSingle), single, rounding));
    }
    const double beside = single * (1 + 0x1p-40);
    expected.push_back(bfloat_of(exact(std::bit_cast<std::uint64_t>(beside), kDouble), beside));
    const std::int64_t n = wholes[i];
    const std::uint64_t size = n < 0 ? 0 - static_cast<std::uint64_t>(n) : static_cast<std::uint64_t>(n);
    expected.push_back(of_integer(n < 0, size, Rounding::nearest));
    expected.push_back(of_integer(n < 0, size, Rounding::to_zero));
    expected.push_back(of_integer(false, static_cast<std::uint64_t>(n), Rounding::up));
    const auto low = static_cast<std::int32_t>(n);
    expected.push_back(of_integer(low < 0, static_cast<std::uint64_t>(std::abs(std::int64_t{low})), Rounding::down));
    expected.push_back(of_integer(false, i, Rounding::nearest));
    const double value = value_of(static_cast<std::uint16_t>(i));
    expected.push_back(std::isnan(value) ? 0x7fff : static_cast<std::uint16_t>(i));
    expected.push_back(std::isnan(value) ? 0 : static_cast<std::uint16_t>(std::fmin(std::fmax(value, 0), 65535)));
    ASSERT_EQ(std::vector(got.begin() + static_cast<std::ptrdiff_t>(i) * 12,
                          got.begin() + static_cast<std::ptrdiff_t>(i) * 12 + 12),
              expected);
    const double ways[] = {std::nearbyint(value), std::trunc(value), std::floor(value), std::ceil(value)};
    for (std::size_t way = 0; way < 4; ++way) {
      const double kept = std::fmin(std::fmax(ways[way], -0x1p31), 0x1p31 - 1);
      ASSERT_EQ(whole[i * 4 + way], std::isnan(value) ? 0 : static_cast<std::int32_t>(kept)) << way;
    }
  }
}

TEST_P(CudaFormats, Bfloat16ArithmeticIsCorrectlyRounded) {
  compile(R"(
#include <cuda_bf16.h>
extern "C" __global__ void k(const unsigned short* in, unsigned short* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const __nv_bfloat16 a = __ushort_as_bfloat16(i);
  const __nv_bfloat16 b = __ushort_as_bfloat16(in[2 * i]), c = __ushort_as_bfloat16(in[2 * i + 1]);
  unsigned short* o = out + i * 12;
  __nv_bfloat16 sum = a; sum += b;
  *o++ = __bfloat16_as_ushort(sum); *o++ = __bfloat16_as_ushort(a - b); *o++ = __bfloat16_as_ushort(a * b);
  *o++ = __bfloat16_as_ushort(a / b); *o++ = __bfloat16_as_ushort(__hfma(a, b, c));
  *o++ = __hlt(a, b) | __heq(a, b) << 1 | __hgt(a, b) << 2 | __hle(a, b) << 3 | __hne(a, b) << 4 | (a != b) << 5 |
         __hltu(a, b) << 6 | __hgeu(a, b) << 7 | __hisnan(a) << 8 | (__hisinf(a) != 0) << 9;
  *o++ = __bfloat16_as_ushort(__hmax(a, b)); *o++ = __bfloat16_as_ushort(__hmin_nan(a, b));
  const __nv_bfloat162 pair = __hfma2(__halves2bfloat162(a, c), __bfloat162bfloat162(b), make_bfloat162(c, a));
  *o++ = __bfloat16_as_ushort(__low2bfloat16(pair)); *o++ = __bfloat16_as_ushort(__high2bfloat16(pair));
  *o++ = __bfloat16_as_ushort(__hadd_sat(a, b)); *o++ = __bfloat16_as_ushort(hsqrt(__habs(a)));
}
)");
  Random random(12);
  std::vector<std::uint16_t> in;
  for (std::uint32_t i = 0; i < kValues; ++i) {
    // Partners of any size, of a similar one, and such that products and quotients are near the ends of the range.
    const std::uint32_t near = i ^ (random.next32() & 0x83ffU);
    in.push_back(static_cast<std::uint16_t>(i % 3 == 0   ? random.next32()
                                            : i % 3 == 1 ? near
                                                         : 0x7f00U - (i & 0x7f80U) + (random.next32() & 0x80ffU)));
    in.push_back(static_cast<std::uint16_t>(random.next32()));
  }
  const std::uint64_t out = upload("out", std::vector<std::uint16_t>(kValues * 12));
  launch({kValues / 256}, {256}, {upload("in", in), out});
  const auto got = download<std::uint16_t>(out, kValues * 12);
  for (std::size_t i = 0; i < kValues; ++i) {
    SCOPED_TRACE(i);
    const auto bits = static_cast<std::uint16_t>(i);
    const double a = value_of(bits);
    const double b = value_of(in[2 * i]);
    const double c = value_of(in[2 * i + 1]);
    const auto x = exact(bits, kBfloat);
    const auto y = exact(in[2 * i], kBfloat);
    const auto z = exact(in[2 * i + 1], kBfloat);
    const bool both = x && y;
    const auto fused = [](const auto& one, const auto& two, const auto& more, double real) {
      return one && two && more ? bfloat_of(sum(product(*one, *two), *more), real) : bfloat_of({}, real);
    };
    std::vector<std::uint16_t> expected;
    expected.push_back(bfloat_of(both ? std::optional(sum(*x, *y)) : std::nullopt, a + b));
    expected.push_back(bfloat_of(both ? std::optional(sum(*x, negated(*y))) : std::nullopt, a - b));
    expected.push_back(bfloat_of(both ? std::optional(product(*x, *y)) : std::nullopt, a * b));
    std::optional<Exact> ratio;
    if (both && y->size != 0) ratio = quotient(*x, *y);
    if (x && std::isinf(b)) ratio = Exact{std::signbit(a) != std::signbit(b), 0, 0};
    expected.push_back(bfloat_of(ratio, a / b));
    expected.push_back(fused(x, y, z, std::fma(a, b, c)));
    const bool none = std::isnan(a) || std::isnan(b);
    expected.push_back(static_cast<std::uint16_t>((a < b ? 1 : 0) | (a == b ? 2 : 0) | (a > b ? 4 : 0) |
                                                  (a <= b ? 8 : 0) | (a != b && !none ? 16 : 0) | (a != b ? 32 : 0) |
                                                  (a < b || none ? 64 : 0) | (a >= b || none ? 128 : 0) |
                                                  (std::isnan(a) ? 256 : 0) | (std::isinf(a) ? 512 : 0)));
    const std::uint16_t both_none = std::isnan(a) && std::isnan(b) ? 0x7fff : std::isnan(a) ? in[2 * i] : bits;
    const bool zeros = a == 0 && b == 0;
    expected.push_back(none    ? both_none
                       : zeros ? static_cast<std::uint16_t>(bits & in[2 * i])
                       : a > b ? bits
                               : in[2 * i]);
    expected.push_back(none ? 0x7fff : zeros ? static_cast<std::uint16_t>(bits | in[2 * i]) : a < b ? bits : in[2 * i]);
    expected.push_back(fused(x, y, z, std::fma(a, b, c)));
    expected.push_back(fused(z, y, x, std::fma(c, b, a)));
    const double total = value_of(expected[0]);
    expected.push_back(total > 1 ? 0x3f80 : total > 0 ? expected[0] : 0);
    // A root of 8 bits is no tie of 9, so the nearest single precision number decides.
    const float root = static_cast<float>(std::sqrt(std::fabs(a)));
    expected.push_back(bfloat_of(exact(std::bit_cast<std::uint32_t>(root), kSingle), root));
    ASSERT_EQ(std::vector(got.begin() + static_cast<std::ptrdiff_t>(i) * 12,
                          got.begin() + static_cast<std::ptrdiff_t>(i) * 12 + 12),
              expected)
        << std::hex << bits << " " << in[2 * i] << " " << in[2 * i + 1];
  }
}

TEST_P(CudaFormats, EightBitsAreMadeOfEveryNumberOf16AndGiveItBack) {
  compile(R"(
#include <cuda_fp8.h>
extern "C" __global__ void k(const float* singles, unsigned char* out, unsigned short* halves, float* values) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const __half_raw half = {(unsigned short)i};
  const __nv_bfloat16_raw bfloat = {(unsigned short)i};
  const double beside = singles[i] == singles[i] ? singles[i] * (1 + 0x1p-40) : 0;
  unsigned char* o = out + i * 12;
  for (int kind = 0; kind < 2; ++kind) {
    const auto as = kind == 0 ? __NV_E4M3 : __NV_E5M2;
    *o++ = __nv_cvt_halfraw_to_fp8(half, __NV_SATFINITE, as); *o++ = __nv_cvt_halfraw_to_fp8(half, __NV_NOSAT, as);
    *o++ = __nv_cvt_bfloat16raw_to_fp8(bfloat, __NV_SATFINITE, as);
    *o++ = __nv_cvt_float_to_fp8(singles[i], __NV_NOSAT, as);
    *o++ = __nv_cvt_double_to_fp8(beside, __NV_SATFINITE, as);
    *o++ = kind == 0 ? __nv_fp8_e4m3(__nv_bfloat16(bfloat)).__x : __nv_fp8_e5m2(__nv_bfloat16(bfloat)).__x;
  }
  if (i < 256) {
    halves[i] = __nv_cvt_fp8_to_halfraw(i, __NV_E4M3).x; halves[i + 256] = __nv_cvt_fp8_to_halfraw(i, __NV_E5M2).x;
    __nv_fp8_e4m3 fine; fine.__x = i;
    __nv_fp8x4_e5m2 four; four.__x = i << 16 | 0x3c;
    values[i] = float(fine); values[i + 256] = float4(four).z;
  }
}
)");
  Random random(13);
  std::vector<std::uint32_t> in = singles(random);
  // Near what lies between two numbers of 8 bits.
  for (std::size_t i = 0; i < kValues; i += 2) {
    const double tie = std::ldexp(static_cast<double>(random.below(64)), static_cast<int>(random.below(40)) - 22);
    const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(tie));
    in[i] = (bits == 0 ? 1 : bits - 1 + random.below(3)) | random.below(2) << 31;
  }
  const std::uint64_t out = upload("out", std::vector<std::uint8_t>(kValues * 12));
  const std::uint64_t halves = upload("halves", std::vector<std::uint16_t>(512));
  const std::uint64_t values = upload("values", std::vector<float>(512));
  launch({kValues / 256}, {256}, {upload("in", in), out, halves, values});
  const auto got = download<std::uint8_t>(out, kValues * 12);
  const auto got_halves = download<std::uint16_t>(halves, 512);
  const auto got_values = download<float>(values, 512);
  for (std::size_t i = 0; i < kValues; ++i) {
    SCOPED_TRACE(i);
    std::vector<std::uint8_t> expected;
    for (const Format format : {kE4M3, kE5M2}) {
      const bool none = (i & 0x7fffU) > 0x7c00U;
      const double limit = none ? std::nan("") : (i & 0x8000U) != 0 ? -INFINITY : INFINITY;
      const double bfloat = value_of(static_cast<std::uint16_t>(i));
      const float single = std::bit_cast<float>(in[i]);
      const double beside = std::isnan(single) ? 0 : single * (1 + 0x1p-40);
      expected.push_back(float8_of(exact(i, kHalf), limit, format, true));
      expected.push_back(float8_of(exact(i, kHalf), limit, format, false));
      expected.push_back(float8_of(exact(i, kBfloat), bfloat, format, true));
      expected.push_back(float8_of(exact(in[i], kSingle), single, format, false));
      expected.push_back(float8_of(exact(std::bit_cast<std::uint64_t>(beside), kDouble), beside, format, true));
      expected.push_back(expected[expected.size() - 3]);
    }
    ASSERT_EQ(std::vector(got.begin() + static_cast<std::ptrdiff_t>(i) * 12,
                          got.begin() + static_cast<std::ptrdiff_t>(i) * 12 + 12),
              expected)
        << std::hex << in[i];
  }
  for (std::size_t i = 0; i < 256; ++i) {
    for (const std::size_t kind : {0, 1}) {
      SCOPED_TRACE(i + 256 * kind);
      const Format format = kind == 0 ? kE4M3 : kE5M2;
      const auto value = exact(i, format);
      const bool infinite = kind == 1 && (i & 0x7fU) == 0x7cU;
      const std::uint16_t expected = value      ? static_cast<std::uint16_t>(rounded(*value, kHalf))
                                     : infinite ? static_cast<std::uint16_t>(i << 8)
                                                : 0x7fff;
      ASSERT_EQ(got_halves[i + 256 * kind], expected);
      const float real = got_values[i + 256 * kind];
      if (value) {
        ASSERT_EQ(std::bit_cast<std::uint32_t>(real), rounded(*value, kSingle));
      } else {
        ASSERT_TRUE(infinite ? std::isinf(real) && std::signbit(real) == (i > 127) : std::isnan(real));
      }
    }
  }
}

// What heddle nvcc's programs have of CUDA's libraries, kernels alone have too.
TEST_P(CudaFormats, KernelsAloneHaveTheLibrariesOfDeviceCode) {
  compile(R"(
#include <cooperative_groups/memcpy_async.h>
#include <cuComplex.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/std/atomic>
#include <cuda_fp16.h>
#include <cuda_pipeline_primitives.h>
#include <curand_kernel.h>
__device__ cuda::std::atomic<unsigned> total{1};
extern "C" __global__ void k(const float* in, float* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> ready;
  __shared__ float values[32];
  const auto block = cooperative_groups::this_thread_block();
  if (threadIdx.x == 0) init(&ready, 32);
  cooperative_groups::memcpy_async(block, values, in, sizeof values);
  cooperative_groups::wait(block);
  const auto token = ready.arrive();
  cuda::atomic_ref<float, cuda::thread_scope_block>(values[0]).fetch_add(0.5f);
  total += threadIdx.x;
  block.sync();
  curandState state;
  curand_init(1234, threadIdx.x, 0, &state);
  const cuFloatComplex square = cuCmulf(make_cuFloatComplex(values[threadIdx.x], 1), make_cuFloatComplex(0, 1));
  float* o = out + 4 * threadIdx.x;
  o[0] = curand_uniform(&state); o[1] = cuCimagf(square); o[2] = ready.try_wait(token + 0); o[3] = total;
}
)");
  std::vector<float> in;
  for (int i = 0; i < 32; ++i) in.push_back(static_cast<float>(i * i));
  const std::uint64_t out = upload("out", std::vector<float>(128));
  launch({1}, {32}, {upload("in", in), out});
  const auto got = download<float>(out, 128);
  // What the cuRAND manual's example prints for this seed.
  constexpr float kUniform[] = {0.1455F, 0.8202F, 0.5504F, 0.2948F, 0.9147F,
                                0.8690F, 0.3219F, 0.7829F, 0.0113F, 0.2855F};
  for (std::size_t i = 0; i < 32; ++i) {
    if (i < std::size(kUniform)) {
      EXPECT_NEAR(got[4 * i], kUniform[i], 0.00005) << i;
    }
    EXPECT_EQ(got[4 * i + 1], i == 0 ? 16.0F : in[i]) << i;
    EXPECT_EQ(got[4 * i + 2], 1.0F);
    EXPECT_EQ(got[4 * i + 3], 1.0F + 31 * 16);
  }
}

}  // namespace
}  // namespace heddle::test
