#include "tb/reproduce/runner.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/error.hpp"
#include "tb/config/config.hpp"
#include "tb/demo/children.hpp"
#include "tb/measure/atomic_file.hpp"

namespace heddle::tb {
namespace {

// The running program itself, even when its file has been replaced by a later build meanwhile.
constexpr const char* kThisProgram = "/proc/self/exe";

// Held as long as runs may be written.
class FolderLock {
 public:
  explicit FolderLock(const std::string& directory) {
    const std::string path = directory + "/.lock";
    file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file_ < 0) {
      throw InputError({path}, "cannot be written");
    }
    if (::flock(file_, LOCK_EX | LOCK_NB) != 0) {
      ::close(file_);
      throw InputError({directory}, "another reproduction is writing to this folder",
                       "wait for it, or name another folder with --out");
    }
  }
  ~FolderLock() { ::close(file_); }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int file_ = -1;
};

std::string folder_of(const std::string& directory, const PlannedRun& run) {
  return directory + "/runs/" + run.folder;
}

std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

ChildCommand command_of(const PlannedRun& run, const std::string& folder) {
  make_folder(folder);
  for (const char* stale : {"/stats.json", "/host.json"}) {  // what another key left must not pass for this one's
    std::error_code error;
    std::filesystem::remove(folder + stale, error);
  }
  write_file(folder + "/key.txt", run.key);
  ChildCommand command;
  command.words = {kThisProgram,     "run",     find_config(run.run.config),
                   run.run.workload, "--scale", fmt::format("{}", run.scale),
                   "--out",          folder,    "--quiet"};
  for (const std::string& setting : run.run.settings) {
    command.words.insert(command.words.end(), {"--set", setting});
  }
  command.log = folder + "/run.log";
  write_file(command.log, "");  // refused here, with its reason, rather than in the child
  return command;
}

std::string time_text(double seconds) {
  const auto whole = static_cast<long>(std::ceil(seconds));
  return whole >= 3600 ? fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60)
         : whole >= 60 ? fmt::format("{} min {:02} s", whole / 60, whole % 60)
                       : fmt::format("{} s", whole);
}

}  // namespace

void TimeLeft::done(const std::string& workload, double seconds) {
  for (Sum* sum : {&by_workload_[workload], &all_}) {
    sum->seconds += seconds;
    ++sum->runs;
  }
}

std::optional<double> TimeLeft::left(const std::vector<std::string>& workloads, unsigned jobs) const {
  if (all_.runs == 0) {
    return std::nullopt;
  }
  double seconds = 0;
  for (const std::string& workload : workloads) {
    const auto known = by_workload_.find(workload);
    const Sum& sum = known == by_workload_.end() ? all_ : known->second;
    seconds += sum.seconds / sum.runs;
  }
  return seconds / std::max(1U, jobs);
}

std::optional<RunFiles> kept_result(const std::string& directory, const PlannedRun& run) {
  const std::string folder = folder_of(directory, run);
  if (read_text(folder + "/key.txt") != run.key) {
    return std::nullopt;
  }
  try {
    RunFiles files = read_run(folder);
    if (files.complete && files.verdict && files.verdict->correct) {
      return files;
    }
  } catch (const InputError&) {  // ended before it wrote its result
  }
  return std::nullopt;
}

std::vector<DoneRun> do_runs(const Plan& plan, const RunnerOptions& options) {
  make_folder(options.directory);
  const FolderLock lock(options.directory);
  std::vector<DoneRun> done(plan.runs.size());
  std::vector<ChildCommand> commands;
  std::vector<std::size_t> pending;  // of commands, the plan's run
  TimeLeft times;
  for (std::size_t i = 0; i < plan.runs.size(); ++i) {
    const PlannedRun& run = plan.runs[i];
    if (!run.refusal.empty()) {
      done[i].failure = run.refusal;
    } else if (std::optional<RunFiles> files = kept_result(options.directory, run)) {
      times.done(run.run.workload, files->cost.wall_seconds);
      done[i].files = std::move(files);
      done[i].reused = true;
    } else {
      commands.push_back(command_of(run, folder_of(options.directory, run)));
      pending.push_back(i);
    }
  }
  std::vector<bool> ended(commands.size(), false);
  const auto changed = [&](std::size_t count, const std::vector<std::size_t>& running) {
    if (!options.progress) {
      return;
    }
    std::vector<std::string> rest;
    for (std::size_t i = 0; i < commands.size(); ++i) {
      if (!ended[i]) {
        rest.push_back(plan.runs[pending[i]].run.workload);
      }
    }
    std::string line = fmt::format("{} of {} runs done", count, commands.size());
    if (const auto left = times.left(rest, options.jobs)) {
      line += ", " + time_text(*left) + " left";
    }
    for (const std::size_t index : running) {
      line += "; " + plan.runs[pending[index]].name();
    }
    options.progress(line);
  };
  const auto finished = [&](std::size_t index, const ChildResult& result) {
    const std::size_t at = pending[index];
    const PlannedRun& run = plan.runs[at];
    ended[index] = true;
    done[at].files = result.exit_code == 0 ? kept_result(options.directory, run) : std::nullopt;
    if (done[at].files) {
      times.done(run.run.workload, done[at].files->cost.wall_seconds);
    } else {
      done[at].failure = result.exit_code == 0 ? "left no result" : result.output;
    }
  };
  const std::vector<ChildResult> children = run_children(commands, options.jobs, changed, finished, options.stop);
  for (std::size_t index = 0; index < children.size(); ++index) {
    if (!ended[index]) {
      done[pending[index]].failure = children[index].output;
    }
  }
  return done;
}

}  // namespace heddle::tb
