// The mathematics of heddle/cuda.h against the host's long double functions: the kernel that clang makes of it on the
// reference interpreter, and, on many more arguments, the same source compiled for the host. Bounds:
// cuda_functions.inc.
#include <gtest/gtest.h>

#include <bit>
#include <functional>
#include <string>

#include "base/random.hpp"
#include "cuda/compiler/cuda_compiler.hpp"
#include "cuda_reference.hpp"
#include "isa/device_memory.hpp"
#include "ptx/compile.hpp"
#include "tests/support/launch_folder.hpp"
#include "workloads/support.hpp"

// The device's functions on the host.
namespace on_host {
#define HEDDLE_MATH_ [[maybe_unused]] static inline
#define HEDDLE_NOINLINE_ [[maybe_unused]] static
#define HEDDLE_TABLE_ static const
#define HEDDLE_SQRT_ __builtin_sqrt
#define HEDDLE_SQRTF_ __builtin_sqrtf
HEDDLE_MATH_ float __int_as_float(int x) {
  return std::bit_cast<float>(x);
}
HEDDLE_MATH_ int __float_as_int(float x) {
  return std::bit_cast<int>(x);
}
HEDDLE_MATH_ double __longlong_as_double(long long x) {
  return std::bit_cast<double>(x);
}
HEDDLE_MATH_ long long __double_as_longlong(double x) {
  return std::bit_cast<long long>(x);
}
__extension__ using Wide = unsigned __int128;
HEDDLE_MATH_ unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>((static_cast<Wide>(a) * b) >> 64U);
}
HEDDLE_MATH_ int __clzll(long long x) {
  return std::countl_zero(static_cast<unsigned long long>(x));
}
#include "cuda/include/heddle/cuda_exponential.h"
// Behind it:
#include "cuda/include/heddle/cuda_trigonometry.h"
// Behind both:
#include "cuda/include/heddle/cuda_special_functions.h"
}  // namespace on_host

