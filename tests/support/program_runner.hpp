// Runs the built program as a user would and says what came out.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::test {

inline constexpr int kNotStarted = 127;  // as shells have it

struct Ran {
  int code = -1;  // exit code; 128 + n when signal n ended it; kNotStarted
  std::string out;
  std::string err;
};

struct RunSetup {
  std::vector<std::string> environment;      // "NAME=value", in addition
  std::string folder;                        // working directory; empty: the test's own
  bool terminal = false;                     // stderr is a terminal
  std::function<void(pid_t)> while_running;  // called once after the start
};

// `words` without the program's name.
[[nodiscard]] Ran heddle(const std::vector<std::string>& words, const RunSetup& setup = {});
[[nodiscard]] Ran spawn(const std::vector<std::string>& words, const RunSetup& setup = {});

// A folder that goes away with the test.
class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  [[nodiscard]] std::string path(const std::string& name = {}) const { return (folder_ / name).string(); }
  std::string write(const std::string& name, const std::string& text) const;
  [[nodiscard]] static std::string read(const std::string& path);

 private:
  std::filesystem::path folder_;
};

// How often `part` stands in `text`, one behind the other.
[[nodiscard]] std::size_t occurrences(std::string_view text, std::string_view part);

}  // namespace heddle::test
