// What a kernel prints, as `heddle run` shows it.
#include <gmock/gmock.h>

#include "tests/support/program_runner.hpp"

namespace heddle::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(CliPrint, TextComesBeforeTheReportAndAnAssertionIsAFault) {
  const test::Scratch scratch;
  scratch.write("p.cu",
                "#include <stdio.h>\n#include <assert.h>\nextern \"C\" __global__ void p(const int* x) {\n"
                "  printf(\"block %d thread %d: %d\\n\", blockIdx.x, threadIdx.x, x[threadIdx.x]);\n"
                "  assert(x[threadIdx.x] < 9);\n}\n");
  const auto launch = [&](const std::string& step) {
    return scratch.write(
        "launch" + step + ".toml",
        "cuda = \"p.cu\"\n[[buffer]]\nname = \"x\"\ntype = \"s32\"\ncount = 2\nramp = { start = 1, step = " + step +
            " }\n[[launch]]\nentry = \"p\"\ngrid = [2]\nblock = [2]\narguments = [{ buffer = \"x\" }]\n");
  };
  const std::string text = "block 0 thread 0: 1\nblock 0 thread 1: 3\nblock 1 thread 0: 1\nblock 1 thread 1: 3\n";
  const test::Ran good = test::heddle({"run", "tbc", launch("2"), "--check-reference"});
  EXPECT_EQ(good.code, 0) << good.err;
  EXPECT_THAT(good.out, StartsWith(text));
  EXPECT_THAT(good.out, HasSubstr("equals the reference interpreter's"));
  const test::Ran quiet = test::heddle({"run", "baseline", launch("2"), "--quiet"});
  EXPECT_EQ(quiet.code, 0);
  EXPECT_EQ(quiet.out, "");
  const test::Ran bad = test::heddle({"run", "baseline", launch("8"), "--quiet"});
  EXPECT_EQ(bad.code, 3);
  EXPECT_THAT(bad.err, HasSubstr("heddle: assertion failed in kernel 'p' at PC "));
  EXPECT_THAT(bad.err, HasSubstr("thread (1, 0, 0): 'x[threadIdx.x] < 9' in void p(const int *), "));
}

}  // namespace
}  // namespace heddle::cli
