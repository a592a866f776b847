// A folder with a kernel, some files and a LAUNCH.toml, for one test.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "tb/launch/launch_file.hpp"

namespace heddle::test {

class LaunchFolder {
 public:
  LaunchFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "launch-test-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~LaunchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  LaunchFolder(const LaunchFolder&) = delete;
  LaunchFolder& operator=(const LaunchFolder&) = delete;

  [[nodiscard]] std::string path(const std::string& name = "") const { return path_ + "/" + name; }
  void write(const std::string& name, std::string_view contents) const {
    std::ofstream(path(name), std::ios::binary) << contents;
  }
  [[nodiscard]] std::string read(const std::string& name) const {
    std::ifstream in(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }

  // The message of the refusal, without this folder's name; "" when nothing is refused.
  template <class Action>
  [[nodiscard]] std::string refusal(Action&& action) const {
    try {
      action();
    } catch (const InputError& error) {
      std::string text = error.what();
      for (std::size_t at = text.find(path()); at != std::string::npos; at = text.find(path())) {
        text.erase(at, path().size());
      }
      return text;
    }
    return "";
  }

 private:
  std::string path_;
};

}  // namespace heddle::test
