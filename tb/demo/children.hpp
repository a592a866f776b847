// Child processes, several at a time: SystemC elaborates once per process, so every measured run is a process.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace heddle::tb {

struct ChildCommand {
  std::vector<std::string> words;  // program and arguments
  std::string log;                 // file that takes stdout and stderr; must be writable
};

struct ChildResult {
  int exit_code = 0;   // 4 when a signal ended it or it could not be started
  std::string output;  // the log's last line that is not empty
};

// Runs all, at most `jobs` at a time, in order of the list. `changed` hears how many are done and which ones run.
[[nodiscard]] std::vector<ChildResult> run_children(
    const std::vector<ChildCommand>& commands, unsigned jobs,
    const std::function<void(std::size_t done, const std::vector<std::size_t>& running)>& changed = {});

// The path of this very program.
[[nodiscard]] std::string own_program();

}  // namespace heddle::tb
