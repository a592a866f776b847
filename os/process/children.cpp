#include "os/process/children.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <utility>

namespace heddle::os {
namespace {

std::string last_line_of(const std::string& path) {
  std::ifstream in(path);
  std::string last;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty()) {
      last = line;
    }
  }
  return last;
}

ChildResult result_of(const ProcessEnd& end, const ChildCommand& command) {
  if (end.signal != 0) {
    return {static_cast<int>(ExitCode::internal_error), fmt::format("ended by signal {}", end.signal)};
  }
  return {end.exit_code, last_line_of(command.log)};
}

// The number of some child that has ended, without waiting for it; 0 when a signal came first.
pid_t some_ended() {
  siginfo_t info{};
  if (::waitid(P_ALL, 0, &info, WEXITED | WNOWAIT) == 0) {
    return info.si_pid;
  }
  if (errno != EINTR) {
    throw InternalError(fmt::format("cannot wait for a child process: {}", std::strerror(errno)));
  }
  return 0;
}

}  // namespace

void run_children(const ChildLoop& loop) {
  std::map<pid_t, std::pair<ChildProcess, std::size_t>> running;
  std::size_t next = 0;
  std::size_t done = 0;
  int passed_on = 0;
  const auto tell = [&] {
    if (loop.changed) {
      std::vector<std::size_t> now;
      now.reserve(running.size());
      for (const auto& [number, child] : running) {
        now.push_back(child.second);
      }
      std::sort(now.begin(), now.end());
      loop.changed(done, now);
    }
  };
  for (;;) {
    const int signal = loop.stop == nullptr ? 0 : loop.stop->load();
    if (signal != 0 && passed_on == 0) {
      passed_on = signal;
      for (const auto& [number, child] : running) {
        child.first.send(signal);
      }
    }
    while (signal == 0 && next < loop.count && running.size() < std::max(1U, loop.jobs)) {
      const std::size_t index = next++;
      const auto not_started = [&](const std::exception& error) {
        ++done;
        loop.not_started(index, error.what());
      };
      try {
        ChildProcess child = loop.start(index);
        const pid_t number = child.id();
        running.emplace(number, std::pair(std::move(child), index));
      } catch (const InternalError& error) {
        not_started(error);
      } catch (const InputError& error) {  // a limit of the host's
        not_started(error);
      }
    }
    tell();
    if (running.empty()) {
      return;
    }
    const pid_t number = some_ended();
    if (const auto known = running.find(number); known != running.end()) {
      const std::size_t index = known->second.second;
      const ProcessEnd end = known->second.first.wait();
      running.erase(known);
      ++done;
      loop.ended(index, end);
    } else if (number != 0) {
      ::waitpid(number, nullptr, 0);  // a child that is not known here; left, it would be found again and again
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
  ChildLoop loop;
  loop.count = commands.size();
  loop.jobs = jobs;
  loop.start = [&](std::size_t index) {
    ProcessSetup setup;
    setup.out = Redirection::file(commands[index].log);
    setup.err = Redirection::output();
    return ChildProcess::start(commands[index].words, setup);
  };
  loop.ended = [&](std::size_t index, const ProcessEnd& end) { finish(index, result_of(end, commands[index])); };
  loop.changed = changed;
  loop.not_started = [&](std::size_t index, const std::string& why) {
    finish(index, {static_cast<int>(ExitCode::internal_error), why});
  };
  loop.stop = stop;
  run_children(loop);
  return results;
}

}  // namespace heddle::os
