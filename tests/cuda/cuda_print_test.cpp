// printf and assert of CUDA files, from clang's PTX to the text, and the device heap of theirs.
#include <gmock/gmock.h>

#include "cuda_device_test.hpp"
#include "isa/device_heap.hpp"

namespace heddle::cuda {
namespace {

using ::testing::HasSubstr;

class CudaPrint : public test::CudaOnReference {};
INSTANTIATE_TEST_SUITE_P(AddressBits, CudaPrint, ::testing::Values(32U, 64U));

TEST_P(CudaPrint, EveryConversion) {
  compile(R"(
#include <stdio.h>
extern "C" __global__ void k(int* out, const char* text) {
  const int i = threadIdx.x;
  out[4 * i] = printf("thread %d of %u: %5.2f %e %g %c|%-5d|%05d|%+d\n", i, blockDim.x, i + 0.5f, 1e10 * i, 0.1,
      'a' + i, i, i, i);
  out[4 * i + 1] = printf("%lld %llx %ld %lu %hd %p %zu\n", -1LL << (40 + i), 0xfedcba9876543210ULL, -5L, 6UL,
      (short)-7,
                          (void*)0x1234, sizeof(double));
  out[4 * i + 2] = printf("[%s] [%8s] [%.3s] [%*d] [%.*f] %%\n", text, "right", "cutting", 6, i, 3, 3.14159);
  char local[4] = {'x', (char)('0' + i), 0, 0};
  out[4 * i + 3] = printf(i == 1 ? "odd %s\n" : "even %s\n", local) + printf("plain\n");
}
)");
  const std::vector<char> text = {'d', 'a', 't', 'a', 0};
  const std::uint64_t out = upload("out", std::vector<std::int32_t>(12));
  launch({1}, {3}, {out, upload("text", text)});
  std::string expected;
  const char* const first[] = {"thread 0 of 3:  0.50 0.000000e+00 0.1 a|0    |00000|+0\n",
                               "thread 1 of 3:  1.50 1.000000e+10 0.1 b|1    |00001|+1\n",
                               "thread 2 of 3:  2.50 2.000000e+10 0.1 c|2    |00002|+2\n"};
  const char* const second[] = {"-1099511627776", "-2199023255552", "-4398046511104"};
  for (int i = 0; i < 3; ++i) {
    expected += first[i];
    expected += std::string(second[i]) + " fedcba9876543210 -5 6 -7 0x1234 8\n";
    expected += "[data] [   right] [cut] [     " + std::to_string(i) + "] [3.142] %\n";
    expected += (i == 1 ? "odd x" : "even x") + std::to_string(i) + "\nplain\n";
  }
  EXPECT_EQ(printed_, expected);
  EXPECT_EQ((download<std::int32_t>(out, 12)), (std::vector<std::int32_t>{9, 7, 7, 1, 9, 7, 7, 1, 9, 7, 7, 1}));
}

TEST_P(CudaPrint, AFailedAssertionNamesConditionAndPlace) {
  compile(R"(#include <assert.h>
extern "C" __global__ void k(int* out) {
  printf("here\n");
  assert(out[threadIdx.x] < 7 && "small");
  out[threadIdx.x] = 100;
}
)");
  try {
    launch({2}, {4}, {upload("out", std::vector<std::int32_t>{1, 2, 7, 7})});
    FAIL() << "no fault";
  } catch (const SimulatedFault& fault) {
    EXPECT_THAT(fault.what(), HasSubstr("assertion failed in kernel 'k' at PC "));
    EXPECT_THAT(fault.what(),
                HasSubstr("k.cu:4), block (0, 0, 0), thread (2, 0, 0): 'out[threadIdx.x] < 7 && \"small\"' in "
                          "void k(int *), "));
    EXPECT_THAT(fault.what(), ::testing::EndsWith("k.cu:4"));
  }
  EXPECT_EQ(printed_, "here\nhere\nhere\nhere\n");
}

TEST_P(CudaPrint, NdebugSwitchesAssertionsOff) {
  compile(R"(#define NDEBUG
#include <cassert>
extern "C" __global__ void k(int* out) { assert(out[0] == 5); out[0] = 3; }
)");
  const std::uint64_t out = upload("out", std::vector<std::int32_t>{1});
  launch({1}, {1}, {out});
  EXPECT_EQ(download<std::int32_t>(out, 1)[0], 3);
}

TEST_P(CudaPrint, AllocatesOnTheDeviceHeap) {
  compile(R"(#include <new>
#include <stdlib.h>
struct Couple {
  int first, second;
  __device__ Couple(int a, int b) : first(a), second(b) {}
};
extern "C" __global__ void k(int* out) {
  const int i = threadIdx.x;
  int* const some = static_cast<int*>(malloc(3 * sizeof(int)));
  Couple* const pair = new Couple(i, 7);
  Couple* const again = new (pair) Couple(pair->first + 1, pair->second);
  int* const more = new int[i + 1];
  more[i] = again->first * again->second;
  some[2] = more[i] + i;
  out[i] = some[2];
  free(some);
  delete pair;
  delete[] more;
}
)");
  const std::uint64_t out = upload("out", std::vector<std::int32_t>(4));
  launch({1}, {4}, {out});
  EXPECT_EQ(download<std::int32_t>(out, 4), (std::vector<std::int32_t>{7, 15, 23, 31}));
  EXPECT_EQ(executor_.memory().heap().live_blocks(), 0U);
}

}  // namespace
}  // namespace heddle::cuda
