#include "base/input_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/error.hpp"

namespace heddle {
namespace {

namespace fs = std::filesystem;

std::string refusal(const std::string& path, std::size_t most = 1000) {
  try {
    static_cast<void>(read_input_file(path, most, "launch file"));
  } catch (const InputError& error) {
    EXPECT_EQ(error.where().file, path);
    return error.message();
  }
  return "none";
}

class InputFile : public ::testing::Test {
 protected:
  InputFile() { fs::create_directories(folder_); }
  ~InputFile() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string file_of(std::size_t bytes) const {
    std::ofstream(path("file"), std::ios::binary) << std::string(bytes, '\n');
    return path("file");
  }

 private:
  fs::path folder_ = fs::path(::testing::TempDir()) / ("heddle_input_file_test_" + std::to_string(::getpid()));
};

TEST_F(InputFile, IsReadWhole) {
  EXPECT_EQ(read_input_file(file_of(0), 1000), "");
  EXPECT_EQ(read_input_file(file_of(200'000), 200'000), std::string(200'000, '\n'));
  EXPECT_EQ(unreadable_reason(file_of(1)), std::nullopt);
}

TEST_F(InputFile, MayBeAsLargeAsAllowedAndNoLarger) {
  EXPECT_EQ(refusal(file_of(1000)), "none");
  EXPECT_EQ(refusal(file_of(1001)), "the launch file is larger than 1000 bytes");
  EXPECT_EQ(refusal(file_of(500'000)), "the launch file is larger than 1000 bytes");
}

// A pipe, a device or a folder may not be opened: that, or reading it, might never end.
TEST_F(InputFile, IsARegularFile) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  fs::create_symlink(path("pipe"), path("link"));
  EXPECT_EQ(refusal(path("pipe")), "the launch file cannot be read: it is a pipe");
  EXPECT_EQ(refusal(path("link")), "the launch file cannot be read: it is a pipe");
  EXPECT_EQ(refusal(path("")), "the launch file cannot be read: it is a directory");
  EXPECT_EQ(refusal("/dev/zero"), "the launch file cannot be read: it is a device");
  EXPECT_EQ(refusal(path("none")), "the launch file cannot be read: No such file or directory");
  EXPECT_EQ(refusal(path("none/of/these")), "the launch file cannot be read: No such file or directory");
  EXPECT_EQ(refusal(""), "the launch file cannot be read: No such file or directory");
}

}  // namespace
}  // namespace heddle
