// The script ./heddle, where nothing is built yet.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/program_runner.hpp"

namespace heddle::cli {
namespace {

namespace fs = std::filesystem;

// The program's own words, and nothing is built or left behind for them.
TEST(FrontDoor, HelpNeedsNoProgram) {
  const test::Scratch scratch;
  fs::copy(HEDDLE_SOURCE_DIR "/heddle", scratch.path());
  fs::copy(HEDDLE_SOURCE_DIR "/CMakeLists.txt", scratch.path());
  fs::copy(HEDDLE_SOURCE_DIR "/cli", scratch.path("cli"), fs::copy_options::recursive);
  const std::string text = test::heddle({"--help"}).out;
  const std::string note = "heddle: nothing is built yet: the first command builds it, some minutes\n";
  for (const std::string word : {"--help", "-h", "help"}) {
    const test::Ran ran = test::spawn({"bash", scratch.path("heddle"), word});
    EXPECT_EQ(ran.out, text);
    EXPECT_EQ(ran.err, note);
    EXPECT_EQ(ran.code, 0);
  }
  const test::Ran bare = test::spawn({"bash", scratch.path("heddle")});
  EXPECT_EQ(bare.code, 2);
  EXPECT_FALSE(fs::exists(scratch.path("build")));
}

}  // namespace
}  // namespace heddle::cli
