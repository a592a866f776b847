// Child processes, several at a time: SystemC elaborates once per process, so every measured run is a process.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "os/process/child_process.hpp"

namespace heddle::os {

struct ChildCommand {
  std::vector<std::string> words;  // program and arguments
  std::string log;                 // file that takes stdout and stderr; must be writable
};

struct ChildResult {
  int exit_code = 0;   // 4 when a signal ended it or it could not be started
  std::string output;  // the log's last line that is not empty
};

// Runs all, at most `jobs` at a time, in order of the list. `changed` hears how many are done and which ones run, and
// `ended` each result as it comes. A signal number in `stop` (set by a signal handler) goes on to the running children;
// no further one is started then, and results of commands that were not started are left at exit code 4 and "not
// started".
[[nodiscard]] std::vector<ChildResult> run_children(
    const std::vector<ChildCommand>& commands, unsigned jobs,
    const std::function<void(std::size_t done, const std::vector<std::size_t>& running)>& changed = {},
    const std::function<void(std::size_t index, const ChildResult& result)>& ended = {},
    const std::atomic<int>* stop = nullptr);

// The loop beneath: `start` makes the process of one index and `ended` hears how it ended; when `start` throws
// InternalError, `not_started` gets the message. The same order, signals and `changed` as above; the calling process
// must have no other children.
struct ChildLoop {
  std::size_t count = 0;
  unsigned jobs = 1;
  std::function<ChildProcess(std::size_t index)> start;
  std::function<void(std::size_t index, const ProcessEnd& end)> ended;
  std::function<void(std::size_t done, const std::vector<std::size_t>& running)> changed = {};
  std::function<void(std::size_t index, const std::string& why)> not_started;
  const std::atomic<int>* stop = nullptr;
};
void run_children(const ChildLoop& loop);

}  // namespace heddle::os
