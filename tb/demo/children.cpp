#include "tb/demo/children.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include "base/error.hpp"

namespace heddle::tb {
namespace {

// Throws InternalError when the program cannot be started.
pid_t start(const ChildCommand& command) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, command.log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  ::posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  std::vector<std::string> words = command.words;
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) {
    pointers.push_back(word.data());
  }
  pointers.push_back(nullptr);
  pid_t child = -1;
  const int error = ::posix_spawn(&child, pointers.front(), &actions, nullptr, pointers.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    throw InternalError(fmt::format("cannot start {}: {}", words.front(), std::strerror(error)));
  }
  return child;
}

std::string last_line(const std::string& path) {
  std::ifstream in(path);
  std::string last;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty()) {
      last = line;
    }
  }
  return last;
}

ChildResult result_of(int status, const ChildCommand& command) {
  const int internal = static_cast<int>(ExitCode::internal_error);
  if (WIFEXITED(status)) {
    return {WEXITSTATUS(status), last_line(command.log)};
  }
  return {internal, fmt::format("ended by signal {}", WIFSIGNALED(status) ? WTERMSIG(status) : 0)};
}

}  // namespace

std::vector<ChildResult> run_children(
    const std::vector<ChildCommand>& commands, unsigned jobs,
    const std::function<void(std::size_t done, const std::vector<std::size_t>& running)>& changed) {
  std::vector<ChildResult> results(commands.size());
  std::map<pid_t, std::size_t> running;
  std::size_t next = 0;
  std::size_t done = 0;
  const auto tell = [&] {
    if (changed) {
      std::vector<std::size_t> now;
      now.reserve(running.size());
      for (const auto& [process, index] : running) {
        now.push_back(index);
      }
      std::sort(now.begin(), now.end());
      changed(done, now);
    }
  };
  while (done < commands.size()) {
    while (next < commands.size() && running.size() < std::max(1U, jobs)) {
      try {
        running.emplace(start(commands[next]), next);
      } catch (const InternalError& error) {
        results[next] = {static_cast<int>(ExitCode::internal_error), error.what()};
        ++done;
      }
      ++next;
    }
    tell();
    if (running.empty()) {
      continue;
    }
    int status = 0;
    const pid_t ended = ::waitpid(-1, &status, 0);
    if (ended < 0) {
      if (errno == EINTR) {
        continue;
      }
      throw InternalError(fmt::format("cannot wait for a child process: {}", std::strerror(errno)));
    }
    if (const auto child = running.find(ended); child != running.end()) {
      results[child->second] = result_of(status, commands[child->second]);
      running.erase(child);
      ++done;
    }
  }
  tell();
  return results;
}

std::string own_program() {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) {
    throw InternalError("the program cannot find its own file");
  }
  return path.string();
}

}  // namespace heddle::tb
