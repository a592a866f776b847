// Other programs, asked for something.
#pragma once

#include <string>
#include <vector>

namespace heddle::studies::sweep {

struct Answer {
  int exit_code = 0;  // 128 + n when signal n ended it
  std::string out;
  std::string err;
};

// Runs a program, found on the path, to its end. Throws InputError with `hint` when it cannot be started.
[[nodiscard]] Answer ask(const std::vector<std::string>& words, const std::string& hint);

// A word as a shell takes it for one.
[[nodiscard]] std::string shell_word(const std::string& word);

}  // namespace heddle::studies::sweep
