// LAUNCH.toml files that run: contents of buffers, arguments of every type, loops, outputs, comparison.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "tb/device/values.hpp"
#include "tests/support/launch_folder.hpp"

namespace heddle::tb {
namespace {

using test::LaunchFolder;

Verdict run(const LaunchFolder& folder, const std::string& text, bool write = true) {
  folder.write("launch.toml", text);
  const LaunchFile file = LaunchFile::read(folder.path("launch.toml"));
  ReferenceExecutor executor;
  executor.load(file.compile(ptx::CodeOptions{}));
  return file.run(executor, write ? std::optional(folder.path("out/deep")) : std::nullopt);
}

template <class T>
std::vector<T> values(const std::string& bytes) {
  std::vector<T> out(bytes.size() / sizeof(T));
  std::memcpy(out.data(), bytes.data(), out.size() * sizeof(T));
  return out;
}
template <class T>
std::string bytes(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

constexpr const char* kNothing = ".version 6.0\n.target sm_60\n.address_size 32\n.visible .entry nothing() { ret; }\n";
constexpr const char* kNothingLaunch = "[[launch]]\nentry = \"nothing\"\ngrid = [1]\nblock = [1]\n";

std::string output(const std::string& name) {
  return "[[output]]\nbuffer = \"" + name + "\"\nfile = \"" + name + ".bin\"\n";
}

TEST(LaunchRun, BlocksOfACooperativeLaunchWaitForEachOther) {
  const LaunchFolder folder;
  // Block b stores 3 b + 1, waits, and adds what block 3 - b has.
  folder.write("k.ptx", R"(.version 6.0
.target sm_60
.address_size 32
.visible .entry k(.param .u32 p) {
  .reg .u32 %r<8>;
  ld.param.u32 %r1, [p];
  mov.u32 %r2, %ctaid.x;
  shl.b32 %r3, %r2, 2;
  add.u32 %r3, %r3, %r1;
  mad.lo.u32 %r4, %r2, 3, 1;
  st.global.u32 [%r3], %r4;
  barrier.grid.sync;
  sub.u32 %r5, 3, %r2;
  shl.b32 %r5, %r5, 2;
  add.u32 %r5, %r5, %r1;
  ld.global.u32 %r6, [%r5];
  barrier.grid.sync;
  add.u32 %r4, %r4, %r6;
  st.global.u32 [%r3], %r4;
  ret;
}
)");
  const std::string text = std::string("ptx = \"k.ptx\"\n") + R"(
buffer = [ { name = "x", type = "u32", count = 4 } ]
output = [ { buffer = "x", file = "x" } ]
[[launch]]
entry = "k"
grid = [4]
block = [1]
arguments = [ { buffer = "x" } ]
)";
  EXPECT_THROW(run(folder, text), SimulatedFault);
  run(folder, text + "cooperative = true\n");
  EXPECT_EQ(folder.read("out/deep/x"), bytes<std::uint32_t>({11, 11, 11, 11}));
  EXPECT_THROW(run(folder, text + "cooperative = 1\n"), InputError);
}

TEST(LaunchRun, FillsBuffers) {
  const LaunchFolder folder;
  folder.write("k.ptx", kNothing);
  folder.write("in.bin", std::string("\x01\x02\xff\x7f", 4));
  const std::string text = std::string("ptx = \"k.ptx\"\n") + R"(
buffer = [
  { name = "zero", type = "u32", count = 3 },
  { name = "value", type = "u64", count = 2, value = "0xffffffffffffffff" },
  { name = "ramp", type = "s16", count = 4, ramp = { start = 2, step = -3 } },
  { name = "reals", type = "f64", count = 3, ramp = { start = 0.5, step = 0.25 } },
  { name = "halves", type = "f16", count = 1, value = 1.5 },
  { name = "file", type = "u16", file = "in.bin" },
  { name = "random", type = "s8", count = 100000, random = { low = -3, high = 3, seed = 7 } },
  { name = "unit", type = "f32", count = 100000, random = { low = 1, high = 2 } },
  { name = "wide", type = "b64", count = 4, random = { low = -9223372036854775808, high = "18446744073709551615" } },
]
output = [
  { buffer = "zero", file = "zero" }, { buffer = "value", file = "value" }, { buffer = "ramp", file = "ramp" },
  { buffer = "reals", file = "reals" }, { buffer = "halves", file = "halves" }, { buffer = "file", file = "file" },
  { buffer = "random", file = "random" }, { buffer = "unit", file = "unit" }, { buffer = "wide", file = "wide" },
]
)" + kNothingLaunch;
  EXPECT_TRUE(run(folder, text).correct);
  const auto out = [&](const char* name) { return folder.read(std::string("out/deep/") + name); };
  EXPECT_EQ(values<std::uint32_t>(out("zero")), (std::vector<std::uint32_t>{0, 0, 0}));
  EXPECT_EQ(values<std::uint64_t>(out("value")), (std::vector<std::uint64_t>{UINT64_MAX, UINT64_MAX}));
  EXPECT_EQ(values<std::int16_t>(out("ramp")), (std::vector<std::int16_t>{2, -1, -4, -7}));
  EXPECT_EQ(values<double>(out("reals")), (std::vector<double>{0.5, 0.75, 1.0}));
  EXPECT_EQ(values<std::uint16_t>(out("halves")), (std::vector<std::uint16_t>{0x3e00}));
  EXPECT_EQ(out("file"), std::string("\x01\x02\xff\x7f", 4));
  int seen[7] = {};
  for (const std::int8_t value : values<std::int8_t>(out("random"))) {
    ASSERT_GE(value, -3);
    ASSERT_LE(value, 3);
    ++seen[value + 3];
  }
  for (const int count : seen) {  // both ends included, all about equally often
    EXPECT_NEAR(count, 100000 / 7, 600);
  }
  for (const float value : values<float>(out("unit"))) {
    ASSERT_GE(value, 1.0F);
    ASSERT_LE(value, 2.0F);
  }
  const auto wide = values<std::uint64_t>(out("wide"));
  EXPECT_NE(wide[0], wide[1]);
}

TEST(LaunchRun, LimitsTheDeviceHeap) {
  const LaunchFolder folder;
  folder.write("k.ptx", R"(.version 6.0
.target sm_60
.address_size 32
.extern .func (.param .b32 r) malloc(.param .b32 n);
.visible .entry k(.param .u32 out) {
  .reg .b32 %r<6>; .reg .pred %p<3>;
  ld.param.u32 %r1, [out];
  call.uni (%r2), malloc, (100);
  call.uni (%r3), malloc, (100);
  setp.ne.u32 %p1, %r2, 0; selp.u32 %r4, 1, 0, %p1; st.global.u32 [%r1], %r4;
  setp.ne.u32 %p2, %r3, 0; selp.u32 %r5, 1, 0, %p2; st.global.u32 [%r1+4], %r5;
  ret;
}
)");
  const auto got = [&folder](const std::string& limit) {
    EXPECT_TRUE(run(folder, "ptx = \"k.ptx\"\n" + limit + R"(
buffer = [{ name = "out", type = "u32", count = 2 }]
output = [{ buffer = "out", file = "out" }]
[[launch]]
entry = "k"
grid = [1]
block = [1]
arguments = [{ buffer = "out" }]
)")
                    .correct);
    return values<std::uint32_t>(folder.read("out/deep/out"));
  };
  EXPECT_EQ(got(""), (std::vector<std::uint32_t>{1, 1}));
  EXPECT_EQ(got("heap_bytes = 112"), (std::vector<std::uint32_t>{1, 0}));
  EXPECT_EQ(got("heap_bytes = 0"), (std::vector<std::uint32_t>{0, 0}));
}

TEST(LaunchRun, PassesArgumentsOfEveryType) {
  const LaunchFolder folder;
  std::string parameters;
  std::string arguments;
  std::string body;
  std::vector<std::uint64_t> expected;
  struct Scalar {
    const char* type;
    const char* text;
    std::uint64_t bits;
  };
  const Scalar scalars[] = {
      {"u8", "255", 255},
      {"s8", "-1", 0xff},
      {"b8", "-128", 0x80},
      {"u16", "65535", 0xffff},
      {"s16", "-2", 0xfffe},
      {"b16", "0x1234", 0x1234},
      {"u32", "4294967295", 0xffffffff},
      {"s32", "-3", 0xfffffffd},
      {"b32", "-2147483648", 0x80000000},
      {"u64", "\"18446744073709551615\"", UINT64_MAX},
      {"s64", "-4", 0xfffffffffffffffc},
      {"b64", "5", 5},
      {"f16", "-2", 0xc000},
      {"f32", "0.1", 0x3dcccccd},
      {"f64", "0.1", 0x3fb999999999999a},
  };
  std::size_t i = 0;
  for (const Scalar& scalar : scalars) {
    const std::string n = std::to_string(i);
    const unsigned bits = static_cast<unsigned>(std::atoi(scalar.type + 1));
    parameters += ", .param ." + std::string(scalar.type) + " p" + n;
    arguments += std::string(", { ") + scalar.type + " = " + scalar.text + " }";
    if (bits == 64) {
      body += "ld.param.b64 %rd1, [p" + n + "];\n";
    } else {
      body += "ld.param." +
              std::string(bits == 32   ? "b32"
                          : bits == 16 ? "u16"
                                       : "u8") +
              (bits == 32 ? " %r2" : " %rs1") + ", [p" + n + "];\n" +
              (bits == 32 ? "cvt.u64.u32 %rd1, %r2;\n" : "cvt.u64.u16 %rd1, %rs1;\n");
    }
    body += "st.global.u64 [%r1+" + std::to_string(8 * i) + "], %rd1;\n";
    expected.push_back(scalar.bits);
    ++i;
  }
  folder.write("k.ptx", ".version 6.0\n.target sm_60\n.address_size 32\n.visible .entry k(.param .u32 out" +
                            parameters +
                            ")\n{\n.reg .b16 %rs<3>;\n.reg .b32 %r<4>;\n.reg .b64 %rd<3>;\nld.param.u32 %r1, [out];\n" +
                            body + "ret;\n}\n");
  run(folder,
      "ptx = \"k.ptx\"\n[[buffer]]\nname = \"out\"\ntype = \"u64\"\ncount = 15\n[[launch]]\nentry = \"k\"\n"
      "grid = [1]\nblock = [1]\narguments = [{ buffer = \"out\" }" +
          arguments + "]\n" + output("out"));
  EXPECT_EQ(values<std::uint64_t>(folder.read("out/deep/out.bin")), expected);
}

// counts[0] counts down to zero, counts[1] counts the passes.
constexpr const char* kCountDown = R"(
struct Pair { unsigned a, b; };
extern "C" __global__ void count_down(unsigned* counts, Pair step) {
  counts[0] -= step.a;
  counts[1] += step.b;
}
extern "C" __global__ void shared_sum(unsigned* counts) {
  extern __shared__ unsigned dynamic[];
  dynamic[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x == 0) {
    counts[1] += dynamic[blockDim.x - 1];
    counts[2] += 1;
  }
}
)";
std::string count_down(const std::string& launches, int address_bits = 32) {
  return "cuda = \"k.cu\"\naddress_bits = " + std::to_string(address_bits) +
         "\n[[buffer]]\nname = \"counts\"\ntype = \"u32\"\ncount = 3\nramp = { start = 5, step = 0 }\n" + launches +
         output("counts");
}
const std::string kOnce =
    "entry = \"count_down\"\ngrid = [1]\nblock = [1]\n"
    "arguments = [{ buffer = \"counts\" }, { bytes = [1, 0, 0, 0, 10, 0, 0, 0] }]\n";

