#include "tb/demo/children.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
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

void run_children(const ChildLoop& loop) {
  std::map<pid_t, std::size_t> running;
  std::size_t next = 0;
  std::size_t done = 0;
  int passed_on = 0;
  const auto tell = [&] {
    if (loop.changed) {
      std::vector<std::size_t> now;
      now.reserve(running.size());
      for (const auto& [process, index] : running) {
        now.push_back(index);
      }
      std::sort(now.begin(), now.end());
      loop.changed(done, now);
    }
  };
  for (;;) {
    const int signal = loop.stop == nullptr ? 0 : loop.stop->load();
    if (signal != 0 && passed_on == 0) {
      passed_on = signal;
      for (const auto& [process, index] : running) {
        ::kill(process, signal);
      }
    }
    while (signal == 0 && next < loop.count && running.size() < std::max(1U, loop.jobs)) {
      const std::size_t index = next++;
      try {
        running.emplace(loop.start(index), index);
      } catch (const InternalError& error) {
        ++done;
        loop.not_started(index, error.what());
      }
    }
    tell();
    if (running.empty()) {
      return;
    }
    int status = 0;
    const pid_t child = ::waitpid(-1, &status, 0);
    if (child < 0) {
      if (errno == EINTR) {
        continue;
      }
      throw InternalError(fmt::format("cannot wait for a child process: {}", std::strerror(errno)));
    }
    if (const auto known = running.find(child); known != running.end()) {
      const std::size_t index = known->second;
      running.erase(known);
      ++done;
      loop.ended(index, status);
    }
  }
}

std::vector<ChildResult> run_children(
    const std::vector<ChildCommand>& commands, unsigned jobs,
    const std::function<void(std::size_t done, const std::vector<std::size_t>& running)>& changed,
    const std::function<void(std::size_t index, const ChildResult& result)>& ended, const std::atomic<int>* stop) {
  std::vector<ChildResult> results(commands.size(), {static_cast<int>(ExitCode::internal_error), "not started"});
  const auto finish = [&](std::size_t index, ChildResult result) {
    results[index] = std::move(result);
    if (ended) {
      ended(index, results[index]);
    }
  };
  run_children(ChildLoop{commands.size(), jobs, [&](std::size_t index) { return start(commands[index]); },
                         [&](std::size_t index, int status) { finish(index, result_of(status, commands[index])); },
                         changed,
                         [&](std::size_t index, const std::string& why) {
                           finish(index, {static_cast<int>(ExitCode::internal_error), why});
                         },
                         stop});
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
