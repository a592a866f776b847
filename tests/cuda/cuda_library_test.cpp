// What heddle/cuda.h has beside mathematics: overloads, limits, vector types, integer intrinsics, memory, half
// precision; against the same computed on the host.
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstring>

#include "base/random.hpp"
#include "cuda_device_test.hpp"

namespace heddle::cuda {
namespace {

class CudaLibrary : public test::CudaOnReference {};
INSTANTIATE_TEST_SUITE_P(AddressBits, CudaLibrary, ::testing::Values(32U, 64U));

// The types are what nvcc 13 gives, but for mixed pairs of min and max that it calls ambiguous.
TEST_P(CudaLibrary, OverloadsLimitsAndTypes) {
  compile(R"(
#include <cuda_runtime.h>
#include <cmath>
#include <climits>
#include <cfloat>
#define IS(type, expression) static_assert(__is_same(type, decltype(expression)), #expression)
struct cudaDeviceProp { int warpSize; };
__device__ void types(int i, unsigned u, long l, unsigned long ul, long long ll, unsigned long long ull, short s,
    float f,
                      double d, cudaDeviceProp prop) {
  IS(int, abs(i)); IS(long, abs(l)); IS(long long, abs(ll)); IS(float, abs(f)); IS(double, abs(d)); IS(int, abs(s));
  IS(float, sqrt(f)); IS(double, sqrt(d)); IS(double, sqrt(i)); IS(float, fma(f, f, f)); IS(double, fma(f, f, d));
  IS(float, fmax(f, f)); IS(double, fmax(f, d)); IS(double, fmin(f, i)); IS(float, pow(f, f)); IS(double, pow(f, i));
  IS(double, pow(i, i)); IS(double, pow(d, f)); IS(float, exp(f)); IS(double, log(i)); IS(float, floor(f));
  IS(float, fabs(f)); IS(double, fabs(i)); IS(float, atan2(f, f)); IS(double, atan2(f, d)); IS(float, fmod(f, f));
  IS(float, ldexp(f, i)); IS(float, round(f)); IS(long, lround(f)); IS(long long, llround(d)); IS(int, ilogb(f));
  IS(float, rsqrt(f)); IS(double, rsqrt(d)); IS(float, exp10(f)); IS(float, cbrt(f)); IS(float, normcdf(f));
  IS(float, std::sqrt(f)); IS(double, std::pow(f, d)); IS(bool, isnan(f)); IS(bool, isfinite(i)); IS(float,
      copysign(f, f));
  IS(int, max(i, i)); IS(unsigned, max(i, u)); IS(unsigned, max(u, i)); IS(long, min(l, l)); IS(unsigned long, max(ul,
      l));
  IS(long long, min(ll, ll)); IS(unsigned long long, max(ull, ll)); IS(long long, min(ll, i)); IS(long long, max(i,
      ll));
  IS(float, max(f, f)); IS(double, max(f, d)); IS(double, min(d, f)); IS(int, min(s, s)); IS(int, max(s, i));
  IS(long, max(i, l)); IS(float, max(f, i)); IS(int, min(warpSize, i));
  prop.warpSize = warpSize;
}
static_assert(INT32_MAX == 2147483647 && UINT64_MAX == ~0ULL && LONG_MAX > 0 && SIZE_MAX == ~size_t(0), "");
static_assert(DBL_EPSILON == 0x1p-52 && FLT_EPSILON == 0x1p-23f && M_PI > 3.14159265358979 && CHAR_BIT == 8, "");
static_assert(sizeof(char3) == 3 && sizeof(uchar4) == 4 && alignof(uchar4) == 4 && sizeof(short3) == 6, "");
static_assert(sizeof(long2) == 2 * sizeof(long) && sizeof(ulong4) == 4 * sizeof(long) && alignof(ulong4) == 16, "");
static_assert(sizeof(longlong3) == 24 && alignof(longlong2) == 16 && alignof(double4) == 16 && sizeof(float3) == 12,
    "");
static_assert(sizeof(ushort4) == 8 && alignof(ushort4) == 8 && alignof(int2) == 8 && sizeof(uint1) == 4, "");
extern "C" __global__ void k(double* out) {
  const long2 a = make_long2(1, 2);
  const ulong4 b = make_ulong4(1, 2, 3, 4);
  const double3 c = make_double3(1, 2, 3);
  out[0] = a.x + a.y + b.w + c.z;
  out[1] = abs(-2.5f) + abs(-3.25) + abs(-(1LL << 40));
  out[2] = max(2.5f, 3.5) + min(7L, 5L) + min(1LL << 40, 3);
  out[3] = DBL_MAX;
}
)");
  const std::uint64_t out = upload("out", std::vector<double>(4));
  launch({1}, {1}, {out});
  EXPECT_EQ(download<double>(out, 4), (std::vector<double>{10, 2.5 + 3.25 + 0x1p40, 3.5 + 5 + 3, DBL_MAX}));
}

// A file may hold host functions that use what the headers have for both sides.
TEST_P(CudaLibrary, HostFunctionsAreReadAndNotCompiled) {
  compile(R"(
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <assert.h>
__host__ __device__ double both(double x) { return sqrt(x) + max(1.0f, 2.0f); }
extern "C" __global__ void k(double* out) { out[0] = both(out[0]); }
int main() {
  int* x = (int*)malloc(4);
  memset(x, 0, sizeof(int));
  assert(sin(both(4.0)) < pow(2.0, x[0]));
  printf("%d\n", x[0]);
  free(x);
  return 0;
}
)");
  const std::uint64_t out = upload("out", std::vector<double>{9});
  launch({1}, {1}, {out});
  EXPECT_EQ(download<double>(out, 1)[0], 5);
}

// Exact functions, on the host by the C library.
TEST_P(CudaLibrary, ExactMathematics) {
  compile(R"(
extern "C" __global__ void k(const double* in, double* out, float* fout) {
  const int i = threadIdx.x;
  const double x = in[2 * i], y = in[2 * i + 1];
  const float f = (float)x, g = (float)y;
  double* o = out + 24 * i;
  float* p = fout + 24 * i;
  int e, q; double w; float v;
  *o++ = round(x); *o++ = nearbyint(x); *o++ = fmod(x, y); *o++ = remainder(x, y); *o++ = remquo(x, y, &q); *o++ = q;
  *o++ = frexp(x, &e); *o++ = e; *o++ = modf(x, &w); *o++ = w; *o++ = ldexp(x, -1040); *o++ = ldexp(x, 7);
  *o++ = ilogb(x); *o++ = logb(x); *o++ = nextafter(x, y); *o++ = fdim(x, y); *o++ = copysign(x, y);
  *o++ = lround(x * 0.001); *o++ = llrint(x * 0.001);
  *o++ = isfinite(x) + 2 * signbit(x) + 4 * isnormal(x) + 8 * fpclassify(x);
  *o++ = scalbn(y, 3); *o++ = rsqrt(fabs(x));
  *p++ = round(f); *p++ = fmodf(f, g); *p++ = remainderf(f, g); *p++ = frexpf(f, &e); *p++ = e; *p++ = modff(f, &v);
  *p++ = v; *p++ = ldexpf(f, -135); *p++ = nextafterf(f, g); *p++ = fdimf(f, g); *p++ = lroundf(f * 0.001f);
  *p++ = __fsqrt_rn(fabsf(f)); *p++ = __frcp_rn(f); *p++ = __fdiv_rn(f, g); *p++ = fdividef(f, g); *p++ = rintf(f);
  *p++ = (float)__dadd_rn(x, y); *p++ = (float)__dmul_rn(x, y); *p++ = __double2float_rn(x);
  *p++ = (float)__double2int_rn(x * 0.001);
  *p++ = __ll2float_rn(__float2ll_rn(f)); *p++ = (float)__double2ll_rz(y);
}
)");
  Random random(9);
  std::vector<double> in = {2.5,
                            1,
                            -2.5,
                            1,
                            3.5,
                            0.3,
                            -0.0,
                            5,
                            0.49999999999999994,
                            2,
                            4503599627370497.5,
                            3,
                            1e300,
                            7e-3,
                            5e-324,
                            1,
                            -1e-310,
                            3e-320,
                            1.0 / 3,
                            -1,
                            1023.75,
                            0.125};
  while (in.size() < 96) {
    in.push_back((random.unit() - 0.5) * std::ldexp(1.0, static_cast<int>(random.below(60)) - 20));
  }
  const std::uint64_t out = upload("out", std::vector<double>(48 * 24));
  const std::uint64_t fout = upload("fout", std::vector<float>(48 * 24));
  launch({1}, {48}, {upload("in", in), out, fout});
  const auto got = download<double>(out, 48 * 24);
  const auto fgot = download<float>(fout, 48 * 24);
  for (std::size_t i = 0; i < 48; ++i) {
    const double x = in[2 * i];
    const double y = in[2 * i + 1];
    const auto f = static_cast<float>(x);
    const auto g = static_cast<float>(y);
    int q = 0;
    int e = 0;
    double w = 0;
    const double quotient = std::remquo(x, y, &q);
    const double fraction = std::frexp(x, &e);
    const double part = std::modf(x, &w);
    const int kind = std::isnan(x) ? 0 : std::isinf(x) ? 1 : x == 0 ? 2 : std::isnormal(x) ? 4 : 3;
    const double sign = q < 0 ? -1 : 1;
    const std::vector<double> expected = {std::round(x),
                                          std::nearbyint(x),
                                          std::fmod(x, y),
                                          std::remainder(x, y),
                                          quotient,
                                          sign * (std::abs(q) & 7),
                                          fraction,
                                          static_cast<double>(e),
                                          part,
                                          w,
                                          std::ldexp(x, -1040),
                                          std::ldexp(x, 7),
                                          x == 0 ? -2147483648.0 : std::ilogb(x),
                                          std::logb(x),
                                          std::nextafter(x, y),
                                          std::fdim(x, y),
                                          std::copysign(x, y)};
    for (std::size_t k = 0; k < expected.size(); ++k) {
      EXPECT_EQ(std::bit_cast<std::uint64_t>(got[24 * i + k] + 0.0), std::bit_cast<std::uint64_t>(expected[k] + 0.0))
          << "double " << k << " of " << x << ", " << y << ": " << got[24 * i + k] << " instead of " << expected[k];
    }
    if (std::fabs(x) < 1e9) {
      EXPECT_EQ(got[24 * i + 17], static_cast<double>(std::lround(x * 0.001))) << x;
      EXPECT_EQ(got[24 * i + 18], static_cast<double>(std::llrint(x * 0.001))) << x;
    }
    EXPECT_EQ(got[24 * i + 19], std::isfinite(x) + 2 * std::signbit(x) + 4 * std::isnormal(x) + 8 * kind) << x;
    EXPECT_EQ(got[24 * i + 20], std::scalbn(y, 3));
    if (!std::isfinite(f) || g == 0) continue;
    float v = 0;
    const float ffraction = std::frexp(f, &e);
    const float fpart = std::modf(f, &v);
    const std::vector<float> fexpected = {
        std::round(f),
        std::fmod(f, g),
        std::remainder(f, g),
        ffraction,
        static_cast<float>(e),
        fpart,
        v,
        std::ldexp(f, -135),
        std::nextafter(f, g),
        std::fdim(f, g),
        std::fabs(x) < 1e9 ? static_cast<float>(std::lround(f * 0.001F)) : fgot[24 * i + 10],
        std::sqrt(std::fabs(f)),
        1 / f,
        f / g,
        f / g,
        std::nearbyint(f),
        static_cast<float>(x + y),
        static_cast<float>(x * y),
        f};
    for (std::size_t k = 0; k < fexpected.size(); ++k) {
      EXPECT_EQ(fgot[24 * i + k], fexpected[k]) << "float " << k << " of " << x << ", " << y;
    }
    if (std::fabs(x) < 1e9 && std::fabs(y) < 1e9) {
      EXPECT_EQ(fgot[24 * i + 19], static_cast<float>(std::nearbyint(x * 0.001)));
      EXPECT_EQ(fgot[24 * i + 20], std::nearbyint(f));
      EXPECT_EQ(fgot[24 * i + 21], static_cast<float>(std::trunc(y)));
    }
  }
}

TEST_P(CudaLibrary, WordsOfBytesAndHalves) {
  compile(R"(
extern "C" __global__ void k(const unsigned* in, unsigned* out) {
  const unsigned a = in[2 * threadIdx.x], b = in[2 * threadIdx.x + 1];
  unsigned* o = out + 32 * threadIdx.x;
  *o++ = __vadd4(a, b); *o++ = __vsub4(a, b); *o++ = __vavgu4(a, b); *o++ = __vhaddu4(a, b); *o++ = __vcmpeq4(a,
      b & a);
  *o++ = __vcmpgeu4(a, b); *o++ = __vcmpgts4(a, b); *o++ = __vmaxu4(a, b); *o++ = __vmins4(a, b);
  *o++ = __vabsdiffu4(a, b);
  *o++ = __vadd2(a, b); *o++ = __vsub2(a, b); *o++ = __vavgu2(a, b); *o++ = __vhaddu2(a, b); *o++ = __vcmpeq2(a,
      b & a);
  *o++ = __vcmpgeu2(a, b); *o++ = __vcmpgts2(a, b); *o++ = __vmaxu2(a, b); *o++ = __vmins2(a, b);
  *o++ = __vabsdiffu2(a, b);
  *o++ = __hadd((int)a, (int)b); *o++ = __rhadd((int)a, (int)b); *o++ = __uhadd(a, b); *o++ = __urhadd(a, b);
  *o++ = __vsadu4(a, b); *o++ = __dp4a((int)a, (int)b, 5); *o++ = __dp4a(a, b, 5U); *o++ = __vneg4(a);
}
)");
  Random random(2);
  std::vector<std::uint32_t> in = {0, 0, ~0U, ~0U, 0x80808080U, 0x7f7f7f7fU, 0xff00ff00U, 0x00ff00ffU};
  while (in.size() < 128)
    in.push_back(random.below(4) == 0 ? in[in.size() - 1] ^ (1U << random.below(32)) : random.next32());
  const std::uint64_t out = upload("out", std::vector<std::uint32_t>(64 * 32));
  launch({1}, {64}, {upload("in", in), out});
  const auto got = download<std::uint32_t>(out, 64 * 32);
  const auto by_lane = [](unsigned bits, std::uint32_t a, std::uint32_t b, auto f) {
    std::uint32_t result = 0;
    const std::uint32_t mask = (1U << bits) - 1;
    for (unsigned at = 0; at < 32; at += bits) {
      const auto sign = [&](std::uint32_t v) { return static_cast<std::int32_t>(v << (32 - bits)) >> (32 - bits); };
      const std::uint32_t x = (a >> at) & mask;
      const std::uint32_t y = (b >> at) & mask;
      result |= (static_cast<std::uint32_t>(f(x, y, sign(x), sign(y))) & mask) << at;
    }
    return result;
  };
  using U = std::uint32_t;
  using S = std::int32_t;
  for (std::size_t i = 0; i < 64; ++i) {
    const U a = in[2 * i];
    const U b = in[2 * i + 1];
    std::vector<U> expected;
    for (const unsigned bits : {8U, 16U}) {
      expected.push_back(by_lane(bits, a, b, [](U x, U y, S, S) { return x + y; }));
      expected.push_back(by_lane(bits, a, b, [](U x, U y, S, S) { return x - y; }));
      expected.push_back(by_lane(bits, a, b, [](U x, U y, S, S) { return (x + y + 1) / 2; }));
      expected.push_back(by_lane(bits, a, b, [](U x, U y, S, S) { return (x + y) / 2; }));
      expected.push_back(by_lane(bits, a, b & a, [](U x, U y, S, S) { return x == y ? ~0U : 0U; }));
      expected.push_back(by_lane(bits, a, b, [](U x, U y, S, S) { return x >= y ? ~0U : 0U; }));
      expected.push_back(by_lane(bits, a, b, [](U, U, S x, S y) { return x > y ? ~0U : 0U; }));
      expected.push_back(by_lane(bits, a, b, [](U x, U y, S, S) { return std::max(x, y); }));
      expected.push_back(by_lane(bits, a, b, [](U, U, S x, S y) { return std::min(x, y); }));
      expected.push_back(by_lane(bits, a, b, [](U x, U y, S, S) { return x > y ? x - y : y - x; }));
    }
    const std::int64_t sum = std::int64_t{static_cast<S>(a)} + static_cast<S>(b);
    const std::uint64_t usum = std::uint64_t{a} + b;
    expected.push_back(static_cast<U>(sum >> 1U));
    expected.push_back(static_cast<U>((sum + 1) >> 1U));
    expected.push_back(static_cast<U>(usum / 2));
    expected.push_back(static_cast<U>((usum + 1) / 2));
    U sad = 0;
    S dot = 5;
    U udot = 5;
    for (unsigned at = 0; at < 32; at += 8) {
      const U x = (a >> at) & 255U;
      const U y = (b >> at) & 255U;
      sad += x > y ? x - y : y - x;
      dot += static_cast<std::int8_t>(x) * static_cast<std::int8_t>(y);
      udot += x * y;
    }
    expected.push_back(sad);
    expected.push_back(static_cast<U>(dot));
    expected.push_back(udot);
    expected.push_back(by_lane(8, a, 0, [](U x, U, S, S) { return 0U - x; }));
    for (std::size_t k = 0; k < expected.size(); ++k) {
      EXPECT_EQ(got[32 * i + k], expected[k]) << "value " << k << std::hex << " of " << a << ", " << b;
    }
  }
}

TEST_P(CudaLibrary, MemoryAndHintedAccesses) {
  compile(R"(
#include <string.h>
extern "C" __global__ void k(char* bytes, const unsigned* sizes, unsigned long long* words, float4* vectors) {
  const unsigned i = threadIdx.x, size = sizes[i];
  char* mine = bytes + 64 * i;
  memset(mine, 7, size);
  char local[32];
  for (int j = 0; j < 32; ++j) local[j] = (char)(i + j);
  memcpy(mine + 32, local, size);
  memcpy(mine + 60, &size, 4);
  if (i == 3) memmove(mine + 33, mine + 32, 8);
  words[2 * i] = memcmp(mine, mine + 32, 8) < 0;
  words[2 * i + 1] = __ldcg(words + 2 * i + 1) + strlen("four") + __ldcs(sizes + i) + __ldcv(sizes + i);
  float4 v = __ldcg(vectors + i);
  v.x += 1;
  __stcs(vectors + i, v);
  __nanosleep(5);
  __match_any_sync(~0U, i / 4);
  unsigned all; int same;
  all = __match_all_sync(~0U, 5, &same);
  words[2 * i + 1] += ((unsigned long long)__match_any_sync(~0U, i / 4) << 32) + (all == ~0U && same ? 1 : 0) +
                      (unsigned long long)__reduce_add_sync(~0U, i) * 1000 + (__reduce_max_sync(~0U,
                          (int)i) == 31 ? 100000 : 0);
  atomicAdd_block((unsigned*)bytes + 9, 1U);
}
)");
  std::vector<std::uint32_t> sizes;
  for (std::uint32_t i = 0; i < 32; ++i) sizes.push_back(i % 28);
  sizes[0] = 0;
  const std::uint64_t bytes = upload("bytes", std::vector<char>(64 * 32, 'z'));
  const std::uint64_t words = upload("words", std::vector<std::uint64_t>(64, 10));
  const std::uint64_t vectors = upload("vectors", std::vector<float>(128, 1.5F));
  launch({1}, {32}, {bytes, upload("sizes", sizes), words, vectors});
  std::vector<char> expected(64 * 32, 'z');
  const auto got = download<char>(bytes, 64 * 32);
  const auto got_words = download<std::uint64_t>(words, 64);
  for (std::uint32_t i = 0; i < 32; ++i) {
    char* const mine = expected.data() + std::size_t{64} * i;
    std::memset(mine, 7, sizes[i]);
    for (std::uint32_t j = 0; j < sizes[i]; ++j) mine[32 + j] = static_cast<char>(i + j);
    std::memcpy(mine + 60, &sizes[i], 4);
    if (i == 3) std::memmove(mine + 33, mine + 32, 8);
    EXPECT_EQ(got_words[2 * i], std::memcmp(mine, mine + 32, 8) < 0 ? 1U : 0U) << i;
    EXPECT_EQ(got_words[2 * i + 1],
              10 + 4 + 2 * sizes[i] + (std::uint64_t{0xfU << (i / 4 * 4)} << 32U) + 1 + 496000 + 100000)
        << i;
  }
  std::uint32_t counter = 0;
  std::memcpy(&counter, expected.data() + 36, 4);
  counter += 32;
  std::memcpy(expected.data() + 36, &counter, 4);
  EXPECT_EQ(got, expected);
  EXPECT_EQ(download<float>(vectors, 8), (std::vector<float>{2.5F, 1.5F, 1.5F, 1.5F, 2.5F, 1.5F, 1.5F, 1.5F}));
}

// The value of a half's bits, by its definition; and the nearest half, by trying both neighbours.
double value_of_half(std::uint32_t bits) {
  const std::uint32_t exponent = (bits >> 10U) & 31U;
  const double fraction = bits & 1023U;
  const double size = exponent == 31  ? (fraction == 0 ? INFINITY : NAN)
                      : exponent == 0 ? std::ldexp(fraction, -24)
                                      : std::ldexp(1024 + fraction, static_cast<int>(exponent) - 25);
  return (bits & 0x8000U) != 0 ? -size : size;
}
std::uint32_t nearest_half(double x) {
  std::uint32_t low = 0;
  std::uint32_t high = 0x7c00;
  const double size = std::fabs(x);
  const std::uint32_t sign = std::signbit(x) ? 0x8000U : 0;
  if (std::isnan(x)) return 0x7fff;
  if (size >= 65520) return sign | 0x7c00U;
  while (high - low > 1) {
    const std::uint32_t middle = (low + high) / 2;
    (value_of_half(middle) <= size ? low : high) = middle;
  }
  const double above = high == 0x7c00 ? 65536 : value_of_half(high);
  const double below = size - value_of_half(low);
  const double rest = above - size;
  return sign | (rest < below || (rest == below && (low & 1U) != 0) ? high : low);
}

TEST_P(CudaLibrary, HalfPrecision) {
  compile(R"(
#include <cuda_fp16.h>
extern "C" __global__ void k(const unsigned short* in, const double* real, unsigned short* out) {
  const int i = threadIdx.x;
  const __half a = __ushort_as_half(in[2 * i]), b = __ushort_as_half(in[2 * i + 1]);
  unsigned short* o = out + 16 * i;
  *o++ = __half_as_ushort(a + b); *o++ = __half_as_ushort(a - b); *o++ = __half_as_ushort(a * b);
  *o++ = __half_as_ushort(a / b);
  *o++ = __half_as_ushort(__hfma(a, b, a)); *o++ = __half_as_ushort(__float2half((float)real[i]));
  *o++ = __half_as_ushort(__double2half(real[i])); *o++ = (a < b) + 2 * (a == b) + 4 * __hge(a, b) + 8 * __hisnan(a);
  *o++ = __half_as_ushort(hsqrt(__habs(a))); *o++ = __half_as_ushort(__hneg(a)); *o++ = __half_as_ushort(__hmax(a,
      b));
  const __half2 sum = __hadd2(__halves2half2(a, b), __float2half2_rn(1.0f));
  *o++ = __half_as_ushort(__low2half(sum)); *o++ = __half_as_ushort(__high2half(sum));
  *o++ = __half_as_ushort(__half(__half2float(a)));
}
)");
  Random random(4);
  std::vector<std::uint16_t> in = {0, 0x8000, 0x3c00, 0x3c00, 0x7bff, 0x7bff, 1,
                                   1, 0x400,  0x3ff,  0x7c00, 0x3c00, 0x7e00, 0x3c00};
  while (in.size() < 512) in.push_back(static_cast<std::uint16_t>(random.next32()));
  std::vector<double> real = {1 + 0x1p-11, 1 + 0x1p-11 + 0x1p-40, 65519.999, 65520, 0x1p-25, 0x1.8p-25, 1e9, -1e-9};
  while (real.size() < 256)
    real.push_back((random.unit() - 0.5) * std::ldexp(1.0, static_cast<int>(random.below(40)) - 20));
  const std::uint64_t out = upload("out", std::vector<std::uint16_t>(256 * 16));
  launch({1}, {256}, {upload("in", in), upload("real", real), out});
  const auto got = download<std::uint16_t>(out, 256 * 16);
  for (std::size_t i = 0; i < 256; ++i) {
    const double a = value_of_half(in[2 * i]);
    const double b = value_of_half(in[2 * i + 1]);
    const std::vector<double> exact = {
        a + b, a - b, a * b, a / b, std::fma(a, b, a), static_cast<double>(static_cast<float>(real[i])), real[i]};
    for (std::size_t k = 0; k < exact.size(); ++k) {
      if (std::isnan(exact[k])) {
        EXPECT_GT(got[16 * i + k] & 0x7fff, 0x7c00) << k;
      } else {
        EXPECT_EQ(got[16 * i + k], nearest_half(exact[k]))
            << "value " << k << " of " << a << ", " << b << ", " << real[i];
      }
    }
    EXPECT_EQ(got[16 * i + 7], (a < b ? 1 : 0) + (a == b ? 2 : 0) + (a >= b ? 4 : 0) + (std::isnan(a) ? 8 : 0));
    if (!std::isnan(a)) {
      EXPECT_EQ(got[16 * i + 8], nearest_half(std::sqrt(std::fabs(a))));
      EXPECT_EQ(got[16 * i + 9], in[2 * i] ^ 0x8000);
      EXPECT_EQ(got[16 * i + 11], nearest_half(a + 1));
      EXPECT_EQ(got[16 * i + 13], in[2 * i]);
      if (!std::isnan(b) && a != b) {
        EXPECT_EQ(got[16 * i + 10], a > b ? in[2 * i] : in[2 * i + 1]);
      }
    }
  }
}

// What one thread puts into a variable that all read by name: clang may not read it before the barrier.
TEST_P(CudaLibrary, ABarrierOrdersVariablesThatAreOnlyNamed) {
  compile(R"(
extern "C" __global__ void k(unsigned* values, const unsigned* sums) {
  __shared__ unsigned before;
  if (threadIdx.x == 0) {
    before = sums[blockIdx.x];
  }
  __syncthreads();
  values[blockIdx.x * blockDim.x + threadIdx.x] += before;
}
)");
  constexpr unsigned kBlock = 64;
  std::vector<std::uint32_t> values(3 * kBlock);
  std::vector<std::uint32_t> expected;
  for (unsigned i = 0; i < values.size(); ++i) {
    values[i] = i;
    expected.push_back(i + 1000 * (i / kBlock + 1));
  }
  const std::uint64_t device_values = upload("values", values);
  const std::uint64_t device_sums = upload("sums", std::vector<std::uint32_t>{1000, 2000, 3000});
  launch({3}, {kBlock}, {device_values, device_sums});
  EXPECT_EQ(download<std::uint32_t>(device_values, values.size()), expected);
}

}  // namespace
}  // namespace heddle::cuda
