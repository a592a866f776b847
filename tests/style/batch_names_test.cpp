#include "batch_names.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace heddle::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

namespace fs = std::filesystem;

TEST(BatchNames, OfALayerAreEachOneFiles) {
  for (const char* const layer :
       {"base", "isa", "ptx", "tlm", "hw", "traces", "os", "cuda/cudart", "cuda/compiler", "tb/config", "tb/device",
        "tb/launch", "tb/session", "tb/measure", "workloads", "studies", "cli"}) {
    EXPECT_THAT(batch_clashes(HEDDLE_SOURCE_DIR, layer, true), IsEmpty());
  }
}

TEST(BatchNames, OfATestProgramAreEachOneFiles) {
  std::size_t folders = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(fs::path(HEDDLE_SOURCE_DIR) / "tests")) {
    const std::string name = entry.path().filename().string();
    if (entry.is_directory() && name != "fuzz") {  // programs of one file each
      ++folders;
      EXPECT_THAT(batch_clashes(HEDDLE_SOURCE_DIR, "tests/" + name, false), IsEmpty());
    }
  }
  EXPECT_GT(folders, 8U);
}

class BatchNamesOf : public ::testing::Test {
 protected:
  BatchNamesOf() { fs::create_directories(root_ / "x/deep"); }
  ~BatchNamesOf() override { fs::remove_all(root_); }
  BatchNamesOf(const BatchNamesOf&) = delete;
  BatchNamesOf& operator=(const BatchNamesOf&) = delete;

  void write(const std::string& name, const std::string& inside, const std::string& outer = "heddle") {
    std::ofstream(root_ / "x" / name) << "namespace " << outer << " {\nnamespace {\n\n"
                                      << inside << "\n}  // namespace\n\nint after() { return 0; }\n}\n";
  }
  [[nodiscard]] std::vector<std::string> clashes(bool deep = true) const { return batch_clashes(root_, "x", deep); }

 private:
  fs::path root_ = fs::path(::testing::TempDir()) / ("batch_names_" + std::to_string(::getpid()));
};

TEST_F(BatchNamesOf, ObjectsTypesAndEntriesClash) {
  const std::string all =
      "constexpr int kMost = 3;\nconst std::vector<int> kSome = {1};\nstruct Part {\n  int same;\n};\n"
      "const Register<Policy, Oldest> oldest{\"oldest\", \"text\"};\nconstexpr double kRows[] = {1};\n";
  write("a.cpp", all);
  EXPECT_THAT(clashes(), IsEmpty());
  write("deep/b.cpp", all);
  EXPECT_THAT(clashes(), ElementsAre("x: Part in a.cpp and deep/b.cpp", "x: kMost in a.cpp and deep/b.cpp",
                                     "x: kRows in a.cpp and deep/b.cpp", "x: kSome in a.cpp and deep/b.cpp",
                                     "x: oldest in a.cpp and deep/b.cpp"));
  EXPECT_THAT(clashes(false), IsEmpty());
}

TEST_F(BatchNamesOf, EachObjectOfALineClashes) {
  write("a.cpp",
        "constexpr int kFirst = most(1, 2), kSecond = 3, kThird[] = {4, kFourth};\n"
        "const char* const kText = \"a, kSixth;\", *kFifth = nullptr;\n");
  write("b.cpp", "constexpr unsigned kSecond = 1;\nconst int kThird{2};\nconstexpr int kFourth = 5, kSixth = 6;\n");
  EXPECT_THAT(clashes(), ElementsAre("x: kSecond in a.cpp and b.cpp", "x: kThird in a.cpp and b.cpp"));
}

TEST_F(BatchNamesOf, FunctionsClashThatTakeTheSame) {
  write("a.cpp", "std::string text(const Part& part, int number) {\n  return {};\n}\nvoid done() {\n}\n");
  write("b.cpp", "std::string text(const Part& other, int size) {\n  return {};\n}\nvoid done(int once) {\n}\n");
  EXPECT_THAT(clashes(), ElementsAre("x: text(const Part&, int) in a.cpp and b.cpp"));
}

TEST_F(BatchNamesOf, OtherNamespacesAndWhatStandsOutsideDoNotClash) {
  write("a.cpp", "constexpr int kMost = 3;\n");
  write("b.cpp", "constexpr int kMost = 3;\n", "heddle::other");
  EXPECT_THAT(clashes(), IsEmpty());
}

TEST_F(BatchNamesOf, NamedNamespacesWithinTheUnnamedOneKeepNamesApart) {
  const auto in_one = [](const std::string& name) {
    return "namespace " + name + " {\n\nint most() {\n  return 1;\n}\n\n}  // namespace " + name +
           "\n\nint last() {\n}\n";
  };
  write("a.cpp", in_one("first"));
  write("b.cpp", in_one("second"));
  EXPECT_THAT(clashes(), ElementsAre("x: last() in a.cpp and b.cpp"));
  write("b.cpp", in_one("first"));
  EXPECT_THAT(clashes(), ElementsAre("x: first::most() in a.cpp and b.cpp", "x: last() in a.cpp and b.cpp"));
}

TEST_F(BatchNamesOf, WhatStandsInARawStringDoesNotClash) {
  const std::string program =
      "const char* const k%s = R\"(\nint main() {\n}\n)\" R\"x(\nint go() {\n)\"\nvoid off() {\n)x\";\n";
  const auto named = [&](const char* name) {
    std::string text = program;
    return text.replace(text.find("%s"), 2, name) + "int after_it() {\n  return 0;\n}\n";
  };
  write("a.cpp", named("One"));
  write("b.cpp", named("Other"));
  EXPECT_THAT(clashes(), ElementsAre("x: after_it() in a.cpp and b.cpp"));
}

}  // namespace
}  // namespace heddle::test
