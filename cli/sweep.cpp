// heddle sweep: every run of an exploration, into one database.
#include "studies/sweep/sweep.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <thread>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/progress.hpp"
#include "os/files/command_files.hpp"
#include "os/process/children.hpp"
#include "os/process/stopping.hpp"
#include "studies/sweep/inputs.hpp"
#include "studies/sweep/slurm.hpp"

namespace heddle::cli {
namespace {

std::unique_ptr<studies::sweep::Launcher> launcher_of(const Arguments& arguments, const std::string& database) {
  const std::string name = arguments.text("launcher", "local");
  const std::vector<std::string> names = {"local", "slurm"};
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    throw InputError({"--launcher"}, fmt::format("there is no launcher '{}'", name),
                     suggest(name, names, "known: " + join(names)));
  }
  if (name == "slurm") {
    if (arguments.has("jobs")) {
      throw InputError({"--jobs"}, "applies to this machine only", "[slurm] at_a_time limits the tasks of a cluster");
    }
    studies::sweep::SlurmOptions options;
    options.folder = arguments.text("shared", database + ".slurm");
    options.program = os::own_program();
    return studies::sweep::slurm_launcher(options);
  }
  if (arguments.has("shared")) {
    throw InputError({"--shared"}, "applies to --launcher slurm only");
  }
  const auto jobs =
      static_cast<unsigned>(arguments.whole("jobs", std::max(1U, std::thread::hardware_concurrency()), 1, 1024));
  return studies::sweep::local_launcher(jobs);
}

std::string status_line(const std::map<std::string, std::uint64_t>& by_status) {
  std::string out;
  for (const auto& [status, count] : by_status) {
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", count, status);
  }
  return out.empty() ? "none" : out;
}

// What a task of a cluster does: Slurm says which one it is.
int slurm_task(const std::string& folder) {
  const char* index = std::getenv("SLURM_ARRAY_TASK_ID");
  std::uint64_t number = 0;
  const std::string text = index == nullptr ? "" : index;
  if (text.empty() ||
      std::from_chars(text.data(), text.data() + text.size(), number).ptr != text.data() + text.size()) {
    throw InputError({"--slurm-task"}, "SLURM_ARRAY_TASK_ID says no task", "Slurm's job arrays call this");
  }
  studies::sweep::do_slurm_task(folder, number);
  return 0;
}

int sweep(const Arguments& arguments) {
  if (arguments.has("slurm-task")) {
    return slurm_task(arguments.text("slurm-task"));
  }
  if (arguments.words().empty()) {
    throw InputError({"sweep"}, "needs EXPLORATION.toml; words given: 0", "usage: heddle sweep EXPLORATION.toml");
  }
  studies::sweep::SweepOptions options;
  options.exploration = arguments.words()[0];
  options.database =
      arguments.text("database", "heddle-out/" + std::filesystem::path(options.exploration).stem().string() + ".db");
  os::CommandFiles files;
  studies::sweep::add_inputs(files, studies::sweep::read_exploration(options.exploration));
  files.writes("--database", options.database);
  options.scale = arguments.number("scale", 1.0, 1e-6, 1e6);
  options.resume = arguments.has("resume");
  options.retry = arguments.has("retry");
  options.stop = &os::stopped_by();
  const bool quiet = arguments.has("quiet");
  ProgressLine line(!quiet);
  options.progress = [&](const std::string& text) { line.show(text); };
  const auto launcher = launcher_of(arguments, options.database);
  os::catch_stopping_signals();
  const studies::sweep::SweepResult result = studies::sweep::sweep(options, *launcher);
  line.clear();
  if (!quiet) {
    std::cout << fmt::format(
        "{}: {}, {} of them kept from earlier, {} now in {:.1f} s ({:.1f} s within the runs).\n{}\n", result.database,
        counted(result.runs, "run"), result.kept, result.ran, result.wall_seconds, result.run_seconds,
        status_line(result.by_status));
  }
  if (result.missing != 0) {
    if (!quiet) {
      std::cout << fmt::format("Ended early with {} missing; the same command goes on from here.\n",
                               counted(result.missing, "run"));
    }
    return kSignalExit + os::stopped_by();
  }
  if (!quiet) {
    std::cout << fmt::format("Look at them: heddle results {}\n", result.database);
  }
  const auto refused = result.by_status.find(std::string(studies::sweep::status::kRefused));
  if (refused != result.by_status.end() && refused->second == result.runs) {
    throw InputError({options.exploration}, fmt::format("every point was refused, the first one: {}", result.refusal),
                     "no machine of it can be run");
  }
  std::uint64_t failed = 0;
  for (const auto& [status, count] : result.by_status) {
    failed += status == "done" || status == "stopped" || status == "refused" ? 0 : count;
  }
  return static_cast<int>(failed == 0 ? ExitCode::good : ExitCode::result_mismatch);
}

}  // namespace

Command sweep_command() {
  Command command;
  command.name = "sweep";
  command.operands = "EXPLORATION.toml";
  command.most = 1;
  command.summary = "runs every point of an exploration into one database";
  command.options.add_options()                                                                             //
      ("jobs,j", po::value<std::string>()->value_name("N"), "runs at a time (default: one per processor)")  //
      ("database,d", po::value<std::string>()->value_name("DB"),
       "where the results go (default heddle-out/NAME.db)")  //
      ("launcher", po::value<std::string>()->value_name("local|slurm"),
       "processes on this machine (default) or the job arrays of a cluster")  //
      ("shared", po::value<std::string>()->value_name("DIR"),
       "slurm: folder that all its machines see (default DB.slurm)")  //
      ("slurm-task", po::value<std::string>()->value_name("DIR"),
       "what a task of a job array calls")                                                                //
      ("scale", po::value<std::string>()->value_name("S"), "times the scale of every point (default 1)")  //
      ("resume", "add this sweep to a database that holds others")                                        //
      ("retry", "run again what crashed or met a limit of time or memory")                                //
      ("quiet,q", "print errors only");
  command.details =
      "Every run is a process of its own; one that crashes, faults or meets a limit is marked, and the rest goes on.\n"
      "A run that the database holds is not repeated: after an interruption, a kill or an addition to a machine file\n"
      "the same command does what is missing. A database that holds other sweeps only (another exploration, or this\n"
      "one by another build of Heddle) is left alone unless --resume is given; then both are in it. Machines that\n"
      "contradict themselves are recorded as refused. The exit code is 1 when a run failed, 2 when every one was "
      "refused.\n"
      "docs/explorations.md describes the file and the database.\n";
  command.completions = {{"@files"}};
  command.run = sweep;
  return command;
}

}  // namespace heddle::cli
