#include "studies/reproduce/runner.hpp"
#include "tb/measure/energy/energy.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/error.hpp"
#include "os/files/atomic_file.hpp"
#include "os/files/file_lock.hpp"
#include "os/process/children.hpp"
#include "studies/pages/report/time_left.hpp"
#include "tb/config/config.hpp"

namespace heddle::studies {
namespace {

// The running program itself, even when its file has been replaced by a later build meanwhile.
constexpr const char* kThisProgram = "/proc/self/exe";

constexpr const char* kTimelineFile = "/timeline.json";
constexpr const char* kSeriesFile = "/series.json";

std::string folder_of(const std::string& directory, const PlannedRun& run) {
  return directory + "/runs/" + run.folder;
}

std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

os::ChildCommand command_of(const PlannedRun& run, const std::string& folder) {
  os::make_folder(folder);
  // What another key left must not pass for this key's.
  for (const char* stale : {"/stats.json", "/host.json", kTimelineFile, kSeriesFile}) {
    std::error_code error;
    std::filesystem::remove(folder + stale, error);
  }
  os::write_file(folder + "/key.txt", run.key);
  os::ChildCommand command;
  command.words = {kThisProgram,     "run",     tb::find_config(run.run.config),
                   run.run.workload, "--scale", fmt::format("{}", run.scale),
                   "--out",          folder,    "--quiet"};
  for (const std::string& setting : run.run.settings) {
    command.words.insert(command.words.end(), {"--set", setting});
  }
  if (run.run.timeline) {
    command.words.insert(command.words.end(), {"--timeline", folder + kTimelineFile, "--timeline-from",
                                               std::to_string(run.run.timeline->begin), "--timeline-cycles",
                                               std::to_string(run.run.timeline->cycles)});
  }
  if (run.run.series) {
    command.words.insert(command.words.end(), {"--report-data", folder + kSeriesFile});
  }
  if (!run.run.energy.empty()) {
    command.words.insert(command.words.end(), {"--energy", tb::find_energy_table(run.run.energy)});
  }
  command.log = folder + "/run.log";
  os::write_file(command.log, "");  // refused here, with its reason, rather than in the child
  return command;
}

}  // namespace

std::optional<KeptRun> kept_result(const std::string& directory, const PlannedRun& run, bool any_build) {
  const std::string folder = folder_of(directory, run);
  const std::string key = read_text(folder + "/key.txt");
  if (any_build ? parts_of_key(key).rest != parts_of_key(run.key).rest : key != run.key) {
    return std::nullopt;
  }
  try {
    KeptRun kept{tb::read_run(folder), std::string(parts_of_key(key).build), std::nullopt};
    if (run.run.timeline) {
      kept.timeline = tb::read_timeline(folder + kTimelineFile);
    }
    if (run.run.series) {
      kept.series = read_series(folder + kSeriesFile);
    }
    if (!run.run.energy.empty() && !kept.files.energy) {
      return std::nullopt;
    }
    if (kept.files.complete && kept.files.verdict && kept.files.verdict->correct) {
      return kept;
    }
  } catch (const InputError&) {  // ended before it wrote its result
  }
  return std::nullopt;
}

std::vector<std::string> kept_files(const std::string& directory) {
  std::vector<std::string> files;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator it(directory + "/runs", error), end; !error && it != end;
       it.increment(error)) {
    files.push_back(it->path().string());
  }
  return files;
}

std::vector<DoneRun> do_runs(const Plan& plan, const RunnerOptions& options) {
  os::make_folder(options.directory);
  const os::FileLock lock(options.directory + "/.lock", options.directory,
                          "another reproduction is writing to this folder",
                          "wait for it, or name another folder with --out");
  std::vector<DoneRun> done(plan.runs.size());
  std::vector<os::ChildCommand> commands;
  std::vector<std::size_t> pending;  // of commands, the plan's run
  pages::TimeLeft times;
  for (std::size_t i = 0; i < plan.runs.size(); ++i) {
    const PlannedRun& run = plan.runs[i];
    if (!run.refusal.empty()) {
      done[i].failure = run.refusal;
    } else if (std::optional<KeptRun> kept = kept_result(options.directory, run, options.any_build)) {
      times.done(run.run.workload, kept->files.cost.wall_seconds);
      done[i].kept = std::move(kept);
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
    pages::TimeLeft::Counts rest;
    for (std::size_t i = 0; i < commands.size(); ++i) {
      if (!ended[i]) {
        ++rest[plan.runs[pending[i]].run.workload];
      }
    }
    std::string line = fmt::format("{} of {} runs done", count, commands.size());
    if (const auto left = times.left(rest, options.jobs)) {
      line += ", " + pages::time_text(*left) + " left";
    }
    for (const std::size_t index : running) {
      line += "; " + plan.runs[pending[index]].name();
    }
    options.progress(line);
  };
  const auto finished = [&](std::size_t index, const os::ChildResult& result) {
    const std::size_t at = pending[index];
    const PlannedRun& run = plan.runs[at];
    ended[index] = true;
    done[at].kept = result.exit_code == 0 ? kept_result(options.directory, run) : std::nullopt;
    if (done[at].kept) {
      times.done(run.run.workload, done[at].kept->files.cost.wall_seconds);
    } else {
      done[at].failure = result.exit_code == 0 ? "left no result" : result.output;
    }
  };
  const std::vector<os::ChildResult> children =
      os::run_children(commands, options.jobs, changed, finished, options.stop);
  for (std::size_t index = 0; index < children.size(); ++index) {
    if (!ended[index]) {
      done[pending[index]].failure = children[index].output;
    }
  }
  return done;
}

}  // namespace heddle::studies
