// Arrays of a thread's that become registers, and those that stay in memory.
#include <gmock/gmock.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cuda/compiler/cuda_compiler.hpp"
#include "cuda/compiler/ptx_parts.hpp"
#include "ptx/compile.hpp"
#include "tb/device/arguments.hpp"
#include "tb/device/executor.hpp"
#include "tests/support/launch_folder.hpp"

namespace heddle::cuda {
namespace {

using test::LaunchFolder;
using ::testing::ElementsAre;
using ::testing::Pair;

std::string compiled_arrays(const std::string& source, unsigned bits = 64) {
  const LaunchFolder folder;
  folder.write("k.cu", "#define K extern \"C\" __global__ void\n" + source);
  return compile_cuda(folder.path("k.cu"), bits);
}

std::string text_of_kernel(const std::string& ptx, const std::string& name) {
  for (const PtxPart& part : ptx_parts(ptx)) {
    if (part.name == name) return std::string(part.text);
  }
  return {};
}

std::size_t times_in(const std::string& text, const std::string& word) {
  std::size_t count = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

constexpr const char* kReversed = R"(
K reversed(int* p) {
  int r[12];
  for (int i = 0; i < 12; ++i) r[i] = p[i];
  for (int i = 0; i < 12; ++i) p[i] = 3 * r[11 - i];
}
)";

TEST(RegisterArrays, OfLoopsWhoseCountIsKnownAreNotInMemory) {
  for (const unsigned bits : {32U, 64U}) {
    const std::string ptx = compiled_arrays(kReversed, bits);
    EXPECT_TRUE(local_arrays(ptx).empty());
    EXPECT_EQ(times_in(ptx, "ld.global"), 12U);
    tb::ReferenceExecutor executor;
    executor.load(ptx::compile(ptx, "k.ptx"));
    const std::uint64_t data = executor.memory().allocate("p", 48, bits == 32);
    for (std::uint32_t i = 0; i < 12; ++i) executor.memory().put<std::uint32_t>(data + 4 * i, i + 1);
    tb::Arguments arguments(executor.module(), "reversed");
    arguments.pointer(data);
    executor.launch({"reversed", {1}, {1}, 0, arguments.bytes()});
    for (std::uint32_t i = 0; i < 12; ++i) {
      EXPECT_EQ(executor.memory().get<std::uint32_t>(data + 4 * i), 3 * (12 - i)) << i;
    }
  }
}

// The place in the array is not known, the loop is not to be unrolled, or is too long.
TEST(RegisterArrays, OfOtherLoopsStay) {
  const std::string ptx = compiled_arrays(R"(
K counted(int* p, int n) {
  int r[16];
  for (int i = 0; i < 16; ++i) r[i] = 0;
  for (int i = 0; i < n; ++i) r[p[i]]++;
  for (int i = 0; i < 16; ++i) p[i] = r[i];
}
K kept(int* p) {
  int r[16];
#pragma unroll 1
  for (int i = 0; i < 16; ++i) r[i] = p[i];
#pragma unroll 1
  for (int i = 0; i < 16; ++i) p[i] = r[15 - i];
}
K too_long(int* p) {
  int r[2000];
  for (int i = 0; i < 2000; ++i) r[i] = p[i];
  for (int i = 0; i < 2000; ++i) p[i] = r[1999 - i];
}
)");
  EXPECT_THAT(local_arrays(ptx), ElementsAre(Pair("counted", 64), Pair("kept", 64), Pair("too_long", 8000)));
  EXPECT_EQ(times_in(text_of_kernel(ptx, "counted"), "st.local"), 2U);  // the loop that clears it, and the count
}

// Functions without such arrays stay as they are beside those that have one; of loops within loops those that matter
// are unrolled.
TEST(RegisterArrays, ChangeNothingElse) {
  const std::string plain = "K plain(int* p) { int s = 0; for (int i = 0; i < 8; ++i) s += p[i * *p]; *p = s; }\n";
  const std::string alone = compiled_arrays(plain);
  const std::string both = compiled_arrays(plain + kReversed);
  const std::string kernel = text_of_kernel(alone, "plain");
  EXPECT_EQ(times_in(kernel, "ld.global"), 2U);
  EXPECT_EQ(times_in(text_of_kernel(both, "plain"), "ld.global"), 2U);
  const std::string nested = compiled_arrays(R"(
K nested(float* p, int n) {
  float r[8];
  for (int i = 0; i < 8; ++i) r[i] = p[i];
  for (int k = 0; k < 64; ++k) for (int i = 0; i < 8; ++i) r[i] = r[i] * p[k] + r[(i + 1) % 8];
  for (int i = 0; i < 8; ++i) p[i] = r[i];
}
)");
  EXPECT_TRUE(local_arrays(nested).empty());
  EXPECT_EQ(times_in(nested, "st.global"), 8U);
  EXPECT_EQ(times_in(nested, "\tmul."), 8U);
}

// Nothing is compiled again for the latter.
TEST(RegisterArrays, AreToldFromVariablesAtAPlaceThatIsKnown) {
  for (const unsigned bits : {32U, 64U}) {
    const std::string ptx = compiled_arrays(R"(
K counted(int* p, int n) { int r[4] = {1, 2, 3, 4}; r[p[0] & 3] = 5; for (int i = 0; i < 4; ++i) p[i] += r[i]; }
K printed(int* p, int n) { printf("%d %d %f\n", p[0], n, 0.5 * n); }
K neither(int* p) { *p = 1; }
)",
                                            bits);
    EXPECT_THAT(local_arrays(ptx), ElementsAre(Pair("counted", 16), Pair("printed", 16)));
    EXPECT_THAT(functions_through_arrays(ptx), ElementsAre("counted"));
  }
  const auto body = [](const std::string& statements) {
    return ".func f()\n{\n\tmov.u64 \t%SPL, __local_depot0;\n" + statements + "}\n";
  };
  EXPECT_TRUE(functions_through_arrays(body("\tst.local.u32 \t[%SPL+4], %r1;\n")).empty());
  EXPECT_TRUE(functions_through_arrays(body("\tadd.u64 \t%rd1, %SPL, 8;\n\tld.local.u32 \t%r1, [%rd1];\n")).empty());
  EXPECT_FALSE(
      functions_through_arrays(body("\tadd.u64 \t%rd1, %SPL, %rd2;\n\tld.local.u32 \t%r1, [%rd1];\n")).empty());
  EXPECT_FALSE(functions_through_arrays(body("\tst.local.v2.u32 \t[%rd7+4], {%r1, %r2};\n")).empty());
}

TEST(RegisterArrays, AreFoundInTheText) {
  const std::string head = ".version 6.4\n";
  const std::string text = head +
                           ".visible .entry a(\n\t.param .u64 a_param_0\n)\n{\n\t.local .align 16 .b8 \t"
                           "__local_depot0[96];\n\tret;\n}\n" +
                           ".func b()\n{\n\tret;\n}\n.func c()\n{\n\t.local .align 4 .b8 \t__local_depot2[8];\n}\n";
  EXPECT_THAT(local_arrays(text), ElementsAre(Pair("a", 96), Pair("c", 8)));
  EXPECT_TRUE(local_arrays(head).empty());
}

}  // namespace
}  // namespace heddle::cuda
