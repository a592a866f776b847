// The lists of what a source includes that heddle nvcc writes for make: files that are there afterwards, alone.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "cuda/compiler/compiler_texts.hpp"
#include "tests/support/marks.hpp"
#include "tests/support/program_runner.hpp"

HEDDLE_NOT_SANITIZED("NvccDependencies.*")

namespace heddle::cuda {
namespace {

TEST(NvccDependencies, LeaveOutAFolder) {
  EXPECT_EQ(dependencies_without("a.o: a.cu /t/own/x.h \\\n  b\\ c$$\\#.h /t/own/y.h \\\n  /t/owner/z.h\n\n"
                                 "/t/own/x.h:\n\nb\\ c$$\\#.h:\n\n/t/own/y.h:\n",
                                 "/t/own"),
            "a.o: a.cu \\\n  b\\ c$$\\#.h \\\n  /t/owner/z.h\nb\\ c$$\\#.h:\n");
  EXPECT_EQ(dependencies_without("a b: c.h", "/t"), "a b: \\\n  c.h\n");
  EXPECT_EQ(dependencies_without("", "/t"), "");
  EXPECT_EQ(included_files("a.o: a.cu \\\n  b\\ c$$\\#.h /t/own/y.h\n\nb\\ c$$\\#.h:\n", "/t/own"),
            (std::vector<std::string>{"a.cu", "b c$#.h"}));
}

TEST(NvccDependencies, ListWhatIsThereAfterwards) {
  const test::Scratch scratch;
  scratch.write("a.cu", "#include \"b.h\"\n#include <curand_kernel.h>\nint main() { return B; }\n");
  scratch.write("c.cpp", "#include <cuda_runtime.h>\n#include \"b.h\"\nint main() { return B; }\n");
  scratch.write("b.h", "#define B 0\n");
  const auto nvcc = [&](const std::vector<std::string>& words) {
    std::vector<std::string> all = {"nvcc", "-I", scratch.path("")};
    all.insert(all.end(), words.begin(), words.end());
    const test::Ran ran = test::heddle(all);
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(ran.err, "");
    return ran.out;
  };
  const std::string a = scratch.path("a.cu");
  const std::string b = scratch.path("b.h");
  const std::string c = scratch.path("c.cpp");
  EXPECT_EQ(nvcc({"-MM", a}), "a.o: " + a + " \\\n  " + b + "\n");
  // Headers of the system are there, too.
  for (const std::string& file : included_files(nvcc({"-M", a}), "/none")) {
    EXPECT_TRUE(std::filesystem::exists(file)) << file;
  }
  // To a file; of a program too, whose object is a temporary one; with a rule of its own for each header.
  EXPECT_EQ(nvcc({"-MM", a, "-o", scratch.path("named.d")}), "");
  EXPECT_EQ(test::Scratch::read(scratch.path("named.d")), "a.o: " + a + " \\\n  " + b + "\n");
  const std::string program = scratch.path("program");
  EXPECT_EQ(nvcc({"-MMD", "-MP", "-MF", scratch.path("program.d"), c, "-o", program}), "");
  EXPECT_EQ(test::Scratch::read(scratch.path("program.d")), program + ": " + c + " \\\n  " + b + "\n" + b + ":\n");
  // Beside the object, and to standard output.
  EXPECT_EQ(nvcc({"-MMD", "-c", c, "-o", scratch.path("c.o")}), "");
  EXPECT_EQ(test::Scratch::read(scratch.path("c.d")), scratch.path("c.o") + ": " + c + " \\\n  " + b + "\n");
  EXPECT_EQ(nvcc({"-Xcompiler", "-MMD,-MF,-,-MT,target", "-c", c, "-o", scratch.path("c.o")}),
            "target: " + c + " \\\n  " + b + "\n");
}

}  // namespace
}  // namespace heddle::cuda