std::vector<std::uint32_t> counts(const std::string& launches, int address_bits = 32) {
  const LaunchFolder folder;
  folder.write("k.cu", kCountDown);
  run(folder, count_down(launches, address_bits));
  return values<std::uint32_t>(folder.read("out/deep/counts.bin"));
}

TEST(LaunchRun, RepeatsALaunchWhileAnElementIsNotZero) {
  for (const int address_bits : {32, 64}) {
    EXPECT_EQ(counts("[[launch]]\nrepeat_while = { buffer = \"counts\", max = 5 }\n" + kOnce, address_bits),
              (std::vector<std::uint32_t>{0, 55, 5}));
  }
}

TEST(LaunchRun, RepeatsAGroupOfLaunches) {
  EXPECT_EQ(counts("[[launch]]\nrepeat_while = { buffer = \"counts\", index = 0 }\n[[launch.launch]]\n" + kOnce +
                   "[[launch.launch]]\nentry = \"shared_sum\"\ngrid = [1]\nblock = [64]\nshared = 256\n"
                   "arguments = [{ buffer = \"counts\" }]\n"),
            (std::vector<std::uint32_t>{0, 5 + 5 * (10 + 63), 10}));
}

TEST(LaunchRun, ResetsTheTestedElementOnRequest) {
  // counts[2] is 5 at first; the pass finds 0 in it and leaves it, so that the loop ends after one.
  EXPECT_EQ(counts("[[launch]]\nrepeat_while = { buffer = \"counts\", index = 2, reset = true }\n" + kOnce),
            (std::vector<std::uint32_t>{4, 15, 0}));
}

