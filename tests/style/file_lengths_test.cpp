#include "file_lengths.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace heddle::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

namespace fs = std::filesystem;

TEST(FileLengths, OfHeddleAreWithinTheLimits) {
  EXPECT_THAT(length_faults(HEDDLE_SOURCE_DIR), IsEmpty());
}

// A small tree of its own.
class FileLengthsOf : public ::testing::Test {
 protected:
  FileLengthsOf() { fs::create_directories(root_); }
  ~FileLengthsOf() override { fs::remove_all(root_); }
  FileLengthsOf(const FileLengthsOf&) = delete;
  FileLengthsOf& operator=(const FileLengthsOf&) = delete;

  // A file of `lines` lines, all empty but `text` in line `at`.
  void write(const std::string& path, unsigned lines, const std::string& text = "", unsigned at = 1) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream out(root_ / path);
    for (unsigned line = 1; line <= lines; ++line) {
      out << (line == at ? text : "") << '\n';
    }
  }
  [[nodiscard]] std::vector<std::string> faults() const { return length_faults(root_); }
  [[nodiscard]] const fs::path& root() const { return root_; }

 private:
  // White space and a quotation mark: the path goes through a shell.
  fs::path root_ = fs::path(::testing::TempDir()) / ("file's lengths_" + std::to_string(::getpid()));
};

constexpr const char* kReason = "// Long: one class.";
constexpr const char* kNoReason =
    " lines: split it, or say in a comment within the first 12 why it stays whole, as \"Long: REASON\"";

TEST_F(FileLengthsOf, UpTo500NeedNoReason) {
  write("a.cpp", 500);
  EXPECT_THAT(faults(), IsEmpty());
  write("a.cpp", 501);
  EXPECT_THAT(faults(), ElementsAre("a.cpp: 501" + std::string(kNoReason)));
}

TEST_F(FileLengthsOf, UpTo600NeedOneWithinTheFirst12Lines) {
  write("deep/a.hpp", 501, kReason, 12);
  write("deep/b.hpp", 600, kReason, 1);
  EXPECT_THAT(faults(), IsEmpty());
  write("deep/a.hpp", 501, kReason, 13);
  EXPECT_THAT(faults(), ElementsAre("deep/a.hpp: 501" + std::string(kNoReason)));
}

TEST_F(FileLengthsOf, MoreThan600HaveNoExcuse) {
  write("a.cu", 601, kReason);
  EXPECT_THAT(faults(), ElementsAre("a.cu: 601 lines, and 600 is the most: split it"));
}

TEST_F(FileLengthsOf, AReasonThatIsNotNeededIsTold) {
  write("a.cpp", 500, kReason, 2);
  EXPECT_THAT(faults(), ElementsAre("a.cpp:2: says why it is long, but has 500 lines: up to 500 need no reason"));
}

// In the comments of each language; what is no comment, or gives no reason, does not count.
TEST_F(FileLengthsOf, AReasonIsAComment) {
  write("a.js", 501, " * Long: one page.", 2);
  write("b.sh", 501, "# Long: one table.", 2);
  write("c.c", 501, "/* Long: one table. */", 2);
  EXPECT_THAT(faults(), IsEmpty());
  write("a.js", 501, "// Long: ", 2);
  write("b.sh", 501, "echo Long: one table.", 2);
  write("c.c", 501, "// A table. Long: one table.", 2);
  EXPECT_THAT(faults(), ElementsAre("a.js: 501" + std::string(kNoReason), "b.sh: 501" + std::string(kNoReason),
                                    "c.c: 501" + std::string(kNoReason)));
}

TEST_F(FileLengthsOf, EveryKindOfSourceCountsAndNoOther) {
  const std::vector<std::string> sources = {".ci/go",    "CMakeLists.txt", "a.c",   "a.cmake", "a.cpp", "a.cu", "a.cuh",
                                            "a.h",       "a.hpp",          "a.inc", "a.js",    "a.py",  "a.sh", "run",
                                            "std/array", "std/span"};
  std::vector<std::string> expected;
  for (const std::string& name : sources) {
    const bool header = name.starts_with("std/");
    write(name, 601, name == "std/span" ? "#pragma once" : header ? "// <array>" : "#!/bin/sh");
    expected.push_back(name + ": 601 lines, and 600 is the most: split it");
  }
  write("a.md", 601, "// text");
  write("a.txt", 601, "// text");
  write("a.json", 601, "// text");
  write("Makefile", 601, "all:");
  write("build/a.cpp", 601);
  write(".cache/a.cpp", 601);
  EXPECT_EQ(faults(), expected);
}

TEST_F(FileLengthsOf, InAGitWorkTreeFilesCountThatGitKnows) {
  const std::string git =
      "git -C '" + ::testing::TempDir() + "/file'\\''s lengths_" + std::to_string(::getpid()) + "' ";
  write("known.cpp", 601);
  write("gone.cpp", 601);
  if (std::system((git + "init -q").c_str()) != 0) {
    GTEST_SKIP() << "there is no git";
  }
  ASSERT_EQ(std::system((git + "add .").c_str()), 0);
  write("stray.cpp", 601);
  fs::remove(root() / "gone.cpp");
  EXPECT_THAT(faults(), ElementsAre("known.cpp: 601 lines, and 600 is the most: split it"));
}

TEST_F(FileLengthsOf, AnEmptyTreeDoesNotPass) {
  write("a.md", 3);
  EXPECT_THAT(faults(), ElementsAre("no source files"));
}

}  // namespace
}  // namespace heddle::test
