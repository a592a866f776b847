// printf and assert of CUDA files, from clang's PTX to the text; what a device heap would need is refused.
#include <gmock/gmock.h>

#include "cuda_device_test.hpp"

namespace heddle::tb {
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

TEST_P(CudaPrint, ADeviceHeapIsRefused) {
  folder_.write("k.cu", "#include <stdlib.h>\nextern \"C\" __global__ void k(char** p) { *p = (char*)malloc(8); }\n");
  const std::string refusal = folder_.refusal([&] { (void)compile_cuda(folder_.path("k.cu"), GetParam()); });
  EXPECT_THAT(refusal, HasSubstr("k.cu:2:"));
  EXPECT_THAT(refusal, HasSubstr("'malloc' is unavailable: there is no device heap: allocate a buffer on the host"));
}

TEST(CudaPrintPtx, ADeviceHeapIsRefused) {
  const test::LaunchFolder folder;
  const std::string refusal = folder.refusal([] {
    (void)ptx::compile(
        ".version 7.0\n.target sm_60\n.address_size 64\n"
        ".extern .func (.param .b64 r) malloc (.param .b64 p);\n"
        ".entry k() {\n.reg .b64 %rd<2>;\ncall.uni (%rd0), malloc, (%rd1);\nret;\n}\n",
        "k.ptx");
  });
  EXPECT_THAT(refusal, HasSubstr("k.ptx:7:"));
  EXPECT_THAT(refusal,
              HasSubstr("function 'malloc' has no body in this file; there is no device heap, whose addresses would "
                        "depend on the order of threads"));
}

}  // namespace
}  // namespace heddle::tb