namespace heddle::cuda {
namespace {

using test::cos_of_pi;
using test::mathematics_arguments;
using test::scaled_erfc;
using test::sin_of_pi;
using test::ulps;

template <class T>
struct MathFunction {
  std::string name;
  double bound;
  double low, high;
  std::function<long double(long double, long double)> reference;
  std::function<T(T, T)> on_host;
  bool binary;
};

template <class T>
std::vector<MathFunction<T>> math_functions() {
  std::vector<MathFunction<T>> all;
  constexpr bool kDouble = sizeof(T) == 8;
#define FUNCTION1(name, of_double, of_float, exact, low, high)                           \
  all.push_back({kDouble ? #name : #name "f", kDouble ? of_double : of_float, low, high, \
                 [](long double x, long double) -> long double { return exact; },        \
                 [](T x, T) -> T {                                                       \
                   if constexpr (kDouble) {                                              \
                     return on_host::name(x);                                            \
                   } else {                                                              \
                     return on_host::name##f(x);                                         \
                   }                                                                     \
                 },                                                                      \
                 false});
#define FUNCTION2(name, of_double, of_float, exact, low, high)                           \
  all.push_back({kDouble ? #name : #name "f", kDouble ? of_double : of_float, low, high, \
                 [](long double x, long double y) -> long double { return exact; },      \
                 [](T x, T y) -> T {                                                     \
                   if constexpr (kDouble) {                                              \
                     return on_host::name(x, y);                                         \
                   } else {                                                              \
                     return on_host::name##f(x, y);                                      \
                   }                                                                     \
                 },                                                                      \
                 true});
#include "cuda_functions.inc"
#undef FUNCTION1
#undef FUNCTION2
  return all;
}

// Where no bound is stated: the zeros of lgamma at negative numbers, and gamma where it has poles or leaves the range.
template <class T>
bool has_stated_error(const MathFunction<T>& f, T x) {
  const bool gamma = f.name.find("gamma") != std::string::npos;
  return !gamma || !(x < 0);
}

template <class T>
std::vector<T> second_arguments(const MathFunction<T>& f, const std::vector<T>& x, Random& random) {
  std::vector<T> y = mathematics_arguments<T>(x.size(), f.low, f.high, random);
  for (std::size_t i = y.size() - 1; i > 0; --i) {
    std::swap(y[i], y[random.below(static_cast<std::uint32_t>(i + 1))]);
  }
  for (std::size_t i = 0; i < y.size(); i += 3) {
    y[i] = i % 2 == 0 ? x[i] * static_cast<T>(random.unit()) : static_cast<T>(static_cast<int>(random.below(40)) - 20);
  }
  return y;
}

template <class T>
void check_function(const MathFunction<T>& f, const std::vector<T>& x, const std::vector<T>& y,
                    const std::vector<T>& got) {
  double worst = 0;
  std::size_t where = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const long double exact = f.reference(x[i], y[i]);
    if (!has_stated_error(f, x[i])) continue;
    const double error = ulps(got[i], exact);
    if (!(error <= worst)) {
      worst = error;
      where = i;
    }
    if (exact == 0 && got[i] == 0) {
      EXPECT_EQ(std::signbit(got[i]), std::signbit(exact)) << f.name << "(" << x[i] << ", " << y[i] << ")";
    }
  }
  EXPECT_LE(worst, f.bound) << f.name << " is " << worst << " ulp off at " << std::hexfloat << x[where] << ", "
                            << y[where] << ": " << got[where] << " instead of "
                            << static_cast<double>(f.reference(x[where], y[where]));
}

// Every function of one width in one kernel, one function a block.
template <class T>
void check_on_device(std::size_t count) {
  const char* const type = sizeof(T) == 8 ? "double" : "float";
  const auto functions = math_functions<T>();
  std::string source = std::string("typedef ") + type +
                       " T;\nextern \"C\" __global__ void k(const T* x, const T* y, T* out) {\n" +
                       "  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n  switch (blockIdx.x) {\n";
  for (std::size_t f = 0; f < functions.size(); ++f) {
    source += "    case " + std::to_string(f) + ": out[i] = " + functions[f].name +
              (functions[f].binary ? "(x[i], y[i])" : "(x[i])") + "; break;\n";
  }
  source += "  }\n}\n";
  const test::LaunchFolder folder;
  folder.write("k.cu", source);
  tb::ReferenceExecutor executor;
  executor.load(ptx::compile(compile_cuda(folder.path("k.cu"), 64), "k.ptx"));
  Random random(17);
  std::vector<T> x;
  std::vector<T> y;
  for (const MathFunction<T>& f : functions) {
    const auto first = mathematics_arguments<T>(count, f.low, f.high, random);
    const auto second = second_arguments(f, first, random);
    x.insert(x.end(), first.begin(), first.end());
    y.insert(y.end(), second.begin(), second.end());
  }
  isa::DeviceMemory& memory = executor.memory();
  const std::uint64_t bytes = x.size() * sizeof(T);
  tb::Arguments arguments(executor.module(), "k");
  std::vector<std::uint64_t> addresses;
  for (const char* const name : {"x", "y", "out"}) {
    addresses.push_back(memory.allocate(name, bytes, false));
    arguments.pointer(addresses.back());
  }
  memory.write(addresses[0], std::as_bytes(std::span(x)));
  memory.write(addresses[1], std::as_bytes(std::span(y)));
  executor.launch(
      {"k", {static_cast<std::uint32_t>(functions.size())}, {static_cast<std::uint32_t>(count)}, 0, arguments.bytes()});
  std::vector<T> out(x.size());
  memory.read(addresses[2], std::as_writable_bytes(std::span(out)));
  for (std::size_t f = 0; f < functions.size(); ++f) {
    const auto part = [&](const std::vector<T>& all) {
      return std::vector<T>(all.begin() + static_cast<std::ptrdiff_t>(f * count),
                            all.begin() + static_cast<std::ptrdiff_t>((f + 1) * count));
    };
    check_function(functions[f], part(x), part(y), part(out));
  }
}

TEST(CudaMathematics, DoubleKernel) {
  check_on_device<double>(256);
}
TEST(CudaMathematics, FloatKernel) {
  check_on_device<float>(256);
}

class CudaMathematicsOnHost : public ::testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Few, CudaMathematicsOnHost, ::testing::Values(4000U));
INSTANTIATE_TEST_SUITE_P(Long, CudaMathematicsOnHost, ::testing::Values(1000000U));

TEST_P(CudaMathematicsOnHost, StaysWithinTheStatedErrors) {
  const auto check = [&](auto functions) {
    Random random(23);
    for (const auto& f : functions) {
      using T = decltype(f.on_host(0, 0));
      const auto x = mathematics_arguments<T>(GetParam(), f.low, f.high, random);
      const auto y = second_arguments(f, x, random);
      std::vector<T> got(x.size());
      for (std::size_t i = 0; i < x.size(); ++i) got[i] = f.on_host(x[i], y[i]);
      check_function(f, x, y, got);
    }
  };
  check(math_functions<double>());
  check(math_functions<float>());
}

// Inverse functions without a reference: through their inverse, whose error they share.
TEST(CudaMathematics, InversesOfTheErrorFunction) {
  Random random(5);
  for (int i = 0; i < 2000; ++i) {
    const double x = 2 * random.unit() - 1;
    const double y = on_host::erfinv(x);
    const long double slope = 2 / sqrtl(acosl(-1)) * expl(-static_cast<long double>(y) * y);
    EXPECT_LE(static_cast<double>(fabsl((erfl(y) - x) / slope)), 4 * std::fabs(y) * 0x1p-53) << x;
    const double q = std::ldexp(random.unit(), -static_cast<int>(random.below(900)));
    const double z = on_host::erfcinv(q);
    const long double steep = 2 / sqrtl(acosl(-1)) * expl(-static_cast<long double>(z) * z);
    EXPECT_LE(static_cast<double>(fabsl((erfcl(z) - q) / steep)), 6 * std::fabs(z) * 0x1p-53) << q;
  }
}

}  // namespace
}  // namespace heddle::cuda
