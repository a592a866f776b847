// LAUNCH.toml files that do what a host program does between its launches: copies and fills, variables of the program,
// counted loops, comparisons, pointers in buffers and structures, kernels by the name of a template's instance.
#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "tb/device/values.hpp"
#include "tests/support/launch_folder.hpp"
#include "tests/support/program_runner.hpp"

namespace heddle::tb {
namespace {

using test::LaunchFolder;

// One kernel that appends a record of what it was given, and one per kind of parameter.
constexpr const char* kKernels = R"(
namespace table {
__constant__ int weights[4] = {1, 2, 3, 4};
__device__ unsigned total = 100;
}
__constant__ int* where;
struct Inner { char tag; short* at; };
struct Outer { bool on; double scale; Inner inner; int last[3]; };
extern "C" __global__ void append(int* list, int value) {
  list[1 + list[0]] = value;
  list[0] += 1;
}
extern "C" __global__ void append_float(float* list, float value) {
  list[1 + (int)list[0]] = value;
  list[0] += 1;
}
extern "C" __global__ void set(int* at, int value) { *at = value; }
extern "C" __global__ void blocks(int* counts) { if (threadIdx.x == 0) { atomicAdd(counts + gridDim.x, 1); } }
__global__ void use_weights(int* out) {
  for (int i = 0; i < 4; ++i) {
    out[i] = table::weights[i];
  }
  table::total += 1;
  if (where != nullptr) {
    *where = 77;
  }
}
__global__ void structure(Outer outer, int* out) {
  out[0] = outer.on;
  out[1] = (int)(outer.scale * 4);
  out[2] = outer.inner.tag;
  out[3] = *outer.inner.at;
  out[4] = outer.last[0] + 10 * outer.last[1] + 100 * outer.last[2];
}
__global__ void flags(bool a, bool b, int* out) { out[0] = a ? 1 : 2; out[1] = b ? 1 : 2; }
__global__ void chase(int* const* heads, int* out) { for (int i = 0; i < 3; ++i) { out[i] = *heads[i]; } }
template <bool kFirst, int kSize> __global__ void instance(int* out) { out[0] = kFirst ? kSize : -kSize; }
template __global__ void instance<true, 8>(int*);
template __global__ void instance<false, 8>(int*);
)";

std::string buffer(const std::string& name, const std::string& rest = "count = 8") {
  return "[[buffer]]\nname = \"" + name + "\"\ntype = \"s32\"\n" + rest + "\n";
}
std::string output_of(const std::string& name) {
  return "[[output]]\nbuffer = \"" + name + "\"\nfile = \"" + name + "\"\n";
}
std::string launch(const std::string& entry, const std::string& arguments, const std::string& table = "[[launch]]",
                   const std::string& more = "") {
  return table + "\n" + more + "\nentry = \"" + entry + "\"\ngrid = [1]\nblock = [1]\narguments = [" + arguments +
         "]\n";
}

template <class T = std::int32_t>
std::vector<T> run(const std::string& text, const std::string& wanted, int address_bits = 32) {
  const LaunchFolder folder;
  folder.write("k.cu", kKernels);
  folder.write("launch.toml",
               "cuda = \"k.cu\"\naddress_bits = " + std::to_string(address_bits) + "\n" + text + output_of(wanted));
  const LaunchFile file = LaunchFile::read(folder.path("launch.toml"));
  static std::map<int, isa::Module> modules;  // the kernels are always the same: compiled once per test
  const auto [module, fresh] = modules.try_emplace(address_bits);
  if (fresh) {
    module->second = file.compile(ptx::CodeOptions{});
  }
  ReferenceExecutor executor;
  executor.load(module->second);
  static_cast<void>(file.run(executor, folder.path("out")));
  const std::string bytes = folder.read("out/" + wanted);
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}
using Values = std::vector<std::int32_t>;

TEST(LaunchSteps, RunInTheOrderOfTheFile) {
  EXPECT_EQ(
      run(buffer("a", "values = [1, 2, 3, 4, 5, 6, 7, 8]") + buffer("b") + buffer("c") +
              "[[copy]]\nfrom = \"a\"\nto = \"b\"\n" + launch("set", "{ buffer = \"b\", offset = 2 }, { s32 = 90 }") +
              "[[fill]]\nbuffer = \"b\"\noffset = 5\ncount = 2\nvalue = -1\n" +
              launch("set", "{ buffer = \"b\", offset = 6 }, { s32 = 60 }") +
              "[[copy]]\nfrom = \"b\"\nfrom_offset = 1\nto = \"c\"\nto_offset = 2\ncount = 6\n" +
              "[[fill]]\nbuffer = \"b\"\n",
          "c"),
      (Values{0, 0, 2, 90, 4, 5, -1, 60}));
}

TEST(LaunchSteps, CopiesThatOverlapMoveWhatWasThere) {
  const std::string ramp = buffer("a", "count = 100000\nramp = { start = 0, step = 1 }") + buffer("unused") +
                           launch("set", "{ buffer = \"unused\" }, { s32 = 0 }");
  for (const bool up : {true, false}) {
    const Values moved = run(ramp + "[[copy]]\nfrom = \"a\"\nto = \"a\"\ncount = 99000\n" +
                                 (up ? "to_offset = 1000\n" : "from_offset = 1000\n"),
                             "a");
    for (int i = 0; i < 99000; ++i) {
      ASSERT_EQ(moved[up ? i + 1000 : i], up ? i : i + 1000) << i;
    }
  }
}

TEST(LaunchSteps, FillsTakeEveryKindOfContents) {
  EXPECT_EQ(run(buffer("a") + launch("set", "{ buffer = \"a\" }, { s32 = 1 }") +
                    "[[fill]]\nbuffer = \"a\"\noffset = 1\nvalues = [5, -6]\n" +
                    "[[fill]]\nbuffer = \"a\"\noffset = 3\ncount = 3\nramp = { start = 10, step = 10 }\n" +
                    "[[fill]]\nbuffer = \"a\"\noffset = 7\nrandom = { low = 3, high = 3 }\n",
                "a"),
            (Values{1, 5, -6, 10, 20, 30, 0, 3}));
}

TEST(LaunchSteps, VariablesOfTheProgramAreBuffers) {
  for (const int bits : {32, 64}) {
    const std::string constants =
        "[[buffer]]\nsymbol = \"table::weights\"\ntype = \"s32\"\nvalues = [5, 6, 7]\n"
        "[[buffer]]\nname = \"total\"\nsymbol = \"total\"\ntype = \"u32\"\ncount = 1\n"
        "[[buffer]]\nname = \"pointer\"\nsymbol = \"where\"\ntype = \"b8\"\ncount = " +
        std::to_string(bits / 8) + "\npointers = [{ buffer = \"cell\" }]\n" + buffer("cell", "count = 1") +
        buffer("out") + launch("use_weights", "{ buffer = \"out\" }");
    EXPECT_EQ(run(constants, "out", bits), (Values{5, 6, 7, 4, 0, 0, 0, 0})) << "the last one is as in the program";
    EXPECT_EQ(run(constants, "total", bits), (Values{101}));
    EXPECT_EQ(run(constants, "cell", bits), (Values{77}));
    // Between launches, and in both directions.
    EXPECT_EQ(run(constants + "[[copy]]\nfrom = \"total\"\nto = \"table::weights\"\nto_offset = 1\n" +
                      launch("use_weights", "{ buffer = \"out\", offset = 4 }") +
                      "[[copy]]\nfrom = \"table::weights\"\nto = \"out\"\n",
                  "out", bits),
              (Values{5, 101, 7, 4, 5, 101, 7, 4}));
  }
}

TEST(LaunchSteps, CountersAreArgumentsOffsetsAndGrids) {
  const std::string twice =
      "[[launch]]\nrepeat = { times = 2, counter = \"i\" }\n"
      "[[launch.launch]]\nrepeat = { times = 3, counter = \"j\" }\n";
  const auto inner = [&](const std::string& argument) {
    return run(
        buffer("list") + twice + launch("append", "{ buffer = \"list\" }, " + argument, "[[launch.launch.launch]]"),
        "list");
  };
  EXPECT_EQ(inner("{ s32 = { counter = \"j\" } }"), (Values{6, 0, 1, 2, 0, 1, 2, 0}));
  EXPECT_EQ(inner("{ s32 = { counter = \"i\", start = 5, step = -7 } }"), (Values{6, 5, 5, 5, -2, -2, -2, 0}));
  EXPECT_EQ(inner("{ s32 = { counter = \"j\", start = 3, factor = 4 } }"), (Values{6, 3, 12, 48, 3, 12, 48, 0}));
  EXPECT_EQ(inner("{ s32 = { counter = \"j\", start = -9, divisor = 2 } }"), (Values{6, -9, -4, -2, -9, -4, -2, 0}));
  // A launch may count its own loop; a while loop counts too.
  EXPECT_EQ(
      run(buffer("list") + launch("append", "{ buffer = \"list\" }, { s32 = { counter = \"k\", step = 2 } }",
                                  "[[launch]]", "repeat_while = { buffer = \"list\", less = 4, counter = \"k\" }"),
          "list"),
      (Values{4, 0, 2, 4, 6, 0, 0, 0}));
  EXPECT_EQ(run<float>("[[buffer]]\nname = \"list\"\ntype = \"f32\"\ncount = 4\n" +
                           launch("append_float",
                                  "{ buffer = \"list\" }, { f32 = { counter = \"k\", start = 1, step = 0.25 } }",
                                  "[[launch]]", "repeat = { times = 3, counter = \"k\" }"),
                       "list"),
            (std::vector<float>{3, 1, 1.25F, 1.5F}));
  EXPECT_EQ(run(buffer("list") + launch("set",
                                        "{ buffer = \"list\", offset = { counter = \"k\", start = 7, step = -3 } }, "
                                        "{ s32 = { counter = \"k\", start = 1 } }",
                                        "[[launch]]", "repeat = { times = 3, counter = \"k\" }"),
                "list"),
            (Values{0, 3, 0, 0, 2, 0, 0, 1}));
  EXPECT_EQ(run(buffer("counts") + "[[launch]]\nrepeat = { times = 3, counter = \"k\" }\nentry = \"blocks\"\n"
                                   "grid = [{ counter = \"k\", start = 1, step = 2 }]\nblock = [1]\n"
                                   "arguments = [{ buffer = \"counts\" }]\n",
                "counts"),
            (Values{0, 1, 0, 3, 0, 5, 0, 0}));
  EXPECT_EQ(
      run(buffer("a", "values = [1, 2, 3, 4]") + buffer("b", "count = 4") +
              launch("set", "{ buffer = \"b\" }, { s32 = 0 }") +
              "[[copy]]\nrepeat = { times = 3, counter = \"k\" }\nfrom = \"a\"\nfrom_offset = { counter = \"k\" }\n"
              "to = \"b\"\nto_offset = { counter = \"k\", start = 3, step = -1 }\ncount = 1\n",
          "b"),
      (Values{0, 3, 2, 1}));
}

TEST(LaunchSteps, ConditionsCompareAnElementWithAValue) {
  const auto passes = [](const std::string& type, const std::string& first, const std::string& test) {
    return run("[[buffer]]\nname = \"x\"\ntype = \"" + type + "\"\ncount = 1\nvalue = " + first + "\n" +
                   buffer("list") +
                   launch("append", "{ buffer = \"list\" }, { s32 = 1 }", "[[launch]]",
                          "run_if = { buffer = \"x\", " + test + " }"),
               "list")[0];
  };
  struct Case {
    const char* test;
    int below, same, above;  // of x = -3, 2, 5
  };
  for (const Case& each : {Case{"equal = 2", 0, 1, 0}, Case{"not_equal = 2", 1, 0, 1}, Case{"less = 2", 1, 0, 0},
                           Case{"at_most = 2", 1, 1, 0}, Case{"greater = 2", 0, 0, 1}, Case{"at_least = 2", 0, 1, 1}}) {
    for (const char* type : {"s32", "f32", "f64"}) {
      EXPECT_EQ(passes(type, "-3", each.test), each.below) << type << each.test;
      EXPECT_EQ(passes(type, "2", each.test), each.same) << type << each.test;
      EXPECT_EQ(passes(type, "5", each.test), each.above) << type << each.test;
    }
  }
  EXPECT_EQ(passes("f32", "0.1", "equal = 0.1"), 1) << "the value is rounded as the element is";
  for (const char* ordered : {"equal = 1", "less = 1", "at_most = 1", "greater = 1", "at_least = 1"}) {
    EXPECT_EQ(passes("f32", "nan", ordered), 0) << ordered;
  }
  EXPECT_EQ(passes("f32", "nan", "not_equal = 1"), 1);
  EXPECT_EQ(passes("u64", "\"18446744073709551615\"", "greater = 5"), 1) << "unsigned";
}

TEST(LaunchSteps, StructuresAreLaidOutAsInCpp) {
  for (const int bits : {32, 64}) {
    EXPECT_EQ(run(buffer("out") + "[[buffer]]\nname = \"shorts\"\ntype = \"s16\"\nvalues = [11, 12, 13]\n" +
                      launch("structure",
                             "{ struct = [{ bool = true }, { f64 = 2.5 }, { struct = [{ s8 = -4 }, "
                             "{ buffer = \"shorts\", offset = 2 }] }, { s32 = [1, 2, 3] }] }, { buffer = \"out\" }"),
                  "out", bits),
              (Values{1, 10, -4, 13, 321, 0, 0, 0}))
        << bits;
  }
}

TEST(LaunchSteps, BooleansAreOneByte) {
  EXPECT_EQ(run(buffer("out") + launch("flags", "{ bool = true }, { bool = false }, { buffer = \"out\" }"), "out"),
            (Values{1, 2, 0, 0, 0, 0, 0, 0}));
}

TEST(LaunchSteps, BuffersHoldPointers) {
  for (const int bits : {32, 64}) {
    const std::string type = "type = \"u" + std::to_string(bits) + "\"\n";
    EXPECT_EQ(run("[[buffer]]\nname = \"heads\"\n" + type +
                      "count = 3\npointers = [{ buffer = \"data\", offset = 1, count = 2, offset_step = 4 }, "
                      "{ index = 2, buffer = \"data\" }]\n" +
                      buffer("data", "ramp = { start = 20, step = 1 }\ncount = 8") + buffer("out", "count = 3") +
                      launch("chase", "{ buffer = \"heads\" }, { buffer = \"out\" }"),
                  "out", bits),
              (Values{21, 25, 20}));
  }
}

TEST(LaunchSteps, KernelsGoByTheNamesOfTheirInstances) {
  const std::string out = buffer("out", "count = 1");
  EXPECT_EQ(run(out + launch("instance<true, 8>", "{ buffer = \"out\" }"), "out"), (Values{8}));
  EXPECT_EQ(run(out + launch("void instance<false,8>(int*)", "{ buffer = \"out\" }"), "out"), (Values{-8}));
}

TEST(LaunchSteps, TheExampleOfTheDocumentsRuns) {
  const LaunchFile file = LaunchFile::read(HEDDLE_SOURCE_DIR "/docs/examples/steps/launch.toml");
  EXPECT_EQ(file.threads(), 64U);
  ReferenceExecutor executor;
  executor.load(file.compile({.max_registers = 16}));
  const Verdict verdict = file.run(executor, std::nullopt);
  EXPECT_TRUE(verdict.correct) << verdict.detail;
}

// On the model: constants travel with each launch, and what the host writes between launches is seen by the next one.
TEST(LaunchSteps, TheExampleOfTheDocumentsRunsOnTheModel) {
  const test::Scratch scratch;
  for (const char* machine : {"baseline", "tbc"}) {
    const test::Ran ran = test::heddle({"run", machine, HEDDLE_SOURCE_DIR "/docs/examples/steps/launch.toml",
                                        "--check-reference", "--out", scratch.path(machine)});
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_NE(ran.out.find("result correct"), std::string::npos) << ran.out;
    EXPECT_EQ(test::Scratch::read(scratch.path(machine) + "/steps.bin"), std::string("\x22\0\0\0", 4));  // 34
  }
}

TEST(LaunchSteps, FilesOfFillsAreInputs) {
  const LaunchFolder folder;
  folder.write("k.cu", kKernels);
  folder.write("a.bin", "0123");
  folder.write("b.bin", "4567");
  folder.write("launch.toml", "cuda = \"k.cu\"\n" + buffer("a", "file = \"a.bin\"") +
                                  "[[launch]]\nrepeat = { times = 1 }\n[[launch.fill]]\nbuffer = \"a\"\nfile = "
                                  "\"b.bin\"\n[[launch.launch]]\nentry = \"set\"\ngrid = [1]\nblock = [1]\n");
  const LaunchFile file = LaunchFile::read(folder.path("launch.toml"));
  std::vector<std::string> paths;
  for (const LaunchFile::InputFile& input : file.inputs()) {
    paths.push_back(input.path);
  }
  EXPECT_EQ(paths, (std::vector<std::string>{folder.path("k.cu"), folder.path("a.bin"), folder.path("b.bin")}));
}

TEST(LaunchSteps, ThreadsAreThoseOfTheLargestPass) {
  const LaunchFolder folder;
  folder.write("k.cu", kKernels);
  folder.write("launch.toml", "cuda = \"k.cu\"\n" + buffer("counts") +
                                  "[[launch]]\nrepeat = { times = 3, counter = \"k\" }\nentry = \"blocks\"\n"
                                  "grid = [{ counter = \"k\", start = 5, step = -2 }, 2]\nblock = [32]\n"
                                  "arguments = [{ buffer = \"counts\" }]\n");
  EXPECT_EQ(LaunchFile::read(folder.path("launch.toml")).threads(), 5U * 2 * 32);
}

}  // namespace
}  // namespace heddle::tb