TEST(LaunchRun, ALoopPastItsLimitIsAFault) {
  const LaunchFolder folder;
  folder.write("k.cu", kCountDown);
  try {
    run(folder, count_down("[[launch]]\nrepeat_while = { buffer = \"counts\", max = 4 }\n" + kOnce));
    FAIL() << "the fifth pass ran";
  } catch (const SimulatedFault& fault) {
    EXPECT_NE(
        std::string(fault.what()).find("launch.toml:9:16: the loop still goes on after 4 passes: 'counts'[0] is 1"),
        std::string::npos)
        << fault.what();
  }
  EXPECT_FALSE(std::filesystem::exists(folder.path("out/deep/counts.bin")));
}

TEST(LaunchRun, ComparesWithExpectedContents) {
  const LaunchFolder folder;
  folder.write("k.ptx", kNothing);
  const std::string head = std::string("ptx = \"k.ptx\"\n") + kNothingLaunch +
                           "[[buffer]]\nname = \"x\"\ntype = \"f32\"\ncount = 4\nramp = { start = 1, step = 1 }\n"
                           "[[output]]\nbuffer = \"x\"\nexpect = \"x.bin\"\n";
  folder.write("x.bin", bytes<float>({1, 2, 3, 4}));
  EXPECT_TRUE(run(folder, head, false).correct);
  EXPECT_FALSE(std::filesystem::exists(folder.path("out")));  // nothing asked for

  folder.write("x.bin", bytes<float>({1, 2.5F, 3, 4.5F}));
  const Verdict verdict = run(folder, head);
  EXPECT_FALSE(verdict.correct);
  EXPECT_NE(verdict.detail.find("2 of 4 elements of 'x' differ from"), std::string::npos) << verdict.detail;
  EXPECT_NE(verdict.detail.find("first [1] is 2 instead of 2.5"), std::string::npos) << verdict.detail;

  // |2 - 2.5| = 0.2 * 2.5 and |4 - 4.5| = 0.111... * 4.5.
  EXPECT_TRUE(run(folder, head + "tolerance = 0.2\n").correct);
  EXPECT_FALSE(run(folder, head + "tolerance = 0.199\n").correct);
  EXPECT_FALSE(run(folder, head + "tolerance = 0\n").correct);
}

TEST(LaunchRun, ReadsItsOwnOutputsBack) {
  const LaunchFolder folder;
  folder.write("k.ptx", kNothing);
  const std::string head = std::string("ptx = \"k.ptx\"\n") + kNothingLaunch;
  run(folder, head +
                  "[[buffer]]\nname = \"x\"\ntype = \"b32\"\ncount = 1000\n"
                  "random = { low = 0, high = 4294967295, seed = 3 }\n" +
                  output("x"));
  const Verdict verdict =
      run(folder, head +
                      "[[buffer]]\nname = \"x\"\ntype = \"b32\"\nfile = \"out/deep/x.bin\"\n[[buffer]]\n"
                      "name = \"again\"\ntype = \"b32\"\ncount = 1000\n"
                      "random = { low = 0, high = 4294967295, seed = 3 }\n"
                      "[[output]]\nbuffer = \"again\"\nexpect = \"out/deep/x.bin\"\n");
  EXPECT_TRUE(verdict.correct) << verdict.detail;
}

TEST(LaunchRun, RunsTheExampleOfTheDocuments) {
  const LaunchFile file = LaunchFile::read(HEDDLE_SOURCE_DIR "/docs/examples/saxpy/launch.toml");
  EXPECT_EQ(file.threads(), 8192U);
  EXPECT_EQ(file.address_bits(), 32U);
  ReferenceExecutor executor;
  executor.load(file.compile({.max_registers = 16}));
  const Verdict verdict = file.run(executor, std::nullopt);
  EXPECT_TRUE(verdict.correct) << verdict.detail;
}

TEST(LaunchValues, HalvesRoundToNearestEven) {
  using launch::Number;
  const auto half = [](double x) {
    const launch::Element element = launch::encode(isa::Type::f16, Number::of(x));
    return std::to_integer<unsigned>(element[0]) | std::to_integer<unsigned>(element[1]) << 8U;
  };
  EXPECT_EQ(half(0.0), 0x0000U);
  EXPECT_EQ(half(-0.0), 0x8000U);
  EXPECT_EQ(half(1.0), 0x3c00U);
  EXPECT_EQ(half(1.0 + 0x1p-11), 0x3c00U);  // a tie: to the even one
  EXPECT_EQ(half(1.0 + 0x1p-11 + 0x1p-30), 0x3c01U);
  EXPECT_EQ(half(1.0 + 3 * 0x1p-11), 0x3c02U);  // a tie: to the even one
  EXPECT_EQ(half(65504.0), 0x7bffU);
  EXPECT_EQ(half(0x1p-14), 0x0400U);              // least normal
  EXPECT_EQ(half(0x1p-24), 0x0001U);              // least subnormal
  EXPECT_EQ(half(0x1p-25), 0x0000U);              // a tie: to the even one
  EXPECT_EQ(half(2047 * 0x1p-11), 0x3c00U - 1U);  // just below 1 without rounding
  EXPECT_EQ(half(4095 * 0x1p-12), 0x3c00U);       // rounds up into the next exponent
  EXPECT_EQ(half(-std::numeric_limits<double>::infinity()), 0xfc00U);
  for (unsigned bits = 0; bits < 0x7c00; ++bits) {
    const std::byte element[2] = {std::byte(bits & 255U), std::byte(bits >> 8U)};
    ASSERT_EQ(half(launch::decode_float(isa::Type::f16, element)), bits);
  }
}

}  // namespace
}  // namespace heddle::tb
